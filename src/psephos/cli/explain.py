"""psephos explain: who voted for each answer."""

import json
from pathlib import Path
from typing import Any

import click

from psephos.cli.options import answer_options

__all__ = ["explain"]

_WIDE = 50  # columns, of each of many neighbours


@click.command(short_help="Write who voted for the answer of each row.")
@answer_options
def explain(
    model: Path,
    table: Path,
    id_column: str | None,
    out: Path | None,
    spreadsheet_safe: bool,
    **form: Any,
) -> None:
    """Write the ballots of each row of TABLE, as csv: one line per case and voter.

    A line holds why the voter says what it says to this case (the branch taken with the case's own
    values, the terms of a score, the training case it resembles; rounded for reading), its vote,
    its weight here, its contribution to the score, the columns it read, and the same reason as
    data with all digits; where weights keep training cases (SamBA, proset) also the nearest of
    them as lists of row, distance, share of the weight and class. Lists and data are JSON. Where
    training cases vote (ml-knn), the lines of a case are its neighbours; of several labels there is
    a contribution_LABEL for each, above 0 where the neighbour has the label. Columns and data are
    left empty there if the model reads more than 50 columns, which is said.
    """
    from psephos.cli.answering import Answering, refuse_overwriting, writer
    from psephos.vote.answering import answer_rule

    refuse_overwriting(out, model, table)
    answering = Answering(model, table, id_column, **form)
    rule = answer_rule(answering.vote)
    if rule:
        click.echo(f"Note: the answer to a case: {rule}.", err=True)
    with writer(out, spreadsheet_safe) as sheet:
        header: list[str] = []
        wide = answering.neighbours and answering.X.shape[1] > _WIDE
        if wide:
            click.echo(
                f"Note: every neighbour is compared in all {answering.X.shape[1]} columns that the "
                "model reads: columns and details are left empty; in Python explain(X) has them.",
                err=True,
            )
        # each case has neighbours of its own
        for ids, X in answering.blocks(1) if answering.neighbours else answering.blocks():
            ballots: dict[str, list[Any]] = answering.ballots(X).columns()
            if wide:
                ballots |= {key: [""] * len(ballots[key]) for key in ("columns", "details")}
            if not header:
                header = list(ballots)
                sheet.writerow(header)
            voters = len(ballots["case"]) // len(ids)
            ballots["case"] = [name for name in ids for _ in range(voters)]
            for line in zip(*ballots.values(), strict=True):
                sheet.writerow([_cell(value) for value in line])


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, float) else value
