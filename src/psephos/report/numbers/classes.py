"""Figures of one model's held-out answers for two or several classes, as text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._types import Floats, Indices, JsonObject, NDArray
from psephos.explain.cohort import given_counts
from psephos.figures import Confusion, Estimate, area, share
from psephos.figures.confusion import UNIT, in_millionths
from psephos.figures.estimate import FEW_GROUPS
from psephos.report.numbers.curves import BINS, benefit_grid, benefits, curves_of, worth
from psephos.report.numbers.measures import (
    TENTHS,
    apart,
    counts_at,
    four,
    given,
    hundredths,
    of_given,
)
from psephos.report.study.answers import called, confusion, least_found
from psephos.report.study.folder import FEWEST
from psephos.report.words import (
    LEAF_SHARE,
    VOTE_SHARE,
    WEIGHTED_SHARE,
    chance,
    count,
    number,
    of,
    plural,
    rate,
    span,
    threshold_words,
)


@dataclass(frozen=True)
class About:
    """The context of a model's answers."""

    source: str  # as in `Wording`
    omits: str
    times: int  # the most times that a case was held out
    areas: Sequence[float] = ()  # under the ROC curves of single folds
    grouped: bool = False  # whether cases are in groups
    groups: Indices | None = None  # (n,) of the known answers; None if not kept
    edges: Sequence[float] | None = None  # thresholds, if single answers must not be shown
    again: bool = False  # whether answers are recalibrated
    threshold: float = 0.5  # the first threshold of the page
    better: bool = True  # whether the model is significantly better than a constant prediction


@dataclass(frozen=True)
class ClassNames:
    """Names of the classes, the model and the answers."""

    pos: str
    neg: str
    label: str  # the name of the model
    axis: str  # 'stated probability of ill'


def two_classes(
    answers: Floats,
    positive: NDArray[np.bool_],
    names: ClassNames,
    about: About,
) -> dict[str, Any]:
    """Return the page's data of one model's known answers for the positive class."""
    units = in_millionths(answers)
    under = area(positive, answers, about.groups)
    always = (about.threshold,)
    curves = curves_of(answers, positive, under, names.pos, about.groups, about.edges, always)
    table = [(UNIT + 1) / UNIT, *(np.array(curves["at"]) / UNIT).tolist()]
    return {
        "label": names.label,
        "axis": names.axis,
        "m": int(positive.sum()),
        "n": int((~positive).sum()),
        "curves": curves,
        "ends": [hundredths(four(counts_at(units, positive, t, about.groups))) for t in table],
        "tenths": _tenths(answers, positive, TENTHS if about.edges is None else about.edges),
        "note": _note(answers, positive, under, names, about),
    }


def fills(c: Confusion, threshold: float, names: ClassNames) -> dict[str, str]:
    """Return the texts of the panel that depend on the threshold; the script writes the same."""
    called, n = c.found + c.alarms, c.positive + c.negative
    more = f"; it calls {count(called)} {names.pos}, {count(c.found)} rightly"
    if not called:
        more = f"; it calls nobody {names.pos}"
    elif called == n:
        more = f"; it calls everyone {names.pos}"
    return {
        "model": names.label,
        "threshold": threshold_words(threshold),
        "found": of(c.found, c.positive, names.pos),
        "missed": of(c.missed, c.positive, names.pos),
        "cleared": of(c.cleared, c.negative, names.neg),
        "alarms": of(c.alarms, c.negative, names.neg),
        "more": more,
    }


def measures_rows(
    c: Confusion, names: ClassNames, found: Sequence[Estimate]
) -> list[dict[str, Any]]:
    """Return the name, counts, value and interval of the four measures (see `four`)."""
    counts = (
        of(c.found, c.positive, f"{names.pos} found"),
        of(c.cleared, c.negative, f"{names.neg} cleared"),
        of(c.found, c.found + c.alarms, f"called {names.pos} are"),
        of(c.cleared, c.cleared + c.missed, f"called {names.neg} are"),
    )
    called = ("sensitivity", "specificity", "PPV", "NPV")
    return [_row(*one) for one in zip(called, counts, found, strict=True)]


def _row(name: str, counts: str, figure: Estimate) -> dict[str, Any]:
    interval = span(figure.low, figure.high)
    return {"name": name, "counts": counts, "value": rate(figure.value), "interval": interval}


def _tenths(
    answers: Floats, positive: NDArray[np.bool_], edges: Sequence[float]
) -> list[list[str]]:
    """Return the table of the curves: counts and measures at each tenth among the edges."""
    units, tenths = in_millionths(answers), [t for t in TENTHS if t in edges]
    worths, _ = benefits(answers, positive, np.array(tenths))
    rows: list[list[str]] = []
    for t, benefit in zip(tenths, worths.tolist(), strict=True):
        c = counts_at(units, positive, t)
        counts = map(count, (c.found, c.missed, c.alarms, c.cleared))
        shares = [rate(one.value) for one in four(c)]
        rows.append([f"{t:.1f}", *counts, *shares, number(benefit, 3)])
    return rows


