"""Binned rows in files on a disk, one per block, on which trees are grown."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from psephos._types import Array, Floats, NDArray
from psephos.kernels.binned_trees import newton_hist as kernel
from psephos.kernels.binned_trees.newton_hist import BINS
from psephos.kernels.sorted_trees.newton_exact import pack
from psephos.kernels.sorted_trees.newton_gain import Penalty
from psephos.runtime.jit import run_blocks
from psephos.trees.newton import sizes_of, whole_scales
from psephos.trees.out_of_core.bins import BlockBins
from psephos.trees.out_of_core.rows import Block

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
