"""What one model's held-out answers say of several classes: the grid, and each class by itself."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.figures import area, wilson
from psephos.report.drawings.curves import curves_drawing
from psephos.report.drawings.lanes import BINS
from psephos.report.numbers.judged import Names, pooled_words
from psephos.report.numbers.measures import UNIT, in_units
from psephos.report.study.answers import called
from psephos.report.words import chance, of, rate, span

__all__ = ["binned_answers", "confusion", "several_judged"]


def confusion(truth: NDArray[np.intp], said: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    """Return how many cases of each class (a row) were called what (a column)."""
    return np.bincount(truth * n_classes + said, minlength=n_classes**2).reshape(-1, n_classes)


def several_judged(
    chances: NDArray[np.float64],
    truth: NDArray[np.intp],
    classes: Sequence[str],
    names: Names,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """Return one model's part of the page's data.

    Parameters
    ----------
    chances : ndarray of shape (n, K)
    truth : ndarray of shape (n,)
    classes : sequence of K str
        What cases of each class are called.
    names : Names
    about : mapping
        ``times``, ``grouped``; ``source`` and ``omits`` of the `Wording`.
    """
    said, k = called(chances), len(classes)
    grid = confusion(truth, said, k)
    right = int(np.trace(grid))
    return {
        "label": names.label,
        "axis": names.axis,
        "n": len(truth),
        "right": right,
        "grid": grid.tolist(),
        "rows": [_class_row(grid, c, classes[c], chances[:, c], truth == c) for c in range(k)],
        "curves": [_curves(chances[:, c], truth == c, classes[c]) for c in range(k)],
        "note": _note(names, about),
        "cost": [_cost(grid, c, classes[c]) for c in range(k)],
    }


def _cost(grid: NDArray[np.intp], c: int, name: str) -> str:
    missed = int(grid[c].sum() - grid[c, c])
    alarms, others = int(grid[:, c].sum() - grid[c, c]), int(grid.sum() - grid[c].sum())
    return f"misses {of(missed, int(grid[c].sum()), name)}, alarms {of(alarms, others, 'others')}"


def _class_row(
    grid: NDArray[np.intp], c: int, name: str, answers: Any, positive: NDArray[np.bool_]
) -> list[str]:
    n, said, hit = int(grid[c].sum()), int(grid[:, c].sum()), int(grid[c, c])
    under = area(positive, answers)
    return [
        name,
        *_share(hit, n, "found"),
        *_share(hit, said, "right"),
        chance(under.value) if math.isfinite(under.value) else "–",
        span(under.low, under.high),
    ]


def _share(k: int, n: int, what: str) -> list[str]:
    found = wilson(k, n)
    return [of(k, n, what), rate(found.value), span(found.low, found.high)]


def _curves(answers: Any, positive: NDArray[np.bool_], name: str) -> dict[str, Any]:
    drawn = curves_drawing(answers, positive, area(positive, answers), {"pos": name})
    return {key: drawn[key] for key in ("roc", "pr", "cal")}


def _note(names: Names, about: Mapping[str, Any]) -> str:
    words = (
        "A case is called the class it is most probably of; of equals the first."
        f" {pooled_words(about)}"
    )
    words += (
        " Curves and areas set the chosen class against all others. Intervals (95 %; Wilson's,"
        " DeLong's for the area on the logit scale, Newcombe's where it is 1)"
        " take the cases as independent"
    )
    words += ", which cases of one group are not," if about["grouped"] else ""
    words += f" {about['omits']}"
    if names.axis.startswith("share"):
        words += (
            f" The answers of {names.label} are shares of its vote, which are no probabilities by"
            " themselves."
        )
    return words


def binned_answers(
    chances: NDArray[np.float64], truth: NDArray[np.intp], n_classes: int
) -> list[list[list[int]]]:
    """Return, for each class answered about and each true class, the answers in `BINS` columns."""
    which = np.minimum(in_units(chances) * BINS // UNIT, BINS - 1)
    return [
        [np.bincount(which[truth == t, c], minlength=BINS).tolist() for t in range(n_classes)]
        for c in range(n_classes)
    ]
