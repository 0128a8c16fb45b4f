"""The curve of a budget of columns: its folds, its errors, and how often columns return."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from psephos import (
    CARTClassifier,
    CARTRegressor,
    ColumnBudgetClassifier,
    ColumnBudgetRegressor,
    PsephosError,
)
from psephos.explain import ColumnCurveDisplay

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 60))
SCORE = X[:, 3] + X[:, 50]
Y = np.where(SCORE + 0.5 * RNG.standard_normal(90) > 0, "ill", "well")
MODEL = ColumnBudgetClassifier(
    selector="lars", estimator=CARTClassifier(n_folds=0, max_depth=2), random_state=0
)


def test_scores_are_of_rows_that_chose_nothing():
    folds = list(KFold(3).split(X))
    curve = ColumnCurveDisplay.from_estimator(MODEL, X, Y, n_columns=(2, 4), cv=folds)
    for s, (train, test) in enumerate(folds):
        for b, k in enumerate((2, 4)):
            one = clone(MODEL).set_params(n_columns=k).fit(X[train], Y[train])
            auc = roc_auc_score(Y[test], one.predict_proba(X[test])[:, 1])
            assert_allclose(curve.scores[b, s], auc)
            assert_array_equal(np.flatnonzero(curve.selected[b, s]), one.selected_)
        whole = clone(MODEL.estimator).fit(X[train], Y[train])
        assert_allclose(
            curve.reference[s], roc_auc_score(Y[test], whole.predict_proba(X[test])[:, 1])
        )


def test_table_and_words():
    curve = ColumnCurveDisplay.from_estimator(MODEL, X, Y, n_columns=(2, 1), cv=4, n_repeats=2)
    table = curve.table()
    assert table["n_columns"] == [1, 2]
    off = curve.scores[1] - curve.reference
    assert_allclose(table["difference"][1], off.mean())
    assert_allclose(
        table["difference_error"][1],
        np.sqrt((1 / 8 + curve.test_share) * off.var(ddof=1)),
    )
    assert_allclose(curve.test_share, 1 / 3, rtol=0.05)
    returned = curve.returns(2)
    assert returned["column"][:2] == ["column 3", "column 50"]
    assert_allclose(sum(returned["share"]), 2.0)
    assert 0 < table["similarity"][1] <= 1
    assert str(curve).startswith("roc_auc over 8 splits; on all columns 0.")
    assert len(curve.frame()) == 2
    with pytest.raises(PsephosError, match=r"must be on the curve \(1, 2\); got"):
        curve.returns(3)


def test_groups_are_whole_and_default_members_are_compared():
    group = np.repeat(np.arange(30), 3)
    curve = ColumnCurveDisplay.from_estimator(
        ColumnBudgetClassifier(selector="univariate", random_state=0),
        X, Y, n_columns=[2], cv=3, groups=group,
    )  # fmt: skip
    assert curve.reference.shape == (3,)
    assert curve.scores.mean() > curve.reference.mean() > 0.6


def test_numbers_and_a_plot():
    pytest.importorskip("matplotlib").use("agg")
    model = ColumnBudgetRegressor(
        selector="lars", estimator=CARTRegressor(n_folds=0), random_state=0
    )
    curve = ColumnCurveDisplay.from_estimator(model, X, SCORE, n_columns=(2, 8), cv=3)
    assert curve.scoring == "r2"
    axes = curve.plot()
    assert axes.get_ylabel() == "r2, mean of 3 splits"
    with pytest.raises(
        PsephosError, match=r"must be a ColumnBudgetClassifier .* got CARTRegressor"
    ):
        ColumnCurveDisplay.from_estimator(CARTRegressor(), X, SCORE)
