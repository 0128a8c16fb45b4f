"""The class prior, and what can be said of answers without all labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from psephos import PsephosError
from psephos.supervision import ElkanNotoPrior, accuracy_bounds, pu_scores


def parts(prior, apart, n=400, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.normal(apart, 1, (n // 2, 2))
    y = rng.random(n) < prior
    return positive, rng.normal(0, 1, (n, 2)) + np.where(y, apart, -apart)[:, None], y


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("estimator", [None, LogisticRegression(C=10)])
def test_the_prior_of_classes_that_lie_apart(prior, estimator):
    positive, mixed, y = parts(prior, 2.5)
    model = ElkanNotoPrior(estimator, random_state=0).fit(positive, mixed)
    assert abs(model.prior_ - y.mean()) < 0.06
    assert not model.clipped_
    c = 200 / (200 + 400 * model.prior_)
    assert_allclose(model.c_, c, rtol=1e-9)


def test_it_is_too_large_where_classes_overlap():
    positive, mixed, y = parts(0.3, 0.4)
    model = ElkanNotoPrior(random_state=0).fit(positive, mixed)
    assert model.prior_ > y.mean() + 0.1
    clipped = ElkanNotoPrior(random_state=0, clip=(0.05, 0.31)).fit(positive, mixed)
    assert clipped.clipped_
    assert clipped.prior_ == 0.31


def test_weights_of_the_unlabelled_count():
    positive, mixed, y = parts(0.5, 2.5)
    half = ElkanNotoPrior(random_state=0).fit(positive, mixed, (None, np.where(y, 0.5, 1.0)))
    assert abs(half.prior_ - 1 / 3) < 0.06


def test_groups_are_held_out_together():
    positive, mixed, _ = parts(0.5, 2.5, 60)
    groups = np.r_[np.arange(30) // 3, np.arange(60) // 3]
    model = ElkanNotoPrior(random_state=0).fit(positive, mixed, groups=groups)
    assert 0.3 < model.prior_ < 0.7
    with pytest.raises(PsephosError, match=r"two rows \(or groups\) of both"):
        ElkanNotoPrior().fit(positive, mixed, groups=np.zeros(90))


def test_a_prior_takes_rows():
    with pytest.raises(PsephosError, match="give the prior"):
        ElkanNotoPrior().fit(np.zeros((1, 2)), np.zeros((9, 2)))
    with pytest.raises(PsephosError, match="clip is"):
        ElkanNotoPrior(clip=(0.9, 0.1)).fit(np.zeros((3, 2)), np.zeros((9, 2)))


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_the_accuracy(seed):
    """Of answers to a table whose truth is known: recall and share give the accuracy."""
    rng = np.random.default_rng(seed)
    y, said = rng.random(500) < 0.4, rng.random(500) < 0.5
    said |= y & (rng.random(500) < 0.6)
    recall, share, right = said[y].mean(), said.mean(), (said == y).mean()
    assert_allclose(accuracy_bounds(recall, share, y.mean()), [right, right])
    low, high = accuracy_bounds(recall, share, (y.mean() - 0.1, y.mean() + 0.1))
    assert low <= right <= high
    low, high = accuracy_bounds(recall, share)
    assert low <= right <= high


def test_scores_of_positive_and_unlabelled_rows():
    codes = np.array([1, 1, 1, 1, -1, -1, -1, -1, -1, 0])
    said = np.array([1, 1, 1, 0, 1, 0, 0, 0, 1, 1], dtype=bool)
    found = pu_scores(said, codes, 0.5)
    assert found["recall"] == 0.75
    assert found["positive_share"] == 0.4
    assert_allclose(found["pu_f"], 0.75**2 / 0.4)
    assert_allclose(found["accuracy_low"], 1 - 0.5 - 0.4 + 0.75)
    assert pu_scores(said[:4], codes[:4])["pu_f"] is None
    assert pu_scores(np.zeros(10, bool), codes)["pu_f"] == 0
    only = pu_scores(codes == 1, codes)
    assert only["pu_f"] is None  # no unlabelled row is answered positive
    with pytest.raises(PsephosError, match="no share"):
        accuracy_bounds(1.2, 0.5)


def test_a_prior_that_contradicts_the_shares():
    with pytest.raises(PsephosError, match=r"0\.5 contradicts the shares.* at most 0\.1"):
        accuracy_bounds(1.0, 0.1, 0.5)
    with pytest.raises(PsephosError, match="contradicts"):
        accuracy_bounds(0.0, 0.9, 0.9)
    cut, least = accuracy_bounds(0.9, 0.2, (0.0, 1.0)), accuracy_bounds(0.9, 0.2)
    assert cut == least  # a range counts as far as it fits
    with pytest.raises(PsephosError, match=r"give a share, or \(low, high\)"):
        accuracy_bounds(0.9, 0.2, (0.1, 0.2, 0.3))
    said, codes = np.array([True, True, False, False]), np.array([1, 1, -1, -1])
    found = pu_scores(said, codes, prior=0.4)
    assert (found["recall"], found["accuracy_low"], found["accuracy_high"]) == (1.0, None, None)


def test_answers_and_codes_that_are_none():
    codes = np.array([1, -1])
    for said in ([0.9, 0.1], [1, -1], [True], "ab"):
        with pytest.raises(PsephosError, match="give for each row whether"):
            pu_scores(np.array(said), codes)
    for wrong in ([1, 2], [1.0, np.nan]):
        with pytest.raises(PsephosError, match="codes are 1 of positives"):
            pu_scores(np.array([True, False]), np.array(wrong))
