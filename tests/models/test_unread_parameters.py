"""A parameter that a fit would not read is refused, and not ignored."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import psephos
from psephos import PsephosError

X, Y = make_classification(60, 5, random_state=0)
TREE = DecisionTreeClassifier(max_depth=1)
FORESTS = [
    psephos.RandomForestClassifier,
    psephos.ExtraTreesClassifier,
    psephos.RandomForestRegressor,
    psephos.ExtraTreesRegressor,
]


@pytest.mark.parametrize("cls", FORESTS)
def test_max_samples_needs_a_bootstrap_as_in_scikit_learn(cls):
    import sklearn.ensemble

    y = Y.astype(float) if cls.__name__.endswith("Regressor") else Y
    for one in (cls, getattr(sklearn.ensemble, cls.__name__)):
        with pytest.raises(ValueError, match=r"(?s)max_sample.*bootstrap=False"):
            one(3, bootstrap=False, max_samples=0.5).fit(X, y)
    whole = cls(3, bootstrap=True, random_state=0).fit(X, y).predict(X)
    part = cls(3, bootstrap=True, max_samples=0.3, random_state=0).fit(X, y).predict(X)
    assert (whole != part).any()
    cls(3, bootstrap=False, max_samples=None).fit(X, y)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (psephos.AdaBoostClassifier(TREE, criterion="error"), "criterion='error'"),
        (
            psephos.SamBAClassifier(TREE, min_weight_fraction_leaf=0.2),
            "min_weight_fraction_leaf=0.2",
        ),
    ],
)
def test_what_would_not_be_read_is_refused_by_name(model, name):
    with pytest.raises(PsephosError, match=f"{type(model).__name__}: {name} has no effect"):
        model.fit(X, Y)


def test_the_same_where_they_are_read():
    held = {"validation_fraction": 0.3, "n_iter_no_change": 3, "random_state": 0}
    for model in (
        psephos.AdaBoostClassifier(**held),
        psephos.NewtonBoostingClassifier(**held),
        psephos.SoftTreeClassifier(**held),
        psephos.AdaBoostClassifier(criterion="error", min_weight_fraction_leaf=0.2),
    ):
        assert np.isfinite(model.fit(X, Y).predict_proba(X)).all()
