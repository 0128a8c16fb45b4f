"""Votes of prototypes: the formula, written again here, and the laws of parts."""

import pickle
from dataclasses import replace
from math import exp, inf, log, nan, pi, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from psephos._errors import PsephosError
from psephos.vote import (
    Ballots,
    KernelScaling,
    KernelWeights,
    Names,
    PrototypeBatch,
    RegressionTarget,
    Target,
    prototype_vote,
)
from psephos.vote.codec import decode, encode
from psephos.vote.importance import SampleRows, baseline_of
from psephos.vote.operations.distance import PRIOR, Batches

NAMES = ["age", "note", "dose", "site", "size", "stage"]
LEVELS = {3: ["skin", "lung", "bone"], 5: ["I", "II"]}
P = 6
COLUMNS = np.array([0, 2, 3, 4, 5])  # column 4 is read by no batch, column 1 is not offered
CENTRE = np.array([50.0, -1.5, 0.0, 2.0, 0.0])
INVERSE = np.array([0.1, 2.0, 1.0, 0.0, 1.0])  # column 4 is constant: it has no scale
UNITS = np.array([10.0, 0.5, 1.0, 1.0, 1.0])
ALL = np.array([0.6, 0.6, 0.6, 0.0, 0.6])
N_LEVELS = np.array([0, 0, 3, 0, 2])
AGREE = np.array([0.0, 0.0, 0.4, 0.0, 0.625])
LOOKS = np.array([[1.0, 0.4, 1.3, 0.0, 0.0], [0.0, 2.5, 0.0, 0.0, 0.7], [0.0] * 5])
SIZES = (9, 6, 2)


def scaling():
    return KernelScaling(P, COLUMNS, CENTRE, INVERSE, N_LEVELS, AGREE)


def scaled(n, rng):
    Z = rng.standard_normal((n, 5))
    Z[:, 2], Z[:, 4] = rng.integers(0, 3, n), rng.integers(0, 2, n)
    Z[rng.random(Z.shape) < 0.2] = nan
    return Z


def batches(n_classes, rng):
    """Three batches; the last looks at nothing, so that it moves the far limit."""
    return [
        PrototypeBatch(
            look,
            scaled(size, rng),
            rng.uniform(0.2, 3.0, size),
            rng.integers(0, n_classes, size) if n_classes else rng.normal(30.0, 8.0, size),
            100 * b + np.arange(size),
            0.0 if n_classes else 1.5 + b,
        )
        for b, (look, size) in enumerate(zip(LOOKS, SIZES, strict=True))
    ]


def prior(n_classes):
    return np.arange(1.0, n_classes + 1) / sum(range(n_classes + 1))


def vote(n_classes=2):
    some = batches(n_classes, np.random.default_rng(1))
    if not n_classes:
        return prototype_vote(some, scaling(), np.array([28.0, 9.0]), RegressionTarget())
    return prototype_vote(some, scaling(), prior(n_classes), Target(np.arange(n_classes)))


def cases(n=60, seed=0):
    """Rows in the units of the table, some with missing or infinite values."""
    rng = np.random.default_rng(seed)
    X = np.full((n, P), nan)
    X[:, COLUMNS] = scaled(n, rng) * UNITS + CENTRE
    X[:, 1] = rng.standard_normal(n)
    X[0] = nan
    X[1, [3, 5]] = nan
    X[3, 0] = inf
    return X


def log_kernel(z, c, v):
    """Say the kernel of a scaled row and a prototype, term by term."""
    total = 0.0
    for d in range(5):
        code = z[d] in range(N_LEVELS[d])
        absent = np.isnan(z[d]) or np.isnan(c[d]) or (N_LEVELS[d] > 0 and not code)
        if absent and N_LEVELS[d]:
            total += log(AGREE[d] + (1 - AGREE[d]) * exp(-(v[d] ** 2) / 2))
        elif absent:
            total += -log(1 + 2 * v[d] ** 2) / 2
        elif N_LEVELS[d]:
            total -= v[d] ** 2 * (z[d] != c[d]) / 2
        elif v[d]:
            total -= v[d] ** 2 * (z[d] - c[d]) ** 2 / 2
    return total


