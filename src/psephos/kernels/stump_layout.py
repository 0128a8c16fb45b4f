"""Presorting columns for the stump search.

The order of one column is a row of row numbers; the top bit of an entry says "a threshold may
lie after me". Columns stand in blocks of eight, interleaved as (block, n, 8), so that eight
independent running sums walk through memory together.

The sort is NumPy's, of whole numbers that carry a number's leading bits above its row number: it
uses the processor's vectors, and nothing has to be compiled before the first fit.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LANES", "SortedColumns", "flag_of", "order_type", "place", "sort_columns"]

LANES = 8


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


def order_type(n_rows: int) -> type[np.uint16] | type[np.uint32]:
    """Smallest unsigned type with room for the rows, one padding row and the flag bit."""
    return np.uint16 if n_rows < 2**15 else np.uint32


def flag_of(dtype: type[np.unsignedinteger]) -> int:
    """Return the bit that marks an admissible threshold."""
    return 1 << (8 * np.dtype(dtype).itemsize - 1)


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
    rows[again[pure]] = flagged[pure] & (flag_of(dtype) - 1)
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
    rows |= cut * rows.dtype.type(flag_of(rows.dtype.type))
    return np.count_nonzero(cut, axis=1)


def place(rows: NDArray[Any], first: int, out: NDArray[Any]) -> None:
    """Copy orders (c, n) into the slots ``first``, ``first + 1`` ... of ``out`` (blocks, n, 8)."""
    at, end = first, first + len(rows)
    while at < end:
        if at % LANES or end - at < LANES:
            out[at // LANES, :, at % LANES] = rows[at - first]
            at += 1
        else:
            blocks = (end - at) // LANES
            part = rows[at - first : at - first + blocks * LANES]
            turned = part.reshape(blocks, LANES, -1).transpose(0, 2, 1)
            out[at // LANES : at // LANES + blocks] = turned
            at += blocks * LANES
