"""SWAG as estimators: the vote of the library, absent columns, categories, files."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

import psephos
from psephos import PsephosError
from psephos.models.swag.learners.trees import ForestLearner
from psephos.models.swag.wrapper import SparseWrapperClassifier, SparseWrapperRegressor
from psephos.vote import JoinedVoters

NAMES = [f"gene {j}" for j in range(12)]
FEW = {"p_max": 2, "alpha": 0.4, "delta": 0.3, "n_folds": 4, "random_state": 0}


def table(n=90, p=12, seed=0, classes=2):
    """The first three columns decide; the fourth is the first again with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    signal = X[:, 0] + X[:, 1] - X[:, 2] + 0.3 * rng.standard_normal(n)
    X[:, 3] = X[:, 0] + 0.2 * rng.standard_normal(n)
    cuts = np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1])
    y = (
        np.array(["low", "mid", "top"])[np.digitize(signal, cuts)]
        if classes > 2
        else (np.where(signal > 0, "ill", "well"))
    )
    return pd.DataFrame(X, columns=NAMES[:p]), y, signal


def swag(**params):
    return SparseWrapperClassifier(**{**FEW, **params})


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = table()
    return swag(absent="vote", n_reserve=30).fit(X, y)


# ---------------------------------------------------------------------- the vote
@pytest.mark.parametrize("learner", ["logistic", "lda", "naive_bayes", "stump"])
def test_majority_is_the_share_of_models(learner):
    X, y, _ = table()
    model = swag(learner=learner).fit(X, y)
    fresh = table(seed=1)[0]
    chosen = model.library_.chosen()
    assert model.vote_.n_voters == len(chosen) + 1
    votes = model.vote_.votes(fresh.to_numpy())[:, :-1, 0]
    share = (votes > 0).mean(axis=1)
    assert_allclose(model.predict_proba(fresh)[:, 1], share, atol=1e-12)
    assert_array_equal(model.predict(fresh), np.where(share > 0.5, "well", "ill"))
    usage = model.usage().toarray()
    for row, subset in zip(usage, chosen.subsets(), strict=False):
        assert set(np.flatnonzero(row)) <= set(subset)


def test_members_are_refitted_on_all_rows():
    X, y, _ = table()
    model = swag(learner="naive_bayes", vote="mean").fit(X, y)
    fresh = table(seed=1)[0].to_numpy()
    expected = []
    for subset in model.library_.chosen().subsets():
        peer = GaussianNB().fit(X.to_numpy()[:, subset], y)
        expected.append(peer.predict_proba(fresh[:, subset])[:, 1])
    found = model.predict_proba(pd.DataFrame(fresh, columns=NAMES))[:, 1]
    assert_allclose(found, np.mean(expected, axis=0), rtol=1e-6)


def test_best_is_the_first_of_the_library():
    X, y, _ = table()
    best = swag(learner="naive_bayes", vote="best").fit(X, y)
    subset = best.library_.chosen().subset(0)
    peer = GaussianNB().fit(X.to_numpy()[:, subset], y)
    fresh = table(seed=1)[0]
    expected = peer.predict_proba(fresh.to_numpy()[:, subset])
    assert_allclose(best.predict_proba(fresh), expected, rtol=1e-6)


def test_performance_weighs_by_gain_over_the_prior():
    X, y, _ = table()
    model = swag(vote="performance").fit(X, y)
    weights = model.vote_.weighting.alpha[:-1]
    prior = 1 - max(np.mean(y == "ill"), np.mean(y == "well"))
    gain = prior - model.library_.chosen().error
    assert_allclose(weights / weights.max(), np.maximum(gain, 0.01 * gain.max()) / gain.max(),
                    rtol=0.05)  # fmt: skip
    assert (np.diff(weights) <= 1e-12).all()


def out_of_fold(X, y, cv, subsets):
    """Return the (M, n) probabilities of the second class by scikit-learn's naive Bayes."""
    found = np.empty((len(subsets), len(y)))
    for m, subset in enumerate(subsets):
        for train, test in cv:
            model = GaussianNB().fit(X[np.ix_(train, subset)], y[train])
            found[m, test] = model.predict_proba(X[np.ix_(test, subset)])[:, 1]
    return found


@pytest.fixture(scope="module")
def learnt():
    """Return rows, folds and, by rule, libraries of the same search."""
    X, y, _ = table(classes=2)
    cv = list(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y))
    own = {"learner": "naive_bayes", "cv": cv, "delta": 0.6}
    every = {rule: swag(vote=rule, **own).fit(X, y) for rule in ("mean", "stacked", "boosted")}
    return X.to_numpy(), y, cv, every


def weights_by_model(model):
    subsets = map(tuple, model.library_.chosen().subsets())
    return dict(zip(subsets, model.vote_.weighting.alpha[:-1], strict=True))


