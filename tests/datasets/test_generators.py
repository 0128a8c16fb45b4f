import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from psephos import CARTClassifier, PsephosError
from psephos.datasets import (
    first_order_products,
    make_checkerboard,
    make_continuous_xor,
    make_spirals,
)


def test_products_are_those_of_all_pairs_in_order():
    X = np.random.default_rng(0).standard_normal((7, 5))
    X[2, 1] = np.nan
    whole, names = first_order_products(X)
    assert whole.shape == (7, 15)
    assert_array_equal(whole[:, :5], X)
    for name, column in zip(names[5:], whole[:, 5:].T, strict=True):
        a, b = (int(one[1:]) for one in name.split(" × "))
        assert a < b
        assert_array_equal(column, X[:, a] * X[:, b])
    assert len(set(names)) == 15
    assert first_order_products(X[:, :1])[1] == ["x0"]


def test_a_model_computes_the_products_that_a_frame_lacks():
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=["a", "b", "c"])
    y = (frame["a"] * frame["c"] > 0).astype(int)
    whole, names = first_order_products(frame)
    model = CARTClassifier(random_state=0).fit(pd.DataFrame(whole, columns=names), y)
    assert model.features_used_.tolist() == ["a × c"]
    assert_array_equal(model.predict(frame), y)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((np.ones(3),), "two dimensions; got 1"),
        ((np.ones((2, 3)), ["a"]), "one name per column, 3; got 1"),
    ],
)
def test_products_of_no_table_are_refused(given, words):
    with pytest.raises(PsephosError, match=words):
        first_order_products(*given)


@given(
    n=st.integers(2, 300),
    turns=st.floats(0.01, 6.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_point_without_noise_lies_on_its_arm(n, turns, seed):
    X, y = make_spirals(n, n_turns=turns, random_state=seed)
    radius = np.hypot(*X.T)
    phi = 2 * np.pi * radius + np.pi * y
    assert_allclose(X, radius[:, None] * np.column_stack([np.cos(phi), np.sin(phi)]), atol=1e-9)
    assert radius.min() >= 0.25 - 1e-12
    assert radius.max() <= 0.25 + turns + 1e-12


@pytest.mark.parametrize(("n", "counts"), [(2, [1, 1]), (7, [4, 3]), (1000, [500, 500])])
def test_classes_are_as_even_as_they_can_be(n, counts):
    X, y = make_spirals(n, random_state=0)
    assert X.shape == (n, 2)
    assert_array_equal(np.bincount(y), counts)


def test_rows_come_in_random_order():
    _, y = make_spirals(100, random_state=0)
    assert 0 < y[:50].sum() < 50


def test_points_spread_evenly_along_the_arms():
    """A turn's share of the points grows with its length: the squared radius is uniform."""
    X, _ = make_spirals(20_000, n_turns=3.0, random_state=0)
    share = ((X**2).sum(axis=1) - 0.25**2) / (3.25**2 - 0.25**2)
    assert_allclose(np.histogram(share, 10, (0, 1))[0] / 20_000, 0.1, atol=0.01)


def test_the_arms_keep_apart_so_that_the_classes_can_be_told():
    X, y = make_spirals(2000, n_turns=2.5, random_state=0)
    a, b = X[y == 0], X[y == 1]
    nearest = np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2)).min()
    assert nearest > 0.3


def test_noise_has_the_spread_asked_for():
    """Noise is drawn after the points, so the same seed gives the same points beneath it."""
    n, seed = 5000, 3
    clean, _ = make_spirals(n, random_state=seed)
    noisy, _ = make_spirals(n, noise=0.05, random_state=seed)
    on_arm = np.sort(np.hypot(*clean.T))
    assert_allclose(np.sort(np.hypot(*noisy.T)), on_arm, atol=0.25)
    phase = np.arctan2(noisy[:, 1], noisy[:, 0]) / (2 * np.pi)
    off = np.hypot(*noisy.T) - phase  # a point of an arm is off by a multiple of one half
    off -= np.round(2 * off) / 2
    outer = np.hypot(*noisy.T) > 1  # the bearing too is noisy, by noise / (2 pi r) turns
    assert_allclose(off[outer].std(), 0.05, rtol=0.05)


def test_the_same_seed_gives_the_same_table_and_another_another():
    first, again, other = (make_spirals(50, noise=0.1, random_state=s)[0] for s in (1, 1, 2))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    state = np.random.RandomState(1)
    assert_array_equal(first, make_spirals(50, noise=0.1, random_state=state)[0])


@pytest.mark.parametrize("size", [2, 3, 8])
def test_neighbouring_squares_of_a_board_differ(size):
    X, y = make_checkerboard(40, size=size, random_state=0)
    assert X.shape == (40 * size**2, 2)
    assert X.min() >= 0
    assert X.max() < 1
    column, row = np.floor(X * size).astype(int).T
    board = np.full((size, size), -1)
    board[row, column] = y
    assert_array_equal(board[row, column], y)  # one class a square
    assert board[0, 0] == 0
    assert (np.diff(board, axis=0) % 2 == 1).all()
    assert (np.diff(board, axis=1) % 2 == 1).all()


