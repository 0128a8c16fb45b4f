import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.prototypes.kernel import kernel_sums
from psephos.models.prototypes import objective
from psephos.models.prototypes.objective import BatchObjective
from psephos.models.prototypes.problem import ScaledRows
from psephos.vote import KernelScaling

PENALTIES = {"lambda_v": 1e-2, "lambda_w": 1e-3, "lambda_u": 1e-3, "alpha_v": 0.3, "alpha_w": 0.1}


def own_and_total(Z, prototypes, v, w, y, n_classes, *, is_category, agree):
    """The mass of each class."""
    table = w[:, None] * (y[:, None] == np.arange(n_classes))
    return kernel_sums(Z, prototypes, v, table, is_category, agree)


def parts(seed, regression=False, missing=0.0, categories=False, q=5, R=61, M=23):
    """A batch after an earlier one: base masses differ from row to row."""
    rng = np.random.default_rng(seed)
    Z, C = rng.standard_normal((R, q)), rng.standard_normal((M, q))
    is_category, agree = np.zeros(q, np.bool_), np.zeros(q)
    if categories:
        is_category[[1, 3]], agree[[1, 3]] = True, (0.4, 0.3)
        Z[:, [1, 3]], C[:, [1, 3]] = rng.integers(0, 3, (R, 2)), rng.integers(0, 3, (M, 2))
    Z[rng.random(Z.shape) < missing] = np.nan
    C[rng.random(C.shape) < missing] = np.nan
    if regression:
        y, t = rng.standard_normal(R), rng.standard_normal(M)
    else:
        y, t = rng.integers(0, 3, R), rng.integers(0, 3, M)
    own, omega = rng.uniform(0.2, 0.5, R), rng.uniform(0.5, 2, R) / R
    given = (Z, C, y, t, own, own + rng.uniform(0.6, 2, R), omega, is_category, agree)
    theta = rng.uniform(0.3, 1.2, q + M + regression)
    theta[q + 2] = 0.0  # a candidate without weight
    return given, theta


def differences(f, theta, step=1e-5):
    """Central, of fourth order."""
    out = np.empty(len(theta))
    for i in range(len(theta)):
        if theta[i] == 0.0:  # one-sided, of fourth order
            values = [f(np.where(np.arange(len(theta)) == i, k * step, theta))[0] for k in range(5)]
            out[i] = np.dot([-25, 48, -36, 16, -3], values) / (12 * step)
            continue
        values = []
        for k in (-2, -1, 1, 2):
            moved = theta.copy()
            moved[i] += k * step
            values.append(f(moved)[0])
        out[i] = np.dot([1, -8, 8, -1], values) / (12 * step)
    return out


@pytest.mark.parametrize("regression", [False, True])
def test_a_row_that_is_both_does_not_hear_itself(random_seed, regression):
    """As if each reference were judged by the candidates without it, or with part of it."""
    given, theta = parts(random_seed, regression, missing=0.1, R=40)
    rng = np.random.default_rng(random_seed)
    own = np.sort(rng.choice(40, 23, replace=False))
    given = (given[0], given[0][own], given[2], given[2][own], *given[4:])
    twin = np.full(40, -1)
    twin[own] = np.arange(23)
    echo = rng.choice([0.0, 0.75], 40)
    settings = {"regression": regression, "dtype": "float64", **PENALTIES}
    both = BatchObjective(*given, twin=twin, echo=echo, **settings)
    value, gradient = both(theta)
    apart, none = 0.0, np.zeros(40)
    penalty = BatchObjective(*given[:6], none, *given[7:], **settings)(theta)[0]  # omega 0
    for n in range(40):
        quiet = theta.copy()
        if twin[n] >= 0:
            quiet[5 + twin[n]] *= echo[n]
        one = none.copy()
        one[n] = given[6][n]
        alone = BatchObjective(*given[:6], one, *given[7:], **settings)
        rest = BatchObjective(*given[:6], none, *given[7:], **settings)
        apart += alone(quiet)[0] - rest(quiet)[0]
    assert_allclose(value, apart + penalty, rtol=1e-12)
    expected = differences(both, theta, 1e-3)
    assert_allclose(gradient, expected, atol=1e-9 * np.abs(expected).max(), rtol=1e-8)
    by_weights = both.by_weights(theta)
    assert_allclose(by_weights[0], value, rtol=1e-14)
    assert_allclose(by_weights[1], gradient[5:28], rtol=1e-12)


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("q", [5, 30])
def test_gradient_is_that_of_differences(random_seed, regression, missing, categories, q):
    given, theta = parts(random_seed, regression, missing, categories, q)
    f = BatchObjective(*given, regression=regression, dtype="float64", **PENALTIES)
    theta[:q] *= np.sqrt(5 / q)
    theta[0] = 0.0
    _, gradient = f(theta)
    expected = differences(f, theta, 1e-3)
    assert_allclose(gradient, expected, atol=1e-9 * np.abs(expected).max(), rtol=1e-8)


