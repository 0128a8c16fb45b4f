"""Reading a vote of prototypes: tables, ballots, familiarity, maps and a typical case."""

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from psephos import AdaBoostClassifier, ProsetClassifier, ProsetRegressor, PsephosError
from psephos._errors import MissingExtraError
from psephos.estimator.input import Schema
from psephos.explain import (
    BatchMap,
    ColumnMap,
    DecisionSurface,
    PrototypeBallot,
    PrototypeTable,
    familiarity,
    familiarity_p_value,
    reference_point,
)
from psephos.vote import KernelScaling, PrototypeBatch, RegressionTarget, Target, prototype_vote

nan = np.nan
SITES = ("skin", "lung", "bone")
SCALING = KernelScaling(
    4, np.array([0, 1, 3]), np.array([50.0, 0.0, -1.0]), np.array([0.1, 1.0, 2.0]),
    np.array([0, 3, 0]), np.array([0.0, 0.4, 0.0]),
)  # fmt: skip
LOOKS = np.array([[1.0, 0.7, 0.0], [0.0, 1.5, 0.6], [0.5, 0.0, 1.2]])


def wrap(vote):
    """Return a fitted estimator of this vote, on a table of age, site, note and dose."""
    kind = ProsetRegressor if vote.target.kind == "regression" else ProsetClassifier
    model = kind()
    schema = Schema(4, ("age", "site", "note", "dose"), {1: SITES})
    model.n_features_in_ = 4
    model.feature_names_in_ = np.array(schema.names, dtype=object)
    model._set_fitted(vote, schema, dict.fromkeys(model.extras, np.zeros(1)))
    return model


def scaled_rows(n, rng, gaps=0.2):
    Z = rng.normal(size=(n, 3))
    Z[:, 1] = rng.integers(0, 3, n)
    Z[rng.random(Z.shape) < gaps] = nan
    return Z


def frame(Z):
    """Return scaled rows in the units of the table."""
    site = [None if np.isnan(code) else SITES[int(code)] for code in Z[:, 1]]
    columns = {"age": Z[:, 0] * 10 + 50, "site": site, "note": 0.0, "dose": Z[:, 2] / 2 - 1}
    return pd.DataFrame(columns)


def drawn(seed, n_classes=3, sizes=(4, 3), gaps=0.2):
    """Return a model of drawn prototypes; equal weights and copies make ties."""
    rng = np.random.default_rng(seed)
    batches = []
    for look, size in zip(LOOKS, sizes, strict=False):
        Z = scaled_rows(size, rng, gaps)
        Z[rng.random(size) < 0.3] = Z[:1]
        answer = rng.integers(0, n_classes, size) if n_classes else rng.normal(30.0, 8.0, size)
        rows = np.array([f"case {len(batches)}{i}" for i in range(size)])
        weight = rng.choice([0.5, 1.0, 8.0], size)
        batches.append(PrototypeBatch(look, Z, weight, answer, rows, 0.0 if n_classes else 2.0))
    if not n_classes:
        return wrap(prototype_vote(batches, SCALING, np.array([28.0, 9.0]), RegressionTarget("mg")))
    prior = rng.dirichlet(np.ones(n_classes))
    labels = np.array(["a", "b", "c", "d"][:n_classes])
    return wrap(prototype_vote(batches, SCALING, prior, Target(labels)))


seeds = st.integers(0, 2**32 - 1)
any_classes = st.sampled_from([0, 2, 3, 4])
real_classes = st.sampled_from([2, 3, 4])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    X.index = [f"flower {i}" for i in range(len(X))]
    return ProsetClassifier(2, random_state=0).fit(X, names[y]), X, names[y]


# ---------------------------------------------------------------------- the table
def test_a_prototype_is_a_training_row_in_its_own_units(iris):
    model, X, y = iris
    table = PrototypeTable.from_estimator(model).frame("pandas")
    own = table[table["batch"] >= 0].set_index("row")
    assert len(own) == model.n_prototypes_.sum()
    for column in model.features_used_:
        assert_allclose(own[f"value_{column}"], X.loc[own.index, column], rtol=1e-12)
    assert_array_equal(own["answer"], pd.Series(y, X.index)[own.index])
    assert_allclose(table["weight"], model.vote_.weighting.weight[table["voter"]] * np.where(
        table["batch"] >= 0, 1, 1 / 3))  # fmt: skip
    assert table["mean_share"].sum() == pytest.approx(1)


