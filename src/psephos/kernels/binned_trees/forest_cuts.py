"""Cuts of one column at one node of a tree of a forest: the best, of categories, at random.

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
from psephos.kernels.small_models.tree import GAMMA, draw, mix
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


@jit
def add_categories(column, row, y, w, start, end, n_bins, bins, numbers, classes):
    """Add the node's rows to their cells; return how many categories there are, in ``bins.held``.

    The missing values are one more category.
    """
    cells, count, held, present = bins.cells, bins.rows, bins.held, 0
    for k in range(start, end):
        code = column[row[k]]
        count[code] += 1
        if classes is not None:
            cells[code, y[k]] += w[k]
        if numbers is not None:
            cells[code, 0] += w[k]
            cells[code, 1] += w[k] * y[k]
    for b in range(n_bins + 1):
        held[present] = b
        present += count[b] > 0
    return present


@jit
def clear_categories(bins, present):
    """Make the cells of all listed categories zero again."""
    cells = bins.cells
    for i in range(present):
        b = bins.held[i]
        bins.rows[b] = 0
        for c in range(cells.shape[1]):
            cells[b, c] = 0.0


@jit
def worth_left(crit, sums, weight, w_l, s_l, numbers, classes):
    """Return the worth of a cut from the totals on its left.

    These are ``classes.left``, or `s_l` for numbers; `w_l` is the weight on the left in both cases.
    """
    worth = -np.inf
    if classes is not None:
        terms_l = terms_r = 0.0
        for c in range(len(classes.left)):
            terms_l += rise(crit, 0.0, classes.left[c])
            terms_r += rise(crit, 0.0, sums[c] - classes.left[c])
        worth = side(crit, terms_l, w_l) + side(crit, terms_r, weight - w_l)
    if numbers is not None:
        worth = side_of_sum(crit, s_l, w_l) + side_of_sum(crit, sums[1] - s_l, weight - w_l)
    return worth


@jit
def cut_categories(crit, least, bins, present, m, sums, weight, numbers, classes, mask):
    """Return (worth, varied) of the best set of categories, and write it to `mask` (256,).

    The mask is 1 on the left, 0 on the right, 2 for codes that the node does not hold. For numbers
    (two classes are numbers): the best of all sets, which consists of the first categories in the
    order of their means (Fisher 1958; Breiman et al. 1984, theorem 4.5); ``bins.held`` is sorted in
    that order. For classes: the best of one category against the rest.
    """
    cells, count, held = bins.cells, bins.rows, bins.held
    mask[:] = 2
    for i in range(present):
        b, at = held[i], i
        mask[b] = 0
        if numbers is not None:
            mean = cells[b, 1] / cells[b, 0]
            while at > 0 and cells[held[at - 1], 1] / cells[held[at - 1], 0] > mean:
                held[at] = held[at - 1]
                at -= 1
        held[at] = b
    if present < 2:
        return -np.inf, 0
    best, w_l, s_l, n_l, cut = -np.inf, 0.0, 0.0, 0, -1
    for i in range(present):
        b = held[i]
        if classes is not None:
            w_l, n_l = 0.0, 0
            for c in range(len(classes.left)):
                classes.left[c] = cells[b, c]
                w_l += cells[b, c]
        if numbers is not None:
            if i == present - 1:
                break
            w_l += cells[b, 0]
            s_l += cells[b, 1]
        n_l += count[b]
        if n_l >= least and m - n_l >= least:
            worth = worth_left(crit, sums, weight, w_l, s_l, numbers, classes)
            if worth > best and heavy(crit, w_l, weight):
                best, cut = worth, i
    if cut >= 0:
        for i in range(cut if numbers is None else 0, cut + 1):
            mask[held[i]] = 1
    return best, 1


@jit
def random_set(crit, least, bins, present, m, sums, weight, state, numbers, classes, mask):
    """Return (worth, varied, state) of a random set of the categories present; write `mask`.

    The mask is as in `cut_categories`. Each present category is in the set with probability 1/2,
    among the sets that are neither empty nor all.
    """
    cells, count, held = bins.cells, bins.rows, bins.held
    mask[:] = 2
    if present < 2:
        return -np.inf, 0, state
    inside = 0
    while inside == 0 or inside == present:
        inside = 0
        for i in range(present):
            state, bit = draw(state, 2)
            mask[held[i]] = bit
            inside += bit
    w_l = s_l = 0.0
    n_l = 0
    if classes is not None:
        for c in range(len(classes.left)):
            classes.left[c] = 0.0
    for i in range(present):
        b = held[i]
        if mask[b] == 1:
            n_l += count[b]
            if classes is not None:
                for c in range(len(classes.left)):
                    classes.left[c] += cells[b, c]
                    w_l += cells[b, c]
            if numbers is not None:
                w_l += cells[b, 0]
                s_l += cells[b, 1]
    if n_l < least or m - n_l < least or not heavy(crit, w_l, weight):
        return -np.inf, 1, state
    return worth_left(crit, sums, weight, w_l, s_l, numbers, classes), 1, state


_S11 = np.uint64(11)


class Values(NamedTuple):
    """Scratch (m,) for a column at a node.

    `value`: the values. `side` uint8: 0 where they are at most the place of a cut, 1 above it, and
    2 where they are missing.
    """

    value: NDArray[np.float64]
    side: NDArray[np.uint8]


@jit
def uniform(state):
    """Return the next state and a number in [0, 1), of 53 bits."""
    state = state + GAMMA
    return state, np.float64(mix(state) >> _S11) * 2.0**-53


@jit
def _classes_left(code, at, y, w, start, m, classes):
    """Write the weight per class of the codes up to `at`; return their sum."""
    left, half = classes.left, classes.half
    for c in range(len(left)):
        left[c] = half[c] = 0.0
    for k in range(0, m - 1, 2):  # two sums in turn: adding to one twice in a row waits
        one, two = np.uintp(start + k), np.uintp(start + k + 1)
        left[y[one]] += w[one] if code[k] <= at else 0.0
        half[y[two]] += w[two] if code[k + 1] <= at else 0.0
    if m % 2 == 1:
        left[y[start + m - 1]] += w[start + m - 1] if code[m - 1] <= at else 0.0
    total = 0.0
    for c in range(len(left)):
        left[c] += half[c]
        total += left[c]
    return total


@jit
def ends_of(column, n_bins, row, start, m, code):
    """Write the codes of a node's m rows; return (first, last, kinds).

    The first two are the least and the greatest known code; `kinds` is 0 if all rows have one
    code, 1 if several known ones, and 2 if values are missing, too.
    """
    first, last = np.uint8(255), np.uint8(0)
    for k in range(m):
        c = column[row[np.uintp(start + k)]]
        code[k] = c
        first = c if c < first else first
        last = c if c > last else last
    if first == last:
        return first, last, 0
    if last < n_bins:
        return first, last, 1
    last = np.uint8(0)
    for k in range(m):
        known = code[k] if code[k] != n_bins else np.uint8(0)
        last = known if known > last else last
    return first, last, 2


@jit
def place_between(low, high, u):
    """Return the place u in [0, 1) of the way from one number to another."""
    place = low + u * (high - low)
    # The difference of the ends may be infinite.
    return place if place < np.inf else (1.0 - u) * low + u * high


@jit
def aim_at_values(column, row, start, m, u, values):
    """Draw a cut of a column of values; return (place, kinds), with `kinds` as in `ends_of`.

    The place is the fraction u in [0, 1) of the way from the least to the greatest value of a
    node's m rows; infinite if these are equal. ``values.side`` gets the sides of the rows.
    """
    value, code = values
    low, high, known = np.inf, -np.inf, 0
    for k in range(m):
        v = np.float64(column[row[np.uintp(start + k)]])
        value[k] = v
        known += not np.isnan(v)
    for k in range(m):  # a missing value is neither less nor more
        low = value[k] if value[k] < low else low
        high = value[k] if value[k] > high else high
    if not low < high:
        for k in range(m):
            code[k] = 0 if value[k] == low else 2
        return np.inf, 2 if 0 < known < m else 0
    place = place_between(low, high, u)
    if not place < high:  # rounded up: the greatest value of the column below the greatest here
        place = low
        for i in range(len(column)):
            v = np.float64(column[i])
            place = v if place < v and v < high else place
    for k in range(m):
        code[k] = value[k] > place
    if known == m:
        return place, 1
    for k in range(m):
        code[k] = np.uint8(2) if np.isnan(value[k]) else code[k]
    return place, 2


@jit
def settle(low, high, at, following, wanted):
    """Return (bin, threshold) of a cut of `random_cut` at the place that it returned.

    `at` is a bin on the left and `following` the first that the node has on the right. Values of
    bins up to the one returned are at most the threshold, and others are above it: a place inside
    a bin moves to the gap after it.
    """
    while at + 1 < following and low[at + 1] <= wanted:
        at += 1
    return at, wanted if high[at] <= wanted and wanted < low[at + 1] else high[at]


@jit
def last_left(low, first, last, wanted):
    """Return the last bin left of a place, among those from `first` up to the one before `last`."""
    at, end = np.int64(first), np.int64(last) - 1
    while at < end:
        middle = (at + end + 1) // 2
        if low[middle] <= wanted:
            at = middle
        else:
            end = middle - 1
    return at


@jit(fastmath={"reassoc"})
def random_cut(crit, least, n_bins, at, both, code, y, w, start, m, sums, weight, numbers, classes):
    """Return (worth, missing left) of the cut after the bin `at`.

    `code` are the node's rows. Missing values are on the right, or if `both` on the better side.
    """
    best, missing_left = -np.inf, False
    for missing_first in range(2 if both else 1):
        w_l = s_l = 0.0
        n_l = least
        if missing_first == 1:  # as if they were below all others
            for k in range(m):
                code[k] = 0 if code[k] == n_bins else code[k]
        if classes is not None:
            w_l = _classes_left(code, at, y, w, start, m, classes)
        if numbers is not None:
            for k in range(m):
                add = w[np.uintp(start + k)] if code[k] <= at else 0.0
                w_l += add
                s_l += add * y[np.uintp(start + k)]
        if least > 1:
            n_l = 0
            for k in range(m):
                n_l += code[k] <= at
        if n_l >= least and m - n_l >= least and heavy(crit, w_l, weight):
            worth = worth_left(crit, sums, weight, w_l, s_l, numbers, classes)
            if worth > best:
                best, missing_left = worth, missing_first == 1
    return best, missing_left
