"""Several labels a case, several numbers a case: scores, answers, words, file, ballots."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score

from psephos import PsephosError, SamBAClassifier, load, registry, save
from psephos.base import Anatomy, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.testing.ballots import assert_ballots_are_true
from psephos.vote import Constant, LabelsTarget, NumbersTarget, Readout, StumpVoters, Vote


def stumps(X, said):
    """Return a vote of a stump a column, cut at the median; `said` gives what a side says."""
    p = X.shape[1]
    cut = np.median(X, axis=0)
    left = np.array([said(X[:, j] <= cut[j]) for j in range(p)])
    right = np.array([said(X[:, j] > cut[j]) for j in range(p)])
    return StumpVoters(
        p, np.arange(p), np.arange(p), cut, np.zeros(p, dtype=bool),
        np.zeros(p + 1, dtype=np.intp), np.zeros(0, dtype=bool), left, right,
    )  # fmt: skip


class LabelStumps(VoteClassifier):
    """One stump a column: the share of each label on either side."""

    anatomy = Anatomy(("stump voters",), "constant", "normalised", "shares")
    contender = Contender("label-stumps", "stumps")
    constraints: ClassVar = {}
    multilabel = True

    def _fit_vote(self, table, labels, weight, context):
        X, Y = table.dense(), np.atleast_2d(labels.y.T).T

        def said(rows):
            return 2.0 * np.average(Y[rows], axis=0, weights=weight[rows]) - 1.0

        vote = Vote(
            stumps(X, said), Constant(X.shape[1], np.ones(X.shape[1])),
            Readout("normalised", "share"), labels.target,
        )  # fmt: skip
        return vote, {}


class NumberStumps(VoteRegressor):
    """One stump a column: the means on either side."""

    anatomy = Anatomy(("stump voters",), "constant", "normalised", "means")
    contender = Contender("number-stumps", "stumps")
    constraints: ClassVar = {}
    multioutput = True

    def _fit_vote(self, table, labels, weight, context):
        X, Y = table.dense(), labels.y.reshape(len(labels.y), -1)

        def said(rows):
            return np.average(Y[rows], axis=0, weights=weight[rows])

        vote = Vote(
            stumps(X, said), Constant(X.shape[1], np.ones(X.shape[1])),
            Readout("normalised", "identity"), labels.target,
        )  # fmt: skip
        return vote, {}


@pytest.fixture(autouse=True, scope="module")
def _known_here_only():
    for model in (LabelStumps, NumberStumps):
        registry.register(model)
    yield
    for model in (LabelStumps, NumberStumps):
        registry._registered.pop(model.contender.name)


def several(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    Y = (X[:, :3] + 0.5 * rng.standard_normal((n, 3)) > 0).astype(int)
    return X, Y


def test_labels_are_answered_one_by_one():
    X, Y = several()
    model = LabelStumps().fit(X, Y)
    score = model.decision_function(X)
    by_hand = [model.vote_.votes(X)[:, :, k].mean(axis=1) for k in range(3)]
    assert_allclose(score, np.stack(by_hand, axis=1), atol=1e-12)
    assert_array_equal(model.predict(X), (score > 0).astype(int))
    assert_allclose(model.predict_proba(X), (1 + score) / 2)
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X))
    assert_allclose(model.margins(X, Y), ((2 * Y - 1) * score).mean(axis=1))
    assert_allclose(model.contributions(X).sum(axis=1), score, atol=1e-12)
    assert_allclose(list(model.staged_decision_function(X))[-1], score)
    assert next(iter(model.staged_predict(X))).shape == (60, 3)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert model.__sklearn_tags__().classifier_tags.multi_label


@pytest.mark.parametrize("form", ["sparse", "frame", "bool", "float", "list"])
def test_a_table_of_labels_comes_in_any_form(form):
    X, Y = several()
    given = {
        "sparse": csr_array(Y), "frame": pd.DataFrame(Y, columns=["sad", "calm", "glad"]),
        "bool": Y.astype(bool), "float": Y.astype(float), "list": Y.tolist(),
    }[form]  # fmt: skip
    model = LabelStumps().fit(X, given)
    assert_array_equal(model.predict(X), LabelStumps().fit(X, Y).predict(X))
    assert list(model.classes_) == (["sad", "calm", "glad"] if form == "frame" else [0, 1, 2])


def test_labels_in_words():
    X, Y = several()
    model = LabelStumps().fit(X, pd.DataFrame(Y, columns=["sad", "calm", "glad"]))
    ballots = model.explain(X[:9])
    assert_ballots_are_true(ballots, X[:9])
    for i in range(9):
        chances = model.predict_proba(X[[i]])[0]
        has = [
            f"{name} ({100 * p:.1f} %)"
            for name, p in zip(["sad", "calm", "glad"], chances, strict=True)
            if p > 0.5
        ]
        assert ballots.answer(i) == (", ".join(has) or "no label")
    text = str(ballots)
    assert "adds to label " in text
    assert "sad " in ballots.words(0, 0)
    assert set(ballots.columns()) >= {"contribution_sad", "contribution_calm", "contribution_glad"}
    target = LabelsTarget(np.array(["a", "b"]))
    assert target.vote_words(np.array([0.5, -0.25]), 1.0, True) == "+0.5 for a, -0.25 for b"
    assert target.vote_words(np.array([1.0, -1.0]), 1.0, False) == "a"
    assert target.vote_words(np.array([-1.0, -1.0]), 1.0, False) == "no label"
    assert target.vote_words(np.zeros(2), 1.0, False) == "nothing"
    assert target.words(np.array([[1.0, 1.0], [-1.0, 0.0]])) == ["a, b", "no label"]


@pytest.mark.parametrize("labels", [True, False])
def test_a_file_keeps_several_outputs(labels, tmp_path):
    X, Y = several()
    made = LabelStumps() if labels else NumberStumps()
    model = made.fit(
        X, pd.DataFrame(Y if labels else 1.5 * X[:, :2], columns=list("abc")[: 3 if labels else 2])
    )
    save(model, tmp_path / "m.psephos")
    again = load(tmp_path / "m.psephos")
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.describe() == model.describe()
    assert again.explain(X[:3]).columns() == model.explain(X[:3]).columns()
    assert_allclose(again.feature_importances_, model.feature_importances_)
    assert_array_equal(again.reduce().predict(X[:, again.vote_.columns]), model.predict(X))


def test_several_numbers_are_answered_together():
    X, _ = several()
    Y = np.column_stack([X[:, 0] + 1, 3 * X[:, 1]])
    model = NumberStumps().fit(X, Y)
    each = [NumberStumps().fit(X, Y[:, k]).predict(X) for k in range(2)]
    assert_allclose(model.predict(X), np.column_stack(each))
    assert model.vote_.target == NumbersTarget(("y0", "y1"))
    assert 0 < model.score(X, Y) < 1
    named = NumberStumps().fit(X, pd.DataFrame(Y, columns=["dose", "time"]))
    ballots = named.explain(X[:4])
    assert_ballots_are_true(ballots, X[:4])
    first, second = named.predict(X[[0]])[0]
    assert ballots.answer(0) == f"dose = {first:.4g}, time = {second:.4g}"
    assert "adds to dose" in str(ballots)
    with pytest.raises(PsephosError, match="a margin needs classes"):
        named.vote_.margins(X, Y)
    assert model.__sklearn_tags__().target_tags.multi_output


def test_weights_count_rows_of_several_outputs():
    X, Y = several()
    for made, y in ((LabelStumps(), Y), (NumberStumps(), Y * 1.5)):
        without = made.fit(X[:50], y[:50]).predict(X)
        zero = made.fit(X, y, sample_weight=np.repeat([1.0, 0.0], [50, 10])).predict(X)
        assert without.shape == zero.shape


def test_wrong_labels_are_refused():
    X, Y = several()
    with pytest.raises(PsephosError, match=r"table of 0 and 1.*\(row 7\)"):
        LabelStumps().fit(X, np.where(np.arange(60)[:, None] == 7, 2, Y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LabelStumps().fit(X, Y[:50])
    with pytest.raises(PsephosError, match="zero on every row"):
        LabelStumps().fit(X, Y, sample_weight=np.zeros(60))
    with pytest.raises(PsephosError, match="NaN or infinity in row 3"):
        NumberStumps().fit(X, np.where(np.arange(60)[:, None] == 3, np.nan, Y))
    with pytest.raises(PsephosError, match="at least one label"):
        LabelsTarget(np.array([], dtype=int))
    with pytest.raises(PsephosError, match="two labels have one name"):
        LabelsTarget(np.array(["a", "a"]))
    with pytest.raises(PsephosError, match="different names"):
        NumbersTarget(("a", "a"))
    with pytest.raises(ValueError, match="predicts one class per row"):
        SamBAClassifier().fit(X, Y)
