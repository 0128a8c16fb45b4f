"""Positive-unlabelled learning, one-sided noise and LIoIS as classifiers."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from psephos import (
    BaggingClassifier,
    CARTClassifier,
    ConstantAnswerWarning,
    LIoISClassifier,
    OneSidedNoiseClassifier,
    PsephosError,
    PUClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
    WeakLabelsWarning,
    load,
    save,
)
from psephos.models.weak.learner import descend, least
from psephos.supervision import (
    KLIEP,
    MarginLoss,
    non_negative_pu_risk,
    one_sided_risk,
    pu_risk,
    supervised_risk,
)

TREE = CARTClassifier(min_samples_split=10, n_folds=0)
NOISY = (OneSidedNoiseClassifier, LIoISClassifier)
EVERY = (PUClassifier, *NOISY)


def table(n=300, p=4, seed=0, shift=1.0):
    """Return rows, their classes, labels of some positives, and records of which some are wrong."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    X = rng.normal(0, 1, (n, p))
    X[:, :2] += np.where(y, shift, -shift)[:, None]
    known = rng.random(n) < 0.4
    sure = np.where(y & known, 1.0, np.nan)
    recorded = np.where(y & (rng.random(n) < 0.3), 0.0, y.astype(float))
    return X, y, sure, np.where(known, recorded, np.nan)


PU_SETTINGS = [
    {},
    {"risk": "unbiased"},
    {"risk": "unbiased", "loss": "logistic"},
    {"loss": "ramp"},
    {"kernel": "rbf", "alpha": 1e-3},
    {"risk": "unbiased", "estimator": TREE},
    {"scaling": "rank"},
]


@pytest.mark.parametrize("settings", PU_SETTINGS)
def test_positives_and_unlabelled_rows_tell_the_classes(settings):
    X, _y, sure, _ = table()
    new, truth, *_ = table(seed=1)
    model = PUClassifier(prior=0.45, random_state=0, **settings).fit(X, sure)
    assert_array_equal(model.classes_, [0, 1])
    assert model.prior_ == 0.45
    flexible = settings.get("estimator") is TREE  # it learns positives among the unlabelled, too
    assert model.score(new, truth.astype(float)) > (0.7 if flexible else 0.82)
    proba = model.predict_proba(new)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(model.predict(new), proba[:, 1] > 0.5)


@pytest.mark.parametrize("kind", NOISY)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "logistic"},
        {"kernel": "rbf", "alpha": 1e-3},
        {"density_ratio": "kliep"},
        {"density_ratio": KLIEP(20, sigma="median")},
        {"estimator": TREE},
    ],
)
def test_wrong_negatives_are_found_out(kind, settings):
    X, _, _, recorded = table()
    new, truth, *_ = table(seed=1)
    model = kind(prior=0.5, random_state=0, **settings).fit(X, recorded)
    flexible = settings.get("estimator") is TREE
    assert model.score(new, truth.astype(float)) > (0.7 if flexible else 0.85)
    least_, mean, most = model.weights_.T
    assert 0 <= least_[0] <= mean[0] <= most[0] <= 1
    assert 1 <= least_[1] <= mean[1] <= most[1]


def Z_of(X):
    return (X - X.mean(0)) / X.std(0)


@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
def test_the_linear_fit_is_the_least_risk(loss):
    """Of standardised columns, from many starts, nothing is below what the model reached."""
    X, _, sure, _ = table(120)
    model = PUClassifier(
        risk="unbiased", loss=loss, prior=0.5, scaling="standard", alpha=0.05, random_state=0
    ).fit(X, sure)
    codes = np.where(np.isnan(sure), -1, 1)
    risk = pu_risk(codes, 0.5, MarginLoss(loss))
    rng = np.random.default_rng(5)
    starts = [rng.normal(0, s, X.shape[1] + 1) for s in (0.01, 0.1, 0.5, 1.0)]
    best = least(Z_of(X), risk, 0.05, starts)
    assert_allclose(model.objective_, best[1], atol=1e-8)
    line = model.vote_.voters
    margin = X @ line.coef[0] + line.constant[0, 0]
    assert_allclose(margin, Z_of(X) @ best[0][:-1] + best[0][-1], atol=2e-5)
    share = 1 / (1 + np.exp(-margin))
    assert_allclose(model.predict_proba(X)[:, 1], share, atol=1e-12)


