"""Registry of the readers of parts, and arithmetic that several of them share."""

# pyright: standard

import math
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar, cast

NAN = math.nan
LEVEL = 2.0**-41  # scores that differ by less are equal: 0.5e-12
VOTERS: dict[str, Any] = {}
WEIGHTS: dict[str, Any] = {}
CALIBRATIONS: dict[str, Any] = {}
Row = Sequence[float]
_Reader = TypeVar("_Reader")


def of_kind(table: dict[str, Any], *kinds: str) -> Callable[[_Reader], _Reader]:
    """Register the decorated class as the reader of kinds of parts."""

    def add(reader: _Reader) -> _Reader:
        table.update(dict.fromkeys(kinds, reader))
        return reader

    return add


def part_of(table: dict[str, Any], data: dict[str, Any]) -> Any:
    """Return the reader of a part."""
    if data["kind"] not in table:
        raise ValueError(f"no reader of {data['kind']}: export the model again.")
    return table[data["kind"]](data)


def are_neighbours(weights: dict[str, Any]) -> bool:
    """Return whether weights are those of the nearest training cases."""
    return weights.get("profile", {}).get("kind") == "k nearest"


def after_hook(content: dict[str, Any]) -> Any:
    """Return the value of an object of a plain model: an infinite number or an empty array."""
    if "float" in content and len(content) == 1:
        return float(content["float"])
    return [] if "shape" in content and len(content) == 1 else content


def filled(values: Any) -> Any:
    """Return nested lists with NaN in place of None."""
    if isinstance(values, list):
        return [filled(one) for one in cast("list[Any]", values)]
    return NAN if values is None else values


def single(value: float) -> float:
    """Return a number rounded to single precision."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def best(scores: Sequence[float]) -> int:
    """Return the index of the greatest number, the first of equals, or of the first NaN."""
    top = 0
    for k, score in enumerate(scores):
        if score != score:
            return k
        if score > scores[top]:
            top = k
    return top


def exp_shares(scores: Sequence[float]) -> list[float]:
    """Return exp(scores), normalised to the sum 1."""
    top = max(scores)
    odds = [math.exp(s - top) for s in scores]
    total = summed(odds)
    return [one / total for one in odds]


def summed(values: Any) -> float:
    """Return a sum, term by term (newer versions of Python's `sum` compensate rounding)."""
    total = 0.0
    for value in values:
        total += value
    return total


def cells(x: Row, columns: Sequence[int]) -> list[tuple[int, float]]:
    """Return (column, value) of some columns."""
    return [(j, x[j]) for j in columns]


def spans(ptr: Sequence[int]) -> list[tuple[int, int]]:
    """Return (start, end) of each span that pointers divide."""
    return list(pairwise(ptr))


def unpacked(value: Any) -> Any:
    """Return plain data with every object replaced by its value: see `after_hook`."""
    if isinstance(value, list):
        return [unpacked(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        content = cast("dict[str, Any]", value)
        return after_hook({key: unpacked(one) for key, one in content.items()})
    return value
