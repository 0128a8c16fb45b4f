"""Errors of a regressor: predicted against observed, by part of the range, and the worst cases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from psephos._types import Floats
from psephos.explain.observed import ObservedDisplay, RangeErrors
from psephos.figures import Estimate, share
from psephos.files.names import sum_digits, value_text
from psephos.report.study.answers import group_codes
from psephos.report.study.folder import FEWEST, Folder
from psephos.report.study.options import DRAWN, PageOptions
from psephos.report.words import cases_of, difference, number, of, places, rate, span, three

WORST = 10
_CELLS, _COARSE = 20, 10  # cells along an axis of the plot of counts; on a page without cases
_BEYOND = 0.2  # predictions farther outside, as a share of the range, are drawn at the edge


@dataclass(frozen=True)
class HeldOutNumbers:
    """The predictions of each model for the cases that were held out."""

    folds: dict[int, set[tuple[int, int]]]  # row of the table of cases -> splits that held it out
    rows: dict[str, list[int]]  # model -> the rows that it predicted, rising
    displays: dict[str, ObservedDisplay]  # model -> its predictions, in the order of `rows`

    @property
    def times(self) -> int:
        """Return the most times that a case was held out."""
        return max(map(len, self.folds.values()))

    def worst(self) -> dict[str, list[int]]:
        """Return the rows of each model's worst cases, the worst first."""
        return {
            key: [self.rows[key][i] for i in one.order[:WORST]]
            for key, one in self.displays.items()
        }


def held_out_numbers(folder: Folder, models: Sequence[str]) -> HeldOutNumbers | None:
    """Read predictions.csv; None without it, or if the target is not numeric."""
    if folder.kind != "numbers":
        return None
    truth: dict[int, float] = {}
    folds: dict[int, set[tuple[int, int]]] = {}
    cells: dict[str, dict[int, list[list[float]]]] = {}
    for one in folder.answers():
        truth[one.row] = float(one.truth)
        folds.setdefault(one.row, set()).add(one.split)
        numbers = [float(cell or "nan") for cell in one.cells[6:]]  # and quantiles, if stated
        cells.setdefault(one.model, {}).setdefault(one.row, []).append(numbers)
    rows = {key: sorted(cells[key]) for key in models if key in cells}
    displays: dict[str, ObservedDisplay] = {}
    for key, own in rows.items():
        each = [cells[key][row] for row in own]
        ends = np.array([np.mean([[c[1 % len(c)], c[-1]] for c in one], axis=0) for one in each])
        displays[key] = ObservedDisplay.from_predictions(
            [truth[row] for row in own],
            np.array(
                list(zip_longest(*([c[0] for c in one] for one in each), fillvalue=math.nan))
            ).T,
            stated=ends if len(each[0][0]) > 1 and np.isfinite(ends).all() else None,
            groups=group_codes(folder, np.array(own)),
            ids=[case_name(folder, row) for row in own],
            name=key,
        )
    return HeldOutNumbers(folds, rows, displays) if displays else None


def case_name(folder: Folder, row: int) -> str:
    """Return the name of a case on the page: its id, or its number."""
    kept = folder.cases
    return f"case {row + 1}" if kept is None or row >= len(kept.ids) else kept.called(row)


def observed_section(
    folder: Folder,
    held_out: HeldOutNumbers | None,
    order: Sequence[str],
    options: PageOptions,
    where: str = "held out",
) -> dict[str, Any]:
    """Return the panel's entries of the page's dictionary.

    Parameters
    ----------
    order : sequence of str
        The models, beginning with the one that is shown first.
    where : str, default='held out'
        The source of the predictions.
    """
    shown = [key for key in order if held_out is not None and key in held_out.displays]
    if held_out is None or not shown or shown[0] != order[0]:
        return {"observed": None}
    kept, displays = options.cases != "none", held_out.displays
    every = np.concatenate([displays[key].observed for key in shown])
    low, high = _ends(every, [displays[key].predicted for key in shown], options.cases)
    models = {key: _model(folder, held_out, key, (low, high), options) for key in shown}
    shared: dict[str, object] = {
        "target": folder.target,
        "ends": [low, high],
        "kept": kept,
        "where": where,
        "names": {row: case_name(folder, row) for row in held_out.folds} if options.ids else {},
        "what": "prediction" if held_out.times <= 1 else "mean of its predictions",
    }
    return {
        "observed": {**shared, **models[shown[0]]},
        "island": {"observed": {**shared, "models": models}},
    }


def _ends(observed: Floats, predicted: Sequence[Floats], cases: str) -> tuple[float, float]:
    """Return the ends of both axes: of the observed numbers, and predictions not far outside."""
    low, high = float(observed.min()), float(observed.max())
    room = _BEYOND * (high - low) or 1.0
    if cases == "none":
        unit = _unit(high - low)
        return math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    every = np.concatenate([observed, *predicted])
    return max(float(every.min()), low - room), min(float(every.max()), high + room)


def _unit(span: float) -> float:
    """Return the unit to which ends are rounded on a page without cases."""
    return 10 ** math.floor(math.log10(span or 10.0)) / 2