def test_the_prior_stands_first_then_batches_by_weight():
    table = PrototypeTable.from_estimator(drawn(3, 4, sizes=(5, 4, 3))).table()
    assert table["answer"][:4] == ["a", "b", "c", "d"]
    assert sum(table["weight"][:4]) == pytest.approx(1)
    assert table["batch"] == [-1] * 4 + [0] * 5 + [1] * 4 + [2] * 3
    for b in range(3):
        weight = [w for w, at in zip(table["weight"], table["batch"], strict=True) if at == b]
        assert weight == sorted(weight, reverse=True)
    assert table["row"][:4] == [""] * 4
    assert {row[:6] for row in table["row"][4:]} == {"case 0", "case 1", "case 2"}


def test_of_numbers_the_prior_is_the_mean():
    table = PrototypeTable.from_estimator(drawn(3, 0)).table()
    assert (table["answer"][0], table["weight"][0], table["batch"][0]) == (28.0, 1.0, -1)
    assert len(table["answer"]) == 8


def test_categories_are_words_and_gaps_stay_gaps():
    model = drawn(5, 2, sizes=(30, 0))
    table = PrototypeTable.from_estimator(model).table()
    assert set(table["value_site"]) == {*SITES, None}
    assert np.isnan(table["value_age"]).sum() > 1
    assert "value_note" not in table
    assert "value_dose" not in table  # no batch with prototypes reads it


def test_an_inverse_bandwidth_is_per_unit_of_the_column():
    """At a distance of 1 / it a prototype is heard exp(-1/2) as loudly as at its place."""
    model = drawn(0, 2, gaps=0.0)
    table = PrototypeTable.from_estimator(model).table()
    i = table["batch"].index(0)
    at = pd.DataFrame(
        {"age": [table["value_age"][i]] * 2, "site": table["value_site"][i], "note": 0.0,
         "dose": 0.0}
    )  # fmt: skip
    at.loc[1, "age"] += 1 / table["inverse_bandwidth_age"][i]
    heard = PrototypeBallot.from_estimator(model, at).similarity[:, table["voter"][i]]
    assert_allclose(heard, [1, np.exp(-0.5)], rtol=1e-12)
    assert table["inverse_bandwidth_dose"][i] == 0


def test_units_change_values_and_bandwidths_and_nothing_else(iris):
    model, X, y = iris
    column = model.features_used_[0]
    other = ProsetClassifier(2, random_state=0).fit(X.assign(**{column: X[column] * 1024}), y)
    one, two = (PrototypeTable.from_estimator(m).table() for m in (model, other))
    assert two["row"] == one["row"]
    assert_allclose(two["weight"], one["weight"], rtol=1e-6)
    assert_allclose(np.array(two[f"value_{column}"]) / 1024, one[f"value_{column}"])
    own = slice(3, None)
    ratio = np.array(one[f"inverse_bandwidth_{column}"][own])
    assert_allclose(np.array(two[f"inverse_bandwidth_{column}"][own]) * 1024, ratio, rtol=1e-6)


# ---------------------------------------------------------------------- ballots
def kernel_by_column(model, Z):
    """Return similarity_jd of scaled rows, one number at a time, as the formula says."""
    kernels = model.vote_.weighting
    out = np.ones((len(Z), kernels.n_voters, 3))
    for i, t, d in np.ndindex(out.shape):
        b = kernels.batches.batch[t]
        place = np.flatnonzero(kernels.columns == SCALING.columns[d])
        if b < 0 or not len(place):
            continue
        v, z, c = LOOKS[b, d], Z[i, d], kernels.prototypes[t, place[0]]
        agree = SCALING.agree[d]
        if np.isnan(z) or np.isnan(c):
            mean = agree + (1 - agree) * np.exp(-(v**2) / 2) if d == 1 else (1 + 2 * v**2) ** -0.5
            out[i, t, d] = mean
        elif d == 1:
            out[i, t, d] = 1.0 if z == c else np.exp(-(v**2) / 2)
        else:
            out[i, t, d] = np.exp(-0.5 * (v * (z - c)) ** 2)
    return out


