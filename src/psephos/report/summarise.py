"""From the folder of a comparison to one plain dictionary, from which the page is written."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psephos import __version__
from psephos.protocol.scores import main_metric
from psephos.report.adapter import open_model
from psephos.report.case import case_section
from psephos.report.cautions import cautions, prior_log_loss, unsure_probabilities
from psephos.report.chart import NARROW, WIDE, Point, interval_strip, pareto_chart
from psephos.report.figures import Choice, Standing, choose, standings
from psephos.report.folder import Folder, read_folder
from psephos.report.labels import label_figures
from psephos.report.methods import methods, recipes
from psephos.report.names import short_names
from psephos.report.pairs import Pair, pairs
from psephos.report.proved import proved
from psephos.report.saved import Saved
from psephos.report.shapes import damaged
from psephos.report.values import values_section
from psephos.report.verdict import verdict
from psephos.report.words import count, difference, number, plural, plus_minus, series

__all__ = ["summarise"]

_CONTENTS = (
    ("accuracy", "How accurate, and on how few columns?"),
    ("missed", "Whom does it miss?"),
    ("values", "On which side of which value?"),
    ("case", "What would it say of a new case?"),
    ("stability", "Would other cases have led to the same columns?"),
    ("methods", "How was this made?"),
)
_NAMED = 12  # labels whose cases are counted in the head
_LABEL_MEASURES = (
    ("average_precision", "average precision"),
    ("hamming_loss", "Hamming loss"),
    ("one_error", "one-error"),
    ("coverage", "coverage"),
    ("ranking_loss", "ranking loss"),
)
_MEASURES = (
    ("balanced_accuracy", "balanced accuracy"),
    ("accuracy", "accuracy"),
    ("roc_auc", "ROC-AUC"),
    ("log_loss", "log-loss"),
)


def summarise(folder: str | Path, model: str | None = None) -> dict[str, Any]:
    """Read a comparison and return what its report says, as plain values.

    Parameters
    ----------
    folder : str or Path
        What `psephos.protocol.compare` wrote.
    model : str, optional
        The model to open: its card, its network and its ballots are shown. By default that of
        the saved models with the fewest columns within one standard error of the best.

    Returns
    -------
    report : dict
        Strings, numbers, lists and dictionaries only; `render` turns it into a page.

    Raises
    ------
    PsephosError
        If the folder is not a comparison, a file of it is damaged, or the model has no file.
    """
    read = read_folder(folder)
    rows = standings(read)
    choice = choose(rows, list(read.models), model)
    shown = choice.opened if choice else None
    names = short_names([str(c) for c in read.about.get("columns", ())])
    opened = open_model(read.models[shown.key], names) if shown else None
    if opened:
        _refuse_other_classes(read, opened.classes, shown.key if shown else "")
    found = pairs(rows, choice.best if choice else None)
    prior = prior_log_loss(read)
    saved = Saved(read, {shown.key: opened} if shown and opened else {})
    parts = [values_section(read, choice, saved), case_section(read, choice, saved)]
    islands = [part.pop("island", {}) for part in parts]
    return {
        "version": __version__,
        "title": _title(read),
        "measure": read.measure,
        "label_figures": label_figures(read, choice) if choice else None,
        "data_line": _data_line(read),
        "verdict": verdict(read, rows, choice, found),
        "cautions": cautions(read, choice, prior) if choice else [],
        "n_fits_words": plural(_splits(rows), "held-out fold"),
        "measures": [{"key": key, "words": words} for key, words in _measures(read)],
        "models": [_model(s, prior, read) for s in rows],
        "any_failed": any(s.failed for s in rows),
        "measures_note": _measures_note(read, prior),
        "prior_words": number(prior) if math.isfinite(prior) else "",
        "voters_note": _voters_note(rows),
        "stability_note": _stability_note(rows),
        "failures": _failures(rows),
        "chart": _charts(read, rows),
        "chart_note": (
            "Each point is a model's mean over the held-out folds, its bars one standard deviation"
            " both ways, and the faint points its single fits."
        ),
        "proved": proved(read, rows),
        "differences": _differences(found, choice.best if choice else None, read),
        "methods": methods(read, rows),
        "recipes": recipes(read, rows),
        "warnings": _warnings(read),
        "contents": _CONTENTS,
        "carries": "",
        "island": {"first": _first(choice), **_joined(islands)},
        **_joined(parts),
    }


def _joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one dictionary of several, which have no entry in common."""
    return {key: value for part in parts for key, value in part.items()}


