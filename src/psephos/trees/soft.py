"""Soft trees: forward and backward passes, with all gates of all trees in one matrix product.

A gate i sends a row to its left child with probability ``p_i(x) = sigmoid((w_i . x + b_i) /
temperature)``. A tree of depth D is complete: gates 0 ... 2^D - 2 from the top, level by level,
children of i are 2 i + 1 (left) and 2 i + 2. ``reach_l(x)`` is the product of the probabilities on
the path to leaf l, and the output of a tree is ``h(x) = sum_l reach_l(x) theta_l``.

Arrays have the rows last, so that every level is a slice: gates (I, M, n), leaves (L, M, n).

Training of soft trees by mini-batches, for any loss of margins and any array library.

Soft gradient boosting follows Algorithm 2 of its authors, for one mini-batch B:

    1  o_0 = 0                                                  for every row of B
    2  for m = 1 ... M:
    3      o_m = h_m(x)                                         forward
    4      r_m = - d l(A_m, y) / d A_m,  A_m = nu sum_{j<m} o_j  residual
    5      l_m = sum over B of |r_m - o_m|^2                     local loss
    6  L = l_1 + ... + l_M
    7  one step on the parameters of all trees by the gradient of L

l is a loss of margins, nu the learning rate (1 in the source). With e_m = o_m - r_m::

    dL/do_m = 2 e_m                                    r_m held fixed ("detached")
    dL/do_m = 2 e_m + nu sum_{k>m} 2 J_k e_k           else: l_k depends on o_m by A_k as well

where J_k is the second derivative of l at A_k. The source does not specify which is meant.

Feng, Xu, Jiang & Zhou (2020), "Soft gradient boosting machine", arXiv 2006.04059.

A loss is any object with `value` and `gradient`, and `curvature` if residuals are not detached.
Margins may have axes before (n, K), such as one for the trees.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from psephos._types import NDArray
from psephos.optimise.adam import Adam
from psephos.optimise.arrays import like, namespace, on_host


class SoftTrees(NamedTuple):
    """The parameters of M soft trees of one depth, I = 2^D - 1 gates and L = 2^D leaves each."""

    gate: Any  # (I, M, q)
    bias: Any  # (I, M)
    leaf: Any  # (M, K, L)

    @property
    def depth(self) -> int:
        """Return D."""
        return int(self.leaf.shape[2]).bit_length() - 1

    def copy(self) -> "SoftTrees":
        """Return the same parameters in new arrays."""
        return SoftTrees(*(namespace(a).asarray(a, copy=True) for a in self))


class SoftAnswers(NamedTuple):
    """The outputs of soft trees on rows, and intermediate results for the backward pass."""

    outputs: Any  # (M, K, n)
    left: Any  # (I, M, n); probabilities of going left
    # (2^d, M, n) for d = 0 ... D; probabilities of arriving at the nodes of each level
    reach: list[Any]


def started(
    rng: np.random.Generator, n_trees: int, depth: int, n_columns: int, n_outputs: int
) -> SoftTrees:
    """Return trees of float32 drawn uniformly: gates within 1 / sqrt(q), leaves 1 / sqrt(L)."""
    gates, leaves = 2**depth - 1, 2**depth
    wide, high = 1.0 / max(n_columns, 1) ** 0.5, 1.0 / leaves**0.5

    def drawn(most: float, shape: tuple[int, ...]) -> NDArray[np.float32]:
        return rng.uniform(-most, most, shape).astype(np.float32)

    return SoftTrees(
        drawn(wide, (gates, n_trees, n_columns)),
        drawn(wide, (gates, n_trees)),
        drawn(high, (n_trees, n_outputs, leaves)),
    )


def forward(trees: SoftTrees, rows: Any, temperature: float = 1.0) -> SoftAnswers:
    """Return the outputs of the trees on rows (n, q)."""
    xp = namespace(rows)
    n_gates, n_trees, q = trees.gate.shape
    n = rows.shape[0]
    linear = xp.reshape(trees.gate, (n_gates * n_trees, q)) @ rows.T
    linear += xp.reshape(trees.bias, (n_gates * n_trees, 1))
    left = xp.tanh(linear * (0.5 / temperature))
    left *= 0.5
    left += 0.5
    left = xp.reshape(left, (n_gates, n_trees, n))
    reach = [xp.ones_like(left[:1])]
    for level in range(trees.depth):
        first = 2**level - 1
        went = reach[-1] * left[first : 2 * first + 1]
        both = xp.stack([went, reach[-1] - went], axis=1)
        reach.append(xp.reshape(both, (2 ** (level + 1), n_trees, n)))
    outputs = trees.leaf @ xp.permute_dims(reach[-1], (1, 0, 2))
    return SoftAnswers(outputs, left, reach)


def backward(
    trees: SoftTrees, rows: Any, found: SoftAnswers, slopes: Any, temperature: float = 1.0
) -> SoftTrees:
    """Return the gradients of a loss from its derivatives by the outputs, `slopes` (M, K, n)."""
    xp = namespace(rows)
    n_gates, n_trees, q = trees.gate.shape
    reach = found.reach
    d_leaf = slopes @ xp.permute_dims(reach[-1], (1, 2, 0))
    above = xp.permute_dims(trees.leaf, (0, 2, 1)) @ slopes
    above = xp.permute_dims(above, (1, 0, 2))
    d_left: list[Any] = []
    for level in reversed(range(trees.depth)):
        first = 2**level - 1
        left = found.left[first : 2 * first + 1]
        children = xp.reshape(above, (2**level, 2, n_trees, rows.shape[0]))
        step = children[:, 0] - children[:, 1]
        above = children[:, 1] + left * step
        step = step * reach[level]
        d_left.append(step)
    d_linear = xp.concat(d_left[::-1], axis=0)
    d_linear *= found.left
    d_linear *= 1.0 - found.left
    if temperature != 1.0:
        d_linear /= temperature
    flat = xp.reshape(d_linear, (n_gates * n_trees, rows.shape[0]))
    d_gate = xp.reshape(flat @ rows, (n_gates, n_trees, q))
    return SoftTrees(d_gate, xp.sum(d_linear, axis=2), d_leaf)


def column_norms(gate: Any, group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the norm of each column's weights over all gates of all trees.

    `gate` (I, M, q); `group` (q,): the column of each input of a gate; the levels of a category
    share one.
    """
    squares = on_host(namespace(gate).sum(gate * gate, axis=(0, 1)))
    return np.sqrt(np.bincount(group, squares.astype(np.float64)))