@given(seeds, any_classes)
def test_similarities_are_products_over_the_columns(seed, n_classes):
    model = drawn(seed, n_classes)
    Z = scaled_rows(4, np.random.default_rng(seed + 1), gaps=0.3)
    ballot = PrototypeBallot.from_estimator(model, frame(Z))
    factors = ballot.column_similarity()
    assert_allclose(factors.prod(axis=2), ballot.similarity, rtol=1e-12)
    slow = kernel_by_column(model, Z)[:, :, [0, 1, 2]]
    assert_allclose(factors, slow[:, :, : factors.shape[2]], rtol=1e-10)


@settings(max_examples=40)
@given(seeds, any_classes)
def test_impacts_sum_to_the_mass_and_contributions_to_the_answer(seed, n_classes):
    model = drawn(seed, n_classes)
    X = frame(scaled_rows(5, np.random.default_rng(seed + 1)))
    ballot = PrototypeBallot.from_estimator(model, X)
    assert_allclose(ballot.impact.sum(axis=1), model.mass(X), rtol=1e-12)
    assert_allclose(ballot.share(), ballot.impact / model.mass(X)[:, None], rtol=1e-12)
    answer = model.predict_proba(X) if n_classes else model.predict(X)[:, None]
    assert_allclose(ballot.contributions().sum(axis=1), answer, rtol=1e-12, atol=1e-12)


@settings(max_examples=50)
@given(seeds, real_classes)
def test_no_labels_of_the_others_change_the_answer(seed, n_classes):
    model = drawn(seed, n_classes, sizes=(6, 5))
    X = frame(scaled_rows(4, np.random.default_rng(seed + 1)))
    ballot = PrototypeBallot.from_estimator(model, X)
    answer, probability = model.predict(X), model.predict_proba(X)
    runner_up = np.argsort(probability, axis=1)[:, -2]
    rng = np.random.default_rng(seed + 2)
    voters, target = model.vote_.voters, model.vote_.target
    for i, dominant in enumerate(ballot.dominant()):
        rest = np.flatnonzero(~dominant & (ballot.rank[i] > 0))
        tied = np.diff(np.sort(probability[i])[-2:])[0] < 1e-11
        if tied:
            assert len(rest) == 0
            continue
        hostile = np.full(len(rest), runner_up[i])
        for labels in (hostile, *rng.integers(0, n_classes, (3, len(rest)))):
            values = voters.values.copy()
            values[rest] = target.code[labels]
            other = wrap(replace(model.vote_, voters=replace(voters, values=values)))
            assert other.predict(X.iloc[[i]])[0] == answer[i]


@given(seeds, real_classes)
def test_a_smaller_dominant_set_would_not_do(seed, n_classes):
    """Without its last rank, the rest could all stand for the runner-up and draw or win."""
    model = drawn(seed, n_classes, sizes=(6, 5))
    X = frame(scaled_rows(4, np.random.default_rng(seed + 1)))
    ballot = PrototypeBallot.from_estimator(model, X)
    said = ballot.prototypes.answer_values()
    for impact, rank, last in zip(ballot.impact, ballot.rank, ballot.last, strict=True):
        if last == 0:
            continue
        kept = rank < last
        best = np.sort(impact[kept] @ said[kept])
        assert best[-1] - best[-2] <= impact[~kept].sum() + 1e-11 * impact.sum()


def test_ties_share_a_rank_and_a_side():
    Z = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    rows = np.array(["p", "q", "r"])
    batch = PrototypeBatch(LOOKS[0], Z, np.ones(3), np.array([0, 0, 1]), rows)
    vote = prototype_vote([batch], SCALING, np.array([0.5, 0.5]), Target(np.array(["a", "b"])))
    ballot = PrototypeBallot.from_estimator(wrap(vote), frame(Z[:1]))
    assert ballot.rank.tolist() == [[0, 1, 1, 2]]
    assert ballot.dominant().tolist() == [[False, True, True, False]]


def test_the_prior_may_suffice_and_a_draw_needs_everybody():
    Z = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    batch = PrototypeBatch(LOOKS[1], Z, np.ones(2), np.array([0, 1]), np.arange(2))
    target = Target(np.array(["a", "b"]))
    cases = frame(np.array([[0.0, 2.0, 90.0], [0.0, nan, 0.0]]))  # far, and as near to both
    for prior, sizes in (([0.1, 0.9], [0, 2]), ([0.5, 0.5], [2, 2])):
        model = wrap(prototype_vote([batch], SCALING, np.array(prior), target))
        ballot = PrototypeBallot.from_estimator(model, cases)
        assert ballot.dominant().sum(axis=1).tolist() == sizes


