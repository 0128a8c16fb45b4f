"""Divisions of one column of categories at one node of a tree; see `forest_cuts` for the terms."""

import numpy as np

from psephos.kernels.binned_trees.forest_cuts import heavy
from psephos.kernels.numerics.criteria import rise, side, side_of_sum
from psephos.kernels.small_models.tree import draw
from psephos.runtime.jit import jit


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
