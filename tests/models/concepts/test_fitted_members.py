"""Posteriors over fitted estimators: the three hypotheses, likelihoods by hand, refusals."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from psephos import (
    BayesOptimalClassifier,
    CARTClassifier,
    GibbsClassifier,
    PsephosError,
    load,
    save,
)
from psephos.testing import small_table
from psephos.testing.ballots import assert_ballots_are_true


def stump(at):
    """Says yes above a bound."""
    X = np.array([[at - 0.5], [at + 0.5]])
    return DecisionTreeClassifier().fit(X, ["no", "yes"])


THREE = [("h1", stump(1.0)), ("h2", stump(3.0)), ("h3", stump(3.2))]


def test_three_hypotheses_of_posteriors_4_3_3():
    """MAP says yes with .4, the vote says no with .6; the prior is the posterior, as rows agree."""
    X, y = np.array([[0.0], [9.0]]), ["no", "yes"]
    given = {"estimators": THREE, "prior": [0.4, 0.3, 0.3], "noise": 0.1}
    asked = [[2.0]]
    best = BayesOptimalClassifier(**given).fit(X, y)
    assert_allclose(best.posterior_[0], [0.4, 0.3, 0.3], rtol=1e-14)
    assert best.predict(asked).tolist() == ["no"]
    assert_allclose(best.predict_proba(asked), [[0.6, 0.4]], rtol=1e-14)
    alone = BayesOptimalClassifier(decision="map", **given).fit(X, y)
    assert alone.predict(asked).tolist() == ["yes"]
    assert alone.vote_.n_voters == 1
    assert_allclose(alone.posterior_[0], [0.4], rtol=1e-14)
    drawn = GibbsClassifier(n_draws=4000, random_state=0, **given).fit(X, y)
    assert abs(drawn.predict_proba(asked)[0, 1] - 0.4) < 0.03
    ballots = best.explain(np.array(asked))
    assert_ballots_are_true(ballots, ballots.X)
    assert "h1" in str(ballots)


def members(n_classes):
    X, y = small_table(n_classes, seed=1)
    made = [
        ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
        ("cart", CARTClassifier(n_folds=0, max_depth=2)),
        ("bayes", GaussianNB(var_smoothing=1e-3)),
        ("line", LogisticRegression()),
        ("pipe", make_pipeline(StandardScaler(), KNeighborsClassifier(3))),
    ]
    return [(name, one.fit(X, y)) for name, one in made]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("likelihood", ["answer", "probability"])
def test_the_posterior_is_bayes_rule_by_hand(n_classes, likelihood):
    given = members(n_classes)
    X, y = small_table(n_classes, seed=0)
    weight = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    prior = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    model = BayesOptimalClassifier(given, prior=prior, noise=0.2, likelihood=likelihood)
    model.fit(X, y, sample_weight=weight)
    log = np.log(prior / prior.sum())
    says = []
    for t, (_, one) in enumerate(given):
        share = one.predict_proba(X)
        if likelihood == "answer":
            share = (one.predict(X)[:, None] == model.classes_).astype(float)
        own = share[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        log[t] += weight @ np.log(0.8 * own + 0.2 * (1 - own) / (n_classes - 1))
        says.append(share)
    chance = np.exp(log - log.max())
    chance /= chance.sum()
    assert_allclose(model.posterior_[0], chance, rtol=1e-7)
    assert_allclose(model.predict_proba(X), np.einsum("t,tnk->nk", chance, says), atol=1e-9)
    few = X[:6]
    assert_ballots_are_true(model.explain(few), few)


def test_saved_and_reduced(tmp_path):
    given = members(2)[:4]
    X, y = small_table(2, seed=0)
    model = BayesOptimalClassifier(given, noise=0.2, likelihood="probability").fit(X, y)
    save(model, tmp_path / "m.psephos")
    read = load(tmp_path / "m.psephos")
    assert_array_equal(read.predict_proba(X), model.predict_proba(X))
    assert_allclose(read.posterior_[0], model.posterior_[0])


def test_zero_prior_and_zero_likelihood():
    X, y = np.array([[0.0], [3.1], [9.0]]), ["no", "yes", "yes"]
    model = BayesOptimalClassifier(THREE, prior=[0, 1, 1], noise=0.0).fit(X, y)
    assert model.posterior_[0].tolist() == [1.0]
    assert "h2" in str(model.explain(X))
    with pytest.raises(PsephosError, match="likelihood 0"):
        BayesOptimalClassifier(THREE, noise=0.0).fit(X[[0, 0, 2]], ["yes", "no", "yes"])


def test_cloned_members_are_frozen_or_refused():
    X, y = np.arange(12.0)[:, None] % 6, np.array(["no", "yes"] * 6)
    frozen = [(name, FrozenEstimator(one)) for name, one in THREE]
    assert len(cross_val_score(BayesOptimalClassifier(frozen), X, y, cv=2)) == 2
    with pytest.raises(PsephosError, match=r"'h1' is not fitted.*FrozenEstimator"):
        clone(BayesOptimalClassifier(THREE)).fit(X, y)


def test_members_that_do_not_fit_are_named():
    X, y = np.array([[0.0], [9.0]]), ["no", "yes"]
    wide = DummyClassifier().fit(np.zeros((2, 3)), y)
    other = DummyClassifier().fit(X, ["no", "maybe"])
    for bad, said in ((wide, "'h' is of 3 columns"), (other, "'maybe', which is not in y")):
        with pytest.raises(PsephosError, match=said):
            BayesOptimalClassifier([("h", bad)]).fit(X, y)
    for prior, said in (([1.0], "for each of the 3"), ("short", "of conjunctions")):
        with pytest.raises(PsephosError, match=said):
            BayesOptimalClassifier(THREE, prior=prior).fit(X, y)
    frame = pd.DataFrame({"a": pd.Categorical(["u", "v"])})
    with pytest.raises(PsephosError, match="'a' holds categories"):
        BayesOptimalClassifier(THREE).fit(frame, y)
