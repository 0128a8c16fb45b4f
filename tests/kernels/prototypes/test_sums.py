import importlib.util
from pathlib import Path

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.prototypes import sums as prototype_sums
from psephos.kernels.prototypes.sums import ZERO_AT, batch_sums, squared_distances, stage

_spec = importlib.util.spec_from_file_location(
    "prototype_twin", Path(__file__).parent / "prototype_twin.py"
)
_twin = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_twin)
close, exact, example, twin = _twin.close, _twin.exact, _twin.example, _twin.twin


@pytest.mark.parametrize("targets", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        {"q": 2},
        {"q": 7, "missing": 0.2},
        {"q": 7, "missing": 0.2, "categories": 3},
        {"q": 9, "R": 1, "M": 1},
        {"q": 40, "R": 250, "M": 70},
        {"q": 40, "missing": 0.005, "categories": 2},
        {"q": 300, "R": 97, "M": 33},
        {"q": 40, "spike": 30.0},
    ],
)
def test_double_precision(random_seed, targets, shape):
    rows, weights = example(random_seed, targets=targets, **shape)
    pairs = stage(*rows, np.float64)
    expected = twin(rows, weights)
    exact(batch_sums, pairs, weights, expected)


@pytest.mark.parametrize("targets", [False, True])
@pytest.mark.parametrize("shape", [{"q": 3}, {"q": 9, "missing": 0.2, "categories": 3}, {"q": 60}])
def test_single_precision(random_seed, targets, shape):
    rows, weights = example(random_seed, R=500, M=90, targets=targets, **shape)
    close(batch_sums(stage(*rows, np.float32), *weights), twin(rows, weights), 1e-5)


def test_narrow_kernels_between_near_rows_keep_their_digits(random_seed):
    """|x|^2 is 10^5 times the squared differences."""
    rng = np.random.default_rng(random_seed)
    (Z, C, *other), (v, *weights) = example(random_seed, q=20, R=90, M=90)
    C[:] = Z + 0.02 * rng.standard_normal(Z.shape)
    v[:] = 20.0
    rows = (Z, C, *other)
    expected = twin(rows, (v, *weights))
    assert expected["total"].max() > 0.01
    close(batch_sums(stage(*rows, np.float32), v, *weights), expected, 2e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("targets", [False, True])
def test_threads_change_no_byte(random_seed, monkeypatch, dtype, targets):
    R = 70 if numba.config.DISABLE_JIT else 700  # as plain Python it takes its time
    rows, weights = example(random_seed, R=R, M=90, q=20, missing=0.01, targets=targets)
    pairs, expected = stage(*rows, dtype), twin(rows, weights)
    for work in (prototype_sums._WORK, 10_000):  # of few tasks, and of as many as there may be
        monkeypatch.setattr(prototype_sums, "_WORK", work)
        one = batch_sums(pairs, *weights)
        close(one, expected, 1e-12 if dtype == np.float64 else 1e-5)
        for other in (2, 3):
            same(one, batch_sums(pairs, *weights, n_jobs=other))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_weight_next_to_nothing_is_none(random_seed, dtype):
    rows, (v, *weights) = example(random_seed)
    pairs, none = stage(*rows, dtype), batch_sums(stage(*rows, dtype), v, *weights)
    for least in (5e-324, 1e-200, 1e-35, 1e-20):
        v[v.size // 2] = least
        sums = batch_sums(pairs, v, *weights)
        assert_allclose(sums.value, none.value, rtol=1e-6)
        assert_allclose(sums.v, none.v, atol=1e-6)


@pytest.mark.parametrize("echoes", [False, True])
@pytest.mark.parametrize("q", [6, 40])
def test_a_row_that_is_a_prototype_adds_a_share_of_itself(random_seed, q, echoes):
    """As if the reference were judged alone, by prototypes of which its own weighs less."""
    (Z, _, y, _, *other), (v, w, u, own, total, omega) = example(random_seed, R=30, M=30, q=q)
    rows, rng = (Z, Z, y, y, *other), np.random.default_rng(random_seed)
    place = np.where(rng.random(30) < 0.7, np.arange(30), -1)
    apart = np.where(rng.random(30) < 0.5, 1.0, ZERO_AT) if echoes else None
    weights = v, w, u, own, total, omega
    found = batch_sums(stage(*rows, np.float64), *weights, twin=place, apart=apart)
    kept = np.exp2(-apart) if echoes else np.zeros(30)
    value, by_v = 0.0, np.zeros(q)
    for n in range(30):
        less = w.copy()
        if place[n] >= 0:
            less[n] *= kept[n]
        one = slice(n, n + 1)
        alone = twin((Z[one], Z, y[one], y, *other), (v, less, u, own[one], total[one], omega[one]))
        value, by_v = value + alone["value"], by_v + alone["v"]
        assert_allclose([found.own[n], found.total[n]], [alone["own"][0], alone["total"][0]],
                        rtol=1e-11)  # fmt: skip
    assert_allclose(found.value, value, rtol=1e-12)
    assert_allclose(found.v, by_v, atol=1e-12 * np.abs(by_v).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_are_at_zero(random_seed, dtype):
    """Whatever v: a row beside a copy of itself has the copy's whole weight."""
    (Z, _, y, _, *other), (v, _w, u, own, total, omega) = example(random_seed, R=30, M=30, q=40)
    pairs = stage(Z, Z, y, y, *other, dtype)
    sums = batch_sums(pairs, v * 1e4, np.ones(30), u, own, total, omega)
    assert_array_equal(sums.total, 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_some_prototypes(random_seed, dtype):
    (Z, C, y, t, *other), (v, w, *rest) = example(random_seed, R=30, M=45, q=20, missing=0.01)
    some = np.array([0, 4, 5, 9, 14, 15, 16, 20, 31, 32, 33, 34, 38, 39, 40, 41, 44])
    pairs = stage(Z, C, y, t, *other, dtype).among(some)
    expected = twin((Z, C[some], y, t[some], *other), (v, w[some], *rest))
    close(batch_sums(pairs, v, w[some], *rest), expected, 1e-12 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("shape", [(5, 3, 1), (70, 6, 301), (33, 48, 8)])
def test_columns_that_are_alike_need_distances_alone(random_seed, shape):
    R, M, q = shape
    rows, (v, *weights) = example(random_seed, R=R, M=M, q=q)
    pairs = stage(*rows, np.float64)
    distances = squared_distances(pairs)
    expected = ((rows[0][:, None] - rows[1]) ** 2).sum(axis=2)
    assert_allclose(distances[:, :M], expected, rtol=1e-12, atol=1e-12)
    assert_array_equal(squared_distances(pairs, n_jobs=3), distances)
    v[:] = 0.3
    found = batch_sums(pairs, v, *weights, columns=False, alike=(distances, 0.3))
    expected = twin(rows, (v, *weights)) | {"v": np.zeros(q)}
    close(found, expected, 1e-12)


def test_rows_far_off_keep_their_digits(random_seed):
    """In single precision the difference of numbers near 1e6 has one digit."""
    (Z, C, *other), (v, *weights) = example(random_seed, R=40, M=20, q=40)
    expected = twin((Z, C, *other), (v, *weights))
    far = stage(Z + 1e6, C + 1e6, *other, np.float32)
    close(batch_sums(far, v, *weights), expected, 1e-5)


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert_array_equal(a, b)
