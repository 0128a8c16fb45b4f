"""Base classes of parts that delegate to the operation they lower to, and of some operations."""

# pyright: reportMissingTypeStubs=false

from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.trees.tree import Tree
from psephos.vote.part import Breakpoints, ShownTree, Voters, Weighting
from psephos.vote.reading.core import unpacked
from psephos.vote.reasons import Reason


class LoweredOnce:
    """Mixin: parts that cache the operation they lower to, which files and pickles leave out."""

    @cached_property
    def _operation(self) -> Any:
        raise NotImplementedError

    def lowered(self) -> Any:
        """Return the operation of `psephos.vote.operations` with the same results."""
        return self._operation

    def usage(self) -> Any:
        """Return the (T, p) table of the columns that each voter reads."""
        return self.lowered().usage()

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): the sizes divided among the columns."""
        return self.lowered().divided(X, size, centre)

    def marks(self) -> Breakpoints:
        """Return (columns, values): the breakpoints of answers."""
        return self.lowered().marks()

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields only: values derived from them are computed again."""
        own: Any = self
        return {field.name: getattr(self, field.name) for field in fields(own)}


class ReadAsLowered(LoweredOnce, Voters):
    """Voters whose votes, words, reasons and attribution are those of the operation they lower to.

    A subclass defines `lowered` (or `_operation`, which is cached), `n_voters` and `take`, and
    `select` and `columns` if its other base class does not.
    """

    def votes(self, X: Floats) -> Floats:
        """Return the (n, T, K) votes."""
        return self.lowered().votes(X)

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the voter in words."""
        return self.lowered().rule(voter, names, levels)

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason of each vote, for each row."""
        return self.lowered().reasons(X)

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        """Return a voter's possible votes."""
        return self.lowered().sides(voter)

    def n_trees(self, voter: int) -> int:
        """Return the number of trees of a voter."""
        return self.lowered().n_trees(voter)

    def shown_tree(self, voter: int, tree: int) -> ShownTree:
        """Return a tree of a voter, to be drawn."""
        return self.lowered().shown_tree(voter, tree)

    def tree(self, voter: int) -> Tree | None:
        """Return the tree of a voter that is one tree, to be printed."""
        return self.lowered().tree(voter)


class WeighedAsLowered(LoweredOnce, Weighting):
    """Weights that are those of the operation they lower to; see `ReadAsLowered`."""

    def weights(self, X: Floats) -> Floats:
        """Return the raw (n, T) weights."""
        relative, log_scale = self.relative(X)
        with np.errstate(over="ignore"):
            return relative if log_scale is None else relative * np.exp(log_scale)[:, None]

    def relative(self, X: Floats) -> tuple[Floats, Floats | None]:
        """Return (w, log_scale): the raw weights are exp(log_scale) times w."""
        return self.lowered().relative(X)

    def of_votes(self, votes: Floats, target: Any) -> Floats:
        """Return the weights of votes, for a class whose `needs_votes` is True."""
        return self.lowered().of_votes(votes, target)

    def asks(self, usage: Any) -> Any:
        """Return the (T, p) table of the columns that weights by `of_votes` depend on."""
        return self.lowered().asks(usage)

    def fits(self, target: Any, is_sum: bool) -> str:
        """Return why a vote cannot have these weights."""
        return self.lowered().fits(target, is_sum)

    def mean_share(self) -> Floats:
        """Return each voter's mean share of the weight."""
        return self.lowered().mean_share()

    def words(self) -> str:
        """Return a short description of the weights."""
        return self.lowered().words()

    def primary_voters(self) -> Indices:
        """Return the voters that may have weight on a complete case."""
        return self.lowered().primary_voters()

    def reserve(self) -> NDArray[np.bool_]:
        """Return the mask of voters that have weight only where values are missing."""
        return self.lowered().reserve()

    def available(self, X: Floats) -> NDArray[np.bool_] | None:
        """Return the mask of library models whose columns all have a value."""
        return self.lowered().available(X)

    def similarities(self, X: Floats) -> Floats | None:
        """Return the similarity of each row to each voter that is a training case."""
        return self.lowered().similarities(X)

    def nearest(self, voters: Any, target: Any, X: Floats, k: int) -> Any:
        """Return the training cases of greatest weight."""
        return self.lowered().nearest(voters, target, X, k)


class RowByRow(Voters):
    """Operations whose reasons are computed row by row, by the code that scorers also use."""

    reader: ClassVar[type[Any]]  # in psephos.vote.reading

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason of each vote, for each row."""
        rows = zip(X.tolist(), self.votes(X).tolist(), strict=True)
        return [self._reader.reasons(x, votes) for x, votes in rows]

    @cached_property
    def _reader(self) -> Any:
        from psephos.vote.plain import to_plain

        return self.reader(unpacked(to_plain(self)))
