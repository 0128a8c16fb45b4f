"""Every parameter of every estimator refuses what it cannot be, in one sentence that names it."""

import inspect

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from psephos import AdaBoostClassifier, PsephosError, SamBAClassifier
from psephos.estimator.params import Interval, OneOf, Options, check_params
from psephos.registry import estimator_classes
from psephos.testing import small_table

X, Y = small_table()

COUNT = [0, -1, 2.5, "3", None, True, np.nan, 10**400, [3]]
POSITIVE = [0, -0.5, np.nan, np.inf, "1", None, True, np.array([1.0, 2.0])]
BAD = {
    "estimator": [3, "tree", DecisionTreeClassifier, DecisionTreeRegressor(), object()],
    "n_estimators": COUNT,
    "n_iter_no_change": COUNT,
    "n_anchors": [0, -1, 2.5, "3", True, 10**9],
    "learning_rate": POSITIVE,
    "learning_rate_init": POSITIVE,
    "temperature": POSITIVE,
    "batch_size": COUNT,
    "weight_decay": [-1e-9, np.nan, np.inf, "0", None, True],
    "gate_lasso": [-1e-9, np.nan, np.inf, "0", None, True],
    "detach_residual": [0, "yes", None],
    "device": [0, "", None, "no-such-device"],
    "b": POSITIVE,
    "a": [-1e-9, np.nan, np.inf, -np.inf, "0", None, False, 1j, 10**400],
    "criterion": ["entropic", None, 3, ["gini"], True],
    "update": ["votes", None, 0],
    "leave_one_out": [0, 1, "yes", None],
    "distance_scale": ["max", 0, False],
    "column_scale": ["mad", 1.0, True],
    "class_weight": ["balance", 2, [1, 2], {"ham": -1}, {"ham": "x"}, {"spam": 1}],
    "categorical_features": ["dtype", 3, {0}, [99], [-1], ["zz"], [0.5], [[0, 1]], [True, False]],
    "validation_fraction": [0, 1, -0.1, 1.5, "half", np.nan, 1e-9],
    "min_weight_fraction_leaf": [-0.1, 0.51, np.nan, "0", None, True],
    "n_jobs": [0, 1.5, "all", True],
    "random_state": ["x", 1.5, -1, [1], 2**32, True],
    "min_samples_split": [1, 0, 1.5, np.nan, "2", None, True],
    "max_features": [0, 1.5, "all", np.nan, True],
    "split": ["best", None, 1],
    "max_leaf_nodes": [1, 0, 2.5, "many", True],
    "max_samples": [0, -1, 1.5, "half", np.nan, True],
    "max_bins": [1, 256, 2.5, None, True],
    "bootstrap": [0, "yes", None],
    "oob_score": [0, "yes", None],
    "bootstrap_features": [0, "yes", None],
    "estimators": [3, "tree", [], [DecisionTreeClassifier()], [("a", DecisionTreeClassifier)]],
    "voting": ["loud", None, 1],
    "weights": ["many", [1, 2, 3, 4, 5], [-1, 1], 3],
    "class_votes": ["many", 3, {"spam": 1}, {"ham": -1}],
    "cut": [-0.1, 0.5, np.nan, "0", None, True],
    "levels": [3, ["a"], [[]], [("a", DecisionTreeClassifier())]],
    "final_estimator": ["vote", None, 3, DecisionTreeClassifier],
    "passthrough": [0, "yes", None],
    "max_levels": [0, 2.5, "two", None, True],
    "threshold": [-0.1, 1.1, "sure", True],
    "early_stopping": [0, "yes", None],
    "n_steps": COUNT,
    "n_init": [-1, 0.5, "one", None, True],
    "n_bags": COUNT,
    "bag_fraction": [0, 1.1, np.nan, "half", None, True],
    "views": [3, "ab", [], [("a", 0, 1, 2)]],
    "fusion": ["middle", None, 1],
    "learner": ["logistik", 3, None, DecisionTreeClassifier],
    "p_max": [0, 1.5, "all", None],
    "m": [0, 2.5, "many", True],
    "alpha": [0, 1.5, "few", [], [0.1, 2.0]],
    "delta": [0, 1.1, None, "all"],
    "n_folds": [1, 2.5, None, "ten"],
    "n_repeats": [0, 1.5, None],
    "cv": ["ten", object()],
    "n_samples": COUNT,
    "n_bins": [1, 101, 2.5, "3", None, True],
    "on_collapse": ["ignore", None, 1],
    "max_boundary": COUNT,
    "max_hypotheses": [-1, 2.5, "3", None, True],
    "noise": [-0.1, 0.5, np.nan, "0", None, True],
    "likelihood": ["odds", None, 1],
    "decision": ["mode", None, 1],
    "n_draws": [0, 2.5, "3", True],
    "scoring": ["speed", [[0.0, 1.0]]],
    "vote": ["loud", None, 3],
    "dimension": [0, 1.5, "two"],
    "sampling": ["greedy", None],
    "ties": ["none", None],
    "absent": ["drop", True],
    "fallback": ["prior", True, 1],
    "min_value_gap": [-1e-5, np.inf, np.nan, "small", True],
    "classes": ["ab", 3, [], ["a"], ["a", "a"]],
    "n_reserve": [-1, 0.5, None],
    "folder": [3],
    "verbose": [-1, "yes", None],
    "n_batches": [-1, 1.5, "two", None, True],
    "lambda_v": [-1e-9, np.nan, np.inf, "much", None, True],
    "lambda_w": [-1, np.nan, "much", None],
    "lambda_u": [-1, np.inf, "much", None],
    "alpha_v": [-0.1, 1.1, np.nan, "0", None],
    "alpha_w": [-0.1, 1.1, np.nan, "0", None],
    "beta": [0, 0.6, np.nan, None],
    "n_candidates": COUNT,
    "max_fraction": [0, 1, -0.5, "half", None],
    "references": ["some", None, 1],
    "min_gain": [-1, np.inf, "some", None],
    "grouping": ["hard", None, 1],
    "warm_start": [0, "yes", None],
    "tol": [-1, np.nan, "tight", None],
    "max_iter": COUNT,
    "tree_method": ["exakt", None, 1],
    "max_depth": [0, 2.5, "deep", True],
    "max_terms": [0, 2.5, "all", True],
    "stable": ["yes", 1, None],
    "reg_lambda": [-1, np.nan, "much", None],
    "reg_alpha": [-1, np.inf, "much", None],
    "gamma": [-0.1, np.nan, "much", None],
    "min_child_weight": [-1, np.nan, "few", None],
    "max_delta_step": [-1, np.inf, "far", None],
    "subsample": [0, 1.1, np.nan, "half", None],
    "colsample_bytree": [0, 1.1, np.nan, "half", None],
    "colsample_bylevel": [0, 1.1, "half", None],
    "colsample_bynode": [0, 1.1, "half", None],
    "base_score": [np.nan, np.inf, "mean", True],
    "max_bin": [1, 257, 2.5, None],
    "proposal": ["both", None, 1],
    "max_leaves": [1, 2.5, "many", True],
    "grow_policy": ["leafwise", None, 1],
    "monotone_constraints": [3, "up", [1], [[1]], [[1], [0, 1]], {"zz": 1}],
    "objective": [3, "binary", True, (1,)],
    "min_impurity_decrease": [-1e-9, np.nan, np.inf, "none", None, True],
    "min_samples_leaf": [0, -1, np.nan, "2", None, True],
    "confidence": [0, 1, -0.25, np.nan, "0.25", None, True],
    "pruning": ["reduced", 0, True],
    "release": ["c50", 8, None],
    "cp": [-0.01, np.nan, np.inf, "0.01", None, True],
    "max_competitors": [-1, 2.5, "4", None, True],
    "max_surrogates": [-1, 2.5, "5", None, True],
    "surrogate_style": ["all", 0, None],
    "use_surrogates": ["maybe", 2, None],
    "folds": ["ten", 3, [0, 1], [[0], [1]]],
    "one_standard_error": [0, "yes", None],
    "priors": [[0.5, 0.2], [1.0], "equal", [0.5, -0.5, 1.0], [np.nan] * 3],
    "loss": [[[0, 1]], "zero-one", np.ones((3, 3)), np.zeros((3, 3)), -np.eye(3)],
    "costs": [[1.0], "low", [0.0] * 99, np.ones((2, 2))],
    "alphas": [0, -1.0, [], [1.0, np.nan], "auto", True],
    "n_quantiles": [1, 2.5, None, "many"],
    "n_columns": [0, -1, np.inf, "all", None, True],
    "selector": ["best", 3, None, DecisionTreeClassifier],
    "prices": [[1.0, 2.0], {"no such column": 1.0}, 3],
    "n_neighbors": [0, 2.5, None, "all", True],
    "smoothing": [-1.0, np.inf, None, "one"],
    "strict": [0, "yes", None],
    "relevance": ["expo", 3, None, lambda seen: -seen.share, lambda seen: [1.0]],
    "difficulty": ["expo", 3, None, lambda seen: seen.share + np.inf, lambda seen: "hard"],
    "says": ["class", 0, None],
    "weighting": ["global", 0, None],
    "prior": ["balance", 2, [1, 2], {"ham": -1}, {"spam": 1}, lambda X, y: -np.ones(len(y))],
    "distance_columns": ["zz", 3, [99], [-1], ["zz"], [0.5], [True]],
    "metric": ["nearness", None, 2],
    "pseudo_labels": ["signs", 0, None],
    "density_ratio": ["ulsi", 3, None, DecisionTreeClassifier],
    "kernel": ["poly", 3, None],
    "n_components": COUNT,
    "n_starts": COUNT,
    "negatives": ["drop", 0, None],
    "pos_label": ["spam"],
    "risk": ["negative", 0, None],
    "scaling": ["minmax", 0, None],
    "sigma": [0, -1.0, np.nan, "wide"],
    "unlabeled": [[1, 2], object()],
}
LINEAR = {"max_depth": [-1, 2.5, "deep", True]}  # a linear tree of depth 0 is one linear model
WEAK = {"alpha": [-0.1, np.nan, "few", None], "beta": [-1.0, np.nan, None]}


