"""Training soft trees by mini-batches: any loss of margins, any arrays of the standard."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.optimise.adam import Adam
from psephos.optimise.arrays import like, namespace, on_host
from psephos.trees.soft.boosting import residual_losses, summed_loss
from psephos.trees.soft.penalties import GateBalance, column_norms, leaf_spread, shrink_columns
from psephos.trees.soft.trees import SoftTrees, backward, forward

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
    gate_penalty: float = 0.0  # strength of `GateBalance`
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
        balance = GateBalance(weight, plan.gate_penalty) if plan.gate_penalty else None
        slopes = backward(self.trees, rows, found, d_said, plan.temperature, balance)
        return (float(loss) + balance.value if balance else loss), slopes

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
