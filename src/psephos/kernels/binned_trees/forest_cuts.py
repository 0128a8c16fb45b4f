"""The best cut of one column of codes at one node of a tree.

A node is the rows ``row[start : end]`` with their answers `y` and weights `w` in the same places.
The code ``n_bins`` of a column, after those of its bins, is for missing values. A cut is the last
bin on its left. Missing values are tried on both sides, and alone on the right.

Each function returns (worth, last bin on the left, missing left, varied): `worth` is -inf where
there is no cut, `varied` is 1 if the node holds two different codes. ``crit.least`` is the least
weight of a side, and `least` the least number of rows.

Answers are numbers where `numbers` is given and class codes where `classes` is; the other is None.
Numba knows at compile time which arguments are None and leaves out the branches for them, but only
if the test is written ``is not None``. `sums` are the node's weight and its sum of w y, or its
weight per class; `terms` is the value of `rise` for the weights per class (0 for numbers).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.numerics.criteria import rise, side, side_of_sum
from psephos.runtime.jit import jit


class BinSums(NamedTuple):
    """Sums of a node's rows by bin; zeroed after each use.

    `cells` (256, C): the weight and the sum of w y, or the weight per class.
    `rows` (256,) int64: the number of rows. `seen` (256,) uint8: 1 for the codes that the node
    holds; `words` (32,) uint64 is the same memory. `held` (257,) int64: these codes, ascending.
    """

    cells: NDArray[np.generic]
    rows: NDArray[np.int64]
    seen: NDArray[np.uint8]
    words: NDArray[np.uint64]
    held: NDArray[np.int64]


class ClassScratch(NamedTuple):
    """Scratch (C,) for the totals of classes: of the left side, and of a half of the rows."""

    left: NDArray[np.float64]
    half: NDArray[np.float64]


@jit(fastmath={"reassoc"})
def total_of(y, w, start, end, out, numbers, classes):
    """Write the totals of a node to out (C,); return its weight and whether all rows are equal."""
    weight = 0.0
    pure = False
    if numbers is not None:
        total, differ = 0.0, False
        for k in range(start, end):
            weight += w[k]
            total += w[k] * y[k]
            differ |= y[k] != y[start]
        out[0], out[1], pure = weight, total, not differ
    if classes is not None:
        half, held = classes.half, 0
        out[:] = 0.0
        half[:] = 0.0
        for k in range(start, end - 1, 2):  # two sums in turn: adding to one twice in a row waits
            one, two = np.uintp(k), np.uintp(k + 1)
            out[y[one]] += w[one]
            half[y[two]] += w[two]
        if (end - start) % 2 == 1:
            out[y[end - 1]] += w[end - 1]
        for c in range(len(half)):
            out[c] += half[c]
            weight += out[c]
            held += out[c] > 0.0
        pure = held == 1
    return weight, pure


@jit
def heavy(crit, w_l, weight):
    """Return whether both sides have a positive weight that is at least the criterion's."""
    rest = weight - w_l  # 0 where light rows are lost in rounding
    return w_l > 0.0 and rest > 0.0 and w_l >= crit.least and rest >= crit.least


@jit
def list_codes(bins):
    """Write the codes marked in ``bins.seen`` to ``bins.held``, clear the marks; return a count."""
    words, seen, held, present = bins.words, bins.seen, bins.held, 0
    for q in range(32):
        if words[q] != np.uint64(0):  # often none of eight codes occurs
            for b in range(8 * q, 8 * q + 8):
                held[present] = b
                present += seen[b]
            words[q] = np.uint64(0)
    return present


@jit
def add_rows(column, row, y, w, start, end, counting, bins, numbers, classes):
    """Add the node's rows to the cells of their codes, and mark the codes as seen."""
    cells, count, seen = bins.cells, bins.rows, bins.seen
    if counting:
        for k in range(start, end):
            count[column[row[k]]] += 1
    if classes is not None:
        for k in range(end - start):
            here = np.uintp(start + k)  # an unsigned index needs no test for a negative one
            code = column[row[here]]
            seen[code] = 1
            cells[code, y[here]] += w[here]
    if numbers is not None:
        for k in range(start, end):
            code, add = column[row[k]], w[k]
            seen[code] = 1
            cells[code, 0] += add
            cells[code, 1] += add * y[k]


@jit(fastmath={"reassoc"}, forceinline=True)
def _move_bin(crit, cells, b, sums, left):
    """Add a bin to the left side; return the changes of the left and right terms and its weight."""
    up = down = weight = 0.0
    for c in range(len(left)):
        add, before = cells[b, c], left[c]
        rest = sums[c] - before
        up += rise(crit, before, before + add)
        down += rise(crit, rest, rest - add)
        left[c] = before + add
        weight += add
    return up, down, weight


@jit(forceinline=True)
def cut_many(crit, least, n_bins, bins, m, sums, weight, terms, numbers, classes):
    """Return the best cut of the cells of `add_rows`, and make them zero."""
    cells, count, held = bins.cells, bins.rows, bins.held
    best, low, missing_left = -np.inf, -1, False
    present = list_codes(bins)
    lacks = present > 1 and held[present - 1] == n_bins
    for missing_first in range(2 if lacks else 1):
        w_l = s_l = terms_l = 0.0
        terms_r, n_l = terms, 0
        if classes is not None:
            for c in range(len(classes.left)):
                classes.left[c] = 0.0
        for step in range(present - 1):
            b = held[step]
            if missing_first == 1:
                b = n_bins if step == 0 else held[step - 1]
            n_l += count[b]
            worth = -np.inf
            if classes is not None:
                up, down, add = _move_bin(crit, cells, b, sums, classes.left)
                terms_l += up
                terms_r += down
                w_l += add
                worth = side(crit, terms_l, w_l) + side(crit, terms_r, weight - w_l)
            if numbers is not None:
                w_l += cells[b, 0]
                s_l += cells[b, 1]
                worth = side_of_sum(crit, s_l, w_l)
                worth += side_of_sum(crit, sums[1] - s_l, weight - w_l)
            # Missing values alone on the left are the cut that has them alone on the right.
            enough = least <= 1 or (n_l >= least and m - n_l >= least)
            if worth > best and b != n_bins and enough and heavy(crit, w_l, weight):
                best, low, missing_left = worth, b, missing_first == 1
    for i in range(present):
        b = held[i]
        count[b] = 0
        for c in range(cells.shape[1]):
            cells[b, c] = 0.0
    return best, low, missing_left, 1 if present > 1 else 0
