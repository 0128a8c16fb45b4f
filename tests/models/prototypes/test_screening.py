import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.models.prototypes.batches import Screened, descend_screened, descend_thinned
from psephos.models.prototypes.objective import WEIGHT_SCALE, BatchObjective, choose_start, descend


def stripes(n=300, both=True, seed=0):
    """A batch in which every row is candidate and reference."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    y = (np.floor(2 * Z[:, 0]) % 2).astype(float)
    own, twin = np.full(n, 0.5), np.arange(n) if both else None
    return BatchObjective(
        Z, Z, y, y, own, np.ones(n), np.full(n, 1 / n), np.zeros(3, np.bool_), np.zeros(3),
        dtype="float64", lambda_v=1e-2, twin=twin,
    )  # fmt: skip


@pytest.mark.parametrize("both", [False, True])
def test_some_candidates_are_all_where_the_others_are_silent(both):
    objective = stripes(both=both)
    some = np.array([3, 4, 50, 299])
    theta = np.concatenate([[2.0, 0.0, 1.0], np.zeros(300)])
    theta[3 + some] = [1.0, 0.0, 2.0, 3.0]
    value, gradient = objective(theta)
    part, by = objective.among(some)(np.concatenate([theta[:3], theta[3 + some]]))
    assert_allclose(part, value, rtol=1e-13)
    assert_allclose(by, np.concatenate([gradient[:3], gradient[3 + some]]), atol=1e-13)


def test_the_value_is_exact_and_the_silent_keep_their_derivative():
    objective = stripes()
    screened = Screened(objective)
    theta = np.concatenate([[2.0, 0.5, 1.0], np.where(np.arange(300) % 3, 0.0, 5.0)])
    first = screened(theta)
    assert_array_equal(first[1], objective(theta)[1])
    moved = theta * 1.1
    value, gradient = screened(moved)
    whole = objective(moved)
    assert_allclose(value, whole[0], rtol=1e-13)
    silent = (moved[3:] == 0.0) & (first[1][3:] > 0.0)
    assert silent.sum() > 60
    assert_array_equal(gradient[3:][silent], first[1][3:][silent])
    heard = np.concatenate([[True] * 3, ~silent])
    assert_allclose(gradient[heard], whole[1][heard], atol=1e-13)
    moved[3 + np.flatnonzero(silent)[0]] = 1.0  # it speaks: all are looked at
    assert_array_equal(screened(moved)[1], objective(moved)[1])


def test_a_silent_candidate_that_should_speak_is_told():
    objective = stripes()
    screened = Screened(objective)
    theta = np.concatenate([[3.0, 0.0, 0.0], np.zeros(300)])
    assert not screened.settled(theta)


def test_a_descent_ends_as_low_as_one_that_always_looks_at_all():
    objective = stripes()
    scale = np.r_[np.ones(3), np.full(300, WEIGHT_SCALE)]
    start = choose_start(objective, 3, 300)
    options = {"scale": scale, "factr": 1e6}
    whole, found = (
        descend(objective, start, **options),
        descend_screened(objective, start, **options),
    )
    assert whole.f < 0.5
    assert_allclose(found.f, whole.f, atol=1e-3)
    assert Screened(objective).settled(found.x)
    assert found.n_iterations > 10


def test_faint_columns_that_cost_more_than_they_tell_are_given_up():
    """Stopped early, when all columns are still heard."""
    objective = stripes()
    scale = np.r_[np.ones(3), np.full(300, WEIGHT_SCALE)]
    start = choose_start(objective, 3, 300)
    start[1:3] *= 1e-2
    options = {"scale": scale, "factr": 1e14}  # a single iteration
    faint, found = (f(objective, start, **options) for f in (descend_screened, descend_thinned))
    assert (faint.x[1:3] > 0).any()
    assert_array_equal(found.x[1:3], 0.0)
    assert found.f < faint.f
    assert found.n_iterations > faint.n_iterations