def test_every_parameter_has_bad_values():
    for cls in estimator_classes().values():
        assert set(inspect.signature(cls).parameters) <= set(BAD)


def bad_values(cls):
    """Yield every parameter with what it cannot be; its default is good."""
    bad = BAD | (WEAK if cls.contender.family == "weak labels" else {})
    bad |= LINEAR if cls.__name__.startswith("LinearTree") else {}
    for name, parameter in inspect.signature(cls).parameters.items():
        for value in bad[name]:
            of_numbers = isinstance(value, DecisionTreeRegressor) and is_regressor(cls())
            if not of_numbers and (value is not None or parameter.default is not None):
                yield name, value


@pytest.mark.parametrize("cls", estimator_classes().values())
def test_bad_values_are_named(cls):
    y = small_table(0).y if is_regressor(cls()) else Y
    for name, value in bad_values(cls):
        told = f"{name}={value!r}"
        try:
            cls(**{name: value}).fit(X, y)
        except PsephosError as error:
            sentence = str(error)
            assert name in sentence, told
            assert sentence.count("\n") == 0, told
            assert sentence.endswith("."), told
            assert len(sentence) < 300, told
        else:
            pytest.fail(f"{told} is accepted")


@pytest.mark.parametrize(
    "good",
    [
        {"n_estimators": np.int32(2), "a": np.float32(0.5), "b": 2},
        {"n_jobs": -1, "random_state": np.random.RandomState(0)},
        {"leave_one_out": np.True_, "random_state": np.random.default_rng(0)},
        {"class_weight": {"ham": 2, "egg": np.float64(1)}, "n_anchors": np.int64(9)},
        pytest.param(
            {"class_weight": {"ham": 2, "egg": 1, "jam": 3}},
            marks=pytest.mark.filterwarnings("ignore:class_weight names 'jam'"),
        ),
        {"categorical_features": [], "random_state": np.uint32(7)},
    ],
)
def test_good_values(good):
    SamBAClassifier(**{"n_estimators": 2, **good}).fit(X, Y)


@pytest.mark.parametrize("voter", [KNeighborsClassifier(), make_pipeline(StandardScaler(), SVC())])
def test_voter_without_weights_is_named(voter):
    with pytest.raises(
        PsephosError, match=f"must accept sample_weight in fit; {type(voter).__name__}"
    ):
        AdaBoostClassifier(voter).fit(X, Y)


def test_words_of_constraints():
    assert Interval(0, 1, open_low=True).words() == "a finite number above 0 and at most 1"
    assert Interval(2, whole=True).words() == "a whole number of at least 2"
    assert OneOf((Interval(0), Options(("a", None))), none=True).words() == (
        "a finite number of at least 0 or one of 'a', None or None"
    )
    assert not OneOf((Interval(0),)).allows(None)


def test_long_values_are_cut():
    model = AdaBoostClassifier(learning_rate=-np.arange(1000.0))
    with pytest.raises(PsephosError) as caught:
        check_params(model, model.constraints)
    assert len(str(caught.value)) < 200