def terms(n_classes, X):
    """Return w G of every row and prototype, and what each prototype answers."""
    some = batches(n_classes, np.random.default_rng(1))
    Z = (X[:, COLUMNS] - CENTRE) * INVERSE
    heard = [
        [
            w * exp(log_kernel(z, c, batch.inverse_bandwidth))
            for batch in some
            for c, w in zip(batch.prototypes, batch.weight, strict=True)
        ]
        for z in Z
    ]
    return np.array(heard), np.concatenate([batch.answer for batch in some])


KINDS = [2, 3, 4, 0]


# ---------------------------------------------------------------------- the formula
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_probabilities_are_shares_of_the_mass(n_classes):
    X = cases()
    heard, y = terms(n_classes, X)
    s = 1.0 + heard.sum(axis=1)
    q = np.stack([p0 + heard[:, y == k].sum(axis=1) for k, p0 in enumerate(prior(n_classes))])
    found = vote(n_classes)
    score, mass = found.score_and_mass(X)
    assert_allclose(mass, s, rtol=1e-12)
    proba = found.readout.probabilities(score, found.target)
    assert_allclose(proba, (q / s).T, rtol=0, atol=1e-12)
    assert_allclose(found.weights(X)[:, 1:], heard, rtol=1e-12)
    assert_array_equal(found.weights(X)[:, 0], 1.0)


def test_a_number_is_the_mean_of_its_mixture():
    X = cases()
    heard, y = terms(0, X)
    s = 1.0 + heard.sum(axis=1)
    mean = (28.0 + heard @ y) / s
    found = vote(0)
    assert_allclose(found.target.decode(found.score(X)), mean, rtol=1e-12)


def test_the_mixture_of_two_is_the_one_in_the_book():
    """One prototype of weight 3 where it stands: shares 1/4 and 3/4."""
    batch = PrototypeBatch(
        ALL, scaled(1, np.random.default_rng(0)) * 0.0, np.array([3.0]), np.array([4.0]),
        np.array([8]), 0.5,
    )  # fmt: skip
    found = prototype_vote([batch], scaling(), np.array([0.0, 2.0]), RegressionTarget())
    X = np.zeros((1, P))
    X[0, COLUMNS] = CENTRE
    assert_allclose(found.score(X)[0], 3.0, rtol=1e-14)


def test_a_gap_leaves_the_mass_what_it_is_expected_to_be():
    """e_d is the log of the mean kernel: of two normal numbers, of two categories."""
    grid = (np.arange(-4000, 4000) + 0.5) / 200.0
    density = np.exp(-(grid**2) / 4) / sqrt(4 * pi)  # of the difference of two
    assert_allclose(density.sum() / 200, 1.0, rtol=1e-9)
    for v in (0.3, 1.0, 6.0):
        mean = (np.exp(-0.5 * v * v * grid**2) * density).sum() / 200
        weights = one_batch(v, 0.0)
        X = np.zeros((2, P))
        X[:, COLUMNS] = CENTRE
        X[1, 0] = nan
        ratio = weights.weights(X)
        assert_allclose(ratio[1] / ratio[0], mean, rtol=1e-7)
        X[1, [0, 3]] = [CENTRE[0], nan]
        ratio = one_batch(0.0, v).weights(X)
        assert_allclose(ratio[1] / ratio[0], 0.4 + 0.6 * exp(-v * v / 2), rtol=1e-12)


def one_batch(number, category):
    look = np.array([[number, 0.0, category, 0.0, 0.0]])
    return KernelWeights(
        Batches(P, COLUMNS, look, np.array([0])), CENTRE, 1 / UNITS, N_LEVELS, AGREE,
        np.zeros((1, 5)), np.array([2.0]),
    )  # fmt: skip


