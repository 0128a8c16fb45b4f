"""What every estimator can be asked, and the examples in the documentation."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from small_settings import small_settings

import psephos
from psephos import AdaBoostClassifier, SamBAClassifier, registry
from psephos.base import VoteClassifier, VoteEstimator
from psephos.registry import estimator_classes
from psephos.testing import small_table

SETTINGS = small_settings()


def modules():
    """Every module of the package but those that are commands."""
    found = pkgutil.walk_packages(psephos.__path__, "psephos.")
    return ["psephos", *sorted(m.name for m in found if not m.name.endswith("__main__"))]


def with_examples():
    """The modules that hold an example, read and not imported."""
    package = Path(psephos.__file__).parent
    for name in modules():
        path = package.joinpath(*name.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if ">>>" in path.read_text("utf-8"):
            yield name


@pytest.mark.parametrize("name", with_examples())
def test_examples_in_docstrings_run(name, monkeypatch):
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))  # an example adds one
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(recurse=False)
    for cls in estimator_classes().values():
        assert any(test.examples for test in finder.find(cls)), f"{cls.__name__} has no example"


def test_a_family_is_imported_when_asked_for():
    code = (
        "import sys; from psephos import SamBAClassifier; import psephos.models as m; "
        "print([n for n in sys.modules if n.startswith(('psephos.models.swag', "
        "'psephos.models.prototypes'))]); print(m.SparseWrapperClassifier.__name__, len(dir(m)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "[]",
        "SparseWrapperClassifier",
        str(len(psephos.models.__all__)),
    ]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = psephos.models.nothing


def test_only_recipes_are_registered():
    class Mine(VoteClassifier):
        pass

    def below(cls):
        return {cls}.union(*map(below, cls.__subclasses__()))

    for name in modules():
        importlib.import_module(name)
    recipes = {
        cls.__name__
        for cls in below(VoteEstimator)
        if cls.__module__.startswith("psephos.models.")
        and not cls.__name__.startswith(("_", "Voter"))  # entries of `estimators_` are no recipes
        and ("anatomy" in vars(cls) or not cls.__subclasses__())  # no base of a family
    }
    assert set(estimator_classes()) == recipes
    assert "Mine" not in estimator_classes()
    assert set(estimator_classes()) == {
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "BayesOptimalClassifier",
        "C45Classifier",
        "C45RulesClassifier",
        "CARTClassifier",
        "CARTRegressor",
        "CascadeClassifier",
        "ColumnBudgetClassifier",
        "ColumnBudgetRegressor",
        "CompressedSamBAClassifier",
        "EnsembleSelectionClassifier",
        "EnsembleSelectionRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "GibbsClassifier",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "LIoISClassifier",
        "LinearTreeClassifier",
        "LinearTreeRegressor",
        "LocalBoostingClassifier",
        "MLKNeighborsClassifier",
        "MultiViewClassifier",
        "MultiViewRegressor",
        "NewtonBoostingClassifier",
        "NewtonBoostingRegressor",
        "OneSidedNoiseClassifier",
        "PUClassifier",
        "ProsetClassifier",
        "ProsetRegressor",
        "PureRandomForestClassifier",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "RankRidgeClassifier",
        "RankRidgeRegressor",
        "SamBAClassifier",
        "SoftGradientBoostingClassifier",
        "SoftGradientBoostingRegressor",
        "SoftTreeClassifier",
        "SoftTreeRegressor",
        "SparseWrapperClassifier",
        "SparseWrapperRegressor",
        "StackingClassifier",
        "StackingRegressor",
        "VersionSpaceClassifier",
        "VotingClassifier",
        "VotingRegressor",
    }
    assert set(estimator_classes()) <= set(psephos.__all__)
    estimator_classes().clear()
    assert estimator_classes()


QUESTIONS = [
    "predict", "predict_proba", "decision_function", "contributions", "local_importance", "mass",
    "explain",
]  # fmt: skip


@pytest.mark.parametrize("cls", estimator_classes().values())
def test_nothing_is_answered_before_fit(cls):
    model = cls()
    for question in QUESTIONS:
        if is_regressor(model) and question in ("predict_proba", "decision_function"):
            assert not hasattr(model, question)
            continue
        with pytest.raises(NotFittedError):
            getattr(model, question)(small_table().X)
    for question in ("usage", "describe", "reduce"):
        with pytest.raises(NotFittedError):
            getattr(model, question)()
    for attribute in ("n_features_used_", "features_used_", "feature_importances_"):
        with pytest.raises(NotFittedError):
            getattr(model, attribute)
    with pytest.raises(NotFittedError):
        next(model.staged_predict(small_table().X))


def test_columns_by_name_and_by_place():
    X, y = small_table()
    model = SamBAClassifier(n_estimators=4).fit(X, y)
    places = model.features_used_
    assert places.dtype.kind == "i"
    names = np.array([f"gene {j}" for j in range(12)], dtype=object)
    named = SamBAClassifier(n_estimators=4).fit(pd.DataFrame(X, columns=names), y)
    assert_array_equal(named.features_used_, names[places])
    assert named.n_features_used_ == len(places)
    assert f"read {len(places)} of 12 columns: {', '.join(names[places])}." in named.describe()[0]
    assert "column 0" in model.describe()[0]
    reduced = named.reduce()
    assert_array_equal(reduced.feature_names_in_, names[places])
    assert_array_equal(reduced.features_used_, names[places])
    assert reduced.get_params() == named.get_params()


def test_description_names_the_answers():
    X, y = small_table()
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    for sentence in model.describe()[1:]:
        assert "otherwise" in sentence
        assert "ham" in sentence
        assert "egg" in sentence


def test_a_vote_that_reads_nothing_keeps_one_column():
    X, y = np.zeros((8, 3)), np.array(["a"] * 5 + ["b"] * 3)
    for model in (SamBAClassifier(), AdaBoostClassifier()):
        model.fit(X, y)
        assert model.stopped_ == "no better than chance"
        assert model.n_features_used_ == 0
        assert set(model.predict(X)) == {"a"}
        assert model.local_importance(X).shape == (8, 0)
        reduced = model.reduce()
        assert reduced.n_features_in_ == 1
        assert_array_equal(reduced.predict_proba(X[:, :1]), model.predict_proba(X))


def test_reading_a_model_leaves_it_alone():
    X, y = small_table()
    model = SamBAClassifier(n_estimators=3).fit(X, y)
    before = model.decision_function(X)
    reduced = model.reduce()
    reduced.fit(X[:, :5], y)
    model.describe(), model.explain(X), model.usage(), list(model.staged_predict(X))
    assert_array_equal(model.decision_function(X), before)


def test_random_states():
    X, y = small_table()

    def scores(state):
        model = SamBAClassifier(n_estimators=3, n_anchors=20, random_state=state)
        return model.fit(X, y).decision_function(X)

    assert_array_equal(scores(3), scores(3))
    assert not np.array_equal(scores(3), scores(4))
    state = np.random.RandomState(0)
    first, second = scores(state), scores(state)
    assert not np.array_equal(first, second)
    assert_array_equal(scores(np.random.RandomState(0)), first)
    assert_array_equal(scores(np.random.default_rng(5)), scores(np.random.default_rng(5)))


@pytest.mark.parametrize("name", ["adaboost", "samba", "samba-vote", "samba-trees"])
def test_threads_change_nothing(name):
    X, y = small_table(p=40)
    one = clone(SETTINGS[name]).fit(X, y)
    two = clone(SETTINGS[name]).set_params(n_jobs=2).fit(X, y)
    assert_array_equal(one.decision_function(X), two.decision_function(X))
