"""From the folder of a comparison to one plain dictionary, from which the page is written."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psephos import __version__
from psephos.report.adapter import Opened, open_model
from psephos.report.casebook import casebook
from psephos.report.chart import NARROW, WIDE, Point, interval_strip, pareto_chart
from psephos.report.figures import Choice, Standing, choose, standings
from psephos.report.folder import Folder, read_folder
from psephos.report.pairs import Pair, best_other, pairs
from psephos.report.together import together
from psephos.report.words import count, difference, number, plural, plus_minus, series

__all__ = ["summarise"]

_MEASURES = (
    ("balanced_accuracy", "balanced accuracy"),
    ("accuracy", "accuracy"),
    ("roc_auc", "ROC-AUC"),
    ("log_loss", "log-loss"),
)
_LINES = 12  # voters on the card before the rest is folded


def summarise(folder: str | Path) -> dict[str, Any]:
    """Read a comparison and return what its report says, as plain values.

    Parameters
    ----------
    folder : str or Path
        What `psephos.protocol.compare` wrote.

    Returns
    -------
    report : dict
        Strings, numbers, lists and dictionaries only; `render` turns it into a page.

    Raises
    ------
    PsephosError
        If the folder is not a comparison, or a file of it is damaged.
    """
    read = read_folder(folder)
    rows = standings(read)
    choice = choose(rows, list(read.models))
    opened = open_model(read.models[choice.model.key]) if choice else None
    other = best_other(rows)
    found = pairs(rows, other)
    book = casebook(read, opened, choice.model.key) if choice and opened else None
    return {
        "version": __version__,
        "title": _title(read),
        "data_line": _data_line(read),
        "verdict": _verdict(read, rows, choice, other, found),
        "n_fits_words": _splits_words(rows),
        "measures": [{"key": key, "words": words} for key, words in _MEASURES],
        "models": [_model(s) for s in rows],
        "voters_note": _voters_note(rows),
        "stability_note": _stability_note(rows),
        "failures": _failures(rows),
        "chart": _charts(read, rows),
        "chart_note": (
            "Each point is a model's mean over the held-out folds, its bars one standard deviation"
            " both ways, and the faint points its single fits."
        ),
        "differences": _differences(found, other),
        "card": _card(choice, opened) if choice and opened else None,
        "card_absent": "No model of psephos was fitted and saved in this comparison.",
        "together": together(read, rows, choice, opened),
        "ballots": book,
        "ballots_absent": "" if choice is None else "The training cases were not kept.",
        "methods": _methods(read, rows),
        "warnings": _warnings(read),
    }


# ---------------------------------------------------------------------- the head
def _title(folder: Folder) -> str:
    about = folder.about
    return f"{about.get('dataset') or folder.path.name}: which model, on how few columns?"


def _data_line(folder: Folder) -> str:
    about = folder.about
    sizes: list[Any] = about.get("class_counts") or []
    if not sizes and folder.cases is not None:
        counted = Counter(folder.cases.y)
        sizes = [counted[i] for i in range(len(about["classes"]))]
    names = [str(c) for c in about["classes"]]
    told = [f"{n} {count(k)}" for n, k in zip(names, sizes, strict=True)] if sizes else names
    line = f"{plural(_n_rows(folder), 'case')}, {plural(_n_columns(folder), 'column')}"
    target = about.get("target")
    return f"{line}; {f'{target}: ' if target else 'classes: '}{series(told)}."


def _n_rows(folder: Folder) -> int:
    told = folder.about.get("n_rows")
    return int(told) if told else max(f.n_train + f.n_test for f in folder.fits)


def _n_columns(folder: Folder) -> int:
    told = folder.about.get("n_columns") or len(folder.about.get("columns", ()))
    return max(int(told), 1)


def _splits(rows: Sequence[Standing]) -> int:
    return len({f.split for s in rows for f in [*s.fits, *s.failed]})


def _splits_words(rows: Sequence[Standing]) -> str:
    return plural(_splits(rows), "held-out fold")


# ---------------------------------------------------------------------- the verdict
def _verdict(
    folder: Folder,
    rows: Sequence[Standing],
    choice: Choice | None,
    other: Standing | None,
    found: Sequence[Pair],
) -> list[str]:
    drawn = [s for s in rows if s.drawn]
    if not drawn:
        return ["Every fit failed; the reasons are below."]
    if choice is None:
        best = drawn[0]
        return [f"{best.label} did best: {_reached(best, folder)}."]
    ours = choice.model
    words = [f"{ours.label} {_reached(ours, folder, verb=True)}, over {_splits_words(rows)}."]
    if other is not None:
        words.append(f"The best other model, {other.label}, {_reached(other, folder, verb=True)}.")
        words += [_judged(p, other) for p in found if p.key == ours.key]
    chance = 1 / len(folder.about["classes"])
    if ours.score - ours.score_sd <= chance:
        words.append(
            f"That is within one standard deviation of a constant answer ({number(chance, 2)}):"
            " these cases show little that can be predicted."
        )
    return words


def _reached(s: Standing, folder: Folder, verb: bool = False) -> str:
    score = f"a balanced accuracy of {plus_minus(s.score, s.score_sd)}"
    columns = f"{count(s.columns.mean)} of {plural(_n_columns(folder), 'column')}"
    mean = "on average " if s.columns.sd > 0 else ""
    return f"reaches {score} and reads {mean}{columns}" if verb else f"{score} on {mean}{columns}"


def _judged(pair: Pair, other: Standing) -> str:
    interval = f"{difference(pair.low)} to {difference(pair.high)}"
    if not (math.isfinite(pair.low) and math.isfinite(pair.high)):
        return f"The difference is {difference(pair.mean)}; one fold gives no interval."
    told = f"The difference is {difference(pair.mean)} (95 % interval {interval})"
    if pair.low > 0:
        return f"{told}: more accurate than {other.label} on these data."
    if pair.high < 0:
        return f"{told}: less accurate than {other.label} on these data."
    return f"{told}: these folds cannot tell the two apart in accuracy."


# ---------------------------------------------------------------------- table and chart
def _model(s: Standing) -> dict[str, Any]:
    told = [s.spread(key) for key, _ in _MEASURES]
    cells: list[dict[str, Any]] = [
        {"value": _known(one.mean), "text": plus_minus(one.mean, one.sd)} for one in told
    ]
    spread = f" ± {count(s.columns.sd)}" if s.columns.sd > 0 else ""
    columns, voters = s.columns.mean, s.summary.n_voters.mean
    cells.append({"value": _known(columns), "text": f"{count(columns)}{spread}"})
    stability = s.summary.stability.value
    cells.append({"value": _known(stability), "text": number(stability, 2)})
    cells.append({"value": _known(voters), "text": count(voters)})
    done = str(len(s.fits)) + (f" ({len(s.failed)} failed)" if s.failed else "")
    cells.append({"value": len(s.fits), "text": done})
    return {
        "key": s.key,
        "label": s.label,
        "ours": s.ours,
        "optimal": s.optimal,
        "cells": cells,
        "sentence": (
            f"{s.label}: balanced accuracy {plus_minus(s.score, s.score_sd)},"
            f" columns used {cells[4]['text']}"
        ),
    }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _stability_note(rows: Sequence[Standing]) -> str:
    if not any(math.isfinite(s.summary.stability.value) for s in rows):
        return ""
    return (
        "Stability tells how alike the columns used are from fold to fold: 1 always the same, 0 no"
        " more alike than columns drawn by lot (Nogueira, Sechidis & Brown 2018). Training parts"
        " overlap, so that it would be lower on new cases. It is not defined for a model that reads"
        " every column, or none."
    )


def _voters_note(rows: Sequence[Standing]) -> str:
    absent = any(s.fits and not s.summary.n_voters.n for s in rows)
    return "A dash under voters marks a model that is no ensemble." if absent else ""


def _failures(rows: Sequence[Standing]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for s in rows:
        for error, n in Counter(f.error for f in s.failed).most_common():
            words = f"{n} of {plural(len(s.fits) + len(s.failed), 'fit')}"
            found.append({"label": s.label, "words": words, "error": error})
    return found


def _charts(folder: Folder, rows: Sequence[Standing]) -> dict[str, Any]:
    points = [_point(s) for s in rows if s.drawn]
    chance = 1 / len(folder.about["classes"])
    drawn = {
        frame.name: pareto_chart(points, _n_columns(folder), chance, frame)
        for frame in (WIDE, NARROW)
    }
    return drawn


def _point(s: Standing) -> Point:
    fits = [
        (f.columns_used, f.measures["balanced_accuracy"])
        for f in s.fits
        if f.columns_used is not None and "balanced_accuracy" in f.measures
    ]
    return Point(
        key=s.key,
        label=s.label,
        ours=s.ours,
        optimal=s.optimal,
        columns=s.columns.mean,
        columns_sd=s.columns.sd,
        score=s.score,
        score_sd=s.score_sd,
        fits=tuple(fits) if len(fits) <= 20 else (),
    )


def _differences(found: Sequence[Pair], other: Standing | None) -> dict[str, Any] | None:
    if other is None or not found:
        return None
    told = [abs(v) for p in found if p.reads for v in (p.low, p.mean, p.high) if math.isfinite(v)]
    reach = 1.04 * max([0.05, *told])  # a constant answer, far below, does not stretch the axis
    strip = interval_strip([(p.mean, p.low, p.high) for p in found], reach)
    return {
        "reference": other.label,
        "words": (
            f"Models are compared on the same folds. Each row is a model's balanced accuracy minus"
            f" that of {other.label}, the best model that is not of psephos."
        ),
        "strip": strip,
        "rows": [
            {
                "key": p.key,
                "label": p.label,
                "ours": p.ours,
                "mean_text": difference(p.mean),
                "interval_text": f"{difference(p.low)} to {difference(p.high)}",
                "sentence": f"{p.label}: {difference(p.mean)}, from {difference(p.low)} to"
                f" {difference(p.high)}",
                "bar": bar,
            }
            for p, bar in zip(found, strip["bars"], strict=True)
        ],
        "note": (
            "The intervals are corrected for training sets that overlap (Nadeau & Bengio 2003), one"
            f" by one, not for many comparisons at once. {other.label} was picked as the best on"
            " these folds, which flatters it a little."
        ),
    }


# ---------------------------------------------------------------------- the card
def _card(choice: Choice, opened: Opened) -> dict[str, Any]:
    label = choice.model.label
    error = number(choice.standard_error)
    if choice.within:
        why = (
            f"Of the models of psephos within one standard error ({error}) of the best mean,"
            f" {label} uses the fewest columns."
        )
    else:
        why = (
            f"No model of psephos came within one standard error ({error}) of the best,"
            f" {choice.best.label}; {label} is the most accurate of them."
        )
    lines = opened.sentences[1:]
    n = len(opened.columns)
    return {
        "label": label,
        "choice": f"{why} Shown is its refit on all cases, as saved in"
        f" models/{choice.model.key}.psephos.",
        "warning": "It was selected on these folds, so its figure is optimistic.",
        "file_words": opened.sentences[0] if opened.sentences else "",
        "sentences": lines[:_LINES],
        "more": lines[_LINES:],
        "more_words": f"{plural(len(lines) - _LINES, 'more voter')}",
        "columns_words": f"It reads {plural(n, 'column')}" if n else "It reads no column",
        "columns": [
            {"name": name, "words": f"in {plural(k, 'voter')}" if k else "only in the weights"}
            for name, k in opened.columns.items()
        ],
    }


# ---------------------------------------------------------------------- the methods
def _methods(folder: Folder, rows: Sequence[Standing]) -> list[str]:
    told = str(folder.about.get("protocol", ""))
    words = [f"{told[:1].upper()}{told[1:]}"] if told else []
    if folder.about.get("groups"):
        words.append(
            f"Cases of one group ({folder.about['groups']}, {folder.about['n_groups']} groups) were"
            " never divided between training and test."
        )
    words.append(
        "Columns used counts columns of the table as it was given; a category counts once."
        " Afterwards the same search was run on all cases, and that refit was saved."
    )
    sizes = {(f.n_train, f.n_test) for s in rows for f in s.fits}
    if sizes:
        train = sorted({a for a, _ in sizes})
        test = sorted({b for _, b in sizes})
        words.append(
            f"Each of the {_splits_words(rows)} left {_range(test)} cases out of"
            f" {_range(train)} for training; all tuning was done inside the training part."
        )
    versions: dict[str, str] = folder.environment.get("versions", {})
    if versions:
        made = series(
            [
                f"{name} {version}"
                for name, version in sorted(versions.items())
                if version != "unknown"
            ]
        )
        words.append(f"Made with {made}.")
    return words


def _range(values: Sequence[int]) -> str:
    low, high = values[0], values[-1]
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def _warnings(folder: Folder) -> list[str]:
    told: Any = folder.environment.get("warnings") or []
    return [str(w) for w in told][:20]
