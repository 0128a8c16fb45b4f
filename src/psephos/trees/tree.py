"""A tree: nodes in flat arrays, any number of branches, and what happens to missing values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.escaping import printable
from psephos.files.field_types import Thresholds
from psephos.kernels.prediction.tree_walk import Nodes, Rules, end_nodes, mixed_values
from psephos.runtime.jit import frozen

__all__ = ["SPREAD", "STAY", "Surrogates", "Tree", "binary_tree", "join_trees", "spans_of"]

SPREAD, STAY = -1, -2  # what `missing` may say besides a branch

_Floats = NDArray[np.float64]
_Whole = NDArray[np.intp]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Surrogates:
    """Rules that stand in for a node's own where its column is missing, best first.

    Those of node i are ``ptr[i] : ptr[i + 1]``. Rules are written as a `Tree`'s are.
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
        """Return those of some nodes, in that order; none where `without` is true."""
        return self._of_rules(*spans_of(self.ptr, nodes, without))

    def without_gaps(self) -> Self:
        """Return those that may be asked where no number is missing.

        Of each node these are all up to the first that compares a number.
        """
        owner = np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
        numbers = (~np.isnan(self.threshold)).astype(np.intp)
        before = np.cumsum(numbers) - numbers
        kept = before == before[self.ptr[owner]]
        lengths = np.bincount(owner[kept], minlength=len(self.ptr) - 1)
        return self._of_rules(np.append(0, np.cumsum(lengths)), np.flatnonzero(kept))

    def _of_rules(self, ptr: _Whole, rules: _Whole) -> Self:
        code_ptr, codes = spans_of(self.code_ptr, rules)
        return replace(
            self,
            ptr=ptr,
            column=self.column[rules],
            threshold=self.threshold[rules],
            flip=self.flip[rules],
            code_ptr=code_ptr,
            code_branch=self.code_branch[codes],
        )