def test_the_table_of_ballots_is_sorted_by_rank(iris):
    model, X, _ = iris
    ballot = PrototypeBallot.from_estimator(model, X.iloc[[60, 110]])
    table = ballot.frame("pandas")
    for name, case in table.groupby("case", sort=False):
        assert name in ("flower 60", "flower 110")
        assert case["batch"].iloc[0] == -1
        assert (np.diff(case["impact"].iloc[1:]) <= 0).all()
        assert case["share"].sum() == pytest.approx(1)
        first = case[case["dominant"]]
        assert first["rank"].max() <= case[~case["dominant"]]["rank"].iloc[1:].min()
    columns = [f"contribution_{label}" for label in model.classes_]
    sums = table.groupby("case", sort=False)[columns].sum()
    assert_allclose(sums, model.predict_proba(X.iloc[[60, 110]]), atol=1e-12)
    product = table[[f"similarity_{c}" for c in model.features_used_]].prod(axis=1)
    assert_allclose(product, table["similarity"], rtol=1e-12)


def test_numbers_have_shares_and_no_dominant_set():
    ballot = PrototypeBallot.from_estimator(drawn(1, 0), frame(np.zeros((1, 3))))
    table = ballot.table()
    assert "dominant" not in table
    weighed = np.dot(table["share"], table["answer"])
    assert sum(table["contribution"]) == pytest.approx(weighed)
    with pytest.raises(PsephosError, match="for classes"):
        ballot.dominant()


# ---------------------------------------------------------------------- familiarity
@settings(max_examples=40)
@given(seeds, any_classes)
def test_familiarity_is_the_mass_beyond_the_prior(seed, n_classes):
    model = drawn(seed, n_classes)
    X = frame(scaled_rows(6, np.random.default_rng(seed + 1)))
    assert_allclose(familiarity(model, X), model.mass(X) - 1, rtol=1e-9, atol=1e-12)


def test_far_away_familiarity_is_small_and_not_zero():
    """Where 1 + familiarity is 1 to the last bit, it still falls with the distance."""
    model = drawn(1, 2, gaps=0.0)
    X = frame(np.array([[0.0, 0.0, z] for z in (0.0, 20.0, 40.0)]).repeat([1, 1, 1], axis=0))
    X["age"] += [0, 150, 200]
    heard = familiarity(model, X)
    assert (np.diff(heard) < 0).all()
    assert heard[2] > 0
    assert (model.mass(X)[1:] - 1 == 0).all()


def test_without_prototypes_nothing_is_familiar(iris):
    _, X, y = iris
    empty = ProsetClassifier(0).fit(X, y)
    assert_array_equal(familiarity(empty, X), 0)
    assert_array_equal(familiarity_p_value(empty, X[:5], X[5:]), 1)
    assert len(PrototypeTable.from_estimator(empty).table()["batch"]) == 3
    assert reference_point(empty, X) == 0  # all are alike
    assert ColumnMap.from_estimator(empty).table()["column"] == []


@settings(max_examples=40)
@given(seeds)
def test_p_is_the_share_of_references_as_familiar_or_less(seed):
    model = drawn(seed)
    rng = np.random.default_rng(seed + 1)
    X, R = frame(scaled_rows(7, rng)), frame(scaled_rows(19, rng))
    p = familiarity_p_value(model, X, R)
    f, g = familiarity(model, X), familiarity(model, R)
    assert_allclose(p, [(1 + (g <= one).sum()) / 20 for one in f], rtol=1e-15)
    order = np.argsort(f, kind="stable")
    assert (np.diff(p[order]) >= 0).all()


@settings(max_examples=15)
@given(seeds, st.integers(2, 15))
def test_of_exchangeable_cases_few_have_a_small_p(seed, n):
    """Each of n cases among the others: at most a share a of them has p <= a, for every a."""
    model = drawn(seed)
    X = frame(scaled_rows(n, np.random.default_rng(seed + 1)))
    p = [familiarity_p_value(model, X.iloc[[i]], X.drop(index=i))[0] for i in range(n)]
    for a in p:
        assert np.mean(np.array(p) <= a + 1e-12) <= a + 1e-12