def test_no_batch_leaves_the_prior():
    for some in ([], [batches(3, np.random.default_rng(1))[0]._replace(
        prototypes=np.empty((0, 5)), weight=np.empty(0), answer=np.empty(0), rows=np.empty(0)
    )]):  # fmt: skip
        found = prototype_vote(some, scaling(), prior(3), Target(np.arange(3)))
        assert (found.n_voters, len(found.columns)) == (1, 0)
        proba = found.readout.probabilities(found.score(cases(4)), found.target)
        assert_allclose(proba, np.tile(prior(3), (4, 1)), atol=1e-15)
        assert_array_equal(found.weighting.mean_share(), [1.0])


# ---------------------------------------------------------------------- rows alone
@pytest.mark.parametrize("n_classes", KINDS)
def test_a_row_alone_is_a_row_among_others_to_the_bit(n_classes, monkeypatch):
    found, X = vote(n_classes), cases()
    weights, (score, mass) = found.weights(X), found.score_and_mass(X)
    for i in range(len(X)):
        assert_array_equal(found.weights(X[i : i + 1])[0], weights[i])
        assert_array_equal(found.score(X[i : i + 1])[0], score[i])
    monkeypatch.setattr("psephos.vote.operations.distance_weights._CELLS", 7 * found.n_voters)
    monkeypatch.setattr("psephos.vote.vote._BLOCK", 11 * found.n_voters)
    assert_array_equal(found.weights(X), weights)
    assert_array_equal(found.mass(X[::-1]), mass[::-1])


def test_many_prototypes_keep_the_bits():
    """Compiled exponentials take lanes of several numbers: where a row begins must not matter."""
    rng = np.random.default_rng(0)
    batch = PrototypeBatch(
        ALL, scaled(333, rng), rng.uniform(0.1, 1, 333), rng.integers(0, 2, 333),
        np.arange(333),
    )  # fmt: skip
    found, X = prototype_vote([batch], scaling(), prior(2), Target(np.arange(2))), cases(500)
    whole = found.weights(X)
    for first in (0, 1, 2, 3, 77, 498):
        assert_array_equal(found.weights(X[first:]), whole[first:])


# ---------------------------------------------------------------------- the laws of parts
@pytest.mark.parametrize("n_classes", KINDS)
def test_usage_names_what_each_prototype_looks_at(n_classes):
    found = vote(n_classes)
    assert_array_equal(found.columns, [0, 2, 3, 5])
    looks = np.zeros((18, P), dtype=bool)
    looks[1:, COLUMNS] = np.repeat(LOOKS > 0, SIZES, axis=0)
    for part in (found.voters, found.weighting, found):
        assert_array_equal(part.usage().toarray(), looks)
    X, silent = cases(), [1, 4]
    noise = X.copy()
    noise[:, silent] = np.random.default_rng(3).standard_normal((len(X), 2))
    assert_array_equal(found.score(noise), found.score(X))


@pytest.mark.parametrize("n_classes", KINDS)
def test_selected_vote_answers_alike(n_classes):
    found, X = vote(n_classes), cases()
    reduced = found.select(found.columns)
    assert reduced.n_features == 4
    assert_array_equal(reduced.score(X[:, found.columns]), found.score(X))
    assert_array_equal(reduced.usage().toarray(), found.usage().toarray()[:, found.columns])
    with pytest.raises(PsephosError, match="missing from the selection"):
        found.select(found.columns[1:])


