"""Output of commands: results to standard output, everything else to standard error.

Control characters in names and classes, which come from files, are escaped here for all commands;
csv that is piped or written to a file keeps them.
"""

import io
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import click

from psephos.files.columns import is_number
from psephos.files.escaping import printable

_WIDTH = 120  # the least width for a file or a pipe, where nothing is cut
_SEVERAL = {"--accept", "--categorical", "--classes", "--drop", "--keep-word", "--missing"}
_SHARED = 3  # columns with a missing word from which on it is proposed for the whole table
_FOLDED = 24  # the least width of a column that wraps


def forgive_encodings() -> None:
    """Write characters that the terminal's encoding lacks as escapes, instead of raising an error.

    Files are always UTF-8.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors != "backslashreplace":
            stream.reconfigure(errors="backslashreplace")


def say(sentence: str) -> None:
    """Print a sentence to standard error."""
    click.echo(printable(sentence), err=True)


def show(text: str) -> None:
    """Print a result to standard output."""
    click.echo(printable(text))


def repeated(words: Sequence[str], options: Sequence[tuple[str, str]]) -> list[str]:
    """Return the words of a command with options, which replace earlier ones that take one value.

    The --drop of a column that becomes the id or the group is removed, and the --id of one that
    becomes the group, but not of one whose values begin with the group. An option that takes one
    value is not added if there are two values for it, since they contradict each other. A word that
    is missing in three columns and more becomes one --missing for the whole table.
    """
    one_mark = [(flag, w) for flag, w in options if flag == "--missing" and w.count("=") < 2]
    gone = {pair: pair[1].rpartition("=")[2] for pair in one_mark}  # words with = stay as they are
    often = {w for w, n in Counter(gone.values()).items() if n >= _SHARED and not is_number(w)}
    pairs = [("--missing", gone[one]) if gone.get(one) in often else one for one in options]
    pairs = list(dict.fromkeys(pairs))
    flags = [flag for flag, _ in pairs]
    pairs = [one for one in pairs if one[0] in _SEVERAL or flags.count(one[0]) == 1]
    old = {flag for flag, _ in pairs} - _SEVERAL
    before = zip(["", *words], words, strict=False)
    kept = [w for last, w in before if last not in old and w.partition("=")[0] not in old]
    whole = {w for flag, w in pairs if flag in old}
    named = {"--id": whole, "--drop": whole | {w.rpartition("=")[0] for w in whole}}
    drops = [k for k, (flag, w) in enumerate(pairwise(kept)) if w in named.get(flag, ())]
    kept = [w for k, w in enumerate(kept) if k not in drops and k - 1 not in drops]
    return [*kept, *(word for pair in pairs for word in pair)]


def show_json(data: Any) -> None:
    """Print plain values as JSON, in ASCII to a terminal."""
    ascii_only = sys.stdout.isatty()
    click.echo(json.dumps(data, indent=1, ensure_ascii=ascii_only, allow_nan=False))


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Within the block print warnings without a path."""
    kept = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: printable(f"warning: {message}\n")
    try:
        yield
    finally:
        warnings.formatwarning = kept


def print_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Collection[str],
    spare: Sequence[str] = (),
    fold: str | None = None,
) -> list[str]:
    """Print a table; a narrow terminal shows fewer columns, but complete cells.

    Return the heads of the columns that were left out.

    Parameters
    ----------
    heads : sequence of str
        Names of the columns; the first column names the rows.
    rows : sequence of sequences of str
    words : collection of str
        Heads of columns of words, aligned left; others are numbers, aligned right.
    spare : sequence of str, default=()
        Heads of columns that may be left out if the terminal is too narrow, in this order.
    fold : str, optional
        The head of the column that wraps.
    """
    from rich.console import Console
    from rich.table import Table

    shown = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
    cells = [[printable(cell) for cell in row] for row in (heads, *rows)]
    room = shown.width if shown.is_terminal else max(_WIDTH, _width(cells, None))
    whole = cells
    if _width(cells, fold) > room:
        cells = [[row[0].replace("sklearn-", "sk-"), *row[1:]] for row in cells]
    changes = ["sk- stands for sklearn-"] * (cells != whole)
    absent: list[str] = []
    for head in spare:
        if head in cells[0] and _width(cells, fold) > room:
            absent.append(head)
            place = cells[0].index(head)
            cells = [row[:place] + row[place + 1 :] for row in cells]
    sheet, names = Table(box=None, pad_edge=False), cells[0]
    if _width(cells, fold) > room:  # heads on several lines
        cells = [[w if w == fold else w.replace(" ", "\n") for w in names], *cells[1:]]
    for name, head in zip(names, cells[0], strict=True):
        side = "left" if name in words else "right"
        sheet.add_column(head, justify=side, no_wrap=name != fold, overflow="fold")
    for row in cells[1:]:
        sheet.add_row(*row)
    # a line that is still too long wraps at the edge
    shown.width = max(room, _width(cells, fold))
    shown.print(sheet)
    changes += [f"without {', '.join(absent)}"] * bool(absent)
    if changes:
        show(f"({'; '.join(changes)}: the terminal is narrow)")
    return absent


