"""psephos explain: the ballots of each case."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from psephos.cli.options import answer_options
from psephos.cli.words import say, show

if TYPE_CHECKING:
    from psephos.cli.answering import Answering

_WIDE = 50  # columns that are written for each of many neighbours
_CELL = 32_000  # characters; a spreadsheet takes 32,767
_ENTRIES = 256  # of a list that is cut


@click.command(short_help="Write the votes for the prediction of each row.")
@answer_options
@click.option(
    "--details", "whole", is_flag=True,
    help="Write all cells completely. By default lists in cells of more than 32,000 characters, "
    "which spreadsheets cannot open, are cut, with the number of omitted entries.",
)  # fmt: skip
def explain(
    model: Path,
    table: Path,
    id_column: str | None,
    out: Path | None,
    whole: bool,
    spreadsheet_safe: bool,
    **form: Any,
) -> None:
    """Write the ballots of each row of TABLE, as csv: one line per case and voter.

    On a terminal they are printed for reading, under the prediction of each case; with --out,
    --details or --spreadsheet-safe, or if the output is redirected, they are csv. A line has the
    reason of the vote for this case (the branch with the case's values, the terms of a score, the
    training case it resembles; rounded for reading), the vote, its weight for the case, its
    contribution to the score, the columns it read, and the reason as data with all digits, with the
    largest terms first. If weights keep training cases (SamBA, proset), it also has the nearest of
    them as lists of row, distance, share of the weight and class. Lists and data are JSON. If
    training cases vote (ml-knn), the lines of a case are its neighbours; for several labels there
    is a contribution_LABEL for each, above 0 if the neighbour has the label. If such a model reads
    more than 50 columns, columns and data are written only with --details (a note says so). Notes
    on standard error name the cases without an answer (column answered of psephos predict) and the
    values that they need.
    """
    from psephos.cli.answering import Answering, refuse_overwriting
    from psephos.vote.describing import answer_rule
    from psephos.vote.reading.answered import unanswered_notes

    refuse_overwriting(out, model, table)
    answering = Answering(model, table, id_column, **form)
    decides = getattr(answering.vote.target, "rule", str)()  # already printed
    rule = answer_rule(answering.vote).removesuffix(decides).removesuffix(", ")
    if rule:
        say(f"Note: the prediction of a case: {rule}.")
    for note in answering.returns:
        say(f"Note: {note}")
    if out is None and sys.stdout.isatty() and not (whole or spreadsheet_safe):
        whys = _shown(answering)
    else:
        whys = _written(answering, out, safe=spreadsheet_safe, whole=whole)
    for note in unanswered_notes(whys):
        say(f"Note: {note}")


def _shown(answering: "Answering") -> list[tuple[str, str]]:
    """Print the ballots of each case for reading; return which cases have no answer, and why."""
    whys: list[tuple[str, str]] = []
    for found in answering.ballots():
        show(f"{found}\n")
        whys += zip(found.case_ids, found.unanswered, strict=True)
    return whys


def _written(
    answering: "Answering", out: Path | None, *, safe: bool, whole: bool
) -> list[tuple[str, str]]:
    """Write the ballots as csv; return which cases have no answer, and why."""
    from psephos.cli.answering import writer

    with writer(out, safe) as sheet:
        header: list[str] = []
        whys: list[tuple[str, str]] = []
        wide = answering.neighbours and answering.X.shape[1] > _WIDE and not whole
        if wide:
            say(
                f"Note: every neighbour is compared in all {answering.X.shape[1]} columns that the "
                "model reads: columns and details are left empty without --details."
            )
        for found in answering.ballots():
            whys += zip(found.case_ids, found.unanswered, strict=True)
            ballots: dict[str, list[Any]] = found.columns()
            if wide:
                ballots |= {key: [""] * len(ballots[key]) for key in ("columns", "details")}
            if not header:
                header = list(ballots)
                sheet.writerow(header)
            for line in zip(*ballots.values(), strict=True):
                sheet.writerow(
                    [_cell(name, value, whole) for name, value in zip(header, line, strict=True)]
                )
    return whys


def _cell(name: str, value: Any, whole: bool) -> Any:
    if isinstance(value, float):
        return repr(value)
    written = json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value
    if whole or not isinstance(written, str) or len(written) <= _CELL:
        return written
    if not isinstance(value, tuple) and name != "details":
        return written
    data, most = json.loads(written), _ENTRIES
    while len(written) > _CELL and most:
        written = json.dumps(_cut(data, most), ensure_ascii=False)
        most //= 2
    return written


def _cut(data: Any, most: int) -> Any:
    """Return data with lists cut after `most` entries, and the number of omitted ones."""
    if isinstance(data, list):
        entries = cast("list[Any]", data)
        more = len(entries) - most
        kept = [_cut(one, most) for one in entries[:most]]
        return kept + ([f"and {more} more"] if more > 0 else [])
    if isinstance(data, dict):
        return {key: _cut(one, most) for key, one in cast("dict[str, Any]", data).items()}
    return data
