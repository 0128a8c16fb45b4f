"""What one model's held-out answers say of two classes: every figure of the panel, in words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.figures import Estimate, area, wilson
from psephos.report.drawings.curves import GRID, benefits, curves_drawing, worth
from psephos.report.numbers.measures import UNIT, Counts, counts_at, in_units, predictive
from psephos.report.words import chance, count, number, of, plural, rate, span

__all__ = [
    "Names",
    "embedded_units",
    "fills",
    "histogram",
    "judged",
    "measures_rows",
    "mistakes_words",
    "pooled_words",
]

_TENTHS = tuple(k / 10 for k in range(1, 10))


@dataclass(frozen=True)
class Names:
    """What the classes are called, and what answers are."""

    pos: str
    neg: str
    label: str  # of the model
    axis: str  # 'stated probability of ill'


def judged(
    answers: NDArray[np.float64],
    positive: NDArray[np.bool_],
    names: Names,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """Return one model's part of the page's data.

    Parameters
    ----------
    answers : ndarray of shape (n,)
        Of the positive class; every one known.
    positive : ndarray of bool of shape (n,)
    names : Names
    about : mapping
        ``areas``: the areas under the ROC curve of single folds; ``times``, ``grouped``; and
        ``source``, ``omits`` of the `Wording`.
    """
    m, n = int(positive.sum()), int((~positive).sum())
    under = area(positive, answers)
    return {
        "label": names.label,
        "axis": names.axis,
        "m": m,
        "n": n,
        "curves": curves_drawing(answers, positive, under, {"pos": names.pos}),
        "tenths": _tenths(answers, positive),
        "note": _note(answers, positive, under, names, about),
    }


def fills(c: Counts, threshold: float, names: Names) -> dict[str, str]:
    """Return the words of the panel that follow the threshold; the script writes the same."""
    called, n = c.found + c.alarms, c.positive + c.negative
    more = f"; of the {count(called)} it calls {names.pos}, {count(c.found)} are"
    if not called:
        more = f"; it calls nobody {names.pos}"
    elif called == n:
        more = f"; it calls everyone {names.pos}"
    return {
        "model": names.label,
        "threshold": f"{threshold:.3f}".removesuffix("0"),
        "found": of(c.found, c.positive, names.pos),
        "missed": of(c.missed, c.positive, names.pos),
        "cleared": of(c.cleared, c.negative, names.neg),
        "alarms": of(c.alarms, c.negative, names.neg),
        "more": more,
        "n-found": f"{count(c.found)} found",
        "n-missed": f"{count(c.missed)} missed",
        "n-cleared": f"{count(c.cleared)} cleared",
        "n-alarms": plural(c.alarms, "false alarm"),
    }


def measures_rows(c: Counts, names: Names, prevalence: float | None = None) -> list[dict[str, Any]]:
    """Return the four measures: words, counts, value and interval.

    Parameters
    ----------
    c : Counts
    names : Names
    prevalence : float, optional
        See `predictive`; counts beside the last two are those of the study all the same.
    """
    ppv, npv = predictive(c, prevalence)
    return [
        _row("sensitivity", of(c.found, c.positive, f"{names.pos} found"),
             wilson(c.found, c.positive)),
        _row("specificity", of(c.cleared, c.negative, f"{names.neg} cleared"),
             wilson(c.cleared, c.negative)),
        _row("PPV", of(c.found, c.found + c.alarms, f"called {names.pos} are"), ppv),
        _row("NPV", of(c.cleared, c.cleared + c.missed, f"called {names.neg} are"), npv),
    ]  # fmt: skip


def _row(name: str, counts: str, figure: Estimate) -> dict[str, Any]:
    ends = (figure.value, figure.low, figure.high)
    return {
        "name": name,
        "counts": counts,
        "value": rate(figure.value),
        "interval": span(figure.low, figure.high),
        "bar": [round(v, 4) for v in ends] if math.isfinite(figure.value) else None,
    }


def _tenths(answers: NDArray[np.float64], positive: NDArray[np.bool_]) -> list[list[str]]:
    """Return the table of the curves: what each threshold of a tenth costs."""
    units = in_units(answers)
    worths, _ = benefits(answers, positive, np.array(_TENTHS))
    rows: list[list[str]] = []
    for t, benefit in zip(_TENTHS, worths.tolist(), strict=True):
        c = counts_at(units, positive, t)
        ppv, npv = predictive(c)
        rows.append(
            [
                f"{t:.1f}",
                *map(count, (c.found, c.missed, c.alarms, c.cleared)),
                rate(wilson(c.found, c.positive).value),
                rate(wilson(c.cleared, c.negative).value),
                rate(ppv.value),
                rate(npv.value),
                number(benefit, 3),
            ]
        )
    return rows


# ---------------------------------------------------------------------- notes
def _note(
    answers: NDArray[np.float64],
    positive: NDArray[np.bool_],
    under: Estimate,
    names: Names,
    about: Mapping[str, Any],
) -> str:
    m, n = int(positive.sum()), len(answers)
    areas: Sequence[float] = about["areas"]
    words = pooled_words(about)
    if areas and math.isfinite(under.value):
        words += (
            f" The mean of the {plural(len(areas), 'area')} under the ROC curve of single folds is"
            f" {chance(math.fsum(areas) / len(areas))}."
        )
    words += (
        " Intervals (95 %; Wilson's, DeLong's for the area on the logit scale (Newcombe's where it"
        " is 1), Mercaldo's for PPV and NPV at another share) take the cases as independent"
    )
    words += ", which cases of one group are not," if about["grouped"] else ""
    words += (
        f" {about['omits']} A threshold chosen on this page is chosen on the cases it is judged on."
    )
    if names.axis.startswith("share"):
        words += (
            f" The answers of {names.label} are shares of its vote, which are no probabilities by"
            " themselves: the calibration shows how far they can be taken for such."
        )
    return f"{words} {_worth(answers, positive, names.pos)}" + (
        f" On average it stated {chance(float(answers.mean()))}; {of(m, n)} were {names.pos}."
    )


def pooled_words(about: Mapping[str, Any]) -> str:
    """Return what the figures are of: the held-out answers, as they are or through a map."""
    words = str(about["source"]).removesuffix(".")
    if about.get("again"):
        words += ", each through a map that was fitted on the answers to other cases"
    if about["times"] > 1:
        words += (
            f". A case was held out up to {about['times']} times; its answer is the mean of those"
        )
    return f"{words}."


def _worth(answers: NDArray[np.float64], positive: NDArray[np.bool_], pos: str) -> str:
    stretch = worth(GRID, *benefits(answers, positive))
    if stretch is None:
        return (
            f"Over no stretch of thresholds is acting on it worth more than calling everyone, or"
            f" nobody, {pos}."
        )
    return (
        f"From a threshold of about {rate(stretch[0])} to {rate(stretch[1])} acting on it is worth"
        f" more than calling everyone, or nobody, {pos}."
    )


def embedded_units(units: NDArray[np.int64], known: NDArray[np.bool_]) -> list[int]:
    """Return a model's answers as the page holds them: millionths, -1 where there is none."""
    return np.where(known, units, -1).tolist()


def histogram(units: NDArray[np.int64], positive: NDArray[np.bool_]) -> dict[str, list[int]]:
    """Return how many answers of each class lie in each hundredth; 1 has a place of its own."""
    which = units * 100 // UNIT
    return {
        "pos": np.bincount(which[positive], minlength=101).tolist(),
        "neg": np.bincount(which[~positive], minlength=101).tolist(),
    }


def mistakes_words(kind: str, n: int, names: Names) -> str:
    """Return the heading of a list of mistakes."""
    if kind == "missed":
        if not n:
            return f"No {names.pos} case is missed"
        return f"The {count(n)} missed {names.pos}, surest mistakes first"
    return f"The {plural(n, 'false alarm')}" if n else "There is no false alarm"
