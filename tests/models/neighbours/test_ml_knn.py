"""ML-kNN: by hand, on published tables, and what does not change it."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from psephos import MLKNeighborsClassifier, PsephosError, load, save

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 4))
Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.8, X[:, 2] + X[:, 3] > 0]).astype(int)
NEW = RNG.standard_normal((30, 4))


def by_hand(X, Y, new, k, s=1.0):
    """Return P(H1 | C) row by row, label by label, as the source has it."""
    apart = cdist(X, X)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1, kind="stable")[:, :k]
    asked = np.argsort(cdist(new, X), axis=1, kind="stable")[:, :k]
    out = np.empty((len(new), Y.shape[1]))
    for label in range(Y.shape[1]):
        y = Y[:, label]
        prior = (s + y.sum()) / (2 * s + len(y))
        table = np.zeros((2, k + 1))
        for i in range(len(y)):
            table[y[i], y[near[i]].sum()] += 1
        chance = (s + table) / (s * (k + 1) + table.sum(axis=1, keepdims=True))
        for i, row in enumerate(asked):
            yes = prior * chance[1, y[row].sum()]
            out[i, label] = yes / (yes + (1 - prior) * chance[0, y[row].sum()])
    return out


@pytest.mark.parametrize("k", [1, 4, 10])
def test_by_hand(k):
    model = MLKNeighborsClassifier(k).fit(X, Y)
    chances = by_hand(X, Y, NEW, k)
    assert_allclose(model.predict_proba(NEW), chances, rtol=1e-12)
    assert_array_equal(model.predict(NEW), chances >= 0.5)
    few = MLKNeighborsClassifier(k, threshold=0.3, strict=True).fit(X, Y)
    assert_array_equal(few.predict(NEW), chances > 0.3)


def test_at_the_threshold():
    """One label, posteriors of exactly one half: given, or with strict=True not."""
    cases = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0], [30.0], [31.0]])
    labels = np.tile([[0], [1], [0], [1], [0], [0], [1], [1]], 2)  # neighbours tell nothing
    loose = MLKNeighborsClassifier(1).fit(cases, labels)
    assert_array_equal(loose.predict_proba(cases), 0.5)
    assert (loose.predict(cases) == 1).all()
    strict = MLKNeighborsClassifier(1, strict=True).fit(cases, labels)
    assert (strict.predict(cases) == 0).all()


# Figures of the specification: Hamming loss, one-error, coverage, ranking loss, precision.
FIGURES = {
    "yeast": (0.1980, 0.2345, 6.4144, 0.1715, 0.7585),
    "scene": (0.0989, 0.2425, 0.5686, 0.0931, 0.8512),
    "emotions": (0.2937, 0.4059, 2.4901, 0.2829, 0.6938),
}


def five_metrics(Y, chances, said):
    """Return the source's five metrics; three leave out rows with no or all labels."""
    q, one, rank_loss, precision, coverage = Y.shape[1], [], [], [], []
    for y, r in zip(Y, chances, strict=True):
        rank = np.empty(q)
        rank[np.argsort(r, kind="stable")] = np.arange(q, 0, -1)
        has = np.flatnonzero(y)
        coverage.append(rank[has].max() - 1 if len(has) else 0)
        if 0 < len(has) < q:
            one.append(not y[r == r.max()].any())
            rank_loss.append(np.mean(r[y == 1][:, None] <= r[y == 0][None]))
            precision.append(np.mean([(rank[has] <= rank[j]).sum() / rank[j] for j in has]))
    lists = (one, coverage, rank_loss, precision)
    return (float(np.mean(said != Y)), *(float(np.mean(one)) for one in lists))


@pytest.mark.parametrize("name", FIGURES)
def test_published_tables(name):
    place = os.environ.get("PSEPHOS_DATA")
    if not place:
        pytest.skip("PSEPHOS_DATA is not set: the multi-label tables are not there")
    with np.load(Path(place, f"ml_{name}", f"ml_{name}.npz")) as table:
        cases, labels, train = table["X"], table["Y"], table["split"] == "train"
    model = MLKNeighborsClassifier().fit(cases[train], labels[train])
    chances, said = model.predict_proba(cases[~train]), model.predict(cases[~train])
    assert_allclose(five_metrics(labels[~train], chances, said), FIGURES[name], atol=5.01e-5)


def test_forms_and_weights():
    model = MLKNeighborsClassifier(5).fit(X, Y)
    chances = model.predict_proba(NEW)
    sparse = MLKNeighborsClassifier(5).fit(csr_array(X), csr_array(Y))
    assert_array_equal(sparse.predict_proba(csr_array(NEW)), chances)
    weight = 1 + np.arange(len(X)) % 3
    twice = MLKNeighborsClassifier(5).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )
    weighed = MLKNeighborsClassifier(5).fit(X, Y, sample_weight=weight)
    assert_allclose(weighed.predict_proba(NEW), twice.predict_proba(NEW), rtol=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_other_metrics(metric):
    model = MLKNeighborsClassifier(4, metric=metric).fit(X, Y)
    apart = cdist(NEW, X, {"manhattan": "cityblock"}.get(metric, metric))
    assert_array_equal(model.kneighbors(NEW)[1], np.argsort(apart, axis=1, kind="stable")[:, :4])
    holes = NEW.copy()
    holes[0, 0] = np.nan
    with pytest.raises(PsephosError, match="lacks a value"):
        model.predict(holes)


def test_neighbours_and_ballots(tmp_path):
    model = MLKNeighborsClassifier(3).fit(X, Y)
    apart, rows = model.kneighbors()
    assert_array_equal(rows != np.arange(len(X))[:, None], True)
    every = cdist(X, X)
    np.fill_diagonal(every, np.inf)
    assert_allclose(apart, np.sort(every, axis=1)[:, :3])
    with pytest.raises(PsephosError, match=r"n_neighbors is 80; .* from 1 to 79"):
        model.kneighbors(n_neighbors=80)
    ballots = model.explain(NEW[:2])
    named = set(ballots.vote.voters.rows.tolist())
    assert named == set(model.kneighbors(NEW[:2])[1].ravel().tolist())
    save(model, tmp_path / "model.psephos")
    again = load(tmp_path / "model.psephos")
    assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    assert_array_equal(again.posterior_, model.posterior_)


def test_missing_values_are_left_out_of_distances():
    holes = X.copy()
    holes[::7, 1] = np.nan
    model = MLKNeighborsClassifier(5).fit(holes, Y)
    asked = NEW.copy()
    asked[::2, 0] = np.nan
    both = ~np.isnan(asked)[:, None] & ~np.isnan(holes)[None]
    gap = np.where(both, np.nan_to_num(asked)[:, None] - np.nan_to_num(holes)[None], 0.0)
    apart = np.sqrt(4 / both.sum(axis=2) * (gap**2).sum(axis=2))
    assert_allclose(model.kneighbors(asked)[0], np.sort(apart, axis=1)[:, :5])
