"""Rows that were left out, run down a CART as far as each of several complexities lets them."""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.cart_grow import CHILD, COMPLEXITY, FIRST, HEAVIER, N_RULES, N_SPARE

__all__ = ["run_down"]


@jit(_nrt=False, no_cpython_wrapper=True)
def _says(grown, r, x):
    """Return where rule r sends a value: -1 left, 1 right, 0 if it is missing or unseen."""
    if np.isnan(x):
        return 0
    first, number = grown.rule_whole[r, 3], grown.rule_whole[r, 4]
    if number == 0:
        side = grown.rule_whole[r, 2]
        return side if x < grown.rule_real[r, 1] else -side
    low, high = first, first + number
    while low < high:
        middle = (low + high) // 2
        if grown.code[middle] < x:
            low = middle + 1
        else:
            high = middle
    if low < first + number and grown.code[low] == x:
        return grown.branch[low]
    return 0


@jit(_nrt=False, no_cpython_wrapper=True)
def _side(grown, node, values, row, place, use):
    rule = grown.whole[node, FIRST]
    side = _says(grown, rule, values[row, place[grown.rule_whole[rule, 0]]])
    if side != 0 or use == 0:
        return side
    spare = rule + grown.whole[node, N_RULES]
    for r in range(spare, spare + grown.whole[node, N_SPARE]):
        side = _says(grown, r, values[row, place[grown.rule_whole[r, 0]]])
        if side != 0:
            return side
    return grown.whole[node, HEAVIER] if use == 2 else 0


@jit(_nrt=False)
def run_down(grown, values, place, use, limits, ends, stuck):
    """Write the node at which each row ends under each limit (descending) on the complexity.

    A row goes on from a node whose complexity is above the limit, by its rule, a surrogate or (if
    `use` is 2) to the side of most weight. Column j of the rules is ``values[:, place[j]]``.
    ``stuck[row]`` is the first limit under which the row would go on but cannot.
    """
    for row in range(values.shape[0]):
        node = np.int64(0)  # a constant would be compiled for
        stuck[row] = limits.shape[0]
        for i in range(limits.shape[0]):
            while limits[i] < grown.real[node, COMPLEXITY] and grown.whole[node, CHILD] > 0:
                side = _side(grown, node, values, row, place, use)
                if side == 0:
                    stuck[row] = min(stuck[row], i)
                    break
                node = grown.whole[node, CHILD] + (1 if side > 0 else 0)
            ends[row, i] = node
