"""Regression trees by squared error, as steps of gradient boosting.

They are grown as second-order trees: with gradient -r, hessian 1 and no penalty, the gain of a
split is the decrease of the sum of squares of r, sum_L^2/n_L + sum_R^2/n_R - sum^2/n.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Array, Floats, NDArray
from psephos.kernels.sorted_trees.newton_gain import Penalty
from psephos.trees.newton import NewtonTree, TreeLimits, TreeSample
from psephos.trees.newton_grow import searching

_Whole = NDArray[np.intp]
_SIZE = 30.0  # log2 of the largest residual after scaling
_TINY = np.finfo(np.float64).tiny
_MOST = 1000.0  # largest exponent of the scale
_HIST_DEPTH = 32  # a histogram is kept for each level
_NEAR = 1e-9  # relative difference of means below which residuals are compared for equality


@dataclass(frozen=True)
class GradientLimits:
    """Limits of a tree; weights are sums of row weights."""

    max_depth: int | None = 3
    min_leaf: float = 0.0  # least weight on either side of a split; 0: any
    min_leaf_share: float = 0.0  # least share of the tree's weight on either side
    min_split: float = 0.0  # least weight of a node that is split; 0: any
    min_decrease: float = 0.0  # least decrease of the sum of squares, over the tree's weight
    max_leaves: int | None = None


class GradientTrees(NamedTuple):
    """A tree, the node of every row before pruning, and the leaf to which each node now belongs."""

    tree: NewtonTree
    position: _Whole
    own: _Whole


class SquaresGrower:
    """Grows trees on one table.

    Parameters
    ----------
    values : (p, n) float32 or float64; cuts are midpoints in that type (of bins, in float64)
    n_codes : number of codes of each categorical column
    weight : (n,)
    method : {'exact', 'hist'}
    max_bin : bins of a column, including that of missing values; ignored by 'exact'
    """

    def __init__(
        self,
        values: Array,
        n_codes: Mapping[int, int],
        weight: Floats,
        limits: GradientLimits,
        method: str = "exact",
        max_bin: int = 256,
        n_jobs: int | None = None,
    ) -> None:
        p, n = values.shape
        self.limits = limits
        self.directions = np.zeros(p, np.int64)
        # Some sums are float32: weights are scaled near 1, by a power of two.
        self.unit = 2.0 ** np.floor(np.log2(weight.mean()))
        self.weight = weight / self.unit
        deepest = n if method == "exact" else min(n, _HIST_DEPTH)
        if limits.max_leaves is not None:
            deepest = min(deepest, limits.max_leaves - 1)
        self.max_depth = min(limits.max_depth or n, max(deepest, 1))
        self.search = searching(method, values, n_codes, max_bin, n_jobs, weight)

    def grow(self, residual: Floats, draws: TreeSample) -> GradientTrees:
        """Grow one tree on the residuals (n,) of the drawn rows."""
        held = self.limits
        mass = self.weight[draws.rows]
        total = mass.sum()
        # Half a row excludes no split but those with an empty side.
        least = max(held.min_leaf / self.unit, held.min_leaf_share * total, mass.min() / 2.0)
        free = Penalty(0.0, 0.0, 0.0, least, centred=True)
        growth = TreeLimits(free, self.max_depth, self.directions)
        largest = (np.abs(residual) * np.sqrt(self.weight))[draws.rows].max()
        # Growers reject gains below an absolute 1e-6: residuals are scaled to one size.
        scale = 2.0 ** min(_SIZE - np.floor(np.log2(max(largest, _TINY))), _MOST)
        gh = np.stack([-scale * self.weight * residual, self.weight], axis=1)
        tree, position = self.search(gh, growth, draws)
        inside = np.flatnonzero(draws.rows)
        nodes = _Nodes(tree, position[inside], self.weight[inside], residual[inside])
        gain = np.where(nodes.pure(), -np.inf, nodes.gain)
        gain[nodes.mass < held.min_split / self.unit] = -np.inf
        if held.min_decrease:
            gain[gain < held.min_decrease * total * (1.0 - 1e-12)] = -np.inf
        return GradientTrees(tree, position, _cut_back(tree, gain, held.max_leaves))


class _Nodes:
    """Weight, mean residual and gain of every node, in float64; the gain of a leaf is -inf."""

    def __init__(
        self, tree: NewtonTree, position: _Whole, weight: Floats, residual: Floats
    ) -> None:
        self.position, self.residual, n = position, residual, tree.n_nodes
        self.mass: Any = np.bincount(position, weight, minlength=n)
        sums: Any = np.bincount(position, weight * residual, minlength=n)
        self.inner: list[_Whole] = []  # nodes that are split, by level
        level = np.zeros(1, np.intp)
        while len(level):
            level = level[tree.feature[level] >= 0]
            self.inner.append(level)
            level = np.concatenate([tree.first[level], tree.first[level] + 1])
        self.first = tree.first
        for whole in (self.mass, sums):
            self.gather(whole, np.add)
        self.mean = np.divide(sums, self.mass, out=np.zeros(n), where=self.mass > 0)
        inner = np.concatenate(self.inner)
        left, right = self.first[inner], self.first[inner] + 1
        self.apart = self.mean[left] - self.mean[right]
        self.gain = np.full(n, -np.inf)
        self.gain[inner] = self.mass[left] * self.mass[right] / self.mass[inner] * self.apart**2

    def gather(self, leaves: Floats, join: np.ufunc) -> None:
        """Compute the values of inner nodes from those of leaves, level by level."""
        for level in self.inner[::-1]:
            leaves[level] = join(leaves[self.first[level]], leaves[self.first[level] + 1])

    def pure(self) -> NDArray[np.bool_]:
        """Return the mask of nodes that are split although all their residuals are equal.

        Rounding may have given such splits a gain.
        """
        out = np.zeros(len(self.mass), np.bool_)
        inner = np.concatenate(self.inner)
        near = np.abs(self.apart) <= _NEAR * np.abs(self.mean[inner])
        if near.any():
            low, high = np.full(len(out), np.inf), np.full(len(out), -np.inf)
            np.minimum.at(low, self.position, self.residual)
            np.maximum.at(high, self.position, self.residual)
            self.gather(low, np.minimum)
            self.gather(high, np.maximum)
            out[inner] = low[inner] >= high[inner]
        return out


def _best_splits(gain: NDArray[np.float64], first: Array, max_leaves: int) -> NDArray[Any]:
    """Return the mask of nodes that are split by best-first search; a gain of -inf is a leaf.

    Of equal gains the node with the lower number is split first; `first` is each node's first
    child.
    """
    split = np.zeros(len(gain), np.bool_)
    queue = [(-float(gain[0]), 0)]
    for _ in range(max_leaves - 1):
        if not queue:
            break
        worth, node = heapq.heappop(queue)
        if worth == np.inf:
            break
        split[node] = True
        for child in (int(first[node]), int(first[node]) + 1):
            heapq.heappush(queue, (-float(gain[child]), child))
    return split


def _cut_back(tree: NewtonTree, gain: Floats, max_leaves: int | None) -> _Whole:
    """Undo splits of gain -inf, and those beyond `max_leaves` by best-first search, in place.

    Returns
    -------
    own : (nodes,); the leaf to which each old leaf now belongs
    """
    own = np.arange(tree.n_nodes)
    inner = np.flatnonzero(tree.feature >= 0)
    if max_leaves is None and (gain[inner] > -np.inf).all():
        return own
    split = _best_splits(gain, tree.first, max_leaves or tree.n_nodes)
    for node in inner:
        if not split[node]:
            own[tree.first[node] : tree.first[node] + 2] = own[node]
            tree.feature[node] = -1
            tree.sets.pop(int(node), None)
    return own
