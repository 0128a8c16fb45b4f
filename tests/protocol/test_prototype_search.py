"""The search of proset's penalties: paths, rules, folds; and an estimator like others."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_validate
from sklearn.utils.estimator_checks import parametrize_with_checks

from psephos import ProsetClassifier, ProsetRegressor, ProsetSearchCV, PsephosError
from psephos.protocol import columns_used
from psephos.protocol.evaluation.splits import seed_of
from psephos.protocol.running.prototype_search import Offered, _admissible, follow_paths

WINE = load_wine(return_X_y=True)
DIABETES = tuple(part[:120] for part in load_diabetes(return_X_y=True))
SMALL = {"cv": 3, "max_batches": 2, "lambda_v_grid": [1e-3, 1e-1], "fold_tol": 1e-3}


def searched(estimator=None, data=WINE, fit=None, **settings):
    model = ProsetClassifier(random_state=0) if estimator is None else estimator
    return ProsetSearchCV(model, **{**SMALL, **settings}).fit(*data, **(fit or {}))


def halves(n):
    rows = np.random.default_rng(3).permutation(n)
    return np.sort(rows[: n // 2]), np.sort(rows[n // 2 :])


# ------------------------------------------------------------------- paths
def class_score(model, X, y, weight, scoring):
    proba = model.predict_proba(X)
    if scoring == "log_loss":
        return log_loss(y, proba, sample_weight=weight, labels=[0, 1, 2])
    if scoring == "balanced_accuracy":
        return balanced_accuracy_score(y, proba.argmax(axis=1))
    return roc_auc_score(y, proba, multi_class="ovr")


def number_score(model, X, y, weight, scoring):
    told = model.distribution(X)
    loss = told.crps(y) if scoring == "crps" else -told.log_density(y)
    return np.average(loss, weights=weight)


@pytest.mark.parametrize(
    ("estimator", "data", "scoring", "expected"),
    [
        (ProsetClassifier, WINE, "log_loss", class_score),
        (ProsetClassifier, WINE, "balanced_accuracy", class_score),
        (ProsetClassifier, WINE, "roc_auc", class_score),
        (ProsetRegressor, DIABETES, "negative_log_density", number_score),
        (ProsetRegressor, DIABETES, "crps", number_score),
    ],
)
def test_a_path_is_the_fits_of_fewer_batches(estimator, data, scoring, expected):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    train, test = halves(len(y))
    penalties = [{"lambda_v": 1e-4}, {"lambda_v": 1e-2, "lambda_w": 1e-4}]
    table, labels, read, _ = estimator().read(X, y, weight)
    paths = follow_paths(
        estimator(3, tol=1e-4), Offered(table, labels, read), [(train, test)], penalties, scoring,
        5, None,
    )  # fmt: skip
    assert paths.score.shape == (2, 4, 1)
    for k, penalty in enumerate(penalties):
        for b in range(4):
            model = estimator(b, tol=1e-4, random_state=seed_of(5, "fold", 0), **penalty)
            model.fit(X[train], y[train], weight[train])
            score = expected(model, X[test], y[test], weight[test], scoring)
            assert_allclose(paths.score[k, b, 0], score, rtol=1e-10)
            assert paths.n_prototypes[k, b, 0] == model.n_prototypes_.sum()
            assert paths.n_columns[k, b, 0] == model.n_features_used_


def test_a_score_that_a_fold_has_not_is_refused_by_name():
    folds = [(np.arange(178), np.arange(30))]  # the test rows are of one class
    table, labels, weight, _ = ProsetClassifier().read(*WINE)
    with pytest.raises(PsephosError, match="roc_auc is not defined on fold 0"):
        follow_paths(
            ProsetClassifier(), Offered(table, labels, weight), folds, [{}], "roc_auc", 0, 1
        )


# ------------------------------------------------------------------- rules
@given(
    means=st.lists(st.floats(-10, 10), min_size=1, max_size=12),
    spread=st.floats(0, 5),
    lower=st.booleans(),
)
def test_the_best_is_admissible_and_what_is_admissible_is_close_to_it(means, spread, lower):
    mean = np.array(means)
    worst, admissible = _admissible(mean, np.full(len(mean), spread), lower=lower)
    best = mean.min() if lower else mean.max()
    assert admissible[mean == best].all()
    assert_allclose(abs(worst - best), spread, atol=1e-12)
    assert_array_equal(admissible, mean <= worst if lower else mean >= worst)
    fewer = _admissible(mean, np.zeros(len(mean)), lower=lower)[1]
    assert_array_equal(fewer, mean == best)


@pytest.mark.parametrize("rule", ["one_sd", "one_se", "best"])
@pytest.mark.parametrize("scoring", ["log_loss", "accuracy"])
def test_the_joint_rule_takes_the_greatest_penalty_then_the_fewest_batches(rule, scoring):
    search = searched(rule=rule, scoring=scoring, lambda_v_grid=[1e-5, 1e-3, 1e-2, 1.0])
    told = search.frame()
    assert len(told) == 4 * 3
    mean = search.fold_scores_.mean(axis=1)
    sd = search.fold_scores_.std(axis=1, ddof=1)
    assert_allclose(told["mean"], mean)
    assert_allclose(told["sd"], sd)
    assert_allclose(told["se"], sd / np.sqrt(3))
    sign = 1 if scoring == "log_loss" else -1
    best = np.argmin(sign * mean)
    slack = {"one_sd": sd, "one_se": sd / np.sqrt(3), "best": 0 * sd}[rule][best]
    near = told[sign * mean <= sign * mean[best] + slack]
    strongest = near[near["lambda_v"] == near["lambda_v"].max()]
    expected = strongest.loc[strongest["n_batches"].idxmin()]
    assert search.best_params_ == {
        "lambda_v": expected["lambda_v"],
        "lambda_w": 3e-4 / len(WINE[1]),
        "n_batches": expected["n_batches"],
    }
    assert_array_equal(told["admissible"], told.index.isin(near.index))
    assert told["chosen"].sum() == 1
    assert_allclose(search.thresholds_, [mean[best] + sign * slack])


def test_two_stages_as_the_source_has_them():
    search = searched(
        strategy="two-stage", n_pairs=12, lambda_v_range=(1e-4, 1e-1), lambda_w_range=(1e-9, 1e-3)
    )
    told = search.frame()
    first, second = told[told["stage"] == 1], told[told["stage"] == 2]
    assert (first["n_batches"] == 1).all()
    assert first["lambda_v"].between(1e-4, 1e-1).all()
    assert first["lambda_w"].between(1e-9, 1e-3).all()
    assert len(first) == len(set(first["lambda_v"])) == 12
    near = first[first["mean"] <= first["mean"].min() + first.loc[first["mean"].idxmin(), "sd"]]
    pair = near.loc[np.sqrt(near["lambda_v"] * near["lambda_w"]).idxmax()]
    assert_array_equal(second["n_batches"], [0, 1, 2])
    for name in ("lambda_v", "lambda_w"):
        assert set(second[name]) == {pair[name]}
        assert search.best_params_[name] == pair[name]
    limit = second["mean"].min() + second.loc[second["mean"].idxmin(), "sd"]
    assert search.best_params_["n_batches"] == second[second["mean"] <= limit]["n_batches"].min()
    # the folds and their seeds are those of the first stage
    assert second["mean"].iloc[1] == pair["mean"]
    assert len(search.thresholds_) == 2


def test_where_labels_have_nothing_to_do_with_columns_nothing_is_chosen():
    X = np.random.default_rng(0).normal(size=(90, 5))
    search = searched(data=(X, np.arange(90) % 2))
    assert search.best_params_["n_batches"] == 0
    assert len(search.vote_.columns) == 0


# ------------------------------------------------------------------- folds and seeds
class Told(StratifiedKFold):
    """A splitter that keeps what it gave."""

    def split(self, X, y=None, groups=None):
        self.given = list(super().split(X, y, groups))
        return iter(self.given)


def test_a_splitter_of_scikit_learn_divides_the_rows():
    splitter = Told(4, shuffle=True, random_state=1)
    search = ProsetSearchCV(ProsetClassifier(random_state=0), **{**SMALL, "cv": splitter})
    search.fit(*WINE)
    assert search.n_splits_ == len(splitter.given) == 4
    assert search.fold_scores_.shape == (2 * 3, 4)


def test_folds_may_be_given_as_rows_of_the_table():
    X, y = WINE
    weight = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weight)
    parts = list(StratifiedKFold(3).split(X, y))
    inside = [tuple(np.searchsorted(kept, np.intersect1d(s, kept)) for s in p) for p in parts]
    a = searched(cv=iter(parts), fit={"sample_weight": weight})
    b = searched(data=(X[kept], y[kept]), cv=inside)
    assert_array_equal(a.fold_scores_, b.fold_scores_)


def test_groups_stay_whole(monkeypatch):
    seen = []
    groups = np.repeat(np.arange(89), 2)

    def watched(estimator, offered, folds, *rest):
        seen.append(folds)
        return follow_paths(estimator, offered, folds, *rest)

    monkeypatch.setattr("psephos.protocol.running.prototype_search.follow_paths", watched)
    for estimator in (ProsetClassifier(random_state=0), ProsetRegressor(random_state=0)):
        searched(estimator, data=(WINE[0], WINE[1].astype(float)), fit={"groups": groups})
    for folds in seen:
        assert len(folds) == 3
        for train, test in folds:
            assert not set(groups[train]) & set(groups[test])
            assert len(train) + len(test) == len(groups)


@pytest.mark.parametrize("estimator", [ProsetClassifier, ProsetRegressor])
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_jobs(estimator):
    data = WINE if estimator is ProsetClassifier else DIABETES
    one, two, again = (searched(estimator(random_state=4), data, n_jobs=n) for n in (None, 2, 1))
    other = searched(estimator(random_state=5), data)
    for same in (two, again):
        assert_array_equal(same.fold_scores_, one.fold_scores_)
        assert_array_equal(same.predict(data[0]), one.predict(data[0]))
    assert not np.array_equal(other.fold_scores_, one.fold_scores_)


def test_the_best_estimator_is_a_plain_fit():
    search = searched()
    plain = ProsetClassifier(random_state=0, **search.best_params_).fit(*WINE)
    assert_array_equal(search.predict_proba(WINE[0]), plain.predict_proba(WINE[0]))
    assert_array_equal(search.decision_function(WINE[0]), plain.decision_function(WINE[0]))
    assert search.score(*WINE) == plain.score(*WINE)
    assert_array_equal(columns_used(search, 13), columns_used(plain, 13))
    assert plain.tol == search.best_estimator_.tol


def test_rows_of_weight_zero_are_as_if_not_given():
    X, y = WINE
    weight = np.ones(len(y))
    weight[::7] = 0
    kept = weight > 0
    a = searched(fit={"sample_weight": weight})
    b = searched(data=(X[kept], y[kept]))
    assert_array_equal(a.fold_scores_, b.fold_scores_)
    assert_array_equal(a.predict_proba(X), b.predict_proba(X))


def test_folds_of_a_small_or_tied_target():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.repeat([0.0, 1.0, 5.0], 4) + 0.1 * X[:, 0]
    tied = np.where(np.arange(12) < 9, 0.0, 1.0)
    for target in (y, tied):
        search = searched(ProsetRegressor(random_state=0), (X, target), cv=4)
        assert search.n_splits_ == 4
        assert np.isfinite(search.predict(X)).all()


# ------------------------------------------------------------------- an estimator like others
def test_it_can_be_nested_and_answers_in_the_users_labels():
    X = pd.DataFrame(WINE[0][:, :6], columns=[f"c{j}" for j in range(6)])
    X["kind"] = pd.Categorical(np.where(WINE[0][:, 6] > 2, "many", "few"))
    X.iloc[::9, 1] = np.nan
    y = np.array(["red", "rosé", "white"])[WINE[1]]
    groups = np.repeat(np.arange(89), 2)
    found = cross_validate(
        ProsetSearchCV(ProsetClassifier(random_state=0), **SMALL), X, y, cv=GroupKFold(3),
        groups=groups, params={"groups": groups}, scoring=["accuracy", "neg_log_loss"],
        return_estimator=True, error_score="raise",
    )  # fmt: skip
    assert found["test_accuracy"].min() > 0.6
    assert found["test_neg_log_loss"].min() > -1.0
    for search in found["estimator"]:
        assert search.n_features_in_ == 7
        assert list(search.feature_names_in_) == list(X.columns)
        assert list(search.classes_) == ["red", "rosé", "white"]


def test_what_a_regressor_has_not_the_search_has_not():
    search = searched(ProsetRegressor(random_state=0), DIABETES)
    assert not hasattr(search, "predict_proba")
    assert not hasattr(search, "classes_")
    assert hasattr(ProsetSearchCV(ProsetClassifier()), "predict_proba")
    assert search.best_estimator_.distribution(DIABETES[0]).n_cases == 120


FEW = {"cv": 3, "max_batches": 1, "lambda_v_grid": [1e-3], "rule": "best"}


@parametrize_with_checks(
    [
        ProsetSearchCV(ProsetClassifier(random_state=0), **FEW),
        ProsetSearchCV(ProsetRegressor(random_state=0), **FEW),
    ]
)
def test_estimator_check(estimator, check):
    check(estimator)


# ------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"strategy": "both"}, "'strategy' must be .*; got 'both'"),
        ({"rule": "1se"}, "'rule' must be .*; got '1se'"),
        ({"scoring": "logloss"}, "did you mean 'log_loss'"),
        ({"scoring": "crps"}, "scoring is 'crps'"),
        ({"cv": 1}, "cv must be .*; got 1"),
        ({"cv": 2.5}, "cv must be .*; got 2.5"),
        ({"cv": "five"}, "cv must be .*; got 'five'"),
        ({"cv": []}, "fold 0 of cv has no training rows"),
        ({"cv": [(np.arange(90), np.arange(90, 178)), (np.arange(90), [])]}, "fold 1 of cv"),
        ({"cv": 500}, "n_samples = 178 is fewer than the 500 folds"),
        ({"max_batches": 0}, "'max_batches' must be .*; got 0"),
        ({"lambda_v_grid": []}, "lambda_v_grid"),
        ({"lambda_v_grid": [1e-3, -1.0]}, "lambda_v_grid"),
        ({"lambda_v_grid": ["few"]}, "lambda_v_grid"),
        ({"strategy": "two-stage", "lambda_w_range": (0.0, 1.0)}, "lambda_w_range must be"),
        ({"strategy": "two-stage", "lambda_v_range": (1e-1, 1e-3)}, "lambda_v_range must be"),
        ({"strategy": "two-stage", "n_pairs": 0}, "'n_pairs' must be .*; got 0"),
    ],
)
def test_what_cannot_be_used_is_named(settings, words):
    with pytest.raises(PsephosError, match=words.replace("(", r"\(")):
        searched(**settings)


@pytest.mark.parametrize("wrong", [ProsetClassifier, StratifiedKFold(3), None])
def test_another_estimator_is_refused(wrong):
    with pytest.raises(TypeError, match="must be a ProsetClassifier or a ProsetRegressor"):
        ProsetSearchCV(wrong).fit(*WINE)
