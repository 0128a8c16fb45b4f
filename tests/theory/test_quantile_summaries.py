"""The summary's inequalities and errors, over trees of merges and prunes of random shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psephos.trees.out_of_core.bins import QuantileSummary

pytestmark = pytest.mark.theory


@st.composite
def leaves(draw):
    """Rows of one shard: ties or none, whole weights of any size (so that sums are exact)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 60))
    kinds = {
        "few": lambda: rng.integers(-5, 6, n).astype(float),
        "many": lambda: rng.standard_normal(n),
        "shifted": lambda: rng.standard_normal(n) + 50.0,
        "one": lambda: np.full(n, float(rng.integers(-3, 4))),
    }
    values = kinds[draw(st.sampled_from(sorted(kinds)))]()
    values[rng.random(n) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    weights = rng.choice([0, 1, 2, 1000] if draw(st.booleans()) else [1], n).astype(float)
    return values, weights


# A tree: a leaf is rows; a node prunes one tree or merges two.
TREES = st.recursive(
    leaves(),
    lambda trees: st.one_of(
        st.tuples(st.just("prune"), trees, st.integers(1, 25)),
        st.tuples(st.just("merge"), trees, trees),
    ),
    max_leaves=9,
)


def build(tree):
    """Return (values, weights, summary, the error that theory allows it)."""
    if isinstance(tree[0], str) and tree[0] == "merge":
        x1, w1, s1, e1 = build(tree[1])
        x2, w2, s2, e2 = build(tree[2])
        return np.append(x1, x2), np.append(w1, w2), s1.merge(s2), max(e1, e2)
    if isinstance(tree[0], str):
        x, w, s, e = build(tree[1])
        return x, w, s.prune(tree[2]), e + 1.0 / tree[2]
    x, w = tree
    known = ~np.isnan(x) & (w > 0)
    return x[known], w[known], QuantileSummary.of(x, w), 0.0


def error(s):
    """The least share of the total by which the rank of a value may be uncertain."""
    _, low, high, weight = s.points
    between = high[1:] - low[:-1] - weight[1:] - weight[:-1]
    return max((high - low - weight).max(), between.max(initial=0.0)) / s.total


def true_ranks(x, w, at):
    below = (w * (x < at[:, None])).sum(axis=1)
    return below, (w * (x <= at[:, None])).sum(axis=1)


@settings(max_examples=400)
@given(TREES)
def test_a_summary_is_one_and_keeps_its_error(tree):
    x, w, s, allowed = build(tree)
    total = w.sum()
    assert s.total == total
    if not len(x):
        assert len(s) == 0
        return
    points, low, high, weight = s.points
    below, upto = true_ranks(x, w, points)
    assert (np.diff(points) > 0).all()
    assert np.isin(points, x).all()
    # bounds, exact at the ends
    assert (low <= below).all()
    assert (high >= upto).all()
    assert (weight <= upto - below).all()
    for end in (0, -1):
        assert (low[end], high[end], weight[end]) == (
            below[end], upto[end], upto[end] - below[end],
        )  # fmt: skip
    assert (points[0], points[-1]) == (x.min(), x.max())
    # the two orders
    assert (low[:-1] + weight[:-1] <= low[1:]).all()
    assert (high[:-1] <= high[1:] - weight[1:]).all()
    # the error is no more than theory allows
    assert error(s) <= allowed + 1e-12


@settings(max_examples=100)
@given(leaves(), leaves(), st.integers(1, 20))
def test_merging_does_not_ask_who_is_first(one, two, b):
    a, c = QuantileSummary.of(*one).prune(b), QuantileSummary.of(*two).prune(b)
    assert a.merge(c).points.tobytes() == c.merge(a).points.tobytes()


def test_eight_shards(random_seed):
    """Section "prune, merge, prune" in numbers: 8 shards of 2,500 rows, b = 50."""
    rng = np.random.default_rng(random_seed)
    x, w = rng.standard_normal(20_000), rng.random(20_000)
    shards = [
        QuantileSummary.of(values, weights).prune(50)
        for values, weights in zip(np.split(x, 8), np.split(w, 8), strict=True)
    ]
    first = max(error(s) for s in shards)
    whole = shards[0]
    for shard in shards[1:]:
        whole = whole.merge(shard)
    again = whole.prune(50)
    assert 0.015 < first <= 1 / 50
    assert error(whole) <= first
    assert error(again) <= error(whole) + 1 / 50
    # what the bounds promise, seen on the rows
    for s in (whole, again):
        at, low, high, _ = s.points
        order = np.argsort(x)
        upto = np.cumsum(w[order])[np.searchsorted(x[order], at)]
        below = upto - w[order][np.searchsorted(x[order], at)]
        assert (low <= below * (1 + 1e-9) + 1e-9).all()
        assert (high >= upto * (1 - 1e-9)).all()
