"""What forests and bags keep of the rows they drew, and what they make of the rows left out."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.models.first_fit import SHRUNK, FirstFit
from psephos.trees.forest_rows import Draws
from psephos.vote.part import check

_Floats = NDArray[np.float64]


class Draw:
    """How the rows of each member were drawn: `seeds` (T,), weights `mass` (m,), `size` draws."""

    seeds: NDArray[np.uint64]
    mass: _Floats
    size: int
    first_fit: FirstFit | None
    ranked: bool

    def check_draw(self) -> None:
        """Raise PsephosError unless rows can be drawn so."""
        check(self.seeds.ndim == self.mass.ndim == 1, "seeds and weights of rows are not lists")
        check(self.seeds.dtype == np.uint64, "seeds are not whole numbers")
        check(self.mass.dtype == np.float64, "numbers are not float64")
        check(bool(np.isfinite(self.mass).all() and (self.mass > 0).all()), "weights of rows")
        check(isinstance(self.size, int) and 0 <= self.size < 2**31, "draws are not a number")
        check(self.size == 0 or len(self.mass) > 0, "no row was drawn from")

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return what is kept of these members only."""
        own: Any = self
        first = self.first_fit and self.first_fit.changed(SHRUNK)
        return replace(own, seeds=self.seeds[voters], first_fit=first)

    @property
    def draws(self) -> Draws | None:
        """Return the bootstrap samples; None if there were none."""
        return Draws(self.mass, self.size) if self.size else None


def earlier(model: Any, mass: _Floats, size: int, members: str, now: FirstFit | None) -> Any:
    """Return what is kept of the draws of the members (a word) that a warm start goes on from."""
    memory: Any = model.memory_
    if len(memory.seeds) > model.n_estimators:
        raise PsephosError(
            f"n_estimators={model.n_estimators} is less than the {len(memory.seeds)} {members} "
            f"there are: with warm_start=True {members} can only be added."
        )
    if memory.first_fit is None and not memory.size:
        raise PsephosError(
            "the first fit had warm_start=False, and kept nothing by which its rows could be "
            "known: set warm_start=True before it. To fit anew, set warm_start=False."
        )
    if memory.first_fit is not None and now is not None:
        memory.first_fit.require(now)
    if not np.array_equal(memory.mass, mass) or memory.size != size:
        raise PsephosError(
            "with warm_start=True the rows, their weights, max_samples and bootstrap must be those "
            "of the first fit. To draw otherwise, set warm_start=False."
        )
    return memory


def out_of_bag(
    answers: _Floats | None, n_classes: int, y: NDArray[Any], weight: _Floats
) -> dict[str, Any]:
    """Return the attributes: answers (n, C) of members that rows were left out of, their score.

    A row that every member was fitted on has NaN.
    """
    name = "oob_decision_function_" if n_classes else "oob_prediction_"
    if answers is None:
        return {"oob_score_": None, name: None}
    voted = ~np.isnan(answers[:, 0])
    y, w = y[voted], weight[voted]
    if not voted.any():
        score = np.nan
    elif n_classes:
        score = np.average(answers[voted].argmax(axis=1) == y, weights=w)
    else:
        error = (w * (y - answers[voted, 0]) ** 2).sum()
        spread = (w * (y - np.average(y, weights=w)) ** 2).sum()
        score = 1.0 - error / spread if spread > 0.0 else np.nan
    return {"oob_score_": float(score), name: answers if n_classes else answers[:, 0]}


def drawn_columns(wanted: Any, p: int) -> int:
    """Return how many of p columns a node draws, by the parameter `max_features`."""
    if wanted in ("sqrt", "log2"):
        number = int(np.sqrt(p) if wanted == "sqrt" else np.log2(p))
    elif wanted is None:
        number = p
    else:
        number = int(wanted) if isinstance(wanted, int | np.integer) else int(wanted * p)
    return min(max(number, 1), p)
