"""The parts of weak labels by hand: what weights, bags, folds and maps are made of."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from psephos import (
    CARTClassifier,
    LIoISClassifier,
    OneSidedNoiseClassifier,
    PsephosError,
    PUClassifier,
    WeakLabelsWarning,
    load,
    save,
)
from psephos.estimator.partial import NO_UNLABELED
from psephos.models.weak import liois
from psephos.models.weak.fitting import odds_map
from psephos.models.weak.learner import ScoreLearner, descend, importance, least, read_rows
from psephos.supervision import MarginLoss, non_negative_pu_risk, pu_risk

TREE = CARTClassifier(min_samples_split=10, n_folds=0)
EVERY = (PUClassifier, OneSidedNoiseClassifier, LIoISClassifier)


def table(n=200, p=3, seed=0, shift=1.0):
    """Return rows, labels of some positives, and records of which some negatives are wrong."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    X = rng.normal(0, 1, (n, p))
    X[:, :2] += np.where(y, shift, -shift)[:, None]
    known = rng.random(n) < 0.4
    recorded = np.where(y & (rng.random(n) < 0.3), 0.0, y.astype(float))
    return X, np.where(y & known, 1.0, np.nan), np.where(known, recorded, np.nan)


def rows_of(model, X, y, weight=None):
    """Return the training rows as a fit reads them."""
    read = {}

    class Reading(type(model)):
        def _fit_vote(self, *given):
            read["rows"] = read_rows(self, *given)
            return super()._fit_vote(*given)

    Reading(**model.get_params(deep=False)).fit(X, y, sample_weight=weight)
    return read["rows"]


def codes_of(y):
    return np.where(np.isnan(y), -1, y).astype(int)


class Ratio(BaseEstimator):
    """A ratio that is the same everywhere, and remembers what it was given."""

    seen = ()

    def __init__(self, r=1.0):
        self.r = r

    def fit(self, top, bottom, weights):
        Ratio.seen = (*Ratio.seen, (len(top), len(bottom), weights))
        return self

    def predict(self, X):
        return np.full(len(X), self.r)


# --- sigma -----------------------------------------------------------------------------------
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prior", [0.3, 0.8])
def test_sigma_is_share_over_share_times_ratio(weighted, prior):
    X, _, recorded = table()
    weight = np.random.default_rng(1).random(200) + 0.2 if weighted else np.ones(200)
    for r in (0.4, 1.7):
        model = OneSidedNoiseClassifier(prior=prior, density_ratio=Ratio(r), random_state=0)
        rows = rows_of(model, X, recorded, weight)
        score, w = rows.features[:, 0], rows.weight
        Ratio.seen = ()
        sigma = importance(rows, prior, score)
        open_ = np.flatnonzero(rows.codes == -1)
        order = open_[np.argsort(-score[open_])]
        upper = order[np.cumsum(w[order]) - w[order] / 2 <= prior * w[open_].sum()]
        q = w[upper].sum() / w[open_].sum()
        t = w[rows.codes == 1].sum() / w[rows.codes >= 0].sum()
        assert_allclose(sigma[rows.codes == 1], max(1, q / t * r))
        assert_allclose(sigma[rows.codes == 0], min(1, (1 - q) / (1 - t) * r))
        (n_up, n_positive, up), (n_down, n_negative, down) = Ratio.seen
        assert (n_up, n_down) == (len(upper), len(open_) - len(upper))
        assert n_positive == (rows.codes == 1).sum()
        assert n_negative == (rows.codes == 0).sum()
        assert_allclose(sorted(up[0]), sorted(w[upper]))
        assert_allclose(up[1], w[rows.codes == 1])
        assert_allclose(down[1], w[rows.codes == 0])


