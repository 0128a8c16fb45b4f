"""Distinct rows with weights, on which forests are grown, and bootstrap samples of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from psephos._errors import PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.kernels.binned_trees.forest_draws import (
    draw_counts,
    make_alias,
    merge_rows,
    row_marks,
    split_counts,
)
from psephos.runtime.jit import run_blocks
from psephos.trees.bins import BLOCK_CELLS, Bins, columns_of

_BLOCK = 1 << 16  # rows
_MOST = 2**31  # numbers of rows, counted by weights or drawn, must be below
_SECOND = np.uint64(0x9E3779B97F4A7C15)  # changes the seed for a second draw
_MANY = 16  # draws per row above which they are not drawn one by one


@dataclass(frozen=True)
class Unbinned:
    """A dense table of numbers whose columns are not binned, in place of `Bins`."""

    codes: NDArray[Any]  # (p, n) float64 or float32; the values, column by column
    categories: ClassVar[Mapping[int, NDArray[np.uint8]]] = {}
    low: ClassVar[Floats] = np.empty(0)
    high: ClassVar[Floats] = np.empty(0)

    @classmethod
    def of(cls, values: Array, n_jobs: int | None = None) -> Self:
        """Return a copy of the values of a table (n, p)."""
        n, p = values.shape
        codes = np.empty((p, n), values.dtype)

        def copy(span: slice) -> None:
            codes[span] = columns_of(values, span)

        _by_columns(copy, n, p, n_jobs)
        return cls(codes)

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """Return (p,): 2, the two sides of a cut."""
        return np.full(len(self.codes), 2)

    @property
    def ptr(self) -> NDArray[np.int64]:
        """Return (p + 1,): no column has bins."""
        return np.zeros(len(self.codes) + 1, dtype=np.int64)

    def bits(self) -> Array:
        """Return the bits of the values, as integers of the same size."""
        return self.codes.view(f"u{self.codes.dtype.itemsize}")

    def arrange(self, order: NDArray[np.int64], n_jobs: int | None = None) -> None:
        """Reorder the rows: row i becomes the old row ``order[i]``."""
        p, n = self.codes.shape

        def arrange(span: slice) -> None:
            self.codes[span] = self.codes[span][:, order]

        _by_columns(arrange, n, p, n_jobs)


def _by_columns(work: Callable[[slice], None], n: int, p: int, n_jobs: int | None) -> None:
    """Call a function for blocks of the columns of a table (n, p)."""
    step = max(1, BLOCK_CELLS // max(n, 1))
    run_blocks(lambda b: work(slice(b * step, (b + 1) * step)), -(-p // step), n_jobs)


@dataclass(frozen=True)
class ForestRows:
    """Distinct rows of a training table.

    Rows with equal codes (or values) and labels become one row with the sum of their weights, and
    rows are in the order of a hash of these, so that a row of weight 2 has the same effect as the
    row given twice. If rows must be counted but weights are not counts, equal rows are not merged.
    """

    bins: Bins | Unbinned  # of all rows of the table
    # (m,); the position of each distinct row in the codes of `bins`: in `Bins` that of its first
    # copy in the table; in `Unbinned` the distinct rows come first
    first: NDArray[np.int64]
    y: NDArray[Any]  # (m,)
    mass: Floats  # (m,); their weights
    group: NDArray[np.int64]  # (n,); the distinct row of each row of the table
    # the number of rows: the sum of weights that are integers; else the rows of the table
    number: float
    counts: bool  # whether weights are integers with a sum below 2^31: numbers of rows

    @classmethod
    def of(
        cls,
        values: Any,
        n_codes: Mapping[int, int],
        y: Array,
        weight: Floats,
        max_bins: int,
        n_jobs: int | None,
        *,
        counted: bool = False,
        unbinned: bool = False,
        ranked: bool = True,
    ) -> Self:
        """Return the distinct rows of a table: see `Bins.of`; `weight` must be positive.

        With `counted`, rows are merged only if weights are counts. With `unbinned`, the table must
        be dense and without categories, and its columns are not binned. With `ranked`, the hash is
        that of the rank of y, which has no unit, and not of its bits.
        """
        bins: Any = Unbinned.of(values, n_jobs) if unbinned else None
        if bins is None:
            bins = Bins.of(values, n_codes, weight, max_bins, n_jobs)
        codes, n = bins.bits() if unbinned else bins.codes, len(y)
        key: Any = np.unique(y, return_inverse=True)[1] if ranked else y
        numbers = np.ascontiguousarray(key, dtype=np.float64) + 0.0  # -0 is 0
        marks = numbers.view(np.uint64).copy()

        def mark(block: int) -> None:
            span = slice(block * _BLOCK, min((block + 1) * _BLOCK, n))
            row_marks(codes[:, span], marks[span])

        run_blocks(mark, -(-n // _BLOCK), n_jobs)
        number = number_of(weight, n)
        counts = _is_whole(weight) and number < _MOST
        apart = counted and not counts
        by = np.lexsort((weight, marks)) if apart else np.argsort(marks, kind="stable")
        order = by.astype(np.int64)
        sorted_marks = marks[order]
        if apart or (sorted_marks[1:] != sorted_marks[:-1]).all():  # no row is there twice
            first, mass, group = order, weight[order], np.empty(n, np.int64)
            group[order] = np.arange(n)
        else:
            first, group, mass = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
            m = merge_rows(codes, numbers, weight, order, marks, first, mass, group)
            first, mass = first[:m].copy(), mass[:m].copy()
        y = y[first]
        if unbinned:
            bins.arrange(np.concatenate([first, np.delete(np.arange(n), first)]), n_jobs)
            first = np.arange(len(first))
        return cls(bins, first, y, mass, group, number, counts)

    def n_draws(self, max_samples: float | None) -> int:
        """Return the number of rows that a bootstrap draws.

        `max_samples` (None: 1.0) is a share of the sum of weights if these are all integers
        (counts), else of the number of rows given. An integer is the number of draws itself.
        """
        if isinstance(max_samples, int | np.integer):
            draws = int(max_samples)
        else:
            draws = max(1, round(self.number * (1.0 if max_samples is None else max_samples)))
        if draws >= _MOST:
            raise PsephosError(
                f"a bootstrap would draw {draws:.3g} rows: integer weights are counts of rows; "
                "divide them all by one number, or give a smaller max_samples."
            )
        return draws


def number_of(weight: Floats, n: int) -> float:
    """Return the number of rows: the sum of integer weights, which are counts; else n."""
    return float(weight.sum()) if _is_whole(weight) else float(n)


def balanced_classes(weight: Floats, y: Array, n_classes: int) -> Floats:
    """Return weights with the same sum, equal for all classes that have rows."""
    totals = np.bincount(y, weight, n_classes)
    each = weight.sum() / np.count_nonzero(totals)
    return weight * (each / np.where(totals > 0, totals, 1.0))[y]


def _is_whole(weight: Floats) -> bool:
    return bool((weight == np.round(weight)).all())


class Bootstraps:
    """Bootstrap samples of weighted rows, each determined by its seed.

    `mass` (m,): the weights with which rows are drawn. `size`: draws per sample.
    """

    def __init__(self, mass: Floats, size: int) -> None:
        self.size, self._mass = size, mass
        m = len(mass)
        self._many = size > _MANY * m
        self._share, self._other = np.empty(m), np.empty(m, np.int32)
        if (mass == mass[:1]).all():
            self._share[:], self._other[:] = 1.0, np.arange(m)
        elif not self._many:
            make_alias(mass, self._share, self._other, np.empty(m, np.int64))

    def counts(self, seed: Any, out: Floats | None = None) -> Floats:
        """Return how often each row is in the sample of a seed, shape (m,); `out` takes it."""
        count = np.empty(len(self._mass)) if out is None else out
        if self._many:
            split_counts(self._mass, self.size, np.uint64(seed), count)
        else:
            draw_counts(self._share, self._other, self.size, np.uint64(seed), count)
        return count


class GroupDraws:
    """Bootstrap samples of whole groups: a row counts as often as its group was drawn.

    If weights are not counts, `size` rows are then drawn by weight from the rows of the drawn
    groups, so that counts are integers.

    Parameters
    ----------
    draws : Draws
        Draws of the groups.
    unit, row : ndarray of shape (n,)
        The group of each row of the table, and its index among the rows that are counted.
    weight : ndarray of shape (n,)
    size : int
        Mean number of rows of a sample.
    """

    def __init__(
        self, draws: Any, unit: NDArray[Any], row: NDArray[Any], weight: Floats, size: int
    ) -> None:
        self.size, self._draws, self._whole = size, draws, _is_whole(weight)
        self._rows: Any = sparse.csr_array((weight, (row, unit)))

    def counts(self, seed: Any, out: Floats | None = None) -> Floats:
        """Return how often each row is in the sample of a seed, shape (m,); `out` takes it."""
        count: Floats = self._rows @ self._draws.counts(seed)
        if not self._whole:
            some = np.flatnonzero(count)
            count[some] = Bootstraps(count[some], self.size).counts(np.uint64(seed) ^ _SECOND)
        if out is None:
            return count
        out[:] = count
        return out
