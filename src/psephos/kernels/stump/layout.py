"""Presorting columns for the stump search.

The order of one column is a row of row numbers; the top bit of an entry says "a threshold may
lie after me". Columns stand in blocks of eight, interleaved as (block, n, 8), so that eight
independent running sums walk through memory together. An entry of a table below 512 rows takes ten
bits (``packing_of``): a third less is read than of 16.

The sort is NumPy's, of whole numbers that carry a number's leading bits above its row number: it
uses the processor's vectors, and nothing has to be compiled before the first fit.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit
from psephos.kernels.stump.lanes import LANES, Packing, packings

__all__ = [
    "LANES",
    "SortedColumns",
    "entry_at",
    "mark_first",
    "no_orders",
    "order_type",
    "packing_of",
    "place",
    "sort_columns",
    "thresholds_in",
]

_MARGIN = 32  # bytes that a load of eight entries may reach beyond the last


class SortedColumns(NamedTuple):
    """Orders of some columns.

    ``pure`` (a,) are the positions of columns without ties and missing values, ``pure_rows``
    (a, n) their orders without flags; ``tied`` (b,) and ``tied_rows`` (b, n) are the others, with
    flags, but for columns in which no threshold is admissible. ``n_present`` (c,) counts the
    numbers of every column.
    """

    pure: NDArray[np.int64]
    pure_rows: NDArray[Any]
    tied: NDArray[np.int64]
    tied_rows: NDArray[Any]
    n_present: NDArray[np.int64]


def packing_of(n_rows: int) -> Packing:
    """Return the narrowest entry with room for the rows, one padding row and the flag."""
    return next(p for p in packings if n_rows < 1 << (p.bits - 1))


def order_type(n_rows: int) -> type[np.uint16] | type[np.uint32]:
    """Type of an entry before it is packed."""
    return np.uint16 if packing_of(n_rows).bits <= 16 else np.uint32


def no_orders(n_blocks: int, n_rows: int) -> NDArray[np.uint8]:
    """Room for blocks of packed orders, nothing placed: a block takes ``n bits`` bytes."""
    return np.zeros(n_blocks * n_rows * packing_of(n_rows).bits + _MARGIN, np.uint8)


def sort_columns(values: NDArray[np.float64]) -> SortedColumns:
    """Sort columns given as rows of ``values`` (c, n), NaN being missing.

    Missing rows are replaced by the padding row n, which carries no weight.
    """
    c, n = values.shape
    dtype = order_type(n)
    absent = np.isnan(values)
    any_absent = bool(absent.any())
    rows, cut = _sort_keys(values, absent if any_absent else None, dtype)
    n_present = np.full(c, n, np.int64)
    # Two equal neighbours in leading bits are ties or near-ties: those columns are looked at again.
    doubtful: NDArray[np.bool_] = np.logical_not(cut[:, :-1].all(axis=1))
    if any_absent:
        n_present -= np.count_nonzero(absent, axis=1)
        doubtful |= n_present < n
    again = np.flatnonzero(doubtful)
    if not len(again):
        return SortedColumns(np.arange(c), rows, again, rows[:0], n_present)
    flagged = rows[again]
    n_cuts = _flag(values[again], flagged, cut[again], n_present[again])
    pure = (n_cuts == n - 1) & (n_present[again] == n)
    tied = (n_cuts > 0) & ~pure
    doubtful[again[pure]] = False
    rows[again[pure]] = flagged[pure] & dtype((1 << (packing_of(n).bits - 1)) - 1)
    alone = np.flatnonzero(~doubtful)
    return SortedColumns(alone, rows[alone], again[tied], flagged[tied], n_present)


def _low_bits(n: int) -> np.int64:
    """Mask of the bits that give way to a row number."""
    return np.int64((1 << n.bit_length()) - 1)


def _sort_keys(
    values: NDArray[np.float64], absent: NDArray[np.bool_] | None, dtype: Any
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Sort by leading bits: row numbers (c, n), and which differ from the next one's (c, n)."""
    n = values.shape[1]
    key = (values + 0.0).view(np.int64)  # zero and negative zero are one value
    # Read as a whole number, a float of either sign is in order but for the negatives' mantissa.
    spare = key >> np.int64(63)
    spare &= np.int64(2**63 - 1)
    key ^= spare
    if absent is not None:
        key[absent] = 2**63 - 1
    low = _low_bits(n)
    key &= ~low
    key |= np.arange(n)
    key.sort(axis=1)
    np.bitwise_and(key, low, out=spare)
    rows = spare.astype(dtype)
    key |= low
    cut = np.zeros(rows.shape, np.bool_)
    np.greater(key[:, 1:], key[:, :-1], out=cut[:, :-1])
    return rows, cut