def leaf_spread(leaf: Any, relative: bool, each: Any = None) -> tuple[float, Any]:
    """Return the spread S of leaves around the mean of their tree, and its derivatives.

    ``S = sqrt(sum_m each_m^2 sum_l |theta_ml - mean_l theta_ml|^2)``

    `leaf` (M, K, L); `relative`: whether the mean over the K outputs is ignored, as in a softmax.
    `each` (M,): the factor of each tree's leaves; None: 1.
    """
    xp = namespace(leaf)
    away = leaf - xp.mean(leaf, axis=2, keepdims=True)
    if relative:
        away = away - xp.mean(away, axis=1, keepdims=True)
    by = xp.ones_like(leaf[:, :1, :1]) if each is None else like(each, leaf)[:, None, None]
    scaled = by * away
    spread = float(xp.sum(scaled * scaled)) ** 0.5
    return spread, by * scaled / (spread or 1.0)


def shrink_columns(gate: Any, group: NDArray[np.intp], by: float) -> None:
    """Take the proximal step of ``by sum_j sqrt(d_j) |w_j|``, which sets some columns to 0.

    w_j are the weights of column j over all gates and trees (its group), d_j its number of inputs:
    ``w_j <- w_j max(0, 1 - by sqrt(d_j) / |w_j|)`` (Yuan & Lin 2006).
    """
    norms = column_norms(gate, group)
    limit = by * np.sqrt(np.bincount(group))
    kept = np.where(norms > limit, 1.0 - limit / np.where(norms > 0, norms, 1.0), 0.0)
    gate *= like(kept[group], gate)


class SquaredError:
    """Half the squared error of each row: ``|F - y|^2 / 2``."""

    def value(self, margin: Any, y: Any, weight: Any) -> Any:
        """Return the weighted sum over rows."""
        xp = namespace(margin)
        miss = margin - y
        return xp.sum(xp.sum(miss * miss, axis=-1) * weight, axis=-1) / 2

    def gradient(self, margin: Any, y: Any) -> Any:
        """Return ``F - y``."""
        return margin - y

    def curvature(self, margin: Any, y: Any, v: Any) -> Any:
        """Return the second derivative times v: v itself."""
        return v


class CrossEntropy:
    """Cross-entropy of the softmax s: ``-sum_k y_k log s_k``, y probabilities of classes."""

    def value(self, margin: Any, y: Any, weight: Any) -> Any:
        """Return the weighted sum over rows."""
        xp = namespace(margin)
        low = margin - xp.max(margin, axis=-1, keepdims=True)
        logs = low - xp.log(xp.sum(xp.exp(low), axis=-1, keepdims=True))
        return -xp.sum(xp.sum(y * logs, axis=-1) * weight, axis=-1)

    def gradient(self, margin: Any, y: Any) -> Any:
        """Return ``s - y``, s the softmax."""
        return _softmax(margin) - y

    def curvature(self, margin: Any, y: Any, v: Any) -> Any:
        """Return the second derivative times v: ``s (v - s . v)``."""
        share = _softmax(margin)
        both = share * v
        return both - share * namespace(v).sum(both, axis=-1, keepdims=True)


