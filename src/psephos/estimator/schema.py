"""The columns of a training table: names, categories, and how later tables are matched."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.files.cells import Cells
from psephos.files.names import Names

_Value = TypeVar("_Value")
_called: ContextVar[Sequence[str]] = ContextVar("_called", default=())


@contextmanager
def setting(variable: ContextVar[_Value], value: _Value) -> Generator[None]:
    """Within the block let a variable of the context have this value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def naming_columns(names: Sequence[str]) -> AbstractContextManager[None]:
    """Within the block use these names for tables without names of the same width."""
    return setting(_called, names)


@dataclass(frozen=True)
class Schema:
    """The columns of the training table."""

    n_features: int
    names: tuple[str, ...] | None = None  # column names, if the table had them
    # The categories of each categorical column; the code of a value is its index in the tuple. A
    # value that is not among them is read as missing.
    levels: Mapping[int, tuple[Any, ...]] = field(default_factory=dict[int, tuple[Any, ...]])
    # Columns whose type declares their categories, which may have no rows. The categories of the
    # others are the values in the training table. Empty after a model was loaded.
    declared: frozenset[int] = field(default=frozenset(), compare=False)
    # how the cells of the training file were written, for predicting from another file
    cells: Cells = field(default_factory=Cells, compare=False)
    # whether columns of a frame are found by name, in any order and among others
    by_name: bool = field(default=False, compare=False)
    # whether the names stand for numbers or tuples: scikit-learn's attribute is then not set
    spelt: bool = field(default=False, compare=False)
    # Without names: the positions of the columns in the training table. None: 0, 1, ...; empty if a
    # file of an older version does not have them.
    places: tuple[int, ...] | None = field(default=None, compare=False)

    @property
    def known(self) -> tuple[str, ...]:
        """Return the names of the columns in later tables: their names, or their positions."""
        if self.names is not None:
            return self.names
        return tuple(map(str, range(self.n_features) if self.places is None else self.places))

    def name_columns(self, model: Any) -> Self:
        """Set scikit-learn's n_features_in_, and feature_names_in_ if the names are strings."""
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
                    f"{parameter} must have one value per column, {p}, if it is a mask; got "
                    f"{listed.size}."
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
        """Return the names for output; unnamed columns are called 'column j'."""
        called = self.names or _called.get()
        if len(called) != self.n_features:
            called = tuple(f"column {j}" for j in range(self.n_features))
        return Names(list(called), {j: [str(v) for v in vs] for j, vs in self.levels.items()})

    def select(self, columns: NDArray[np.intp]) -> "Schema":
        """Return the schema of the table reduced to `columns`, which are found by name if named."""
        kept = [int(j) for j in columns]
        names = tuple(self.names[j] for j in kept) if self.names else None
        levels = {i: self.levels[j] for i, j in enumerate(kept) if j in self.levels}
        places = kept if self.places is None else [self.places[j] for j in kept if self.places]
        return Schema(
            len(kept), names, levels, cells=self.cells, by_name=names is not None,
            spelt=self.spelt, places=None if names else tuple(places),
        )  # fmt: skip
