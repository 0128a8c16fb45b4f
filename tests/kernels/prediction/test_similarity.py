import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.numerics import powers as _power
from psephos.kernels.prediction.similarity import (
    InverseKernel,
    Metric,
    local_sums,
    mean_distance,
    pair_sums,
)

# without the JIT NumPy warns where a row leaves the range and is redone in logarithms
pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")


def twin_distance(x, z, metric):
    total, common = 0.0, 0
    for f in range(len(x)):
        if np.isnan(x[f]) or np.isnan(z[f]):
            continue
        common += 1
        diff = float(x[f] != z[f]) if metric.is_category[f] else x[f] - z[f]
        total += (diff / metric.scale[f]) ** 2
    return np.sqrt(len(x) / common * total) if common else metric.absent


def twin_distances(X, Z, metric):
    return np.array([[twin_distance(x, z, metric) for z in Z] for x in X])


def twin_sums(d, kernel, s, right, per_query=False):
    """``1 / (a^b + (d / scale)^b)`` written out; the exact branch at a = 0."""
    a, b, scale = kernel
    total, heard = np.zeros(len(d)), np.zeros((len(d), right.shape[1]))
    for r, row in enumerate(d):
        unit = (s * row).sum() if per_query else scale
        u = row / (unit if unit > 0 else 1.0)
        near = (u == 0) & (s > 0)
        if a == 0 and near.any():
            k = near.astype(float)
        else:
            k = np.zeros(len(u))
            k[s > 0] = 1 / (a**b + u[s > 0] ** b)
        total[r] = (s * k).sum()
        heard[r] = (s * k) @ right
    return total, heard


def example(seed, n=9, m=14, q=4, voters=5, missing=0.0, categories=False):
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((n, q)), rng.standard_normal((m, q))
    is_category = np.zeros(q, np.bool_)
    if categories:
        is_category[::2] = True
        X[:, ::2], Z[:, ::2] = rng.integers(0, 3, (n, 2)), rng.integers(0, 3, (m, 2))
    X[rng.random(X.shape) < missing] = np.nan
    Z[rng.random(Z.shape) < missing] = np.nan
    X[0] = Z[0]
    metric = Metric(rng.uniform(0.5, 2, q), is_category, 3.0)
    s = rng.uniform(0, 1, m) * (rng.random(m) < 0.8)
    s[0] = 0.5
    return X, Z, metric, s, rng.random((m, voters)) < 0.6


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_mean_distance_counts_multiplicity(random_seed, missing):
    _, Z, metric, *_ = example(random_seed, missing=missing)
    w = np.random.default_rng(random_seed).integers(0, 4, len(Z)).astype(float)
    d = twin_distances(Z, Z, metric)
    known = ~np.isnan(Z)
    common = (known[:, None] & known[None]).any(axis=2)
    pairs = np.outer(w, w) * common
    assert_allclose(mean_distance(Z, w, metric), (pairs * d).sum() / pairs.sum(), rtol=1e-13)
    again = np.repeat(np.arange(len(Z)), w.astype(int))
    assert_allclose(
        mean_distance(Z[again], np.ones(len(again)), metric),
        mean_distance(Z, w, metric),
        rtol=1e-13,
    )


def test_mean_distance_strides_and_has_an_answer_without_pairs(random_seed):
    _, Z, metric, *_ = example(random_seed, m=11)
    w = np.ones(11)
    assert mean_distance(Z, w, metric, max_rows=4) == mean_distance(Z[::3], w[::3], metric)
    assert mean_distance(np.full((3, 4), np.nan), np.ones(3), metric) == 0.0
    assert mean_distance(Z, np.zeros(11), metric) == 0.0


@pytest.mark.parametrize("b", [0.1, 0.5, 1.0, 2.0, 2.7, 3.0, 4.0, 5.0, 11.3, 20.0])
@pytest.mark.parametrize("a", [0.0, 1e-10, 0.1, 1.0])
@pytest.mark.parametrize("per_query", [False, True])
def test_sums_equal_the_formula(random_seed, a, b, per_query):
    for missing in (0.0, 0.3):
        X, Z, metric, s, right = example(random_seed, missing=missing)
        kernel = InverseKernel(a, b, 0.7)
        total, heard, log_scale = local_sums(X, Z, metric, kernel, s, right, per_query)
        want = twin_sums(twin_distances(X, Z, metric), kernel, s, right, per_query)
        scale = np.exp(log_scale)
        assert_allclose(total * scale, want[0], rtol=1e-12)
        assert_allclose(heard * scale[:, None], want[1], rtol=1e-12)
        again = local_sums(X, Z, metric, kernel, s, right, per_query, n_jobs=2)
        assert_array_equal(again[0], total)
        assert_array_equal(again[1], heard)


