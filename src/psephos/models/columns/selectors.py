"""Selectors of columns: each returns a score per column, at least 0; 0 is not selected."""

import warnings
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats, Indices
from psephos.models.columns.selection import SelectionProblem, standardised
from psephos.models.committees.fitting import Data, MemberTask, fit_all
from psephos.models.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from psephos.models.linear.ridge import default_alphas, fit_ridge

_TREES, _STABLE_TREES = 2000, 10_000
_LEAF = 5  # rows of a leaf for regression: smaller leaves fit noise and cost most of the time


def importance(problem: SelectionProblem) -> Floats:
    """Return (p,) impurity importances of a forest of 2,000 trees (10,000 if `problem.stable`).

    Classification trees are grown until pure, regression trees to leaves of at least 5 rows.
    """
    jobs, trees = problem.data.n_jobs, _STABLE_TREES if problem.stable else _TREES
    forest = (
        RandomForestClassifier(trees, n_jobs=jobs)
        if problem.data.n_classes
        else RandomForestRegressor(trees, max_features="sqrt", min_samples_leaf=_LEAF, n_jobs=jobs)
    )
    model = fit_all(problem.encoded[0], [MemberTask(forest, (1, 0))])[0]
    return problem.by_column(model.impurity_importance_)


def of_model(data: Data, estimator: Estimator) -> Floats:
    """Return (p,) importances, or absolute coefficients, of an estimator fitted on all columns.

    Raises
    ------
    PsephosError
        If it has neither `feature_importances_` nor `coef_`.
    """
    model = fit_all(data, [MemberTask(estimator, (5,))])[0]
    p = data.X.shape[1]
    for name in ("feature_importances_", "coef_"):
        found = getattr(model, name, None)
        if found is not None and np.shape(found)[-1:] == (p,):
            return np.abs(np.asarray(found, dtype=np.float64)).reshape(-1, p).sum(axis=0)
    raise PsephosError(
        "a selector must have feature_importances_ or coef_ once it is fitted, or be a name such "
        f"as 'blend'; got {type(estimator).__name__}."
    )


def univariate(problem: SelectionProblem) -> Floats:
    """Return (p,) absolute correlations of each column's normal scores with the target.

    With more than two classes, the correlations of each class against the rest are summed.
    """
    return problem.by_column(problem.correlation.sum(axis=1))


_DRAWS, _STABLE_DRAWS = 40, 160
_SHARE = 0.8
_ENTRIES = 24
_FIRST, _SCREENED = 1000, 300  # columns kept by correlation on all rows, and on the drawn ones
_HALVES, _FEW = 100, 20  # of `stability`: subsamples, and entries counted in each
_AFTER = 4  # an entry at position i, counted from 0, scores 1 / (4 + i)


def lars(problem: SelectionProblem) -> Floats:
    """Return (p,) sums of 1 / (4 + i) over 40 draws of the rows in which a column enters i-th.

    A draw has 80 % of each class; with groups, 80 % of the groups. On it a lasso path (least angle
    regression) is computed on normal scores of 300 columns: of the 1,000 that correlate most with
    the target on all rows, those that correlate most on the draw. Its first 24 entries score. With
    more than two classes, scores of each class against the rest are summed. With `problem.stable`
    there are 160 draws.
    """
    total = np.zeros(problem.scored.shape[1])
    draws = [_first_entries(problem, r) for r in range(problem.targets.shape[1])]
    for entered in chain.from_iterable(draws):
        total[entered] += 1.0 / (_AFTER + np.arange(len(entered)))
    problem.agreement.append(agreement(draws, len(total)))
    return problem.by_column(total)


def _first_entries(problem: SelectionProblem, target: int) -> list[Indices]:
    """Return the columns that enter on each draw, in order of entry."""
    first = screened(problem.correlation[:, target], _FIRST)
    Z = problem.scored.scores(first)
    found: list[Indices] = []
    for draw in range(_STABLE_DRAWS if problem.stable else _DRAWS):
        rows = drawn_rows(problem, _SHARE, (2, target, draw))
        found.append(first[entries(problem, target, rows, Z, _SCREENED, _ENTRIES)])
    return found


def agreement(draws: list[list[Indices]], n_columns: int) -> Floats:
    """Return the agreement of draws in their first k entries, (24,), for k = 1 to 24.

    It is the probability that a column among the first k entries of one draw is among those of
    another, over all targets; 0 if no column enters.
    """
    found = np.zeros((2, _ENTRIES))
    for of_target in draws:
        times = np.zeros(n_columns)
        for k in range(_ENTRIES):
            np.add.at(times, [entered[k] for entered in of_target if len(entered) > k], 1.0)
            found[:, k] += times @ (times - 1.0), times.sum() * (len(of_target) - 1)
    return np.divide(found[0], found[1], out=np.zeros(_ENTRIES), where=found[1] > 0)


