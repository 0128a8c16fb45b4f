"""Noise is called noise: permutations, p-values, and what is exchanged with groups."""

import math
import warnings
from dataclasses import replace
from itertools import permutations

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from psephos import (
    AdaBoostClassifier,
    PsephosError,
    SparseWrapperClassifier,
    SparseWrapperRegressor,
)
from psephos.explain import SelectionTest, selection_test
from psephos.explain.selection import _orders

FEW = {"p_max": 2, "alpha": 0.2, "n_folds": 4, "random_state": 0}


def swag(**params):
    return SparseWrapperClassifier("lda", **{**FEW, **params})


def planted(n=60, p=20, shift=1.5, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, p)), np.repeat(["a", "b"], n // 2)
    X[y == "b", :2] += shift
    return X, y


def made(observed, null, names=("first", "second")):
    return SelectionTest(names, names[0], np.array(observed), np.array(null), "rows")


# ---------------------------------------------------------------------- p-values
def test_p_is_the_rank_among_all_orders_and_never_0():
    null = [[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 0.0]]
    assert made([0.5, 5.0], null).p_values().tolist() == [1 / 5, 1.0]
    assert made([2.0, 4.0], null).p_values().tolist() == [3 / 5, 2 / 5]
    assert made([2.0, 4.0], null).p_value == 3 / 5
    assert made([9.0, -1.0], null).p_value == 1.0


def test_errors_equal_but_for_rounding_are_ties():
    assert made([0.1 + 0.2], [[0.3], [0.4]], ("error",)).p_value == 2 / 3


def test_adjusted_is_westfall_and_youngs_least_p():
    rng = np.random.default_rng(0)
    test = made(rng.standard_normal(2), rng.standard_normal((30, 2)))
    values = np.vstack([test.observed, test.null])
    p = np.array([[(values[:, s] <= row[s]).mean() for s in range(2)] for row in values])
    expected = [(p.min(axis=1) <= p[0, s]).mean() for s in range(2)]
    assert_allclose(test.adjusted(), expected)
    assert (test.adjusted() >= test.p_values()).all()


def test_over_all_orders_the_sizes_are_exact():
    """If each of 6 orders may be the one observed, p <= k / 6 happens in k of them, at most."""
    values = np.array([[3, 1], [1, 1], [4, 2], [1, 7], [5, 3], [9, 0]], dtype=float)
    alone, least = [], []
    for i in range(6):
        test = made(values[i], np.delete(values, i, axis=0))
        alone.append(test.p_value)
        least.append(test.adjusted().min())
    for k in range(1, 7):
        assert sum(p <= k / 6 + 1e-12 for p in alone) <= k
        assert sum(p <= k / 6 + 1e-12 for p in least) <= k


def test_a_level_that_no_p_can_reach_is_refused():
    test = made([0.0, 0.0], np.ones((19, 2)))
    assert test.p_value == 0.05
    assert test.is_signal(0.05)
    assert not replace(test, observed=np.ones(2)).is_signal(0.05)
    with pytest.raises(PsephosError, match="use n_permutations=49 or more"):
        test.is_signal()
    with pytest.raises(PsephosError, match="level must be a number above 0 and below 1; got 1"):
        test.is_signal(1)
    assert made([0.0, 0.0], np.ones((99, 2))).is_signal()
    one, two = (np.vstack([np.ones((99 - n, 2)), np.zeros((n, 2))]) for n in (1, 2))
    assert made([0.0, 0.0], one).is_signal()
    assert not made([0.0, 0.0], two).is_signal()
    assert not made([0.0, 0.0], one).is_signal(0.01)
    assert "as low in 0 of 19 permutations of rows (p = 0.05" in test.sentence(0.05)
    assert test.sentence(0.05).startswith("signal")


def test_the_table_has_a_row_a_statistic():
    test = made([0.0, 7.0], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    frame = test.frame()
    assert list(frame["statistic"]) == ["first", "second"]
    assert list(frame["p_value"]) == [1 / 4, 1.0]
    assert list(frame["null_median"]) == [2.0, 2.0]
    assert list(frame["headline"]) == [True, False]


# ---------------------------------------------------------------------- who changes places
def draws(labels, groups, n=200):
    orders = _orders(np.asarray(labels), groups)
    rng = np.random.default_rng(0)
    return orders, [np.asarray(labels)[orders.draw(rng)] for _ in range(n)]


def test_rows_are_permuted_not_drawn():
    orders, found = draws(["a", "a", "b", "c"], None)
    assert orders.permuted == "rows"
    assert {tuple(one) for one in found} == set(permutations(["a", "a", "b", "c"]))
    assert orders.n_orders == len(set(permutations("aabc"))) == 12


def test_groups_of_one_label_swap_whole():
    groups = np.array(["u", "u", "v", "w", "w", "w", "v"])
    orders, found = draws([0, 0, 1, 1, 1, 1, 1], groups)
    assert (orders.permuted, orders.n_orders) == ("groups", 3)
    assert {tuple(one) for one in found} == {
        (0, 0, 1, 1, 1, 1, 1), (1, 1, 0, 1, 1, 1, 0), (1, 1, 1, 0, 0, 0, 1),
    }  # fmt: skip


def test_rows_of_mixed_groups_stay_in_their_group():
    groups = np.array([1, 2, 1, 2, 1, 2])
    orders, found = draws([0, 1, 0, 1, 1, 0], groups)
    assert (orders.permuted, orders.n_orders) == ("rows within groups", 9)
    assert len({tuple(one) for one in found}) == 9
    for one in found:
        assert [sum(one[groups == g]) for g in (1, 2)] == [1, 2]


def test_labels_that_cannot_move_are_said():
    with pytest.raises(PsephosError, match="no permutation of groups changes the labels"):
        _orders(np.zeros(4), np.array([1, 1, 2, 2]))
    with pytest.raises(PsephosError, match="groups must have one group per row"):
        _orders(np.zeros(4), np.zeros(3))
    X, y = planted(n=8, p=4)
    with pytest.warns(UserWarning, match="gives only 2 orders of the labels"):
        test = selection_test(
            AdaBoostClassifier(n_estimators=2), X, y, groups=y, n_permutations=3, random_state=0
        )
    assert test.permuted == "groups"


# ---------------------------------------------------------------------- the test itself
def test_signal_is_found_and_noise_is_not():
    X, y = planted()
    found = selection_test(swag(), X, y, n_permutations=19, random_state=0)
    assert found.headline == "strong_error"
    assert found.p_value == 0.05
    assert found.is_signal(0.05)
    noise = selection_test(swag(), planted(shift=0)[0], y, n_permutations=19, random_state=0)
    assert not noise.is_signal(0.05)


def test_the_statistics_are_those_of_the_fit_on_the_labels_given():
    X, y = planted()
    test = selection_test(swag(), X, y, n_permutations=2, random_state=0)
    library = swag().fit(X, y).library_
    seen = library.dimensions
    best = int(seen.dimension[seen.median.argmin()])
    strong = [e for e, d in zip(library.error, library.dimension, strict=True) if d == best]
    observed = dict(zip(test.names, test.observed, strict=True))
    assert observed["strong_error"] == pytest.approx(np.mean(strong))
    assert observed["lowest_error"] == library.error.min()
    assert observed["median_error"] == seen.median.min()
    for name, part in (("entropy", library.chosen()), ("strong_entropy", library)):
        f = np.unique([j for s in part.subsets() for j in s], return_counts=True)[1]
        f = f / f.sum()
        assert observed[name] == pytest.approx(-(f * np.log(f)).sum())


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_any_number_of_jobs_gives_the_same(backend):
    X, y = planted(n=40, p=10)
    one = selection_test(swag(), X, y, n_permutations=4, random_state=3)
    with joblib.parallel_config(backend):
        two = selection_test(swag(), X, y, n_permutations=4, random_state=3, n_jobs=2)
    assert_array_equal(one.null, two.null)
    other = selection_test(swag(), X, y, n_permutations=4, random_state=4)
    assert_array_equal(one.observed, other.observed)
    assert not np.array_equal(one.null, other.null)


def test_the_warnings_of_the_labels_given_are_not_repeated():
    X, y = planted(n=30, p=6)
    told = []

    def warned(model):
        told.append(model.n_features_in_)
        warnings.warn("few rows", UserWarning, stacklevel=1)
        return 0.0

    with pytest.warns(UserWarning, match="few rows") as seen:
        selection_test(swag(), X, y, n_permutations=3, random_state=0, statistic=warned)
    assert (len(told), len(seen)) == (4, 1)


def test_the_order_of_the_columns_does_not_matter():
    X, y = planted()
    model = AdaBoostClassifier(n_estimators=10)
    one = selection_test(model, X, y, n_permutations=3, random_state=0)
    two = selection_test(model, X[:, ::-1], y, n_permutations=3, random_state=0)
    assert one.names == ("entropy",)
    assert_allclose(one.observed, two.observed)


def test_the_estimator_and_its_folder_are_left_alone(tmp_path):
    X, y = planted(n=40, p=8)
    model = swag(folder=tmp_path / "steps")
    selection_test(model, X, y, n_permutations=2, random_state=0)
    assert not hasattr(model, "library_")
    assert not (tmp_path / "steps").exists()


def test_numbers_and_groups_and_own_statistics():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    y = X[:, 0] + 0.3 * rng.standard_normal(40)
    groups = np.repeat(np.arange(10), 4)
    test = selection_test(
        SparseWrapperRegressor(**FEW), X, y, n_permutations=9, groups=groups, random_state=0,
        statistic=lambda model: -model.score(X, y),
    )  # fmt: skip
    assert test.permuted == "rows within groups"
    assert test.headline == test.names[-1] == "own"
    assert test.p_value == 0.1
    assert (test.p_values() > 0).all()


def test_a_vote_that_reads_nothing_is_as_spread_as_can_be():
    X, y = planted(n=20, p=5)
    test = selection_test(
        AdaBoostClassifier(n_estimators=1), np.ones_like(X), y, n_permutations=2, random_state=0
    )
    assert_allclose(test.null, math.log(5))


def test_what_cannot_be_tested_is_said():
    X, y = planted(n=20, p=5)
    with pytest.raises(PsephosError, match=r"must be of psephos, .* got LogisticRegression"):
        selection_test(LogisticRegression(), X, y)
    with pytest.raises(PsephosError, match=r"n_permutations must be .* got 0"):
        selection_test(swag(), X, y, n_permutations=0)
    with pytest.raises(PsephosError, match=r"statistic must be .* got 'lowest_error'"):
        selection_test(AdaBoostClassifier(), X, y, statistic="lowest_error", n_permutations=1)


def test_the_picture_shows_the_null():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    test = made([0.0, 7.0], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    axes = test.plot()
    assert sum(bar.get_height() for bar in axes.patches) == 3
    assert axes.lines[0].get_xdata()[0] == 0.0
    assert axes.get_title() == "p = 0.25, 3 permutations"
    plt.close("all")
