"""Warm starts of boosting: rounds that are added later are those of one fit."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.tree import DecisionTreeClassifier

import psephos
from psephos import PsephosError

CLASSES = load_wine(return_X_y=True)
NUMBERS = load_diabetes(return_X_y=True)
MODELS = {
    "adaboost": (psephos.AdaBoostClassifier, {}, CLASSES),
    "trees": (
        psephos.AdaBoostClassifier,
        {"estimator": DecisionTreeClassifier(max_depth=2, max_features=2), "random_state": 0},
        CLASSES,
    ),
    "samba": (psephos.SamBAClassifier, {"n_anchors": 50, "random_state": 0}, CLASSES),
    "local": (psephos.LocalBoostingClassifier, {}, CLASSES),
    "gradient": (psephos.GradientBoostingClassifier, {"subsample": 0.5}, CLASSES),
    "stopped": (
        psephos.GradientBoostingRegressor,
        {"n_iter_no_change": 2, "learning_rate": 1.0},
        NUMBERS,
    ),
    "newton": (psephos.NewtonBoostingClassifier, {"subsample": 0.7}, CLASSES),
    "hist": (psephos.NewtonBoostingRegressor, {"tree_method": "hist"}, NUMBERS),
    "r2": (psephos.AdaBoostRegressor, {}, NUMBERS),
}


def _answers(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("name", MODELS)
def test_going_on_is_one_fit(name):
    kind, params, (X, y) = MODELS[name]
    params = {"random_state": 0, **params}
    begun = kind(n_estimators=3, warm_start=True, **params).fit(X, y)
    few = _answers(begun, X)
    assert np.array_equal(few, _answers(kind(n_estimators=3, **params).fit(X, y), X))
    begun.set_params(n_estimators=8).fit(X, y)
    whole = kind(n_estimators=8, **params).fit(X, y)
    assert np.array_equal(_answers(begun, X), _answers(whole, X))
    assert begun.stopped_ == whole.stopped_
    assert len(begun) == len(whole)
    assert np.array_equal(_answers(begun.fit(X, y), X), _answers(whole, X))  # nothing to add


@pytest.mark.parametrize("name", ["adaboost", "gradient", "newton", "r2"])
def test_another_table_or_parameter_is_refused(name):
    kind, params, (X, y) = MODELS[name]
    model = kind(n_estimators=4, warm_start=True, random_state=0, **params).fit(X, y)
    with pytest.raises(PsephosError, match="n_estimators=2 must be larger"):
        model.set_params(n_estimators=2).fit(X, y)
    with pytest.raises(PsephosError, match=r"X is not"):
        model.set_params(n_estimators=5).fit(X + 1.0, y)
    with pytest.raises(PsephosError, match="learning_rate is not"):
        model.set_params(learning_rate=0.5).fit(X, y)
    model.set_params(learning_rate=kind().learning_rate).fit(X, y)  # refusals change nothing
    whole = kind(n_estimators=5, random_state=0, **params).fit(X, y)
    assert np.array_equal(_answers(model, X), _answers(whole, X))


def test_what_a_file_or_a_pickle_lacks_is_named(tmp_path):
    X, y = CLASSES
    model = psephos.GradientBoostingClassifier(n_estimators=2, warm_start=True).fit(X, y)
    psephos.save(model, tmp_path / "m.psephos")
    for copy in (psephos.load(tmp_path / "m.psephos"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
        with pytest.raises(PsephosError, match="in the same process"):
            copy.set_params(n_estimators=3).fit(X, y)
        assert copy.set_params(warm_start=False).fit(X, y).n_estimators_ == 3


@pytest.mark.parametrize("kind", [psephos.AdaBoostClassifier, psephos.NewtonBoostingClassifier])
def test_a_validation_share_drops_rounds_and_excludes_a_warm_start(kind):
    with pytest.raises(PsephosError, match="exclude each other"):
        kind(validation_fraction=0.2, warm_start=True, random_state=0).fit(*CLASSES)


@pytest.mark.parametrize("name", ["adaboost", "gradient", "newton", "r2"])
def test_an_interrupted_warm_start_changes_nothing(name, monkeypatch):
    kind, params, (X, y) = MODELS[name]
    params = {"random_state": 0, **params}
    model = kind(n_estimators=3, warm_start=True, **params).fit(X, y)
    seen = []

    def interrupted(items, what):
        for t in items:
            seen.append(t)
            if len(seen) == 3:
                raise KeyboardInterrupt
            yield t

    with monkeypatch.context() as patch:
        for place in ("boosting.loop", "boosting.gradient", "boosting.newton_fit"):
            patch.setattr(f"psephos.models.{place}.tracked", interrupted)
        patch.setattr("psephos.models.committees.adaboost_regressor.tracked", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.set_params(n_estimators=9).fit(X, y)
    assert len(model) == 3
    model.set_params(n_estimators=6).fit(X, y)
    assert np.array_equal(_answers(model, X), _answers(kind(n_estimators=6, **params).fit(X, y), X))
