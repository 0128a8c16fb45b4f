"""Bagging: one kind of model, fitted on samples of rows, of columns, or both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import has_fit_parameter

from psephos._errors import PsephosError
from psephos._types import ClassWeightLike, Estimator, Floats, Indices, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, OneOf
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.files.field_types import Nullable
from psephos.models import sampling
from psephos.models.committees.fitting import Data, MemberTask, fit_all, mean_vote, voters_of
from psephos.models.committees.naming import MEMBER, check_kind
from psephos.models.ensemble import Ensemble
from psephos.models.training import REDUCED, FirstFit, ordered_groups, row_groups
from psephos.models.tree.cart import CARTClassifier, CARTRegressor
from psephos.trees.forest import Bootstraps, GroupDraws, number_of
from psephos.vote import ConstantVoters, Voters
from psephos.vote.codec import register
from psephos.vote.operations.joined import join
from psephos.vote.operations.nested import NestedVoters, nested
from psephos.vote.part import Columns, check
from psephos.vote.voters.foreign import TREES, tree_voters


@register
@dataclass(frozen=True, kw_only=True)
class BagMemory(sampling.Draw):
    """How the rows of each member were drawn, as the seed that drew them.

    Parameters
    ----------
    seeds : ndarray of shape (T,), uint64
    mass : ndarray of shape (n,)
        Weights of the training rows, by which rows are drawn.
    size : int
        Draws with replacement per member; 0: without replacement.
    first_fit : FirstFit, default=None
        Digests that a warm start must match; None in files of earlier versions.
    ranked : bool, default=False
        Whether rows are numbered in the order of their values, which has no unit; False in files of
        earlier versions, which number them in the order of their bytes.
    grouped : bool, default=False
        Whether whole groups were drawn: `mass` and `size` are then of groups.
    dropped : ndarray of uint64, default=empty
        The seeds of members removed by `shrink`.
    """

    tag: ClassVar[str] = "bag memory"

    def check_vote(self, vote: object) -> None:
        """Check that the memory belongs to this vote."""
        check(len(self.seeds) == getattr(vote, "n_voters", -1), "seeds and members differ")

    def select(self, columns: Columns) -> Self:
        """Return the memory on the table reduced to `columns`."""
        first = self.first_fit
        return replace(self, first_fit=first and first.changed(REDUCED, columns=True))


_PART = OneOf((Interval(1, whole=True), Interval(0, 1, open_low=True)))
_VOTERS = ("nested voters", "joined voters", "tree voters", "linear voters", "naive Bayes voters")


class Bag(sampling.DrawsRows):
    """Mixin of the methods of a fitted bag."""

    memory_: BagMemory

    def _distinct_rows(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> tuple[FirstFit, Indices, Floats]:
        data = Data.of(table, labels, weight, context, None)
        group, given = _distinct(data, self.memory_.ranked), None if data.weight is None else weight
        return _first_fit(self, data), group, np.bincount(group, given).astype(np.float64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # members are given dense rows
        return tags


@parameters
class _Bagging(Ensemble, Bag):
    """Base class of both estimators.

    Parameters
    ----------
    n_estimators : int
        Number of members, T.
    max_samples : int or float
        Number or share of the rows on which a member is fitted.
    max_features : int or float
        Number or share of the columns on which a member is fitted.
    bootstrap : bool
        Whether rows are drawn with replacement. How often a row was drawn is its sample weight, or
        the row is repeated if the member does not accept weights. With `groups` in `fit`, whole
        groups are drawn, with the same number of rows on average.
    bootstrap_features : bool
        Whether columns are drawn with replacement; a column drawn twice is used once.
    oob_score : bool
        Whether to predict every training row by the members for which it (or its group) was not
        drawn.
    warm_start : bool
        Whether `fit` keeps the fitted members and adds members up to `n_estimators`. Table, weights
        and all parameters except `n_estimators`, `oob_score` and `n_jobs` must be those of the
        first fit.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; the estimator must accept them.
    n_jobs : int
        Threads that fit members; the bag does not depend on it.
    random_state : int, RandomState or None
        Seed of the draws, and of members whose own `random_state` is None; member t depends only on
        the seed and t.

    Attributes
    ----------
    memory_ : BagMemory
        The seed of each member, from which its sample can be drawn again.
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        _VOTERS, "constant", "normalised", "members fitted apart on samples of rows and columns"
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "estimator": MEMBER,
        "max_samples": _PART,
        "max_features": _PART,
    }

    estimator: Any = None
    n_estimators: int = 10
    _: KW_ONLY
    max_samples: float = 1.0
    max_features: float = 1.0
    bootstrap: bool = True
    bootstrap_features: bool = False
    oob_score: bool = False
    warm_start: bool = False
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None
    optional: ClassVar[tuple[str, ...]] = sampling.OUT_OF_BAG
    memory_: BagMemory = fitted()
    oob_score_: float | None = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        tree = CARTClassifier if labels.target.n_classes else CARTRegressor
        member = tree(cp=0, n_folds=0) if self.estimator is None else self.estimator
        return fit_bag(self, member, Data.of(table, labels, weight, context, self.n_jobs))


