"""Theorem 1 for voters anywhere in [-1, 1]: what of it holds, and where its footnote does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from sklearn.tree import DecisionTreeClassifier

from psephos import LocalBoostingClassifier

pytestmark = pytest.mark.theory

RELEVANCES = {
    "exp": lambda seen: np.exp(seen.agreement),
    "ramp": lambda seen: (1 + seen.agreement) / 2,
    "squared": lambda seen: seen.agreement.clip(0) ** 2 + 1e-3,
    "column": lambda seen: np.exp(-np.abs(seen.X[:, 0])),
    "zero where wrong": lambda seen: (seen.agreement > 0) * seen.share,
}


@st.composite
def tables(draw):
    n, p = draw(st.integers(4, 24)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(2, 6)), (n, p)).astype(float)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    prior = rng.choice([0.0, 0.1, 1.0, 4.0], n)
    priors = dict(zip(map(bytes, X), prior, strict=True))
    return X, y, {**priors, bytes(X[0]): 1.0}


def bounds(z, pi):
    """(Z with SamBA's relevance, edge mu) of agreements z under pi."""
    return float(pi @ np.exp(-np.exp(z) * z)), float(pi @ z)


@settings(max_examples=150, deadline=None)
@given(tables(), st.sampled_from(sorted(RELEVANCES)), st.sampled_from(["answer", "probability"]),
       st.booleans())  # fmt: skip
def test_training_error_is_at_most_the_product_of_the_normalisers(table, name, says, deep):
    """For every relevance, prior and voter in [-1, 1], if difficulty is exp(-omega h y)."""
    X, y, prior = table
    seen_ones = []

    def recorded(seen):
        omega = RELEVANCES[name](seen)
        seen_ones.append((seen, omega))
        return omega

    model = LocalBoostingClassifier(
        DecisionTreeClassifier(max_depth=2, random_state=0) if deep else None,
        n_estimators=6, relevance=recorded, says=says, a=0.0, distance_scale=None,
        column_scale=None, prior=lambda X, y: np.array([prior[bytes(x)] for x in X]),
    ).fit(X, y)  # fmt: skip
    if not seen_ones:
        assert model.vote_.weighting.tag == "constant"
        return
    kept = seen_ones[: model.vote_.n_voters]
    z = [np.exp(-omega * s.agreement) @ s.weight for s, omega in kept]
    label = np.where(kept[0][0].y == 1, 1.0, -1.0)
    score = model.vote_.anchor_scores()[:, 0]
    exact = np.sum([omega * s.agreement for s, omega in kept], axis=0)
    assert_allclose(np.sign(score * label), np.sign(exact.round(12)), atol=1)
    wrong = exact < -1e-12
    assert kept[0][0].weight @ wrong <= np.prod(z) + 1e-9
    if name == "exp":
        for (s, _), one in zip(kept, z, strict=True):
            gamma = 0.5 - s.error
            assert one <= 1.0020 - 1.8719 * gamma + 1e-12
            if says == "answer" and not deep:
                chord = np.exp(1 / np.e) * s.error + np.exp(-np.e) * (1 - s.error)
                assert_allclose(one, chord)
                assert one <= 1 - gamma <= np.exp(-gamma)


@settings(max_examples=60)  # a search of counterexamples to a formula: no code is asked
@given(hnp.arrays(float, 12, elements=st.floats(-1, 1)),
       hnp.arrays(float, 12, elements=st.floats(0, 1)))  # fmt: skip
def test_one_round_with_voters_in_between(z, weight):
    pi = (weight + 1e-9) / (weight + 1e-9).sum()
    normaliser, edge = bounds(z, pi)
    if edge >= 0:
        assert normaliser <= 1.0020 - 0.9359 * edge
        if edge >= 0.005:
            assert normaliser <= 1 - edge / 2
    signs = np.where(z < 0, -1.0, 1.0)
    normaliser, edge = bounds(signs, pi)
    chord = np.exp(1 / np.e) * (1 - edge) / 2 + np.exp(-np.e) * (1 + edge) / 2
    assert_allclose(normaliser, chord)
    if edge >= 0:
        assert normaliser <= 1 - edge / 2 + 1e-12


def test_the_footnote_of_d_1_does_not_hold():
    """Inequality (5) for voters in [-1, 1], by either reading of the error."""
    normaliser, _ = bounds(np.full(4, 0.01), np.full(4, 0.25))  # no error at all
    assert normaliser > 0.98 > np.exp(-np.e)
    edgy, pi = np.array([-0.061, 1.0]), np.array([0.9425, 0.0575])
    normaliser, edge = bounds(edgy, pi)
    assert 0 < edge < 1e-3
    assert normaliser > 1.001 > 1 - edge / 2
