"""What is given by mistake, and the sentence that says so."""

from dataclasses import replace
from functools import cache
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from psephos import (
    CARTClassifier,
    CARTRegressor,
    ColumnBudgetClassifier,
    MLKNeighborsClassifier,
    MultiViewClassifier,
    PsephosError,
    RandomForestClassifier,
    RandomForestRegressor,
    RankRidgeClassifier,
    SamBAClassifier,
    calibrate,
    load,
    save,
    shrink,
)
from psephos.base import Anatomy, VoteClassifier
from psephos.estimator.params import Anything
from psephos.testing import small_table
from psephos.vote import Constant, ConstantVoters, Readout, Vote

X, Y = small_table(2)
LABELS = (X[:, 0] > 0).astype(int)
TREE = CARTClassifier(n_folds=0)
FEW = ColumnBudgetClassifier(3, selector="univariate", estimator=RankRidgeClassifier(1.0))
FRAME = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
DOUBLE = pd.concat([FRAME, FRAME[["c0"]]], axis=1)
HALF = np.where(LABELS[:, None] == 0, np.nan, X[:, :2])
SOFT = np.column_stack([1.0 - LABELS, LABELS])
SOME = LABELS.astype(object)
SOME[3] = None


@cache
def forest():
    return RandomForestClassifier(5, max_depth=1, random_state=0).fit(X, LABELS)


@cache
def numbers():
    return RandomForestRegressor(5, max_depth=1, random_state=0).fit(X, X[:, 0])


class Partial(VoteClassifier):
    """A classifier of partial and soft labels that answers with class frequencies."""

    anatomy: ClassVar[Anatomy] = Anatomy(("constant voters",), "constant", "normalised", "counting")
    constraints: ClassVar = {"classes": Anything(), "unlabeled": Anything()}
    partial_labels = True
    soft_labels = True

    def __init__(self, classes=None, unlabeled=None):
        self.classes = classes
        self.unlabeled = unlabeled

    def _fit_vote(self, table, labels, weight, context):
        p = table.values.shape[1]
        share = np.bincount(labels.y[labels.known], minlength=labels.target.n_classes)
        voters = ConstantVoters(p, (share / share.sum())[None] @ labels.target.code, "frequencies")
        weights = Constant(p, np.ones(1))
        return Vote(voters, weights, Readout("normalised", "share"), labels.target), {}


def views(estimator, **settings):
    return MultiViewClassifier([("a", [0, 1]), ("b", [2])], estimator=estimator, **settings)


CASES = {
    "calibrate, a column": (lambda: calibrate(forest(), X, LABELS[:, None]), "give one label per"),
    "calibrate, None": (lambda: calibrate(forest(), X, None), "give one label per row"),
    "calibrate, few": (lambda: calibrate(forest(), X, LABELS[:9]), "9 labels for 60 rows"),
    "shrink, a column": (lambda: shrink(forest(), 2, X, LABELS[:, None]), "give one label per row"),
    "shrink, None": (lambda: shrink(forest(), 2, X, None), "give one label per row"),
    "shrink, no numbers": (lambda: shrink(numbers(), 2, X, None), "y must be given, unless target"),
    "twice in a frame": (lambda: TREE.fit(DOUBLE, LABELS), "two columns are named 'c0'"),
    "twice, views": (
        lambda: MultiViewClassifier([("a", ["c0"])], estimator=TREE).fit(FRAME, Y).predict(DOUBLE),
        "two columns are named 'c0'",
    ),
    "sets": (lambda: MLKNeighborsClassifier(5).fit(X, [{"a"}] * 60), "a set in row 0.*Binarizer"),
    "lists": (lambda: MLKNeighborsClassifier(5).fit(X, [["a"], ["a", "b"]] * 30), "MultiLabelBina"),
    "sets, a tree": (lambda: TREE.fit(X, [{"a"}] * 60), "holds a set in row 0"),
    "path, a number": (lambda: FEW.path(X, LABELS, 3), r"must be budgets such as \(4, 8, 16\)"),
    "path, a word": (lambda: FEW.path(X, LABELS, "12"), "must be budgets"),
    "path, words": (lambda: FEW.path(X, LABELS, (1, "a")), "'n_columns' must be .*; got 'a'"),
    "majority of numbers": (
        lambda: replace(numbers().vote_, readout=Readout("majority", "identity")),
        "numbers have no majority",
    ),
    "borda of numbers": (
        lambda: replace(numbers().vote_, readout=Readout("borda", "identity")), "have no borda"
    ),
    "score, None": (lambda: forest().score(X, None), "score needs y"),
    "score, numbers": (lambda: numbers().score(X, None), "score needs y"),
    "score, some": (lambda: forest().score(X, SOME), "row 3 of y has no label"),
    "score, NaN": (lambda: forest().score(X, np.where(LABELS, np.nan, 0.0)), "of y has no label"),
    "margins, None": (lambda: forest().margins(X, None), "give one label per row"),
    "margins, some": (lambda: forest().margins(X, SOME), "label None is not one of"),
    "save, None": (lambda: save(forest(), None), "got None"),
    "save, NUL": (lambda: save(forest(), "a\0b"), "must be the path of the file to write"),
    "classes twice": (lambda: Partial(["a", "a"]).fit(X, SOFT), "got 'a' twice"),
    "labels twice": (lambda: Partial([0, 1, 1]).fit(X, LABELS), "got 1 twice"),
    "columns twice": (
        lambda: Partial().fit(X, pd.DataFrame(SOFT, columns=["no", "no"])), "columns are named 'no'"
    ),
    "unlabeled, a list": (lambda: Partial(unlabeled=[0]).fit(X, LABELS), "must be one label"),
    "a price in words": (
        lambda: FEW.set_params(prices={0: "2"}).fit(X, LABELS), "must be above 0; got '2'"
    ),
    "prices in words": (
        lambda: FEW.set_params(prices=["2"] * 12).fit(X, LABELS), "must be above 0; got '2'"
    ),
    "a view of one class": (
        lambda: views(TREE).fit(np.c_[HALF, X[:, 2:]], LABELS), "view 'a': the .* rows that have it"
    ),
    "a view of one class in a fold": (
        lambda: views(LogisticRegression(), fusion="stacked", cv=3).fit(
            np.c_[np.where(np.arange(60)[:, None] == LABELS.argmin(), 0.0, HALF), X[:, 2:]], LABELS
        ),
        "view 'a'.*smaller cv",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_mistakes_are_named(what):
    call, words = CASES[what]
    with pytest.raises(PsephosError, match=words):
        call()


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(PsephosError, match="is a folder: give the path of a model file"):
        load(tmp_path)


def test_answers_are_scored_as_scikit_learn_does():
    weight = np.arange(60) + 1.0
    right = forest().predict(X) == LABELS
    assert np.isclose(forest().score(X, LABELS, weight), np.average(right, weights=weight))
    numbers = CARTRegressor(n_folds=0).fit(X, X[:, 0])
    assert numbers.score(X, X[:, 0]) <= 1


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, pd.DataFrame, csr_array])
def test_a_table_of_labels_for_a_model_of_one_class(form):
    X = np.arange(12.0).reshape(6, 2)
    Y = (X > [[4, 6]]).astype(int)
    words = (
        r"table of shape \(6, 2\), and SamBAClassifier predicts one class per row: give one label"
    )
    with pytest.raises(PsephosError, match=words):
        SamBAClassifier().fit(X, form(Y))
