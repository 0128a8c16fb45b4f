"""Trees and forests as voters: binary ones in flat arrays, and those of any number of branches."""

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray, Usage
from psephos.files.field_types import Thresholds
from psephos.kernels.prediction import fused
from psephos.trees.tree import STAY, Tree, join_trees, spans_of
from psephos.vote import part
from psephos.vote.codec import register, register_form
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.nodes import flat_nodes
from psephos.vote.operations.trees import Trees


@register
class TreeVoters(part.ReadsColumns, ReadAsLowered):
    """Binary trees in flat arrays; each votes the value of the leaf that a row reaches.

    Node arrays are concatenated over trees. A numeric rule sends ``value <= threshold`` to the
    first child, a rule on categories the codes of its set. A missing value, or a code beyond the
    set, goes to the first child if `missing_left`, else to the second.

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
        The votes, a row per node, or the rows to which `answer` refers.
    single : bool
        Values are rounded to float32 before they are compared, as by trees grown on float32.
    abstains : bool, default=False
        A tree votes 0 on a row that lacks a value of any column it splits on.
    category_ptr : ndarray of shape (nodes + 1,), or empty
        Node i's set is ``category_left[category_ptr[i]:category_ptr[i + 1]]``; empty for a
        numeric rule. An empty `category_ptr`: no tree has rules on categories.
    category_left : ndarray, bool
        Whether each code goes to the first child.
    answer : ndarray of shape (nodes,), or empty
        The row of `value` of a leaf, which leaves may share; -1 at other nodes. Empty: node i has
        row i.
    """

    tag: ClassVar[str] = "tree voters"
    n_features: int
    columns: part.Columns
    root: Indices
    feature: Indices
    threshold: Thresholds
    missing_left: NDArray[np.bool_]
    first: Indices
    second: Indices
    value: Floats
    single: bool
    abstains: bool = False
    category_ptr: Indices = field(default_factory=lambda: np.empty(0, np.intp))
    category_left: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    answer: Indices = field(default_factory=lambda: np.empty(0, np.intp))

    def __post_init__(self) -> None:
        part.check_part(self)
        nodes = len(self.feature)
        flat = (self.threshold, self.missing_left, self.first, self.second)
        part.check(all(a.shape == (nodes,) for a in flat), "node arrays differ in length")
        part.check(self.feature.ndim == self.root.ndim == 1, "nodes are not in a row")
        part.check(self.value.ndim == 2, "votes are not a table")
        inside = (self.feature >= -1) & (self.feature < len(self.columns))
        part.check(inside, "a tree reads a column it lacks")
        part.check_within(self.root, nodes, "a root is not a node")
        ends = self._ends()
        part.check(nodes == 0 or ends[0] == 0, "the first root is not the first node")
        part.check(np.diff(ends) > 0, "a tree has no node")
        inner = np.flatnonzero(self.feature >= 0)
        end = np.repeat(ends[1:], np.diff(ends))[inner]
        for child in (self.first[inner], self.second[inner]):  # children follow: no cycles
            inside = (child > inner) & (child < end)
            part.check(inside, "a child is outside its tree, or not after its parent")
        child = np.zeros(nodes, np.bool_)  # a byte a node: forests have many
        for children in (self.first[inner], self.second[inner]):
            child[children] = True
        part.check(int(child.sum()) == 2 * len(inner), "a node has two parents")
        self._check_answers()
        self._check_categories()

    def _check_answers(self) -> None:
        nodes, answer = len(self.feature), self.answer
        part.check(answer.ndim == 1, "answers are not in a row")
        if len(answer) == 0:
            part.check(len(self.value) == nodes, "nodes and votes differ")
            return
        part.check(len(answer) == nodes, "nodes and answers differ")
        leaf = self.feature < 0
        inside = (answer >= 0) & (answer < len(self.value))
        whole = (inside == leaf) & (leaf | (answer == -1))
        part.check(whole, "a leaf lacks an answer, or another node has one")

    def _check_categories(self) -> None:
        ptr, members = self.category_ptr, self.category_left
        part.check(ptr.ndim == members.ndim == 1, "sets of categories are not in a row")
        if len(ptr) == 0:
            part.check(len(members) == 0, "sets of categories have no pointers")
            return
        part.check(len(members) < 2**31, "sets of categories are too many")
        part.check_ptr(ptr, len(self.feature), len(members), "categories")

    @classmethod
    def of_nodes(
        cls, n_features: int, sizes: Indices, column: Indices, first: Indices, threshold: Floats,
        missing_left: NDArray[np.bool_], value: Floats, *, leaf: int = 0, **more: Any,
    ) -> Self:  # fmt: skip
        """Return trees from the nodes of consecutive trees of these sizes.

        `column` is that of the table, -1 at a leaf. Children are numbered from the first node of
        their tree, and the second child follows the first; both become `leaf` at a leaf.
        """
        root, inner = (np.cumsum(sizes) - sizes).astype(np.intp), column >= 0
        columns, local = np.unique(column[inner], return_inverse=True)
        feature = np.full(len(column), -1, np.intp)
        feature[inner] = local
        first = np.where(inner, first + np.repeat(root, sizes), leaf).astype(np.intp)
        second = np.where(inner, first + 1, leaf).astype(np.intp)
        return cls(
            n_features, columns.astype(np.intp), root, feature, threshold, missing_left, first,
            second, value, **more,
        )  # fmt: skip

    @property
    def n_voters(self) -> int:
        return len(self.root)

    def votes(self, X: Floats) -> Floats:
        if self.abstains or not fused():
            return self._operation.votes(X)
        leaves = self.leaves(X)
        rows = self.answer[leaves] if len(self.answer) else leaves
        return np.take(self.value, rows, axis=0)  # several times as fast as value[rows]

    def leaves(self, X: Floats) -> Indices:
        """Return the (n, T) node at which each row of X ends in each tree."""
        if not fused(len(X) * self.n_voters):
            return self._order[replace(self, abstains=False).lowered().leaves(X)]
        from psephos.kernels.prediction.tree_walk_binary import binary_leaves

        read = X if len(self.columns) == X.shape[1] else X[:, self.columns]
        return binary_leaves(self._packed, self.category_left, read, self.root, bool(self.single))

    @cached_property
    def _packed(self) -> Any:
        from psephos.kernels.prediction.tree_walk_binary import pack_nodes

        nodes = (self.feature, self.threshold, self.missing_left, self.first, self.second)
        return pack_nodes(*nodes, self.category_ptr)

    def _ends(self) -> Indices:
        return np.append(self.root, len(self.feature))

    def usage(self) -> Usage:
        voter = np.repeat(np.arange(self.n_voters), np.diff(self._ends()))
        inner = self.feature >= 0
        return part.usage_at(self, voter[inner], self.feature[inner])

    def take(self, voters: Indices) -> Self:
        start, nodes = spans_of(self._ends(), voters)
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

    def abstaining(self) -> Self:
        return replace(self, abstains=True)

    @cached_property
    def _order(self) -> Indices:
        """Return the nodes tree by tree, and level by level, so that siblings are adjacent."""
        inner = self.feature >= 0
        level, levels = self.root, [self.root]
        while len(level := level[inner[level]]):
            level = np.stack([self.first[level], self.second[level]], axis=1).ravel()
            levels.append(level)
        order = np.concatenate([np.empty(0, np.intp), *levels])
        of_node = np.repeat(np.arange(self.n_voters), np.diff(self._ends()))
        return order[np.argsort(of_node[order], kind="stable")]

    @cached_property
    def _operation(self) -> Trees:
        """Return the trees as the operation `Trees`."""
        inner, order = self.feature >= 0, self._order
        place = np.full(len(inner), -1)
        place[order] = np.arange(len(order))
        ptr, codes = np.zeros(len(order) + 1, np.intp), np.empty(0, np.intp)
        if len(self.category_ptr):
            ptr, codes = spans_of(self.category_ptr, order, ~inner[order])
        coded = np.diff(ptr) > 0
        return Trees(
            self.n_features,
            self.columns,
            place[self.root],
            flat_nodes(
                place[np.where(inner, self.first, 0)[order]],
                self.feature[order],
                np.where(coded, np.nan, self.threshold[order]),
                np.where(self.abstains, STAY, np.where(self.missing_left[order], 0, 1)),
                code_ptr=ptr,
                code_branch=np.where(self.category_left[codes], 0, 1),
                single=bool(self.single),
            ),
            self.value,
            self.answer[order] if len(self.answer) else order,
            abstains=bool(self.abstains),
        )


