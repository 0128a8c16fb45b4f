"""The loop of gradient boosting: from a table to a vote of a constant and trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import BALANCED, WEIGHTS, Choice, Integers, LogUniform, Uniform
from psephos.estimator.input import Context
from psephos.models.boosting.gradient_leaves import GradientLoss, Leaves
from psephos.models.boosting.newton_fit import hold_out_rows, vote_of
from psephos.models.boosting.newton_tables import column_values
from psephos.models.boosting.warm import continued, digests, keep
from psephos.models.sampling import drawn_columns
from psephos.models.training import Training
from psephos.models.units import power_of_weights
from psephos.runtime.progress import tracked
from psephos.trees.gradient import Limits, SquaresGrower
from psephos.trees.newton import Draws
from psephos.vote import Readout, Vote

_Floats = NDArray[np.float64]
_ROWS, _COLUMNS, _TIES = 1, 2, 4  # task ids of seeds


def fit_gradient(
    model: Any, data: Training, context: Context, loss: GradientLoss, readout: Readout
) -> tuple[Vote, dict[str, Any]]:
    """Boost trees with the parameters of a recipe."""
    held = None
    train = data
    if model.n_iter_no_change is not None:
        rows, rest = hold_out_rows(data, context, model.validation_fraction)
        train, held = data.take(rows), data.take(rest)
    now = digests(model, data, context)
    boosted = continued(model, context, now) or _Boosting(model, train, context, loss)
    reason = boosted.run(model, held)
    keep(model, now, boosted, len(boosted.rounds))
    vote = vote_of(len(boosted.values), boosted.base, boosted.rounds, train.target, readout)
    return vote, {
        "n_estimators_": len(boosted.rounds),
        "train_score_": np.array(boosted.scores),
        "validation_losses_": np.array(boosted.losses),
        "stopped_": reason,
    }


class _Boosting:
    """The loop, and what it has found."""

    def __init__(self, model: Any, data: Training, context: Context, loss: GradientLoss) -> None:
        self.model, self.data, self.context, self.objective = model, data, context, loss
        self.values = self._values(data)
        p, n = self.values.shape
        weight = data.weight
        limits = limits_of(model, float(weight.sum()))
        self.grower = SquaresGrower(
            self.values, data.table.n_codes, weight, limits, model.tree_method, model.max_bin,
            model.n_jobs,
        )  # fmt: skip
        self.base = loss.start(data.y, weight)
        self.margin = np.repeat(self.base[None], n, axis=0)
        self.share = column_share(model.max_features, p)
        self.rounds: list[list[Any]] = []  # the trees of each, one for each output
        self.scores: list[float] = []
        self.losses: list[float] = []
        self.held_margin: _Floats | None = None
        self.latest = np.full(model.n_iter_no_change or 1, np.inf)
        self.reason = "all rounds"

    def _values(self, data: Training) -> NDArray[Any]:
        """Return the (p, n) table; bins are alike in either type, middles are not."""
        return column_values(data.table, np.float64 if self.model.tree_method == "exact" else None)

    def run(self, model: Any, held: Training | None) -> str:
        """Grow further rounds, until the held-out loss has long not been lower by `tol`."""
        self.model = model
        rest = self._values(held) if held is not None else None
        if held is not None and self.held_margin is None:
            self.held_margin = np.repeat(self.base[None], len(held.y), axis=0)
        margin, latest = self.held_margin, self.latest
        ended = self.reason == "validation"  # before a warm start
        for t in tracked(range(len(self.rounds), 0 if ended else model.n_estimators), "rounds"):
            with np.errstate(over="ignore", invalid="ignore"):
                trees = self._round(t)
            if not np.isfinite(self.scores[-1]):
                raise PsephosError(
                    f"learning_rate={model.learning_rate}: after round {t + 1} the loss is beyond "
                    "float64. Give a smaller one; above 2 boosting seldom converges."
                )
            if held is None or rest is None or margin is None:
                continue
            for c, tree in enumerate(trees):
                margin[:, c] += tree.answer[tree.leaves(rest)]
            self.losses.append(self._loss(margin, held.y, held.weight))
            if not (self.losses[-1] + model.tol < latest).any():
                self.reason = "validation"
                break
            latest[t % len(latest)] = self.losses[-1]
        return self.reason

    def _round(self, t: int) -> list[Any]:
        """Grow one tree for each output, all from the same margins."""
        y, weight = self.data.y, self.data.weight
        rows = self._rows(t)
        residual = self.objective.residuals(self.margin, y, weight)
        inside = slice(None) if rows.all() else np.flatnonzero(rows)
        trees: list[Any] = []
        for c in range(residual.shape[1]):
            r = np.ascontiguousarray(residual[:, c])
            tree, position, own = self.grower.grow(r, self._draws(rows, t, c))
            leaf = own[position]
            leaves = Leaves(leaf[inside], tree.n_nodes, weight[inside])
            values = self.objective.answers(r[inside], self.margin[inside, c], y[inside], leaves)
            answer: Any = self.model.learning_rate * values
            tree.answer = answer
            self.margin[:, c] += answer[leaf]
            trees.append(tree)
        self.rounds.append(trees)
        self.scores.append(self._loss(self.margin[inside], y[inside], weight[inside]))
        return trees

    def _loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the mean loss; weights far from 1 are brought near it first."""
        return self.objective.loss(margin, y, np.ldexp(weight, -power_of_weights(weight)))

    def _rows(self, t: int) -> NDArray[np.bool_]:
        n, share = len(self.margin), self.model.subsample
        if share >= 1.0:
            return np.ones(n, np.bool_)
        rows = np.zeros(n, np.bool_)
        size = max(1, int(share * n))
        rows[self.context.generator(_ROWS, t).choice(n, size, replace=False)] = True
        return rows

    def _draws(self, rows: NDArray[np.bool_], t: int, c: int) -> Draws:
        p = len(self.values)
        ties = 1 + self.context.integer(_TIES, t, c)
        if self.share >= 1.0:
            return Draws(rows, np.arange(p), ties=ties)
        rng = self.context.generator(_COLUMNS, t, c)
        return Draws(rows, np.arange(p), by_node=self.share, rng=rng, n_features=p, ties=ties)


