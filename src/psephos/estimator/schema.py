"""What the columns of a training table were: names, categories, and how they are found."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.files.cells import Cells
from psephos.files.names import Names

_called: ContextVar[Sequence[str]] = ContextVar("_called", default=())


@contextmanager
def naming_columns(names: Sequence[str]) -> Generator[None]:
    """Call the columns of a table without names, as wide as these are many, by these within."""
    token = _called.set(names)
    try:
        yield
    finally:
        _called.reset(token)


@dataclass(frozen=True)
class Schema:
    """What the columns of the training table were."""

    n_features: int
    names: tuple[str, ...] | None = None  # column names, if the table had them
    # The categories of each categorical column; the code of a value is its place in the tuple. A
    # value that is not among them is read as missing.
    levels: Mapping[int, tuple[Any, ...]] = field(default_factory=dict[int, tuple[Any, ...]])
    # Columns whose type says what their categories are: those may be without rows. Of the others
    # the categories are what the table of training holds. Not known after a model was loaded.
    declared: frozenset[int] = field(default=frozenset(), compare=False)
    # how the cells of the file of training were written, for those who ask with another file
    cells: Cells = field(default_factory=Cells, compare=False)
    # whether columns of a frame are found by name, in any order and among others
    by_name: bool = field(default=False, compare=False)
    # whether the names are words for numbers or tuples: scikit-learn then knows of no names
    spelt: bool = field(default=False, compare=False)
    # Without names: where the columns were in the table that was fitted. None: at 0, 1, ...; none
    # at all where a file of an older version does not say so.
    places: tuple[int, ...] | None = field(default=None, compare=False)

    @property
    def known(self) -> tuple[str, ...]:
        """Return what a later table may call the columns: their names, or where they were."""
        if self.names is not None:
            return self.names
        return tuple(map(str, range(self.n_features) if self.places is None else self.places))

    def name_columns(self, model: Any) -> Self:
        """Set what scikit-learn keeps of columns: n_features_in_, and their names if strings."""
        model.n_features_in_ = self.n_features
        if self.names is not None and not self.spelt:
            model.feature_names_in_ = np.asarray(self.names, dtype=object)
        return self

    def columns_of(self, given: Any, parameter: str) -> list[int]:
        """Return the sorted columns that a parameter lists by name or position, or masks."""
        listed, p = np.asarray(given), self.n_features
        values: list[Any] = listed.tolist()
        if listed.dtype.kind == "b":
            if listed.shape != (p,):
                raise PsephosError(
                    f"{parameter} is a mask of {listed.size} values for {p} columns: give one "
                    "value per column."
                )
            return np.flatnonzero(listed).tolist()
        if listed.dtype.kind in "iu":
            outside = [j for j in values if not 0 <= j < p]
            if outside:
                raise PsephosError(
                    f"{parameter} names column {outside[0]}, but the table has {p} columns."
                )
            return sorted(set(values))
        where = {name: j for j, name in enumerate(self.names or ())}
        unknown = [str(name) for name in values if str(name) not in where]
        if unknown:
            raise PsephosError(
                f"{parameter} names {unknown[0]!r}, which is not a column of the table."
            )
        return sorted({where[str(name)] for name in values})

    def words(self) -> Names:
        """Return the words for ballots; unnamed columns are called 'column j'."""
        called = self.names or _called.get()
        if len(called) != self.n_features:
            called = tuple(f"column {j}" for j in range(self.n_features))
        return Names(list(called), {j: [str(v) for v in vs] for j, vs in self.levels.items()})

    def select(self, columns: NDArray[np.intp]) -> "Schema":
        """Return the schema of the table reduced to `columns`, found by name if they have names."""
        kept = [int(j) for j in columns]
        names = tuple(self.names[j] for j in kept) if self.names else None
        levels = {i: self.levels[j] for i, j in enumerate(kept) if j in self.levels}
        places = kept if self.places is None else [self.places[j] for j in kept if self.places]
        return Schema(
            len(kept), names, levels, cells=self.cells, by_name=names is not None,
            spelt=self.spelt, places=None if names else tuple(places),
        )  # fmt: skip
