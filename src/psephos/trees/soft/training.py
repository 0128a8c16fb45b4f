"""Training soft trees by mini-batches: any loss of margins, any arrays of the standard.

Soft gradient boosting as its authors state it: Algorithm 2 for one mini-batch B, term by term.

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

where J_k is the second derivative of l at A_k. The source does not say which is meant.

Feng, Xu, Jiang & Zhou (2020), "Soft gradient boosting machine", arXiv 2006.04059.

Losses that soft trees are trained on: of margins, with their derivatives.

A loss is any object with `value` and `gradient`, and `curvature` where residuals are not detached.
Margins may have axes in front of (n, K), such as one a tree.

What gates of soft trees may cost: sending all rows one way, and reading a column.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.optimise.adam import Adam
from psephos.optimise.arrays import like, namespace, on_host
from psephos.trees.soft.trees import SoftTrees, backward, forward


def column_norms(gate: Any, group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the norm of each column's weights over all gates of all trees.

    `gate` (I, M, q); `group` (q,): the column that each input of a gate is made of: levels of a
    category share one.
    """
    squares = on_host(namespace(gate).sum(gate * gate, axis=(0, 1)))
    return np.sqrt(np.bincount(group, squares.astype(np.float64)))


def leaf_spread(leaf: Any, relative: bool, each: Any = None) -> tuple[float, Any]:
    """Return how far leaves are from the mean of their tree, and its derivative by each leaf.

    ``S = sqrt(sum_m each_m^2 sum_l |theta_ml - mean_l theta_ml|^2)``

    `leaf` (M, K, L); `relative`: whether what all K outputs share counts for nothing, as in a
    softmax. `each` (M,): the factor of each tree's leaves; None: 1.
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
    """Take the proximal step of ``by sum_j sqrt(d_j) |w_j|``: columns shrink, some to exactly 0.

    w_j are the weights of column j over all gates and trees (its group), d_j how many inputs it
    is: ``w_j <- w_j max(0, 1 - by sqrt(d_j) / |w_j|)`` (Yuan & Lin 2006).
    """
    norms = column_norms(gate, group)
    limit = by * np.sqrt(np.bincount(group))
    kept = np.where(norms > limit, 1.0 - limit / np.where(norms > 0, norms, 1.0), 0.0)
    gate *= like(kept[group], gate)


class SquaredError:
    """Half the squared error: ``|F - y|^2 / 2`` a row."""

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
    """Cross-entropy of the softmax: ``-sum_k y_k log s_k``, y probabilities of classes."""

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
    said: Any, y: Any, weight: Any, loss: Any, learning_rate: float, detach: bool
) -> tuple[Any, Any]:
    """Return L and its gradient by what each tree says: lines 1 and 4 to 6.

    `said` (M, K, n): line 3: o_m of every row. `y` (n, K); `weight` (n,): of the rows in each local
    loss. `learning_rate`: nu.
    """
    xp = namespace(said)
    before = xp.zeros_like(said)  # line 1
    for m in range(1, said.shape[0]):
        before[m] = before[m - 1] + learning_rate * said[m - 1]
    o, A = (xp.permute_dims(a, (0, 2, 1)) for a in (said, before))  # (M, n, K)
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


def summed_loss(said: Any, y: Any, weight: Any, loss: Any, learning_rate: float) -> tuple[Any, Any]:
    """Return the loss of the sum ``F = nu sum_m o_m`` itself, and its gradient by each o_m.

    What one soft tree is trained on, and a way to train several for a loss without curvature.
    """
    xp = namespace(said)
    F = learning_rate * xp.sum(said, axis=0).T
    by_margin = learning_rate * weight[:, None] * loss.gradient(F, y)
    gradient = xp.zeros_like(said)
    gradient += by_margin.T
    return loss.value(F, y, weight), gradient


_ROWS = 4096  # of a block whose margins are computed at once
_TINY = 1e-30


class SoftPlan(NamedTuple):
    """How soft trees are trained."""

    loss: Any
    # whether each tree learns the residual of the sum before it (Algorithm 2); else the loss of the
    # sum itself is minimised
    boosted: bool = True
    learning_rate: float = 1.0  # nu, of the sum
    detach: bool = False  # whether residuals are held fixed
    temperature: float = 1.0  # of the gates
    # of the group lasso of columns, as a share of the least that keeps every column at 0 at the
    # start
    gate_lasso: float = 0.0
    # `step_size`, `weight_decay`: of Adam
    step_size: float = 0.01
    weight_decay: float = 0.0
    batch_size: int = 128
    relative: bool = False  # whether only differences of margins count, as in a softmax


class SoftTrainer:
    """Soft trees, their optimiser, and one step after another.

    A tree says the same with gates of half the weight and leaves of twice the spread, nearly. So
    that this cannot evade the penalty of columns, it is of the product of both::

        P = sqrt(sum_m limits_m^2 sum_l |theta_ml - mean_l theta_ml|^2)  sum_j sqrt(d_j) |w_j|

    a unit of weight, with w_j the weights of column j over all gates and d_j how many inputs it is.

    `trees`: changed in place. `group` (q,): the column each input of the gates is made of; None:
    each its own. `limits` (M,): above; `begin_lasso` finds them. None: 0, no penalty.
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
        """Return the loss of a batch, with the penalty of unbalanced gates, and its gradients."""
        plan = self.plan
        found = forward(self.trees, rows, plan.temperature)
        if plan.boosted:
            loss, d_said = residual_losses(
                found.said, y, weight, plan.loss, plan.learning_rate, plan.detach
            )
        else:
            loss, d_said = summed_loss(found.said, y, weight, plan.loss, plan.learning_rate)
        return loss, backward(self.trees, rows, found, d_said, plan.temperature)

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
        ]  # numbers when all steps are asked for: a GPU is not waited for after each
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
        """Start all gates at weight 0, and find the penalty `gate_lasso` is a share of.

        A tree's leaves count by what a unit of their spread moves: the norm of the gradient by its
        gates over its spread, as a share of the greatest. The penalty is that under which no
        column's weights leave 0: the greatest norm of the gradient by a column's weights, over the
        root of how many inputs it is, a unit of weight and of spread.
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
            * xp.sum(forward(self.trees, rows[at], self.plan.temperature).said, axis=0).T
            for at in batches(np.arange(rows.shape[0]), _ROWS)
        ]
        return xp.concat(parts, axis=0)

    def loss(self, rows: Any, y: Any, weight: Any) -> float:
        """Return the mean loss of the sum of the trees on rows."""
        total = float(namespace(weight).sum(weight))
        return float(self.plan.loss.value(self.margins(rows), y, weight)) / total


def batches(order: Any, size: int) -> Iterator[Any]:
    """Yield the rows in their order, `size` at a time; the last may be fewer."""
    for start in range(0, len(order), size):
        yield order[start : start + size]