def limits_of(model: Any, total: float) -> Limits:
    """Return the limits of growth that a model's parameters set, with rows of that much weight.

    The least whole numbers, 1 for a leaf and 2 for a split, are no limit, whatever the weights.
    """
    leaf, split = model.min_samples_leaf, model.min_samples_split
    return Limits(
        model.max_depth,
        (0.0 if leaf == 1 else float(leaf)) if leaf >= 1 else float(leaf) * total,
        float(model.min_weight_fraction_leaf),
        (0.0 if split == 2 else float(split)) if split >= 2 else float(split) * total,
        float(model.min_impurity_decrease),
        model.max_leaf_nodes,
    )


def column_share(wanted: Any, p: int) -> float:
    """Return the share of the p columns that a node draws."""
    number = drawn_columns(wanted, p)
    return 1.0 if number == p else (number + 0.5) / p  # rounds down to the number


CONTENDER = Contender(
    "gradient-boosting",
    "boosting",
    {
        "quick": {
            "n_estimators": Integers(10, 40),
            "max_depth": Integers(1, 3),
            "learning_rate": LogUniform(0.05, 0.5),
            "class_weight": BALANCED,
        },
        "samba": {
            "n_estimators": Integers(1, 300),
            "max_depth": Integers(1, 10),
            "loss": Choice(("log_loss", "exponential")),
            "learning_rate": Uniform(0, 1),
            "class_weight": WEIGHTS,
        },
    },
    ensemble=True,
    first={"quick": {"n_estimators": 30, "learning_rate": 0.2, "class_weight": "balanced"}},
    binary_only={"loss": ("exponential",)},
    notes="every cut is looked at",
    small={"n_estimators": 4, "learning_rate": 0.7, "random_state": 0},
)
