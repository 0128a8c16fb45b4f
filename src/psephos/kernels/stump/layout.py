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

from psephos.kernels.stump.lanes import LANES

__all__ = ["LANES", "SortedColumns", "flag_of", "no_orders", "order_type", "place", "sort_columns"]


class SortedColumns(NamedTuple):
    """Orders of some columns.

    ``kept`` (a,) are the positions of the columns in which a threshold is admissible, ``rows``
    (a, n) their orders, with flags. ``n_present`` (c,) counts the numbers of every column.
    """

    kept: NDArray[np.int64]
    rows: NDArray[Any]
    n_present: NDArray[np.int64]


def order_type(n_rows: int) -> type[np.uint16] | type[np.uint32]:
    """Type of an entry: large enough for the rows, one padding row and the flag."""
    return np.uint16 if n_rows < 2**15 else np.uint32


def flag_of(order: NDArray[Any]) -> int:
    """Return the flag of an entry: its top bit."""
    return 1 << (8 * order.dtype.itemsize - 1)


def no_orders(n_columns: int, n_rows: int) -> NDArray[Any]:
    """Return an empty array (blocks, n, 8) for the orders of so many columns."""
    return np.empty((-(-n_columns // LANES), n_rows, LANES), order_type(n_rows))


def sort_columns(values: NDArray[np.float64]) -> SortedColumns:
    """Sort columns given as rows of ``values`` (c, n), NaN being missing.

    Missing rows are replaced by the padding row n, which carries no weight.
    """
    c, n = values.shape
    absent = np.isnan(values)
    any_absent = bool(absent.any())
    rows, cut = _sort_keys(values, absent if any_absent else None, order_type(n))
    n_present = np.full(c, n, np.int64)
    # Two equal neighbours in leading bits are ties or near-ties: those columns are looked at again.
    doubtful: NDArray[np.bool_] = np.logical_not(cut[:, :-1].all(axis=1))
    if any_absent:
        n_present -= np.count_nonzero(absent, axis=1)
        doubtful |= n_present < n
    again = np.flatnonzero(doubtful)
    if len(again):
        rows[again], cut[again] = _settled(values[again], rows[again], cut[again], n_present[again])
    np.bitwise_or(rows, rows.dtype.type(flag_of(rows)), out=rows, where=cut)
    kept = np.flatnonzero(cut.any(axis=1))
    return SortedColumns(kept, rows if len(kept) == c else rows[kept], n_present)


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


def _settled(
    values: NDArray[np.float64],
    rows: NDArray[Any],
    cut: NDArray[np.bool_],
    n_present: NDArray[np.int64],
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Finish orders (c, n) sorted by leading bits, and where thresholds may lie; both in place."""
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
    return rows, cut


def place(rows: NDArray[Any], first: int, out: NDArray[Any]) -> None:
    """Put orders (c, n) into the lanes ``first``, ``first + 1`` ... of ``out``."""
    at = first + np.arange(len(rows))
    out[at // LANES, :, at % LANES] = rows
