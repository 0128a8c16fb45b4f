import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos.kernels.stump import bounds as stump_bounds
from psephos.kernels.stump.bins import (
    BINS,
    GROUP,
    PLANES,
    WIDTH,
    arrange,
    bin_ends,
    code_columns,
    weigh_groups,
)
from psephos.kernels.stump.layout import LANES, no_orders, place
from psephos.kernels.stump.screen import quantise, screen_error, screen_gini
from psephos.runtime.jit import jit

needs_look_up = pytest.mark.skipif(
    not stump_bounds.has_bounds, reason="this processor does not look 64 bytes up at once"
)
lane_sums = stump_bounds.lane_sums


@jit
def _sums(codes, word, n_groups, tables, visits, n_visited, out):
    lane_sums(codes, word, n_groups, tables, visits, n_visited, visits.shape[0], out)


def _coded(rng, n, y, narrower=0.0, blocks=16):
    """Return orders (8 * blocks, n), the same interleaved, the arrangement, bin ends and codes.

    Every entry but the last is flagged.
    """
    order = np.stack([rng.permutation(n) for _ in range(LANES * blocks)])
    laid, flagged = no_orders(LANES * blocks, n), order.copy()
    flagged[:, :-1] |= 2**15
    place(flagged.astype(np.uint16), 0, laid)
    rows, ends = arrange(y), bin_ends(n, narrower)
    wide_blocks = -(-blocks * LANES // WIDTH)
    codes = np.zeros(wide_blocks * PLANES * rows.n_groups * LANES, np.uint64)
    words = np.zeros(rows.n_groups * GROUP + 1, np.uint64)
    code_columns(
        laid, 2**15 - 1, 0, blocks, rows.place, rows.n_groups, ends, words.view(np.uint8), words,
        codes,
    )  # fmt: skip
    return order, laid, rows, ends, codes


def _weights(rng, n, kind):
    if kind == "one":
        return np.ones(n)
    if kind == "even":
        return rng.random(n)
    if kind == "one heavy row":
        return np.where(np.arange(n) == n // 3, 1.0, 1e-3)
    return np.exp(2.0 * rng.standard_normal(n))


KINDS = ["one", "even", "uneven", "one heavy row"]


def _quantised(w, y):
    n = len(y)
    signed, totals = np.empty(n + 1, np.int32), np.empty(3)
    assert quantise(np.append(w, 0.0), np.append(y, 0), signed, totals)
    return signed, int(totals[0]), int(totals[1])


def test_rows_are_dealt_out_by_class(random_seed):
    rng = np.random.default_rng(random_seed)
    for y in (rng.integers(0, 2, 50), np.zeros(7, int), np.ones(6, int), np.arange(2)):
        rows = arrange(y)
        n = len(y)
        flat = rows.at.reshape(-1)
        assert_array_equal(np.sort(flat[flat < n]), np.arange(n))
        assert (rows.place[:n] // LANES < GROUP * rows.n_groups).all()
        assert_array_equal(flat[rows.place[:n] // LANES], np.arange(n))
        assert rows.place[n] == LANES * GROUP * rows.n_groups
        first = rows.at[: rows.n_first].reshape(-1)
        assert_array_equal(np.sort(first[first < n]), np.flatnonzero(y == 0))


@pytest.mark.parametrize("narrower", [0.0, 0.4])
def test_bins_end_in_order(narrower):
    for n in (1, 5, 100, 4096):
        ends = bin_ends(n, narrower)
        assert len(ends) == BINS
        assert ends[-1] == n
        assert (np.diff(ends) >= 0).all()
    sizes = np.diff(ends, prepend=0)
    assert abs(sizes[0] - (1 - narrower) * n / len(ends)) < 0.05 * n / len(ends)
    assert abs(sizes - sizes[::-1]).max() <= 2


@pytest.mark.parametrize("n", [40, 600])
def test_codes_are_bins_by_rank(random_seed, n):
    rng = np.random.default_rng(random_seed)
    y = rng.integers(0, 2, n)
    order, _, rows, ends, codes = _coded(rng, n, y, 0.4, blocks=11)
    bits = np.unpackbits(codes.view(np.uint8), bitorder="little")
    bits = bits.reshape(2, PLANES, rows.n_groups, WIDTH, 8)[..., :GROUP]
    code = (bits.astype(int) << np.arange(PLANES - 1, -1, -1)[:, None, None, None]).sum(axis=1)
    code = code.transpose(0, 2, 1, 3).reshape(2 * WIDTH, -1)[:, rows.place[:n] // LANES]
    want = np.empty(order.shape, int)
    np.put_along_axis(want, order, np.searchsorted(ends, np.arange(n), "right")[None], axis=1)
    assert_array_equal(code[: len(order)], want)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_weigh_any_six_rows(random_seed, kind):
    rng = np.random.default_rng(random_seed)
    for n in (1, 5, 90, 600, 4000):
        y = rng.integers(0, 2, n)
        rows = arrange(y)
        signed, _, _ = _quantised(_weights(rng, n, kind), y)
        tables, visits, n_visited, scales = weigh_groups(signed, rows)
        chosen = (np.arange(64)[:, None] >> np.arange(GROUP)) & 1
        exact = np.abs(signed[rows.at].astype(float)) @ chosen.T * scales.units
        found = np.zeros(exact.shape)
        np.add.at(found, visits // WIDTH, tables.astype(float))
        assert abs(found - exact).max() <= 0.5 + 1e-6
        assert (visits[:n_visited] < rows.n_first * WIDTH).all()
        assert (visits[n_visited:] >= rows.n_first * WIDTH).all()
        assert_array_equal(
            [scales.whole_a, scales.whole_b],
            [found[: rows.n_first, -1].sum(), found[rows.n_first :, -1].sum()],
        )
        assert max(scales.whole_a, scales.whole_b) < 2**15
        if kind == "one heavy row" and n == 600:  # split up, so that the others weigh something
            assert len(visits) > rows.n_groups
            assert np.median(found[:, -1]) > 4


@needs_look_up
@pytest.mark.parametrize("kind", KINDS)
def test_vector_sums_equal_their_twin(random_seed, kind):
    rng = np.random.default_rng(random_seed)
    n = 100
    for y in (rng.integers(0, 2, n), np.zeros(n, int), np.ones(n, int)):
        _, _, rows, _, codes = _coded(rng, n, y)
        signed, _, _ = _quantised(_weights(rng, n, kind), y)
        tables, visits, n_visited, _ = weigh_groups(signed, rows)
        word = PLANES * rows.n_groups * LANES  # the second block of 64
        out, want = np.empty((2, 2, BINS - 1, WIDTH), np.int16)
        _sums(codes, word, rows.n_groups, tables, visits, n_visited, out)
        given = codes, word, rows.n_groups, tables, visits, n_visited, len(visits)
        stump_bounds._plain_sums(*given, want)
        assert_array_equal(out, want)


@needs_look_up
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.5, 0.1, 0.0])
def test_bounds_are_above_the_screen(random_seed, kind, share):
    rng = np.random.default_rng(random_seed)
    n, blocks = 150, 16
    y = (rng.random(n) < share).astype(int)
    w = _weights(rng, n, kind)
    signed, d, total = _quantised(w, y)
    for narrower in (0.0, 0.4):
        order, laid, rows, ends, codes = _coded(rng, n, y, narrower, blocks)
        tables, visits, n_visited, scales = weigh_groups(signed, rows)
        exact = np.empty((2, blocks, LANES))
        screen_error(laid, np.arange(blocks), signed, d, exact[0])
        screen_gini(laid, np.arange(blocks), signed, d, total, exact[1])
        given = codes, rows.n_groups, 0, 2, tables, visits, n_visited, scales.units
        extra, bounds = np.zeros(2 * WIDTH), np.empty((2, 2 * WIDTH))
        sums = np.empty((2, BINS - 1, WIDTH), np.int16)
        room, told = np.empty((2, WIDTH), np.int16), scales[1:]
        stump_bounds.bound_error(*given, *told, d, extra, sums, room, bounds[0])
        weights = (total - d) / 2, (total + d) / 2
        room = np.empty((5, WIDTH), np.float32)
        told = [np.float32(scales.units * weight) for weight in weights]
        reach = stump_bounds.reaches(ends, rows, scales, weights)
        stump_bounds.bound_gini(*given, *told, reach, extra, sums, room, bounds[1])
        bounds = bounds.reshape(exact.shape)
        assert (bounds >= exact).all()
        # And not far above: by the heaviest bins, and the rounding of the tables.
        cumulated = np.abs(signed[order].astype(float)).cumsum(axis=1)
        padded = np.concatenate([np.zeros((len(order), 1)), cumulated], axis=1)
        in_bins = np.diff(padded[:, np.append(0, ends)], axis=1).max(axis=1)
        slack = 2 * scales.slack / scales.units
        assert ((bounds[0] - exact[0]).reshape(-1) <= 2 * in_bins + slack + 1e-6 * total).all()
