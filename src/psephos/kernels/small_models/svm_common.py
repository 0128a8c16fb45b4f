"""Shared code of the kernels of tiny support vector machines: row layout and votes of pairs."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import jit

MOST_ROWS = 2**15  # a kernel of all rows has 8 GB then
#: Sums may be regrouped into vectors; scores are finite, so NaN need not be handled.
FAST = {"contract", "reassoc", "nnan", "nsz"}


class Layout(NamedTuple):
    """A table, its S splits, and all rows as split S, which has no test rows.

    The moments of each column on each split's training rows are centre and 1 / scale (weighted mean
    and standard deviation), then the unweighted mean and variance of the column (scaled, if columns
    are scaled) for the rule of the kernel width.
    """

    XT: NDArray[np.float64]  # (p, n)
    weight: NDArray[np.float64]  # (n,)
    test: NDArray[np.int32]  # rows, those of split s from test_ptr[s] to test_ptr[s + 1]
    test_ptr: NDArray[np.int64]
    rows: NDArray[np.int64]  # of training, split after split, sorted by class within a split
    ptr: NDArray[np.int64]  # (S + 2,) where each split begins in `rows`
    classes: NDArray[np.int64]  # (S + 1, n_classes + 1) where each class begins within its split
    moments: NDArray[np.float64]  # (p, S + 1, 4)


def layout(
    XT: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, weight: NDArray[np.float64],
    train: NDArray[np.int32], train_ptr: NDArray[np.int64], test: NDArray[np.int32],
    test_ptr: NDArray[np.int64], scale: bool,
) -> Layout:  # fmt: skip
    """Return the training rows of all splits by class, with the moments of every column.

    A column is constant, and its scale 1, where scikit-learn's ``StandardScaler`` says so: its
    variance is at most ``m eps var + (m eps mean)^2`` on m rows.
    """
    p, n = XT.shape
    parts = [train[a:b] for a, b in pairwise(train_ptr)]
    parts = [part[np.argsort(y[part], kind="stable")] for part in [*parts, np.arange(n)]]
    rows = np.concatenate(parts).astype(np.int64)
    ptr = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    counts = [np.bincount(y[part], minlength=n_classes) for part in parts]
    classes = np.array([[0, *np.cumsum(count)] for count in counts], dtype=np.int64)
    moments = np.empty((p, len(parts), 4))
    _moments(XT, weight, rows, ptr, scale, moments)
    test_ptr = np.append(test_ptr, test_ptr[-1:])
    return Layout(XT, weight, test, test_ptr, rows, ptr, classes, moments)


@jit(fastmath={"contract"})
def _moments(XT, weight, rows, ptr, scale, moments):
    eps = 2.0**-52
    for j in range(XT.shape[0]):
        for s in range(ptr.shape[0] - 1):
            m = ptr[s + 1] - ptr[s]
            total = weighted = plain = 0.0
            for t in range(ptr[s], ptr[s + 1]):
                i = rows[t]
                total += weight[i]
                weighted += weight[i] * XT[j, i]
                plain += XT[j, i]
            centre = weighted / total if m > 0 else 0.0
            mean = plain / m if m > 0 else 0.0
            above = square = 0.0
            for t in range(ptr[s], ptr[s + 1]):
                i = rows[t]
                above += weight[i] * (XT[j, i] - centre) ** 2
                square += (XT[j, i] - mean) ** 2
            variance = above / total if m > 0 else 0.0
            constant = variance <= m * eps * variance + (m * eps * centre) ** 2
            inverse = 1.0 if constant or not scale else 1.0 / np.sqrt(variance)
            moments[j, s, 0] = centre
            moments[j, s, 1] = inverse
            moments[j, s, 2] = (mean - centre) * inverse if scale else mean
            moments[j, s, 3] = square / m * inverse * inverse if m > 0 else 0.0


@jit
def padded(n):
    """Return n rounded up to full vectors, because the tails of loops are slow."""
    return (n + 15) // 16 * 16


@jit(fastmath={"contract"})
def pair_scores(margins, n_classes, out):
    """Turn a row's margins of all pairs of classes into a score per class (two: the margin).

    Pairs run (0, 1), (0, 2), ... (1, 2), ...; a margin above 0 is a vote for the second. The
    score is ``votes + s / (3 (|s| + 1))``, s the sum of the margins in favour of the class: it
    orders by votes, then by s, as in ``SVC(decision_function_shape="ovr")``.
    """
    if n_classes == 2:
        out[0] = margins[0]
        return
    for k in range(n_classes):
        votes = 0.0
        total = 0.0
        pair = 0
        for a in range(n_classes):
            for b in range(a + 1, n_classes):
                margin = margins[pair]
                if a == k:
                    votes += 0.0 if margin > 0.0 else 1.0
                    total -= margin
                elif b == k:
                    votes += 1.0 if margin > 0.0 else 0.0
                    total += margin
                pair += 1
        out[k] = votes + total / (3.0 * (abs(total) + 1.0))
