import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.vote.readout import shares_of


def scores(shares):
    k = shares.shape[1]
    return (k * shares - 1.0) / (k - 1.0)


@pytest.mark.parametrize("k", [3, 7, 8, 9, 16, 21, 200])
def test_shares_are_those_the_score_was_made_of(random_seed, k):
    rng = np.random.default_rng(random_seed)
    shares = rng.dirichlet(np.full(k, 0.3), 40)
    shares[0] = np.eye(k)[k - 1]
    found = shares_of(scores(shares))
    assert_allclose(found, shares, rtol=0, atol=1e-15)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)
    assert (found >= 0).all()
    alone = np.concatenate([shares_of(score[None]) for score in scores(shares)])
    assert_array_equal(found, alone)


def test_a_share_below_nothing_is_nothing():
    found = shares_of(np.array([[1.0 + 1e-15, -0.5 - 1e-12, -0.5], [np.nan, 0.0, 0.0]]))
    assert_array_equal(found[0], [1.0, 0.0, 0.0])
    assert np.isnan(found[1]).all()


def test_a_score_that_speaks_for_no_class_has_equal_shares():
    found = shares_of(np.array([[-0.5, -0.5, -0.5], [-4e18, -1.0, -0.5]]))
    assert_array_equal(found, np.full((2, 3), 1 / 3))


def test_scores_of_any_layout(random_seed):
    score = scores(np.random.default_rng(random_seed).dirichlet(np.ones(4), 9))
    for other in (np.asfortranarray(score), np.repeat(score, 2, axis=1)[:, ::2]):
        assert_array_equal(shares_of(other), shares_of(score))
    assert shares_of(score[:0]).shape == (0, 4)
