"""What Algorithm 1 leaves open: relevance, difficulty and prior, by name or as functions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.estimator.labels import class_factors
from psephos.files.field_types import GREATEST
from psephos.models.boosting.loop import Round
from psephos.models.training import Training


@dataclass(frozen=True)
class BoostingRound:
    """What a relevance or difficulty function sees: one round, on the training rows.

    Not the voters of other rounds, and no row that is held out. Arrays cannot be written to.
    Copies of a row (in all columns and the label) are one row here.

    Parameters
    ----------
    t : int
        The round, from 0.
    X : ndarray or sparse array of shape (m, n_features)
        The rows: NaN is missing, categories are codes.
    y : ndarray of shape (m,)
        Their labels.
    agreement : ndarray of shape (m,)
        h_t(x_i) y_i: 1 where the voter is right, -1/(K-1) where it is wrong (-1 for two classes),
        between where it says probabilities.
    share : ndarray of shape (m,)
        Probability the voter gives to the row's class, 1 or 0 where it says classes;
        ``agreement`` is (K share - 1) / (K - 1).
    weight : ndarray of shape (m,)
        pi_t, which sum to 1.
    error : float
        Sum of ``weight * (1 - share)``: the voter's weighted error.
    n_classes : int
        K.
    relevance : ndarray of shape (m,), default=None
        omega_t, for a difficulty function; None for a relevance function.
    """

    t: int
    X: Any
    y: NDArray[Any]
    agreement: Floats
    share: Floats
    weight: Floats
    error: float
    n_classes: int
    relevance: Floats | None = None


def log_odds(error: float, n_classes: int) -> float:
    """Return AdaBoost's weight of a voter by SAMME, ln((1 - error) / error) + ln(K - 1)."""
    return np.log((1.0 - error) / error) + np.log(n_classes - 1.0)


def _log_odds_factor(seen: BoostingRound) -> Floats:
    """Return exp(-alpha_t h_t y / 2), without the factor that is common to all rows."""
    if seen.error <= 0:
        return np.ones(len(seen.y))
    return np.exp(log_odds(seen.error, seen.n_classes) * (1.0 - seen.share))


def _exponential(seen: BoostingRound) -> Floats:
    return np.exp(-(np.asarray(seen.relevance) * seen.agreement))


#: Line 5, by name: SamBA's omega and AdaBoost's.
RELEVANCES: Mapping[str, Callable[[BoostingRound], Floats]] = {
    "exp": lambda seen: np.exp(seen.agreement),
    "right": lambda seen: seen.share,
}
#: Line 7, by name: SamBA's factor and AdaBoost's.
DIFFICULTIES: Mapping[str, Callable[[BoostingRound], Floats]] = {
    "exp": _exponential,
    "log-odds": _log_odds_factor,
}


@dataclass(frozen=True)
class Skeleton:
    """Lines 5 and 7 of Algorithm 1 on the training rows; return values of functions are checked."""

    data: Training
    relevance: Any
    difficulty: Any

    def relate(self, pi: Floats, t: int, last: Round) -> Floats:
        """Return the relevance of a round's voter on each row."""
        return self._called("relevance", RELEVANCES, self._seen(pi, t, last))

    def reweight(self, pi: Floats, rounds: list[Round]) -> Floats:
        """Return the next sample weights, not yet normalised."""
        last = rounds[-1]
        seen = replace(self._seen(pi, len(rounds) - 1, last), relevance=_fixed(last.relevance))
        return pi * self._called("difficulty", DIFFICULTIES, seen)

    @cached_property
    def _X(self) -> Any:
        return _rows(self.data)

    def _seen(self, pi: Floats, t: int, last: Round) -> BoostingRound:
        target = self.data.target
        k: int = target.n_classes
        share = last.right.astype(np.float64) if last.share is None else last.share
        return BoostingRound(
            t, self._X, _fixed(target.classes[self.data.y]), _fixed((k * share - 1.0) / (k - 1.0)),
            _fixed(share), _fixed(pi), last.error, k,
        )  # fmt: skip

    def _called(self, name: str, known: Mapping[str, Any], seen: BoostingRound) -> Floats:
        given = getattr(self, name)
        if isinstance(given, str):
            return known[given](seen)
        return checked(given(seen), f"{name} in round {seen.t}", self.data.table.rows)


def first_weights(prior: Any, data: Training) -> Floats | None:
    """Return pi_1 up to a factor: each row's weight times its prior; None if `prior` is None.

    `prior` None, 'balanced', dict or callable.
    """
    if prior is None:
        return None
    if callable(prior):
        each = checked(prior(_rows(data), data.target.classes[data.y]), "prior", data.table.rows)
    else:
        totals = np.bincount(data.y, data.weight, minlength=data.target.n_classes)
        totals = totals.astype(np.float64)
        each = class_factors(prior, data.target.classes.tolist(), totals, "prior")[data.y]
    if not (each * data.weight).sum() > 0:
        raise PsephosError("prior is 0 on every row: at least one row needs a positive prior.")
    return data.weight * each


def checked(values: Any, what: str, rows: Array) -> Floats:
    """Return what a function of the user's returned, a finite number of at least 0 a row."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(())
    if numbers.shape != rows.shape:
        raise PsephosError(
            f"{what} did not return one number for each of the {len(rows)} rows it was given: it "
            f"returned {type(values).__name__} of shape {np.shape(values)}."
        )
    bad = np.flatnonzero(~((numbers >= 0) & (numbers <= GREATEST)))
    if len(bad):
        raise PsephosError(
            f"{what} is {numbers[bad[0]]:g} for row {rows[bad[0]]}: it must be at least 0 and at "
            f"most {GREATEST:g}."
        )
    return numbers


def _rows(data: Training) -> Any:
    """Return the rows as a function of the user's may see them."""
    values = data.table.values
    return _fixed(values) if isinstance(values, np.ndarray) else values.copy()


def _fixed(array: Any) -> Any:
    """Return a view that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
