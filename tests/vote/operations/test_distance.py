"""Weights by distance, read as one operation: equal to the parts, to their kernels and readers."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos._errors import PsephosError
from psephos.kernels.numerics.logs import inverse_in_logs
from psephos.scoring import plain, vote_of
from psephos.scoring.reader import PlainModel
from psephos.vote import CaseVoters, Neighbours, Readout, RegressionTarget, Vote
from psephos.vote.operations.distance import METRICS, Distance
from psephos.vote.operations.distance_weights import DistanceWeights, InversePower, NearestK

_SPEC = importlib.util.spec_from_file_location(
    "families", Path(__file__).parents[2] / "scoring" / "families.py"
)
FAMILIES = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(FAMILIES)

NAMES = [
    "samba, 2 classes, 0.2 missing", "samba-paper, 2 classes, 0.0 missing",
    "samba-exact, 2 classes, 0.2 missing", "samba-bayes, 2 classes, 0.0 missing",
    "local-boosting, 3 classes, 0.0 missing", "proset, 3 classes, 0.2 missing",
    "proset-regressor, 0 classes, 0.0 missing", "ml-knn, 3 classes, 0.2 missing",
    "samba, frame", "proset, frame", "ml-knn, frame", "labels",
]  # fmt: skip


def rows_of(model, n=40, seed=0):
    """Rows with missing values and unknown categories, and one at every training row kept."""
    rng = np.random.default_rng(seed)
    vote = model.vote_
    X = rng.standard_normal((n, vote.n_features)) * 2
    for j, levels in model.schema_.levels.items():
        X[:, j] = rng.integers(0, len(levels), n)
    if model.vote_.voters.kinds() != ("naive Bayes voters",):
        X[rng.random(X.shape) < 0.15] = np.nan
        X[1] = np.nan
    kept = vote.weighting.kept_cases()
    if kept is not None:
        X[2:5, vote.weighting.columns] = kept[:3]
    return X


@pytest.mark.parametrize("name", NAMES)
def test_the_operation_has_the_weights_and_answers_of_the_part(name):
    model = FAMILIES.fitted(name)
    vote, X = model.vote_, rows_of(model)
    twin = vote.lowered()
    assert isinstance(twin.weighting, DistanceWeights)
    assert twin.weighting.lowered() is twin.weighting
    assert twin.voters.lowered() is twin.voters
    some = [np.arange(vote.n_voters), np.arange(0, vote.n_voters, 2), np.array([1, 0])]
    for voters in some:
        one, other = vote.take(voters), twin.take(voters)
        assert_allclose(other.weights(X), one.weights(X), rtol=1e-12, atol=1e-290)
        assert_allclose(other.score(X), one.score(X), rtol=0, atol=1e-12)
        if vote.target.n_classes:
            assert_array_equal(other.answers(X), one.answers(X))
        assert_array_equal(other.usage().toarray(), one.usage().toarray())
        assert_array_equal(other.columns, one.columns)
    assert_allclose(twin.weighting.mean_share(), vote.weighting.mean_share(), rtol=1e-12)
    assert twin.weighting_words() == vote.weighting_words()
    assert [r.words(_names(vote)) for row in twin.reasons(X[:3]) for r in row] == [
        r.words(_names(vote)) for row in vote.reasons(X[:3]) for r in row
    ]


def _names(vote):
    from psephos.vote import Names

    return Names([f"c{j}" for j in range(vote.n_features)], {})


@pytest.mark.parametrize("name", NAMES)
def test_the_reader_of_one_row_has_the_same_weights(name):
    model = FAMILIES.fitted(name)
    vote, X = model.vote_, rows_of(model)
    reader = PlainModel(plain(model))
    mass = vote.mass(X)
    for i, row in enumerate(X[:, vote.columns].tolist()):
        asked = reader.vote.scored(row)
        assert_allclose(asked.score, vote.score(X[i : i + 1])[0], rtol=0, atol=1e-12)
        assert_allclose(asked.mass, mass[i], rtol=1e-12, atol=1e-290)
    again = vote_of(json.loads(json.dumps(plain(model))))
    assert_allclose(again.score(X[:, vote.columns]), vote.score(X), rtol=0, atol=1e-12)


def neighbours(metric, by_distance=True, mass=(), needed=False, k=3):
    rng = np.random.default_rng(0)
    cases = np.abs(rng.standard_normal((40, 3))).round(1)
    weights = Neighbours(
        3, np.arange(3), cases, np.arange(40), k, by_distance, np.array([0.5, 1.0, 3.0]),
        np.zeros(3, dtype=bool), np.inf, metric, np.array(mass, dtype=float), needed,
    )  # fmt: skip
    voters = CaseVoters(3, np.arange(3), cases, rng.standard_normal((40, 1)), np.arange(40))
    return Vote(voters, weights, Readout("normalised", "identity"), RegressionTarget())


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("by_distance", [False, True])
def test_neighbours_by_any_metric(metric, by_distance):
    vote = neighbours(metric, by_distance)
    X = np.vstack([vote.voters.cases[:4], np.abs(np.random.default_rng(1).normal(size=(30, 3)))])
    assert_allclose(vote.lowered().weights(X), vote.weights(X), rtol=1e-12)
    own = vote.lowered().nearest(X, 3)
    for found, wanted in zip(own, vote.nearest(X, 3), strict=True):
        if isinstance(wanted, str):
            continue
        if wanted.dtype.kind == "f":
            assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
        elif not by_distance:
            assert_array_equal(found, wanted)


def test_neighbours_in_part():
    mass = np.random.default_rng(2).uniform(0.2, 1.5, 40)
    vote = neighbours("euclidean", False, mass)
    X = np.random.default_rng(3).normal(size=(20, 3))
    weights = vote.lowered().weights(X)
    assert_allclose(weights, vote.weights(X), rtol=1e-9, atol=1e-12)
    assert_allclose(weights.sum(axis=1), 3.0, rtol=1e-12)


def test_rows_that_have_no_neighbour_or_are_too_far():
    vote = neighbours("euclidean", needed=True).lowered()
    with pytest.raises(PsephosError, match="none is its neighbour"):
        vote.score(np.full((1, 3), np.nan))
    with pytest.raises(PsephosError, match="so far from the training cases"):
        vote.score(np.full((1, 3), 1e120))
    unneeded = neighbours("euclidean").lowered()
    assert_array_equal(unneeded.mass(np.full((1, 3), np.nan)), 0.0)


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("a", [0.0, 0.3, 1e-200])
@pytest.mark.parametrize("b", [0.5, 2.0, 40.0])
def test_inverse_powers_in_logarithms(a, b, per_query):
    rng = np.random.default_rng(0)
    u, mass = rng.uniform(0, 4, (5, 7)), rng.uniform(0.5, 2, 7)
    u[0, [2, 5]] = 0.0
    near, log_scale = InversePower(a, b, 0.7, per_query).near(u, mass)
    d = np.sqrt(u)
    d /= (d @ mass)[:, None] if per_query else 0.7
    with np.errstate(divide="ignore"):
        k = 1 / (a**b + d**b)
    k[0] = np.isinf(k[0]) if np.isinf(k[0]).any() else k[0]
    total = (k * mass).sum(axis=1, keepdims=True)
    assert_allclose(near / near.sum(axis=1, keepdims=True), k * mass / total, rtol=1e-11)
    if a == 0.3:
        assert_allclose(near * np.exp(log_scale)[:, None], k * mass, rtol=1e-11)


def test_far_beyond_the_range_of_numbers_shares_are_those_of_ratios():
    u = np.array([[1.0, 4.0, 16.0]]) * 1e-200
    near, log_scale = inverse_in_logs(u, 0.0, 100.0, 1.0, np.zeros(3))
    assert_allclose(near, [[1.0, 2.0**-100, 4.0**-100]], rtol=1e-9)
    assert_allclose(log_scale, 100 * 100 * np.log(10), rtol=1e-12)


def test_k_nearest_of_equally_near_takes_the_first():
    u, mass = np.array([[4.0, 1.0, 1.0, 1.0, np.inf]]), np.ones(5)
    near, _ = NearestK(2, False, False).near(u, mass)
    assert_array_equal(near, [[0, 1, 1, 0, 0]])
    near, _ = NearestK(4, True, False).near(u, mass)
    assert_array_equal(near, [[0.5, 1, 1, 1, 0]])
    u[0, 2] = 0.0
    near, _ = NearestK(4, True, False).near(u, mass)
    assert_array_equal(near, [[0, 0, 1, 0, 0]])


def test_columns_that_act_only_through_the_distance_are_named():
    from psephos import CompressedSamBAClassifier, SamBAClassifier
    from psephos.testing import small_table

    X, y = small_table()
    model = CompressedSamBAClassifier(
        n_estimators=3, distance_columns=[0, 1, 2, 3], distance_scale=2.0, random_state=0
    ).fit(X, y)
    vote = model.vote_
    tested = vote.voters.columns
    near = [j for j in range(4) if j not in tested]
    assert near
    assert vote.near_only.tolist() == near
    names = ", ".join(f"column {j}" for j in near)
    head = model.describe()[0]
    assert f"; {names} act only through the distance between cases" in head.replace("acts", "act")
    assert f"Only through the distance between cases: {names}." in str(model.explain(X[:2]))
    plain_model = SamBAClassifier(n_estimators=2).fit(X, y)
    assert not len(plain_model.vote_.near_only)
    assert "only through" not in plain_model.describe()[0]


def test_a_column_of_voters_with_one_answer_acts_only_through_the_distance():
    from psephos import SamBAClassifier
    from psephos.testing import small_table

    model = SamBAClassifier(n_estimators=8, random_state=0).fit(*small_table())
    vote, stumps = model.vote_, model.vote_.voters
    assert not len(vote.near_only)
    place = int(stumps.feature[0])
    own = (stumps.feature == place)[:, None]
    same = replace(stumps, right=np.where(own, stumps.left, stumps.right))
    changed = replace(vote, voters=same)
    assert changed.near_only.tolist() == [stumps.columns[place]]
    model.vote_ = changed
    name = f"column {stumps.columns[place]}"
    assert f"; {name} acts only through the distance between cases" in model.describe()[0]


def test_what_moves_a_weight_is_divided_by_the_parts_of_the_distance():
    weights = neighbours("euclidean").weighting
    X = np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    found = weights.divided(X, np.full((2, 40), 0.5), np.zeros(3))
    assert_allclose(found, [[16.0, 0.0, 4.0], [0.0, 0.0, 0.0]], rtol=1e-12)


def twin_distance(x, z, scale, category, absent):
    both = ~(np.isnan(x) | np.isnan(z))
    gap = np.where(category, (x != z).astype(float), x - z)[both] / scale[both]
    return np.sqrt(len(x) / both.sum() * (gap**2).sum()) if both.any() else absent


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("categories", [False, True])
def test_distances(missing, categories):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((9, 4)), rng.standard_normal((14, 4))
    category = np.array([categories, False, categories, False])
    for table in (X, Z):
        table[:, category] = rng.integers(0, 3, (len(table), category.sum()))
        table[rng.random(table.shape) < missing] = np.nan
    X[0] = Z[0]
    scale, part = rng.uniform(0.5, 2, 4), SimpleNamespace(n_features=4, columns=np.arange(4))
    distance = Distance.of_cases(part, Z, scale, category, absent=3.0)
    found = np.sqrt(distance.squares(X))
    wanted = [[twin_distance(x, z, scale, category, 3.0) for z in Z] for x in X]
    assert_allclose(found, wanted, rtol=1e-14)
    assert_array_equal(found, np.vstack([np.sqrt(distance.squares(x[None])) for x in X]))


def test_distances_of_identical_rows_are_exactly_zero():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((30, 3)) * 1e8 + 1e12
    part, none = SimpleNamespace(n_features=3, columns=np.arange(3)), np.zeros(3, dtype=bool)
    distance = Distance.of_cases(part, Z, rng.uniform(0.1, 9, 3), none, absent=np.inf)
    assert_array_equal(np.diag(distance.squares(Z)), 0.0)