def test_stacked_weights_have_the_least_log_loss_out_of_fold(learnt):
    X, y, cv, every = learnt
    subsets = every["mean"].library_.chosen().subsets()
    own = out_of_fold(X, y, cv, subsets)
    own = np.where(y == every["mean"].classes_[1], own, 1 - own)
    given = weights_by_model(every["stacked"])
    w = np.array([given.get(tuple(s), 0.0) for s in subsets])
    assert 1 < len(given) == (w > 0).sum() < len(subsets)
    loss = -np.log(w @ own / w.sum()).mean()
    logits = np.zeros(len(subsets))
    least = minimize(lambda z: -np.log(softmax(z) @ own).mean(), logits, tol=1e-10).fun
    assert loss <= least + 1e-4
    assert loss < min(-np.log(own).mean(axis=1).min(), -np.log(own.mean(axis=0)).mean())


def test_boosted_weights_are_those_of_adaboost_over_the_library(learnt):
    X, y, cv, every = learnt
    subsets = every["mean"].library_.chosen().subsets()
    said = out_of_fold(X, y, cv, subsets) > 0.5
    wrong = said != (y == every["mean"].classes_[1])
    share, expected = np.full(len(y), 1 / len(y)), np.zeros(len(subsets))
    for _ in range(100):
        errors = [share[row].sum() for row in wrong]
        t = int(np.argmin(errors))
        if errors[t] >= 0.5 - 1e-12:
            break
        step = np.log((1 - errors[t]) / errors[t])
        expected[t] += step
        share = np.where(wrong[t], share * np.exp(step), share)
        share /= share.sum()
    given = weights_by_model(every["boosted"])
    w = np.array([given.get(tuple(s), 0.0) for s in subsets])
    assert 1 < len(given) < len(subsets)
    assert_allclose(w / w.sum(), expected / expected.sum(), atol=1e-9)


def test_learnt_weights_of_three_classes_and_of_gaps():
    X, y, _ = table(classes=3)
    holes = X.mask(np.random.default_rng(2).random(X.shape) < 0.05)
    for rule in ("stacked", "boosted"):
        model = swag(vote=rule, delta=0.6, absent="vote").fit(holes, y)
        assert (model.predict(X) == y).mean() > 0.6
        assert model.library_.votes.sum() < model.vote_.n_voters - 1  # the rest are the reserve
        assert set(model.usable(holes)["source"]) <= {"chosen", "reserve", "prior"}


def test_stacked_weights_of_numbers():
    X, _, signal = table()
    mean, stacked = (
        SparseWrapperRegressor("least_squares", vote=rule, **{**FEW, "delta": 0.6}).fit(X, signal)
        for rule in ("mean", "stacked")
    )
    assert stacked.library_.votes.sum() < mean.library_.votes.sum()
    fresh, _, truth = table(seed=5)
    loss = [((model.predict(fresh) - truth) ** 2).mean() for model in (stacked, mean)]
    assert loss[0] < loss[1]
    with pytest.raises(PsephosError, match="'vote' must be one of"):
        SparseWrapperRegressor(vote="boosted").fit(X, signal)


def test_one_dimension_alone():
    X, y, _ = table()
    model = swag(dimension=1).fit(X, y)
    assert set(model.library_.chosen().dimension.tolist()) == {1}
    assert set(model.library_.dimension.tolist()) == {1, 2}


def test_more_classes():
    X, y, _ = table(n=150, classes=3)
    model = swag(learner="lda").fit(X, y)
    fresh, truth, _ = table(n=150, seed=3, classes=3)
    assert np.mean(model.predict(fresh) == truth) > 0.6
    assert model.predict_proba(fresh).shape == (150, 3)


def test_any_estimator_of_scikit_learn():
    X, y, _ = table(n=60, p=6)
    model = swag(learner=LogisticRegression()).fit(X, y)
    own = swag(learner="logistic").fit(X, y)
    assert abs(model.library_.error[0] - own.library_.error[0]) < 0.08
    with pytest.raises(PsephosError, match="LogisticRegression"):
        psephos.save(model, "never-written")


# ---------------------------------------------------------------------- what is missing
def test_a_frame_without_columns_is_answered_by_the_models_that_can(fitted):
    fresh = table(seed=1)[0]
    used = list(fitted.features_used_)
    for lost in range(len(used)):
        part = fresh.drop(columns=used[: lost + 1])
        by_hand = fresh.copy()
        by_hand[used[: lost + 1]] = np.nan
        if not len(part.columns):
            continue
        assert_array_equal(fitted.predict_proba(part), fitted.predict_proba(by_hand))
        told = fitted.usable(part)
        usable = fitted.library_.usable_with(part.columns)
        chosen = int(usable.votes.sum())
        if chosen:
            assert told["source"] == ["chosen"] * len(part)
            assert told["n_models"] == [chosen] * len(part)
            mean = usable.chosen().error.mean()
            assert_allclose(told["error"], mean)
    assert told["source"][0] in ("chosen", "reserve", "prior")


