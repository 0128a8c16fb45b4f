"""Counts and measures with intervals at a threshold on held-out answers, also by subgroup."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.explain.cohort import given_counts
from psephos.figures import Confusion, Estimate, confusion, in_millionths
from psephos.report.study.answers import CaseAnswers
from psephos.report.study.folder import FEWEST, KeptCases
from psephos.report.words import count, of, rate, span

TENTHS = tuple(k / 10 for k in range(1, 10))
_ROWS = 200  # thresholds of a table


def counts_at(
    units: NDArray[np.int64],
    positive: NDArray[np.bool_],
    threshold: float,
    groups: NDArray[np.intp] | None = None,
) -> Confusion:
    """Return the confusion table at a threshold; `groups` are taken as independent, not cases.

    Parameters
    ----------
    units : ndarray of shape (n,)
        Answers, by `in_millionths`.
    threshold : float
        A case is called positive if its answer is at least this.
    """
    return confusion(positive, units >= in_millionths(threshold), groups)


def four(c: Confusion) -> list[Estimate]:
    """Return sensitivity, specificity, PPV and NPV."""
    return [c.sensitivity, c.specificity, c.ppv, c.npv]


def thresholds(
    units: NDArray[np.int64], positive: NDArray[np.bool_], always: Sequence[float] = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (s,) thresholds, falling, and (s + 1, 2) counts of positive and other cases called.

    The first row of counts is zero, for a threshold above all answers. Thresholds are the answers
    that occur, in millionths; of more than 200, all hundredths, `always`, and some answers evenly
    spaced.
    """
    at = np.unique(units)
    if len(at) > _ROWS:
        fixed = in_millionths([*np.linspace(0, 1, 101), *always])
        own = np.linspace(0, len(at) - 1, _ROWS - len(fixed)).astype(np.intp)
        at = np.unique(np.concatenate([at[own], fixed]))
    at = at[::-1]
    called = [
        len(one) - np.searchsorted(np.sort(one), at) for one in (units[positive], units[~positive])
    ]
    return at, np.vstack([np.zeros((1, 2), dtype=np.int64), np.column_stack(called)])


def lowered(answers: NDArray[np.float64], edges: Sequence[float]) -> NDArray[np.float64]:
    """Return answers rounded down to the edges, which keeps the calls at every edge."""
    places = np.searchsorted(in_millionths(edges), in_millionths(answers), "right") - 1
    return np.asarray(edges)[places]


# ---------------------------------------------------------------------- without cases
def given(counts: Sequence[int], cases: str = "none") -> list[int | str]:
    """Return counts; on a page without cases, with text in place of those withheld."""
    fewest = FEWEST if cases == "none" else 0
    return [text if n is None else n for n, text in given_counts(counts, fewest)]


def withheld(hits: int, n: int, fewest: int = FEWEST) -> bool:
    """Return whether a page without cases withholds `hits` of n, as hits or the rest are few."""
    return any(one is None for one, _ in given_counts([hits, n - hits], fewest))


def of_given(hits: int, n: int, what: str, fewest: int, *, sure: bool = True) -> str:
    """Return '31 of 48 ill', or a range such as 'fewer than 10 of 48 ill' if it is withheld."""
    if sure and not withheld(hits, n, fewest):
        return of(hits, n, what)
    few = hits if hits < fewest else n - hits
    words = f"fewer than {fewest}" if few < fewest else f"{fewest} or more"
    return f"{'all but ' * (few < min(hits, fewest))}{words} of {count(n)} {what}"


def apart(
    units: NDArray[np.int64], positive: NDArray[np.bool_], edges: Sequence[float], first: float
) -> list[float] | None:
    """Return thresholds between which no class has few answers; None if `first` alone fails.

    They are 0, `first`, and as many of the others as possible, from the lowest on.
    """

    def few(edges: Sequence[float]) -> bool:
        counts = histogram(units, positive, edges)
        return any(0 < n < FEWEST for n in (*counts["pos"], *counts["neg"]))

    found = sorted({0.0, first})
    for t in () if few(found) else edges:
        found = found if few(more := sorted({*found, t})) else more
    return None if few(found) else found


def histogram(
    units: NDArray[np.int64], positive: NDArray[np.bool_], edges: Sequence[float]
) -> dict[str, list[int]]:
    """Count the answers of each class between edges, and from the last edge on."""
    which = np.searchsorted(in_millionths(edges), units, "right") - 1
    return {
        name: np.bincount(which[mine], minlength=len(edges)).tolist()
        for name, mine in (("pos", positive), ("neg", ~positive))
    }


# ---------------------------------------------------------------------- subgroups
FEW = 10  # subgroups of fewer cases have only counts
_LEVELS = 14  # the most levels of a subgrouping
_VARIABLES = 10  # the most subgroupings
_VALUES = 6  # the most values of a numeric column that are levels of their own


@dataclass(frozen=True)
class Subgroups:
    """A division of the cases into subgroups."""

    name: str
    levels: list[str]
    of: list[int]  # (m,) the level of each case; cases without a value are the last one
    listed: bool = False  # whether the list of mistakes has it: a group or a category

    def island(self) -> dict[str, Any]:
        """Return its part of the page's data, with the level of each case if it is listed."""
        own = {"of": self.of} if self.listed else {}
        return {"name": self.name, "levels": self.levels, **own}


