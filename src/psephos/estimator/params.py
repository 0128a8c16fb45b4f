"""Constraints on constructor parameters: declared with each recipe, checked in `fit`."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np

from psephos._errors import PsephosError

_SHOWN = 80  # characters of a wrong value in a message
_SEEDS = 2**32  # scikit-learn's seeds must be below


class Constraint(Protocol):
    """The allowed values of a parameter: a test, and a description."""

    def allows(self, value: Any) -> bool:
        """Return whether the value may be used."""
        ...

    def words(self) -> str:
        """Return the end of the sentence 'must be ...'."""
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
        if isinstance(value, bool | np.bool_):
            return False
        if not isinstance(value, Integral if self.whole else Real):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        return bool(above and below and np.isfinite(number))

    def words(self) -> str:
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
        return (value is None or isinstance(value, str)) and value in self.choices

    def words(self) -> str:
        return "one of " + ", ".join(repr(choice) for choice in self.choices)


@dataclass(frozen=True)
class Text:
    """A text that is not empty."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and value != ""

    def words(self) -> str:
        return "a text"


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)

    def words(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Voter:
    """None (the library's own voter) or a classifier whose fit takes sample weights."""

    def allows(self, value: Any) -> bool:
        from sklearn.base import is_classifier  # here, so that the command's help stays quick

        return value is None or (is_estimator(value) and bool(is_classifier(value)))

    def words(self) -> str:
        return "None or a scikit-learn classifier (an instance, not its class)"


@dataclass(frozen=True)
class Jobs:
    """None or a number of threads; a negative one counts back from the cores."""

    def allows(self, value: Any) -> bool:
        whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
        return value is None or (whole and value != 0)

    def words(self) -> str:
        return "None, a number of threads, or a negative number counting back from the cores"


@dataclass(frozen=True)
class Seed:
    """A random state as scikit-learn accepts it."""

    def allows(self, value: Any) -> bool:
        if value is None or isinstance(value, np.random.RandomState | np.random.Generator):
            return True
        whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
        return whole and 0 <= int(value) < _SEEDS

    def words(self) -> str:
        return "None, a whole number from 0 to 2**32 - 1, or a RandomState"


@dataclass(frozen=True)
class ClassWeight:
    """None, 'balanced' or another word, or a dictionary from labels to weights of at least 0."""

    named: tuple[str, ...] = ("balanced",)

    def allows(self, value: Any) -> bool:
        if value is None or (isinstance(value, str) and value in self.named):
            return True
        return isinstance(value, Mapping) and all(map(Interval(0).allows, value.values()))

    def words(self) -> str:
        named = ", ".join(map(repr, self.named))
        return f"None, {named}, or a dict from labels to weights of at least 0"


@dataclass(frozen=True)
class Classes:
    """None, or a list of at least two different labels: the classes in their order."""

    def allows(self, value: Any) -> bool:
        if value is None:
            return True
        if not isinstance(value, list | tuple | np.ndarray):
            return False
        labels = np.asarray(value, dtype=object).tolist()
        plain = all(isinstance(label, str | Real | np.bool_) for label in labels)
        words = {isinstance(label, str) for label in labels}
        return plain and len(words) == 1 and 2 <= len(labels) == len(set(labels))

    def words(self) -> str:
        return "None or a list of at least two labels, all words or all numbers, each once"


@dataclass(frozen=True)
class Function:
    """One of a few words, or a function; `returns` completes "a function ..."."""

    choices: tuple[str | None, ...]
    returns: str

    def allows(self, value: Any) -> bool:
        return callable(value) or Options(self.choices).allows(value)

    def words(self) -> str:
        function = f"a function {self.returns}"
        return f"{Options(self.choices).words()}, or {function}" if self.choices else function


@dataclass(frozen=True)
class Anything:
    """A parameter that is checked where it is used."""

    def allows(self, value: Any) -> bool:
        return True

    def words(self) -> str:
        return "anything"


@dataclass(frozen=True)
class FolderPath:
    """None, or the path of a folder."""

    def allows(self, value: Any) -> bool:
        return value is None or isinstance(value, str | os.PathLike)

    def words(self) -> str:
        return "None or the path of a folder"


@dataclass(frozen=True)
class Accepts:
    """A value that passes a test, with its description."""

    test: Callable[[Any], Any]
    described: str

    def allows(self, value: Any) -> bool:
        return bool(self.test(value))

    def words(self) -> str:
        return self.described


@dataclass(frozen=True)
class Several:
    """A non-empty list of values that another constraint, described before it, allows."""

    one: Constraint

    def allows(self, value: Any) -> bool:
        several = isinstance(value, list | tuple | np.ndarray) and len(value) > 0
        return several and all(map(self.one.allows, value))

    def words(self) -> str:
        return "a list of such"


def is_estimator(value: Any) -> bool:
    """Return whether a value is an estimator of scikit-learn's kind, and not a class."""
    made = all(hasattr(value, method) for method in ("fit", "predict", "get_params"))
    return made and not isinstance(value, type)


@dataclass(frozen=True)
class OneOf:
    """Any of several constraints; None is allowed by `none=True`."""

    options: tuple[Constraint, ...]
    none: bool = False

    def allows(self, value: Any) -> bool:
        if value is None:
            return self.none
        return any(option.allows(value) for option in self.options)

    def words(self) -> str:
        words = [option.words() for option in self.options]
        has_none = any(one.startswith("None") for one in words)
        return " or ".join([*words, "None"] if self.none and not has_none else words)


@dataclass(frozen=True)
class Unsaved:
    """Placeholder of a constructor parameter that model files do not keep; `fit` rejects it.

    Parameters
    ----------
    saved : str
        A description of the parameter when the model was saved.
    """

    saved: str

    def __repr__(self) -> str:
        """Return the description."""
        return f"<not in the model file: {self.saved}>"


def kept(value: Any) -> Any:
    """Return a parameter; None for an `Unsaved` one."""
    return None if isinstance(value, Unsaved) else value


def check_params(estimator: Any, constraints: Mapping[str, Constraint]) -> None:
    """Raise PsephosError naming the first constructor parameter that breaks its constraint."""
    kind = type(estimator).__name__
    for name, value in vars(estimator).items():
        if isinstance(value, Unsaved):
            raise PsephosError(
                f"{kind}: parameter {name!r} is not kept in model files (it was "
                f"{_cut(value.saved)}): set it again, set_params({name}=...), before fit."
            )
    # a base may constrain a parameter that a class with a constructor of its own does not take
    values = {name: getattr(estimator, name) for name in constraints if hasattr(estimator, name)}
    check_values(kind, values, constraints)


def check_values(
    kind: str, values: Mapping[str, object], constraints: Mapping[str, Constraint]
) -> None:
    """Raise PsephosError naming the first parameter of a call that breaks its constraint."""
    for name, constraint in constraints.items():
        if name in values and not constraint.allows(value := values[name]):
            raise PsephosError(
                f"{kind}: parameter {name!r} must be {constraint.words()};"
                f" got {shown_value(value)}."
            )


def refuse_unread(model: Any, names: Sequence[str], because: str) -> None:
    """Raise PsephosError if a parameter is set that `fit` would ignore.

    Parameters
    ----------
    names : parameters whose defaults are numbers, words or None
    because : ends the sentence "max_samples=0.5 has no effect ..."
    """
    defaults = type(model)().get_params(deep=False)
    for name in names:
        value = getattr(model, name)
        if value != defaults[name]:
            kind = type(model).__name__
            raise PsephosError(f"{kind}: {name}={shown_value(value)} has no effect {because}")


def shown_value(value: Any) -> str:
    """Return the first 80 characters of a wrong value, for an error."""
    return _cut(repr(value))


def _cut(words: str) -> str:
    text = " ".join(words.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
