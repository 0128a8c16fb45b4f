"""What a ballot says is true of the case."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from small_settings import small_settings

from psephos import (
    AdaBoostClassifier,
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    GradientBoostingClassifier,
    NewtonBoostingClassifier,
    ProsetClassifier,
    RandomForestClassifier,
    SamBAClassifier,
    SparseWrapperClassifier,
)
from psephos.files.names import Names, compared, ends, number, numbers_called, percent
from psephos.testing.ballots import assert_ballots_are_true
from psephos.vote import Constant, ConstantVoters, Readout, StumpVoters, Target, Vote, join
from psephos.vote.ballots import Ballots
from psephos.vote.describing import answer_words
from psephos.vote.reasons import Path, Spread
from psephos.vote.reasons.paths import Test

# a setting of each model: the contract has them all
CATEGORICAL = {
    type(estimator).__name__: estimator
    for estimator in reversed(small_settings().values())
    if "categorical_features" in estimator.get_params(deep=False)
    and getattr(estimator, "estimator", None) is None
}


def table_with_words(n=80, seed=0, missing=0.15):
    """Return a table of numbers and codes with gaps, two classes, and numbers to predict."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X[:, 1] = rng.integers(0, 4, n)
    X[:, 3] = rng.integers(0, 3, n)
    value = X[:, 0] + (X[:, 1] > 1) - (X[:, 3] == 2) + 0.3 * rng.standard_normal(n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, value


@pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")  # every row has a label
@pytest.mark.parametrize("name", sorted(CATEGORICAL))
def test_reasons_with_categories_and_gaps_hold(name):
    estimator = CATEGORICAL[name]
    X, value = table_with_words()
    y = value if is_regressor(estimator) else np.where(value > 0, "ill", "well")
    model = estimator.set_params(categorical_features=[1, 3]).fit(X, y)
    new, _ = table_with_words(24, seed=1)
    ballots = model.explain(new)
    assert_ballots_are_true(ballots, np.asarray(model._table(new).values))


# ---------------------------------------------------------------------- sentences
def stump_ballot(value, **more):
    """Return the ballot of the stump "if g1 <= 0.779 then well, otherwise ill"."""
    one = {"missing_left": np.array([False]), **more}
    voters = StumpVoters(
        1, np.array([0]), np.array([0]), np.array([0.779]), one["missing_left"],
        np.array([0, 0]), np.empty(0, np.bool_), np.array([[-1.0]]), np.array([[1.0]]),
    )  # fmt: skip
    target = Target(np.array(["well", "ill"]))
    vote = Vote(voters, Constant(1, np.array([1.0])), Readout("normalised", "share"), target)
    return Ballots(vote, Names(["g1"]), np.array([[value]]), ["P0"])


def test_a_stump_says_the_branch_taken_with_the_value():
    assert stump_ballot(1.8774).columns()["reason"] == ["g1 = 1.877 > 0.779 → ill"]
    assert stump_ballot(0.2).columns()["reason"] == ["g1 = 0.2 <= 0.779 → well"]
    assert stump_ballot(np.nan).columns()["reason"] == ["g1 missing → ill"]


def test_details_are_data_in_full():
    told = json.loads(stump_ballot(1.8774).columns()["details"][0])
    test = {"column": "g1", "relation": ">", "bound": 0.779, "value": 1.8774}
    assert told == {"kind": "path", "answer": [1.0], "tests": [test]}


def test_rounding_never_turns_a_comparison_round():
    for value, bound in ((0.77900001, 0.779), (1.0 + 1e-15, 1.0), (3.0, 2.9999999)):
        said, (bound_said,) = compared(value, [(">", bound)])
        assert float(said) > float(bound_said), said
    assert compared(0.1, [("<=", 0.1)]) == ("0.1", ["0.1"])


def test_one_value_is_said_that_keeps_all_its_comparisons(random_seed):
    names = Names(["x"])
    low, high = Test(0, ">=", 0.779, 1.87695), Test(0, "<", 1.87698, 1.87695)
    assert Path((1.0,), (low, high)).words(names) == "x = 1.87695 >= 0.779 and < 1.87698"
    rng = np.random.default_rng(random_seed)
    for _ in range(200):
        value = float(rng.normal() * 10.0 ** rng.integers(-8, 9))
        below, above = value * (1 + 10.0 ** -rng.uniform(1, 15, 2) * [-1, 1] * np.sign(value))
        tests = Test(0, ">=", below, value), Test(0, "<", above, value)
        if not all(test.holds() for test in tests):
            continue
        words = Path((1.0,), tests).words(names)
        told = re.fullmatch(r"x = (\S+) >= (\S+) and < (\S+)", words)
        said, least, most = map(float, told.groups())
        assert least <= said < most, words


def test_a_category_of_two_words_is_said_whole():
    names = Names(["c"], {0: ["dark red", "blue"]})
    known, within = Test(0, "present", None, 0.0), Test(0, "in", (0,), 0.0)
    assert known.words(names) == "c = dark red, not missing"
    words = Path((1.0,), (known, within)).words(names)
    assert words == "c = dark red in {dark red} and not missing"


def test_a_large_number_is_not_rounded_into_a_power_of_ten():
    assert [number(v) for v in (99999.9, 9999.6, 100000.0)] == ["99999.9", "9999.6", "100000"]


@pytest.mark.parametrize(
    ("value", "scale", "words"),
    [
        (6.93889e-18, 1.0, "0"), (-2.753e-16, 4.6, "0"), (1e-60, 0.0, "1e-60"), (3.0, 0.0, "3"),
        (12345.678, 0.0, "12346"), (0.00012346, 0.0, "0.0001235"), (np.nan, 0.0, "missing"),
        (1e300, 0.0, "1e+300"),
    ],
)  # fmt: skip
def test_numbers_are_rounded_for_reading(value, scale, words):
    assert number(value, scale) == words


def test_a_share_is_never_rounded_to_certainty():
    assert percent(0.9999) == "> 99.9 %"
    assert percent(1e-5) == "< 0.1 %"
    assert (percent(1.0), percent(0.0)) == ("100.0 %", "0.0 %")


def test_a_path_is_the_way_of_the_case_with_one_clause_a_column():
    X = np.column_stack([np.arange(40.0), np.tile([0.0, 1.0], 20)])
    y = np.where((X[:, 0] > 10) & (X[:, 0] <= 30), "in", "out")
    tree = CARTClassifier(cp=0, min_samples_split=2, n_folds=0).fit(X, y)
    told = tree.explain(X[[15]]).columns()
    assert told["reason"] == ["column 0 = 15 >= 10.5 and < 30.5 → 'in'"]
    assert told["columns"] == [("column 0",)]


def test_a_surrogate_says_whose_place_it_takes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    X[:, 1] = X[:, 0] + 0.01 * rng.standard_normal(60)
    model = CARTClassifier(min_samples_split=4, n_folds=0).fit(X, X[:, 0] > 0)
    case = np.array([[np.nan, 1.0]])
    (told,) = model.explain(case).columns()["reason"]
    assert told.startswith("column 1 = 1 >")
    assert "(instead of column 0, missing) → True" in told


def test_a_missing_value_that_is_spread_says_its_parts():
    X, y = np.arange(40.0)[:, None], np.arange(40) > 25
    model = C45Classifier().fit(X, y)
    ballots = model.explain(np.array([[np.nan]]))
    (reason,) = ballots.reasons[0]
    assert isinstance(reason, Spread)
    assert_allclose(sum(reason.shares), 1.0)
    assert ballots.words(0, 0).startswith(
        "65.0 %: column 0 missing, taken as <= 25 → False; "
        "35.0 %: column 0 missing, taken as > 25 → True → "
    )
    first, second = json.loads(ballots.columns()["details"][0])["paths"]
    assert first["tests"][0]["sent_to"] == {"relation": "<=", "bound": 25.0}
    assert second["tests"][0]["sent_to"]["relation"] == ">"


def test_a_missing_category_that_is_spread_names_the_branches():
    X = np.repeat([0.0, 1.0, 2.0], 20)[:, None]
    model = C45Classifier(categorical_features=[0]).fit(X, X[:, 0] > 0)
    told = model.explain(np.array([[np.nan]])).words(0, 0)
    assert "column 0 missing, taken as in {0.0} → False" in told
    assert "column 0 missing, taken as in {2.0} → True" in told


def test_a_test_of_presence_says_so():
    X = np.column_stack([np.where(np.arange(40) < 20, np.nan, 7.0), np.zeros(40)])
    model = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, np.arange(40) < 20)
    ballots = model.explain(np.array([[7.0, 0.0], [np.nan, 0.0]]))
    assert_ballots_are_true(ballots, np.asarray(ballots.X))
    said = {ballots.words(0, t) for t in range(3)}
    assert any("column 0 = 7, not missing → " in words for words in said)
    test = json.loads(ballots.columns()["details"][0])["tests"]
    assert {one["relation"] for one in test} == {"present"}


