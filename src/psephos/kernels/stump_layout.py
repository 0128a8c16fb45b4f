"""Presorting columns for the stump search.

The order of one column is a row of row numbers; the top bit of an entry says "a threshold may
lie after me". Columns stand in blocks of eight, interleaved as (block, n, 8), so that eight
independent running sums walk through memory together.
"""

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit

__all__ = ["LANES", "flag_of", "flag_one", "order_type", "place", "sort_rows"]

LANES = 8


def order_type(n_rows: int) -> type[np.uint16] | type[np.uint32]:
    """Smallest unsigned type with room for the rows, one padding row and the flag bit."""
    return np.uint16 if n_rows < 2**15 else np.uint32


def flag_of(order: NDArray[np.unsignedinteger]) -> int:
    """Return the bit that marks an admissible threshold."""
    return 1 << (8 * order.dtype.itemsize - 1)


@jit
def _coarse_words(bits, keys, words, width):
    """Words ``key << 32 | row`` whose keys, at most ``width`` bits, sort nearly like the numbers.

    ``bits`` (n,) uint32 are float32 bit patterns, ``keys`` (n,) room to work. Returns the number of
    rows that are not missing.
    """
    n = bits.shape[0]
    sign = np.uint32(1 << 31)
    infinity = np.uint32(0x7F800000)
    low, high = np.uint32(0xFFFFFFFF), np.uint32(0)
    for i in range(n):
        b = bits[i]
        b = np.uint32(0) if b == sign else b  # zero and negative zero are one value
        b = np.uint32(~b) if b >= sign else np.uint32(b | sign)
        keys[i] = b
    missing = 0
    for i in range(n):
        if (bits[i] & ~sign) > infinity:
            missing += 1
        else:
            low = min(low, keys[i])
            high = max(high, keys[i])
    shift = np.uint64(0)
    while missing < n and (np.uint64(high - low) >> shift) >= np.uint64(1 << width):
        shift += np.uint64(1)
    if missing == 0:
        for i in range(n):
            key = np.uint64(np.uint32(keys[i] - low)) >> shift
            words[i] = (key << np.uint64(32)) | np.uint64(i)
        return n
    present = 0
    for i in range(n):
        if (bits[i] & ~sign) <= infinity:
            key = np.uint64(np.uint32(keys[i] - low)) >> shift
            words[present] = (key << np.uint64(32)) | np.uint64(i)
            present += 1
    return present


@jit
def _radix_pass(words, present, shift, digit, count, out):
    """Stable counting sort by one digit; unsigned indices spare a test for negative ones."""
    down = np.uint64(shift)
    mask = np.uint64((1 << digit) - 1)
    count[:] = 0
    for k in range(present):
        count[(words[k] >> down) & mask] += np.uint32(1)
    start = np.uint32(0)
    for d in range(1 << digit):
        here = count[d]
        count[d] = start
        start = np.uint32(start + here)
    for k in range(present):
        word = words[k]
        d = (word >> down) & mask
        at = count[d]
        count[d] = np.uint32(at + np.uint32(1))
        out[at] = word


@jit
def sort_rows(values, bits, digit, order, flag, n_present, n_cuts):
    """Write flagged orders of some columns, and count present rows and thresholds.

    Two passes of a radix sort on coarse keys bring the rows nearly into place, an insertion sort
    on the numbers themselves does the rest. Missing rows are replaced by the padding row n, which
    carries no weight. A column whose numbers agree in too many leading bits is marked by
    ``n_present = -1`` and left to the caller.

    Parameters
    ----------
    values : (c, n) float64
    bits : (c, n) uint32, the same rounded to float32
    digit : int, bits of one pass of the radix sort
    order : (c, n) unsigned, result
    flag : int, top bit of an entry of ``order``
    n_present, n_cuts : (c,) int64, results
    """
    n = values.shape[1]
    keys = np.empty(n, np.uint32)
    words, spare = np.empty(n, np.uint64), np.empty(n, np.uint64)
    rows, numbers = np.empty(n, np.int64), np.empty(n)
    count = np.empty(1 << digit, np.uint32)
    for j in range(values.shape[0]):
        present = _coarse_words(bits[j], keys, words, 2 * digit)
        for step in range(2):
            _radix_pass(words, present, 32 + step * digit, digit, count, spare)
            words, spare = spare, words
        for k in range(present):
            rows[k] = np.int64(words[k] & np.uint64(0xFFFFFFFF))
            numbers[k] = values[j, rows[k]]
        moves = 0
        for k in range(1, present):
            x = numbers[k]
            if numbers[k - 1] > x:
                row = rows[k]
                at = k
                while at > 0 and numbers[at - 1] > x:
                    rows[at] = rows[at - 1]
                    numbers[at] = numbers[at - 1]
                    at -= 1
                rows[at] = row
                numbers[at] = x
                moves += k - at
                if moves > 16 * n:
                    break
        if moves > 16 * n:
            n_present[j] = -1
        else:
            _flag_rows(numbers, rows, present, order[j], flag, n_present, n_cuts, j)


@jit
def _flag_rows(numbers, rows, present, order, flag, n_present, n_cuts, j):
    n = order.shape[0]
    cuts = 0
    for k in range(present - 1):
        cut = np.int64(numbers[k + 1] > numbers[k])
        order[k] = rows[k] + flag * cut
        cuts += cut
    if present > 0:
        cut = np.int64(present < n)
        order[present - 1] = rows[present - 1] + flag * cut
        cuts += cut
    for k in range(present, n):
        order[k] = n
    n_present[j] = present
    n_cuts[j] = cuts


@jit
def flag_one(rows, numbers, order, flag, n_present, n_cuts, j):
    """Flag one column whose rows and numbers were sorted elsewhere (missing rows last)."""
    present = numbers.shape[0]
    while present > 0 and np.isnan(numbers[present - 1]):
        present -= 1
    _flag_rows(numbers, rows, present, order, flag, n_present, n_cuts, j)


@jit
def place(order, which, slots, clear, out):
    """Copy orders (c, n) of the columns ``which`` into their slots of ``out`` (blocks, n, 8).

    ``clear`` is the mask of the bits to keep: blocks without ties need no flags.
    """
    for w in range(which.shape[0]):
        block, lane = slots[w] // 8, slots[w] % 8
        for k in range(order.shape[1]):
            out[block, k, lane] = order[which[w], k] & clear
