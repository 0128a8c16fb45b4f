"""Who answers where one hypothesis does, and how probable the others are."""

import numpy as np
import pytest

from psephos import BayesOptimalClassifier, GibbsClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    "model",
    [BayesOptimalClassifier(decision="map"), GibbsClassifier(n_draws=None, random_state=0)],
)
def test_the_weight_of_one_is_not_given_to_all_that_say_the_same(model):
    model.fit(X, Y)
    ballots = model.explain(X[:5])
    for case in range(5):
        (line,) = [line for line in ballots.lines(case) if line.weight]
        assert line.weight == 1.0
        (answers,) = line.voters
        assert answers == int(np.flatnonzero(ballots.shares[case])[0]) + 1


def test_a_posterior_is_told_where_one_hypothesis_answers():
    model = GibbsClassifier(n_draws=None, random_state=0).fit(X, Y)
    first = next(s for s in model.describe() if s.startswith("Voter 1 "))
    assert f"({100 * model.posterior_[0][0]:.1f} %)" in first