def test_order_and_strangers(fitted):
    fresh = table(seed=1)[0]
    assert_array_equal(fitted.predict(fresh[NAMES[::-1]]), fitted.predict(fresh))
    more = fresh.assign(height=1.0)
    assert_array_equal(fitted.predict(more), fitted.predict(fresh))
    with pytest.raises(PsephosError, match="'height'"):  # which may be the one that is absent
        fitted.predict(more.drop(columns=NAMES[0]))
    with pytest.raises(PsephosError, match="no column"):
        fitted.predict(fresh[[]])


@pytest.mark.parametrize("vote", ["majority", "best"])
def test_the_reserve_is_backup(vote, tmp_path):
    X, y = table()[:2]
    model = SparseWrapperClassifier(
        "lda", p_max=2, m=30, alpha=0.2, delta=0.05, vote=vote, absent="vote", random_state=0
    ).fit(X, y)
    assert len(model.features_backup_)
    assert not set(model.features_backup_) & set(model.features_used_)
    small = model.reduce(backup=False)
    assert list(small.feature_names_in_) == list(model.features_used_)
    whole = table(seed=1)[0].fillna(0.0)
    part = whole[list(model.features_used_)]
    assert_allclose(small.predict_proba(part), model.predict_proba(whole), rtol=0, atol=1e-12)
    assert_array_equal(model.predict_proba(part), model.predict_proba(whole))
    assert_allclose(small.feature_importances_.sum(), 1.0)
    psephos.save(small, tmp_path / "small.psephos")
    again = psephos.load(tmp_path / "small.psephos")
    assert again.usable(part)["error"] == model.usable(whole)["error"]
    nobody = part * np.nan
    assert set(again.usable(nobody)["source"]) == {"prior"}


def test_nobody_can_speak(fitted):
    fresh = table(seed=1)[0]
    read = [*fitted.features_used_, *fitted.features_backup_]
    nothing = fresh.drop(columns=read)
    told = fitted.usable(nothing)
    assert told["source"] == ["prior"] * len(fresh)
    assert told["n_models"] == [0] * len(fresh)
    y = table()[1]
    shares = [np.mean(y == "ill"), np.mean(y == "well")]
    answer = ["ill", "well"][int(np.argmax(shares))]
    assert set(fitted.predict(nothing)) == {answer}


def test_without_leave_absent_columns_are_refused():
    X, y, _ = table()
    model = swag().fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.drop(columns=["gene 0"]))
    gaps = X.copy()
    gaps.loc[::2, "gene 0"] = np.nan
    assert model.predict(gaps).shape == y.shape


def test_gaps_in_training():
    X, y, _ = table()
    rng = np.random.default_rng(5)
    holes = X.mask(rng.random(X.shape) < 0.1)
    model = swag().fit(holes, y)
    assert model.library_.error[0] < 0.35
    assert isinstance(model.vote_.voters, JoinedVoters)
    fresh, truth, _ = table(seed=1)
    assert np.mean(model.predict(fresh) == truth) > 0.7


# ---------------------------------------------------------------------- categories
def test_a_learner_is_named_with_its_parameters():
    X, y, _ = table()
    named = swag(learner="forest(n_estimators=7, max_depth=2)", p_max=2, m=20).fit(X, y)
    given = swag(learner=ForestLearner(7, max_depth=2), p_max=2, m=20).fit(X, y)
    assert named.library_.table() == given.library_.table()
    assert_array_equal(named.predict_proba(X), given.predict_proba(X))
    assert clone(named).learner == "forest(n_estimators=7, max_depth=2)"
    for wrong in ("forest(7)", "forest(trees=7)", "woods(n_estimators=7)", "forest(", "1 + 1"):
        with pytest.raises(PsephosError, match="'learner' must be one of 'logistic'"):
            swag(learner=wrong).fit(X, y)
    with pytest.raises(PsephosError, match="'n_estimators' must be"):
        swag(learner="forest(n_estimators=0)").fit(X, y)


@pytest.mark.parametrize("learner", ["logistic", "lda", "tree"])
def test_a_category_is_one_column(learner):
    rng = np.random.default_rng(0)
    X, _, _ = table(n=120, p=6)
    site = rng.choice(["skin", "lung", "bone"], 120)
    y = np.where((site == "lung") ^ (rng.random(120) < 0.05), 1, 0)
    X["site"] = pd.Series(site, dtype="category")
    model = swag(learner=learner, delta=0.05).fit(X, y)
    assert model.library_.subset(0).tolist()[-1] == 6
    assert "site" in model.features_used_
    assert np.mean(model.predict(X) == y) > 0.85
    assert "site" in " ".join(model.describe())
    reduced = model.reduce()
    part = X[list(model.features_used_)]
    assert_array_equal(reduced.predict_proba(part), model.predict_proba(X))


