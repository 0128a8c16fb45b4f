"""Rows in the partitions of a Dask cluster."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from psephos._errors import MissingExtraError, PsephosError
from psephos.trees.out_of_core.rows import Block


class PartitionRows:
    """Rows in the partitions of a Dask cluster, one block per partition.

    Partitions stay on the workers that computed them, and are sent one at a time. Partitions of a
    lost worker are computed again by others.

    Parameters
    ----------
    client : distributed.Client
    parts : sequence of Delayed or Future
        Each gives ``(X, y)`` or ``(X, y, weight)``: see `dask_partitions`.
    names : list of str, default=None
        Names of the columns.
    """

    def __init__(self, client: Any, parts: Sequence[Any], names: list[str] | None = None):
        if not len(parts):
            raise PsephosError("parts must have at least one partition; got none.")
        self.names = names
        self.levels: Mapping[int, tuple[str, ...]] = {}
        given = [client.compute(part) if hasattr(part, "dask") else part for part in parts]
        self._rows = [client.submit(_rows, part, pure=False) for part in given]
        sizes = client.gather([client.submit(_size, rows) for rows in self._rows])
        widths = sorted({p for _, p in sizes})
        if len(widths) > 1:
            raise PsephosError(f"partitions must have equal numbers of columns; got {widths}.")
        self.n_rows, self.n_features = sum(n for n, _ in sizes), widths[0]

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order."""
        for rows in self._rows:
            yield rows.result()


def _rows(part: Sequence[Any]) -> Block:
    X, y, *weight = part
    values, labels = np.asarray(X), np.asarray(y)
    if values.ndim != 2 or labels.shape != (len(values),):
        raise PsephosError(
            "a partition must have a table X and a label for each of its rows; got X of shape "
            f"{values.shape} and y of shape {labels.shape}."
        )
    return Block.of(0, values.T, labels, weight[0] if weight else None).counted()


def _size(rows: Block) -> tuple[int, int]:
    return len(rows.y), len(rows.columns)


def dask_partitions(X: Any, y: Any, weight: Any = None) -> list[Any]:
    """Return one delayed ``(X, y[, weight])`` for each partition of Dask collections.

    Parameters
    ----------
    X : dask array or data frame
        An array must be in blocks of whole rows.
    y : dask array or series
        With the same partitions as X.
    weight : dask array or series, default=None

    Raises
    ------
    MissingExtraError
        If Dask is not installed.
    PsephosError
        If the collections have different numbers of partitions.

    Examples
    --------
    >>> import dask.array as da
    >>> from psephos import dask_partitions
    >>> X = da.random.default_rng(0).normal(size=(6, 2), chunks=(3, 2))
    >>> parts = dask_partitions(X, X[:, 0] > 0)
    >>> [part.compute()[0].shape for part in parts]
    [(3, 2), (3, 2)]
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
            f"X, y and weight must have equal numbers of partitions, by rows only; got {lengths}."
        )
    return [delayed(mine) for mine in zip(*parted, strict=True)]