# ---------------------------------------------------------------------- surface
def test_a_surface_is_the_models_answer_at_every_point(iris):
    model, X, _ = iris
    first, second = model.features_used_[:2]
    surface = DecisionSurface.from_estimator(
        model, (first, second), X, limits=((0.0, 8.0), None), n_points=7
    )
    table = surface.frame("pandas")
    assert len(table) == 49
    assert (table[f"value_{first}"].min(), table[f"value_{first}"].max()) == (0, 8)
    points = pd.concat([X.iloc[[reference_point(model, X)]]] * 49, ignore_index=True)
    points[first], points[second] = table[f"value_{first}"], table[f"value_{second}"]
    columns = [f"probability_{label}" for label in model.classes_]
    assert_allclose(table[columns], model.predict_proba(points), atol=1e-12)
    assert_allclose(table["familiarity"], familiarity(model, points), rtol=1e-10)


def test_a_surface_over_a_category_takes_its_levels_and_a_given_case():
    model = drawn(2, 0)
    case = frame(np.array([[0.3, 1.0, nan]]))
    surface = DecisionSurface.from_estimator(model, (3, "site"), case, n_points=4)
    table = surface.frame("pandas")
    assert table["value_site"].tolist() == list(SITES) * 4
    points = pd.concat([case] * 12, ignore_index=True)
    points["dose"], points["site"] = table["value_dose"], table["value_site"]
    assert_allclose(table["mean"], model.predict(points), rtol=1e-12)
    assert table["value_dose"].min() <= -1.5 < -0.5 <= table["value_dose"].max()


def test_what_no_surface_can_be_made_of_is_said(iris):
    model, X = iris[:2]
    a, b = model.features_used_[:2]
    made = DecisionSurface.from_estimator
    with pytest.raises(PsephosError, match=r"must be read by the model .* got 'dose'"):
        made(model, (a, "dose"), X)
    with pytest.raises(PsephosError, match=r"must be read by the model .* petal .* got 17"):
        made(model, (a, 17), X)
    with pytest.raises(PsephosError, match="twice"):
        made(model, (a, a), X)
    with pytest.raises(PsephosError, match=r"limits of .* got 2 and 1"):
        made(model, (a, b), X, limits=((2, 1), None))
    with pytest.raises(PsephosError, match="n_points must be at least 2; got 1"):
        made(model, (a, b), X, n_points=1)


# ---------------------------------------------------------------------- map of a batch
@settings(max_examples=40)
@given(seeds, any_classes)
def test_squared_distances_on_the_map_are_log_kernels(seed, n_classes):
    model = drawn(seed, n_classes, sizes=(9, 8), gaps=0.0)
    Z = scaled_rows(4, np.random.default_rng(seed + 1), gaps=0.0)
    ballot = PrototypeBallot.from_estimator(model, frame(Z))
    for b in range(2):
        shown = BatchMap.from_estimator(model, b, n_directions=99)
        table = shown.frame("pandas")
        places = table.filter(like="place_").to_numpy()
        square = ((shown.transform(frame(Z))[:, None] - places) ** 2).sum(axis=2)
        assert_allclose(square, -2 * np.log(ballot.similarity[:, table["voter"]]), atol=1e-10)


@given(seeds)
def test_the_map_is_the_weighted_pca(seed):
    model = drawn(seed, 3, sizes=(12, 5))
    shown = BatchMap.from_estimator(model, 0, n_directions=99)
    table = shown.frame("pandas")
    places, weight = table.filter(like="place_").to_numpy(), table["weight"].to_numpy()
    assert_allclose(weight @ places, 0, atol=1e-12)
    covariance = np.atleast_2d(np.cov(places.T, aweights=weight, ddof=0))
    assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-12)
    share = np.diag(covariance) / (np.trace(covariance) or 1.0)
    assert_allclose(shown.explained, share, atol=1e-12)
    assert all(a >= b - 1e-12 for a, b in pairwise(shown.explained))
    assert_allclose(shown.directions.T @ shown.directions, np.eye(len(share)), atol=1e-12)


def test_a_gap_stands_at_the_weighted_mean():
    model = drawn(4, 3, sizes=(9, 0))
    shown = BatchMap.from_estimator(model)
    assert_allclose(shown.transform(frame(np.full((1, 3), nan))), 0, atol=1e-15)
    table = PrototypeTable.from_estimator(model).frame("pandas")
    known = table[table["value_age"].notna() & (table["batch"] == 0)]
    mean = np.average(known["value_age"], weights=known["weight"])
    X = frame(np.array([[nan, 1.0, 0.0], [0.0, 1.0, 0.0]]))
    X.loc[1, "age"] = mean
    assert_allclose(*shown.transform(X), atol=1e-12)


