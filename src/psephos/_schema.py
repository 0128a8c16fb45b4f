"""What the columns of a training table were: names, categories, and how they are found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._files.cells import Cells
from psephos.vote.names import Names


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

    def words(self) -> Names:
        """Return the words for ballots; unnamed columns are called 'column j'."""
        names = self.names or tuple(f"column {j}" for j in range(self.n_features))
        return Names(list(names), {j: [str(v) for v in vs] for j, vs in self.levels.items()})

    def select(self, columns: NDArray[np.intp]) -> "Schema":
        """Return the schema of the table reduced to `columns`, found by name if they have names."""
        kept = [int(j) for j in columns]
        names = tuple(self.names[j] for j in kept) if self.names else None
        levels = {i: self.levels[j] for i, j in enumerate(kept) if j in self.levels}
        return Schema(len(kept), names, levels, cells=self.cells, by_name=names is not None)
