"""Parameters, fit and warm start of forests, and the draws that a fitted forest keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.inspection import permutation_importance

from psephos._errors import PsephosError
from psephos._types import ClassWeightLike, Floats, Indices, LabelsLike, SeedLike, TableLike
from psephos.base import Labels, VoteClassifier, VoteRegressor
from psephos.estimator import params
from psephos.estimator.contender import Anatomy, Contender
from psephos.estimator.distributions import Choice, Integers
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.files.field_types import Nullable
from psephos.kernels.binned_trees.forest_grow import ForestGrowth
from psephos.models import sampling
from psephos.models.ensemble import Ensemble, Leaves, uniform_vote
from psephos.models.training import REDUCED, FirstFit, power_of_weights, refuse_huge
from psephos.trees import forest as trees
from psephos.trees.bins import MAX_BINS
from psephos.vote import TreeVoters, Vote
from psephos.vote.codec import register
from psephos.vote.part import Columns, check
from psephos.vote.target import AnyTarget


@register
@dataclass(frozen=True, kw_only=True)
class ForestMemory(sampling.Draw):
    """How a forest was grown.

    The rows of each tree are kept as the seed that drew them, n + T numbers in all.

    Parameters
    ----------
    impurity : ndarray of shape (p,)
        Each column's share of the decrease of impurity.
    seeds : ndarray of shape (T,), uint64
    mass : ndarray of shape (m,)
        Weights of the distinct training rows, by which rows were drawn.
    size : int
        Draws per tree; 0: every tree was grown on all rows.
    first_fit : FirstFit, default=None
        Digests that a warm start must match; None in files of earlier versions.
    ranked : bool, default=False
        Whether rows are numbered by the rank of y, which has no unit; False in files of earlier
        versions, which number them by its bits.
    grouped : bool, default=False
        Whether whole groups were drawn: `mass` and `size` are then of groups.
    dropped : ndarray of uint64, default=empty
        The seeds of trees removed by `shrink`.
    """

    tag: ClassVar[str] = "forest memory"
    impurity: Floats

    def __post_init__(self) -> None:
        whole = self.impurity.ndim == 1 and self.impurity.dtype == np.float64
        check(whole, "importances must be a list of float64")
        super().__post_init__()

    def check_vote(self, vote: Vote) -> None:
        """Check that the memory belongs to this vote."""
        check(len(self.seeds) == vote.n_voters, "seeds and trees differ")
        check(len(self.impurity) == vote.n_features, "columns differ")

    def select(self, columns: Columns) -> Self:
        """Return the memory on the table reduced to `columns`."""
        first = self.first_fit and self.first_fit.changed(REDUCED, columns=True)
        return replace(self, impurity=self.impurity[columns], first_fit=first)


def with_earlier(before: Any, new: TreeVoters, n_classes: int) -> TreeVoters:
    """Return the trees of a forest followed by new ones; values of pure leaves are shared."""
    old: TreeVoters = before
    nodes, columns = len(old.feature), np.union1d(old.columns, new.columns).astype(np.intp)
    pure = n_classes if len(old.value) >= n_classes <= len(new.value) else 0
    pure = pure if np.array_equal(old.value[:pure], new.value[:pure]) else 0

    def feature(part: TreeVoters) -> Indices:
        index = np.append(np.searchsorted(columns, part.columns), -1).astype(np.intp)
        return index[part.feature]

    shift = np.where(new.answer >= pure, len(old.value) - pure, 0)
    before_ptr, new_ptr = _pointers(old), _pointers(new)
    ptr = np.append(before_ptr, before_ptr[-1] + new_ptr[1:])
    inner = new.feature >= 0
    return replace(
        old,
        columns=columns,
        root=np.append(old.root, new.root + nodes),
        feature=np.append(feature(old), feature(new)),
        threshold=np.append(old.threshold, new.threshold),
        missing_left=np.append(old.missing_left, new.missing_left),
        first=np.append(old.first, np.where(inner, new.first + nodes, new.first)),
        second=np.append(old.second, np.where(inner, new.second + nodes, new.second)),
        value=np.concatenate([old.value, new.value[pure:]]),
        category_ptr=ptr if ptr[-1] else np.empty(0, np.intp),
        category_left=np.append(old.category_left, new.category_left),
        answer=np.append(old.answer, new.answer + shift),
    )


def _pointers(part: TreeVoters) -> Indices:
    """Return the start of each node's set of categories; zeros if no node tests a category."""
    return part.category_ptr if len(part.category_ptr) else np.zeros(len(part.feature) + 1, np.intp)


def joined_importance(old: Any, before: Floats, new: Any, more: Floats) -> Floats:
    """Return the mean, over all trees with a split, of the columns' shares of the decrease."""
    sizes = [np.count_nonzero(np.diff(one.usage().indptr)) for one in (old, new)]
    total = sizes[0] * before + sizes[1] * more
    return total / max(float(total.sum()), np.finfo(float).tiny)


