"""Rows on a disk while trees are grown: bins, gradients and nodes, a file for each block."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from psephos._types import Array, Floats, NDArray
from psephos.kernels.binned_trees import newton_blocks as kernel
from psephos.kernels.sorted_trees.newton_exact import pack, sizes_of
from psephos.runtime.jit import run_blocks
from psephos.trees.out_of_core.bins import BlockBins, QuantileSummary, SummaryStream
from psephos.trees.out_of_core.grow import BlockObjective, Level, Scales
from psephos.trees.out_of_core.rows import Block, RowSource

_Singles = NDArray[np.float32]
_COLUMNS = 8  # columns of one task of the thread pool


# ------------------------------------------------------------------- one block
def row_gradients(objective: BlockObjective, margin: _Singles, y: Array) -> _Singles:
    """Return gradients and hessians (K, m, 2) at the margins (m, K)."""
    out = np.empty((objective.n_outputs, len(y), 2), dtype=np.float32)
    objective.gradients(margin, y, out)
    return out


def pairs_of(gh: _Singles, weight: Floats | None = None) -> Array:
    """Return gradients (m, 2) times the weights of the rows, in float64."""
    return gh.astype(np.float64) if weight is None else gh * weight[:, None]


def add_sizes(gh: Array, total: Floats) -> None:
    """Go on adding absolute gradients and hessians (m, 2) to ``total`` (2,), row after row."""
    sizes_of(gh, np.ones(len(gh), np.bool_), total)


def moved(
    codes: NDArray[np.uint8],
    node: NDArray[np.int32] | None,
    level: Level,
    missing: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return the nodes of a block's rows after their move; None: all are at the root."""
    out = np.zeros(codes.shape[1], dtype=np.int32) if node is None else node.copy()
    if (level.column >= 0).any():
        kernel.route_block(
            codes, out, level.column, level.cut, level.missing_left, missing, level.first
        )
    return out


def add_histograms(
    codes: NDArray[np.uint8],
    node: NDArray[np.int32],
    level: Level,
    gh: Array,
    scales: Scales,
    out: NDArray[np.int64],
    n_jobs: int | None,
) -> None:
    """Add a block's rows to the histograms (slots, p, 256) of the nodes that are wanted."""
    packed = np.empty(len(node), dtype=np.int64)
    pack(gh, np.zeros(len(node), np.uint16), 1, *scales, packed)
    place = level.slot_of[node]
    rows = np.flatnonzero(place >= 0)
    place = place[rows]
    starts = range(0, len(codes), _COLUMNS)

    def work(b: int) -> None:
        stop = min(starts[b] + _COLUMNS, len(codes))
        kernel.add_block(codes, starts[b], stop, rows, place, packed, out)

    run_blocks(work, len(starts), n_jobs)


