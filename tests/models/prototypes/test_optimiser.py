import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from psephos import PsephosError
from psephos.models.prototypes.objective import choose_start, descend

EXACT = {"factr": 0.0, "gradient_tolerance": 1e-9}


def least_squares(A, b):
    def objective(x):
        rest = A @ x - b
        return 0.5 * rest @ rest, A.T @ rest

    return objective


def rosenbrock(x):
    f = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    return f, np.array(
        [-2 * (1 - x[0]) - 400 * x[0] * (x[1] - x[0] ** 2), 200 * (x[1] - x[0] ** 2)]
    )


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8))
def test_least_squares_with_bounds_agree_with_an_active_set_method(seed, n):
    rng = np.random.default_rng(seed)
    A, b = np.vstack([rng.normal(size=(12, n)), np.eye(n)]), rng.normal(size=12 + n)
    found = descend(least_squares(A, b), np.ones(n), **EXACT)
    x, norm = nnls(A, b)
    assert_allclose(found.x, x, atol=1e-6)
    assert_allclose(found.f, 0.5 * norm**2, rtol=1e-9)
    assert (found.x >= 0).all()


@pytest.mark.parametrize("scale", [1.0, 30.0, np.array([0.1, 10.0])])
def test_a_scale_changes_the_way_and_not_the_minimum(scale):
    found = descend(rosenbrock, np.array([0.0, 3.0]), scale=scale, **EXACT)
    assert_allclose(found.x, 1.0, atol=1e-5)
    assert found.n_iterations > 1


def test_a_scale_lets_large_parameters_move_first():
    """One step from the same start: in proportion to the square of the scale."""

    def objective(x):
        return 0.5 * ((x - [2.0, 200.0]) ** 2 / [1.0, 1e4]).sum(), (x - [2.0, 200.0]) / [1.0, 1e4]

    plain = descend(objective, np.ones(2), max_iterations=1)
    scaled = descend(objective, np.ones(2), scale=np.array([1.0, 100.0]), max_iterations=1)
    assert plain.x[1] < 1.1
    assert scaled.x[1] > 50


def test_a_start_outside_is_taken_to_the_bound():
    seen = []

    def objective(x):
        seen.append(x.copy())
        return x @ x, 2 * x

    descend(objective, np.array([-1.0, 2.0]))
    assert_array_equal(seen[0], [0.0, 2.0])
    assert (np.array(seen) >= 0).all()


def test_a_lower_bound_is_kept_where_the_objective_ends():
    """The logarithm is not defined at 0, to which the first steps would go."""
    seen = []

    def objective(x):
        seen.append(x.copy())
        return x[0] - 1e-3 * np.log(x[0]) + x[1], np.array([1 - 1e-3 / x[0], 1.0])

    found = descend(objective, np.array([2.0, 1.0]), lower=np.array([1e-4, 0.0]), **EXACT)
    assert_allclose(found.x, [1e-3, 0.0], rtol=1e-6)
    assert np.min(seen, axis=0).tolist() == [1e-4, 0.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_iterations": 2}, "greatest number"),
        ({"gradient_tolerance": 1e-3, "factr": 0.0}, "by less than its tolerance"),
        ({"gradient_tolerance": 0.0, "factr": 1e11}, "by less than its tolerance"),
    ],
)
def test_the_reason_is_told(options, words):
    found = descend(rosenbrock, np.array([0.0, 3.0]), **options)
    assert words in found.reason


def test_a_gradient_that_leads_upwards_is_told():
    def wrong(x):
        return float(np.cos(x[0]) + x @ x), -3 * x - 1

    found = descend(wrong, np.array([1.0, 2.0]))
    assert "no lower point" in found.reason
    assert_array_equal(found.x, [1.0, 2.0])


def test_the_projected_gradient_counts_at_the_bound():
    """At x = 0 the slope is upwards: a minimum, whatever its size."""
    found = descend(lambda x: (float(7 * x.sum()), np.full(3, 7.0)), np.zeros(3))
    assert found.n_iterations == 0
    assert "by less than its tolerance" in found.reason


def test_a_step_to_where_the_objective_is_not_finite_is_shortened():
    def objective(x):
        if x[0] < 1:
            return np.nan, np.full(1, np.nan)
        return float((x[0] - 1.2) ** 2), 2 * (x - 1.2)

    found = descend(objective, np.array([8.0]), **EXACT)
    assert_allclose(found.x, 1.2, atol=1e-6)


