"""psephos predict: the class and probabilities of each case."""

import math
from pathlib import Path
from typing import Any

import click

from psephos.cli.options import answer_options

__all__ = ["predict"]

_LIBRARY = ("n_models", "source", "search_error")


@click.command(short_help="Write the class and probabilities of each row.")
@answer_options
def predict(
    model: Path,
    table: Path,
    id_column: str | None,
    out: Path | None,
    spreadsheet_safe: bool,
    **form: Any,
) -> None:
    """Write the class and the probabilities that MODEL gives each row of TABLE, as csv.

    Of a regressor it is the number alone; of a model of several labels a case, given_LABEL is 1
    for each label that it gives, else 0. Columns are matched by name; only those the model reads
    are needed. A model fitted on a table without column names reads them by position. Cells are
    read as in the table the model was fitted on, unless an option says otherwise.

    A library that was fitted with absent=vote answers with the models that need only the columns
    there are: n_models says how many, source whether they were chosen to vote, and search_error
    how good they were in its search, which flatters them.
    """
    from psephos.cli.answering import Answering, refuse_overwriting, writer

    refuse_overwriting(out, model, table)
    answering = Answering(model, table, id_column, **form)
    with writer(out, spreadsheet_safe) as sheet:
        said = [f"given_{c}" for c in answering.classes] if answering.multilabel else ["predicted"]
        heads = ["id", *said, *(f"probability_{c}" for c in answering.classes)]
        sheet.writerow([*heads, *(_LIBRARY if answering.absent else ())])
        for ids, X in answering.blocks():
            answers, chances = answering.answers(X)
            usable = _usable(answering, X) if answering.absent else [()] * len(ids)
            for name, answer, chance, more in zip(ids, answers, chances, usable, strict=True):
                said = answer.tolist() if answering.multilabel else [answer]
                sheet.writerow([name, *said, *map(repr, chance), *more])


def _usable(answering: Any, X: Any) -> list[tuple[Any, ...]]:
    """Return for each row how many models voted, their source, and their mean error."""
    found: dict[str, list[Any]] = answering.usable(X)
    errors = ["" if math.isnan(error) else repr(error) for error in found["error"]]
    return list(zip(found["n_models"], found["source"], errors, strict=True))
