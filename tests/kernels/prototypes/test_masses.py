import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.prototypes import kernel as prototype_masses
from psephos.kernels.prototypes.kernel import kernel_sums


def example(seed, n=130, m=45, q=6, missing=0.0, categories=0, spike=1.0):
    rng = np.random.default_rng(seed)
    Z, C = rng.standard_normal((n, q)) + 1.0, rng.standard_normal((m, q)) + 1.0
    is_category, agree = np.zeros(q, np.bool_), np.zeros(q)
    is_category[:categories], agree[:categories] = True, 0.37
    Z[:, :categories] = rng.integers(0, 3, (n, categories))
    C[:, :categories] = rng.integers(0, 3, (m, categories))
    Z[rng.random(Z.shape) < missing] = np.nan
    C[rng.random(C.shape) < missing] = np.nan
    v = spike * rng.uniform(0.2, 1.5, q) / np.sqrt(q)
    v[q // 2] = 0.0
    w = rng.uniform(0, 1, m) * (rng.random(m) < 0.8)
    return Z, C, v, w, is_category, agree


def kernels(Z, C, v, is_category, agree):
    """The formula, pair by pair and column by column."""
    log_kernel = np.zeros((len(Z), len(C)))
    for d in range(Z.shape[1]):
        x, c = Z[:, d, None], C[None, :, d]
        delta = (x != c).astype(float) if is_category[d] else (x - c) ** 2
        outside = -0.5 * np.log(1 + 2 * v[d] ** 2)
        if is_category[d]:
            outside = np.log(agree[d] + (1 - agree[d]) * np.exp(-(v[d] ** 2) / 2))
        log_kernel += np.where(np.isnan(x) | np.isnan(c), outside, -0.5 * v[d] ** 2 * delta)
    return np.exp(log_kernel)


SHAPES = [
    {"q": 2},
    {"missing": 0.2, "categories": 2},
    {"q": 40, "n": 250, "m": 70},
    {"q": 40, "missing": 0.01, "categories": 3},
    {"q": 40, "spike": 4.0},
    {"q": 300, "n": 97, "m": 33},
    {"q": 9, "n": 1, "m": 1},
    {"q": 1, "m": 3},
]


def tables(w):
    """Weights of sums that share prototypes, and of classes that do not."""
    shared = np.stack([w, -w, 0 * w, w * (w > 0.5)], axis=1)
    return shared, np.eye(3)[np.arange(len(w)) % 3] * w[:, None]


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_are_those_of_the_formula(random_seed, monkeypatch, shape):
    monkeypatch.setattr(prototype_masses, "_CHUNK", 50)
    Z, C, v, w, *kinds = example(random_seed, **shape)
    for table in tables(w):
        found = kernel_sums(Z, C, v, table, *kinds)
        G = kernels(Z, C, v, *kinds)
        assert_allclose(found, G @ table, rtol=1e-12, atol=1e-30)
        assert_array_equal(kernel_sums(Z, C, v, table, *kinds, n_jobs=2), found)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_hears_the_same_in_any_company(random_seed, shape):
    Z, C, v, w, *kinds = example(random_seed, **shape)
    Z[::5] *= 40.0
    Z[3::7, 0] = np.nan  # some lack a value that all prototypes have
    for table in tables(w):
        found = kernel_sums(Z, C, v, table, *kinds)
        assert_allclose(found, kernels(Z, C, v, *kinds) @ table, rtol=1e-12, atol=1e-30)
        alone = [kernel_sums(z[None], C, v, table, *kinds)[0] for z in Z[::3]]  # of each kind
        assert_array_equal(found[::3], alone)
        assert_array_equal(kernel_sums(Z[::-1], C, v, table, *kinds)[::-1], found)


@pytest.mark.parametrize("n_sums", [1, 2, 5, 11, 20])
def test_a_sum_is_the_same_to_the_bit_whatever_other_sums_there_are(random_seed, n_sums):
    rng = np.random.default_rng(random_seed)
    Z, C, v, w, *kinds = example(random_seed, n=41, m=90, q=12)
    Z[3, 5] = np.nan  # looked at apart
    table = np.eye(n_sums)[rng.integers(0, n_sums, len(C))] * w[:, None]
    found = kernel_sums(Z, C, v, table, *kinds)
    for k in range(n_sums):
        alone = kernel_sums(Z, C, v, table[:, [k]], *kinds)
        assert_array_equal(found[:, k], alone[:, 0])


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # as plain Python
def test_rows_that_are_infinitely_far_have_no_similarity():
    Z, none = np.array([[1e308], [-1e308], [-5e4]]), np.zeros(1)
    found = kernel_sums(Z, np.array([[-5e4]]), np.ones(1), np.ones((1, 1)), none > 0, none)
    assert_allclose(found, [[0.0], [0.0], [1.0]], atol=1e-200)


def test_no_weight_and_no_column(random_seed):
    Z, C, v, w, *kinds = example(random_seed)
    assert_array_equal(kernel_sums(Z, C, v, np.zeros((45, 2)), *kinds), 0.0)
    assert_array_equal(kernel_sums(Z, C[:0], v, np.zeros((0, 2)), *kinds), 0.0)
    assert_array_equal(kernel_sums(Z[:0], C, v, w[:, None], *kinds), np.empty((0, 1)))
    assert_allclose(kernel_sums(Z, C, 0 * v, w[:, None], *kinds), w.sum())