def test_a_batch_that_is_not_there_has_no_map():
    model = drawn(4)
    with pytest.raises(PsephosError, match="batch must be from 0 to 1; got 2"):
        BatchMap.from_estimator(model, 2)
    batch = PrototypeBatch(
        np.zeros(3), np.zeros((2, 3)), np.ones(2), np.array([0, 1]), np.arange(2)
    )
    blind = wrap(prototype_vote([batch], SCALING, np.array([0.5, 0.5]), Target(np.arange(2))))
    with pytest.raises(PsephosError, match="must read a column"):
        BatchMap.from_estimator(blind)


# ---------------------------------------------------------------------- columns
def test_the_map_of_columns_has_what_the_vote_reads():
    model = drawn(6, 3, sizes=(4, 3, 2))
    shown = ColumnMap.from_estimator(model)
    assert shown.names == ["site", "dose", "age"]  # 1.5, 1.2 and 1.0
    assert_allclose(shown.inverse_bandwidth, LOOKS[:, [1, 2, 0]])
    assert_allclose(shown.per_unit, LOOKS[:, [1, 2, 0]] * [1.0, 2.0, 0.1])
    table = shown.frame("pandas")
    usage = model.usage().toarray()
    for _, entry in table.iterrows():
        voter = np.flatnonzero(model.vote_.voters.batches.batch == entry["batch"])[0]
        position = ["age", "site", "note", "dose"].index(entry["column"])
        assert usage[voter, position] == (entry["inverse_bandwidth"] > 0)


# ---------------------------------------------------------------------- a typical case
def mean_distances(Z, category, gap):
    out = np.empty(len(Z))
    for i, z in enumerate(Z):
        total = 0.0
        for other in Z:
            terms = [
                gap[d] if np.isnan(z[d] - other[d])
                else float(z[d] != other[d]) if category[d] else (z[d] - other[d]) ** 2
                for d in range(len(z))
            ]  # fmt: skip
            total += np.sqrt(sum(terms))
        out[i] = total / len(Z)
    return out


@settings(max_examples=40)
@given(seeds, any_classes)
def test_the_typical_case_wins_the_count_of_both_ranks(seed, n_classes):
    model = drawn(seed, n_classes)
    rng = np.random.default_rng(seed + 1)
    Z = scaled_rows(9, rng)
    X = frame(Z)
    read = [c for c, j in enumerate([0, 1, 3]) if j in model.vote_.columns]
    near = mean_distances(
        Z[:, read], np.array([False, True, False])[read], np.array([2.0, 0.6, 2.0])[read]
    )
    said = model.predict_proba(X) if n_classes else model.predict(X)[:, None]
    like = mean_distances(said, [False] * said.shape[1], [0.0] * said.shape[1])
    near, like = (np.round(a / a.max(), 12) if a.max() else a for a in (near, like))
    borda = [sum((a < a[i]).sum() for a in (near, like)) for i in range(9)]
    best = np.flatnonzero(borda == np.min(borda))
    found = reference_point(model, X)
    assert found in best
    if n_classes:
        entropy = -(said[best] * np.log(said[best])).sum(axis=1)
    else:
        share = PrototypeBallot.from_estimator(model, X).share()[best]
        spread, mean = model.vote_.voters.spread, model.vote_.voters.values[:, 0]
        entropy = (share * (spread**2 + mean**2)).sum(axis=1) - (share @ mean) ** 2
    assert entropy[best == found][0] == pytest.approx(entropy.max(), rel=1e-9, abs=1e-9)


def test_of_copies_the_first_is_taken():
    model = drawn(8)
    Z = scaled_rows(6, np.random.default_rng(0), gaps=0.0)
    once = reference_point(model, frame(Z))
    assert reference_point(model, frame(np.vstack([Z, Z]))) == once
    assert reference_point(model, frame(np.vstack([Z[::-1], Z[::-1]]))) == 5 - once


def test_of_a_long_table_a_sample_is_compared():
    model = drawn(8)
    X = frame(scaled_rows(60, np.random.default_rng(0)))
    kept = np.sort(np.random.default_rng(3).choice(60, 10, replace=False))
    found = reference_point(model, X, max_rows=10, random_state=3)
    assert found == kept[reference_point(model, X.iloc[kept])]
    assert reference_point(model, X, max_rows=60) == reference_point(model, X)
    with pytest.raises(PsephosError, match="max_rows must be at least 1; got 0"):
        reference_point(model, X, max_rows=0)


