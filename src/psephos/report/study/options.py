"""Options of a page, and the values of cases that it contains."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError, must_be
from psephos._types import Floats, Indices
from psephos.report.study.folder import FEWEST, KeptCases
from psephos.vote.importance import evenly_spaced

CASES = ("full", "rounded", "none")


@dataclass(frozen=True)
class PageOptions:
    """Options of a page.

    Parameters
    ----------
    title : str, optional
        Its heading; by default made from the name of the data set.
    positive : str, optional
        The class that answers are about; see `psephos.report.study.answers.positive_class`.
    ids : bool, default=False
        Whether cases are named by their ids; otherwise they are numbered. Rows without ids have
        the numbers of their rows in the file, as in predictions.csv.
    cases : {'rounded', 'full', 'none'}
        What the page contains of each case: values rounded to three or four digits, exact values,
        or only counts.
    notes : Path, optional
        A file of notes by the authors; see `psephos.report.panels.methods.read_notes`.
    """

    title: str | None = None
    positive: str | None = None
    ids: bool = False
    cases: str = "rounded"
    notes: Path | None = None

    def __post_init__(self) -> None:
        must_be("cases", self.cases, CASES)
        if self.ids and self.cases == "none":
            raise PsephosError("ids must not be given with cases='none'.")
        if self.title is not None and not self.title.strip():
            raise PsephosError("title must not be empty: leave it out, or write one.")
        if self.title is not None and self.title.encode("utf-8", "ignore").decode() != self.title:
            raise PsephosError("title must be valid text: set a UTF-8 locale.")

    def naming(self, ids: Sequence[str]) -> Self:
        """Return the options with which rows without ids have their numbers, as in predictions."""
        rows = self.cases != "none" and all(re.fullmatch(r"row \d+", one) for one in ids)
        return replace(self, ids=True) if rows else self

    def refuse_few(self, n: int) -> None:
        """Raise PsephosError if a page without cases would be about fewer than ten."""
        if self.cases == "none" and n < FEWEST:
            raise PsephosError(
                f"cases='none' (--cases none) needs at least {FEWEST} cases, since smaller counts"
                f" are withheld; got {n}."
            )


# ---------------------------------------------------------------------- values of cases
DRAWN = 400  # the most cases of a numeric target that are drawn; of more the worst, and counts
_MANY = 400  # cases of a class from which on only some are drawn
_SOME = 200  # cases of each class that are drawn then
FIGURES = 3  # digits of rounded values, at least
_MOST = 17  # digits of exact values
_WHOLE = 1e15  # larger numbers are not written as integers


def carried_rows(y: Indices) -> Indices:
    """Return the cases that are drawn: all if each class has fewer than 400, else 200 of each."""
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
    """Return the values of some columns on these rows, as the page contains them.

    Parameters
    ----------
    columns : dict of str to ndarray
        Column -> its sorted thresholds, across which no value is rounded.
    full : bool, default=False
        Whether values are exact.
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
    """Return rounded numbers in their shortest JSON form; None where missing."""
    return [
        None if v != v else int(v) if v.is_integer() and abs(v) < _WHOLE else v
        for v in rounded(values, thresholds).tolist()
    ]


def rounded(values: Floats, thresholds: Floats) -> Floats:
    """Round numbers to three digits, or to more where one would cross or meet a threshold."""
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


def with_outer_ends(values: Floats, cases: str) -> Floats:
    """Return values with their extremes rounded outwards added, so an axis does not reveal these.

    Extremes are rounded to three digits if the page rounds values, and to parts of the range if it
    has no cases. Signs are kept, so that zero is shown apart only if a value is zero.

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
    if len(positive) and known.min() == 0:  # a logarithmic axis starts at the least positive value
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
    if found * value <= 0:  # must not become zero, nor change its sign
        unit = 10.0 ** math.floor(math.log10(abs(value)))
        found = float(away(value / unit) * unit)
    return float(f"{found:.6g}") if found * value > 0 else value / 2