def _width(cells: Sequence[Sequence[str]], fold: str | None) -> int:
    """Return the width of a table with heads as first row; a folded column may be narrow."""
    from rich.cells import cell_len

    columns = list(zip(*cells, strict=True))
    widths = [max(cell_len(one) for cell in c for one in cell.split("\n")) for c in columns]
    folded = [min(w, _FOLDED) if c[0] == fold else w for w, c in zip(widths, columns, strict=True)]
    return sum(folded) + 2 * (len(folded) - 1)


def show_summary(found: Any, *, budget: bool = False) -> None:
    """Print the figures of a comparison as a table, the most accurate model first.

    With `budget` also the draws and seconds of each model.
    """
    import math

    from psephos.protocol.evaluation.statistics import comparable

    ranked = {one.model for one in comparable(found.summary())}
    summaries = sorted(
        found.summary(),
        key=lambda s: (s.model not in ranked, -s.merit if math.isfinite(s.score) else math.inf),
    )
    marks = _marks(found, summaries, ranked)
    failed = any(one.n_failed for one in summaries)
    used = _used(found) if budget else {}
    measured = summaries[0].measures if summaries else {}
    measures = {name: one for name, one in _measures(found.about).items() if name in measured}
    shown = [one.words for one in measures.values()]
    heads = ["model", *shown, "columns", "stability", "voters"]
    heads += ["draws", "seconds"] if used else []
    heads += ["failed", ""] if failed else [""]
    sign = plus_minus()
    rows = [
        [
            one.model,
            *(_spread(one.measures[name], 3, sign, kind.text) for name, kind in measures.items()),
            _spread(one.columns_used, 1, sign),
            _known(one.stability.value, 2),
            _known(one.n_voters.mean, 1),
            *used.get(one.model, ()),
            *([str(one.n_failed or "")] if failed else []),
            " ".join(marks[one.model]),
        ]
        for one in summaries
    ]
    spare = ("voters", "stability", *shown[:0:-1])
    absent = print_table(heads, rows, words=("model", ""), spare=spare)
    _show_notes(found, summaries, {mark for some in marks.values() for mark in some}, absent)


def _show_notes(found: Any, summaries: list[Any], marked: set[str], absent: list[str]) -> None:
    """Print conclusions from the table of a comparison, and the meaning of marks and columns."""
    from psephos.files.names import fixed
    from psephos.protocol.evaluation.statistics import ONE_PART, constant_score, one_part

    measure = summaries[0].ranked_by.words if summaries else ""
    valued = [one for one in summaries if one.measures[one.ranked_by.name].n]
    if all(one.columns_used.mean == 0 for one in summaries):
        show("No model reads a column: each predicts the same for every case.")
    elif not any(one.columns_used.mean != 0 for one in valued):
        show("No fold of a model that reads columns has a value of the measure: none is ranked.")
    elif not found.better():
        least = min(found.better(chance=0.999).values(), default=1.0)
        p = f"p = {least:.2g} for the surest" if least < 1 else "p = 1"
        show(
            "No model that reads columns is significantly better than a constant prediction "
            f"({measure} {fixed(constant_score(found.about))} at best; {p}, corrected for the "
            "number of models)."
        )
    for word, meaning in _NOTES:
        heads = [one for one in word.split(", ") if one not in absent]
        if heads and (word in marked or word not in _MARKS):
            if word == "stability" and one_part(found.results):
                meaning = ONE_PART
            show(f"{', '.join(heads)}: {meaning.format(measure=measure)}")