def test_exact_branch_hears_identical_anchors_only():
    Z = np.array([[0.0], [0.0], [1.0], [0.0]])
    right = np.array([[True], [False], [True], [True]])
    metric = Metric(np.ones(1), np.zeros(1, np.bool_), np.inf)
    s = np.array([1.0, 2.0, 4.0, 0.0])
    total, heard, log_scale = local_sums(
        np.array([[0.0]]), Z, metric, InverseKernel(0.0, 3.0, 1.0), s, right
    )
    assert (total[0], heard[0, 0], log_scale[0]) == (3.0, 1.0, 0.0)


@pytest.mark.parametrize("a", [0.0, 1e-300])
@pytest.mark.parametrize("b", [3.0, 37.5, 100.0])
@pytest.mark.parametrize("unit", [1e-120, 1.0, 1e120])
def test_no_overflow(a, b, unit):
    Z = np.array([[1.0], [2.0], [4.0]]) * unit
    right = np.array([[True], [False], [True]])
    metric = Metric(np.ones(1), np.zeros(1, np.bool_), np.inf)
    total, heard, log_scale = local_sums(
        np.array([[0.0], [unit]]), Z, metric, InverseKernel(a, b, 1.0), np.ones(3), right
    )
    assert np.isfinite(total).all()
    assert np.isfinite(log_scale).all()
    k = np.array([1.0, 2.0**-b, 4.0**-b])
    assert_allclose(heard[0, 0] / total[0], (k[0] + k[2]) / k.sum(), rtol=1e-11)
    nearest = -b * np.log(unit)
    assert_allclose(
        np.log(total[0]) + log_scale[0], nearest + np.log(k.sum()), rtol=1e-11, atol=1e-11
    )
    assert_allclose(heard[1, 0], total[1])  # the first anchor is at distance zero


def test_what_is_infinitely_far_has_no_weight():
    Z = np.array([[np.nan], [np.nan]])
    metric = Metric(np.ones(1), np.zeros(1, np.bool_), np.inf)
    total, heard, log_scale = local_sums(
        np.zeros((1, 1)), Z, metric, InverseKernel(0.1, 2.0, 1.0), np.ones(2), np.eye(2) > 0
    )
    assert_array_equal([total[0], *heard[0], log_scale[0]], 0.0)


def test_nobody_is_heard():
    X, Z, metric, _, right = example(0)
    total, heard, _ = local_sums(
        X, Z, metric, InverseKernel(0.1, 2.0, 1.0), np.zeros(len(Z)), right
    )
    assert_array_equal(total, 0.0)
    assert_array_equal(heard, 0.0)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("a", [0.0, 0.1])
@pytest.mark.parametrize("per_query", [False, True])
def test_one_anchor_left_out(random_seed, missing, a, per_query):
    X, Z, metric, s, right = example(random_seed, missing=missing, categories=True)
    own = np.array([0, -1, 3, 3, 5, -1, 13, 2, 7])
    kernel = InverseKernel(a, 2.5, 0.7)
    got = local_sums(X, Z, metric, kernel, s, right, per_query, own=own)
    assert_array_equal(got[2], 0.0)
    d = twin_distances(X, Z, metric)
    for r, left_out in enumerate(own):
        alone = np.where(np.arange(len(s)) == left_out, 0.0, s)
        want = twin_sums(d[r : r + 1], kernel, alone, right, per_query)
        assert_allclose(got[0][r], want[0][0], rtol=1e-12)
        assert_allclose(got[1][r], want[1][0], rtol=1e-12, atol=1e-300)


def test_an_only_anchor_left_out_leaves_nothing():
    metric = Metric(np.ones(1), np.zeros(1, np.bool_), np.inf)
    Z, right = np.zeros((1, 1)), np.ones((1, 2), np.bool_)
    kernel = InverseKernel(0.1, 2.0, 1.0)
    total, heard, _ = local_sums(Z, Z, metric, kernel, np.ones(1), right, own=np.zeros(1, np.int64))
    assert (total[0], heard.sum()) == (0.0, 0.0)
    total, heard = pair_sums(Z, metric, kernel, np.ones(1), right, True)
    assert (total[0], heard.sum()) == (0.0, 0.0)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize(("a", "b"), [(0.0, 2.5), (0.1, 2.5), (0.1, 4.0), (1e-60, 3.0)])
