"""Bagging: one kind of model, fitted on samples of rows, of columns, or both.

The fit of a bag: what each member is given, the members as voters, answers out of bag.

The members of a bag as voters, and those of an earlier fit before them.

What a bag keeps besides the vote: by what seeds rows were drawn, and from what weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import has_fit_parameter

from psephos._errors import PsephosError
from psephos._types import (
    Array,
    ClassWeightLike,
    Estimator,
    Floats,
    Indices,
    LabelsLike,
    PerRow,
    SeedLike,
    TableLike,
)
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures, Context, FittedVote, Table
from psephos.estimator.params import Constraint, Interval, OneOf
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.files.field_types import Nullable
from psephos.models.committees.fitting import Data, MemberTask, fit_all, mean_vote, voters_of
from psephos.models.committees.naming import MEMBER, check_kind
from psephos.models.ensemble import Ensemble
from psephos.models.first_fit import REDUCED, FirstFit
from psephos.models.sampling import OUT_OF_BAG, Draw, DrawsRows, earlier, groups_drawn, out_of_bag
from psephos.models.training import ordered_groups, row_groups
from psephos.models.tree import CARTClassifier, CARTRegressor
from psephos.models.uncertainty import ClassifierUncertaintyMixin, RegressorUncertaintyMixin
from psephos.trees.forest_rows import Bootstraps, GroupDraws, number_of
from psephos.vote import ConstantVoters, Voters
from psephos.vote.codec import register
from psephos.vote.operations.joined import join
from psephos.vote.operations.nested import NestedVoters, nested
from psephos.vote.part import Columns, check
from psephos.vote.voters.foreign import TREES, tree_voters


@register
@dataclass(frozen=True, kw_only=True)
class BagMemory(Draw):
    """How the rows of each member were drawn, as the seed that drew them.

    Parameters
    ----------
    seeds : ndarray of shape (T,), uint64
    mass : ndarray of shape (n,)
        Weights of the training rows, by which rows are drawn.
    size : int
        Draws with replacement a member; 0: rows were not drawn so.
    first_fit : FirstFit, default=None
        What a warm start must find again; None in files of earlier versions.
    ranked : bool, default=False
        Whether rows are numbered in the order of their values, which has no unit; in files of
        earlier versions in that of their bytes.
    grouped : bool, default=False
        Whether whole groups were drawn: `mass` and `size` are then of groups.
    dropped : ndarray of uint64, default=empty
        The seeds of those that `shrink` left out.
    """

    tag: ClassVar[str] = "bag memory"

    def check_vote(self, vote: object) -> None:
        """Check that the memory is of this vote."""
        check(len(self.seeds) == getattr(vote, "n_voters", -1), "seeds and members differ")

    def select(self, columns: Columns) -> Self:
        """Return the memory on the table reduced to `columns`."""
        first = self.first_fit
        return replace(self, first_fit=first and first.changed(REDUCED, columns=True))


_PART = OneOf((Interval(1, whole=True), Interval(0, 1, open_low=True)))
_VOTERS = ("nested voters", "joined voters", "tree voters", "linear voters", "naive Bayes voters")


class Bag(DrawsRows):
    """What can be asked of any fitted bag."""

    memory_: BagMemory

    def _left_out(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None, groups: Array | None = None
    ) -> NDArray[np.bool_] | None:
        """Return `left_out` with a line behind for each that `shrink` dropped."""
        own: Any = self
        own._fitted()
        if not self.memory_.size:
            return None
        table, labels, weight, context = own.read(X, y, sample_weight, groups)
        data, first = Data.of(table, labels, weight, context, None), self.memory_.first_fit
        if self.memory_.grouped:
            return self.memory_.left_groups_out(_first_fit(own, data), data.groups)
        group, given = _distinct(data, self.memory_.ranked), None if data.weight is None else weight
        if not np.array_equal(np.bincount(group, given).astype(np.float64), self.memory_.mass):
            return None
        if first is not None and not first.has(_first_fit(own, data)):
            return None
        return self.memory_.left_out(group)

    def __sklearn_tags__(self) -> Tags:
        above: Any = super()
        tags = above.__sklearn_tags__()
        tags.input_tags.sparse = True  # members are given dense rows
        return tags


@parameters
class _Bagging(Ensemble, Bag):
    """What the two share.

    Parameters
    ----------
    n_estimators : int
        Members, T.
    max_samples : int or float
        Rows a member is given, or their share.
    max_features : int or float
        Columns a member is given, or their share; they are drawn without replacement.
    bootstrap : bool
        Whether rows are drawn with replacement; a member that takes weights is given how often each
        was drawn, another the row as often. With `groups` in `fit` whole groups are drawn, as many
        as make so many rows on average.
    bootstrap_features : bool
        Whether columns are drawn with replacement; one drawn twice is given once.
    oob_score : bool
        Whether to answer every training row by the members that it (or its group) was not drawn
        for.
    warm_start : bool
        Whether `fit` keeps the members there are and adds estimators up to `n_estimators`.
        Table, weights and all parameters but `n_estimators`, `oob_score` and `n_jobs` must be those
        of the first fit.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; the estimator must know them.
    n_jobs : int
        Threads that fit members; the bag does not depend on it.
    random_state : int, RandomState or None
        Seeds the draws, and members whose own `random_state` is None; those of member t by t.

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
    optional: ClassVar[tuple[str, ...]] = OUT_OF_BAG
    memory_: BagMemory = fitted()
    oob_score_: float | None = fitted()

    def _fit_vote(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> FittedVote:
        tree = CARTClassifier if labels.target.n_classes else CARTRegressor
        member = tree(cp=0, n_folds=0) if self.estimator is None else self.estimator
        return fit_bag(self, member, Data.of(table, labels, weight, context, self.n_jobs))


@parameters
class BaggingClassifier(_Bagging, ClassifierUncertaintyMixin, VoteClassifier):
    """The mean of one model fitted many times, on samples of the rows, of the columns, or both.

    Use it to steady a model that changes much with the sample (a deep tree, C4.5), and to learn how
    sure it is: rows that a member was not fitted on say how accurate the bag is, and how far
    members differ how sure an answer is (`uncertainty`).

    With p_tk(x) the probability of class k by member t, the bag says their mean::

        p_k(x) = 1/T sum_t p_tk(x)

    Parameters
    ----------
    estimator : estimator
        A classifier with probabilities, of psephos or scikit-learn. None is a CART that is not
        pruned.

    Attributes
    ----------
    oob_score_ : float
        Accuracy of the out-of-bag answers, by weight; with ``oob_score=True`` only.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean probabilities of the members that a row was not drawn for; NaN where there is none.
        Rows of weight 0 have no line.

    Raises
    ------
    PsephosError
        In fit: if more columns or rows are asked for than there are, ``oob_score`` without a
        bootstrap, a warm start on another table or with fewer members, an estimator that would read
        codes of categories as numbers.

    Notes
    -----
    A bootstrap draws rows by their content, so that the order of rows does not matter; without one
    (``bootstrap=False`` and `max_samples` below all) they are drawn by their position, and it does.

    Weights say how often a row is drawn (without a bootstrap they are given to members); of unequal
    whole weights a bootstrap draws their sum. Members added by a warm start are those that a fresh
    fit with as many members and the same seed would have; answers are the same, to rounding.

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
class BaggingRegressor(_Bagging, RegressorUncertaintyMixin, VoteRegressor):
    """The mean of one regressor fitted many times, on samples of the rows, the columns, or both.

    As `BaggingClassifier`.

    Parameters
    ----------
    estimator : estimator
        A regressor of psephos or scikit-learn. None is a CART that is not pruned.

    Attributes
    ----------
    oob_score_ : float
        R^2 of the out-of-bag answers, by weight; with ``oob_score=True`` only.
    oob_prediction_ : ndarray of shape (n_samples,)
        NaN where a row was drawn for every member.

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
    """Return the members as voters; one whose sample has one class always says that."""
    seen = [data.y if task.rows is None else data.y[task.rows] for task in tasks]
    alone = np.array([bool(data.n_classes) and bool((y == y[0]).all()) for y in seen])
    apt = [task for task, one in zip(tasks, alone, strict=True) if not one]
    if not alone.any():
        return _voters(fit_all(data, apt), apt, data)
    said = data.target.code[[y[0] for y, one in zip(seen, alone, strict=True) if one]]
    constant = ConstantVoters(data.X.shape[1], said, "the one class of its sample")
    parts: list[tuple[Indices, Voters]] = [(np.flatnonzero(alone), constant)]
    if apt:
        parts.append((np.flatnonzero(~alone), _voters(fit_all(data, apt), apt, data)))
    return join(parts)


def _voters(models: list[Any], tasks: list[MemberTask], data: Data) -> Voters:
    """Return fitted members as voters: of one kind as one part, where that is known."""
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
    """Return the voters of a warm start: those there were, then the new."""
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


_COLUMNS = 1  # the id of the draw of columns, beside that of rows


def fit_bag(model: Any, estimator: Any, data: Data) -> FittedVote:
    """Return the vote of a bag, and its memory and out-of-bag answers."""
    check_kind(model, estimator, "the estimator")
    if model.oob_score and not model.bootstrap:
        raise PsephosError(
            "oob_score=True needs rows that a member was not fitted on: set bootstrap=True."
        )
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
        unit, masses, draws = groups_drawn(data.groups, size, number)
    old = earlier(model, masses, draws, "members", now) if again else None
    seeds = np.append(
        np.empty(0, dtype=np.uint64) if old is None else old.seeds,
        [
            data.context.generator(t).integers(2**64, dtype=np.uint64)
            for t in range(0 if old is None else len(old.seeds), model.n_estimators)
        ],
    ).astype(np.uint64)
    memory = BagMemory(
        seeds=seeds, mass=masses, size=draws, first_fit=now, ranked=ranked, grouped=grouped
    )
    first = 0 if old is None else len(old.seeds)
    subsets = [_columns(model, seed, p) for seed in seeds[first:]]
    own = memory.draws
    drawn_from = GroupDraws(own, unit[first_of], np.arange(n), mass, size) if grouped else own
    rows = _rows(estimator, drawn_from, size, n)
    tasks: list[MemberTask] = []
    for t, subset in zip(range(first, len(seeds)), subsets, strict=True):
        drawn, counts = rows(seeds[t])
        tasks.append(MemberTask(estimator, (1 + t,), drawn, subset, counts))
    # drawn rows have had their weight
    given_rows = replace(rows_of, weight=None) if model.bootstrap else data
    voters = bag_voters(given_rows, tasks) if tasks else None
    if old is not None:
        voters = with_earlier(data.context.previous.voters, voters)
    assert voters is not None  # a bag has a member
    vote = mean_vote(voters, data.target)
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    scored = out_of_bag(model, vote, memory, unit, data.X, data.y, weight)
    return vote, {"memory_": memory, **scored}


def _first_fit(model: "_Bagging", data: Data) -> FirstFit:
    """Return what a later warm start must find again; a bootstrap draws rows by their content."""
    given = (data.X, data.y, data.weight, data.groups)
    return FirstFit.of(model, *given, ordered=not model.bootstrap)


def _distinct(data: Data, ranked: bool) -> Indices:
    """Return a number per row by its content: a row given twice is one row of weight 2."""
    parts = [data.y[:, None], data.X] if ranked else [data.X, data.y[:, None]]
    if data.groups is not None:
        parts.append(np.unique(data.groups, return_inverse=True)[1][:, None])
    rows = np.hstack(parts).astype(np.float64)
    return ordered_groups(rows) if ranked else row_groups(rows)


def _size(max_samples: float, number: float, most: int | None) -> int:
    """Return how many rows a member is given; drawn without replacement there are `most`."""
    whole = isinstance(max_samples, int | np.integer)
    size = int(max_samples) if whole else max(1, round(max_samples * number))
    if most is not None:
        size = int(max_samples) if whole else max(1, round(max_samples * most))
        if size > most:
            raise PsephosError(
                f"max_samples={max_samples}: there are {most} rows to draw without replacement."
            )
    if size >= 2**31:
        raise PsephosError("a member would be given 2^31 rows or more: set a smaller max_samples.")
    return size


def _columns(model: "_Bagging", seed: Any, p: int) -> Indices | None:
    """Return the sorted columns of a member; None is all."""
    wanted = model.max_features
    whole = isinstance(wanted, int | np.integer)
    number = int(wanted) if whole else max(1, int(wanted * p))
    if number > p:
        raise PsephosError(f"max_features={wanted}: the table has {p} columns.")
    draw = np.random.default_rng([int(seed), _COLUMNS])
    if model.bootstrap_features:
        return np.unique(draw.integers(p, size=number))
    return None if number == p else np.sort(draw.permutation(p)[:number])


def _rows(estimator: Estimator, draws: Bootstraps | GroupDraws | None, size: int, n: int) -> Any:
    """Return what gives, for a seed, the rows of a member and their weights (None: as given)."""
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
