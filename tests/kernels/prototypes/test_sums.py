import importlib.util
from pathlib import Path

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.prototypes import plain as prototype_plain
from psephos.kernels.prototypes import sums as prototype_sums
from psephos.kernels.prototypes import vectors as prototype_vectors
from psephos.kernels.prototypes.sums import Desk, batch_sums, stage
from psephos.kernels.prototypes.vector_code import FEW, MANY, ROWS, lanes

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


def test_squares_are_not_expanded_where_it_would_cost_digits(random_seed):
    """Narrow kernels between near rows: |x|^2 is 10^5 times what is left of it."""
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
    monkeypatch.setattr(prototype_sums, "_SMALL", 0)
    rows, weights = example(random_seed, R=700, M=90, q=20, missing=0.01, targets=targets)
    pairs, expected = stage(*rows, dtype), twin(rows, weights)
    for work in (prototype_sums._WORK, 10_000):  # of few tasks, and of as many as there may be
        monkeypatch.setattr(prototype_sums, "_WORK", work)
        for other in (2, 3):
            one, more = batch_sums(pairs, *weights), batch_sums(pairs, *weights, n_jobs=other)
            same(one, more)
            close(one, expected, 1e-12 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_weight_next_to_nothing_is_none(random_seed, dtype):
    rows, (v, *weights) = example(random_seed)
    pairs, none = stage(*rows, dtype), batch_sums(stage(*rows, dtype), v, *weights)
    for least in (5e-324, 1e-200, 1e-35, 1e-20):
        v[v.size // 2] = least
        sums = batch_sums(pairs, v, *weights)
        assert_allclose(sums.value, none.value, rtol=1e-6)
        assert_allclose(sums.v, none.v, atol=1e-6)


def test_very_many_prototypes(random_seed, monkeypatch):
    monkeypatch.setattr(prototype_sums, "_CACHE", 1)  # tiles of the fewest rows
    monkeypatch.setattr(prototype_sums, "_DEPTH", 8)  # and columns in many pieces
    rows, weights = example(random_seed, q=30)
    close(batch_sums(stage(*rows, np.float64), *weights), twin(rows, weights), 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vector_functions_do_as_their_plain_twins(random_seed, dtype):
    """Each with the JIT on against NumPy: where the JIT is off, those are what is tested."""
    rng, width, up, step = np.random.default_rng(random_seed), lanes(dtype), 2 * ROWS, 16
    vectors, plain = prototype_vectors, prototype_plain

    def numbers(size):
        return rng.uniform(0.1, 2.0, size).astype(dtype)

    tile, x, panel = numbers(up * width), numbers(up * step), numbers(MANY * width)
    x[::7], panel[3::11], w = np.nan, np.nan, numbers(width)
    whole, whole_panel = np.nan_to_num(x, nan=1.0), np.nan_to_num(panel, nan=1.0)
    label, t = rng.integers(0, 2, width).astype(dtype), rng.integers(0, 2, up).astype(dtype)
    of, by_total, by_own = numbers(2), numbers(up), numbers(up)
    own, total, out = numbers(up * width), numbers(up * width), numbers(MANY * width)
    calls = []
    for squares, name in ((True, "add_squares"), (False, "add_products")):
        given = (tile, 0, whole, 0, step, whole_panel, 0, 3)
        calls.append((getattr(vectors, name), plain.plain_add(squares), given))
    for columns, squares, name in (
        (MANY, False, "column_products"),
        (FEW, True, "column_squares"),
        (2, True, "column_squares_last"),
    ):
        given = (tile, 0, up, whole, 0, step, whole_panel, 0, w, 0, out, 0)
        calls.append((getattr(vectors, name), plain.plain_column(columns, squares), given))
    for squares, name in ((True, "put_squares"), (False, "put_products")):
        given = (tile, 0, whole, 0, whole_panel, 0, 2)
        calls.append((getattr(vectors, name), plain.plain_put(squares), given))
    far = tile.copy()
    far[::5], apart = 2000.0, numbers(2 * up * width)
    half, size = width // 2, up * width // 2
    given = (far, 0, up, w, 0, half, apart, 0, size)
    calls.append((vectors.hear, plain.plain_hear, given))
    given = (tile, half, up, w, half, apart, size)
    calls.append((vectors.add_heard, plain.plain_heard, given))
    calls.append((vectors.sum_lanes, plain.plain_sum_lanes, (apart, up, numbers(up + width))))
    for terms in (np.array([0.7, 0.3], dtype), np.array([-1.0, 0.3], dtype)):
        given = (tile, 0, up, x, 1, step, panel, width, terms, 0)
        calls.append((vectors.add_special, plain.plain_add_special, given))
        given = (tile, 0, up, x, 1, step, panel, width, w, 0, out, width, terms, 0)
        calls.append((vectors.column_special, plain.plain_column_special, given))
    given = (tile, 0, up, t, 0, label, 0, w, 0, own, total, 0)
    calls.append((vectors.mass_classes, plain.plain_mass_classes, given))
    calls.append((vectors.mass_targets, plain.plain_mass_targets, (*given, of)))
    given = (tile, 0, up, t, 0, label, 0, by_total, by_own, out, 0)
    calls.append((vectors.slope_classes, plain.plain_slope_classes, given))
    given = (tile, 0, up, t, 0, label, 0, w, 0, by_total, by_own, out, 0, of)
    calls.append((vectors.slope_targets, plain.plain_slope_targets, given))
    for fast, slow, given in calls:
        here, there = (
            [a.copy() if isinstance(a, np.ndarray) else a for a in given] for _ in range(2)
        )
        called(fast, here)
        slow(*there)
        for a, b in zip(here, there, strict=True):
            assert_allclose(a, b, rtol=1e-12 if dtype == np.float64 else 2e-5)


def called(function, given):
    """Call from a kernel: outside of one, an intrinsic cannot be called."""
    names = ", ".join(f"a{i}" for i in range(len(given)))
    space = {"function": function}
    exec(f"def kernel({names}):\n    function({names})", space)
    numba.njit(space["kernel"])(*given)


def test_scratch_of_other_calls_changes_nothing(random_seed):
    desk = Desk()
    for shape in ({}, {"q": 40}, {"M": 100, "targets": True}, {"missing": 0.1}, {}):
        rows, weights = example(random_seed, **shape)
        pairs = stage(*rows)
        for room in desk.rooms:
            room._block[:] = np.nan
        same(batch_sums(pairs, *weights, desk=desk), batch_sums(pairs, *weights))
    assert len(desk.rooms) == len(desk._laid) == 1


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_what_other_prototypes_left_changes_nothing(random_seed, missing):
    """Parts of the prototypes fill as many panels, with the same columns in the same order."""
    rows, (v, w, *weights) = example(random_seed, M=90, q=9, missing=missing)
    pairs, desk = stage(*rows), Desk()
    for last in (70, 65, 90, 3, 70):
        some = np.arange(last)[:: 1 + (last == 90)]
        part, few, heard = pairs.among(some), w[some], v.copy()
        for k in (last % 3, 5 + last % 3):  # as many columns, others
            heard[k] = 0.0
            given = part, heard, few, *weights
            same(batch_sums(*given, desk=desk), batch_sums(*given))
            heard[k] = v[k]


def test_what_a_thread_has_taken_the_others_do_without(random_seed):
    rows, (v, *_) = example(random_seed)
    pairs, desk = stage(*rows), Desk()
    mine, theirs = desk.take(pairs, v > 0), desk.take(pairs, v > 0)
    assert not np.shares_memory(mine.panels, theirs.panels)
    desk.leave(mine)
    desk.leave(theirs)
    assert desk.take(pairs, v > 0) is theirs
    desk.leave(theirs)
    assert desk.take(pairs, v > 1) is not theirs


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_prototypes_that_are_references_are_not_kept_twice(random_seed, missing):
    (Z, _, label, _, *kinds), (v, _, *weights) = example(random_seed, R=80, q=9, missing=missing)
    turned = np.random.default_rng(random_seed).permutation(80)
    for place in (turned[:30], turned, np.arange(80)):
        given = Z, Z[place], label, label[place], *kinds
        twice, once = stage(*given), stage(*given, place=place)
        assert once.prototypes is once.rows
        for some in (np.arange(30), np.arange(0, 30, 4), np.arange(len(place))):
            one, other = once.among(some), twice.among(some)
            same(one.tables, other.tables)
            w = np.linspace(0.0, 1.0, len(some))
            same(batch_sums(one, v, w, *weights), batch_sums(other, v, w, *weights))
