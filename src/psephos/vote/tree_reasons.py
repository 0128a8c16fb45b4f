"""The way of one case through a tree, as the reason of its answer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.c45_soft import first_share
from psephos.trees.tree import SPREAD, STAY, Tree
from psephos.vote.reasons import Always, Path, Reason, Spread, Test

__all__ = ["tree_reason"]

_Floats = NDArray[np.float64]
_Way = tuple[int, float, tuple[Test, ...]]  # node, share of the case, tests so far


def tree_reason(tree: Tree, x: _Floats, said: _Floats, answer: _Floats) -> Reason:
    """Return why a tree answers one case as it does.

    Parameters
    ----------
    tree : Tree
        On the columns of the table.
    x : ndarray of shape (p,)
    said : ndarray of shape (nodes, K)
        What each node says.
    answer : ndarray of shape (K,)
        What the tree said to the case.
    """
    told = tuple(answer.tolist())
    if tree.n_nodes == 1:
        return Always(told, "a tree of one leaf")
    ends = _ends(tree, x)
    if len(ends) == 1:
        return Path(told, ends[0][2])
    paths = tuple(Path(tuple(said[node].tolist()), tests) for node, _, tests in ends)
    return Spread(told, tuple(share for _, share, _ in ends), paths)


def _ends(tree: Tree, x: _Floats) -> list[_Way]:
    """Return where the parts of a case end, the first branch first."""
    found: list[_Way] = []
    todo: list[_Way] = [(0, 1.0, ())]
    while todo:
        node, share, way = todo.pop()
        if not tree.n_children[node]:
            found.append((node, share, way))
            continue
        steps = _steps(tree, node, x)
        if not steps:  # the case stays where its value is missing
            found.append((node, share, (*way, _absent(tree, node, x))))
        first = int(tree.child[node])
        todo += [
            (first + branch, share * part, (*way, test)) for branch, part, test in reversed(steps)
        ]
    return found


def _steps(tree: Tree, node: int, x: _Floats) -> list[tuple[int, float, Test]]:
    """Return (branch, part of the case, test) of every branch that a case takes at a node."""
    soft = tree.softly(node)
    value = float(x[tree.column[node]])
    threshold = float(tree.threshold[node])
    if soft is not None and soft[0] < value and (value < soft[1] or value <= threshold):
        below = float(first_share(value, soft[0], threshold, soft[1]))
        test = Test(int(tree.column[node]), "within", soft, value)
        return [(0, below, test), (1, 1.0 - below, test)]
    own = _asked(tree, tree, node, x, tree.strict, tree.single)
    if own is not None:
        return [(own[0], 1.0, own[1])]
    spare = tree.surrogates
    for rule in range(int(spare.ptr[node]), int(spare.ptr[node + 1])):
        met = _asked(tree, spare, rule, x, tree.strict, tree.single)
        if met is not None:
            return [(met[0], 1.0, met[1]._replace(instead_of=int(tree.column[node])))]
    gap, way = _absent(tree, node, x), int(tree.missing[node])
    if way >= 0:
        return [(way, 1.0, gap)]
    if way == STAY:
        return []
    assert way == SPREAD
    share = np.maximum(tree.share[tree.children(node)], 0.0)
    total = float(share.sum())
    return [(b, s / total, gap) for b, s in enumerate(share.tolist()) if s > 0]


def _asked(
    tree: Tree, rules: Any, rule: int, x: _Floats, strict: bool, single: bool
) -> tuple[int, Test] | None:
    """Return the branch that a rule names and the test met; None where it knows none."""
    column = int(rules.column[rule])
    value = float(x[column])
    if np.isnan(value):
        return None
    codes = rules.code_branch[rules.code_ptr[rule] : rules.code_ptr[rule + 1]]
    if len(codes):
        branch = int(codes[int(value)]) if 0 <= value < len(codes) else -1
        if branch < 0:
            return None
        return branch, Test(column, "in", tuple(np.flatnonzero(codes == branch).tolist()), value)
    if single:
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    threshold = float(rules.threshold[rule])
    first = value < threshold if strict else value <= threshold
    relation = ("<" if strict else "<=") if first else (">=" if strict else ">")
    branch = int(not first) ^ int(bool(rules.flip[rule]))
    return branch, Test(column, relation, threshold, value)


def _absent(tree: Tree, node: int, x: _Floats) -> Test:
    """Return the test of a case whose value is missing at a node, or a category new to it."""
    column = int(tree.column[node])
    value = float(x[column])
    if np.isnan(value):
        return Test(column, "missing", None, value)
    codes = tree.code_branch[tree.code_ptr[node] : tree.code_ptr[node + 1]]
    return Test(column, "not in", tuple(np.flatnonzero(codes >= 0).tolist()), value)
