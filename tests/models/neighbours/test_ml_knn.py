"""ML-kNN: by hand, on published tables, and what does not change it."""

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


@pytest.mark.parametrize("most", [1, 3, 2000])
def test_whole_numbers(most):
    """Small ones are compared by products alone, large ones are not: all find the nearest."""
    rng = np.random.default_rng(most)
    cases, asked = rng.integers(-most, most + 1, (300, 7)), rng.integers(-most, most + 1, (40, 7))
    labels = rng.integers(0, 2, (300, 2))
    model = MLKNeighborsClassifier(6).fit(cases, labels)
    far = cdist(asked, cases)
    order = np.argsort(far, axis=1, kind="stable")[:, :6]
    apart, rows = model.kneighbors(asked)
    assert_array_equal(rows, order)
    assert_allclose(apart, np.take_along_axis(far, order, axis=1), rtol=1e-12)


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
    for case, near in enumerate(model.kneighbors(NEW[:2])[1]):
        for label in range(3):
            carried = [f"row {row}" for row in sorted(near) if Y[row, label]]
            assert sorted(ballots.carried_by(case, label)) == sorted(carried)
        assert {v - 1 for line in ballots.lines(case) for v in line.voters} == set(near.tolist())
    for label in ballots.given(0):
        assert f"  {label}: row " in str(ballots)
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


@pytest.mark.parametrize("size", [1e155, 1e200, 1e300])
@pytest.mark.parametrize("whole", [True, False])
def test_a_row_that_is_too_far_for_distances_is_refused(size, whole):
    X = np.random.default_rng(0).normal(size=(60, 6))
    model = MLKNeighborsClassifier(5).fit(X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5]))
    asked = X[:3].copy()
    asked[1] *= size
    asked[1, 3] = asked[1, 3] if whole else np.nan
    for ask in (model.predict, model.predict_proba, model.kneighbors):
        with pytest.raises(PsephosError, match="so far from the training cases that distances"):
            ask(asked)
    asked = X[:3] * [[1], [1e90], [1]]
    alone = np.concatenate([model.predict_proba(row[None]) for row in asked])
    assert_array_equal(model.predict_proba(asked), alone)


def test_the_answer_can_be_followed_in_words():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1.0, rng.random(60) > 0.5]).astype(int)
    model = MLKNeighborsClassifier(10).fit(X, Y)
    rows, chances = rng.standard_normal((4, 3)), None
    near, chances = model.kneighbors(rows)[1], model.predict_proba(rows)
    told = model.predict(rows)
    ballots = model.explain(rows)
    text, page = str(ballots), ballots._repr_html_()
    for i in range(4):
        for k in range(3):
            answer = "given" if told[i, k] else "not given"
            have = int(Y[near[i], k].sum())
            words = f"{have} of 10 neighbours have it: probability {chances[i, k]:.3f}, {answer}"
            assert f"  {k}: {words}" in text
            assert f"<p>{k}: {words}</p>" in page
            assert f"{k}: {words}" in ballots.columns()["looked_up"][i * len(ballots.voter_numbers)]
    assert "frame() has every label" in page
    described = "\n".join(model.describe())
    row = " ".join(f"{p:.3f}" for p in model.posterior_[1])
    assert f"Posterior of 1 where 0, 1, ..., 10 of 10 neighbours say it: {row}" in described
    assert described.count("near row") == 12
    assert "48 training cases more" in described


def test_of_classes_the_look_up_is_told_too():
    X, y = np.arange(20.0)[:, None], np.repeat(["no", "yes"], 10)
    told = str(MLKNeighborsClassifier(4).fit(X, y).explain([[0.0]]))
    assert "no: 4 of 4 neighbours are it: probability" in told


def test_a_constant_column_has_no_importance():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((40, 2)), np.full(40, 5.0)])
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0])
    shares = MLKNeighborsClassifier(5).fit(X, Y).feature_importances_
    assert shares[2] == 0.0
    assert shares[:2].min() > 0.1
