"""Boosting on the partitions of a Dask cluster: summaries and sums travel, rows do not."""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import MissingExtraError, PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.kernels.binned_trees.newton_blocks import add_leaves
from psephos.trees.out_of_core.bins import BlockBins, QuantileSummary, SummaryStream, merge_all
from psephos.trees.out_of_core.disk import add_histograms, add_sizes, moved, pairs_of, row_gradients
from psephos.trees.out_of_core.grow import BlockObjective, Level, Scales
from psephos.trees.out_of_core.labels import BlockLabels
from psephos.trees.out_of_core.rows import Block

_Singles = NDArray[np.float32]
_FAN_IN = 8  # partial results that one task joins


class _Coded(NamedTuple):
    """A partition as it is kept."""

    codes: NDArray[np.uint8]
    y: _Singles
    weight: Floats | None
    missing: NDArray[np.int64]


# ------------------------------------------------------------------- tasks: pure functions
def _rows(part: Sequence[Any]) -> Block:
    X, y, *weight = part
    values, labels = np.asarray(X), np.asarray(y)
    if values.ndim != 2 or labels.shape != (len(values),):
        raise PsephosError(
            f"a partition has X of shape {values.shape} and y of shape {labels.shape}: each needs "
            "a table and a label for each of its rows."
        )
    return Block.of(0, values.T, labels, weight[0] if weight else None).counted()


def _width(rows: Block) -> int:
    return len(rows.columns)


def _labels(rows: Block, numbers: bool) -> BlockLabels:
    return BlockLabels.of(rows.y, rows.weight, numbers)


def _joined_labels(parts: Sequence[BlockLabels]) -> BlockLabels:
    return reduce(BlockLabels.join, parts)


def _summaries(rows: Block, eps: float) -> list[QuantileSummary]:
    streams = [SummaryStream(eps, len(rows.y)) for _ in rows.columns]
    for stream, column in zip(streams, rows.columns, strict=True):
        stream.push(column, rows.weight)
    return [stream.summary() for stream in streams]


def _joined_summaries(parts: Sequence[list[QuantileSummary]], b: int) -> list[QuantileSummary]:
    return [merge_all(column).prune(b) for column in zip(*parts, strict=True)]


def _coded(rows: Block, bins: BlockBins, targets: Callable[[Array], _Singles]) -> _Coded:
    return _Coded(bins.codes(rows.columns), targets(rows.y), rows.weight, bins.n_bins)


def _margins(coded: _Coded, base: _Singles) -> _Singles:
    return np.repeat(base[None], len(coded.y), axis=0)


def _gradients(coded: _Coded, margin: _Singles, objective: BlockObjective) -> _Singles:
    return row_gradients(objective, margin, coded.y)


def _sizes(coded: _Coded, gh: _Singles, output: int, before: Floats) -> Floats:
    total = before.copy()
    add_sizes(pairs_of(gh[output], coded.weight), total)
    return total


def _nodes(coded: _Coded, node: NDArray[np.int32] | None, level: Level) -> NDArray[np.int32]:
    return moved(coded.codes, node, level, coded.missing)


def _histograms(
    coded: _Coded,
    gh: _Singles,
    node: NDArray[np.int32],
    output: int,
    scales: Scales,
    level: Level,
) -> NDArray[np.int64]:
    out = np.zeros((level.n_slots, len(coded.codes), 256), dtype=np.int64)
    add_histograms(coded.codes, node, level, pairs_of(gh[output], coded.weight), scales, out, None)
    return out


def _leaves(
    coded: _Coded,
    gh: _Singles,
    node: NDArray[np.int32],
    output: int,
    before: tuple[Floats, NDArray[np.int64]],
) -> tuple[Floats, NDArray[np.int64]]:
    sums = before[0].copy()
    add_leaves(pairs_of(gh[output], coded.weight), node, sums)
    return sums, before[1] + np.bincount(node, minlength=len(sums))


def _answered(
    margin: _Singles, node: NDArray[np.int32], output: int, answers: _Singles
) -> _Singles:
    out = margin.copy()
    out[:, output] += answers[node]
    return out


