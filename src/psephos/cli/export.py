"""psephos export: a model file as a program, plain JSON, SQL, ONNX or a printable sheet."""

import os
from pathlib import Path
from typing import Any

import click

from psephos.cli.options import IN_FILE, OUT_FILE
from psephos.cli.words import say, show


@click.command(short_help="Write a model for use without psephos.")
@click.argument("model", type=IN_FILE)
@click.option("--scorer", type=OUT_FILE, help="A program in one file, for predictions and ballots.")
@click.option("--plain", "plain_file", type=OUT_FILE, help="The model as documented JSON.")
@click.option(
    "--sql", "sql_file", type=OUT_FILE, help="One SELECT: stumps, trees, rules, linear models."
)
@click.option("--table", default="cases", show_default=True, help="For --sql: table of the cases.")
@click.option(
    "--id", "ids", multiple=True, metavar="COLUMN", help="For --sql: names the cases; repeatable."
)
@click.option(
    "--sheet", type=OUT_FILE, help="A page (HTML) to print and fill in, for stumps or rules."
)
@click.option(
    "--onnx", "onnx_file", type=OUT_FILE, help="The score in ONNX, float32 (extra 'onnx')."
)
@click.option(
    "--calibrated",
    is_flag=True,
    help="Write the model with the recalibration by its held-out predictions. A scorer always has "
    "it, and applies it with --calibrated.",
)
def export(
    model: Path,
    table: str,
    ids: tuple[str, ...],
    calibrated: bool,
    **files: Path | None,
) -> None:
    """Write MODEL in forms that can be used without psephos.

    A scorer needs only Python 3.11, and predicts and explains as psephos predict and explain do.
    Each form has only the columns that the model reads. All requested forms are tried; an error at
    the end lists those that the model does not support, and the exit code is 2.
    """
    from psephos._errors import PsephosError
    from psephos.files.atomic import write_whole
    from psephos.modelfile import load
    from psephos.recalibrating import recalibrated
    from psephos.vote.describing import kept_words, products_words

    fitted: Any = load(model)
    wanted = {name: path for name, path in files.items() if path is not None}
    if not wanted:
        raise PsephosError("nothing to write: give --scorer, --plain, --sql, --sheet or --onnx.")
    _refuse_overwriting(model, wanted)
    if ids and "sql_file" not in wanted:
        raise PsephosError("--id applies only to --sql: leave it out.")
    if calibrated:
        fitted = recalibrated(fitted)
    elif fitted.recalibration_ is not None and set(wanted) - {"scorer"}:
        say(
            "Note: the file has a recalibration by held-out predictions, which the output does not "
            "apply (as psephos predict without --calibrated). psephos export --calibrated does."
        )
    kept = kept_words(fitted.vote_)
    if kept:
        say(kept)
    products = products_words(fitted.vote_, fitted.schema_.words())
    if products and set(wanted) - {"scorer"}:
        say(f"Note: {products} A scorer computes products; all other forms read them as columns.")
    refused: list[str] = []
    for name, path in wanted.items():
        try:
            write_whole(path, _content(name, fitted, path, table, ids))
        except PsephosError as error:
            refused.append(f"--{name.removesuffix('_file')}: {error}")
        else:
            show(str(path))
    if refused:
        raise PsephosError(" ".join(refused))


def _refuse_overwriting(model: Path, wanted: dict[str, Path]) -> None:
    """Raise PsephosError if an output is the model file, or two outputs are the same file."""
    from psephos._errors import PsephosError

    taken: dict[str, str] = {}
    for name, path in wanted.items():
        flag, place = f"--{name.removesuffix('_file')}", os.path.realpath(path)
        if path.exists() and path.samefile(model):
            raise PsephosError(f"{str(path)!r} is the model file itself: give another.")
        if place in taken:
            raise PsephosError(
                f"{taken[place]} and {flag} both name {str(path)!r}: give two different files."
            )
        taken[place] = flag


def _content(name: str, fitted: Any, path: Path, table: str, ids: tuple[str, ...]) -> bytes:
    """Return the content of an exported form of a model."""
    if name == "scorer":
        from psephos.scoring.scorer import scorer

        return scorer(fitted, path.name).encode()
    if name == "plain_file":
        import json

        from psephos.scoring import conformance, plain

        content = {**plain(fitted), "vectors": conformance(fitted)}
        return (json.dumps(content, allow_nan=False, ensure_ascii=False) + "\n").encode()
    if name == "sql_file":
        from psephos.scoring.sql import sql

        return sql(fitted, table, ids).encode()
    if name == "sheet":
        from psephos.scoring.sheet import sheet

        return sheet(fitted).encode()
    from psephos.scoring.onnx import onnx_model

    return onnx_model(fitted)


@click.command(short_help="Verify a model file against the predictions stored in it.")
@click.argument("model", type=IN_FILE)
def check(model: Path) -> None:
    """Verify that MODEL predicts the generated rows in its file as when it was written.

    It compares scores, probabilities and predictions, the names of columns, categories and classes,
    and the ballots of one row. It prints the greatest difference of a score, and fails if that
    exceeds rounding errors, or anything else differs.
    """
    from psephos.modelfile import read

    found = read(model).check()
    rows = "1 generated row has" if found.rows == 1 else f"{found.rows} generated rows have"
    same = "" if found.note else "; names and ballots are the same"
    worst = f"the greatest difference is {found.worst:.1e}"
    show(f"{rows} the scores stored in the file; {worst}{same}.")
    if found.note:
        say(f"Note: {found.note}.")