def test_adam_follows_the_steps():
    """Two steps by hand, of one column."""
    Z, codes = np.array([[1.0], [0.5], [-1.0], [0.2]]), np.array([1, 1, -1, -1])
    risk = non_negative_pu_risk(codes, 0.5, MarginLoss("sigmoid"))
    point, mean, square = np.array([0.1, 0.0]), np.zeros(2), np.zeros(2)
    start = point.copy()
    for t in (1, 2):
        slope = risk.step((Z @ point[:1] + point[1])[:, None])[:, 0]
        step = np.array([Z[:, 0] @ slope + 0.02 * point[0], slope.sum()])
        mean, square = 0.9 * mean + 0.1 * step, 0.999 * square + 0.001 * step**2
        point = point - 0.1 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    assert_allclose(descend(Z, risk, 0.01, start, 2, 0.1), point, rtol=1e-12)


def test_more_columns_than_rows_are_their_principal_components():
    X, _, sure, _ = table(40, 90)
    one = {"risk": "unbiased", "loss": "logistic", "prior": 0.5, "scaling": "standard"}
    model = PUClassifier(**one, alpha=0.5, random_state=0, n_starts=1).fit(X, sure)
    risk = pu_risk(np.where(np.isnan(sure), -1, 1), 0.5, MarginLoss("logistic"))
    whole = least(Z_of(X), risk, 0.5, [np.zeros(91)])
    assert_allclose(model.objective_, whole[1], atol=1e-7)


@pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
def test_without_an_unlabelled_row_it_is_the_ordinary_risk(kind, loss):
    X, y, *_ = table(80)
    model = kind(loss=loss, scaling="standard", random_state=0).fit(X, y.astype(float))
    risk = supervised_risk(y.astype(int), MarginLoss(loss))
    starts = [np.zeros(5), np.full(5, 0.1)]
    assert_allclose(model.objective_, least(Z_of(X), risk, 0.01, starts)[1], atol=1e-7)
    assert model.prior_ is None
    with pytest.raises(PsephosError, match="the model used no class prior"):
        model.prior_sensitivity(X, y.astype(float))


def test_a_weighted_classifier_is_the_unbiased_risk():
    X, _, sure, _ = table()
    peer = LogisticRegression(C=1e3)
    model = PUClassifier(peer, risk="unbiased", prior=0.4, random_state=0).fit(X, sure)
    known = ~np.isnan(sure)
    weight = np.where(known, 0.8 / known.sum(), 1 / (~known).sum())
    weight *= len(X) / weight.sum()
    q = peer.fit(X, known, sample_weight=weight).predict_proba(X)[:, 1]
    assert_array_equal(model.predict(X), q > 0.5)
    true_map = np.minimum(1.0, 0.5 * q / (1 - q))
    assert_allclose(model.predict_proba(X)[:, 1], true_map, rtol=4e-3, atol=1e-6)


@pytest.mark.parametrize("kind", EVERY)
def test_labels_and_marks(kind):
    X, _, sure, recorded = table()
    y = sure if kind is PUClassifier else recorded
    plain = kind(prior=0.5, random_state=0).fit(X, y)
    words = np.array([None if np.isnan(v) else ("ill" if v else "well") for v in y], object)
    settings = {"classes": ["well", "ill"]} if kind is PUClassifier else {"pos_label": "ill"}
    named = kind(prior=0.5, random_state=0, **settings).fit(X, words)
    assert_array_equal(named.predict(X) == "ill", plain.predict(X) == 1)
    marked = np.where(np.isnan(y), -1, y).astype(int)
    other = kind(prior=0.5, unlabeled=-1, random_state=0).fit(X, marked)
    assert_array_equal(other.predict(X), plain.predict(X))
    turned = kind(prior=0.5, pos_label=0, classes=[0, 1], random_state=0).fit(X, 1 - y)
    assert_array_equal(turned.predict(X), 1 - plain.predict(X))
    assert_allclose(turned.predict_proba(X), plain.predict_proba(X)[:, ::-1], atol=1e-6)


def test_minus_one_is_a_class():
    X, y, *_ = table(60)
    with pytest.warns(WeakLabelsWarning):
        model = PUClassifier(random_state=0).fit(X, np.where(y, 1, -1))
    assert_array_equal(model.classes_, [-1, 1])
    assert model.prior_ is None


@pytest.mark.parametrize("kind", EVERY)
def test_weights_are_copies_where_labels_lack(kind):
    X, _, sure, recorded = table(80)
    y = sure if kind is PUClassifier else recorded
    twice = np.arange(80) % 3 == 0
    order = np.r_[np.arange(80), np.flatnonzero(twice)]
    settings = {"prior": 0.5, "random_state": 0}
    if kind is not PUClassifier:
        settings["density_ratio"] = KLIEP(50, sigma=1.5)
    weighted = kind(**settings).fit(X, y, sample_weight=1.0 + twice)
    repeated = kind(**settings).fit(X[order], y[order])
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


