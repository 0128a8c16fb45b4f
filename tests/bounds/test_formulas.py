"""Numerics and formulas of bounds against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import gammaln, xlogy

from psephos import PsephosError
from psephos.bounds import folds_bound
from psephos.bounds.formulas import (
    binomial_inverse,
    c_bound_1,
    c_bound_2,
    c_bound_value,
    gibbs_kl,
    kl,
    kl_inverse,
    sample_compression,
    tandem_kl,
    xi,
)

SHARES = st.floats(0, 1)


@given(SHARES, st.floats(0, 3), st.booleans())
def test_the_inverse_of_kl(q, most, upper):
    p = kl_inverse(q, most, upper=upper)
    assert p >= q if upper else p <= q
    end = 1.0 if upper else 0.0
    inside = p + (1e-9 if not upper else -1e-9)
    assert p == end or kl(q, p) >= most - 1e-9
    assert not min(q, p) < inside < max(q, p) or kl(q, inside) <= most + 1e-7


@given(st.integers(1, 400))
def test_xi_is_its_sum(m):
    k = np.arange(m + 1)
    logs = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    logs = logs + xlogy(k, k / m) + xlogy(m - k, 1 - k / m)
    assert_allclose(xi(m), np.exp(logs).sum(), rtol=1e-11)
    assert np.sqrt(m) <= xi(m) <= 2 * np.sqrt(m) + (m == 1) * 1e-12


def test_xi_of_many_rows():
    for m in (10**6, 10**9):
        assert_allclose(xi(m), np.sqrt(np.pi * m / 2) + 2 / 3, rtol=1e-6)


@given(st.integers(0, 40), st.integers(1, 40), st.floats(1e-4, 0.5))
def test_the_binomial_limit(k, n, delta):
    k = min(k, n)
    p = binomial_inverse(k, n, delta)
    assert p == 1.0 if k == n else True
    if k < n:
        assert_allclose(stats.binom.cdf(k, n, p), delta, rtol=1e-6)
    assert p <= kl_inverse(k / n, -np.log(delta) / n) + 1e-9  # Chernoff's is larger


@settings(max_examples=25)
@given(st.floats(0.01, 0.49), SHARES, st.floats(0, 5), st.integers(60, 3000))
def test_pac_bound_2_is_the_maximum_over_a_grid(risk, share, divergence, n):
    d = share * 2 * risk * (1 - risk)
    e = risk - d / 2
    found = c_bound_2(risk, d, divergence, n)
    most = (2 * divergence + np.log((xi(n) + n) / 0.05)) / n
    ones, ds = np.meshgrid(np.linspace(1e-6, 1, 500), np.linspace(1e-6, 0.5, 500))
    rest = 1 - ones - ds
    with np.errstate(divide="ignore", invalid="ignore"):
        size = xlogy(e, e / ones) + xlogy(d, d / ds) + xlogy(1 - e - d, (1 - e - d) / rest)
        inside = (rest > 0) & (size <= most) & (ds <= 2 * (np.sqrt(ones) - ones))
        value = np.where(2 * ones + ds >= 1, 1.0, 1 - (1 - 2 * ones - ds) ** 2 / (1 - 2 * ds))
    grid = value[inside].max(initial=c_bound_value(risk, d))
    assert grid <= found + 1e-7
    assert found <= 1.0
    assert found - grid < 0.05 or not inside.sum() > 500


@given(st.floats(0.01, 0.4), SHARES, st.floats(0.1, 5), st.integers(100, 3000))
def test_pac_bound_1_has_one_divergence_for_the_risk_and_two_for_disagreement(
    risk, share, divergence, n
):
    d = share * 2 * risk * (1 - risk)
    size = np.log(2 * xi(n) / 0.05)
    most = kl_inverse(risk, (divergence + size) / n)
    least = kl_inverse(d, (2 * divergence + size) / n, upper=False)
    value = 1 - (1 - 2 * most) ** 2 / (1 - 2 * least) if most < 0.5 else 1.0
    assert_allclose(c_bound_1(risk, d, divergence, n), min(max(value, 0.0), 1.0), atol=1e-12)


def test_pac_bound_1_by_hand():
    # kl(.2 || r) = (5 + ln(2 xi / .05)) / 1000 and kl(.3 || d) = (10 + ln(2 xi / .05)) / 1000
    r, d = 0.267578458753924, 0.219810790014154
    size = np.log(2 * xi(1000) / 0.05)
    assert_allclose([kl(0.2, r), kl(0.3, d)], [(5 + size) / 1000, (10 + size) / 1000], rtol=1e-6)
    assert_allclose(c_bound_1(0.2, 0.3, 5.0, 1000), 1 - (1 - 2 * r) ** 2 / (1 - 2 * d), rtol=1e-6)


def test_the_binomial_limit_of_a_tiny_chance():
    assert_allclose(binomial_inverse(0, 100, 1e-40), 1 - 1e-40 ** (1 / 100), rtol=1e-12)
    assert_allclose(stats.binom.logcdf(3, 200, binomial_inverse(3, 200, 1e-30)), np.log(1e-30))
    below, above = (binomial_inverse(2, 90, delta) for delta in (0.999e-6, 1.001e-6))
    assert 0 < below - above < 1e-4


@given(st.floats(0, 0.5), st.floats(0, 10), st.integers(10, 10**5), st.floats(1e-3, 0.5))
def test_bounds_lie_above_what_they_bound_and_shrink_with_rows(risk, divergence, n, delta):
    for formula in (gibbs_kl, lambda *a: tandem_kl(*a) / 4):
        few, many = (formula(risk, divergence, m, delta) for m in (n, 4 * n))
        assert risk <= many <= few + 1e-12
    assert gibbs_kl(risk, divergence, n, delta) <= gibbs_kl(risk, divergence, n, delta, exact=False)


@given(st.floats(0, 0.5), st.floats(0, 10), st.integers(10, 10**4), st.floats(1e-3, 0.5))
def test_sample_compression_has_xi_or_its_limit(risk, divergence, n, delta):
    size = 3
    for exact, of in ((True, xi(n - size)), (False, 2 * np.sqrt(n - size))):
        w = divergence + 4 * size + np.log(of / delta)
        found = sample_compression(risk, divergence, n, size, delta, exact=exact)
        assert found == pytest.approx(risk + np.sqrt(w / (2 * (n - size))))


def test_numbers_that_are_none_are_sentences():
    for ask in (
        lambda: kl_inverse(1.2, 0.1),
        lambda: xi(0),
        lambda: binomial_inverse(5, 4, 0.05),
        lambda: c_bound_value(0.2, 0.4),
        lambda: sample_compression(0.2, 1.0, 3),
        lambda: folds_bound([1], [4, 5], 2),
        lambda: folds_bound([5], [4], 2),
        lambda: folds_bound([0], [0], 2),
        lambda: folds_bound([1], [4], 1),
    ):
        with pytest.raises(PsephosError):
            ask()
    with pytest.raises(PsephosError, match=r"fold 1 has 1.5 errors among 10 test rows"):
        folds_bound([1, 1.5], [10, 10], 2)
    assert folds_bound(np.array([1]), np.array([4]), np.int64(2)).value < 1
