"""What bags and forests draw does not depend on the units of columns or of numbers to learn."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_regression

from psephos import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    EnsembleSelectionClassifier,
    ExtraTreesRegressor,
    MultiViewClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from psephos.models.training import ordered_groups, row_groups
from psephos.trees.forest import ForestRows

X, Y = make_classification(
    150, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
)
NUMBERS = make_regression(120, 5, noise=5.0, random_state=0)
TREE = CARTClassifier(cp=0.01, n_folds=0)


def _bag():
    return BaggingClassifier(TREE, 4, random_state=0)


def _two():
    return [("a", _bag()), ("b", BaggingClassifier(TREE, 3, random_state=1))]


@pytest.mark.parametrize(
    "make",
    [
        _bag,
        lambda: VotingClassifier(_two()),
        lambda: StackingClassifier(_two(), random_state=0),
        lambda: EnsembleSelectionClassifier(_two(), random_state=0),
        lambda: MultiViewClassifier(
            [("u", [0, 1]), ("v", [2, 3])], estimator=_bag(), random_state=0
        ),
    ],
    ids=["bagging", "voting", "stacking", "selection", "views"],
)
@pytest.mark.parametrize("unit", [1e30, 1e-30, 0.1])
def test_columns_in_another_unit_draw_the_same_rows(make, unit):
    one, other = make().fit(X, Y), make().fit(X * unit, Y)
    found = other.predict_proba(X * unit)
    assert_allclose(found, one.predict_proba(X), rtol=0, atol=1e-12)


def test_a_bag_is_the_same_in_any_order_of_rows_and_knows_what_it_left_out():
    order = np.random.default_rng(0).permutation(len(Y))
    one, other = _bag().fit(X, Y), _bag().fit(X[order], Y[order])
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert_array_equal(one.left_out(X, Y)[:, order], other.left_out(X[order], Y[order]))
    wide = np.hstack([np.zeros((150, 70)), X])  # rows that differ beyond the first columns alone
    a, b = _bag().fit(wide, Y), _bag().fit(wide[order], Y[order])
    assert_array_equal(a.predict_proba(wide), b.predict_proba(wide))


@pytest.mark.parametrize("cls", [RandomForestRegressor, ExtraTreesRegressor, BaggingRegressor])
def test_numbers_in_another_unit_draw_the_same_rows(cls):
    A, b = NUMBERS
    given = {"n_estimators": 10, "bootstrap": True, "random_state": 0}
    one = cls(**given).fit(A, b)
    for factor, shift in ((4.0, 0.0), (2.0**-40, 0.0), (1e6, 0.0), (1.0, 1000.0)):
        other = cls(**given).fit(A, b * factor + shift)
        assert_array_equal(other.left_out(A, b * factor + shift), one.left_out(A, b))
        if factor != 1e6 and not shift:  # no rounding, so that equal gains stay equal
            assert_array_equal(other.predict(A) / factor, one.predict(A))


def test_a_memory_of_an_earlier_version_numbers_rows_as_that_did():
    A, b = NUMBERS
    model = RandomForestRegressor(2, warm_start=True, random_state=0).fit(A, b)
    model.memory_ = replace(model.memory_, ranked=False)
    model.set_params(n_estimators=5).fit(A, b)
    assert not model.memory_.ranked
    rows = ForestRows.of(A, {}, b, np.ones(len(b)), 255, None, ranked=False)
    drawn = [model.memory_.draws.counts(seed)[rows.group] == 0 for seed in model.memory_.seeds]
    assert_array_equal(model.left_out(A, b), drawn)
    bag = BaggingRegressor(n_estimators=2, warm_start=True, random_state=0).fit(A, b)
    now = bag.left_out(A, b)
    bag.memory_ = replace(bag.memory_, ranked=False)
    group = row_groups(np.column_stack([A, b]))
    drawn = [bag.memory_.draws.counts(seed)[group] == 0 for seed in bag.memory_.seeds]
    assert_array_equal(bag.left_out(A, b), drawn)
    assert (bag.left_out(A, b) != now).any()


def test_ordered_groups():
    rows = np.array([[2.0, np.nan], [-0.0, 1], [2, 3], [0, 1], [2, np.nan], [-5, 9]])
    assert_array_equal(ordered_groups(rows), [3, 1, 2, 1, 3, 0])