@parameters
class BaggingClassifier(_Bagging, sampling.ClassifierUncertaintyMixin, VoteClassifier):
    """The mean of one classifier fitted many times, on samples of rows, of columns, or both.

    Use it to reduce the variance of a model that changes much with the sample (a deep tree, C4.5),
    and to measure its uncertainty: out-of-bag rows estimate the accuracy of the bag, and the
    differences between members the uncertainty of a prediction (`uncertainty`).

    With p_tk(x) the probability of class k by member t, the bag predicts their mean::

        p_k(x) = 1/T sum_t p_tk(x)

    Parameters
    ----------
    estimator : estimator
        A classifier with probabilities, of psephos or scikit-learn. None is an unpruned CART.

    Attributes
    ----------
    oob_score_ : float
        Weighted accuracy of the out-of-bag predictions; only with ``oob_score=True``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean probabilities over the members for which a row is out of bag; NaN if there is none.
        Rows of weight 0 are left out.

    Raises
    ------
    PsephosError
        In fit: if `max_features` or `max_samples` exceed the table, `oob_score` is set without a
        bootstrap, a warm start has another table or fewer members, or the estimator would read
        codes of categories as numbers.

    Notes
    -----
    The draws of a bootstrap do not depend on the order of rows; draws without replacement
    (``bootstrap=False`` and `max_samples` below all) do.

    Weights are how often a row is drawn (without a bootstrap they are passed to members). If they
    are unequal integers, a bootstrap draws as many rows as their sum. Members added by a warm start
    are those of a new fit with as many members and the same seed; predictions are the same, up to
    rounding.

    References
    ----------
    Breiman (1996), "Bagging predictors", Machine Learning 24. Ho (1998), "The random subspace
    method for constructing decision forests". Louppe & Geurts (2012), "Ensembles on random
    patches".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from psephos import BaggingClassifier, C45Classifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = BaggingClassifier(C45Classifier(), 30, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.9), model.uncertainty(X).epistemic.shape
    (True, (178,))
    """

    contender: ClassVar[Contender] = Contender(
        "bagging", "committees", ensemble=True,
        small={"n_estimators": 3, "random_state": 0},
    )  # fmt: skip

    _: KW_ONLY
    warm_start: bool = False
    class_weight: ClassWeightLike = None
    oob_decision_function_: Nullable | None = fitted()


@parameters
class BaggingRegressor(_Bagging, sampling.RegressorUncertaintyMixin, VoteRegressor):
    """The mean of one regressor fitted many times, on samples of rows, of columns, or both.

    As `BaggingClassifier`.

    Parameters
    ----------
    estimator : estimator
        A regressor of psephos or scikit-learn. None is an unpruned CART.

    Attributes
    ----------
    oob_score_ : float
        Weighted R^2 of the out-of-bag predictions; only with ``oob_score=True``.
    oob_prediction_ : ndarray of shape (n_samples,)
        The out-of-bag predictions; NaN if a row was drawn for every member.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.3)
    True
    """

    contender: ClassVar[Contender] = Contender(
        "bagging-regressor", "committees", ensemble=True,
        small={"n_estimators": 3, "random_state": 0},
    )  # fmt: skip

    oob_prediction_: Nullable | None = fitted()


