"""Second-order trees on histograms of binned columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._types import Array, NDArray
from psephos.kernels.binned_trees.newton_hist import (
    BEST,
    BINS,
    DEEPEST,
    EARLIEST,
    WIDTH,
    grow_hist,
    leaf_answers,
)
from psephos.kernels.sorted_trees.newton_exact import pack
from psephos.trees.bins import Bins
from psephos.trees.newton import NewtonTree, TreeLimits, TreeSample, whole_scales

_Whole = NDArray[np.intp]
_Singles = NDArray[np.float32]
_LEVELS = 64  # levels that draw their own columns; deeper ones use those of the last
_HELD = 2**23  # numbers of the histograms kept for waiting leaves: 64 MiB


@dataclass(frozen=True)
class BinnedTable:
    """Columns as codes of one byte."""

    values: NDArray[Any]  # (p, n) float32 or float64
    codes: NDArray[np.uint8]  # (p, n); missing values have the code ``n_bins[j]``
    blocks: NDArray[np.uint8]  # (b, n, WIDTH); the same, WIDTH columns side by side
    n_bins: NDArray[np.int64]  # (p,); negative for a column of categories
    cuts: NDArray[np.float64]  # (p, BINS); a code of at most b is ``value < cuts[j, b]``
    categories: Mapping[int, NDArray[np.uint8]]  # the bin of each code of a categorical column


def bin_table(
    values: Array,
    n_codes: Mapping[int, int],
    max_bin: int,
    n_jobs: int | None = None,
    weight: NDArray[np.float64] | None = None,
) -> BinnedTable:
    """Bin a (p, n) table, float32 or float64, once for all trees.

    `max_bin` includes the bin of missing values. The bins of a column with more distinct values
    have equal shares of the rows' `weight`.
    """
    bins = Bins.of(values.T, n_codes, weight, min(max_bin - 1, BINS - 1), n_jobs)
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


def edges(low: NDArray[Any], high: NDArray[Any], n_bins: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the (p, BINS) cuts after each bin.

    A cut is above its bin's greatest value and at most the least value of the next bin. The last
    one exceeds all values by the greatest of their sizes.
    """
    cuts = np.full(low.shape, np.nan)
    middle = low[:, 1:] / 2 + high[:, :-1] / 2
    outside = (middle <= high[:, :-1]) | (middle > low[:, 1:])
    cuts[:, :-1] = np.where(outside, low[:, 1:], middle)
    some = np.flatnonzero(n_bins > 0)
    last = high[some, n_bins[some] - 1]
    size = np.maximum(np.abs(last), np.abs(low[some, 0]))
    with np.errstate(over="ignore"):  # infinity is above all values, too
        cuts[some, n_bins[some] - 1] = last + np.where(size > 0, size, np.inf)
    return cuts