def test_pseudo_labels_by_sign_are_those_of_scores_above_0():
    X, _, recorded = table()
    shared = {"prior": 0.3, "density_ratio": Ratio(1.0), "random_state": 0}
    model = OneSidedNoiseClassifier(pseudo_labels="sign", **shared)
    rows = rows_of(model, X, recorded, np.ones(200))
    score, open_ = rows.features[:, 0], np.flatnonzero(rows.codes == -1)
    sizes = []
    for shift in (0.0, 0.4, 100.0):
        Ratio.seen = ()
        importance(rows, 0.3, score + shift)
        sizes.append(Ratio.seen[0][0])
    by_prior = round(0.3 * len(open_))
    assert sizes == [(score[open_] > 0).sum(), (score[open_] > -0.4).sum(), by_prior]
    assert sizes[0] != by_prior


# --- risks reach their learner ----------------------------------------------------------------
def test_beta_and_gamma_are_those_of_the_step():
    X, sure, _ = table(60, shift=2.0)
    Z, said = (X - X.mean(0)) / X.std(0), []
    for beta, gamma in ((0.0, 1.0), (0.0, 0.2), (0.2, 1.0)):
        model = PUClassifier(
            beta=beta, gamma=gamma, prior=0.6, alpha=0.0, max_iter=150, scaling="standard",
        ).fit(X, sure)  # fmt: skip
        risk = non_negative_pu_risk(
            codes_of(sure), 0.6, MarginLoss("sigmoid"), beta=beta, gamma=gamma
        )
        found = descend(Z, risk, 0.0, np.zeros(4), 150, 0.1)
        margin = Z @ found[:-1] + found[-1]
        assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-margin)), atol=1e-9)
        said.append(margin)
    assert np.abs(said[0] - said[1]).max() > 0.01  # both parameters matter here
    assert np.abs(said[0] - said[2]).max() > 0.01


@pytest.mark.parametrize("sigma", [None, 0.7])
def test_kernels_answer_with_the_width_they_were_fitted_with(sigma):
    X, sure, _ = table(80)
    model = PUClassifier(
        kernel="rbf", sigma=sigma, n_components=20, risk="unbiased", loss="logistic", prior=0.5,
        scaling="standard", random_state=0,
    ).fit(X, sure)  # fmt: skip
    rows = rows_of(model, X, sure)
    learner = rows.learner()
    assert len(learner.centres) == 20
    squared = ((rows.Z[:, None] - learner.centres[None]) ** 2).sum(axis=2)
    assert_allclose(learner.sigma, sigma or np.sqrt(np.median(squared[squared > 0])))
    risk = pu_risk(rows.codes, 0.5, MarginLoss("logistic"), rows.weight)
    found = least(learner.A, risk, 0.01, learner.starts(risk, 3))[0]
    fitted = 1 / (1 + np.exp(-learner.margins(found)))
    assert_allclose(model.predict_proba(rows.data.X)[:, 1], fitted, atol=1e-9)
    dual = learner.back.T @ found[:-1]
    K = np.exp(-squared / (2 * learner.sigma**2))
    assert_allclose(1 / (1 + np.exp(-(K @ dual + found[-1]))), fitted, atol=1e-6)
    words = str(model.explain(X[:1]))
    assert "support vector machine" not in words + str(model)
    assert "kernel score" in words


def test_searches_begin_down_the_slope():
    rng = np.random.default_rng(0)
    A, codes = rng.normal(0, 1, (30, 4)), np.repeat([1, -1], 15)
    risk = pu_risk(codes, 0.5, MarginLoss("sigmoid"))
    learner = ScoreLearner(A, None, None)
    starts = learner.starts(risk, 4)
    assert not starts[0].any()
    sizes = [np.sqrt(np.mean(learner.margins(start) ** 2)) for start in starts]
    assert_allclose(sizes, [0, 1, 4, 16])
    slope = risk.value_and_gradient(np.zeros((30, 1)))[1][:, 0]
    down = -np.append(A.T @ slope, slope.sum())
    assert_allclose(starts[1] / np.linalg.norm(starts[1]), down / np.linalg.norm(down))


