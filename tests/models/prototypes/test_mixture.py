"""Mixtures of normal densities: against SciPy's normal, integrals, draws, and a row alone."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from psephos._errors import PsephosError
from psephos.models.prototypes import mixture as sums
from psephos.models.prototypes.mixture import NormalMixture, mixture_of
from psephos.vote import (
    Constant,
    ConstantVoters,
    KernelScaling,
    PrototypeBatch,
    Readout,
    RegressionTarget,
    Target,
    Vote,
    prototype_vote,
)

TINY = np.finfo(np.float64).tiny
CHANCES = np.array([1e-6, 0.01, 0.3, 0.5, 0.8, 0.999, 1 - 1e-6])


def mixture(n=12, t=9, narrowest=0.05, seed=0):
    """Cases of which each hears few components, some none of a component."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(t, 0.2), n)
    share[:, 1::3] = 0.0
    share /= share.sum(axis=1, keepdims=True)
    spread = np.exp(rng.uniform(np.log(narrowest), np.log(2.0), t))
    return NormalMixture(share, rng.normal(0.0, 3.0, t), spread)


def one(share, mean, spread):
    return NormalMixture(
        np.atleast_2d(np.array(share, dtype=float)), np.array(mean, float), np.array(spread, float)
    )


def case(mix, i):
    return replace(mix, share=mix.share[i : i + 1])


def prototypes(n_classes=0):
    """A vote of a prior and 40 prototypes in two batches, of numbers or of classes."""
    rng = np.random.default_rng(1)
    scaling = KernelScaling(
        3, np.arange(3), np.zeros(3), np.ones(3), np.zeros(3, np.intp), np.zeros(3)
    )
    batches = [
        PrototypeBatch(
            rng.uniform(0.2, 2.0, 3), rng.normal(size=(20, 3)), rng.uniform(0.1, 3.0, 20),
            rng.integers(0, n_classes, 20) if n_classes else rng.normal(5.0, 2.0, 20),
            np.arange(20), 0.0 if n_classes else spread,
        )
        for spread in (0.7, 0.05)
    ]  # fmt: skip
    if n_classes:
        return prototype_vote(batches, scaling, np.array([0.4, 0.6]), Target(np.arange(2)))
    return prototype_vote(batches, scaling, np.array([5.0, 2.0]), RegressionTarget())


class Extremes:
    """A stream of the least and the greatest chance there is, and of no noise."""

    def random(self, size):
        return np.array([0.0, np.nextafter(1.0, 0.0)])[:size]

    def standard_normal(self, size):
        return np.zeros(size)


@st.composite
def mixtures(draw):
    """One case; spreads over nine orders, means that may coincide, components nobody hears."""
    t = draw(st.integers(1, 6))
    numbers = st.lists(st.integers(-8, 8), min_size=t, max_size=t)
    weight = draw(st.lists(st.integers(0, 5), min_size=t, max_size=t).filter(any))
    spread = 10.0 ** np.array(draw(st.lists(st.floats(-6, 3), min_size=t, max_size=t)))
    return one(np.array(weight) / sum(weight), draw(numbers), spread)


# ---------------------------------------------------------------------- moments and densities
def test_moments_are_those_of_the_vote_and_of_the_law_of_mixtures():
    vote, X = prototypes(), np.random.default_rng(2).normal(size=(50, 3))
    share, value = vote.shares(X), vote.voters.values[:, 0]
    square = share @ (vote.voters.spread**2 + value**2)
    moments = share @ value, square - (share @ value) ** 2
    assert_allclose(mixture_of(vote, X).moments(), moments, rtol=1e-10)
    mix = mixture()
    mean, variance = mix.moments()
    assert_allclose(mean, mix.share @ mix.mean, rtol=1e-12)
    second = mix.share @ (mix.spread**2 + mix.mean**2)
    assert_allclose(variance, second - mean**2, rtol=1e-10)


