import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.prediction.linear_sums import linear_scores


def test_sums_and_their_order(random_seed):
    rng = np.random.default_rng(random_seed)
    X, coef = rng.standard_normal((9, 6)), rng.standard_normal((4, 2, 6))
    coef[rng.random(coef.shape) < 0.5] = 0.0
    coef[2] = 0.0  # a model of no column
    coef[:, :, 3] = 0.0  # a column nobody reads
    intercept = rng.standard_normal((4, 2))
    out = linear_scores(X, coef, intercept)
    expected = np.einsum("nq,trq->trn", X, coef) + intercept[:, :, None]
    assert_allclose(out, expected, rtol=1e-12, atol=1e-14)
    assert_array_equal(out[2], np.broadcast_to(intercept[2][:, None], (2, 9)))
    other = X.copy()
    other[:, 3] = np.nan
    assert_array_equal(linear_scores(other, coef, intercept), out)
    for t in range(4):
        read = np.flatnonzero((coef[t] != 0).any(axis=0))
        own = np.ascontiguousarray(coef[t][:, read])[None]
        alone = linear_scores(X[:, read], own, intercept[t : t + 1])
        assert_array_equal(alone[0], out[t])


def test_missing_values_reach_only_their_readers():
    X = np.array([[1.0, np.nan], [np.inf, 2.0]])
    coef = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    out = linear_scores(X, coef, np.zeros((2, 1)))
    assert_array_equal(out[:, 0], [[1.0, np.inf], [np.nan, 2.0]])