def test_squares_of_a_board_hold_the_rows_asked_for():
    X, _ = make_checkerboard(400, size=5, random_state=0)
    counts = np.histogram2d(*X.T, bins=5, range=[(0, 1), (0, 1)])[0]
    assert_allclose(counts.mean(), 400)
    assert_allclose(counts, 400, atol=5 * 20)  # Poisson: standard deviation 20


def test_one_column_of_an_even_board_tells_nothing():
    X, y = make_checkerboard(2000, size=4, random_state=0)
    for x in X.T:
        share = np.histogram(x[y == 1], 16, (0, 1))[0] / np.histogram(x, 16, (0, 1))[0]
        assert_allclose(share, 0.5, atol=0.06)


@given(angle=st.floats(-720, 720), seed=st.integers(0, 2**32 - 1))
def test_a_turned_board_is_the_board_turned_about_its_middle(angle, seed):
    flat, y = make_checkerboard(2, size=3, random_state=seed)
    turned, same = make_checkerboard(2, size=3, rotation=angle, random_state=seed)
    assert_array_equal(y, same)
    spin = np.exp(1j * np.deg2rad(angle))
    expected = (flat - 0.5) @ [1, 1j] * spin
    assert_allclose((turned - 0.5) @ [1, 1j], expected, atol=1e-12)


def test_the_sign_of_the_product_is_the_class():
    X, y = make_continuous_xor(4, n_noise_columns=3, n_rows_per_orthant=50, random_state=0)
    assert X.shape == (800, 7)
    assert np.abs(X).max() <= 1
    assert_array_equal(y, X[:, :4].prod(axis=1) >= 0)
    assert_allclose(np.abs(X).mean(axis=0), 0.5, atol=0.05)
    orthants = np.unique(X[:, :4] > 0, axis=0, return_counts=True)[1]
    assert len(orthants) == 16
    assert_allclose(orthants, 50, atol=5 * 50**0.5)


def test_all_but_one_column_of_the_product_tell_nothing():
    X, y = make_continuous_xor(3, n_rows_per_orthant=2000, random_state=0)
    for left_out in range(3):
        orthant = np.delete(X > 0, left_out, axis=1) @ [1, 2]
        assert_allclose(np.bincount(orthant, y) / np.bincount(orthant), 0.5, atol=0.04)


def test_noise_columns_leave_the_others_as_they_are():
    bare, y = make_continuous_xor(3, random_state=7)
    X, same = make_continuous_xor(3, n_noise_columns=4, random_state=7)
    assert_array_equal(X[:, :3], bare)
    assert_array_equal(y, same)
    assert np.abs(np.corrcoef(np.column_stack([X[:, 3:], y]).T) - np.eye(5)).max() < 0.15


@pytest.mark.parametrize("make", [make_checkerboard, make_continuous_xor])
def test_the_same_seed_gives_the_same_pattern_and_another_another(make):
    first, again, other = (make(random_state=s)[0] for s in (1, 1, 2))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape[0] == 6400  # the sizes of the source


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: make_spirals(1), "n_samples must be .*; got 1"),
        (lambda: make_spirals(10.0), "n_samples must be .*; got 10.0"),
        (lambda: make_spirals(True), "n_samples must be .*; got True"),
        (lambda: make_spirals(noise=-0.1), "noise must be .*; got -0.1"),
        (lambda: make_spirals(noise=np.nan), "noise must be .*; got nan"),
        (lambda: make_spirals(noise="much"), "noise must be .*; got 'much'"),
        (lambda: make_spirals(n_turns=0), "n_turns must be .*; got 0"),
        (lambda: make_spirals(n_turns=np.inf), "n_turns must be .*; got inf"),
        (lambda: make_spirals(random_state="seed"), "random_state must be .*; got 'seed'"),
        (lambda: make_checkerboard(0), "n_rows_per_square must be .*; got 0"),
        (lambda: make_checkerboard(size=1), "size must be .*; got 1"),
        (lambda: make_checkerboard(size=8.0), "size must be .*; got 8.0"),
        (lambda: make_checkerboard(rotation=np.nan), "rotation must be a finite number; got nan"),
        (lambda: make_checkerboard(rotation=-np.inf), "rotation must be .*; got -inf"),
        (lambda: make_checkerboard(rotation="45"), "rotation must be .*; got '45'"),
        (lambda: make_checkerboard(random_state="seed"), "random_state must be .*; got 'seed'"),
        (lambda: make_continuous_xor(1), "n_columns must be .*; got 1"),
        (lambda: make_continuous_xor(n_noise_columns=-1), "n_noise_columns must be .*; got -1"),
        (lambda: make_continuous_xor(n_rows_per_orthant=0), "n_rows_per_orthant must be .*; got 0"),
        (
            lambda: make_continuous_xor(n_rows_per_orthant=True),
            "n_rows_per_orthant must be .*; got True",
        ),
        (lambda: make_continuous_xor(random_state="seed"), "random_state must be .*; got 'seed'"),
    ],
)
def test_what_cannot_be_used_is_named(call, words):
    with pytest.raises(PsephosError, match=words):
        call()