@register_form("forest voters")
def forest_voters(
    trees: TreeVoters, group: Indices, value: Floats, says: str = "answer", abstains: bool = False
) -> Trees:
    """Return forests as voters: each averages, over its trees, the leaves that a row reaches.

    The parameters are the fields of such parts in files of older releases.

    Parameters
    ----------
    trees : TreeVoters
        Their leaves hold class shares (nodes, n_classes), or a number (nodes, 1).
    group : ndarray of shape (T + 1,)
        Forest t is the trees ``group[t] : group[t + 1]``.
    value : ndarray of shape (n_classes, K)
        The table of codes; of shape (1, 1) and ignored if `says` is 'value'.
    says : {'answer', 'probability', 'value'}
        answer: the code of the class with the greatest mean share, the first of equals.
        probability: sum over k of p_k code_k, p the mean shares. value: the mean number.
    abstains : bool, default=False
        True: a forest votes 0 on a row that lacks a value of any column its trees split on.
        False: each node sends missing values to one of its children.
    """
    part.check(type(trees) is TreeVoters and not trees.abstains, "a forest needs plain trees")
    part.check_ptr(group, max(group.size, 1) - 1, trees.n_voters, "groups")
    part.check(says != "value" or value.shape == (1, 1), "value is not (1, 1)")
    code = None if says == "value" else value
    return replace(trees.lowered(), code=code, says=says, abstains=abstains, group=group)


