"""A batch of prototypes, and its sums by the formula."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal


def example(seed, R=130, M=45, q=6, missing=0.0, categories=0, targets=False, spike=1.0):
    rng = np.random.default_rng(seed)
    Z, C = rng.standard_normal((R, q)) + 1.0, rng.standard_normal((M, q)) + 1.0
    is_category, agree = np.zeros(q, np.bool_), np.zeros(q)
    is_category[:categories], agree[:categories] = True, 0.37
    Z[:, :categories] = rng.integers(0, 3, (R, categories))
    C[:, :categories] = rng.integers(0, 3, (M, categories))
    Z[rng.random(Z.shape) < missing] = np.nan
    C[rng.random(C.shape) < missing] = np.nan
    if targets:
        y, t, u = rng.standard_normal(R), rng.standard_normal(M), 1.3
    else:
        y, t, u = rng.integers(0, 3, R), rng.integers(0, 3, M), 0.0
    v = spike * rng.uniform(0.2, 1.5, q) / np.sqrt(q)
    v[q // 2] = 0.0
    w = rng.uniform(0, 1, M) * (rng.random(M) < 0.8)
    own, omega = rng.uniform(0.1, 0.4, R), rng.uniform(0.5, 1.5, R) / R
    return (Z, C, y, t, is_category, agree), (v, w, u, own, own + 1.0, omega)


def twin(rows, weights):
    """The formula, pair by pair and column by column."""
    (Z, C, y, t, is_category, agree), (v, w, u, base_own, base_total, omega) = rows, weights
    log_kernel, steep = np.zeros((len(Z), len(C))), []
    for d in range(Z.shape[1]):
        x, c = Z[:, d, None], C[None, :, d]
        missing = np.isnan(x) | np.isnan(c)
        if is_category[d]:
            delta = (x != c).astype(float)
            decay = np.exp(-(v[d] ** 2) / 2)
            outside = np.log(agree[d] + (1 - agree[d]) * decay)
            slope = (1 - agree[d]) * decay / (agree[d] + (1 - agree[d]) * decay)
        else:
            delta = (x - c) ** 2
            outside = -0.5 * np.log(1 + 2 * v[d] ** 2)
            slope = 2 / (1 + 2 * v[d] ** 2)
        log_kernel += np.where(missing, outside, -0.5 * v[d] ** 2 * delta)
        steep.append(np.where(missing, slope, delta))
    G = np.exp(log_kernel)
    apart = y[:, None] - t
    m = u / np.sqrt(2 * np.pi) * np.exp(-((u * apart) ** 2) / 2) if u else (apart == 0) * 1.0
    own, total = (G * m) @ w, G @ w
    q, s = base_own + own, base_total + total
    b = (omega / (q + 1e-10 * s))[:, None]
    B = G * (b * (q / s)[:, None] - m * b)
    return {
        "value": -(omega * np.log(q / s + 1e-10)).sum(),
        "v": -v * np.array([(B * w * s).sum() for s in steep]),
        "w": B.sum(axis=0),
        "u": -(b * G * m * w * (1 / u - u * apart**2)).sum() if u else 0.0,
        "own": own,
        "total": total,
    }


def close(sums, expected, tolerance):
    for name in ("value", "v", "w", "u", "own", "total"):
        theirs = np.asarray(expected[name])
        most = np.abs(theirs).max() + 1e-300
        assert_allclose(getattr(sums, name), theirs, atol=tolerance * most, rtol=0, err_msg=name)


def exact(sums_of, pairs, weights, expected):
    """Sums in double precision, with and without derivatives."""
    sums = sums_of(pairs, *weights)
    close(sums, expected, 1e-12)
    masses = sums_of(pairs, *weights, gradient=False)
    assert_array_equal(masses.own, sums.own)
    assert masses.value == sums.value
    some = sums_of(pairs, *weights, columns=False)
    assert_array_equal(some.w, sums.w)
    assert_array_equal(some.v, 0.0)