def test_a_tie_is_a_tie_in_answer_and_probability():
    code = Target(np.array(["a", "b", "c"]))
    third = np.array([[-2e-17, 5e-17, 0.0]])
    parts = join([(np.array([0]), ConstantVoters(1, third, "the class frequencies"))])
    vote = Vote(parts, Constant(1, np.ones(1)), Readout("normalised", "share"), code)
    X = np.zeros((2, 1))
    assert vote.answers(X).tolist() == ["a", "a"]
    chances = vote.readout.probabilities(vote.score(X), code)
    assert chances.argmax(axis=1).tolist() == [0, 0]
    assert len(set(chances.ravel().tolist())) == 1
    ballots = Ballots(vote, Names(["x"]), X, [0, 1])
    assert ballots.answer(0) == ("no answer: all classes are equal; predict returns a (33.3 %)")
    assert ballots.words(0, 0) == "the class frequencies → each class alike"
    two = Vote(
        join([(np.array([0]), ConstantVoters(1, np.array([[3e-17]]), "a voter"))]),
        Constant(1, np.ones(1)), Readout("normalised", "share"), Target(np.array(["a", "b"])),
    )  # fmt: skip
    assert two.answers(X).tolist() == ["a", "a"]
    told = Ballots(two, Names(["x"]), X, [0, 1])
    assert told.answer(0) == ("no answer: all classes are equal; predict returns a (50.0 %)")
    assert code.answered(np.array([0.25, 0.25, -0.5]), np.array([0.4, 0.4, 0.2])) == (
        "a (40.0 %), the first of equals: b alike"
    )


