"""The trials of a start: all columns alike, the kernels of a length made once.

With ``v_d = c / sqrt(q)`` in every column the exponents of all lengths c are multiples of one
table of squared distances, and while only the weights move the kernels stay as they are: an
evaluation is then two sums over a table, whatever the number of columns. Where most trials are in
vain, as in later batches, they would be the greater part of a fit.

The first trials, one of each length, go through the references a few at a time and keep no table.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prototypes.wide import suits_wide, wide_distances
from psephos.kernels.prototypes.windows import squared_distances, weighted_windows

__all__ = ["Windows"]

_Floats = NDArray[np.float64]
_Singles = NDArray[np.float32]
_MANY_COLUMNS = 64
_PAIRS = 2**18, 2**20  # of a table that is made, where columns are few and many
_HELD, _BLOCKS = 2**11, 12  # pairs at a time before tables are kept; parts of the references
_DEAR = 2**23  # multiplications of distances that are not done twice
_TINY = 1e-10  # in the logarithm, as in the objective


class Windows:
    """Value of a batch's objective and its gradient by the weights, for columns all alike.

    Parameters
    ----------
    references, candidates : ndarray of shape (R, q), (M, q)
        Scaled rows without missing values or categories; or what gives some, asked for a slice.
    y_references, y_candidates : ndarray of shape (R,), (M,)
        Class codes, or targets.
    base_own, base_total, omega : ndarray of shape (R,)
    twin, echo : ndarray of shape (R,) or None
        The candidate that is the reference itself, or -1; the share of its own weight it hears.
    penalties : dict
        As in ``BatchObjective``.
    u : float, default=0.0
        Inverse bandwidth of the target; 0 for classes.
    n_jobs : int, default=None
        Threads, for distances alone.
    """

    def __init__(
        self, references: Any, candidates: Any, y_references: _Floats,
        y_candidates: _Floats, base_own: _Floats, base_total: _Floats, omega: _Floats,
        twin: NDArray[np.intp] | None, echo: _Floats | None, penalties: dict[str, float],
        u: float = 0.0, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self._base, self._omega, self._twin = (base_own, base_total), omega, twin
        self._echo = np.zeros(len(omega)) if echo is None else echo
        self._y, self._u = (y_references, y_candidates), u
        self._penalties, self._n_columns = penalties, references.shape[1]
        self._length = math.nan
        self._table = self._match = self._distances = np.empty((0, 0), np.float32)
        if hasattr(references, "reading"):  # not laid out
            every = np.arange(references.shape[1])
            given = references, candidates, every, np.float32
            self._distances = wide_distances(*given, n_jobs=n_jobs)
            self._rows = self._table, self._table
            return
        mine, theirs = (np.asarray(table, np.float32) for table in (references, candidates))
        self._rows = mine, theirs
        if len(mine) * theirs.size > _DEAR:
            self._distances = self._apart(slice(None))
            self._rows = mine[:, :0], theirs[:, :0]  # nobody asks for them again

    @staticmethod
    def suit(n_references: int, n_candidates: int, n_columns: int) -> bool:
        """Return whether the table is small enough to be kept."""
        shape = n_references, n_candidates, n_columns
        return suits_wide(*shape) or shape[0] * shape[1] <= _PAIRS[n_columns >= _MANY_COLUMNS]

    def values(self, thetas: list[_Floats]) -> list[float]:
        """Values at some points ``[v, w, further]``, v alike in all columns: no table is kept."""
        m, n, found = len(self._y[1]), len(self._omega), [0.0] * len(thetas)
        size = max(1, _HELD // m, n // _BLOCKS)
        for first in range(0, n, size):
            self._add_values(slice(first, min(first + size, n)), thetas, found)
        return [self._penalised(theta, f) for theta, f in zip(thetas, found, strict=True)]

    def _add_values(self, some: slice, thetas: list[_Floats], found: list[float]) -> None:
        """Add what some references say of the points."""
        apart, match, itself = self._apart(some), self._same(some), self._itself(some)
        q, m, table = self._n_columns, len(self._y[1]), np.empty_like(apart)
        base_own, base_total = self._base
        given = base_own[some], base_total[some], self._omega[some], _TINY, np.empty(0)
        for k, theta in enumerate(thetas):
            _put_kernel(apart, float(theta[0]), itself, table)
            found[k] = weighted_windows(table, match, theta[q : q + m], *given, found[k])

    def __call__(self, theta: _Floats) -> tuple[float, _Floats]:
        """Value at ``theta = [v, w, further]``, v alike in all columns, and gradient by w."""
        q, m, p = self._n_columns, len(self._y[1]), self._penalties
        every = slice(0, len(self._omega))
        if not self._match.size:
            self._match = self._same(every)
        if not self._distances.size:
            self._distances = self._apart(every)
        if not self._table.size:
            self._table = np.empty_like(self._distances)
        v, w = float(theta[0]), theta[q : q + m]
        if v != self._length:  # the last one is kept, as trials go length by length
            _put_kernel(self._distances, v, self._itself(every), self._table)
            self._length = v
        gradient = np.zeros(m)
        value = weighted_windows(
            self._table, self._match, w, *self._base, self._omega, _TINY, gradient, 0.0
        )
        by_w = gradient + p["lambda_w"] * ((1.0 - p["alpha_w"]) * w + p["alpha_w"])
        return self._penalised(theta, value), by_w

    def _penalised(self, theta: _Floats, value: float) -> float:
        q, m, p = self._n_columns, len(self._y[1]), self._penalties
        v, w, share = float(theta[0]), theta[q : q + m], p["alpha_v"]
        value += p["lambda_v"] * q * (0.5 * (1.0 - share) * v * v + share * v)
        share = p["alpha_w"]
        of_each = 0.5 * (1.0 - share) * w * w + share * w if share < 1.0 else w
        value += p["lambda_w"] * float(np.add.reduce(of_each))
        u = theta[-1] if len(theta) > q + m else 0.0
        return value + 0.5 * p.get("lambda_u", 0.0) * u * u

    def _apart(self, some: slice) -> _Singles:
        """Return the squared distances of some references to all candidates."""
        if self._distances.size:
            return self._distances[some]
        mine, theirs = self._rows[0][some], self._rows[1]
        out = np.empty((len(mine), len(theirs)), np.float32)
        squared_distances(mine, theirs, out)
        return out

    def _same(self, some: slice) -> _Singles:
        """Return 1 where a candidate speaks for a reference's class, or its target's density."""
        mine, theirs = self._y[0][some, None], self._y[1]
        if self._u == 0.0:
            return (mine == theirs).astype(np.float32)
        density = self._u / np.sqrt(2 * np.pi) * np.exp(-0.5 * (self._u * (mine - theirs)) ** 2)
        return density.astype(np.float32)

    def _itself(self, some: slice) -> Any:
        """Return which of these references are which candidates, and what they hear of it."""
        if self._twin is None:
            return None
        twin = self._twin[some]
        there = np.flatnonzero(twin >= 0)
        return there, twin[there], self._echo[some][there]


def _put_kernel(apart: _Singles, v: float, itself: Any, out: _Singles) -> None:
    """Put the kernels of a length in `out`."""
    np.multiply(apart, np.float32(-0.5 * v * v), out=out)
    np.exp(out, out=out)
    if itself is not None:
        out[itself[0], itself[1]] = itself[2]
