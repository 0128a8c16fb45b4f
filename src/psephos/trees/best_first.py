"""Trees grown best first: the leaf whose split is worth most is divided next.

What a split is worth does not depend on when it is made, so the tree of so many leaves is the part
of the whole tree that is reached by taking the best open split again and again.
"""

import heapq
from typing import Any

import numpy as np

from psephos._types import Array, NDArray
from psephos.kernels.sorted_trees.cart_grow import CHILD, FIRST, HEAVIER, RISK, CartNodes, weigh


def best_splits(gain: NDArray[np.float64], first: Array, max_leaves: int) -> NDArray[Any]:
    """Return which nodes are split if the largest gain on hand always goes first; -inf: a leaf.

    Of equal gains the node of the lower number goes first; `first` is each node's first child.
    """
    split = np.zeros(len(gain), np.bool_)
    queue = [(-float(gain[0]), 0)]
    for _ in range(max_leaves - 1):
        if not queue:
            break
        worth, node = heapq.heappop(queue)
        if worth == np.inf:
            break
        split[node] = True
        for child in (int(first[node]), int(first[node]) + 1):
            heapq.heappush(queue, (-float(gain[child]), child))
    return split


def best_first(
    grown: CartNodes, max_leaf_nodes: int, alpha: float, *, regression: bool
) -> CartNodes:
    """Return the part of a tree that best-first growth reaches, its complexities its own.

    Parameters
    ----------
    grown : the whole tree, nothing cut off it
    max_leaf_nodes : at least 1. Of splits of equal worth the one nearer to the front of the tables
        is made.
    alpha : risk that a split must save, as in `grow_tree`; at 0 nothing is cut
    regression : worth is a share of the node's risk
    """
    whole, real = grown.whole.copy(), grown.real.copy()
    inner = whole[:, CHILD] > 0
    worth = np.zeros(len(whole))
    worth[inner] = grown.rule_real[whole[inner, FIRST], 0]
    if regression:
        worth *= real[:, RISK]
    made = best_splits(np.where(inner, worth, -np.inf), whole[:, CHILD], max_leaf_nodes)
    whole[~made, CHILD : HEAVIER + 1] = 0
    weigh(whole, real, alpha)
    kept = np.zeros(len(whole), np.bool_)
    kept[0] = True
    for node in np.flatnonzero(made):  # parents come before their children
        if kept[node] and whole[node, CHILD] > 0:
            kept[whole[node, CHILD] : whole[node, CHILD] + 2] = True
    place = np.cumsum(kept) - 1
    whole, real = whole[kept], real[kept]
    whole[:, CHILD] = np.where(whole[:, CHILD] > 0, place[whole[:, CHILD]], 0)
    return grown._replace(n_nodes=len(whole), whole=whole, real=real, counts=grown.counts[kept])
