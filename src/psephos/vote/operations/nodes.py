"""Nodes of trees: construction from stumps and chains of tests, and checks."""

from dataclasses import replace
from typing import Any

import numpy as np

from psephos._types import Floats, Indices
from psephos.trees.tree import STAY, Surrogates, Tree, TreeNodes, spans_of
from psephos.vote.part import check, check_ptr, check_within


def flat_nodes(
    child: Indices, column: Indices, threshold: Floats, missing: Indices, *,
    code_ptr: Indices | None = None, code_branch: Indices | None = None, flip: Any = None,
    single: bool = False,
) -> TreeNodes:  # fmt: skip
    """Return nodes of two branches, or leaves where `column` is -1, without surrogates."""
    n = len(column)
    return TreeNodes(
        child=np.where(column >= 0, child, 0),
        n_children=np.where(column >= 0, 2, 0),
        column=column,
        threshold=np.where(column >= 0, threshold, np.nan),
        flip=np.zeros(n, np.bool_) if flip is None else flip,
        code_ptr=np.zeros(n + 1, np.intp) if code_ptr is None else code_ptr,
        code_branch=np.empty(0, np.intp) if code_branch is None else code_branch,
        missing=np.where(column >= 0, missing, STAY),
        share=np.ones(n),
        surrogates=Surrogates.none(n),
        single=single,
    )


