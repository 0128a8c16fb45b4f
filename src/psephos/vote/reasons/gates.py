"""Reasons of soft trees: the most probable path of a case, and the columns that decide it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from psephos.files.names import Names, number, percent
from psephos.vote.reasons.base import Reason
from psephos.vote.reasons.scores import Term

_OF_GATE = 3  # columns of a gate that a sentence spells out


class Gate(NamedTuple):
    """A gate on the path of a case, and the terms that decide its side.

    ``chance = 1 / (1 + exp(-(constant + sum of added + rest)))``

    Parameters
    ----------
    number : int
        From 1 at the top, level by level; the children of gate g are 2 g (left) and 2 g + 1.
    side : {'left', 'right'}
        The side to which the path continues.
    chance : float
        The share of the arriving part of the case that goes there.
    terms : tuple of Term
        The greatest contributions of columns to the log-odds of that side, greatest first.
    rest : float
        The sum of the contributions of all other columns.
    more : int
        The number of other columns.
    constant : float
    """

    number: int
    side: str
    chance: float
    terms: tuple[Term, ...]
    rest: float
    more: int
    constant: float

    def words(self, names: Names) -> str:
        """Return the gate and its sum.

        E.g. ``gate 1: 91.3 % go left (log-odds 2.1 (age = 63) - 0.14 (4 more) + 0.4 = 2.36)``.
        """
        sizes = [abs(t.added[0]) for t in self.terms]
        scale = max([*sizes, abs(self.rest), abs(self.constant), 1.0])
        parts = [(t.added[0], f" ({_term_words(t, names)})") for t in self.terms[:_OF_GATE]]
        beyond = self.terms[_OF_GATE:]
        more = self.more + len(beyond)
        if more:
            rest = math.fsum([self.rest, *(t.added[0] for t in beyond)])
            parts.append((rest, f" ({more} more)"))
        total = math.fsum([self.constant, self.rest, *(t.added[0] for t in self.terms)])
        odds = f"{_summed([*parts, (self.constant, '')], scale)} = {number(total, scale)}"
        if not parts:
            odds = f"{number(total, scale)}, no column"
        share = percent(self.chance)
        return f"gate {self.number}: {share} go {self.side} (log-odds {odds})"

    def data(self, names: Names) -> dict[str, Any]:
        """Return the gate as plain values."""
        terms = [{**term.data(names), "added": term.added[0]} for term in self.terms]
        return {**self._asdict(), "terms": terms}


@dataclass(frozen=True)
class Route(Reason):
    """A soft tree's vote, and the most probable path through it: the gates down to one leaf.

    Parameters
    ----------
    share : float
        Share of the case that ends at that leaf: the product of the gates' `chance`.
    gates : tuple of Gate
        From the top.
    leaf : tuple of float
        The vote of that leaf, (K,); that of the tree is the mean over all leaves by their shares.
    """

    share: float = 1.0
    gates: tuple[Gate, ...] = ()
    leaf: tuple[float, ...] = ()
    kind = "route"

    def cells(self) -> list[tuple[int, float]]:
        return list({t.column: t.value for gate in self.gates for t in gate.terms}.items())

    def words(self, names: Names) -> str:
        """Return the share of the most probable leaf, the gates on the path, and its vote."""
        leaf = "" if names.say is None else f"; its leaf says {names.say(self.leaf)}"
        path = "; ".join(gate.words(names) for gate in self.gates)
        return f"the likeliest way ({percent(self.share)}): {path}{leaf}"

    def data(self, names: Names) -> dict[str, Any]:
        gates = [gate.data(names) for gate in self.gates]
        own = {"share": self.share, "gates": gates, "leaf": list(self.leaf)}
        return {**super().data(names), **own}

    def _each(self, change: Callable[[Any], Any]) -> Self:
        gates = (gate._replace(terms=tuple(map(change, gate.terms))) for gate in self.gates)
        return replace(self, gates=tuple(gates))


def _summed(parts: list[tuple[float, str]], scale: float) -> str:
    """Return ``2.1 (age = 63) - 0.14 (4 more) + 0.4``; a constant that rounds to 0 is left out."""
    words: list[str] = []
    for value, name in parts:
        written = number(abs(value), scale)
        if written == "0" and not name:
            continue
        sign = "-" if value < 0 and written != "0" else "+" if words else ""
        words.append(f"{sign} {written}{name}".lstrip() if words else f"{sign}{written}{name}")
    return " ".join(words)


def _term_words(term: Term, names: Names) -> str:
    name, value = names.columns[term.column], names.value(term.column, term.value)
    if term.level < 0:
        return f"{name} = {value}"
    wanted = names.level(term.column, term.level)
    return f"{name} = {value}" if value == wanted else f"{name} = {value}, not {wanted}"
