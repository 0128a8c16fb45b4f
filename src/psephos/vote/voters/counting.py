"""Counting, listing and drawing the hypotheses of a version space without enumerating the space.

A hypothesis at least as general as S is consistent if each negative case fails a constraint. The
columns are processed one after another, and hypotheses that leave the same negatives to exclude are
counted together: one term per distinct set of negatives, instead of inclusion-exclusion over all
subsets.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses

_Codes = NDArray[np.int32]
STATES = 20_000  # greatest number of distinct sets of remaining negatives, over all columns
_LAYERS = 2_000  # greatest number of columns whose states are all kept
TRIES = 200  # draws per requested hypothesis


class TooManyStates(PsephosError):
    """Raised if there are too many sets of remaining negatives for an exact count."""


class Group(NamedTuple):
    """Constraints of one column that exclude the same negatives."""

    excludes: int  # one bit per negative
    weight: int  # sum of their prior weights
    low: list[int]
    high: list[int]
    weights: list[int]


@dataclass(frozen=True)
class Problem:
    """The hypotheses that are at least as general as `specific` and hold for no negative."""

    space: ConjunctiveSpace
    specific: Hypotheses  # one; if it is empty, every other hypothesis is at least as general
    negatives: _Codes  # (m, q), codes
    prior: str = "uniform"

    def groups(self, i: int) -> list[Group]:
        """Return the constraints on a column that are general enough, grouped by `excludes`."""
        low, high = self.space.constraints(i)
        priors = self.space.priors(i, self.prior)
        if not self.specific.empty[0]:
            a, b = self.specific.low[0, i], self.specific.high[0, i]
            above = np.flatnonzero((low <= a) & (high >= b))
        else:
            above = np.arange(len(low))
        x = self.negatives[:, i]
        out = (x < low[above, None]) | (x > high[above, None])
        bits = np.packbits(out, axis=1, bitorder="little")
        found: dict[int, Group] = {}
        for t, row in zip(above.tolist(), bits, strict=True):
            mask = int.from_bytes(row.tobytes(), "little")
            own = found.setdefault(mask, Group(mask, 0, [], [], []))
            own.low.append(int(low[t]))
            own.high.append(int(high[t]))
            own.weights.append(priors[t])
        return [g._replace(weight=sum(g.weights)) for g in found.values()]

    def _layers(self) -> tuple[int, list[tuple[int, list[Group]]], int]:
        """Return (all negatives, columns that exclude some, product of the others' weights)."""
        every = (1 << len(self.negatives)) - 1
        columns = [(i, self.groups(i)) for i in range(self.space.n_columns)]
        free = math.prod(sum(g.weight for g in own) for _, own in columns if not _excludes(own))
        excluding = [(i, groups) for i, groups in columns if _excludes(groups)]
        excluding.sort(key=lambda one: -_excludes(one[1]).bit_count())
        return every, excluding, free

    def count(self, most: int = STATES) -> int:
        """Return the exact number of consistent hypotheses, weighted by the prior.

        The empty hypothesis is not counted.
        """
        every, columns, free = self._layers()
        states, seen = {every: free}, 0
        rest = _rest(columns)
        for (_, groups), later in zip(columns, rest, strict=True):
            whole = sum(g.weight for g in groups)
            new: dict[int, int] = {}
            for left, ways in states.items():
                if not left:
                    new[0] = new.get(0, 0) + ways * whole
                    continue
                for group in groups:
                    now = left & ~group.excludes
                    if not now & ~later:
                        new[now] = new.get(now, 0) + ways * group.weight
            states = new
            seen += len(states)
            if seen > most:
                raise TooManyStates(_TOO_MANY)
        return states.get(0, 0)

    def table(self, most: int = STATES) -> "ColumnPaths":
        """Return the weights of all continuations from each state, for listing and drawing."""
        every, columns, _ = self._layers()
        if len(columns) > _LAYERS:
            raise TooManyStates(_TOO_MANY)
        reached: list[set[int]] = [{every}]
        for (_, groups), later in zip(columns, _rest(columns), strict=True):
            masks = [g.excludes for g in groups]
            now = {left & ~mask for left in reached[-1] for mask in masks}
            reached.append({left for left in now if not left & ~later})
            if sum(map(len, reached)) > most:
                raise TooManyStates(_TOO_MANY)
        onward: list[dict[int, int]] = [{left: int(left == 0) for left in reached[-1]}]
        for (_, groups), states in zip(reversed(columns), reversed(reached[:-1]), strict=True):
            after = onward[-1]
            ways = {
                left: sum(g.weight * after.get(left & ~g.excludes, 0) for g in groups)
                for left in states
            }
            onward.append(ways)
        free = [i for i in range(self.space.n_columns) if i not in {c for c, _ in columns}]
        return ColumnPaths(self, every, columns, onward[::-1], [(i, self.groups(i)) for i in free])

    def drawn(self, size: int, rng: np.random.Generator, tries: int = TRIES) -> "Drawn":
        """Return consistent hypotheses drawn from the prior by rejection sampling.

        There are `size` of them, or fewer if `tries` times as many draws did not suffice.
        """
        groups = [self.groups(i) for i in range(self.space.n_columns)]
        columns = [_options(own) for own in groups]
        general = math.prod(sum(g.weight for g in own) for own in groups)
        none = np.empty((0, self.space.n_columns), dtype=np.int32)
        found = [Hypotheses(none, none, np.empty(0, dtype=np.bool_))]
        accepted = drawn = 0
        while accepted < size and drawn < tries * size:
            at = [rng.choice(len(low), size, p=chance) for low, _, chance in columns]
            low, high = np.empty((2, size, len(columns)), dtype=np.int32)
            for i, (one, (lows, highs, _)) in enumerate(zip(at, columns, strict=True)):
                low[:, i], high[:, i] = lows[one], highs[one]
            some = Hypotheses(low, high, np.zeros(size, dtype=np.bool_))
            good = np.flatnonzero(~some.holds(self.negatives).any(axis=0))
            drawn += size
            accepted += len(good)
            found.append(some.take(good))
        kept = [np.concatenate(parts)[:size] for parts in zip(*found, strict=True)]
        return Drawn(Hypotheses(*kept), accepted, drawn, general)


class Drawn(NamedTuple):
    """Consistent hypotheses drawn at random, and an estimate of their number."""

    hypotheses: Hypotheses
    accepted: int  # number of draws that were consistent
    drawn: int
    general: int  # number of hypotheses in the population, weighted by the prior

    def estimate(self) -> tuple[int, float]:
        """Return (estimated number of consistent hypotheses, its relative standard error)."""
        share = self.accepted / self.drawn
        if not self.accepted:
            return 0, math.inf
        error = math.sqrt((1.0 - share) / self.accepted)
        return self.general * self.accepted // self.drawn, error


_TOO_MANY = (
    "the rows that are not of a class leave too many combinations to be counted exactly: sample "
    "the space, or test fewer columns."
)


@dataclass(frozen=True)
class ColumnPaths:
    """The consistent hypotheses, as paths through the columns."""

    problem: Problem
    every: int  # all negatives
    columns: list[tuple[int, list[Group]]]  # those that exclude negatives
    # before each of these columns, and after the last: the weight of all paths from a state
    onward: list[dict[int, int]]
    free: list[tuple[int, list[Group]]]  # the other columns

    def listed(self) -> Hypotheses:
        """Return all consistent hypotheses but the empty one."""
        start = [(self.every, list[tuple[int, int, int]]())]
        ways = start if self.onward[0].get(self.every, 0) else []
        for (i, groups), after in zip(self.columns, self.onward[1:], strict=True):
            ways = [
                (left & ~g.excludes, [*way, (i, a, b)])
                for left, way in ways
                for g in groups
                if after.get(left & ~g.excludes, 0)
                for a, b in zip(g.low, g.high, strict=True)
            ]
        rows = [way for _, way in ways]
        for i, groups in self.free:
            options = [(i, a, b) for g in groups for a, b in zip(g.low, g.high, strict=True)]
            rows = [[*row, one] for row in rows for one in options]
        return self._hypotheses(rows)

    def drawn(self, size: int, rng: np.random.Generator) -> Hypotheses:
        """Return consistent hypotheses drawn independently from the prior."""
        return self._hypotheses([self._draw(rng) for _ in range(size)])

    def _draw(self, rng: np.random.Generator) -> list[tuple[int, int, int]]:
        left = self.every
        way: list[tuple[int, int, int]] = []
        for layer, (i, groups) in enumerate(self.columns):
            after = self.onward[layer + 1]
            ways = [g.weight * after.get(left & ~g.excludes, 0) for g in groups]
            group = groups[_pick(ways, rng)]
            left &= ~group.excludes
            way.append(_one(i, group, rng))
        for i, groups in self.free:
            way.append(_one(i, groups[_pick([g.weight for g in groups], rng)], rng))
        return way

    def _hypotheses(self, rows: list[list[tuple[int, int, int]]]) -> Hypotheses:
        q = self.problem.space.n_columns
        low, high = (np.zeros((len(rows), q), dtype=np.int32) for _ in range(2))
        if q and rows:
            whole = np.array(rows, dtype=np.int64)
            at = np.arange(len(rows))[:, None]
            low[at, whole[:, :, 0]], high[at, whole[:, :, 0]] = whole[:, :, 1], whole[:, :, 2]
        return Hypotheses(low, high, np.zeros(len(rows), dtype=np.bool_))


def _one(i: int, group: Group, rng: np.random.Generator) -> tuple[int, int, int]:
    at = _pick(group.weights, rng)
    return i, group.low[at], group.high[at]


def _pick(weights: list[int], rng: np.random.Generator) -> int:
    """Return an index drawn in proportion to integer weights of any size."""
    total = sum(weights)
    size = (total.bit_length() + 7) // 8 + 8
    at = int.from_bytes(rng.bytes(size), "little") * total >> (8 * size)
    for k, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return k
    raise AssertionError("a draw fell beyond its weights")


def _excludes(groups: list[Group]) -> int:
    """Return the negatives that any of these constraints excludes."""
    found = 0
    for group in groups:
        found |= group.excludes
    return found


def _rest(columns: list[tuple[int, list[Group]]]) -> list[int]:
    """Return, for each column, the negatives that later columns exclude."""
    rest = [0]
    for _, groups in reversed(columns):
        rest.append(rest[-1] | _excludes(groups))
    return rest[-2::-1]


def _options(groups: list[Group]) -> tuple[_Codes, _Codes, Floats]:
    """Return (low, high, prior probability) of the constraints on one column."""
    low = np.array([a for group in groups for a in group.low], dtype=np.int32)
    high = np.array([b for group in groups for b in group.high], dtype=np.int32)
    weight = np.array([float(w) for group in groups for w in group.weights])
    return low, high, weight / weight.sum()


def minimal_negatives(space: ConjunctiveSpace, specific: Hypotheses, negatives: _Codes) -> _Codes:
    """Return the distinct negatives without those that the others make redundant.

    A negative is redundant if every constraint that excludes some other one also excludes it.
    """
    rows = np.unique(negatives, axis=0)
    if len(rows) < 2:
        return rows
    problem = Problem(space, specific, rows)
    masks = [g.excludes for i in range(space.n_columns) for g in problem.groups(i)]
    width = (len(rows) + 7) // 8
    table = np.frombuffer(b"".join(m.to_bytes(width, "little") for m in masks), dtype=np.uint8)
    bits = np.unpackbits(table.reshape(-1, width), axis=1, bitorder="little")[:, : len(rows)]
    packed = np.packbits(bits == 0, axis=0)
    covered = [int.from_bytes(column.tobytes(), "little") for column in packed.T]
    kept: list[int] = []
    for j in sorted(range(len(rows)), key=lambda j: -covered[j].bit_count()):
        if not any(covered[j] & ~covered[k] == 0 for k in kept):
            kept.append(j)
    return rows[sorted(kept)]