def bag_voters(data: Data, tasks: list[MemberTask]) -> Voters:
    """Return the members as voters; one whose sample has one class always predicts it."""
    labels = [data.y if task.rows is None else data.y[task.rows] for task in tasks]
    single = np.array([bool(data.n_classes) and bool((y == y[0]).all()) for y in labels])
    rest = [task for task, one in zip(tasks, single, strict=True) if not one]
    if not single.any():
        return _voters(fit_all(data, rest), rest, data)
    votes = data.target.code[[y[0] for y, one in zip(labels, single, strict=True) if one]]
    constant = ConstantVoters(data.X.shape[1], votes, "the one class of its sample")
    parts: list[tuple[Indices, Voters]] = [(np.flatnonzero(single), constant)]
    if rest:
        parts.append((np.flatnonzero(~single), _voters(fit_all(data, rest), rest, data)))
    return join(parts)


def _voters(models: list[Any], tasks: list[MemberTask], data: Data) -> Voters:
    """Return fitted members as voters: as one part if they are of one known kind."""
    p, code = data.X.shape[1], data.target.code if data.n_classes else np.zeros((1, 1))
    subsets = [task.columns for task in tasks]
    whole = [np.arange(p) if own is None else own for own in subsets]
    own = nested(models, whole, p, data.says, code, abstains=False)
    if own is not None:
        return own
    kind = type(models[0])
    trees = kind.__module__.startswith("sklearn.") and kind.__name__ in TREES
    if trees and all(subset is None for subset in subsets):
        return tree_voters(models, p, code, says="probability")
    return voters_of(models, data, subsets)


def with_earlier(before: Any, new: Any) -> Voters:
    """Return the voters of a warm start: the earlier ones, then the new ones."""
    if new is None:
        return before
    if not isinstance(before, NestedVoters) or not isinstance(new, NestedVoters):
        first = np.arange(before.n_voters)
        return join([(first, before), (before.n_voters + np.arange(new.n_voters), new)])
    columns = np.union1d(before.columns, new.columns).astype(np.intp)
    places = [
        np.searchsorted(columns, part.columns[own]).astype(np.intp)
        for part in (before, new)
        for own in part.places
    ]
    return replace(
        before,
        columns=columns,
        places=tuple(places),
        inner=before.inner + new.inner,
        levels=before.levels + new.levels,
    )


_COLUMNS = 1  # task id of the draw of columns


