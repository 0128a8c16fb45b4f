"""Trees as voters, in flat arrays."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import Thresholds
from psephos.kernels.prediction.leaf_sums import sum_leaves
from psephos.kernels.prediction.tree_walk_binary import binary_leaves, pack_nodes
from psephos.runtime.jit import frozen
from psephos.trees.tree import Tree, binary_tree, spans_of
from psephos.trees.tree_leaves import Condition, condition_words, otherwise_words, size_words
from psephos.vote.codec import register
from psephos.vote.importance import path_moves
from psephos.vote.marks import Marks
from psephos.vote.part import (
    Columns,
    Part,
    ReadsColumns,
    ShownTree,
    Voters,
    check,
    check_part,
    check_ptr,
    check_within,
    usage_at,
)
from psephos.vote.reasons import Reason, abstention
from psephos.vote.tree_reasons import Ways

_Floats = NDArray[np.float64]


def abstaining(votes: _Floats, X: _Floats, part: Part) -> _Floats:
    """Return the (n, T, K) votes with 0 where a voter lacks a value of a column that it reads."""
    rows = np.flatnonzero(np.isnan(X[:, part.columns]).any(axis=1))
    if len(rows):
        missing = np.isnan(X[np.ix_(rows, part.columns)])
        reads: Any = part.usage()[:, part.columns].toarray()
        votes[rows] = np.where((missing @ reads.T)[:, :, None], 0.0, votes[rows])
    return votes


@register
@dataclass(frozen=True)
class TreeVoters(ReadsColumns, Voters):
    """Binary trees in flat arrays; each votes what the leaf holds that a row reaches.

    Node arrays are concatenated over trees. A numeric rule sends ``value <= threshold`` to the
    first child, a rule on categories the codes of its set; a missing value, or a code beyond the
    set, goes where `missing_left` says.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that are split on.
    root : ndarray of shape (T,)
        The first node of each tree.
    feature : ndarray of shape (nodes,)
        Position in `columns`; -1 at a leaf.
    threshold : ndarray of shape (nodes,)
        NaN for a rule on categories.
    missing_left : ndarray of shape (nodes,), bool
    first, second : ndarray of shape (nodes,)
        The children.
    value : ndarray of shape (rows, K)
        The votes: those of the nodes, or those that `answer` names.
    single : bool
        Values are rounded to float32 before they are compared, as by trees grown on float32.
    abstains : bool, default=False
        A tree votes 0 on a row that lacks a value of any column it splits on.
    category_ptr : ndarray of shape (nodes + 1,), or empty
        Node i's set is ``category_left[category_ptr[i]:category_ptr[i + 1]]``; empty for a
        numeric rule. An empty `category_ptr`: no tree asks for categories.
    category_left : ndarray, bool
        Whether each code goes to the first child.
    answer : ndarray of shape (nodes,), or empty
        The row of `value` that a leaf votes, which leaves may share; -1 at other nodes. Empty: node
        i votes row i.
    """

    tag: ClassVar[str] = "tree voters"
    n_features: int
    columns: Columns
    root: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: Thresholds
    missing_left: NDArray[np.bool_]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    value: _Floats
    single: bool
    abstains: bool = False
    category_ptr: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    category_left: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    answer: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))

    def __post_init__(self) -> None:
        check_part(self)
        nodes = len(self.feature)
        flat = (self.threshold, self.missing_left, self.first, self.second)
        check(all(a.shape == (nodes,) for a in flat), "node arrays differ in length")
        check(self.feature.ndim == self.root.ndim == 1, "nodes are not in a row")
        check(self.value.ndim == 2, "votes are not a table")
        inside = (self.feature >= -1) & (self.feature < len(self.columns))
        check(bool(inside.all()), "a tree reads a column it lacks")
        check_within(self.root, nodes, "a root is not a node")
        ends = self._ends()
        check(nodes == 0 or ends[0] == 0, "the first root is not the first node")
        check(bool((np.diff(ends) > 0).all()), "a tree has no node")
        inner = np.flatnonzero(self.feature >= 0)
        end = np.repeat(ends[1:], np.diff(ends))[inner]
        for child in (self.first[inner], self.second[inner]):  # children follow: no cycles
            check(
                bool(((child > inner) & (child < end)).all()),
                "a child is outside its tree, or not after its parent",
            )
        child = np.zeros(nodes, np.bool_)  # a byte a node: forests have many
        for children in (self.first[inner], self.second[inner]):
            child[children] = True
        check(int(child.sum()) == 2 * len(inner), "a node has two parents")
        self._check_answers()
        self._check_categories()

    def _check_answers(self) -> None:
        nodes, answer = len(self.feature), self.answer
        check(answer.ndim == 1, "answers are not in a row")
        if len(answer) == 0:
            check(len(self.value) == nodes, "nodes and votes differ")
            return
        check(len(answer) == nodes, "nodes and answers differ")
        leaf = self.feature < 0
        inside = (answer >= 0) & (answer < len(self.value))
        whole = (inside == leaf) & (leaf | (answer == -1))
        check(bool(whole.all()), "a leaf lacks an answer, or another node has one")

    def _check_categories(self) -> None:
        ptr, members = self.category_ptr, self.category_left
        check(ptr.ndim == members.ndim == 1, "sets of categories are not in a row")
        if len(ptr) == 0:
            check(len(members) == 0, "sets of categories have no pointers")
            return
        check(len(members) < 2**31, "sets of categories are too many")
        check_ptr(ptr, len(self.feature), len(members), "categories")

    @property
    def n_voters(self) -> int:
        return len(self.root)

    def votes(self, X: _Floats) -> _Floats:
        votes = self.value[self.rows(X)]
        return abstaining(votes, X, self) if self.abstains else votes

    def weighted_sum(self, weights: _Floats, X: _Floats) -> _Floats:
        """Return the (n, K) weighted sums of votes, without the votes unless trees abstain."""
        if self.abstains:
            return super().weighted_sum(weights, X)
        out = np.zeros((len(X), self.value.shape[1]))
        sum_leaves(self.rows(X), frozen(weights), frozen(self.value), out)
        return out

    def leaves(self, X: _Floats) -> NDArray[np.intp]:
        """Return the (n, T) node at which each row of X ends in each tree."""
        read = X if len(self.columns) == X.shape[1] else X[:, self.columns]
        return binary_leaves(self._packed, self.category_left, read, self.root, bool(self.single))

    def rows(self, X: _Floats) -> NDArray[np.intp]:
        """Return the (n, T) row of `value` that each tree votes on each row of X."""
        leaves = self.leaves(X)
        return self.answer[leaves] if len(self.answer) else leaves

    @cached_property
    def _packed(self) -> Any:
        nodes = (self.feature, self.threshold, self.missing_left, self.first, self.second)
        return pack_nodes(*nodes, self.category_ptr)

    def _ends(self) -> NDArray[np.intp]:
        return np.append(self.root, len(self.feature))

    def usage(self) -> Any:
        ends = self._ends()
        voter = np.repeat(np.arange(self.n_voters), np.diff(ends))
        inner = self.feature >= 0
        return usage_at(self, voter[inner], self.feature[inner])

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided along the path of each row."""
        return self.path_moves(X, size, np.arange(self.n_voters))

    def path_moves(self, X: _Floats, size: _Floats, group: NDArray[np.intp]) -> _Floats:
        """Return (n, p): sizes of voters divided by what each split on the path changes.

        What a node above the leaves says is the mean of its two children: how many training rows
        went to each is not kept.
        """
        parent, step = self._steps
        inner = np.maximum(self.feature, 0)
        out = np.zeros((len(X), self.n_features))
        width = len(self.columns)

        def asked(row: NDArray[np.intp], node: NDArray[np.intp]) -> NDArray[np.intp]:
            return inner[node]

        if width:
            leaf = self.leaves(X)
            out[:, self.columns] = path_moves(leaf, parent, step, asked, size, group, width)
        return out

    @cached_property
    def _steps(self) -> tuple[NDArray[np.intp], _Floats]:
        """Return each node's parent, -1 at a root, and how far the vote moves from it."""
        leaf = self.feature < 0
        value = self.value[self.answer] if len(self.answer) else self.value
        votes = np.where(leaf[:, None], value, 0.0)
        parent = np.full(len(leaf), -1, dtype=np.intp)
        for children in (self.first, self.second):
            parent[children[~leaf]] = np.flatnonzero(~leaf)
        level = self.root
        levels: list[NDArray[np.intp]] = []
        while len(level):
            level = level[~leaf[level]]
            levels.append(level)
            level = np.concatenate([self.first[level], self.second[level]])
        for level in levels[::-1]:
            votes[level] = 0.5 * votes[self.first[level]] + 0.5 * votes[self.second[level]]
        step = np.where(parent >= 0, np.abs(votes - votes[parent]).sum(axis=1), 0.0)
        return parent, step

    def marks(self) -> Marks:
        inner = self.feature >= 0
        return self.columns[self.feature[inner]], self.threshold[inner]

    def take(self, voters: NDArray[np.intp]) -> Self:
        ends = self._ends()
        start, nodes = spans_of(ends, voters)
        root = start[:-1]
        shift = np.repeat(root - self.root[voters], np.diff(start))
        old = self.feature[nodes]
        kept, feature = np.unique(old[old >= 0], return_inverse=True)
        local = np.full(len(nodes), -1, dtype=np.intp)
        local[old >= 0] = feature
        ptr, codes = self.category_ptr, np.empty(0, np.intp)
        if len(ptr):
            ptr, codes = spans_of(ptr, nodes)
        used, answer = nodes, self.answer
        if len(answer):
            used, row = np.unique(answer[nodes[old < 0]], return_inverse=True)
            answer = np.full(len(nodes), -1, np.intp)
            answer[old < 0] = row
        return replace(
            self,
            columns=self.columns[kept],
            root=root,
            feature=local,
            threshold=self.threshold[nodes],
            missing_left=self.missing_left[nodes],
            first=self.first[nodes] + shift,
            second=self.second[nodes] + shift,
            value=self.value[used],
            category_ptr=ptr,
            category_left=self.category_left[codes],
            answer=answer,
        )

    def tree(self, voter: int) -> Tree:
        """Return one tree as a `Tree` on the columns of the table; its values are the votes.

        Training weights are not known: `counts` has no column and `n_rows` is -1. Where only leaves
        have answers, that of another node is the mean of its leaves', each the same. Rows that
        lack a value stop at the node where they do if the voters abstain.
        """
        alone = self.take(np.array([voter], dtype=np.intp))
        value = alone.value
        if len(alone.answer):
            value = _means(alone.value[alone.answer], alone.feature < 0, alone.first, alone.second)
        return binary_tree(
            np.where(alone.feature >= 0, np.append(alone.columns, -1)[alone.feature], -1),
            alone.threshold, alone.missing_left, alone.first, alone.second, value,
            alone.category_ptr, alone.category_left,
            single=bool(self.single), stays=bool(self.abstains),
        )  # fmt: skip

    def n_trees(self, voter: int) -> int:
        return 1

    def shown_tree(self, voter: int, tree: int) -> ShownTree:
        grown = self.tree(voter)
        return ShownTree(grown, None, grown.value)

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return a stump's rule, such as ``V3 <= 1.25``, or a tree's size, columns and root."""
        ends, root = self._ends(), int(self.root[voter])
        own = self.feature[root : ends[voter + 1]]
        leaves = int((own < 0).sum())
        size = size_words(leaves, self.columns[np.unique(own[own >= 0])], names)
        if leaves < 2:
            return size
        rule = condition_words(self._asks(root), names, levels)
        return rule if leaves == 2 else f"{size}, which first asks if {rule}"

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, its way through each tree."""
        votes = self.votes(X)
        by_tree = [_tree_reasons(self, t, X, votes[:, t]) for t in range(self.n_voters)]
        return [list(row) for row in zip(*by_tree, strict=True)] if by_tree else [[] for _ in X]

    def _asks(self, node: int) -> Condition:
        """Return what a node asks of the rows that go to its first child."""
        column = int(self.columns[self.feature[node]])
        missing = float(self.missing_left[node] and not self.abstains)
        if len(self.category_ptr):
            codes = self.category_left[self.category_ptr[node] : self.category_ptr[node + 1]]
            if len(codes):
                return Condition(column, "in", tuple(np.flatnonzero(codes).tolist()), missing)
        return Condition(column, "<=", float(self.threshold[node]), missing)

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the answers of a stump, or the one of a tree that is one leaf; else none."""
        ends, root = self._ends(), int(self.root[voter])
        size = int(ends[voter + 1]) - root
        if size == 1:
            return [("always", self._said(root))]
        if size > 3:
            return []
        first, second = self._said(self.first[root]), self._said(self.second[root])
        asks = self._asks(root)
        gap = float(not (self.abstains or asks.missing))
        return [("if so", first), (otherwise_words(replace(asks, missing=gap)), second)]

    def _said(self, leaf: Any) -> _Floats:
        return self.value[self.answer[leaf] if len(self.answer) else leaf]


def _tree_reasons(voters: TreeVoters, voter: int, X: _Floats, votes: _Floats) -> list[Reason]:
    """Return why a tree gives its (n, K) votes on the rows of X."""
    tree = voters.tree(voter)
    ways = Ways(tree, tree.value)
    return [
        (abstention(x, tree.columns, vote) if voters.abstains else None)
        or ways.reason(x.tolist(), vote)
        for x, vote in zip(X, votes, strict=True)
    ]


def _means(value: _Floats, leaf: Any, first: Any, second: Any) -> _Floats:
    """Return (nodes, K): the values of leaves, and of other nodes the mean over their leaves."""
    total, number = np.where(leaf[:, None], value, 0.0), leaf.astype(np.intp)
    for node in np.flatnonzero(~leaf)[::-1].tolist():  # children follow
        ways = [first[node], second[node]]
        total[node], number[node] = total[ways].sum(axis=0), number[ways].sum()
    return total / np.maximum(number, 1)[:, None]
