"""The version space of one concept: its most specific and most general hypotheses."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.vote.codec import register
from psephos.vote.part import check
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses

_Codes = NDArray[np.int32]


@register
@dataclass(frozen=True)
class Concept:
    """The version space of one concept: S, G, and the negatives that determine G.

    With conjunctions the most specific consistent hypothesis is unique, so S is one. The version
    space is all h with S <= h that hold for none of the negatives, whether or not G is kept.
    """

    tag: ClassVar[str] = "concept"
    # `low`, `high`: (q,) int32; S; not used while it is empty
    low: _Codes
    high: _Codes
    empty: bool  # whether no positive row has been seen: S is the empty hypothesis
    negatives: _Codes  # (m, q) int32; codes of the negative rows
    # `general_low`, `general_high`: (g, q) int32; G; no rows if it is not kept, or if only the
    # empty hypothesis is left
    general_low: _Codes
    general_high: _Codes
    general_kept: bool  # whether G has stayed within its maximum size

    def __post_init__(self) -> None:
        q = len(self.low)
        check(self.low.shape == self.high.shape == (q,), "S must be a row of codes")
        check(self.negatives.shape[1:] == (q,), "negatives and columns differ")
        check(self.general_low.shape == self.general_high.shape, "G has other columns")
        check(self.general_low.shape[1:] == (q,), "G and S differ in columns")

    @classmethod
    def start(cls, space: ConjunctiveSpace) -> Self:
        """Return the version space before any row: S is empty, G has no tests."""
        none = np.empty((0, space.n_columns), dtype=np.int32)
        top = space.anything()
        return cls(top.low[0], top.high[0], True, none, top.low, top.high, True)

    @property
    def specific(self) -> Hypotheses:
        """Return S."""
        return Hypotheses(self.low[None], self.high[None], np.array([self.empty]))

    @property
    def general(self) -> Hypotheses:
        """Return G; empty if it is not kept, or if only the empty hypothesis is left."""
        none = np.zeros(len(self.general_low), dtype=np.bool_)
        return Hypotheses(self.general_low, self.general_high, none)

    def with_positive(self, space: ConjunctiveSpace, code: _Codes) -> "Concept | None":
        """Return the version space after a positive row; None if it becomes empty.

        S becomes the least general hypothesis above it that holds for the row; hypotheses of G that
        do not hold for the row are removed.
        """
        if self.specific.holds(code[None])[0, 0]:
            return self
        joined = space.joined(self.specific, code[None])
        if joined.holds(self.negatives).any():
            return None
        kept = np.flatnonzero(self.general.holds(code[None])[0])
        return replace(
            self,
            low=joined.low[0],
            high=joined.high[0],
            empty=False,
            general_low=self.general_low[kept],
            general_high=self.general_high[kept],
        )

    def with_negative(
        self, space: ConjunctiveSpace, code: _Codes, max_boundary: int
    ) -> "Concept | None":
        """Return the version space after a negative row; None if it becomes empty.

        Each hypothesis of G that holds for the row is replaced by its most general specialisations
        that do not and are above S; of all these, the most general ones are kept.
        """
        if self.specific.holds(code[None])[0, 0]:
            return None
        if self.general_kept and not self.general.holds(code[None]).any():
            return self  # no hypothesis below G holds for it
        negatives = np.vstack([self.negatives, code[None]])
        if not self.general_kept:
            return replace(self, negatives=negatives)
        low, high, kept = self._specialised(space, code, max_boundary)
        return replace(
            self, negatives=negatives, general_low=low, general_high=high, general_kept=kept
        )

    def _specialised(
        self, space: ConjunctiveSpace, code: _Codes, max_boundary: int
    ) -> tuple[_Codes, _Codes, bool]:
        """Return G after a negative row, and whether it is within its maximum size."""
        holds = self.general.holds(code[None])[0]
        rest = self.general.take(np.flatnonzero(~holds))
        new = [rest]
        for g in np.flatnonzero(holds):
            below = space.below(self.general.take(np.array([g])), code)
            above = below.covers(self.specific)[:, 0]
            new.append(below.take(np.flatnonzero(above)))
            if sum(len(one.low) for one in new) > 4 * max_boundary:
                break
        found = Hypotheses(*(np.concatenate(parts) for parts in zip(*new, strict=True)))
        if len(found.low) <= 4 * max_boundary:
            found = _most_general(found)
        if len(found.low) <= max_boundary:
            return found.low, found.high, True
        none = np.empty((0, space.n_columns), dtype=np.int32)
        return none, none, False

    def take(self, which: NDArray[np.intp]) -> Self:
        """Return the version space on these columns only, by index in the space."""
        return replace(
            self,
            low=self.low[which],
            high=self.high[which],
            negatives=np.ascontiguousarray(self.negatives[:, which]),
            general_low=np.ascontiguousarray(self.general_low[:, which]),
            general_high=np.ascontiguousarray(self.general_high[:, which]),
        )


def _most_general(found: Hypotheses) -> Hypotheses:
    """Return the maximal hypotheses, each once."""
    both = np.unique(np.hstack([found.low, found.high]), axis=0)
    low, high = (np.ascontiguousarray(a) for a in np.split(both, 2, axis=1))
    alone = Hypotheses(low, high, np.zeros(len(low), dtype=np.bool_))
    # a hypothesis above another is wider, so it comes before it or in the same block
    widest = np.argsort(-(high - low).sum(axis=1), kind="stable")
    kept = np.empty(0, dtype=np.intp)
    for part in np.array_split(widest, 1 + len(widest) // 256):
        few = alone.take(part)
        beside = few.covers(few) & ~np.eye(len(part), dtype=np.bool_)
        below = beside.any(axis=0) | alone.take(kept).covers(few).any(axis=0)
        kept = np.concatenate([kept, part[~below]])
    return alone.take(np.sort(kept))