@pytest.mark.parametrize("regression", [False, True])
def test_value_is_the_formula(random_seed, regression):
    (Z, C, y, t, own, total, omega, *_), theta = given, theta = parts(random_seed, regression)
    f = BatchObjective(*given, regression=regression, dtype="float64", **PENALTIES)
    v, w, u = theta[:5], theta[5:28], theta[-1]
    G = np.exp(-0.5 * (((Z[:, None] - C) * v) ** 2).sum(axis=2))
    apart = y[:, None] - t
    m = u / np.sqrt(2 * np.pi) * np.exp(-((u * apart) ** 2) / 2) if regression else apart == 0
    q, s = own + (G * m) @ w, total + G @ w
    value = -(omega * np.log(q / s + 1e-10)).sum()
    value += 1e-2 * (0.35 * (v**2).sum() + 0.3 * v.sum()) + 1e-3 * (
        0.45 * (w**2).sum() + 0.1 * w.sum()
    )
    value += 0.5e-3 * u**2 if regression else 0.0
    assert_allclose(f(theta)[0], value, rtol=1e-13)
    assert_allclose(f.masses(theta), (q, s), rtol=1e-12)


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("q", [5, 40])
def test_single_precision(random_seed, regression, missing, q):
    given, theta = parts(random_seed, regression, missing, True, q, R=300, M=70)
    single, double = (
        BatchObjective(*given, regression=regression, dtype=d) for d in ("float32", "float64")
    )
    value, gradient = double(theta)
    other, theirs = single(theta)
    assert_allclose(other, value, rtol=1e-6)
    assert_allclose(theirs, gradient, atol=3e-5 * np.abs(gradient).max())


def lone_mass(x, c, v, options):
    options = {name: np.array(value) for name, value in options.items()}
    one, none = np.ones(1), np.zeros(1, np.intp)
    return own_and_total(np.array([[x]]), np.array([[c]]), v, one, none, 1, **options)[0, 0]


def test_a_missing_value_leaves_the_mean_kernel_as_it_is(random_seed):
    """A prototype drawn at random weighs as much, on average, as where its value is missing."""
    rng = np.random.default_rng(random_seed)
    C = rng.standard_normal((200_000, 1))
    x = rng.standard_normal((200_000, 1))
    v = np.array([0.8])
    expected = np.exp(-0.5 * (v * (x - C)) ** 2).mean()
    options = {"is_category": [False], "agree": [0.0]}
    mass = lone_mass(np.nan, 0.3, v, options)
    assert_allclose(mass, expected, rtol=5e-3)
    codes = rng.choice(3, p=(0.5, 0.3, 0.2), size=(2, 200_000))
    expected = np.where(codes[0] == codes[1], 1.0, np.exp(-0.5 * v**2)).mean()
    options = {"is_category": [True], "agree": [0.25 + 0.09 + 0.04]}
    mass = lone_mass(1.0, np.nan, v, options)
    assert_allclose(mass, expected, rtol=5e-3)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_own_and_total_freezes_a_batch(random_seed, missing):
    given, theta = parts(random_seed, False, missing, True)
    Z, C, y, t, own, total, _, is_category, agree = given
    f = BatchObjective(*given, dtype="float64")
    v, w, _ = f.split(theta)
    mass = own_and_total(Z, C, v, w, t, 3, is_category=is_category, agree=agree)
    assert mass.shape == (len(Z), 3)
    new_own, new_total = f.masses(theta)
    assert_allclose(own + mass[np.arange(len(Z)), y], new_own, rtol=1e-13)
    assert_allclose(total + mass.sum(axis=1), new_total, rtol=1e-13)


