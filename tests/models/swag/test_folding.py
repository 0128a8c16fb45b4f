"""Folds are drawn once; what cannot be divided is refused with the remedy."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import LeaveOneGroupOut, ShuffleSplit

from psephos import PsephosError
from psephos.models.swag.problem import Folds
from psephos.models.training import make_splits

Y = np.repeat([0, 1], [24, 16])


def parts(folds):
    trains = np.split(folds.train, folds.train_ptr[1:-1])
    return list(zip(trains, np.split(folds.test, folds.test_ptr[1:-1]), strict=True))


@pytest.mark.parametrize("n_classes", [0, 2])
def test_every_repeat_tests_every_row_once(n_classes):
    y = Y if n_classes else np.linspace(0, 1, 40)
    folds = Folds.of(make_splits(y, n_classes, n_folds=4, n_repeats=3, seed=5))
    assert folds.n_splits == 12
    for repeat in range(3):
        tests = [test for _, test in parts(folds)[4 * repeat : 4 * repeat + 4]]
        assert_array_equal(np.sort(np.concatenate(tests)), np.arange(40))
    for train, test in parts(folds):
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(40))
        if n_classes:
            assert np.bincount(y[test]).tolist() == [6, 4]
    assert not np.array_equal(parts(folds)[0][1], parts(folds)[4][1])


def test_same_seed_same_folds_and_repeats_nest():
    first = Folds.of(make_splits(Y, 2, n_folds=4, n_repeats=2, seed=5))
    again = Folds.of(make_splits(Y, 2, n_folds=4, n_repeats=3, seed=5))
    assert_array_equal(first.test, again.test[: len(first.test)])
    assert not np.array_equal(
        first.test, Folds.of(make_splits(Y, 2, n_folds=4, n_repeats=2, seed=6)).test
    )


@pytest.mark.parametrize("n_classes", [0, 2])
def test_groups_stay_whole(n_classes):
    groups = np.arange(40) // 2
    y = Y if n_classes else np.linspace(0, 1, 40)
    folds = Folds.of(make_splits(y, n_classes, groups=groups, n_folds=4, n_repeats=2))
    for train, test in parts(folds):
        assert not set(groups[train]) & set(groups[test])
    assert not np.array_equal(parts(folds)[0][1], parts(folds)[4][1])


def test_a_splitter_pairs_and_a_number():
    groups = np.arange(40) % 5
    folds = Folds.of(make_splits(Y, 2, groups=groups, cv=LeaveOneGroupOut()))
    assert [set(groups[test]) for _, test in parts(folds)] == [{0}, {1}, {2}, {3}, {4}]
    held = ShuffleSplit(3, test_size=0.25, random_state=0)
    assert Folds.of(make_splits(Y, 2, cv=held)).n_tests == 30
    pairs = [(np.arange(40)[::-1] < 30, np.arange(30))]  # a mask, and positions
    (train, test), *rest = parts(
        Folds.of(make_splits(Y, 2, cv=[(np.r_[0:20, 30:40], np.r_[29:19:-1])]))
    )
    assert rest == []
    assert test.tolist() == list(range(20, 30))
    assert len(train) == 30
    with pytest.raises(PsephosError, match="rows of split 0 must be disjoint"):
        Folds.of(make_splits(Y, 2, cv=pairs))
    assert_array_equal(
        Folds.of(make_splits(Y, 2, cv=4)).test, Folds.of(make_splits(Y, 2, n_folds=4)).test
    )


def test_small_classes():
    y = np.repeat([0, 1], [30, 3])
    with pytest.warns(UserWarning, match="class 'ill' has 3 rows, fewer than cv=5"):
        Folds.of(make_splits(y, 2, cv=5, classes=["well", "ill"]))
    with pytest.warns(UserWarning, match="class 'ill' has 3 rows, fewer than n_folds=5"):
        folds = Folds.of(make_splits(y, 2, n_folds=5, classes=["well", "ill"]))
    assert all(len(np.unique(y[train])) == 2 for train, _ in parts(folds))
    with pytest.raises(PsephosError, match=r"class '1' has 1 row.*Merge it"):
        Folds.of(make_splits(np.repeat([0, 1], [30, 1]), 2, n_folds=5))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_folds": 41}, "n_folds must be at most the number of rows, 40; got 41"),
        ({"cv": 41}, "cv must be at most the number of rows, 40; got 41"),
        ({"n_folds": 1}, "n_folds must be at least 2"),
        ({"n_repeats": 0}, "n_repeats at least 1"),
        ({"groups": np.arange(40) % 3}, "at most the number of groups, 3; got 10"),
        ({"groups": np.arange(39)}, r"groups must have shape \(40,\); got \(39,\)"),
        ({"groups": np.r_[np.arange(24), [99] * 16], "n_folds": 2}, "do not contain class '1'"),
        ({"cv": "five"}, "cv must be .*; got 'five'"),
        ({"cv": 3.5}, r"cv must be .*; got 3\.5"),
        ({"cv": []}, "no split"),
        ({"cv": [(np.arange(24), np.arange(24, 40))]}, "rows of split 0 do not contain class '1'"),
        ({"cv": [(np.arange(40), [])]}, "split 0 has no test row"),
        ({"cv": [(np.arange(38), [40])]}, "must be indices from 0 to 39"),
        ({"cv": [(np.arange(38), [-1])]}, "must be indices from 0 to 39"),
        ({"cv": [(np.arange(38), [38.5])]}, "must be indices from 0 to 39"),
        ({"cv": [1, 2]}, "cv cannot split the rows"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(PsephosError, match=words):
        Folds.of(make_splits(Y, 2, **options))


def test_grouped_folds_are_drawn_again_until_they_serve():
    # the second class is in three groups: many drawings leave it out of a training part
    y = np.r_[np.zeros(30, dtype=int), np.ones(6, dtype=int)]
    groups = np.r_[np.arange(30), np.repeat([50, 51, 52], 2)]
    for seed in range(10):
        folds = Folds.of(make_splits(y, 2, groups=groups, n_folds=3, seed=seed))
        assert all(len(np.unique(y[train])) == 2 for train, _ in parts(folds))
