"""A CART grown best first: the leaf whose split is worth most is divided next.

What a split is worth does not depend on when it is made, so the tree of so many leaves is the part
of the whole tree that is reached by taking the best open split again and again.
"""

import heapq

import numpy as np

from psephos.kernels.sorted_trees.cart_grow import CHILD, FIRST, HEAVIER, RISK, Grown, weigh

__all__ = ["best_first"]


def best_first(grown: Grown, max_leaf_nodes: int, alpha: float, *, regression: bool) -> Grown:
    """Return the part of a tree that best-first growth reaches, its complexities its own.

    Parameters
    ----------
    grown : Grown
        The whole tree, nothing cut off it.
    max_leaf_nodes : int
        At least 1. Of splits of equal worth the one nearer to the front of the tables is made.
    alpha : float
        Risk that a split must save, as in `grow_tree`; at 0 nothing is cut.
    regression : bool
        Worth is a share of the node's risk.
    """
    whole, real = grown.whole.copy(), grown.real.copy()
    inner = whole[:, CHILD] > 0
    worth = np.zeros(len(whole))
    worth[inner] = grown.rule_real[whole[inner, FIRST], 0]
    if regression:
        worth *= real[:, RISK]
    made = np.zeros(len(whole), np.bool_)
    leaves = 1
    open_splits = [(-float(worth[0]), 0)] if inner[0] else []
    while open_splits and leaves < max_leaf_nodes:
        _, node = heapq.heappop(open_splits)
        made[node] = True
        leaves += 1
        for child in (int(whole[node, CHILD]), int(whole[node, CHILD]) + 1):
            if inner[child]:
                heapq.heappush(open_splits, (-float(worth[child]), child))
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
