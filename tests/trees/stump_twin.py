"""The stump search as its definition reads: every cut of every column, one after another."""

import itertools

import numpy as np


def gain(criterion, left, right):
    parent = left + right
    if criterion == "error":
        worth = left[:, None] + right[None, :]
        np.fill_diagonal(worth, -np.inf)
        return worth.max() - parent.max()
    impurity = [
        t.sum() - (t**2).sum() / t.sum() if t.sum() > 0 else 0.0 for t in (parent, left, right)
    ]
    return impurity[0] - impurity[1] - impurity[2]


def questions(x):
    """Every admissible (threshold, missing left) of one numeric column."""
    absent = np.isnan(x)
    values = np.unique(x[~absent])
    for low, high in itertools.pairwise(values):
        middle = low / 2 + high / 2
        threshold = middle if low <= middle < high else low
        yield threshold, False
        if absent.any():
            yield threshold, True
    if absent.any() and len(values):
        yield np.inf, False


def groupings(x, n_codes, w):
    """Every two-sided grouping of the codes that carry weight, missing among them."""
    codes = np.where(np.isnan(x), n_codes, x).astype(int)
    groups = [g for g in range(n_codes + 1) if w[codes == g].sum() > 0]
    for size in range(1, len(groups)):
        for chosen in itertools.combinations(groups, size):
            yield np.isin(codes, chosen)


def best(X, y, n_classes, w, criterion, categories=None):
    """(gain, list of all splits (column, threshold, missing left) of that gain to 1e-12)."""
    top, where = -np.inf, []
    for j in range(X.shape[1]):
        x = X[:, j].astype(float)
        if categories and j in categories:
            tries = [(side, (j, None, None)) for side in groupings(x, categories[j], w)]
        else:
            tries = [((x <= t) | (m & np.isnan(x)), (j, t, m)) for t, m in questions(x)]
        for side, name in tries:
            value = gain(
                criterion,
                np.bincount(y[side], w[side], n_classes),
                np.bincount(y[~side], w[~side], n_classes),
            )
            if value > top + 1e-12:
                top, where = value, [name]
            elif value > top - 1e-12:
                where.append(name)
    return top, where
