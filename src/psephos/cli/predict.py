"""psephos predict: the class and probabilities of each case."""

import math
from itertools import chain
from pathlib import Path
from typing import Any

import click

from psephos._errors import PsephosError
from psephos.cli.options import answer_options
from psephos.cli.words import say

_LIBRARY = ("n_models", "source", "search_error")
_MODELS = ("models_asked", "models_disagreeing", "rival")
_USUAL = (0.05, 0.95)  # an interval of 90 %
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
    "the mean change of the probabilities, or the number: 0.0 and no column where no value does.",
)
@click.option(
    "--quantile",
    "quantiles",
    multiple=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="Q",
    help="Of a number whose distribution is predicted (proset-regressor): what it is below with "
    "this probability; repeatable.  [default: 0.05 and 0.95]",
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
    quantiles: tuple[float, ...],
    **form: Any,
) -> None:
    """Write the class and the probabilities that MODEL gives each row of TABLE, as csv.

    Of a regressor it is the number alone, or with the standard deviation and quantiles of its
    distribution if it predicts one; of a model of several labels a case, given_LABEL is 1 for each
    label that it gives, else 0. Columns are matched by name; only those the model reads
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
    from psephos.vote.reading.answered import unanswered_cases

    refuse_overwriting(out, model, table)
    answering = Answering(model, table, id_column, calibrated=calibrated, **form)
    if answering.recalibration is not None:
        words = answering.recalibration.words()
        say(f"Note: probabilities and answers are mapped by {words}.")
    if multiplicity:
        answering.multiplicity(answering.X[:1])  # refused before a line is written
    quantiles = tuple(dict.fromkeys(quantiles)) or (_USUAL if answering.vote.has_densities else ())
    if quantiles and not answering.vote.has_densities:
        raise PsephosError(
            "--quantile: this model predicts no distribution (proset-regressor does)."
        )
    spread = ("standard_deviation", *(f"quantile_{q}" for q in quantiles)) if quantiles else ()
    more_heads = (*(_MODELS if multiplicity else ()), *(_NEXT if next_column else ()), "answered")
    named, has = list[str](), list[str]()
    with writer(out, spreadsheet_safe) as sheet:
        said = [f"given_{c}" for c in answering.classes] if answering.multilabel else ["predicted"]
        heads = ["id", *said, *(f"probability_{c}" for c in answering.classes)]
        sheet.writerow([*heads, *spread, *(_LIBRARY if answering.absent else ()), *more_heads])
        for ids, X in answering.blocks():
            answers, chances, answered = answering.answers(X)
            named += ids
            has += answered
            none: list[tuple[Any, ...]] = [()] * len(ids)
            around = answering.spread(X, quantiles) if quantiles else none
            usable = _usable(answering, X) if answering.absent else none
            models = answering.multiplicity(X) if multiplicity else none
            after = answering.next_columns(X) if next_column else none
            lines = zip(ids, answers, chances, answered, around, usable, models, after, strict=True)
            for name, answer, chance, last, *more in lines:
                said = answer.tolist() if answering.multilabel else [answer]
                sheet.writerow([name, *said, *map(repr, chance), *chain(*more), last])
    for note in unanswered_cases(named, has):
        say(f"Note: {note}")


def _usable(answering: Any, X: Any) -> list[tuple[Any, ...]]:
    """Return for each row how many models voted, their source, and their mean error."""
    found: dict[str, list[Any]] = answering.usable(X)
    errors = ["" if math.isnan(error) else repr(round(error, 12)) for error in found["error"]]
    return list(zip(found["n_models"], found["source"], errors, strict=True))