@pytest.mark.parametrize("kind", EVERY)
def test_columns_and_names_of_classes_in_another_order_change_nothing(kind):
    X, sure, recorded = table(150, 5)
    y = sure if kind is PUClassifier else recorded
    for settings in ({}, {"risk": "unbiased"}) if kind is PUClassifier else ({},):
        plain = kind(prior=0.5, random_state=0, **settings).fit(X, y)
        turned = kind(prior=0.5, random_state=0, **settings).fit(X[:, ::-1], y)
        said = turned.predict_proba(X[:, ::-1])
        atol = 1e-6 if kind is PUClassifier else 0.05  # centres of ratios are drawn from rows
        assert_allclose(said, plain.predict_proba(X), atol=atol)
        named = np.array([None if v != v else ("a" if v else "b") for v in y], dtype=object)
        again = kind(prior=0.5, random_state=0, classes=["a", "b"], pos_label="a", **settings)
        assert_allclose(again.fit(X, named).predict_proba(X)[:, 0], said[:, 1], atol=atol)


# --- what leads nowhere ------------------------------------------------------------------------
def test_a_risk_without_a_least_value_is_told():
    rng = np.random.default_rng(0)
    X = rng.normal(0, 1, (30, 60))
    y = np.where(np.arange(30) < 12, 1.0, np.nan)
    same = {"risk": "unbiased", "loss": "logistic", "prior": 0.5, "random_state": 0}
    with pytest.raises(PsephosError, match=r"alpha must be above 0 here.* has no minimum"):
        PUClassifier(alpha=0, **same).fit(X, y)
    assert np.isfinite(PUClassifier(alpha=0.01, **same).fit(X, y).objective_)
    wide, sure, _ = table(400, shift=0.3)  # no direction along which it falls
    assert np.isfinite(PUClassifier(alpha=0, **same).fit(wide, sure).objective_)


@pytest.mark.parametrize("kind", EVERY)
def test_a_rate_that_leads_beyond_all_numbers_is_told(kind):
    X, sure, recorded = table(60)
    y = sure if kind is PUClassifier else recorded
    with pytest.raises(PsephosError, match=r"learning_rate must be below 1e\+300"):
        kind(learning_rate=1e300, prior=0.5).fit(X, y)


@pytest.mark.parametrize("sigma", [1e-200, 1e200])
def test_widths_of_the_score_have_squares(sigma):
    X, sure, _ = table(60)
    with pytest.raises(PsephosError, match="parameter 'sigma'"):
        PUClassifier(kernel="rbf", sigma=sigma, prior=0.5).fit(X, sure)


# --- another classifier -----------------------------------------------------------------------
class Reading(ClassifierMixin, BaseEstimator):
    """A classifier that remembers the tables and weights it was fitted on."""

    seen = ()

    def fit(self, X, y, sample_weight=None):
        Reading.seen = (*Reading.seen, (X, y, sample_weight))
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict_proba(self, X):
        chance = np.where(np.arange(len(X)) % 2, 0.6, 0.4)  # no constant answer
        return np.column_stack([1.0 - chance, chance])

    def predict(self, X):
        return self.classes_[(np.arange(len(X)) % 2).astype(int)]


@pytest.mark.parametrize("kind", EVERY)
def test_categories_of_another_classifier_have_no_order(kind):
    """Ratios, scores and priors see levels as columns: other codes of them change nothing."""
    X, sure, recorded = table(150)
    y = sure if kind is PUClassifier else recorded
    codes = np.random.default_rng(3).integers(0, 4, 150) + 4 * (X[:, 0] > 0)
    named = []
    for order in (np.arange(8), np.array([5, 2, 7, 0, 3, 6, 1, 4])):
        frame = pd.DataFrame(X[:, 1:], columns=["b", "c"])
        frame["place"] = pd.Categorical([f"place {order[c]}" for c in codes])
        settings = {"risk": "unbiased"} if kind is PUClassifier else {}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the class prior is estimated")
            model = kind(TREE, random_state=0, **settings).fit(frame, y)
        named.append((model.prior_, getattr(model, "weights_", None)))
    assert_allclose(named[0][0], named[1][0], atol=0.1)
    if kind is not PUClassifier:
        assert_allclose(named[0][1], named[1][1], rtol=0.2)


