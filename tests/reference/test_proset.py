"""Votes with the parameters that the authors' program chose give its answers.

``proset.json`` holds numbers put out by proset 0.6.1 (MIT licence): two batches on iris and on
wine, the parameters of each and its probabilities and familiarities on held-out rows. The program
computes in float32.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from psephos.vote import KernelScaling, PrototypeBatch, Target, prototype_vote

pytestmark = pytest.mark.reference
CASES = json.loads((Path(__file__).parent / "proset.json").read_text())["cases"]
LOADERS = {"iris": load_iris, "wine": load_wine}


def batch_of(told, X, y):
    v = np.zeros(X.shape[1])
    v[told["active_features"]] = told["feature_weights"]
    rows = np.array(told["sample_index"])
    assert (y[rows] == told["target"]).all()
    return PrototypeBatch(v, X[rows], np.array(told["prototype_weights"]), y[rows], rows)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_same_parameters_give_the_same_answers(case):
    X, y = LOADERS[case["name"]](return_X_y=True)
    X = StandardScaler().fit_transform(X)
    p = X.shape[1]
    flat = KernelScaling(
        p, np.arange(p), np.zeros(p), np.ones(p), np.zeros(p, dtype=np.intp), np.zeros(p)
    )
    batches = [batch_of(told, X[::2], y[::2]) for told in case["batches"]]
    assert all(len(batch.weight) > 5 for batch in batches)
    prior = np.bincount(y[::2]) / len(y[::2])
    assert_allclose(prior, case["marginals"], atol=1e-7)
    vote = prototype_vote(batches, flat, prior, Target(np.arange(3)))
    score = vote.score(X[1::6])
    found = vote.readout.probabilities(score, vote.target)
    assert_allclose(found, case["probability"], atol=1e-6)
    assert_allclose(vote.mass(X[1::6]) - 1, case["familiarity"], rtol=5e-6)  # their float32