def test_densities_and_chances_are_sums_of_normal_ones():
    mix = mixture()
    at = np.random.default_rng(3).normal(0.0, 4.0, (mix.n_cases, 7))
    for asked, normal in (
        (mix.density, norm.pdf), (mix.cdf, norm.cdf), (mix.survival, norm.sf),
    ):  # fmt: skip
        each = normal(at[:, :, None], mix.mean, mix.spread)
        assert_allclose(asked(at), np.einsum("nt,ngt->ng", mix.share, each), rtol=1e-11)
    assert_allclose(mix.log_density(at), np.log(mix.density(at)), rtol=1e-11, atol=1e-13)


def test_the_density_is_the_slope_of_the_cdf_and_its_mass_is_one():
    mix = mixture(narrowest=0.3)
    grid = np.linspace(-30.0, 30.0, 60_001)[None, :]
    density, cdf = mix.density(grid), mix.cdf(grid)
    assert_allclose(np.trapezoid(density, grid, axis=1), 1.0, atol=1e-10)
    slope = (cdf[:, 2:] - cdf[:, :-2]) / (2 * 0.001)
    assert_allclose(slope, density[:, 1:-1], atol=2e-5)


def test_places_may_be_one_for_all_one_a_case_or_a_grid():
    mix = mixture(n=4)
    own, grid = np.array([0.0, 1.0, 2.0, 3.0]), np.array([[-1.0, 0.0, 5.0]])
    assert_array_equal(mix.cdf(1.5), mix.cdf(np.full(4, 1.5)))
    assert mix.cdf(own).shape == (4,)
    assert_array_equal(mix.cdf(own[:, None])[:, 0], mix.cdf(own))
    assert_array_equal(mix.cdf(grid), mix.cdf(np.repeat(grid, 4, axis=0)))
    assert_array_equal(mix.cdf([[-np.inf, np.inf]]), np.tile([0.0, 1.0], (4, 1)))
    assert_array_equal(mix.density(np.inf), 0.0)
    assert_array_equal(mix.log_density(-np.inf), -np.inf)


def test_far_tails_keep_their_precision():
    mix = one([0.25, 0.75, 0.0], [0.0, 5.0, 50.0], [1.0, 1e-9, 1e-200])
    assert_allclose(mix.log_density(-100.0), norm.logpdf(-100.0) + np.log(0.25), rtol=1e-14)
    assert_allclose(mix.log_density(5.0), np.log(0.75 * norm.pdf(0.0) / 1e-9), rtol=1e-9)
    assert_allclose(mix.cdf(-30.0), 0.25 * norm.cdf(-30.0), rtol=1e-12)
    assert_allclose(mix.survival(30.0), 0.25 * norm.sf(30.0), rtol=1e-12)
    assert np.isfinite(mix.log_density(1e150)).all()


# ---------------------------------------------------------------------- quantiles
def check_quantiles(mix, q):
    """Each is where the tail is right to 1e-12 of it, or between two neighbouring numbers."""
    found = mix.quantile(q)
    for sign, tail, asked in ((1, q, mix.cdf), (-1, 1 - q, mix.survival)):
        mine = q <= 0.5 if sign > 0 else q > 0.5
        x, goal = found[:, mine], tail[mine]
        near = np.abs(asked(x) - goal) <= 2e-12 * goal
        steps = 4 * np.spacing(np.abs(x)) + TINY
        inside = (asked(x - sign * steps) <= goal * (1 + 2e-12)) & (
            asked(x + sign * steps) >= goal * (1 - 2e-12)
        )
        assert (near | inside).all()


@pytest.mark.parametrize("narrowest", [1.0, 0.05, 1e-3])
def test_quantiles_invert_the_cdf(narrowest):
    mix = mixture(n=40, t=12, narrowest=narrowest)
    found = mix.quantile(CHANCES)
    assert found.shape == (40, 7)
    assert_allclose(mix.cdf(found[:, :4]), np.tile(CHANCES[:4], (40, 1)), rtol=1e-10)
    tails = np.tile(1 - CHANCES[4:], (40, 1))
    assert_allclose(mix.survival(found[:, 4:]), tails, rtol=1e-10)
    check_quantiles(mix, CHANCES)


