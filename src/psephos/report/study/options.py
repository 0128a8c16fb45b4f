"""What the reader of a page asked for: title, positive class, and what the page carries."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psephos._errors import PsephosError, must_be
from psephos._types import Floats, Indices
from psephos.report.study.folder import FEWEST, KeptCases
from psephos.vote.importance import evenly_spaced

CASES = ("full", "rounded", "none")


@dataclass(frozen=True)
class PageOptions:
    """How a page is made.

    Parameters
    ----------
    title : str, optional
        Its heading; by default made of the name of the data set.
    positive : str, optional
        The class that answers are about; see `psephos.report.study.answers.positive_class`.
    ids : bool, default=False
        Whether cases are named by their ids; otherwise by their row in the table.
    cases : {'rounded', 'full', 'none'}
        What the page carries of each case: values to three or four figures, to all, or counts
        alone.
    notes : Path, optional
        A file of what only the authors know; see `psephos.report.panels.methods.read_notes`.
    """

    title: str | None = None
    positive: str | None = None
    ids: bool = False
    cases: str = "rounded"
    notes: Path | None = None

    def __post_init__(self) -> None:
        must_be("cases", self.cases, CASES)
        if self.ids and self.cases == "none":
            raise PsephosError("a page without cases has no ids: leave out 'ids', or give cases.")
        if self.title is not None and not self.title.strip():
            raise PsephosError("the title is empty: leave it out, or write one.")
        if self.title is not None and self.title.encode("utf-8", "ignore").decode() != self.title:
            raise PsephosError("the title has bytes that are no text here: set a UTF-8 locale.")

    def refuse_few(self, n: int) -> None:
        """Raise PsephosError where a page without cases would be of fewer than ten."""
        if self.cases == "none" and n < FEWEST:
            raise PsephosError(
                f"cases='none' (--cases none) must be of at least {FEWEST} cases, for it withholds"
                f" smaller counts; got {n}."
            )


# ---------------------------------------------------------------------- carried
DRAWN = 400  # cases of numbers that are drawn one by one; of more the worst, and counts
_MANY = 400  # cases of a class from which on some are drawn
_SOME = 200  # of each class
FIGURES = 3
_MOST = 17
_WHOLE = 1e15


def carried_rows(y: Indices) -> Indices:
    """Return the cases that are drawn one by one: all, or 200 of each class, evenly spaced.

    Of classes of 400 cases and more their values are counted in bins besides.
    """
    if np.bincount(y).max(initial=0) < _MANY:
        return np.arange(len(y))
    own = [np.flatnonzero(y == k) for k in np.unique(y)]
    return np.sort(np.concatenate([rows[evenly_spaced(len(rows), _SOME)] for rows in own]))


def carried_values(
    cases: KeptCases,
    rows: Indices,
    columns: Mapping[str, Floats],
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
        if full or any(isinstance(v, str) for v in values):
            found[name] = [None if v != v else v for v in values]
        else:
            found[name] = brief(np.array(values, dtype=np.float64), cuts)
    return found


def brief(values: Floats, thresholds: Floats) -> list[float | int | None]:
    """Return rounded numbers as briefly as JSON has them; None where missing."""
    return [
        None if v != v else int(v) if v.is_integer() and abs(v) < _WHOLE else v
        for v in rounded(values, thresholds).tolist()
    ]


def rounded(values: Floats, thresholds: Floats) -> Floats:
    """Return numbers of three figures, of more where one would cross or meet a threshold."""
    found, left = values.copy(), np.flatnonzero(~np.isnan(values))
    for figures in range(FIGURES, _MOST):
        exact = values[left]
        near = np.array([float(f"{v:.{figures}g}") for v in exact.tolist()])
        same = np.ones(len(left), dtype=bool)
        for side in ("left", "right"):
            at = np.searchsorted(thresholds, np.stack((exact, near)), side)
            same &= at[0] == at[1]
        found[left[same]], left = near[same], left[~same]
        if not len(left):
            break
    return found


def guarded(values: Floats, cases: str) -> Floats:
    """Return values and two more, beyond them: an axis over these does not tell the extremes.

    The two are the least and the greatest value, rounded outwards: to three figures where the
    page rounds values, to parts of the range where it carries none. They keep their signs, so
    that an axis has zero apart only where a value is zero.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN where missing.
    cases : {'rounded', 'full', 'none'}
        See `PageOptions`.
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


def _outwards(value: float, values: Floats, cases: str, away: Any) -> float:
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