@pytest.mark.parametrize("vote", ["majority", "mean", "performance", "best"])
@pytest.mark.parametrize("balanced", [True, False])
def test_where_nothing_is_measured_a_library_says_the_class_shares(vote, balanced):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], [30, 20, 10])
    X = rng.standard_normal((60, 4)) + (np.arange(60) // 30)[:, None]
    X[rng.random(X.shape) < 0.05] = np.nan
    weight = "balanced" if balanced else None
    model = SparseWrapperClassifier(
        p_max=2, m=10, alpha=0.3, n_folds=3, vote=vote, class_weight=weight, random_state=0
    ).fit(X, y)
    nothing = np.full((1, 4), np.nan)
    shares = [1 / 3] * 3 if balanced else [1 / 2, 1 / 3, 1 / 6]
    assert_allclose(model.predict_proba(nothing)[0], shares, atol=1e-12)
    assert model.predict(nothing) == ["a"]
    last = model.explain(nothing).words(0, model.vote_.n_voters - 1)
    said = "each class alike" if balanced else "a 50.0 %"
    assert last == f"the class frequencies, by weight → {said}"


def test_what_a_sum_adds_is_said_for_every_class():
    target = Target(np.array(["a", "b", "c"]))
    assert target.vote_words(np.array([0.61, 0.388, -0.999]), 1.0, True) == (
        "-0.999 for c, +0.61 for a, +0.388 for b"
    )
    assert target.vote_words(np.full(3, 0.5), 1.0, True) == "+0.5 for every class"
    assert target.vote_words(np.array([0.0, 0.4, 0.0]), 1.0, True) == "+0.4 for b"
    many = Target(np.arange(9))
    assert many.vote_words(np.arange(9.0), 8.0, True) == (
        "+8 for 8, +7 for 7, +6 for 6, +5 for 5 and less for 4 more"
    )


def test_the_levels_of_a_category_are_one_column():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat([0.0, 1.0, 2.0], 20), rng.standard_normal(60)])
    model = SparseWrapperClassifier(
        p_max=2, m=10, alpha=0.9, n_folds=3, categorical_features=[0], random_state=0
    ).fit(X, np.repeat(["a", "b", "c"], 20))
    told = " ".join(model.describe())
    assert "a linear model of 3 terms: (column 0 is 0.0), (column 0 is 1.0)" in told
    words = model.explain(X[:1]).words(0, 0)
    assert words.count("column 0") == 1
    assert "not" not in words


