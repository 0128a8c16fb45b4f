"""The bound of a version space: by hand, by simulation, and what it refuses."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos import (
    BayesOptimalClassifier,
    GibbsClassifier,
    PsephosError,
    VersionSpaceClassifier,
    load,
    save,
)
from psephos.bounds import (
    gibbs_bound,
    held_out_bound,
    occam_bound,
    pac_bayes_c_bound,
    pac_bayes_kl_bound,
    tandem_bound,
    version_space_bound,
)
from psephos.bounds.formulas import gibbs_kl, xi
from psephos.vote.voters.counting import Problem, TooManyStates

EVERY = np.array(np.meshgrid(*[[0, 1, 2]] * 4)).reshape(4, -1).T


def fitted(X, y):
    return VersionSpaceClassifier(categorical_features=[0, 1, 2, 3]).fit(X, y)


def test_it_is_what_the_formula_says():
    rng = np.random.default_rng(0)
    X = rng.permutation(EVERY)[:60]
    y = (X[:, 0] == 1) & (X[:, 2] == 0)
    model = fitted(X, y)
    found = version_space_bound(model, X, y, delta=0.1)
    left = model.n_hypotheses_[0]
    most = (math.log((1 + 4**4) / left) + math.log(xi(60) / 0.1)) / 60
    gibbs = 1 - math.exp(-most)  # kl(0 || r) = -ln(1 - r)
    assert_allclose([found.parts["Gibbs error"], found.value], [gibbs, 2 * gibbs], atol=1e-9)
    single = found.parts["any hypothesis left, by itself"]
    assert_allclose(single, 1 - (0.1 / 257) ** (1 / 60), atol=1e-9)


def test_it_holds_as_often_as_it_says():
    rng = np.random.default_rng(1)
    failed = 0
    for _ in range(60):
        columns = rng.choice(4, rng.integers(1, 3), replace=False)
        truth = (EVERY[:, columns] == rng.integers(0, 3, len(columns))).all(axis=1)
        rows = rng.integers(0, len(EVERY), 40)
        X, y = EVERY[rows], truth[rows]
        if y.all() or not y.any():
            continue
        model = fitted(X, y)
        error = (model.predict(EVERY) != truth).mean()
        failed += error > version_space_bound(model, X, y, delta=0.2).value
    assert failed <= 20  # of 60 at delta = .2: beyond the 99.7 % point


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("numbers", "bins by the rows"),
        ("classes", "it has 3 classes"),
        ("other rows", "all rows that the model was fitted on"),
        ("noise", "left out because no hypothesis agreed"),
    ],
)
@pytest.mark.filterwarnings("ignore::psephos.CollapseWarning")
def test_it_refuses(change, words):
    rng = np.random.default_rng(2)
    X = EVERY[rng.integers(0, len(EVERY), 50)]
    y = (X[:, 0] == 1).astype(int)
    model, rows = fitted(X, y), (X, y)
    if change == "numbers":
        model = VersionSpaceClassifier().fit(X.astype(float), y)
    elif change == "classes":
        rows = (X, X[:, 0])
        model = fitted(*rows)
    elif change == "other rows":
        rows = (X[:30], y[:30])
    else:
        twice = np.vstack([X, X[:1]])
        rows = (twice, np.append(y, 1 - y[0]))
        model = fitted(*rows)
    with pytest.raises(PsephosError, match=words):
        version_space_bound(model, *rows)


# ------------------------------------------------------------------- the prior of concepts
SMALL = np.array(np.meshgrid(*[[0, 1, 2]] * 3)).reshape(3, -1).T.astype(float)
CATEGORIES = {"categorical_features": [0, 1, 2]}


def noisy_rows(n=80, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = SMALL[rng.integers(0, len(SMALL), n)]
    X[:3] = np.arange(3)[:, None]
    return X, ((X[:, 0] == 1) ^ (rng.random(n) < noise)).astype(int)


def every_prior(prior, n_tests=3):
    """P of each of the conjunctions over three columns of three categories, by hand."""
    number = {h: 3 - h.count(None) for h in itertools.product([None, 0, 1, 2], repeat=3)}
    number = {h: n for h, n in number.items() if n <= n_tests}
    size = {h: 1.0 if prior == "uniform" else 3.0**-n for h, n in number.items()}
    size["empty"] = 1.0 if prior == "uniform" else 3.0**-3
    whole = sum(size.values())
    return {h: p / whole for h, p in size.items()}


def of_voter(voters, t):
    if voters.empty[t]:
        return "empty"
    whole = [None, None, None]
    for j, low in zip(voters.columns, voters.low[t], strict=True):
        whole[j] = None if low < 0 else int(low)
    return tuple(whole)


@pytest.mark.parametrize("prior", ["uniform", "short"])
@pytest.mark.parametrize(("noise", "most", "n_tests"), [(0.1, 100, 3), (0.3, 40, 2), (0.0, 100, 3)])
def test_the_prior_of_voters_is_over_the_whole_space(prior, noise, most, n_tests):
    X, y = noisy_rows(noise=0.1 if noise else 0.0)
    model = BayesOptimalClassifier(prior=prior, noise=noise, max_hypotheses=most, **CATEGORIES)
    model.fit(X, y)
    assert model.n_tests_ == n_tests
    by_hand = every_prior(prior, n_tests)
    voters = model.vote_.voters
    p = np.array([by_hand[of_voter(voters, t)] for t in range(voters.n_voters)])
    assert_allclose(np.exp(model.hypotheses_.log_prior[0]), p, rtol=1e-12)
    q = model.posterior_[0]
    found = pac_bayes_kl_bound(model, X, y, rows="weights")
    assert_allclose(found.parts["KL(Q || P)"], (q * np.log(q / p)).sum(), atol=1e-12)
    risk = ((model.vote_.votes(X)[:, :, 0] > 0) != (y == 1)[:, None]).mean(axis=0) @ q
    divergence = (q * np.log(q / p)).sum()
    assert_allclose(found.value, 2 * gibbs_kl(risk, divergence, len(y)), rtol=1e-9)


@pytest.mark.parametrize("prior", ["uniform", "short"])
def test_counted_hypotheses_have_the_prior_of_all_of_them(prior):
    X, y = SMALL[[13, 0, 26, 10]], [1, 0, 0, 0]
    settings = {"prior": prior, "noise": 0.0, **CATEGORIES}
    listed = BayesOptimalClassifier(**settings).fit(X, y)
    counted = BayesOptimalClassifier(max_hypotheses=0, **settings).fit(X, y)
    assert counted.vote_.n_voters == 1 < listed.vote_.n_voters
    both = [pac_bayes_kl_bound(m, X, y, rows="weights") for m in (listed, counted)]
    assert_allclose(both[0].value, both[1].value, rtol=1e-9)
    if prior == "uniform":
        space = VersionSpaceClassifier(**CATEGORIES).fit(X, y)
        assert_allclose(both[0].value, version_space_bound(space, X, y).value, rtol=1e-9)


def test_a_prior_over_the_voters_left_is_refused():
    X, y = noisy_rows()
    model = BayesOptimalClassifier(**CATEGORIES).fit(X, y)
    space = VersionSpaceClassifier(on_collapse="skip", **CATEGORIES).fit(X, y)
    for one in (model, space):
        with pytest.raises(PsephosError, match="hypotheses that the rows have left"):
            pac_bayes_kl_bound(one, X, y, rows="weights", prior="uniform")
        with pytest.raises(PsephosError, match="Use rows='weights'"):
            pac_bayes_kl_bound(one, X, y, rows="training")
    sizes = {
        bound(model, X, y, rows="weights").parts["KL(Q || P)"]
        for bound in (pac_bayes_kl_bound, pac_bayes_c_bound, tandem_bound)
    }
    assert len(sizes) == 1
    assert sizes.pop() > 0.1
    binned = BayesOptimalClassifier().fit(X + 0.5, y)
    with pytest.raises(PsephosError, match="bins by the rows"):
        pac_bayes_kl_bound(binned, X + 0.5, y, rows="weights")
    three = BayesOptimalClassifier(**CATEGORIES).fit(X, X[:, 1])
    with pytest.raises(PsephosError, match="each of its classes has hypotheses of its own"):
        tandem_bound(three, X, X[:, 1], rows="weights")


def test_occam_knows_the_prior_of_the_one_hypothesis_that_answers():
    X, y = noisy_rows()
    for model in (
        GibbsClassifier(prior="short", random_state=1, **CATEGORIES),
        BayesOptimalClassifier(prior="short", decision="map", **CATEGORIES),
    ):
        model.fit(X, y)
        voters = model.vote_.voters
        t = int(model.vote_.constant_weights().argmax())
        p = every_prior("short")[of_voter(voters, t)]
        found = occam_bound(model, X, y)
        assert_allclose(found.parts["ln(1 / prior)"], -np.log(p))
        assert_allclose(found.value, occam_bound(model, X, y, prior=p).value, rtol=1e-9)
    three = GibbsClassifier(random_state=1, **CATEGORIES).fit(X, X[:, 1])
    assert_allclose(occam_bound(three, X, X[:, 1]).parts["ln(1 / prior)"], 3 * np.log(65))
    with pytest.raises(PsephosError, match="a vote of hypotheses"):
        occam_bound(BayesOptimalClassifier(**CATEGORIES).fit(X, y), X, y)
    binned = GibbsClassifier(random_state=1).fit(X, y)
    with pytest.raises(PsephosError, match="bins by the rows"):
        occam_bound(binned, X, y)


def test_bounds_of_fitted_estimators_from_older_files_say_what_they_assume():
    X, y = noisy_rows(200)
    model = BayesOptimalClassifier(**CATEGORIES).fit(X, y)
    model.hypotheses_ = replace(model.hypotheses_, kind="estimators")
    found = pac_bayes_kl_bound(model, X, y, rows="weights")
    assert any("estimators were fitted on other rows" in one for one in found.assumes)


def test_what_is_known_of_hypotheses_outlives_a_file_and_fewer_columns(tmp_path):
    X, y = noisy_rows(noise=0.0)
    for model, bound in (
        (VersionSpaceClassifier(**CATEGORIES), version_space_bound),
        (BayesOptimalClassifier(noise=0.0, **CATEGORIES), pac_bayes_kl_bound),
    ):
        model.fit(X, y)
        extra = {} if bound is version_space_bound else {"rows": "weights"}
        value = bound(model, X, y, **extra).value
        save(model, tmp_path / "m.psephos")
        assert bound(load(tmp_path / "m.psephos"), X, y, **extra).value == value
        small = model.reduce()
        assert small.n_features_in_ == 1
        assert bound(small, X[:, [0]], y, **extra).value == value
    again = VersionSpaceClassifier(**CATEGORIES).fit(X, y).reduce().partial_fit(X[:, [0]], y)
    twice = np.repeat(y, 2)
    found = version_space_bound(again, np.repeat(X[:, [0]], 2, axis=0), twice)
    assert_allclose(found.parts["ln |H|"], np.log(65))
    assert_allclose(found.parts["KL = ln(|H| / |V|)"], np.log(65))


def test_a_sampled_version_space_is_refused(monkeypatch):
    def too_many(self, *args):
        raise TooManyStates("too many")

    X, y = noisy_rows(noise=0.0)
    monkeypatch.setattr(Problem, "count", too_many)
    model = VersionSpaceClassifier(random_state=0, **CATEGORIES).fit(X, y)
    assert model.hypotheses_.drawn
    with pytest.raises(PsephosError, match="a sample of them votes"):
        version_space_bound(model, X, y)
    with pytest.raises(PsephosError, match="shares of the draws"):
        gibbs_bound(model, X)


def test_rows_of_weight_0_are_named():
    X, y = noisy_rows(noise=0.0)
    model = VersionSpaceClassifier(**CATEGORIES)
    model.fit(X, y, sample_weight=np.repeat([0, 1.0], [5, 75]))
    with pytest.raises(PsephosError, match="rows of weight 0"):
        version_space_bound(model, X, y)
    assert version_space_bound(model, X[5:], y[5:]).value < 1


def test_few_rows_are_bounded_above_1():
    X, y = SMALL[[0, 13]], [0, 1]
    found = version_space_bound(VersionSpaceClassifier(**CATEGORIES).fit(X, y), X, y)
    assert found.value > 1
    assert "Vacuous" in found.sentence()


def test_gibbs_by_bayes_is_of_posteriors_alone():
    X, y = noisy_rows()
    found = gibbs_bound(BayesOptimalClassifier(**CATEGORIES).fit(X, y), X)
    assert 0 < found.parts["Gibbs"] <= found.value
    for n_draws in (1, 5):
        model = GibbsClassifier(n_draws=n_draws, random_state=0, **CATEGORIES).fit(X, y)
        with pytest.raises(PsephosError, match="shares of the draws"):
            gibbs_bound(model, X)
    space = VersionSpaceClassifier(on_collapse="skip", **CATEGORIES).fit(X, y)
    with pytest.raises(PsephosError, match="rows were left out"):
        gibbs_bound(space, X)
    whole = VersionSpaceClassifier(**CATEGORIES).fit(X, X[:, 0] == 1)
    assert gibbs_bound(whole, X).value >= 0


def test_a_version_space_on_its_own_rows_is_not_held_out():
    X, y = noisy_rows(noise=0.0)
    model = VersionSpaceClassifier(**CATEGORIES).fit(X, y)
    with pytest.raises(PsephosError, match=r"it was fitted on|training rows"):
        held_out_bound(model, X, y)
