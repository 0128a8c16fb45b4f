"""The version spaces of all concepts: the space, S, G, and the rows that were left out."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.models.concepts.concept import Concept
from psephos.vote.codec import register
from psephos.vote.part import Columns, check, named_of
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace


@register
@dataclass(frozen=True)
class VersionSpaces:
    """The version spaces of all concepts, and the rows that would have left one empty."""

    tag: ClassVar[str] = "concept memory"
    space: ConjunctiveSpace
    concepts: tuple[Concept, ...]  # of two classes that of the second, else one a class
    n_rows: int  # rows seen in all calls
    left_out: NDArray[Any]  # (c,); rows that were left out, counted over all calls, or their names
    left_out_of: NDArray[np.intp]  # (c,); the concept each was left out of
    # whether all columns are there that S tests: a reduced model may have lost some
    whole: bool = True

    def __post_init__(self) -> None:
        check(len(self.concepts) > 0, "there is no concept")
        widths = {len(concept.low) for concept in self.concepts}
        check(widths == {self.space.n_columns}, "concepts and their space differ in columns")
        check(self.left_out.shape == self.left_out_of.shape, "rows left out and their concepts")

    def told(self, names: Any, vote: Any) -> list[str]:
        """Return what `describe` adds to the vote in words: see `space_words`."""
        from psephos.models.concepts.wording import space_words

        return space_words(self, names, vote)

    def named_rows(self, names: NDArray[Any]) -> Self:
        """Return the same with names for the rows that were left out."""
        return replace(self, left_out=named_of(self.left_out, names))

    def select(self, columns: Columns) -> Self:
        """Return the same on the table reduced to `columns`."""
        kept = np.flatnonzero(np.isin(self.space.columns, columns))
        dropped = np.setdiff1d(np.arange(self.space.n_columns), kept)
        read = any(bool(c.empty or (c.low[dropped] >= 0).any()) for c in self.concepts)
        return replace(
            self,
            space=self.space.take(kept).select(columns),
            concepts=tuple(concept.take(kept) for concept in self.concepts),
            whole=self.whole and not (len(dropped) and read),
        )
