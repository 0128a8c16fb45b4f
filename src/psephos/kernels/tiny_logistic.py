"""Logistic models of a few columns: many candidates on all splits in one call.

Two classes, rows i with weights w_i and signs s_i, columns standardised:
``min over (b, beta) of sum_i w_i log(1 + exp(-s_i (b + beta x_i))) + sum_j r_j beta_j^2 / 2``.
More classes: ``sum_i w_i (log sum_k exp z_ik - z_iy) + sum_kj r_j beta_kj^2 / 2``.

A split keeps the standard columns of all rows and has its own ridge instead, ``sd_j^2 / C``, sd_j
that of the split's training rows: the same model as on columns standardised by these. It starts
from the fit of all rows.
"""

from typing import Any, NamedTuple

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.tiny_newton import binary, gather, spread, standardise, weighted_sum
from psephos.kernels.tiny_softmax import multinomial

__all__ = ["NARROW", "logistic_model", "logistic_scores", "prior"]

NARROW = 1e-3  # a split with less of a column's variance has its own standard columns


class _Scratch(NamedTuple):
    work: Any  # (4, n)
    H: Any  # (K m, K m)
    block: Any  # (m, m)
    steps: Any  # (2, K m)
    P: Any  # (K, n)


@jit
def _scratch(K, m, n):
    return _Scratch(
        np.empty((4, n)),
        np.empty((K * m, K * m)),
        np.empty((m, m)),
        np.zeros((2, K * m)),
        np.empty((K, n)),
    )


@jit
def prior(y, w, total, beta, Z, known):
    """Start from the shares of the classes alone; return whether there is more than one.

    A class without a row is held below the others by log(1 + 2 W), W the weight of all rows.
    """
    K = beta.shape[0]
    beta[:] = 0.0
    most = np.log1p(2.0 * total)
    if K == 1:
        known[0] = True
        ones = weighted_sum(y, w)
        zeros = weighted_sum(1.0 - y, w)
        several = ones > 0.0 and zeros > 0.0
        logit = most if ones > 0.0 else -most
        beta[0, -1] = np.log(ones / zeros) if several else logit
    else:
        several = False
        first = mean = 0.0
        count = 0
        for k in range(K):
            own = 0.0
            for i in range(w.shape[0]):
                own += w[i] if y[i] == k else 0.0
            known[k] = own > 0.0
            if known[k]:
                beta[k, -1] = np.log(own)
                mean += beta[k, -1]
                first = beta[k, -1] if count == 0 else min(first, beta[k, -1])
                count += 1
        several = count > 1
        for k in range(K):
            beta[k, -1] = beta[k, -1] - mean / count if known[k] else first - mean / count - most
    for k in range(K):
        Z[k] = beta[k, -1]
    return several


@jit
def _continue(every, Z_every, known, beta, Z):
    """Start from the fit of all rows, if the same classes are known."""
    same = True
    for k in range(known.shape[0]):
        same &= known[k]
    for k in range(beta.shape[0] if same else 0):
        for j in range(beta.shape[1]):
            beta[k, j] = every[k, j]
        for i in range(Z.shape[1]):
            Z[k, i] = Z_every[k, i]


@jit
def _lower_unknown(known, total, Z):
    """Hold the scores of classes without a row below those of the others."""
    K, n = Z.shape
    for k in range(K):
        if not known[k]:
            for i in range(n):
                low = np.inf
                for c in range(K):
                    low = min(low, Z[c, i] if known[c] else np.inf)
                Z[k, i] = low - np.log1p(2.0 * total)


@jit
def _descend(X, y, w, known, ridge, beta, Z, scratch, tol, max_iter):
    work, H, steps = scratch.work, scratch.H, scratch.steps
    if beta.shape[0] == 1:
        binary(X, y, w, ridge, beta[0], Z[0], work, H, steps, tol, max_iter)
    else:
        block, P = scratch.block, scratch.P
        multinomial(X, y, w, known, ridge, beta, Z, P, work, H, block, steps, tol, max_iter)