def test_a_tree_of_several_scores_says_which_it_moves():
    X, y = np.arange(60.0)[:, None], np.arange(60) // 10 % 3
    model = GradientBoostingClassifier(n_estimators=1, random_state=0).fit(X, y)
    assert [line.rsplit(", for ", 1)[-1] for line in model.describe()[2:]] == [
        "class 0.", "class 1.", "class 2.",
    ]  # fmt: skip


def test_a_rule_that_does_not_hold_says_nothing_and_why():
    X = np.arange(60.0)[:, None]
    model = C45RulesClassifier(random_state=0).fit(X, X[:, 0] > 30)
    told = model.explain(X[[50]]).columns()
    silent = [r for r, v in zip(told["reason"], told["vote"], strict=True) if v == ""]
    *silent, rest = silent
    assert silent
    for sentence in silent:
        assert re.fullmatch(r"rule \d does not apply \(column 0 = 50 .*\) → nothing", sentence)
    assert rest == "default rule: not reached"  # one before it holds


def test_a_linear_voter_says_its_terms_and_the_class():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]] * 5)
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=1).fit(X, X[:, 0] > 1)
    (reason,) = model.explain(X[[3]]).reasons[0]
    coef = reason.terms[0].coef[0]
    (said,) = model.explain(X[[3]]).columns()["reason"]
    assert said.startswith(f"{number(coef)} × 3 (column 0) ")
    assert " > 0 → True" in said


def test_a_naive_bayes_voter_says_the_scores_of_the_classes():
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = AdaBoostClassifier(GaussianNB(), n_estimators=1).fit(X, X[:, 0] > 0)
    (said,) = model.explain(X[:1]).columns()["reason"]
    assert "Gaussian naive Bayes (score of" in said


def test_a_prototype_says_the_case_it_is_like_and_how_near():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    model = ProsetClassifier(random_state=0).fit(X, X[:, 0] > 0)
    told = model.explain(X[:3])
    words = [told.words(0, t) for t in range(model.vote_.n_voters)]
    assert any(w.startswith("like row ") and "(similarity " in w and "(there " in w for w in words)


def test_a_zero_that_was_scaled_comes_back_as_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(7.3, 0.37, (60, 2))
    X[::3, 0] = 0.0
    model = ProsetClassifier(random_state=0).fit(X, X[:, 0] > 1)
    cases = model.vote_.voters.cases
    assert not ((np.abs(cases) > 0) & (np.abs(cases) < 1e-9)).any()


def test_a_vote_within_a_vote_opens():
    X = np.random.default_rng(0).standard_normal((80, 3))
    inner = SamBAClassifier(n_estimators=3)
    model = AdaBoostClassifier(inner, n_estimators=2).fit(X, X[:, 0] + X[:, 1] > 0)
    ballots = model.explain(X[:2])
    assert ballots.words(0, 0).startswith("3 voters on column ")
    opened = ballots.open(0, 0)
    assert opened.vote.n_voters == 3
    assert opened.columns()["reason"][0].startswith("column ")
    assert AdaBoostClassifier(n_estimators=1).fit(X, X[:, 0] > 0).explain(X).open(0, 0) is None


def test_a_foreign_estimator_names_what_it_read():
    X = np.random.default_rng(0).standard_normal((40, 2))
    swag = SparseWrapperClassifier(
        KNeighborsClassifier(3), p_max=1, alpha=0.5, n_folds=3, absent="vote", random_state=0
    ).fit(X, X[:, 0] > 0)
    words = swag.explain(np.array([[0.5, np.nan]])).columns()["reason"]
    assert any(w.startswith("KNeighborsClassifier on column 0 = 0.5") for w in words)
    if any("column 1" in w for w in words):
        assert any(w == "column 1 missing → nothing" for w in words)


# ---------------------------------------------------------------------- what is shown
def boosted():
    X = np.random.default_rng(0).standard_normal((60, 3))
    return AdaBoostClassifier(n_estimators=6).fit(X, X[:, 0] > 0), X


