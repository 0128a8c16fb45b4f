"""The trials of a start: all columns alike, the kernels of a length made once.

With ``v_d = c / sqrt(q)`` in every column the exponents of all lengths c are multiples of one
table of squared distances, and while only the weights move the kernels stay as they are: an
evaluation is then two sums over a table, whatever the number of columns. Where most trials are in
vain, as in later batches, they would be the greater part of a fit.
"""

import math

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prototype_windows import squared_distances, weighted_windows

__all__ = ["Windows"]

_Floats = NDArray[np.float64]
_MANY_COLUMNS = 64
_PAIRS = 2**18, 2**20  # of a table that is made, where columns are few and many
_TINY = 1e-10  # in the logarithm, as in the objective


class Windows:
    """Value of a batch's objective and its gradient by the weights, for columns all alike.

    Parameters
    ----------
    references, candidates : ndarray of shape (R, q), (M, q)
        Scaled rows without missing values or categories.
    match : ndarray of shape (R, M)
        1 where a candidate speaks for the reference's class, else 0; or the density of its target.
    base_own, base_total, omega : ndarray of shape (R,)
    twin, echo : ndarray of shape (R,) or None
        The candidate that is the reference itself, or -1; the share of its own weight it hears.
    penalties : dict
        As in ``BatchObjective``.
    """

    def __init__(
        self, references: _Floats, candidates: _Floats, match: _Floats, base_own: _Floats,
        base_total: _Floats, omega: _Floats, twin: NDArray[np.intp] | None, echo: _Floats | None,
        penalties: dict[str, float],
    ) -> None:  # fmt: skip
        self._base, self._omega, self._twin = (base_own, base_total), omega, twin
        self._echo = np.zeros(len(omega)) if echo is None else echo
        self._match = match.astype(np.float32)
        self._penalties, self._n_columns = penalties, references.shape[1]
        self._length, self._table = math.nan, np.empty((0, 0), np.float32)
        self._distances = np.empty(match.shape, np.float32)
        squared_distances(
            references.astype(np.float32), candidates.astype(np.float32), self._distances
        )

    @staticmethod
    def suit(n_references: int, n_candidates: int, n_columns: int) -> bool:
        """Return whether the table is small enough to be kept."""
        return n_references * n_candidates <= _PAIRS[n_columns >= _MANY_COLUMNS]

    def __call__(self, theta: _Floats) -> tuple[float, _Floats]:
        """Value at ``theta = [v, w, further]``, v alike in all columns, and gradient by w."""
        q, m = self._n_columns, self._match.shape[1]
        v, w = float(theta[0]), theta[q : q + m]
        gradient, p = np.empty(m), self._penalties
        value = weighted_windows(
            self._kernel(v), self._match, w, *self._base, self._omega, _TINY, gradient
        )
        for x, n, size, share in (
            (v, q, p["lambda_v"], p["alpha_v"]), (w, 1, p["lambda_w"], p["alpha_w"])
        ):  # fmt: skip
            value += size * n * float(np.sum(0.5 * (1.0 - share) * x * x + share * x))
        u = theta[-1] if len(theta) > q + m else 0.0
        value += 0.5 * p.get("lambda_u", 0.0) * u * u
        return value, gradient + p["lambda_w"] * ((1.0 - p["alpha_w"]) * w + p["alpha_w"])

    def _kernel(self, v: float) -> NDArray[np.float32]:
        """Return the table for a length; the last one is kept, as trials go length by length."""
        if v != self._length:
            if not self._table.size:  # not sooner: what the caller made for this is gone by now
                self._table = np.empty_like(self._distances)
            np.multiply(self._distances, np.float32(-0.5 * v * v), out=self._table)
            np.exp(self._table, out=self._table)
            if self._twin is not None:
                itself = np.flatnonzero(self._twin >= 0)
                self._table[itself, self._twin[itself]] = self._echo[itself]
            self._length = v
        return self._table