def _first(choice: Choice | None) -> dict[str, Any]:
    """Return what the page shows before the reader chooses."""
    shown = choice.opened or choice.best if choice else None
    return {"model": shown.key if shown else None, "threshold": 0.5, "person": None, "cls": None}


def _measures(folder: Folder) -> tuple[tuple[str, str], ...]:
    return _LABEL_MEASURES if folder.multilabel else _MEASURES


def _measures_note(folder: Folder, prior: float) -> str:
    """Return what the measures of the table are."""
    if folder.multilabel:
        return (
            "Average precision is, for each of a case's labels, the share of its labels among all"
            " that are ranked as high, and the mean of that; Hamming loss is the share of wrong"
            " answers over all cases and labels; one-error is how often the label ranked first is"
            " not the case's; coverage is how many labels must be passed in the ranking to have"
            " all of the case's; ranking loss is the share of pairs of a label that it has and one"
            " that it has not which are ranked wrongly. Average precision is best at 1, the others"
            " at 0 (coverage: at the number of a case's labels less one)."
        )
    words = (
        "Balanced accuracy is the mean share of each class found; ROC-AUC is"
        f" {_auc_words(len(folder.about['classes']))}; log-loss is lower where the stated"
        " probabilities are better."
    )
    if math.isfinite(prior):
        words += (
            " Stating each class's frequency in the training part has a log-loss of"
            f" {number(prior)}; † is worse."
        )
    return words


def _auc_words(n_classes: int) -> str:
    if n_classes == 2:
        return "the chance that a case of one class is ranked above one of the other"
    return (
        "the mean over the classes of the chance that a case of the class is ranked above one of"
        " the others"
    )


def _refuse_other_classes(folder: Folder, classes: Sequence[str], model: str) -> None:
    """Raise if a model file has other classes than the comparison."""
    if list(classes) != [str(one) for one in folder.about["classes"]]:
        raise damaged(folder.models[model], "its classes are not those of comparison.json")


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
    listed = [f"{n} {count(k)}" for n, k in zip(names, sizes, strict=True)] if sizes else names
    if folder.multilabel:
        more = [f"{len(listed) - _NAMED} more"] if len(listed) > _NAMED else []
        return (
            f"{plural(_n_rows(folder), 'case')}, {plural(_n_columns(folder), 'column')};"
            f" {len(names)} labels, of which a case may have several:"
            f" {series([*listed[:_NAMED], *more])}."
        )
    line = f"{plural(_n_rows(folder), 'case')}, {plural(_n_columns(folder), 'column')}"
    target = about.get("target")
    return f"{line}; {f'{target}: ' if target else 'classes: '}{series(listed)}."


def _n_rows(folder: Folder) -> int:
    known = folder.about.get("n_rows")
    return int(known) if known else max(f.n_train + f.n_test for f in folder.fits)


def _n_columns(folder: Folder) -> int:
    known = folder.about.get("n_columns") or len(folder.about.get("columns", ()))
    return max(int(known), 1)


def _splits(rows: Sequence[Standing]) -> int:
    return len({f.split for s in rows for f in [*s.fits, *s.failed]})


