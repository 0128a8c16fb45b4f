"""Base class of reasons, and helpers that several of them share.

The modules of this folder, except `abstaining`, use only the standard library: they are part of
scorers (`psephos.scoring`).
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from psephos.files.names import Names

NAMED = 6  # columns that a sentence spells out
Codes = Mapping[int, Any]  # sequences or arrays of numbers


@dataclass(frozen=True)
class Reason:
    """A voter's vote on one case and its reason. Base class of every kind of reasons.

    Parameters
    ----------
    answer : tuple of float
        The (K,) vote; all 0 where the voter abstains.
    """

    answer: tuple[float, ...]
    kind = "reason"

    def cells(self) -> list[tuple[int, float]]:
        """Return (column, value) of the columns read, in the order of the sentence."""
        return []

    def words(self, names: Names) -> str:
        """Return the reason as a sentence, without the vote."""
        return ""

    def data(self, names: Names) -> dict[str, Any]:
        """Return the reason as plain values (JSON)."""
        return {"kind": self.kind, "answer": list(self.answer)}

    def mapped(self, columns: Sequence[int], codes: Codes) -> Self:
        """Return the reason with other numbers of columns and codes of categories.

        `columns` are the new number of each column, `codes` the new code of each old code of a
        column.
        """
        return self._each(lambda part: part.mapped(columns, codes))

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        """Return the reason on the table from which a design of 0/1 columns was made.

        `x` is the case in that table; `columns` are the sources of the design columns, `levels` the
        categories for which they are 1; NaN: the number itself.
        """
        return self._each(lambda part: part.decoded(columns, levels, x))

    def _each(self, change: Callable[[Any], Any]) -> Self:
        """Return the reason with `change` applied to its tests, terms or paths, if it has any."""
        return self

    def ranked(self, columns: Sequence[int], x: Sequence[float]) -> Self:
        """Return the reason on the table from which normal scores were made.

        `x` is the case in that table; `columns` are the sources of the normal scores.
        """
        return self.mapped(columns, {})

    def says(self, answer: tuple[float, ...], how: str = "") -> Self:
        """Return this reason with the vote of an outer voter, a vote whose only voter it explains.

        `how` is how the outer voter votes: 'answer', 'probability', 'log-odds' or 'value'.
        """
        return replace(self, answer=answer)


@dataclass(frozen=True)
class Always(Reason):
    """Reason of a voter with the same vote on every case: a prior, base score or one-leaf tree.

    Parameters
    ----------
    name : str
    rule : int, default=0
        The number of a rule, from 1; 0 of other voters.
    """

    name: str = ""
    rule: int = 0
    kind = "constant"

    def words(self, names: Names) -> str:
        return self.name

    def data(self, names: Names) -> dict[str, Any]:
        return {**super().data(names), "name": self.name}


NOT_REACHED = "not reached"


def without_weight(reason: Reason) -> str:
    """Return the words in place of the vote of a voter without weight."""
    return NOT_REACHED if getattr(reason, "rule", 0) else "silent here"


def reason_and_vote(reason: str, vote: str) -> str:
    """Return a ballot in words, such as ``g1 = 1.877 > 0.779 → ill``."""
    return f"{reason}{': ' if vote == NOT_REACHED else ' → '}{vote}"


def outer_code(known: Any, code: float) -> float:
    """Return the new code of a category's code; NaN if it has none."""
    return math.nan if math.isnan(code) or int(code) >= len(known) else float(known[int(code)])


def plain_value(names: Names, column: int, value: float) -> Any:
    """Return a value for JSON: None if missing, a category's name, a number in full."""
    if math.isnan(value):
        return None
    return names.level(column, int(value)) if column in names.levels else value


def in_json(data: Any) -> str:
    """Return a reason's data as JSON, with numbers that are not finite as strings."""
    return json.dumps(_finite(data), ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in cast("list[Any]", value)]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
