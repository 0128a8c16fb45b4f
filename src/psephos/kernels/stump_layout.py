"""Presorting columns for the stump search.

The order of one column is a row of row numbers; the top bit of an entry says "a threshold may
lie after me". Columns stand in blocks of eight, interleaved as (block, n, 8), so that eight
independent running sums walk through memory together.
"""

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit

__all__ = ["LANES", "flag_of", "make_keys", "order_type", "place", "unpack"]

LANES = 8


def order_type(n_rows: int) -> type[np.uint16] | type[np.uint32]:
    """Smallest unsigned type with room for the rows, one padding row and the flag bit."""
    return np.uint16 if n_rows < 2**15 else np.uint32


def flag_of(order: NDArray[np.unsignedinteger]) -> int:
    """Return the bit that marks an admissible threshold."""
    return 1 << (8 * order.dtype.itemsize - 1)


@jit
def make_keys(bits, shift, keys):
    """Integer keys that sort like the numbers: a truncated value above, the row below.

    ``bits`` (c, n) uint64 are the float64 bit patterns; the lowest ``shift`` bits make room for
    the row. Sorting plain integers is several times faster than an argsort; the few values that
    agree in all kept bits are put right by ``unpack``.
    """
    sign = np.uint64(1) << np.uint64(63)
    infinity = np.uint64(0x7FF0000000000000)
    room = np.uint64(shift)
    for j in range(bits.shape[0]):
        for i in range(bits.shape[1]):
            b = bits[j, i]
            magnitude = b & ~sign
            if magnitude == np.uint64(0):
                b = sign  # zero and negative zero are one value
            elif magnitude > infinity:
                b = ~np.uint64(0)  # not a number: last
            elif b & sign:
                b = ~b
            else:
                b = b | sign
            keys[j, i] = ((b >> room) << room) | np.uint64(i)


@jit
def unpack(keys, values, shift, order, flag, n_present, n_cuts):
    """Turn sorted keys into flagged orders; count present rows and admissible thresholds.

    Missing rows are replaced by the padding row n, which carries no weight. A column whose
    values agree in too many leading bits to be repaired cheaply is marked by ``n_present = -1``.
    """
    n = keys.shape[1]
    room = np.uint64(shift)
    low = (np.uint64(1) << room) - np.uint64(1)
    rows = np.empty(n, np.int64)
    for j in range(keys.shape[0]):
        present = n
        moves = 0
        for k in range(n):
            row = np.int64(keys[j, k] & low)
            x = values[j, row]
            if np.isnan(x):
                present = k
                break
            at = k
            while at > 0 and values[j, rows[at - 1]] > x:
                rows[at] = rows[at - 1]
                at -= 1
                moves += 1
            rows[at] = row
            if moves > 16 * n:
                break
        if moves > 16 * n:
            n_present[j] = -1
            continue
        _flag_rows(values[j], rows, present, order[j], flag, n_present, n_cuts, j)


@jit
def _flag_rows(values, rows, present, order, flag, n_present, n_cuts, j):
    n = order.shape[0]
    cuts = 0
    for k in range(present):
        last = k == present - 1
        if (last and present < n) or (not last and values[rows[k + 1]] > values[rows[k]]):
            order[k] = rows[k] + flag
            cuts += 1
        else:
            order[k] = rows[k]
    for k in range(present, n):
        order[k] = n
    n_present[j] = present
    n_cuts[j] = cuts


@jit
def unpack_one(rows, values, order, flag, n_present, n_cuts, j):
    """Flag one column whose rows were sorted elsewhere (missing rows last)."""
    present = values.shape[0]
    while present > 0 and np.isnan(values[rows[present - 1]]):
        present -= 1
    _flag_rows(values, rows, present, order, flag, n_present, n_cuts, j)


@jit
def place(order, which, slots, clear, out):
    """Copy orders (c, n) of the columns ``which`` into their slots of ``out`` (blocks, n, 8).

    ``clear`` is the mask of the bits to keep: blocks without ties need no flags.
    """
    for w in range(which.shape[0]):
        block, lane = slots[w] // 8, slots[w] % 8
        for k in range(order.shape[1]):
            out[block, k, lane] = order[which[w], k] & clear