def _used(found: Any) -> dict[str, list[str]]:
    """Return the draws of each model, and the seconds of all its searches and fits."""
    return {
        row["model"]: [str(row["draws"]), f"{row['search_seconds'] + row['fit_seconds']:.1f}"]
        for row in found.used
    }


_MARKS = ("*", "smallest", "not ranked")


def _marks(found: Any, summaries: list[Any], ranked: set[str]) -> dict[str, list[str]]:
    """Return the marks after each model's figures."""
    from psephos.protocol.evaluation.statistics import one_part

    optimal = {one.model for one in found.pareto()} & found.better().keys()
    chosen = found.selected() if len(ranked) > 1 and not one_part(found.results) else None
    marks: dict[str, list[str]] = {}
    for one in summaries:
        held = {
            "*": one.model in optimal,
            "smallest": chosen is not None
            and chosen.model == one.model
            and 0 < one.columns_used.mean != found.about.get("n_columns"),
            "reads no column": one.columns_used.n and one.columns_used.mean == 0,
            "not ranked": one.model not in ranked,
        }
        marks[one.model] = [word for word, holds in held.items() if holds]
    return marks


def _measures(about: Any) -> dict[str, Any]:
    """Return the measures of the printed table, by name."""
    from psephos.protocol.evaluation.scores import (
        kept_metric,
        kind_of,
        measures_for,
        shown,
        with_chosen,
    )

    partial = bool(about.get("partial"))
    usual = measures_for(kind_of(about), partial=partial, truth=truth_known(about))
    return {one.name: one for one in shown(with_chosen(usual, kept_metric(about))) if one.tabled}


def truth_known(about: Any) -> bool:
    """Return whether predictions were compared with the true classes."""
    return about.get("partial") is None or bool(about["partial"]["truth"])


def partial_words(about: Any) -> list[str]:
    """Return notes on a comparison with partly recorded labels."""
    from psephos.protocol.tables.labels import given_rows

    partial = about.get("partial")
    if partial is None:
        return []
    given, share = given_rows(one_class=partial["one_class"]), partial.get("prior")
    prior = "for any class prior" if share is None else f"for the class prior {share:g}"
    words = [
        f"models were fitted, and settings chosen (by PU-F), by recorded labels only: "
        f"{sum(partial['recorded'])} cases have one, {partial['unlabelled']} have none. Records "
        f"of {partial['positive']!r} count as certain. Models that take no cases without a label "
        f"were fitted on {given}.",
        f"PU-F is the squared share of cases recorded {partial['positive']!r} that are predicted "
        "so, divided by the share of cases without a label that are predicted so (at least half a "
        "case); accuracy from, accuracy to are means over the folds of 95 % intervals for the "
        f"accuracy on new cases like those without a label, {prior}, if these are drawn at random "
        "from all cases and recorded ones from their class.",
    ]
    words += [partial["told"]] if partial.get("told") else []
    if partial.get("contradicted"):
        words.append(
            f"{partial['contradicted']} cases are recorded {partial['positive']!r} but are of the "
            "other class."
        )
    if not partial["truth"]:
        words.append("no report is written without the true classes (--truth COLUMN).")
    return words


def label_words(about: Any) -> list[str]:
    """Return notes on a comparison with several labels per case."""
    alone, absent = about.get("one_a_label") or [], about.get("not_asked") or []
    words: list[str] = []
    if alone:
        words.append(f"{', '.join(alone)}: one model per label, which is not saved to a file.")
    if absent:
        words.append(
            f"{', '.join(absent)}: not compared by default if cases may have several labels, since "
            "each needs a fit per label; give --models to include them."
        )
    return words


