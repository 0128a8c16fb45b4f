"""SamBA of drawn stumps: what it is made of can be had again from the rows it names."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris

import psephos
from psephos import CompressedSamBAClassifier, PsephosError, SamBAClassifier
from psephos.models.boosting.compressed_samba import SampleCompression

X, Y = load_breast_cancer(return_X_y=True)


def holed():
    """Numbers with gaps, and a category column with declared levels."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((120, 4)).round(1), columns=list("abcd"))
    table.loc[::5, "b"] = np.nan
    table.loc[60:90] = table.loc[:30].to_numpy()  # rows that coincide
    table["k"] = pd.Categorical(rng.choice(["u", "v", "w"], 120), categories=["u", "v", "w", "x"])
    y = np.where((table["a"] > 0) ^ (table["k"] == "v"), "ill", "well")
    return table, y


def half_way(first, second):
    """The threshold between two rows; infinite, "is present", where one lacks the value."""
    low, high = sorted((first, second))
    middle = low / 2 + high / 2
    return np.inf if np.isnan(middle) else middle if low <= middle < high else low


def rebuilt(model, rows, table):
    """The scores of the vote, from compression rows and messages alone.

    `rows` are values of the table's rows by position: no other row is looked at.
    """
    facts, vote = model.sample_compression_, model.vote_
    voters, local = vote.voters, vote.weighting
    codes = {j: len(levels) for j, levels in model.schema_.levels.items()}
    total = np.zeros(len(table))
    q = facts.posterior(vote)
    different = np.unique(facts.candidate)
    for s, number in enumerate(different):
        t = int(np.flatnonzero(facts.candidate == number)[0])
        j = int(voters.columns[voters.feature[t]])
        first, second = (rows[int(i)][j] for i in facts.voter_rows[t])
        x = table[:, j]
        known = x == first if j in codes else x <= half_way(first, second)
        holds = np.where(np.isnan(x), voters.missing_left[t], known)
        h = np.where(holds, voters.left[t, 0], voters.right[t, 0])
        for i, anchor in enumerate(facts.anchor_rows):
            z = rows[int(anchor)][local.columns]
            off = table[:, local.columns] - z
            if codes:
                category = np.isin(local.columns, list(codes))
                off[:, category] = np.where(
                    np.isnan(off[:, category]), np.nan, off[:, category] != 0
                )
            known = ~np.isnan(off)
            d = np.sqrt(np.nansum(off**2, axis=1) * off.shape[1] / np.maximum(known.sum(axis=1), 1))
            d = np.where(known.any(axis=1), d, model.distance_scale) / model.distance_scale
            sc = h * model.a**model.b / (model.a**model.b + d**model.b)
            assert np.abs(sc).max() <= 1
            total += q[s, i] * sc
    return total


@pytest.mark.parametrize("n_anchors", [None, 25])
def test_the_vote_is_a_mean_of_sc_voters_made_of_three_rows_each(n_anchors):
    for (table, y), columns in ((holed(), ["a", "b", "k"]), ((X[:150], Y[:150]), [0, 20])):
        model = CompressedSamBAClassifier(
            n_estimators=8, distance_columns=columns, distance_scale=2.0, a=0.7, b=3.0,
            n_anchors=n_anchors, random_state=1,
        ).fit(table, y)  # fmt: skip
        facts = model.sample_compression_
        values = model._table(table).dense()
        rows = dict.fromkeys(facts.voter_rows.ravel().tolist() + facts.anchor_rows.tolist())
        rows = {i: values[i] for i in rows}
        mean = rebuilt(model, rows, values)
        assert_allclose(facts.posterior(model.vote_).sum(), 1.0)
        score = model.decision_function(table)
        assert_array_equal(np.sign(mean), np.sign(score))
        # the mean of sc-voters is the score times the share of similarity, equal for all voters
        s = model.vote_.weighting
        assert s.similarity.scale == 2.0
        assert not s.similarity.per_query
        assert (s.similarity.column_scale == 1).all()
        assert s.similarity.absent == 2.0
        assert_array_equal(s.anchors, values[facts.anchor_rows][:, s.columns])
        mass = model.mass(table) * model.a**model.b / (s.anchor_weight @ s.expertise).sum()
        assert_allclose(mean, score * mass, rtol=1e-9, atol=1e-12)
        assert facts.size == 3
        assert facts.n_rows == len(y)
        m, p = values.shape
        assert facts.n_candidates == p * m * (m - 1) * 4
        assert facts.n_voters == facts.n_candidates * (n_anchors or m)
        assert len(np.unique(facts.candidate)) >= 2


