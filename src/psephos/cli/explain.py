"""psephos explain: who voted for each answer."""

import json
from pathlib import Path
from typing import Any, cast

import click

from psephos.cli.options import answer_options
from psephos.cli.words import say

_WIDE = 50  # columns, of each of many neighbours
_CELL = 32_000  # characters; a spreadsheet takes 32,767
_ENTRIES = 256  # of a list that is cut


@click.command(short_help="Write who voted for the answer of each row.")
@answer_options
@click.option(
    "--details", "whole", is_flag=True,
    help="Write every cell whole. Without it lists in cells of more than 32,000 characters, which "
    "a spreadsheet would not open, are cut, and say how many entries they leave out.",
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

    A line holds why the voter says what it says to this case (the branch taken with the case's own
    values, the terms of a score, the training case it resembles; rounded for reading), its vote,
    its weight here, its contribution to the score, the columns it read, and the same reason as
    data with all digits, the terms that move the score most first; where weights keep training
    cases (SamBA, proset) also the nearest of them as lists of row, distance, share of the weight
    and class. Lists and data are JSON. Where training cases vote (ml-knn), the lines of a case are
    its neighbours; of several labels there is a contribution_LABEL for each, above 0 where the
    neighbour has the label. Columns and data are left empty there if the model reads more than 50
    columns, which is said, and written with --details. Notes on standard error name the cases
    without an answer (column answered of psephos predict) and the values that they need.
    """
    from psephos.cli.answering import Answering, refuse_overwriting, writer
    from psephos.vote.describing import answer_rule
    from psephos.vote.reading.answered import unanswered_notes

    refuse_overwriting(out, model, table)
    answering = Answering(model, table, id_column, **form)
    decides = getattr(answering.vote.target, "rule", str)()  # printed when the model was opened
    rule = answer_rule(answering.vote).removesuffix(decides).removesuffix(", ")
    if rule:
        say(f"Note: the answer to a case: {rule}.")
    for note in answering.returns:
        say(f"Note: {note}")
    with writer(out, spreadsheet_safe) as sheet:
        header: list[str] = []
        whys: list[tuple[str, str]] = []
        wide = answering.neighbours and answering.X.shape[1] > _WIDE and not whole
        if wide:
            say(
                f"Note: every neighbour is compared in all {answering.X.shape[1]} columns that the "
                "model reads: columns and details are left empty without --details."
            )
        for ids, X in answering.blocks(1) if answering.voters_differ else answering.blocks():
            found = answering.ballots(X)
            whys += zip(ids, found.unanswered, strict=True)
            ballots: dict[str, list[Any]] = found.columns()
            if wide:
                ballots |= {key: [""] * len(ballots[key]) for key in ("columns", "details")}
            if not header:
                header = list(ballots)
                sheet.writerow(header)
            voters = len(ballots["case"]) // len(ids)
            ballots["case"] = [name for name in ids for _ in range(voters)]
            for line in zip(*ballots.values(), strict=True):
                sheet.writerow(
                    [_cell(name, value, whole) for name, value in zip(header, line, strict=True)]
                )
    for note in unanswered_notes(whys):
        say(f"Note: {note}")


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
    """Return data whose lists are no longer than `most`, and say how many entries they lack."""
    if isinstance(data, list):
        entries = cast("list[Any]", data)
        more = len(entries) - most
        kept = [_cut(one, most) for one in entries[:most]]
        return kept + ([f"and {more} more"] if more > 0 else [])
    if isinstance(data, dict):
        return {key: _cut(one, most) for key, one in cast("dict[str, Any]", data).items()}
    return data
