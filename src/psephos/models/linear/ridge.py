"""Ridge regressions on normal scores of ranks, with the penalty chosen by cross-validation."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray, Values
from psephos.estimator.columns import dense_columns
from psephos.models.training import Design, make_splits
from psephos.runtime.threads import one_thread
from psephos.trees.tree import spans_of
from psephos.vote import design_matrix, normal_scores

_BLOCK = 2**22  # values ranked at once


@dataclass(frozen=True)
class ScoredColumns:
    """The normal scores of a table's columns, computed in blocks of columns.

    Parameters
    ----------
    X : ndarray or CSC array of shape (n, p)
        Numbers, and codes of categories.
    weight : ndarray of shape (n,)
    design : Design
        The q numeric columns of a table with categories; None: the columns themselves.
    n_quantiles : int
        Maximum number of values of a column whose scores are kept.
    """

    X: Values
    weight: Floats
    design: Design | None
    n_quantiles: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, q)."""
        q = self.X.shape[1] if self.design is None else len(self.design.source)
        return self.X.shape[0], q

    def parts(self) -> Iterator[slice]:
        """Yield the columns in blocks."""
        n, q = self.shape
        step = max(1, _BLOCK // max(n, 1))
        yield from (slice(j, min(j + step, q)) for j in range(0, q, step))

    def numbers(self, columns: Indices | slice) -> Floats:
        """Return the values of some design columns, (n, c)."""
        if self.design is None:
            return dense_columns(self.X, columns)
        source, at = np.unique(self.design.source[columns], return_inverse=True)
        return design_matrix(dense_columns(self.X, source), at, self.design.level[columns])

    @cached_property
    def knots(self) -> tuple[Floats, Floats, Indices]:
        """Return (knots, scores, start) for `psephos.vote.normal_scores`, as in `score_knots`."""
        found = [score_knots(self.numbers(p), self.weight, self.n_quantiles) for p in self.parts()]
        knots = np.concatenate([np.empty(0), *(f[0] for f in found)])
        scores = np.concatenate([np.empty(0), *(f[1] for f in found)])
        counts = np.concatenate([np.zeros(1, np.intp), *(np.diff(f[2]) for f in found)])
        return knots, scores, counts.cumsum(dtype=np.intp)

    def scores(self, columns: Indices | slice = slice(None)) -> Floats:
        """Return the normal scores of some columns, (n, c)."""
        knots, scores, start = self.knots
        own, rows = spans_of(start, np.arange(self.shape[1])[columns])
        return normal_scores(self.numbers(columns), knots[rows], scores[rows], own)

    def gram(self) -> Floats:
        """Return Z Z', with Z the scores of all columns: (n, n)."""
        total = np.zeros((self.shape[0],) * 2)
        for part in self.parts():
            Z = self.scores(part)
            total += Z @ Z.T
        return total

    def combined(self, rows: Floats) -> Floats:
        """Return the sums of the rows of Z with these weights: (m, n) gives (m, q)."""
        return np.hstack([rows @ self.scores(part) for part in self.parts()])


def score_knots(X: Floats, weight: Floats, n_quantiles: int) -> tuple[Floats, Floats, Indices]:
    """Return the values of each column and their normal scores.

    The score of a value v of a column is ``Phi^-1((W_below + W_equal / 2) / W)``, with W the weight
    of the rows whose value is below v, equal to it, or not missing.

    `X` (n, q); `weight` (n,); `n_quantiles`: maximum number of values kept per column; if there are
    more, values at even steps of the score are kept.

    Returns
    -------
    knots, scores : (m,); column by column, values ascending
    start : (q + 1,); the first knot of each column
    """
    columns = np.ascontiguousarray(X.T)
    order = np.argsort(columns, axis=1, kind="stable")
    value = np.take_along_axis(columns, order, axis=1) + 0.0  # -0.0 is 0.0
    w = np.where(np.isnan(value), 0.0, (weight / weight.max())[order])  # missing values are last
    below = np.cumsum(w, axis=1)
    total = below[:, -1:]
    last = np.ones(value.shape, dtype=bool)  # whether the next value differs
    last[:, :-1] = value[:, 1:] != value[:, :-1]
    last &= ~np.isnan(value)
    counts = last.sum(axis=1)
    upto, knots = below[last], value[last]
    start = np.concatenate([[0], np.cumsum(counts)])
    first = np.zeros(len(knots), dtype=bool)
    first[start[:-1][counts > 0]] = True
    before = np.where(first, 0.0, np.append(0.0, upto[:-1]))
    score = ndtri((before + upto) / 2 / np.repeat(total[:, 0], counts))
    kept = [_thinned(score[a:b], n_quantiles) + a for a, b in pairwise(start.tolist())]
    rows = np.concatenate([np.empty(0, np.intp), *kept]).astype(np.intp)
    return knots[rows], score[rows], np.array([0, *map(len, kept)]).cumsum(dtype=np.intp)


def _thinned(score: Floats, n_quantiles: int) -> Indices:
    """Return the indices of at most `n_quantiles` scores at even steps, both ends included."""
    if len(score) <= n_quantiles:
        return np.arange(len(score))
    found = np.searchsorted(score, np.linspace(score[0], score[-1], n_quantiles))
    return np.unique(np.clip(found, 0, len(score) - 1))


_Split = tuple[NDArray[Any], NDArray[Any]]
_GRID = (0.3, 1.0, 3.0, 10.0, 30.0)
_FEW = 16  # columns up to which the grid is used as it is


class Ridge(NamedTuple):
    """A fitted model: coef (R, q), intercept (R,), the penalty and the losses of all penalties."""

    coef: Floats
    intercept: Floats
    alpha: float
    losses: Floats


def default_alphas(n_columns: int) -> tuple[float, ...]:
    """Return the penalties tried: .3, 1, 3, 10, 30, times q / 16 above 16 columns.

    With a penalty a, the variance of a score of q columns is of the order of q / a, so the scaled
    grid has the same range.
    """
    return tuple(a * max(1.0, n_columns / _FEW) for a in _GRID)


def fit_ridge(
    scored: ScoredColumns,
    y: Array,
    n_classes: int,
    weight: Floats,
    alphas: Sequence[float],
    *,
    n_folds: int,
    groups: Array | None,
    seed: int,
) -> Ridge:
    """Return the model with the smallest loss on held-out rows, fitted on all rows.

    Parameters
    ----------
    scored : (n, q), the scores of columns
    y : (n,); class codes, or numbers
    n_classes : 0 for regression
    weight : (n,)
    n_folds : folds, fewer if a class has fewer rows; groups are kept together
    groups : (n,) or None

    Warns
    -----
    UserWarning
        If rows cannot be divided into folds: the middle penalty is used.
    """
    fit = _logistic if n_classes else _least_squares
    losses, held = np.zeros(len(alphas)), 0.0
    with one_thread():
        A, back = _rotated(scored)
        if len(alphas) > 1:
            for train, test in _splits(y, n_classes, groups, n_folds, seed, alphas):
                models = fit(A[train], y[train], weight[train], alphas)
                losses += [_loss(A[test], y[test], weight[test], n_classes, *m) for m in models]
                held += float(weight[test].sum())
        best = len(alphas) // 2
        if losses.any():  # of ties the greatest penalty
            best = int(len(alphas) - 1 - losses[::-1].argmin())
        coef, intercept = fit(A, y, weight, [alphas[best]])[0]
        coef = coef if back is None else scored.combined(coef @ back)
    return Ridge(coef, intercept, float(alphas[best]), losses / (held or 1.0))


def _splits(
    y: NDArray[Any], n_classes: int, groups: Any, n_folds: int, seed: int, alphas: Sequence[float]
) -> list[_Split]:
    """Return the folds; a class's only row is in no test part."""
    counts = np.bincount(y) if n_classes else np.array([len(y)])
    alone = np.flatnonzero(counts[y] < 2) if n_classes and groups is None else np.empty(0, np.intp)
    rest = np.setdiff1d(np.arange(len(y)), alone)
    units = len(rest) if groups is None else len(np.unique(groups))
    folds = min(n_folds, units, max(2, int(counts[counts > 1].min(initial=n_folds))))
    try:
        if folds < 2:
            raise PsephosError(f"there is only one {'row' if groups is None else 'group'}.")
        codes = np.unique(y[rest], return_inverse=True)[1] if n_classes else y
        some = min(n_classes, int(counts.size - len(alone)))
        parts = make_splits(codes, some, groups=groups, n_folds=folds, seed=seed)
        return [(np.concatenate([rest[train], alone]), rest[test]) for train, test in parts]
    except PsephosError as error:
        warnings.warn(
            f"the penalty cannot be chosen by cross-validation, and {alphas[len(alphas) // 2]:g} "
            f"is used: {error} Or set alphas to one number.",
            UserWarning,
            stacklevel=2,
        )
        return []


def _rotated(scored: ScoredColumns) -> tuple[Floats, Floats | None]:
    """Return (A, back): ``Z c = A d``, ``|c| = |d|`` for ``c = Z.T back.T d``; None: Z is A.

    With more columns than rows, A is Z in the rows' principal directions, which contain the
    penalised solution.
    """
    n, q = scored.shape
    if q <= n:
        return scored.scores(), None
    values, vectors = np.linalg.eigh(scored.gram())
    kept = values > values.max(initial=0.0) * n * np.finfo(float).eps
    size = np.sqrt(values[kept])
    return vectors[:, kept] * size, (vectors[:, kept] / size).T


def _logistic(
    A: Floats, y: Array, weight: Floats, alphas: Sequence[float]
) -> list[tuple[Floats, Floats]]:
    """Return, per penalty a, the (coef, intercept) minimising ``sum w log-loss + a/2 |coef|^2``."""
    if not A.shape[1]:
        A = np.zeros((len(A), 1))
        return [(c[:, :0], b) for c, b in _logistic(A, y, weight, alphas)]
    scale = weight.max()
    solver: Any = LogisticRegression(tol=1e-6, max_iter=5000, warm_start=True)
    models: dict[float, tuple[Floats, Floats]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # converged to rounding error
        for alpha in sorted(alphas, reverse=True):
            solver.set_params(C=scale / alpha).fit(A, y, weight / scale)
            models[alpha] = solver.coef_.copy(), solver.intercept_.copy()
    return [models[alpha] for alpha in alphas]


def _least_squares(
    A: Floats, y: NDArray[Any], weight: Floats, alphas: Sequence[float]
) -> list[tuple[Floats, Floats]]:
    """Return, per penalty a, the (coef, intercept) minimising ``sum w r^2 + a |coef|^2``."""
    share = weight / weight.sum()
    middle, mean = share @ A, float(share @ y)
    root = np.sqrt(weight)
    U, s, V = np.linalg.svd((A - middle) * root[:, None], full_matrices=False)
    on = U.T @ ((y - mean) * root)
    models: list[tuple[Floats, Floats]] = []
    for alpha in alphas:
        coef = (s / (s * s + alpha) * on) @ V
        models.append((coef[None], np.array([mean - middle @ coef])))
    return models


def _loss(
    A: Floats, y: NDArray[Any], weight: Floats, n_classes: int, coef: Floats, intercept: Floats
) -> float:
    """Return the weighted sum of log-losses, or of squared errors."""
    score = A @ coef.T + intercept
    if not n_classes:
        return float(weight @ (y - score[:, 0]) ** 2)
    if score.shape[1] == 1:
        return float(weight @ np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * score[:, 0]))
    top = score.max(axis=1)
    logs = top + np.log(np.exp(score - top[:, None]).sum(axis=1))
    return float(weight @ (logs - score[np.arange(len(y)), y]))
