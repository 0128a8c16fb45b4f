"""Batches added to a fitted model: by a warm start, and by rows that come later."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_wine,
)
from sklearn.metrics import log_loss

import psephos
from psephos import ProsetClassifier, ProsetRegressor, PsephosError
from psephos._errors import UnknownLevelWarning
from psephos.datasets import make_checkerboard, make_continuous_xor

FAST = {"random_state": 0}
XOR = make_continuous_xor(3, n_rows_per_orthant=25, random_state=0)
CURVE = XOR[0], np.sin(3 * XOR[0][:, 0]) + XOR[0][:, 1]


def same_vote(one, two):
    """Check that two fitted models are equal to the last byte."""
    for name in ("weight", "prototypes", "centre", "inverse"):
        a, b = (getattr(m.vote_.weighting, name) for m in (one, two))
        assert a.tobytes() == b.tobytes(), name
    for m in (one, two):
        assert len(m.n_prototypes_) == m.n_batches
    a, b = (m.vote_.weighting.batches for m in (one, two))
    assert a.inverse_bandwidth.tobytes() == b.inverse_bandwidth.tobytes()
    assert_array_equal(one.vote_.voters.rows, two.vote_.voters.rows)
    for name in ("n_prototypes_", "objective_", "n_iter_", "stopped_"):
        assert_array_equal(getattr(one, name), getattr(two, name))


SETTINGS = [
    {"n_candidates": 20},
    {"references": "rest", "n_candidates": 20},
    {"references": "rest", "lambda_v": 1e-3, "n_candidates": 20, "beta": 0.3},
    {"lambda_v": 1e-3, "n_candidates": 40},
]
MORE = {"min_gain": 0.0, **FAST}


@pytest.mark.parametrize("settings", [*SETTINGS, {"grouping": "correct", "n_candidates": 20}])
def test_a_warm_start_of_classes_is_the_fit_of_all_batches(settings):
    warm = ProsetClassifier(1, warm_start=True, **MORE, **settings).fit(*XOR)
    for n in (2, 3):
        warm.set_params(n_batches=n).fit(*XOR)
        same_vote(warm, ProsetClassifier(n, **MORE, **settings).fit(*XOR))
    assert warm.n_prototypes_[1] > 0


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_warm_start_of_numbers_is_the_fit_of_all_batches(settings):
    warm = ProsetRegressor(1, warm_start=True, **MORE, **settings).fit(*CURVE)
    warm.set_params(n_batches=3).fit(*CURVE)
    same_vote(warm, ProsetRegressor(3, **MORE, **settings).fit(*CURVE))
    assert warm.n_prototypes_[1:].sum() > 0


def test_copies_gaps_and_weights_change_nothing_about_it():
    X, y = load_wine(return_X_y=True)
    X = np.round(X, 0)
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    X, y = np.vstack([X, X[:40]]), np.append(y, y[:40])
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(y))
    warm = ProsetClassifier(1, warm_start=True, min_gain=0.0, **FAST).fit(X, y, weight)
    warm.set_params(n_batches=3).fit(X, y, weight)
    same_vote(warm, ProsetClassifier(3, min_gain=0.0, **FAST).fit(X, y, weight))


def test_a_warm_start_may_begin_with_a_truncated_or_a_pickled_model():
    three = ProsetClassifier(3, **FAST).fit(*XOR)
    for model in (three.truncate(1), pickle.loads(pickle.dumps(three.truncate(1)))):
        model.set_params(n_batches=3, warm_start=True).fit(*XOR)
        same_vote(model, three)


def test_a_warm_start_without_more_batches_changes_nothing():
    model = ProsetClassifier(2, warm_start=True, **FAST).fit(*XOR)
    before = pickle.dumps(model.vote_)
    assert pickle.dumps(model.fit(*XOR).vote_) == before
    cold = ProsetClassifier(2, **FAST).fit(*XOR)
    cold.set_params(n_batches=1).fit(*XOR)
    assert len(cold.n_prototypes_) == 1  # without it a fit starts anew


def test_a_warm_start_on_more_rows_keeps_the_batches_and_the_scaling():
    X, y = XOR
    part = X[:, 0] > 0
    few = ProsetClassifier(1, warm_start=True, **FAST).fit(X[part], y[part])
    first = few.n_prototypes_[0]
    w = few.vote_.weighting
    few.set_params(n_batches=2).fit(X, y)
    assert_array_equal(few.vote_.weighting.weight[: first + 1], w.weight)
    assert_array_equal(few.vote_.weighting.inverse, w.inverse)
    assert log_loss(y, few.predict_proba(X)) < log_loss(y, few.truncate(1).predict_proba(X))


def test_what_a_warm_start_cannot_go_on_with_is_refused(tmp_path):
    X, y = XOR
    model = ProsetClassifier(2, warm_start=True, **FAST).fit(X, y)
    with pytest.raises(PsephosError, match=r"must be at least the .* with a warm start"):
        model.set_params(n_batches=1).fit(X, y)
    model.set_params(n_batches=3)
    with pytest.raises(PsephosError, match="classes of the first fit"):
        model.fit(X, y + 1)
    psephos.save(model, tmp_path / "m.psephos")
    for other in (psephos.load(tmp_path / "m.psephos"), model.reduce()):
        with pytest.raises(PsephosError, match="Fit it anew"):
            other.set_params(warm_start=True, n_batches=4).fit(X, y)


# ------------------------------------------------------------------- rows that come later
def parts(X, n):
    """Rows that come region by region."""
    return np.array_split(np.argsort(X[:, 0]), n)


def test_rows_that_come_later_add_a_batch():
    X, y = make_checkerboard(size=4, random_state=0)
    model, losses = ProsetClassifier(**FAST), []
    for part in parts(X, 4):
        model.partial_fit(X[part], y[part], classes=[0, 1])
        losses.append(log_loss(y, model.predict_proba(X)))
    assert len(model.n_prototypes_) == 4
    assert (np.diff(losses) < -0.1).all()
    assert losses[-1] < 0.15
    shares = model.vote_.shares(X[:50])
    assert shares.shape[1] == 1 + model.n_prototypes_.sum()
    told = (shares @ model.vote_.voters.values)[:, 0]
    assert_allclose(model.predict_proba(X[:50])[:, 1], (1 + told) / 2, atol=1e-12)


def test_the_first_call_is_a_fit_of_one_batch():
    for X, y in (XOR, load_breast_cancer(return_X_y=True)):
        one = ProsetClassifier(**FAST).partial_fit(X, y)
        same_vote(one, ProsetClassifier(1, **FAST).fit(X, y))
    X, y = load_diabetes(return_X_y=True)
    same_vote(ProsetRegressor(**FAST).partial_fit(X, y), ProsetRegressor(**FAST).fit(X, y))


def test_prototypes_of_a_batch_are_rows_of_its_call_and_numbered_through():
    X, y = XOR
    half, order = len(y) // 2, np.argsort(X[:, 0])
    X, y = X[order], y[order]
    model = ProsetClassifier(min_gain=0.0, **FAST).partial_fit(X[:half], y[:half])
    model.partial_fit(X[half:], y[half:])
    rows, batch = model.vote_.voters.rows[1:], model.vote_.weighting.batches.batch[1:]
    assert (model.n_prototypes_ > 0).all()
    assert ((rows >= half) == (batch == 1)).all()
    assert_allclose(model.vote_.voters.cases[1:], X[rows][:, model.vote_.columns], rtol=1e-12)


def test_all_rows_of_earlier_calls_judge():
    """The second call alone would let its class speak everywhere."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    late = np.flatnonzero(rng.random(300) < 0.2)
    wrong = 1 - y[late]  # labels of the second call are turned round
    model = ProsetClassifier(**FAST).partial_fit(X, y, classes=[0, 1])
    before = model.score(X, y)
    model.partial_fit(X[late] + 1e-3, wrong)
    alone = ProsetClassifier(**FAST).fit(X, y)
    alone.partial_fit(X[late] + 1e-3, wrong)  # the rows of a fit are not kept
    assert model.score(X, y) > before - 0.05
    assert alone.score(X, y) < model.score(X, y)


