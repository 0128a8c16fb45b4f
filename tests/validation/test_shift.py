"""How far columns have shifted, and what chance alone would do."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from psephos import CARTClassifier, RandomForestClassifier, validate
from psephos.validation import write_validation
from psephos.validation.shift import ks_at_least
from psephos.vote.profile import LEVELS


def _words(rng, n, levels):
    return pd.Series(rng.choice(levels, size=n))


def test_the_chance_of_levels_is_that_of_dealing_them_by_lot():
    trained, other = ["u"] * 6 + ["v"] * 4, ["u"] * 2 + ["v"] * 3 + ["w"] * 0
    y = np.array([0, 1] * 5)
    X = pd.DataFrame({"c": trained, "d": y + np.arange(10) / 50})
    model = RandomForestClassifier(20, categorical_features=["c"], random_state=0).fit(X, y)
    cohort = pd.DataFrame({"c": other, "d": [0.0, 1.0, 0.1, 1.1, 0.2]})
    rows = {r["column"]: r for r in validate(model, cohort, [0, 1, 0, 1, 0]).rows("columns")}
    assert rows["c"]["distance"] == pytest.approx(0.2)
    pooled = np.array([c == "u" for c in trained + other])
    gaps = []
    for five in itertools.combinations(range(15), 5):
        own = np.isin(np.arange(15), five)
        gaps.append(abs(pooled[own].mean() - pooled[~own].mean()))
    exact = np.quantile(gaps, 0.95, method="higher")
    assert rows["c"]["chance"] == pytest.approx(exact)
    assert rows["c"]["chance"] < 1.358 * np.sqrt(1 / 5 + 1 / 10)


@pytest.mark.parametrize("n_levels", [2, 8])
def test_levels_without_a_shift_exceed_chance_in_one_of_twenty_at_most(n_levels):
    levels = [f"l{k}" for k in range(n_levels)]
    rng = np.random.default_rng(n_levels)
    X = pd.DataFrame({f"c{j}": _words(rng, 100, levels) for j in range(150)})
    y = rng.integers(0, 2, 100)
    model = RandomForestClassifier(60, categorical_features=list(X.columns), random_state=0).fit(
        X, y
    )
    cohort = pd.DataFrame({f"c{j}": _words(rng, 80, levels) for j in range(150)})
    rows = validate(model, cohort, rng.integers(0, 2, 80)).rows("columns")
    beyond = [row["distance"] > row["chance"] for row in rows]
    assert len(beyond) > 100
    assert 0 < np.mean(beyond) <= 0.1  # 0.05 and two standard errors


def test_what_is_written_of_columns_is_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    X[:, 0] += y
    found = validate(CARTClassifier(max_depth=2).fit(X[:45], y[:45]), X[45:], y[45:])
    write_validation(found, tmp_path / "v")
    text = (tmp_path / "v/columns.csv").read_text()
    assert "np." not in text
    table = pd.read_csv(tmp_path / "v/columns.csv")
    np.testing.assert_allclose(table["distance"], found.frame("columns")["distance"])
    json.dumps(found.data(), allow_nan=False)


@pytest.mark.parametrize("side", [1, -1])
def test_the_distance_on_either_side_of_a_kept_value(side):
    trained = side * np.arange(1.0, 12.0)
    levels = np.quantile(trained, LEVELS)
    beyond = side * np.full(20, 11.0)  # all at the training rows' greatest: 10 of 11 lie below
    assert ks_at_least(beyond, levels, 11) == pytest.approx(0.9 - 1 / 11)
    within = side * np.full(20, 1.0)
    assert ks_at_least(within, levels, 11) == pytest.approx(0.9 - 1 / 11)


def test_how_many_columns_are_expected_beyond_the_range():
    X = np.column_stack([np.arange(9.0), np.arange(9.0) % 2])
    y = (np.arange(9) > 4).astype(int)
    model = CARTClassifier(max_depth=1, min_samples_split=2, min_samples_leaf=1).fit(X, y)
    found = validate(
        model, np.array([[9.0, 0.0], [8.0, 1.0], [4.0, 0.0], [-1.0, 1.0]]), [1, 1, 0, 0]
    )
    assert found.shift["outside_expected"] == pytest.approx(2 / 10)
    assert found.shift["outside_mean"] == 0.5
    assert found.shift["outside"] == [1, 0, 0, 1]
