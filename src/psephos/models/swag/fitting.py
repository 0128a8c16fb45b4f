"""The fit of SWAG: the search (Algorithms 1 to 3 of the seed paper), choice, refit and vote.

Subsets of columns are drawn distinct, each a smaller subset and one more column. They are sorted
positions in a pool of columns, each with a unique integer code. Sorting these codes is as fast as a
compiled hash table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray, sparse
from psephos.base import Labels
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.members import in_codes
from psephos.models.swag.assembling import make_library, make_vote
from psephos.models.swag.evaluation import (
    Evaluation,
    StepCost,
    Store,
    Workers,
    divided,
    estimate_cost,
    identity_of,
    powers_of,
)
from psephos.models.swag.library import Step, make_step, post_process
from psephos.models.swag.measures import Errors
from psephos.models.swag.mechanisms import make_mechanism
from psephos.models.swag.problem import BoundLearner, Folds, Learner, Says, SearchProblem, Subsets
from psephos.models.swag.settings import Sampling, SearchSettings
from psephos.models.training import Design, make_splits, refuse_huge
from psephos.vote import Voters

if TYPE_CHECKING:
    from psephos.models.swag.wrapper import _Wrapper

_Subsets = NDArray[np.intp]


def _unite(parents: _Subsets, columns: _Subsets) -> _Subsets:
    """Return each of parents (M, d - 1) with one more column: the `columns`-th that it lacks."""
    rows = np.empty((len(parents), parents.shape[1] + 1), dtype=np.intp)
    more = columns.copy()
    for j in range(parents.shape[1]):
        more += parents[:, j] <= more
    rows[:, :-1], rows[:, -1] = parents, more
    rows.sort(axis=1)
    return rows


def _codes(rows: _Subsets, n_pool: int) -> NDArray:
    """Return a unique code of each of the subsets (M, d)."""
    if n_pool ** rows.shape[1] < 2**63:
        return rows @ (n_pool ** np.arange(rows.shape[1], dtype=np.int64)[::-1])
    wide = np.ascontiguousarray(rows, dtype=">u4")
    return wide.view(f"V{4 * rows.shape[1]}").ravel()


def _distinct(rows: _Subsets, n_pool: int) -> _Subsets:
    """Return the distinct subsets, in the order of their first occurrence."""
    first = np.unique(_codes(rows, n_pool), return_index=True)[1]
    return rows[np.sort(first)]


def all_unions(strong: _Subsets, n_pool: int) -> _Subsets:
    """Return the distinct unions of `strong` (M, d - 1) with one more column, (M', d)."""
    each = n_pool - strong.shape[1]
    rows = _unite(np.repeat(strong, each, axis=0), np.tile(np.arange(each), len(strong)))
    return _distinct(rows, n_pool)


def draw_unions(
    numbers: NDArray[np.float64], strong: _Subsets, n_pool: int, even: bool, known: _Subsets
) -> _Subsets:
    """Return `known` (N, d) followed by the drawn unions that are not among them, in their order.

    Each line of `numbers` in [0, 1) is a draw: of one of `strong`, of a column that it lacks and,
    if `even`, of whether it is accepted. A union of c strong subsets is accepted with probability
    1 / c, so that all unions are equally probable.
    """
    parents = strong[(numbers[:, 0] * len(strong)).astype(np.intp)]
    each = n_pool - strong.shape[1]
    rows = _unite(parents, (numbers[:, 1] * each).astype(np.intp))
    if even:
        codes = _codes(strong, n_pool)
        count = np.zeros(len(rows))
        for left in range(rows.shape[1]):
            count += np.isin(_codes(np.delete(rows, left, axis=1), n_pool), codes)
        rows = rows[numbers[:, 2] * count < 1.0]
    return _distinct(np.concatenate([known, rows]), n_pool)


_MOST = 10**8  # maximum number of subsets of one step


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: a step for each dimension 1, 2, ..., and why it ended.

    `pool` (p*,) is S*: the columns of the strong candidates of the first screening, sorted.
    """

    steps: tuple[Step, ...]
    pool: Subsets
    stopped: str


def search(
    evaluate: Callable[[Subsets], Errors],
    n_columns: int,
    settings: SearchSettings,
    *,
    seed: int = 0,
    n_parts: float = 1.0,
) -> SearchResult:
    """Return the strong subsets of columns of every dimension.

    Parameters
    ----------
    evaluate : returns the errors of candidates (M, d), a function of their columns only; see
        `backends.Workers`
    n_columns : p
    seed : of the draws; those of dimension d depend only on `seed`, d and the strong subsets of
        d - 1
    n_parts : number of splits that test every row once, for the standard error of ``p_max='curve'``
    """
    if n_columns < 1:
        raise PsephosError("the table must have at least one column.")
    every = np.arange(n_columns, dtype=np.intp)
    pool, steps, last = every, list[Step](), min(settings.last, n_columns)
    for dimension in range(1, last + 1):
        if dimension == 1:
            candidates = every[:, None]
        else:
            strong, most = steps[-1].subsets, settings.most(len(pool))
            candidates = extensions(pool, strong, most, settings.sampling, seed)
        if not len(candidates):
            return SearchResult(tuple(steps), pool, f"the pool has {len(pool)} columns")
        step = make_step(candidates, evaluate(candidates), settings)
        steps.append(step)
        if dimension == 1:
            pool = np.unique(step.subsets)
        if settings.p_max == "curve" and dimension > 1 and _flat(steps, n_parts):
            return SearchResult(
                tuple(steps), pool, f"the error curve is flat at {dimension} columns"
            )
    return SearchResult(tuple(steps), pool, f"p_max is {last}")


def _flat(steps: list[Step], n_parts: float) -> bool:
    """Return whether the last step's quantile is within one standard error of the lowest before."""
    before = min(steps[:-1], key=lambda step: step.quantile)
    spread = float(before.spread[0])
    error = spread / sqrt(max(1.0, n_parts)) if np.isfinite(spread) else 0.0
    return not before.quantile - steps[-1].quantile > error


def in_order(subsets: Subsets) -> Subsets:
    """Return subsets in lexicographic order."""
    return subsets[np.lexsort(subsets.T[::-1])]


def extensions(pool: Subsets, strong: Subsets, m: float, sampling: Sampling, seed: int) -> Subsets:
    """Return the candidates of dimension d (Algorithm 2, lines 1 to 6), in lexicographic order.

    They are all C(p*, d) subsets of the pool if these are at most m; otherwise m distinct unions of
    a strong subset of d - 1 columns and one more column of the pool, or all unions if these are
    fewer.

    Parameters
    ----------
    pool : (p*,); S*, sorted
    strong : (M, d - 1); the strong subsets of the step before, sorted columns of the pool
    m : maximum number of candidates; inf tries all subsets
    sampling : {'parent', 'uniform'}; parent: a random strong subset and a random further column,
        drawn until there are m distinct unions (the paper); unions of several strong subsets are
        more probable. uniform: all unions are equally probable (the R program).
    seed : of the draws, together with d

    A draw takes two numbers u, v of ``numpy.random.default_rng([seed, d]).random`` (and a third
    for 'uniform'): strong subset floor(u M) in lexicographic order, then column floor(v (p* - d +
    1)) of the pool's other columns, in order.
    """
    size = strong.shape[1] + 1
    if size > len(pool):
        return np.empty((0, size), dtype=np.intp)
    if comb(len(pool), size) <= m:
        return all_subsets(pool, size)
    wanted = int(m)
    rng: Any = np.random.default_rng([seed, size])
    parents = in_order(np.searchsorted(pool, strong).astype(np.intp))
    most = len(parents) * (len(pool) - size + 1)
    # Each union has at most `size` parents, so above this bound there are more than 4 m unions and
    # drawing m of them ends soon. Below it they are listed: there may be fewer than m.
    if most <= 4 * size * wanted:
        found = all_unions(parents, len(pool))
        if len(found) <= wanted:
            return pool[in_order(found)]
        if sampling == "uniform":
            chosen = rng.choice(len(found), wanted, replace=False)
            return pool[in_order(in_order(found)[chosen])]
    even = sampling == "uniform"
    drawn = np.empty((0, size), dtype=np.intp)
    while len(drawn) < wanted:
        numbers = rng.random((2 * (wanted - len(drawn)) + 100, 3 if even else 2))
        drawn = draw_unions(numbers, parents, len(pool), even, drawn)
    return pool[in_order(drawn[:wanted])]


def all_subsets(pool: Subsets, size: int) -> Subsets:
    """Return all subsets of `size` columns of the sorted `pool`, in lexicographic order."""
    count = comb(len(pool), size)
    if count > _MOST:
        raise PsephosError(
            f"there are {count} subsets of {size} of {len(pool)} columns, too many to try all: "
            "use a smaller m or alpha."
        )
    flat = chain.from_iterable(combinations(range(len(pool)), size))
    indices = np.fromiter(flat, dtype=np.intp, count=count * size)
    return pool[indices].reshape(count, size)


_EPV_MOST = 6


def most_columns(given: Any, problem: SearchProblem) -> Any:
    """Return p_max by its rule: a number, or 'curve', which the search itself applies.

    Events are rows, counted by their weights if these are all integers.
    """
    if given == "epv":
        whole = bool((problem.weight == np.round(problem.weight)).all())  # repetitions of rows
        weight = problem.weight if whole else np.ones(len(problem.y))
        events = np.bincount(problem.y, weight) if problem.n_classes else [weight.sum() / 2]
        return min(_EPV_MOST, events_per_variable(events))
    if given == "embedded":
        weight = problem.weight
        return embedded_count(problem.X, problem.y, problem.n_classes, problem.folds, weight)
    return given


def events_per_variable(counts: Sequence[int] | Array, per: float = 5.0) -> int:
    """Return p_max by events per variable: rows of the smallest class / `per`, at least 1.

    The paper aims at 4 to 7 events per column.
    """
    return max(1, int(min(counts) // per))


def embedded_count(
    X: Floats, y: Array, n_classes: int, folds: Folds, weight: Floats | None = None
) -> int:
    """Return p_max, at least 1, as the number of columns that an embedded method selects.

    Columns, without missing values, are standardised. Classification: logistic regression with an
    L1 penalty (for more than two classes, one for each class against the rest, and the union of
    their columns); C is chosen by accuracy on the folds among 12 values, from the smallest that
    selects a column (`l1_min_c`) to 1000 times that. Regression: the lasso, with the penalty chosen
    on the folds.
    """
    table = StandardScaler().fit_transform(X)
    weights = {} if weight is None else {"sample_weight": weight}
    trains = np.split(folds.train, folds.train_ptr[1:-1])
    splits = list(zip(trains, np.split(folds.test, folds.test_ptr[1:-1]), strict=True))
    if not n_classes:
        return max(1, int((LassoCV(cv=splits).fit(table, y, **weights).coef_ != 0).sum()))
    chosen = np.zeros(table.shape[1], dtype=bool)
    for k in range(n_classes) if n_classes > 2 else (1,):
        chosen |= _selected(table, y == k, splits, weights)
    return max(1, int(chosen.sum()))


def _selected(
    table: Floats, truth: NDArray[np.bool_], splits: Any, weights: dict[str, Any]
) -> NDArray[np.bool_]:
    """Return the mask of columns selected by L1 logistic regression of a class against the rest."""
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    lasso: dict[str, Any] = {"l1_ratio": 1.0} if version >= (1, 8) else {"penalty": "l1"}
    model = LogisticRegression(solver="liblinear", random_state=0, max_iter=1000, **lasso)
    path = l1_min_c(table, truth, loss="log") * np.geomspace(1.001, 1000.0, 12)
    found: Any = GridSearchCV(model, {"C": path}, cv=splits).fit(table, truth, **weights)
    return np.asarray(found.best_estimator_.coef_)[0] != 0


@dataclass(frozen=True)
class CodedLearner:
    """A learner of numeric columns, `inner`, on a table with categories: a 0/1 column per level."""

    inner: Learner

    @property
    def draws(self) -> bool:
        """Return whether the learner is random, so that its columns determine its seed."""
        return bool(getattr(self.inner, "draws", False))

    @property
    def batched(self) -> bool:
        """Return whether many candidates are one call, so that threads are used."""
        return bool(getattr(self.inner, "batched", True))

    @property
    def chunk(self) -> int | None:
        """Return the learner's number of candidates per call, if it has one."""
        return getattr(self.inner, "chunk", None)

    def bind(self, problem: SearchProblem) -> BoundLearner:
        """Return the learner on a problem; without categories it is the inner learner's own."""
        if problem.n_codes is None or not problem.n_codes.any():
            return self.inner.bind(problem)
        design = Design.of(problem.n_codes, problem.X)
        plain = replace(problem, X=design.matrix(problem.X), n_codes=None)
        return _BoundLearner(self.inner.bind(plain), design)


@dataclass(frozen=True)
class _BoundLearner:
    inner: BoundLearner
    design: Design

    def _by_width(self, subsets: Indices) -> list[tuple[Indices, Any]]:
        """Return (candidates, their design columns) for each width of design."""
        each = [self.design.columns(subset) for subset in subsets]
        width = np.array([len(columns) for columns in each])
        parts = [np.flatnonzero(width == w) for w in np.unique(width)]
        return [(which, np.stack([each[i] for i in which])) for which in parts]

    def scores(self, subsets: Indices) -> Floats:
        """Return out-of-fold scores, (B, L, K)."""
        parts = [(which, self.inner.scores(table)) for which, table in self._by_width(subsets)]
        return _gathered(parts, len(subsets))

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> Voters:
        """Return one voter per subset, reading the table with categories."""
        inner = self.inner.fit([self.design.columns(s) for s in subsets], says, code)
        return self.design.coded(inner).take(np.arange(len(subsets)))

    def remarks(self, subsets: Indices) -> dict[str, Array]:
        """Return the remarks of the inner learner."""
        parts = [(which, self.inner.remarks(table)) for which, table in self._by_width(subsets)]
        names = parts[0][1] if parts else {}
        return {
            name: _gathered([(which, found[name]) for which, found in parts], len(subsets))
            for name in names
        }


def _gathered(parts: list[tuple[Indices, NDArray[Any]]], size: int) -> NDArray[Any]:
    """Return the rows of several parts in their order."""
    first = parts[0][1]
    out = np.empty((size, *first.shape[1:]), dtype=first.dtype)
    for which, rows in parts:
        out[which] = rows
    return out


_FOLDS, _DRAWS, _LEARNER = range(3)  # task ids of seeds
_ALPHA, _POOL = 0.05, 30


def fit_library(
    model: "_Wrapper", table: Table, labels: Labels, weight: Floats, context: Context
) -> VoteFit:
    """Return the vote and the library of a wrapper's parameters."""
    if labels.target.kind == "regression":
        refuse_huge(labels.y)
    if not (sparse.issparse(table.values) or not np.isnan(table.values).all()):
        raise PsephosError("at least one value of the table must be present; all are missing.")
    evaluation = _evaluation(model, table, labels, weight, context)
    settings = _settings(model, evaluation)
    seed = context.integer(_DRAWS)
    store = None
    if model.folder is not None:
        store = Store(model.folder, identity_of(evaluation, settings, seed))
    p, workers = table.schema.n_features, Workers(evaluation, model.n_jobs, store)
    found = search(workers, p, settings, seed=seed, n_parts=evaluation.n_parts)
    kept = post_process(found.steps, model.delta, model.dimension)
    measure = "error" if labels.target.n_classes else "squared_error"
    if model.scoring is not None:
        measure = model.scoring if isinstance(model.scoring, str) else "own measure"
    library = make_library(found.steps, kept, evaluation, table, measure)
    n_reserve = model.n_reserve if model.absent == "vote" else 0
    library, vote = make_vote(library, evaluation, model.vote, n_reserve, labels.target)
    n_splits = evaluation.problem.folds.n_splits
    return vote, {"library_": library, "stopped_": found.stopped, "n_splits_": n_splits}


def cost_of(
    model: Any, table: Table, labels: Labels, weight: Floats, context: Context, seconds: float
) -> list[StepCost]:
    """Return the cost of each step of the search."""
    evaluation = _evaluation(model, table, labels, weight, context)
    return estimate_cost(evaluation, _settings(model, evaluation), seconds=seconds)


def _evaluation(
    model: "_Wrapper", table: Table, labels: Labels, weight: Floats, context: Context
) -> Evaluation:
    n_classes = labels.target.n_classes
    classes = labels.target.classes if n_classes else None
    splits = make_splits(
        labels.y,
        n_classes,
        groups=context.groups,
        n_folds=_fold_count(model.n_folds, labels, context),
        n_repeats=model.n_repeats,
        cv=_among_kept(model.cv, context.kept),
        seed=context.integer(_FOLDS),
        classes=classes,
    )
    learner = make_mechanism(in_codes(model.learner, labels.target), model.mechanisms)
    n_codes, X = table.code_counts, table.dense()
    powers = powers_of(table, X, learner)
    return Evaluation.of(
        CodedLearner(learner) if n_codes.any() else learner,
        divided(X, powers),
        labels.y,
        n_classes,
        folds=Folds.of(splits),
        weight=weight,
        seed=context.integer(_LEARNER),
        scoring=model.scoring,
        classes=classes,
        n_codes=n_codes if n_codes.any() else None,
        powers=powers,
    )


def _settings(model: Any, evaluation: Evaluation) -> SearchSettings:
    """Return the settings; by default 5 % are strong, in the first step at least 30 columns."""
    first = max(_ALPHA, min(1.0, _POOL / evaluation.problem.X.shape[1]))
    return SearchSettings(
        p_max=most_columns(model.p_max, evaluation.problem),
        m=model.m,
        alpha=(first, _ALPHA) if model.alpha is None else model.alpha,
        ties=model.ties,
        sampling=model.sampling,
    )


def _fold_count(given: int, labels: Labels, context: Context) -> int:
    """Return the number of folds, at most the rows of the smallest class (or the groups)."""
    if context.groups is not None:
        units = len(np.unique(context.groups))
    else:
        units = int(np.bincount(labels.y).min()) if labels.target.n_classes else len(labels.y)
    if len(labels.y) < 2:
        raise PsephosError("cross-validation needs at least two rows; got n_samples=1.")
    return max(2, min(given, units))


def _among_kept(cv: Any, kept: Indices | None) -> Any:
    """Return given (train, test) pairs without the rows of weight 0, as indices of the others."""
    if kept is None or cv is None or isinstance(cv, str | int) or hasattr(cv, "split"):
        return cv
    pairs: list[tuple[Any, Any]] = []
    for parts in cv:
        rows = [np.asarray(part) for part in parts]
        rows = [np.flatnonzero(part) if part.dtype == bool else part for part in rows]
        train, test = (np.searchsorted(kept, part[np.isin(part, kept)]) for part in rows)
        pairs.append((train, test))
    return pairs
