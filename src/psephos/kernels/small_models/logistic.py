"""Logistic models of a few columns: many candidates on all splits in one call.

Two classes, rows i with weights w_i and signs s_i, columns standardised:
``min over (b, beta) of sum_i w_i log(1 + exp(-s_i (b + beta x_i))) + sum_j r_j beta_j^2 / 2``.
More classes: ``sum_i w_i (log sum_k exp z_ik - z_iy) + sum_kj r_j beta_kj^2 / 2``.

A split keeps the standard columns of all rows and has its own ridge instead, ``sd_j^2 / C``, sd_j
that of the split's training rows: the same model as on columns standardised by these. It starts
from the fit of all rows.
"""

import math

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.small_models.newton import binary, gather, spread, standardise, weighted_sum
from psephos.kernels.small_models.softmax import lower_unknown, multinomial, prior_of_classes
from psephos.runtime.jit import jit

NARROW = 1e-3  # a split with less of a column's variance has its own standard columns
_Floats = NDArray[np.float64]


@jit(inline="always")
def prior(y, w, total, beta, z):
    """Start from the shares of two classes alone; return whether both have rows.

    A class without a row is held below the other by log(1 + 2 W), W the weight of all rows.
    """
    ones = weighted_sum(y, w)
    zeros = 0.0
    for i in range(y.shape[0]):
        z[i] = 1.0 - y[i]
    zeros = weighted_sum(z, w)
    several = ones > 0.0 and zeros > 0.0
    most = math.log1p(2.0 * total)
    for j in range(beta.shape[0]):
        beta[j] = 0.0
    if several:
        beta[-1] = math.log(ones / zeros)
    else:
        beta[-1] = most if ones > 0.0 else -most
    for i in range(z.shape[0]):
        z[i] = beta[-1]
    return several


@jit(fastmath={"contract"})
def _fit(
    table, y, masks, totals, test, test_ptr, subsets, penalty, scaled, tol, max_iter,
    raw, place, standard, own, ridge, every, beta, Z_every, Z, work, H, steps,
    known, P, block, out,
):  # fmt: skip
    """Put scores in out as `logistic_scores`, the last subset's coefficients in every (K, d + 1).

    These are on standard columns, whose means and 1 / sd are left in place (2, d). Where there
    are two classes known, P and block are None: the kernel for them holds no code for more.
    """
    n_splits, d = masks.shape[0] - 1, subsets.shape[1]
    for b in range(subsets.shape[0]):
        for turn in range(n_splits + 1):  # all rows first, then the splits
            s = turn - 1 if turn > 0 else n_splits
            w, total = masks[s], totals[s]
            if turn == 0:
                gather(table, subsets[b], w, total, raw, standard, place)
            if known is None:
                several = prior(y, w, total, beta[0], Z[0])
            else:
                several = prior_of_classes(y, w, total, beta, Z, known)
            narrow = False
            for j in range(d):
                by = place[1, j]
                if turn == 0:
                    ridge[j] = penalty if scaled or by == 0.0 else penalty * by * by
                elif several and scaled and by > 0.0:
                    _, variance = spread(standard[j], w, total)
                    ridge[j] = penalty * variance
                    narrow |= variance < NARROW
            columns = standard
            if narrow:
                columns = own
                for j in range(d):
                    standardise(raw[j], w, total, own[j])
                    ridge[j] = penalty
            elif turn > 0 and several:  # from the fit of all rows, if the same classes are known
                same = True
                if known is not None:
                    for k in range(known.shape[0]):
                        same &= known[k]
                for k in range(Z.shape[0] if same else 0):
                    for j in range(d + 1):
                        beta[k, j] = every[k, j]
                    for i in range(Z.shape[1]):
                        Z[k, i] = Z_every[k, i]
            if several:
                if known is None:
                    binary(columns, y, w, ridge, beta[0], Z[0], work, H, steps, tol, max_iter)
                else:
                    multinomial(
                        columns, y, w, known, ridge, beta, Z, P, work, H, block, steps, tol,
                        max_iter,
                    )  # fmt: skip
            if turn == 0:
                for k in range(Z.shape[0]):
                    for j in range(d + 1):
                        every[k, j] = beta[k, j]
                    for i in range(Z.shape[1]):
                        Z_every[k, i] = Z[k, i]
                continue
            if known is not None:
                lower_unknown(known, total, Z)
            for r in range(test_ptr[s], test_ptr[s + 1]):
                for k in range(Z.shape[0]):
                    out[b, r, k] = Z[k, test[r]]


def logistic_scores(
    XT: _Floats, y: _Floats, masks: _Floats, totals: _Floats, test: NDArray[np.int32],
    test_ptr: NDArray[np.int64], subsets: NDArray[np.intp], penalty: float, scaled: bool,
    tol: float, max_iter: int, out: _Floats,
) -> tuple[_Floats, _Floats]:  # fmt: skip
    """Out-of-fold scores of candidates on all splits.

    Returns the last one's coefficients (K, d + 1) on all rows' standard columns, and their means
    and 1 / sd (2, d).

    Parameters
    ----------
    XT : (p, n)
    y : (n',) float64; class codes, n' = n padded
    masks : (S + 1, n'); weights of the training rows of each split, then of all rows
    totals : (S + 1,); their sums
    test, test_ptr : (L,), (S + 1,)
    subsets : (B, d)
    penalty : 1 / C
    scaled : standardise the columns by each split's training rows
    tol, max_iter : float, int; end when a step changed no training row's score by more than tol
    out : (B, L, K)
    """
    (d, K), n = (subsets.shape[1], out.shape[2]), len(y)
    place, every = np.empty((2, d)), np.empty((K, d + 1))
    sizes = (d + 1, d + 1, d, K, K, 4)
    flat = np.ones(sum(sizes) * n + 8)
    skip = (-flat.ctypes.data % 64) // 8  # vectors across two cache lines load slowly
    room = np.split(flat[skip : len(flat) - 8 + skip].reshape(-1, n), np.cumsum(sizes)[:-1])
    standard, own, raw, Z_every, Z, work = room
    more = (np.ones(K, np.bool_), np.empty((K, n)), np.empty((d + 1, d + 1)))
    raw[:] = 0.0
    _fit(
        XT, y, masks, totals, test, test_ptr, subsets, penalty, scaled, tol, max_iter,
        raw, place, standard, own, np.zeros(d + 1), every, np.empty((K, d + 1)), Z_every, Z, work,
        np.empty((K * (d + 1),) * 2), np.zeros((2, K * (d + 1))),
        *(more if K > 1 else (None,) * 3), out,
    )  # fmt: skip
    return every, place


def logistic_model(
    XT: _Floats, y: _Floats, w: _Floats, columns: NDArray[np.intp], penalty: float, scaled: bool,
    tol: float, max_iter: int, out: _Floats,
) -> None:  # fmt: skip
    """Fit one candidate on rows of weight w (n',): out (K, d + 1), the intercept last."""
    total = np.array([weighted_sum(w, np.ones(len(w)))])
    splits = (w[None], total, np.empty(0, np.int32), np.zeros(1, np.int64))
    none = np.empty((1, 0, len(out)))
    subset = np.ascontiguousarray(columns, dtype=np.intp)[None]
    every, place = logistic_scores(XT, y, *splits, subset, penalty, scaled, tol, max_iter, none)
    d = len(columns)
    out[:, :d] = every[:, :d] * place[1]
    out[:, d] = every[:, d]
    for j in range(d):
        out[:, d] -= out[:, j] * place[0, j]
