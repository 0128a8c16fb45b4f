"""Forests as voters: each is the mean of a group of trees."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.small_models.forest import group_means
from psephos.trees.tree import spans_of
from psephos.vote.codec import register
from psephos.vote.marks import Marks
from psephos.vote.names import listed
from psephos.vote.part import (
    Columns,
    ReadsLike,
    ShownTree,
    Voters,
    check,
    check_part,
    check_ptr,
    usage_table,
)
from psephos.vote.reasons import Inner, Reason, abstention
from psephos.vote.voters.trees import TreeVoters, abstaining

_Floats = NDArray[np.float64]
_LEAVES = 2**20  # leaves held at once


@register
@dataclass(frozen=True)
class ForestVoters(ReadsLike, Voters):
    """Forests: each voter averages its trees, leaf by leaf, and votes by the mean.

    Forest t is the trees ``group[t] : group[t + 1]`` of `trees`, whose leaves hold class shares
    (nodes, n_classes), or a number (nodes, 1).

    Parameters
    ----------
    trees : TreeVoters
    group : ndarray of shape (T + 1,)
    value : ndarray of shape (n_classes, K)
        The table of codes; one row and column, unused, where `says` is 'value'.
    says : {'answer', 'probability', 'value'}
        answer: the code of the class with the greatest mean share, the first of equals.
        probability: sum over k of p_k code_k, p the mean shares. value: the mean number.
    abstains : bool, default=False
        True: a forest votes 0 on a row that lacks a value of any column its trees split on.
        False: missing values go where each node sends them.
    """

    tag: ClassVar[str] = "forest voters"
    read_by: ClassVar[str] = "trees"
    trees: TreeVoters
    group: NDArray[np.intp]
    value: _Floats
    says: str = "answer"
    abstains: bool = False

    def __post_init__(self) -> None:
        check(type(self.trees) is TreeVoters, "a forest is not of trees")
        check(not self.trees.abstains, "a tree of a forest abstains alone")
        check_part(self)
        sizes = check_ptr(self.group, max(self.group.size, 1) - 1, self.trees.n_voters, "groups")
        check(bool((sizes > 0).all()), "a forest has no tree")
        check(self.says in ("answer", "probability", "value"), f"says is {self.says!r}")
        check(self.value.ndim == 2, "codes are not a table")
        check(
            len(self.value) == self.trees.value.shape[1],
            "values of trees and codes differ in number of classes",
        )
        check(self.says != "value" or self.value.shape == (1, 1), "a value is one number")

    @property
    def n_voters(self) -> int:
        return len(self.group) - 1

    def shares(self, X: _Floats) -> _Floats:
        """Return the (n, T, n_classes) mean class shares, or the (n, T, 1) mean numbers."""
        out = np.empty((len(X), self.n_voters, self.trees.value.shape[1]))
        step = max(1, _LEAVES // max(self.trees.n_voters, 1))
        for i in range(0, len(X), step):
            at = self.trees.rows(X[i : i + step])
            group_means(at, self.group, self.trees.value, out[i : i + step])
        return out

    def votes(self, X: _Floats) -> _Floats:
        votes = spoken(self.shares(X), self.says, self.value)
        return abstaining(votes, X, self) if self.abstains else votes

    def usage(self) -> Any:
        table: Any = self.trees.usage().tocoo()
        forest = np.repeat(np.arange(self.n_voters), np.diff(self.group))
        shape = (self.n_voters, self.n_features)
        return usage_table(forest[table.coords[0]], table.coords[1], shape)

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided along the paths of each forest's trees."""
        forest = np.repeat(np.arange(self.n_voters), np.diff(self.group))
        return self.trees.path_moves(X, size, forest)

    def marks(self) -> Marks:
        return self.trees.marks()

    def take(self, voters: NDArray[np.intp]) -> Self:
        group, trees = spans_of(self.group, voters)
        return replace(self, trees=self.trees.take(trees), group=group)

    def n_trees(self, voter: int) -> int:
        return int(self.group[voter + 1] - self.group[voter])

    def shown_tree(self, voter: int, tree: int) -> ShownTree:
        grown = self.trees.tree(int(self.group[voter]) + tree)
        if self.says == "value":
            return ShownTree(grown, None, grown.value)
        return ShownTree(grown, grown.value, spoken(grown.value, self.says, self.value))

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the number of trees and the columns they read."""
        usage: Any = self.usage()
        read = [names[j] for j in np.flatnonzero(usage[[voter]].toarray()[0])]
        return f"a forest of {self.n_trees(voter)} trees on {listed(read) or 'no column'}"

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, how many trees a forest has and what they read."""
        usage: Any = self.usage()
        read = [np.flatnonzero(usage[[t]].toarray()[0]) for t in range(self.n_voters)]
        votes = self.votes(X)
        return [
            [self._reason(t, x, read[t], votes[i, t]) for t in range(self.n_voters)]
            for i, x in enumerate(X)
        ]

    def _reason(self, voter: int, x: _Floats, read: Columns, vote: _Floats) -> Reason:
        abstained = abstention(x, read, vote) if self.abstains else None
        cells = tuple(read.tolist()), tuple(x[read].tolist())
        return abstained or Inner(tuple(vote.tolist()), *cells, self.n_trees(voter), "tree")

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return []


def spoken(shares: _Floats, says: str, code: _Floats) -> _Floats:
    """Return the (..., K) votes that class shares (..., C) come to: see `ForestVoters`."""
    if says == "value":
        return shares
    if says == "answer":
        return code[shares.argmax(axis=-1)]
    samme = _is_samme(code)
    total = np.zeros((*shares.shape[:-1], 1 if samme else code.shape[1]))
    for k in range(len(code)):  # one order of sums, however many rows there are
        total += shares[..., k, None] * (1.0 if samme else code[k])
    if not samme:
        return total
    # so written, equal shares stay equal to the last bit
    return (len(code) * shares - total) / (len(code) - 1)


def _is_samme(code: _Floats) -> bool:
    """Return whether a table of codes is SAMME's: 1 for the class, -1/(K-1) elsewhere."""
    k = len(code)
    return k > 2 and np.array_equal(code, np.where(np.eye(k, dtype=bool), 1.0, -1.0 / (k - 1)))
