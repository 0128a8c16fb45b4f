"""The best cut of one column of codes at one node of a tree.

A node is the rows ``row[start : end]`` with their answers `y` and weights `w` in the same places.
The code ``n_bins`` of a column, after those of its bins, is for missing values.

Each function returns (worth, last bin on the left, first bin on the right, missing left, varied):
`worth` is -inf where there is no cut; the first bin on the right is ``n_bins`` where only missing
values are there; `varied` is 1 if the node holds two different codes. Missing values are tried on
both sides, and alone on the right. The first of equal cuts wins.

Answers are class codes where `left` is an array (n_classes,) of scratch, numbers where it is None;
`sums` are the node's weight a class, or its weight and its sum of w y, and `terms` what `rise`
makes of the former (0 for numbers). ``crit.least`` is the least weight of a side, and `least` the
least number of rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit
from psephos.kernels.criteria import rise, side

__all__ = [
    "BinSums",
    "clear",
    "cut_categories",
    "cut_counted",
    "cut_sorted",
    "heavy",
    "order_rows",
    "tally",
    "worth_left",
]


class BinSums(NamedTuple):
    """Totals a bin: `cells` (256, C), the weight a class, or the weight and the sum of w y.

    `twin` is like `cells`, and zero but for a moment. `rows` (256,) int64, how many; `seen` (256,)
    uint8, whether the node holds the code; `held` (257,) int64, the codes that it holds.
    """

    cells: NDArray[np.float64]
    twin: NDArray[np.float64]
    rows: NDArray[np.int64]
    seen: NDArray[np.uint8]
    held: NDArray[np.int64]


_MANY = 2048  # rows of a node
_CODE, _PLACE = 32, 0xFFFFFFFF  # a key is the code, then the place of the row


@jit(_nrt=False)
def heavy(crit, w_l, weight):
    """Return whether both sides have the least weight of the criterion."""
    return w_l >= crit.least and weight - w_l >= crit.least


@jit(_nrt=False)
def order_rows(column, row, start, end, n_bins, key, spare, place):
    """Write to ``key[: end - start]`` the node's rows as ``code << 32 | place``, sorted."""
    m = end - start
    if m <= 32:
        for k in range(m):
            new = (np.int64(column[row[start + k]]) << _CODE) | k
            at = k
            while at > 0 and key[at - 1] > new:
                key[at] = key[at - 1]
                at -= 1
            key[at] = new
        return
    for b in range(n_bins + 2):
        place[b] = 0
    for k in range(m):
        code = np.int64(column[row[start + k]])
        spare[k] = (code << _CODE) | k
        place[code + 1] += 1
    for b in range(n_bins + 1):
        place[b + 1] += place[b]
    for k in range(m):
        code = spare[k] >> _CODE
        key[place[code]] = spare[k]
        place[code] += 1


@jit(_nrt=False)
def _whole_sorted(crit, least, key, y, w, start, m, sums, weight, terms, left):
    """`cut_sorted` where no value is missing and the first code is not the last."""
    best, low, high = -np.inf, -1, -1
    if left is None:
        w_l = s_l = 0.0
        code = key[0] >> _CODE
        for k in range(m - least):
            at = start + (key[k] & _PLACE)
            w_l += w[at]
            s_l += w[at] * y[at]
            following = key[k + 1] >> _CODE
            if code != following and k + 1 >= least:
                worth = side(crit, s_l, w_l) + side(crit, sums[1] - s_l, weight - w_l)
                if worth > best and heavy(crit, w_l, weight):
                    best, low, high = worth, code, following
            code = following
    else:
        left[:] = 0.0
        w_l = terms_l = 0.0
        terms_r = terms
        code = key[0] >> _CODE
        for k in range(m - least):
            at = start + (key[k] & _PLACE)
            add, c = w[at], y[at]
            before = left[c]
            rest = sums[c] - before
            terms_l += rise(crit, before, before + add)
            terms_r += rise(crit, rest, rest - add)
            left[c] = before + add
            w_l += add
            following = key[k + 1] >> _CODE
            if code != following and k + 1 >= least:
                worth = side(crit, terms_l, w_l) + side(crit, terms_r, weight - w_l)
                if worth > best and heavy(crit, w_l, weight):
                    best, low, high = worth, code, following
            code = following
    return best, low, high, False, 1