@given(mix=mixtures(), q=st.lists(st.floats(1e-12, 1 - 1e-9), min_size=1, max_size=4))
def test_quantiles_of_any_mixture(mix, q):
    chances = np.sort(q)
    check_quantiles(mix, chances)
    found = mix.quantile(chances)
    assert (np.diff(found, axis=1) >= 0).all()
    assert_array_equal(mix.quantile(chances[::-1])[:, ::-1], found)


def test_quantiles_between_narrow_components_far_apart():
    mix = one([0.2, 0.3, 0.5], [-1000.0, 0.0, 1000.0], [1e-8, 1e-8, 1e-8])
    found = mix.quantile([0.1, 0.2 + 0.15, 0.75])
    assert_allclose(found, [[-1000.0, 0.0, 1000.0]], atol=1e-12)
    inner = mix.quantile([0.01, 0.21, 0.51])  # one in twenty, one in thirty, one in fifty
    scores = norm.ppf([0.05, 1 / 30, 0.02])
    assert_allclose(inner, np.array([[-1000.0, 0.0, 1000.0]]) + 1e-8 * scores, atol=3e-13)
    flat = mix.quantile(0.5)[0, 0]
    assert_allclose(mix.cdf(flat), 0.5, rtol=1e-12)


def test_quantiles_of_one_component_are_those_of_the_normal():
    mix = one([0.0, 1.0], [7.0, 3.0], [1e-4, 2.0])
    q = np.array([1e-300, 1e-6, 0.2, 0.5, 0.97])
    assert_allclose(mix.quantile(q)[0], norm.ppf(q, 3.0, 2.0), rtol=1e-14)
    point = one([1.0], [0.0], [TINY])
    assert_allclose(point.quantile([0.2, 0.5, 0.7]), 0.0, atol=1e-300)


def test_quantiles_of_chances_next_to_each_other_are_in_order():
    mix = mixture(n=60, narrowest=1e-4)
    for middle in (0.01, 0.3, 0.5, 0.8):
        chances = middle + 1e-14 * np.arange(-30.0, 30.0)
        assert (np.diff(mix.quantile(chances), axis=1) >= 0).all()
    narrow = mixture(n=5000, narrowest=1e-4).interval(2e-16)
    assert (narrow[:, 0] <= narrow[:, 1]).all()


def test_quantiles_take_few_rounds(monkeypatch):
    """Newton where it serves, bisection where it does not; one normal is answered outright."""
    rounds, newton = [], sums._probit_step
    monkeypatch.setattr(sums, "_probit_step", lambda *a: (rounds.append(len(a[0])), newton(*a))[1])
    one([0.0, 1.0], [1e9, 3.0], [1e9, 1.0]).quantile(CHANCES)
    assert rounds == []
    smooth = mixture(n=200, t=50, narrowest=0.5, seed=2)
    replace(smooth, mean=smooth.mean + 100.0).quantile(CHANCES)
    assert sum(rounds) < 5.5 * 200 * 7
    for narrowest in (1e-4, 1e-9):
        rounds.clear()
        mixture(n=200, t=50, narrowest=narrowest).quantile(CHANCES)
        assert sum(rounds) < 20 * 200 * 7
        assert len(rounds) < 50


def test_an_interval_leaves_as_much_below_as_above():
    mix = mixture()
    found = mix.interval(0.9)
    assert_allclose(found, mix.quantile([0.05, 0.95]), rtol=1e-10)
    assert_allclose(mix.cdf(found[:, 0]), 0.05, rtol=1e-10)
    assert_allclose(mix.survival(found[:, 1]), 0.05, rtol=1e-10)
    wide = mix.interval(1 - 1e-12)
    assert_allclose(mix.cdf(wide[:, 0]), mix.survival(wide[:, 1]), rtol=1e-11)


