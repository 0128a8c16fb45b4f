"""What permuting a column among held-out cases costs, on tables where it is known."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from psephos import CARTClassifier, CARTRegressor, PsephosError, RankRidgeClassifier
from psephos.explain import PermutedDisplay
from psephos.explain.permuting import most_important, worse_by


def _planted(n=1200):
    """Column 0 decides, column 1 is noise, column 2 follows the class in 200 rows alone."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] > 0, "ill", "well")
    flipped = rng.random(n) < 0.2
    X[:200, 2] += np.where(y == "ill", 1.0, -1.0)[:200]
    y = np.where(flipped, np.where(y == "ill", "well", "ill"), y)
    return X, y


def test_the_column_that_decides_costs_the_accuracy_and_noise_nothing():
    X, y = _planted()
    model = CARTClassifier(max_depth=1).fit(X[:200][:, :2], y[:200])
    found = PermutedDisplay.from_estimator(model, X[200:, :2], y[200:]).table()
    right = float(np.mean([(model.predict(X[200:, :2]) == y[200:])[y[200:] == k].mean()
                           for k in ("ill", "well")]))  # fmt: skip
    assert found["column"] == ["column 0"]
    assert found["worse"][0] == pytest.approx(right - 0.5, abs=0.03)
    noisy = RankRidgeClassifier().fit(X[:200][:, :2], y[:200])
    table = PermutedDisplay.from_estimator(noisy, X[200:, :2], y[200:]).frame().set_index("column")
    assert abs(table.loc["column 1", "worse"]) < 0.05 < table.loc["column 0", "worse"]


def test_a_column_of_use_in_training_alone_gains_nothing_held_out():
    X, y = _planted()
    model = RankRidgeClassifier().fit(X[:200], y[:200])
    table = PermutedDisplay.from_estimator(model, X[200:], y[200:]).frame().set_index("column")
    shares = model.feature_importances_
    assert shares[2] > shares[1]
    assert table.loc["column 2", "worse"] < 0.04 < table.loc["column 0", "worse"]
    assert table["worse"].is_monotonic_decreasing


def test_one_batch_gives_what_each_draw_by_itself_gives():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((30, 2)), 1)
    X[::7, 0] = np.nan
    groups = np.repeat(np.arange(6), 5)
    seen = []

    def answers_to(rows):
        seen.append(rows)
        return np.nan_to_num(rows[:, 0]) + rows[:, 1] / 7

    def measured(answers, at):
        return float(answers[at] @ np.arange(30.0))

    found = worse_by(X, [0], answers_to, measured, groups, 5)
    assert len(found[0]) == 20
    assert len(seen[1]) < 20 * 30  # a case with a value is predicted once
    draws, again = np.random.default_rng(5), []
    weight = np.arange(30.0)
    for _ in range(20):
        permuted, keys = X.copy(), draws.random(30)
        for g in range(6):  # within each group, in the order of the keys
            own = np.flatnonzero(groups == g)
            permuted[own, 0] = X[own[np.argsort(keys[own])], 0]
        change = np.nan_to_num(X[:, 0]) - np.nan_to_num(permuted[:, 0])
        again.append(float(change @ weight))
    np.testing.assert_allclose(found[0], again, atol=1e-12)


def test_of_many_columns_the_60_of_greatest_importance_are_permuted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 70))
    y = np.where(X @ rng.standard_normal(70) > 0, "ill", "well")
    model = RankRidgeClassifier().fit(X, y)
    shares = dict(enumerate(model.feature_importances_))
    order = sorted(shares, key=lambda j: -shares[j])
    assert most_important(model).tolist() == order[:60]
    display = PermutedDisplay.from_estimator(model, rng.standard_normal((30, 70)), y[:30])
    assert set(display.names) == {f"column {j}" for j in order[:60]}


def test_within_groups_a_column_of_groups_has_no_figure():
    X, y = _planted(260)
    groups = np.repeat(np.arange(65), 4)
    X[:, 1] = groups % 2
    model = RankRidgeClassifier().fit(X[:200], y[:200])
    held = PermutedDisplay.from_estimator(model, X[200:], y[200:], groups=groups[200:])
    assert set(held.names) == {"column 0", "column 2"}
    held_out = {"X": X[200:], "y": y[200:], "groups": groups[200:]}
    assert held == PermutedDisplay.from_estimator(model, **held_out)
    assert held != PermutedDisplay.from_estimator(model, **held_out, random_state=1)


