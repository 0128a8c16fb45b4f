"""The loop of second-order boosting: from a table to a vote of a base score and trees.

From a table to the columns that trees grow on, and from trees to voters.

What the parameters of second-order boosting may be, and what they mean for its trees.
"""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, NDArray
from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import Integers, LogUniform, Uniform
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.labels import refuse_large_weights
from psephos.kernels.sorted_trees.newton_gain import Penalty
from psephos.models.boosting.common import continued, digests, hold_out_rows, keep, refuse_watched
from psephos.models.boosting.losses import PLAIN, Objective, Unit
from psephos.models.training import Training
from psephos.runtime.jit import run_blocks
from psephos.runtime.progress import tracked
from psephos.trees.bins import BLOCK_CELLS, columns_of
from psephos.trees.newton import NewtonTree, TreeLimits, TreeSample, drawn
from psephos.trees.newton_grow import grower
from psephos.vote import Constant, ConstantVoters, Readout, TreeVoters, Vote, join
from psephos.vote.target import AnyTarget

if TYPE_CHECKING:
    from psephos.models.boosting.newton import _Newton

_HIST_COLUMNS = 1000  # of a comparison: beyond, gigabytes
_MOST = float(np.finfo(np.float32).max)


def growth(model: "_Newton", signs: NDArray[np.int64], n_rows: int, size: float) -> TreeLimits:
    """Return what limits each tree."""
    ordered = model.grow_policy == "lossguide" or model.max_leaves is not None
    local = (model.tree_method, model.proposal) == ("approx", "local")
    if ordered and (local or model.tree_method == "exact"):
        name = "max_leaves" if model.max_leaves is not None else "grow_policy"
        how = "proposal='local'" if local else "tree_method='exact'"
        raise PsephosError(
            f"{name}={getattr(model, name)!r} with {how}: these trees are grown in whole levels; "
            "take tree_method='hist', or 'approx' with proposal='global'."
        )
    return TreeLimits(
        penalty(model, size),
        n_rows if model.max_depth is None else model.max_depth,
        signs,
        model.max_leaves,
        model.grow_policy == "lossguide",
    )


def penalty(model: "_Newton", size: float) -> Penalty:
    """Return the costs as float32 holds them; margins count units of this size."""
    alpha, most = model.reg_alpha / size, model.max_delta_step / size
    numbers = (model.reg_lambda, alpha, most, model.min_child_weight)
    local = (model.tree_method, model.proposal) == ("approx", "local")
    return Penalty(
        *(float(np.float32(min(v, _MOST))) for v in numbers),
        constrained=model.monotone_constraints is not None,
        share=1.0 / model.max_bin if local else 0.0,
        gamma=float(np.float32(min(model.gamma / size / size, _MOST))),
    )


def directions(given: Any, table: Table) -> NDArray[np.int64]:
    """Return a direction per column."""
    p = table.values.shape[1]
    if given is None:
        return np.zeros(p, np.int64)
    words = table.schema.words().columns
    if isinstance(given, dict):
        unknown = [name for name in given if name not in words]
        if unknown:
            raise PsephosError(
                f"monotone_constraints names {unknown[0]!r}, which is not a column of the table."
            )
        given = [given.get(name, 0) for name in words]
    try:
        signs = np.asarray(given)
    except ValueError:  # lists of different lengths
        signs = np.empty(0)
    if signs.shape != (p,) or not np.isin(signs, (-1, 0, 1)).all():
        raise PsephosError(
            f"monotone_constraints is {str(given)[:60]}: give -1, 0 or 1 for each of the {p} "
            "columns, or a dict from names to them."
        )
    for j in np.flatnonzero(signs):
        if int(j) in table.n_codes:
            raise PsephosError(
                f"monotone_constraints gives column {words[j]!r} a direction, but its values are "
                "categories, which have no order: give 0."
            )
    return signs.astype(np.int64)


def _settings(params: Params, shape: Shape, seed: int) -> Params:
    """Return histograms where their memory allows: one is kept for each level and column."""
    return {"tree_method": "hist" if shape.n_columns <= _HIST_COLUMNS else "exact", **params}