def test_gaps_and_categories():
    X, y, sure, recorded = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[::7, "a"] = np.nan
    frame["place"] = pd.Categorical(np.where(y, "north", np.where(X[:, 2] > 0, "south", "east")))
    for kind, labels in ((PUClassifier, sure), (LIoISClassifier, recorded)):
        model = kind(prior=0.5, random_state=0).fit(frame, labels)
        assert model.score(frame, y.astype(float)) > 0.85
        assert "place" in model.features_used_
        with pytest.raises(PsephosError, match="'a' is missing in row"):
            kind(prior=0.5, scaling="standard").fit(frame, labels)
    assert "place is north" in str(PUClassifier(prior=0.5).fit(frame[["place"]], sure))


def test_gamma_by_validation():
    X, _, _, recorded = table()
    model = LIoISClassifier(gamma="cv", prior=0.5, random_state=0).fit(X, recorded)
    assert model.gamma_ == [0, 0.25, 0.5, 0.75, 1][int(model.gamma_risks_.argmin())]
    same = LIoISClassifier(gamma=model.gamma_, prior=0.5, random_state=0).fit(X, recorded)
    assert_array_equal(same.decision_function(X), model.decision_function(X))
    few = np.where((recorded == 1) & (np.cumsum(recorded == 1) > 1), np.nan, recorded)
    with pytest.raises(PsephosError, match="set gamma to a number"):
        LIoISClassifier(gamma="cv", prior=0.5).fit(X, few)


@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_the_ends_of_gamma_are_its_parts(gamma):
    X, _, _, recorded = table()
    same = {"prior": 0.5, "random_state": 0}
    whole = LIoISClassifier(gamma=gamma, **same).fit(X, recorded)
    part = (
        PUClassifier(risk="unbiased", negatives="ignore", **same)
        if gamma
        else OneSidedNoiseClassifier(**same)
    ).fit(X, recorded)
    assert_allclose(whole.objective_, part.objective_, atol=1e-9)
    assert_allclose(whole.decision_function(X), part.decision_function(X), atol=1e-5)


def test_the_prior_is_estimated_and_its_error_shown():
    X, _, sure, recorded = table(shift=2.0)
    for kind, y in ((PUClassifier, sure), (LIoISClassifier, recorded)):
        model = kind(random_state=0).fit(X, y)
        assert 0.2 < model.prior_ < 0.7
        less, used, more = model.prior_sensitivity(X, y)
        assert_allclose([less["prior"], more["prior"]], [used["prior"] - 0.1, used["prior"] + 0.1])
        assert used["changed"] == 0
        assert less["positive"] <= used["positive"] <= more["positive"]


def test_files_keep_what_was_learned(tmp_path):
    X, _, _, recorded = table()
    model = LIoISClassifier(gamma="cv", prior=0.5, random_state=0).fit(X, recorded)
    save(model, tmp_path / "m.psephos")
    loaded = load(tmp_path / "m.psephos")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_array_equal(loaded.gamma_risks_, model.gamma_risks_)
    assert_array_equal(loaded.weights_, model.weights_)
    own = OneSidedNoiseClassifier(density_ratio=KLIEP(9), prior=0.5, random_state=0)
    save(own.fit(X, recorded), tmp_path / "n.psephos")
    again = load(tmp_path / "n.psephos")
    assert_array_equal(again.predict(X), own.predict(X))
    with pytest.raises(PsephosError, match="'density_ratio' is not kept in model files"):
        again.fit(X, recorded)


