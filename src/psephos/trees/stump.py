"""Search for the best stump on presorted columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from psephos._types import Array, ArrayLike, NDArray
from psephos.kernels import stump as kernel
from psephos.kernels.numerics.ordering import sort_rows
from psephos.runtime.jit import run_blocks

_CHUNK_BYTES = 2**20  # a chunk of columns and its keys fit the second-level cache


def sort_columns(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.bool_]]:
    """Sort columns given as rows of ``values`` (c, n), NaN being missing.

    Returns (c, n) entries ``row | FLAG``, flagged if a threshold may follow; the number of values
    present in each column (c,); and whether it has any threshold (c,). Missing rows are replaced by
    the padding row n, which has no weight.
    """
    c, n = values.shape
    order, ranked, n_present = sort_rows(values)
    cut = np.zeros((c, n), np.bool_)
    np.greater(ranked[:, 1:], ranked[:, :-1], out=cut[:, :-1])
    parted = np.flatnonzero((n_present < n) & (n_present > 0))
    cut[parted, n_present[parted] - 1] = True  # "present or missing"
    rows = order.astype(np.uint32)
    rows[np.arange(n) >= n_present[:, None]] = n
    np.bitwise_or(rows, kernel.FLAG, out=rows, where=cut)
    return rows, n_present, np.logical_or.reduce(cut, axis=1)


@dataclass(frozen=True)
class Ordered:
    """Dense columns of n rows in sorted order, as `sort_columns` returns them.

    ``order`` (c, n), ``columns`` and ``n_present`` are parallel, sorted by column.
    """

    order: NDArray[np.uint32]
    columns: NDArray[np.int64]
    n_present: NDArray[np.int64]
    any_missing: bool

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.order.shape[1]


@dataclass(frozen=True)
class SparseOrdered:
    """Sparse columns with stored entries in sorted order; see ``kernels.stump``."""

    start: NDArray[np.int64]
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    edge: NDArray[np.bool_]
    n_below: NDArray[np.int64]
    n_present: NDArray[np.int64]
    zeros: NDArray[np.bool_]
    columns: NDArray[np.int64]


def presort_dense(X: Array, columns: NDArray[np.int64], n_jobs: int | None) -> Ordered:
    """Sort the given columns of a dense table; columns without any threshold are dropped."""
    n, p = len(X), len(columns)
    width = max(8, min(1024, _CHUNK_BYTES // (8 * n)))
    order, present, kept = np.empty((p, n), np.uint32), np.empty(p, np.int64), np.ones(p, np.bool_)

    def sort(b: int) -> None:
        part = slice(b * width, (b + 1) * width)
        own = columns[part]
        whole = own[-1] - own[0] == len(own) - 1
        values = X[:, own[0] : own[-1] + 1] if whole else X[:, own]
        found = sort_columns(np.ascontiguousarray(values.T, dtype=np.float64))
        order[part], present[part], kept[part] = found

    run_blocks(sort, -(-p // width), n_jobs)
    if not kept.all():
        order, columns, present = order[kept], columns[kept], present[kept]
    return Ordered(order, columns, present, bool((present < n).any()))


def presort_sparse(X: Any, columns: NDArray[np.int64]) -> SparseOrdered:
    """Sort the stored entries of the given columns of a CSC matrix; zeros are one group."""
    n, p = X.shape
    column = np.repeat(np.arange(p), np.diff(X.indptr))
    data = X.data.astype(np.float64)
    keep = data != 0.0  # NaN stays
    column, data, rows = column[keep], data[keep], X.indices[keep].astype(np.int64)
    by = np.lexsort((data, column))  # NaN last within its column
    column, data, rows = column[by], data[by], rows[by]
    start = np.searchsorted(column, np.arange(p + 1)).astype(np.int64)
    stored = np.diff(start)
    n_missing = np.bincount(column[np.isnan(data)], minlength=p)
    n_below = np.bincount(column[data < 0], minlength=p)
    zeros = stored < n
    edge = np.ones(len(data), np.bool_)
    edge[:-1][(column[1:] == column[:-1]) & (data[1:] == data[:-1])] = False
    groups = np.bincount(column[edge & ~np.isnan(data)], minlength=p)
    alive = (groups + zeros + (n_missing > 0)) > 1
    wanted = np.zeros(p, np.bool_)
    wanted[columns] = True
    return SparseOrdered(
        start,
        rows,
        data,
        edge,
        n_below.astype(np.int64),
        (stored - n_missing).astype(np.int64),
        zeros,
        np.flatnonzero(alive & wanted).astype(np.int64),
    )


Criterion = Literal["error", "gini"]
_BLOCK = 512  # columns searched by one thread at a time: fixed, for the same results
_SERIAL = 10**6  # table entries below which one thread is faster than two
_UNSCREENED = 2**13  # entries up to which the exact search alone is as fast


@dataclass(frozen=True)
class Stump:
    """One split of the rows in two.

    Attributes
    ----------
    column : int
        Column of the table searched.
    threshold : float
        A number goes left if ``value <= threshold``; +inf is the rule "present or missing"; NaN for
        a categorical rule.
    missing_left : bool
        Learned side of missing values; the heavier side if the column had none.
    left_categories : (n_codes,) bool or None
        Codes that go left; None for a numeric rule.
    gain : float
        Gain of the split; see ``psephos.kernels.stump``.
    left_totals, right_totals : (K,) float64
        Weight per class on either side.
    """

    column: int
    threshold: float
    missing_left: bool
    left_categories: NDArray[np.bool_] | None
    gain: float
    left_totals: NDArray[np.float64]
    right_totals: NDArray[np.float64]


@dataclass(frozen=True)
class _Found:
    """The best split of one group of columns, before its threshold is computed."""

    gain: float
    column: int
    kind: Literal["ordered", "sparse", "categorical"]
    at: int  # position in the group's own list of columns
    cut: int = -1
    missing_left: bool = False


class StumpSearch:
    """Search for the best stump under given weights: the table is sorted once.

    Parameters
    ----------
    X : (n, p) array of float32 or float64, or scipy CSC matrix or array
        NaN is missing. Implicit zeros of a sparse table are values.
    y : (n,) int
        Class codes ``0 .. n_classes - 1``.
    n_classes : int
    categories : mapping of int to int, default=None
        Column to its number of codes; its values are codes ``0 .. n_codes - 1`` or NaN.
    n_jobs : int, default=None
        Threads; the result does not depend on it.

    Notes
    -----
    A threshold lies half-way between adjacent distinct values. Missing values are tried on both
    sides of every threshold, and "present or missing" is a rule itself. Of several splits of
    equal gain the one in the lowest column is chosen, then the lowest threshold, then missing
    right. Weights are rounded to multiples of about ``2^-52`` of their sum, so that all sums are
    exact, equal splits have exactly equal gains, and rounding does not decide between them.
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        n_classes: int,
        *,
        categories: Mapping[int, int] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sparse = sp.issparse(X)
        self.X = X
        self.n_classes = int(n_classes)
        self.n_jobs = n_jobs
        self.categories = dict(categories or {})
        n, p = X.shape
        self.labels = np.zeros(n + 1, np.int64)  # the last entry is the padding row
        self.labels[:n] = y
        wanted = np.arange(p)
        is_category = np.isin(wanted, list(self.categories))
        self._numbers = wanted[~is_category]
        self._category_columns = wanted[is_category]
        self._codes, self._n_codes = self._read_codes()
        if self.sparse:
            self._sparse = presort_sparse(X, self._numbers)
        else:
            self._ordered = presort_dense(X, self._numbers, n_jobs)

    def _column(self, j: int) -> NDArray[np.float64]:
        if not self.sparse:
            return np.asarray(self.X[:, j], dtype=np.float64)
        values = np.zeros(self.X.shape[0])
        part = slice(self.X.indptr[j], self.X.indptr[j + 1])
        values[self.X.indices[part]] = self.X.data[part]
        return values

    def _read_codes(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        columns = self._category_columns
        n_codes = np.array([self.categories[int(j)] for j in columns], np.int64)
        codes = np.empty((len(columns), self.X.shape[0]), np.int32)
        for r, j in enumerate(columns):
            values = self._column(int(j))
            known = (values >= 0) & (values < n_codes[r])
            codes[r] = np.where(known, np.where(known, values, 0), n_codes[r])
        return codes, n_codes

    def best(
        self, weights: ArrayLike, criterion: Criterion, min_weight_fraction_leaf: float = 0.0
    ) -> Stump | None:
        """Return the stump of greatest gain, or None if no column can be split.

        Parameters
        ----------
        weights : (n,) array, at least 0
        criterion : {"error", "gini"}
            "error": correctly classified weight if both sides predict different classes, less that
            of the heaviest class; "gini": decrease of the weighted Gini impurity.
        min_weight_fraction_leaf : float, default=0.0
            Least share of the weight on either side; above 0 columns are not screened.
        """
        n = self.X.shape[0]
        padded = np.zeros(n + 1)
        padded[:n] = kernel.round_weights(np.asarray(weights, dtype=np.float64))
        parent = np.bincount(self.labels, padded, self.n_classes)
        least = float(min_weight_fraction_leaf * parent.sum())
        crit = kernel.Worth(True if criterion == "error" else None, self.n_classes, least)
        found: list[_Found] = []
        if self.sparse:
            found += self._best_sparse(crit, padded, parent)
        else:
            found += self._best_ordered(crit, padded, parent)
        if len(self._category_columns):
            found += self._best_categorical(crit, padded, parent)
        if not found:
            return None
        return self._finish(min(found, key=lambda f: (-f.gain, f.column)), crit, padded, parent)

    def _best_ordered(self, crit: Any, weights: Any, parent: Any) -> list[_Found]:
        o = self._ordered
        at = np.arange(len(o.columns))
        if len(at) * o.n > _UNSCREENED and self.n_classes == 2 and crit.least == 0:
            at = _promising(o, self.labels, crit, weights, self.n_jobs)
        n_present = o.n_present[at]

        def scan(part: slice, *found: NDArray[Any]) -> None:
            kernel.scan_ordered(
                crit, o.order, at[part], n_present[part], self.labels, weights, parent,
                np.empty((3, self.n_classes)), *found,
            )  # fmt: skip

        return self._first_best("ordered", o.columns[at], scan, at)

    def _best_sparse(self, crit: Any, weights: Any, parent: Any) -> list[_Found]:
        s = self._sparse

        def scan(part: slice, *found: NDArray[Any]) -> None:
            kernel.scan_sparse(
                crit, s.start, s.rows, s.edge, s.n_below, s.n_present, s.zeros, s.columns[part],
                self.labels, weights, parent, *found,
            )  # fmt: skip

        return self._first_best("sparse", s.columns, scan)

    def _best_categorical(self, crit: Any, weights: Any, parent: Any) -> list[_Found]:
        widest, which = int(self._n_codes.max()) + 1, np.arange(len(self._n_codes))

        def scan(part: slice, gains: NDArray[Any], *_: object) -> None:
            kernel.scan_categories(
                crit, self._codes, self._n_codes, which[part], self.labels, weights, parent, gains,
                np.empty(widest, np.bool_),
            )  # fmt: skip

        return self._first_best("categorical", self._category_columns, scan)

    def _first_best(
        self,
        kind: Literal["ordered", "sparse", "categorical"],
        columns: NDArray[np.int64],
        scan: Callable[..., None],
        at: NDArray[np.int64] | None = None,
    ) -> list[_Found]:
        """Return the best split of some columns, the first of equals, in a list; [] for none."""
        n = len(columns)
        gains, cuts, sides = np.full(n, -np.inf), np.full(n, -1), np.zeros(n, np.bool_)

        def block(b: int) -> None:
            part = slice(b * _BLOCK, (b + 1) * _BLOCK)
            scan(part, gains[part], cuts[part], sides[part])

        run_blocks(block, -(-n // _BLOCK), _jobs(self.n_jobs, n * self.X.shape[0]))
        if gains.max(initial=-np.inf) == -np.inf:
            return []
        i = int(gains.argmax())  # columns are in ascending order
        position = i if at is None else int(at[i])
        return [
            _Found(float(gains[i]), int(columns[i]), kind, position, int(cuts[i]), bool(sides[i]))
        ]

    def _finish(self, found: _Found, crit: Any, weights: Any, parent: Any) -> Stump:
        column = found.column
        chosen: NDArray[np.bool_] | None = None
        threshold = np.nan
        missing_left = found.missing_left
        n = self.X.shape[0]
        if found.kind == "categorical":
            r = found.at
            out = np.empty(int(self._n_codes[r]) + 1, np.bool_)
            kernel.scan_categories(
                crit, self._codes, self._n_codes, np.array([r]), self.labels, weights, parent,
                np.empty(1), out,
            )  # fmt: skip
            left = out[self._codes[r]]
            chosen = out[:-1].copy()
            missing_left = bool(out[-1])
            has_missing = bool(weights[:n][self._codes[r] == self._n_codes[r]].sum() > 0)
        else:
            threshold = _between(*self._neighbours(found))
            left, has_missing = self._sides(found, threshold)
        k = self.n_classes
        totals = np.bincount(self.labels[:n] + k * ~left, weights[:n], 2 * k).reshape(2, k)
        if not has_missing:
            missing_left = bool(totals[0].sum() > totals[1].sum())
        return Stump(column, threshold, missing_left, chosen, found.gain, totals[0], totals[1])

    def _sides(self, found: _Found, threshold: float) -> tuple[NDArray[np.bool_], bool]:
        """Return the mask of rows left of a numeric rule, and whether any value is missing."""
        n = self.X.shape[0]
        if found.kind == "sparse":
            values = self._column(found.column)
            left, absent = values <= threshold, np.isnan(values)
            return left | absent if found.missing_left else left, bool(absent.any())
        o = self._ordered
        n_present = int(o.n_present[found.at])
        rows = o.order[found.at] & kernel.ROW
        left = np.zeros(n + 1, np.bool_)  # missing rows are the padding row
        if found.missing_left:  # on the right are then the present rows after the cut
            left[:] = True
            left[rows[:n_present]] = False
        left[rows[: found.cut + 1]] = True
        return left[:n], n_present < n

    def _neighbours(self, found: _Found) -> tuple[float, float]:
        """Return the values on both sides of a cut; +inf above the last one."""
        if found.kind == "sparse":
            s = self._sparse
            first, below = int(s.start[found.column]), int(s.n_below[found.column])
            zero, present = bool(s.zeros[found.column]), int(s.n_present[found.column])

            def value(k: int) -> float:
                if k == present + zero:
                    return np.inf
                if zero and k == below:
                    return 0.0
                return float(s.values[first + k - (zero and k > below)])

            return value(found.cut), value(found.cut + 1)
        o = self._ordered
        rows = o.order[found.at] & kernel.ROW

        def at(k: int) -> float:
            if k == o.n_present[found.at]:
                return np.inf
            return float(self.X[rows[k], found.column])

        return at(found.cut), at(found.cut + 1)

    def left(self, stump: Stump) -> NDArray[np.bool_]:
        """Return the mask, (n,), of training rows that go left."""
        values = self._column(stump.column)
        if stump.left_categories is None:
            left = values <= stump.threshold
            return left | np.isnan(values) if stump.missing_left else left
        known = (values >= 0) & (values < len(stump.left_categories))
        codes = np.where(known, values, 0).astype(np.intp)
        return np.where(known, stump.left_categories[codes], stump.missing_left)


def _jobs(n_jobs: int | None, entries: int) -> int | None:
    """Return the threads for one search: 1 for a small one, as starting threads takes longer."""
    return n_jobs if entries > _SERIAL else 1


def _promising(
    ordered: Ordered, labels: NDArray[np.int64], crit: Any, weights: Any, n_jobs: int | None
) -> NDArray[np.int64]:
    """Return the positions of the columns that may have the best split of two classes.

    ``labels`` and ``weights`` (n + 1,) end with the padding row.
    """
    p, n = ordered.order.shape
    whole = kernel.quantise(weights, labels)
    if not p or whole is None:
        return np.arange(p)
    signed, total_d, total_w, error = whole
    values = np.empty(p)

    def screen(b: int) -> None:
        s, sums = slice(b * _BLOCK, (b + 1) * _BLOCK), np.empty((2, n), np.int32)
        if crit.by_error:
            kernel.screen_error(ordered.order[s], signed, total_d, sums, values[s])
        else:
            kernel.screen_gini(ordered.order[s], signed, total_d, total_w, sums, values[s])

    run_blocks(screen, -(-p // _BLOCK), _jobs(n_jobs, p * n))
    if crit.by_error:
        # A column with missing rows may have the value |D|, "all on one side": not a split.
        relative, absolute = 0.0, 2 * error + 2
        floor = float(abs(total_d)) if ordered.any_missing else -2.0
        unknown = np.zeros(p, np.bool_)
    else:
        # The errors of ten float32 roundings, and of rounded weights in d^2 / w on two sides; both
        # twice, since two columns are compared.
        relative, absolute, floor = 24 * 2.0**-24, 12 * error + 16, -2.0
        unknown = ordered.n_present < n  # their screen values are not valid
    best = float(values[~unknown].max(initial=-np.inf))
    if best <= floor:  # the screen excludes no column
        return np.arange(p)
    return np.flatnonzero(unknown | (values >= best - absolute - relative * best))


def _between(low: float, high: float) -> float:
    """Return the midpoint, such that ``low <= result < high`` whatever the rounding."""
    if high == np.inf:
        return np.inf
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
