"""The fit of a bag: what each member is given, the members as voters, answers out of bag."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from psephos._errors import PsephosError
from psephos.models.committees.bag_memory import BagMemory
from psephos.models.committees.bag_voters import bag_voters, with_earlier
from psephos.models.committees.fitting import Data, Task
from psephos.models.committees.members import mean_vote
from psephos.models.committees.naming import check_kind
from psephos.models.first_fit import FirstFit
from psephos.models.sampling import DrawsRows, earlier, groups_drawn, out_of_bag
from psephos.models.training import ordered_groups, row_groups
from psephos.trees.forest_rows import Draws, GroupDraws, number_of
from psephos.vote import Vote

_Floats = NDArray[np.float64]
_Rows = NDArray[np.intp]
_COLUMNS = 1  # the id of the draw of columns, beside that of rows


def fit_bag(model: Any, estimator: Any, data: Data) -> tuple[Vote, dict[str, Any]]:
    """Return the vote of a bag, and its memory and out-of-bag answers."""
    check_kind(model, estimator, "the estimator")
    if model.oob_score and not model.bootstrap:
        raise PsephosError(
            "oob_score=True needs rows that a member was not fitted on: set bootstrap=True."
        )
    given = np.ones(len(data.y)) if data.weight is None else data.weight
    number = number_of(given, len(data.y))
    again = data.context.previous is not None
    ranked = not again or model.memory_.ranked
    group = _distinct(data, ranked) if model.bootstrap else np.arange(len(data.y))
    mass: _Floats = np.bincount(group, given).astype(np.float64)
    first_of = np.unique(group, return_index=True)[1].astype(np.intp)
    rows_of = data.take(first_of, mass)
    n, p = rows_of.X.shape
    size = _size(model.max_samples, number, n if not model.bootstrap else None)
    now = _first_fit(model, data)
    draws = size if model.bootstrap else 0
    unit, masses, grouped = group, mass, bool(draws) and data.groups is not None
    if grouped:
        unit, masses, draws = groups_drawn(data.groups, size, number)
    old = earlier(model, masses, draws, "members", now) if again else None
    seeds = np.append(
        np.empty(0, dtype=np.uint64) if old is None else old.seeds,
        [
            data.context.generator(t).integers(2**64, dtype=np.uint64)
            for t in range(0 if old is None else len(old.seeds), model.n_estimators)
        ],
    ).astype(np.uint64)
    memory = BagMemory(seeds, masses, draws, now, ranked, grouped)
    first = 0 if old is None else len(old.seeds)
    subsets = [_columns(model, seed, p) for seed in seeds[first:]]
    own = memory.draws
    drawn_from = GroupDraws(own, unit[first_of], np.arange(n), mass, size) if grouped else own
    rows = _rows(estimator, drawn_from, size, n)
    tasks: list[Task] = []
    for t, subset in zip(range(first, len(seeds)), subsets, strict=True):
        drawn, counts = rows(seeds[t])
        tasks.append(Task(estimator, (1 + t,), drawn, subset, counts))
    # drawn rows have had their weight
    given_rows = replace(rows_of, weight=None) if model.bootstrap else data
    voters = bag_voters(given_rows, tasks) if tasks else None
    if old is not None:
        voters = with_earlier(data.context.previous.voters, voters)
    assert voters is not None  # a bag has a member
    vote = mean_vote(voters, data.target)
    return vote, {"memory_": memory, **_out_of_bag(model, vote, memory, data, unit)}


class Bag(DrawsRows):
    """What can be asked of any fitted bag."""

    memory_: BagMemory

    def _left_out(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> NDArray[np.bool_] | None:
        """Return `left_out` with a line behind for each that `shrink` dropped."""
        own: Any = self
        own._fitted()
        if not self.memory_.size:
            return None
        table, labels, weight, context = own.read(X, y, sample_weight, groups)
        data, first = Data.of(table, labels, weight, context, None), self.memory_.first_fit
        if self.memory_.grouped:
            return self.memory_.left_groups_out(_first_fit(own, data), data.groups)
        group, given = _distinct(data, self.memory_.ranked), None if data.weight is None else weight
        if not np.array_equal(np.bincount(group, given).astype(np.float64), self.memory_.mass):
            return None
        if first is not None and not first.has(_first_fit(own, data)):
            return None
        return self.memory_.left_out(group)

    def __sklearn_tags__(self) -> Any:
        above: Any = super()
        tags = above.__sklearn_tags__()
        tags.input_tags.sparse = True  # members are given dense rows
        return tags


def _first_fit(model: Any, data: Data) -> FirstFit:
    """Return what a later warm start must find again; a bootstrap draws rows by their content."""
    given = (data.X, data.y, data.weight, data.groups)
    return FirstFit.of(model, *given, ordered=not model.bootstrap)


def _distinct(data: Data, ranked: bool) -> _Rows:
    """Return a number per row by its content: a row given twice is one row of weight 2."""
    parts = [data.y[:, None], data.X] if ranked else [data.X, data.y[:, None]]
    if data.groups is not None:
        parts.append(np.unique(data.groups, return_inverse=True)[1][:, None])
    rows = np.hstack(parts).astype(np.float64)
    return ordered_groups(rows) if ranked else row_groups(rows)


def _size(max_samples: float, number: float, most: int | None) -> int:
    """Return how many rows a member is given; drawn without replacement there are `most`."""
    whole = isinstance(max_samples, int | np.integer)
    size = int(max_samples) if whole else max(1, round(max_samples * number))
    if most is not None:
        size = int(max_samples) if whole else max(1, round(max_samples * most))
        if size > most:
            raise PsephosError(
                f"max_samples={max_samples}: there are {most} rows to draw without replacement."
            )
    if size >= 2**31:
        raise PsephosError("a member would be given 2^31 rows or more: set a smaller max_samples.")
    return size


def _columns(model: Any, seed: Any, p: int) -> _Rows | None:
    """Return the sorted columns of a member; None is all."""
    wanted = model.max_features
    whole = isinstance(wanted, int | np.integer)
    number = int(wanted) if whole else max(1, int(wanted * p))
    if number > p:
        raise PsephosError(f"max_features={wanted}: the table has {p} columns.")
    draw = np.random.default_rng([int(seed), _COLUMNS])
    if model.bootstrap_features:
        return np.unique(draw.integers(p, size=number))
    return None if number == p else np.sort(draw.permutation(p)[:number])


def _rows(estimator: Any, draws: Draws | GroupDraws | None, size: int, n: int) -> Any:
    """Return what gives, for a seed, the rows of a member and their weights (None: as given)."""
    weighs = has_fit_parameter(estimator, "sample_weight")

    def drawn(seed: Any) -> tuple[_Rows | None, _Floats | None]:
        if draws is None:
            if size == n:
                return None, None
            return np.sort(np.random.default_rng(int(seed)).permutation(n)[:size]), None
        counts = draws.counts(seed)
        if weighs:
            return np.flatnonzero(counts), counts
        return np.repeat(np.arange(n), counts.astype(np.intp)), None

    return drawn


def _out_of_bag(
    model: Any, vote: Vote, memory: BagMemory, data: Data, unit: _Rows
) -> dict[str, Any]:
    """Return the mean answer of the members that each row was left out of, and how good it is."""
    k, draws = data.n_classes, memory.draws
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    if not model.oob_score or draws is None:
        return out_of_bag(None, k, data.y, weight)
    total = np.zeros((len(data.y), data.target.n_outputs))
    number = np.zeros(len(data.y))
    for t, seed in enumerate(memory.seeds):
        out = np.flatnonzero(draws.counts(seed)[unit] == 0)
        if len(out):
            alone: Any = vote.voters.take(np.array([t]))
            total[out] += alone.votes(data.X[out])[:, 0]
            number[out] += 1
    voted = number > 0
    mean = data.target.level(total[voted] / number[voted, None])
    answers = np.full((len(data.y), k or 1), np.nan)
    answers[voted] = vote.readout.probabilities(mean, data.target) if k else mean
    return out_of_bag(answers, k, data.y, weight)