@pytest.mark.parametrize("voters", [[0], [0, 3, 1], [12, 0, 4, 4, 17], [11, 10], [16], [5, 2, 8]])
@pytest.mark.parametrize("n_classes", KINDS)
def test_taken_voters_are_heard_the_same(n_classes, voters):
    found, X = vote(n_classes), cases()
    some = found.take(np.array(voters))
    assert_allclose(some.weights(X), found.weights(X)[:, voters], rtol=1e-13)
    assert_array_equal(some.votes(X), found.votes(X)[:, voters])
    assert_array_equal(some.usage().toarray(), found.usage().toarray()[voters])
    assert_array_equal(some.columns, np.flatnonzero(some.usage().toarray().any(axis=0)))
    assert [some.voters.rule(i, NAMES, LEVELS) for i in range(len(voters))] == [
        found.voters.rule(t, NAMES, LEVELS) for t in voters
    ]
    again = found.take(np.random.default_rng(0).permutation(18))
    assert_allclose(again.score(X), found.score(X), rtol=1e-12)


@pytest.mark.parametrize("n_classes", KINDS)
def test_stages_contributions_and_sparse_tables(n_classes):
    found, X = vote(n_classes), cases()
    for t, score in enumerate(found.staged_scores(X), 1):
        assert_allclose(score, found.truncate(t).score(X), rtol=1e-12, atol=1e-12)
    assert_allclose(found.contributions(X).sum(axis=1), found.score(X), rtol=1e-12, atol=1e-13)
    assert_array_equal(found.score(sp.csc_array(X)), found.score(X))
    told = baseline_of(found, SampleRows.of(found, X))
    moved = found.local_importance(X, told).sum(axis=1)
    assert_allclose(moved[moved > 0], 1.0)
    assert (moved > 0).sum() >= len(X) - 1
    assert told.importance.shape == found.columns.shape


@pytest.mark.parametrize("n_classes", KINDS)
def test_rows_are_read_where_they_lie_or_from_a_copy_alike(n_classes):
    found, X = vote(n_classes), cases()
    X[:, COLUMNS] = X[:, COLUMNS].astype(np.float32)
    score, mass = found.score_and_mass(X)
    X[:, 1] = nan  # nobody reads it
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    for other in (np.asfortranarray(X), wide, X.astype(np.float32), sp.csr_array(X)):
        assert_array_equal(found.score(other), score)
        assert_array_equal(found.mass(other), mass)
    assert_array_equal(found.select(found.columns).score(X[:, found.columns]), score)
    frozen = X.copy()
    frozen.flags.writeable = False
    assert_array_equal(found.score(frozen), score)
    with pytest.raises(IndexError):  # nothing is read beyond a row
        found.score(np.ascontiguousarray(X[:, :1]))


@pytest.mark.parametrize("n_classes", KINDS)
def test_the_file_changes_nothing(n_classes):
    found, X, arrays = vote(n_classes), cases(), {}
    again = decode(encode(found, arrays, "vote"), arrays)
    assert_array_equal(again.score(X), found.score(X))
    assert_array_equal(again.voters.rows, found.voters.rows)
    assert again.voters.rule(1, NAMES, LEVELS) == found.voters.rule(1, NAMES, LEVELS)


# ---------------------------------------------------------------------- far away, and mean_share
def test_a_pickle_holds_nothing_derived():
    asked, X = vote(3), cases()
    before = len(pickle.dumps(asked.weighting))
    score = asked.score(X)
    assert len(pickle.dumps(asked.weighting)) == before
    assert_array_equal(pickle.loads(pickle.dumps(asked)).score(X), score)


def test_far_from_all_prototypes():
    found, X = vote(2).take(np.arange(10)), cases()[4:]
    X[:, [0, 2]] = 1e200
    assert_array_equal(found.mass(X), 1.0)
    assert_allclose(found.score(X), prior(2)[1] - prior(2)[0], rtol=1e-15)
    alone = found.take(np.arange(1, 10))
    X[:, [0, 2]] = 1e6
    assert_array_equal(alone.mass(X), 0.0)
    relative, log_scale = alone.weighting.relative(X)
    assert_allclose((relative / alone.weighting.weight).max(axis=1), 1.0, rtol=1e-15)
    assert (log_scale < -1e6).all()
    relative, log_scale = alone.weighting.relative(cases())
    weights = alone.weighting.weights(cases())
    assert_allclose(relative * np.exp(log_scale)[:, None], weights, rtol=1e-12)
    X[:, [0, 2]] = inf
    score, mass = alone.score_and_mass(X)
    assert_array_equal((score.ravel(), mass), 0.0)


