"""Rows without a label, and probabilities in place of labels, where a recipe declares them."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import CARTClassifier, PsephosError
from psephos.base import Anatomy, VoteClassifier
from psephos.estimator.labels import class_factors
from psephos.estimator.params import ClassWeight, Flag
from psephos.estimator.partial import known_rows
from psephos.testing import small_table
from psephos.vote import Constant, ConstantVoters, Readout, Vote


class SharesClassifier(VoteClassifier):
    """The shares of the classes among labelled rows, unlabelled ones counting as they are."""

    anatomy = Anatomy(("constant voters",), "constant", "normalised", "counting")
    constraints: ClassVar = {"class_weight": ClassWeight()}
    partial_labels = soft_labels = True

    def __init__(self, unlabeled=None, class_weight=None, classes=None):
        self.unlabeled = unlabeled
        self.class_weight = class_weight
        self.classes = classes

    def _fit_vote(self, table, labels, weight, context):
        code = labels.target.code
        hard = np.where(labels.known[:, None], np.eye(labels.target.n_classes)[labels.y], 0.0)
        shares = weight @ (hard if labels.soft is None else labels.soft)
        votes = ConstantVoters(
            table.values.shape[1], (shares / shares.sum() @ code)[None], "shares"
        )
        constant = Constant(table.values.shape[1], np.ones(1))
        return Vote(votes, constant, Readout("normalised", "share"), labels.target), {}


X = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("y", "unlabeled"),
    [
        (np.array([0, 1, 1, np.nan, np.nan, 1.0]), None),
        (np.array(["a", "b", "b", None, None, "b"], dtype=object), None),
        (pd.Series(["a", "b", "b", pd.NA, None, "b"], dtype="string"), None),
        (np.array([0, 1, 1, -1, -1, 1]), -1),
        (["a", "b", "b", "?", "?", "b"], "?"),
    ],
)
def test_rows_without_a_label_are_told(y, unlabeled):
    model = SharesClassifier(unlabeled)
    _, labels, weight, _ = model.read(X, y, sample_weight=[1, 1, 1, 5, 5, 0])
    assert_array_equal(labels.known, [True, True, True, False, False])
    assert_array_equal(labels.y, [0, 1, 1, -1, -1])
    assert_array_equal(weight, [1, 1, 1, 5, 5])
    model.fit(X, y)
    assert len(model.classes_) == 2
    assert_allclose(model.predict_proba(X[:1]), [[0.25, 0.75]])


def test_class_weights_are_of_labels():
    y = np.array([0, 1, 1, np.nan, np.nan, 1.0])
    model = SharesClassifier(class_weight="balanced").fit(X, y)
    assert_allclose(model.predict_proba(X[:1]), [[0.5, 0.5]])
    assert_allclose(model.read(X, y)[2][3:5], [1, 1])
    declared = SharesClassifier(classes=[1.0, 0.0, 2.0]).fit(X, y)
    assert_array_equal(declared.classes_, [1.0, 0.0, 2.0])
    assert_allclose(declared.predict_proba(X[:1]), [[0.75, 0.25, 0.0]])
    # a class without a row has no weight, and takes none of the others'
    declared.set_params(class_weight="balanced").fit(X, y)
    assert_allclose(declared.predict_proba(X[:1]), [[0.5, 0.5, 0.0]])
    assert_array_equal(
        class_factors("balanced", ["a", "b", "c"], np.array([1.0, 0, 3])), [2, 0, 2 / 3]
    )


@pytest.mark.parametrize("weights", [None, "balanced", {"a": 2.0, "b": 1.0, "c": 0.5}])
def test_soft_labels_are_rows_of_each_class_with_their_share(weights):
    rng = np.random.default_rng(0)
    soft = pd.DataFrame(rng.dirichlet([1, 2, 3], 6), columns=["a", "b", "c"])
    model = SharesClassifier(class_weight=weights)
    weight = np.arange(1.0, 7.0)
    of_soft = model.fit(X, soft, sample_weight=weight).predict_proba(X[:1])
    assert_array_equal(model.classes_, ["a", "b", "c"])
    given = (soft.to_numpy() * weight[:, None]).ravel()
    rows, hard = np.repeat(X, 3, axis=0), np.tile(["a", "b", "c"], 6)
    of_hard = SharesClassifier(class_weight=weights).fit(rows, hard, sample_weight=given)
    assert_allclose(of_hard.predict_proba(X[:1]), of_soft)


def test_soft_labels_of_some_rows():
    soft = np.array([[0.2, 0.8], [1, 0], [np.nan, np.nan], [0.5, 0.5], [0, 1], [0, 1]])
    _, labels, _, _ = SharesClassifier().read(X, soft, sample_weight=[1, 1, 1, 1, 1, 0])
    assert_array_equal(labels.y, [1, 0, -1, 0, 1])
    assert_array_equal(labels.known, [True, True, False, True, True])
    assert_allclose(labels.soft[2], [0, 0])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(6, np.nan), "no row of y has a label"),
        (np.array([1, 1, np.nan, 1, 1, 1.0]), "only one class"),
        (np.full((6, 2), 0.4), r"row 0 of y is \[0.4, 0.4\]"),
        (np.tile([1.5, -0.5], (6, 1)), "soft labels must be probabilities"),
        (np.tile([1.0, 0.0], (6, 1)), "at least two classes of positive"),
        (np.tile([np.nan, 1.0], (6, 1)), "soft labels must be probabilities"),
    ],
)
def test_what_is_no_label_is_refused(y, words):
    with pytest.raises(PsephosError, match=words):
        SharesClassifier().fit(X, y)


def test_columns_and_classes_fit_together():
    with pytest.raises(PsephosError, match="y has 3 columns, `classes` 2"):
        SharesClassifier(classes=["a", "b"]).fit(X, np.full((6, 3), 1 / 3))


def test_other_models_still_want_every_label():
    X, y = small_table(2)
    gaps = np.where(np.arange(len(y)) == 3, None, y)
    with pytest.raises(PsephosError, match="row 3 has no label"):
        CARTClassifier().fit(X, gaps)


def test_a_mark_is_told_by_its_kind():
    assert_array_equal(known_rows(np.array([True, False]), 0), [True, True])
    assert_array_equal(known_rows(np.array(["0", "1"], dtype=object), 0), [True, True])
    assert_array_equal(known_rows(np.array([0.0, 1.0]), 0), [False, True])


class GrowingClassifier(VoteClassifier):
    """A voter for each fit or call: the shares of its rows; those there were go on voting."""

    anatomy = Anatomy(("joined voters",), "constant", "normalised", "counting")
    constraints: ClassVar = {"warm_start": Flag()}

    def __init__(self, warm_start=False):
        self.warm_start = warm_start

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return self._partial_fit(X, y, sample_weight, classes)

    def _fit_vote(self, table, labels, weight, context):
        before = context.previous
        said = weight @ labels.target.code[labels.y] / weight.sum()
        values = np.atleast_2d(said)
        if before is not None:
            values = np.concatenate([before.voters.values, values])
        p = table.values.shape[1]
        votes = ConstantVoters(p, values, "further rows" if context.further else "rows")
        constant = Constant(p, np.ones(len(values)))
        return Vote(votes, constant, Readout("normalised", "share"), labels.target), {}


def test_a_warm_start_goes_on_from_the_vote_there_is():
    y = np.array([0, 0, 0, 1, 1, 1])
    model = GrowingClassifier(warm_start=True).fit(X, y).fit(X[2:], y[2:])
    assert_allclose(model.vote_.voters.values, [[0.0], [0.5]])
    assert GrowingClassifier().fit(X, y).fit(X, y).vote_.n_voters == 1
    with pytest.raises(PsephosError, match="columns, categories and classes of the first fit"):
        model.fit(X[:, :1], y)
    with pytest.raises(PsephosError, match="columns, categories and classes of the first fit"):
        GrowingClassifier(warm_start=True).fit(X, y).fit(X, y + 1)


def test_further_rows_are_read_as_those_before():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = GrowingClassifier().partial_fit(frame, ["p", "p", "q", "q", "q", "q"])
    model.partial_fit(frame.iloc[:2], ["p", "p"], sample_weight=[1.0, 0.0])
    assert_allclose(model.vote_.voters.values, [[1 / 3], [-1.0]])
    assert model.vote_.voters.name == "further rows"
    with pytest.raises(PsephosError, match="label 'r' is not one of the classes"):
        model.partial_fit(frame, ["r"] * 6)
    with pytest.raises(PsephosError, match="sample_weight is zero on every row"):
        model.partial_fit(frame, ["p"] * 6, sample_weight=np.zeros(6))
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[["a"]], ["p"] * 6)
