"""Which columns a budget buys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.schema import Schema
from psephos.vote import register_part
from psephos.vote.part import check

_Floats = NDArray[np.float64]


@register_part
@dataclass(frozen=True)
class Selection:
    """What a selector says of the columns, and which were taken.

    Parameters
    ----------
    scores : ndarray of shape (p,)
        Of at least 0; 0 says nothing of a column.
    ranking : ndarray of int
        The columns with a score, the best for its price first.
    chosen : ndarray of int
        Those that are taken, sorted.
    """

    tag: ClassVar[str] = "selection of columns"
    scores: _Floats
    ranking: NDArray[np.intp]
    chosen: NDArray[np.intp]

    def __post_init__(self) -> None:
        check(self.scores.ndim == 1 and bool((self.scores >= 0).all()), "scores are below 0")
        for columns in (self.ranking, self.chosen):
            inside = (columns >= 0) & (columns < len(self.scores))
            check(columns.dtype == np.intp and bool(inside.all()), "a column is not there")
            check(len(np.unique(columns)) == len(columns), "a column is there twice")

    def select(self, columns: NDArray[np.intp]) -> "Selection":
        """Return the same on the table reduced to `columns`."""
        place = np.full(len(self.scores), -1, dtype=np.intp)
        place[columns] = np.arange(len(columns))
        ranking, chosen = place[self.ranking], place[self.chosen]
        return Selection(self.scores[columns], ranking[ranking >= 0], chosen[chosen >= 0])

    def check_vote(self, vote: Any) -> None:
        """Raise PsephosError unless it is of the table of a vote."""
        check(len(self.scores) == vote.n_features, "the selection is of another table")


def read_prices(given: Any, schema: Schema, p: int) -> _Floats:
    """Return the price of each column, 1 by default."""
    prices = np.ones(p)
    if given is None:
        return prices
    if isinstance(given, Mapping):
        known = schema.words().columns
        place: dict[Any, int] = {name: j for j, name in enumerate(known)}
        place |= dict(enumerate(range(p)))
        named: dict[int, Any] = {}
        for name, price in given.items():
            plain = isinstance(name, str | int | np.integer) and not isinstance(name, bool)
            if not plain or name not in place:
                raise PsephosError(f"prices names {name!r}, which is no column of X.")
            if place[name] in named:
                raise PsephosError(
                    f"prices names a column twice, as {named[place[name]]!r} and as {name!r}: "
                    "whole numbers are positions. Give each one price."
                )
            named[place[name]] = name
            prices[place[name]] = _price(price, name)
        return prices
    if np.shape(given) != (p,):
        raise PsephosError(
            f"prices has shape {np.shape(given)}: give one for each of the {p} columns, or a dict "
            "from columns to prices."
        )
    return np.array([_price(price, j) for j, price in enumerate(given)])


def prices_on(given: Any, schema: Schema, columns: NDArray[Any]) -> Any:
    """Return the parameter `prices` for the table reduced to `columns`."""
    if given is None:
        return None
    held = columns.tolist()
    if not isinstance(given, Mapping):
        return [given[j] for j in held]
    words = schema.words().columns
    found = {i: given.get(j, given.get(words[j], 1.0)) for i, j in enumerate(held)}
    names = schema.names
    return {i if names is None else names[held[i]]: price for i, price in found.items()}


def _price(price: Any, name: Any) -> float:
    try:
        number = -1.0 if isinstance(price, str | bool) else float(price)
    except (TypeError, ValueError):
        number = -1.0
    if not number > 0:  # an infinite one is never bought
        raise PsephosError(f"the price of column {name!r} is {price!r}: give a number above 0.")
    return number


def ranked(scores: _Floats, prices: _Floats) -> NDArray[np.intp]:
    """Return the columns with a score, by score for the price; the first of equals first."""
    worth = np.divide(scores, prices)
    order = np.argsort(-worth, kind="stable")
    return order[worth[order] > 0].astype(np.intp)


def bought(ranking: NDArray[np.intp], prices: _Floats, budget: float) -> NDArray[np.intp]:
    """Return, sorted, the columns taken in the order of the ranking while the budget pays them.

    One that costs more than what is left is passed over.
    """
    kept: list[int] = []
    left = float(budget)
    for j in ranking.tolist():
        if prices[j] <= left * (1 + 1e-12):
            kept.append(j)
            left -= float(prices[j])
    return np.array(sorted(kept), dtype=np.intp)