def test_anchors_depend_on_the_shape_and_the_seed_alone():
    drawn_anchors = [
        CompressedSamBAClassifier(n_estimators=2, n_anchors=9, random_state=0)
        .fit(*data).sample_compression_.anchor_rows
        for data in ((X, Y), (X[::-1], Y[::-1]))
    ]  # fmt: skip
    assert_array_equal(*drawn_anchors)


def test_all_stumps_are_those_of_samba():
    """A searched stump is a function of two rows already: only the distance is another."""
    samba = SamBAClassifier(n_estimators=6, criterion="error", update="sample").fit(X, Y)
    model = CompressedSamBAClassifier(n_estimators=6, random_state=0).fit(X, Y)
    assert_array_equal(model.vote_.voters.threshold, samba.vote_.voters.threshold)
    assert_allclose(model.estimator_errors_, samba.estimator_errors_)
    facts, voters = model.sample_compression_, model.vote_.voters
    for t, pair in enumerate(facts.voter_rows):
        j = int(voters.columns[voters.feature[t]])
        assert voters.threshold[t] == half_way(*X[pair, j])
        number = int(facts.candidate[t]) // 4
        column, rest = divmod(number, len(Y) * (len(Y) - 1))
        first, second = divmod(rest, len(Y) - 1)
        assert (column, first, second + (second >= first)) == (j, *pair)


def test_equal_rows_are_rows_and_weightless_ones_are_none():
    twice = np.vstack([X, X])
    model = CompressedSamBAClassifier(n_estimators=3, random_state=0)
    assert model.fit(twice, np.r_[Y, Y]).sample_compression_.n_rows == 2 * len(Y)
    weight = np.r_[np.zeros(100), np.ones(len(Y) - 100)]
    facts = model.fit(X, Y, weight).sample_compression_
    assert facts.n_rows == len(Y) - 100
    assert facts.voter_rows.min() >= 100
    assert_array_equal(facts.anchor_rows, np.arange(100, len(Y)))


def test_more_classes_files_and_reduced_tables(tmp_path):
    iris, species = load_iris(return_X_y=True)
    model = CompressedSamBAClassifier(random_state=0).fit(iris, species)
    assert model.score(iris, species) > 0.9
    assert model.sample_compression_.n_candidates == 4 * 150 * 149 * 2 * 6
    model = CompressedSamBAClassifier(
        n_estimators=4, distance_columns=[3], distance_scale=30.0, random_state=0
    ).fit(X, Y)
    psephos.save(model, tmp_path / "m.psephos")
    loaded = psephos.load(tmp_path / "m.psephos")
    facts = loaded.sample_compression_
    assert_array_equal(facts.candidate, model.sample_compression_.candidate)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    small = model.reduce()
    assert small.distance_columns == [model.vote_.columns.tolist().index(3)]
    assert_array_equal(small.predict_proba(X[:, model.vote_.columns]), model.predict_proba(X))
    with pytest.raises(PsephosError, match="other voters"):
        SampleCompression(
            facts.n_rows, facts.n_candidates, facts.n_anchors, facts.candidate[:1],
            facts.voter_rows[:1],
            facts.anchor_rows,
        ).check_vote(model.vote_)  # fmt: skip


def test_no_stump_better_than_chance():
    model = CompressedSamBAClassifier().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert model.vote_.weighting.tag == "constant"
    assert len(model.sample_compression_.candidate) == 0
    model.sample_compression_.check_vote(model.vote_)


def test_categories_that_nobody_declared_are_in_no_distance():
    table, y = holed()
    table["k"] = table["k"].astype(object)
    model = CompressedSamBAClassifier(n_estimators=2, categorical_features=["k"], random_state=0)
    assert 4 not in model.fit(table, y).vote_.weighting.columns
    with pytest.raises(PsephosError, match="'k', whose categories are only those of these rows"):
        model.set_params(distance_columns=["a", "k"]).fit(table, y)
    with pytest.raises(PsephosError, match="'z', which is not a column"):
        model.set_params(distance_columns=["z"]).fit(table, y)
    with pytest.raises(PsephosError, match="must be a finite number above 0"):
        CompressedSamBAClassifier(a=0.0).fit(X, Y)
