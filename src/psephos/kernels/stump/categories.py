"""Search for the best division of categories into two groups."""

import numpy as np

from psephos.kernels.numerics.ordering import order_of
from psephos.kernels.stump.scan import gain_inside
from psephos.runtime.jit import jit


@jit
def _take_if_better(crit, parent, table, chosen, left, right, best, out):
    """Return the greater of ``best`` and the gain of ``chosen``; copy a better one to ``out``."""
    n_classes = parent.shape[0]
    for c in range(n_classes):
        left[c] = 0.0
        right[c] = parent[c]
    for g in range(table.shape[0]):
        if chosen[g]:
            for c in range(n_classes):
                left[c] += table[g, c]
                right[c] -= table[g, c]
    value = gain_inside(crit, parent, left, right)
    if value > best:
        for g in range(table.shape[0]):
            out[g] = chosen[g]
        return value
    return best


@jit
def _best_by_error(crit, parent, table, groups, count, chosen, left, right, out):
    """Put every group on its better side, for each pair of labels: the exact optimum."""
    best = -np.inf
    for k in range(parent.shape[0]):
        for m in range(k + 1, parent.shape[0]):
            n_left = 0
            easy_left = easy_right = groups[0]
            for i in range(count):
                g = groups[i]
                lead = table[g, k] - table[g, m]
                chosen[g] = lead > 0.0
                n_left += 1 if chosen[g] else 0
                if lead > table[easy_left, k] - table[easy_left, m]:
                    easy_left = g
                if lead < table[easy_right, k] - table[easy_right, m]:
                    easy_right = g
            # Both sides need a group: the one that loses least is moved.
            if n_left == 0:
                chosen[easy_left] = True
            elif n_left == count:
                chosen[easy_right] = False
            best = _take_if_better(crit, parent, table, chosen, left, right, best, out)
    return best


@jit
def _best_by_share(crit, parent, table, groups, count, chosen, left, right, out, shares):
    """Sort the groups by the share of one class and cut: exact for two classes.

    Breiman et al. (1984), theorem 4.5. With more classes each class is tried in turn, which is a
    heuristic.
    """
    best = -np.inf
    n_classes = parent.shape[0]
    scratch = np.empty((2, count), np.int64)
    for k in range(1 if n_classes == 2 else 0, n_classes):
        for i in range(count):
            g = groups[i]
            total = 0.0
            for c in range(n_classes):
                total += table[g, c]
            shares[i] = table[g, k] / total
            chosen[g] = False
        order = scratch[order_of(shares, count, scratch)]
        for i in range(count - 1):
            chosen[groups[order[i]]] = True
            best = _take_if_better(crit, parent, table, chosen, left, right, best, out)
    return best


@jit
def scan_categories(crit, codes, n_codes, which, labels, weights, parent, gains, out):
    """Find the best grouping of each categorical column.

    Parameters
    ----------
    codes : (columns, n) int32; missing is ``n_codes[j]``, a separate group
    n_codes : (columns,) int64
    which : (c,) int64, rows of ``codes`` to search
    labels, weights : (n,) or longer
    parent : (K,)
    gains : (c,) result, -inf if fewer than two groups have weight
    out : (>= max(n_codes) + 1,) bool, groups that go left in the last column searched
    """
    n = codes.shape[1]
    n_classes = parent.shape[0]
    left = np.empty(n_classes)
    right = np.empty(n_classes)
    size = out.shape[0]
    chosen = np.zeros(size, np.bool_)
    shares = np.zeros(size)
    groups = np.zeros(size, np.int64)
    full = np.zeros((size, n_classes))
    for w in range(which.shape[0]):
        j = which[w]
        n_groups = n_codes[j] + 1
        table = full[:n_groups]
        table[:] = 0.0
        for g in range(size):
            chosen[g] = False
            out[g] = False
        for i in range(n):
            table[codes[j, i], labels[i]] += weights[i]
        count = 0
        for g in range(n_groups):
            total = 0.0
            for c in range(n_classes):
                total += table[g, c]
            if total > 0.0:
                groups[count] = g
                count += 1
        gains[w] = -np.inf
        if count < 2:
            continue
        if crit.by_error is not None:  # the exact optimum
            gains[w] = _best_by_error(crit, parent, table, groups, count, chosen, left, right, out)
        too_light = gains[w] == -np.inf and crit.least > 0.0
        if crit.by_error is None or too_light:
            gains[w] = _best_by_share(
                crit, parent, table, groups, count, chosen, left, right, out, shares
            )