@pytest.mark.parametrize("with_prior", [True, False])
def test_the_mean_share_is_what_other_places_hear(with_prior, monkeypatch):
    weights = vote().weighting.take(np.arange(0 if with_prior else 1, 18))
    places = weights.prototypes / weights.inverse + weights.centre
    raw = weights.select(weights.columns).weights(places)
    expected = np.zeros(weights.n_voters)
    for i in np.flatnonzero(weights.batches.batch != PRIOR):
        raw[i, i] = 0.0
        expected += raw[i] / raw[i].sum()
    assert_allclose(weights.mean_share(), expected / 17, rtol=1e-9)
    monkeypatch.setattr("psephos.vote.operations.distance_weights._CELLS", 5 * weights.n_voters)
    assert_allclose(weights.mean_share(), expected / 17, rtol=1e-9)
    assert_array_equal(weights.take(np.array([4])).mean_share(), [1.0])
    assert weights.words() == "weights by Gaussian kernels"


# ---------------------------------------------------------------------- in words
def words(row, look=(1.0, 0.4, 1.3, 0.0, 0.0)):
    batch = PrototypeBatch(
        np.array(look), np.array([[nan, 4.0, 1.0, 0.5, 0.0]]), np.ones(1), np.array([1]),
        np.array([row]),
    )  # fmt: skip
    target = Target(np.array(["benign", "malignant"]))
    return prototype_vote([batch], scaling(), prior(2), target)


def test_a_prototype_in_words():
    rule = words(17).voters.rule
    assert rule(0, NAMES, LEVELS) == "the class frequencies, by weight"
    assert rule(1, NAMES, LEVELS) == "near row 17: site = lung, age missing, dose = 0.5"
    assert rule(1, NAMES, {}) == "near row 17: site = 1, age missing, dose = 0.5"
    assert words("patient 9").voters.rule(1, NAMES, LEVELS).startswith("near patient 9: site")
    for unknown in (-1, ""):
        assert words(unknown).voters.rule(1, NAMES, LEVELS).startswith("near a training case: s")
    rule = words(17, [0.0] * 5).voters.rule
    assert rule(1, NAMES, LEVELS) == "near row 17, by no column: the same weight everywhere"
    ((when, said),) = words(17).voters.sides(1)
    assert (when, said) == ("always", 1.0)
    assert vote(0).voters.rule(0, NAMES, LEVELS) == "the mean of the target"


@pytest.mark.parametrize(("more", "end"), [(0, ""), (1, " and 1 more column"), (3, "columns")])
def test_a_rule_names_six_columns(more, end):
    q = 6 + more
    batch = PrototypeBatch(
        np.linspace(1, 2, q), np.arange(float(q))[None], np.ones(1), np.array([0]), np.array([3])
    )
    plain = KernelScaling(
        q, np.arange(q), np.zeros(q), np.ones(q), np.zeros(q, dtype=np.intp), np.zeros(q)
    )
    voters = prototype_vote([batch], plain, prior(2), Target(np.arange(2))).voters
    rule = voters.rule(1, [f"V{j}" for j in range(q)], {})
    assert rule.startswith(f"near row 3: V{q - 1} = {q - 1}, V{q - 2} = ")
    assert rule.count(" = ") == 6
    assert rule.endswith(end)