def test_an_objective_that_is_not_a_number_is_an_error():
    with pytest.raises(
        PsephosError, match="objective of a batch must be finite at its start; got nan"
    ):
        descend(lambda x: (np.nan, x), np.ones(2))


def test_the_same_start_gives_the_same_bytes():
    first, again = (descend(rosenbrock, np.array([0.0, 3.0])) for _ in range(2))
    assert first.x.tobytes() == again.x.tobytes()
    assert first[1:] == again[1:]


# Starts


def windows(X, y, C, label, penalty=0.0):
    """Two classes, plainly: minus the mean log-likelihood, and a penalty on v; gradient by steps.

    The prior is one half for either class.
    """
    q = X.shape[1]

    def value(theta):
        v, w = theta[:q], theta[q:]
        G = np.exp(-0.5 * (((X[:, None] - C) * v) ** 2).sum(axis=2)) * w
        own = 0.5 + (G * (y[:, None] == label)).sum(axis=1)
        return -np.log(own / (1 + G.sum(axis=1))).mean() + penalty * (v @ v)

    def objective(theta):
        step = 1e-6
        near = [value(np.abs(theta + step * e)) for e in np.eye(len(theta))]
        f = value(theta)
        return f, (np.array(near) - f) / step

    return objective


def stripes(n, q, width, seed):
    X = np.random.default_rng(seed).normal(size=(n, q))
    return X, (np.floor(X[:, 0] / width) % 2).astype(int)


def lengths_tried(objective, q, M):
    seen = []

    def spy(theta):
        seen.append(theta)
        return objective(theta)

    return choose_start(spy, q, M), seen


@pytest.mark.parametrize(("width", "shortest", "longest"), [(4.0, 5, 6), (0.35, 17, 18)])
def test_the_start_is_the_best_length_of_equal_columns_and_weights(width, shortest, longest):
    X, y = stripes(120, 1, width, seed=0)
    objective = windows(X[:60], y[:60], X[60:], y[60:])
    start, seen = lengths_tried(objective, 1, 60)
    assert_array_equal(start[1:], 1.0)
    assert objective(start)[0] == min(objective(theta)[0] for theta in seen)
    assert shortest < start[0] < longest
    assert objective(start)[0] < np.log(2)  # the empty model


@pytest.mark.parametrize("q", [1, 4, 100])
def test_the_lengths_on_trial_do_not_depend_on_the_number_of_columns(q):
    _, seen = lengths_tried(lambda x: (float(x[0] > 0), np.zeros_like(x)), q, 2)
    tried = {round(float(np.linalg.norm(theta[:q])), 9) for theta in seen}
    assert tried == {0.0} | {round(10 ** (i / 4), 9) for i in range(7)}


def test_where_equal_weights_serve_nowhere_the_weights_move_first():
    """Half of the candidates have the wrong label: heard alike they tell nothing."""
    X, y = stripes(100, 1, 1.0, seed=1)
    C, label = np.vstack([X[50:], X[50:]]), np.concatenate([y[50:], 1 - y[50:]])
    objective = windows(X[:50], y[:50], C, label, penalty=1e-3)
    empty = objective(np.zeros(101))[0]
    start, seen = lengths_tried(objective, 1, 100)
    assert min(objective(theta)[0] for theta in seen[:7]) >= empty
    assert objective(start)[0] < empty - 0.1
    assert np.ptp(start[1:]) > 1


def test_the_descent_from_the_start_does_not_end_at_the_empty_model():
    """From a length of 1 it does: the column is given up before the weights have moved."""
    X, y = stripes(300, 1, 0.35, seed=2)
    objective = windows(X[40:], y[40:], X[:40], y[:40], penalty=1e-3)
    empty = np.log(2)
    from_one = descend(objective, np.ones(41))
    assert from_one.f > empty - 1e-3
    assert from_one.x[0] < 0.01
    start = choose_start(objective, 1, 40)
    found = descend(objective, start)
    assert found.f <= objective(start)[0] < empty - 0.1
    assert found.x[0] > 5


def test_further_parameters_stay_at_their_start():
    def objective(theta):
        assert theta[-2:].tolist() == [3.0, 4.0]
        return float(theta @ theta), 2 * theta

    start = choose_start(objective, 2, 5, further=(3.0, 4.0))
    assert start.shape == (9,)
    assert_array_equal(start[-2:], [3.0, 4.0])
