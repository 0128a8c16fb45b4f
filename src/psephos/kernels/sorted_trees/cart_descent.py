"""Rows that were left out, run down a CART as far as each of several complexities lets them."""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.sorted_trees.cart_grow import (
    CHILD,
    COMPLEXITY,
    FIRST,
    HEAVIER,
    N_RULES,
    N_SPARE,
)

__all__ = ["run_down"]


@jit(_nrt=False, no_cpython_wrapper=True)
def _side(grown, n_codes, node, values, row, place, use):
    """Return where a node sends a row: -1 left, 1 right, 0 if nothing says so."""
    first = grown.whole[node, FIRST]
    spare = first + grown.whole[node, N_RULES]
    end = spare + grown.whole[node, N_SPARE] if use > 0 else spare
    r = first
    while r < end:
        x = values[row, place[grown.rule_whole[r, 0]]]
        low, number = grown.rule_whole[r, 3], grown.rule_whole[r, 4]
        side = np.int64(0)
        if x != x:
            pass
        elif n_codes is None or number == 0:
            side = grown.rule_whole[r, 2] if x < grown.rule_real[r, 1] else -grown.rule_whole[r, 2]
        else:
            high = end_of = low + number
            while low < high:
                middle = (low + high) // 2
                if grown.code[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            if low < end_of and grown.code[low] == x:
                side = grown.branch[low]
        if side != 0:
            return side
        r = spare if r == first else r + 1  # not the competitors
    return grown.whole[node, HEAVIER] if use == 2 else np.int64(0)


@jit(_nrt=False)
def run_down(grown, n_codes, values, place, use, limits, ends, stuck):
    """Write the node at which each row ends under each limit (descending) on the complexity.

    A row goes on from a node whose complexity is above the limit, by its rule, a surrogate or (if
    `use` is 2) to the side of most weight. Column j of the rules is ``values[:, place[j]]``.
    ``stuck[row]`` is the first limit under which the row would go on but cannot. `n_codes` is None
    if no column is of categories.
    """
    for row in range(values.shape[0]):
        node = np.int64(0)  # a constant would be compiled for
        stuck[row] = limits.shape[0]
        for i in range(limits.shape[0]):
            while limits[i] < grown.real[node, COMPLEXITY] and grown.whole[node, CHILD] > 0:
                side = _side(grown, n_codes, node, values, row, place, use)
                if side == 0:
                    if i < stuck[row]:
                        stuck[row] = i
                    break
                node = grown.whole[node, CHILD] + (1 if side > 0 else 0)
            ends[row, i] = node