# ------------------------------------------------------------------- a disk
class DiskHolder:
    """Rows of a source, kept as bins, gradients and margins in a scratch folder.

    Every pass reads blocks in order; in memory are a block and the histograms. For p columns and K
    outputs a row takes p + 4 + 16 K bytes of the disk, 8 more where rows have weights.

    Parameters
    ----------
    source : its rows of weight 0 are left out
    targets : from the labels of a block to float32 numbers
    folder : where the scratch folder is made; None is the system's place for temporary files
    n_jobs : threads over columns; trees do not depend on it
    keep : called with each block, without its rows of weight 0, when bins are written
    """

    def __init__(
        self,
        source: RowSource,
        targets: Callable[[Array], _Singles],
        folder: str | Path | None = None,
        n_jobs: int | None = None,
        keep: Callable[[Block], None] = lambda _: None,
    ):
        self._source, self._targets, self._n_jobs, self._keep = source, targets, n_jobs, keep
        self._scratch = tempfile.TemporaryDirectory(prefix="psephos-blocks-", dir=folder)
        self._n_blocks = 0
        self._missing = np.empty(0, dtype=np.int64)
        self._weighted = False
        self._at_root = True  # all rows: no nodes need be read
        self._answers: dict[int, _Singles] = {}  # to be added at the next pass over margins

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._scratch.cleanup()

    def summaries(self, eps: float) -> list[QuantileSummary]:
        """Return the summary of each column, rows counted by their weight."""
        streams = [SummaryStream(eps, self._source.n_rows) for _ in range(self._source.n_features)]
        for block in self._blocks():

            def work(j: int, block: Block = block) -> None:
                streams[j].push(block.columns[j], block.weight)

            run_blocks(work, len(streams), self._n_jobs)
        return [stream.summary() for stream in streams]

    def encode(self, bins: BlockBins, base: _Singles) -> None:
        """Write bins, targets and first margins to the scratch folder."""
        self._missing = bins.n_bins
        for block in self._blocks():
            b = self._n_blocks
            self._n_blocks += 1
            self._keep(block)
            self._write("codes", b, bins.codes(block.columns, self._n_jobs))
            self._write("y", b, self._targets(block.y))
            self._weighted = block.weight is not None
            if block.weight is not None:
                self._write("weight", b, block.weight)
            self._write("margin", b, np.repeat(base[None], len(block.y), axis=0))

    def gradients(self, objective: BlockObjective) -> None:
        """Add the last round's answers to margins, and write gradients."""
        nodes = [f"node {output}" for output in self._answers]
        for b, (margins, y, *node) in self._pass("margin", "y", *nodes):
            for output, at in zip(self._answers, node, strict=True):
                margins[:, output] += self._answers[output][at]
            if self._answers:
                self._write("margin", b, margins)
            for output, gh in enumerate(row_gradients(objective, margins, y)):
                self._write(f"gradient {output}", b, gh)
        self._answers = {}

    def sizes(self, output: int) -> Floats:
        """Return the sums of absolute gradients and hessians."""
        total = np.zeros(2)
        for _, (gh, *weight) in self._pass(f"gradient {output}", *self._weights()):
            add_sizes(pairs_of(gh, *weight), total)
        self._at_root = True
        return total

    def histograms(self, output: int, scales: Scales, level: Level) -> NDArray[np.int64]:
        """Move rows to children; return the histograms of the wanted nodes."""
        out = np.zeros((level.n_slots, len(self._missing), 256), dtype=np.int64)
        for codes, node, gh in self._moving(output, level):
            add_histograms(codes, node, level, gh, scales, out, self._n_jobs)
        return out

    def leaves(self, output: int, level: Level) -> tuple[Floats, NDArray[np.int64]]:
        """Move rows a last time; return each node's sums and rows."""
        sums = np.zeros((len(level.column), 2))
        rows = np.zeros(len(level.column), dtype=np.int64)
        for _, node, gh in self._moving(output, level):
            rows += np.bincount(node, minlength=len(rows))
            kernel.add_leaves(gh, node, sums)
        return sums, rows

    def answer(self, output: int, answers: _Singles) -> None:
        """Keep the answers of nodes until margins are next read."""
        self._answers[output] = answers

    def _moving(
        self, output: int, level: Level
    ) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[Any]]]:
        """Yield codes, nodes after their move, and gradients, block by block."""
        nodes = [] if self._at_root else [f"node {output}"]
        names = ("codes", f"gradient {output}", *nodes, *self._weights())
        for b, (codes, gh, *rest) in self._pass(*names):
            node = moved(codes, rest.pop(0) if nodes else None, level, self._missing)
            self._write(f"node {output}", b, node)
            yield codes, node, pairs_of(gh, *rest)
        self._at_root = False

    def _weights(self) -> list[str]:
        return ["weight"] if self._weighted else []

    def _blocks(self) -> Iterator[Block]:
        """Yield the blocks of the source that have a row of weight."""
        for block in self._source.blocks():
            counted = block.counted()
            if len(counted.y):
                yield counted

    def _file(self, name: str, block: int) -> Path:
        return Path(self._scratch.name) / f"{name} {block}.npy"

    def _write(self, name: str, block: int, values: Array) -> None:
        np.save(self._file(name, block), values)

    def _pass(self, *names: str) -> Iterator[tuple[int, list[NDArray[Any]]]]:
        """Yield the number of each block and what is kept of it under these names.

        Files are read, not mapped: pages of a map would count as the process's own memory.
        """
        for b in range(self._n_blocks):
            yield b, [np.load(self._file(name, b)) for name in names]
