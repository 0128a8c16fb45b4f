"""The rows that a vote reads in place of a table, where one column after the other is changed."""

import numpy as np
import pytest

from psephos import RankRidgeClassifier, RankRidgeRegressor, SamBAClassifier
from psephos.explain.effects import mean_answers

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5))
X[::9, 2] = np.nan
SICK = X[:, 0] + X[:, 1] > 0


@pytest.mark.parametrize("model", [RankRidgeClassifier(), RankRidgeRegressor(), SamBAClassifier()])
def test_a_column_changes_only_its_own_and_predictions_are_the_same(model):
    vote = model.fit(X[:40], SICK[:40].astype(int)).vote_
    derived, rows = vote.derived(X)
    ranked = not isinstance(model, SamBAClassifier)
    assert (rows is not X) == ranked
    assert np.array_equal(derived.score(rows), vote.score(X))
    for j in range(5):
        changed, own = X.copy(), rows.copy()
        changed[:, j] = changed[::-1, j]
        own[:, j] = derived_column = vote.derived(changed)[1][:, j]
        assert np.array_equal(derived.score(own), vote.score(changed))
        assert np.array_equal(derived_column, rows[::-1, j], equal_nan=True) or not ranked


def test_partial_dependence_of_normal_scores_is_that_of_the_table():
    vote = RankRidgeClassifier().fit(X[:40], SICK[:40].astype(int)).vote_
    values = [-9.0, -0.3, 0.0, 0.8, 9.0, np.nan]
    found = mean_answers(vote, X[40:], 2, values)
    for value, mean in zip(values, found, strict=True):
        changed = X[40:].copy()
        changed[:, 2] = value
        assert np.allclose(mean, vote.probabilities(changed).mean(axis=0), rtol=1e-12)