def _softmax(margin: Any) -> Any:
    xp = namespace(margin)
    share = xp.exp(margin - xp.max(margin, axis=-1, keepdims=True))
    share /= xp.sum(share, axis=-1, keepdims=True)
    return share


def residual_losses(
    outputs: Any, y: Any, weight: Any, loss: Any, learning_rate: float, detach: bool
) -> tuple[Any, Any]:
    """Return L and its gradient by the outputs of each tree: lines 1 and 4 to 6.

    `outputs` (M, K, n): o_m of every row (line 3). `y` (n, K); `weight` (n,): weights of the rows
    in each local loss. `learning_rate`: nu.
    """
    xp = namespace(outputs)
    before = xp.zeros_like(outputs)  # line 1
    for m in range(1, outputs.shape[0]):
        before[m] = before[m - 1] + learning_rate * outputs[m - 1]
    o, A = (xp.permute_dims(a, (0, 2, 1)) for a in (outputs, before))  # (M, n, K)
    r = -loss.gradient(A, y)  # line 4
    e = o - r
    weighted = weight[:, None] * e
    L = xp.sum(weighted * e)  # lines 5 and 6
    gradient = 2.0 * weighted
    if not detach:
        later = learning_rate * loss.curvature(A, y, gradient)  # nu 2 J_k e_k
        total = xp.zeros_like(later[0])
        for m in range(o.shape[0] - 2, -1, -1):
            total += later[m + 1]
            gradient[m] += total
    return L, xp.permute_dims(gradient, (0, 2, 1))


def summed_loss(outputs: Any, y: Any, weight: Any, loss: Any, rate: float) -> tuple[Any, Any]:
    """Return the loss of the sum ``F = rate sum_m o_m`` itself, and its gradient by each o_m.

    One soft tree is trained with it, or several trees with a loss without curvature.
    """
    xp = namespace(outputs)
    F = rate * xp.sum(outputs, axis=0).T
    by_margin = rate * weight[:, None] * loss.gradient(F, y)
    gradient = xp.zeros_like(outputs)
    gradient += by_margin.T
    return loss.value(F, y, weight), gradient


_ROWS = 4096  # rows whose margins are computed at once
_TINY = 1e-30


class SoftPlan(NamedTuple):
    """Settings of the training of soft trees."""

    loss: Any
    # whether each tree learns the residual of the sum before it (Algorithm 2); else the loss of the
    # sum is minimised
    boosted: bool = True
    learning_rate: float = 1.0  # nu, the factor of the sum
    detach: bool = False  # whether residuals are held fixed
    temperature: float = 1.0  # of the gates
    # the penalty of the group lasso of columns, as a share of the least one that keeps every column
    # at 0 at the start
    gate_lasso: float = 0.0
    # `step_size`, `weight_decay`: those of Adam
    step_size: float = 0.01
    weight_decay: float = 0.0
    batch_size: int = 128
    relative: bool = False  # whether only differences of margins count, as in a softmax


