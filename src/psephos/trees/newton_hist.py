"""Second-order trees on histograms of binned columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.newton_exact import pack
from psephos.kernels.newton_gain import weigh
from psephos.kernels.newton_hist import BINS, WIDTH, grow_hist, lay_out, leaf_answers
from psephos.trees.bins import Bins
from psephos.trees.newton import Draws, Growth, NewtonTree, whole_scales

__all__ = ["BinnedTable", "bin_table", "edges", "grow_binned", "side_by_side"]

_Whole = NDArray[np.intp]
_Singles = NDArray[np.float32]


@dataclass(frozen=True)
class BinnedTable:
    """Columns as codes of one byte.

    Parameters
    ----------
    values : ndarray of shape (p, n), float32
    codes : ndarray of shape (p, n), uint8
        The missing have the code ``n_bins[j]``.
    blocks : ndarray of shape (b, n, WIDTH), uint8
        The same, WIDTH columns side by side.
    n_bins : ndarray of shape (p,)
        Negative for a column of categories.
    cuts : ndarray of shape (p, BINS), float32
        A code of at most b is ``value < cuts[j, b]``.
    categories : dict of int to ndarray
        The bin of each code of a categorical column.
    """

    values: _Singles
    codes: NDArray[np.uint8]
    blocks: NDArray[np.uint8]
    n_bins: NDArray[np.int64]
    cuts: _Singles
    categories: Mapping[int, NDArray[np.uint8]]


def bin_table(
    values: _Singles, n_codes: Mapping[int, int], max_bin: int, n_jobs: int | None = None
) -> BinnedTable:
    """Bin a (p, n) float32 table, once for all trees; `max_bin` counts the missing ones' bin."""
    bins = Bins.of(values.T, n_codes, None, min(max_bin - 1, BINS - 1), n_jobs)
    p = len(values)
    n_bins = bins.n_bins.astype(np.int64)
    n_bins[list(bins.categories)] *= -1
    low, high = np.full((2, p, BINS), np.nan)
    for j in range(p):
        span = slice(int(bins.ptr[j]), int(bins.ptr[j + 1]))
        size = span.stop - span.start
        low[j, :size], high[j, :size] = bins.low[span], bins.high[span]
    cuts = edges(low, high, n_bins)
    return BinnedTable(values, bins.codes, side_by_side(bins.codes), n_bins, cuts, bins.categories)


def edges(low: NDArray[Any], high: NDArray[Any], n_bins: NDArray[np.int64]) -> _Singles:
    """Return the (p, BINS) float32 cuts after each bin.

    A cut is above its bin's greatest value and at most the least of the next bin; the last is
    above all values.
    """
    cuts = np.full(low.shape, np.nan, np.float32)
    middle = (low[:, 1:] / 2 + high[:, :-1] / 2).astype(np.float32)
    cuts[:, :-1] = np.where(middle <= high[:, :-1], low[:, 1:], middle)
    for j in np.flatnonzero(n_bins > 0):
        last = np.float32(high[j, n_bins[j] - 1])
        cuts[j, n_bins[j] - 1] = last + (abs(last) + np.float32(1e-6))
    return cuts


def side_by_side(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the (p, n) codes as blocks (b, n, WIDTH)."""
    p, n = codes.shape
    blocks = np.zeros((-(-p // WIDTH), n, WIDTH), np.uint8)
    lay_out(codes, blocks)
    return blocks


def grow_binned(
    table: BinnedTable, gh: NDArray[Any], growth: Growth, draws: Draws
) -> tuple[NewtonTree, _Whole]:
    """Grow one tree; see `grow_exact`."""
    p, n = table.values.shape
    rows = np.flatnonzero(draws.rows).astype(np.uint32)
    depth = min(growth.max_depth, max(1, len(rows) - 1))
    capacity = min(2 ** (depth + 1), 2 * len(rows))
    scale = whole_scales(gh, draws.rows, growth.penalty)
    packed = np.empty(n, np.int64)
    pack(gh, np.zeros(n, np.uint16), 1, *scale, packed)
    nodes = (
        np.full(capacity, -1, np.int64),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.bool_),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.float32),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.float32),
        np.zeros(capacity, np.float32),
    )
    levels, by_node, seed = _columns(draws, depth, p)
    luts = np.zeros((capacity if table.categories else 0, BINS), np.uint8)
    room = (
        np.empty(BINS, np.int64),
        np.empty(BINS, np.int64),
        np.empty(BINS),
        np.empty(BINS, np.uint8),
    )
    width = table.blocks.shape[0] * WIDTH
    count = grow_hist(
        growth.penalty, (table.blocks, table.codes, table.n_bins, growth.directions), levels,
        by_node, seed, depth, rows, np.empty(len(rows), np.uint32), packed, scale,
        np.empty((depth + 1, width, BINS), np.int64), room, np.empty(p, np.intp),
        np.empty((depth + 2, 3), np.int64), nodes, luts,
    )  # fmt: skip
    sums, position = np.empty((count, 2)), np.empty(n, np.intp)
    feature, _, _, first, _, begin, end, _, _ = nodes
    leaf_answers(rows, begin, end, feature, first, gh, count, sums, position)
    tree = _tree(table, growth, nodes, count, sums, luts)
    if len(rows) < n:
        out = np.flatnonzero(~draws.rows)
        position[out] = tree.leaves(table.values[:, out])
    return tree, position


def _columns(draws: Draws, depth: int, p: int) -> tuple[tuple[Any, Any], float, np.uint64]:
    """Return columns by level, the share drawn for each node, and the seed of those draws."""
    if draws.by_level >= 1.0:  # the same list at every level
        levels = np.tile(draws.tree, (depth, 1))
        sizes = np.full(depth, len(draws.tree))
    else:
        levels, sizes = np.zeros((depth, p), np.intp), np.zeros(depth, np.intp)
        for d in range(depth):
            own = draws.level(d)
            levels[d, : len(own)], sizes[d] = own, len(own)
    seed = 0 if draws.rng is None else draws.rng.integers(2**63)
    return (levels, sizes), draws.by_node, np.uint64(seed)


def _tree(
    table: BinnedTable,
    growth: Growth,
    nodes: tuple[NDArray[Any], ...],
    count: int,
    sums: NDArray[np.float64],
    luts: NDArray[np.uint8],
) -> NewtonTree:
    """Return what the kernel grew as a tree."""
    feature, cut, missing_left, first, loss, _, _, low, high = (a[:count] for a in nodes)
    inner = feature >= 0
    threshold = np.full(count, np.nan, np.float32)
    threshold[inner] = table.cuts[feature[inner], cut[inner]]
    sets: dict[int, NDArray[np.bool_]] = {}
    for node in np.flatnonzero(inner):
        j = int(feature[node])
        if j in table.categories:
            sets[int(node)] = luts[node][table.categories[j]].astype(np.bool_)
            threshold[node] = np.nan
    weight = np.empty(count, np.float32)
    weigh(growth.penalty, sums, low, high, weight)
    return NewtonTree(
        growth, feature.astype(np.intp), threshold, missing_left.copy(), first.astype(np.intp),
        loss.copy(), weight, sums[:, 1].copy(), low.copy(), high.copy(), sets,
    )  # fmt: skip