# ---------------------------------------------------------------------- table and chart
def _model(s: Standing, prior: float, folder: Folder) -> dict[str, Any]:
    spreads = {key: s.spread(key) for key, _ in _measures(folder)}
    cells: list[dict[str, Any]] = [
        _cell(one.mean, number(one.mean), number(one.sd) if one.n > 1 else "", key)
        for key, one in spreads.items()
    ]
    if unsure_probabilities(s, prior):
        cells[[*spreads].index("log_loss")]["mark"] = "†"
    columns, voters = s.columns, s.summary.n_voters.mean
    spread = count(columns.sd) if columns.sd > 0 else ""
    cells.append(_cell(columns.mean, count(columns.mean), spread, "columns"))
    stability = s.summary.stability.value
    cells.append(_cell(stability, number(stability, 2), "", "stability"))
    cells.append(_cell(voters, count(voters), "", "voters"))
    draws = math.nan if s.draws is None else s.draws
    cells.append(_cell(draws, count(draws), "", "draws"))
    words = f"{count(columns.mean)} ± {spread}" if spread else count(columns.mean)
    return {
        "key": s.key,
        "label": s.label,
        "ours": s.ours,
        "frontier": s.frontier,
        "cells": cells,
        "fits": str(len(s.fits)) + (f" ({len(s.failed)} failed)" if s.failed else ""),
        "n_fits": len(s.fits),
        "sentence": (
            f"{s.label}: {folder.measure} {plus_minus(s.score, s.score_sd)}, columns used {words}"
        ),
    }


def _cell(value: float, text: str, spread: str, kind: str) -> dict[str, Any]:
    return {"value": _known(value), "text": text, "spread": spread, "kind": kind, "mark": ""}


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _stability_note(rows: Sequence[Standing]) -> str:
    if not any(math.isfinite(s.summary.stability.value) for s in rows):
        return ""
    return (
        "Stability is how alike the columns used are from fold to fold: 1 always the same, 0 no"
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
    chance = folder.constant
    drawn = {
        frame.name: pareto_chart(points, _n_columns(folder), chance, frame)
        for frame in (WIDE, NARROW)
    }
    return drawn


def _point(s: Standing) -> Point:
    measure = main_metric(s.summary.measures)
    fits = [
        (f.columns_used, f.measures[measure])
        for f in s.fits
        if f.columns_used is not None and measure in f.measures
    ]
    return Point(
        key=s.key,
        label=s.label,
        ours=s.ours,
        frontier=s.frontier,
        columns=s.columns.mean,
        columns_sd=s.columns.sd,
        score=s.score,
        score_sd=s.score_sd if math.isfinite(s.score_sd) else 0.0,
        fits=tuple(fits) if len(fits) <= 20 else (),
    )


def _differences(
    found: Sequence[Pair], best: Standing | None, folder: Folder
) -> dict[str, Any] | None:
    if best is None or not found:
        return None
    sizes = [abs(v) for p in found if p.reads for v in (p.low, p.mean, p.high) if math.isfinite(v)]
    reach = 1.04 * max([0.05, *sizes])  # a constant answer, far below, does not stretch the axis
    strip = interval_strip(
        [
            (p.mean, p.low, p.high) if math.isfinite(p.low) else (p.mean, p.mean, p.mean)
            for p in found
        ],
        reach,
    )
    return {
        "reference": best.label,
        "words": (
            f"Models are compared on the same folds. Each row is a model's {folder.measure} minus"
            f" that of {best.label}, the best."
        ),
        "strip": strip,
        "rows": [
            {
                "key": p.key,
                "label": p.label,
                "ours": p.ours,
                "mean_text": difference(p.mean),
                "interval_text": _interval(p),
                "interval_whole": _interval(p, "from "),  # no cell that begins with a sign
                "sentence": f"{p.label}: {difference(p.mean)}, {_interval(p, 'from ')}",
                "bar": bar,
            }
            for p, bar in zip(found, strip["bars"], strict=True)
        ],
        "note": (
            "The intervals are corrected for training sets that overlap (Nadeau & Bengio 2003), one"
            f" by one, not for many comparisons at once. {best.label} was picked as the best on"
            " these folds, which flatters it a little."
        ),
    }


def _interval(pair: Pair, before: str = "") -> str:
    if not math.isfinite(pair.low):
        return "none of one fold"
    return f"{before}{difference(pair.low)} to {difference(pair.high)}"


# ---------------------------------------------------------------------- the end
def _warnings(folder: Folder) -> list[str]:
    warned: Any = folder.environment.get("warnings") or []
    return [str(w) for w in warned][:20]
