"""Reasons of linear, Gaussian and kernel models: their scores and the terms of the columns."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from psephos.files.names import Names, number, sum_digits
from psephos.vote.reasons.base import NAMED, Codes, Reason, outer_code, plain_value


class Term(NamedTuple):
    """The contribution of one column to the scores of a voter.

    Parameters
    ----------
    column : int
    value : float
        The value of the case.
    added : tuple of float
        The contribution to each of the R scores.
    coef : tuple of float, default=()
        The coefficients of a linear model: added = coef × entered.
    level : int, default=-1
        The category whose 0/1 indicator enters; -1: the value itself.
    normal : float, default=nan
        The normal score that enters instead; NaN: none does.
    fill : float, default=nan
        The number that replaces a missing value; NaN: none does.
    """

    column: int
    value: float
    added: tuple[float, ...]
    coef: tuple[float, ...] = ()
    level: int = -1
    normal: float = math.nan
    fill: float = math.nan

    @property
    def entered(self) -> float:
        """Return the number that enters: the value, its indicator or its normal score."""
        if not math.isnan(self.normal):
            return self.normal
        if math.isnan(self.value):
            return self.fill
        return self.value if self.level < 0 else float(self.value == self.level)

    def data(self, names: Names) -> dict[str, Any]:
        """Return the term as plain values."""
        return {
            "column": names.columns[self.column],
            "value": plain_value(names, self.column, self.value),
            "added": list(self.added),
            **({"coef": list(self.coef)} if self.coef else {}),
            **({"level": names.level(self.column, self.level)} if self.level >= 0 else {}),
            **({} if math.isnan(self.normal) else {"normal_score": self.normal}),
            **({} if math.isnan(self.fill) else {"if_missing": self.fill}),
        }

    def mapped(self, columns: Sequence[int], codes: Codes) -> "Term":
        """Return the term with other numbers of columns and codes."""
        known = codes.get(self.column)
        moved = self._replace(column=int(columns[self.column]))
        if known is None:
            return moved
        level = int(known[self.level]) if 0 <= self.level < len(known) else self.level
        return moved._replace(value=outer_code(known, self.value), level=level)

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        """Return the term on the table from which a design of 0/1 columns was made."""
        column, level = int(columns[self.column]), levels[self.column]
        coded = -1 if math.isnan(level) else int(level)
        return self._replace(column=column, value=x[column], level=coded)


@dataclass(frozen=True)
class Score(Reason):
    """Reason of a voter by scores: the scores, their terms, and how they become the vote.

    Parameters
    ----------
    model : str
        Name of the model.
    terms : tuple of Term
        A term for every column read, the most influential first. `added` is empty if the score is
        not a sum over columns (a kernel, a covariance).
    constant : tuple of float
        The intercepts: scores = constant + sum of added; empty as above.
    scores : tuple of float
        One score decides between two classes by its sign, or is a number; else one per class.
    readout : {'answer', 'probability', 'log-odds', 'value'}
        The vote: the class of the greatest score; the mean of the codes by probability; the
        log-odds of these; the score itself.
    slope : float, default=1.0
        Log-odds per unit of the score.
    """

    model: str = ""
    terms: tuple[Term, ...] = ()
    constant: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    readout: str = "answer"
    slope: float = 1.0
    kind = "score"

    def cells(self) -> list[tuple[int, float]]:
        return list({term.column: term.value for term in self.terms}.items())

    def words(self, names: Names) -> str:
        """Return the terms and their sum, or the columns and the scores."""
        if not self.terms:
            return f"{self.model} that reads no column{self._sums(names)}"
        if len(self.scores) == 1 and self.constant:
            return self._line(names)
        cells = self.cells()
        read = [f"{names.columns[j]} = {names.value(j, value)}" for j, value in cells[:NAMED]]
        more = len(cells) - len(read)
        rest = f" and {more} more" if more else ""
        return f"{', '.join(read)}{rest}: {self.model}{self._sums(names)}"

    def _line(self, names: Names) -> str:
        """Return ``0.5 × 42 (age) - 1.2 × 3 (dose) + 0.3 = 17.7 > 0``."""
        scale = max([abs(t.added[0]) for t in self.terms] + [abs(self.constant[0])])
        total, parts = self.scores[0], list[str]()
        digits = sum_digits(10 * scale, total)  # of many terms and of factors
        for term in self.terms[:NAMED]:
            sign = "- " if term.coef[0] < 0 else "+ " if parts else ""
            name = self._named(term, names)
            unit = 0.0 if math.isnan(term.normal) else 1.0  # of normal scores
            by, entered = number(abs(term.coef[0]), 0.0, digits), number(term.entered, unit, digits)
            parts.append(f"{sign}{by} × {entered} ({name})")
        more = self.terms[NAMED:]
        if more:
            rest = math.fsum(term.added[0] for term in more)
            parts.append(
                f"{'-' if rest < 0 else '+'} {number(abs(rest), scale, digits)} ({len(more)} more)"
            )
        if number(self.constant[0], scale) != "0":
            sign = "-" if self.constant[0] < 0 else "+"
            parts.append(f"{sign} {number(abs(self.constant[0]), scale, digits)}")
        written = number(total, scale)
        above = "" if self.readout == "value" else " > 0" if total > 0 else " <= 0"
        odds = self.readout in ("probability", "log-odds") and self.slope == 1
        second = names.classes[1] if len(names.classes) == 2 else "the second class"
        unit = f"log-odds of {second}: " if odds else ""
        return f"{unit}{' '.join(parts)} = {written}{above}"

    def _sums(self, names: Names) -> str:
        """Return the scores in words."""
        scale = max(map(abs, self.scores), default=0.0)
        if (
            self.readout in ("probability", "log-odds") or not self.terms
        ):  # log-odds: their unit is 1
            scale = max(scale, 1.0)
        if len(self.scores) == 1:
            return f" (score {number(self.scores[0], scale)})"
        order = sorted(range(len(self.scores)), key=lambda k: -self.scores[k])[:3]
        known = len(names.classes) == len(self.scores)
        label = names.classes if known else [f"class {k + 1}" for k in range(len(self.scores))]
        scores = [f"{label[k]} {number(self.scores[k], scale)}" for k in order]
        return f" (score of {', '.join(scores)})"

    def _named(self, term: Term, names: Names) -> str:
        name, scored = names.columns[term.column], not math.isnan(term.normal)
        if scored and math.isnan(term.value):
            return f"normal score at {name} missing"
        if math.isnan(term.value):
            return f"{name} missing"
        if scored or term.level >= 0:
            name = f"{name} = {self._value(term, names)}"
        return f"normal score at {name}" if scored else name

    def _value(self, term: Term, names: Names) -> str:
        value = names.value(term.column, term.value)
        if term.level < 0:
            return value
        wanted = names.level(term.column, term.level)
        return value if value == wanted else f"{value}, not {wanted}"

    def says(self, answer: tuple[float, ...], how: str = "") -> Self:
        """Return this reason with another vote, made from the same scores."""
        made = how if self.readout == "probability" and how else self.readout
        return replace(self, answer=answer, readout=made)

    def data(self, names: Names) -> dict[str, Any]:
        return {
            **super().data(names),
            "model": self.model,
            "terms": [term.data(names) for term in self.terms],
            "constant": list(self.constant),
            "scores": list(self.scores),
            "readout": self.readout,
            "slope": self.slope,
        }

    def _each(self, change: Callable[[Any], Any]) -> Self:
        return replace(self, terms=tuple(map(change, self.terms)))

    def ranked(self, columns: Sequence[int], x: Sequence[float]) -> Self:
        terms = tuple(
            t._replace(column=int(columns[t.column]), value=x[columns[t.column]], normal=t.value)
            for t in self.terms
        )
        return replace(self, terms=terms)
