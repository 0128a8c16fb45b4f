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
    assert model.prior_ == model.raw_
    with pytest.warns(UserWarning, match=r"0\.31 is used: it is outside of clip=\(0\.05, 0\.31"):
        clipped = ElkanNotoPrior(random_state=0, clip=(0.05, 0.31)).fit(positive, mixed)
    assert clipped.clipped_
    assert clipped.doubtful_
    assert clipped.prior_ == 0.31
    assert clipped.raw_ == model.raw_


def test_an_estimate_that_says_little_is_told():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1, (150, 400))
    words = r"barely distinguishable.*prior=; psephos compare --prior"
    with pytest.warns(UserWarning, match=words):
        fat = ElkanNotoPrior(random_state=0).fit(noise[:40], noise[40:])
    assert fat.clipped_
    assert fat.prior_ == 0.95
    positive, mixed, _ = parts(0.9, 0.8, 80)
    with pytest.warns(UserWarning, match="barely distinguishable"):
        near = ElkanNotoPrior(random_state=0).fit(positive, mixed)
    assert near.doubtful_
    assert not near.clipped_
    assert near.raw_ + 2 * near.error_ >= 1 > near.raw_
    positive, mixed, _ = parts(0.001, 3)
    with pytest.warns(UserWarning, match="almost no row without a label resembles"):
        assert ElkanNotoPrior(random_state=0).fit(positive, mixed).prior_ == 0.05


def test_the_error_is_that_of_c():
    """By the delta method; and of simulated samples it is about the spread of estimates."""
    found = [ElkanNotoPrior(random_state=0).fit(*parts(0.4, 1.5, 300, s)[:2]) for s in range(30)]
    spread = np.std([one.raw_ for one in found], ddof=1)
    assert 0.3 < np.mean([one.error_ for one in found]) / spread < 1.5


def test_rows_without_weight_do_not_count():
    positive, mixed, _ = parts(0.5, 2.5, 100)
    a, b = (np.arange(len(part)) % 3 > 0 for part in (positive, mixed))
    groups = np.arange(150)
    weighted = ElkanNotoPrior(random_state=0).fit(
        positive, mixed, (a.astype(float), b.astype(float)), groups
    )
    alone = ElkanNotoPrior(random_state=0).fit(
        positive[a], mixed[b], groups=groups[np.concatenate([a, b])]
    )
    assert weighted.prior_ == alone.prior_
    with pytest.raises(PsephosError, match=r"two rows \(or groups\) with weight"):
        ElkanNotoPrior().fit(positive, mixed, (np.zeros(50), None))


def test_weights_of_the_unlabelled_count():
    positive, mixed, y = parts(0.5, 2.5)
    half = ElkanNotoPrior(random_state=0).fit(positive, mixed, (None, np.where(y, 0.5, 1.0)))
    assert abs(half.prior_ - 1 / 3) < 0.06


