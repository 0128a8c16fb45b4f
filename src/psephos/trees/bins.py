"""Binned tables: one byte per value, for all trees grown on the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from psephos._types import NDArray
from psephos.kernels.binned_trees.bins import bin_columns
from psephos.kernels.numerics.ordering import sort_rows
from psephos.runtime.jit import frozen, run_blocks

MAX_BINS = 255  # of known values; the last code of a byte is for missing ones
BLOCK_CELLS = 1 << 15  # values of a block of columns: 256 KiB

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bins:
    """The bins of a table's columns.

    A column with at most `max_bins` distinct values has one bin for each of them. Other columns
    have bins of nearly equal weight (equal values stay together). A missing value has the code
    ``n_bins[j]``, which follows those of the bins.

    The bin of a category is its code if there are at most 255. Otherwise the 254 of most weight (of
    equal ones the first) have a bin each, in their order, and all others share the last bin, so
    that no split separates them.
    """

    codes: NDArray[np.uint8]  # (p, n)
    n_bins: NDArray[np.int64]  # (p,); bins of known values
    # (p + 1,); the start of each column's bins in `low` and `high`; categorical columns have none
    ptr: NDArray[np.int64]
    # `low`, `high`: (ptr[-1],); the least and the greatest value of each bin; the same array if
    # every value has its own bin
    low: _Floats
    high: _Floats
    # (n_codes,) uint8 each; the bin of each code of a categorical column
    categories: Mapping[int, NDArray[np.uint8]]

    @classmethod
    def of(
        cls,
        values: Any,
        n_codes: Mapping[int, int] | None = None,
        weight: _Floats | None = None,
        max_bins: int = MAX_BINS,
        n_jobs: int | None = None,
    ) -> Self:
        """Return the bins of a table.

        Parameters
        ----------
        values : ndarray or CSC array of shape (n, p), float64 or float32; NaN is missing; codes in
            categorical columns. A sparse table is read a few columns at a time.
        n_codes : the number of codes of each categorical column
        weight : (n,); positive weights of the rows, for bins of equal weight
        max_bins : most bins of a numeric column, 2 to 255
        n_jobs : threads over blocks of columns; the bins do not depend on it
        """
        n, p = values.shape
        codes, n_bins = np.empty((p, n), np.uint8), np.zeros(p, np.int64)
        step = max(1, BLOCK_CELLS // max(n, 1))
        starts = range(0, p, step)
        edges: list[Any] = [None] * len(starts)
        # If all columns of a block have the most bins, their ends are written in place. Memory that
        # no block writes to is never allocated.
        width = min(max_bins, max(n, 1))
        low, high = np.empty((p, width)), np.empty((p, width))
        mass = None if weight is None or (weight == weight[:1]).all() else weight

        def work(block: int) -> None:
            span = slice(starts[block], min(starts[block] + step, p))
            part = columns_of(values, span)
            ends = _bin_block(part, mass, width, codes[span], n_bins[span])
            if (n_bins[span] == width).all():
                low[span], lossless = ends[0], ends[0] is ends[1]
                if not lossless:
                    high[span] = ends[1]
                ends = (low[span],) * 2 if lossless else (low[span], high[span])
            edges[block] = ends

        run_blocks(work, len(starts), n_jobs)
        maps: dict[int, NDArray[np.uint8]] = {}
        for j, size in (n_codes or {}).items():
            column = columns_of(values, slice(j, j + 1))[0]
            maps[j] = category_bins(category_mass(column, weight, size))
            code_categories(column, maps[j], codes[j])
            n_bins[j] = int(maps[j].max(initial=0)) + 1
        kept = n_bins.copy()
        kept[list(maps)] = 0
        ptr = np.concatenate([[0], np.cumsum(kept)])
        kinds = {ends[0] is ends[1] for ends in edges}
        if ptr[-1] == low.size and len(kinds) == 1:
            low = low.ravel()
            high = high.ravel() if False in kinds else low
        else:
            low = _joined([ends[0] for ends in edges], kept)
            high = _joined([ends[1] for ends in edges], kept) if False in kinds else low
        return cls(codes, n_bins, ptr, low, high, maps)


def columns_of(values: Any, span: slice) -> Any:
    """Return some columns of a dense or sparse (n, p) table as the rows of a dense array."""
    part = values[:, span]
    whole = part if isinstance(part, np.ndarray) else part.toarray()
    if not whole.flags.f_contiguous:  # copied first, so that every cache line is read once
        whole = np.ascontiguousarray(whole)
    return np.ascontiguousarray(whole.T)


def _bin_block(
    part: Any, weight: _Floats | None, max_bins: int, codes: Any, n_bins: Any
) -> tuple[_Floats, _Floats]:
    """Write codes and numbers of bins of some columns; return the bounds of their bins."""
    order, _, _ = sort_rows(part)
    low, high = np.empty((len(part), max_bins)), np.empty((len(part), max_bins))
    mass, ranked = np.empty(0) if weight is None else weight, np.empty((2, part.shape[1]))
    lossless = bin_columns(frozen(part), order, mass, max_bins, ranked, codes, n_bins, low, high)
    most = int(n_bins.max(initial=0))
    if most < max_bins:  # keep no more memory than needed
        low, high = low[:, :most].copy(), high[:, :most].copy()
    return low, low if lossless else high


def _joined(blocks: list[_Floats], number: NDArray[np.int64]) -> _Floats:
    """Return the first `number` entries of each column of all blocks, concatenated."""
    out, column, at = np.empty(int(number.sum())), 0, 0
    for block in blocks:
        here = np.arange(block.shape[1]) < number[column : column + len(block), None]
        own = block.ravel() if here.all() else block[here]
        out[at : at + len(own)] = own
        column, at = column + len(block), at + len(own)
    return out


def category_mass(column: Any, weight: _Floats | None, size: int) -> _Floats:
    """Return the weight of the rows of each code, (size,)."""
    known = ~np.isnan(column)
    seen = None if weight is None else weight[known]
    found = np.bincount(column[known].astype(np.intp), seen, minlength=size)
    return found.astype(np.float64)


def category_bins(mass: _Floats) -> NDArray[np.uint8]:
    """Return the bin of each code of a categorical column, from the weight of its rows."""
    size = len(mass)
    if size <= MAX_BINS:
        return np.arange(size).astype(np.uint8)
    own = np.sort(np.argsort(-mass, kind="stable")[: MAX_BINS - 1])
    bins = np.full(size, MAX_BINS - 1, np.uint8)
    bins[own] = np.arange(MAX_BINS - 1)
    return bins


def code_categories(column: Any, bins: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """Write the bins of codes; missing and unknown ones have the code after the last."""
    size = int(bins.max(initial=0)) + 1
    known = (column >= 0) & (column < len(bins))
    out[:] = size
    out[known] = bins[column[known].astype(np.intp)]