def side_by_side(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the (p, n) codes as blocks (b, n, WIDTH)."""
    p, n = codes.shape
    blocks = np.zeros((-(-p // WIDTH), WIDTH, n), np.uint8)
    blocks.reshape(-1, n)[:p] = codes
    return np.ascontiguousarray(blocks.transpose(0, 2, 1))


def grow_binned(
    table: BinnedTable, gh: Array, growth: TreeLimits, draws: TreeSample
) -> tuple[NewtonTree, _Whole]:
    """Grow one tree; see `grow_exact`.

    The order of splits, level by level or best first, is set by `growth`.
    """
    gh = np.ascontiguousarray(gh, dtype=np.float64)
    p, n = table.values.shape
    rows = np.flatnonzero(draws.rows).astype(np.uint32)
    depth = min(growth.max_depth, max(1, len(rows) - 1))
    leaves = min(growth.max_leaves or len(rows), len(rows), 2 ** min(depth, 60))
    capacity = 2 * leaves
    scale = whole_scales(gh, draws.rows, growth.penalty)
    packed = np.empty(n, np.int64)
    pack(gh, np.zeros(n, np.uint16), 1, *scale, packed)
    nodes = np.zeros((capacity, 6), np.int64), np.zeros((capacity, 3), np.float32)
    luts = np.zeros((capacity, BINS), np.uint8)  # unwritten memory is not allocated
    width = table.blocks.shape[0] * WIDTH
    start = growth.penalty, (table.blocks, table.codes, table.n_bins, growth.directions)
    drawn = _columns(draws, depth, p)
    work = rows, np.empty(len(rows), np.uint32), packed, scale
    scratch = (
        np.empty(BINS, np.int64),
        np.empty(BINS, np.uint8),
        (np.empty(BINS, np.int64), np.empty(BINS), luts),
    )
    own = np.empty(p, np.intp)
    order, held = DEEPEST, min(depth, len(rows).bit_length()) + 3
    if not growth.by_level:
        order = BEST if growth.best_first else EARLIEST
        held = min(leaves + 1, max(3, _HELD // (width * BINS)))
    hists = np.empty((held, width, BINS), np.int64)  # unwritten memory is not allocated
    waiting = tuple(np.empty(size, np.int64) for size in (*[capacity] * 4, held))
    limits = depth, leaves, order
    count = grow_hist(*start, *drawn, limits, *work, hists, *scratch, own, waiting, nodes)
    sums, weight = np.zeros((count, 2)), np.empty(count, np.float32)
    position = np.empty(n, np.intp)
    leaf_answers(growth.penalty, rows, gh, count, nodes, sums, weight, position)
    tree = tree_of(table.cuts, growth, nodes, sums, weight, luts, table.categories)
    if len(rows) < n:
        out = np.flatnonzero(~draws.rows)
        position[out] = tree.leaves(table.values[:, out])
    return tree, position


def _columns(draws: TreeSample, depth: int, p: int) -> tuple[Any, Any]:
    """Return ((columns by level, their numbers), (share drawn for each node, seed))."""
    if draws.ties:  # permuted, as the first of equal columns is chosen
        depth = min(depth, _LEVELS)
        own = [
            np.random.default_rng(draws.tie_seed(d)).permutation(draws.level(d))
            for d in range(depth)
        ]
        levels = np.array(own, np.intp), np.full(depth, len(own[0]))
    elif draws.by_level >= 1.0:  # the same list at every level
        levels = draws.tree[None].astype(np.intp), np.array([len(draws.tree)])
    else:
        depth = min(depth, _LEVELS)
        columns, sizes = np.zeros((depth, p), np.intp), np.zeros(depth, np.intp)
        for d in range(depth):
            own = draws.level(d)
            columns[d, : len(own)], sizes[d] = own, len(own)
        levels = columns, sizes
    seed = 0 if draws.rng is None else draws.rng.integers(2**63)
    return levels, (float(draws.by_node), np.uint64(seed))


def tree_of(
    cuts: NDArray[np.float64],
    growth: TreeLimits,
    nodes: tuple[NDArray[np.int64], _Singles],
    sums: NDArray[np.float64],
    weight: _Singles,
    luts: NDArray[np.uint8],
    categories: Mapping[int, NDArray[np.uint8]],
) -> NewtonTree:
    """Return the tree of the arrays that kernels grew."""
    count = len(weight)
    feature, cut, missing_left, first = nodes[0][:count, :4].T
    loss, low, high = nodes[1][:count].T
    inner = feature >= 0
    threshold = np.full(count, np.nan)
    threshold[inner] = cuts[feature[inner], cut[inner]]
    sets: dict[int, NDArray[np.bool_]] = {}
    for node in np.flatnonzero(inner):
        j = int(feature[node])
        if j in categories:
            sets[int(node)] = luts[node][categories[j]].astype(np.bool_)
            threshold[node] = np.nan
    return NewtonTree(
        growth, feature.astype(np.intp), threshold, missing_left.astype(np.bool_),
        first.astype(np.intp),
        loss.copy(), weight, sums[:, 1].copy(), low.copy(), high.copy(), sets,
    )  # fmt: skip
