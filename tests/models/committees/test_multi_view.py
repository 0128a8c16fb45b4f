"""Views: members of groups of columns, silent where their view is absent."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from psephos import (
    CARTClassifier,
    CARTRegressor,
    MultiViewClassifier,
    MultiViewRegressor,
    PsephosError,
    load,
    save,
)

FRAME, Y = load_breast_cancer(return_X_y=True, as_frame=True)
NAMES = FRAME.columns.tolist()
TREE = CARTClassifier(max_depth=3, n_folds=0, random_state=0)
VIEWS = [("mean", NAMES[:10]), ("error", GaussianNB(), NAMES[10:20]), ("worst", NAMES[20:])]


@pytest.fixture(scope="module", params=["late", "stacked"])
def model(request):
    return MultiViewClassifier(VIEWS, estimator=TREE, fusion=request.param).fit(FRAME, Y)


def test_the_mean_of_the_members(model):
    alone = [TREE, GaussianNB(), TREE]
    alpha = model.vote_.weighting.alpha[:3]
    said = [
        m.fit(FRAME[view[-1]].to_numpy(), Y).predict_proba(FRAME[view[-1]].to_numpy())
        for m, view in zip(alone, VIEWS, strict=True)
    ]
    wanted = np.tensordot(alpha / alpha.sum(), np.stack(said), axes=1)
    assert_allclose(model.predict_proba(FRAME), wanted, atol=1e-12)


def test_an_absent_view_is_silent(model):
    alpha = model.vote_.weighting.alpha
    there = FRAME.drop(columns=NAMES[20:])
    weights = model.vote_.weights(model._values(there))
    assert (weights[:, 2:] == 0).all()
    assert (weights[:, :2] == alpha[:2]).all()
    gone = FRAME.copy()
    gone[NAMES[20:]] = np.nan
    assert_array_equal(model.predict_proba(there), model.predict_proba(gone))
    assert model.score(there, Y) > 0.85


def test_one_missing_value_silences_only_a_member_that_takes_none(model):
    gap = FRAME.iloc[:5].copy()
    gap[NAMES[10]] = np.nan
    tree_reads = [j for j in model.vote_.voters.usage()[[0]].indices if j < 10]
    gap[NAMES[tree_reads[0]]] = np.nan
    weights = model.vote_.weights(model._values(gap))
    assert (weights[:, 1] == 0).all()
    assert (weights[:, 0] > 0).all() == (len(tree_reads) > 1)


def test_without_any_view_the_prior_answers(model):
    none = pd.DataFrame(np.nan, index=range(3), columns=NAMES)
    share = np.bincount(Y) / len(Y)
    assert_allclose(model.predict_proba(none), np.tile(share, (3, 1)), atol=1e-12)
    assert "prior: the class frequencies" in " ".join(model.explain(none[:1]).columns()["reason"])


def test_columns_of_no_view_are_not_read_and_reduce_keeps_the_views(tmp_path):
    views = [("a", NAMES[:3]), ("b", NAMES[5:8])]
    model = MultiViewClassifier(views, estimator=TREE).fit(FRAME, Y)
    assert set(model.features_used_) <= set(NAMES[:3] + NAMES[5:8])
    small = model.reduce()
    used = set(small.feature_names_in_)
    assert small.views == [(name, [c for c in columns if c in used]) for name, columns in views]
    few = FRAME[small.feature_names_in_]
    assert_array_equal(small.predict_proba(few), model.predict_proba(FRAME))
    assert_array_equal(small.fit(few, Y).predict(few), model.predict(FRAME))
    save(model, tmp_path / "views")
    again = load(tmp_path / "views")
    assert again.views == views
    assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))


def test_rows_without_a_view_do_not_teach_its_member():
    frame = FRAME.copy()
    frame.loc[::2, NAMES[20:]] = np.nan
    views = [("mean", NAMES[:10]), ("worst", NAMES[20:])]
    model = MultiViewClassifier(views, estimator=TREE).fit(frame, Y)
    alone = TREE.fit(FRAME.loc[1::2, NAMES[20:]].to_numpy(), Y[1::2])
    new = FRAME.drop(columns=NAMES[:10])
    wanted = alone.predict_proba(FRAME[NAMES[20:]].to_numpy())
    assert_allclose(model.predict_proba(new), wanted, atol=1e-12)


def test_early_fusion_is_one_model():
    views = [(view[0], view[-1]) for view in VIEWS]
    early = MultiViewClassifier(views, estimator=TREE, fusion="early").fit(FRAME, Y)
    assert early.view_names_ == ("all views",)
    assert_allclose(early.predict_proba(FRAME), TREE.fit(FRAME, Y).predict_proba(FRAME))


@pytest.mark.parametrize(
    ("views", "words"),
    [
        ("ab", "parameter 'views'"),
        ([("a", [99])], "'a' names column 99"),
        ([("a", ["colour"])], "'a' names 'colour'"),
        ([("a", [])], "'a': its columns must be"),
        ([("a", "mean radius")], "'a': its columns must be"),
        ([("a", np.zeros(30, dtype=bool))], "mask"),
        ([("a", [0]), ("a", [1])], "two are named 'a'"),
        ([("a", GaussianNB, [0])], "its estimator must be an instance"),
    ],
)
def test_what_cannot_be_used_is_named(views, words):
    with pytest.raises(PsephosError, match=words):
        MultiViewClassifier(views, estimator=TREE).fit(FRAME, Y)


def test_a_view_that_no_row_has_is_named():
    frame = FRAME.copy()
    frame[NAMES[20:]] = np.nan
    with pytest.raises(PsephosError, match="view 'worst' is missing in every row"):
        MultiViewClassifier(VIEWS, estimator=TREE).fit(frame, Y)
    for weights, words in (([1, 2], "each of the 3 views"), ([1, -1, 2], "at least 0")):
        with pytest.raises(PsephosError, match=words):
            MultiViewClassifier(VIEWS, estimator=TREE, weights=weights).fit(FRAME, Y)


def test_a_view_of_weight_0_is_not_read():
    model = MultiViewClassifier(VIEWS, estimator=TREE, weights=[1, 0, 2]).fit(FRAME, Y)
    fewer = MultiViewClassifier(VIEWS[::2], estimator=TREE, weights=[1, 2]).fit(FRAME, Y)
    assert model.view_names_ == fewer.view_names_ == ("mean", "worst")
    assert (model.predict_proba(FRAME) == fewer.predict_proba(FRAME)).all()
    reduced = model.reduce()
    assert reduced.weights == [1, 2]
    assert reduced.get_params()["views"] == fewer.reduce().get_params()["views"]


def test_ballots_say_that_an_absent_view_is_silent():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((60, 4))
    y = np.where(table[:, 0] > 0, "ill", "well")
    model = MultiViewClassifier([("a", [0, 1]), ("b", [2, 3])], estimator=TREE).fit(table, y)
    gap = table[:1].copy()
    gap[:, 2:] = np.nan
    ballots = model.explain(gap)
    a, b, prior = ballots.columns()["reason"]
    assert b.endswith("→ silent here")
    assert prior.endswith("→ silent here")
    assert not a.endswith("silent here")
    assert ballots.columns()["vote"] == [model.predict(gap)[0], "", ""]


# --- numbers ---------------------------------------------------------------------------------
NUMBERS, TARGET = load_diabetes(return_X_y=True, as_frame=True)
PERSON, BLOOD = NUMBERS.columns[:4].tolist(), NUMBERS.columns[4:].tolist()
PARTS = [
    ("person", CARTRegressor(max_depth=3, n_folds=0), PERSON),
    ("blood", LinearRegression(), BLOOD),
]


@pytest.fixture(scope="module")
def number():
    return MultiViewRegressor(PARTS, weights=[1, 3]).fit(NUMBERS, TARGET)


def of_members():
    return [one.fit(NUMBERS[own].to_numpy(), TARGET).predict(NUMBERS[own].to_numpy())
            for _, one, own in PARTS]  # fmt: skip


def test_numbers_are_the_mean_of_the_members(number):
    person, blood = of_members()
    assert_allclose(number.predict(NUMBERS), (person + 3 * blood) / 4, rtol=1e-9)
    assert number.score(NUMBERS, TARGET) > 0.4


def test_of_numbers_an_absent_view_is_silent_and_without_any_the_mean_answers(number):
    person, blood = of_members()
    assert_allclose(number.predict(NUMBERS[PERSON]), person, rtol=1e-9)
    gap = NUMBERS.copy()
    gap[PERSON] = np.nan
    assert_allclose(number.predict(gap), blood, rtol=1e-9)
    gap["bp"] = gap[BLOOD[0]] = np.nan  # the linear member takes no gap
    assert_allclose(number.predict(gap), TARGET.mean())


def test_rows_without_a_view_do_not_teach_its_regressor():
    frame = NUMBERS.copy()
    frame.loc[:200, BLOOD] = np.nan
    model = MultiViewRegressor(PARTS).fit(frame, TARGET)
    blood = LinearRegression().fit(NUMBERS[BLOOD][201:], TARGET[201:])
    expected = blood.predict(NUMBERS[BLOOD])
    assert_allclose(model.predict(NUMBERS[BLOOD]), expected, rtol=1e-9)


def test_early_fusion_of_numbers_is_one_model():
    tree = CARTRegressor(max_depth=3, n_folds=0)
    early = MultiViewRegressor([("a", PERSON), ("b", BLOOD[:2])], estimator=tree, fusion="early")
    alone = tree.fit(NUMBERS[PERSON + BLOOD[:2]], TARGET)
    expected = alone.predict(NUMBERS[PERSON + BLOOD[:2]])
    assert_allclose(early.fit(NUMBERS, TARGET).predict(NUMBERS), expected, rtol=1e-9)


def test_views_of_numbers_outlive_a_file_and_fewer_columns(tmp_path):
    tree = CARTRegressor(max_depth=2, n_folds=0)
    model = MultiViewRegressor([("person", PERSON), ("blood", BLOOD)], estimator=tree)
    model.fit(NUMBERS, TARGET)
    save(model, tmp_path / "model.psephos")
    same, small = load(tmp_path / "model.psephos"), model.reduce()
    assert_array_equal(same.predict(NUMBERS), model.predict(NUMBERS))
    assert small.n_features_in_ == model.n_features_used_ < 10
    assert_array_equal(small.predict(NUMBERS[small.feature_names_in_]), model.predict(NUMBERS))


def test_what_a_regressor_of_views_refuses():
    with pytest.raises(PsephosError, match="'fusion' must be one of 'late', 'early'"):
        MultiViewRegressor(fusion="stacked").fit(NUMBERS, TARGET)
    with pytest.raises(
        PsephosError, match="MultiViewRegressor: weights are used only with fusion='late'"
    ):
        MultiViewRegressor([("a", PERSON)], fusion="early", weights=[1]).fit(NUMBERS, TARGET)
    with pytest.raises(PsephosError, match="view 'a'"):
        MultiViewRegressor([("a", TREE, PERSON)]).fit(NUMBERS, TARGET)