# ---------------------------------------------------------------------- the ranked score
def integral(mix, y, sd=12.0):
    """The score by its definition: Gauss-Legendre between all places where F bends."""
    knots = (mix.mean[:, None] + mix.spread[:, None] * np.linspace(-sd, sd, 97)).ravel()
    knots = np.unique(np.append(knots, y))
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(knots)[:, None] / 2
    z = (knots[:-1, None] + half + half * nodes).ravel()
    below = mix.cdf(z[None, :])[0]
    above = mix.survival(z[None, :])[0]
    return (np.where(z < y, below, above) ** 2 * (half * weights).ravel()).sum()


@pytest.mark.parametrize("narrowest", [0.5, 1e-3])
def test_crps_is_the_integral_it_is_defined_as(narrowest):
    mix = mixture(n=10, narrowest=narrowest)
    y = np.random.default_rng(5).normal(0.0, 4.0, 10)
    found = mix.crps(y)
    assert_allclose(found, [integral(case(mix, i), y[i]) for i in range(10)], rtol=1e-9, atol=1e-9)


@given(mix=mixtures(), y=st.floats(-20, 20))
def test_crps_of_any_mixture(mix, y):
    scale = 1 + np.abs(mix.mean).max() + mix.spread.max()
    assert_allclose(mix.crps(y)[0], integral(mix, y), rtol=0, atol=1e-8 * scale)


def test_crps_of_one_component_and_of_a_point():
    """Closed form for a normal: Gneiting & Raftery 2007, section 4.2; for a point, the error."""
    y = np.array([-4.0, 3.0, 8.5])
    mix = one(np.tile([0.0, 1.0], (3, 1)), [9.0, 3.0], [1e-5, 2.0])
    z = (y - 3.0) / 2.0
    normal = 2.0 * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert_allclose(mix.crps(y), normal, rtol=1e-13)
    points = one(np.tile([0.5, 0.5], (3, 1)), [3.0, 3.0], [TINY, 1e-250])
    assert_allclose(points.crps(y), np.abs(y - 3.0), rtol=1e-14, atol=1e-200)


def test_crps_in_blocks_of_components_is_the_double_sum():
    """More components than one block, with spreads that differ by orders of magnitude."""
    mix = mixture(n=70, t=300, narrowest=1e-6)
    y = np.random.default_rng(6).normal(0.0, 3.0, 70)

    def distance(m, s):
        return 2 * s * norm.pdf(m / s) + m * (2 * norm.cdf(m / s) - 1)

    variance = mix.spread**2
    table = distance(mix.mean[:, None] - mix.mean, np.sqrt(variance[:, None] + variance))
    near = (mix.share * distance(y[:, None] - mix.mean, mix.spread)).sum(axis=1)
    expected = near - np.einsum("ns,st,nt->n", mix.share, table, mix.share) / 2
    assert_allclose(mix.crps(y), expected, rtol=1e-11, atol=1e-12)


