"""What `predict` and `explain` share: a model that asks only for the columns it reads."""

import csv
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.cli.columns import CaseTable, read_cases
from psephos.models import load

__all__ = ["Answering", "writer"]


class Answering:
    """A model file, opened and reduced to its columns, with the cases it is to answer.

    Parameters
    ----------
    model_path, table_path : Path
    id_column : str or None
        The column that names the cases; None counts the rows from 0.
    """

    def __init__(self, model_path: Path, table_path: Path, id_column: str | None) -> None:
        whole: Any = load(model_path)
        read: list[int] = whole.vote_.columns.tolist()
        self.model: Any = whole.reduce()
        schema = self.model.schema_
        # the columns are matched here, by name: the model itself then takes a plain array
        vars(self.model).pop("feature_names_in_", None)
        names = schema.words().columns if read else []
        levels = {names[j]: values for j, values in schema.levels.items()} if read else {}
        # a library may be asked with what was measured: its other models are silent
        self.absent = getattr(whole, "absent", None) == "vote"
        cases = read_cases(table_path, names, levels, id_column, absent=self.absent)
        self.ids = cases.ids
        self.X = _typed(cases, names, levels) if read else np.full((len(cases.ids), 1), np.nan)

    @property
    def classes(self) -> list[str]:
        """Return the class labels as words."""
        return [str(one) for one in self.model.classes_]

    def blocks(self, size: int = 512) -> Iterator[tuple[list[str], NDArray[Any]]]:
        """Yield (ids, X) of some rows at a time."""
        for start in range(0, len(self.ids), size):
            yield self.ids[start : start + size], self.X[start : start + size]


def _typed(cases: CaseTable, names: Sequence[str], levels: dict[str, Any]) -> NDArray[Any]:
    """Return the cases with categories written as the model's levels are: numbers or words."""
    for j, name in enumerate(names):
        if name in levels and cases.X.dtype == object:
            known = {str(level): level for level in levels[name]}
            known |= {_plain(level): level for level in levels[name]}
            # an unknown word stays: the model reads what it has not met as missing
            cases.X[:, j] = [known.get(value, value) for value in cases.X[:, j]]
    return cases.X


def _plain(level: Any) -> str:
    """Return a whole number without its '.0', as files write it."""
    return str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)


@contextmanager
def writer(out: Path | None) -> Iterator[Any]:
    """Yield a csv writer on a file (written whole or not at all) or on standard output."""
    if out is None:
        yield csv.writer(sys.stdout, lineterminator="\n")
        return
    draft = out.with_name(f".{out.name}.part")
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            yield csv.writer(file, lineterminator="\n")
        os.replace(draft, out)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
