"""Summaries of training columns, each by itself."""

from dataclasses import replace

import numpy as np
import pytest

from psephos import PsephosError
from psephos.vote.profile import LEVELS, profile_of


@pytest.fixture(name="table")
def _table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[:, 1] = rng.integers(0, 3, 50)
    X[::5, 0] = np.nan
    X[::7, 1] = np.nan
    X[:, 3] = np.nan
    return X, np.array([False, True, False, False])


def test_it_is_numpys_column_by_column(table):
    X, categories = table
    found = profile_of(X, categories)
    known = X[:, 0][~np.isnan(X[:, 0])]
    np.testing.assert_allclose(found.quantiles[0], np.quantile(known, LEVELS))
    np.testing.assert_allclose(found.quantiles[2], np.quantile(X[:, 2], LEVELS))
    assert found.mean[0] == pytest.approx(known.mean())
    assert found.spread[0] == pytest.approx(known.std(ddof=1))
    np.testing.assert_allclose(found.missing, np.isnan(X).mean(axis=0))
    codes = X[:, 1][~np.isnan(X[:, 1])].astype(int)
    np.testing.assert_allclose(found.levels(1), np.bincount(codes) / len(codes))
    assert found.levels(0) is None
    assert np.isnan(found.quantiles[[1, 3]]).all()


def test_some_columns_are_those_columns(table):
    X, categories = table
    kept = np.array([True, True, False, True])
    one, two = profile_of(X, categories).take(kept), profile_of(X[:, kept], categories[kept])
    for name in ("missing", "quantiles", "mean", "spread", "category", "ptr", "share"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_points_are_likely_values(table):
    X, categories = table
    found = profile_of(X, categories)
    values, chance = found.points(2, 10)
    assert chance.sum() == pytest.approx(1)
    assert (np.diff(values) >= 0).all()
    assert X[:, 2].min() <= values[0] <= values[-1] <= X[:, 2].max()
    values, chance = found.points(1, 10)
    assert set(values) <= {0.0, 1.0, 2.0}
    assert len(found.points(3, 10)[0]) == 0


def test_numbers_as_large_as_floats_go_are_no_error():
    X = np.array([[-1.7e308], [1.7e308], [0.0]])
    found = profile_of(X, np.array([False]))
    assert not np.isinf(found.quantiles).any()


def test_what_fits_not_together_is_refused(table):
    found = profile_of(*table)
    for wrong in (
        {"n_rows": 0},
        {"missing": found.missing - 2},
        {"mean": found.mean[:1]},
        {"quantiles": found.quantiles[:, ::-1]},
        {"category": np.array([9])},
        {"ptr": np.array([0, 1])},
        {"mass": np.zeros(3)},
    ):
        with pytest.raises(PsephosError):
            replace(found, **wrong)