_NOTES = (
    (
        "*",
        "significantly better than a constant prediction (p <= 0.05, corrected for the number of "
        "models), and Pareto-optimal in {measure} and number of columns",
    ),
    (
        "smallest",
        "of all models within one standard error of the best in {measure}, the one that reads the "
        "fewest columns",
    ),
    (
        "not ranked",
        "fits failed, or the measure is not defined, in more folds than for other models: figures "
        "are means over the remaining folds, which are other cases",
    ),
    (
        "stability",
        "1 if the same columns are used in every fold, 0 if they agree as by chance",
    ),
    ("columns, voters", "means over the folds; the saved model, fitted on all rows, may differ"),
)


def show_knees(found: Any) -> None:
    """Print the knee of each model's curve of accuracy by number of columns, if any."""
    from psephos.protocol.evaluation.statistics import ONE_PART, one_part
    from psephos.protocol.running.curve import curve_points, failed_words

    shown = {"columns": 1, "score": 3, "price": 3, "low": 3, "high": 3, "stability": 2}
    points = curve_points(found.curve, found.about)
    knees = [point for point in points if point["knee"]]
    rows = [[one["model"], *(_known(one[name], n) for name, n in shown.items())] for one in knees]
    if rows:
        print_table(["knee of the curve", *shown], rows, words=("knee of the curve",))
        near, interval = "within one standard error of its best", ", with a 95 % interval"
        if one_part(found.curve):
            near, interval = "of its best score", f"; interval and stability: {ONE_PART}"
        show(
            f"knee: the fewest columns, of those that the model ranks first, {near}; price: the "
            f"advantage of its fit on all chosen columns{interval} (curve.csv has every point)"
        )
    drawn = {point["model"] for point in points}
    absent = dict.fromkeys(row["model"] for row in found.curve if row["model"] not in drawn)
    if absent:
        show(f"no curve of {', '.join(absent)}: the measure is not defined in any fold.")
    if failed := failed_words(points):
        first = next(row["error"] for row in found.curve if row["error"])
        show(f"{failed} The first error in curve.csv: {first}")


def show_bounds(rows: Any) -> None:
    """Print the proven error bounds of each model of a comparison, a line each."""
    from psephos.files.names import fixed

    known = {row["bound"] for row in rows}
    kinds = [kind for kind in ("hold-out, folds", "out of bag", "published") if kind in known]
    if not kinds:
        return
    reasons = {row["told"] for row in rows} if all(row["value"] is None for row in rows) else ()
    if len(reasons) == 1:
        show(f"error bounds: no bound holds; {reasons.pop()}")
        return
    first, lines = "error bounds", list[list[str]]()
    for model in dict.fromkeys(row["model"] for row in rows):
        own = {row["bound"]: row for row in rows if row["model"] == model}
        lines.append([model, *(_proved(own.get(kind)) for kind in kinds)])
    print_table([first, *kinds], lines, words=(first,), spare=("published", "out of bag"))
    show(
        "Each figure is a separate 95 % upper limit of the error: of the folds' models (hold-out, "
        "folds), or of the refit. Vacuous: not below the error of always predicting the most "
        f"frequent class, {fixed(rows[0]['constant_error'])}. bounds.csv has the assumptions of "
        "each bound, and why one does not hold."
    )


def _proved(row: Any) -> str:
    if row is None:
        return "-"
    if row["value"] is None:
        return "does not hold"
    from psephos.files.names import fixed

    return fixed(row["value"]) + (" vacuous" if row["vacuous"] else "")


def _known(value: float, digits: int) -> str:
    """Return a number, or a hyphen for one that is not defined."""
    from psephos.files.names import fixed

    return fixed(value, digits) if value == value else "-"


def plus_minus() -> str:
    """Return the sign ±, or +- if the terminal lacks it."""
    try:
        "±".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return "+-"
    return "±"


def _spread(
    spread: Any, digits: int, sign: str, text: Callable[[float, int], str] | None = None
) -> str:
    """Return mean ± standard deviation; a single value without a deviation."""
    from psephos.files.names import fixed

    write = text or fixed
    if not spread.n:
        return "-"
    mean = write(spread.mean, digits)
    return f"{mean}{sign}{write(spread.sd, digits)}" if spread.n > 1 else mean