def test_cases_alone_in_their_group_are_permuted_among_each_other():
    X, y = _planted(300)
    model = RankRidgeClassifier().fit(X[:200], y[:200])
    alone = np.r_[np.arange(90), 200, 200, 201, 201, 202, 202, 203, 203, 204, 204]
    found, plainly = (
        PermutedDisplay.from_estimator(model, X[200:], y[200:], groups=groups).table()
        for groups in (alone, None)
    )
    cost = dict(zip(plainly["column"], plainly["worse"], strict=True))
    first, worse = found["column"][0], found["worse"][0]
    assert cost[first] > 0.2
    assert 0.7 * cost[first] < worse < 1.1 * cost[first]


def test_of_numbers_it_is_what_r2_loses_and_categories_are_permuted_too():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.choice(list("abc"), 300), rng.standard_normal(300)]).astype(object)
    X[:, 1] = X[:, 1].astype(float)
    y = np.select([X[:, 0] == "a", X[:, 0] == "b"], [0.0, 5.0], 9.0) + rng.standard_normal(300)
    model = CARTRegressor(max_depth=3, categorical_features=[0]).fit(X[:200], y[:200])
    display = PermutedDisplay.from_estimator(model, X[200:], y[200:])
    assert display.measure == "r2"
    assert display.names[0] == "column 0"
    assert 1.4 < display.table()["worse"][0] < 2.4  # R² falls from about 0.9 to about -1
    display.plot()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"estimator": LogisticRegression()}, "must be a fitted model of psephos"),
        ({"X": "fitted"}, "needs held-out rows"),
        ({"y": ["ill"] * 3}, "inconsistent numbers of samples"),
        ({"y": ["sick"] * 60}, "'sick' is not one of the model's classes"),
        ({"groups": [1, 2]}, "one group per row"),
        ({"random_state": "a"}, "random_state must be a whole number"),
    ],
)
def test_what_it_refuses(change, words):
    X, y = _planted(260)
    model = CARTClassifier(max_depth=1).fit(X[:200], y[:200])
    given = {"estimator": model, "X": X[200:], "y": y[200:]} | change
    if isinstance(given["X"], str):
        given |= {"X": X[:200], "y": y[:200]}
    with pytest.raises(PsephosError, match=words):
        PermutedDisplay.from_estimator(**given)


def test_cases_of_one_number_have_no_r2_and_a_class_may_have_no_case():
    X, y = _planted(260)
    numbers = CARTRegressor(max_depth=2).fit(X[:200], X[:200, 0])
    with pytest.raises(PsephosError, match="two different values"):
        PermutedDisplay.from_estimator(numbers, X[200:], np.ones(60))
    model = CARTClassifier(max_depth=1).fit(X[:200], y[:200])
    ill = y[200:] == "ill"  # none is well, and some are called so, as many after permuting
    table = PermutedDisplay.from_estimator(model, X[200:][ill], y[200:][ill]).table()
    assert table["worse"] == [pytest.approx(0)]


def test_rows_of_permuted_csv_have_its_columns():
    with pytest.raises(PsephosError, match="rows must be mappings with model, column"):
        PermutedDisplay.from_rows([{"model": "cart"}], "cart")


def test_where_the_target_is_constant_in_groups_they_exchange_values_as_a_whole():
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(60), 4)
    X = rng.standard_normal((60, 3))[person] + 0.05 * rng.standard_normal((240, 3))
    y = np.where(X[::4, 1] > 0, "ill", "well")[person]
    train, held = person < 30, person >= 30
    model = RankRidgeClassifier().fit(X[train], y[train])
    case = {"X": X[held], "y": y[held], "groups": person[held]}
    table = PermutedDisplay.from_estimator(model, **case).table()
    cost = dict(zip(table["column"], table["worse"], strict=True))
    assert cost["column 1"] > 0.3
    assert abs(cost["column 0"]) < 0.1
    case["y"] = case["y"].copy()
    case["y"][0] = "ill" if case["y"][0] == "well" else "well"  # one person has two classes
    within = PermutedDisplay.from_estimator(model, **case).table()
    assert max(within["worse"]) < 0.1


def test_a_group_takes_the_values_of_one_other_group():
    X = np.r_[np.zeros(2), np.ones(3), np.full(4, 2.0), 3.0][:, None]
    groups = np.r_[[0] * 2, [1] * 3, [2] * 4, 3]
    seen = []

    def measured(answers, at):
        seen.append(answers[at])
        return 0.0

    worse_by(X, [0], lambda rows: rows[:, 0], measured, groups, 0, whole=True)
    assert len(seen) == 21
    for values in seen:
        taken = [np.unique(values[groups == g]) for g in range(4)]
        assert sorted(np.concatenate(taken)) == [0, 1, 2, 3]