@pytest.mark.parametrize("n_classes", KINDS)
def test_ballots_of_prototypes(n_classes):
    found, X = vote(n_classes), cases()
    ballots = Ballots(found, Names(NAMES, LEVELS), X[:2], ["a", "b"])
    table = ballots.columns()
    assert table["case"] == ["a"] * 18 + ["b"] * 18
    assert table["reason"][10].startswith("like row 100 (similarity ")
    assert table["voter"][:3] == [1, 2, 3]
    assert table["columns"][0] == ()
    assert sorted(table["columns"][1]) == ["age", "dose", "site"]
    assert_allclose(table["weight"][:18], found.shares(X[:1])[0])
    for i, near in enumerate(ballots.nearest()):
        share = found.shares(X[i : i + 1])[0]
        kernel = found.similarities(X[i : i + 1])[0]
        heard = [t for t in np.argsort(-share, kind="stable") if found.voters.rows[t] != -1][:5]
        assert [case[0] for case in near] == [found.voters.rows[t] for t in heard]
        assert_allclose([case[1] for case in near], np.sqrt(-2 * np.log(kernel[heard])), rtol=1e-9)
        assert_allclose([case[2] for case in near], share[heard], rtol=1e-9)
        words = found.target.words(found.voters.values[heard])
        assert [case[3] for case in near] == words
        assert table["nearest"][18 * i] == near
    sums = [key for key in table if key.startswith("contribution")]
    assert_allclose([sum(table[key][:18]) for key in sums], ballots.score[0], rtol=1e-12)
    assert_array_equal(ballots.mass, found.mass(X[:2]))


def test_row_names_of_any_kind():
    some = batches(2, np.random.default_rng(1))
    target = Target(np.arange(2))
    mixed = [np.array(["a", 3], dtype=object), np.array(["b"] * 9), np.arange(2.0)]
    for kind in mixed:
        named = [batch._replace(rows=np.resize(kind, len(batch.rows))) for batch in some]
        voters = prototype_vote(named, scaling(), prior(2), target).voters
        arrays = {}
        again = decode(encode(voters, arrays, "v"), arrays)
        assert again.rows.tolist() == voters.rows.tolist()
        assert voters.rows.tolist()[1:] == np.concatenate([b.rows for b in named]).tolist()


# ---------------------------------------------------------------------- what is refused
def changed(array, place, value):
    out = np.array(array)
    out[place] = value
    return out


