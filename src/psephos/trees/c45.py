"""C4.5's trees: growing, collapsing and pruning, and their text as Weka's J48 prints it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.special
from numpy.typing import NDArray

from psephos.kernels.numerics.ordering import sort_rows
from psephos.kernels.sorted_trees.c45_grow import TIE, C45Growth, Nodes, counts_for, grow
from psephos.kernels.sorted_trees.c45_prune import Limit, collapse, prune, reached
from psephos.runtime.jit import frozen
from psephos.trees.tree import SPREAD, Surrogates, Tree
from psephos.trees.tree_leaves import condition_words, leaves_of

_Floats = NDArray[np.float64]
_special: Any = scipy.special  # its types are incomplete
_ROUNDING = 1e-10  # tolerance of comparisons; release 8 has none
_TABLED = 1 << 16  # size of the table of x log2 x of integers
_DEVIATES = (
    (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0),
    (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0),
)  # release 8's table of normal deviates by confidence


@dataclass(frozen=True)
class C45Options:
    """Settings of growing and pruning; see `psephos.C45Classifier`."""

    least: float = 2.0
    confidence: float = 0.25
    pruning: bool = True
    # {'j48', 'c45'}; the program to reproduce: Weka's J48, or C4.5 release 8
    release: str = "j48"
    by_gain: bool = False  # whether splits are compared by gain, not by the gain ratio
    gap: float = 0.0  # values that differ by at most this are not separated

    def limit(self) -> Limit:
        """Return the parameters of the pessimistic errors."""
        old, confidence = self.release == "c45", float(self.confidence)
        if old:
            z = float(np.interp(confidence, *_DEVIATES))
        else:
            z = float(_special.ndtri(1.0 - confidence))
        return Limit(confidence, z, old)


@dataclass(frozen=True)
class C45Table:
    """A training table for the kernels."""

    X: _Floats  # (p, n); column by column; a column of categories holds indices of its `kept`
    y: NDArray[np.int64]  # (n,)
    weight: _Floats  # (n,)
    n_classes: int
    n_codes: Mapping[int, int]  # codes of each column of categories
    kept: Mapping[int, NDArray[np.intp]]  # the codes that get a branch
    total: float  # weight of the whole table

    @classmethod
    def of(
        cls,
        values: _Floats,
        y: NDArray[np.intp],
        weight: _Floats,
        n_classes: int,
        n_codes: Mapping[int, int],
        found: Collection[int],
    ) -> Self:
        """Return the table of the arguments of `grow_c45`."""
        X = np.ascontiguousarray(values.T, dtype=np.float64)
        y, weight = np.asarray(y, np.int64), np.asarray(weight, np.float64)
        kept = {j: np.arange(size, dtype=np.intp) for j, size in n_codes.items()}
        for j in found:
            held = np.unique(X[j][~np.isnan(X[j])]).astype(np.intp)
            if len(held) < n_codes[j]:
                X = X.copy() if np.shares_memory(X, values) else X
                X[j] = np.where(np.isnan(X[j]), np.nan, np.searchsorted(held, X[j]))
                kept[j] = held
        return cls(frozen(X), y, weight, n_classes, n_codes, kept, float(weight.sum()))


def grow_c45(
    values: _Floats,
    y: NDArray[np.intp],
    weight: _Floats,
    n_classes: int,
    n_codes: Mapping[int, int],
    options: C45Options,
    found: Collection[int] = (),
) -> Tree:
    """Return the tree of a training table.

    Parameters
    ----------
    values : (n, p); NaN is missing; codes in columns of categories
    y : (n,); class indices
    weight : (n,); above 0
    n_classes : K, including classes without rows
    n_codes : number of codes of each column of categories; a code without rows has an empty branch
    found : columns whose codes were not declared: there a code without rows has no branch
    """
    data = C45Table.of(values, y, weight, n_classes, n_codes, found)
    nodes = grown(data, options)
    if options.pruning:
        prune(data.X, data.y, data.weight, nodes, options.limit())
    return as_tree(nodes, data, options)


def grown(data: C45Table, options: C45Options) -> Nodes:
    """Return the nodes of the collapsed, unpruned tree."""
    X, n_classes = data.X, data.n_classes
    codes = np.zeros(len(X), np.int64)
    for j, held in data.kept.items():
        codes[j] = max(len(held), 1)
    numeric = codes == 0
    order, _, known = sort_rows(X[numeric] if len(data.kept) else X)
    at = np.cumsum(numeric) - 1
    few = ~numeric & (codes < 0.3 * data.total - TIE)
    listed = numeric | few
    if not listed.any():
        listed[:] = True
    whole = np.arange(min(int(data.total) + 1, _TABLED), dtype=np.float64)
    table = whole * np.log2(np.maximum(whole, 1.0))
    old = options.release == "c45"
    rule = C45Growth(
        n_classes, float(options.least), _ROUNDING if old else TIE, old, data.total,
        options.by_gain, float(options.gap),
    )  # fmt: skip
    most = max(int(codes.max(initial=0)), 1)
    nodes = grow(
        X,
        data.y,
        data.weight,
        codes,
        at,
        order,
        known,
        listed,
        rule,
        table,
        counts_for(most, n_classes),
    )
    collapse(nodes, old)
    return nodes


def as_tree(nodes: Nodes, data: C45Table, options: C45Options) -> Tree:
    """Return the nodes that are still reached as a `Tree`."""
    old, child = reached(nodes)
    arrays: list[Any] = [array[old] for array in nodes]
    nodes = Nodes(*arrays)._replace(child=child)
    inner = nodes.n_children > 0
    numeric = ~np.isnan(nodes.threshold)
    sets = [_branches(nodes, int(i), data) for i in np.flatnonzero(inner & ~numeric)]
    size = np.zeros(len(inner), np.intp)
    size[inner & ~numeric] = [len(s) for s in sets]
    return Tree(
        child=np.where(inner, nodes.child, 0).astype(np.intp),
        n_children=nodes.n_children.astype(np.intp),
        column=np.where(inner, nodes.column, -1).astype(np.intp),
        threshold=_thresholds(nodes, inner & numeric, data),
        flip=np.zeros(len(inner), np.bool_),
        code_ptr=np.concatenate([[0], np.cumsum(size)]).astype(np.intp),
        code_branch=np.concatenate([np.empty(0, np.intp), *sets]).astype(np.intp),
        missing=np.full(len(inner), SPREAD, np.intp),
        share=nodes.share.copy(),
        value=_answers(nodes, options),
        counts=nodes.counts.copy(),
        n_rows=nodes.n_rows.astype(np.intp),
        gain=np.where(inner, nodes.gain, 0.0),
        surrogates=Surrogates.none(len(inner)),
    )


def _thresholds(nodes: Nodes, cuts: NDArray[np.bool_], data: C45Table) -> _Floats:
    """Return the thresholds: the largest values of the table up to the midpoints."""
    threshold = np.where(cuts, nodes.threshold, np.nan)
    for j in np.unique(nodes.column[cuts]):
        own = cuts & (nodes.column == j)
        held = np.sort(data.X[j])  # missing values last
        threshold[own] = held[np.searchsorted(held, threshold[own], side="right") - 1]
    return threshold


def _branches(nodes: Nodes, node: int, data: C45Table) -> NDArray[np.intp]:
    """Return the branch of every code of a node's column, -1 for a code without one."""
    column = int(nodes.column[node])
    out = np.full(data.n_codes[column], -1, np.intp)
    out[data.kept[column]] = np.arange(len(data.kept[column]))
    return out


