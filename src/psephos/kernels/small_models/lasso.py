"""Lasso-penalised logistic models of a few columns, along a path of penalties.

``min over (b, beta) of
(1 / W) sum_i w_i log(1 + exp(-s_i (b + beta x_i))) + lambda sum_j |beta_j|``
on standardised columns, W the sum of the weights (Friedman, Hastie and Tibshirani, J. Statistical
Software 33, 2010, equation 14). Steps are those of `logistic`, with the exact penalty in the
quadratic problem, which is solved exactly by an active set method (Osborne, Presnell and Turlach,
IMA J. Numerical Analysis 20, 2000). Each penalty starts from the solution of the one before.

Columns stay standardised by all rows; a split penalises ``sd_j |beta_j|`` with the standard
deviation sd_j of its training rows: the same model as on columns standardised by these.
"""

import numpy as np

from psephos.kernels.small_models import logistic
from psephos.runtime.jit import jit

_LEAST = 1e-4  # the path ends at this share of the penalty where the first column enters


@jit(fastmath={"contract"})
def _active_set(H, slope, penalty, beta, step, small, rhs, free):
    """Write to step the move from beta to the minimum of the quadratic with its L1 penalty.

    H (m, m) full; slope (m,): the gradient at beta, overwritten; penalty (m,): 0 for the intercept,
    which is last, and infinite for columns that are left out.
    """
    m = beta.shape[0]
    count = 0
    for j in range(m):
        step[j] = 0.0
        if beta[j] != 0.0 or j == m - 1:
            free[count] = j
            count += 1
    sign = rhs[1]
    for j in range(m - 1):
        sign[j] = np.sign(beta[j])
    sign[m - 1] = 0.0
    for _ in range(20 * m):
        for a in range(count):
            j = free[a]
            rhs[0, a] = -slope[j]
            if sign[j] != 0.0:
                rhs[0, a] -= penalty[j] * sign[j]
            for c in range(a + 1):
                small[a, c] = H[j, free[c]]
        logistic.solve(small[:count, :count], rhs[0, :count])
        part, leaves = 1.0, -1
        for a in range(count):
            j = free[a]
            here = beta[j] + step[j]
            if sign[j] != 0.0 and (here + rhs[0, a]) * sign[j] < 0.0:
                until = max(0.0, -here / rhs[0, a])
                if until < part:
                    part, leaves = until, a
        for a in range(count):
            j, by = free[a], part * rhs[0, a]
            step[j] += by
            for i in range(m):
                slope[i] += H[i, j] * by
        if leaves >= 0:  # its sign would change: it stops at 0
            j = free[leaves]
            step[j] = -beta[j]
            sign[j] = 0.0
            for a in range(leaves, count - 1):
                free[a] = free[a + 1]
            count -= 1
            continue
        worst, enters = 1e-9, -1
        for j in range(m - 1):
            if sign[j] == 0.0 and penalty[j] < np.inf:
                over = abs(slope[j]) / penalty[j] - 1.0
                if over > worst:
                    worst, enters = over, j
        if enters < 0:
            break
        sign[enters] = -np.sign(slope[enters])
        free[count] = enters
        count += 1


@jit
def _passed(slope, penalty, beta, step):
    """Return whether the objective was rising where a step ended."""
    along = 0.0
    for j in range(beta.shape[0]):
        if step[j] != 0.0:
            side = beta[j] if beta[j] != 0.0 else -step[j]  # a step that ends at 0 came from there
            along += (slope[j] + penalty[j] * np.sign(side)) * step[j]
    return along > 0.0


@jit
def _path(X, y, w, total, factor, lambdas, beta, z, scratch, tol, max_iter, test, scores):
    """Follow the path from the class shares alone; write scores (G, rows) of the rows test.

    factor (m,): each column's penalty over lambda, 0 for a constant column. At return, beta and
    z (n,) are those of the last penalty.
    """
    work, H, small, rows, free = scratch
    m = X.shape[0]
    g, h, v, dz = work[0], work[1], work[2], work[3]
    slope, step, penalty = rows[0], rows[1], rows[2]
    logistic.slopes(z, y, w, g, h)
    first = 0.0
    for j in range(m - 1):
        if factor[j] > 0.0:
            first = max(first, abs(logistic.weighted_sum(X[j], g)) / (total * factor[j]))
    last = np.inf
    for c in range(lambdas.shape[0]):
        by = max(lambdas[c], _LEAST * first)
        for j in range(m - 1):
            penalty[j] = by * total * factor[j] if factor[j] > 0.0 else np.inf
        penalty[m - 1] = 0.0
        delta, size = 0.0, 1.0
        for _ in range(max_iter if by < first and by < last else 0):
            logistic.slopes(z, y, w, g, h)
            for j in range(m):
                slope[j] = logistic.weighted_sum(X[j], g)
            if delta > logistic.SAFE and _passed(slope, penalty, beta, step):
                safe = np.log1p(delta) / delta
                back = size - max(safe, 0.5 * size)
                size -= back
                for j in range(m):
                    beta[j] -= back * step[j]
                for i in range(z.shape[0]):
                    z[i] -= back * dz[i]
                delta = 0.0 if size <= safe else delta
                continue
            size = 1.0
            logistic.curvature(X, h, H, v)
            for j in range(m):
                for k in range(j):
                    H[k, j] = H[j, k]
            _active_set(H, slope, penalty, beta, step, small, rows[3:], free)
            for j in range(m):
                beta[j] += step[j]
            delta = logistic.advance(X, step, w, z, dz)
            if delta <= tol:
                break
        last = by
        for r in range(test.shape[0]):
            scores[c, r] = z[test[r]]