# ---------------------------------------------------------------------- notes
def _note(
    answers: Floats,
    positive: NDArray[np.bool_],
    under: Estimate,
    names: ClassNames,
    about: About,
) -> str:
    m, n = int(positive.sum()), len(answers)
    words = pooled_words(about)
    if len(about.areas) > 1 and math.isfinite(under.value):
        words += (
            f" The mean of the {plural(len(about.areas), 'area')} under the ROC curve of single"
            f" folds is {chance(math.fsum(about.areas) / len(about.areas))}."
        )
    words += f" {interval_words(about)} A threshold chosen on this page is chosen on the cases it"
    words += " is evaluated on."
    words += share_words(names, ": the calibration shows what they were worth")
    return f"{words} {_worth(answers, positive, names, about)}" + (
        f" On average it answered {chance(float(answers.mean()))}; {of(m, n)} were {names.pos}."
    )


def share_words(names: ClassNames, more: str = "") -> str:
    """Return a sentence on answers that are shares; '' for stated probabilities."""
    what = {
        VOTE_SHARE: "shares of its vote",
        LEAF_SHARE: "shares of the training cases in the leaf that a case falls in",
        WEIGHTED_SHARE: "shares of the training cases in the leaf that a case falls in, each with "
        "the weight of its class",
    }.get(names.axis)
    if what is None:
        return ""
    words = f" The answers of {names.label} are {what}, which are not calibrated probabilities"
    return f"{words}{more}."


def pooled_words(about: About) -> str:
    """Return the source of the figures: the held-out answers as they are or recalibrated."""
    words = about.source.removesuffix(".")
    if about.again:
        words += ", each recalibrated by a map that was fitted to the answers of other cases"
    if about.times > 1:
        words += f". A case was held out up to {about.times} times; its answer is the mean of those"
    return f"{words}."


def interval_words(about: About, share: bool = True) -> str:
    """Return the methods of the intervals, what they take as independent, and what they omit."""
    plain = (
        "A 95 % interval is made to hold the true value in 95 of 100 samples like this one: fewer"
        " cases make it wider."
    )
    other = "Mercaldo's for PPV and NPV at another share of positive cases" if share else ""
    if about.groups is None:
        words = f"{plain} Intervals (Wilson's of shares, DeLong's of the area on the logit scale,"
        words += f" Newcombe's where it is 1{f', {other}' if share else ''}) take the cases as"
        words += " independent"
        return words + (
            f", which cases of one group are not, so they are too narrow, {about.omits}"
            if about.grouped
            else f" {about.omits}"
        )
    n_groups = len(np.unique(about.groups))
    words = (
        f"{plain} Intervals take {plural(n_groups, 'group')} as independent, not cases: Wilson's at"
        " the number of independent cases (Rao and Scott), and Obuchowski's for the area on the"
        " logit scale, both with Student's t of one less than the groups"
    )
    if n_groups < FEW_GROUPS:
        words += "; so few groups make intervals uncertain, and none is narrower than by cases"
    alone = (
        f"; {other} takes cases as independent, which those of one group are not" if share else ""
    )
    return f"{words}{alone}. They take the model as given {about.omits}"


def _worth(answers: Floats, positive: NDArray[np.bool_], names: ClassNames, about: About) -> str:
    grid, pos = benefit_grid(about.edges), names.pos
    stretches = worth(grid, *benefits(answers, positive, grid))
    if not stretches:
        return (
            f"At none of the thresholds tried is acting on it worth more than calling everyone, or"
            f" nobody, {pos}."
        )
    if not about.better:
        return (
            "It is not significantly better than a constant prediction, so it is not shown that"
            f" acting on it is worth more than calling everyone, or nobody, {pos}."
        )
    low, high = max(stretches, key=lambda one: round(one[1] - one[0], 2))
    rest = f", and in {plural(len(stretches) - 1, 'other range')}" * bool(stretches[1:])
    every = "hundredth from 0.01 to 0.99" if about.edges is None else "threshold of this page"
    return (
        f"By these counts acting on it is worth more than calling everyone, or nobody, {pos} at a"
        f" threshold of {span(low, high) if low < high else rate(low)}{rest}. Each"
        f" {every} was tried; other cases would give other ends."
    )