def _flag(
    values: NDArray[np.float64],
    rows: NDArray[Any],
    cut: NDArray[np.bool_],
    n_present: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Finish the orders ``rows`` (c, n) sorted by leading bits, and flag them in place.

    Returns the number of admissible thresholds (c,). ``cut`` (c, n) may be overwritten.
    """
    n = values.shape[1]
    if (values.view(np.int64) & _low_bits(n)).any():
        numbers = np.empty(values.shape)
        for x, order, out in zip(values, rows, numbers, strict=True):
            np.take(x, order, out=out, mode="clip")  # by column: half the time of one call
        wrong = np.flatnonzero((numbers[:, 1:] < numbers[:, :-1]).any(axis=1))
        if len(wrong):
            order = np.argsort(values[wrong], axis=1, kind="stable")  # NaN last
            rows[wrong] = order
            numbers[wrong] = np.take_along_axis(values[wrong], order, axis=1)
        np.greater(numbers[:, 1:], numbers[:, :-1], out=cut[:, :-1])
        parted = np.flatnonzero((n_present < n) & (n_present > 0))
        cut[parted, n_present[parted] - 1] = True  # "present or missing"
    # Else the leading bits are the numbers themselves, and missing is the greatest of them.
    if (n_present < n).any():
        rows[np.arange(n) >= n_present[:, None]] = n
    rows |= cut * rows.dtype.type(1 << (packing_of(n).bits - 1))
    return np.count_nonzero(cut, axis=1)


@jit(_nrt=False)
def place(rows, first, bits, out):
    """Pack orders (c, n) into the lanes ``first``, ``first + 1`` ... of ``out``, zeros so far."""
    n, end, slot = rows.shape[1], first + rows.shape[0], first
    while slot < end:
        lane = slot % LANES
        behind = min(LANES, lane + end - slot)
        for k in range(n):
            at = (slot // LANES * n + k) * bits + lane * bits // 8
            filled = lane * bits % 8
            held = np.int64(out[at]) if filled else np.int64(0)  # the lane before ends in this byte
            for r in range(slot - first, slot - first + behind - lane):
                held |= np.int64(rows[r, k]) << filled
                filled += bits
                while filled >= 8:
                    out[at] = held & 255
                    held >>= 8
                    filled -= 8
                    at += 1
            if filled:  # and the lane after begins in this one
                out[at] |= held
        slot += behind - lane


@jit(_nrt=False)
def entry_at(order, n, bits, slot, k):
    """Entry k of the order in this lane, as ``place`` was given it."""
    bit = slot % LANES * bits
    at = (slot // LANES * n + k) * bits + bit // 8
    entry = np.int64(0)
    for b in range(4):
        entry |= np.int64(order[at + b]) << (8 * b)
    return (entry >> (bit % 8)) & ((np.int64(1) << bits) - 1)


@jit(_nrt=False)
def mark_first(order, n, bits, slot, count, out):
    """Set ``out`` at the rows of the first ``count`` entries of the order in this lane."""
    mask = (np.int64(1) << (bits - 1)) - 1
    for k in range(count):
        out[entry_at(order, n, bits, slot, k) & mask] = True


@jit(_nrt=False)
def thresholds_in(order, n, bits, slot):
    """Count the entries flagged in this lane."""
    count = 0
    for k in range(n):
        count += entry_at(order, n, bits, slot, k) >> (bits - 1)
    return count