def test_equal_voters_are_one_line():
    stump = stump_ballot(1.0).vote
    twice = stump.take(np.array([0, 0, 0]))
    ballots = Ballots(twice, Names(["g1"]), np.array([[1.8774]]), ["P0"])
    (line,) = ballots.lines(0)
    assert line.voters == [1, 2, 3]
    assert_allclose([line.weight, line.contribution[0]], 1.0)
    assert "1, 2, 3 (× 3)" in str(ballots)
    assert twice.alike() == [[0, 1, 2]]
    assert len(ballots.columns()["voter"]) == 3


def test_equal_voters_are_described_once():
    X = np.array([[0.0], [1.0]] * 20)
    model = AdaBoostClassifier(n_estimators=3).fit(X, X[:, 0] > 0)
    model.vote_ = model.vote_.take(np.zeros(3, np.intp))
    head, *voters = model.describe()
    assert "3 voters" in head
    assert len(voters) == 1
    assert voters[0].startswith("Voters 1, 2, 3 (100.0 %, × 3): if column 0 <= ")


def test_one_voter_is_not_voters():
    X = np.array([[0.0, 1.0], [1.0, 0.5]] * 20)
    model = AdaBoostClassifier(n_estimators=1).fit(X, X[:, 0] > 0)
    assert ": 1 voter (constant weights) reads 1 of 2 columns: column 0." in model.describe()[0]


def test_a_model_without_a_column_is_said_to_be_that():
    X = np.zeros((40, 3))
    model = CARTRegressor().fit(X, np.arange(40.0))
    assert "reads no column of 3: every case gets the same answer." in model.describe()[0]


def test_a_tree_prints_its_cuts():
    model, _ = boosted()
    X = np.random.default_rng(0).standard_normal((60, 3))
    tree = CARTClassifier(n_folds=0).fit(X, np.where(X[:, 2] > 0.3, "ill", "well"))
    said = str(tree)
    relation, cut = re.search(r"column 2 (>=?) (\S+): ill", said).groups()
    above = {">": np.greater, ">=": np.greater_equal}[relation](X[:, 2], float(cut))
    assert np.array_equal(tree.predict(X) == "ill", above)
    assert ": ill (weight " in said
    assert str(model).startswith("AdaBoostClassifier: 1 voter ")
    assert str(CARTClassifier(cp=0.1)) == "CARTClassifier(cp=0.1)"


def test_views_for_notebooks_are_escaped():
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = AdaBoostClassifier(n_estimators=3).fit(X, np.where(X[:, 0] > 0, "<b>ill", "well"))
    ballots = model.explain(X[:7])
    page = ballots._repr_html_()
    assert page.count("<table") == 5
    assert "&lt;b&gt;ill" in page
    assert "<b>ill" not in page.replace("<b>row", "")
    assert "and 2 cases more" in page
    screen = model._repr_mimebundle_()["text/html"]
    assert "&lt;b&gt;ill" in screen
    assert "Trained on 60 rows, 2 columns, classes &#x27;&lt;b&gt;ill&#x27;, well." in screen
    assert "<summary>Parameters</summary>" in screen  # the diagram of scikit-learn
    assert model._repr_mimebundle_()["text/plain"] == str(model)
    assert CARTClassifier().fit(X, X[:, 0] > 0).tree_._repr_html_().startswith("<pre>column 0 &lt;")
    assert repr(model.vote_).startswith("Vote(1 of stump voters, constant weights")


def test_a_notebook_shows_the_columns_of_most_importance_and_the_heaviest_voters_first():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 4))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(700) > 0
    model = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    screen = model._repr_mimebundle_()["text/html"].split("<summary>Parameters")[0]
    shares = dict(re.findall(r"column (\d) ([\d.]+) %[,. ]", screen.split("Trained on")[0]))
    best = int(model.feature_importances_.argmax())
    assert float(shares[str(best)]) == pytest.approx(
        100 * model.feature_importances_[best], abs=0.1
    )
    assert "Trained on 512 or more rows, 4 columns, classes " in screen
    weights = [float(one) for one in re.findall(r"Voters? [^(]*\(([\d.]+) %", screen)]
    assert len(weights) > 12
    assert weights == sorted(weights, reverse=True)
    assert "<details><summary>" in screen  # more than twelve lines are folded