def test_crps_never_holds_the_table_of_pairs():
    mix = mixture(n=80, t=4000)
    tracemalloc.start()
    mix.crps(0.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 8 * 4000 / 4


# ---------------------------------------------------------------------- draws
def test_draws_have_the_moments_and_the_distribution():
    mix = mixture(n=6, narrowest=1e-3)
    n_draws = 40_000
    draws = mix.sample(n_draws, np.random.default_rng(0))
    assert draws.shape == (6, n_draws)
    mean, variance = mix.moments()
    error = np.sqrt(variance / n_draws)
    assert (np.abs(draws.mean(axis=1) - mean) < 5 * error).all()
    square = (draws - mean[:, None]) ** 2
    assert (np.abs(square.mean(axis=1) - variance) < 5 * square.std(axis=1) / n_draws**0.5).all()
    chances = np.array([0.01, 0.1, 0.5, 0.9, 0.99])
    for place, q in zip(mix.quantile(chances).T, chances, strict=True):
        below = (draws <= place[:, None]).mean(axis=1)
        assert (np.abs(below - q) < 5 * np.sqrt(q * (1 - q) / n_draws)).all()
    score = np.abs(draws - 1.0).mean(axis=1) - np.abs(draws - np.roll(draws, 1, axis=1)).mean(1) / 2
    assert_allclose(score, mix.crps(1.0), atol=5 * draws.std() * 1.5 / n_draws**0.5)


def test_no_draw_is_of_a_component_without_share():
    mix = one([0.0, 0.4, 0.0, 0.6, 0.0], [100.0, 0.0, 200.0, 1.0, 300.0], [1e-3] * 5)
    draws = mix.sample(20_000, np.random.default_rng(0))
    assert_array_equal(np.unique(np.round(draws)), [0.0, 1.0])
    extremes: Any = Extremes()
    short = one([0.0, 0.4, 0.0, 0.6 - 5e-10, 0.0], mix.mean, mix.spread)
    for some in (mix, short):
        assert_array_equal(some.sample(2, extremes), [[0.0, 1.0]])
    again = mix.sample(20_000, np.random.default_rng(0))
    assert_array_equal(draws, again)


# ---------------------------------------------------------------------- a row alone
@pytest.mark.parametrize("t", [1, 2, 7, 130, 257])
def test_a_case_alone_has_the_same_bits(t, monkeypatch):
    rng = np.random.default_rng(t)
    n = 70
    mix = one(rng.dirichlet(np.full(t, 0.3), n), rng.normal(size=t), rng.uniform(0.01, 1.0, t))
    y, grid = rng.normal(size=n), np.linspace(-2.0, 2.0, 3)[None, :]

    def asked(m, y):
        return [
            *m.moments(), m.log_density(y), m.cdf(y), m.survival(grid), m.quantile(CHANCES),
            m.interval(0.8), m.crps(y),
        ]  # fmt: skip

    whole = asked(mix, y)
    for i in (0, 1, 33, 63, 64, 69):
        for alone, among in zip(asked(case(mix, i), y[i : i + 1]), whole, strict=True):
            assert_array_equal(alone[0], among[i])
    backwards = asked(replace(mix, share=np.asfortranarray(mix.share[::-1])), y[::-1])
    monkeypatch.setattr(sums, "_BLOCK", 3 * t)
    for some, reverse, among in zip(asked(mix, y), backwards, whole, strict=True):
        assert_array_equal(some, among)
        assert_array_equal(reverse[::-1], among)


# ---------------------------------------------------------------------- from a vote
def test_a_mixture_of_a_vote_has_its_shares_and_its_voters_spreads():
    vote, X = prototypes(), np.random.default_rng(2).normal(size=(50, 3))
    mix = mixture_of(vote, X)
    assert_array_equal(mix.share, vote.shares(X))
    assert_array_equal(mix.mean[0], 5.0)
    assert_array_equal(mix.spread, np.repeat([2.0, 0.7, 0.05], [1, 20, 20]))
    assert_allclose(mix.moments()[0], vote.target.decode(vote.score(X)), rtol=1e-12)
    assert_array_equal(mixture_of(vote, X[7:8]).share[0], mix.share[7])
    assert_array_equal(mixture_of(vote, sp.csr_array(X)).share, mix.share)


def test_no_case_is_no_answer():
    mix = mixture_of(prototypes(), np.empty((0, 3)))
    assert mix.quantile([0.1, 0.5]).shape == (0, 2)
    assert mix.cdf(np.empty((0, 4))).shape == (0, 4)
    assert mix.crps(np.empty(0)).shape == (0,)


def test_other_votes_have_no_mixture():
    X = np.zeros((2, 3))
    mean = Vote(
        ConstantVoters(3, np.ones((1, 1)), "a mean"), Constant(3, np.ones(1)),
        Readout("normalised", "identity"), RegressionTarget(),
    )  # fmt: skip
    for other in (prototypes(n_classes=2), mean):
        with pytest.raises(PsephosError, match="voters must predict densities"):
            mixture_of(other, X)
    vote = prototypes()
    voters: Any = vote.voters
    point = replace(vote, voters=replace(voters, spread=np.zeros(41)))
    with pytest.raises(PsephosError, match=r"spread is 0.*constant"):
        mixture_of(point, X)
    unheard = vote.take(np.arange(1, 41))
    X[1] = np.inf
    with pytest.raises(PsephosError, match=r"shares must .* sum to 1; those of case 1"):
        mixture_of(unheard, X)


# ---------------------------------------------------------------------- what cannot be used
@pytest.mark.parametrize(
    ("share", "mean", "spread", "message"),
    [
        ([[0.5, 0.5]], [0.0], [1.0, 1.0], "at least 1; got 2, 1 and 2"),
        ([[]], [], [], "at least 1"),
        ([[0.5, 0.5], [0.5, 0.4]], [0.0, 1.0], [1.0, 1.0], "shares must .* those of case 1"),
        ([[1.5, -0.5]], [0.0, 1.0], [1.0, 1.0], "shares must .* those of case 0"),
        ([[np.nan, 1.0]], [0.0, 1.0], [1.0, 1.0], "shares must .* those of case 0"),
        ([[0.5, 0.5]], [0.0, np.inf], [1.0, 1.0], "mean must be finite; that of component 1"),
        ([[0.5, 0.5]], [0.0, 1.0], [1.0, 0.0], "spread must be .*; that of component 1"),
        ([[0.5, 0.5]], [0.0, 1.0], [np.nan, 1.0], "spread must be .*; that of component 0"),
        ([0.5, 0.5], [0.0, 1.0], [1.0, 1.0], "share must be float64"),
    ],
)
def test_arrays_that_are_no_mixture(share, mean, spread, message):
    with pytest.raises(PsephosError, match=message):
        NormalMixture(*(np.array(a, dtype=np.float64) for a in (share, mean, spread)))


def test_whole_numbers_are_no_mixture():
    with pytest.raises(PsephosError, match="mean must be float64"):
        NormalMixture(np.ones((1, 1)), np.array([1]), np.ones(1))


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, 1.1, np.nan, [0.5, 1.0]])
def test_chances_outside_are_refused(q):
    with pytest.raises(PsephosError, match="q must be above 0 and below 1"):
        mixture().quantile(q)
    with pytest.raises(PsephosError, match="coverage must be above 0 and below 1"):
        mixture().interval(np.max(q))


def test_wrong_questions_are_refused():
    mix = mixture(n=4)
    with pytest.raises(
        PsephosError, match=r"\(1, g\) for one grid for all 4 cases; got shape \(3,\)"
    ):
        mix.cdf([1.0, 2.0, 3.0])
    with pytest.raises(PsephosError, match=r"got shape \(3, 2\)"):
        mix.density(np.zeros((3, 2)))
    with pytest.raises(PsephosError, match="must not be NaN; that of case 2 is"):
        mix.log_density([0.0, 1.0, np.nan, 1.0])
    with pytest.raises(PsephosError, match=r"q must be .*; got shape \(1, 2\)"):
        mix.quantile([[0.1, 0.2]])
    with pytest.raises(PsephosError, match=r"y must have .* 4 cases; got shape \(4, 2\)"):
        mix.crps(np.zeros((4, 2)))
    for wrong in (np.nan, np.inf):
        with pytest.raises(PsephosError, match="must be finite; the value of case 3"):
            mix.crps([0.0, 1.0, 2.0, wrong])
    with pytest.raises(PsephosError, match="n_draws must be at least 1; got 0"):
        mix.sample(0, np.random.default_rng(0))