class SoftTrainer:
    """Soft trees and their optimiser.

    Gates of half the weight with leaves of twice the spread give nearly the same tree. The penalty
    of columns is therefore on the product of weights and spread::

        P = sqrt(sum_m limits_m^2 sum_l |theta_ml - mean_l theta_ml|^2)  sum_j sqrt(d_j) |w_j|

    per unit of row weight, with w_j the weights of column j over all gates and d_j its number of
    inputs.

    `trees`: changed in place. `group` (q,): the column of each input of the gates; None: each its
    own. `limits` (M,): as above, computed by `begin_lasso`; None: 0, no penalty.
    """

    def __init__(
        self,
        trees: SoftTrees,
        plan: SoftPlan,
        group: NDArray[np.intp] | None = None,
        limits: NDArray[np.float64] | None = None,
    ) -> None:
        self.trees, self.plan = trees, plan
        self.limits = np.zeros(trees.leaf.shape[0]) if limits is None else limits
        self.group = np.arange(trees.gate.shape[2]) if group is None else group
        self._roots = np.sqrt(np.bincount(self.group))
        self.adam = Adam(
            trees, plan.step_size, weight_decay=plan.weight_decay,
            shared=(plan.gate_lasso > 0, False, False),
        )  # fmt: skip

    def gradients(self, rows: Any, y: Any, weight: Any) -> tuple[Any, SoftTrees]:
        """Return the loss of a batch, without the penalty of columns, and its gradients."""
        plan = self.plan
        found = forward(self.trees, rows, plan.temperature)
        if plan.boosted:
            loss, slopes = residual_losses(
                found.outputs, y, weight, plan.loss, plan.learning_rate, plan.detach
            )
        else:
            loss, slopes = summed_loss(found.outputs, y, weight, plan.loss, plan.learning_rate)
        return loss, backward(self.trees, rows, found, slopes, plan.temperature)

    def step(self, rows: Any, y: Any, weight: Any) -> Any:
        """Take one step on a batch; return its loss before the step."""
        loss, slopes = self.gradients(rows, y, weight)
        if not self.limits.any():
            self.adam.step(slopes)
            return loss
        total = float(namespace(weight).sum(weight))
        spread, slope = leaf_spread(self.trees.leaf, self.plan.relative, total * self.limits)
        wide = float(column_norms(self.trees.gate, self.group) @ self._roots)
        self.adam.step(slopes._replace(leaf=slopes.leaf + wide * slope))
        shrink_columns(self.trees.gate, self.group, self.adam.step_size(0) * spread)
        return loss

    def epoch(self, rows: Any, y: Any, weight: Any, order: NDArray[np.intp]) -> float:
        """Take a step on each batch of the rows in this order; return the sum of the losses."""
        order = like(order, rows, namespace(rows).int64)
        losses = [
            self.step(rows[at], y[at], weight[at]) for at in batches(order, self.plan.batch_size)
        ]  # converted to numbers at the end only: a GPU need not wait after each step
        return sum(map(float, losses))

    def state(self) -> tuple[Any, Any, Any, int]:
        """Return copies of the parameters and of Adam's means, and the steps taken."""
        adam = self.adam
        return (
            self.trees.copy(),
            [1 * a for a in adam.first],
            [1 * a for a in adam.second],
            adam.n_steps,
        )

    def restore(self, state: tuple[Any, Any, Any, int]) -> None:
        """Go back to what `state` returned."""
        trees, self.adam.first, self.adam.second, self.adam.n_steps = state
        for now, then in zip(self.trees, trees, strict=True):
            now[...] = then

    def begin_lasso(self, rows: Any, y: Any, weight: Any) -> None:
        """Set all gates to weight 0, and compute `limits` from `gate_lasso`.

        The factor of a tree's leaves is the norm of the gradient by its gates, over the spread of
        its leaves, as a share of the greatest. The penalty of which `gate_lasso` is a share is the
        least under which no column's weights leave 0: the greatest norm of the gradient by a
        column's weights, over the root of its number of inputs, per unit of weight and of spread.
        """
        xp, gate = namespace(rows), self.trees.gate
        gate *= 0.0
        total = float(xp.sum(weight))
        slope = xp.zeros_like(gate)
        for at in batches(np.arange(rows.shape[0]), _ROWS):
            slope += self.gradients(rows[at], y[at], weight[at])[1].gate
        moved = np.sqrt(on_host(xp.sum(slope * slope, axis=(0, 2))).astype(np.float64))
        leaf, relative = self.trees.leaf, self.plan.relative
        own = [leaf_spread(leaf[m : m + 1], relative)[0] for m in range(len(moved))]
        each = moved / np.maximum(own, _TINY)
        each /= max(float(each.max(initial=0.0)), _TINY)
        most = float((column_norms(slope, self.group) / self._roots).max(initial=0.0))
        spread = leaf_spread(leaf, relative, each)[0]
        self.limits = each * (self.plan.gate_lasso * most / (total * max(spread, _TINY)))

    def margins(self, rows: Any) -> Any:
        """Return the sum of the trees, (n, K)."""
        xp = namespace(rows)
        parts = [
            self.plan.learning_rate
            * xp.sum(forward(self.trees, rows[at], self.plan.temperature).outputs, axis=0).T
            for at in batches(np.arange(rows.shape[0]), _ROWS)
        ]
        return xp.concat(parts, axis=0)

    def loss(self, rows: Any, y: Any, weight: Any) -> float:
        """Return the mean loss of the sum of the trees on rows."""
        total = float(namespace(weight).sum(weight))
        return float(self.plan.loss.value(self.margins(rows), y, weight)) / total


def batches(order: Any, size: int) -> Iterator[Any]:
    """Yield the rows in their order, `size` at a time; the last batch may be smaller."""
    for start in range(0, len(order), size):
        yield order[start : start + size]