@jit
def _ridges(place, penalty, scaled, ridge):
    """Put each coefficient's ridge on the standard columns in ridge; none for the intercept."""
    for j in range(place.shape[1]):
        by = place[1, j]
        ridge[j] = penalty if scaled or by == 0.0 else penalty * by * by
    ridge[-1] = 0.0


@jit
def logistic_scores(
    X, y, masks, totals, test, test_ptr, subsets, penalty, scaled, tol, max_iter, out
):
    """Out-of-fold scores of candidates on all splits.

    Parameters
    ----------
    X : (n, p) Fortran-ordered
    y : (n',) float64
        Class codes, n' = n padded.
    masks : (S + 1, n')
        Weights of the training rows of each split, then of all rows.
    totals : (S + 1,)
        Their sums.
    test, test_ptr : (L,), (S + 1,)
    subsets : (B, d)
    penalty : float
        1 / C.
    scaled : bool
        Standardise the columns by each split's training rows.
    tol, max_iter : float, int
        End when a step changed no training row's score by more than tol.
    out : (B, L, K)
    """
    n, n_splits = y.shape[0], masks.shape[0] - 1
    d, K = subsets.shape[1], out.shape[2]
    raw, place = np.zeros((d, n)), np.empty((2, d))
    standard, own = np.ones((d + 1, n)), np.ones((d + 1, n))
    scratch = _scratch(K, d + 1, n)
    ridge = np.zeros(d + 1)
    every, beta = np.empty((K, d + 1)), np.empty((K, d + 1))
    Z_every, Z = np.empty((K, n)), np.empty((K, n))
    known_every, known = np.ones(K, np.bool_), np.ones(K, np.bool_)
    whole = masks[n_splits]
    for b in range(subsets.shape[0]):
        gather(X, subsets[b], whole, totals[n_splits], raw, standard, place)
        _ridges(place, penalty, scaled, ridge)
        if prior(y, whole, totals[n_splits], every, Z_every, known_every):
            _descend(standard, y, whole, known_every, ridge, every, Z_every, scratch, tol, max_iter)
        for s in range(n_splits):
            w = masks[s]
            several = prior(y, w, totals[s], beta, Z, known)
            narrow = False
            if several and scaled:
                for j in range(d):
                    if place[1, j] > 0.0:
                        _, variance = spread(standard[j], w, totals[s])
                        ridge[j] = penalty * variance
                        narrow |= variance < NARROW
            if narrow:
                columns = own
                for j in range(d):
                    standardise(raw[j], w, totals[s], own[j])
                    ridge[j] = penalty
            else:
                columns = standard
                if several:
                    _continue(every, Z_every, known, beta, Z)
            if several:
                _descend(columns, y, w, known, ridge, beta, Z, scratch, tol, max_iter)
            if K > 1:
                _lower_unknown(known, totals[s], Z)
            for r in range(test_ptr[s], test_ptr[s + 1]):
                for k in range(K):
                    out[b, r, k] = Z[k, test[r]]


@jit
def logistic_model(X, y, w, columns, penalty, scaled, tol, max_iter, out):
    """Fit one candidate on rows of weight w (n',): out (K, d + 1), the intercept last."""
    n, d, K = y.shape[0], columns.shape[0], out.shape[0]
    total = weighted_sum(w, np.ones(n))
    raw, place = np.zeros((d, n)), np.empty((2, d))
    standard = np.ones((d + 1, n))
    ridge, Z, known = np.zeros(d + 1), np.empty((K, n)), np.ones(K, np.bool_)
    gather(X, columns, w, total, raw, standard, place)
    _ridges(place, penalty, scaled, ridge)
    if prior(y, w, total, out, Z, known):
        _descend(standard, y, w, known, ridge, out, Z, _scratch(K, d + 1, n), tol, max_iter)
    for k in range(K):
        for j in range(d):
            out[k, j] *= place[1, j]
            out[k, d] -= out[k, j] * place[0, j]