# ------------------------------------------------------------------- the holder
class DaskHolder:
    """Rows in the partitions of a Dask cluster.

    Each partition stays where it was computed. What is sent to it are bins, splits and answers;
    what comes back are quantile summaries and histograms, joined by the workers `_FAN_IN` at a
    time, and sums of leaves, handed on from partition to partition so that they are added in the
    order of the rows. Every task is a function of its inputs alone: what a lost worker held is
    computed again by others, and the trees are the same.

    `client` distributed.Client; `parts`: each gives ``(X, y)`` or ``(X, y, weight)``: see
    `dask_partitions`.

    `targets`: from the labels of a partition to float32 numbers; may be set before `encode`.
    """

    def __init__(self, client: Any, parts: Sequence[Any]):
        self._client = client
        if not len(parts):
            raise PsephosError("there is no partition to learn from.")
        given = [client.compute(p) if hasattr(p, "dask") else p for p in parts]
        self._rows = [client.submit(_rows, part, pure=False) for part in given]
        widths = sorted({int(p) for p in client.gather(self._each(_width, self._rows))})
        if len(widths) > 1:
            raise PsephosError(f"partitions have from {widths[0]} to {widths[-1]} columns.")
        self.n_features = widths[0]
        self.targets: Callable[[Array], _Singles] = _as_numbers
        self._coded: list[Any] = []
        self._margin: list[Any] = []
        self._gradient: list[Any] = []
        self._node: list[Any] = [None] * len(self._rows)

    def labels(self, *, numbers: bool) -> BlockLabels:
        """Return what is known of all labels."""
        return self._join(self._each(_labels, self._rows, numbers), _joined_labels)

    def summaries(self, eps: float) -> list[QuantileSummary]:
        """Return the summary of each column: half the error is made inside the partitions."""
        found = self._each(_summaries, self._rows, eps / 2)
        rounds = 1 + math.ceil(math.log(max(len(found), 2), _FAN_IN))
        return self._join(found, _joined_summaries, math.ceil(2 * rounds / eps))

    def encode(self, bins: BlockBins, base: _Singles) -> None:
        """Keep bins and margins in the partitions."""
        self._coded = self._each(_coded, self._rows, bins, self.targets)
        self._margin = self._each(_margins, self._coded, base)

    def gradients(self, objective: BlockObjective) -> None:
        """Keep gradients at the margins so far."""
        self._gradient = self._each(_gradients, self._coded, self._margin, objective)

    def sizes(self, output: int) -> Floats:
        """Return the sums of absolute gradients and hessians."""
        self._node = [None] * len(self._rows)
        total: Any = np.zeros(2)
        for coded, gh in zip(self._coded, self._gradient, strict=True):
            total = self._client.submit(_sizes, coded, gh, output, total, pure=False)
        return total.result()

    def histograms(self, output: int, scales: Scales, level: Level) -> NDArray[np.int64]:
        """Move rows to children; return the histograms of the wanted nodes."""
        self._node = self._each(_nodes, self._coded, self._node, level)
        held = self._coded, self._gradient, self._node
        found = self._each(_histograms, *held, output, scales, level)
        return self._join(found, sum)

    def leaves(self, output: int, level: Level) -> tuple[Floats, NDArray[np.int64]]:
        """Move rows a last time; return each node's sums and rows."""
        self._node = self._each(_nodes, self._coded, self._node, level)
        n_nodes = len(level.column)
        sums: Any = np.zeros((n_nodes, 2)), np.zeros(n_nodes, dtype=np.int64)
        for coded, gh, node in zip(self._coded, self._gradient, self._node, strict=True):
            sums = self._client.submit(_leaves, coded, gh, node, output, sums, pure=False)
        return sums.result()

    def answer(self, output: int, answers: _Singles) -> None:
        """Add to the margins of rows the answers of the nodes where they are."""
        self._margin = self._each(_answered, self._margin, self._node, output, answers)

    def _each(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Return a task for each partition; lists as long as the partitions are taken apart."""
        n = len(self._rows)
        spread = [a if isinstance(a, list) and _is_of_parts(a, n) else [a] * n for a in args]
        return [
            self._client.submit(function, *mine, pure=False) for mine in zip(*spread, strict=True)
        ]

    def _join(self, found: list[Any], function: Callable[..., Any], *args: Any) -> Any:
        """Return all partial results joined, some at a time, in their order."""
        while True:
            groups = [found[a : a + _FAN_IN] for a in range(0, len(found), _FAN_IN)]
            found = [self._client.submit(function, group, *args, pure=False) for group in groups]
            if len(found) == 1:
                return found[0].result()


def _is_of_parts(values: list[Any], n: int) -> bool:
    return len(values) == n and all(v is None or hasattr(v, "key") for v in values)


def _as_numbers(y: Array) -> _Singles:
    return np.asarray(y, dtype=np.float32)


def dask_partitions(X: Any, y: Any, weight: Any = None) -> list[Any]:
    """Return one delayed ``(X, y[, weight])`` for each partition of Dask collections.

    Parameters
    ----------
    X : dask array or data frame
        An array must be in blocks of whole rows.
    y : dask array or series
        Parted as X is.
    weight : dask array or series, default=None

    Raises
    ------
    MissingExtraError
        If Dask is not installed.
    PsephosError
        If the collections are not parted alike.
    """
    try:
        delayed: Any = import_module("dask.delayed").delayed
    except ImportError:
        raise MissingExtraError("dask", "training on partitions", "dask") from None
    given = [X, y] if weight is None else [X, y, weight]
    parted = [np.ravel(np.asarray(part.to_delayed(), dtype=object)) for part in given]
    lengths = [len(part) for part in parted]
    if len(set(lengths)) > 1:
        raise PsephosError(
            f"X, y and weight have {lengths} partitions: part them alike, arrays by rows only."
        )
    make: Any = delayed(_tuple)
    return [make(*mine) for mine in zip(*parted, strict=True)]


def _tuple(*parts: Any) -> tuple[Any, ...]:
    return parts
