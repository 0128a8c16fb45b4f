"""What commands say: results to standard output, everything else to standard error.

Names and classes come from files of others: control characters among them are written as escapes
here, for all commands. Csv that is piped or written to a file keeps them.
"""

import io
import json
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import click

from psephos.files.escaping import printable

_WIDTH = 120  # of a file or a pipe, which have none: nothing is cut
_APART = ("--drop", "--id")
_SEVERAL = {"--accept", "--categorical", "--classes", "--drop", "--keep-word", "--missing"}
_FOLDED = 24  # the least width of a column that wraps


def forgive_encodings() -> None:
    """Let a character that the terminal's encoding lacks be written as its escape.

    A run of an hour must not end at a column's name. Files are UTF-8 whatever the terminal is.
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
    """Return the words of a command with options, which replace those that take one value.

    The --drop of a column that one of them names as the id or the group is removed, and the --id of
    one that is the group.
    Of such an option with two values none is added: each would settle one thing and bring another.
    """
    pairs = list(dict.fromkeys(options))
    flags = [flag for flag, _ in pairs]
    pairs = [one for one in pairs if one[0] in _SEVERAL or flags.count(one[0]) == 1]
    old = {flag for flag, _ in pairs} - _SEVERAL
    before = zip(["", *words], words, strict=False)
    kept = [w for last, w in before if last not in old and w.partition("=")[0] not in old]
    named = {part for flag, w in pairs if flag in old for part in (w, w.rpartition("=")[0])}
    drops = [k for k, two in enumerate(pairwise(kept)) if two[0] in _APART and two[1] in named]
    kept = [w for k, w in enumerate(kept) if k not in drops and k - 1 not in drops]
    return [*kept, *(word for pair in pairs for word in pair)]


def show_json(data: Any) -> None:
    """Print plain values as JSON; to a terminal in ASCII."""
    ascii_only = sys.stdout.isatty()
    click.echo(json.dumps(data, indent=1, ensure_ascii=ascii_only, allow_nan=False))


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Let warnings be sentences, without a path, in the block."""
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
    """Print a table; in a terminal that is too narrow for it, less of it, but no cell cut.

    Return the heads of the columns that were left out.

    Parameters
    ----------
    heads : sequence of str
        Of the columns; the first one names the rows.
    rows : sequence of sequences of str
    words : collection of str
        Heads of columns of words, on the left side; others are numbers, on the right.
    spare : sequence of str, default=()
        Heads of columns that are left out where there is no room, the first one first.
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
    # a line that is too long all the same wraps at the edge, with every letter
    shown.width = max(room, _width(cells, fold))
    shown.print(sheet)
    changes += [f"without {', '.join(absent)}"] * bool(absent)
    if changes:
        show(f"({'; '.join(changes)}: the terminal is narrow)")
    return absent


def _width(cells: Sequence[Sequence[str]], fold: str | None) -> int:
    """Return how wide a table is, its first row being the heads; a folded column may be narrow."""
    from rich.cells import cell_len

    columns = list(zip(*cells, strict=True))
    widths = [max(cell_len(one) for cell in c for one in cell.split("\n")) for c in columns]
    folded = [min(w, _FOLDED) if c[0] == fold else w for w, c in zip(widths, columns, strict=True)]
    return sum(folded) + 2 * (len(folded) - 1)


def show_summary(found: Any, *, budget: bool = False) -> None:
    """Print the figures of a comparison as a table, the most accurate model first.

    With `budget` also what each model used.
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
    """Print what the table of a comparison shows, and what its marks and columns mean."""
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
    """Return how many draws each model tried, and the seconds of all its searches and fits."""
    return {
        row["model"]: [str(row["draws"]), f"{row['search_seconds'] + row['fit_seconds']:.1f}"]
        for row in found.used
    }


_MARKS = ("*", "smallest", "not ranked")


def _marks(found: Any, summaries: list[Any], ranked: set[str]) -> dict[str, list[str]]:
    """Return the words beside each model's figures."""
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
    """Return the measures shown by name."""
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
    """Return whether answers were measured against the truth."""
    return about.get("partial") is None or bool(about["partial"]["truth"])


