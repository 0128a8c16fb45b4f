"""The loop of second-order boosting: from a table to a vote of a base score and trees."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from psephos._errors import PsephosError
from psephos.estimator.input import Context, Table
from psephos.estimator.labels import refuse_large_weights
from psephos.models.boosting.common import hold_out
from psephos.models.boosting.losses import Objective
from psephos.models.boosting.newton_limits import directions, growth
from psephos.models.boosting.newton_tables import (
    column_values,
    exact_values,
    tree_voters,
    warn_of_merged_values,
)
from psephos.models.boosting.warm import continued, digests, keep, refuse_watched
from psephos.models.training import Training
from psephos.runtime.jit import run_blocks
from psephos.runtime.progress import tracked
from psephos.trees.newton import Draws, NewtonTree, drawn
from psephos.trees.newton_grow import grower
from psephos.vote import Constant, ConstantVoters, Readout, Vote, join

_Floats = NDArray[np.float64]
_Singles = NDArray[np.float32]
_ROWS, _COLUMNS, _SPLIT = 1, 2, 3  # task ids of seeds


def fit_newton(
    model: Any, data: Training, context: Context, objective: Objective, readout: Readout
) -> tuple[Vote, dict[str, Any]]:
    """Boost trees with the parameters of a recipe."""
    refuse_large_weights(data.weight)
    if model.validation_fraction is not None:
        refuse_watched(model)
        train, rest = hold_out_rows(data, context, model.validation_fraction)
        boosted = _Boosting(model, data.take(train), context, objective)
        reason, now = boosted.run(data.take(rest)), None
    else:
        now = digests(model, data, context)
        boosted = continued(model, context, now) or _Boosting(model, data, context, objective)
        boosted.model = model
        reason = boosted.run(None)
    keep(model, now, boosted, len(boosted.rounds))
    vote = vote_of(len(boosted.values), boosted.base, boosted.rounds, data.target, readout)
    return vote, {
        "n_estimators_": len(boosted.rounds),
        "validation_losses_": np.array(boosted.losses),
        "stopped_": reason,
    }


def hold_out_rows(data: Training, context: Context, share: float) -> Any:
    """Return the rows to learn from and those held out."""
    if data.target.n_classes:
        return hold_out(data.y, context, share)
    kind: Any = ShuffleSplit if context.groups is None else GroupShuffleSplit
    splitter = kind(1, test_size=share, random_state=context.integer(_SPLIT))
    try:
        if share * len(data.y) < 1.0:
            raise ValueError("that is less than one row")
        train, held = next(splitter.split(data.y, data.y, context.groups))
    except ValueError as error:
        raise PsephosError(
            f"validation_fraction={share} of {len(data.y)} rows cannot be held out ({error}): "
            "hold out another share, or none."
        ) from None
    return np.sort(train), np.sort(held)


class _Boosting:
    """The loop, and what it has found."""

    def __init__(self, model: Any, data: Training, context: Context, objective: Objective) -> None:
        self.model, self.data, self.context, self.objective = model, data, context, objective
        self.values = _values(model, data.table)
        if self.values.dtype == np.float32 and model.tree_method == "exact":
            warn_of_merged_values(data.table, self.values, model.n_jobs)
        n = self.values.shape[1]
        self.growth = growth(model, directions(model.monotone_constraints, data.table), n)
        self.base = objective.start(data.y, data.weight, model.base_score)
        self.margin = np.repeat(self.base[None], n, axis=0)
        weight = data.weight
        self.weight = None if (weight == 1.0).all() else weight
        self.grow = grower(model, self.values, data.table.n_codes, self.weight)
        self.rounds: list[list[NewtonTree]] = []  # the trees of each, one for each output
        self.losses: list[float] = []

    def run(self, held: Training | None) -> str:
        """Grow all rounds, or until the held-out loss has long been above its least."""
        k = len(self.base)
        gh = np.empty((k, len(self.margin), 2), np.float32)
        kind = self.values.dtype
        with np.errstate(over="ignore"):
            rest = column_values(held.table, kind) if held is not None else None
        margin = np.repeat(self.base[None], len(held.y), axis=0) if held is not None else None
        for _ in tracked(range(len(self.rounds), self.model.n_estimators), "rounds"):
            trees = self._round(gh)
            if held is None or rest is None or margin is None:
                continue
            for c, tree in enumerate(trees):
                margin[:, c] += tree.answer[tree.leaves(rest)]
            self.losses.append(self.objective.loss(margin, held.y, held.weight))
            best = int(np.argmin(self.losses)) + 1
            if len(self.rounds) - best >= self.model.n_iter_no_change:
                del self.rounds[best:]
                return "validation"
        if self.losses:
            del self.rounds[int(np.argmin(self.losses)) + 1 :]
        return "all rounds"

    def _round(self, gh: _Singles) -> list[NewtonTree]:
        """Grow one tree for each output, all from the same margins."""
        t = len(self.rounds)
        self.objective.gradients(self.margin, self.data.y, gh)
        rows = self._rows(t)
        trees: list[Any] = [None] * len(gh)

        def work(c: int) -> None:
            pair: Any = gh[c]
            if self.weight is not None:  # exact for whole weights: weight 2 is the row twice
                pair = pair * self.weight[:, None]
            trees[c], answers = self.grow(pair, self.growth, self._draws(rows, t, c))
            self.margin[:, c] += answers

        run_blocks(work, len(gh), self.model.n_jobs)
        self.rounds.append(trees)
        return trees

    def _rows(self, t: int) -> NDArray[np.bool_]:
        n, share = len(self.margin), self.model.subsample
        if share >= 1.0:
            return np.ones(n, np.bool_)
        rng = self.context.generator(_ROWS, t)
        rows = rng.random(n) < share
        rows[rng.integers(n)] = True  # never none
        return rows

    def _draws(self, rows: NDArray[np.bool_], t: int, c: int) -> Draws:
        m, p = self.model, len(self.values)
        shares = (m.colsample_bytree, m.colsample_bylevel, m.colsample_bynode)
        if min(shares) >= 1.0:
            return Draws(rows, np.arange(p))
        rng = self.context.generator(_COLUMNS, t, c)
        tree = drawn(rng, np.arange(p), shares[0])
        return Draws(rows, tree, shares[1], shares[2], rng, p)


def _values(model: Any, table: Table) -> NDArray[Any]:
    """Return the (p, n) table: for XGBoost's exact trees in float32, if that can hold it."""
    if model.tree_method == "exact":
        return exact_values(table)
    local = model.tree_method == "approx" and model.proposal == "local"
    return column_values(table, np.float64 if local else None)


def vote_of(
    p: int, score: NDArray[Any], rounds: Sequence[Sequence[Any]], target: Any, readout: Readout
) -> Vote:
    """Return the vote of the base score and all trees, each of weight 1, on p columns."""
    base = ConstantVoters(p, score.astype(np.float64)[None], "the base score")
    trees = [(c, tree) for one in rounds for c, tree in enumerate(one)]
    voters = join(
        [
            (np.array([0], np.intp), base),
            (np.arange(1, len(trees) + 1, dtype=np.intp), tree_voters(trees, p, len(score))),
        ]
    )
    return Vote(voters, Constant(p, np.ones(len(trees) + 1)), readout, target)
