"""Rows that were left out, run down a CART as far as each of several complexities lets them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.sorted_trees.cart_grow import (
    CHILD,
    COMPLEXITY,
    FIRST,
    HEAVIER,
    N_RULES,
    N_SURROGATES,
    Grown,
)

_Whole = NDArray[np.int64]


def run_down(
    grown: Grown,
    values: NDArray[np.float64],
    place: _Whole,
    use: int,
    limits: NDArray[np.float64],
) -> _Whole:
    """Return the node at which each row ends under each limit on the complexity.

    A row goes on from a node whose complexity is above the limit, by its rule, a surrogate or (if
    `use` is 2) to the side of most weight. Column j of the rules is ``values[:, place[j]]``; the
    limits descend.
    """
    n, every = len(values), np.arange(len(limits))
    ends = np.zeros((n, len(limits)), np.int64)
    sides = _Sides(grown, values, place, use)
    # By node: the first limit below its complexity, none at a leaf.
    below = np.searchsorted(-limits, -grown.real[:, COMPLEXITY], side="right")
    below[grown.whole[:, CHILD] == 0] = len(limits)
    rows, node, first = np.arange(n), np.zeros(n, np.int64), np.zeros(n, np.intp)
    while len(rows):
        first = np.maximum(first, below[node])
        on = first < len(limits)
        rows, node, first = rows[on], node[on], first[on]
        side = sides.of(rows, node)
        sent = side != 0
        node = grown.whole[node[sent], CHILD] + (side[sent] > 0)
        rows, first = rows[sent], first[sent]
        ends[rows] = np.where(every >= first[:, None], node[:, None], ends[rows])
    return ends


class _Sides:
    """Where the rules of a tree send rows."""

    def __init__(self, grown: Grown, values: NDArray[Any], place: _Whole, use: int) -> None:
        self.grown, self.values, self.place, self.use = grown, values, place, use
        sizes = grown.rule_whole[:, 4]
        ends = np.cumsum(sizes)
        at = np.repeat(grown.rule_whole[:, 3] - (ends - sizes), sizes) + np.arange(sizes.sum())
        # One sorted list of (rule, code), as one number each.
        self.codes = int(grown.code[at].max(initial=-1)) + 1
        self.key = np.repeat(np.arange(len(sizes)), sizes) * self.codes + grown.code[at]
        self.branch = grown.branch[at]

    def of(self, rows: _Whole, node: _Whole) -> _Whole:
        """Return where nodes send rows: -1 left, 1 right, 0 if nothing says so."""
        whole = self.grown.whole[node]
        side = self._by_rule(rows, whole[:, FIRST])
        n_surrogates = whole[:, N_SURROGATES] if self.use > 0 else np.zeros_like(node)
        first = whole[:, FIRST] + whole[:, N_RULES]
        for k in range(int(n_surrogates.max(initial=0))):
            left = np.flatnonzero((side == 0) & (n_surrogates > k))
            side[left] = self._by_rule(rows[left], first[left] + k)
        return np.where(side == 0, whole[:, HEAVIER], side) if self.use == 2 else side

    def _by_rule(self, rows: _Whole, rule: _Whole) -> _Whole:
        held = self.grown.rule_whole[rule]
        x = self.values[rows, self.place[held[:, 0]]]
        side = np.where(x < self.grown.rule_real[rule, 1], held[:, 2], -held[:, 2])
        side[np.isnan(x)] = 0
        category = held[:, 4] > 0
        if category.any():
            side[category] = 0
            known = np.flatnonzero(category & (x >= 0) & (x < self.codes))
            wanted = rule[known] * self.codes + x[known].astype(np.int64)
            at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
            side[known] = np.where(self.key[at] == wanted, self.branch[at], 0)
        return side
