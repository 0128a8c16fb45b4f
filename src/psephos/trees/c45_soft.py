"""C4.5's soft thresholds: near a threshold a row is part of both branches."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos._stored import Thresholds
from psephos.kernels._jit import frozen
from psephos.trees.tree import Tree

_Floats = NDArray[np.float64]
_Whole = NDArray[np.intp]
_Flags = NDArray[np.bool_]
_TIE = 1e-6  # what J48 takes for equal


@dataclass(frozen=True, kw_only=True)
class SoftTree(Tree):
    """A tree whose thresholds are soft.

    A row of value x goes to the first branch with a share that is 1 up to `lower`, 1/2 at
    `threshold` and 0 from `upper` on, and linear in between; with the rest it goes to the second.
    Rules do not flip, and neither `strict` nor `single` is set.

    Parameters
    ----------
    lower, upper : ndarray of shape (nodes,)
        About `threshold`, both equal to it where it is not soft; NaN where it is NaN.
    """

    tag: ClassVar[str] = "tree nodes with soft thresholds"
    by_node: ClassVar[tuple[str, ...]] = (*Tree.by_node, "lower", "upper")
    lower: Thresholds
    upper: Thresholds

    def softly(self, node: int) -> tuple[float, float] | None:
        """Return where a row is part of both branches of a node; None if nowhere."""
        lower, upper = float(self.lower[node]), float(self.upper[node])
        return (lower, upper) if lower < upper else None

    def _bounds(self) -> tuple[_Floats, _Floats]:
        return frozen(self.lower), frozen(self.upper)

    def of_nodes(self, nodes: _Whole, leaf: _Flags) -> Self:
        """Return these nodes in this order, those of `leaf` without their rules."""
        bounds = (np.where(leaf, np.nan, bound[nodes]) for bound in (self.lower, self.upper))
        lower, upper = bounds
        return replace(super().of_nodes(nodes, leaf), lower=lower, upper=upper)


def soften(tree: Tree, values: _Floats, y: NDArray[np.intp], weight: _Floats) -> SoftTree:
    """Return a tree with its thresholds made soft.

    Every threshold is moved over the values of the training rows of its node, as `soft_bounds`
    says; the rows are those that the tree with its hard thresholds sends there, and the answers
    below are those of hard thresholds.

    `tree`: grown and pruned on the table; its values are class shares. `values` (n, p); `y`,
    `weight` (n,).
    """
    given = {field.name: getattr(tree, field.name) for field in fields(Tree)}
    lower, upper = tree.threshold.copy(), tree.threshold.copy()
    tree, values = narrowed(tree, values)
    todo = [(0, np.arange(len(y)), weight)]
    while todo:
        node, rows, weights = todo.pop()
        children = tree.children(node)
        if not len(children) or not len(rows):
            continue
        branch = _branches(tree, node, values[rows, tree.column[node]])
        if tree.code_ptr[node] == tree.code_ptr[node + 1]:
            known = rows[branch >= 0]
            wrong = wrong_answers(tree, values[known], y[known], children)
            lower[node], upper[node] = soft_bounds(
                values[known, tree.column[node]], weights[branch >= 0], wrong,
                float(tree.threshold[node]),
            )  # fmt: skip
        share = np.maximum(tree.share[children], 0.0)
        lost, total = branch < 0, share.sum()
        for b, child in enumerate(children.tolist()):
            here = branch == b
            part = [rows[here]], [weights[here]]
            if share[b] > 0.0:
                part = [*part[0], rows[lost]], [*part[1], weights[lost] * (share[b] / total)]
            todo.append((child, np.concatenate(part[0]), np.concatenate(part[1])))
    return SoftTree(**given, lower=lower, upper=upper)


def soft_bounds(
    x: _Floats, weight: _Floats, wrong: _Flags, threshold: float
) -> tuple[float, float]:
    """Return how far a threshold may be moved down and up.

    With E the weight of errors at the threshold, and n that of the rows, it is moved to the values
    of the rows one after the other, until the errors exceed E by more than one standard error,
    sqrt((E + 1/2) (n - E + 1/2) / (n + 1)) (Quinlan 1993, chapter 8). The lower bound is the last
    value at which they do not, the upper bound the first at which they do: as a value is in the
    first branch if it is not above the threshold, thresholds that will do lie from the lower bound
    up to, and without, the upper. (If the errors never rise so far the upper bound is the greatest
    value.) Where no value lies beyond the threshold, or it may not be moved down, the bound is the
    threshold.

    `x`, `weight` (n,): of the rows of known value. `wrong` (n, 2) bool: whether the answer of the
    first branch, and of the second, is wrong.
    """
    held, place = np.unique(x, return_inverse=True)
    first, second = (np.bincount(place, weight * side, len(held)) for side in wrong.T)
    moved = np.append(0.0, np.cumsum(first)) + np.append(np.cumsum(second[::-1])[::-1], 0.0)
    at, above = np.searchsorted(held, threshold), np.searchsorted(held, threshold, side="right")
    own, n = float(moved[above]), float(weight.sum())
    room = np.sqrt(own + 0.5) * np.sqrt(max(n - own + 0.5, 0.0) / (n + 1.0)) + _TIE
    too_far = moved[1:] > own + room  # with the threshold at each value
    below, beyond = np.flatnonzero(too_far[:at]), np.flatnonzero(too_far[above:])
    low = below[-1] + 1 if len(below) else 0
    high = above + beyond[0] if len(beyond) else len(held) - 1
    return (
        float(held[low]) if low < at else threshold,
        float(held[high]) if high >= above else threshold,
    )


def narrowed(tree: Tree, values: _Floats) -> tuple[Tree, _Floats]:
    """Return a tree without surrogates on the columns it reads, and the table of these."""
    read = tree.columns
    local = tree.on_columns(np.searchsorted(read, tree.column), np.empty(0, np.intp))
    return local, np.ascontiguousarray(values[:, read], dtype=np.float64)


def wrong_answers(
    tree: Tree, values: _Floats, y: NDArray[np.integer[Any]], root: Any = (0,)
) -> _Flags:
    """Return whether each row, shape (n,), is given another class from each root, shape (T,).

    The class is the one of the greatest share; of nearly equal shares the first.
    """
    said = tree.answers(values, root)
    greatest = said >= said.max(axis=2, keepdims=True) - _TIE
    return greatest.argmax(axis=2) != y[:, None]


def _branches(tree: Tree, node: int, x: _Floats) -> _Whole:
    """Return the branch of each value at a node, -1 for those that are missing there."""
    missing = np.isnan(x)
    codes = tree.code_branch[tree.code_ptr[node] : tree.code_ptr[node + 1]]
    if not len(codes):
        return np.where(missing, -1, x > tree.threshold[node])
    return np.where(missing, -1, codes[np.where(missing, 0, x).astype(np.intp)])