def test_the_prior_is_of_all_rows_and_classes_may_come_late():
    X, y = load_wine(return_X_y=True)
    model = ProsetClassifier(**FAST)
    model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert_array_equal(model.classes_, [0, 1, 2])
    assert (model.predict_proba(X)[:, 2] == 0).all()
    model.partial_fit(X[y > 0], y[y > 0])
    model.partial_fit(X[:1], y[:1], sample_weight=[2.0])
    far = model.predict_proba(np.full((1, X.shape[1]), 1e9))
    counts = np.bincount(y) + np.bincount(y[y == 1], minlength=3) + [2, 0, 0]
    assert_allclose(far[0], counts / counts.sum(), rtol=1e-12)
    assert model.score(X, y) > 0.9


def test_words_categories_and_gaps_are_those_of_the_first_call():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"site": rng.choice(["lung", "skin"], 80), "dose": rng.normal(size=80)})
    table["site"] = table["site"].astype("category")
    y = np.where((table["site"] == "lung") ^ (table["dose"] > 0), "ham", "spam")
    model = ProsetClassifier(**FAST).partial_fit(table, y)
    later = table.copy()
    later["site"] = pd.Categorical(["bone"] * 40 + ["skin"] * 40)
    later.loc[:5, "dose"] = np.nan
    with pytest.warns(UnknownLevelWarning):
        model.partial_fit(later, y)
    assert model.schema_.levels[0] == ("lung", "skin")
    with pytest.warns(UnknownLevelWarning):
        assert set(model.predict(later)) <= {"ham", "spam"}
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(later.rename(columns={"dose": "depth"}), y)