def test_a_share_of_two_classes_is_that_of_the_class_named():
    target = Target(np.array(["a", "b"]))
    parts = join([(np.array([0]), ConstantVoters(1, np.zeros((1, 1)), "the prior"))])
    vote = Vote(parts, Constant(1, np.ones(1)), Readout("normalised", "share"), target)
    assert answer_words(vote, np.array([-0.6])) == "a 80.0 %"
    assert answer_words(vote, np.array([0.6])) == "b 80.0 %"
    assert answer_words(vote, np.array([-1.0])) == "a"


def test_a_surrogate_names_the_column_it_stands_in_for_on_another_table():
    there = Test(0, "<=", 1.0, 0.5, instead_of=1).mapped([3, 7], {})
    assert (there.column, there.instead_of) == (3, 7)
    names = Names([f"c{j}" for j in range(8)])
    assert there.words(names) == "c3 = 0.5 <= 1 (instead of c7, missing)"


def test_a_surrogate_in_a_design_names_columns_of_the_table():
    number = Test(2, "<=", 1.0, 0.5, instead_of=1).decoded([4, 4, 6], [0.0, 1.0, np.nan], {6: 0.5})
    assert (number.column, number.instead_of) == (6, 4)
    level = Test(1, ">", 0.5, 1.0, instead_of=2).decoded([4, 4, 6], [0.0, 1.0, np.nan], {4: 1.0})
    assert level == Test(4, "in", (1,), 1.0, instead_of=6)


def test_a_code_that_another_table_lacks_is_left_out_of_a_set():
    said = Test(0, "in", (0, 1, 5), 1.0).mapped([3], {0: [2.0, 0.0, np.nan]})
    assert said == Test(3, "in", (2, 0), 0.0)


def test_of_two_sets_on_one_way_the_narrower_is_said():
    names = Names(["c"], {0: ["x", "y", "z"]})
    wide, narrow = Test(0, "in", (0, 1, 2), 0.0), Test(0, "in", (0,), 0.0)
    assert Path((1.0,), (wide, narrow)).words(names) == "c = x in {x}"


def test_a_voter_that_says_two_classes_alike_votes_for_none():
    target = Target(np.array(["a", "b", "c"]))
    values = np.array([[0.25, 0.25, -0.5], [0.5, 0.25, -0.75]])
    parts = join([(np.array([0, 1]), ConstantVoters(1, values, "the prior"))])
    vote = Vote(parts, Constant(1, np.ones(2)), Readout("normalised", "share"), target)
    ballots = Ballots(vote, Names(["x"], classes=["a", "b", "c"]), np.zeros((1, 1)), [0])
    assert ballots.columns()["vote"] == ["", "a"]


def test_what_is_zero_speaks_for_nobody():
    target = Target(np.array(["a", "b"]))
    parts = join([(np.array([0]), ConstantVoters(1, np.zeros((1, 1)), "the base score"))])
    vote = Vote(parts, Constant(1, np.ones(1)), Readout("sum", "logistic"), target)
    assert answer_words(vote, np.zeros(1)) == "nothing"
    assert answer_words(vote, np.array([-2.753e-16]), scale=1.0) == "nothing"
    assert answer_words(vote, np.array([-0.31])) == "+0.31 for a"
    ballots = Ballots(vote, Names(["x"]), np.zeros((1, 1)), [0])
    assert ballots.columns()["vote"] == [""]


def test_shares_are_said_for_the_class():
    X, _ = boosted()[1], None
    y = np.arange(60) % 3
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, y)
    words = model.explain(X[:1]).columns()["reason"]
    told = (" for 0", " for 1", " for 2", " for every class", "nothing", "each class alike")
    assert all(any(one in w for one in told) for w in words), words
    assert all(
        isinstance(one, Path) or one.kind == "constant" for one in model.explain(X[:1]).reasons[0]
    )


