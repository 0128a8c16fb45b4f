"""Bounds of fitted models: values by hand, refusals with their sentences, how they read."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    CompressedSamBAClassifier,
    GradientBoostingClassifier,
    LocalBoostingClassifier,
    MLKNeighborsClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
    load,
    save,
    shrink,
)
from psephos.bounds import (
    Bound,
    c_bound,
    folds_bound,
    gibbs_bound,
    held_out_bound,
    occam_bound,
    pac_bayes_c_bound,
    pac_bayes_kl_bound,
    sample_compression_bound,
    tandem_bound,
    training_error_bound,
)
from psephos.bounds.formulas import gibbs_kl, sample_compression, tandem_kl

X, Y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = (X[::3], Y[::3]), (X[1::3], Y[1::3])
WINE = load_wine(return_X_y=True)
ALL = (c_bound, pac_bayes_kl_bound, pac_bayes_c_bound, training_error_bound,
       sample_compression_bound)  # fmt: skip


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(12, max_depth=3, random_state=0).fit(*TRAIN)


@pytest.fixture(scope="module")
def boosted():
    return AdaBoostClassifier(n_estimators=8).fit(*TRAIN)


@pytest.fixture(scope="module")
def samba():
    return SamBAClassifier(n_estimators=6).fit(*TRAIN)


def signs(model, rows):
    return model.vote_.votes(rows[0])[:, :, 0] * np.where(rows[1] == 1, 1, -1)[:, None]


# ------------------------------------------------------------------- values
def test_the_c_bound_by_hand(forest):
    margin = signs(forest, TEST).mean(axis=1)
    found = c_bound(forest, *TEST)
    assert_allclose(found.value, 1 - margin.mean() ** 2 / (margin**2).mean())
    assert found.parts["error on the rows"] <= found.value
    assert found.delta is None


def test_pac_bayes_by_hand(boosted):
    alpha = boosted.vote_.weighting.alpha
    q = alpha / alpha.sum()
    risk = 0.5 * (1 - (signs(boosted, TEST) @ q).mean())
    found = pac_bayes_kl_bound(boosted, *TEST)
    assert_allclose(found.value, 2 * gibbs_kl(risk, 0.0, len(TEST[1])))
    prior = np.arange(1.0, len(q) + 1)
    prior /= prior.sum()
    other = pac_bayes_kl_bound(boosted, *TEST, prior=prior)
    assert_allclose(other.parts["KL(Q || P)"], (q * np.log(q / prior)).sum())
    assert other.value > found.value
    assert pac_bayes_kl_bound(boosted.vote_, *TEST).value == found.value


def test_the_tandem_bound_by_hand(forest):
    out = forest.left_out(*TRAIN)
    wrong = (1 - signs(forest, TRAIN).T) / 2
    T = len(out)
    pairs = [(wrong[s] * wrong[t])[out[s] & out[t]].mean() for s in range(T) for t in range(T)]
    n = min((out[s] & out[t]).sum() for s in range(T) for t in range(T))
    found = tandem_bound(forest, *TRAIN)
    assert_allclose(found.value, tandem_kl(np.mean(pairs), 0.0, n))
    held = tandem_bound(forest, *TEST, rows="held-out")
    loss = (1 - signs(forest, TEST)).mean(axis=1) / 2
    assert_allclose(held.parts["tandem loss on the rows"], (loss**2).mean())


def test_tandem_and_hold_out_of_three_classes():
    model = RandomForestClassifier(8, max_depth=2, random_state=0)
    model.fit(WINE[0][::2], WINE[1][::2])
    rest = WINE[0][1::2], WINE[1][1::2]
    found = tandem_bound(model, *rest, rows="held-out")
    shares = (2 * model.vote_.votes(rest[0]) + 1) / 3  # of SAMME's coding
    loss = 1 - shares[np.arange(len(rest[1])), :, rest[1]]
    assert_allclose(found.parts["tandem loss on the rows"], (loss.mean(axis=1) ** 2).mean())
    counts = np.bincount(rest[1])
    assert found.trivial == pytest.approx(1 - counts.max() / counts.sum())
    assert held_out_bound(model, *rest).value >= 1 - model.score(*rest)


def test_a_classifier_of_another_library_can_be_certified():
    model = LogisticRegression(max_iter=5000).fit(*TRAIN)
    found = held_out_bound(model, *TEST)
    assert found.parts["errors"] == (model.predict(TEST[0]) != TEST[1]).sum()


def test_folds_are_bounded_each_and_averaged():
    found = folds_bound([1, 3], [20, 30], 2, delta=0.1)
    each = [held_out_value(1, 20), held_out_value(3, 30)]
    assert_allclose(found.value, np.mean(each))


def held_out_value(k, n):
    from psephos.bounds.formulas import binomial_inverse

    return binomial_inverse(k, n, 0.05)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["ada", "samba"]), st.booleans())
def test_theorem_1_is_replayed_from_the_vote(seed, kind, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    table = rng.integers(0, 4, (n, 3)).astype(float)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    w = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    if kind == "ada":
        model = AdaBoostClassifier(n_estimators=7)
    else:
        model = SamBAClassifier(n_estimators=7, a=0.0, update="sample", distance_scale=None)
    model.fit(table, y, sample_weight=w)
    if not len(model.estimator_errors_) or not model.estimator_errors_.all():
        return  # no voter, or a perfect one
    found = training_error_bound(model, table, y, sample_weight=w)
    eps = model.estimator_errors_
    z = 2 * np.sqrt(eps * (1 - eps))
    if kind == "samba":
        z = np.exp(1 / np.e) * eps + np.exp(-np.e) * (1 - eps)
        assert_allclose(found.parts["product of 1 - gamma_t"], np.prod(0.5 + eps))
        assert found.value <= found.parts["product of 1 - gamma_t"] + 1e-12
    else:
        assert found.value <= found.parts["exp(-2 sum of gamma_t^2)"] + 1e-12
        wrong = model.predict(table) != y
        assert np.average(wrong, weights=w) <= found.parts["error on the rows"] + 1e-12
    assert_allclose(found.value, np.prod(z), rtol=1e-9)
    assert found.parts["error on the rows"] <= found.value + 1e-12


def test_gibbs_is_at_most_twice_bayes(forest):
    hard = BaggingClassifier(
        AdaBoostClassifier(n_estimators=1), n_estimators=9, random_state=0
    ).fit(*TRAIN)  # fmt: skip
    said = hard.vote_.votes(X)[:, :, 0]
    if not np.isin(said, (-1, 1)).all():
        with pytest.raises(PsephosError, match="no single class"):
            gibbs_bound(hard.vote_, X)
    votes = replace(boosted_vote(), target=hard.vote_.target)
    found = gibbs_bound(votes, X)
    q = votes.constant_weights() / votes.constant_weights().sum()
    p = ((votes.votes(X)[:, :, 0] > 0) * q).sum(axis=1)
    assert_allclose(found.parts["Gibbs"], (2 * p * (1 - p)).mean())
    assert_allclose(found.value, 2 * np.minimum(p, 1 - p).mean())
    assert found.parts["Gibbs"] <= found.value
    with pytest.raises(PsephosError, match="no single class"):
        gibbs_bound(forest.vote_, X)
    with pytest.raises(PsephosError, match="not the posterior of a prior"):
        gibbs_bound(forest, X)


def boosted_vote():
    return AdaBoostClassifier(n_estimators=5).fit(*TRAIN).vote_


# ------------------------------------------------------------------- refusals
@pytest.mark.parametrize("bound", ALL)
def test_three_classes_are_refused(bound):
    model = RandomForestClassifier(3, random_state=0).fit(*WINE)
    with pytest.raises(PsephosError, match="3 classes"):
        bound(model, *WINE)


@pytest.mark.parametrize(
    "bound", [c_bound, pac_bayes_kl_bound, pac_bayes_c_bound, tandem_bound, gibbs_bound]
)
def test_weights_that_depend_on_the_case_are_refused(bound, samba):
    rows = (TEST[0],) if bound is gibbs_bound else TEST
    with pytest.raises(PsephosError, match="weights depend on the case"):
        bound(samba, *rows)


@pytest.mark.parametrize("bound", [pac_bayes_kl_bound, pac_bayes_c_bound, held_out_bound])
def test_training_rows_as_held_out_rows_are_refused(bound, forest):
    with pytest.raises(PsephosError, match="identical to training rows"):
        bound(forest, *TRAIN)
    some = np.vstack([TEST[0], TRAIN[0][:1]]), np.append(TEST[1], TRAIN[1][0])
    with pytest.raises(PsephosError, match="identical to training rows"):
        bound(forest, *some)


def test_held_out_rows_that_often_equal_training_rows_by_chance_are_not_refused():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (300, 3)).astype(float)
    y = (table[:, 0] > 0).astype(int)
    y[::7] = 1 - y[::7]
    model = AdaBoostClassifier(n_estimators=3).fit(table[:150], y[:150])
    found = held_out_bound(model, table[150:], y[150:])
    assert any("neither fitted on these rows" in one for one in found.assumes)


@pytest.mark.parametrize("bound", [pac_bayes_kl_bound, pac_bayes_c_bound, tandem_bound])
def test_a_prior_after_the_data_is_refused(bound, boosted):
    with pytest.raises(PsephosError, match="chosen after the data"):
        bound(boosted, *TRAIN, rows="training")
    with pytest.raises(PsephosError, match="fixed before the rows"):
        bound(boosted, *TRAIN, rows="weights", prior="uniform")
    with pytest.raises(PsephosError, match="cannot be their own prior"):
        bound(boosted, *TEST, rows="weights")


def test_rows_that_are_not_out_of_bag_are_refused(forest, boosted):
    with pytest.raises(PsephosError, match="only fitted bags and forests"):
        tandem_bound(boosted, *TRAIN)
    with pytest.raises(PsephosError, match="give the X and y of fit"):
        tandem_bound(forest, *TEST)
    whole = RandomForestClassifier(3, bootstrap=False, random_state=0).fit(*TRAIN)
    with pytest.raises(PsephosError, match="set bootstrap=True"):
        tandem_bound(whole, *TRAIN)
    heavy = RandomForestClassifier(3, class_weight="balanced", random_state=0).fit(*TRAIN)
    with pytest.raises(PsephosError, match="not drawn alike"):
        tandem_bound(heavy, *TRAIN)
    twice = np.repeat(TRAIN[0], 2, axis=0), np.repeat(TRAIN[1], 2)
    copied = RandomForestClassifier(3, random_state=0).fit(*twice)
    with pytest.raises(PsephosError, match="not drawn alike"):
        tandem_bound(copied, *twice)
    many = RandomForestClassifier(200, random_state=0).fit(TRAIN[0][:40], TRAIN[1][:40])
    with pytest.raises(PsephosError, match="no row that neither"):
        tandem_bound(many, TRAIN[0][:40], TRAIN[1][:40])
    with pytest.raises(PsephosError, match="differ by voter"):
        pac_bayes_c_bound(forest, *TRAIN, rows="out-of-bag")


def test_votes_beyond_one_are_refused():
    model = GradientBoostingClassifier(n_estimators=5, learning_rate=1.0).fit(*TRAIN)
    with pytest.raises(PsephosError, match=r"votes must lie in \[-1, 1\]"):
        pac_bayes_kl_bound(model, *TEST)


def test_answers_that_are_not_the_sign_of_the_vote_are_refused(boosted):
    vote = boosted.vote_
    drawn = replace(vote, readout=replace(vote.readout, score="drawn", link="share", slope=1.0))
    with pytest.raises(PsephosError, match="read-out is 'drawn'"):
        c_bound(drawn, *TEST)
    with pytest.raises(PsephosError, match="not predict one class"):
        c_bound(CARTRegressor().fit(*TRAIN), *TEST)
    with pytest.raises(PsephosError, match="not a fitted model"):
        c_bound(LogisticRegression(), *TEST)
    negative = replace(vote, weighting=replace(vote.weighting, alpha=-vote.weighting.alpha))
    with pytest.raises(PsephosError, match="weight below 0"):
        c_bound(negative, *TEST)


def test_theorem_1_needs_every_row_as_an_anchor_and_no_floor(samba):
    with pytest.raises(PsephosError, match="theorem 1 is about a = 0"):
        training_error_bound(samba, *TRAIN)
    few = SamBAClassifier(n_estimators=3, a=0.0, n_anchors=20, random_state=0).fit(*TRAIN)
    with pytest.raises(PsephosError, match="anchors weigh 20"):
        training_error_bound(few, *TRAIN)


def test_samba_is_told_why_its_bound_does_not_hold(samba):
    with pytest.raises(PsephosError) as told:
        sample_compression_bound(samba, *TRAIN)
    for words in (
        "a stump's threshold, too", "prior over the voters that were found",
        "columns that these voters read", "a mean over the training rows",
        "their spread over the training rows",
    ):  # fmt: skip
        assert words in str(told.value)


def test_a_class_that_is_not_known_has_no_occam_bound(boosted):
    with pytest.raises(PsephosError, match="thresholds that depend on the rows"):
        occam_bound(boosted, *TRAIN)
    found = occam_bound(boosted, *TEST, n_hypotheses=100)
    assert found.value <= found.parts["Hoeffding's form"] + 1e-12
    assert found.value == occam_bound(boosted, *TEST, prior=0.01).value


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"delta": 0.0}, "delta must be a number above 0 and below 1; got 0.0"),
        ({"rows": "test"}, "rows must be one of .*; got 'test'"),
        ({"prior": "flat"}, "prior must be .*; got 'flat'"),
        ({"prior": np.ones(3)}, "probabilities"),
    ],
)
def test_arguments_that_are_none_are_named(settings, words, boosted):
    with pytest.raises(PsephosError, match=words):
        pac_bayes_kl_bound(boosted, *TEST, **settings)


def test_labels_and_versions_that_are_none_are_named(boosted):
    with pytest.raises(PsephosError, match="label 7 is not one"):
        c_bound(boosted, TEST[0], np.full(len(TEST[1]), 7))
    with pytest.raises(PsephosError, match="version must be one of 1, 2; got 3"):
        pac_bayes_c_bound(boosted, *TEST, version=3)


# ------------------------------------------------------------------- how they read
def test_a_bound_says_what_it_proves_and_what_it_assumes(boosted):
    found = pac_bayes_kl_bound(boosted, *TEST)
    text = str(found)
    assert f"at most {found.value:.4g}, with probability 95 %" in text
    assert "It assumes that" in text
    words = f"Vacuous: always predicting the most frequent class errs on {found.trivial:.4g}."
    assert (words in text) == found.vacuous
    assert found.as_dict()["vacuous"] == found.vacuous
    assert Bound("b", 0.5, "x", "", trivial=0.5).vacuous
    assert not Bound("b", 0.49, "x", "", trivial=0.5).vacuous
    assert "no risk is above 1" in str(Bound("b", 1.2, "x", ""))


# ------------------------------------------------------------------- voters of three rows
@pytest.mark.parametrize("theorem", [3, 4])
def test_sample_compression_by_hand(theorem):
    rng = np.random.default_rng(0)
    table = rng.random((200, 3))
    y = (table[:, 1] > 0.5).astype(int)
    model = CompressedSamBAClassifier(
        n_estimators=3, a=0.8, b=3.0, n_anchors=6, random_state=0
    ).fit(table, y)
    facts, local = model.sample_compression_, model.vote_.weighting
    found = sample_compression_bound(model, table, y, theorem=theorem)
    q = facts.posterior(model.vote_)  # (voters that differ, K)
    votes = model.vote_.votes(table)[:, np.unique(facts.candidate, return_index=True)[1], 0]
    anchors = table[facts.anchor_rows][:, local.columns]
    away = np.sqrt(((table[:, None, local.columns] - anchors) ** 2).sum(axis=2))
    near = 0.8**3 / (0.8**3 + away**3)
    margin = np.where(y == 1, 1, -1) * np.einsum("nt,nk,tk->n", votes, near, q)
    risk = 0.5 * (1 - margin.mean())
    assert_allclose(found.parts["Gibbs risk on the rows"], risk)
    size, number = (3, facts.n_candidates * 6) if theorem == 3 else (9, facts.n_candidates)
    q = q if theorem == 3 else q.sum(axis=1)
    divergence = (q * np.log(q * number)).sum()
    assert_allclose(found.value, 2 * sample_compression(risk, divergence, 200, size))


def test_facts_that_the_rows_or_the_vote_do_not_show_are_refused():
    rng = np.random.default_rng(0)
    table, y = rng.random((60, 3)), rng.integers(0, 2, 60)
    model = CompressedSamBAClassifier(random_state=0).fit(table, y)
    with pytest.raises(PsephosError, match="X and y of fit"):
        sample_compression_bound(model, table[::-1], y[::-1])
    with pytest.raises(PsephosError, match="X and y of fit"):
        sample_compression_bound(model, table[:50], y[:50])
    local = model.vote_.weighting
    scaled = replace(local, similarity=replace(local.similarity, per_query=True))
    model.vote_ = replace(model.vote_, weighting=scaled)
    with pytest.raises(PsephosError, match="scaled by the training rows"):
        sample_compression_bound(model, table, y)
    three = CompressedSamBAClassifier(random_state=0).fit(*WINE)
    with pytest.raises(PsephosError, match="3 classes"):
        sample_compression_bound(three, *WINE)


def test_copies_of_a_row_have_its_prior_together():
    """KL by positions of rows: 40 copies of one row among 60, of any weights."""
    rng = np.random.default_rng(0)
    some = rng.random((21, 2))
    table, y = np.vstack([np.repeat(some[:1], 39, axis=0), some]), rng.integers(0, 2, 60)
    y[:40] = 1
    y[-2:] = 0, 1
    for w in (None, np.repeat([1e-3, 1.0], [40, 20])):
        model = CompressedSamBAClassifier(n_estimators=3).fit(table, y, sample_weight=w)
        facts = model.sample_compression_
        q = facts.posterior(model.vote_)
        times = np.array([40 if (row == some[0]).all() else 1 for row in table[facts.anchor_rows]])
        assert times.sum() == 60
        whole = np.repeat(q / times, times, axis=1)  # over stumps and all 60 rows
        whole = whole[whole > 0]
        divergence = (whole * np.log(whole * facts.n_voters)).sum()
        found = sample_compression_bound(model, table, y)
        assert_allclose(found.parts["KL(Q || P)"], divergence, rtol=1e-10)


def test_theorem_4_needs_few_anchors_and_zero_weights_are_named():
    rng = np.random.default_rng(0)
    table, y = rng.random((60, 3)), rng.integers(0, 2, 60)
    model = CompressedSamBAClassifier(n_estimators=3).fit(table, y)
    with pytest.raises(PsephosError, match="n_anchors well below the number of rows"):
        sample_compression_bound(model, table, y, theorem=4)
    model.fit(table, y, sample_weight=np.repeat([0, 1.0], [5, 55]))
    with pytest.raises(PsephosError, match="where rows had weight 0, fit it again without them"):
        sample_compression_bound(model, table, y)


# ------------------------------------------------------------------- theorem 1 and rows
def test_theorem_1_of_probabilities_is_the_product_of_the_rounds():
    y = Y[::3]
    model = LocalBoostingClassifier(n_estimators=4, a=0.0, says="probability").fit(*TRAIN)
    signs_ = signs(model, TRAIN)
    pi, product = np.full(len(y), 1 / len(y)), 1.0
    for h in signs_.T:
        moved = pi * np.exp(-np.exp(h) * h)
        product, pi = product * moved.sum(), moved / moved.sum()
    found = training_error_bound(model, *TRAIN)
    assert_allclose(found.value, product, rtol=1e-9)
    wrong = (np.sign(model.vote_.anchor_scores()[:, 0]) != 2 * y - 1).mean()
    assert_allclose(found.parts["error on the rows"], wrong)
    with pytest.raises(PsephosError) as told:
        sample_compression_bound(model, *TRAIN)
    assert "a is 0" in str(told.value)
    assert "not SamBA's" not in str(told.value)


def test_theorem_1_of_any_relevance_holds():
    def sure(seen):
        return seen.agreement.clip(0) ** 2

    model = LocalBoostingClassifier(n_estimators=4, a=0.0, relevance=sure, says="probability")
    found = training_error_bound(model.fit(*TRAIN), *TRAIN)
    assert found.parts["error on the rows"] <= found.value < 1


@pytest.mark.parametrize("settings", [{}, {"class_weight": "balanced"}])
def test_theorem_1_is_about_the_rows_of_fit(settings):
    rows = TRAIN[0][:60], TRAIN[1][:60]
    twice = np.vstack([rows[0], rows[0][:5]]), np.append(rows[1], rows[1][:5])
    model = SamBAClassifier(n_estimators=4, a=0.0, update="sample")
    if settings:
        model = SamBAClassifier(n_estimators=4, a=0.0, update="sample", **settings)
    model.fit(*twice)
    assert training_error_bound(model, *twice).value < 1
    assert training_error_bound(model, twice[0][::-1], twice[1][::-1]).value < 1
    with pytest.raises(PsephosError, match="other rows than its anchors"):
        training_error_bound(model, twice[0] + 1.0, twice[1])
    with pytest.raises(PsephosError, match="other rows than its anchors"):
        training_error_bound(model, twice[0], 1 - twice[1])


def test_theorem_1_says_which_rows_it_is_about(boosted):
    assert (
        training_error_bound(boosted, *TEST).of == "the error on these rows, by the weights given"
    )


# ------------------------------------------------------------------- copies
def test_rows_of_fit_are_known_though_copies_are_usual():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (700, 3)).astype(float)  # of which 512 are kept
    y = (table[:, 0] > 0).astype(int) ^ (rng.random(700) < 0.1)
    model = AdaBoostClassifier(n_estimators=3).fit(table[:600], y[:600])
    with pytest.raises(PsephosError, match="look like rows that it was fitted on"):
        held_out_bound(model, table[:600], y[:600])
    told = held_out_bound(model, table[600:], y[600:]).assumes[1]
    assert "100 of these 100 rows equal some" in told
    assert "cannot be checked" in told
    told = held_out_bound(model, table[:600][::-1], y[:600][::-1]).assumes[1]
    assert "they differ from the training rows" not in told


def test_copies_of_a_row_are_one_draw(boosted):
    far = np.repeat(TEST[0][:1] + 3.0, 100, axis=0), np.repeat(TEST[1][:1], 100)
    found = held_out_bound(boosted, *far)
    assert (found.parts["rows"], found.parts["copies of a row"]) == (1.0, 99.0)
    assert found.value >= 0.95
    once, thrice = TEST, (np.repeat(TEST[0], 3, axis=0), np.repeat(TEST[1], 3))
    assert held_out_bound(boosted, *thrice).value == held_out_bound(boosted, *once).value
    rng = np.random.default_rng(0)
    binary = rng.integers(0, 2, (300, 4)).astype(float)
    y = binary[:, 0].astype(int)
    by_chance = held_out_bound(CARTClassifier().fit(binary[:100], y[:100]), binary[100:], y[100:])
    assert by_chance.parts["rows"] == 200  # of few values rows are equal, and independent


def test_labels_that_the_model_does_not_know_are_refused(boosted, forest):
    strange = np.where(np.arange(len(TEST[1])) == 3, 7, TEST[1])
    for bound in (held_out_bound, c_bound, pac_bayes_kl_bound):
        with pytest.raises(PsephosError, match="label 7 is not one of the model's classes"):
            bound(forest, TEST[0], strange)


def test_a_shrunk_forest_has_the_prior_and_the_pairs_of_all_voters(tmp_path):
    model = RandomForestClassifier(60, max_depth=2, max_features=1, random_state=0).fit(*TRAIN)
    small = shrink(model, 3, *TRAIN)
    kept = small.vote_.n_voters
    assert 1 < kept < 60
    whole, found = tandem_bound(model, *TRAIN), tandem_bound(small, *TRAIN)
    weights = small.vote_.constant_weights()
    weights = weights[weights > 0] / weights.sum()
    wanted = np.log(60) + (weights * np.log(weights)).sum()
    assert found.parts["KL(Q || P)"] == pytest.approx(wanted)
    least = "rows of the pair that shares fewest"
    assert found.parts[least] == whole.parts[least]
    assert pac_bayes_kl_bound(small, *TRAIN, rows="out-of-bag").parts["KL(Q || P)"] == (
        pytest.approx(wanted)
    )
    save(small, tmp_path / "m")
    assert tandem_bound(load(tmp_path / "m"), *TRAIN).value == found.value
    with pytest.raises(PsephosError, match="its voters were chosen among 60 by these rows"):
        tandem_bound(small, *TRAIN, prior=np.full(kept, 1.0 / kept))


def test_the_cause_that_rows_were_not_drawn_alike_is_named(forest):
    heavy = RandomForestClassifier(3, class_weight="balanced", random_state=0).fit(*TRAIN)
    with pytest.raises(PsephosError) as told:
        tandem_bound(heavy, *TRAIN)
    assert "class_weight='balanced' draws some classes oftener" in str(told.value)
    assert "copies" not in str(told.value)
    twice = np.repeat(TRAIN[0], 2, axis=0), np.repeat(TRAIN[1], 2)
    copied = RandomForestClassifier(3, random_state=0).fit(*twice)
    with pytest.raises(PsephosError) as told:
        tandem_bound(copied, *twice)
    assert "copies of a row are drawn together, so that" in str(told.value)
    assert "class_weight" not in str(told.value)
    for bound in (tandem_bound, pac_bayes_kl_bound):
        assumed = bound(forest, *TRAIN, rows="out-of-bag").assumes
        assert any("bins a column" in one for one in assumed)


# ------------------------------------------------------------------- arguments
def test_a_number_of_hypotheses_and_a_prior_are_one_too_many(boosted):
    with pytest.raises(PsephosError, match="give one of them"):
        occam_bound(boosted, *TEST, n_hypotheses=730, prior=0.5)
    for wrong in ({"n_hypotheses": 0.5}, {"prior": 0.0}, {"prior": 2}, {"prior": "a"}):
        with pytest.raises(PsephosError, match="a prior must be above 0 and at most 1"):
            occam_bound(boosted, *TEST, **wrong)


def test_several_labels_are_named():
    rng = np.random.default_rng(0)
    table = rng.random((40, 3))
    model = MLKNeighborsClassifier(n_neighbors=3).fit(table, (table > 0.5).astype(int))
    with pytest.raises(PsephosError, match="MLKNeighborsClassifier gives a row several labels"):
        held_out_bound(model, rng.random((5, 3)), np.zeros((5, 3), dtype=int))


def test_a_vacuous_bound_says_so_in_its_sentence():
    told = Bound("b", 1.484, "the error", "", delta=0.05, trivial=0.5).sentence()
    assert told == (
        "b: the error is at most 1.484, with probability 95 %. Vacuous: always predicting the most"
        " frequent class errs on 0.5."
    )


# ------------------------------------------------------------------- what a constant proves
def test_a_bound_above_the_error_of_the_most_frequent_class_is_vacuous():
    """Of 400 rows 20 are of the rarer class: never saying it errs on 5 %."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(400) % 20 == 0, "ill", "well")
    X = rng.random((400, 2))
    constant = DummyClassifier(strategy="most_frequent").fit(X, y)
    for found in (held_out_bound(constant, X, y), occam_bound(constant, X, y, n_hypotheses=2)):
        assert 0.05 < found.value < 0.1
        assert found.trivial == pytest.approx(0.05)
        assert found.vacuous
    X[:, 0] += y == "ill"
    forest = RandomForestClassifier(5, max_depth=1, random_state=0).fit(X[::2], y[::2])
    assert (y[1::2] == "well").all()
    assert held_out_bound(forest, X[1::2], y[1::2]).trivial == 0  # one class: nothing to prove
    forest.fit(X, y)
    for bound in (pac_bayes_kl_bound, tandem_bound):
        assert bound(forest, X, y, rows="out-of-bag").trivial == pytest.approx(0.05)
    assert folds_bound([1, 2], [200, 200], 2).trivial == 0.5
    assert folds_bound([1, 2], [200, 200], 2, constant_error=0.05).vacuous is False
    assert folds_bound([10, 10], [200, 200], 2, constant_error=0.05).vacuous
    with pytest.raises(PsephosError, match="constant_error"):
        folds_bound([1], [20], 2, constant_error=1.5)


def test_the_error_of_a_constant_is_by_the_weights_of_the_rows():
    X = np.arange(8.0)[:, None]
    y = np.repeat([0, 1], [6, 2])
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    assert training_error_bound(model, X, y).trivial == 0.25
    weight = np.where(y == 1, 6.0, 1.0)
    assert training_error_bound(model, X, y, sample_weight=weight).trivial == pytest.approx(1 / 3)