@dataclass(frozen=True)
class Tree:
    """One tree.

    Node 0 is the root. The children of node i are the nodes ``child[i] : child[i] +
    n_children[i]``, all after it; a leaf has none. A row goes to the branch that the node's rule
    names; if the value is missing (or its code is unknown), to the branch of the first surrogate
    whose column is known; else where `missing` says.

    A row that is spread goes to every branch in proportion to their shares above 0 (if there is
    none it stays); the tree answers with the mean of the leaves it reaches, weighted by its parts.
    `join_trees` writes several trees one after the other in the same form.

    Parameters
    ----------
    child, n_children : ndarray of shape (nodes,), intp
    column : ndarray of shape (nodes,), intp
        Column of the table that the node asks for; -1 at a leaf.
    threshold : ndarray of shape (nodes,)
        Numeric rule: ``value <= threshold`` is branch 0 (``<`` if `strict`), else branch 1;
        NaN where the rule is on categories.
    flip : ndarray of shape (nodes,), bool
        The numeric rule's branches are exchanged.
    code_ptr : ndarray of shape (nodes + 1,), intp
    code_branch : ndarray, intp
        Rule on categories: ``code_branch[code_ptr[i] + code]`` is the branch of a code, -1 if the
        node has not seen it (it is then missing).
    missing : ndarray of shape (nodes,), intp
        A branch; `SPREAD` to all branches by their `share`; `STAY`: the row ends here.
    share : ndarray of shape (nodes,)
        Share of the parent's rows (of known value) that a node got; 1 at the root.
    value : ndarray of shape (nodes, K)
        What each node says: class shares (K classes) or a number (K = 1).
    counts : ndarray of shape (nodes, C)
        Training weight per class; regression: the weight alone.
    n_rows : ndarray of shape (nodes,), intp
        Training rows that reached the node (any part of them).
    gain : ndarray of shape (nodes,)
        Worth of the node's split by its criterion; 0 at a leaf.
    surrogates : Surrogates
    strict : bool, default=False
    single : bool, default=False
        Values are rounded to float32 before they are compared.
    """

    tag: ClassVar[str] = "tree nodes"
    by_node: ClassVar[tuple[str, ...]] = (
        "n_children", "column", "threshold", "flip", "missing", "share", "value", "counts",
        "n_rows", "gain",
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
    value: _Floats
    counts: _Floats
    n_rows: _Whole
    gain: _Floats
    surrogates: Surrogates
    strict: bool = False
    single: bool = False

    def __str__(self) -> str:
        from psephos.trees.tree_text import export_text

        return printable(export_text(self))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.column)

    @property
    def n_leaves(self) -> int:
        """Return the number of leaves."""
        return int((self.n_children == 0).sum())

    @property
    def depth(self) -> int:
        """Return the number of rules on the longest way to a leaf."""
        level = np.zeros(self.n_nodes, np.intp)
        for node in np.flatnonzero(self.n_children):  # parents come before their children
            level[self.children(int(node))] = level[node] + 1
        return int(level.max(initial=0))

    @property
    def columns(self) -> _Whole:
        """Return the sorted columns that rules or surrogates read."""
        read = np.concatenate([self.column[self.column >= 0], self.surrogates.column])
        return np.unique(read).astype(np.intp)

    def children(self, node: int) -> _Whole:
        """Return the children of a node."""
        first = int(self.child[node])
        return np.arange(first, first + int(self.n_children[node]))

    # ------------------------------------------------------------------ where rows go
    def nodes(self) -> Nodes:
        """Return the arrays of the compiled walk."""
        return Nodes(
            child=frozen(self.child),
            n_children=frozen(self.n_children),
            missing=frozen(self.missing),
            share=frozen(self.share),
            rules=_rules_of(self),
            surrogate_ptr=frozen(self.surrogates.ptr),
            surrogates=_rules_of(self.surrogates),
            strict=bool(self.strict),
            single=bool(self.single),
        )

    def leaves(self, X: Any, root: Any = (0,)) -> _Whole:
        """Return the node at which each row of X, shape (n, p), ends; -1 where it is spread.

        Parameters
        ----------
        X : ndarray of shape (n, p)
        root : sequence of T nodes, default=(0,)
            Where to begin.

        Returns
        -------
        ndarray of shape (n, T), intp
        """
        start = np.asarray(root, np.intp)
        out = np.empty((len(X), len(start)), np.intp)
        end_nodes(self.nodes(), self._bounds(), frozen(X, np.float64), frozen(start), out)
        return out

    def answers(self, X: Any, root: Any = (0,), value: _Floats | None = None) -> _Floats:
        """Return the value of each row's leaf; of a row that is spread, the mean over leaves.

        Parameters
        ----------
        X : ndarray of shape (n, p)
        root : sequence of T nodes, default=(0,)
            Where to begin.
        value : ndarray of shape (nodes, K), default=None
            The answer of each node; None is the tree's own `value`.

        Returns
        -------
        ndarray of shape (n, T, K)
        """
        start = np.asarray(root, np.intp)
        values = frozen(self.value if value is None else value, np.float64)
        out = np.empty((len(X), len(start), values.shape[1]))
        scratch = np.empty(self.n_nodes, np.intp), np.empty(self.n_nodes)
        read = self.nodes(), self._bounds(), frozen(X, np.float64), frozen(start)
        mixed_values(*read, values, *scratch, out)
        return out

    def _bounds(self) -> tuple[_Floats, _Floats] | None:
        """Return between which values a row is part of both branches of a node: none here."""
        return None

    def softly(self, node: int) -> tuple[float, float] | None:
        """Return the values between which a row is part of both branches of a node: none here."""
        return None

    # ------------------------------------------------------------------ other trees
    def collapse(self, nodes: Any) -> Self:
        """Return the tree with these nodes made leaves and what hung below them gone."""
        cut = np.zeros(self.n_nodes, np.bool_)
        cut[np.asarray(nodes, np.intp)] = True
        gone = np.zeros(self.n_nodes, np.bool_)
        for node in np.flatnonzero(self.n_children):
            gone[self.children(int(node))] = gone[node] or cut[node]
        kept = np.flatnonzero(~gone)
        place = np.cumsum(~gone) - 1
        leaf = (cut | (self.n_children == 0))[kept]
        return replace(self.of_nodes(kept, leaf), child=np.where(leaf, 0, place[self.child[kept]]))

    def of_nodes(self, nodes: _Whole, leaf: _Flags) -> Self:
        """Return these nodes in this order, those of `leaf` without their rules.

        `child` is not renumbered: that is left to who knows where the children went.
        """
        code_ptr, codes = spans_of(self.code_ptr, nodes, leaf)
        return replace(
            self,
            child=np.where(leaf, 0, self.child[nodes]),
            n_children=np.where(leaf, 0, self.n_children[nodes]),
            column=np.where(leaf, -1, self.column[nodes]),
            threshold=np.where(leaf, np.nan, self.threshold[nodes]),
            flip=self.flip[nodes] & ~leaf,
            code_ptr=code_ptr,
            code_branch=self.code_branch[codes],
            missing=self.missing[nodes],
            share=self.share[nodes],
            value=self.value[nodes],
            counts=self.counts[nodes],
            n_rows=self.n_rows[nodes],
            gain=np.where(leaf, 0.0, self.gain[nodes]),
            surrogates=self.surrogates.of_nodes(nodes, leaf),
        )

    def on_columns(self, column: _Whole, surrogate_column: _Whole) -> Self:
        """Return the tree with other numbers for the columns its rules and surrogates read."""
        return replace(
            self,
            column=np.where(self.column >= 0, column, -1).astype(np.intp),
            surrogates=replace(self.surrogates, column=surrogate_column.astype(np.intp)),
        )