_NODES = 1 << 16  # of a block
_SAME = {"log_loss": "entropy", "friedman_mse": "squared_error"}  # synonyms of a criterion
_FEW = 1000  # most rows of a table that need not be binned


class GrownForest(Leaves, sampling.DrawsRows, Ensemble):
    """Mixin of the methods and attributes of a fitted forest."""

    memory_: ForestMemory
    max_bins: int
    n_jobs: int | None

    @property
    def impurity_importance_(self) -> Floats:
        """Each column's share of the decrease of impurity, the mean over trees; (p,)."""
        self._fitted()
        return self.memory_.impurity

    def permutation_importance(
        self,
        X: TableLike,
        y: LabelsLike,
        *,
        n_repeats: int = 5,
        random_state: SeedLike = None,
        **options: Any,
    ) -> Any:
        """Return how much the score drops when the values of a column are permuted.

        Parameters
        ----------
        X, y : table of shape (n, p), array of shape (n,)
            Preferably held-out rows: on training rows the drop includes what was overfitted.
        n_repeats : int, default=5
        random_state : int, RandomState or None, default=None
        **options
            Other parameters of scikit-learn's `permutation_importance`: `scoring`, `sample_weight`,
            `max_samples`, `n_jobs`. The default score is accuracy, or R^2.

        Returns
        -------
        Bunch
            `importances_mean` and `importances_std`, each (p,), and `importances` (p, n_repeats).
        """
        self._fitted()
        measure: Any = permutation_importance
        return measure(self, X, y, n_repeats=n_repeats, random_state=random_state, **options)

    def _distinct_rows(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> tuple[FirstFit, Indices, Floats]:
        now = FirstFit.of(self, table.values, labels.y, weight, context.groups)
        given = (table.values, table.n_codes, labels.y, weight, self.max_bins, self.n_jobs)
        rows = trees.ForestRows.of(*given, ranked=self.memory_.ranked)
        return now, rows.group, rows.mass


def _check_bootstrap(model: "_Forest") -> None:
    """Raise PsephosError for parameters that need a bootstrap, if there is none."""
    if model.bootstrap:
        return
    if model.oob_score:
        raise PsephosError("oob_score=True needs out-of-bag rows: set bootstrap=True.")
    why = (
        "with bootstrap=False, as every tree is grown on all rows: set bootstrap=True, or leave "
        "max_samples out."
    )
    params.refuse_unread(model, ("max_samples",), why)


def _reads_values(model: "_Forest", table: Table) -> bool:
    """Return whether extra trees are grown on values, without bins.

    A copy of the values, column by column, takes at most 1.6 times the memory of bins. With more
    rows, or fewer columns than rows, trees grow on bins as fast, or faster.
    """
    n, p = table.values.shape
    numbers = isinstance(table.values, np.ndarray) and not table.n_codes
    whole = not model.bootstrap and model.max_bins == MAX_BINS
    return numbers and whole and n < p and n <= _FEW


def _rule(model: "_Forest", n: float, p: int) -> ForestGrowth:
    """Return the growth rule of a model's parameters, for n rows per tree and p columns."""
    split, leaf = model.min_samples_split, model.min_samples_leaf
    return ForestGrowth(
        2**31 if model.max_depth is None else int(model.max_depth),
        int(split) if split >= 2 else max(2, int(np.ceil(split * n))),
        int(leaf) if leaf >= 1 else int(np.ceil(leaf * n)),
        sampling.drawn_columns(model.max_features, p),
    )


def tree_voters(forest: trees.Forest, target: AnyTarget, n_features: int) -> TreeVoters:
    """Return the trees as voters: shares p of K classes vote (K p - 1) / (K - 1).

    This is sum_k p_k code_k in the target's coding; with two classes one number, 2 p - 1.
    """
    nodes, k, answers = forest.nodes(), target.n_classes, forest.answers()
    if k:
        answers = ((answers[:, 1:] if k == 2 else answers) * k - 1.0) / (k - 1)
    read = np.zeros(n_features + 1, np.bool_)
    read[nodes.column] = True  # leaves have the last index
    columns = np.flatnonzero(read[:-1])
    index = np.full(n_features + 1, -1, np.intp)
    index[columns] = np.arange(len(columns))
    feature = nodes.column
    for start in range(0, len(feature), _NODES):  # in place, to save memory
        span = slice(start, start + _NODES)
        feature[span] = index[feature[span]]
    return TreeVoters(
        n_features,
        columns,
        nodes.root,
        feature,
        nodes.threshold,
        nodes.missing_left,
        nodes.first,
        nodes.second,
        answers,
        single=False,
        category_ptr=nodes.category_ptr,
        category_left=nodes.category_left,
        answer=nodes.answer,
    )


_SHARE = params.Interval(0, 1, open_low=True)
_PART = params.Interval(0, 1, open_low=True, open_high=True)
#: Parameters of a small forest, for tests.
SMALL: Mapping[str, Any] = {"n_estimators": 4, "random_state": 0}


def uniform(found_by: str) -> Anatomy:
    """Return the anatomy of a mean of trees."""
    return Anatomy(("tree voters",), "constant", "normalised", found_by)


def taking_part(name: str) -> Contender:
    """Return how a forest of classes takes part in comparisons."""
    drawn = {
        "quick": {"max_depth": Integers(2, 10), "min_samples_leaf": Integers(1, 5)},
        "samba": {
            "n_estimators": Integers(1, 300),
            "max_depth": Integers(1, 10),
            "criterion": Choice(("gini", "entropy")),
        },
    }
    return Contender(name, "forest", drawn, ensemble=True, small=SMALL).weighted()


@parameters
class _Forest(GrownForest):
    """Base class of all forests.

    Parameters
    ----------
    n_estimators : int
        Number of trees, T.
    max_depth : int
        Maximum depth of a tree; None: no limit.
    min_samples_split : int or float
        Minimum number of rows of a node that is split; below 1 a share of a tree's rows.
    min_samples_leaf : int or float
        Minimum number of rows on either side of a split; below 1 a share of a tree's rows. A row
        drawn twice counts as two: see the notes of `RandomForestClassifier`.
    min_weight_fraction_leaf : float
        Minimum share of a tree's weight on either side of a split.
    max_features : int, float, {'sqrt', 'log2'} or None
        Columns drawn at a node: a number, a share, the square root or binary logarithm of the
        number of columns, or all. If all columns drawn are constant at the node, more are drawn.
    bootstrap : bool
        Whether every tree is grown on rows drawn with replacement, or on all rows. With `groups` in
        `fit`, whole groups are drawn, with the same number of rows on average.
    oob_score : bool
        Whether to predict every training row by the trees that were not grown on it (or on a row of
        its group); needs `bootstrap`.
    warm_start : bool
        Whether `fit` keeps the fitted trees and adds trees up to `n_estimators`, the same that a
        larger forest with the same seed would have. Table, weights and all parameters except
        `n_estimators`, `oob_score` and `n_jobs` must be those of the first fit.
    max_samples : int, float or None
        Rows drawn for a tree, or their share; None is 1.0. Needs `bootstrap`.
    max_bins : int
        Maximum number of bins of a numeric column: see the notes of `RandomForestClassifier`.
    n_jobs : int
        Threads that grow trees; the forest does not depend on it.
    random_state : int, RandomState or None
        Seed of the draws; tree t depends only on the seed and t.

    Attributes
    ----------
    impurity_importance_ : ndarray of shape (`n_features_in_`,)
        Each column's share of the decrease of impurity, the mean over trees: scikit-learn's
        `feature_importances_`.
    memory_ : ForestMemory
        The seed of each tree, from which its sample can be drawn again.
    """

    constraints: ClassVar[Mapping[str, params.Constraint]] = {
        "min_samples_split": params.OneOf((params.Interval(2, whole=True), _PART)),
        "min_samples_leaf": params.OneOf((params.Interval(1, whole=True), _PART)),
        "min_weight_fraction_leaf": params.Interval(0, 0.5, open_high=True),
        "max_features": params.OneOf(
            (params.Interval(1, whole=True), _SHARE, params.Options(("sqrt", "log2"))), none=True
        ),
        "max_samples": params.OneOf((params.Interval(1, whole=True), _SHARE), none=True),
        "max_bins": params.Interval(2, MAX_BINS, whole=True),
    }  # fmt: skip
    random_cuts: ClassVar[bool] = False

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "gini"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = "sqrt"
    bootstrap: bool = True
    oob_score: bool = False
    warm_start: bool = False
    max_samples: float | None = None
    max_bins: int = 255
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None
    optional: ClassVar[tuple[str, ...]] = sampling.OUT_OF_BAG
    memory_: ForestMemory = fitted()
    oob_score_: float | None = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        _check_bootstrap(self)
        refuse_huge(labels.y)
        n_classes = labels.target.n_classes
        balanced = getattr(self, "class_weight", None) == "balanced_subsample"
        if balanced and not self.bootstrap:
            weight = trees.balanced_classes(weight, labels.y, n_classes)
        needed = self.bootstrap or self.warm_start
        now = FirstFit.of(self, table.values, labels.y, weight, context.groups) if needed else None
        if not self.bootstrap:  # with a bootstrap, integer weights are counts
            weight = np.ldexp(weight, -power_of_weights(weight))
        given = (table.values, table.n_codes, labels.y, weight, self.max_bins, self.n_jobs)
        unbinned = self.random_cuts and _reads_values(self, table)
        before: Any = context.previous
        again = context.previous is not None
        ranked = not again or self.memory_.ranked
        limited = self.min_samples_split != 2 or self.min_samples_leaf != 1
        counted = limited and (balanced or not self.bootstrap)
        rows = trees.ForestRows.of(*given, counted=counted, unbinned=unbinned, ranked=ranked)
        size = drawn_rows = rows.n_draws(self.max_samples) if self.bootstrap else 0
        unit, mass, grouped = rows.group, rows.mass, bool(size) and context.groups is not None
        if grouped:
            unit, mass, size = sampling.groups_drawn(context.groups, size, rows.number)
        old: Any = sampling.earlier(self, mass, size, "trees", now) if again else None
        begun = 0 if old is None else len(old.seeds)
        seeds = sampling.drawn_seeds(context, begun, self.n_estimators)
        evaluated = (unit, table.values, labels.y, weight)
        if old is not None and not len(seeds):
            return before, {"memory_": old, **sampling.out_of_bag(self, before, old, *evaluated)}
        n, p = drawn_rows or (rows.number if rows.counts else len(labels.y)), table.values.shape[1]
        rule = _rule(self, n, p)
        draws: Any = trees.Bootstraps(mass, size) if size else None
        draws = trees.GroupDraws(draws, unit, rows.group, weight, drawn_rows) if grouped else draws
        criterion = _SAME.get(self.criterion, self.criterion)
        grown = (rows, n_classes, criterion, rule, seeds, draws, self.n_jobs)
        more = (float(self.min_weight_fraction_leaf), self.random_cuts, balanced and self.bootstrap)
        forest = cast("Any", trees.grow_forest)(*grown, *more)
        voters = tree_voters(forest, labels.target, p)
        importance = forest.impurity_importance()
        if old is not None:
            importance = joined_importance(before.voters, old.impurity, voters, importance)
            voters = with_earlier(before.voters, voters, n_classes)
            seeds = np.append(old.seeds, seeds)
        vote = uniform_vote(voters, labels.target)
        memory = ForestMemory(
            impurity=importance, seeds=seeds, mass=mass, size=size, first_fit=now, ranked=ranked,
            grouped=grouped,
        )  # fmt: skip
        return vote, {"memory_": memory, **sampling.out_of_bag(self, vote, memory, *evaluated)}


@parameters
class ClassForest(_Forest, sampling.ClassifierUncertaintyMixin, VoteClassifier):
    """Base class of forests for classification.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss'}
        The impurity that splits decrease; the last two are the same.
    class_weight : dict, 'balanced', 'balanced_subsample' or None
        Weights of the training rows by class, times `sample_weight`. With 'balanced' a bootstrap
        draws rows of rare classes more often. 'balanced_subsample' draws by `sample_weight` and
        then weights the sample of a tree so that its classes have equal weight;
        `min_samples_split` and `min_samples_leaf` then count distinct rows. Without a bootstrap it
        is 'balanced'.

    Attributes
    ----------
    oob_score_ : float
        Weighted accuracy of the out-of-bag predictions; only with ``oob_score=True``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean class shares over the trees for which a row is out of bag; NaN if there is none. Rows
        of weight 0 are left out.
    """

    constraints: ClassVar[Mapping[str, params.Constraint]] = {
        "criterion": params.Options(("gini", "entropy", "log_loss")),
        "class_weight": params.ClassWeight(("balanced", "balanced_subsample")),
    }

    _: KW_ONLY
    warm_start: bool = False
    class_weight: ClassWeightLike = None
    oob_decision_function_: Nullable | None = fitted()


@parameters
class NumberForest(_Forest, sampling.RegressorUncertaintyMixin, VoteRegressor):
    """Base class of forests for regression.

    Parameters
    ----------
    criterion : {'squared_error', 'friedman_mse'}
        Two names for the same criterion: splits decrease the sum of squares around the mean, by
        Friedman's ``W_L W_R / (W_L + W_R) (mean_L - mean_R)^2``. The absolute error is not
        available, as it has no sums per bin.

    Attributes
    ----------
    oob_score_ : float
        Weighted R^2 of the out-of-bag predictions; only with ``oob_score=True``.
    oob_prediction_ : ndarray of shape (n_samples,)
        The out-of-bag predictions; NaN if a row was drawn for every tree.
    """

    constraints: ClassVar[Mapping[str, params.Constraint]] = {
        "criterion": params.Options(("squared_error", "friedman_mse"))
    }

    _: KW_ONLY
    criterion: str = "squared_error"
    max_features: Any = 1.0
    oob_prediction_: Nullable | None = fitted()
