"""Second-order trees by exact greedy search, level by level, on columns sorted once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.numerics.ordering import sort_rows
from psephos.kernels.sorted_trees.newton_exact import (
    code_columns,
    deal_rows,
    level_totals,
    pack,
    route,
    scan_codes,
    scan_columns,
    split_categories,
)
from psephos.kernels.sorted_trees.newton_gain import Penalty, comes_first, weigh_gains
from psephos.runtime.jit import run_blocks
from psephos.trees.newton import BestSplits, NewtonTree, TreeLimits, TreeSample, whole_scales

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
    values: NDArray[Any],
    n_codes: Mapping[int, int] | None = None,
    n_jobs: int | None = None,
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
        code_columns(
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
    pack(gh, slot, 1, *scale, packed)
    base, width = 0, 1
    for depth in range(growth.max_depth + 1):
        sums, whole = np.zeros((width + 1, 2)), np.zeros(width + 1, np.int64)
        size = np.zeros(width + 1, np.int64)
        level_totals(slot, gh, packed, sums, whole, size)
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
        route(table.values, *tree.rules, base, draws.rows, width, position, slot)
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
        deal_rows(np.arange(n), level.slot, start, np.empty(slots + 1, np.uint32), rows)
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
        scan_codes(
            pen, (table.codes, table.levels, table.n_levels, table.known), directions, few,
            *shared, whole, scale, *dealt,
            np.empty((slots + 1, most + 1), np.int64), np.empty(most, np.int64),
            np.empty((most + 1, 2)), *best,
        )  # fmt: skip
    if len(many):
        scan_columns(
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
    split_categories(
        pen, table.values[column], column, allowed, level.slot, gh, whole,
        np.zeros((slots + 1, size, 3)), np.empty(size), np.empty(size, np.int64),
        np.empty((2, size), np.int64), found.loss, found.column, found.missing_left, members,
    )  # fmt: skip
    for s in np.flatnonzero(found.column != before):
        found.threshold[s], found.members[int(s)] = np.nan, members[s]