def test_a_prior_by_another_classifier_reads_levels_as_columns():
    X, sure, _ = table(100)
    frame = pd.DataFrame({"a": X[:, 0], "place": pd.Categorical(np.tile(list("xyz"), 100)[:100])})
    rows = rows_of(PUClassifier(TREE, risk="unbiased", prior=0.5), frame, sure)
    assert_array_equal(np.unique(rows.numbers[:, 1:]), [0, 1])
    assert rows.numbers.shape == (100, 4)
    assert_array_equal(np.sort(rows.numbers[:, 0]), np.sort(X[:, 0]))
    with pytest.raises(PsephosError, match="'place'"):
        PUClassifier(LogisticRegression(), risk="unbiased", prior=0.5).fit(frame, sure)


def test_gaps_beside_another_classifier():
    """It reads them itself; what weighs the rows reads them as medians."""
    X, _, recorded = table()
    X[::7, 0] = np.nan
    model = LIoISClassifier(TREE, prior=0.5, random_state=0).fit(X, recorded)
    assert model.weights_.shape == (2, 3)


@pytest.mark.parametrize("factor", [1e-20, 1e-4, 0.02, 0.5, 0.99])
def test_odds_are_mapped_as_the_formula_says(factor):
    class Rows:
        positive = 1

    own = odds_map(Rows, factor)
    p = np.r_[np.geomspace(1e-5, 1, 999), 0.5]
    q = p / (p + factor)
    x, told = own.given[1], own.told[1]
    if factor < 1e-15:
        assert_array_equal(np.interp([0.0, 1.0], x, told), [0, 1])
        return
    found = np.interp(q, x, told)
    assert_allclose(found, p, rtol=1 / 300)
    assert found[-1] == pytest.approx(0.5, abs=1e-12)
    assert_array_equal(np.interp([0.0, 1.0], x, told), [0, 1])


# --- gamma by validation ----------------------------------------------------------------------
def test_gamma_is_chosen_by_weighted_rows_held_out(monkeypatch):
    """Risks of the held-out rows by hand, with their weights; whichever class is the sure one."""
    X, _, recorded = table(120)
    weight = np.random.default_rng(2).random(120) + 0.1
    cuts = []
    plain = liois.make_splits
    monkeypatch.setattr(
        liois, "make_splits", lambda *a, **k: cuts.append(plain(*a, **k)) or cuts[-1]
    )
    monkeypatch.setattr(liois, "_GAMMAS", (0.0, 1.0))
    for pos_label, y in ((1, recorded), (0, 1 - recorded)):
        model = LIoISClassifier(
            gamma="cv", prior=0.4, pos_label=pos_label, n_folds=3, random_state=0
        )
        rows = rows_of(model, X, y, weight)
        risks = liois._chosen(rows, 0.4)[1]
        by_hand = np.zeros(2)
        for train, test in cuts[-1]:
            part, rest = rows.take(train), rows.take(test)
            both, _ = liois._risks(part, 0.4)
            assert_array_equal(part.weight, rows.weight[train])
            held = pu_risk(rest.codes, 0.4, MarginLoss("sigmoid"), rest.weight)
            for k, gamma in enumerate((0.0, 1.0)):
                learner = part.learner()
                mixed = both[0].mixed(both[1], gamma)
                found = least(learner.A, mixed, 0.01, learner.starts(mixed, 3))[0]
                margin = rest.Z @ found[:-1] + found[-1]
                by_hand[k] += held.value_and_gradient(margin[:, None])[0] / 3
        assert_allclose(risks, by_hand, atol=1e-9)


def test_gamma_is_the_mean_over_the_folds_that_count(monkeypatch):
    X, _, recorded = table(120)
    rows = rows_of(LIoISClassifier(gamma="cv", prior=0.5, random_state=0), X, recorded)
    own = liois.make_splits(rows.codes + 1, 3, groups=None, n_folds=3, seed=0, classes=list("abc"))
    monkeypatch.setattr(liois, "make_splits", lambda *a, **k: own)
    whole = liois._chosen(rows, 0.5)[1]
    empty = np.flatnonzero(rows.codes == 0)
    lacking = np.setdiff1d(np.arange(len(rows.codes)), empty), empty  # no positive to measure by
    monkeypatch.setattr(liois, "make_splits", lambda *a, **k: [*own, lacking])
    assert_allclose(liois._chosen(rows, 0.5)[1], whole)
    monkeypatch.setattr(liois, "make_splits", lambda *a, **k: [lacking])
    with pytest.raises(PsephosError, match="found no usable fold"):
        liois._chosen(rows, 0.5)


