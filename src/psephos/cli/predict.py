"""psephos predict: the class and probabilities of each case."""

from pathlib import Path

import click

__all__ = ["predict"]


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--id", "id_column", metavar="COLUMN", help="Names the cases.  [default: row number]")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="[default: screen]")
def predict(model: Path, table: Path, id_column: str | None, out: Path | None) -> None:
    """Write the class and the probabilities that MODEL gives each row of TABLE, as csv.

    Columns are matched by name; only those the model reads are needed.
    """
    from psephos.cli.answering import Answering, writer

    answering = Answering(model, table, id_column)
    with writer(out) as sheet:
        sheet.writerow(["id", "predicted", *(f"probability_{c}" for c in answering.classes)])
        for ids, X in answering.blocks():
            told = answering.model.predict(X)
            chances = answering.model.predict_proba(X).tolist()
            for name, answer, chance in zip(ids, told, chances, strict=True):
                sheet.writerow([name, answer, *map(repr, chance)])
