"""Second-order trees grown level by level on histograms, wherever the rows are.

The grower asks a holder of rows for histograms and sends it the splits; it never sees a row. So
a tree is the same whether its rows are on a disk, in the memory of many machines, or in one table:
the same, bit for bit, as `newton_hist` grows on the same bins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from psephos._types import Array, Floats, NDArray
from psephos.kernels.binned_trees import newton_hist as kernel
from psephos.kernels.sorted_trees.newton_gain import gain_of, weight_of
from psephos.trees.newton import NewtonTree, TreeLimits, shrink, whole_scales
from psephos.trees.out_of_core.bins import BlockBins, QuantileSummary

_Singles = NDArray[np.float32]
_LEAST_LOSS = np.float32(1e-6)
_NO_LOW, _NO_HIGH = np.float32(-np.inf), np.float32(np.inf)
Scales = tuple[float, float]


class BlockObjective(Protocol):
    """A loss: row by row, so that blocks do not matter."""

    @property
    def n_outputs(self) -> int:
        """Return K, the number of margins of a row."""
        ...

    def gradients(self, margin: _Singles, y: Array, out: _Singles) -> None:
        """Write gradient and hessian of every row to out (K, n, 2), from margins (n, K)."""
        ...


class Level(NamedTuple):
    """What a holder does with its rows at one level of one tree."""

    # `column`, `cut`, `first`: (nodes,); splits of the nodes so far: a row with a code of at most
    # `cut` goes to node `first`, else to the next one. The column is -1 where rows stay.
    column: NDArray[np.int64]
    cut: NDArray[np.int64]
    first: NDArray[np.int64]
    missing_left: NDArray[np.bool_]  # (nodes,)
    # (nodes,); place of a node's histograms in the result; -1 if they are not wanted
    slot_of: NDArray[np.int32]
    n_slots: int


class Holder(Protocol):
    """Rows, somewhere."""

    def summaries(self, eps: float) -> list[QuantileSummary]:
        """Return the summary of each column."""
        ...

    def encode(self, bins: BlockBins, base: _Singles) -> None:
        """Keep the bin of every value, and margins that start at `base` (K,)."""
        ...

    def gradients(self, objective: BlockObjective) -> None:
        """Keep gradients at the margins so far."""
        ...

    def sizes(self, output: int) -> Floats:
        """Return the sums of absolute gradients and hessians (2,), added in the order of rows."""
        ...

    def histograms(self, output: int, scales: Scales, level: Level) -> NDArray[np.int64]:
        """Move rows to children; return the histograms (slots, p, 256) of the wanted nodes."""
        ...

    def leaves(self, output: int, level: Level) -> tuple[Floats, NDArray[np.int64]]:
        """Move rows a last time; return each node's sums (nodes, 2) and rows.

        Sums are added in the order of the rows.
        """
        ...

    def answer(self, output: int, answers: _Singles) -> None:
        """Add to the margins of rows the answers (nodes,) of the nodes where they are."""
        ...


# ------------------------------------------------------------------- one tree
def _no_categories() -> tuple[Any, ...]:
    """Return the scratch that the kernel has for columns of categories, of which there are none."""
    return np.empty(kernel.BINS, np.int64), np.empty(kernel.BINS), np.empty(kernel.BINS, np.uint8)


@dataclass
class _Node:
    """A node as it grows."""

    column: int = -1
    cut: int = 0
    missing_left: bool = False
    first: int = -1
    loss: float = 0.0
    low: Any = _NO_LOW
    high: Any = _NO_HIGH


@dataclass
class _Growing:
    """A tree, level by level: children stand together, in the order in which they were made."""

    growth: TreeLimits
    bins: BlockBins
    scales: Scales
    nodes: list[_Node] = field(default_factory=lambda: [_Node()])
    scratch: NDArray[np.int64] = field(default_factory=lambda: np.empty(kernel.BINS, np.int64))
    no_categories: tuple[Any, ...] = field(default_factory=_no_categories)

    def level(self, moving: Sequence[int], wanted: Sequence[int]) -> Level:
        """Return what holders do: rows of the nodes `moving` move, those of `wanted` are summed."""
        column = np.full(len(self.nodes), -1, dtype=np.int64)
        column[list(moving)] = [self.nodes[node].column for node in moving]
        slot_of = np.full(len(self.nodes), -1, dtype=np.int32)
        slot_of[list(wanted)] = np.arange(len(wanted))
        return Level(
            column,
            np.array([node.cut for node in self.nodes], dtype=np.int64),
            np.array([node.first for node in self.nodes], dtype=np.int64),
            np.array([node.missing_left for node in self.nodes], dtype=np.bool_),
            slot_of,
            len(wanted),
        )

    def try_split(self, at: int, hist: NDArray[np.int64]) -> int:
        """Split a node if that gains enough; return its child of less hessian, or -1."""
        node, pen = self.nodes[at], self.growth.penalty
        whole = np.int64(hist[0].sum())
        g, h = self._parts(whole)
        root = gain_of(pen, g, h, node.low, node.high)
        columns = np.arange(len(hist))
        loss, column, cut, missing_left = kernel.best_split(
            pen, hist, columns, self.bins.n_bins, self.growth.directions, whole,
            self.scales, (root, node.low, node.high), self.scratch,
            self.no_categories,
        )  # fmt: skip
        if column < 0 or not (loss > _LEAST_LOSS and loss >= np.float32(pen.gamma)):
            return -1
        node.column, node.cut, node.missing_left = int(column), int(cut), bool(missing_left)
        node.loss, node.first = loss, len(self.nodes)
        self.nodes += [_Node(low=node.low, high=node.high) for _ in range(2)]
        left = np.int64(hist[column, : cut + 1].sum())
        if missing_left:
            left += hist[column, self.bins.n_bins[column]]
        (left_g, left_h), (right_g, right_h) = self._parts(left), self._parts(whole - left)
        direction = self.growth.directions[column]
        if pen.constrained and direction:
            weights = [
                weight_of(pen, *sums, node.low, node.high)
                for sums in ((left_g, left_h), (right_g, right_h))
            ]
            middle = (weights[0] + weights[1]) * np.float32(0.5)
            below, above = (0, 1) if direction > 0 else (1, 0)
            self.nodes[node.first + below].high = middle
            self.nodes[node.first + above].low = middle
        return node.first + int(left_h > right_h)

    def _parts(self, packed: Any) -> tuple[float, float]:
        g = packed >> np.int64(32)
        return float(g) / self.scales[0], float(packed - (g << np.int64(32))) / self.scales[1]


def _grow(
    holder: Holder, output: int, n_rows: int, growth: TreeLimits, bins: BlockBins
) -> tuple[NewtonTree, NDArray[np.intp]]:
    """Grow one tree; return it and the place in it of each node that holders know."""
    totals = holder.sizes(output)
    scales = whole_scales(totals[None, :], np.ones(1, np.bool_), growth.penalty)
    tree = _Growing(growth, bins, scales)
    asked: dict[int, int] = {}  # parent -> the child whose histograms are made
    known: dict[int, NDArray[np.int64]] = {}
    level = tree.level((), (0,))
    for depth in range(min(growth.max_depth, max(1, n_rows - 1))):
        made = holder.histograms(output, scales, level)
        if depth == 0:
            known = {0: made[0]}
        else:
            before, known = known, {}
            for slot, (parent, small) in enumerate(asked.items()):
                large = 2 * tree.nodes[parent].first + 1 - small
                known[small], known[large] = made[slot], before[parent] - made[slot]
        asked = {}
        for node in sorted(known):
            small = tree.try_split(node, known[node])
            if small >= 0:
                asked[node] = small
        level = tree.level(list(asked), list(asked.values()))
        if not asked:
            break
    return _finished(tree, *holder.leaves(output, level))


def _finished(
    tree: _Growing, sums: Floats, rows: NDArray[np.int64]
) -> tuple[NewtonTree, NDArray[np.intp]]:
    """Return the tree, its nodes in the order of `newton_hist`, and the place of each node."""
    nodes, growth = tree.nodes, tree.growth
    for node in range(len(nodes) - 1, -1, -1):
        first = nodes[node].first
        if first >= 0:
            sums[node] = sums[first] + sums[first + 1]
            rows[node] = rows[first] + rows[first + 1]
    order, pending = [0], [0]
    place = np.zeros(len(nodes), dtype=np.intp)
    while pending:
        node = pending.pop()
        first = nodes[node].first
        if first >= 0:
            place[first : first + 2] = len(order), len(order) + 1
            order += [first, first + 1]
            small = first if rows[first] <= rows[first + 1] else first + 1
            pending += [2 * first + 1 - small, small]
    own = [nodes[node] for node in order]
    inner = np.array([node.column >= 0 for node in own])
    threshold = [tree.bins.cuts[n.column, n.cut] if n.column >= 0 else np.nan for n in own]
    weight = [
        weight_of(growth.penalty, *sums[node], nodes[node].low, nodes[node].high) for node in order
    ]
    first = place[[max(node.first, 0) for node in own]]
    return NewtonTree(
        growth,
        np.array([node.column for node in own], dtype=np.intp),
        np.array(threshold, dtype=np.float64),
        np.array([node.missing_left for node in own], dtype=np.bool_) & inner,
        np.where(inner, first, 0).astype(np.intp),
        np.array([node.loss for node in own], dtype=np.float32) * inner,
        np.array(weight, dtype=np.float32),
        sums[order, 1].copy(),
        np.array([node.low for node in own], dtype=np.float32),
        np.array([node.high for node in own], dtype=np.float32),
    ), place


# ------------------------------------------------------------------- all trees
def boost(
    holder: Holder,
    objective: BlockObjective,
    n_rows: int,
    bins: BlockBins,
    base: _Singles,
    growth: TreeLimits,
    *,
    n_estimators: int,
    learning_rate: float,
) -> list[list[NewtonTree]]:
    """Return boosted trees: a list for each round, of a tree for each output.

    `n_rows`: rows that count. `base` (K,): margins to start from. `growth`: what limits a tree.
    `n_estimators`: rounds. `learning_rate`: shrinks answers.
    """
    holder.encode(bins, base)
    rounds: list[list[NewtonTree]] = []
    for _ in range(n_estimators):
        holder.gradients(objective)
        trees: list[NewtonTree] = []
        for output in range(objective.n_outputs):
            tree, place = _grow(holder, output, n_rows, growth, bins)
            shrink(tree, learning_rate)
            holder.answer(output, tree.answer[place])
            trees.append(tree)
        rounds.append(trees)
    return rounds
