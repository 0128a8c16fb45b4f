import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.prototypes import wide as prototype_wide
from psephos.kernels.prototypes.sums import SILENT, batch_sums, stage
from psephos.kernels.prototypes.wide import WidePairs, suits_wide, wide_distances, wide_sums

_spec = importlib.util.spec_from_file_location(
    "prototype_twin", Path(__file__).parent / "prototype_twin.py"
)
_twin = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_twin)
close, exact, example, twin = _twin.close, _twin.exact, _twin.example, _twin.twin


class Rows:
    """A table that gives some columns, and some of its rows."""

    def __init__(self, Z):
        self.Z, self.shape = Z, Z.shape

    def __len__(self):
        return len(self.Z)

    def __getitem__(self, some):
        return self.Z[some].copy()

    def reading(self, columns):
        return Rows(self.Z[:, columns])

    def only(self, rows):
        return Rows(self.Z[rows])

    def among(self, others):
        return None  # nobody knows


def wide_pairs(rows, dtype, same=False):
    Z, C, y, t, *_ = rows
    mine = Rows(Z)
    return WidePairs(mine, mine if same else Rows(C), y, t, np.dtype(dtype), {})


def of_one_table(seed, **shape):
    """References that are the prototypes."""
    (Z, _, y, _, *other), (v, w, *rest) = example(seed, R=30, M=30, **shape)
    return (Z, Z, y, y, *other), (v, w, *rest)


@pytest.fixture(params=["few", "all"])
def laid_out(request, monkeypatch):
    """Whether the heard columns are laid out or made block by block, in blocks of 16."""
    monkeypatch.setattr(prototype_wide, "_COLUMNS", 16)
    monkeypatch.setattr(prototype_wide, "_FEW", 1 if request.param == "few" else 10**9)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("targets", [False, True])
def test_double_precision(random_seed, laid_out, targets, same):
    make, shape = (of_one_table, {}) if same else (example, {"R": 70, "M": 11})
    rows, weights = make(random_seed, q=40, targets=targets, **shape)
    weights[0][::3] = 0.0
    pairs, expected = wide_pairs(rows, np.float64, same), twin(rows, weights)
    exact(wide_sums, pairs, weights, expected)


@pytest.mark.parametrize("targets", [False, True])
def test_single_precision(random_seed, laid_out, targets):
    rows, weights = example(random_seed, R=70, M=22, q=40, targets=targets)
    close(wide_sums(wide_pairs(rows, np.float32), *weights), twin(rows, weights), 1e-5)


@pytest.mark.parametrize("echoes", [False, True])
def test_a_row_that_is_a_prototype_hears_as_much_of_itself_as_elsewhere(
    random_seed, laid_out, echoes
):
    rows, weights = of_one_table(random_seed, q=40)
    rng = np.random.default_rng(random_seed)
    place = np.where(rng.random(30) < 0.7, np.arange(30), -1)
    apart = np.where(rng.random(30) < 0.5, 1.0, SILENT) if echoes else None
    given = {"twin": place, "apart": apart}
    expected = batch_sums(stage(*rows, np.float64), *weights, **given)
    found = wide_sums(wide_pairs(rows, np.float64, same=True), *weights, **given)
    for name in ("value", "v", "w", "own", "total"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-13)


def test_columns_that_are_heard_no_more_leave_what_was_laid_out(random_seed):
    rows, (v, *weights) = example(random_seed, R=30, M=9, q=400)
    pairs = wide_pairs(rows, np.float64)
    v[:] = np.where(np.arange(400) % 40 == 0, v + 0.1, 0.0)
    close(wide_sums(pairs, v, *weights), twin(rows, (v, *weights)), 1e-12)
    first = pairs.kept["pairs"]
    v[:200] = 0.0
    close(wide_sums(pairs, v, *weights), twin(rows, (v, *weights)), 1e-12)
    assert pairs.kept["pairs"] is first
    v[3] = 0.5
    close(wide_sums(pairs, v, *weights), twin(rows, (v, *weights)), 1e-12)
    assert pairs.kept["columns"].tolist() == [3, 200, 240, 280, 320, 360]
    v[:] = 0.0
    close(wide_sums(pairs, v, *weights), twin(rows, (v, *weights)), 1e-12)


def test_some_prototypes(random_seed, laid_out):
    rows, (v, w, *rest) = example(random_seed, R=30, M=15, q=48)
    some = np.array([0, 4, 5, 9, 14])
    fewer = (rows[0], rows[1][some], rows[2], rows[3][some], *rows[4:])
    pairs = wide_pairs(rows, np.float64).among(some)
    close(wide_sums(pairs, v, w[some], *rest), twin(fewer, (v, w[some], *rest)), 1e-12)


@pytest.mark.parametrize("same", [False, True])
def test_threads_change_no_byte(random_seed, laid_out, same):
    make, shape = (of_one_table, {}) if same else (example, {"R": 140, "M": 6})
    rows, weights = make(random_seed, q=40, **shape)
    one = wide_sums(wide_pairs(rows, np.float32, same), *weights)
    for n_jobs in (2, 3):
        more = wide_sums(wide_pairs(rows, np.float32, same), *weights, n_jobs=n_jobs)
        for a, b in zip(one, more, strict=True):
            assert_array_equal(a, b)


def test_distances(random_seed):
    (Z, C, *_), _ = example(random_seed, R=70, M=6, q=300)
    every = np.arange(300)
    expected = ((Z[:, None] - C) ** 2).sum(axis=2)
    assert_allclose(wide_distances(Rows(Z), Rows(C), every, np.float64), expected, rtol=1e-12)


def test_rows_far_off_keep_their_digits(random_seed, laid_out):
    """In single precision the difference of numbers near 1e6 has one digit."""
    (Z, C, *other), (v, *weights) = example(random_seed, R=40, M=20, q=40)
    rows = (Z, C, *other)
    expected = twin(rows, (v, *weights))
    far = (Z + 1e6, C + 1e6, *other)
    close(wide_sums(wide_pairs(far, np.float32), v, *weights), expected, 1e-5)


@pytest.mark.parametrize(
    ("shape", "suits"),
    [
        ((140, 140, 5000), True),
        ((140, 140, 1800), False),  # few numbers
        ((1500, 1000, 4000), True),
        ((1500, 1000, 3999), False),  # the pairs are no small table
        ((800, 100, 2000), True),
        ((801, 100, 2000), False),  # rows are made for few prototypes
        ((1000, 200, 1023), False),  # a block would be a large part
    ],
)
def test_where_no_copy_is_made(shape, suits):
    assert suits_wide(*shape) is suits