def partial_words(about: Any) -> list[str]:
    """Return what is to be known of a comparison on labels that are partly recorded."""
    from psephos.protocol.tables.labels import given_rows

    partial = about.get("partial")
    if partial is None:
        return []
    given, share = given_rows(one_class=partial["one_class"]), partial.get("prior")
    prior = "whatever the class prior" if share is None else f"the class prior being {share:g}"
    words = [
        f"models were fitted, and settings chosen (by PU-F), by recorded labels alone: "
        f"{sum(partial['recorded'])} cases have one, {partial['unlabelled']} have none. A record "
        f"of {partial['positive']!r} counts as right. Models that take no cases without a label "
        f"were given {given}.",
        "PU-F is the squared share of the cases recorded so that are answered so, over the share "
        "of cases without a label that are (half a case where none is); accuracy from, accuracy to "
        "are means over the folds of intervals, each of which holds with 95 % the accuracy on new "
        f"cases like those without a label, {prior}, if these are drawn at random from all cases "
        "and recorded ones from their class.",
    ]
    words += [partial["told"]] if partial.get("told") else []
    if partial.get("contradicted"):
        words.append(
            f"{partial['contradicted']} cases are recorded {partial['positive']!r} and truly are "
            "not."
        )
    if not partial["truth"]:
        words.append("no report: it sets answers against the true classes (--truth COLUMN).")
    return words


def label_words(about: Any) -> list[str]:
    """Return what is to be known of a comparison on several labels a case, in sentences."""
    alone, absent = about.get("one_a_label") or [], about.get("not_asked") or []
    words: list[str] = []
    if alone:
        words.append(f"{', '.join(alone)}: one model a label, which no model file holds.")
    if absent:
        words.append(
            f"{', '.join(absent)}: not compared by default where a case may have several labels, "
            "since each is as many fits as there are labels; name them with --models to have them."
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
        "fits failed, or the measure is not defined, in more folds than those of others: figures, "
        "if there are any, are means over the folds left, which are other cases",
    ),
    (
        "stability",
        "1 if the same columns are used in every fold, 0 if they are no more alike than by chance",
    ),
    ("columns, voters", "means over the folds; the refit on all rows, which is saved, has its own"),
)


def show_knees(found: Any) -> None:
    """Print the knee of each model's curve of accuracy against columns, if there are curves."""
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
            f"knee: the fewest columns, of those that the model ranks first, {near}; price: by how "
            f"much its fit on all it chose is better{interval} (curve.csv has every point)"
        )
    drawn = {point["model"] for point in points}
    absent = dict.fromkeys(row["model"] for row in found.curve if row["model"] not in drawn)
    if absent:
        show(f"no curve of {', '.join(absent)}: no fold has a value of the measure.")
    if failed := failed_words(points):
        first = next(row["error"] for row in found.curve if row["error"])
        show(f"{failed} The first reason, of those in curve.csv: {first}")


def show_bounds(rows: Any) -> None:
    """Print what can be proved of each model of a comparison, a line each."""
    from psephos.files.names import fixed

    known = {row["bound"] for row in rows}
    kinds = [kind for kind in ("hold-out, folds", "out of bag", "published") if kind in known]
    if not kinds:
        return
    reasons = {row["told"] for row in rows} if all(row["value"] is None for row in rows) else ()
    if len(reasons) == 1:
        show(f"what can be proved: no bound holds; {reasons.pop()}")
        return
    first, lines = "what can be proved", list[list[str]]()
    for model in dict.fromkeys(row["model"] for row in rows):
        own = {row["bound"]: row for row in rows if row["model"] == model}
        lines.append([model, *(_proved(own.get(kind)) for kind in kinds)])
    print_table([first, *kinds], lines, words=(first,), spare=("published", "out of bag"))
    show(
        "Each figure is a separate 95 % upper limit of the error: of the folds' models (hold-out, "
        "folds), or of the refit. Vacuous: nothing is proved, since always "
        f"predicting the most frequent class errs on {fixed(rows[0]['constant_error'])}. "
        "bounds.csv says what each assumes, and why one does not hold."
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
    """Return the sign, or letters for it where the terminal lacks it."""
    try:
        "±".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return "+-"
    return "±"


def _spread(
    spread: Any, digits: int, sign: str, text: Callable[[float, int], str] | None = None
) -> str:
    """Return mean ± standard deviation; of one value, which has none, the value."""
    from psephos.files.names import fixed

    write = text or fixed
    if not spread.n:
        return "-"
    mean = write(spread.mean, digits)
    return f"{mean}{sign}{write(spread.sd, digits)}" if spread.n > 1 else mean