# --- what the prior did ------------------------------------------------------------------------
def test_sensitivity_is_the_priors_doing():
    X, sure, _ = table()
    model = PUClassifier(
        prior=0.5, risk="unbiased", kernel="rbf", n_components=15, random_state=None
    ).fit(X, sure)  # fmt: skip
    assert model.prior_sensitivity(X, sure, shift=1e-9)[2]["changed"] == 0
    assert model.prior_sensitivity(X, sure, shift=0.3)[2]["changed"] > 0
    for shift in (-0.1, 0, 1, "a", True):
        with pytest.raises(PsephosError, match="shift must be a number"):
            model.prior_sensitivity(X, sure, shift=shift)


@pytest.mark.filterwarnings("ignore::psephos.ConstantAnswerWarning")  # of priors near 0 and 1
@pytest.mark.parametrize(
    ("prior", "priors"),
    [(0.995, (0.895, 0.995, 0.995)), (0.005, (0.005, 0.005, 0.105)), (0.95, (0.85, 0.95, 0.99))],
)
def test_sensitivity_says_the_priors_it_used(prior, priors):
    X, sure, _ = table(60)
    model = PUClassifier(prior=prior, max_iter=20, random_state=0).fit(X, sure)
    assert tuple(row["prior"] for row in model.prior_sensitivity(X, sure)) == priors


def test_sensitivity_knows_groups():
    X, sure, _ = table(60)
    X[30:], sure[30:] = X[:30], sure[:30]  # copies are one row without groups
    groups = np.arange(60) % 30
    model = PUClassifier(prior=0.5, max_iter=20, random_state=0).fit(X, sure, groups=groups)
    seen = []
    plain = PUClassifier.fit

    class Spied(PUClassifier):
        def fit(self, X, y, sample_weight=None, *, groups=None):
            seen.append(groups)
            return plain(self, X, y, sample_weight, groups=groups)

    model.__class__ = Spied
    model.prior_sensitivity(X, sure, groups=groups)
    assert len(seen) == 2
    assert all(own is groups for own in seen)


def test_a_model_says_its_prior(tmp_path):
    X, sure, recorded = table()
    given = PUClassifier(prior=0.3, random_state=0).fit(X, sure)
    n, m = int((sure == 1).sum()), int(np.isnan(sure).sum())
    words = (
        f"Fitted on {n} rows labelled positive and {m} without a label; class prior 0.300 (given)."
    )
    assert words in str(given)
    both = LIoISClassifier(random_state=0).fit(X, recorded)
    assert f"{int((recorded == 0).sum())} recorded negative and" in str(both)
    assert f"class prior {both.prior_:.3f} (estimated: {both.labels_.estimate[0]:.3g} +-" in str(
        both
    )
    save(both, tmp_path / "m.psephos")
    assert str(load(tmp_path / "m.psephos")) == str(both)
    noise = np.random.default_rng(0).normal(0, 1, (60, 200))
    marks = np.where(np.arange(60) < 20, 1.0, np.nan)
    with pytest.warns(UserWarning, match="the class prior is estimated as"):
        doubtful = PUClassifier(max_iter=5, random_state=0).fit(noise, marks)
    assert "doubtful: give it if it is known" in str(doubtful)
    told = PUClassifier(prior=0.3, negatives="unlabeled", random_state=0).fit(X, recorded)
    assert told.labels_.n_unlabelled == int((recorded != 1).sum())
    assert told.labels_.n_negative == 0
    with pytest.warns(WeakLabelsWarning):
        full = PUClassifier(random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    assert full.labels_ is None
    assert "prior" not in str(full)
    assert str(full).endswith(f"An ordinary fit: {NO_UNLABELED}.")
    save(full, tmp_path / "n.psephos")
    assert str(load(tmp_path / "n.psephos")) == str(full)
