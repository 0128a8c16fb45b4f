"""Constraints on constructor parameters, kept as data beside each recipe and checked once in fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np

from psephos._errors import PsephosError

__all__ = ["Constraint", "Flag", "Interval", "OneOf", "Options", "Voter", "check_params"]


class Constraint(Protocol):
    """What a parameter may be: a test and the words for it."""

    def allows(self, value: Any) -> bool:
        """Return whether the value may be used."""
        ...

    def words(self) -> str:
        """Return what is allowed, to end the sentence 'must be ...'."""
        ...


@dataclass(frozen=True)
class Interval:
    """A number (whole if `whole`) in an interval; `open_low` leaves the lower end out."""

    low: float
    high: float = np.inf
    whole: bool = False
    open_low: bool = False
    open_high: bool = False

    def allows(self, value: Any) -> bool:
        """Return whether the value is a number of the interval."""
        if isinstance(value, bool | np.bool_):
            return False
        if not isinstance(value, Integral if self.whole else Real):
            return False
        number = float(value)
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        return bool(above and below and np.isfinite(number))

    def words(self) -> str:
        """Return the interval in words."""
        kind = "a whole number" if self.whole else "a finite number"
        low = f"{'above' if self.open_low else 'of at least'} {self.low:g}"
        if np.isinf(self.high):
            return f"{kind} {low}"
        return f"{kind} {low} and {'below' if self.open_high else 'at most'} {self.high:g}"


@dataclass(frozen=True)
class Options:
    """One of a few words (or None)."""

    choices: tuple[str | None, ...]

    def allows(self, value: Any) -> bool:
        """Return whether the value is one of the choices."""
        return (value is None or isinstance(value, str)) and value in self.choices

    def words(self) -> str:
        """Return the choices."""
        return "one of " + ", ".join(repr(choice) for choice in self.choices)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def allows(self, value: Any) -> bool:
        """Return whether the value is a truth value."""
        return isinstance(value, bool | np.bool_)

    def words(self) -> str:
        """Return the two values."""
        return "True or False"


@dataclass(frozen=True)
class Voter:
    """None (the library's own voter) or a classifier whose fit takes sample weights."""

    def allows(self, value: Any) -> bool:
        """Return whether the value can serve as a voter."""
        if value is None:
            return True
        return all(hasattr(value, method) for method in ("fit", "predict", "get_params"))

    def words(self) -> str:
        """Return what may vote."""
        return "None or a scikit-learn classifier"


@dataclass(frozen=True)
class OneOf:
    """Any of several constraints; None is allowed by `none=True`."""

    options: tuple[Constraint, ...]
    none: bool = False

    def allows(self, value: Any) -> bool:
        """Return whether any option allows the value."""
        if value is None:
            return self.none
        return any(option.allows(value) for option in self.options)

    def words(self) -> str:
        """Return the options joined by 'or'."""
        words = [option.words() for option in self.options]
        return " or ".join([*words, "None"] if self.none else words)


def check_params(estimator: Any, constraints: Mapping[str, Constraint]) -> None:
    """Raise a sentence naming the first constructor parameter that breaks its constraint.

    Raises
    ------
    PsephosError
        If a parameter has a value its constraint does not allow.
    """
    for name, constraint in constraints.items():
        value = getattr(estimator, name)
        if not constraint.allows(value):
            raise PsephosError(
                f"{type(estimator).__name__}: parameter {name!r} is {value!r}; "
                f"it must be {constraint.words()}."
            )