def _model(
    folder: Folder,
    held_out: HeldOutNumbers,
    key: str,
    ends: tuple[float, float],
    options: PageOptions,
) -> dict[str, object]:
    one, own = held_out.displays[key], held_out.rows[key]
    kept, n = options.cases != "none", len(own)
    unit, worst = 0.0 if kept else _unit(ends[1] - ends[0]), list[list[object]]()
    parts, like = one.parts(unit), one.parts(unit, "predicted")
    found: dict[str, object] = {
        "label": key,
        "lead": lead(folder, parts, one if kept else None),
        "note": _note(folder, one, held_out.times, kept),
        "drawn": _drawn(one, kept),
        "parts": [_row(folder, p) for p in parts],
        "like": [[p.high if math.isfinite(p.high) else None, *_row(folder, p)] for p in like],
        "worst": worst,
    }
    if not kept or n > DRAWN:
        inside = np.clip([one.observed, one.predicted], *ends)
        cells = np.histogram2d(inside[0], inside[1], _CELLS if kept else _COARSE, [ends, ends])[
            0
        ].astype(np.intp)
        found["cells"] = np.where(cells >= (1 if kept else FEWEST), cells, 0).tolist()
    if not kept:
        return found
    digits = sum_digits(float(np.abs(one.observed).max()), float(np.ptp(one.observed)))
    after = places(float(np.abs(one.observed).max()), digits)
    for i in one.order[:WORST]:
        y, f = float(one.observed[i]), float(one.predicted[i])
        texts = [value_text(round(y, after), digits), number(f, after), difference(f - y, after)]
        folds = held_out.folds[own[i]]
        fold = next(iter(folds))[1] + 1 if len(folds) == 1 else "–"
        worst.append([own[i], one.ids[i], *texts, str(fold)])
    digits = 17 if options.cases == "full" else digits
    shown = range(n) if n <= DRAWN else one.order[:WORST]
    found["dots"] = [
        [own[i], *(float(f"{v[i]:.{digits}g}") for v in (one.observed, one.predicted))]
        for i in shown
    ]
    if one.stated is not None and n <= DRAWN:
        pairs = one.stated.tolist()
        found["stated"] = [[float(f"{v:.{digits}g}") for v in pair] for pair in pairs]
    return found


# ---------------------------------------------------------------------- words
def lead(folder: Folder, parts: Sequence[RangeErrors], one: ObservedDisplay | None) -> str:
    """Return a sentence on the part of the range with the greatest errors, or the greatest error.

    Parameters
    ----------
    one : ObservedDisplay or None
        None if single cases must not be named.
    """
    target = folder.target
    if len(parts) > 1:
        p = max(parts, key=lambda part: part.size.value)
        return (
            f"errs most where {target} is {p.words()} ({_cases(folder, p)}): mean absolute error"
            f" {three(p.size.value)} (95 % interval {_interval(p.size)}), elsewhere"
            f" {three(p.rest)}."
        )
    if one is None:
        return "has too few cases to compare parts of the range."
    i = one.order[0]
    y, f = float(one.observed[i]), float(one.predicted[i])
    return (
        f"errs most on {one.ids[i]}: {target} {value_text(y, 4)}, predicted {value_text(f, 4)}"
        f" ({difference(f - y, places(f - y))})."
    )


def _row(folder: Folder, p: RangeErrors) -> list[str]:
    cases, size = _cases(folder, p).replace(" cases", ""), three(p.size.value)
    return [p.words(), cases, size, _interval(p.size), difference(p.shift, places(p.size.value))]


def _cases(folder: Folder, part: RangeErrors) -> str:
    return cases_of(part.n, part.n_groups, str(folder.about.get("groups") or ""))


def _interval(size: Estimate) -> str:
    if not math.isfinite(size.low):
        return "not known"
    return f"{three(max(size.low, 0.0))} to {three(size.high)}"


def _drawn(one: ObservedDisplay, kept: bool) -> str:
    """Return the note on the plot, which a page without script does not have."""
    n = len(one.ids)
    words = "On the line predictions are right; above it they are too high. "
    if not kept:
        return f"{words}Squares count ten cases and more."
    bars = " Bars are the quantiles." * (one.stated is not None and n <= DRAWN)
    dots = "The stronger a square, the more cases; dots" if n > DRAWN else "The larger dots"
    return f"{words}{dots} are the {min(n, WORST)} worst.{bars}"


def _note(folder: Folder, one: ObservedDisplay, times: int, kept: bool) -> str:
    """Return the note on the numbers, and on the independence that intervals assume."""
    n = len(one.ids)
    words = f"Predictions and errors are in units of {folder.target}."
    words += "" if kept else " This page has no single cases: the worst cases are not listed."
    if times > 1:
        words += f" A case was held out up to {times} times: these are means of its predictions."
    if one.stated is not None:
        within = share(one.covered(), one.groups)
        words += (
            f" It predicts the 5 to 95 % quantiles of each case: {of(int(one.covered().sum()), n)}"
            f" cases lie between them (share {rate(within.value)}, 95 % interval"
            f" {span(within.low, within.high)}; 0.90 at best)."
        )
    if folder.about.get("groups") and one.groups is None:
        words += " Intervals take cases as independent, which those of one group are not."
    return words