def test_groups_are_held_out_together():
    positive, mixed, _ = parts(0.5, 2.5, 60)
    groups = np.r_[np.arange(30) // 3, np.arange(60) // 3]
    model = ElkanNotoPrior(random_state=0).fit(positive, mixed, groups=groups)
    assert 0.3 < model.prior_ < 0.7
    with pytest.raises(PsephosError, match=r"two rows \(or groups\) with weight"):
        ElkanNotoPrior().fit(positive, mixed, groups=np.zeros(90))


def test_a_prior_takes_rows():
    with pytest.raises(PsephosError, match="Give the prior"):
        ElkanNotoPrior().fit(np.zeros((1, 2)), np.zeros((9, 2)))
    for clip in ((0.9, 0.1), (0.5, 0.5), (0, 1), 0.5, None, (0.1, 0.2, 0.3), ("a", "b"), "ab"):
        with pytest.raises(PsephosError, match=r"parameter 'clip' must be two shares"):
            ElkanNotoPrior(clip=clip).fit(np.zeros((3, 2)), np.zeros((9, 2)))


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
    interval = accuracy_bounds(0.75, 0.4, 0.5, n=(4, 5))
    assert (found["accuracy_low"], found["accuracy_high"]) == interval
    assert pu_scores(said[:4], codes[:4])["pu_f"] is None
    assert pu_scores(np.zeros(10, bool), codes)["pu_f"] == 0


def test_answers_of_positives_alone_are_the_best():
    """Where no unlabelled row is answered positive, half a row counts."""
    codes = np.array([1, 1, 1, 1, -1, -1, -1, -1, -1, 0])
    assert_allclose(pu_scores(codes == 1, codes)["pu_f"], 1 / (0.5 / 5))
    partly = np.arange(10) < 3
    assert_allclose(pu_scores(partly, codes)["pu_f"], 0.75**2 / 0.1)
    one_more = (codes == 1) | (np.arange(10) == 4)
    assert pu_scores(codes == 1, codes)["pu_f"] > pu_scores(one_more, codes)["pu_f"]


def test_both_ends_without_sampling_error():
    """By hand: of recall .9 and share .2 the prior is at most .2 / .9; accuracy rises with it."""
    low, high = accuracy_bounds(0.9, 0.2)
    assert_allclose([low, high], [0.8, 0.8 + (2 * 0.9 - 1) * 0.2 / 0.9])
    low, high = accuracy_bounds(0.3, 0.2)  # recall below 1/2: accuracy falls with the prior
    assert_allclose([low, high], [0.8 - 0.4 * 2 / 3, 0.8])
    assert_allclose(accuracy_bounds(0.3, 0.2, (0.1, 0.4)), [0.8 - 0.4 * 0.4, 0.8 - 0.4 * 0.1])


def test_an_interval_is_wider_the_fewer_the_rows():
    exact = accuracy_bounds(0.8, 0.4, 0.4)
    widths = []
    for n in (10, 100, 10**4, 10**6):
        low, high = accuracy_bounds(0.8, 0.4, 0.4, n=(n, n))
        assert low < exact[0] < high
        widths.append(high - low)
    assert sorted(widths, reverse=True) == widths
    assert widths[-1] < 0.01
    assert accuracy_bounds(1.0, 0.1, 0.5, n=(3, 10))[0] < 0.7  # the prior may fit after all
    with pytest.raises(PsephosError, match=r"at most 0\.1, sampling error apart"):
        accuracy_bounds(1.0, 0.1, 0.5, n=(500, 500))
    with pytest.raises(PsephosError, match="n must be two numbers of rows"):
        accuracy_bounds(1.0, 0.1, 0.5, n=(0, 500))
    with pytest.raises(PsephosError, match=r"confidence must be .* below 1; got 1"):
        accuracy_bounds(1.0, 0.1, confidence=1)


@pytest.mark.theory
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(("n_positive", "n_open"), [(5, 20), (20, 80)])
def test_the_interval_holds_the_accuracy(known, n_positive, n_open):
    """At least 95 % of 300 small samples, of answers as good as recall and false alarms say."""
    rng = np.random.default_rng([n_positive, known])
    held = 0
    for i in range(300):
        prior, recall, alarm = ((0.2, 0.6, 0.3), (0.5, 0.9, 0.1), (0.7, 0.5, 0.5))[i % 3]
        y = rng.random(n_open) < prior
        said = np.r_[
            rng.random(n_positive) < recall, rng.random(n_open) < np.where(y, recall, alarm)
        ]
        codes = np.repeat([1, -1], [n_positive, n_open])
        found = pu_scores(said, codes, prior if known else None)
        truth = prior * recall + (1 - prior) * (1 - alarm)
        held += found["accuracy_low"] <= truth <= found["accuracy_high"]
    assert held >= 285


def test_what_is_no_share_is_refused():
    with pytest.raises(PsephosError, match=r"must lie in \[0, 1\]"):
        accuracy_bounds(1.2, 0.5)


def test_a_prior_that_contradicts_the_shares():
    with pytest.raises(PsephosError, match=r"0\.5 contradicts the shares.* at most 0\.1"):
        accuracy_bounds(1.0, 0.1, 0.5)
    with pytest.raises(PsephosError, match="contradicts"):
        accuracy_bounds(0.0, 0.9, 0.9)
    cut, least = accuracy_bounds(0.9, 0.2, (0.0, 1.0)), accuracy_bounds(0.9, 0.2)
    assert_allclose(cut, least)  # a range counts as far as it fits
    with pytest.raises(PsephosError, match=r"prior must be a share, or \(low, high\)"):
        accuracy_bounds(0.9, 0.2, (0.1, 0.2, 0.3))
    codes = np.repeat([1, -1], [90, 90])
    found = pu_scores(codes == 1, codes, prior=0.4)
    assert (found["recall"], found["accuracy_low"], found["accuracy_high"]) == (1.0, None, None)


def test_answers_and_codes_that_are_none():
    codes = np.array([1, -1])
    for said in ([0.9, 0.1], [1, -1], [True], "ab"):
        with pytest.raises(PsephosError, match="said must be True or False per row"):
            pu_scores(np.array(said), codes)
    for wrong in ([1, 2], [1.0, np.nan]):
        with pytest.raises(PsephosError, match="codes must be 1"):
            pu_scores(np.array([True, False]), np.array(wrong))