def _answers(nodes: Nodes, options: C45Options) -> _Floats:
    """Return the class shares of each node; its parent's if it has no rows."""
    counts = nodes.counts.copy()
    empty = counts.sum(axis=1) <= 0.0
    for node in np.flatnonzero(nodes.n_children):  # parents come before their children
        first, k = int(nodes.child[node]), int(nodes.n_children[node])
        without = first + np.flatnonzero(empty[first : first + k])
        counts[without] = counts[node]
    total = counts.sum(axis=1, keepdims=True)
    if options.release == "c45":  # a leaf without rows votes for one class
        heaviest = counts.argmax(axis=1)[:, None] == np.arange(counts.shape[1])
        counts, total = (
            np.where(empty[:, None], heaviest, counts),
            np.where(empty[:, None], 1.0, total),
        )
    return counts / total


def c45_text(
    tree: Tree, names: Sequence[str], levels: Mapping[int, Sequence[str]], classes: Sequence[str]
) -> str:
    """Return a tree line by line, as J48 prints it.

    A leaf is its class followed, in brackets, by the training weight that reached it and, after a
    slash, the part of it that is of other classes. A leaf that no row reached has its parent's
    class. A soft threshold is followed by its bounds in square brackets.

    `names`: those of the table's columns. `levels`: names of the codes of each column of
    categories.
    """
    if tree.n_children[0] == 0:
        return _leaf_words(tree, 0, 0, classes).removeprefix(": ")
    lines: list[str] = []
    todo = [(0, branch, 0) for branch in reversed(range(int(tree.n_children[0])))]
    while todo:
        node, branch, depth = todo.pop()
        child = int(tree.child[node]) + branch
        line = "|   " * depth + _rule_words(tree, node, branch, names, levels)
        if tree.n_children[child] == 0:
            line += _leaf_words(tree, child, node, classes)
        lines.append(line)
        todo += [(child, b, depth + 1) for b in reversed(range(int(tree.n_children[child])))]
    return "\n".join(lines)


