"""Second-order trees of rows that are read in blocks: labels, bins on disk, growth.

One pass over the rows makes the histograms of a whole level. `newton_hist` makes them node by node,
from rows in the order of the nodes: this is faster in memory, but would read a file once per node.
The trees are identical.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.files.names import plural
from psephos.kernels.binned_trees import newton_hist as kernel
from psephos.kernels.binned_trees.newton_hist import BINS
from psephos.kernels.sorted_trees.newton_exact import pack
from psephos.kernels.sorted_trees.newton_gain import Penalty
from psephos.runtime.jit import run_blocks
from psephos.trees.newton import NewtonTree, TreeLimits, sizes_of, whole_scales
from psephos.trees.newton_grow import tree_of
from psephos.trees.out_of_core.bins import BlockBins
from psephos.trees.out_of_core.rows import Block

_MOST_CLASSES = 1000


@dataclass(frozen=True)
class BlockLabels:
    """A summary of the labels of some rows of positive weight."""

    numbers: bool  # whether the labels are numbers, not classes
    n_rows: int
    # weight of each class; for numbers the total weight (key 0) and the weighted sum (key 1)
    weight: dict[Any, float]
    kind: Any = None  # dtype of classes that are numbers or truth values
    low: float = np.inf  # least and greatest number
    high: float = -np.inf

    def __post_init__(self) -> None:
        if not self.numbers and len(self.weight) > _MOST_CLASSES:
            raise PsephosError(
                f"y has more than {_MOST_CLASSES} classes: are these numbers to learn? Then use a "
                "regressor."
            )

    @classmethod
    def of(cls, y: Array, weight: Floats | None, numbers: bool) -> "BlockLabels":
        """Return the labels of some rows of positive weight."""
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            odd = y[~np.isfinite(y)][0]
            raise PsephosError(f"y holds {odd}: leave out rows that are not labelled.")
        if numbers:
            values = np.asarray(y, dtype=np.float64)
            w = np.ones(len(values)) if weight is None else weight
            ends = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
            return cls(True, len(y), {0: float(w.sum()), 1: float((w * values).sum())}, None, *ends)
        if y.dtype.kind == "f" and (y != np.rint(y)).any():
            raise PsephosError(
                f"y holds {y[y != np.rint(y)][0]}, a fraction: classes are words or whole numbers; "
                "to learn numbers use a regressor."
            )
        classes, code = np.unique(y, return_inverse=True)
        total = np.bincount(code, weight, minlength=len(classes))
        weights = dict(zip(classes.tolist(), total.tolist(), strict=True))
        return cls(False, len(y), weights, y.dtype if y.dtype.kind in "biuf" else None)

    def join(self, other: "BlockLabels") -> "BlockLabels":
        """Return the labels of the rows of both."""
        both = dict(self.weight)
        for label, weight in other.weight.items():
            both[label] = both.get(label, 0.0) + weight
        ends = min(self.low, other.low), max(self.high, other.high)
        return BlockLabels(self.numbers, self.n_rows + other.n_rows, both, self.kind, *ends)

    def classes(self) -> tuple[Array, Floats]:
        """Return the sorted classes and their weights."""
        if len(self.weight) < 2:
            found = plural(len(self.weight), "class", "classes")
            raise PsephosError(f"y must have at least two classes with weight; got {found}.")
        labels = sorted(self.weight)
        return np.array(labels, dtype=self.kind), np.array([self.weight[label] for label in labels])

    def mean(self) -> float:
        """Return the weighted mean of numbers."""
        return self.weight[1] / self.weight[0]


_Singles = NDArray[np.float32]
_COLUMNS = 8  # columns of one task of the thread pool


class BlockObjective(Protocol):
    """A loss that is a sum over rows, so that it can be computed block by block."""

    @property
    def n_outputs(self) -> int:
        """Return K, the number of margins per row."""
        ...

    def gradients(self, margin: _Singles, y: Array, out: _Singles) -> None:
        """Write gradient and hessian of every row to out (K, n, 2), from margins (n, K)."""
        ...


class DiskRows:
    """Bins, labels, margins, gradients and nodes of rows, in files of a folder.

    Every pass reads blocks in order; a block and the histograms are in memory. With p columns and K
    outputs a row takes p + 20 + 20 K bytes on the disk, 8 more if rows have weights.

    Parameters
    ----------
    folder : folder of the files
    bins : bins of the columns
    base : (K,) initial margins
    n_jobs : threads over columns; trees do not depend on it
    """

    def __init__(self, folder: Path, bins: BlockBins, base: _Singles, n_jobs: int | None):
        self.bins, self.n_rows = bins, 0
        self._folder, self._base, self._n_jobs, self._n_blocks = folder, base, n_jobs, 0
        self._sizes = np.zeros((len(base), 2))  # of gradients and hessians, for each output
        self._starts = [0]  # the first rows of the blocks
        self._drawn: NDArray[np.bool_] | None = None  # (n,), the rows of the next trees

    def append(self, block: Block, y: Array) -> None:
        """Add the next rows, with their labels as numbers for the loss."""
        weight = np.ones(1) if block.weight is None else block.weight
        margin = np.repeat(self._base[None], len(y), axis=0)
        codes = self.bins.codes(block.columns, self._n_jobs)
        self._write(self._n_blocks, codes=codes, y=y, weight=weight, margin=margin)
        self._n_blocks, self.n_rows = self._n_blocks + 1, self.n_rows + len(y)
        self._starts.append(self.n_rows)

    @property
    def n_drawn(self) -> int:
        """Return the number of rows on which the next trees are grown."""
        return self.n_rows if self._drawn is None else int(self._drawn.sum())

    def gradients(self, objective: BlockObjective, drawn: NDArray[np.bool_] | None) -> None:
        """Write the gradients, times the weights of the rows, at the current margins.

        `drawn`: (n,), the rows on which the next trees are grown (None: all); the gradients of the
        others are 0.
        """
        self._sizes[:] = 0.0
        self._drawn = drawn
        for b, (margin, y, weight) in self._pass("margin", "y", "weight"):
            found = np.empty((objective.n_outputs, len(y), 2), np.float32)
            objective.gradients(margin, y, found)
            for output, single in enumerate(found):
                gh = single * weight[:, None]
                if drawn is not None:
                    gh[~drawn[self._rows(b)]] = 0.0
                self._sizes[output] = sizes_of(gh, self._sizes[output])
                self._write(b, **{f"gradient {output}": gh})

    def start(self, output: int, penalty: Penalty) -> tuple[float, float]:
        """Set the node of all rows to the root, and write integer gradients; return the scales."""
        scale = whole_scales(self._sizes[output][None], np.ones(1, np.bool_), penalty)
        for b, (gh,) in self._pass(f"gradient {output}"):
            packed = np.empty(len(gh), np.int64)
            pack(gh, np.zeros(len(gh), np.uint16), 1, *scale, packed)
            self._write(b, packed=packed, node=np.zeros(len(gh), np.int32))
        return scale

    def histograms(self, ints: Array, luts: Array, wanted: Sequence[int]) -> NDArray[np.int64]:
        """Move rows to children; return the histograms (slots, p, BINS) of the wanted nodes."""
        p = len(self.bins.n_bins)
        out = np.zeros((len(wanted), p, BINS), np.int64)
        slot_of = np.full(len(ints), -1, np.int32)
        slot_of[wanted] = np.arange(len(wanted))
        starts = range(0, p, _COLUMNS)
        for _, codes, node, packed in self._moving(ints, luts, "packed"):
            place = slot_of[node]
            rows = np.flatnonzero(place >= 0)
            given = rows, place[rows], packed, out

            def work(b: int, codes: Array = codes, given: tuple[Array, ...] = given) -> None:
                kernel.add_block(codes, starts[b], min(starts[b] + _COLUMNS, p), *given)

            run_blocks(work, len(starts), self._n_jobs)
        return out

    def leaves(self, output: int, ints: Array, luts: Array) -> Floats:
        """Move rows a last time; return each node's gradients, hessians and rows (nodes, 3)."""
        sums = np.zeros((len(ints), 3))
        for b, _, node, gh in self._moving(ints, luts, f"gradient {output}"):
            own = slice(None) if self._drawn is None else self._drawn[self._rows(b)]
            kernel.add_leaves(gh[own], node[own], sums)
        return sums

    def answer(self, output: int, answers: _Singles) -> None:
        """Add to the margins of rows the values (nodes,) of their nodes."""
        for b, (margin, node) in self._pass("margin", "node"):
            margin[:, output] += answers[node]
            self._write(b, margin=margin)

    def _rows(self, block: int) -> slice:
        return slice(self._starts[block], self._starts[block + 1])

    def _moving(
        self, ints: Array, luts: Array, name: str
    ) -> Iterator[tuple[int, Array, Any, Array]]:
        """Yield (number of the block, codes, nodes after the move, array of a name)."""
        for b, (codes, node, kept) in self._pass("codes", "node", name):
            kernel.route_block(codes, node, ints, luts)
            self._write(b, node=node)
            yield b, codes, node, kept

    def _write(self, block: int, **arrays: Array) -> None:
        for name, values in arrays.items():
            np.save(self._folder / f"{name} {block}.npy", values)

    def _pass(self, *names: str) -> Iterator[tuple[int, list[NDArray[Any]]]]:
        """Yield (number of the block, its arrays of these names).

        Files are read, not memory-mapped (DECISIONS/0079).
        """
        for b in range(self._n_blocks):
            yield b, [np.load(self._folder / f"{name} {b}.npy") for name in names]


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
            tree.shrink(learning_rate)
            rows.answer(output, tree.answer[place])
            trees.append(tree)
        rounds.append(trees)
    return rounds
