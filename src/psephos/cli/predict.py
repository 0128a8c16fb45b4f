"""psephos predict: the class and probabilities of each case."""

import math
from itertools import chain
from pathlib import Path
from typing import Any

import click

from psephos.cli.options import answer_options
from psephos.cli.words import say

_LIBRARY = ("n_models", "source", "search_error")
_MODELS = ("models_asked", "models_disagreeing", "rival")
_NEXT = ("next_column", "next_change")


@click.command(short_help="Write the class and probabilities of each row.")
@answer_options
@click.option(
    "--calibrated",
    is_flag=True,
    help="Answer through the map that the held-out answers of the comparison justify. A model that "
    "compare did not write has none, and is refused.",
)
@click.option(
    "--multiplicity",
    is_flag=True,
    help="Add how many of the equally good models of a library (swag) were asked, how many of "
    "these give another answer, and which.",
)
@click.option(
    "--next-column",
    is_flag=True,
    help="Add, where values are missing, the column whose value would move the answer most, and "
    "the mean change of the probabilities: 0.0 and no column where no value moves the answer.",
)
def predict(
    model: Path,
    table: Path,
    id_column: str | None,
    out: Path | None,
    spreadsheet_safe: bool,
    calibrated: bool,
    multiplicity: bool,
    next_column: bool,
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

    The last column, answered, is false where the class is a convention: every value that a voter
    with weight needs is missing, no voter has weight, or all classes tie (then it is the first).
    `psephos explain` names the values that such a case needs.
    """
    from psephos.cli.answering import Answering, refuse_overwriting, writer

    refuse_overwriting(out, model, table)
    answering = Answering(model, table, id_column, calibrated=calibrated, **form)
    if answering.recalibration is not None:
        words = answering.recalibration.words()
        say(f"Note: probabilities and answers are mapped by {words}.")
    more_heads = (*(_MODELS if multiplicity else ()), *(_NEXT if next_column else ()), "answered")
    with writer(out, spreadsheet_safe) as sheet:
        said = [f"given_{c}" for c in answering.classes] if answering.multilabel else ["predicted"]
        heads = ["id", *said, *(f"probability_{c}" for c in answering.classes)]
        sheet.writerow([*heads, *(_LIBRARY if answering.absent else ()), *more_heads])
        for ids, X in answering.blocks():
            answers, chances, answered = answering.answers(X)
            none: list[tuple[Any, ...]] = [()] * len(ids)
            usable = _usable(answering, X) if answering.absent else none
            models = answering.multiplicity(X) if multiplicity else none
            after = answering.next_columns(X) if next_column else none
            lines = zip(ids, answers, chances, answered, usable, models, after, strict=True)
            for name, answer, chance, last, *more in lines:
                said = answer.tolist() if answering.multilabel else [answer]
                sheet.writerow([name, *said, *map(repr, chance), *chain(*more), last])


def _usable(answering: Any, X: Any) -> list[tuple[Any, ...]]:
    """Return for each row how many models voted, their source, and their mean error."""
    found: dict[str, list[Any]] = answering.usable(X)
    errors = ["" if math.isnan(error) else repr(round(error, 12)) for error in found["error"]]
    return list(zip(found["n_models"], found["source"], errors, strict=True))
