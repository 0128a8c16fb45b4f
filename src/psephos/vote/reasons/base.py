"""What all reasons share.

Reasons are plain data and words: this folder's modules (`asked` apart) need the standard library
alone, and travel with a scorer (`psephos.scoring`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from psephos.files.names import Names

NAMED = 6  # columns that a sentence spells out
Codes = Mapping[int, Any]  # sequences or arrays of numbers


@dataclass(frozen=True)
class Reason:
    """A voter's vote on one case and why: base of the kinds of reasons.

    Parameters
    ----------
    answer : tuple of float
        The (K,) vote; all 0 where the voter abstains.
    """

    answer: tuple[float, ...]
    kind = "reason"

    def cells(self) -> list[tuple[int, float]]:
        """Return the columns read and the case's values, in the order of the sentence."""
        return []

    def words(self, names: Names) -> str:
        """Return the sentence, without the answer."""
        return ""

    def data(self, names: Names) -> dict[str, Any]:
        """Return the reason as plain values (JSON)."""
        return {"kind": self.kind, "answer": list(self.answer)}

    def mapped(self, columns: Sequence[int], codes: Codes) -> Self:
        """Return the reason on another numbering of columns and of the codes of categories.

        `columns` are the new number of each column, `codes` what each code of a category is now.
        """
        return self._each(lambda part: part.mapped(columns, codes))

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        """Return the reason on the table that a design of 0/1 columns was made of.

        `x` is the case in that table; `columns` are the column of the table that each design column
        is made of, `levels` the category it stands for; NaN: the number itself.
        """
        return self._each(lambda part: part.decoded(columns, levels, x))

    def _each(self, change: Callable[[Any], Any]) -> Self:
        """Return the reason with its tests, terms or paths changed, if it is made of such."""
        return self

    def ranked(self, columns: Sequence[int], x: Sequence[float]) -> Self:
        """Return the reason on the table whose normal scores it is on; x is the case in it.

        `columns` are the column of the table that each normal score is of.
        """
        return self.mapped(columns, {})

    def says(self, answer: tuple[float, ...], how: str = "") -> Self:
        """Return this reason as that of an outer vote whose only voter it explains.

        `how` is what the vote says of its score: 'answer', 'probability', 'log-odds' or 'value'.
        """
        return replace(self, answer=answer)


@dataclass(frozen=True)
class Always(Reason):
    """A voter whose vote is the same on every case: a prior, a base score, a tree of one leaf.

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
    """Return what a voter that would vote and has no weight does: a rule comes after another."""
    return NOT_REACHED if getattr(reason, "rule", 0) else "silent here"


def reason_and_vote(reason: str, vote: str) -> str:
    """Return a ballot in words, such as ``g1 = 1.877 > 0.779 → ill``."""
    return f"{reason}{': ' if vote == NOT_REACHED else ' → '}{vote}"


def outer_code(known: Any, code: float) -> float:
    """Return what a code of a category is in another numbering; NaN where it has none."""
    return math.nan if math.isnan(code) or int(code) >= len(known) else float(known[int(code)])


def plain_value(names: Names, column: int, value: float) -> Any:
    """Return a value for JSON: None where missing, a category in words, a number whole."""
    if math.isnan(value):
        return None
    return names.level(column, int(value)) if column in names.levels else value
