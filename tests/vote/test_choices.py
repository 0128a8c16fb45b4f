"""Read-outs that are no plain sum, and calibration: against what they are by definition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit, softmax

from psephos import PsephosError, RandomForestClassifier, RandomForestRegressor, load, save
from psephos.testing import small_table
from psephos.testing.ballots import assert_ballots_are_true
from psephos.vote import (
    Constant,
    ConstantVoters,
    LabelsTarget,
    Readout,
    RegressionTarget,
    Target,
    Vote,
)
from psephos.vote.calibration import Isotonic, PosteriorTable, Sigmoid, Temperature
from psephos.vote.codec import decode, encode
from psephos.vote.readout import CHOICES, uniform_of

CLASSES = ["majority", "loudest", "drawn", "borda"]


def forest(n_classes):
    X, y = small_table(n_classes)
    made = RandomForestClassifier if n_classes else RandomForestRegressor
    return made(n_estimators=7, max_depth=2, random_state=0).fit(X, y), X


def read_out(model, **settings):
    model.vote_ = replace(model.vote_, readout=replace(model.vote_.readout, **settings))
    return model


def fixed(values, weights, target, **settings):
    values = np.atleast_2d(np.array(values, dtype=float))
    values = values.T if values.shape[0] == 1 else values
    link = "identity" if target.kind == "regression" else "share"
    return Vote(
        ConstantVoters(2, values, "voters"), Constant(2, np.array(weights, dtype=float)),
        Readout(link=link, **settings), target,
    )  # fmt: skip


def test_three_hypotheses_of_posteriors_4_3_3():
    """The most probable says yes, the vote of all says no with .6."""
    says, X = [1.0, -1.0, -1.0], np.zeros((1, 2))
    target = Target(np.array(["no", "yes"]))
    for score, share in (("normalised", 0.4), ("loudest", 1.0)):
        vote = fixed(says, [0.4, 0.3, 0.3], target, score=score)
        assert_allclose(vote.probabilities(X), [[1 - share, share]], rtol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("score", CLASSES)
def test_every_way_holds_what_a_vote_promises(n_classes, score, tmp_path):
    model, X = forest(n_classes)
    read_out(model, score=score, seed=3)
    total = model.vote_.contributions(X).sum(axis=1)
    assert_allclose(total, model.vote_.score(X), atol=1e-12)
    assert_allclose(list(model.vote_.staged_scores(X))[-1], model.vote_.score(X), atol=1e-12)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    one_by_one = np.concatenate([model.predict_proba(row[None]) for row in X])
    assert_array_equal(one_by_one, proba)
    assert_array_equal(model.predict_proba(X[::-1])[::-1], proba)
    ballots = model.explain(X[:6])
    assert_ballots_are_true(ballots, X[:6])
    assert len(str(ballots).splitlines()) > 6
    save(model, tmp_path / "m.psephos")
    assert_array_equal(load(tmp_path / "m.psephos").predict_proba(X), proba)
    columns = model.vote_.columns
    assert_array_equal(model.reduce().predict_proba(X[:, columns]), proba)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_majority_counts_voters(n_classes):
    model, X = forest(n_classes)
    votes = model.vote_.votes(X)
    target = model.vote_.target
    said = target.answers(votes.reshape(-1, target.n_outputs)).reshape(len(X), -1)
    share = (said[:, :, None] == np.arange(n_classes)).mean(axis=1)
    assert_allclose(read_out(model, score="majority").predict_proba(X), share, atol=1e-12)
    silent = fixed(
        [[1.0], [0.0], [-1.0], [1.0]], [1, 5, 1, 1], Target(np.arange(2)), score="majority"
    )
    assert_allclose(silent.score(np.zeros((1, 2))), 1 / 3)


def test_the_loudest_speaks_alone():
    vote = fixed([[1.0], [-1.0], [1.0]], [1, 2, 2], Target(np.arange(2)), score="loudest")
    assert_array_equal(vote.score(np.zeros((2, 2))), [[-1.0], [-1.0]])
    assert_array_equal(vote.shares(np.zeros((1, 2))), [[0, 1, 0]])


def test_one_is_drawn_as_often_as_it_weighs():
    X = np.random.default_rng(0).standard_normal((20_000, 2))
    vote = fixed([[1.0], [-1.0], [0.5]], [2, 1, 1], Target(np.arange(2)), score="drawn")
    assert vote.score(X[:5]).shape == (5, 1)
    # a vote that reads no column draws one voter for all rows: nothing tells them apart
    assert len(np.unique(vote.score(X[:50]))) == 1
    model, _ = forest(2)
    read_out(model, score="drawn")
    wide = np.random.default_rng(1).standard_normal((4000, 12))
    picked = model.vote_.shares(wide)
    assert_array_equal(picked.sum(axis=1), 1.0)
    assert_allclose(picked.mean(axis=0), 1 / 7, atol=4 * np.sqrt(6 / 49 / 4000))
    read_out(model, seed=1)
    assert (model.vote_.shares(wide) != picked).any()
    # Gibbs errs on average as the voters do
    truth = np.where(wide[:, 0] > 0.7, 1.0, -1.0)
    wrong = np.mean(np.sign(model.vote_.score(wide)[:, 0]) != truth)
    each = np.mean(np.sign(model.vote_.votes(wide)[:, :, 0]) != truth[:, None])
    assert abs(wrong - each) < 0.03


def test_the_drawn_number_is_the_rows_own():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nan, 1.0], [-np.nan, 1.0], [0.0, 2.0]])
    u = uniform_of(rows, 0)
    assert u[0] == u[1]
    assert u[2] == u[3]
    assert len(np.unique(u)) == 3
    many = uniform_of(np.random.default_rng(0).standard_normal((5000, 3)), 7)
    assert 0 <= many.min() < 0.01 < 0.99 < many.max() < 1


def test_borda_adds_ranks():
    votes = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0], [2.0, 2.0, 0.0], [5.0, 5.0, 5.0]])
    vote = fixed(votes, np.ones(4), Target(np.arange(3)), score="borda")
    points = np.array([[2, 1, 0], [0, 2, 1], [1.5, 1.5, 0]]).sum(axis=0) / 9.0  # the last is silent
    chances = vote.readout.probabilities(vote.score(np.zeros((1, 2))), vote.target)
    assert_allclose(chances[0], points, atol=1e-12)


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=9),
    st.data(),
)
def test_the_median_and_trimmed_means_are_numpys(values, data):
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(values), max_size=len(values)))
    target, X = RegressionTarget(), np.zeros((1, 2))
    again = np.repeat(values, weights)
    found = fixed(values, weights, target, score="median").score(X)[0, 0]
    assert found == pytest.approx(np.median(again), abs=1e-9)
    whole = fixed(values, weights, target, score="trimmed mean", cut=0.0).score(X)[0, 0]
    assert whole == pytest.approx(again.mean(), abs=1e-9)
    ten = np.repeat(values, np.array(weights) * 10)
    cut = np.sort(ten)[len(ten) // 10 : len(ten) - len(ten) // 10]
    tenth = fixed(values, weights, target, score="trimmed mean", cut=0.1).score(X)[0, 0]
    assert tenth == pytest.approx(cut.mean(), abs=1e-9)


@pytest.mark.parametrize("score", ["median", "trimmed mean"])
def test_forests_of_numbers_answer_by_their_middle(score, tmp_path):
    model, X = forest(0)
    read_out(model, score=score, cut=0.2)
    votes = model.vote_.votes(X)[:, :, 0]
    by_hand = np.median(votes, axis=1) if score == "median" else np.array(
        [np.average(np.sort(v), weights=[0, 0.6, 1, 1, 1, 0.6, 0]) for v in votes]
    )  # fmt: skip
    assert_allclose(model.predict(X), by_hand, rtol=1e-12)
    assert_allclose(model.contributions(X).sum(axis=1), by_hand, rtol=1e-12)
    assert_ballots_are_true(model.explain(X[:5]), X[:5])
    save(model, tmp_path / "m.psephos")
    assert_array_equal(load(tmp_path / "m.psephos").predict(X), model.predict(X))


def test_labels_by_majority():
    votes = np.array([[0.6, -0.2], [0.1, -1.0], [-0.9, 0.3]])
    vote = fixed(votes, np.ones(3), LabelsTarget(np.array(["a", "b"])), score="majority")
    assert_allclose(vote.score(np.zeros((1, 2))), [[1 / 3, -1 / 3]])


# ---------------------------------------------------------------------- calibration
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_maps_the_links_probabilities(n_classes, tmp_path):
    model, X = forest(n_classes)
    plain = model.predict_proba(X)
    one, none = np.ones(n_classes), np.zeros(n_classes)
    odds = logit(np.clip(plain, 1e-12, 1 - 1e-12))
    points = (np.array([0.0, 0.5, 1.0]),) * n_classes
    told = (np.array([0.1, 0.2, 1.0]),) * n_classes
    ways = {
        "same": (Sigmoid(one, none), plain),
        "cool": (Temperature(2.0), softmax(np.log(np.clip(plain, 1e-12, 1)) / 2, axis=1)),
        "sigmoid": (
            Sigmoid(2 * one, none + 0.5),
            expit(2 * odds + 0.5),
        ),
        "isotonic": (Isotonic(points, told), np.interp(plain, points[0], told[0])),
    }
    for name, (map_, wanted) in ways.items():
        read_out(model, calibration=map_)
        wanted = wanted / wanted.sum(axis=1, keepdims=True)
        assert_allclose(model.predict_proba(X), wanted, atol=1e-9, err_msg=name)
        # the answer follows what is told, a tie to the first class
        best = np.round(model.predict_proba(X), 12).argmax(axis=1)
        assert_array_equal(model.predict(X), model.classes_[best])
        for i in range(5):
            assert model.explain(X[:5]).answer(i).startswith(str(model.predict(X[[i]])[0]))
        save(model, tmp_path / f"{name}.psephos")
        again = load(tmp_path / f"{name}.psephos")
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_counts_become_posteriors():
    posterior = np.array([[0.05, 0.2, 0.7, 0.9], [0.1, 0.6, 0.8, 0.99]])
    votes = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])
    vote = fixed(votes, np.ones(3), LabelsTarget(np.array(["a", "b"])), score="normalised")
    vote = replace(vote, readout=replace(vote.readout, calibration=PosteriorTable(posterior)))
    X = np.zeros((1, 2))
    chances = vote.readout.probabilities(vote.score(X), vote.target)
    assert_allclose(chances, [[0.7, 0.6]])  # two of three said a, one said b
    assert_array_equal(vote.answers(X), [[1, 1]])


def test_wrong_parts_are_refused():
    for wrong in (
        lambda: Readout("loud", "share"),
        lambda: Readout("trimmed mean", "identity", cut=0.5),
        lambda: Readout("drawn", "share", seed=-1),
        lambda: Readout("sum", "identity", calibration=Temperature(1.0)),
        lambda: Temperature(0.0),
        lambda: Sigmoid(np.array([-1.0]), np.zeros(1)),
        lambda: Isotonic((np.array([0.0, 1.0]),), (np.array([1.0, 0.0]),)),
        lambda: PosteriorTable(np.array([[0.0, 1.5]])),
    ):
        with pytest.raises(PsephosError, match="inconsistent part"):
            wrong()
    assert set(CHOICES) == {*CLASSES, "median", "trimmed mean"}


def test_files_from_before_are_read():
    told = encode(Readout("normalised", "share"), {}, "r")
    for name in ("seed", "cut", "calibration"):
        del told["fields"][name]
    assert decode(told, {}) == Readout("normalised", "share")
    del told["fields"]["link"]
    with pytest.raises(PsephosError, match="incomplete"):
        decode(told, {})


@pytest.mark.parametrize("score", list(CHOICES))
def test_weights_below_0_have_a_meaning_in_sums_alone(score):
    vote = forest(2)[0].vote_
    weights = np.ones(vote.n_voters)
    weights[0] = -1
    turned = replace(vote, weighting=replace(vote.weighting, alpha=weights))
    assert turned.readout.is_sum
    cut = 0.2 if score == "trimmed mean" else 0.0
    with pytest.raises(PsephosError, match="a weight is below 0"):
        replace(turned, readout=Readout(score, "share", cut=cut))


def test_weights_have_a_sum():
    vote = forest(2)[0].vote_
    with pytest.raises(PsephosError, match="sum is not finite"):
        replace(vote.weighting, alpha=np.full(vote.n_voters, 1e308))


def test_a_map_that_is_fixed_is_not_said_to_be_calibrated():
    points = (np.array([0.0, 0.5, 1.0]),) * 2
    assert Isotonic(points, points).words([]) == "calibrated (isotonic)"
    assert Isotonic(points, points, fixed=True).words([]) == "read off a fixed rising curve"
