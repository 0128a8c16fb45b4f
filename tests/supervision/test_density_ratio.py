"""Ratios of densities: closed forms, optimality, held-out scores, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from psephos import PsephosError
from psephos.supervision import KLIEP, ULSIF
from psephos.supervision.density_ratio import _held_out, _left_out, _likeliest


def samples(n_top=60, n_bottom=80, seed=0, p=2):
    rng = np.random.default_rng(seed)
    return rng.normal(0.8, 0.8, (n_top, p)), rng.normal(0, 1, (n_bottom, p))


def kernels(X, centres, sigma):
    return np.exp(-(cdist(X, centres) ** 2) / (2 * sigma**2))


@pytest.mark.parametrize("weighted", [False, True])
def test_ulsif_is_the_linear_solution(weighted):
    top, bottom = samples()
    rng = np.random.default_rng(1)
    a = rng.random(len(top)) + 0.1 if weighted else np.ones(len(top))
    b = rng.random(len(bottom)) + 0.1 if weighted else np.ones(len(bottom))
    weights = (a, b) if weighted else (None, None)
    model = ULSIF(20, sigma=0.9, alpha=0.2, random_state=0).fit(top, bottom, weights)
    K_top = kernels(top, model.components_, 0.9)
    K_bottom = kernels(bottom, model.components_, 0.9)
    H = sum(w * np.outer(k, k) for w, k in zip(b, K_bottom, strict=True)) / b.sum()
    h = sum(w * k for w, k in zip(a, K_top, strict=True)) / a.sum()
    solution = np.maximum(np.linalg.solve(H + 0.2 * np.eye(20), h), 0)
    assert_allclose(model.dual_coef_, solution, atol=1e-10)
    assert_allclose(model.predict(bottom), K_bottom @ solution, atol=1e-9)
    assert (model.dual_coef_ == 0).any()


@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_one_out_is_fitting_without_it(weighted):
    top, bottom = samples(9, 12)
    rng = np.random.default_rng(2)
    a, b = (
        rng.random(len(part)) + 0.2 if weighted else np.ones(len(part)) for part in (top, bottom)
    )
    a, b = a / a.sum(), b / b.sum()
    centres, alphas = top[:5], [0.01, 0.5]
    K_top, K_bottom = kernels(top, centres, 1.0), kernels(bottom, centres, 1.0)
    pairs = np.arange(9)[::-1], np.arange(9)
    found = _left_out(K_top, K_bottom, a, b, pairs, alphas)
    for alpha, error in zip(alphas, found, strict=True):
        each = []
        for j, i in zip(*pairs, strict=True):
            rest_top = np.delete(np.arange(9), j)
            rest = np.delete(np.arange(12), i)
            w_top, w = a[rest_top] / a[rest_top].sum(), b[rest] / b[rest].sum()
            H = (K_bottom[rest] * w[:, None]).T @ K_bottom[rest]
            dual = np.linalg.solve(H + alpha * np.eye(5), w_top @ K_top[rest_top])
            dual = np.maximum(dual, 0)
            each.append((K_bottom[i] @ dual) ** 2 / 2 - K_top[j] @ dual)
        assert_allclose(error, np.mean(each), rtol=1e-9)


def test_ulsif_takes_the_least_score():
    top, bottom = samples(40, 50)
    model = ULSIF(10, random_state=0).fit(top, bottom)
    assert model.scores_.shape == (7, 9)
    s, k = np.unravel_index(model.scores_.argmin(), model.scores_.shape)
    squared = cdist(bottom, model.components_, "sqeuclidean")
    widths = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0]) * np.sqrt(np.median(squared))
    assert_allclose(model.sigma_, widths[s])
    assert_allclose(model.alpha_, 10.0 ** (-3 + 0.5 * k))
    one = ULSIF(10, sigma=model.sigma_, alpha=model.alpha_, random_state=0).fit(top, bottom)
    assert_allclose(one.dual_coef_, model.dual_coef_)
    grid = ULSIF(10, sigma=[0.5, 1.0], alpha=[0.1], random_state=0).fit(top, bottom)
    assert grid.scores_.shape == (2, 1)
    assert grid.sigma_ == [0.5, 1.0][int(grid.scores_.argmin())]


@pytest.mark.parametrize("sigma", [0.4, 1.0, "median"])
@pytest.mark.parametrize("seed", range(3))
def test_kliep_is_optimal(sigma, seed):
    top, bottom = samples(60, 80, seed)
    model = KLIEP(30, sigma=sigma, random_state=0).fit(top, bottom)
    K_top = kernels(top, model.components_, model.sigma_)
    centre = kernels(bottom, model.components_, model.sigma_).mean(0)
    dual = model.dual_coef_
    assert (dual >= 0).all()
    assert_allclose(centre @ dual, 1.0, atol=1e-12)
    gain = (K_top / (K_top @ dual)[:, None]).mean(0) / centre
    reached = centre >= 1 / len(bottom)
    assert (dual[~reached] == 0).all()
    assert gain[reached].max() <= 1 + 1e-7
    assert_allclose(gain[centre * dual > 1e-6], 1.0, atol=1e-4)
    assert_allclose(((gain - 1) * centre * dual)[reached], 0.0, atol=1e-7)


def test_kliep_beats_any_other_point():
    top, bottom = samples(30, 40)
    centres = top[:8]
    K, c = kernels(top, centres, 0.7), kernels(bottom, centres, 0.7).mean(0)
    share = np.full(30, 1 / 30)
    best = _likeliest(K, c, share, 1e-9)
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = rng.exponential(1, 8)
        other /= c @ other
        assert share @ np.log(K @ other) <= share @ np.log(K @ best) + 1e-9


def test_kliep_weights_are_copies():
    top, bottom = samples(20, 30)
    twice = np.arange(20) % 3 == 0
    rows = np.r_[np.arange(20), np.flatnonzero(twice)]
    c = kernels(bottom, top, 0.8).mean(0)
    K = kernels(top, top, 0.8)
    weight = (1.0 + twice) / (1.0 + twice).sum()
    many = np.full(len(rows), 1 / len(rows))
    assert_allclose(
        K @ _likeliest(K, c, weight, 1e-10), K @ _likeliest(K[rows], c, many, 1e-10), atol=1e-5
    )


def test_kliep_scores_rows_held_out():
    """The ratio is fitted without a fold of both samples, and scaled to 1 over its denominator."""
    top, bottom = samples(12, 15)
    rng = np.random.default_rng(4)
    a, b = rng.random(12) + 0.2, rng.random(15) + 0.2
    a, b = a / a.sum(), b / b.sum()
    folds = np.arange(12) % 3, np.arange(15) % 3
    K, below = kernels(top, top, 1.2), kernels(bottom, top, 1.2)
    total = 0.0
    for fold in range(3):
        out, under = folds[0] == fold, folds[1] == fold
        rest = b[~under] / b[~under].sum()
        centre = rest @ below[~under]
        dual = _likeliest(K[~out], centre, a[~out] / a[~out].sum(), 1e-10, rest @ rest)
        mean = np.average(below[under] @ dual, weights=b[under])
        assert abs(mean - 1) > 0.01  # the scaling is of weight
        total += a[out] @ np.log(K[out] @ dual / mean)
    assert_allclose(_held_out((K, below), (a, b), folds, 1e-10), total, rtol=1e-9)


@pytest.mark.parametrize("kind", [ULSIF, KLIEP])
def test_rows_without_weight_are_not_there(kind):
    top, bottom = samples(30, 40)
    a, b = (np.arange(len(part)) % 3 > 0 for part in (top, bottom))
    weighted = kind(random_state=0).fit(top, bottom, (a.astype(float), b.astype(float)))
    alone = kind(random_state=0).fit(top[a], bottom[b])
    assert_array_equal(weighted.predict(bottom), alone.predict(bottom))
    assert weighted.sigma_ == alone.sigma_


@pytest.mark.parametrize("kind", [ULSIF, KLIEP])
def test_the_median_is_of_points_that_differ(kind):
    """Most rows of the denominator are equal to a centre: the width goes by the others."""
    top, bottom = np.zeros((5, 1)), np.r_[np.zeros((9, 1)), np.full((4, 1), 0.003)]
    assert_allclose(kind(sigma="median", random_state=0).fit(top, bottom).sigma_, 0.003)


@pytest.mark.parametrize("kind", [ULSIF, KLIEP])
@pytest.mark.parametrize("which", [0, 1])
def test_of_one_row_the_middle_of_the_lists_is_taken(kind, which):
    parts = list(samples(30, 40))
    parts[which] = parts[which][:1]
    model = kind(random_state=0).fit(*parts)
    width = np.sqrt(np.median(cdist(parts[1], model.components_, "sqeuclidean")))
    assert_allclose(model.sigma_, width)
    assert (model.scores_ == 0).all()
    assert np.isfinite(model.predict(parts[1])).all()
    if kind is ULSIF:
        assert_allclose(model.alpha_, 0.1)


@pytest.mark.parametrize("kind", [ULSIF, KLIEP])
@pytest.mark.parametrize("sigma", [1e-200, 1e200, [1.0, 1e200], 0, True, "wide"])
def test_widths_without_a_square_are_refused(kind, sigma):
    with pytest.raises(PsephosError, match=r"'sigma'.* a number from 1e-150 to 1e150"):
        kind(sigma=sigma).fit(*samples(20, 20))


@pytest.mark.parametrize("kind", [ULSIF, KLIEP])
def test_values_without_a_square_are_refused(kind):
    top, bottom = samples(20, 20)
    with pytest.raises(PsephosError, match="values are too large"):
        kind().fit(top * 1e200, bottom)
    with pytest.raises(PsephosError, match="values are too large"):
        kind(random_state=0).fit(top, bottom).predict(bottom * 1e200)


def test_a_ridge_that_is_none_is_told():
    same = np.zeros((20, 1))
    with pytest.raises(PsephosError, match=r"alpha must be large enough .*; got 1e-100"):
        ULSIF(sigma=1.0, alpha=1e-100).fit(same, same)


@pytest.mark.parametrize("kind", [ULSIF, KLIEP])
def test_errors_fall_as_samples_grow(kind):
    """The ratio of N(.6, .8^2) to N(0, 1), weighed by the denominator, at ten draws a size."""
    errors = []
    for n in (50, 1000):
        each = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            top, bottom = rng.normal(0.6, 0.8, (n, 1)), rng.normal(0, 1, (n, 1))
            new = rng.normal(0, 1, (2000, 1))
            true = np.exp(-((new - 0.6) ** 2) / 1.28 + new**2 / 2).ravel() / 0.8
            each.append(np.mean(np.abs(kind(random_state=0).fit(top, bottom).predict(new) - true)))
        errors.append(np.mean(each))
    assert errors[1] < errors[0] / 1.7
    assert errors[1] < 0.15


@pytest.mark.parametrize("kind", [ULSIF, KLIEP])
def test_same_seed_same_ratio(kind):
    top, bottom = samples(150, 120)
    first, second = (kind(random_state=3).fit(top, bottom) for _ in range(2))
    assert (first.dual_coef_ == second.dual_coef_).all()
    assert len(first.dual_coef_) == 100


@pytest.mark.parametrize("kind", [ULSIF, KLIEP])
def test_what_is_no_sample_is_refused(kind):
    top, bottom = samples(20, 20)
    with pytest.raises(PsephosError, match="must have the same columns; got 1 and 2"):
        kind().fit(top[:, :1], bottom)
    with pytest.raises(ValueError, match="NaN"):
        kind().fit(top, np.full_like(bottom, np.nan))
    with pytest.raises(PsephosError, match="weights of a sample must not be all zero"):
        kind().fit(top, bottom, (np.zeros(20), None))
    with pytest.raises(PsephosError, match="parameter 'sigma'"):
        kind(sigma="wide").fit(top, bottom)
    with pytest.raises(PsephosError, match="X must have 2 columns, as in fit; got 1"):
        kind(random_state=0).fit(top, bottom).predict(bottom[:, :1])


def test_kliep_says_when_no_row_is_near():
    with pytest.raises(PsephosError, match="use a greater sigma"):
        KLIEP(sigma=0.01).fit(np.zeros((5, 1)), np.full((5, 1), 9.0))
    model = KLIEP(sigma=[0.01, 9.0], random_state=0).fit(np.zeros((5, 1)), np.full((5, 1), 9.0))
    assert model.sigma_ == 9.0
    assert model.scores_[0] == -np.inf
