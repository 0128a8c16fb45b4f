"""The space of conjunctions over categories and binned numbers: codes, constraints, order, size."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.files.field_types import AnySize
from psephos.vote.codec import register
from psephos.vote.part import Columns, ReadsColumns, check, check_part
from psephos.vote.reasons import Test

_Codes = NDArray[np.int32]
_PRIORS = ("uniform", "short")


class Hypotheses(NamedTuple):
    """T conjunctions: hypothesis t accepts the codes low[t, i] to high[t, i] of column i."""

    low: _Codes  # (T, q); a column that is not tested has -1, the code of a missing value
    high: _Codes  # (T, q); a column that is not tested has its size
    empty: NDArray[np.bool_]  # (T,), the hypothesis that holds for no case; its codes are ignored

    def take(self, which: Indices) -> "Hypotheses":
        """Return these hypotheses only."""
        return Hypotheses(self.low[which], self.high[which], self.empty[which])

    def holds(self, code: _Codes) -> NDArray[np.bool_]:
        """Return the mask, (n, T), of hypotheses that hold for rows of (n, q) codes."""
        out = np.repeat(~self.empty[None, :], len(code), axis=0)
        for x, low, high in zip(code.T, self.low.T, self.high.T, strict=True):
            at = np.flatnonzero(low >= 0)
            out[:, at] &= (low[at] <= x[:, None]) & (x[:, None] <= high[at])
        return out

    def covers(self, other: "Hypotheses") -> NDArray[np.bool_]:
        """Return (T, U): whether each of these is at least as general as each of the others.

        It is if in every column it accepts all codes that the other accepts.
        """
        out = ~self.empty[:, None] & ~other.empty[None, :]
        for i in range(self.low.shape[1]):
            out &= self.low[:, [i]] <= other.low[:, i]
            out &= self.high[:, [i]] >= other.high[:, i]
        return out | other.empty[None, :]


@register
class ConjunctiveSpace(ReadsColumns):
    """All conjunctions of one constraint a column, and the empty hypothesis.

    A categorical column is not tested (``?``) or must be one category. A numeric column is cut into
    bins, and is not tested or must lie in an interval of some of the bins. A missing value (or an
    unknown category) satisfies only ``?``.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that hypotheses may test.
    is_category : ndarray of shape (q,), bool
    size : ndarray of shape (q,), intp
        Number of categories, or bins, of each column.
    cuts : tuple of ndarray
        For each column, the ``size - 1`` bounds between bins, each the inclusive upper bound of its
        lower bin; empty for categories.
    """

    tag: ClassVar[str] = "conjunctive space"
    n_features: int
    columns: Columns
    is_category: NDArray[np.bool_]
    size: Indices
    cuts: tuple[AnySize, ...]

    def __post_init__(self) -> None:
        check_part(self)
        q = len(self.columns)
        check(self.size.shape == self.is_category.shape == (q,), "columns and sizes differ")
        check(len(self.cuts) == q, "columns and bins differ")
        check((self.size >= 0) & (self.size < 2**20), "a size is out of range")
        for size, category, cuts in zip(self.size, self.is_category, self.cuts, strict=True):
            number = 0 if category else max(int(size) - 1, 0)
            check(cuts.shape == (number,) and cuts.dtype == np.float64, "bins and bounds differ")
            check(np.diff(cuts) > 0, "bounds of bins do not rise")

    @classmethod
    def of(cls, X: Floats, n_codes: dict[int, int], n_bins: int) -> Self:
        """Return the space of a training table (n, p), in which `n_codes` are categories.

        A numeric column is cut half-way between distinct values, into at most `n_bins` bins with
        numbers of distinct values as equal as possible.
        """
        cuts = [np.empty(0) if j in n_codes else _cuts(X[:, j], n_bins) for j in range(X.shape[1])]
        size = [n_codes.get(j, len(own) + 1) for j, own in enumerate(cuts)]
        category = np.array([j in n_codes for j in range(X.shape[1])], dtype=np.bool_)
        every = np.arange(X.shape[1], dtype=np.intp)
        return cls(X.shape[1], every, category, np.array(size, dtype=np.intp), tuple(cuts))

    @property
    def n_columns(self) -> int:
        """Return q."""
        return len(self.columns)

    def encode(self, X: Floats) -> _Codes:
        """Return the (n, q) codes of rows (n, p): category or bin, -1 where missing."""
        code = np.empty((len(X), self.n_columns), dtype=np.int32)
        for i, j in enumerate(self.columns):
            x = X[:, j]
            there = ~np.isnan(x)
            known = x[there] if self.is_category[i] else np.searchsorted(self.cuts[i], x[there])
            code[:, i] = -1
            code[there, i] = known
        return code

    # ------------------------------------------------------------------ constraints
    def constraints(self, i: int) -> tuple[_Codes, _Codes]:
        """Return (low, high) of all constraints on the i-th column, ``?`` first."""
        v = int(self.size[i])
        if self.is_category[i]:
            low = high = np.arange(v, dtype=np.int32)
        else:
            low, high = (a.astype(np.int32) for a in np.triu_indices(v))
            proper = high - low < v - 1
            low, high = low[proper], high[proper]
        return np.append(np.int32(-1), low), np.append(np.int32(v), high)

    def n_constraints(self) -> list[int]:
        """Return the number of constraints of each column, including ``?``."""
        sizes = zip(self.size.tolist(), self.is_category.tolist(), strict=True)
        return [v + 1 if category else max(v * (v + 1) // 2, 1) for v, category in sizes]

    def priors(self, i: int, prior: str) -> list[int]:
        """Return integers proportional to the prior of each constraint of a column.

        uniform: all hypotheses are equally probable. short: a column is tested with probability
        1/2, by each of its constraints with equal probability, which favours few tests.
        """
        check(prior in _PRIORS, f"unknown prior {prior!r}")
        number = self.n_constraints()[i]
        return [1] * number if prior == "uniform" else [max(number - 1, 1)] + [1] * (number - 1)

    @property
    def n_hypotheses(self) -> int:
        """Return |H|: 1 for the empty hypothesis, plus the product of `n_constraints`."""
        return 1 + math.prod(self.n_constraints())

    # ------------------------------------------------------------------ single hypotheses
    def anything(self) -> Hypotheses:
        """Return the most general hypothesis, which tests no column."""
        low = np.full((1, self.n_columns), -1, dtype=np.int32)
        return Hypotheses(low, self.size.astype(np.int32)[None], np.zeros(1, dtype=np.bool_))

    def nothing(self) -> Hypotheses:
        """Return the empty hypothesis."""
        return self.anything()._replace(empty=np.ones(1, dtype=np.bool_))

    def joined(self, one: Hypotheses, code: _Codes) -> Hypotheses:
        """Return the least general hypotheses above one that hold for each of (n, q) codes."""
        size = self.size.astype(np.int32)
        gap = code < 0
        if one.empty[0]:
            low, high = code, code
        else:
            gap = gap | (one.low < 0)
            low, high = np.minimum(one.low, code), np.maximum(one.high, code)
        gap = gap | np.where(self.is_category, low != high, high - low >= size - 1)
        low, high = np.where(gap, np.int32(-1), low), np.where(gap, size, high)
        return Hypotheses(low, high, np.zeros(len(code), dtype=np.bool_))

    def below(self, one: Hypotheses, code: _Codes) -> Hypotheses:
        """Return the most general hypotheses under one (T = 1) that do not hold for a (q,) code."""
        rows: list[tuple[int, int, int]] = []
        for i, x in enumerate(code.tolist()):
            low, high, v = int(one.low[0, i]), int(one.high[0, i]), int(self.size[i])
            if self.is_category[i]:
                rows += [(i, a, a) for a in range(v) if a != x] if low < 0 else []
                continue
            low, high = (0, v - 1) if low < 0 else (low, high)
            sides = [(low, x - 1), (x + 1, high)] if x >= 0 else [(0, v - 2), (1, v - 1)]
            rows += [(i, a, b) for a, b in sides if a <= b and b - a < v - 1]
        out = one.take(np.zeros(len(rows), dtype=np.intp))
        for t, (i, a, b) in enumerate(rows):
            out.low[t, i], out.high[t, i] = a, b
        return out

    def tests(self, low: Sequence[int], high: Sequence[int], x: Sequence[float]) -> list[Test]:
        """Return the tests of a hypothesis with the values of a case x, (p,), even if they fail."""
        found: list[Test] = []
        for i, (a, b) in enumerate(zip(low, high, strict=True)):
            if a < 0:
                continue
            j, v = int(self.columns[i]), int(self.size[i])
            if self.is_category[i]:
                found.append(Test(j, "in", (a,), x[j]))
                continue
            if a > 0:
                found.append(Test(j, ">", float(self.cuts[i][a - 1]), x[j]))
            if b < v - 1:
                found.append(Test(j, "<=", float(self.cuts[i][b]), x[j]))
        return found

    # ------------------------------------------------------------------ other tables
    def take(self, which: Indices) -> Self:
        """Return the space over some of its columns, by position."""
        return replace(
            self,
            columns=self.columns[which],
            is_category=self.is_category[which],
            size=self.size[which],
            cuts=tuple(self.cuts[int(i)] for i in which),
        )


def _cuts(x: Floats, n_bins: int) -> Floats:
    values = np.unique(x[~np.isnan(x)])
    bins = min(n_bins, len(values))
    at = np.array([len(values) * b // bins for b in range(1, bins)], dtype=np.intp)
    low, high = values[at - 1], values[at]
    middle = low / 2.0 + high / 2.0
    return np.where((low <= middle) & (middle < high), middle, low)
