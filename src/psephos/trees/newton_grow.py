"""Growers of second-order trees: exact, on bins, or on bins made for each tree."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from psephos._types import Array, NDArray
from psephos.kernels.binned_trees import newton_hist
from psephos.kernels.binned_trees.bins import bin_columns
from psephos.kernels.numerics.ordering import sort_rows
from psephos.kernels.sorted_trees import newton_exact
from psephos.kernels.sorted_trees.newton_gain import Penalty, comes_first, weigh_gains
from psephos.runtime.jit import run_blocks
from psephos.trees.bins import Bins
from psephos.trees.newton import BestSplits, NewtonTree, TreeLimits, TreeSample, prune, whole_scales

_Whole = NDArray[np.intp]
_BLOCK = 2**18  # entries of a block of columns, one task of a thread
_LEVELS = 255  # greatest number of distinct values of a coded column
_ROWS_A_LEVEL = 16  # least mean number of rows per value
_VISITS = 4  # greatest number of (value, node) pairs per row
_CHUNK = 2**17  # numbers sorted at once: their keys fit the second-level cache


@dataclass(frozen=True)
class SortedTable:
    """Columns in float32 or float64 and the sorted order of each."""

    values: NDArray[Any]  # (p, n) float32 or float64
    order: NDArray[Any]  # (p, n) uint16 or uint32; rows by value, ties by row, missing last
    known: NDArray[np.int64]  # (p,); number of values present; 0 in a categorical column
    # (p, n); codes of values in columns with few distinct values; missing: the code after the last
    codes: NDArray[np.uint8]
    levels: NDArray[Any]  # (p, 255) of the type of `values`; these distinct values
    n_levels: NDArray[np.int64]  # (p,); their number; 0 in other columns
    # numbers of codes of the categorical columns
    n_codes: Mapping[int, int] = field(default_factory=dict[int, int])

    @property
    def shape(self) -> tuple[int, int]:
        """Return (p, n)."""
        p, n = self.values.shape
        return p, n


def sort_table(
    values: NDArray[Any], n_codes: Mapping[int, int] | None = None, n_jobs: int | None = None
) -> SortedTable:
    """Sort the numeric columns of a (p, n) table, float32 or float64."""
    p, n = values.shape
    order = np.empty((p, n), np.uint16 if n <= 2**16 else np.uint32)
    known = np.empty(p, np.int64)
    width = max(1, _CHUNK // n)

    def sort(block: int) -> None:
        part = slice(block * width, (block + 1) * width)
        order[part], _, known[part] = sort_rows(values[part])

    run_blocks(sort, -(-p // width), n_jobs)
    known[list(n_codes or ())] = 0
    codes, levels, n_levels = _coded(values, order, known, n_jobs)
    return SortedTable(values, order, known, codes, levels, n_levels, n_codes or {})


def _coded(
    values: NDArray[Any], order: NDArray[Any], known: NDArray[np.int64], n_jobs: int | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Return (codes, levels, n_levels), empty tables if no column has few distinct values."""
    p, n = values.shape
    most = min(_LEVELS, n // _ROWS_A_LEVEL)
    n_levels = np.zeros(p, np.int64)
    if most < 2:
        return np.empty((p, 0), np.uint8), np.empty((p, 0), values.dtype), n_levels
    codes, levels = np.empty((p, n), np.uint8), np.empty((p, most), values.dtype)
    width = max(1, _BLOCK // n)

    def code(block: int) -> None:
        part = slice(block * width, (block + 1) * width)
        newton_exact.code_columns(
            values[part], order[part], known[part], most, codes[part], levels[part], n_levels[part]
        )

    run_blocks(code, -(-p // width), n_jobs)
    if not n_levels.any():
        return np.empty((p, 0), np.uint8), np.empty((p, 0), values.dtype), n_levels
    return codes, levels, n_levels


def grow_exact(
    table: SortedTable,
    gh: NDArray[Any],
    growth: TreeLimits,
    draws: TreeSample,
    n_jobs: int | None = None,
) -> tuple[NewtonTree, _Whole]:
    """Grow one tree.

    `gh` (n, 2) float32 or float64: gradients and hessians. `growth`: the limits of the tree.
    `draws`: its rows and columns.

    Returns
    -------
    tree : not pruned
    position : (n,); the leaf of every row, including rows that were not drawn
    """
    n, gh = len(gh), np.ascontiguousarray(gh, dtype=np.float64)
    tree = NewtonTree.root_alone(growth, table.values.dtype)
    position = np.zeros(n, np.intp)
    slot = np.where(draws.rows, 0, 1).astype(np.uint16)
    scale = whole_scales(gh, draws.rows, growth.penalty)
    packed = np.empty(n, np.int64)
    newton_exact.pack(gh, slot, 1, *scale, packed)
    base, width = 0, 1
    for depth in range(growth.max_depth + 1):
        sums, whole = np.zeros((width + 1, 2)), np.zeros(width + 1, np.int64)
        size = np.zeros(width + 1, np.int64)
        newton_exact.level_totals(slot, gh, packed, sums, whole, size)
        tree.weigh(base, sums[:width])
        if depth == growth.max_depth:
            break
        level = _Level(slot, sums[:width], whole[:width], size, base)
        pen = growth.penalty._replace(ties=draws.tie_seed(depth))
        columns = draws.columns(depth, width)
        found = _search(table, gh, packed, scale, level, tree, pen, columns, n_jobs)
        split = tree.split(base, found)
        if not split:
            break
        base, width = base + width, 2 * split
        wide = np.uint16 if width < 2**16 else np.uint32
        slot = slot if slot.dtype == wide else slot.astype(wide)
        newton_exact.route(table.values, *tree.rules, base, draws.rows, width, position, slot)
    return tree, position


@dataclass(frozen=True)
class _Level:
    slot: NDArray[Any]
    sums: NDArray[np.float64]
    whole: NDArray[np.int64]
    size: NDArray[np.int64]
    base: int


def _search(
    table: SortedTable,
    gh: NDArray[Any],
    packed: NDArray[np.int64],
    scale: tuple[float, float],
    level: _Level,
    tree: NewtonTree,
    pen: Penalty,
    columns: tuple[_Whole, NDArray[np.bool_]],
    n_jobs: int | None,
) -> BestSplits:
    """Return the best split of each node."""
    growth, (allowed, by_node) = tree.growth, columns
    n, slots = table.shape[1], len(level.whole)
    low, high = tree.bounds(level.base, slots)
    root = np.empty(slots, np.float32)
    weigh_gains(pen, level.sums, low, high, root)
    whole = (level.sums, level.whole, level.size, root, low, high)
    start = np.cumsum(np.concatenate([[0], level.size])) + np.arange(1, slots + 3)
    width = max(1, _BLOCK // n)
    blocks = -(-len(allowed) // width)
    # A gain found by one block saves others work; splits of equal gain must still be found.
    floor = np.zeros(slots, np.float32)
    loss = np.zeros((blocks, slots), np.float32)
    split = np.zeros((blocks, slots), table.values.dtype)
    missing_left = np.zeros((blocks, slots), np.bool_)
    chosen = np.full((blocks, slots), -1, np.int64)
    # A coded column also needs a pass over its values for every node.
    few = (table.n_levels > 0) & (table.n_levels * slots <= _VISITS * n)
    rows = np.empty(int(start[-1]), table.order.dtype)
    if few.any():
        newton_exact.deal_rows(
            np.arange(n), level.slot, start, np.empty(slots + 1, np.uint32), rows
        )
    shared = (by_node, level.slot, gh, packed)

    def scan(block: int) -> None:
        part = allowed[block * width : (block + 1) * width]
        best = loss[block], split[block], missing_left[block], chosen[block]
        loss[block] = np.nextafter(floor, np.float32(0))
        columns = part[few[part]], part[~few[part]]
        _scan_block(
            table, pen, growth.directions, columns, shared, whole, scale, (rows, start), best
        )
        np.maximum(floor, loss[block], out=floor)
        loss[block][chosen[block] < 0] = 0.0  # another block's loss

    run_blocks(scan, blocks, n_jobs)
    best = _best_blocks(loss, chosen, pen.ties) if blocks else np.empty(0, np.intp)
    every = np.arange(slots)
    found = BestSplits(
        loss[best, every], split[best, every], missing_left[best, every], chosen[best, every], {}
    )
    for j in np.intersect1d(allowed, list(table.n_codes)).astype(int):
        _try_categories(table, gh, j, by_node, level, whole, pen, found)
    return found


def _best_blocks(loss: NDArray[np.float32], chosen: NDArray[np.int64], ties: int) -> _Whole:
    """Return the block of each node's best split; of equals that of the first column."""
    best: _Whole = loss.argmax(axis=0)
    for s in range(loss.shape[1]) if ties and len(loss) > 1 else ():
        for block in np.flatnonzero((loss[:, s] == loss[best[s], s]) & (chosen[:, s] >= 0)):
            if comes_first(ties, chosen[block, s], chosen[best[s], s]):
                best[s] = block
    return best


def _scan_block(
    table: SortedTable,
    pen: Penalty,
    directions: NDArray[np.int64],
    columns: tuple[_Whole, _Whole],
    shared: tuple[NDArray[Any], ...],
    whole: tuple[NDArray[Any], ...],
    scale: tuple[float, float],
    dealt: tuple[NDArray[Any], NDArray[Any]],
    best: tuple[NDArray[Any], ...],
) -> None:
    """Improve splits by columns with few distinct values, and by others."""
    (few, many), slots, size = columns, len(whole[1]), int(dealt[1][-1])
    if len(few):
        most = table.levels.shape[1]
        newton_exact.scan_codes(
            pen, (table.codes, table.levels, table.n_levels, table.known), directions, few,
            *shared, whole, scale, *dealt,
            np.empty((slots + 1, most + 1), np.int64), np.empty(most, np.int64),
            np.empty((most + 1, 2)), *best,
        )  # fmt: skip
    if len(many):
        newton_exact.scan_columns(
            pen, (table.values, table.order, table.known, directions), many, *shared, dealt[1],
            whole, *scale, np.empty(slots + 1, np.uint32), np.empty(size, np.int64),
            np.empty(slots + 1, np.uint32), np.empty(size, table.order.dtype), *best,
        )  # fmt: skip


def _try_categories(
    table: SortedTable,
    gh: NDArray[Any],
    column: int,
    by_node: NDArray[np.bool_],
    level: _Level,
    whole: tuple[NDArray[Any], ...],
    pen: Penalty,
    found: BestSplits,
) -> None:
    """Improve splits by one categorical column."""
    before = found.column.copy()
    members = np.zeros((len(before), max(table.n_codes[column], 1)), np.bool_)
    allowed = by_node[:, column] if len(by_node) else np.empty(0, np.bool_)
    slots, size = members.shape
    newton_exact.split_categories(
        pen, table.values[column], column, allowed, level.slot, gh, whole,
        np.zeros((slots + 1, size, 3)), np.empty(size), np.empty(size, np.int64),
        np.empty((2, size), np.int64), found.loss, found.column, found.missing_left, members,
    )  # fmt: skip
    for s in np.flatnonzero(found.column != before):
        found.threshold[s], found.members[int(s)] = np.nan, members[s]


_Singles = NDArray[np.float32]
_DRAWN_LEVELS = 64  # levels that draw their own columns; deeper ones use those of the last
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
    bins = Bins.of(values.T, n_codes, weight, min(max_bin - 1, newton_hist.BINS - 1), n_jobs)
    p = len(values)
    n_bins = bins.n_bins.astype(np.int64)
    n_bins[list(bins.categories)] *= -1
    low, high = np.full((2, p, newton_hist.BINS), np.nan)
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
    blocks = np.zeros((-(-p // newton_hist.WIDTH), newton_hist.WIDTH, n), np.uint8)
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
    newton_exact.pack(gh, np.zeros(n, np.uint16), 1, *scale, packed)
    nodes = np.zeros((capacity, 6), np.int64), np.zeros((capacity, 3), np.float32)
    luts = np.zeros((capacity, newton_hist.BINS), np.uint8)  # unwritten memory is not allocated
    width = table.blocks.shape[0] * newton_hist.WIDTH
    start = growth.penalty, (table.blocks, table.codes, table.n_bins, growth.directions)
    drawn = _columns(draws, depth, p)
    work = rows, np.empty(len(rows), np.uint32), packed, scale
    scratch = (
        np.empty(newton_hist.BINS, np.int64),
        np.empty(newton_hist.BINS, np.uint8),
        (np.empty(newton_hist.BINS, np.int64), np.empty(newton_hist.BINS), luts),
    )
    own = np.empty(p, np.intp)
    order, held = newton_hist.DEEPEST, min(depth, len(rows).bit_length()) + 3
    if not growth.by_level:
        order = newton_hist.BEST if growth.best_first else newton_hist.EARLIEST
        held = min(leaves + 1, max(3, _HELD // (width * newton_hist.BINS)))
    hists = np.empty((held, width, newton_hist.BINS), np.int64)  # unwritten memory is not allocated
    waiting = tuple(np.empty(size, np.int64) for size in (*[capacity] * 4, held))
    limits = depth, leaves, order
    count = newton_hist.grow_hist(
        *start, *drawn, limits, *work, hists, *scratch, own, waiting, nodes
    )
    sums, weight = np.zeros((count, 2)), np.empty(count, np.float32)
    position = np.empty(n, np.intp)
    newton_hist.leaf_answers(growth.penalty, rows, gh, count, nodes, sums, weight, position)
    tree = tree_of(table.cuts, growth, nodes, sums, weight, luts, table.categories)
    if len(rows) < n:
        out = np.flatnonzero(~draws.rows)
        position[out] = tree.leaves(table.values[:, out])
    return tree, position


def _columns(draws: TreeSample, depth: int, p: int) -> tuple[Any, Any]:
    """Return ((columns by level, their numbers), (share drawn for each node, seed))."""
    if draws.ties:  # permuted, as the first of equal columns is chosen
        depth = min(depth, _DRAWN_LEVELS)
        own = [
            np.random.default_rng(draws.tie_seed(d)).permutation(draws.level(d))
            for d in range(depth)
        ]
        levels = np.array(own, np.intp), np.full(depth, len(own[0]))
    elif draws.by_level >= 1.0:  # the same list at every level
        levels = draws.tree[None].astype(np.intp), np.array([len(draws.tree)])
    else:
        depth = min(depth, _DRAWN_LEVELS)
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


Search = Callable[[NDArray[Any], TreeLimits, TreeSample], tuple[NewtonTree, _Whole]]
Grower = Callable[[NDArray[Any], TreeLimits, TreeSample], tuple[NewtonTree, _Singles]]


def grower(
    model: Any, values: Array, n_codes: Mapping[int, int], weight: NDArray[np.float64] | None = None
) -> Grower:
    """Return a function of (gradients and hessians, growth, draws) to (tree, values of rows).

    Parameters
    ----------
    model : its `tree_method`, `proposal`, `max_bin`, `learning_rate` and `n_jobs` are used
    values : (p, n)
    n_codes : numbers of codes of the categorical columns
    weight : (n,); weights of the rows, for bins that are made once; bins made for each tree are
        weighted by hessians
    """
    own_quantiles = (model.tree_method, model.proposal) == ("approx", "local")
    method = "exact" if own_quantiles else model.tree_method
    search = searching(method, values, n_codes, model.max_bin, model.n_jobs, weight)

    def grow(gh: Array, growth: TreeLimits, draws: TreeSample) -> tuple[NewtonTree, _Singles]:
        tree, position = search(gh, growth, draws)
        if method == "exact":  # the others do not make splits with a gain below gamma
            position = prune(tree, growth.penalty.gamma)[position]
        tree.shrink(model.learning_rate)
        return tree, tree.answer[position]

    return grow


def searching(
    method: str,
    values: Array,
    n_codes: Mapping[int, int],
    max_bin: int,
    n_jobs: int | None,
    weight: NDArray[np.float64] | None,
) -> Search:
    """Return a function that grows a tree ('exact', 'approx' or 'hist'), with each row's leaf."""
    if method == "exact":
        table = sort_table(values, n_codes, n_jobs)
        return lambda gh, growth, draws: grow_exact(table, gh, growth, draws, n_jobs)
    if method == "approx":
        bins = proposer(values, n_codes, max_bin, n_jobs)
        return lambda gh, growth, draws: grow_binned(bins(gh, draws), gh, growth, draws)
    binned = bin_table(values, n_codes, max_bin, n_jobs, weight)
    return lambda gh, growth, draws: grow_binned(binned, gh, growth, draws)


def proposer(
    values: Array, n_codes: Mapping[int, int], max_bin: int, n_jobs: int | None
) -> Callable[[Array, TreeSample], BinnedTable]:
    """Return a function that bins the (p, n) table for a tree, from its gradients and draws.

    Bins have equal sums of hessians. Quantiles are exact, from columns that are sorted once.
    """
    p, n = values.shape
    table = sort_table(values, n_codes, n_jobs)
    coded = sorted(n_codes)
    fixed = bin_table(values[coded], dict(enumerate(n_codes[j] for j in coded)), max_bin, n_jobs)
    width = max(1, _BLOCK // n)

    def bins(gh: Array, draws: TreeSample) -> BinnedTable:
        mass, n_bins = draws.rows * gh[:, 1].astype(np.float64), np.empty(p, np.int64)
        codes = np.empty((p, n), np.uint8)
        low, high = np.full((2, p, newton_hist.BINS), np.nan)

        def work(block: int) -> None:
            part = slice(block * width, (block + 1) * width)
            bin_columns(
                values[part], table.order[part], mass, min(max_bin - 1, newton_hist.BINS - 1),
                np.empty((2, n)), codes[part], n_bins[part], low[part], high[part],
            )  # fmt: skip

        run_blocks(work, -(-p // width), n_jobs)
        codes[coded], n_bins[coded] = fixed.codes, fixed.n_bins
        categories = {j: fixed.categories[i] for i, j in enumerate(coded)}
        cuts = edges(low, high, n_bins)
        return BinnedTable(values, codes, side_by_side(codes), n_bins, cuts, categories)

    return bins