CONTENDER = Contender(
    "newton-boosting",
    "boosting",
    {
        "quick": {
            "n_estimators": Integers(10, 40),
            "max_depth": Integers(1, 4),
            "learning_rate": LogUniform(0.05, 0.5),
        },
        "samba": {
            "n_estimators": Integers(1, 300),
            "max_depth": Integers(1, 10),
            "learning_rate": Uniform(0, 1),
        },
    },
    settings=_settings,
    ensemble=True,
    first={"quick": {"n_estimators": 30, "learning_rate": 0.2}},
    notes="histograms up to 1,000 columns, every cut beyond",
    small={"n_estimators": 4, "max_depth": 3, "random_state": 0},
).weighted()


_Singles = NDArray[np.float32]


_LEAST = 1e-30  # far below it float32 has fewer digits
_MANY = 0.05  # of a column's values that become equal to another


def column_values(table: Table, kind: Any = None) -> NDArray[Any]:
    """Return the (p, n) table in a type of floats, without one in its own."""
    n, p = table.values.shape
    out = np.empty((p, n), kind or table.values.dtype)
    width = max(1, BLOCK_CELLS // max(n, 1))
    for first in range(0, p, width):
        span = slice(first, min(first + width, p))
        out[span] = columns_of(table.values, span)
    return out


def warn_of_merged_values(table: Table, values: _Singles, n_jobs: int | None) -> None:
    """Warn of columns of which float32 merges more values than it would of as many random ones.

    Of d values whose binary digits are random, float32 merges some d^2 / 2^24. Twice that and two
    more, or a twentieth of the values, are not by chance.
    """
    p, n = values.shape
    merged, distinct = np.zeros((2, p), np.int64)
    width = max(1, BLOCK_CELLS // n)

    def count(block: int) -> None:
        span = np.arange(block * width, min((block + 1) * width, p))
        part = columns_of(table.values, slice(span[0], span[-1] + 1)).astype(np.float64, copy=False)
        changed = ((values[span] != part) & ~np.isnan(part)).any(axis=1)
        changed[[j in table.n_codes for j in span.tolist()]] = False
        ranked = np.sort(
            part[changed], axis=1
        )  # missing values last: no comparison of theirs holds
        apart, single = ranked[:, 1:] > ranked[:, :-1], ranked.astype(np.float32)
        distinct[span[changed]] = 1 + apart.sum(axis=1)
        merged[span[changed]] = (apart & (single[:, 1:] == single[:, :-1])).sum(axis=1)

    run_blocks(count, -(-p // width), n_jobs)
    chance = distinct.astype(np.float64) ** 2 / 2**24
    found = np.flatnonzero((merged > 2.0 * chance + 2.0) | (merged > _MANY * distinct))
    if len(found):
        names = table.schema.words().columns
        most = ", ".join(f"{names[j]!r} ({merged[j]} of {distinct[j]})" for j in found[:5])
        more = f" and {len(found) - 5} more columns" if len(found) > 5 else ""
        warnings.warn(
            "tree_method='exact' compares values in float32, as XGBoost does, which makes "
            f"different values of a column equal: {most}{more}. Use tree_method='hist' or "
            "'approx', which compare in float64, or multiply or shift the column.",
            UserWarning,
            stacklevel=2,
        )


def exact_values(table: Table) -> Array:
    """Return the (p, n) table in float32; in float64 if a column is beyond the range of float32.

    That is a column with a number that float32 cannot hold, or all of whose numbers but 0 are so
    small that float32 would drop digits of them, or make them 0.
    """
    with np.errstate(over="ignore"):
        single = column_values(table, np.float32)
    size = np.abs(single)
    most = np.fmax.reduce(size, axis=1)
    near = (most >= _LEAST) & (most < np.inf)
    if near.all():
        return single
    far = np.flatnonzero(~near)
    zero = [not np.nan_to_num(columns_of(table.values, slice(j, j + 1))).any() for j in far]
    return single if all(zero) else column_values(table, np.float64)


def tree_voters(trees: list[tuple[int, NewtonTree]], p: int, k: int, size: float) -> TreeVoters:
    """Return grown trees as voters; a tree of output c votes in column c only."""
    flat = [tree.compact() for _, tree in trees]
    sizes = np.array([len(t.feature) for t in flat])
    column = np.concatenate([t.feature for t in flat])
    value = np.zeros((len(column), k))
    output = np.repeat([c for c, _ in trees], sizes)
    value[np.arange(len(column)), output] = np.concatenate([t.answer for t in flat])
    value *= size
    threshold = np.concatenate([t.threshold for t in flat])
    # x < s is x <= the number just below s, of the type that values are compared in.
    below = np.nextafter(threshold, threshold.dtype.type(-np.inf))
    sets = [t.sets.get(i, np.empty(0, np.bool_)) for t in flat for i in range(len(t.feature))]
    coded = any(t.sets for t in flat)
    return TreeVoters.of_nodes(
        p,
        sizes,
        column,
        np.concatenate([t.first for t in flat]),
        below.astype(np.float64),
        np.concatenate([t.missing_left for t in flat]),
        value,
        single=threshold.dtype == np.float32,
        category_ptr=np.cumsum([0, *map(len, sets)]).astype(np.intp)[: None if coded else 0],
        category_left=np.concatenate(sets) if coded else np.empty(0, np.bool_),
    )


_ROWS, _COLUMNS = 1, 2  # task ids of seeds


def fit_newton(
    model: "_Newton", data: Training, context: Context, objective: Objective, readout: Readout
) -> VoteFit:
    """Boost trees with the parameters of a recipe."""
    refuse_large_weights(data.weight)
    if model.validation_fraction is not None:
        refuse_watched(model)
        train, rest = hold_out_rows(data, context, model.validation_fraction)
        boosted = _NewtonLoop(model, data.take(train), context, objective)
        reason, now = boosted.run(data.take(rest)), None
    else:
        now = digests(model, data, context)
        boosted = continued(model, context, now) or _NewtonLoop(model, data, context, objective)
        boosted.model = model
        reason = boosted.run(None)
    keep(model, now, boosted, len(boosted.rounds))
    vote = vote_of(
        len(boosted.values), boosted.base, boosted.rounds, data.target, readout, objective.unit
    )
    return vote, {
        "n_estimators_": len(boosted.rounds),
        "validation_losses_": np.array(boosted.losses),
        "stopped_": reason,
    }


class _NewtonLoop:
    """The loop, and what it has found."""

    def __init__(self, model: Any, data: Training, context: Context, objective: Objective) -> None:
        self.model, self.data, self.context, self.objective = model, data, context, objective
        self.values = _values(model, data.table)
        if self.values.dtype == np.float32 and model.tree_method == "exact":
            warn_of_merged_values(data.table, self.values, model.n_jobs)
        n = self.values.shape[1]
        signs = directions(model.monotone_constraints, data.table)
        self.growth = growth(model, signs, n, objective.unit.size)
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
        rows = drawn_rows(self.context, t, len(self.margin), self.model.subsample)
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

    def _draws(self, rows: NDArray[np.bool_], t: int, c: int) -> TreeSample:
        m, p = self.model, len(self.values)
        shares = (m.colsample_bytree, m.colsample_bylevel, m.colsample_bynode)
        if min(shares) >= 1.0:
            return TreeSample(rows, np.arange(p))
        rng = self.context.generator(_COLUMNS, t, c)
        tree = drawn(rng, np.arange(p), shares[0])
        return TreeSample(rows, tree, shares[1], shares[2], rng, p)


def drawn_rows(context: Context, t: int, n: int, share: float) -> NDArray[np.bool_]:
    """Return which of n rows the trees of round t are grown on."""
    if share >= 1.0:
        return np.ones(n, np.bool_)
    rng = context.generator(_ROWS, t)
    rows = rng.random(n) < share
    rows[rng.integers(n)] = True  # never none
    return rows


def _values(model: "_Newton", table: Table) -> NDArray[Any]:
    """Return the (p, n) table: for XGBoost's exact trees in float32, if that can hold it."""
    if model.tree_method == "exact":
        return exact_values(table)
    local = model.tree_method == "approx" and model.proposal == "local"
    return column_values(table, np.float64 if local else None)


def vote_of(
    p: int, score: Array, rounds: Sequence[Sequence[Any]], target: AnyTarget, readout: Readout,
    unit: Unit = PLAIN,
) -> Vote:  # fmt: skip
    """Return the vote of the base score and all trees, each of weight 1, on p columns."""
    first = score.astype(np.float64) * unit.size + unit.origin
    base = ConstantVoters(p, first[None], "the base score")
    trees = [(c, tree) for one in rounds for c, tree in enumerate(one)]
    voters = join(
        [
            (np.array([0], np.intp), base),
            (
                np.arange(1, len(trees) + 1, dtype=np.intp),
                tree_voters(trees, p, len(score), unit.size),
            ),
        ]
    )
    return Vote(voters, Constant(p, np.ones(len(trees) + 1)), readout, target)
