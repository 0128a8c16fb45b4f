"""The rows that a forest is grown on: each once, in an order of their own, with its weight."""

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
_MOST = 2**31  # rows counted by weights, or drawn, are below
_SECOND = np.uint64(0x9E3779B97F4A7C15)  # of the seed of a second draw
_MANY = 16  # draws a row above which they are not drawn one by one


@dataclass(frozen=True)
class Unbinned:
    """A dense table of numbers whose columns are looked at as they are, in place of `Bins`."""

    codes: NDArray[Any]  # (p, n) float64 or float32; the values, a column after the other
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
        """Return (p,): the sides of a cut."""
        return np.full(len(self.codes), 2)

    @property
    def ptr(self) -> NDArray[np.int64]:
        """Return (p + 1,): no column has bins."""
        return np.zeros(len(self.codes) + 1, dtype=np.int64)

    def bits(self) -> Array:
        """Return the bits of the values, as whole numbers of the same size."""
        return self.codes.view(f"u{self.codes.dtype.itemsize}")

    def arrange(self, order: NDArray[np.int64], n_jobs: int | None = None) -> None:
        """Let row i be what row ``order[i]`` was: the rows of a node then lie in their order."""
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
    """Distinct rows.

    Rows of equal codes (or values) and answer are one row of added weight, and the rows are in the
    order of a hash of these: so a row of weight 2 is the row given twice, whatever is drawn by
    number. Rows that are to be counted, and whose weights are no counts, stay apart.
    """

    bins: Bins | Unbinned  # of all rows of the table
    # (m,); where each of the m distinct ones stands in the codes of `bins`: of `Bins` the first row
    # of the table that is it, else the distinct rows stand first
    first: NDArray[np.int64]
    y: NDArray[Any]  # (m,)
    mass: Floats  # (m,); their weights
    group: NDArray[np.int64]  # (n,); which of them each row of the table is
    # how many rows these are: the sum of weights that are whole numbers; else those of the table
    number: float
    counts: bool  # the weights given are whole numbers, below 2^31 together: each is so many rows

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
        """Return the distinct rows of a table: see `Bins.of`; `weight` is positive.

        With `counted`, rows are added up only where weights count them; with `unbinned` the
        table is dense, without categories, and its columns are not binned. `ranked`: the order is
        of a hash of the rank of y, which has no unit, and not of its bits.
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
        """Return how many rows a bootstrap draws.

        Where all weights are whole numbers they are counts: `max_samples` (None: 1.0) is a share
        of their sum; else of the number of rows given. A whole number is itself.
        """
        if isinstance(max_samples, int | np.integer):
            draws = int(max_samples)
        else:
            draws = max(1, round(self.number * (1.0 if max_samples is None else max_samples)))
        if draws >= _MOST:
            raise PsephosError(
                f"a bootstrap would draw {draws:.3g} rows: whole weights are counts of rows; "
                "divide them all by one number, or give a smaller max_samples."
            )
        return draws


def number_of(weight: Floats, n: int) -> float:
    """Return how many rows these are: the sum of whole weights, which are counts; else n."""
    return float(weight.sum()) if _is_whole(weight) else float(n)


def balanced_classes(weight: Floats, y: Array, n_classes: int) -> Floats:
    """Return weights of the same sum by which each class that has rows weighs as much."""
    totals = np.bincount(y, weight, n_classes)
    each = weight.sum() / np.count_nonzero(totals)
    return weight * (each / np.where(totals > 0, totals, 1.0))[y]


def _is_whole(weight: Floats) -> bool:
    return bool((weight == np.round(weight)).all())


class Bootstraps:
    """Bootstrap samples of weighted rows, each of its own seed, made again whenever asked for.

    `mass` (m,): the weights by which rows are drawn. `size`: draws a sample.
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

    Where weights are not counts, as many rows as they were are then drawn from the groups' rows by
    weight, so that counts are whole numbers.

    Parameters
    ----------
    draws : Draws
        Of the groups.
    unit, row : ndarray of shape (n,)
        The group of each row of the table, and its place among the rows that are counted.
    weight : ndarray of shape (n,)
    size : int
        Rows a sample has on average.
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
