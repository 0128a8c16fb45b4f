"""Trees that are added to a forest are those that a larger forest would have had."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine
from sklearn.utils import shuffle
from thorough import seeds

from psephos import (
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    PsephosError,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
    save,
)

X, Y = shuffle(*load_wine(return_X_y=True), random_state=0)
CODED = np.column_stack([X, np.arange(len(X)) % 5])
NUMBERS = load_diabetes(return_X_y=True)


def tables():
    yield "three classes", CODED, Y, {"categorical_features": [13]}
    yield "two classes", X[Y < 2], Y[Y < 2], {}
    yield "fat", np.tile(X, (1, 20)) + np.arange(260), Y, {}


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize(
    ("name", "x", "y", "more"), tables(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_classes(kind, bootstrap, name, x, y, more):
    options = {"bootstrap": bootstrap, "oob_score": bootstrap, "random_state": 4, **more}
    whole = kind(9, **options).fit(x, y)
    model = kind(4, warm_start=True, **options).fit(x, y)
    first = model.vote_.votes(x)
    for size in (6, 9):
        model.set_params(n_estimators=size).fit(x, y)
    assert_array_equal(model.vote_.votes(x)[:, :4], first)
    same(model, whole, x)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_numbers(kind, tmp_path):
    x, y = NUMBERS
    options = {"bootstrap": True, "oob_score": True, "random_state": 1}
    whole = kind(8, **options).fit(x, y)
    model = kind(3, warm_start=True, **options).fit(x, y)
    save(model, tmp_path / "few")
    again = load(tmp_path / "few").set_params(n_estimators=8).fit(x, y)
    same(model.set_params(n_estimators=8).fit(x, y), whole, x)
    same(again, whole, x)


def same(model, whole, x):
    for name in ("root", "feature", "threshold", "first", "second", "value", "answer", "columns"):
        assert_array_equal(getattr(model.vote_.voters, name), getattr(whole.vote_.voters, name))
    assert_array_equal(model.predict(x), whole.predict(x))
    assert_array_equal(model.memory_.seeds, whole.memory_.seeds)
    assert_allclose(model.impurity_importance_, whole.impurity_importance_, atol=1e-12)
    if hasattr(whole, "oob_score_"):
        assert model.oob_score_ == pytest.approx(whole.oob_score_, abs=1e-12)
        name = "oob_prediction_" if hasattr(whole, "oob_prediction_") else "oob_decision_function_"
        assert_allclose(getattr(model, name), getattr(whole, name), atol=1e-9)


def test_no_new_tree_is_the_same_forest_and_fewer_are_refused():
    model = RandomForestClassifier(5, warm_start=True).fit(X, Y)
    votes = model.vote_.votes(X)
    assert_array_equal(model.set_params(oob_score=True).fit(X, Y).vote_.votes(X), votes)
    assert 0.5 < model.oob_score_ <= 1
    with pytest.raises(PsephosError, match=r"n_estimators must be at least the 5 trees .*; got 4"):
        model.set_params(n_estimators=4).fit(X, Y)
    model.set_params(n_estimators=6)
    with pytest.raises(PsephosError, match="must be those of the first fit"):
        model.fit(X[:100], Y[:100])
    with pytest.raises(PsephosError, match="columns, categories and classes"):
        model.fit(X[:, 1:], Y)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"max_features": None}, "max_features"),
        ({"random_state": 1}, "random_state"),
        ({"max_depth": 2, "criterion": "entropy"}, "criterion and max_depth are"),
    ],
)
def test_other_parameters_are_refused(kind, change, word):
    model = kind(3, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(PsephosError, match=f"must be those of the first fit .*: {word}"):
        model.set_params(n_estimators=5, **change).fit(X, Y)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_another_table_is_refused(kind, bootstrap):
    x, y = NUMBERS
    model = kind(3, warm_start=True, bootstrap=bootstrap, random_state=0).fit(x, y)
    model.set_params(n_estimators=5)
    for other, word in ((x * 2.0, "X"), (x[:, ::-1], "X")):
        with pytest.raises(PsephosError, match=rf"oob_score\): {word} is not"):
            model.fit(other, y)
    with pytest.raises(PsephosError, match=r"oob_score\): y is not"):
        model.fit(x, np.roll(y, 1))
    order = np.arange(len(x))[::-1]
    assert model.fit(sparse.csr_array(x[order]), y[order]).vote_.n_voters == 5  # the same table


@pytest.mark.parametrize("k", [2, 4, 10])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier])
def test_out_of_bag_ties_go_to_the_first_class_as_those_of_predict(kind, k):
    for seed in seeds(4, 12):
        rng = np.random.default_rng(seed)
        x = np.unique(rng.integers(0, 4, (90, 5)).astype(float), axis=0)
        y = rng.integers(0, k, len(x))
        options = {"bootstrap": True, "oob_score": True, "random_state": seed}
        whole = kind(n_estimators=8, **options).fit(x, y)
        model = kind(n_estimators=3, warm_start=True, **options).fit(x, y)
        assert model.set_params(n_estimators=8).fit(x, y).oob_score_ == whole.oob_score_
        out = whole.left_out(x, y)
        known, target = out.any(axis=0), whole.vote_.target
        mean = (
            np.einsum("tn,ntk->nk", out, whole.vote_.votes(x))[known] / out.sum(axis=0)[known, None]
        )
        answers = target.answers(target.level(mean))
        for one in (model, whole):
            assert_array_equal(one.oob_decision_function_[known].argmax(axis=1), answers)
        assert whole.oob_score_ == pytest.approx((answers == y[known]).mean(), abs=1e-12)


def test_extra_trees_go_on_from_a_fit_that_was_to_be_gone_on_from():
    model = ExtraTreesClassifier(3, random_state=0).fit(X, Y)
    with pytest.raises(PsephosError, match="the first fit had warm_start=False"):
        model.set_params(warm_start=True, n_estimators=4).fit(X, Y)
    assert len(model.set_params(warm_start=False).fit(X, Y).memory_.seeds) == 4
