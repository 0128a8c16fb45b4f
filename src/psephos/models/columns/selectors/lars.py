"""Columns that the lasso lets in first, on draws of the rows or on halves of them."""

import warnings
from itertools import chain

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path

from psephos._types import Floats, Indices
from psephos.models.columns.problem import SelectionProblem, standardised

_DRAWS, _STABLE = 40, 160
_SHARE = 0.8
_ENTRIES = 24
_FIRST, _SCREENED = 1000, 300  # columns kept by correlation on all rows, and on the drawn ones
_HALVES, _FEW = 100, 20  # of the selector by stability, and entries that count there
_AFTER = 4  # an entry at position i, counted from 0, scores 1 / (4 + i)


def lars(problem: SelectionProblem) -> Floats:
    """Return (p,) sums of 1 / (4 + i) over 40 draws of the rows in which a column enters i-th.

    A draw has 80 % of each class. The 300 columns that correlate most with the target there, of
    the 1,000 that do on all rows, go into a lasso by least angle regression on normal scores;
    its first 24 entries score. Of several classes each is told from the rest, scores summed. If
    the ranking is to be stable, there are 160 draws.
    """
    total = np.zeros(problem.scored.shape[1])
    draws = [_first_entries(problem, r) for r in range(problem.targets.shape[1])]
    for entered in chain.from_iterable(draws):
        total[entered] += 1.0 / (_AFTER + np.arange(len(entered)))
    problem.agreement.append(agreement(draws, len(total)))
    return problem.by_column(total)


def _first_entries(problem: SelectionProblem, target: int) -> list[Indices]:
    """Return the columns that enter on each draw, the first one first."""
    first = screened(problem.correlation[:, target], _FIRST)
    Z = problem.scored.scores(first)
    found: list[Indices] = []
    for draw in range(_STABLE if problem.stable else _DRAWS):
        rows = drawn_rows(problem, _SHARE, (2, target, draw))
        found.append(first[entries(problem, target, rows, Z, _SCREENED, _ENTRIES)])
    return found


def agreement(draws: list[list[Indices]], n_columns: int) -> Floats:
    """Return how alike draws are, (24,): of first entries, of the first two, and so on.

    It is the chance that a column among the first k entries of one draw is among those of another,
    over the targets; 0 where none enters.
    """
    found = np.zeros((2, _ENTRIES))
    for own in draws:
        times = np.zeros(n_columns)
        for k in range(_ENTRIES):
            np.add.at(times, [entered[k] for entered in own if len(entered) > k], 1.0)
            found[:, k] += times @ (times - 1.0), times.sum() * (len(own) - 1)
    return np.divide(found[0], found[1], out=np.zeros(_ENTRIES), where=found[1] > 0)


def stability(problem: SelectionProblem) -> Floats:
    """Return (p,) the share of 100 halves of the rows in which a column enters among the first 20.

    The lasso of each half is that of `lars`, on the 1,000 columns that correlate most with the
    target there. Of several classes each is set against the rest, and the shares are added up.
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
    """Return the positions of the greatest scores, in rising order; the first of equals."""
    return np.sort(np.argsort(-score, kind="stable")[:most])


def drawn_rows(problem: SelectionProblem, share: float, task: tuple[int, ...]) -> Indices:
    """Return a draw of rows without replacement, of each class its share; sorted."""
    draw = problem.context.generator(*task).permutation(len(problem.data.y))
    if not problem.data.n_classes:
        return np.sort(draw[: max(2, round(share * len(draw)))])
    y = problem.data.y[draw]
    parts = [draw[y == k] for k in range(problem.data.n_classes)]
    return np.sort(np.concatenate([part[: max(1, round(share * len(part)))] for part in parts]))


def entries(
    problem: SelectionProblem,
    target: int,
    rows: Indices,
    Z: Floats,
    most: int,
    n_entries: int,
) -> Indices:
    """Return the columns of Z that a lasso lets in, the first one first.

    `rows`: those that are looked at. `Z` (n, c): the normal scores of columns that may enter.
    `most`: of them those that correlate most on these rows may.
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
        warnings.simplefilter("ignore", ConvergenceWarning)  # columns alike are dropped
        coef = path_of(Z[:, kept] * root[:, None], y * root, n_entries)
    inside = coef != 0
    entered = np.flatnonzero(inside.any(axis=1))
    first = inside[entered].argmax(axis=1)
    order = np.lexsort((-np.abs(coef[entered, first]), first))
    return kept[entered[order]]


def path_of(Z: Floats, y: Floats, n_entries: int) -> Floats:
    """Return the (c, k) coefficients at each step of the lasso by least angle regression.

    Where columns that depend on each other leave at one step, which `lars_path` of scikit-learn
    does not follow (it counts one of them), it is least angle regression, which no column leaves.
    """
    try:
        return lars_path(Z, y, method="lasso", max_iter=n_entries)[2]
    except ValueError:
        return lars_path(Z, y, method="lar", max_iter=n_entries)[2]