def test_pairs_weighed_once(random_seed, missing, leave_out, a, b):
    for m in (1, 2, 14, 65, 97):
        _, Z, metric, s, right = example(random_seed, m=m, missing=missing, categories=True)
        kernel = InverseKernel(a, b, 0.7)
        total, heard = pair_sums(Z, metric, kernel, s, right, leave_out)
        own = np.arange(m) if leave_out else None
        want = local_sums(Z, Z, metric, kernel, s, right, own=own)
        assert_array_equal(want[2], 0.0)
        assert_allclose(total, want[0], rtol=1e-12)
        assert_allclose(heard, want[1], rtol=1e-12, atol=1e-300)


def test_pairs_far_apart_are_weighed_row_by_row():
    Z = np.array([[0.0], [1.0], [3.0]]) * 1e140
    metric = Metric(np.ones(1), np.zeros(1, np.bool_), np.inf)
    right = np.array([[True], [False], [True]])
    kernel = InverseKernel(0.0, 8.0, 1e10)
    total, heard = pair_sums(Z, metric, kernel, np.ones(3), right, True)
    near, far = 1.0, 3.0**-8
    assert_allclose((heard[:, 0] / total)[:2], [far / (near + far), 1.0], rtol=1e-12)


def test_read_only_and_other_layouts(random_seed):
    X, Z, metric, s, right = example(random_seed)
    kernel = InverseKernel(0.1, 3.0, 1.0)
    first = local_sums(X, Z, metric, kernel, s, right)
    frozen = Z.copy()
    frozen.flags.writeable = False
    again = local_sums(np.asfortranarray(X), frozen, metric, kernel, s, np.asfortranarray(right))
    assert_array_equal(first[0], again[0])
    assert_allclose(first[1], again[1], rtol=1e-15)


def twin_inverse_power(x, b, base):
    return 1 / (np.longdouble(base) + np.sqrt(np.longdouble(x)) ** np.longdouble(b))


def test_inverse_power(random_seed):
    @settings(max_examples=50)
    @given(
        st.floats(1e-280, 1e280), st.floats(0.05, 120.0), st.booleans(), st.floats(1e-200, 1e200)
    )
    def run(x, b, whole, base):
        b = max(1.0, np.floor(b / 8)) if whole else b
        if abs(0.5 * b * np.log2(x)) > 900 or abs(np.log2(x)) > 900:
            return
        want = twin_inverse_power(np.array([x, 0.0]), b, base).astype(float)
        u = np.array([x / 4, 0.0])
        _power.inverse_power(u, 4.0, b, base)
        assert_allclose(u, want, rtol=1e-12)

    run()


@pytest.mark.parametrize("b", [2.0, 3.0, 15.0, 2.5, 37.5, 100.0])
def test_inverse_power_beyond_its_range_shows_it(b):
    """Never a number of middling size: the rows of such are weighed by logarithms."""
    for x in (0.0, 1e-300, 1e-100, 1e50, 1e150, 1e250, 1e308, np.inf):
        for base in (0.0, 1e-310, 1e-300, 1.0, 1e300):
            u = np.array([x])
            _power.inverse_power(u, 1.0, b, base)
            with np.errstate(over="ignore", divide="ignore"):
                want = 1 / (base + np.sqrt(x) ** b)
            if 1e-280 < u[0] < 1e280 or 1e-280 < want < 1e280:
                assert_allclose(u[0], want, rtol=1e-9)


def test_root(random_seed):
    x = 2.0 ** np.random.default_rng(random_seed).uniform(-900, 900, 1000)
    assert_allclose([_power.root(v) for v in x], np.sqrt(x), rtol=1e-15)
    assert _power.root(0.0) == 0.0


@pytest.mark.parametrize("exponent", [-700, -60, 500, 900])
def test_weights_of_any_size_have_the_same_mean(exponent):
    rng = np.random.default_rng(0)
    Z, w = rng.normal(size=(40, 3)), rng.random(40)
    metric = Metric(np.ones(3), np.zeros(3, np.bool_), 1.0)
    assert mean_distance(Z, np.ldexp(w, exponent), metric) == mean_distance(Z, w, metric)
