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
    help="Apply the recalibration by the held-out predictions of the comparison. Only models that "
    "compare wrote have one.",
)
@click.option(
    "--multiplicity",
    is_flag=True,
    help="Add how many of the equally good models of a library (swag) voted, how many of these "
    "predict another class, and which.",
)
@click.option(
    "--next-column",
    is_flag=True,
    help="Add, if values are missing, the column whose value would change the prediction most, and "
    "the mean change of the probabilities, or of the number (0.0 and no column if none would).",
)
@click.option(
    "--quantile",
    "quantiles",
    multiple=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="Q",
    help="A quantile of the predicted distribution (proset-regressor), by its probability; "
    "repeatable.  [default: 0.05 and 0.95]",
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
    """Write the class and the probabilities that MODEL predicts for each row of TABLE, as csv.

    A regressor writes the number, with standard deviation and quantiles if it predicts a
    distribution. A model of several labels per case writes given_LABEL, 1 for each predicted label,
    else 0. Columns are matched by name; only those that the model reads are needed. A model fitted
    on a table without column names reads them by position. Cells are read as in the training table,
    unless an option changes that.

    A library that was fitted with absent=vote predicts by the models whose columns are all present:
    n_models is their number, source whether they were chosen to vote, and search_error their error
    in the search, which is too optimistic.

    The last column, answered, is false if the class is only a convention: every value that a voter
    with weight needs is missing, no voter has weight, or all classes tie (then it is the first).
    `psephos explain` names the values that such a case needs.
    """
    from psephos.cli.answering import Answering, refuse_overwriting, writer
    from psephos.vote.reading.answered import unanswered_cases

    refuse_overwriting(out, model, table)
    answering = Answering(model, table, id_column, calibrated=calibrated, **form)
    if answering.recalibration is not None:
        words = answering.recalibration.words()
        say(f"Note: probabilities and predictions are mapped by {words}.")
    if multiplicity:
        answering.multiplicity(answering.X[:1])  # raises before a line is written
    quantiles = tuple(dict.fromkeys(quantiles)) or (_USUAL if answering.vote.has_densities else ())
    if quantiles and not answering.vote.has_densities:
        raise PsephosError(
            "--quantile: this model predicts no distribution (proset-regressor does)."
        )
    spread = ("standard_deviation", *(f"quantile_{q}" for q in quantiles)) if quantiles else ()
    more_heads = (*(_MODELS if multiplicity else ()), *(_NEXT if next_column else ()), "answered")
    named, has = list[str](), list[str]()
    with writer(out, spreadsheet_safe) as sheet:
        classes, several = answering.classes, answering.multilabel
        heads = ["id", *([f"given_{c}" for c in classes] if several else ["predicted"])]
        heads += [f"probability_{c}" for c in classes]
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
                own = answer.tolist() if several else [answer]
                sheet.writerow([name, *own, *map(repr, chance), *chain(*more), last])
    for note in unanswered_cases(named, has):
        say(f"Note: {note}")


def _usable(answering: Any, X: Any) -> list[tuple[Any, ...]]:
    """Return for each row how many models voted, their source, and their mean error."""
    found: dict[str, list[Any]] = answering.usable(X)
    errors = ["" if math.isnan(error) else repr(round(error, 12)) for error in found["error"]]
    return list(zip(found["n_models"], found["source"], errors, strict=True))
