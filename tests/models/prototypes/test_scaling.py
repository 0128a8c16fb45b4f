import tracemalloc

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification

from psephos import ProsetClassifier
from psephos.estimator.input import Schema, Table
from psephos.kernels.prototypes.sums import stage
from psephos.models.prototypes.problem import ScaledRows, merged_rows, read_scaled
from psephos.models.training import Training
from psephos.vote import KernelScaling


def table_of(X):
    return Table(X, Schema(X.shape[1], None, {}), np.arange(len(X)))


@pytest.fixture
def example(random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.normal(5.0, 3.0, (40, 70))
    X[:, 3] = 2.0  # says nothing
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, rng.permutation(40)[:30], rng.uniform(0.5, 2.0, 30)


def test_rows_are_scaled_as_they_are_asked_for(example):
    X, rows, weight = example
    scaled = read_scaled(table_of(X), rows, weight)
    kept = np.delete(X, 3, axis=1)[rows]
    mean = np.array([np.average(c[~np.isnan(c)], weights=weight[~np.isnan(c)]) for c in kept.T])
    squares = (kept - mean) ** 2
    deviation = [np.average(c[~np.isnan(c)], weights=weight[~np.isnan(c)]) for c in squares.T]
    expected = (kept - mean) / np.sqrt(deviation)
    assert scaled.Z.shape == expected.shape
    assert_allclose(scaled.Z[:], expected, rtol=1e-12)
    whole = scaled.Z[:]
    some = np.array([7, 2, 29])
    assert_array_equal(scaled.Z[4:9], whole[4:9])
    assert_array_equal(scaled.Z[some], whole[some])
    assert_array_equal(scaled.Z.only(some)[1:], whole[some[1:]])
    for other in (np.asfortranarray(X), sparse.csc_array(X)):
        table = Table(other, Schema(70, None, {}), np.arange(40))
        assert_array_equal(read_scaled(table, rows, weight).Z[:], whole)


def test_what_is_staged_does_not_depend_on_who_holds_it(example):
    X, rows, weight = example
    Z = read_scaled(table_of(X), rows, weight).Z
    whole, label = Z[:], np.zeros(30)
    kinds = np.zeros(69, np.bool_), np.zeros(69)
    few = np.arange(0, 30, 2)
    for lazy, dense, candidates in (
        (Z, whole, None), (Z, whole, (Z.only(few), whole[few]))
    ):  # fmt: skip
        mine, theirs = candidates or (lazy, dense)
        labels = label, label[: len(mine)]
        found = stage(lazy, mine, *labels, *kinds)
        for a, b in zip(found, stage(dense, theirs.copy(), *labels, *kinds), strict=True):
            assert_array_equal(a, b)


def test_rows_are_merged_and_ordered_without_a_copy_of_the_table(random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.integers(0, 2, (50, 3)).astype(float)
    X = np.hstack([X, np.zeros((50, 80)), rng.integers(0, 2, (50, 1))])
    y = rng.integers(0, 2, 50)
    weight = rng.choice([0.5, 1.0, 2.0], 50)
    found = merged_rows(Training(table_of(X), None, y, weight))
    assert found.table.values is X
    distinct = np.unique(np.column_stack([y, X]), axis=0)
    assert_array_equal(np.sort(found.rows), np.unique(found.rows))
    reached = np.column_stack([found.y, X[found.rows]])
    assert_array_equal(np.unique(reached, axis=0), distinct)
    assert len(reached) == len(distinct)
    for row, total, copies in zip(reached, found.weight, found.copies, strict=True):
        same = (np.column_stack([y, X]) == row).all(axis=1)
        assert total == pytest.approx(weight[same].sum())
        assert copies == same.sum()
    assert_array_equal(found.names, found.rows)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes in plain Python")
@pytest.mark.parametrize(("n", "p", "times"), [(150, 3000, 1.6), (3000, 60, 2.0)])
def test_a_fit_holds_little(n, p, times):
    """No table of all pairs where rows are many; a copy of the table, and of what it is at v."""
    X, y = make_classification(n, p, n_informative=10, n_redundant=0, random_state=0)
    model = ProsetClassifier(max_iter=20, fallback=None, random_state=0)
    model.fit(X, y)  # compiles
    tracemalloc.start()
    model.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < times * 8 * n * p


@pytest.mark.parametrize("rows", [[3], [3, 4, 5], [3, 5, 4, 6], [5, 4, 3], [0, 1], [8, 8]])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_and_columns_are_those_asked_for_and_the_table_stays(rows, order):
    Z = np.asarray(np.arange(9.0 * 160).reshape(9, 160), order=order)
    before = Z.copy()
    whole = KernelScaling(
        160, np.arange(160), np.ones(160), np.full(160, 2.0), np.zeros(160, int), np.zeros(160)
    )
    table = ScaledRows(Z, np.array(rows), whole)
    for columns in ([7], [7, 8, 9], [7, 9], [0], [159], range(150, 160), range(160), []):
        found = table.reading(np.array(columns, dtype=int))[:]
        assert_array_equal(found, (before[rows][:, list(columns)] - 1.0) * 2.0)
        assert found.flags.c_contiguous
        assert found.dtype == np.float64
        assert_array_equal(Z, before)
        one = table.reading(np.array(columns, dtype=int))[:1]
        one += 1.0
        assert_array_equal(Z, before)