@jit(_nrt=False)
def cut_sorted(crit, least, n_bins, key, y, w, start, end, sums, weight, terms, left):
    """Return the best cut of rows sorted by `order_rows`: for nodes of few rows."""
    m = end - start
    best, low, high, missing_left = -np.inf, -1, -1, False
    if key[0] >> _CODE == key[m - 1] >> _CODE:
        return best, low, high, missing_left, 0
    known = m
    while key[known - 1] >> _CODE == n_bins:
        known -= 1
    if known == m:
        return _whole_sorted(crit, least, key, y, w, start, m, sums, weight, terms, left)
    for missing_first in range(2):
        w_l = s_l = terms_l = 0.0
        terms_r, n_l = terms, 0
        if left is not None:
            left[:] = 0.0
        for step in range(m):
            # The missing ones first, or last.
            k = step
            if missing_first == 1:
                k = step + known if step < m - known else step - (m - known)
            at = start + (key[k] & _PLACE)
            add = w[at]
            if left is not None:
                c = y[at]
                before = left[c]
                rest = sums[c] - before
                terms_l += rise(crit, before, before + add)
                terms_r += rise(crit, rest, rest - add)
                left[c] = before + add
            else:
                s_l += add * y[at]
            w_l += add
            n_l += 1
            if k >= known or k + 1 >= (known if missing_first == 1 else m):
                continue
            code, following = key[k] >> _CODE, key[k + 1] >> _CODE
            if code != following and n_l >= least and m - n_l >= least:
                if left is not None:
                    worth = side(crit, terms_l, w_l) + side(crit, terms_r, weight - w_l)
                else:
                    worth = side(crit, s_l, w_l) + side(crit, sums[1] - s_l, weight - w_l)
                if worth > best and heavy(crit, w_l, weight):
                    best, low, high, missing_left = worth, code, following, missing_first == 1
    return best, low, high, missing_left, 1


@jit(_nrt=False)
def tally(column, row, y, w, start, end, n_bins, counting, bins, left):
    """Add the node's rows to the cells of their codes, and list the codes there are.

    Returns
    -------
    int
        How many codes there are; ``bins.held`` lists them in their order.
    """
    cells, count, seen, held = bins.cells, bins.rows, bins.seen, bins.held
    for b in range(n_bins + 1):
        seen[b] = 0
    if counting:
        for k in range(start, end):
            count[column[row[k]]] += 1
    if left is not None:
        # Two tables in turn: adding twice in a row to one cell waits for the first sum.
        half = start
        if end - start >= _MANY:
            half = end - (end - start) % 2
            twin = bins.twin
            for k in range(start, half, 2):
                code, other = column[row[k]], column[row[k + 1]]
                seen[code] = 1
                seen[other] = 1
                cells[code, y[k]] += w[k]
                twin[other, y[k + 1]] += w[k + 1]
            for b in range(n_bins + 1):
                for c in range(len(left)):
                    cells[b, c] += twin[b, c]
                    twin[b, c] = 0.0
        for k in range(half, end):
            code = column[row[k]]
            seen[code] = 1
            cells[code, y[k]] += w[k]
    else:
        for k in range(start, end):
            code, add = column[row[k]], w[k]
            seen[code] = 1
            cells[code, 0] += add
            cells[code, 1] += add * y[k]
    present = 0
    for b in range(n_bins + 1):
        held[present] = b
        present += seen[b]
    return present


@jit(_nrt=False)
def clear(bins, present):
    """Make the cells of all listed codes zero again."""
    cells = bins.cells
    for i in range(present):
        b = bins.held[i]
        bins.rows[b] = 0
        for c in range(cells.shape[1]):
            cells[b, c] = 0.0


@jit(_nrt=False, fastmath={"reassoc"})
def _move_bin(crit, cell, sums, left):
    """Add a bin to the left side; return what the terms of both sides and the weight gain."""
    up = down = weight = 0.0
    for c in range(len(left)):
        add, before = cell[c], left[c]
        rest = sums[c] - before
        up += rise(crit, before, before + add)
        down += rise(crit, rest, rest - add)
        left[c] = before + add
        weight += add
    return up, down, weight