def join_trees(trees: Sequence[Tree]) -> tuple[_Whole, Tree]:
    """Return the root of each tree, and the nodes of all, one tree after the other.

    `trees`: at least one; all of one kind, which compare alike (`strict`, `single`) and say as many
    numbers.
    """
    sizes = np.array([tree.n_nodes for tree in trees], np.intp)
    root = np.cumsum(sizes) - sizes
    each = [tree.surrogates for tree in trees]
    surrogates = Surrogates(
        ptr=_joined_ptr([s.ptr for s in each]),
        column=np.concatenate([s.column for s in each]),
        threshold=np.concatenate([s.threshold for s in each]),
        flip=np.concatenate([s.flip for s in each]),
        code_ptr=_joined_ptr([s.code_ptr for s in each]),
        code_branch=np.concatenate([s.code_branch for s in each]),
    )
    names = (*trees[0].by_node, "code_branch")
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


def binary_tree(
    column: _Whole, threshold: _Floats, missing_first: _Flags, first: _Whole, second: _Whole,
    value: _Floats, category_ptr: _Whole, category_first: _Flags, *, single: bool, stays: bool,
) -> Tree:  # fmt: skip
    """Return the tree of binary nodes whose children may stand anywhere after them.

    Nodes come level by level, so that children stand together; nodes that no rule leads to are
    left out. Arguments are those of `psephos.vote.TreeVoters` for one tree, with the columns of
    the table. What the tree was grown on is not known: `counts` has no column, `n_rows` is -1 and
    the `gain` of a rule NaN.

    `stays`: a row ends where its value is missing; False: `missing_first` says.
    """
    order = level = np.zeros(min(1, len(column)), np.intp)
    while len(level := level[column[level] >= 0]):
        level = np.stack([first[level], second[level]], axis=1).ravel()
        order = np.concatenate([order, level])
    n, inner = len(order), column[order] >= 0
    child = np.where(inner, 2 * np.cumsum(inner) - 1, 0)
    ptr, codes = np.zeros(n + 1, np.intp), np.empty(0, np.intp)
    if len(category_ptr):
        ptr, codes = spans_of(category_ptr, order, ~inner)
    on_codes = np.diff(ptr) > 0
    return Tree(
        child=child.astype(np.intp),
        n_children=np.where(inner, 2, 0).astype(np.intp),
        column=np.where(inner, column[order], -1).astype(np.intp),
        threshold=np.where(inner & ~on_codes, threshold[order], np.nan),
        flip=np.zeros(n, np.bool_),
        code_ptr=ptr,
        code_branch=np.where(category_first[codes], 0, 1).astype(np.intp),
        missing=np.where(stays | ~inner, STAY, np.where(missing_first[order], 0, 1)),
        share=np.ones(n),
        value=value[order],
        counts=np.empty((n, 0)),
        n_rows=np.full(n, -1, np.intp),
        gain=np.where(inner, np.nan, 0.0),
        surrogates=Surrogates.none(n),
        single=single,
    )


def _rules_of(part: Tree | Surrogates) -> Rules:
    """Return the rules of nodes or of surrogates as the compiled walk reads them."""
    names = (part.column, part.threshold, part.flip, part.code_ptr, part.code_branch)
    column, threshold, flip, code_ptr, code_branch = map(frozen, names)
    return Rules(column, threshold, flip, code_ptr, code_branch)


def _joined_ptr(ptrs: list[_Whole]) -> _Whole:
    """Return one row of pointers for lists that are written one after the other."""
    sizes = np.concatenate([np.diff(ptr) for ptr in ptrs])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def spans_of(ptr: _Whole, kept: _Whole, without: _Flags | None = None) -> tuple[_Whole, _Whole]:
    """Return the pointers of some spans put one after the other, and where their entries were.

    `ptr` (m + 1,) intp: span i is ``ptr[i] : ptr[i + 1]``. `kept` (k,) intp; `without` (k,) bool:
    those of `kept` that are to be empty.
    """
    sizes = ptr[kept + 1] - ptr[kept]
    if without is not None:
        sizes = np.where(without, 0, sizes)
    new = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return new, np.arange(new[-1]) + np.repeat(ptr[kept] - new[:-1], sizes)
