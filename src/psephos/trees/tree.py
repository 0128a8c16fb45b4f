"""Trees: nodes in flat arrays, with any number of branches and rules for missing values."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from psephos._types import NDArray
from psephos.files.escaping import printable
from psephos.files.field_types import Thresholds

SPREAD, STAY = -1, -2  # values of `missing` besides branches
_SOFT = -3  # a row goes to both branches in part

_Floats = NDArray[np.float64]
_Whole = NDArray[np.intp]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Surrogates:
    """Rules that replace a node's own where its column is missing, best first.

    Node i has the rules ``ptr[i] : ptr[i + 1]``. The other fields are as in `TreeNodes`.
    """

    tag: ClassVar[str] = "surrogate rules"
    ptr: _Whole
    column: _Whole
    threshold: Thresholds
    flip: _Flags
    code_ptr: _Whole
    code_branch: _Whole

    @classmethod
    def none(cls, n_nodes: int) -> Self:
        """Return no surrogate for any of the nodes."""
        whole, flags = np.empty(0, np.intp), np.empty(0, np.bool_)
        start = np.zeros(n_nodes + 1, np.intp)
        return cls(start, whole, np.empty(0), flags, np.zeros(1, np.intp), whole)

    def of_nodes(self, nodes: _Whole, without: _Flags) -> Self:
        """Return the surrogates of some nodes, in that order; none where `without` is true."""
        return self._of_rules(*spans_of(self.ptr, nodes, without))

    def without_gaps(self) -> Self:
        """Return the surrogates that a row without missing numbers can use.

        For each node these are all up to the first that compares a number.
        """
        owner = np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
        numbers = (~np.isnan(self.threshold)).astype(np.intp)
        before = np.cumsum(numbers) - numbers
        kept = before == before[self.ptr[owner]]
        lengths = np.bincount(owner[kept], minlength=len(self.ptr) - 1)
        return self._of_rules(np.append(0, np.cumsum(lengths)), np.flatnonzero(kept))

    def _of_rules(self, ptr: _Whole, rules: _Whole) -> Self:
        code_ptr, codes = spans_of(self.code_ptr, rules)
        own: dict[str, Any] = {n: getattr(self, n)[rules] for n in ("column", "threshold", "flip")}
        code_branch = self.code_branch[codes]
        return replace(self, ptr=ptr, code_ptr=code_ptr, code_branch=code_branch, **own)


class Ends(NamedTuple):
    """The nodes where rows end: one entry for each part of a row in each tree.

    `part` is 1, or the share of a divided row that ends there.
    """

    row: _Whole
    tree: _Whole
    node: _Whole
    part: _Floats

    def take(self, which: Any) -> "Ends":
        """Return some entries."""
        return Ends(self.row[which], self.tree[which], self.node[which], self.part[which])


@dataclass(frozen=True)
class TreeNodes:
    """The nodes of one tree or of several, one tree after the other.

    The children of node i are the nodes ``child[i] : child[i] + n_children[i]``, all after it; a
    leaf has none. The rule of a node sends a row to a branch. If the value is missing (or its code
    unknown), the first surrogate that has a value does, and otherwise `missing`.

    A row that is spread goes to all branches in proportion to their shares above 0 (if there are
    none, it stays). The value of the tree is the mean over the leaves that the row reaches,
    weighted by its parts.

    Parameters
    ----------
    child, n_children : ndarray of shape (nodes,), intp
    column : ndarray of shape (nodes,), intp
        Column of the table that the node reads; -1 at a leaf.
    threshold : ndarray of shape (nodes,)
        Numeric rule: ``value <= threshold`` is branch 0 (``<`` if `strict`), else branch 1;
        NaN for a rule on categories.
    flip : ndarray of shape (nodes,), bool
        Whether the branches of the numeric rule are exchanged.
    code_ptr : ndarray of shape (nodes + 1,), intp
    code_branch : ndarray, intp
        Rule on categories: ``code_branch[code_ptr[i] + code]`` is the branch of a code, -1 if the
        code is unknown to the node (it is then missing).
    missing : ndarray of shape (nodes,), intp
        A branch; -1 (`SPREAD`): all branches by their `share`; -2 (`STAY`): the row ends here.
    share : ndarray of shape (nodes,)
        Share of the parent's rows with a value that went to the node; 1 at the root.
    surrogates : Surrogates
    strict : bool, default=False
    single : bool, default=False
        Whether values are rounded to float32 before they are compared.
    lower, upper : ndarray of shape (nodes,), or None, default=None
        Soft thresholds of older model files: the share of a row with value x that goes to branch 0
        is 1 up to `lower`, 1/2 at `threshold` and 0 from `upper` on, and linear in between; NaN
        where `threshold` is. `flip`, `strict` and `single` must then be False.
    """

    tag: ClassVar[str] = "nodes"
    by_node: ClassVar[tuple[str, ...]] = (
        "n_children", "column", "threshold", "flip", "missing", "share",
    )  # fmt: skip
    child: _Whole
    n_children: _Whole
    column: _Whole
    threshold: Thresholds
    flip: _Flags
    code_ptr: _Whole
    code_branch: _Whole
    missing: _Whole
    share: _Floats
    surrogates: Surrogates
    strict: bool = False
    single: bool = False
    lower: Thresholds | None = None
    upper: Thresholds | None = None

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.column)

    @property
    def columns(self) -> _Whole:
        """Return the sorted columns that rules or surrogates read."""
        read = np.concatenate([self.column[self.column >= 0], self.surrogates.column])
        return np.unique(read).astype(np.intp)

    def children(self, node: int) -> _Whole:
        """Return the children of a node."""
        first = int(self.child[node])
        return np.arange(first, first + int(self.n_children[node]))

    def leaf_means(self, value: _Floats) -> _Floats:
        """Return (nodes, K): the unweighted mean of the values of the leaves below each node."""
        leaf = self.n_children == 0
        total, number = np.where(leaf[:, None], value, 0.0), leaf.astype(int).tolist()
        first, n = self.child.tolist(), self.n_children.tolist()
        for node in np.flatnonzero(~leaf)[::-1].tolist():  # children follow
            below = slice(first[node], first[node] + n[node])
            np.add.reduce(total[below], axis=0, out=total[node])
            number[node] = sum(number[below])
        return total / np.maximum(number, 1)[:, None]

    def softly(self, node: int) -> tuple[float, float] | None:
        """Return the bounds of a soft threshold; None if the node has none."""
        if self.lower is None or self.upper is None:
            return None
        lower, upper = float(self.lower[node]), float(self.upper[node])
        return (lower, upper) if lower < upper else None

    # ------------------------------------------------------------------ paths of rows
    def ends(self, X: Any, root: Any = (0,)) -> Ends:
        """Return the nodes where rows of X, shape (n, p), end in the trees that begin at `root`."""
        table, start = np.asarray(X, np.float64), np.asarray(root, np.intp)
        row, tree = np.indices((len(table), len(start)), np.intp).reshape(2, -1)
        going = Ends(row, tree, start[tree], np.ones(len(row)))
        found = [going.take(slice(0, 0))]
        while len(going.node):
            leaf = self.n_children[going.node] == 0
            found.append(going.take(leaf))
            going = going.take(~leaf)
            branch = self.branches(table, going.row, going.node)
            stays = branch == STAY
            found.append(going.take(stays))
            divided = (branch < 0) & ~stays
            parts = [going.take(branch >= 0)]
            parts[0] = parts[0]._replace(node=self.child[parts[0].node] + branch[branch >= 0])
            if divided.any():
                parts += self._divided(table, going.take(divided), branch[divided])
            going = Ends(*map(np.concatenate, zip(*parts, strict=True)))
        return Ends(*map(np.concatenate, zip(*found, strict=True)))

    def branches(self, X: _Floats, row: _Whole, node: _Whole) -> _Whole:
        """Return the branch of each of some rows at its node; `SPREAD`, `STAY`, or `_SOFT`."""
        x = X[row, self.column[node]]
        branch = self._named(self, node, x)
        spare = self.surrogates
        lacks = np.flatnonzero(branch < 0)
        rule, end = spare.ptr[node[lacks]], spare.ptr[node[lacks] + 1]
        while (more := rule < end).any():
            lacks, rule, end = lacks[more], rule[more], end[more]
            branch[lacks] = self._named(spare, rule, X[row[lacks], spare.column[rule]])
            still = branch[lacks] < 0
            lacks, rule, end = lacks[still], rule[still] + 1, end[still]
        branch = np.where(branch < 0, self.missing[node], branch)
        if (branch == SPREAD).any():
            some = np.append(0, np.cumsum(self.share > 0))
            first = self.child[node]
            none = some[first + self.n_children[node]] == some[first]
            branch = np.where((branch == SPREAD) & none, STAY, branch)
        if self.lower is not None and self.upper is not None:
            inside = (x < self.upper[node]) | (x <= self.threshold[node])
            branch = np.where((x > self.lower[node]) & inside, _SOFT, branch)
        return branch

    def _named(self, rules: Any, r: _Whole, x: _Floats) -> _Whole:
        """Return the branches of values by rules; -1 where missing or unknown."""
        with np.errstate(over="ignore"):
            read = x.astype(np.float32).astype(np.float64) if self.single else x
        bound = rules.threshold[r]
        holds = read < bound if self.strict else read <= bound
        branch = np.where(holds != rules.flip[r], 0, 1)
        first = rules.code_ptr[r]
        number = rules.code_ptr[r + 1] - first
        if len(rules.code_branch):
            known = np.flatnonzero((x >= 0) & (x < number))
            branch[number > 0] = -1
            branch[known] = rules.code_branch[first[known] + x[known].astype(np.intp)]
        branch[np.isnan(x)] = -1
        return branch

    def _divided(self, X: _Floats, at: Ends, branch: _Whole) -> list[Ends]:
        """Return the parts of divided rows, each at its child."""
        spread, soft = at.take(branch == SPREAD), at.take(branch == _SOFT)
        number = self.n_children[spread.node]
        which = np.repeat(np.arange(len(number)), number)
        each = np.arange(len(which)) - np.repeat(np.cumsum(number) - number, number)
        child = self.child[spread.node][which] + each
        share = np.maximum(self.share[child], 0.0)
        total = np.bincount(which, share, len(number))
        part = spread.part[which] * share / np.where(total > 0, total, 1.0)[which]
        parts = [Ends(spread.row[which], spread.tree[which], child, part).take(share > 0)]
        if self.lower is not None and self.upper is not None:
            node = soft.node
            below = first_share(
                X[soft.row, self.column[node]], self.lower[node], self.threshold[node],
                self.upper[node],
            )  # fmt: skip
            for b, share in enumerate((below, 1.0 - below)):
                parts.append(soft._replace(node=self.child[node] + b, part=soft.part * share))
        return parts

    def leaves(self, X: Any, root: Any = (0,)) -> _Whole:
        """Return the node at which each row of X, shape (n, p), ends; -1 where it is divided.

        Parameters
        ----------
        X : ndarray of shape (n, p)
        root : sequence of T nodes, default=(0,)
            The first nodes of the trees.

        Returns
        -------
        ndarray of shape (n, T), intp
        """
        out = np.full((len(X), len(root)), -1, np.intp)
        ends = self.ends(X, root)
        whole = ends.take(ends.part == 1.0)
        out[whole.row, whole.tree] = whole.node
        return out

    # ------------------------------------------------------------------ other trees
    def of_nodes(self, nodes: _Whole, leaf: _Flags) -> Self:
        """Return these nodes in this order, those of `leaf` without their rules.

        `child` is not renumbered: the caller must do that.
        """
        code_ptr, codes = spans_of(self.code_ptr, nodes, leaf)
        own: dict[str, Any] = {name: getattr(self, name)[nodes] for name in self.by_node}
        bounds = {"threshold": self.threshold, "lower": self.lower, "upper": self.upper}
        own |= {k: np.where(leaf, np.nan, v[nodes]) for k, v in bounds.items() if v is not None}
        none = {"n_children": 0, "column": -1, "flip": False, "gain": 0.0}
        own |= {k: np.where(leaf, v, own[k]) for k, v in none.items() if k in own}
        return replace(
            self,
            child=np.where(leaf, 0, self.child[nodes]),
            code_ptr=code_ptr,
            code_branch=self.code_branch[codes],
            surrogates=self.surrogates.of_nodes(nodes, leaf),
            **own,
        )

    def on_columns(self, column: _Whole, surrogate_column: _Whole) -> Self:
        """Return the nodes with other column numbers in their rules and surrogates."""
        return replace(
            self,
            column=np.where(self.column >= 0, column, -1).astype(np.intp),
            surrogates=replace(self.surrogates, column=surrogate_column.astype(np.intp)),
        )

    def of_trees(self, root: _Whole, trees: _Whole) -> tuple[_Whole, _Whole, Self]:
        """Return (roots, old positions of the nodes, nodes) of some trees.

        `root` are the first nodes of all trees.
        """
        start, nodes = spans_of(np.append(root, self.n_nodes), trees)
        shift = np.repeat(start[:-1] - root[trees], np.diff(start))
        part = self.of_nodes(nodes, self.n_children[nodes] == 0)
        child = np.where(part.n_children > 0, part.child + shift, 0)
        return start[:-1], nodes, replace(part, child=child)


@dataclass(frozen=True, kw_only=True)
class Tree(TreeNodes):
    """One tree with its training statistics; node 0 is the root.

    `join_trees` concatenates several trees in the same form.

    Parameters
    ----------
    value : ndarray of shape (nodes, K)
        Value of each node: class shares (K classes) or a number (K = 1).
    counts : ndarray of shape (nodes, C)
        Training weight per class; regression: the weight alone.
    n_rows : ndarray of shape (nodes,), intp
        Number of training rows that reached the node, in whole or in part.
    gain : ndarray of shape (nodes,)
        Gain of the node's split in its criterion; 0 at a leaf.

    The other fields are those of `TreeNodes`.
    """

    tag: ClassVar[str] = "tree nodes"
    former: ClassVar[tuple[str, ...]] = ("tree nodes with soft thresholds",)
    read_as: ClassVar[type[TreeNodes]] = TreeNodes
    by_node: ClassVar[tuple[str, ...]] = (*TreeNodes.by_node, "value", "counts", "n_rows", "gain")
    value: _Floats
    counts: _Floats
    n_rows: _Whole
    gain: _Floats

    @classmethod
    def of(cls, nodes: TreeNodes, value: _Floats) -> "Tree":
        """Return a tree of nodes with these values; statistics that are unknown are left empty."""
        if isinstance(nodes, Tree):
            return replace(nodes, value=value)
        n, known = nodes.n_nodes, {f.name: getattr(nodes, f.name) for f in fields(nodes)}
        gain = np.where(nodes.n_children > 0, np.nan, 0.0)
        return cls(**known, value=value, counts=np.empty((n, 0)), n_rows=np.full(n, -1), gain=gain)

    def __str__(self) -> str:
        from psephos.trees.tree_text import export_text

        return printable(export_text(self))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    @property
    def n_leaves(self) -> int:
        """Return the number of leaves."""
        return int((self.n_children == 0).sum())

    @property
    def depth(self) -> int:
        """Return the number of rules on the longest path to a leaf."""
        level = np.zeros(self.n_nodes, np.intp)
        for node in np.flatnonzero(self.n_children):  # parents come before their children
            level[self.children(int(node))] = level[node] + 1
        return int(level.max(initial=0))

    def answers(self, X: Any, root: Any = (0,), value: _Floats | None = None) -> _Floats:
        """Return the (n, T, K) value of each row's leaf; of a divided row, the mean over leaves.

        `value` (nodes, K) takes the place of the tree's own.
        """
        values = self.value if value is None else value
        ends, out = self.ends(X, root), np.zeros((len(X), len(root), values.shape[1]))
        np.add.at(out, (ends.row, ends.tree), ends.part[:, None] * values[ends.node])
        return out

    def collapse(self, nodes: Any) -> Self:
        """Return the tree with these nodes made leaves."""
        cut = np.zeros(self.n_nodes, np.bool_)
        cut[np.asarray(nodes, np.intp)] = True
        gone = np.zeros(self.n_nodes, np.bool_)
        for node in np.flatnonzero(self.n_children):
            gone[self.children(int(node))] = gone[node] or cut[node]
        kept = np.flatnonzero(~gone)
        place = np.cumsum(~gone) - 1
        leaf = (cut | (self.n_children == 0))[kept]
        return replace(self.of_nodes(kept, leaf), child=np.where(leaf, 0, place[self.child[kept]]))


def join_trees(trees: Sequence[Tree]) -> tuple[_Whole, Tree]:
    """Return the root of each tree, and the nodes of all, one tree after the other.

    `trees`: at least one, all with the same `strict`, `single` and number of values per node.
    """
    sizes = np.array([tree.n_nodes for tree in trees], np.intp)
    root = np.cumsum(sizes) - sizes
    each = [tree.surrogates for tree in trees]
    spare = ("column", "threshold", "flip", "code_branch")
    surrogates = Surrogates(
        ptr=_joined_ptr([s.ptr for s in each]),
        code_ptr=_joined_ptr([s.code_ptr for s in each]),
        **{name: np.concatenate([getattr(s, name) for s in each]) for name in spare},
    )
    bounds = ("lower", "upper") if trees[0].lower is not None else ()
    names = (*trees[0].by_node, "code_branch", *bounds)
    leaf = np.concatenate([tree.n_children == 0 for tree in trees])
    child = np.concatenate([tree.child for tree in trees]) + np.repeat(root, sizes)
    joined = replace(
        trees[0],
        child=np.where(leaf, 0, child),
        code_ptr=_joined_ptr([tree.code_ptr for tree in trees]),
        surrogates=surrogates,
        **{name: np.concatenate([getattr(t, name) for t in trees]) for name in names},
    )
    return root, joined


def first_share(x: Any, lower: Any, threshold: Any, upper: Any) -> _Floats:
    """Return the shares of rows with value x that soft thresholds send to the first branch.

    A share is 1 up to `lower`, 1/2 at `threshold`, 0 from `upper` on, and linear in between.
    (Numbers are halved before they are subtracted, as a difference may overflow.)
    """
    at, low, middle, high = (np.multiply(0.5, v) for v in (x, lower, threshold, upper))
    below, above = middle - low, high - middle
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(below > 0, 1.0 - 0.5 * ((at - low) / below), 0.5)
        second = np.where(above > 0, 0.5 * ((high - at) / above), 0.5)
    first, second = np.where(x <= lower, 1.0, first), np.where(x >= upper, 0.0, second)
    return np.where(x <= threshold, first, second)


def _joined_ptr(ptrs: list[_Whole]) -> _Whole:
    """Return the pointers of concatenated lists."""
    sizes = np.concatenate([np.diff(ptr) for ptr in ptrs])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def spans_of(ptr: _Whole, kept: _Whole, without: _Flags | None = None) -> tuple[_Whole, _Whole]:
    """Return the pointers of some spans concatenated, and the old positions of their entries.

    `ptr` (m + 1,) intp: span i is ``ptr[i] : ptr[i + 1]``. `kept` (k,) intp: the spans; `without`
    (k,) bool: those of `kept` that become empty.
    """
    sizes = ptr[kept + 1] - ptr[kept]
    if without is not None:
        sizes = np.where(without, 0, sizes)
    new = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return new, np.arange(new[-1]) + np.repeat(ptr[kept] - new[:-1], sizes)