def branch_voters(trees: Sequence[Tree], n_features: int, code: Floats | None = None) -> Trees:
    """Return trees of any number of branches as voters; each votes the value of its leaf.

    Rules are on numbers or categories, may have surrogates, and may divide rows with missing values
    among branches: see `psephos.trees.tree.Tree`. For hundreds of binary trees, `TreeVoters` is
    faster.

    Parameters
    ----------
    trees : sequence of Tree
        At least one, all with intervals or all without, and with the same `strict` and
        `single`; their columns are those of the table.
    n_features : int
    code : ndarray of shape (C, K), default=None
        `Target.code` for trees whose values are class shares (C,): the vote is the sum over c of
        value_c code_c. None: the vote is the value.
    """
    alike = {(tree.lower is None, tree.strict, tree.single) for tree in trees}
    part.check(len(alike) == 1, "trees compare in different ways")
    root, nodes = join_trees(trees)
    columns = nodes.columns
    rules = np.searchsorted(columns, nodes.column)
    local = nodes.on_columns(rules, np.searchsorted(columns, nodes.surrogates.column))
    return joined_trees(n_features, columns, root, local, code)


@register_form("branching tree voters")
def joined_trees(
    n_features: int, columns: part.Columns, root: Indices, nodes: Tree, code: Floats | None = None
) -> Trees:
    """Return voters from the nodes of all trees, a part of files of older releases.

    The parameters are those of `Trees`.
    """
    says = "value" if code is None else "probability"
    return Trees(n_features, columns, root, nodes, nodes.value, code=code, says=says)
