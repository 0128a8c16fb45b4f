"""Prototypes that do not pay are shrunk, and the model says so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from psephos import ProsetClassifier, load, save
from psephos.estimator.input import Context
from psephos.models.prototypes import growing
from psephos.models.prototypes.problem import DistinctRows


def noise(seed, n=60, p=50):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.integers(0, 2, n)


def test_noise_is_answered_by_the_class_frequencies():
    """Without the fallback the mean excess over the frequencies' log-loss is about .3."""
    excess = []
    for seed in range(8):
        (X, y), (new, truth) = noise(seed), noise(seed + 1000, n=500)
        model = ProsetClassifier(random_state=0).fit(X, y)
        shares = np.bincount(y) / len(y)
        prior = log_loss(truth, np.tile(shares, (len(truth), 1)))
        excess.append(log_loss(truth, model.predict_proba(new)) - prior)
        if model.shrinkage_ == 0.0:
            assert_allclose(model.predict_proba(new), np.tile(shares, (len(new), 1)), atol=1e-12)
            assert not model.n_prototypes_.any()
            assert len(model.features_used_) == 0
            assert "the model predicts the class frequencies" in model.describe()[1]
    assert np.mean(excess) < 0.03


def test_fits_that_pay_are_as_they_were():
    X, y = load_iris(return_X_y=True)
    model = ProsetClassifier(random_state=0).fit(X, y)
    plain = ProsetClassifier(random_state=0, fallback=None).fit(X, y)
    assert model.shrinkage_ == plain.shrinkage_ == 1.0
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.describe() == plain.describe()


def test_a_clear_gain_ends_the_folds_and_noise_does_not(monkeypatch):
    calls = []
    losses = growing._losses
    monkeypatch.setattr(growing, "_losses", lambda *given: calls.append(1) or losses(*given))
    ProsetClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    assert len(calls) == 2
    calls.clear()
    X, y = noise(0)
    plain = ProsetClassifier(random_state=0, fallback=None).fit(X, y)
    assert plain.n_prototypes_.any()
    ProsetClassifier(random_state=0).fit(X, y)
    assert len(calls) == 5


@pytest.fixture(scope="module")
def shrunk():
    """A fit that is shrunk, but not to nothing, its table, and the same without the fallback."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((50, 40)), rng.integers(0, 2, 50)
        X[:, 0] += 1.2 * y
        model = ProsetClassifier(random_state=0).fit(X, y)
        if 0.0 < model.shrinkage_ < 1.0:
            return model, X, y, ProsetClassifier(random_state=0, fallback=None).fit(X, y)
    raise AssertionError("no fit was shrunk")


def test_shrunk_weights_are_the_fits_times_the_factor(shrunk, tmp_path):
    model, X, _, plain = shrunk
    share, before = model.shrinkage_, np.asarray(plain.vote_.mass(X)) - 1.0
    assert_allclose(model.vote_.mass(X) - 1.0, share * before, rtol=1e-9)
    assert f"are 1/{1 / share:.0f} of those fitted" in model.describe()[1]
    assert_array_equal(model.n_prototypes_, plain.n_prototypes_)
    save(model, tmp_path / "model.psephos")
    again = load(tmp_path / "model.psephos")
    assert again.shrinkage_ == share
    assert again.get_params()["fallback"] == "shrink"
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.describe() == model.describe()
    assert model.truncate(0).shrinkage_ == share


def test_the_share_depends_on_the_seed_alone(shrunk):
    model, X, y, _ = shrunk
    again = ProsetClassifier(random_state=0, n_jobs=2).fit(X, y)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_rows_of_one_group_judge_no_fit_to_others_of_it():
    """Copies with a little noise pay for each other, but not for a group that was not seen."""
    X, y = noise(3, n=40, p=5)
    X, y, groups = np.repeat(X, 6, axis=0), np.repeat(y, 6), np.repeat(np.arange(40), 6)
    X = X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)
    assert ProsetClassifier(random_state=0).fit(X, y).shrinkage_ == 1.0
    assert ProsetClassifier(random_state=0).fit(X, y, groups=groups).shrinkage_ < 1.0


def test_a_whole_weight_is_so_many_rows():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 2, (30, 3)).astype(float), rng.integers(0, 2, 30)
    weight = rng.integers(1, 7, 30)
    once = ProsetClassifier(random_state=0).fit(X, y, sample_weight=weight)
    often = ProsetClassifier(random_state=0).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    assert once.shrinkage_ == often.shrinkage_
    assert_allclose(once.predict_proba(X), often.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(("spread", "trusted"), [(0.2, 1.0), (5.0, 0.0)])
def test_a_gain_within_its_standard_error_is_not_trusted(spread, trusted, monkeypatch):
    """Rows gain 0.1 + spread and 0.1 - spread by turns; 20 rows: the error is spread / sqrt(20)."""
    rows = DistinctRows(None, np.arange(20), np.arange(20) % 2, np.ones(20), np.ones(20))

    def losses(some, fitted):
        gain = 0.1 + spread * (-1.0) ** (some.rows // 2)
        return np.where(np.arange(len(growing.FACTORS)) > 0, 1.0 - gain[:, None], 1.0)

    monkeypatch.setattr(growing, "_losses", losses)
    share = growing.trusted_share(rows, lambda some: None, Context(np.random.SeedSequence(0)))
    assert share == trusted


@pytest.mark.parametrize(("n", "fits"), [(46, 3), (47, 2)])
def test_twenty_rows_are_enough_for_a_clear_gain(n, fits, monkeypatch):
    """The first two of five folds hold 19 of 46 rows, and 20 of 47."""
    rows = DistinctRows(None, np.arange(n), np.arange(n) % 2, np.ones(n), np.ones(n))

    def losses(some, fitted):
        return np.tile(np.where(growing.FACTORS > 0, 0.9, 1.0), (len(some.rows), 1))

    monkeypatch.setattr(growing, "_losses", losses)
    calls = []
    assert growing.trusted_share(rows, calls.append, Context(np.random.SeedSequence(0))) == 1.0
    assert len(calls) == fits