def leaf_table(
    tree: Tree, names: Sequence[str], levels: Mapping[int, Sequence[str]], classes: Sequence[str]
) -> dict[str, list[Any]]:
    """Return {rule, class, weight, wrong}: the paths to the leaves, and their training weights.

    Parameters are those of `c45_text`.
    """
    parent = np.zeros(tree.n_nodes, np.intp)
    for node in np.flatnonzero(tree.n_children):
        parent[tree.children(int(node))] = node
    table: dict[str, list[Any]] = {"rule": [], "class": [], "weight": [], "wrong": []}
    for leaf in leaves_of(tree):
        words = [condition_words(c, names, levels) for c in leaf.conditions]
        counts = tree.counts[leaf.node]
        table["rule"].append(" and ".join(words) or "always")
        table["class"].append(classes[_answer(tree, leaf.node, int(parent[leaf.node]))])
        table["weight"].append(float(counts.sum()))
        table["wrong"].append(float(counts.sum() - counts.max()))
    return table


def _answer(tree: Tree, node: int, parent: int) -> int:
    """Return the class of a leaf; of classes equal up to rounding the first."""
    counts = tree.counts[node]
    counts = counts if counts.sum() > 0 else tree.counts[parent]
    return int(np.flatnonzero(counts >= counts.max() - 1e-6)[0])


def _leaf_words(tree: Tree, node: int, parent: int, classes: Sequence[str]) -> str:
    counts = tree.counts[node]
    total, top = float(counts.sum()), float(counts.max())
    errors = f"/{_two(total - top)}" if total - top >= 0.005 else ""
    return f": {classes[_answer(tree, node, parent)]} ({_two(total)}{errors})"


def _rule_words(
    tree: Tree, node: int, branch: int, names: Sequence[str], levels: Mapping[int, Sequence[str]]
) -> str:
    column = int(tree.column[node])
    codes = tree.code_branch[tree.code_ptr[node] : tree.code_ptr[node + 1]]
    if len(codes) == 0:
        softly = tree.softly(node)
        soft = f" [{', '.join(map(_short, softly))}]" if softly else ""
        cut = _short(float(tree.threshold[node])) + soft
        return f"{names[column]} {'<=' if branch == 0 else '>'} {cut}"
    known = levels.get(column, ())
    words = [*known, *map(str, range(len(known), len(codes)))]  # a code without a name: its number
    own, others = np.flatnonzero(codes == branch), np.flatnonzero(codes == 0)
    if len(own) == 1:
        return f"{names[column]} = {words[int(own[0])]}"
    if branch == 1 and len(own) + 1 == len(codes) and len(others) == 1:
        return f"{names[column]} != {words[int(others[0])]}"
    return f"{names[column]} in {{{', '.join(words[int(code)] for code in own)}}}"


def _short(number: float) -> str:
    """Return a number with up to six decimals."""
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _two(number: float) -> str:
    """Return a number with one or two decimals, halves rounded up."""
    words = f"{np.floor(number * 100 + 0.5) / 100:.2f}"
    return words.removesuffix("0")