@jit(_nrt=False)
def cut_counted(crit, least, n_bins, bins, present, m, sums, weight, terms, left):
    """Return the best cut of the cells of `tally`, which are left as they are."""
    cells, count, held = bins.cells, bins.rows, bins.held
    free = least <= 1
    best, low, high, missing_left = -np.inf, -1, -1, False
    if present < 2:
        return best, low, high, missing_left, 0
    lacks = held[present - 1] == n_bins
    for missing_first in range(2 if lacks else 1):
        w_l = s_l = terms_l = 0.0
        terms_r, n_l = terms, 0
        if left is not None:
            left[:] = 0.0
        for step in range(present - 1):
            b = held[step]
            if missing_first == 1:
                b = n_bins if step == 0 else held[step - 1]
            n_l += count[b]
            if left is not None:
                up, down, add = _move_bin(crit, cells[b], sums, left)
                terms_l += up
                terms_r += down
                w_l += add
                worth = side(crit, terms_l, w_l) + side(crit, terms_r, weight - w_l)
            else:
                w_l += cells[b, 0]
                s_l += cells[b, 1]
                worth = side(crit, s_l, w_l) + side(crit, sums[1] - s_l, weight - w_l)
            # Missing values alone on the left are the cut that has them alone on the right.
            enough = free or (n_l >= least and m - n_l >= least)
            if worth > best and b != n_bins and enough and heavy(crit, w_l, weight):
                best, low, high, missing_left = worth, b, held[step + 1], False
                if missing_first == 1:
                    high, missing_left = held[step], True
    return best, low, high, missing_left, 1


@jit(_nrt=False)
def worth_left(crit, sums, weight, w_l, s_l, left):
    """Return the worth of a cut from the totals on its left."""
    if left is None:
        return side(crit, s_l, w_l) + side(crit, sums[1] - s_l, weight - w_l)
    terms_l = terms_r = 0.0
    for c in range(len(left)):
        terms_l += rise(crit, 0.0, left[c])
        terms_r += rise(crit, 0.0, sums[c] - left[c])
    return side(crit, terms_l, w_l) + side(crit, terms_r, weight - w_l)


@jit(_nrt=False)
def cut_categories(crit, least, bins, present, m, sums, weight, left, mask):
    """Return (worth, varied) of the best set of categories, and write it to `mask` (256,).

    The mask is 1 on the left, 0 on the right, 2 for codes that the node does not hold. For numbers
    (two classes are numbers): the best of all sets, which is a beginning of the categories in the
    order of their means (Fisher 1958; Breiman et al. 1984, theorem 4.5); ``bins.held`` is put in
    that order. For classes: one category against the rest. The missing values are one more
    category. ``bins.rows`` must have been counted.
    """
    cells, count, held = bins.cells, bins.rows, bins.held
    mask[:] = 2
    for i in range(present):
        b, at = held[i], i
        mask[b] = 0
        if left is None:
            mean = cells[b, 1] / cells[b, 0]
            while at > 0 and cells[held[at - 1], 1] / cells[held[at - 1], 0] > mean:
                held[at] = held[at - 1]
                at -= 1
        held[at] = b
    if present < 2:
        return -np.inf, 0
    best, w_l, s_l, n_l, cut = -np.inf, 0.0, 0.0, 0, -1
    for i in range(present if left is not None else present - 1):
        b = held[i]
        if left is not None:
            w_l, n_l = 0.0, 0
            for c in range(len(left)):
                left[c] = cells[b, c]
                w_l += left[c]
        else:
            w_l += cells[b, 0]
            s_l += cells[b, 1]
        n_l += count[b]
        if n_l >= least and m - n_l >= least:
            worth = worth_left(crit, sums, weight, w_l, s_l, left)
            if worth > best and heavy(crit, w_l, weight):
                best, cut = worth, i
    if cut >= 0:
        for i in range(cut if left is not None else 0, cut + 1):
            mask[held[i]] = 1
    return best, 1
