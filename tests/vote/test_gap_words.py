"""A stump says on which side a missing value is."""

import re

import numpy as np
import pytest

from psephos import AdaBoostClassifier


@pytest.mark.parametrize("gap", [True, False])
def test_the_side_of_missing_values_is_said_once(gap):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, "ill", "well")
    if gap:
        X[y == "ill", 0] = np.where(rng.random((y == "ill").sum()) < 0.3, np.nan, X[y == "ill", 0])
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    voters = model.vote_.voters
    rules = [line for line in model.describe() if "if " in line and " then " in line]
    assert rules
    for line in rules:
        voter = int(re.search(r"\d+", line)[0]) - 1  # the first of those that say the same
        if np.isposinf(voters.threshold[voter]):
            assert "also if missing" not in line
            continue
        assert ("or missing then" in line) == bool(voters.missing_left[voter])
        assert ("also if missing" in line) == (not voters.missing_left[voter])
