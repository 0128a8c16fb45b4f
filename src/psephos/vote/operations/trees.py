"""The operation `Trees`: constants, stumps, trees, forests and chains of tests.

The plain evaluation is in NumPy: `TreeNodes.ends`, then the values of the nodes. If every rule has
two branches, a kernel finds the leaves of complete rows.
"""

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray, Usage
from psephos.files.names import listed
from psephos.kernels.prediction import fused
from psephos.trees import tree_leaves
from psephos.trees.tree import STAY, Surrogates, Tree, TreeNodes, spans_of
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.importance import path_moves
from psephos.vote.lowered import RowByRow
from psephos.vote.operations.nodes import check_nodes
from psephos.vote.reading.trees import TreeReader
from psephos.vote.reasons import Reason

_EACH = ("tree", "stump", "constant", "rule", "hypothesis")
_CHAINS = ("rule", "hypothesis")
_AT_ONCE = 1 << 17  # nodes that are converted to lists at once

register(Surrogates)
register(TreeNodes)
register(Tree)


def _empty() -> Indices:
    return np.empty(0, np.intp)


@register
class Trees(part.ReadsColumns, RowByRow):
    """Voters that are trees, or means of groups of trees.

    A case ends at one node of each tree (see `nodes`), or is divided among several. The value of a
    tree is the row of `value` of that node, or the mean over the nodes weighted by the parts of the
    case. The value of a voter is the mean over its trees, from which `says` makes its vote.

    A constant is a tree of one leaf, a stump one of two. A rule or hypothesis is a chain of tests:
    branch 0 of a test that holds leads to the next test, that of the last to the value if all hold.
    A test that fails ends the chain, as does a missing value unless its node sends it to branch 0.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that a rule or a surrogate reads.
    root : ndarray of shape (trees,), intp
        The first node of each tree.
    nodes : TreeNodes
        Of all trees, one tree after the other; their columns are positions in `columns`.
    value : ndarray of shape (rows, C)
        Values of nodes: votes, class shares or numbers.
    row : ndarray of shape (nodes,), intp, or empty
        The row of `value` of each node; -1 where no case ends. Empty: node i has row i.
    group : ndarray of shape (T + 1,), intp, or empty
        Voter t is the trees ``group[t] : group[t + 1]``. Empty: every tree is a voter.
    code : ndarray of shape (C, K) or None, default=None
        The vote of each class; None: the value of a voter is its vote.
    says : {'value', 'probability', 'answer'}, default='value'
        How codes are used. probability: the vote is the sum over c of p_c code_c, p the value of
        the voter. answer: it is the code of the greatest p_c, the first of equals.
    abstains : bool, default=False
        A voter votes 0 on a case that lacks a value of any column that it reads.
    each : {'tree', 'stump', 'constant', 'rule', 'hypothesis'}, default='tree'
        The kind of the voters.
    name : str, default=''
        Name of constants in descriptions.
    """

    tag: ClassVar[str] = "trees"
    reader: ClassVar[type[Any]] = TreeReader
    n_features: int
    columns: part.Columns
    root: Indices
    nodes: TreeNodes
    value: Floats
    row: Indices = field(default_factory=_empty)
    group: Indices = field(default_factory=_empty)
    code: Floats | None = None
    says: str = "value"
    abstains: bool = False
    each: str = "tree"
    name: str = ""

    def __post_init__(self) -> None:
        part.check_part(self)
        check_nodes(self.root, self.nodes, len(self.columns))
        some = self.nodes.n_nodes == 0 or len(self.value) > 0
        part.check(self.value.ndim == 2 and some, "values of nodes are not a table")
        if len(self.row):
            part.check(self.row.shape == (self.nodes.n_nodes,), "nodes and values differ in number")
            part.check_within(self.row + 1, len(self.value) + 1, "a node has no value")
        else:
            part.check(len(self.value) == self.nodes.n_nodes, "nodes and values differ in number")
        if len(self.group):
            many, trees = len(self.group) - 1, len(self.root)
            sizes = part.check_ptr(self.group, many, trees, "groups of trees")
            part.check(sizes > 0, "a voter has no tree")
        part.check(self.says in ("value", "probability", "answer"), f"says is {self.says!r}")
        part.check((self.code is None) == (self.says == "value"), "codes do not fit the votes")
        if self.code is not None:
            fits = self.code.ndim == 2 and len(self.code) == self.value.shape[1]
            part.check(fits, "codes and class shares differ")
        part.check(self.each in _EACH, f"each is {self.each!r}")
        if self.each in _CHAINS:
            inner = np.flatnonzero(self.nodes.n_children)
            two = bool((self.nodes.n_children[inner] == 2).all())
            part.check(two and not len(self.group), "a chain of tests divides in another way")
            ends = self.nodes.n_children[self.nodes.child[inner] + 1] == 0
            part.check(ends, "a test that fails leads on")
            least = 2 if self.each == "hypothesis" else 1
            part.check(len(self.value) >= least, "chains of tests have no votes")

    @property
    def kind(self) -> str:
        """Name of the kind of voters."""
        branching = self.each == "tree"
        forests = "forest voters" if len(self.group) else "branching tree voters"
        return forests if branching else f"{self.each} voters"

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self._groups) - 1

    @cached_property
    def _groups(self) -> Indices:
        return self.group if len(self.group) else np.arange(len(self.root) + 1)

    @cached_property
    def _of_node(self) -> Indices:
        """Return the row of `value` of each node; an arbitrary one for nodes where no case ends."""
        return np.maximum(self.row, 0) if len(self.row) else np.arange(self.nodes.n_nodes)

    @cached_property
    def node_votes(self) -> Floats:
        """Return the (nodes, K) votes of the nodes."""
        return self._votes_of(self.value)[self._of_node]

    def _votes_of(self, value: Floats) -> Floats:
        return value if self.code is None else coded(value, self.says, self.code)

    # ------------------------------------------------------------------ votes
    def votes(self, X: Floats) -> Floats:
        """Return the (n, T, K) votes."""
        read, leaf, voted = self._read(X), self.leaves(X), self._added
        if not len(self.group):
            out = np.take(voted, leaf, axis=0)  # several times as fast as voted[leaf]
        else:
            sizes = np.diff(self.group)
            out = np.zeros((len(X), self.n_voters, voted.shape[1]))
            if len(X) == 1 and (sizes > 0).all():  # each voter's trees in their order, as below
                np.add.at(out[0], np.repeat(np.arange(self.n_voters), sizes), voted[leaf[0]])
            else:
                for k in range(int(sizes.max(initial=0))):
                    some = np.flatnonzero(sizes > k)
                    out[:, some] += np.take(voted, leaf[:, self.group[some] + k], axis=0)
        if (leaf < 0).any():
            rows = np.flatnonzero((leaf < 0).any(axis=1))
            ends = self.nodes.ends(read[rows], self.root)
            ends = ends.take(leaf[rows][ends.row, ends.tree] < 0)
            voter = np.repeat(np.arange(self.n_voters), np.diff(self._groups))[ends.tree]
            np.add.at(out, (rows[ends.row], voter), ends.part[:, None] * voted[ends.node])
        if len(self.group):
            out = self._votes_of(out / np.diff(self.group)[:, None])
        if self.abstains:
            rows = np.flatnonzero(np.isnan(read).any(axis=1))
            gone = np.isnan(read[rows]) @ self._reads.T
            out[rows] = np.where(gone[:, :, None], 0.0, out[rows])
        return out

    @cached_property
    def _reads(self) -> NDArray[np.bool_]:
        """Return the (T, q) mask of the columns that each voter reads."""
        reads: Any = self.usage()[:, self.columns].toarray()
        return reads

    @cached_property
    def _added(self) -> Floats:
        """Return each node's vote, or part of a group's mean, and a last row of 0."""
        voted = self.value[self._of_node] if len(self.group) else self.node_votes
        return np.append(voted, np.zeros((1, voted.shape[1])), axis=0)

    def leaves(self, X: Floats) -> Indices:
        """Return the (n, trees) node at which each row of X ends; -1 if it is divided."""
        read = self._read(X)
        if not fused(len(X) * len(self.root)) or self._packed is None:
            return self.nodes.leaves(read, self.root)
        from psephos.kernels.prediction.tree_walk_binary import binary_leaves

        packed, in_set, known = self._packed
        leaves = binary_leaves(packed, in_set, read, self.root, bool(self.nodes.single))
        if not known:  # the kernel has no surrogates, and no missing values that stay at a node
            gaps = np.flatnonzero(np.isnan(read).any(axis=1))
            leaves[gaps] = self.nodes.leaves(read[gaps], self.root)
        return leaves

    def _read(self, X: Floats) -> Floats:
        return X if len(self.columns) == X.shape[1] else X[:, self.columns]

    @cached_property
    def _packed(self) -> Any:
        """Return (nodes, in_set, known) for `binary_leaves`; None if it does not support the trees.

        `known`: whether it also supports missing values.
        """
        from psephos.kernels.prediction.tree_walk_binary import pack_nodes

        nodes = self.nodes
        inner, coded = nodes.n_children > 0, np.diff(nodes.code_ptr) > 0
        if nodes.lower is not None or not inner.any() or (nodes.n_children[inner] != 2).any():
            return None
        bound, flip = nodes.threshold, (nodes.flip & ~coded).astype(np.intp)
        if nodes.strict:  # x < t is x <= the number before t; no x is below -inf
            bound = np.where(np.isneginf(bound), np.nan, np.nextafter(bound, -np.inf))
        to_first = inner & (nodes.missing == flip)
        known = (nodes.missing[inner] >= 0).all() and not len(nodes.surrogates.column)
        known = bool(known and not (np.isnan(bound) & ~coded & to_first).any())
        if coded.any() and not known:
            return None
        owner = np.repeat(np.arange(len(inner)), np.diff(nodes.code_ptr))
        branch = np.where(nodes.code_branch < 0, nodes.missing[owner], nodes.code_branch)
        first, second = nodes.child + flip, nodes.child + 1 - flip
        ptr = nodes.code_ptr if coded.any() else _empty()
        packed = pack_nodes(nodes.column, bound, to_first & known, first, second, ptr)
        return packed, branch == 0, known

    def holds(self, X: Floats) -> NDArray[np.bool_]:
        """Return (n, T): whether all tests of each chain hold."""
        return self.leaves(X) == self._last

    @cached_property
    def _last(self) -> Indices:
        """Return the node of each tree at the end of the first branches."""
        node = self.root
        while (inner := self.nodes.n_children[node] > 0).any():
            node = np.where(inner, self.nodes.child[node], node)
        return node

    # ------------------------------------------------------------------ columns that are read
    @cached_property
    def _voter(self) -> Indices:
        """Return the voter of each node."""
        of_tree = np.repeat(np.arange(self.n_voters), np.diff(self._groups))
        return np.repeat(of_tree, np.diff(np.append(self.root, self.nodes.n_nodes)))

    def usage(self) -> Usage:
        """Return the (T, p) table of columns that rules or surrogates read.

        A rule without tests decides the cases that the others leave: it reads all their columns.
        """
        spare, inner = self.nodes.surrogates, self.nodes.column >= 0
        voter = [self._voter[inner], np.repeat(self._voter, np.diff(spare.ptr))]
        column = [self.nodes.column[inner], spare.column]
        if self.each == "rule":
            rest, every = np.setdiff1d(np.arange(self.n_voters), voter[0]), len(self.columns)
            voter.append(np.repeat(rest, every))
            column.append(np.tile(np.arange(every), len(rest)))
        return part.usage_at(self, np.concatenate(voter), np.concatenate(column))

    def marks(self) -> part.Breakpoints:
        """Return the thresholds, column by column."""
        inner, spare = self.nodes.column >= 0, self.nodes.surrogates
        read = np.concatenate([self.nodes.column[inner], spare.column])
        return self.columns[read], np.concatenate([self.nodes.threshold[inner], spare.threshold])

    def take(self, voters: Indices) -> Self:
        """Return these voters only, without columns that are no longer read."""
        group, trees = spans_of(self._groups, voters)
        root, old, nodes = self.nodes.of_trees(self.root, trees)
        kept = nodes.columns
        rules = np.searchsorted(kept, nodes.column)
        local = nodes.on_columns(rules, np.searchsorted(kept, nodes.surrogates.column))
        row = self.row[old] if len(self.row) else self.row
        return replace(
            self,
            columns=self.columns[kept],
            root=root,
            nodes=local,
            value=self.value if len(row) else self.value[old],
            row=row,
            group=group if len(self.group) else self.group,
        )

    def primary(self) -> Self:
        """Return the trees without the surrogates that only missing values need."""
        return self.primary_beside(())

    def primary_beside(self, unsure: Sequence[int]) -> Self:
        """Return the trees without the surrogates that only missing values need.

        A category that a rule does not know also needs a surrogate. So rules with unknown
        categories, and rules on the columns `unsure`, which may have new ones, keep those that a
        case without missing values may use: all up to the first on numbers.
        """
        nodes, every = self.nodes, np.arange(self.nodes.n_nodes)
        if not len(nodes.surrogates.column):
            return self
        unseen = np.repeat(every, np.diff(nodes.code_ptr))[nodes.code_branch < 0]
        new = nodes.column >= 0
        new[new] = np.isin(self.columns[nodes.column[new]], list(unsure))
        unseen = np.union1d(unseen, every[new])
        needed = nodes.surrogates.of_nodes(every, ~np.isin(every, unseen))
        fewer = replace(nodes, surrogates=needed.without_gaps())
        return replace(self, nodes=fewer).take(np.arange(self.n_voters))

    def abstaining(self) -> Self:
        """Return trees in which cases stay where a value is missing; forests, chains unchanged."""
        if len(self.group) or self.each != "tree":
            return self
        stay = np.full_like(self.nodes.missing, STAY)
        return replace(self, nodes=replace(self.nodes, missing=stay))

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): sizes (n, T) divided by the change of the vote at each split of the path.

        The vote of an inner node is the mean of its children, weighted by their shares of training
        rows. A surrogate counts where it decided. For rows that are divided among branches, and for
        chains, sizes are divided equally among the columns of the tree's rules.
        """
        if self.each in _CHAINS:
            return part.evenly(self.usage(), size)
        out = np.zeros((len(X), self.n_features))
        width = len(self.columns)
        if not width:
            return out
        parent, step = self._steps
        read, leaf = self._read(X), self.leaves(X)
        group = np.repeat(np.arange(self.n_voters), np.diff(self._groups))

        def decided(row: Indices, node: Indices) -> Indices:
            return self._decided(read, row, node)

        out[:, self.columns] = path_moves(leaf, parent, step, decided, size, group, width)
        spread = np.where(leaf < 0, size[:, group], 0.0)
        if spread.any():
            inner, reads = self.nodes.column >= 0, np.zeros((self.n_voters, width))
            reads[self._voter[inner], self.nodes.column[inner]] = 1.0
            reads /= np.maximum(reads.sum(axis=1, keepdims=True), 1.0)
            out[:, self.columns] += spread @ reads[group]
        return out

    @cached_property
    def _steps(self) -> tuple[Indices, Floats]:
        """Return each node's parent, -1 at a root, and the change of the vote from it."""
        nodes, votes = self.nodes, self.node_votes.copy()
        inner = np.flatnonzero(nodes.n_children)
        number = nodes.n_children[inner]
        begun = np.cumsum(number) - number
        below = np.arange(int(number.sum())) + np.repeat(nodes.child[inner] - begun, number)
        parent = np.full(nodes.n_nodes, -1, np.intp)
        parent[below] = np.repeat(inner, number)
        total = np.bincount(parent[below], nodes.share[below], nodes.n_nodes)
        even = 1.0 / np.maximum(nodes.n_children, 1)
        divisor = np.where(total > 0, total, 1.0)[parent]
        share = np.where(total[parent] > 0, nodes.share / divisor, even[parent])
        depth = np.zeros(nodes.n_nodes, np.intp)
        above = parent
        while (on := above >= 0).any():
            depth += on
            above = np.where(on, parent[above], -1)
        for level in range(int(depth.max(initial=0)), 0, -1):
            own = np.flatnonzero(depth == level)
            votes[np.unique(parent[own])] = 0.0
            np.add.at(votes, parent[own], share[own, None] * votes[own])
        return parent, np.where(parent >= 0, np.abs(votes - votes[parent]).sum(axis=1), 0.0)

    def _decided(self, read: Floats, row: Indices, node: Indices) -> Indices:
        """Return the column that decided at a node: its own, or that of a surrogate."""
        column, spare = self.nodes.column[node], self.nodes.surrogates
        if not len(spare.column):
            return column
        for i in np.flatnonzero(np.isnan(read[row, column])):
            others = spare.column[spare.ptr[node[i]] : spare.ptr[node[i] + 1]]
            known = others[~np.isnan(read[row[i], others])]
            if len(known):
                column[i] = known[0]
        return column

    # ------------------------------------------------------------------ display
    def n_trees(self, voter: int) -> int:
        """Return the number of trees of a voter; 0 of stumps, constants and chains."""
        return int(np.diff(self._groups)[voter]) if self.each == "tree" else 0

    def tree(self, voter: int) -> Tree | None:
        """Return the tree of a voter that is one tree, on the columns of the table; else None."""
        return self._tree(int(self._groups[voter])) if self.n_trees(voter) == 1 else None

    def _tree(self, tree: int) -> Tree:
        """Return a tree with the values of its nodes.

        A node at which no case ends has the unweighted mean of its leaves.
        """
        _, old, nodes = self.nodes.of_trees(self.root, np.array([tree], np.intp))
        at = np.append(self.columns, -1)  # the column of a leaf is -1
        nodes = nodes.on_columns(at[nodes.column], at[nodes.surrogates.column])
        value = self.value[self._of_node[old]]
        if len(self.row) and (self.row[old] < 0).any():
            value = nodes.leaf_means(value)
        return Tree.of(nodes, value)

    def shown_tree(self, voter: int, tree: int) -> part.ShownTree:
        """Return a tree of a voter, to be drawn."""
        grown = self._tree(int(self._groups[voter]) + tree)
        shares = None if self.code is None else grown.value
        return part.ShownTree(grown, shares, self._votes_of(grown.value))

    def way(self, voter: int) -> tuple[tree_leaves.Condition, ...]:
        """Return the conditions of a chain, one a column."""
        last = int(self._last[voter] - self.root[voter])
        leaves = tree_leaves.leaves_of(self._tree(voter))
        return next(one.conditions for one in leaves if one.node == last)

    # ------------------------------------------------------------------ in words
    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return a voter in words: its rule, or its size and the columns it reads."""
        if self.each == "constant":
            return self.name
        if len(self.group):
            usage: Usage = self.usage()
            read = [names[j] for j in np.flatnonzero(usage[[voter]].toarray()[0])]
            return f"a forest of {self.n_trees(voter)} trees on {listed(read) or 'no column'}"
        grown = self._tree(voter)
        if self.each not in _CHAINS:
            return "always" if self._same(voter) else tree_leaves.tree_words(grown, names, levels)
        tests = [tree_leaves.condition_words(c, names, levels) for c in _tests(grown)]
        words = " and ".join(tests)
        if self.each == "rule":
            return f"if {words}" if words else "otherwise"
        none = self._of_node[self.root[voter]] == 1
        return words or ("no case (the empty hypothesis)" if none else "any case (no test)")

    def _same(self, voter: int) -> bool:
        """Return whether a tree of several leaves votes the same on every case."""
        first, end = self.root[voter], np.append(self.root, self.nodes.n_nodes)[voter + 1]
        own = slice(int(first), int(end))
        ends = (self.nodes.n_children[own] == 0) | (self.nodes.missing[own] < 0)
        votes = self.node_votes[own][ends]
        return end - first > 1 and not self.abstains and bool((votes == votes[0]).all())

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason of each vote, for each row."""
        if self.nodes.n_nodes <= _AT_ONCE or self.each == "rule":
            return super().reasons(X)
        each = (self.take(np.array([t])) for t in range(self.n_voters))  # lists take much memory
        found = [[row[0] for row in one.reasons(X)] for one in each]
        return [list(row) for row in zip(*found, strict=True)]

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        """Return the votes of a constant, a chain, or a tree with one split; else []."""
        if len(self.group):
            return []
        first = int(self.root[voter])
        votes, nodes = self.node_votes, self.nodes
        if self.each == "rule":
            return [("if so", votes[self._last[voter]])]
        if self.each == "hypothesis":
            yes, no = self._votes_of(self.value)[:2]
            return [("if so", yes), ("if not", no)]
        if not nodes.n_children[first] or self._same(voter):
            return [("always", votes[self._last[voter]])]
        ends = np.append(self.root, nodes.n_nodes)
        if ends[voter + 1] - first != 3:
            return []
        asks = tree_leaves.split_conditions(self._tree(voter), 0)[1]
        below = nodes.children(first)
        voted = [("if so", votes[below[0]]), (tree_leaves.otherwise_words(asks), votes[below[1]])]
        if nodes.missing[first] == STAY and not self.abstains:  # the root answers
            surrogates = " with its surrogates" if asks.surrogates else ""
            voted.append((f"if missing{surrogates}", votes[first]))
        return voted


def _tests(chain: Tree) -> list[tree_leaves.Condition]:
    """Return the tests of a chain, without their treatment of missing values."""
    found, node = list[tree_leaves.Condition](), 0
    while chain.n_children[node]:
        found.append(replace(tree_leaves.split_conditions(chain, node)[0], missing=0.0))
        node = int(chain.child[node])
    return found


def coded(shares: Floats, says: str, code: Floats) -> Floats:
    """Return the (..., K) votes of class shares (..., C); see `says` of `Trees`."""
    if says == "value":
        return shares
    if says == "answer":
        return code[shares.argmax(axis=-1)]
    k = len(code)  # SAMME's codes: 1 for the class, -1 / (K - 1) elsewhere
    ones = np.where(np.eye(k, dtype=bool), 1.0, -1.0 / max(k - 1, 1))
    samme = k > 2 and np.array_equal(code, ones)
    total = np.zeros((*shares.shape[:-1], 1 if samme else code.shape[1]))
    for c in range(k):  # one order of sums, however many rows there are
        total += shares[..., c, None] * (1.0 if samme else code[c])
    if not samme:
        return total
    # this form gives equal shares votes that are equal to the last bit
    return (k * shares - total) / (k - 1)
