"""What is proved of refits: which bound is asked, and how delta and settings are told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos import (
    BayesOptimalClassifier,
    CompressedSamBAClassifier,
    GibbsClassifier,
    RandomForestClassifier,
    VersionSpaceClassifier,
    compare,
)
from psephos.bounds import (
    occam_bound,
    pac_bayes_kl_bound,
    sample_compression_bound,
    tandem_bound,
    version_space_bound,
)
from psephos.protocol.evaluation.splits import PROTOCOLS
from psephos.protocol.running.proofs import refit_bounds

CATEGORIES = {"categorical_features": [0, 1, 2]}


def rows(noise, n=150):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (n, 3)).astype(float)
    return X, ((X[:, 0] == 1) ^ (rng.random(n) < noise)).astype(int)


def published(model, X, y, n_draws=1):
    (one,) = [row for row in refit_bounds(model, X, y, n_draws) if row["bound"] == "published"]
    return one


def test_delta_is_shared_by_the_settings_that_were_tried():
    rng = np.random.default_rng(0)
    X = rng.random((150, 2))
    y = (X[:, 0] > 0.5).astype(int)
    forest = RandomForestClassifier(4, max_depth=2, random_state=0).fit(X, y)
    drawn = CompressedSamBAClassifier(n_estimators=2, random_state=0).fit(X, y)
    for model, bound, at in ((forest, tandem_bound, 0), (drawn, sample_compression_bound, -1)):
        for n_draws in (1, 4):
            row = refit_bounds(model, X, y, n_draws)[at]
            assert_allclose(row["value"], bound(model, X, y, delta=0.05 / n_draws).value)
            assert row["delta"] == 0.05
            assert ("settings were not chosen by these rows" in row["told"]) == (n_draws == 1)
            assert ("the best of 4 by these rows, each with delta / 4" in row["told"]) == (
                n_draws == 4
            )


@pytest.mark.parametrize("prior", ["uniform", "short"])
def test_models_of_concepts_are_bounded_by_their_own_prior(prior):
    X, y = rows(0.1)
    model = BayesOptimalClassifier(prior=prior, **CATEGORIES).fit(X, y)
    row = published(model, X, y, 2)
    assert row["value"] == pac_bayes_kl_bound(model, X, y, rows="weights", delta=0.025).value
    single = GibbsClassifier(prior=prior, random_state=0, **CATEGORIES).fit(X, y)
    assert published(single, X, y)["value"] == occam_bound(single, X, y).value
    assert "columns and their categories were chosen before" in published(single, X, y)["told"]


def test_a_version_space_is_bounded_with_and_without_rows_left_out():
    model = VersionSpaceClassifier(on_collapse="skip", **CATEGORIES)
    X, y = rows(0.0)
    model.fit(X, y)
    assert published(model, X, y)["value"] == version_space_bound(model, X, y).value
    X, y = rows(0.1)
    model.fit(X, y)
    assert len(model.memory_.left_out)
    assert published(model, X, y)["value"] == pac_bayes_kl_bound(model, X, y, rows="weights").value


@pytest.mark.parametrize("model", [BayesOptimalClassifier(), GibbsClassifier(random_state=0)])
def test_bins_are_the_reason_where_numbers_are_read(model):
    X, y = rows(0.1)
    row = published(model.fit(X, y), X, y)
    assert row["value"] is None
    assert "cut into bins by the rows" in row["told"]


@pytest.mark.filterwarnings("ignore::psephos.CollapseWarning")
def test_a_comparison_tells_the_bounds_of_concepts():
    import pandas as pd

    X, y = rows(0.1, 90)
    frame = pd.DataFrame(X.astype(int)).astype(str).astype("category")
    frame.columns = ["a", "b", "c"]
    models = ["bayes-optimal", "gibbs", "version-space"]
    found = compare(frame, y, models=models, protocol=PROTOCOLS["quick"], n_jobs=1)
    told = {row["model"]: row for row in found.bounds if row["bound"] == "published"}
    assert set(told) == set(models)
    assert all(row["value"] is not None for row in told.values())
    assert all("voters were learned" not in row["told"] for row in told.values())
