"""What a tree of a forest must be, said slowly: every cut of every column, by the definition."""

from itertools import combinations

import numpy as np


def impurity(y, w, criterion, n_classes):
    """Weight times the impurity of some rows."""
    if w.sum() == 0:
        return 0.0
    if criterion in ("gini", "entropy"):
        share = np.array([w[y == k].sum() for k in range(n_classes)]) / w.sum()
        if criterion == "gini":
            return w.sum() * (1.0 - (share**2).sum())
        share = share[share > 0]
        return -w.sum() * (share * np.log(share)).sum()
    return (w * (y - np.average(y, weights=w)) ** 2).sum()


def masks(codes, n_bins, is_category, ordered):
    """Every division of a node by one column, as the rows that go left."""
    known = codes < n_bins
    if is_category:
        present = np.unique(codes)
        if ordered:
            sizes = range(1, len(present))
            sets = [c for size in sizes for c in combinations(present, size)]
        else:
            sets = [(c,) for c in present] if len(present) > 1 else []
        yield from (np.isin(codes, s) for s in sets)
        return
    for cut in np.unique(codes[known]):
        left = known & (codes <= cut)
        for side in (left, left | ~known):
            if 0 < side.sum() < len(codes):
                yield side


def falls(codes, y, w, n_bins, is_category, criterion, n_classes, least=1, least_weight=0.0):
    """The decrease of the impurity of every admissible division by one column."""
    parent = impurity(y, w, criterion, n_classes)
    out = []
    for left in masks(codes, n_bins, is_category, n_classes <= 2):
        right = ~left
        enough = min(left.sum(), right.sum()) >= least
        heavy = min(w[left].sum(), w[right].sum()) >= least_weight
        if enough and heavy:
            sides = [impurity(y[s], w[s], criterion, n_classes) for s in (left, right)]
            out.append(parent - sum(sides))
    return out


def obeys(tree, codes, n_bins, y, w, criterion, n_classes, min_split, least, random=False):
    """Whether a tree of numeric columns, all looked at, is cut where its limits let it be.

    Each row of `codes` (p, n), `y` and `w` is one row to the limits. Cuts at random may miss those
    that are let.
    """

    def below(node, rows):
        f = tree.link[node, 0]
        own = y[rows], w[rows]
        if f < 0:
            closed = len(rows) < min_split or len(np.unique(own[0])) < 2
            found = [
                falls(codes[j, rows], *own, n_bins[j], False, criterion, n_classes, least)
                for j in range(len(codes))
            ]
            return closed or random or not any(found)
        code = codes[f, rows]
        left = np.where(code == n_bins[f], tree.missing_left[node], code <= tree.link[node, 2])
        enough = len(rows) >= min_split and min(left.sum(), (~left).sum()) >= least
        ways = ((tree.link[node, 1], rows[left]), (tree.link[node, 1] + 1, rows[~left]))
        return enough and all(below(*way) for way in ways)

    return below(0, np.arange(len(y)))