def test_training_rows_are_named_by_their_ids_or_lines(tmp_path):
    from psephos.protocol import read_table

    rng = np.random.default_rng(0)
    lines = [
        "who,a,b,y",
        *(f"P{i},{a},{b},{a > 0}" for i, (a, b) in enumerate(rng.normal(size=(40, 2)))),
    ]
    (tmp_path / "t.csv").write_text("\n".join([lines[0], "", *lines[1:]]))
    for role, name in (({"id": "who"}, "P3"), ({"drop": ["who"]}, "row 6")):
        table = read_table(tmp_path / "t.csv", target="y", **role)
        samba = table.named(SamBAClassifier(n_estimators=2).fit(table.X, table.y))
        near = samba.vote_.nearest(table.X[[3]], 1).anchor[0, 0]
        assert samba.vote_.weighting.rows[near] == name
        proset = table.named(ProsetClassifier(random_state=0).fit(table.X, table.y))
        rows = proset.vote_.voters.rows.tolist()
        assert rows[0] == ""
        assert set(rows[1:]) <= set(table.row_names())


def test_a_tree_of_one_class_speaks_of_that_class():
    X = np.random.default_rng(0).standard_normal((90, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = NewtonBoostingClassifier(n_estimators=2, random_state=0).fit(X, y)
    ballots = model.explain(X[:9])
    for i in range(9):
        for t, value in enumerate(ballots.votes[i]):
            said = ballots.words(i, t).rpartition(" → ")[2]
            if np.ptp(value) < 1e-9:
                assert said.endswith(" for every class") or said == "each class alike"
                continue
            k = np.abs(value).argmax()
            assert said.split(", ")[0].endswith(f" for {'abc'[k]}")
            assert said.startswith("-") == (value[k] < 0)
    shown = dict(zip(map(tuple, ballots.votes[0]), ballots.columns()["vote"], strict=False))
    assert all(word == "" for value, word in shown.items() if max(value) <= 0)
    assert "100.0 %" not in str(ballots).split("weight")[1].split("\n")[1]


def test_a_case_goes_on_behind_a_missing_value():
    X = np.random.default_rng(0).standard_normal((200, 2))
    y = ((X[:, 0] > -1.0) & (X[:, 1] > -1.0)).astype(int)
    model = CARTClassifier(max_depth=2, max_surrogates=0, n_folds=0).fit(X, y)
    first, second = model.tree_.column[:1].tolist(), {0: 1, 1: 0}
    row = np.array([[0.5, 0.5]])
    row[0, first[0]] = np.nan  # with the rows that do not lack it, where there are more
    ballots = model.explain(row)
    assert_ballots_are_true(ballots, row)
    words = str(ballots)
    assert f"column {first[0]} missing" in words
    assert re.search(rf"column {second[first[0]]} = 0\.5", words)


def _dates():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"day": 20181100.0 + rng.integers(1, 60, 200), "dose": rng.normal(size=200)})
    return X, np.where(X["day"] + 9 * X["dose"] > 20181130, "ill", "well")


@pytest.mark.filterwarnings("ignore:tree_method='exact'")
def test_a_value_that_is_compared_in_single_precision_is_the_cases_own():
    X, y = _dates()
    model = NewtonBoostingClassifier(n_estimators=4, max_depth=3).fit(X, y)
    ballots = model.explain(X)
    assert_ballots_are_true(ballots, X.to_numpy())
    rounded = 0
    for i, row in enumerate(ballots.reasons):
        for t, reason in enumerate(row):
            for test in getattr(reason, "tests", ()):
                own = f"day = {int(X['day'][i])}"
                assert test.value == X.iloc[i, test.column]
                assert test.column or own in ballots.words(i, t)
                if test.by_rounding:
                    rounded += 1
                    assert f"{own} (rounded to {int(test.rounded)})" in ballots.words(i, t)
                    assert test.data(ballots.names)["rounded_to"] == test.rounded
    assert rounded


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (83.4, 89.6, ["83.4", "89.6"]),
        (11587.4, 32544.8, ["11587", "32545"]),
        (999999203.4, 1000000702.1, ["999999203", "1000000702"]),
        (0.123456, 7.10011, ["0.1235", "7.1"]),
        (1000000.001, 1000000.002, ["1000000.001", "1000000.002"]),
        (-3.0, 5.0, ["-3", "5"]),
    ],
)
def test_the_ends_of_a_range_differ_as_printed(low, high, words):
    assert ends([low, high]) == words


def test_numbers_that_are_predicted_have_no_power_of_ten():
    assert numbers_called([124340.5], [""]) == "124340"
    assert numbers_called([2434000.0, 0.123456], ["a", "b"]) == "a = 2434000, b = 0.12346"