@pytest.mark.parametrize(
    ("kind", "settings", "y", "words"),
    [
        (PUClassifier, {}, "recorded", "negatives='ignore' to leave them out"),
        (PUClassifier, {"estimator": RandomForestClassifier(2)}, "sure", "use risk='unbiased'"),
        (
            PUClassifier,
            {"estimator": TREE, "risk": "unbiased", "loss": "logistic"},
            "sure",
            "rows of negative weight",
        ),
        (LIoISClassifier, {"estimator": TREE, "loss": "logistic"}, "recorded", "negative weight"),
        (
            LIoISClassifier,
            {"estimator": TREE, "risk": "non-negative"},
            "recorded",
            "non-negative risk needs gradients",
        ),
        (LIoISClassifier, {}, "sure", "no row is recorded negative"),
        (OneSidedNoiseClassifier, {}, "sure", "rows use PUClassifier"),
        (PUClassifier, {"pos_label": "x"}, "sure", "pos_label must be one of .*; got 'x'"),
        (PUClassifier, {"prior": 1.0}, "sure", "parameter 'prior'"),
        (LIoISClassifier, {"gamma": 2}, "recorded", "parameter 'gamma'"),
        (LIoISClassifier, {"density_ratio": "ulsi"}, "recorded", "parameter 'density_ratio'"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(kind, settings, y, words):
    X, _, sure, recorded = table(60)
    with pytest.raises(PsephosError, match=words):
        kind(**{"prior": 0.5, **settings}).fit(X, sure if y == "sure" else recorded)


def test_one_class_needs_a_name_for_the_other():
    X, _, sure, _ = table(60)
    words = np.where(np.isnan(sure), None, "ill")
    with pytest.raises(PsephosError, match=r"classes=\[<the other>, 'ill'\]"):
        PUClassifier(prior=0.5).fit(X, words)
    with pytest.raises(PsephosError, match="one class needs a labelled row"):
        PUClassifier(prior=0.5).fit(X, np.full(60, np.nan))
    with pytest.raises(PsephosError, match="supports two"):
        PUClassifier().fit(X, np.arange(60) % 3)
    truth = PUClassifier(prior=0.5, random_state=0).fit(X, np.where(np.isnan(sure), None, True))
    assert_array_equal(truth.classes_, [False, True])


def test_the_weighted_risk_is_of_the_weights():
    X, _, _, recorded = table(100)
    model = OneSidedNoiseClassifier(prior=0.5, scaling="standard", random_state=0).fit(X, recorded)
    codes = np.where(np.isnan(recorded), -1, recorded).astype(int)
    plain = least(
        Z_of(X), one_sided_risk(codes, np.ones(100), MarginLoss("sigmoid")), 0.01, [np.zeros(5)]
    )
    assert abs(model.objective_ - plain[1]) > 1e-3


def test_a_non_negative_part_of_liois():
    X, _, _, recorded = table(100)
    codes = np.where(np.isnan(recorded), -1, recorded).astype(int)
    same = {"prior": 0.5, "risk": "non-negative", "random_state": 0}
    pu = PUClassifier(negatives="ignore", prior=0.5, random_state=0).fit(X, recorded)
    whole = LIoISClassifier(gamma=1.0, **same).fit(X, recorded)
    assert_allclose(whole.decision_function(X), pu.decision_function(X), atol=1e-12)
    loss, sigma = MarginLoss("sigmoid"), np.full(100, 0.8)
    first = non_negative_pu_risk(codes, 0.5, loss)
    second = one_sided_risk(codes, sigma, loss)
    margins = np.random.default_rng(0).normal(0, 1, (100, 1))
    both = first.mixed(second, 0.3)
    value, slope = both.value_and_gradient(margins)
    parts = [risk.value_and_gradient(margins) for risk in (first, second)]
    assert_allclose(value, 0.3 * parts[0][0] + 0.7 * parts[1][0])
    assert_allclose(slope, 0.3 * parts[0][1] + 0.7 * parts[1][1])
    _, truth, *_ = table(100)
    assert LIoISClassifier(**same).fit(X, recorded).score(X, truth.astype(float)) > 0.85


def test_gaps_of_lists_and_masks_are_no_labels():
    X, _y, sure, _ = table()
    plain = PUClassifier(prior=0.45, max_iter=20, random_state=0).fit(X, sure).predict_proba(X)
    words = ["sick" if v == 1 else np.nan for v in sure.tolist()]
    masked = np.ma.array(np.nan_to_num(sure), mask=np.isnan(sure))
    for y, classes in ((words, ["a", "sick"]), (masked, None)):
        model = PUClassifier(prior=0.45, max_iter=20, random_state=0, classes=classes)
        assert_array_equal(model.fit(X, y).predict_proba(X), plain)


def test_a_mark_that_stands_nowhere_is_told():
    X, y, *_ = table()
    with (
        pytest.warns(WeakLabelsWarning, match="every row has a label"),
        pytest.warns(UserWarning, match=r"no label is '\?' \(unlabeled\): every row counts"),
    ):
        PUClassifier(unlabeled="?", max_iter=5, random_state=0).fit(X, np.where(y, "a", "b"))


# --- 0 for "not known", one side alone, members that lack something ----------------------------
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("mark", [0, -1, False])
def test_a_table_without_an_unlabelled_row_warns(kind, mark):
    X, y, sure, _ = table(200)
    seen = np.where(np.isnan(sure), mark, True if mark is False else 1)
    with (
        pytest.warns(WeakLabelsWarning, match="every row has a label; if 0"),
        pytest.warns(ConstantAnswerWarning, match=f"{kind.__name__} predicts {mark} for all 200"),
    ):
        model = kind(random_state=0).fit(X, seen)
    assert "every row has a label; if 0" in model.describe()[-1]
    with pytest.raises(PsephosError, match=r"prior=0.5 is the share .* unlabeled=0 \(--unlabeled"):
        kind(prior=0.5).fit(X, seen)
    if kind is PUClassifier:
        asked = {"unlabeled": mark}, {"negatives": "unlabeled"}
        for settings in asked:
            model = kind(prior=0.4, random_state=0, **settings).fit(X, seen)
            assert ((model.predict(X) == 1) == y).mean() > 0.85
            assert model.labels_.n_unlabelled == int(np.isnan(sure).sum())


def test_a_prior_that_makes_the_answer_constant_warns():
    X, _, sure, _ = table(60)
    with pytest.warns(ConstantAnswerWarning, match=r"predicts 1\.0 for all 60 training rows"):
        PUClassifier(prior=0.999, random_state=0).fit(X, sure)


@pytest.mark.parametrize(
    ("kind", "side", "words"),
    [
        (PUClassifier, "unlabelled", "zero on every row without a label"),
        (PUClassifier, "positive", "zero on every row with a label"),
        (OneSidedNoiseClassifier, "unlabelled", "zero on every row without a label"),
        (OneSidedNoiseClassifier, "positive", "zero on every row labelled positive"),
        (OneSidedNoiseClassifier, "negative", "zero on every row labelled negative"),
        (LIoISClassifier, "unlabelled", "zero on every row without a label"),
        (LIoISClassifier, "positive", "zero on every row labelled positive"),
        (LIoISClassifier, "negative", "zero on every row labelled negative"),
    ],
)
def test_weights_that_leave_out_a_side_are_refused_by_its_name(kind, side, words):
    X, _, sure, recorded = table(80)
    y = sure if kind is PUClassifier else recorded
    out = {"unlabelled": np.isnan(y), "positive": y == 1, "negative": y == 0}[side]
    with pytest.raises(PsephosError, match=words):
        kind(prior=0.4).fit(X, y, sample_weight=np.where(out, 0.0, 1.0))


def test_weights_that_leave_out_a_class_name_it():
    X, y, *_ = table(60)
    words = np.where(y, "ill", "well")
    with pytest.raises(PsephosError, match="zero on every row of 'ill'"):
        CARTClassifier().fit(X, words, sample_weight=np.where(y, 0.0, 1.0))
    with pytest.raises(PsephosError, match=r"no row is labelled positive \(1\)"):
        PUClassifier(prior=0.4, classes=[0, 1]).fit(X, np.where(y, 0.0, np.nan))


@pytest.mark.parametrize("prior", [0.4, "elkan-noto"])
@pytest.mark.parametrize("risk", ["unbiased"])
def test_members_that_lack_something_are_refused_alike_at_every_prior(prior, risk):
    X, _, sure, _ = table(100)
    with pytest.raises(PsephosError, match=r"^member SVC has no predict_proba: .* instead\.$"):
        PUClassifier(SVC(), risk=risk, prior=prior).fit(X, sure)
    weight = 1.0 + np.arange(100) % 3
    near = PUClassifier(KNeighborsClassifier(), risk=risk, prior=prior, random_state=0)
    with pytest.raises(PsephosError, match=r"^KNeighborsClassifier takes no sample_weight in fit"):
        near.fit(X, sure, sample_weight=weight)
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    assert PUClassifier(scaled, risk=risk, prior=prior, random_state=0).fit(X, sure).prior_ > 0


@pytest.mark.parametrize(
    ("model", "hard"),
    [
        (VotingClassifier([("a", SVC()), ("b", SVC())]), True),
        (BaggingClassifier(SVC(), 2), False),
        (StackingClassifier([("a", SVC())]), False),
    ],
)
def test_advice_for_members_without_probabilities_fits_the_committee(model, hard):
    X, y, *_ = table(60)
    with pytest.raises(PsephosError, match=r"use CalibratedClassifierCV\(SVC\(\)\)") as error:
        model.fit(X, y)
    assert ("voting='hard'" in str(error.value)) == hard
