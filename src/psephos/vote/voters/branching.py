"""Trees of any number of branches as voters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prediction.tree_walk_binary import binary_leaves, pack_nodes
from psephos.trees.c45_soft import SoftTree
from psephos.trees.tree import STAY, Surrogates, Tree, join_trees
from psephos.trees.tree_leaves import otherwise_words, split_conditions, tree_words
from psephos.vote.codec import register
from psephos.vote.importance import path_moves
from psephos.vote.marks import Marks
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    ShownTree,
    Voters,
    check,
    check_part,
    check_ptr,
    check_within,
    usage_at,
)
from psephos.vote.reasons import Reason
from psephos.vote.tree_reasons import Ways
from psephos.vote.voters.forests import spoken

_Floats = NDArray[np.float64]

register(Surrogates)
register(Tree)
register(SoftTree)


@register
@dataclass(frozen=True)
class BranchVoters(ReadsColumns, Voters):
    """Trees of any number of branches; each votes what its leaves say.

    Rules are on numbers or on categories, with surrogates and with rows that are spread over the
    branches where a value is missing: see `psephos.trees.tree.Tree`. Binary trees by the hundred
    are better written as `TreeVoters`.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that a rule or a surrogate reads.
    root : ndarray of shape (T,), intp
        The first node of each tree.
    nodes : Tree
        The nodes of all trees, one tree after the other; their columns are positions in `columns`.
        A `psephos.trees.c45_soft.SoftTree`, if their thresholds are soft.
    code : ndarray of shape (C, K) or None, default=None
        The vote is sum over c of value_c code_c, with value (C,) what the tree says: class shares
        and the table of codes. None: it is value itself.
    """

    tag: ClassVar[str] = "branching tree voters"
    n_features: int
    columns: Columns
    root: NDArray[np.intp]
    nodes: Tree
    code: _Floats | None = None

    def __post_init__(self) -> None:
        check_part(self)
        check(type(self.nodes) in (Tree, SoftTree), "the nodes are not those of trees")
        _check_kinds(self.nodes)
        _check_rules(self.nodes, len(self.columns))
        _check_shape(self.root, self.nodes)
        if isinstance(self.nodes, SoftTree):
            _check_soft(self.nodes)
        code = self.code
        if code is not None:
            check(code.ndim == 2, "codes are not a table")
            check(len(code) == self.nodes.value.shape[1], "codes and class shares differ")

    @classmethod
    def of(cls, trees: Sequence[Tree], n_features: int, code: _Floats | None = None) -> Self:
        """Return trees as voters.

        Parameters
        ----------
        trees : sequence of Tree
            At least one, all of one class with the same `strict` and `single`; their columns are
            those of the table.
        n_features : int
        code : ndarray of shape (C, K), default=None
            As above: `Target.code` for trees whose values are class shares.
        """
        alike = {(type(tree), tree.strict, tree.single) for tree in trees}
        check(len(alike) == 1, "trees compare in different ways")
        root, nodes = join_trees(trees)
        columns = nodes.columns
        rules = np.searchsorted(columns, nodes.column)
        local = nodes.on_columns(rules, np.searchsorted(columns, nodes.surrogates.column))
        return cls(n_features, columns, root, local, code)

    @property
    def n_voters(self) -> int:
        return len(self.root)

    @cached_property
    def node_votes(self) -> _Floats:
        """Return the (nodes, K) votes of the nodes."""
        value = self.nodes.value
        return value if self.code is None else spoken(value, "probability", self.code)

    def votes(self, X: _Floats) -> _Floats:
        read, gaps = self._read(X)
        if self._plain is None:
            return self.nodes.answers(read, self.root, self.node_votes)
        votes = self.node_votes[self._plain_leaves(read)]
        if len(gaps):
            votes[gaps] = self.nodes.answers(read[gaps], self.root, self.node_votes)
        return votes

    def leaves(self, X: _Floats) -> NDArray[np.intp]:
        """Return the (n, T) node at which each row of X ends in each tree; -1 if it is spread."""
        read, gaps = self._read(X)
        if self._plain is None:
            return self.nodes.leaves(read, self.root)
        leaves = self._plain_leaves(read)
        if len(gaps):
            leaves[gaps] = self.nodes.leaves(read[gaps], self.root)
        return leaves

    def _read(self, X: _Floats) -> tuple[_Floats, NDArray[np.intp]]:
        """Return the columns read, and the rows that lack a value of any."""
        read = X if len(self.columns) == X.shape[1] else X[:, self.columns]
        return read, np.flatnonzero(np.isnan(read).any(axis=1))

    def _plain_leaves(self, read: _Floats) -> NDArray[np.intp]:
        none = np.empty(0, dtype=np.bool_)
        return binary_leaves(self._plain, none, read, self.root, self.nodes.single)

    @cached_property
    def _plain(self) -> Any:
        """Return the nodes as of binary trees if all rules are thresholds, else None.

        Rows that lack no value go down these three times as fast, to the same leaves.
        """
        nodes = self.nodes
        inner = nodes.n_children > 0
        soft = isinstance(nodes, SoftTree)
        if (
            soft
            or len(nodes.code_branch)
            or not inner.any()
            or (nodes.n_children[inner] != 2).any()
        ):
            return None
        bound, flip = nodes.threshold, nodes.flip.astype(np.intp)
        if nodes.strict:  # below t is at most the number before it; nothing is below -inf
            bound = np.where(np.isneginf(bound), np.nan, np.nextafter(bound, -np.inf))
        first, second = nodes.child + flip, nodes.child + 1 - flip
        none = np.empty(0, dtype=np.intp)
        return pack_nodes(nodes.column, bound, np.zeros(len(inner), np.bool_), first, second, none)

    def _ends(self) -> NDArray[np.intp]:
        return np.append(self.root, self.nodes.n_nodes)

    def usage(self) -> Any:
        """Return the (T, p) table of columns that rules or surrogates read."""
        surrogates = self.nodes.surrogates
        voter = np.repeat(np.arange(self.n_voters), np.diff(self._ends()))
        inner = self.nodes.column >= 0
        column = np.concatenate([self.nodes.column[inner], surrogates.column])
        reader = np.concatenate([voter[inner], np.repeat(voter, np.diff(surrogates.ptr))])
        return usage_at(self, reader, column)

    def primary(self, unsure: Sequence[int] = ()) -> Self:
        """Return the same trees without the surrogates that only a missing value asks.

        Of a rule on categories that does not know all of them, and of rules on the columns
        `unsure`, of which there may be categories that the trees were not grown on, those stay that
        a case without missing values may ask: up to the first on numbers.
        """
        nodes, every = self.nodes, np.arange(self.nodes.n_nodes)
        unseen = np.repeat(every, np.diff(nodes.code_ptr))[nodes.code_branch < 0]
        asked = nodes.column >= 0
        asked[asked] = np.isin(self.columns[nodes.column[asked]], list(unsure))
        unseen = np.union1d(unseen, every[asked])
        asked_for = nodes.surrogates.of_nodes(every, ~np.isin(every, unseen))
        surrogates = asked_for.without_gaps()
        return replace(self, nodes=replace(nodes, surrogates=surrogates)).take(
            np.arange(self.n_voters)
        )

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided by what each split on a row's path changes.

        A node above the leaves says the mean of its children by their shares of training rows. A
        surrogate counts where it was asked. A row that is spread over branches counts equally for
        every column that rules of the tree read.
        """
        out = np.zeros((len(X), self.n_features))
        if not len(self.columns):
            return out
        parent, step = self._steps
        read, _ = self._read(X)
        leaf, group = self.leaves(X), np.arange(self.n_voters)
        width = len(self.columns)

        def asked(row: NDArray[np.intp], node: NDArray[np.intp]) -> NDArray[np.intp]:
            return self._asked(read, row, node)

        out[:, self.columns] = path_moves(leaf, parent, step, asked, size, group, width)
        spread = np.where(leaf < 0, size, 0.0)
        if spread.any():
            voter = np.repeat(group, np.diff(self._ends()))
            inner = self.nodes.column >= 0
            asks = np.zeros((self.n_voters, width))
            asks[voter[inner], self.nodes.column[inner]] = 1.0
            asks /= np.maximum(asks.sum(axis=1, keepdims=True), 1.0)
            out[:, self.columns] += spread @ asks
        return out

    @cached_property
    def _steps(self) -> tuple[NDArray[np.intp], _Floats]:
        """Return each node's parent, -1 at a root, and how far the vote moves from it."""
        nodes = self.nodes
        inner = np.flatnonzero(nodes.n_children)
        parent = np.full(nodes.n_nodes, -1, dtype=np.intp)
        votes = self.node_votes.copy()
        for node in inner[::-1].tolist():  # children follow
            below = nodes.children(node)
            parent[below] = node
            share = nodes.share[below]
            share = share if share.sum() > 0 else np.ones(len(below))
            votes[node] = (share / share.sum()) @ votes[below]
        step = np.where(parent >= 0, np.abs(votes - votes[parent]).sum(axis=1), 0.0)
        return parent, step

    def _asked(
        self, read: _Floats, row: NDArray[np.intp], node: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Return the column that decided at a node: its own, or the first surrogate's known."""
        column, surrogates = self.nodes.column[node], self.nodes.surrogates
        lacks = np.isnan(read[row, column])
        for i in np.flatnonzero(lacks):
            others = surrogates.column[surrogates.ptr[node[i]] : surrogates.ptr[node[i] + 1]]
            known = others[~np.isnan(read[row[i], others])]
            if len(known):
                column[i] = known[0]
        return column

    def marks(self) -> Marks:
        inner, spare = self.nodes.column >= 0, self.nodes.surrogates
        read = np.concatenate([self.nodes.column[inner], spare.column])
        return self.columns[read], np.concatenate([self.nodes.threshold[inner], spare.threshold])

    def take(self, voters: NDArray[np.intp]) -> Self:
        ends = self._ends()
        sizes = ends[voters + 1] - ends[voters]
        root = (np.cumsum(sizes) - sizes).astype(np.intp)
        shift = np.repeat(root - self.root[voters], sizes)
        nodes = np.arange(int(sizes.sum())) - shift
        part = self.nodes.of_nodes(nodes, self.nodes.n_children[nodes] == 0)
        part = replace(part, child=np.where(part.n_children > 0, part.child + shift, 0))
        kept = part.columns
        rules = np.searchsorted(kept, part.column)
        local = part.on_columns(rules, np.searchsorted(kept, part.surrogates.column))
        return replace(self, columns=self.columns[kept], root=root, nodes=local)

    def tree(self, voter: int) -> Tree:
        """Return one tree; its columns are those of the table, its values what its nodes say."""
        alone = self.take(np.array([voter], dtype=np.intp))
        rules, surrogates = alone.nodes.column, alone.nodes.surrogates.column
        at = np.append(alone.columns, -1)  # a leaf asks for column -1
        return alone.nodes.on_columns(at[rules], at[surrogates])

    def n_trees(self, voter: int) -> int:
        return 1

    def shown_tree(self, voter: int, tree: int) -> ShownTree:
        grown = self.tree(voter)
        if self.code is None:
            return ShownTree(grown, None, grown.value)
        return ShownTree(grown, grown.value, spoken(grown.value, "probability", self.code))

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the rule of a tree that asks once, or the size, columns and root of a larger."""
        return tree_words(self.tree(voter), names, levels)

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, its way through each tree."""
        votes, ends = self.votes(X), self._ends()
        trees = [
            Ways(self.tree(t), self.node_votes[ends[t] : ends[t + 1]]) for t in range(self.n_voters)
        ]
        return [
            [tree.reason(x, votes[i, t]) for t, tree in enumerate(trees)]
            for i, x in enumerate(X.tolist())
        ]

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the answers of a tree that is one leaf or asks one question of two answers."""
        first, size = int(self.root[voter]), int(np.diff(self._ends())[voter])
        if size == 1:
            return [("always", self.node_votes[first])]
        if size != 3 or self.nodes.n_children[first] != 2:
            return []
        grown, votes = self.tree(voter), self.node_votes[first : first + 3]
        asked = split_conditions(grown, 0)[1]
        said = [("if so", votes[1]), (otherwise_words(asked), votes[2])]
        if grown.missing[0] == STAY:  # where the value is missing the root answers
            surrogates = " with its surrogates" if asked.surrogates else ""
            said.append((f"if missing{surrogates}", votes[0]))
        return said


def _check_kinds(nodes: Tree) -> None:
    """Check that every array is one, of the right type and length."""
    n, surrogates = nodes.n_nodes, nodes.surrogates
    check(type(surrogates) is Surrogates, "the surrogates are not rules")
    r, bounds = len(surrogates.column), ("lower", "upper") if isinstance(nodes, SoftTree) else ()
    for part, names, kind, length, n_axes in (
        (nodes, ("child", "n_children", "column", "missing", "n_rows"), np.intp, n, 1),
        (nodes, ("threshold", "share", "gain", *bounds), np.float64, n, 1),
        (nodes, ("value", "counts"), np.float64, n, 2),
        (nodes, ("flip",), np.bool_, n, 1),
        (nodes, ("code_ptr",), np.intp, n + 1, 1),
        (nodes, ("code_branch",), np.intp, None, 1),
        (surrogates, ("ptr",), np.intp, n + 1, 1),
        (surrogates, ("column",), np.intp, r, 1),
        (surrogates, ("threshold",), np.float64, r, 1),
        (surrogates, ("flip",), np.bool_, r, 1),
        (surrogates, ("code_ptr",), np.intp, r + 1, 1),
        (surrogates, ("code_branch",), np.intp, None, 1),
    ):
        for array in (getattr(part, name) for name in names):
            check(isinstance(array, np.ndarray), "nodes are not in arrays")
            check(array.dtype == kind and array.ndim == n_axes, "node arrays differ in kind")
            check(length is None or len(array) == length, "node arrays differ in length")
    flags = type(nodes.strict) is bool and type(nodes.single) is bool
    check(flags, "flags of how values are compared are not truth values")


def _check_rules(nodes: Tree, n_columns: int) -> None:
    """Check that rules read columns that are there and name branches that are there."""
    surrogates, branches = nodes.surrogates, nodes.n_children
    check(bool((branches >= 0).all()), "a number of branches is negative")
    inner = branches > 0
    for ptr, end in (
        (nodes.code_ptr, len(nodes.code_branch)),
        (surrogates.ptr, len(surrogates.column)),
        (surrogates.code_ptr, len(surrogates.code_branch)),
    ):
        check_ptr(ptr, len(ptr) - 1, end, "rules")
    codes, rules = np.diff(nodes.code_ptr), np.diff(surrogates.ptr)
    check(bool((codes[~inner] == 0).all() and (rules[~inner] == 0).all()), "a leaf has a rule")
    known = np.where(inner, (nodes.column >= 0) & (nodes.column < n_columns), nodes.column == -1)
    check(bool(known.all()), "a tree reads a column it lacks")
    check_within(surrogates.column, n_columns, "a surrogate reads a column it lacks")
    check(bool((branches[inner & (codes == 0)] == 2).all()), "a threshold is not for two branches")
    of_rule = np.repeat(branches, rules)
    plain = np.diff(surrogates.code_ptr) == 0
    check(bool((of_rule[plain] == 2).all()), "a surrogate's threshold is not for two branches")
    for branch, limit in (
        (nodes.code_branch, np.repeat(branches, codes)),
        (surrogates.code_branch, np.repeat(of_rule, np.diff(surrogates.code_ptr))),
    ):
        check(bool(((branch >= -1) & (branch < limit)).all()), "a category has no such branch")
    missing = nodes.missing[inner]
    sent = (missing >= STAY) & (missing < branches[inner])
    check(bool(sent.all()), "a missing value is sent nowhere")
    check(
        bool((np.isfinite(nodes.share) & (nodes.share >= 0)).all()),
        "a share is negative or not finite",
    )


def _check_soft(nodes: SoftTree) -> None:
    """Check that every threshold lies between its bounds, all of them numbers."""
    cuts = (nodes.n_children > 0) & (np.diff(nodes.code_ptr) == 0)
    inside = (nodes.lower <= nodes.threshold) & (nodes.threshold <= nodes.upper)
    numbers = inside & np.isfinite(nodes.lower) & np.isfinite(nodes.upper)
    none = np.isnan(nodes.lower) & np.isnan(nodes.upper)
    check(bool(np.where(cuts, numbers, none).all()), "a threshold is not between its bounds")
    plain = not (nodes.strict or nodes.single or nodes.flip.any())
    check(plain, "a soft threshold compares as others do")


def _check_shape(root: NDArray[np.intp], nodes: Tree) -> None:
    """Check that every tree is one: each node but its root is the child of one before it."""
    n = nodes.n_nodes
    check(root.ndim == 1, "roots are not in a row")
    check_within(root, n, "a root is not a node")
    ends = np.append(root, n)
    check(ends[0] == 0, "the first root is not the first node")
    check(bool((np.diff(ends) > 0).all()), "a tree has no node")
    inner = np.flatnonzero(nodes.n_children)
    first, number = nodes.child[inner], nodes.n_children[inner]
    end = np.repeat(ends[1:], np.diff(ends))[inner]
    inside = (first > inner) & (first < end)
    check(
        bool(inside.all() and (number <= end - first).all()),
        "a child is outside its tree, or not after its parent",
    )
    check(int(number.sum()) == n - len(root), "a node has no parent or two")
    begun = np.cumsum(number) - number
    children = np.arange(n - len(root)) + np.repeat(first - begun, number)
    parents = np.bincount(children, minlength=n)
    check(bool((parents <= 1).all() and (parents[root] == 0).all()), "a node has two parents")
