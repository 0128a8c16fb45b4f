"""How many equally good models disagree, case by case."""

import numpy as np
import pytest

import psephos
from psephos import PsephosError
from psephos.vote.multiplicity import multiplicity_of


@pytest.mark.parametrize("vote", ["majority", "mean", "best"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_are_counted_by_what_each_says(vote, n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(120, 5))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=120) > 0).astype(int) + (n_classes == 3) * (
        X[:, 2] > 1
    )
    swag = psephos.SparseWrapperClassifier(
        "lda", p_max=1, alpha=0.9, delta=0.9, vote=vote, random_state=0
    ).fit(X, y)
    told = swag.multiplicity(X)
    votes = swag.vote_.votes(X)[:, :-1]  # the prior is no model
    target, tier = swag.vote_.target, swag.vote_.weighting.tier[:-1]
    said = np.stack([target.decode(votes[:, t]) for t in np.flatnonzero(tier == 0)], axis=1)
    answer = swag.predict(X)
    assert told["n_models"] == [said.shape[1]] * 120
    assert told["n_disagree"] == (said != answer[:, None]).sum(axis=1).tolist()
    assert sum(told["n_disagree"]) > 0
    for i, rival in enumerate(told["rival"]):
        others = said[i][said[i] != answer[i]]
        assert (rival is None) == (len(others) == 0)
        assert rival is None or (others == rival).sum() == np.bincount(others).max()


def test_models_without_their_columns_are_not_asked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    swag = psephos.SparseWrapperClassifier(p_max=1, alpha=0.9, delta=0.9, random_state=0)
    swag.fit(X, X[:, 0] + X[:, 1] > 0)
    gaps = X[:2].copy()
    gaps[0, 0], gaps[1] = np.nan, np.nan
    told = swag.multiplicity(gaps)
    assert told["n_models"][0] == swag.multiplicity(X[:1])["n_models"][0] - 1
    assert told["n_models"][1] == 0
    assert np.isnan(told["share"][1])


def test_other_votes_have_no_models():
    X = np.arange(20.0)[:, None]
    forest = psephos.RandomForestClassifier(n_estimators=3, random_state=0).fit(X, X[:, 0] > 9)
    with pytest.raises(PsephosError, match="library"):
        multiplicity_of(forest.vote_, X)
