"""Posteriors over conjunctions: brute force by hand, priors, noise, weights, draws, the bound."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import (
    BayesOptimalClassifier,
    GibbsClassifier,
    PsephosError,
    VersionSpaceClassifier,
    load,
    save,
)
from psephos.testing.ballots import assert_ballots_are_true

from . import by_hand
from .by_hand import ASKED, LABELS, ROWS, enjoy

SIZES, CATEGORIES = [3, 4, 2], [True, False, True]
EVERY = by_hand.space(SIZES, CATEGORIES)


def table(n, seed, noise=0.1, missing=0.1):
    """Rows as (codes, frame, labels): labels by a conjunction, some wrong."""
    rng = np.random.default_rng(seed)
    code = np.stack([rng.integers(0, v, n) for v in SIZES], axis=1)
    code[0], code[1:5, 1] = 0, np.arange(4)
    label = (code[:, 0] > 0) ^ (rng.random(n) < noise)
    label[:2] = False, True
    code[5:][rng.random((n - 5, 3)) < missing] = -1
    known = {0: list("abc"), 2: list("uv")}
    frame = {}
    for j, v in enumerate(SIZES):
        x = code[:, j]
        gap = np.where(x < 0, np.nan, x)
        frame[f"x{j}"] = pd.Categorical.from_codes(x, known[j]) if j in known else gap * 10.0
        assert v > 1
    return code, pd.DataFrame(frame), label.astype(int)


def posterior(code, y, weight, noise, prior):
    """P(h | D) of all hypotheses and (n, |H|) what they say."""
    says = np.array([[by_hand.holds(h, row) for h in EVERY] for row in code.tolist()])
    right = says == (y[:, None] == 1)
    like = np.prod(np.where(right, 1 - noise, noise) ** weight[:, None], axis=0)
    numbers = [len(by_hand.constraints(v, c)) for v, c in zip(SIZES, CATEGORIES, strict=True)]

    def short(h):
        if h is None:
            return np.prod([1 / (c - 1) for c in numbers])
        return np.prod([1 if -1 in s else 1 / (c - 1) for s, c in zip(h, numbers, strict=True)])

    mass = like * (1.0 if prior == "uniform" else np.array([short(h) for h in EVERY]))
    return mass / mass.sum(), says


@pytest.mark.parametrize("prior", ["uniform", "short"])
@pytest.mark.parametrize("noise", [0.01, 0.3])
def test_the_posterior_is_brute_force(prior, noise):
    code, X, y = table(25, 0)
    weight = np.random.default_rng(1).integers(1, 4, 25).astype(float)
    model = BayesOptimalClassifier(prior=prior, noise=noise).fit(X, y, sample_weight=weight)
    chance, says = posterior(code, y, weight, noise, prior)
    assert_allclose(np.sort(model.posterior_[0]), np.sort(chance), rtol=1e-9)
    assert_allclose(model.predict_proba(X)[:, 1], says @ chance, atol=1e-12)
    twice = np.repeat(np.arange(25), weight.astype(int))
    again = BayesOptimalClassifier(prior=prior, noise=noise).fit(X.iloc[twice], y[twice])
    assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_the_most_probable_and_the_most_likely_answer_alone():
    code, X, y = table(25, 3)
    chance, says = posterior(code, y, np.ones(25), 0.2, "short")
    best = says[:, chance == chance.max()]
    found = BayesOptimalClassifier(decision="map", prior="short", noise=0.2).fit(X, y)
    assert (found.predict(X) == best.T).all(axis=1).any()
    even, _ = posterior(code, y, np.ones(25), 0.2, "uniform")
    likely = says[:, even >= even.max() * (1 - 1e-12)]
    found = BayesOptimalClassifier(decision="ml", prior="short", noise=0.2).fit(X, y)
    assert (found.predict(X) == likely.T).all(axis=1).any()
    assert found.vote_.readout.score == "loudest"


def test_enjoy_sport_has_posteriors_of_a_sixth():
    model = BayesOptimalClassifier(noise=0.0).fit(enjoy(ROWS), LABELS)
    assert_allclose(model.posterior_[0], np.full(6, 1 / 6), rtol=1e-15)
    yes = model.predict_proba(enjoy(ASKED))[:, 1]
    assert_allclose(yes, np.array([6, 0, 3, 2]) / 6, rtol=1e-15)
    space = VersionSpaceClassifier().fit(enjoy(ROWS), LABELS)
    evidence = space.n_hypotheses_[0] / space.memory_.space.n_hypotheses  # P(D)
    assert evidence == 6 / 973
    nearly = BayesOptimalClassifier(noise=1e-9).fit(enjoy(ROWS), LABELS)
    assert len(nearly.posterior_[0]) == 973
    assert_allclose(nearly.predict_proba(enjoy(ASKED))[:, 1], yes, atol=1e-7)


@pytest.mark.parametrize("listed", [0, 100])
def test_without_noise_all_that_agree_are_most_probable_and_the_specific_one_answers(listed):
    model = BayesOptimalClassifier(noise=0.0, decision="map", max_hypotheses=listed)
    model.fit(enjoy(ROWS), LABELS)
    assert model.predict(enjoy(ASKED)).tolist() == ["yes", "no", "no", "no"]
    specific = VersionSpaceClassifier().fit(enjoy(ROWS), LABELS).memory_.concepts[0].specific
    code = VersionSpaceClassifier().fit(enjoy(ROWS), LABELS).memory_.space
    held = specific.holds(code.encode(np.array([[0, 0, 0, 0, 1, 1.0]])))
    assert held.tolist() == [[True]]
    if not listed:
        model.set_params(prior="short")
        with pytest.raises(PsephosError, match="raise max_hypotheses"):
            model.fit(enjoy(ROWS), LABELS)


@pytest.mark.parametrize(("most", "n_tests"), [(16, 1), (66, 1), (67, 2), (120, 2), (121, 3)])
def test_of_a_large_space_short_hypotheses_are_gone_through(most, n_tests):
    """3, 9 and 2 constraints besides ?: 1, 14, 51 and 54 hypotheses of 0 ... 3 tests, 1 empty."""
    code, X, y = table(25, 5)
    for prior in ("uniform", "short"):
        chance, says = posterior(code, y, np.ones(25), 0.1, prior)
        tests = np.array([3 if h is None else sum(-1 not in s for s in h) for h in EVERY])
        kept = (tests <= n_tests) | np.array([h is None for h in EVERY])
        chance = np.where(kept, chance, 0.0) / chance[kept].sum()
        model = BayesOptimalClassifier(prior=prior, max_hypotheses=most).fit(X, y)
        assert model.n_tests_ == n_tests
        assert len(model.posterior_[0]) == kept.sum()
        assert_allclose(model.predict_proba(X)[:, 1], says @ chance, atol=1e-12)


def test_more_hypotheses_of_one_test_than_may_be_are_refused():
    _, X, y = table(25, 5)
    with pytest.raises(
        PsephosError, match="must be at least 16, the number of conjunctions of at most one test"
    ):
        BayesOptimalClassifier(max_hypotheses=15).fit(X, y)


@pytest.mark.parametrize("listed", [0, 10_000])
def test_draws_are_hypotheses_of_the_posterior(listed):
    X, shares = enjoy(ASKED), np.array([6, 0, 3, 2]) / 6
    few = {"noise": 0.0, "max_hypotheses": listed, "n_samples": 3000}
    means = GibbsClassifier(n_draws=3000, random_state=0, **few).fit(enjoy(ROWS), LABELS)
    assert_allclose(means.predict_proba(X)[:, 1], shares, atol=4.5 * 0.5 / np.sqrt(3000))
    few["n_samples"] = 100
    ones = [
        GibbsClassifier(random_state=seed, **few).fit(enjoy(ROWS), LABELS) for seed in range(40)
    ]
    assert {one.vote_.n_voters for one in ones} == {1}
    says = np.array([one.predict(X) == "yes" for one in ones])
    assert says[:, 0].all()
    assert not says[:, 1].any()
    assert 8 < says[:, 2].sum() < 32


def test_each_case_may_have_a_draw_of_its_own(tmp_path):
    _, X, y = table(60, 7)
    model = GibbsClassifier(n_draws=None, random_state=0).fit(X, y)
    assert model.anatomy_.readout == "drawn"
    order = np.random.default_rng(0).permutation(60)
    assert_array_equal(model.predict(X.iloc[order]), model.predict(X)[order])
    assert set(np.unique(model.predict_proba(X))) == {0.0, 1.0}
    ballots = model.explain(X[:6])
    assert_ballots_are_true(ballots, ballots.X)
    save(model, tmp_path / "m.psephos")
    assert_array_equal(load(tmp_path / "m.psephos").predict(X), model.predict(X))
    small = model.reduce()
    assert_array_equal(small.predict(X[small.feature_names_in_]), model.predict(X))
    others = [GibbsClassifier(n_draws=None, random_state=s).fit(X, y).predict(X) for s in range(9)]
    assert len({tuple(o) for o in others}) > 1


def test_gibbs_errs_at_most_twice_as_often_as_bayes_in_expectation():
    """Over all targets of the prior, rows and cases drawn: exact but for the draw of the rows."""
    rng = np.random.default_rng(0)
    cases = np.stack(np.meshgrid(*map(range, SIZES), indexing="ij"), -1).reshape(-1, 3)
    says = np.array([[by_hand.holds(h, x) for h in EVERY] for x in cases.tolist()])
    ratios = []
    for n_rows in (2, 5, 10, 20):
        gibbs = bayes = 0.0
        for _ in range(40):
            seen = rng.integers(0, len(cases), n_rows)
            kinds = np.unique(says[seen], axis=1, return_inverse=True)[1].ravel()
            for kind in np.unique(kinds):  # targets that give these rows the same labels
                share = says[:, kinds == kind].mean(axis=1)
                targets = (kinds == kind).sum()
                gibbs += targets * (2 * share * (1 - share)).mean()
                bayes += targets * np.minimum(share, 1 - share).mean()
        assert bayes <= gibbs <= 2 * bayes
        ratios.append(gibbs / bayes)
    assert min(ratios) > 1.2


def test_fitted_models_err_so_over_targets_drawn_from_the_prior():
    """The same by the estimators: 60 targets, 8 rows each, Gibbs drawn 20 times."""
    rng = np.random.default_rng(1)
    cases = np.stack(np.meshgrid(*map(range, SIZES), indexing="ij"), -1).reshape(-1, 3)
    known = [list("abc"), list("0123"), list("uv")]

    def frame(code):
        return pd.DataFrame(
            {f"x{j}": pd.Categorical.from_codes(code[:, j], w) for j, w in enumerate(known)}
        )

    every = by_hand.space(SIZES, [True] * 3)
    whole, bayes, gibbs, used = frame(cases), 0.0, 0.0, 0
    while used < 60:
        target = every[rng.integers(len(every))]
        truth = np.array([by_hand.holds(target, x) for x in cases.tolist()]).astype(int)
        rows = rng.integers(0, len(cases), 8)
        if len(set(truth[rows])) < 2:
            continue  # a classifier needs two classes: the targets are those that show both
        used += 1
        best = BayesOptimalClassifier(noise=0.0).fit(whole.iloc[rows], truth[rows])
        one = GibbsClassifier(noise=0.0, n_draws=20, random_state=used)
        one.fit(whole.iloc[rows], truth[rows])
        bayes += (best.predict(whole) != truth).mean()
        gibbs += np.abs(one.predict_proba(whole)[:, 1] - truth).mean()
    assert bayes > 0
    assert 1.0 < gibbs / bayes < 2.0


def test_bad_priors_are_named():
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    for prior in ("long", [0.5, 0.5]):
        with pytest.raises(PsephosError, match="'prior'"):
            GibbsClassifier(prior=prior).fit(X, y)
    with pytest.raises(PsephosError, match="'noise'"):
        BayesOptimalClassifier(noise=0.5).fit(X, y)


@pytest.mark.parametrize("decision", ["map", "ml"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_hypothesis_answers_and_the_columns_of_others_are_not_read(decision, n_classes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, n_classes, (60, 4)).astype(str), columns=list("abcd"))
    y = X["a"].to_numpy()
    model = BayesOptimalClassifier(decision=decision).fit(X.astype("category"), y)
    assert model.features_used_.tolist() == ["a"]
    assert [len(part) for part in model.posterior_] == [1] * (1 if n_classes == 2 else 3)
    every = BayesOptimalClassifier(prior="uniform").fit(X.astype("category"), y)
    for own, other in zip(model.posterior_, every.posterior_, strict=True):
        assert_allclose(own, other[:1])
    small = model.reduce()
    assert small.predict(X[["a"]].astype("category")).tolist() == y.tolist()
    assert "1 of 4 columns: a" in model.describe()[0]