# ---------------------------------------------------------------------- several classes
def several_classes(
    chances: Floats,
    truth: Indices,
    classes: Sequence[str],
    names: ClassNames,
    about: About,
) -> dict[str, Any]:
    """Return the page's data of one model's (n, K) known answers for cases of (n,) classes."""
    predicted, k = called(chances), len(classes)
    grid = confusion(truth, predicted, k)
    areas = [area(truth == c, chances[:, c], about.groups) for c in range(k)]
    fewest = 0 if about.edges is None else FEWEST
    cells = given_grid(grid.tolist(), "none" if fewest else "full")
    right, sure = int(np.trace(grid)), all(isinstance(row[c], int) for c, row in enumerate(cells))
    return {
        "label": names.label,
        "axis": names.axis,
        "n": len(truth),
        "right": of_given(right, len(truth), "", fewest, sure=sure).split(" of ")[0],
        "grid": cells,
        "least": least_found(grid.tolist()),
        "rows": [_class_row(c, classes[c], truth, predicted, areas[c], about.groups, cells, fewest)
                 for c in range(k)],
        "curves": [_curves(chances[:, c], truth == c, areas[c], classes[c], about)
                   for c in range(k)],
        "note": _note_of_several(names, about),
        "cost": [_cost(grid, c, classes[c], cells, fewest) for c in range(k)],
    }  # fmt: skip


def given_grid(grid: Sequence[Sequence[int]], cases: str) -> list[list[int | str]]:
    """Return counts by class (rows), with text such as '< 10' in place of those withheld."""
    rows: list[list[int | str]] = []
    for c, row in enumerate(grid):
        rows.append(given(row, cases))
        if isinstance(rows[c][c], int):
            rows[c][c] = given([row[c], sum(row) - row[c]], cases)[0]
    return rows


def _sure(cells: Sequence[Sequence[int | str]], c: int) -> bool:
    """Return whether no count of the cases that are called class c is withheld."""
    return all(isinstance(row[c], int) for row in cells)


def _cost(
    grid: Indices, c: int, name: str, cells: Sequence[Sequence[int | str]], fewest: int
) -> str:
    missed = int(grid[c].sum() - grid[c, c])
    alarms, others = int(grid[:, c].sum() - grid[c, c]), int(grid.sum() - grid[c].sum())
    found = of_given(alarms, others, "others", fewest, sure=_sure(cells, c))
    own = of_given(missed, int(grid[c].sum()), name, fewest, sure=isinstance(cells[c][c], int))
    return f"misses {own}, alarms {found}"


def _class_row(
    c: int, name: str, truth: Any, predicted: Any, under: Estimate, groups: Indices | None,
    cells: Sequence[Sequence[int | str]], fewest: int,
) -> list[str]:  # fmt: skip
    found, right = (
        share((truth == predicted)[mine], None if groups is None else groups[mine])
        for mine in (truth == c, predicted == c)
    )
    return [
        name,
        *_share(found, "found", fewest, sure=isinstance(cells[c][c], int)),
        *(_share(right, "right", fewest) if _sure(cells, c) else ["–", "–", ""]),
        chance(under.value) if math.isfinite(under.value) else "–",
        span(under.low, under.high, chance),
    ]


def _share(one: Estimate, what: str, fewest: int, *, sure: bool = True) -> list[str]:
    ends = [rate(one.value), span(one.low, one.high)] if sure else ["–", ""]
    return [of_given(max(one.hits, 0), one.n, what, fewest, sure=sure), *ends]


def _curves(
    answers: Any, positive: NDArray[np.bool_], under: Estimate, name: str, about: About
) -> JsonObject:
    edges = about.edges and apart(in_millionths(answers), positive, about.edges, 0.0)
    drawn = curves_of(answers, positive, under, name, about.groups, edges)
    return {key: drawn[key] for key in ("steps", "roc", "pr", "cal", "like")}


def _note_of_several(names: ClassNames, about: About) -> str:
    return (
        "A case is assigned to its most probable class, of equally probable ones the first."
        f" {pooled_words(about)} Curves and areas set the chosen class against all others."
        f" {interval_words(about, share=False)}{share_words(names)}"
    )


def binned_answers(
    chances: Floats, truth: Indices, n_classes: int, fewest: int = 0
) -> list[list[list[int]]]:
    """Return histograms of the answers, for each class answered about and each true class.

    With `fewest` the bins are tenths, and those whose counts are withheld are 0.
    """
    n_bins = len(TENTHS) + 1 if fewest else BINS
    which = np.minimum(in_millionths(chances) * n_bins // UNIT, n_bins - 1)

    def counted(t: int, c: int) -> list[int]:
        bins = np.bincount(which[truth == t, c], minlength=n_bins)
        return [n or 0 for n, _ in given_counts(bins.tolist(), fewest)]

    return [[counted(t, c) for t in range(n_classes)] for c in range(n_classes)]
