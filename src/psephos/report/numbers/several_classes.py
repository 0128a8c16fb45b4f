"""What one model's held-out answers say of several classes: the grid, and each class by itself."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.figures import Estimate, area, share
from psephos.figures.confusion import UNIT, in_millionths
from psephos.report.drawings.curves import curves_drawing
from psephos.report.drawings.lanes import BINS
from psephos.report.numbers.two_classes import (
    About,
    Names,
    interval_words,
    pooled_words,
    share_words,
)
from psephos.report.study.answers import called
from psephos.report.words import chance, of, rate, span


def confusion(truth: NDArray[np.intp], said: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    """Return how many cases of each class (a row) were called what (a column)."""
    return np.bincount(truth * n_classes + said, minlength=n_classes**2).reshape(-1, n_classes)


def several_judged(
    chances: NDArray[np.float64],
    truth: NDArray[np.intp],
    classes: Sequence[str],
    names: Names,
    about: About,
) -> dict[str, Any]:
    """Return one model's part of the page's data, of (n, K) known answers and (n,) codes."""
    said, k = called(chances), len(classes)
    grid = confusion(truth, said, k)
    areas = [area(truth == c, in_millionths(chances[:, c]), about.groups) for c in range(k)]
    return {
        "label": names.label,
        "axis": names.axis,
        "n": len(truth),
        "right": int(np.trace(grid)),
        "grid": grid.tolist(),
        "rows": [_class_row(c, classes[c], truth, said, areas[c], about.groups) for c in range(k)],
        "curves": [_curves(chances[:, c], truth == c, areas[c], classes[c], about)
                   for c in range(k)],
        "note": _note(names, about),
        "cost": [_cost(grid, c, classes[c]) for c in range(k)],
    }  # fmt: skip


def _cost(grid: NDArray[np.intp], c: int, name: str) -> str:
    missed = int(grid[c].sum() - grid[c, c])
    alarms, others = int(grid[:, c].sum() - grid[c, c]), int(grid.sum() - grid[c].sum())
    return f"misses {of(missed, int(grid[c].sum()), name)}, alarms {of(alarms, others, 'others')}"


def _class_row(
    c: int, name: str, truth: Any, said: Any, under: Estimate, groups: NDArray[np.intp] | None
) -> list[str]:
    found, right = (
        share((truth == said)[mine], None if groups is None else groups[mine])
        for mine in (truth == c, said == c)
    )
    return [
        name,
        *_share(found, "found"),
        *_share(right, "right"),
        chance(under.value) if math.isfinite(under.value) else "–",
        span(under.low, under.high),
    ]


def _share(one: Estimate, what: str) -> list[str]:
    return [of(max(one.hits, 0), one.n, what), rate(one.value), span(one.low, one.high)]


def _curves(
    answers: Any, positive: NDArray[np.bool_], under: Estimate, name: str, about: About
) -> dict[str, Any]:
    drawn = curves_drawing(answers, positive, under, name, about.groups, about.edges)
    return {key: drawn[key] for key in ("roc", "pr", "cal")}


def _note(names: Names, about: About) -> str:
    return (
        "A case is called the class it is most probably of; of equals the first."
        f" {pooled_words(about)} Curves and areas set the chosen class against all others."
        f" {interval_words(about, share=False)}{share_words(names)}"
    )


def binned_answers(
    chances: NDArray[np.float64], truth: NDArray[np.intp], n_classes: int, n_bins: int = BINS
) -> list[list[list[int]]]:
    """Return, for each class answered about and each true class, the answers in columns."""
    which = np.minimum(in_millionths(chances) * n_bins // UNIT, n_bins - 1)
    return [
        [np.bincount(which[truth == t, c], minlength=n_bins).tolist() for t in range(n_classes)]
        for c in range(n_classes)
    ]