def chains(
    sizes: Indices, column: Indices, op: Indices, bound: Floats
) -> tuple[Indices, Indices, TreeNodes]:
    """Return chains of tests: their roots, the nodes reached if all tests hold, and all nodes.

    Parameters
    ----------
    sizes : ndarray of shape (T,)
        Number of tests of each chain, in the order of the other arrays.
    column : ndarray of shape (tests,)
    op : ndarray of shape (tests,)
        0: ``value <= bound``; 1: ``value > bound``; 2, on categories: ``code = bound``.
    bound : ndarray of shape (tests,)
    """
    root = np.cumsum(2 * sizes + 1) - (2 * sizes + 1)
    n = int((2 * sizes + 1).sum())
    place = np.arange(len(column)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    node = np.repeat(root, sizes) + np.where(place > 0, 2 * place - 1, 0)
    child, columns = np.zeros(n, np.intp), np.full(n, -1, np.intp)
    threshold, flip, lengths = np.full(n, np.nan), np.zeros(n, np.bool_), np.zeros(n, np.intp)
    child[node] = np.repeat(root, sizes) + 2 * place + 1
    columns[node] = column
    coded = op == 2
    whole = (bound >= 0) & (bound < 2**20) & (bound == np.floor(bound))
    check(whole[coded], "a test compares with a category that is not a code")
    threshold[node[~coded]] = bound[~coded]
    flip[node] = op == 1
    lengths[node[coded]] = bound[coded].astype(np.intp) + 1
    ptr = np.append(0, np.cumsum(lengths))
    branch = np.ones(int(ptr[-1]), np.intp)
    branch[ptr[1:][lengths > 0] - 1] = 0
    nodes = flat_nodes(
        child, columns, threshold, np.ones(n, np.intp), code_ptr=ptr, code_branch=branch, flip=flip
    )
    return root, np.where(sizes > 0, root + 2 * sizes - 1, root), nodes


def leaf_chains(tree: Tree, leaves: Indices) -> tuple[Indices, Indices, TreeNodes]:
    """Return the paths to leaves of a tree as `chains`; missing values go as in the tree."""
    parent, branch = np.full(tree.n_nodes, -1), np.zeros(tree.n_nodes, np.intp)
    for node in np.flatnonzero(tree.n_children).tolist():
        parent[tree.children(node)], branch[tree.children(node)] = node, (0, 1)
    ways: list[list[int]] = []
    for leaf in leaves.tolist():
        way = [leaf]
        while parent[way[0]] >= 0:
            way.insert(0, int(parent[way[0]]))
        ways.append(way)
    at = np.array([node for way in ways for node in way[:-1]], np.intp)
    side = branch[np.array([node for way in ways for node in way[1:]], np.intp)]
    sizes = np.array([len(way) - 1 for way in ways], np.intp)
    root, last, nodes = chains(sizes, tree.column[at], np.zeros_like(at), np.zeros(len(at)))
    inner = np.flatnonzero(nodes.n_children)  # test by test, as `at`
    ptr, codes = spans_of(tree.code_ptr, at)
    own = tree.code_branch[codes]
    taken = np.where(own < 0, -1, (own != np.repeat(side, np.diff(ptr))).astype(np.intp))
    lengths = np.zeros(nodes.n_nodes, np.intp)
    lengths[inner] = np.diff(ptr)
    threshold, flip, missing = nodes.threshold.copy(), nodes.flip.copy(), nodes.missing.copy()
    threshold[inner] = tree.threshold[at]
    flip[inner] = (tree.flip[at] != (side == 1)) & np.isfinite(tree.threshold[at])
    missing[inner] = (tree.missing[at] != side).astype(np.intp)
    nodes = replace(
        nodes, threshold=threshold, flip=flip, missing=missing, code_branch=taken,
        code_ptr=np.append(0, np.cumsum(lengths)).astype(np.intp), strict=tree.strict,
    )  # fmt: skip
    return root, last, nodes


# ---------------------------------------------------------------------- checks
def check_nodes(root: Indices, nodes: TreeNodes, n_columns: int) -> None:
    """Check that nodes form trees, since kernels do not check."""
    _check_kinds(nodes)
    _check_rules(nodes, n_columns)
    _check_shape(root, nodes)
    if nodes.lower is not None or nodes.upper is not None:
        _check_soft(nodes)


def _check_kinds(nodes: TreeNodes) -> None:
    """Check that every field is an array of the right type and length."""
    given: Any = nodes
    check(isinstance(given, TreeNodes), "the nodes are not those of trees")
    n, surrogates = nodes.n_nodes, nodes.surrogates
    check(type(surrogates) is Surrogates, "the surrogates are not rules")
    r, soft = len(surrogates.column), [n for n in ("lower", "upper") if nodes.lower is not None]
    facts = isinstance(nodes, Tree)
    for part, names, kind, length, n_axes in (
        (nodes, ("child", "n_children", "column", "missing"), np.intp, n, 1),
        (nodes, ("threshold", "share", *soft), np.float64, n, 1),
        (nodes, ("n_rows",) * facts, np.intp, n, 1),
        (nodes, ("gain",) * facts, np.float64, n, 1),
        (nodes, ("value", "counts") * facts, np.float64, n, 2),
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


def _check_rules(nodes: TreeNodes, n_columns: int) -> None:
    """Check that the columns and branches of rules exist."""
    surrogates, branches = nodes.surrogates, nodes.n_children
    check(branches >= 0, "a number of branches is negative")
    inner = branches > 0
    for ptr, end in (
        (nodes.code_ptr, len(nodes.code_branch)),
        (surrogates.ptr, len(surrogates.column)),
        (surrogates.code_ptr, len(surrogates.code_branch)),
    ):
        check_ptr(ptr, len(ptr) - 1, end, "rules")
    codes, rules = np.diff(nodes.code_ptr), np.diff(surrogates.ptr)
    check((codes[~inner] == 0).all() and (rules[~inner] == 0).all(), "a leaf has a rule")
    known = np.where(inner, (nodes.column >= 0) & (nodes.column < n_columns), nodes.column == -1)
    check(known, "a tree reads a column it lacks")
    check_within(surrogates.column, n_columns, "a surrogate reads a column it lacks")
    check(branches[inner & (codes == 0)] == 2, "a threshold is not for two branches")
    of_rule = np.repeat(branches, rules)
    plain = np.diff(surrogates.code_ptr) == 0
    check(of_rule[plain] == 2, "a surrogate's threshold is not for two branches")
    for branch, limit in (
        (nodes.code_branch, np.repeat(branches, codes)),
        (surrogates.code_branch, np.repeat(of_rule, np.diff(surrogates.code_ptr))),
    ):
        check((branch >= -1) & (branch < limit), "a category has no such branch")
    missing = nodes.missing[inner]
    check((missing >= STAY) & (missing < branches[inner]), "a missing value is sent nowhere")
    check(np.isfinite(nodes.share) & (nodes.share >= 0), "a share is negative or not finite")


def _check_soft(nodes: TreeNodes) -> None:
    """Check that every soft threshold lies between its bounds, which must be numbers."""
    lower, upper = nodes.lower, nodes.upper
    check(lower is not None and upper is not None, "a soft threshold has one bound")
    if lower is None or upper is None:
        return
    cuts = (nodes.n_children > 0) & (np.diff(nodes.code_ptr) == 0)
    inside = (lower <= nodes.threshold) & (nodes.threshold <= upper)
    numbers = inside & np.isfinite(lower) & np.isfinite(upper)
    none = np.isnan(lower) & np.isnan(upper)
    check(np.where(cuts, numbers, none), "a threshold is not between its bounds")
    plain = not (nodes.strict or nodes.single or nodes.flip.any())
    check(plain, "a soft threshold compares as others do")


def _check_shape(root: Indices, nodes: TreeNodes) -> None:
    """Check that each node but the roots is the child of one earlier node of its tree."""
    n = nodes.n_nodes
    check(root.ndim == 1, "roots are not in a row")
    check_within(root, n, "a root is not a node")
    ends = np.append(root, n)
    check(ends[0] == 0, "the first root is not the first node")
    check(np.diff(ends) > 0, "a tree has no node")
    inner = np.flatnonzero(nodes.n_children)
    first, number = nodes.child[inner], nodes.n_children[inner]
    end = np.repeat(ends[1:], np.diff(ends))[inner]
    inside = (first > inner) & (first < end) & (number <= end - first)
    check(inside, "a child is outside its tree, or not after its parent")
    check(int(number.sum()) == n - len(root), "a node has no parent or two")
    begun = np.cumsum(number) - number
    children = np.arange(n - len(root)) + np.repeat(first - begun, number)
    parents = np.bincount(children, minlength=n)
    check((parents <= 1).all() and (parents[root] == 0).all(), "a node has two parents")
