"""Second-order trees grown level by level on histograms of rows in files.

One pass over the rows makes the histograms of a whole level. `newton_hist` makes them node by node,
from rows in the order of the nodes: this is faster in memory, but would read a file once per node.
The trees are identical.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from psephos._types import NDArray
from psephos.kernels.binned_trees import newton_hist as kernel
from psephos.trees.newton import NewtonTree, TreeLimits, shrink
from psephos.trees.newton_hist import tree_of
from psephos.trees.out_of_core.disk import BlockObjective, DiskRows

_Nodes = tuple[NDArray[np.int64], NDArray[np.float32]]
_Codes = NDArray[np.uint8]  # (nodes, BINS); 1 for each code whose rows go to the first child


def _grow(rows: DiskRows, output: int, growth: TreeLimits) -> tuple[NewtonTree, NDArray[np.intp]]:
    """Grow one tree; return it, and the index in it of each node of the rows."""
    scale = rows.start(output, growth.penalty)
    nodes: _Nodes = np.zeros((1, 6), np.int64), np.zeros((1, 3), np.float32)
    luts: _Codes = np.zeros((1, kernel.BINS), np.uint8)
    kernel.make_root(nodes, 0)
    # a node whose histogram is made, its sibling, and the histogram of both together
    wanted: list[tuple[int, int, Any]] = [(0, 0, None)]
    for _ in range(min(growth.max_depth, max(1, rows.n_drawn - 1))):
        made = rows.histograms(nodes[0], luts, [small for small, *_ in wanted])
        known: dict[int, NDArray[np.int64]] = {}
        for hist, (small, large, both) in zip(made, wanted, strict=True):
            known[small] = hist
            if both is not None:
                known[large] = np.subtract(both, hist, out=both)
        nodes, luts, wanted = _split(known, growth, rows.bins.n_bins, scale, nodes, luts)
        if not wanted:
            break
    return _finished(rows, output, growth, nodes, luts)


def _split(
    known: dict[int, NDArray[np.int64]],
    growth: TreeLimits,
    n_bins: NDArray[np.int64],
    scale: tuple[float, float],
    before: _Nodes,
    luts: _Codes,
) -> tuple[_Nodes, _Codes, list[tuple[int, int, Any]]]:
    """Split the nodes of a level if that gains enough; return all nodes, and the new children."""
    p, count = len(n_bins), len(before[0])
    more = [np.zeros((2 * len(known), part.shape[1]), part.dtype) for part in before]
    nodes: Any = tuple(np.concatenate(pair) for pair in zip(before, more, strict=True))
    bins = None, None, n_bins, growth.directions
    every, lut = (np.arange(p)[None], np.array([p])), np.empty(kernel.BINS, np.uint8)
    scratch, own = np.empty(kernel.BINS, np.int64), np.empty(p, np.intp)
    luts = np.concatenate([luts, np.zeros((2 * len(known), kernel.BINS), np.uint8)])
    categories = np.empty(kernel.BINS, np.int64), np.empty(kernel.BINS), luts
    wanted: list[tuple[int, int, Any]] = []
    for node, hist in known.items():
        whole = kernel.search_node(
            growth.penalty, bins, every, (1.0, np.uint64(0)), node, 0, hist, scale,
            scratch, categories, own, nodes,
        )  # fmt: skip
        if nodes[0][node, kernel.FEATURE] >= 0:
            kernel.first_side(bins, node, lut, categories, nodes)
            luts[node] = lut
            left_h, right_h = kernel.make_children(
                growth.penalty, bins, node, count, hist, whole, scale, lut, nodes
            )
            small = count + int(left_h > right_h)
            wanted.append((small, 2 * count + 1 - small, hist))
            count += 2
    return (nodes[0][:count], nodes[1][:count]), luts[:count], wanted


def _finished(
    rows: DiskRows, output: int, growth: TreeLimits, nodes: _Nodes, luts: _Codes
) -> tuple[NewtonTree, NDArray[np.intp]]:
    """Return the tree with nodes in the order of `newton_hist`, and the new index of each node."""
    ints, reals = nodes
    sums = rows.leaves(output, ints, luts)
    inner = np.flatnonzero(ints[:, kernel.FEATURE] >= 0)
    size, first = sums[:, 2], ints[:, kernel.FIRST].copy()
    for node in inner[::-1]:
        size[node] = size[first[node]] + size[first[node] + 1]
    order, pending = [0], [0]
    while pending:
        one = int(first[pending.pop()])
        if one:
            order += [one, one + 1]
            small = one + int(size[one] > size[one + 1])
            pending += [2 * one + 1 - small, small]
    place = np.argsort(order)
    ints[inner, kernel.FIRST] = place[first[inner]]
    nodes, totals = (ints[order], reals[order]), sums[order, :2]
    weight, nothing = np.empty(len(order), np.float32), np.empty(0, np.int64)
    kernel.leaf_answers(growth.penalty, nothing, totals, len(order), nodes, totals, weight, nothing)
    cuts, categories = rows.bins.cuts, rows.bins.categories
    return tree_of(cuts, growth, nodes, totals, weight, luts[order], categories), place


def boost(
    rows: DiskRows,
    objective: BlockObjective,
    growth: TreeLimits,
    *,
    n_estimators: int,
    learning_rate: float,
    draws: Callable[[int], NDArray[np.bool_] | None],
) -> list[list[NewtonTree]]:
    """Return boosted trees: a list per round, with one tree per output.

    `growth`: limits of a tree. `n_estimators`: number of rounds. `learning_rate`: shrinkage.
    `draws`: from a round to the rows (n,) its trees are grown on; None: all.
    """
    rounds: list[list[NewtonTree]] = []
    for t in range(n_estimators):
        rows.gradients(objective, draws(t))
        trees: list[NewtonTree] = []
        for output in range(objective.n_outputs):
            tree, place = _grow(rows, output, growth)
            shrink(tree, learning_rate)
            rows.answer(output, tree.answer[place])
            trees.append(tree)
        rounds.append(trees)
    return rounds
