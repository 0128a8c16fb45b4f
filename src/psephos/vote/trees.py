"""Trees as voters, in flat arrays."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.vote_sums import leaf_of_rows
from psephos.vote.codec import register
from psephos.vote.part import Columns, check, check_columns, positions, usage_table

__all__ = ["TreeVoters"]

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class TreeVoters:
    """Binary trees in flat arrays; each votes the code at the leaf it reaches.

    Node arrays are concatenated over trees; `root` holds each tree's first node, `feature` the
    position in `columns` (-1 at a leaf), `value` (nodes, K) the votes. `single`: compare values
    rounded to float32, as trees grown on float32 do.
    """

    tag: ClassVar[str] = "tree voters"
    n_features: int
    columns: Columns
    root: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: _Floats
    missing_left: NDArray[np.bool_]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    value: _Floats
    single: bool

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        nodes = len(self.feature)
        flat = (self.threshold, self.missing_left, self.first, self.second)
        check(all(a.shape == (nodes,) for a in flat), "node arrays differ in length")
        check(self.feature.ndim == self.root.ndim == 1, "nodes are not in a row")
        check(self.missing_left.dtype == np.bool_, "flags are not truth values")
        check(self.value.ndim == 2 and len(self.value) == nodes, "nodes and votes differ")
        check(self.threshold.dtype == self.value.dtype == np.float64, "numbers are not float64")
        whole = (self.root, self.feature, self.first, self.second)
        check(all(a.dtype == np.intp for a in whole), "positions are not integers")
        check(bool((self.feature < len(self.columns)).all()), "a tree reads a column it lacks")
        ends = self._ends()
        check(nodes == 0 or ends[0] == 0, "the first root is not the first node")
        check(bool((np.diff(ends) > 0).all()), "a tree has no node")
        inner = np.flatnonzero(self.feature >= 0)
        end = np.repeat(ends[1:], np.diff(ends))[inner]
        for child in (self.first[inner], self.second[inner]):  # children follow: no cycles
            check(bool(((child > inner) & (child < end)).all()), "a tree is not a tree")

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.root)

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        leaf = np.empty((len(X), self.n_voters), dtype=np.intp)
        read = np.ascontiguousarray(X[:, self.columns], dtype=np.float64)
        nodes = (self.feature, self.threshold, self.missing_left, self.first, self.second)
        leaf_of_rows(read, self.root, *nodes, self.single, leaf)
        return self.value[leaf]

    def _ends(self) -> NDArray[np.intp]:
        return np.append(self.root, len(self.feature))

    def usage(self) -> Any:
        """Return the (T, p) table of columns split on."""
        ends = self._ends()
        voter = np.repeat(np.arange(self.n_voters), np.diff(ends))
        inner = self.feature >= 0
        column = self.columns[self.feature[inner]]
        return usage_table(voter[inner], column, (self.n_voters, self.n_features))

    def select(self, columns: Columns) -> Self:
        """Return the same trees on the table reduced to `columns`."""
        where = positions(self.columns, columns)
        return replace(self, n_features=len(columns), columns=where)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these trees only."""
        ends = self._ends()
        sizes = ends[voters + 1] - ends[voters]
        root = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        spans = [np.arange(int(ends[t]), int(ends[t + 1])) for t in voters]
        nodes = np.concatenate([np.empty(0, dtype=np.intp), *spans]).astype(np.intp)
        shift = np.repeat(root - self.root[voters], sizes)
        old = self.feature[nodes]
        kept, feature = np.unique(old[old >= 0], return_inverse=True)
        local = np.full(len(nodes), -1, dtype=np.intp)
        local[old >= 0] = feature
        return replace(
            self,
            columns=self.columns[kept],
            root=root,
            feature=local,
            threshold=self.threshold[nodes],
            missing_left=self.missing_left[nodes],
            first=self.first[nodes] + shift,
            second=self.second[nodes] + shift,
            value=self.value[nodes],
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the tree as its columns and number of leaves."""
        ends = self._ends()
        own = self.feature[ends[voter] : ends[voter + 1]]
        read = [names[self.columns[f]] for f in np.unique(own[own >= 0])]
        return f"a tree of {int((own < 0).sum())} leaves on {', '.join(read) or 'no column'}"

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return no short answer: a tree has as many as leaves."""
        return []
