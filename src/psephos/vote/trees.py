"""Trees as voters, in flat arrays."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.vote_sums import leaf_of_rows
from psephos.vote.codec import register
from psephos.vote.part import Columns, Part, check, check_columns, positions, usage_table

__all__ = ["TreeVoters", "silenced"]

_Floats = NDArray[np.float64]


def silenced(votes: _Floats, X: _Floats, part: Part) -> _Floats:
    """Return the (n, T, K) votes with 0 where a voter lacks a value of a column that it reads."""
    rows = np.flatnonzero(np.isnan(X[:, part.columns]).any(axis=1))
    if len(rows):
        missing = np.isnan(X[np.ix_(rows, part.columns)])
        reads: Any = part.usage()[:, part.columns].toarray()
        votes[rows] = np.where((missing @ reads.T)[:, :, None], 0.0, votes[rows])
    return votes


@register
@dataclass(frozen=True)
class TreeVoters:
    """Binary trees in flat arrays; each votes the code at the leaf it reaches.

    Node arrays are concatenated over trees; `root` holds each tree's first node, `feature` the
    position in `columns` (-1 at a leaf), `value` (nodes, K) the votes. `single`: compare values
    rounded to float32, as trees grown on float32 do. A missing value goes where `missing_left`
    says; if `abstains`, a tree says 0 for a row that lacks a value of any column it splits on.
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
    abstains: bool = False

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
        inside = (self.feature >= -1) & (self.feature < len(self.columns))
        check(bool(inside.all()), "a tree reads a column it lacks")
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
        votes = self.value[self.leaves(X)]
        return silenced(votes, X, self) if self.abstains else votes

    def leaves(self, X: _Floats) -> NDArray[np.intp]:
        """Return the (n, T) node at which each row of X ends in each tree."""
        leaf = np.empty((len(X), self.n_voters), dtype=np.intp)
        read = np.ascontiguousarray(X[:, self.columns], dtype=np.float64)
        nodes = (self.feature, self.threshold, self.missing_left, self.first, self.second)
        leaf_of_rows(read, self.root, *nodes, self.single, leaf)
        return leaf

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
        root = (np.cumsum(sizes) - sizes).astype(np.intp)
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
        """Return a stump's rule, such as ``V3 <= 1.25``, or a tree's size, columns and root."""
        ends = self._ends()
        own = self.feature[ends[voter] : ends[voter + 1]]
        read = [names[self.columns[f]] for f in np.unique(own[own >= 0])]
        leaves, root = int((own < 0).sum()), int(self.root[voter])
        if leaves < 2:
            return f"a tree of {leaves} leaves on {', '.join(read) or 'no column'}"
        missing = " or missing" if self.missing_left[root] and not self.abstains else ""
        column = names[self.columns[self.feature[root]]]
        rule = f"{column} <= {self.threshold[root]:.6g}{missing}"
        if leaves == 2:
            return rule
        return f"a tree of {leaves} leaves on {', '.join(read)}, which first asks if {rule}"

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the answers of a stump, or the one of a tree that is one leaf; else none."""
        ends, root = self._ends(), int(self.root[voter])
        size = int(ends[voter + 1]) - root
        if size == 1:
            return [("always", self.value[root])]
        if size > 3:
            return []
        first, second = self.value[self.first[root]], self.value[self.second[root]]
        return [("if so", first), ("otherwise", second)]
