"""Distances of several batches: each voter accounts for the columns that its own batch compares."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos._errors import PsephosError
from psephos.vote.operations.distance import Batches, Distance
from psephos.vote.operations.distance_weights import (
    Degrees,
    DistanceWeights,
    Gaussian,
    InversePower,
    OwnPoint,
)

TWO = Batches(2, np.arange(2), np.eye(2), np.arange(2))  # point 0 compares column 0, 1 column 1
NONE = np.zeros(2)
DISTANCE = Distance(TWO, NONE, np.ones(2), NONE > 0, np.zeros((2, 2)), np.zeros((2, 2)), 0.0)


@pytest.mark.parametrize("profile", [Gaussian(), InversePower(1.0, 1.0, 1.0, False)])
def test_a_voter_accounts_for_the_columns_of_its_batch(profile):
    weights = DistanceWeights(DISTANCE, profile, np.ones(2), OwnPoint(np.arange(2)))
    X, size = np.array([[0.0, 5.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [2.0, 1.0]])
    assert_allclose(weights.divided(X, size, np.zeros(2)), size)


def test_several_batches_need_a_point_a_voter():
    with pytest.raises(PsephosError, match="several batches"):
        DistanceWeights(DISTANCE, Gaussian(), np.ones(2), Degrees(np.ones((2, 3))))