def test_no_column_and_no_weight(random_seed):
    given, theta = parts(random_seed)
    _, _, y, t, own, total, omega, *_ = given
    f = BatchObjective(*given, dtype="float64", lambda_v=0, lambda_w=0)
    theta[:] = 0.0
    value, gradient = f(theta)
    assert_allclose(value, -(omega * np.log(own / total + 1e-10)).sum(), rtol=1e-14)
    assert_array_equal(gradient[:5], 0.0)
    same = y[:, None] == t
    expected = (omega[:, None] * (1 / total[:, None] - same / own[:, None])).sum(axis=0)
    assert_allclose(gradient[5:], expected, rtol=1e-6)


def scaled_rows(Z, rows, n_levels=None):
    q = Z.shape[1]
    levels = np.zeros(q, np.intp) if n_levels is None else n_levels
    scaling = KernelScaling(
        q, np.arange(q), np.linspace(-1, 1, q), np.linspace(1, 2, q), levels, np.full(q, 0.4)
    )
    return ScaledRows(Z, rows, scaling)


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("of_all", [False, True])
def test_rows_made_when_asked_for_are_those_of_an_array(random_seed, regression, of_all):
    (Z, *_), _ = parts(random_seed, q=600, R=64)
    n_candidates = 64 if of_all else 40
    rows = scaled_rows(Z, np.arange(64))
    candidates = rows if of_all else rows.only(np.arange(40))
    given, theta = parts(random_seed, regression, q=600, R=64, M=n_candidates)
    settings = {"regression": regression, "twin": np.arange(64), **PENALTIES}
    settings["twin"][n_candidates:] = -1
    lazy = BatchObjective(rows, candidates, *given[2:], **settings)
    held = BatchObjective(rows[:], candidates[:], *given[2:], **settings)
    theta[:600] *= 0.06
    for a, b in zip(lazy(theta), held(theta), strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_by_weights_is_the_objective_where_all_columns_are_alike(random_seed, regression, missing):
    given, theta = parts(random_seed, regression, missing)
    settings = {"regression": regression, "dtype": "float64", **PENALTIES}
    settings |= {"twin": np.where(np.arange(61) < 23, np.arange(61), -1)}
    f = BatchObjective(*given, **settings)
    some = np.array([1, 2, 7])
    for v in (0.1, 0.0, 0.7, 0.7):
        theta[:5] = v
        value, gradient = f(theta)
        found = f.by_weights(theta)
        assert_allclose(found[0], value, rtol=1e-12)
        assert_allclose(found[1], gradient[5:28], rtol=1e-9, atol=1e-14)
        part = np.concatenate([theta[:5], theta[5 + some], theta[28:]])
        fewer = f.among(some)
        assert_allclose(fewer.by_weights(part)[0], fewer(part)[0], rtol=1e-12)
    assert (f._distances is None) is (missing > 0)
    f.forget()
    assert f._distances is None


def test_distances_are_not_kept_where_pairs_are_many(random_seed, monkeypatch):
    monkeypatch.setattr(objective, "_KEPT_PAIRS", 61 * 23 - 1)
    given, theta = parts(random_seed)
    theta[:5] = 0.4
    f = BatchObjective(*given)
    assert_allclose(f.by_weights(theta)[0], f(theta)[0], rtol=1e-6)
    assert f._distances is None
