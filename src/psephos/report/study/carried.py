"""What of the training cases the page carries: which of them, and how many figures of a value."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.report.study.folder import Cases
from psephos.vote.importance import evenly_spaced

_MANY = 400  # cases of a class from which on some are drawn
_SOME = 200  # of each class
FIGURES = 3
_MOST = 17
_WHOLE = 1e15


def carried_rows(y: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the cases that are drawn one by one: all, or 200 of each class, evenly spaced.

    Of classes of 400 cases and more their values are counted in bins besides.
    """
    if np.bincount(y).max(initial=0) < _MANY:
        return np.arange(len(y))
    own = [np.flatnonzero(y == k) for k in np.unique(y)]
    return np.sort(np.concatenate([rows[evenly_spaced(len(rows), _SOME)] for rows in own]))


def carried_values(
    cases: Cases,
    rows: NDArray[np.intp],
    columns: Mapping[str, NDArray[np.float64]],
    full: bool = False,
) -> dict[str, list[Any]]:
    """Return the values of some columns on these rows, as the page carries them.

    Parameters
    ----------
    columns : dict of str to ndarray
        Their thresholds, sorted: no value is rounded across one.
    full : bool, default=False
        Whether values keep all their figures.
    """
    place = {name: j for j, name in enumerate(cases.names)}
    found: dict[str, list[Any]] = {}
    for name, cuts in columns.items():
        values: list[Any] = cases.values[rows, place[name]].tolist()
        found[name] = [
            v if full or not isinstance(v, float) else short(v, cuts) for v in map(_known, values)
        ]
    return found


def _known(value: Any) -> Any:
    """Return a value as the page has it: None where missing."""
    return None if isinstance(value, float) and np.isnan(value) else value


def short(value: float, thresholds: NDArray[np.float64]) -> float | int:
    """Return a rounded number as briefly as JSON has it."""
    found = rounded(value, thresholds)
    return int(found) if found.is_integer() and abs(found) < _WHOLE else found


def rounded(value: float, thresholds: NDArray[np.float64]) -> float:
    """Return a number of three figures, of more where it would cross or meet a threshold."""
    sides = np.searchsorted(thresholds, value), np.searchsorted(thresholds, value, "right")
    for figures in range(FIGURES, _MOST):
        short = float(f"{value:.{figures}g}")
        now = np.searchsorted(thresholds, short), np.searchsorted(thresholds, short, "right")
        if now == sides:
            return short
    return value


def guarded(values: NDArray[np.float64], cases: str) -> NDArray[np.float64]:
    """Return values and two more, beyond them: an axis over these does not tell the extremes.

    The two are the least and the greatest value, rounded outwards: to three figures where the
    page rounds values, to parts of the range where it carries none. They keep their signs, so
    that an axis has zero apart only where a value is zero.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN where missing.
    cases : {'rounded', 'full', 'none'}
        See `Options`.
    """
    known = values[np.isfinite(values)]
    if cases == "full" or not len(known):
        return values
    positive = known[known > 0]
    ends = [
        _outwards(value, known, cases, away)
        for value, away in ((known.min(), np.floor), (known.max(), np.ceil))
    ]
    if len(positive) and known.min() == 0:  # a logarithmic axis begins at the least positive one
        ends.append(_outwards(positive.min(), positive, cases, np.floor))
    return np.concatenate([values, ends])


def _outwards(value: float, values: NDArray[np.float64], cases: str, away: Any) -> float:
    if value == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - (FIGURES - 1))
    if cases == "none":
        span = float(np.ptp(values))
        unit = 0.2 * 10.0 ** math.floor(math.log10(span)) if span > 0 else 100 * unit
    found = float(away(value / unit) * unit)
    if found * value <= 0:  # no value turns zero, nor changes its sign
        unit = 10.0 ** math.floor(math.log10(abs(value)))
        found = float(away(value / unit) * unit)
    return float(f"{found:.6g}") if found * value > 0 else value / 2
