"""Soft trees: gradients against finite differences, Algorithm 2 against its pseudo-code."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.trees.soft import (
    CrossEntropy,
    SoftPlan,
    SoftTrainer,
    SoftTrees,
    SquaredError,
    column_norms,
    forward,
    leaf_spread,
    residual_losses,
    shrink_columns,
    started,
    summed_loss,
)
from psephos.vote import SoftTreeVoters

LOSSES = [SquaredError(), CrossEntropy()]


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def drawn(depth, seed=0, n=7, q=4, K=3, M=3, steep=3.0):
    rng = np.random.default_rng(seed)
    trees = SoftTrees(*(steep * a.astype(np.float64) for a in started(rng, M, depth, q, K)))
    y = rng.dirichlet(np.ones(K), n)
    return trees, rng.standard_normal((n, q)), y, rng.random(n) + 0.5


def said_by(trees, m, x, temperature=1.0):
    """What tree m says of one row, node by node."""
    gates, leaves = trees.gate.shape[0], trees.leaf.shape[2]
    reach = [1.0] + [0.0] * (gates + leaves - 1)
    for g in range(gates):
        left = sigmoid((trees.gate[g, m] @ x + trees.bias[g, m]) / temperature)
        reach[2 * g + 1] = reach[g] * left
        reach[2 * g + 2] = reach[g] * (1 - left)
    return trees.leaf[m] @ np.array(reach[gates:])


def softmax(a):
    e = np.exp(a - a.max())
    return e / e.sum()


def algorithm_2(trees, X, y, w, loss, nu, residuals_at=None):
    """Lines 1 to 6 of the pseudo-code, a row at a time; residuals of other trees where given."""
    total = 0.0
    fixed = residuals_at or trees
    for x, target, weight in zip(X, y, w, strict=True):
        A = np.zeros(y.shape[1])  # o_0 = 0
        for m in range(trees.gate.shape[1]):
            o = said_by(trees, m, x)
            r = target - (softmax(A) if isinstance(loss, CrossEntropy) else A)
            total += weight * ((r - o) ** 2).sum()
            A = A + nu * said_by(fixed, m, x)
    return total


def finite_differences(f, trees, step=1e-5):
    slopes = []
    for a in trees:
        slope = np.empty_like(a)
        for i in np.ndindex(a.shape):
            old = a[i]
            a[i] = old + step
            high = f()
            a[i] = old - step
            slope[i] = (high - f()) / (2 * step)
            a[i] = old
        slopes.append(slope)
    return slopes


@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_forward_is_the_mean_of_the_leaves_by_the_chances_of_reaching_them(temperature):
    trees, X, _, _ = drawn(3)
    found = forward(trees, X, temperature)
    for m, i in product(range(3), range(len(X))):
        assert_allclose(found.outputs[m, :, i], said_by(trees, m, X[i], temperature), rtol=1e-12)
    for level in found.reach:
        assert_allclose(level.sum(axis=0), 1.0, rtol=1e-12)


def soft_voters(coef, bias, leaf):
    q = coef.shape[2]
    none = np.empty((*bias.shape, 0))
    every = np.arange(q), np.zeros(q), np.ones(q), coef, bias, np.empty(0, np.intp), none
    return SoftTreeVoters(q, *every, np.ascontiguousarray(leaf))


def test_votes_say_what_forward_says():
    trees, X, _, _ = drawn(4, steep=40.0)
    coef, bias = trees.gate.transpose(1, 0, 2).copy(), trees.bias.T.copy()
    voters = soft_voters(coef, bias, trees.leaf.transpose(0, 2, 1))
    votes = voters.votes(X)
    assert_allclose(votes, forward(trees, X).outputs.transpose(2, 0, 1), rtol=1e-10)
    assert_array_equal(voters.votes(X[:1])[0], votes[0])
    assert_array_equal(voters.take(np.array([1])).votes(X)[:, 0], votes[:, 1])
    far = soft_voters(np.ones((1, 1, 1)), np.full((1, 1), -800.0), np.array([[[1.0], [2.0]]]))
    assert far.votes(np.zeros((1, 1)))[0, 0, 0] == 2.0


@pytest.mark.parametrize("loss", LOSSES, ids=["squared", "entropy"])
@pytest.mark.parametrize("nu", [1.0, 0.5])
def test_the_loss_is_that_of_the_pseudo_code(loss, nu):
    trees, X, y, w = drawn(2)
    for detach in (True, False):
        found, _ = residual_losses(forward(trees, X).outputs, y, w, loss, nu, detach)
        assert found == pytest.approx(algorithm_2(trees, X, y, w, loss, nu), rel=1e-12)


@pytest.mark.parametrize("detach", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("loss", LOSSES, ids=["squared", "entropy"])
def test_gradients_are_those_of_the_pseudo_code(loss, depth, detach):
    trees, X, y, w = drawn(depth)
    nu = 0.7
    fixed = trees.copy()
    plan = SoftPlan(loss, learning_rate=nu, detach=detach)
    value, slopes = SoftTrainer(trees, plan).gradients(X, y, w)

    def f():
        return algorithm_2(trees, X, y, w, loss, nu, fixed if detach else None)

    assert value == pytest.approx(f(), rel=1e-12)
    for slope, expected in zip(slopes, finite_differences(f, trees), strict=True):
        assert_allclose(slope, expected, atol=1e-6)


@pytest.mark.parametrize("boosted", [True, False])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("loss", LOSSES, ids=["squared", "entropy"])
def test_gradients_of_every_option_are_finite_differences(loss, depth, boosted):
    trees, X, y, w = drawn(depth, seed=1)
    plan = SoftPlan(loss, boosted, 0.8, temperature=0.6)
    trainer = SoftTrainer(trees, plan)
    _, slopes = trainer.gradients(X, y, w)
    expected = finite_differences(lambda: trainer.gradients(X, y, w)[0], trees)
    for slope, wanted in zip(slopes, expected, strict=True):
        assert_allclose(slope, wanted, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=["squared", "entropy"])
def test_losses_have_the_derivatives_they_say(loss):
    rng = np.random.default_rng(0)
    F, y, v = rng.standard_normal((5, 3)), rng.dirichlet(np.ones(3), 5), rng.standard_normal((5, 3))
    w, h = rng.random(5), 1e-5
    for i in np.ndindex(F.shape):
        e = np.zeros_like(F)
        e[i] = h
        slope = (loss.value(F + e, y, w) - loss.value(F - e, y, w)) / (2 * h)
        assert w[i[0]] * loss.gradient(F, y)[i] == pytest.approx(slope, abs=1e-8)
    bend = (loss.gradient(F + h * v, y) - loss.gradient(F - h * v, y)) / (2 * h)
    assert_allclose(loss.curvature(F, y, v), bend, atol=1e-8)


class Risk:
    """A loss of another family: value and gradient alone, and no sum over rows."""

    def value(self, margin, y, weight):
        return np.maximum(0.0, (weight * (margin[..., 0] - y[:, 0])).sum(axis=-1)) ** 2

    def gradient(self, margin, y):
        out = np.zeros_like(margin)
        total = (margin[..., 0] - y[:, 0]).sum(axis=-1, keepdims=True)
        out[..., 0] = 2 * np.maximum(0.0, total)
        return out


def test_any_loss_with_a_gradient_trains_soft_trees():
    trees, X, y, _ = drawn(2)
    one = np.ones(len(X))
    trainer = SoftTrainer(trees, SoftPlan(Risk(), boosted=False))
    _, slopes = trainer.gradients(X, y - 2, one)
    expected = finite_differences(lambda: trainer.gradients(X, y - 2, one)[0], trees)
    for slope, wanted in zip(slopes, expected, strict=True):
        assert_allclose(slope, wanted, atol=1e-5)
    first = trainer.loss(X, y - 2, one)
    for _ in range(50):
        trainer.step(X, y - 2, one)
    assert trainer.loss(X, y - 2, one) < first / 2
    SoftTrainer(trees, SoftPlan(Risk(), detach=True)).step(X, y, one)


def test_the_loss_of_the_sum_is_that_of_the_margins():
    trees, X, y, w = drawn(2)
    value, _ = summed_loss(forward(trees, X).outputs, y, w, CrossEntropy(), 0.5)
    trainer = SoftTrainer(trees, SoftPlan(CrossEntropy(), False, 0.5))
    margins = trainer.margins(X)
    assert value == pytest.approx(CrossEntropy().value(margins, y, w))
    assert trainer.loss(X, y, w) == pytest.approx(value / w.sum())


def test_shrinking_columns_is_the_proximal_step():
    gate = np.random.default_rng(0).standard_normal((3, 2, 5))
    group = np.array([0, 1, 1, 2, 3])
    gate[:, :, 4] = 0.0
    before, norms = gate.copy(), column_norms(gate, group)
    assert norms[1] == pytest.approx(np.sqrt((before[:, :, 1:3] ** 2).sum()))
    by = float(norms[0] * 1.01)
    shrink_columns(gate, group, by)
    assert not gate[:, :, [0, 4]].any()
    factor = max(0.0, 1 - by * np.sqrt(2) / norms[1])
    assert_allclose(gate[:, :, 1:3], factor * before[:, :, 1:3], rtol=1e-12)
    small = by / 10
    gate = before.copy()
    shrink_columns(gate, group, small)
    for j in (0, 3):  # the least of |w - before|^2 / 2 + small |w|: its derivative is 0
        w = gate[:, :, j]
        assert_allclose(w - before[:, :, j] + small * w / np.linalg.norm(w), 0.0, atol=1e-12)


def test_no_column_enters_under_the_whole_penalty_and_some_under_half():
    trees, X, y, w = drawn(2, n=40)
    y = np.eye(3)[(X[:, 0] > 0).astype(int)]
    w = np.ones(40)
    for share, enters in ((1.01, False), (0.5, True)):
        trainer = SoftTrainer(trees.copy(), SoftPlan(CrossEntropy(), gate_lasso=share))
        trainer.begin_lasso(X, y, w)
        assert not trainer.trees.gate.any()
        trainer.step(X, y, w)
        assert trainer.trees.gate.any() == enters
    for _ in range(30):
        trainer.step(X, y, w)
    assert column_norms(trainer.trees.gate, np.arange(4))[0] > 0


@pytest.mark.parametrize("relative", [True, False])
def test_the_spread_of_leaves_has_the_derivative_it_says(relative):
    rng = np.random.default_rng(0)
    leaf, each = rng.standard_normal((3, 2, 4)), np.array([1.0, 0.5, 0.2])
    spread, slope = leaf_spread(leaf, relative, each)
    away = leaf - leaf.mean(axis=2, keepdims=True)
    away -= away.mean(axis=1, keepdims=True) if relative else 0.0
    assert spread == pytest.approx(np.sqrt((each[:, None, None] ** 2 * away**2).sum()))
    (expected,) = finite_differences(lambda: leaf_spread(leaf, relative, each)[0], [leaf])
    assert_allclose(slope, expected, atol=1e-8)
    assert leaf_spread(leaf * 0.0, relative)[0] == 0.0


def test_a_step_shrinks_columns_by_the_spread_of_the_leaves():
    trees, X, y, w = drawn(2, n=40)
    plan = SoftPlan(CrossEntropy(), gate_lasso=0.5, relative=True)
    trainer = SoftTrainer(trees, plan)
    trainer.begin_lasso(X, y, w)
    trainer.trees.gate[...] = np.random.default_rng(1).standard_normal(trees.gate.shape)
    wide, narrow = (SoftTrainer(trees.copy(), plan, limits=trainer.limits) for _ in range(2))
    away = trees.leaf - trees.leaf.mean(axis=2, keepdims=True)
    wide.trees.leaf[...] += 9 * away  # ten times as far apart
    shrunk = []
    for run in (wide, narrow):
        free = SoftTrainer(run.trees.copy(), plan)
        free.step(X, y, w)
        run.step(X, y, w)
        less = column_norms(free.trees.gate, run.group) - column_norms(run.trees.gate, run.group)
        shrunk.append(less / run.adam.step_size(0))
    assert_allclose(shrunk[0], 10 * shrunk[1], rtol=1e-6)
    spread = leaf_spread(narrow.trees.leaf, True, narrow.limits)[0]
    assert_allclose(shrunk[1], w.sum() * spread, rtol=0.1)  # leaves have moved by .01


def test_the_penalty_moves_leaves_as_well_and_counts_trees_by_what_they_move():
    trees, X, y, w = drawn(2, n=40)
    plan = SoftPlan(CrossEntropy(), gate_lasso=0.5, relative=True)
    trainer = SoftTrainer(trees, plan, np.array([0, 0, 1, 2]))
    trainer.begin_lasso(X, y, w)
    slope = trainer.gradients(X, y, w)[1].gate
    own = [leaf_spread(trees.leaf[m : m + 1], True)[0] for m in range(3)]
    moved = np.linalg.norm(slope, axis=(0, 2)) / own
    assert_allclose(trainer.limits / trainer.limits.max(), moved / moved.max(), rtol=1e-10)
    roots = np.sqrt([2, 1, 1])
    most = (column_norms(slope, trainer.group) / roots).max()
    assert w.sum() * leaf_spread(trees.leaf, True, trainer.limits)[0] == pytest.approx(most / 2)

    trees.gate[...] = np.random.default_rng(1).standard_normal(trees.gate.shape)
    wide = roots @ column_norms(trees.gate, trainer.group)
    (by_leaf,) = finite_differences(
        lambda: w.sum() * leaf_spread(trees.leaf, True, trainer.limits)[0] * wide, [trees.leaf]
    )
    plain = trainer.gradients(X, y, w)[1].leaf
    trainer.step(X, y, w)
    assert_allclose(trainer.adam.first[2], 0.1 * (plain + by_leaf), atol=1e-6)


def test_small_gates_of_large_leaves_evade_no_penalty():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 300))
    y = np.eye(2)[(X[:, 3] + X[:, 40] > 0).astype(int)]
    trees = SoftTrees(*(a.astype(np.float64) for a in started(rng, 5, 2, 300, 2)))
    trainer = SoftTrainer(trees, SoftPlan(CrossEntropy(), gate_lasso=0.5, relative=True))
    w, costs, read = np.ones(80), [], []
    trainer.begin_lasso(X, y, w)
    for epoch in range(1, 801):
        trainer.step(X, y, w)
        if epoch in (200, 800):
            norms = column_norms(trees.gate, trainer.group)
            read.append(np.count_nonzero(norms))
            costs.append(80 * leaf_spread(trees.leaf, True, trainer.limits)[0] * norms.sum())
    assert costs[1] == pytest.approx(costs[0], rel=0.1)
    assert max(read) <= 8  # 37 and 63 of 300 where the penalty was of the gates alone


def test_the_same_code_runs_on_arrays_of_another_library():
    torch = pytest.importorskip("torch", reason="arrays of PyTorch: not installed")
    trees, X, y, w = drawn(3)
    plan = SoftPlan(CrossEntropy(), gate_lasso=0.3)
    other = SoftTrees(*(torch.asarray(a.copy()) for a in trees))
    runs = SoftTrainer(trees, plan), SoftTrainer(other, plan)
    tables = (X, y, w), tuple(torch.asarray(a) for a in (X, y, w))
    for run, table in zip(runs, tables, strict=True):
        run.begin_lasso(*table)
        for _ in range(5):
            run.step(*table)
    for ours, theirs in zip(runs[0].trees, runs[1].trees, strict=True):
        assert_allclose(theirs.numpy(), ours, atol=1e-10)
    assert_allclose(runs[1].margins(tables[1][0]).numpy(), runs[0].margins(X), atol=1e-10)
