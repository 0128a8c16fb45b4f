"""The errors of summaries, over trees of merges and prunes of random shape."""

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


def off(x, w, s, at):
    """How much of the weight up to values the summary does not count there."""
    kept = (s.points[1] * (s.values <= at[:, None])).sum(axis=1)
    return (w * (x <= at[:, None])).sum(axis=1) - kept


@settings(max_examples=400)
@given(TREES)
def test_a_summary_is_one_and_keeps_its_error(tree):
    x, w, s, allowed = build(tree)
    total = w.sum()
    assert s.total == total
    if not len(x):
        assert len(s) == 0
        return
    assert (np.diff(s.values) > 0).all()
    assert np.isin(s.values, x).all()
    assert (s.values[0], s.values[-1]) == (x.min(), x.max())
    assert (s.points[1] > 0).all()
    lacks = off(x, w, s, x)
    assert (lacks >= -1e-9 * total).all()
    # the error is no more than theory allows
    assert lacks.max() <= (allowed + 1e-12) * total


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
    whole = shards[0]
    for shard in shards[1:]:
        whole = whole.merge(shard)
    again = whole.prune(50)
    assert len(again) <= 100
    first, second = (off(x, w, s, x[:1000]) / w.sum() for s in (whole, again))
    assert 0.005 < first.max() <= 1 / 50
    assert first.max() < second.max() <= 2 / 50
    assert min(first.min(), second.min()) > -1e-9