def fit_bag(model: Any, estimator: Any, data: Data) -> VoteFit:
    """Return the vote of a bag, its memory and its out-of-bag predictions."""
    check_kind(model, estimator, "the estimator")
    if model.oob_score and not model.bootstrap:
        raise PsephosError("oob_score=True needs out-of-bag rows: set bootstrap=True.")
    given = np.ones(len(data.y)) if data.weight is None else data.weight
    number = number_of(given, len(data.y))
    again = data.context.previous is not None
    ranked = not again or model.memory_.ranked
    group = _distinct(data, ranked) if model.bootstrap else np.arange(len(data.y))
    mass: Floats = np.bincount(group, given).astype(np.float64)
    first_of = np.unique(group, return_index=True)[1].astype(np.intp)
    rows_of = data.take(first_of, mass)
    n, p = rows_of.X.shape
    size = _size(model.max_samples, number, n if not model.bootstrap else None)
    now = _first_fit(model, data)
    draws = size if model.bootstrap else 0
    unit, masses, grouped = group, mass, bool(draws) and data.groups is not None
    if grouped:
        unit, masses, draws = sampling.groups_drawn(data.groups, size, number)
    old = sampling.earlier(model, masses, draws, "members", now) if again else None
    first = 0 if old is None else len(old.seeds)
    seeds = sampling.drawn_seeds(data.context, first, model.n_estimators)
    seeds = seeds if old is None else np.append(old.seeds, seeds)
    memory = BagMemory(
        seeds=seeds, mass=masses, size=draws, first_fit=now, ranked=ranked, grouped=grouped
    )
    subsets = [_columns(model, seed, p) for seed in seeds[first:]]
    own = memory.draws
    drawn_from = GroupDraws(own, unit[first_of], np.arange(n), mass, size) if grouped else own
    rows = _rows(estimator, drawn_from, size, n)
    tasks: list[MemberTask] = []
    for t, subset in zip(range(first, len(seeds)), subsets, strict=True):
        drawn, counts = rows(seeds[t])
        tasks.append(MemberTask(estimator, (1 + t,), drawn, subset, counts))
    # a bootstrap has already used the weights
    given_rows = replace(rows_of, weight=None) if model.bootstrap else data
    voters = bag_voters(given_rows, tasks) if tasks else None
    if old is not None:
        voters = with_earlier(data.context.previous.voters, voters)
    assert voters is not None  # a bag has a member
    vote = mean_vote(voters, data.target)
    scored = sampling.out_of_bag(model, vote, memory, unit, data.X, data.y, given)
    return vote, {"memory_": memory, **scored}


def _first_fit(model: Any, data: Data) -> FirstFit:
    """Return the digests of this fit; with a bootstrap they do not depend on the order of rows."""
    given = (data.X, data.y, data.weight, data.groups)
    return FirstFit.of(model, *given, ordered=not model.bootstrap)


def _distinct(data: Data, ranked: bool) -> Indices:
    """Return a number per row, the same for equal rows."""
    parts = [data.y[:, None], data.X] if ranked else [data.X, data.y[:, None]]
    if data.groups is not None:
        parts.append(np.unique(data.groups, return_inverse=True)[1][:, None])
    rows = np.hstack(parts).astype(np.float64)
    return ordered_groups(rows) if ranked else row_groups(rows)


def _size(max_samples: float, number: float, most: int | None) -> int:
    """Return the number of rows of a member; without replacement at most `most`."""
    whole = isinstance(max_samples, int | np.integer)
    share = max_samples * (number if most is None else most)
    size = int(max_samples) if whole else max(1, round(share))
    if most is not None and size > most:
        raise PsephosError(
            f"max_samples must be at most the number of rows, {most}, without replacement; got "
            f"{max_samples}."
        )
    if size >= 2**31:
        raise PsephosError("a member would have 2^31 rows or more: set a smaller max_samples.")
    return size


def _columns(model: "_Bagging", seed: Any, p: int) -> Indices | None:
    """Return the sorted columns of a member; None is all."""
    wanted = model.max_features
    whole = isinstance(wanted, int | np.integer)
    number = int(wanted) if whole else max(1, int(wanted * p))
    if number > p:
        raise PsephosError(
            f"max_features must be at most the number of columns, {p}; got {wanted}."
        )
    draw = np.random.default_rng([int(seed), _COLUMNS])
    if model.bootstrap_features:
        return np.unique(draw.integers(p, size=number))
    return None if number == p else np.sort(draw.permutation(p)[:number])


def _rows(estimator: Estimator, draws: Bootstraps | GroupDraws | None, size: int, n: int) -> Any:
    """Return a function from a seed to the rows of a member and their weights (None: unchanged)."""
    weighs = has_fit_parameter(estimator, "sample_weight")

    def drawn(seed: Any) -> tuple[Indices | None, Floats | None]:
        if draws is None:
            if size == n:
                return None, None
            return np.sort(np.random.default_rng(int(seed)).permutation(n)[:size]), None
        counts = draws.counts(seed)
        if weighs:
            return np.flatnonzero(counts), counts
        return np.repeat(np.arange(n), counts.astype(np.intp)), None

    return drawn