# ---------------------------------------------------------------------- whose
def test_other_models_have_no_prototypes(iris):
    _, X, y = iris
    boosted = AdaBoostClassifier(n_estimators=2).fit(X, y)
    for read in (PrototypeTable.from_estimator, ColumnMap.from_estimator, BatchMap.from_estimator):
        with pytest.raises(PsephosError, match="got AdaBoostClassifier, which has no prototypes"):
            read(boosted)
    with pytest.raises(PsephosError, match="must be a fitted ProsetClassifier"):
        familiarity(ProsetClassifier(), X)


def test_a_reduced_model_reads_the_same(iris):
    model, X, _ = iris
    small, few = model.reduce(), X[list(model.features_used_)]
    assert_array_equal(familiarity(small, few), familiarity(model, X))
    pd.testing.assert_frame_equal(
        *(PrototypeTable.from_estimator(m).frame("pandas") for m in (small, model))
    )
    assert reference_point(small, few) == reference_point(model, X)


# ---------------------------------------------------------------------- pictures
@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # after the backend is chosen

    yield plt.subplots()[1]
    plt.close("all")


def test_bars_are_shares_and_pale_ones_are_outvoted(iris, axes):
    model, X, _ = iris
    ballot = PrototypeBallot.from_estimator(model, X.iloc[[60]])
    assert ballot.plot(most=6, ax=axes) is axes
    table = ballot.table()
    assert_allclose([bar.get_width() for bar in axes.patches], table["share"][:7])
    strong = [bar.get_alpha() == 1 for bar in axes.patches]
    assert strong == [True, *table["dominant"][1:7]]
    said = [label.get_text() for label in axes.get_yticklabels()]
    assert said[0] == "the class frequencies, by weight"
    assert said[1] == f"{table['row'][1]}: {table['answer'][1]}"


@pytest.mark.parametrize("n_classes", [0, 3])
def test_the_surface_is_drawn_where_the_table_says(n_classes, axes):
    surface = DecisionSurface.from_estimator(
        drawn(2, n_classes), ("age", "site"), frame(np.zeros((1, 3))), n_points=5
    )
    surface.plot(ax=axes)
    mesh = axes.collections[0]
    if n_classes:
        legend = axes.get_legend()
        assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
        pure = np.array([dot.get_facecolor()[0][:3] for dot in legend.legend_handles])
        likeliest = surface.predicted.argmax(axis=2).T
        depth = (1 - np.asarray(mesh.get_array()).reshape(3, 5, 3)) / (1 - pure[likeliest])
        assert len(np.unique(likeliest)) > 1
        assert_allclose(depth, depth[:, :, :1].repeat(3, axis=2))
        sure = surface.predicted.max(axis=2).T
        assert_array_equal(np.argsort(depth[:, :, 0].ravel()), np.argsort(sure.ravel()))
    else:
        assert_allclose(np.asarray(mesh.get_array()).reshape(3, 5), surface.predicted[:, :, 0].T)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(SITES)
    assert axes.get_xlabel() == "age"


@pytest.mark.parametrize("n_classes", [0, 3])
def test_the_map_is_drawn_where_the_table_says(n_classes, axes):
    model = drawn(2, n_classes, sizes=(8, 3))
    shown = BatchMap.from_estimator(model)
    X = frame(np.zeros((2, 3)))
    shown.plot(X, ax=axes)
    table = shown.frame("pandas")
    dots = next(c for c in axes.collections if len(c.get_offsets()) == 8)
    assert_allclose(dots.get_offsets(), table[["place_0", "place_1"]])
    assert_allclose(np.column_stack(axes.lines[0].get_data()), shown.transform(X))


def test_the_columns_are_drawn_as_in_the_table(axes):
    shown = ColumnMap.from_estimator(drawn(6, 3, sizes=(4, 3, 2)))
    shown.plot(ax=axes)
    assert_allclose(axes.images[0].get_array(), shown.inverse_bandwidth.T)
    assert [label.get_text() for label in axes.get_yticklabels()] == shown.names


def test_without_matplotlib_the_install_command_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'psephos\[plot\]'"):
        ColumnMap.from_estimator(drawn(6)).plot()