def stability(problem: SelectionProblem) -> Floats:
    """Return (p,) the share of 100 half-samples in which a column is among the first 20 to enter.

    The lasso of each half-sample is that of `lars`, on the 1,000 columns that correlate most with
    the target in it. With more than two classes, shares of each class against the rest are summed.
    """
    total = np.zeros(problem.scored.shape[1])
    for r in range(problem.targets.shape[1]):
        first = screened(problem.correlation[:, r], 10 * _FIRST)
        Z = problem.scored.scores(first)
        for half in range(_HALVES):
            rows = drawn_rows(problem, 0.5, (3, r, half))
            entered = first[entries(problem, r, rows, Z, _FIRST, _FEW)]
            total[entered] += 1.0 / _HALVES
    return problem.by_column(total)


def screened(score: Floats, most: int) -> Indices:
    """Return the indices of the greatest scores, ascending; of ties the first."""
    return np.sort(np.argsort(-score, kind="stable")[:most])


def drawn_rows(problem: SelectionProblem, share: float, task: tuple[int, ...]) -> Indices:
    """Return a sorted draw of rows without replacement, stratified by class; groups stay whole."""
    data = problem.data
    unit = np.arange(len(data.y)) if data.groups is None else data.groups
    _, first, unit = np.unique(unit, return_index=True, return_inverse=True)
    draw = problem.context.generator(*task).permutation(len(first))
    y = data.y[first[draw]] if data.n_classes else np.zeros(len(draw), dtype=np.intp)
    parts = [draw[y == k] for k in range(max(data.n_classes, 1))]
    least = 1 if data.n_classes else 2
    kept = [part[: max(least, round(share * len(part)))] for part in parts]
    return np.flatnonzero(np.isin(unit, np.concatenate(kept)))


def entries(
    problem: SelectionProblem, target: int, rows: Indices, Z: Floats, most: int, n_entries: int
) -> Indices:
    """Return the first columns of Z that enter a lasso path on `rows`, in order of entry.

    `Z` (n, c): normal scores. `most`: only so many columns, those that correlate most with the
    target on these rows, may enter.
    """
    share = problem.weight[rows] / problem.weight[rows].sum()
    Z = standardised(Z[rows], share)
    y = standardised(problem.targets[rows, target][:, None], share)[:, 0]
    size = np.abs((share * y) @ Z)
    kept = screened(size, most)
    kept = kept[size[kept] > 0]
    if not len(kept):
        return np.empty(0, dtype=np.intp)
    root = np.sqrt(share * len(rows))  # the path ends at 1e-7 of |correlation|, whatever y's unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # collinear columns are dropped
        coef = path_of(Z[:, kept] * root[:, None], y * root, n_entries)
    inside = coef != 0
    entered = np.flatnonzero(inside.any(axis=1))
    first = inside[entered].argmax(axis=1)
    order = np.lexsort((-np.abs(coef[entered, first]), first))
    return kept[entered[order]]


def path_of(Z: Floats, y: Floats, n_entries: int) -> Floats:
    """Return the (c, k) coefficients at each step of the lasso by least angle regression.

    If several collinear columns leave at one step, which scikit-learn's `lars_path` does not
    support, plain least angle regression is used: there no column leaves.
    """
    try:
        return lars_path(Z, y, method="lasso", max_iter=n_entries)[2]
    except ValueError:
        return lars_path(Z, y, method="lar", max_iter=n_entries)[2]


_FOLDS = 5


def blend(problem: SelectionProblem) -> Floats:
    """Return (p,) sums of 1 / (4 + rank) over the rankings of `importance` and `lars`.

    Of each ranking the first `problem.depth` columns count. For regression a third ranking is
    added, by the absolute coefficients of a ridge regression on normal scores.
    """
    rankings = [importance(problem), lars(problem)]
    if not problem.data.n_classes:
        rankings.append(_ridge(problem))
    return joined(rankings, problem.depth)


def joined(rankings: list[Floats], depth: int) -> Floats:
    """Return sums of 1 / (4 + rank) of (p,) scores, ranks from 0; a score of 0 has no rank."""
    total = np.zeros(len(rankings[0]))
    for score in rankings:
        best = np.argsort(-score, kind="stable")[:depth]
        best = best[score[best] > 0]
        total[best] += 1.0 / (_AFTER + np.arange(len(best)))
    return total


def _ridge(problem: SelectionProblem) -> Floats:
    """Return (p,) absolute coefficients of a ridge regression on normal scores."""
    found = fit_ridge(
        problem.scored, problem.targets[:, 0], 0, problem.weight,
        default_alphas(problem.scored.shape[1]),
        n_folds=_FOLDS, groups=problem.data.groups, seed=problem.context.integer(4),
    )  # fmt: skip
    return problem.by_column(np.abs(found.coef[0]))


SELECTORS: Mapping[str, Callable[[SelectionProblem], NDArray[np.float64]]] = {
    "blend": blend,
    "lars": lars,
    "stability": stability,
    "importance": importance,
    "univariate": univariate,
}


def score_columns(problem: SelectionProblem, selector: Any, given: Data) -> NDArray[np.float64]:
    """Return (p,) scores by a selector's name, or by an estimator fitted on `given`."""
    if isinstance(selector, str):
        return SELECTORS[selector](problem)
    return of_model(given, selector)
