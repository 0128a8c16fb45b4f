"""Columns that rise and fall with another: what could be measured in its place."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

_LEAST = 0.6  # of the size of a rank correlation that is told
_MOST = 3
_PAIRS = 10  # cases that have both values, at least
_BLOCK = 256
_Floats = NDArray[np.float64]


class Rising(NamedTuple):
    """A column and its rank correlation (Spearman's rho) with another, over cases with both."""

    column: int
    rho: float


def rising_with(
    values: _Floats, column: int, others: Sequence[int], most: int = _MOST, least: float = _LEAST
) -> list[Rising]:
    """Return the columns of greatest rank correlation with one, the greatest first.

    Parameters
    ----------
    values : ndarray of shape (n, q)
        NaN where missing.
    others : sequence of int
        The columns that are looked at.
    least : float, default=0.6
        Correlations of smaller size are left out, and those over fewer than 10 cases.
    """
    own = values[:, column]
    looked = [j for j in others if j != column]
    found: list[Rising] = []
    for start in range(0, len(looked), _BLOCK):
        part = looked[start : start + _BLOCK]
        rho = _correlations(own, values[:, part])
        found += [Rising(j, float(r)) for j, r in zip(part, rho, strict=True) if abs(r) >= least]
    return sorted(found, key=lambda one: (-abs(one.rho), one.column))[:most]


def _correlations(own: _Floats, others: _Floats) -> _Floats:
    """Return the rank correlation of a column with others; 0 where it is not defined."""
    gaps = np.isnan(own)[:, None] | np.isnan(others)
    rho = np.zeros(others.shape[1])
    patterns, which = np.unique(gaps, axis=1, return_inverse=True)
    for p in range(patterns.shape[1]):  # ranks are among the cases that have both values
        both, at = ~patterns[:, p], np.flatnonzero(which == p)
        if both.sum() >= _PAIRS:
            rho[at] = _pearson(rankdata(own[both]), rankdata(others[np.ix_(both, at)], axis=0))
    return rho


def _pearson(a: Any, b: Any) -> _Floats:
    a, b = a - a.mean(), b - b.mean(axis=0)
    size = np.sqrt((a @ a) * (b * b).sum(axis=0))
    known = size > 0
    return np.where(known, (a @ b) / np.where(known, size, 1.0), 0.0)
