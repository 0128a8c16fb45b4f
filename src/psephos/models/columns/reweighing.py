"""Voters let in one after the other while the columns last, weighed anew after each."""

from typing import NamedTuple

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from psephos._errors import PsephosError

_Floats = NDArray[np.float64]
_RIDGE = 1e-9  # of the mean diagonal: voters alike share their weight


class Rows(NamedTuple):
    """What voters say on the rows, H (n, T, K), what is wanted, (n, K), and weights (n,)."""

    said: _Floats
    wanted: _Floats
    weight: _Floats


def greedy(
    rows: Rows, reads: NDArray[np.bool_], budget: int, mean: bool
) -> tuple[NDArray[np.intp], _Floats]:
    """Return the voters kept and their weights."""
    allowed = np.zeros(reads.shape[1], dtype=bool)
    width = reads.sum(axis=1)
    reading = width[width > 0]  # a base score, or a tree without a split, reads nothing
    if len(reading) and reading.min() > budget:
        raise PsephosError(
            f"no voter that reads a column reads as few as {budget}: the smallest reads "
            f"{reading.min()}. Ask for at least that, or fit a ColumnBudgetClassifier or "
            "ColumnBudgetRegressor."
        )
    inside = np.flatnonzero(width == 0)
    alpha = _weights(rows, inside, mean)
    while True:
        further = (reads & ~allowed).sum(axis=1)
        open_to = np.flatnonzero((further > 0) & (further + allowed.sum() <= budget))
        gain = _gain(rows, inside, alpha, open_to) / further[open_to]
        if not len(open_to) or gain.max() <= 0:
            break
        allowed |= reads[open_to[int(gain.argmax())]]
        inside = np.flatnonzero(~(reads & ~allowed).any(axis=1))
        alpha = _weights(rows, inside, mean)
    kept = alpha > 0
    if not (kept & ((width[inside] > 0) | (not len(reading)))).any():
        raise PsephosError("no voter of these columns agrees with y on the rows given.")
    return inside[kept], alpha[kept]


def _gain(
    rows: Rows, inside: NDArray[np.intp], alpha: _Floats, voters: NDArray[np.intp]
) -> _Floats:
    """Return by how much each voter alone could lower the squared error of the vote."""
    sums = np.einsum("ntk,t->nk", rows.said[:, inside], alpha)
    rest = (rows.wanted - sums) * rows.weight[:, None]
    said = rows.said[:, voters]
    along = np.maximum(np.einsum("ntk,nk->t", said, rest), 0.0)
    size = np.einsum("ntk,n->t", said * said, rows.weight)
    return np.divide(along**2, size, out=np.zeros_like(size), where=size > 0)


def _weights(rows: Rows, inside: NDArray[np.intp], mean: bool) -> _Floats:
    """Return the weights of least squared error, none below 0; those of a mean sum to 1."""
    if not len(inside):
        return np.empty(0)
    root = np.sqrt(rows.weight / rows.weight.sum())[:, None, None]
    H = (rows.said[:, inside] * root).transpose(0, 2, 1).reshape(-1, len(inside))
    gram, along = H.T @ H, H.T @ (rows.wanted * root[:, 0]).ravel()
    if mean:  # a heavy row says that they sum to 1
        heavy = 1e3 * max(float(np.trace(gram)), 1e-300)
        gram, along = gram + heavy, along + heavy
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram) + 1e-300
    factor = np.linalg.cholesky(gram)
    alpha, _ = scipy.optimize.nnls(factor.T, np.linalg.solve(factor, along))
    return alpha / alpha.sum() if mean and alpha.sum() > 0 else alpha
