"""The skeleton of local boosting: named functions, the user's own, voters that are sure."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import psephos
from psephos import AdaBoostClassifier, LocalBoostingClassifier, PsephosError, SamBAClassifier
from psephos.testing import small_table
from psephos.vote.codec import encode


def cancer(classes=2):
    load = load_breast_cancer if classes == 2 else load_iris
    X, y = load(return_X_y=True)
    return X, y


def content(vote):
    """What a model file holds of a vote: its structure, and every array to the last bit."""
    arrays = {}
    data = encode(vote, arrays, "vote")
    return data, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}


def squares(seen):
    return seen.agreement.clip(0) ** 2


def exponential(seen):
    return np.exp(seen.agreement)


def moved_as_samba(seen):
    return np.exp(-seen.relevance * seen.agreement)


def near_mean(seen):
    return np.exp(-np.abs(np.nan_to_num(seen.X) - np.nanmean(seen.X, axis=0))).mean(axis=1)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_named_functions_are_samba_and_adaboost_to_the_last_bit(classes, weighted):
    X, y = cancer(classes)
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    for more in ({}, {"criterion": "error"}, {"n_anchors": 30}, {"validation_fraction": 0.3}):
        same = {"n_estimators": 12, "random_state": 0, **more}
        mine = LocalBoostingClassifier(**same).fit(X, y, w)
        samba = SamBAClassifier(update="sample", **same).fit(X, y, w)
        assert content(mine.vote_) == content(samba.vote_)
        assert_array_equal(mine.estimator_errors_, samba.estimator_errors_)
        if "n_anchors" in more:
            continue
        names = {"relevance": "right", "difficulty": "log-odds", "weighting": "log-odds"}
        mine = LocalBoostingClassifier(**names, **same).fit(X, y, w)
        ada = AdaBoostClassifier(**same).fit(X, y, w)
        assert content(mine.vote_) == content(ada.vote_)
        assert mine.stopped_ == ada.stopped_


def test_a_function_that_is_written_out_is_the_named_one():
    X, y = cancer()
    mine = LocalBoostingClassifier(
        n_estimators=8, relevance=exponential, difficulty=moved_as_samba
    ).fit(X, y)
    named = LocalBoostingClassifier(n_estimators=8).fit(X, y)
    assert mine.vote_.weighting.tag == "local relevance"
    assert named.vote_.weighting.tag == "local"
    assert_allclose(mine.vote_.weighting.relevance, named.vote_.weighting.expertise)
    assert_allclose(mine.decision_function(X), named.decision_function(X), atol=1e-12)
    assert_allclose(mine.mass(X), named.mass(X))


def test_the_weight_is_the_formula():
    """w_t(x) = sum_i omega_t[i] m / (a^b + d^b), with omega divided by its sum."""
    X, y = cancer()
    X, y = X[:80, :6], y[:80]
    a, b = 0.4, 3.0
    model = LocalBoostingClassifier(
        n_estimators=3, relevance=near_mean, says="probability", a=a, b=b, distance_scale=None,
        column_scale=None,
    ).fit(X, y)  # fmt: skip
    read = model.vote_.columns
    omega = near_mean(type("Seen", (), {"X": X}))[:, None] * np.ones(model.vote_.n_voters)
    d = np.sqrt(((X[:5, None, read] - X[None][..., read]) ** 2).sum(axis=2))
    weights = (len(X) / (a**b + d**b)) @ (omega / omega.sum())
    assert_allclose(model.vote_.weights(X[:5]), weights, rtol=1e-10)
    votes = model.vote_.votes(X[:5])[:, :, 0]
    assert ((votes > -1) & (votes < 1)).any()
    score = (weights * votes).sum(axis=1) / weights.sum(axis=1)
    assert_allclose(model.decision_function(X[:5]), score, rtol=1e-10)


def test_what_a_function_sees():
    X, y = cancer(3)
    names = np.array(["a", "b", "c"])[y]
    seen_ones = []

    def watch(seen):
        seen_ones.append(seen)
        for array in (seen.agreement, seen.share, seen.weight, seen.X, seen.y):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
        return np.ones(len(seen.y))

    LocalBoostingClassifier(n_estimators=3, relevance=watch, difficulty=watch).fit(X, names)
    relevances, difficulties = seen_ones[0::2], seen_ones[1::2]
    assert [s.t for s in relevances] == [0]  # a difficulty of 1 leaves the weights as they were
    first = relevances[0]
    assert first.relevance is None
    assert_array_equal(difficulties[0].relevance, np.ones(len(first.y)))
    assert_allclose(first.weight.sum(), 1.0)
    assert_allclose(first.error, first.weight @ (1 - first.share))
    assert set(np.unique(first.agreement)) == {-0.5, 1.0}
    assert set(first.y) == {"a", "b", "c"}
    assert first.n_classes == 3


@pytest.mark.parametrize("classes", [2, 3])
def test_voters_that_say_probabilities(classes):
    X, y = cancer(classes)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    for voter in (None, tree, LogisticRegression(max_iter=5000)):
        model = LocalBoostingClassifier(voter, n_estimators=4, says="probability")
        model.fit(X / X.std(axis=0), y)
        votes = model.vote_.votes(X[:20] / X.std(axis=0))
        assert np.abs(votes).max() <= 1 + 1e-12
        assert len(np.unique(votes.round(9))) > classes  # not the codes alone
        assert model.score(X / X.std(axis=0), y) > 0.9
        chances = model.predict_proba(X[:20] / X.std(axis=0))
        assert_allclose(chances.sum(axis=1), 1)
    with pytest.raises(PsephosError, match="LinearSVC has no predict_proba"):
        LocalBoostingClassifier(LinearSVC(), says="probability").fit(X, y)


def test_confidence_rated_adaboost_is_schapire_and_singers():
    """alpha_t from the edge r_t; weights by exp(-alpha_t y h_t / 2) (their section 3.1)."""
    X, y = cancer()
    model = LocalBoostingClassifier(
        n_estimators=5, says="probability", relevance="right", difficulty="log-odds",
        weighting="log-odds",
    ).fit(X, y)  # fmt: skip
    pi = np.full(len(y), 1 / len(y))
    for t in range(5):
        h = model.vote_.votes(X)[:, t, 0]
        z = h * np.where(y == 1, 1, -1)
        r = pi @ z
        assert_allclose(model.estimator_errors_[t], (1 - r) / 2)
        alpha = np.log((1 + r) / (1 - r))
        assert_allclose(model.vote_.weighting.alpha[t], alpha, rtol=1e-9)
        pi = pi * np.exp(-alpha * z / 2)
        pi /= pi.sum()


def test_the_prior_is_where_weights_begin_and_no_weight_of_rows():
    X, y = cancer()
    seen_ones = []

    def watch(seen):
        seen_ones.append(seen.weight)
        return np.exp(seen.agreement)

    def doubled(X, y):
        return np.where(X[:, 0] > np.median(X[:, 0]), 2.0, 1.0)

    w = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    for prior, expected in (
        (None, w),
        (doubled, w * doubled(X, y)),
        ({0: 3.0}, w * np.where(y == 0, 3.0, 1.0)),
        ("balanced", w / np.bincount(y, w)[y]),
    ):
        model = LocalBoostingClassifier(n_estimators=2, relevance=watch, prior=prior).fit(X, y, w)
        assert_allclose(seen_ones[0], expected / expected.sum())
        assert_allclose(model.vote_.weighting.local.anchor_weight, w)
        seen_ones.clear()
    # not sample_weight: that counts rows in every sum
    plain = LocalBoostingClassifier(n_estimators=5, prior=doubled).fit(X, y)
    weighed = LocalBoostingClassifier(n_estimators=5).fit(X, y, doubled(X, y))
    assert_array_equal(plain.vote_.weighting.anchor_weight, np.ones(len(y)))
    assert np.abs(plain.decision_function(X) - weighed.decision_function(X)).max() > 1e-3


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"relevance": lambda seen: seen.agreement}, "relevance in round 0 is -1 for row"),
        ({"relevance": lambda seen: 1.0}, "did not return one number for each of the 569 rows"),
        ({"relevance": lambda seen: ["a"] * 569}, "did not return one number"),
        ({"relevance": lambda seen: 0 * seen.share}, "relevance is 0 for every voter"),
        ({"difficulty": lambda seen: np.full(569, np.nan)}, "difficulty in round 0 is nan"),
        ({"difficulty": "squared"}, "'exp', 'log-odds', or a function of a BoostingRound"),
        ({"prior": lambda X, y: 0 * y}, "prior is 0 on every row"),
        ({"prior": {7: 1.0, 0: 2.0}}, "names 7, which is not a label"),
        ({"weighting": "log-odds"}, "set relevance='right'"),
        ({"says": "log-odds"}, "one of 'answer', 'probability'"),
    ],
)
def test_refusals(more, match):
    with pytest.raises(PsephosError, match=match):
        LocalBoostingClassifier(n_estimators=3, **more).fit(*cancer())


def test_a_difficulty_that_forgets_the_rows_that_are_right_ends():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = LocalBoostingClassifier(difficulty=lambda seen: seen.agreement < 0)
    model.fit(X, [0, 0, 1, 1])
    assert model.stopped_ == "no difficult row"
    assert model.vote_.n_voters == 1


def test_files_hold_numbers_and_copies_hold_functions(tmp_path):
    X, y = cancer()
    model = LocalBoostingClassifier(n_estimators=4, relevance=squares, says="probability")
    assert clone(model).relevance is squares
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.relevance is squares
    psephos.save(model, tmp_path / "m.psephos")
    loaded = psephos.load(tmp_path / "m.psephos")
    assert "squares" in repr(loaded.relevance)
    for other in (again, loaded, model.reduce()):
        rows = X if other.n_features_in_ == X.shape[1] else X[:, model.vote_.columns]
        assert_array_equal(other.predict_proba(rows), model.predict_proba(X))
    with pytest.raises(PsephosError, match="relevance"):
        loaded.fit(X, y)
    near = model.vote_.nearest(X[:1], 3)
    assert "was relevant" in near.meaning


def test_sparse_frames_and_missing_values():
    X, y = small_table(n=60, p=5, seed=0)[:2] if callable(small_table) else cancer()
    X = np.array(X, dtype=float)
    dense = LocalBoostingClassifier(n_estimators=3, relevance=squares).fit(np.nan_to_num(X), y)
    thin = LocalBoostingClassifier(n_estimators=3, relevance=squares)
    thin.fit(sparse.csr_matrix(np.nan_to_num(X)), y)
    assert_array_equal(thin.predict(np.nan_to_num(X)), dense.predict(np.nan_to_num(X)))
    holes = X.copy()
    holes[::7, 0] = np.nan
    frame = pd.DataFrame(holes, columns=[f"g{j}" for j in range(X.shape[1])])
    model = LocalBoostingClassifier(n_estimators=3, relevance=near_mean, says="probability")
    model.fit(frame, y)
    assert np.isfinite(model.predict_proba(frame)).all()
    assert "g" in " ".join(model.describe())


def test_a_voter_without_errors_has_the_weight_1():
    """Its log-odds are infinite; as in scikit-learn's AdaBoost it ends the search with weight 1."""
    X = np.arange(8.0)[:, None]
    model = LocalBoostingClassifier(weighting="log-odds", relevance="right").fit(X, X[:, 0] > 3)
    assert_array_equal(model.vote_.constant_weights(), [1.0])
    assert_allclose(np.abs(model.decision_function(X)), 1.0)


def test_what_a_prior_may_be():
    with pytest.raises(PsephosError) as caught:
        LocalBoostingClassifier(prior={0: 1, 1: -1}).fit(np.eye(4), [0, 0, 1, 1])
    assert str(caught.value).endswith(
        "must be None, 'balanced', or a dict from labels to weights of at least 0 or a function of "
        "X and y that returns one a row; got {0: 1, 1: -1}."
    )
