"""What a value of a column does to a model's mean answer, and the thresholds that it asks for."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from psephos.vote.importance import evenly_spaced
from psephos.vote.names import Names

_Floats = NDArray[np.float64]
_ROWS = 20_000  # answered at once
_REASONS = 8_000  # looked at for thresholds
_BACKGROUND, _FEWER = 100, 40  # cases whose other values are kept; of models of many voters
_MANY = 60  # voters
_FORWARD = ("<", ">=")


class Asked(Protocol):
    """A model on the columns it reads alone, and training cases as it reads them."""

    @property
    def vote(self) -> Any:
        """Return its vote on these columns."""
        ...

    @property
    def X(self) -> _Floats:
        """Return the cases, (n, q): categories as codes, NaN where missing."""
        ...


class Threshold(NamedTuple):
    """A value of a column at which a voter's vote changes."""

    at: float
    closed: bool  # whether the value itself belongs to what is above


def background(asked: Asked) -> _Floats:
    """Return training cases, evenly spaced, as the model reads them.

    At most 100; of a model of more than 60 voters, which takes longer to answer, at most 40.
    """
    most = _BACKGROUND if asked.vote.n_voters <= _MANY else _FEWER
    return asked.X[evenly_spaced(len(asked.X), most)]


def mean_answers(vote: Any, rows: _Floats, column: int, values: Sequence[float]) -> _Floats:
    """Return the mean probability of each class if all rows had a value: (len(values), K).

    That is the partial dependence of the probabilities on the column, by brute force (Friedman
    2001, "Greedy function approximation", section 8.2): every other column of the rows (n, q) is as
    it is. NaN asks for the answer where the column is missing.
    """
    step = max(1, _ROWS // max(len(rows), 1))
    found: list[_Floats] = []
    for start in range(0, len(values), step):
        part = np.asarray(values[start : start + step], dtype=np.float64)
        asked = np.tile(rows, (len(part), 1))
        asked[:, column] = np.repeat(part, len(rows))
        chances = vote.probabilities(asked)
        found.append(chances.reshape(len(part), len(rows), -1).mean(axis=1))
    return np.vstack(found)


def asked_values(asked: Asked) -> tuple[dict[int, list[Threshold]], set[int]]:
    """Return the thresholds that voters ask for, by column, and the columns read otherwise, too.

    Both are read off the reasons of the ballots of training cases; where voters are so many that
    this would take long, of fewer of them, evenly spaced. Columns read otherwise enter a sum, a
    distance or a weight, so that the answer changes gradually with them.
    """
    most = max(2, _REASONS // max(asked.vote.n_voters, 1))
    rows = asked.X[evenly_spaced(len(asked.X), most)]
    numbered = Names([str(j) for j in range(asked.X.shape[1])])
    found: dict[int, dict[float, bool]] = {}
    gradual: set[int] = set(asked.vote.weighting.columns.tolist())
    for reason in chain.from_iterable(asked.vote.reasons(rows)):
        tests = list(_tests(reason.data(numbered)))
        tested = {int(one["column"]) for one in tests if str(one["column"]).isdecimal()}
        gradual |= {j for j, _ in reason.cells() if j >= 0} - tested
        for one in tests:
            if str(one["column"]).isdecimal():
                own = found.setdefault(int(one["column"]), {})
                own.update(_bounds(one["relation"], one["bound"]))
    listed = {j: [Threshold(at, own[at]) for at in sorted(own)] for j, own in found.items()}
    return {j: own for j, own in listed.items() if own}, gradual


def _tests(data: Any) -> Iterator[dict[str, Any]]:
    """Yield every condition within a reason as data."""
    if isinstance(data, list):
        for one in cast("list[Any]", data):
            yield from _tests(one)
    elif isinstance(data, dict):
        entries = cast("dict[str, Any]", data)
        if {"column", "relation", "bound"} <= entries.keys():
            yield entries
        for one in entries.values():
            yield from _tests(one)


def _bounds(relation: str, bound: Any) -> dict[float, bool]:
    if relation == "within":
        return {float(b): False for b in bound if math.isfinite(b)}
    if relation not in ("<=", ">", *_FORWARD) or not math.isfinite(bound):
        return {}
    return {float(bound): relation in _FORWARD}


def ringed(asked: Asked, called: Sequence[str]) -> list[int]:
    """Return the training cases that voters are (prototypes), by position; none where all are."""
    numbered = Names([str(j) for j in range(asked.X.shape[1])])
    data = [reason.data(numbered) for reason in asked.vote.reasons(asked.X[:1])[0]]
    place = {name: i for i, name in enumerate(called)}
    named = {str(one["row"]) for one in data if one.get("kind") == "case"}
    rows = sorted(place[name] for name in named if name in place)
    return rows if len(rows) < len(called) / 2 else []
