"""Which numeric columns rise and fall together, by rank correlation."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from psephos._types import Floats

_LEAST = 0.6  # the least absolute rank correlation that is reported
_MOST = 3  # columns that are named as correlated with one
_PAIRS = 10  # the least number of cases with both values
_BLOCK = 256


@dataclass(frozen=True)
class NumericColumns:
    """The numeric columns of the training cases, NaN where missing."""

    names: list[str]
    values: Floats

    @cached_property
    def ranks(self) -> Floats:
        """Return the ranks of the cases in each column; NaN in columns with missing values."""
        found = np.empty_like(self.values)
        for start in range(0, len(self.names), _BLOCK):  # so that little memory is needed
            block = slice(start, start + _BLOCK)
            found[:, block] = rankdata(self.values[:, block], axis=0)
        return found


class Rising(NamedTuple):
    """A column and its rank correlation (Spearman's rho) with another."""

    column: int
    rho: float


def rising_with(
    columns: NumericColumns, column: int, most: int = _MOST, least: float = _LEAST
) -> list[Rising]:
    """Return the columns with the greatest absolute rank correlation with one, sorted.

    Parameters
    ----------
    least : float, default=0.6
        Smaller correlations are left out, and those over fewer than 10 cases.
    """
    rho = _correlations(columns, column)
    rho[column] = np.nan  # its correlation with itself
    found = [Rising(j, rho[j].item()) for j in np.flatnonzero(np.abs(rho) >= least).tolist()]
    return sorted(found, key=lambda one: (-abs(one.rho), one.column))[:most]


def _correlations(columns: NumericColumns, column: int) -> Floats:
    """Return the rank correlation of a column with all columns; 0 where it is not defined."""
    values, ranks, rho = columns.values, columns.ranks, np.zeros(len(columns.names))
    missing, lacking = np.isnan(values), np.isnan(ranks[0])
    rest = np.flatnonzero(lacking | lacking[column])
    if not lacking[column] and len(values) >= _PAIRS:
        rho = _pearson(ranks[:, column], ranks)
    for part in (rest[start : start + _BLOCK] for start in range(0, len(rest), _BLOCK)):
        gaps = missing[:, [column]] | missing[:, part]
        patterns, which = np.unique(gaps, axis=1, return_inverse=True)
        for p in range(patterns.shape[1]):  # ranks are over the cases that have both values
            both, at = ~patterns[:, p], part[which == p]
            if both.sum() >= _PAIRS:
                theirs = rankdata(values[np.ix_(both, at)], axis=0)
                rho[at] = _pearson(rankdata(values[both, column]), theirs)
    return rho


def _pearson(a: Floats, b: Floats) -> Floats:
    a, b = a - a.mean(), b - b.mean(axis=0)
    size = np.sqrt((a @ a) * (b * b).sum(axis=0))
    return (a @ b) / np.where(size > 0, size, 1.0)
