"""Who takes part: models under other names, and estimators of other packages."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from psephos import SamBAClassifier
from psephos._errors import PsephosError
from psephos.estimator.contender import Contender, Shape
from psephos.estimator.distributions import Choice
from psephos.models.columns import budget
from psephos.models.columns.selectors import SELECTORS
from psephos.models.prototypes import growing
from psephos.models.swag.mechanisms import CLASSIFIERS, make_mechanism
from psephos.protocol import Protocol, compare, known_models
from psephos.protocol.running import tasks
from psephos.protocol.running.columns import columns_used, importances
from psephos.protocol.running.contenders import contenders, default_models
from psephos.protocol.running.progress import _GUESSES
from psephos.registry import estimator_class, variant

SHAPE = Shape(5, 2)
SMALL = Protocol(folds=2, inner_folds=2, draws=2)


class Cautious(DecisionTreeClassifier):
    """A tree of one question, or a deep one that with caution learns nothing."""

    def __init__(self, deep=False, caution=True, max_depth=None, random_state=0):
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.deep, self.caution = deep, caution

    def fit(self, X, y):
        self.max_depth = 9 if self.deep else 1
        return super().fit(X, np.zeros_like(y) if self.deep and self.caution else y)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    return X, np.where(X[:, 0] + 0.3 * rng.standard_normal(60) > 0, "ill", "well")


def every():
    return {n: c for k in ("classes", "numbers") for n, c in known_models(k).items()}


@pytest.mark.parametrize("name", [n for n, one in every().items() if one.variant_of])
def test_a_variant_has_its_parameters_and_draws_none_of_them(name):
    one = every()[name]
    base, fixed = variant(name)
    assert base == one.variant_of
    params = one.build({}, SHAPE, 3).get_params()
    assert fixed.items() <= params.items()
    assert params["random_state"] == 3
    for drawn in (*one.distributions.values(), *one.first.values()):
        assert not fixed.keys() & drawn.keys()
    for key, value in fixed.items():
        assert f"{key}={value!r}" in one.notes


def test_forests_are_searched_as_briefly_in_comparisons_as_other_variants_of_swag():
    """Trees grown a step at most: of 500 trees and 2000 candidates a fit took six minutes."""
    model = every()["swag-forest"].build({}, SHAPE, 0)
    assert model.m * make_mechanism(model.learner, CLASSIFIERS).n_estimators <= 20_000
    assert model.n_folds == 5
    assert {name for name, one in every().items() if one.variant_of == "swag"} < set(_GUESSES)


def test_swag_as_published_draws_nothing():
    one = every()["swag-published"]
    assert all(not drawn for drawn in one.distributions.values())
    model = one.build({}, SHAPE, 0)
    assert (model.m, model.n_folds, model.n_repeats, model.ties) == (40_000, 10, 10, "all")


def test_of_numbers_a_mechanism_is_that_of_the_regressor():
    (one,) = contenders(["swag-forest"], "numbers")
    assert one.name == "swag-forest-regressor"
    assert one.build({}, Shape(5, 0), 0).learner == "forest"


WAYS = ["forward", "backward", "recursive"]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("way", WAYS)
def test_stepwise_selection_reads_few_columns_of_many(way, kind, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 400))
    X[:, 3] = 7.0  # f_classif warns of it, and warnings are errors
    signal = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(80)
    y, k = (signal, 0) if kind == "numbers" else ((signal > 0).astype(int), 2)
    (one,) = contenders([f"sklearn-{way}"], kind)
    model = one.build({"n_features_to_select": 2}, Shape(400, k), 0)
    fits = []
    whole = LogisticRegression.fit if k else Ridge.fit
    monkeypatch.setattr(LogisticRegression if k else Ridge, "fit",
                        lambda *given, **more: fits.append(1) or whole(*given, **more))  # fmt: skip
    model.fit(X, y)
    assert columns_used(model, 400).tolist() == [0, 1]
    assert len(fits) < 400  # all columns, one by one, would be thousands
    assert importances(model, X)[[0, 1]].min() > 0 == importances(model, X)[2:].max()


@pytest.mark.parametrize("way", WAYS)
def test_stepwise_selection_of_one_column_and_of_categories(way):
    X, y = np.arange(30.0)[:, None], np.repeat([0, 1], 15)
    one = known_models()[f"sklearn-{way}"]
    assert columns_used(one.build({}, Shape(1, 2), 0).fit(X, y), 1).tolist() == [0]
    mixed = np.column_stack([np.arange(30) % 3, np.arange(30.0)])
    mixed[4, 1] = np.nan
    shape = Shape(2, 2, categorical=(0,), missing=True)
    model = one.build({"n_features_to_select": 1}, shape, 0).fit(mixed, y)
    assert columns_used(model, 2).tolist() == [1]


def test_mechanisms_of_swag_and_their_rivals_compare(data):
    X, y = data
    names = [
        *(one for one in known_models() if one.startswith("swag")),
        "sklearn-l1-logistic", "sklearn-svm-linear", "sklearn-svm-rbf", "sklearn-random-forest",
        *(f"sklearn-{way}" for way in WAYS),
    ]  # fmt: skip
    found = compare(
        X[:40, :3], y[:40], names, Protocol(folds=2, draws=1, defaults_first=True), n_jobs=1
    )
    assert not found.failures
    assert [one.model for one in found.summary()] == names
    assert min(one.score for one in found.summary()) > 0.6
    assert max(row["n_columns"] for row in found.results) <= 3


def test_ridge_and_elastic_net_take_part(data):
    names = ["sklearn-ridge-classifier", "sklearn-elastic-net-logistic"]
    found = compare(*data, names, SMALL, n_jobs=1)
    assert not found.failures
    assert min(one.score for one in found.summary()) > 0.6
    drawn = [json.loads(row["params"]) for row in found.results]
    assert {key for one in drawn for key in one} <= {"alpha", "C", "l1_ratio", "class_weight"}


def test_a_name_that_is_no_variant_is_itself():
    assert variant("samba") == ("samba", {})
    assert variant("samba-nothing") == ("samba-nothing", {})


def test_published_samba_is_algorithm_3():
    # Algorithm 3 by hand: pi moves by exp(-omega h y), omega = exp(h y); distances are plain
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    params = {"n_estimators": 3, "a": 0.5, "b": 2.0}
    model = every()["samba-published"].build(params, SHAPE, 0).fit(X, y)
    stumps = np.sign(model.vote_.voters.votes(X)[..., 0]).reshape(len(X), -1)
    wrong = model.classes_[(stumps > 0).astype(int)]
    votes = np.where(wrong == 1, 1, -1)
    omega = np.exp(votes * y[:, None])
    used = model.vote_.used
    d = np.sqrt(((X[:, None, used] - X[None, :, used]) ** 2).sum(axis=2))
    kernel = 1 / (0.5**2.0 + d**2.0)
    weights = kernel @ omega
    score = (weights * votes).sum(axis=1) / weights.sum(axis=1)
    assert model.decision_function(X) == pytest.approx(score)


def test_of_numbers_a_budget_is_the_regressor_beside_it():
    (one,) = contenders(["column-budget-4"], "numbers")
    assert one.name == "column-budget-4-regressor"
    assert one.build({}, Shape(5, 0), 0).n_columns == 4


def test_all_has_no_variant_but_defaults():
    names = {one.name for one in contenders(["all"])}
    assert "samba" in names
    assert {n for n in names if every()[n].variant_of} <= {
        n for n, one in every().items() if one.default
    }


def test_estimators_take_part_by_class_instance_and_place(data):
    X, y = data
    X = X.copy()
    X[3, 1] = np.nan
    given = [GaussianNB, SamBAClassifier(n_estimators=3), "sklearn.neighbors:NearestCentroid"]
    found = compare(X, y, given, "demo", n_jobs=1)
    assert [one.model for one in found.summary()] == [
        "GaussianNB", "SamBAClassifier", "NearestCentroid",
    ]  # fmt: skip
    assert not found.failures
    assert min(one.score for one in found.summary()) > 0.7
    assert found.models["SamBAClassifier"].vote_.n_voters == 3
    assert all(row["params"] == "{}" for row in found.results)
    assert found.about["models"]["NearestCentroid"]["distributions"] == {}


def test_what_is_given_is_neither_fitted_nor_changed(data):
    X, y = data
    mine = make_pipeline(DecisionTreeClassifier())
    (one,) = contenders([mine])
    built = one.build({}, SHAPE, 7)
    assert built.get_params()["model__decisiontreeclassifier__random_state"] == 7
    built.fit(X, y)
    assert mine.get_params()["decisiontreeclassifier__random_state"] is None
    assert not hasattr(mine[-1], "tree_")


def test_a_seed_that_is_given_stays():
    (one,) = contenders([DecisionTreeClassifier(random_state=11)])
    assert one.build({}, SHAPE, 7)[-1].random_state == 11


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("no_such_module:Model", "no_such_module:Model' cannot be imported"),
        ("sklearn.svm:SVV", "has no attribute 'SVV'"),
        ("math:pi", "is not an estimator"),
        ("sklearn.multiclass:OneVsRestClassifier", "missing 1 required positional argument"),
        (Ridge(), "Ridge is not a classifier"),
        ("sklearn.linear_model:Ridge", "name a classifier"),
        (3, "3 is not an estimator"),
    ],
)
def test_what_cannot_take_part_is_named(given, words):
    with pytest.raises(PsephosError, match=words):
        contenders([given])


def test_a_class_given_twice_is_refused():
    with pytest.raises(PsephosError, match="NearestCentroid' twice"):
        contenders([NearestCentroid, NearestCentroid(shrink_threshold=0.1)])


def test_answers_alone_are_probabilities_of_1(data):
    X, y = data

    class Plain(GaussianNB):
        predict_proba = decision_function = property()

    from psephos.protocol.evaluation.scores import answers_of

    codes = (y == "well").astype(int)
    answers = answers_of(Plain().fit(X, codes), X, 2)
    assert answers.proba.argmax(axis=1).tolist() == answers.codes.tolist()
    assert set(answers.proba.ravel()) == {0.0, 1.0}


def test_every_base_of_a_variant_is_a_model():
    for name, one in every().items():
        if one.variant_of:
            assert estimator_class(type(one.build({}, SHAPE, 0)).__name__) is not None, name


def test_classes_may_weigh_alike_in_every_default():
    for name in default_models():
        one = known_models()[name]
        fixed = variant(name)[1].get("class_weight")
        drawn = one.distributions.get("quick", {}).get("class_weight")
        assert name == "majority" or fixed == "balanced" or "balanced" in drawn.values


def test_a_setting_drawn_again_is_not_fitted_again(data, monkeypatch):
    from psephos.protocol.running import tasks

    scored = []
    once = tasks._inner_score
    monkeypatch.setattr(tasks, "_inner_score", lambda *given: scored.append(1) or once(*given))
    plan = Protocol(folds=2, inner_folds=2, draws=4)
    found = compare(*data, ["rank-ridge"], plan, n_jobs=1)
    # the default and class_weight="balanced", which the other draws are, on two folds and all rows
    assert len(scored) == 3 * 2 * 2
    assert not found.failures


def test_column_budgets_select_columns_once_and_alike_alone(data, monkeypatch):
    calls = []

    def counted(problem, selector, given):
        calls.append(problem.depth)
        return SELECTORS["univariate"](problem)

    monkeypatch.setattr(budget, "score_columns", counted)
    names = ["column-budget-16", "majority", "column-budget-4"]

    def rows(models, **more):
        monkeypatch.setattr(tasks, "_selections", {})
        calls.clear()
        found = compare(*data, models=models, protocol=SMALL, n_jobs=1, **more)
        assert not found.failures
        own = [r for r in found.results if r["model"] == "column-budget-4"]
        model = found.models["column-budget-4"]
        return own, model.selected_.tolist(), model.scores_.tolist()

    together = rows(names)
    assert len(calls) == 3  # two folds, and all rows
    assert rows(["column-budget-4"]) == together
    assert len(calls) == 3
    rows(names, cost=5)  # each part of the search, too
    assert len(calls) == 3 * (1 + SMALL.inner_folds)


def test_column_budgets_of_several_workers_are_the_same(data):
    names = ["column-budget-4", "mean", "column-budget-8"]
    y = data[0][:, 0] + data[0][:, 1] ** 2
    one, two = (
        compare(data[0], y, names, SMALL, n_jobs=jobs, task="numbers").results for jobs in (1, 2)
    )
    assert one == two


def test_proset_is_ranked_without_its_fallback_and_the_best_with_it(data, monkeypatch):
    seen = []
    plain = growing.trusted_share

    def counted(rows, fit, context):
        seen.append(len(rows.y))
        return plain(rows, fit, context)

    monkeypatch.setattr(growing, "trusted_share", counted)

    def inner(metric):
        seen.clear()
        compare(*data, ["proset"], SMALL, n_jobs=1, metric=metric)
        assert {n for n in seen if n >= 30} == {30, 60}  # what is fitted at last
        return sum(n < 30 or n == 30 for n in seen)

    assert 0 < inner(None) < inner("log_loss")


def test_a_setting_that_loses_once_it_is_wholly_fitted_is_not_chosen():
    X = np.random.default_rng(3).standard_normal((200, 1))
    y = np.where(np.abs(X[:, 0]) < 0.67, "in", "out")  # two questions tell, one some of it

    def deep(build):
        one = Contender(
            "two", "none", {"quick": {"deep": Choice((False, True))}}, build=build,
            origin="baseline", in_search={"caution": False},
        )  # fmt: skip
        found = compare(X, y, [one], replace(SMALL, draws=8), n_jobs=1)
        assert not found.failures
        return ["true" in row["params"] for row in found.results]

    assert deep(lambda params, shape, seed: Cautious(**{**params, "caution": False})) == [True] * 2
    assert deep(lambda params, shape, seed: Cautious(**params)) == [False] * 2


def test_a_class_of_a_script_needs_no_package(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    (own,) = contenders(["cart"])
    assert replace(own, needs="__main__").available
    assert not replace(own, needs="no_such_package").available