def subgroups(
    answers: CaseAnswers,
    cases: KeptCases | None,
    group: str | None,
    kinds: Sequence[tuple[str, str]],
    telling: Sequence[tuple[str, str]],
) -> list[Subgroups]:
    """Return the divisions of the cases: by group, by categories, by fold, by numbers.

    Numeric columns with few values have a level for each; others are divided at the median.

    Parameters
    ----------
    group : str or None
        The name of the study's column of groups.
    kinds : sequence of (column, shown name)
        Categorical columns.
    telling : sequence of (column, shown name)
        Numeric columns that the chosen model reads, the most important first.
    """
    found: list[Subgroups] = []
    rows = answers.rows
    known = cases if cases is not None and int(rows[-1]) < len(cases.ids) else None
    if known is not None and known.groups is not None:
        found += by_levels(group or "group", [known.groups[int(i)] for i in rows])
    if known is not None:
        found += _columns(known, rows, kinds, _VARIABLES)
    found = [replace(one, listed=True) for one in found]
    if (answers.fold >= 0).all() and len(set(answers.fold.tolist())) > 1:
        folds = sorted(set(answers.fold.tolist()))
        where = {fold: k for k, fold in enumerate(folds)}
        own = [where[fold] for fold in answers.fold.tolist()]
        found.append(Subgroups("fold", [f"fold {fold + 1}" for fold in folds], own))
    if known is not None:
        found += _columns(known, rows, telling, _VARIABLES - len(found))
    return found


def _columns(
    cases: KeptCases, rows: NDArray[np.intp], names: Sequence[tuple[str, str]], most: int
) -> list[Subgroups]:
    """Return the divisions of the cases by columns that were kept."""
    place = {name: j for j, name in enumerate(cases.names)}
    found: list[Subgroups] = []
    for name, shown in names:
        if name in place and len(found) < most:
            found += _column(shown, np.asarray(cases.values)[rows, place[name]])
    return found


def by_levels(name: str, values: Sequence[str | None]) -> list[Subgroups]:
    """Return the division of the cases by values, None if missing; [] if there are too many."""
    levels = sorted({v for v in values if v is not None}, key=_in_order)
    if not 1 < len(levels) <= _LEVELS:
        return []
    if None in values:
        levels.append("missing" if "missing" not in levels else "no value")
    where = {level: k for k, level in enumerate(levels)}
    return [Subgroups(name, levels, [len(levels) - 1 if v is None else where[v] for v in values])]


def _in_order(level: str) -> tuple[int, float, str]:
    try:
        value = float(level)
    except ValueError:
        value = math.nan
    return (1, 0.0, level) if math.isnan(value) else (0, value, level)


def _apart(values: Sequence[float]) -> dict[float, str]:
    """Return numbers as text, with as many digits as distinguish them, at least four."""
    called: dict[float, str] = {}
    for digits in range(4, 18):
        called = {v: f"{v:.{digits}g}" for v in values}
        if len(set(called.values())) == len(called):
            break
    return called


def _column(name: str, values: Any) -> list[Subgroups]:
    if values.dtype == object and any(isinstance(v, str) for v in values.tolist()):
        return by_levels(name, [v if isinstance(v, str) else None for v in values.tolist()])
    numbers = values.astype(np.float64)
    known = numbers[~np.isnan(numbers)]
    different = np.unique(known)
    if len(different) <= _VALUES:
        called = _apart(different.tolist())
        return by_levels(name, [None if np.isnan(v) else called[v] for v in numbers.tolist()])
    cut = float(np.median(known))
    levels = [f"up to {cut:.3g}", f"above {cut:.3g}", "missing"]
    cut = float(f"{cut:.3g}")  # levels must agree with their text
    own = np.where(np.isnan(numbers), 2, numbers > cut).astype(int).tolist()
    return [Subgroups(name, levels[: max(own) + 1], own)] if {0, 1} <= set(own) else []


def subgroup_rows(
    parted: Subgroups,
    units: NDArray[np.int64],
    known: NDArray[np.bool_],
    positive: NDArray[np.bool_],
    threshold: float,
    groups: NDArray[np.intp] | None = None,
) -> list[list[Any]]:
    """Return a row per level: its number of cases, and hits, cases and interval of each measure.

    Arrays are of all cases; the ends of intervals are in hundredths (`hundredths`).
    """
    own = np.array(parted.of)
    rows: list[list[Any]] = []
    for k in range(len(parted.levels)):
        mine = (own == k) & known
        within = None if groups is None else groups[mine]
        found = four(counts_at(units[mine], positive[mine], threshold, within))
        cells = [[max(one.hits, 0), one.n, *hundredths([one])] for one in found]
        rows.append([int(mine.sum()), *cells])
    return rows


def hundredths(figures: Sequence[Estimate]) -> list[int | None]:
    """Return the ends of intervals as printed, in hundredths; None if not known."""
    ends = [end for one in figures for end in (one.low, one.high)]
    return [None if math.isnan(end) else round(100 * float(rate(end))) for end in ends]


def subgroup_words(k: int, n: int, low: int | None, high: int | None) -> str:
    """Return a measure of a subgroup as text: counts and, from ten cases on, value and interval."""
    if n < FEW:
        return of(k, n)
    interval = "" if low is None or high is None else f" ({span(low / 100, high / 100)})"
    return f"{of(k, n)}: {rate(k / n)}{interval}"