def test_numbers_that_come_later_add_a_batch():
    X, y = CURVE
    first, second = parts(X, 2)
    model = ProsetRegressor(**FAST).partial_fit(X[first], y[first])
    before = model.distribution(X).log_density(y).mean()
    model.partial_fit(X[second], y[second])
    assert len(model.n_prototypes_) == 2
    assert model.distribution(X).log_density(y).mean() > before + 0.1
    with pytest.raises(PsephosError, match="number"):
        model.partial_fit(X, ["a"] * len(y))


def test_what_cannot_be_added_is_refused(tmp_path):
    X, y = XOR
    model = ProsetClassifier(**FAST).partial_fit(X, y)
    with pytest.raises(PsephosError, match="label 7"):
        model.partial_fit(X, np.full(len(y), 7))
    with pytest.raises(PsephosError, match="those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(PsephosError, match="zero on every row"):
        model.partial_fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(PsephosError, match="balanced"):
        ProsetClassifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    assert len(model.n_prototypes_) == 1
    psephos.save(model, tmp_path / "m.psephos")
    with pytest.raises(PsephosError, match="Fit it anew"):
        psephos.load(tmp_path / "m.psephos").partial_fit(X, y)


def test_threads_change_nothing():
    found = []
    for n_jobs in (1, 2):
        model = ProsetClassifier(n_jobs=n_jobs, **FAST)
        for part in (slice(0, None, 2), slice(1, None, 2)):
            model.partial_fit(XOR[0][part], XOR[1][part])
        found.append(model.set_params(n_batches=2))
    same_vote(*found)


# ------------------------------------------------------------------- copies where the rest judges
def test_copies_of_a_candidate_judge_it():
    """Cells of a few values: half of their distinct rows were judged by the other class alone."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 2)).astype(float)
    y = (X.sum(axis=1) % 2 == 1) ^ (rng.random(600) < 0.1)
    for seed in range(5):
        model = ProsetClassifier(references="rest", random_state=seed).fit(X[:400], y[:400])
        assert log_loss(y[400:], model.predict_proba(X[400:])) < 0.55


def test_later_labels_are_of_one_kind(random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.standard_normal((40, 2))
    y = np.array([1, 2, 10])[np.arange(40) % 3]
    with pytest.raises(PsephosError, match="label '1' is not one of the classes"):
        ProsetClassifier().partial_fit(X, y.astype(str), classes=[1, 2, 10])
    model = ProsetClassifier().partial_fit(X, y, classes=[1, 2, 10])
    with pytest.raises(PsephosError, match="label 'a' is not"):
        model.partial_fit(X[:3], ["a", "a", "a"])
    with pytest.raises(PsephosError, match="class_weight names 3"):
        ProsetClassifier(class_weight={3: 2.0}).partial_fit(X, y, classes=[1, 2, 10])


def test_the_first_rows_of_partial_fit_have_to_vary(random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.standard_normal((30, 2))
    with pytest.raises(PsephosError, match="no column varies in the first call"):
        ProsetClassifier().partial_fit(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(PsephosError, match="target does not vary in the first call"):
        ProsetRegressor().partial_fit(X, np.ones(30))