W = vote().weighting
V = vote().voters
B = W.batches


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"columns": np.array([0, 2, 3, 6])}, "within the table"),
        ({"columns": np.array([0, 3, 2, 5])}, "sorted"),
        ({"inverse_bandwidth": B.inverse_bandwidth[:, 1:]}, "other columns"),
        ({"inverse_bandwidth": B.inverse_bandwidth[0]}, "not .B, q."),
        ({"inverse_bandwidth": B.inverse_bandwidth.astype(np.float32)}, "float64"),
        ({"inverse_bandwidth": changed(B.inverse_bandwidth, (0, 0), -1e-9)}, "below 0"),
        ({"inverse_bandwidth": changed(B.inverse_bandwidth, (0, 0), nan)}, "below 0"),
        ({"inverse_bandwidth": changed(B.inverse_bandwidth, (0, 0), inf)}, "below 0"),
        ({"batch": changed(B.batch, 3, 3)}, "does not exist"),
        ({"batch": changed(B.batch, 3, -2)}, "does not exist"),
        ({"batch": B.batch.astype(float)}, "batch is not int64"),
        ({"batch": B.batch[:, None]}, "not in a row"),
    ],
)
def test_batches_that_do_not_fit_are_refused(change, match):
    with pytest.raises(PsephosError, match=match):
        replace(B, **change)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"centre": W.centre[1:]}, "differ in number"),
        ({"centre": changed(W.centre, 0, nan)}, "centre is not finite"),
        ({"centre": changed(W.centre, 2, 1.0)}, "category is centred"),
        ({"inverse": changed(W.inverse, 2, 2.0)}, "category is scaled"),
        ({"inverse": changed(W.inverse, 0, 0.0)}, "scale is not above 0"),
        ({"inverse": changed(W.inverse, 0, inf)}, "scale is not above 0"),
        ({"inverse": W.inverse.astype(np.float32)}, "not float64"),
        ({"n_levels": W.n_levels.astype(float)}, "is not int64"),
        ({"n_levels": changed(W.n_levels, 0, -1)}, "below 0"),
        ({"n_levels": changed(W.n_levels, 2, 1)}, "a category that does not exist"),
        ({"agree": changed(W.agree, 2, 0.0)}, "not chances"),
        ({"agree": changed(W.agree, 2, 1.1)}, "not chances"),
        ({"agree": changed(W.agree, 0, 0.5)}, "not chances"),
        ({"agree": changed(W.agree, 0, nan)}, "not chances"),
        ({"prototypes": W.prototypes[1:]}, "another shape"),
        ({"prototypes": W.prototypes[:, 1:]}, "another shape"),
        ({"prototypes": changed(W.prototypes, (3, 0), inf)}, "infinite"),
        ({"prototypes": changed(W.prototypes, (3, 2), 0.5)}, "a category that does not exist"),
        ({"weight": W.weight[1:]}, "differ in number"),
        ({"weight": changed(W.weight, 4, 0.0)}, "weight is not above 0"),
        ({"weight": changed(W.weight, 4, nan)}, "weight is not above 0"),
        ({"weight": changed(W.weight, 4, inf)}, "weight is not above 0"),
    ],
)
def test_weights_that_do_not_fit_are_refused(change, match):
    with pytest.raises(PsephosError, match=match):
        replace(W, **change)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"cases": V.cases[1:]}, "another shape"),
        ({"cases": V.cases.astype(np.float32)}, "not float64"),
        ({"values": V.values[:, 0]}, "votes differ"),
        ({"values": V.values[1:]}, "votes differ"),
        ({"values": changed(V.values, 0, nan)}, "vote is not finite"),
        ({"spread": changed(V.spread, 0, -1.0)}, "spread is below 0"),
        ({"spread": changed(V.spread, 0, inf)}, "spread is below 0"),
        ({"rows": V.rows[1:]}, "lack names"),
    ],
)
def test_voters_that_do_not_fit_are_refused(change, match):
    with pytest.raises(PsephosError, match=match):
        replace(V, **change)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"inverse_bandwidth": LOOKS[0, 1:]}, "other columns"),
        ({"prototypes": np.zeros((9, 4))}, "another shape"),
        ({"prototypes": np.zeros((8, 5))}, "another shape"),
        ({"answer": np.zeros(8)}, "differ in number"),
        ({"answer": np.full(9, 2)}, "class does not exist"),
        ({"answer": np.full(9, 0.5)}, "class does not exist"),
        ({"rows": np.arange(8)}, "differ in number"),
        ({"weight": np.zeros(9)}, "weight is not above 0"),
    ],
)
def test_batches_of_a_fit_that_do_not_fit_are_refused(change, match):
    batch = batches(2, np.random.default_rng(1))[0]._replace(**change)
    with pytest.raises(PsephosError, match=match):
        prototype_vote([batch], scaling(), prior(2), Target(np.arange(2)))


def test_a_prior_that_does_not_fit_is_refused():
    for shares in ([0.5, 0.6], [1.5, -0.5], [1.0], [0.2, 0.3, 0.5], [nan, nan]):
        with pytest.raises(PsephosError, match=r"a prior|class frequencies"):
            prototype_vote([], scaling(), np.array(shares), Target(np.arange(2)))
    for moments in ([1.0], [1.0, -1.0], [nan, 1.0]):
        with pytest.raises(PsephosError, match=r"a prior|spread|finite"):
            prototype_vote([], scaling(), np.array(moments), RegressionTarget())