# ---------------------------------------------------------------------- numbers
@pytest.mark.parametrize("learner", ["least_squares", "ridge", "tree"])
@pytest.mark.parametrize("vote", ["mean", "performance", "best"])
def test_a_regressor(learner, vote):
    X, _, signal = table(n=120)
    model = SparseWrapperRegressor(learner, vote=vote, **{**FEW, "p_max": 3}).fit(X, signal)
    fresh, _, truth = table(n=120, seed=2)
    assert model.score(fresh, truth) > 0.5
    votes = model.vote_.votes(fresh.to_numpy())[:, :, 0]
    weights = model.vote_.weights(fresh.to_numpy())
    expected = (votes * weights).sum(axis=1) / weights.sum(axis=1)
    assert_allclose(model.predict(fresh), expected, rtol=1e-10)


# ---------------------------------------------------------------------- the library
def test_the_library_of_a_fit(fitted):
    table_ = fitted.library_.table()
    assert table_["error"] == sorted(table_["error"])
    assert set(table_["dimension"]) == {1, 2}
    assert fitted.library_.measure == "error"
    assert fitted.library_.dimensions.n_candidates[0] == 12
    found = fitted.library_.synonyms(fitted.library_.words[0])
    assert set(found) == {"column", "contexts", "share", "difference", "companions"}


def test_reduce_and_files(fitted, tmp_path):
    fresh = table(seed=1)[0]
    psephos.save(fitted, tmp_path / "swag.psephos")
    again = psephos.load(tmp_path / "swag.psephos")
    assert_array_equal(again.predict_proba(fresh), fitted.predict_proba(fresh))
    assert again.library_.table() == fitted.library_.table()
    reduced = fitted.reduce()
    part = fresh[list(fitted.features_used_)]
    assert_array_equal(reduced.predict_proba(part), fitted.predict_proba(fresh))
    assert reduced.usable(part) == fitted.usable(fresh)
    lost = part.drop(columns=part.columns[0])
    assert_array_equal(reduced.predict_proba(lost), fitted.predict_proba(lost))


def test_same_seed_same_bytes_for_any_workers():
    X, y, _ = table()
    one = swag(learner="forest", p_max=2, m=20).fit(X, y)
    two = swag(learner="forest", p_max=2, m=20, n_jobs=2).fit(X, y)
    assert one.library_.table() == two.library_.table()
    fresh = table(seed=1)[0]
    assert_array_equal(one.predict_proba(fresh), two.predict_proba(fresh))


def test_a_folder_keeps_the_search(tmp_path):
    X, y, _ = table()
    first = swag(folder=tmp_path / "search").fit(X, y)
    again = swag(folder=tmp_path / "search").fit(X, y)
    assert again.library_.table() == first.library_.table() == swag().fit(X, y).library_.table()
    with pytest.raises(PsephosError, match="another search"):
        swag(folder=tmp_path / "search", alpha=0.2).fit(X, y)


def test_groups_are_not_divided_and_weights_count():
    X, y, _ = table()
    groups = np.repeat(np.arange(30), 3)
    grouped = swag().fit(X, y, groups=groups)
    assert grouped.library_.table() != swag().fit(X, y).library_.table()
    weighted = swag(class_weight={"ill": 5.0, "well": 1.0}, vote="mean").fit(X, y)
    plain = swag(vote="mean").fit(X, y)
    assert weighted.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean()


def test_costs_before_the_fit():
    X, y, _ = table()
    model = swag(p_max=3)
    steps = model.estimate_cost(X, y, seconds=0.01)
    assert [s.dimension for s in steps] == [1, 2, 3]
    assert steps[0].n_candidates == 12
    assert steps[0].n_fits == 48
    assert all(s.seconds > 0 for s in steps)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"learner": "logistik"}, "learner"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": "few"}, "alpha"),
        ({"m": 0}, "'m' must be .*; got 0"),
        ({"p_max": "all"}, "p_max"),
        ({"delta": 0}, "delta"),
        ({"vote": "loud"}, "vote"),
        ({"cv": "ten"}, r"cv must be .*; got 'ten'"),
        ({"scoring": "speed"}, r"scoring must be .*; got 'speed'"),
        ({"absent": "drop"}, "absent"),
        ({"n_folds": 1}, "n_folds"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(params, words):
    X, y, _ = table(n=30, p=4)
    with pytest.raises(PsephosError, match=words):
        swag(**params).fit(X, y)