@jit
def _factors(standard, raw, place, own, w, total, factor):
    """Write the penalty factors of a split to factor; return the columns to use."""
    d = raw.shape[0]
    narrow = False
    for j in range(d):
        _, variance = logistic.spread(standard[j], w, total)
        factor[j] = np.sqrt(variance)
        narrow |= place[1, j] > 0.0 and variance < logistic.NARROW
    if narrow:
        for j in range(d):
            _, by = logistic.standardise(raw[j], w, total, own[j])
            factor[j] = 1.0 if by > 0.0 else 0.0
    factor[d] = 0.0
    return own if narrow else standard


@jit
def _best(path, y, test, weight):
    """Return the first of the penalties whose scores, path (K, G, L), have the least error."""
    K, G, L = path.shape
    best, least = 0, np.inf
    for c in range(G):
        wrong = 0.0
        for r in range(L):
            i = test[r]
            answer = 1 if K == 1 and path[0, c, r] > 0.0 else 0
            for k in range(1, K):
                answer = k if path[k, c, r] > path[answer, c, r] else answer
            wrong += weight[i] if answer != y[i] else 0.0
        if wrong < least * (1.0 - 1e-12):
            best, least = c, wrong
    return best


@jit
def _scratch(m, n):
    small, rows = np.empty((m, m)), np.empty((5, m))
    return np.empty((4, n)), np.empty((m, m)), small, rows, np.empty(m, np.intp)


@jit
def lasso_scores(
    XT, ys, y, masks, totals, test, test_ptr, subsets, lambdas, tol, max_iter, out, chosen
):
    """Write out-of-fold scores of candidates, at the penalty of least error on the test rows.

    Parameters
    ----------
    XT : (p, n)
    ys : (K, n') float64; 1 for the rows of the class (the second, if K = 1), one path per class; n'
        is n with padding
    y : (n,); class codes
    masks, totals : (S + 1, n'), (S + 1,); weights of the training rows of each split, then of all
        rows; their sums
    test, test_ptr : (L,), (S + 1,)
    subsets : (B, d)
    lambdas : (G,); not increasing; the first is chosen if several have the least error
    out, chosen : (B, L, K), (B,)
    """
    K, n = ys.shape
    n_splits, d = masks.shape[0] - 1, subsets.shape[1]
    raw, place = np.zeros((d, n)), np.empty((2, d))
    standard, own = np.ones((d + 1, n)), np.ones((d + 1, n))
    scratch, factor = _scratch(d + 1, n), np.empty(d + 1)
    beta, Z = np.empty((1, d + 1)), np.empty((1, n))
    path = np.empty((K, lambdas.shape[0], test.shape[0]))
    for b in range(subsets.shape[0]):
        logistic.gather(XT, subsets[b], masks[n_splits], totals[n_splits], raw, standard, place)
        for s in range(n_splits):
            w, rows = masks[s], test[test_ptr[s] : test_ptr[s + 1]]
            columns = _factors(standard, raw, place, own, w, totals[s], factor)
            for k in range(K):
                scores = path[k, :, test_ptr[s] : test_ptr[s + 1]]
                several = logistic.prior(ys[k], w, totals[s], beta[0], Z[0])
                _path(
                    columns, ys[k], w, totals[s], factor, lambdas, beta[0], Z[0], scratch,
                    tol, max_iter if several else 0, rows, scores,
                )  # fmt: skip
        best = _best(path, y, test, masks[n_splits]) if lambdas.shape[0] > 1 else 0
        chosen[b] = best
        for r in range(test.shape[0]):
            for k in range(K):
                out[b, r, k] = path[k, best, r]


@jit
def lasso_model(XT, ys, w, columns, lambdas, tol, max_iter, out):
    """Fit one candidate on rows of weight w (n',), at the last penalty: out (K, d + 1)."""
    K, n = ys.shape
    d = columns.shape[0]
    total = logistic.weighted_sum(w, np.ones(n))
    raw, place = np.zeros((d, n)), np.empty((2, d))
    standard = np.ones((d + 1, n))
    scratch, factor = _scratch(d + 1, n), np.empty(d + 1)
    beta, Z = np.empty((1, d + 1)), np.empty((1, n))
    none, scores = np.empty(0, np.int32), np.empty((lambdas.shape[0], 0))
    logistic.gather(XT, columns, w, total, raw, standard, place)
    for j in range(d):
        factor[j] = 1.0 if place[1, j] > 0.0 else 0.0
    factor[d] = 0.0
    for k in range(K):
        several = logistic.prior(ys[k], w, total, beta[0], Z[0])
        _path(
            standard, ys[k], w, total, factor, lambdas, beta[0], Z[0], scratch,
            tol, max_iter if several else 0, none, scores,
        )  # fmt: skip
        out[k, d] = beta[0, d]
        for j in range(d):
            out[k, j] = beta[0, j] * place[1, j]
            out[k, d] -= out[k, j] * place[0, j]
