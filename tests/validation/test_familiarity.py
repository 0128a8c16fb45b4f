"""How familiar cases are: ties, missing values, prototypes without their prior."""

import numpy as np
import pandas as pd
import pytest

from psephos import ProsetClassifier, SamBAClassifier, validate
from psephos.explain.prototypes import familiarity


def _gappy(n, seed):
    """Cases of few values, so that distances tie, many of which are missing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 4, size=(n, 4)).astype(float), columns=list("abcd"))
    y = np.where(X.sum(axis=1) + rng.normal(size=n) > 6, "ill", "well")
    return X.mask(rng.random(X.shape) < 0.45), y


def test_a_distance_of_0_over_few_columns_is_not_the_same_case():
    X, y = _gappy(80, 0)
    model = SamBAClassifier(n_estimators=12).fit(X, y)
    reads = list(model.reduce().schema_.names)
    other, truth = _gappy(60, 1)
    other.iloc[0] = X.iloc[3]  # missing where it is missing
    other.iloc[1] = [*X.iloc[4, :3], 17.0]
    found = validate(model, other, truth)
    told = found.familiarity
    kept = {str(row) for row in X[reads].to_numpy().tolist()}
    same = sum(str(row) in kept for row in other[reads].to_numpy().tolist())
    assert told["same"] == same
    zero = int((found.frame("predictions")["familiarity"] == 0).sum())
    assert zero > same >= 1
    assert told["compared"] == len(reads)
    assert 0 <= told["least_shared"] < told["shared"] < 1
    assert f"on average {100 * told['shared']:.0f} % of the {len(reads)}" in str(found)
    assert f"{same} cases with the values of a training case in all {len(reads)}" in str(found)


def test_what_is_expected_of_like_cases_counts_ties():
    X, y = _gappy(80, 0)
    model = SamBAClassifier(n_estimators=12).fit(X, y)
    same = validate(model, X, y)
    far = same.familiarity
    assert far["trained_median"] == 0  # at least half are tied
    assert sum(far["expected"]) == pytest.approx(1)
    assert far["expected"][-1] < 0.1  # with ties most are farther than few
    shares = same.frame("predictions")["share_farther"].to_numpy()
    assert shares.max() < 1  # nothing is farther than itself
    assert f"expected of cases like the training rows: {80 * far['expected_beyond_90']:.1f}" in str(
        same
    )
    assert far["expected_beyond_90"] <= 0.1


def test_the_weight_of_prototypes_is_told_without_their_prior():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    model = ProsetClassifier(random_state=0).fit(X[:80], y[:80])
    told = validate(model, X[80:], y[80:])
    near = told.familiarity
    assert near["median"] == pytest.approx(np.median(familiarity(model, X[80:])), rel=1e-12)
    assert near["trained_median"] == pytest.approx(np.median(familiarity(model, X[:80])), rel=1e-6)
    assert near["n_kept"] == int((model.vote_.voters.batches.batch >= 0).sum())


def test_a_case_as_far_as_the_farthest_is_not_beyond_it():
    X = np.arange(40.0)[:, None]
    y = np.where(np.arange(40) < 20, "ill", "well")
    model = SamBAClassifier(n_estimators=2).fit(X, y)
    near = validate(model, np.array([[40.0], [-1.0], [43.0], [20.25]]), [*"ab"] * 2,
                    classes={"a": "ill", "b": "well"}).familiarity  # fmt: skip
    assert near["beyond_all"] == near["beyond_90"] == 1
