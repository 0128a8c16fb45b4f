"""Validation of the fields of parts by their type annotations.

A field must match its annotation: an array of a dtype, a number, a word, a tuple of these, or
another part. Numbers must be finite and at most `GREATEST` in size, so that sums of votes are
finite, unless the annotation allows others.
"""

# pyright: standard

from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

GREATEST = 1e150
_MISSING, _INFINITE, _LARGE = "may be missing", "may be infinite", "may be of any size"

#: Numbers in the units of the table, of any size; no NaN, no infinity.
AnySize = Annotated[NDArray[np.float64], _LARGE]
#: The same, or NaN: values of cases.
Nullable = Annotated[NDArray[np.float64], _LARGE, _MISSING]
#: The same, or NaN or an infinity: thresholds of splits, NaN without a split.
Thresholds = Annotated[NDArray[np.float64], _LARGE, _MISSING, _INFINITE]
#: One number of any size, or an infinity.
Distance = Annotated[float, _LARGE, _INFINITE]

_PLAIN = (bool, int, str, type(None))


@cache
def hints(cls: type[Any]) -> dict[str, Any]:
    """Return the type hints of the fields or attributes of a class."""
    return get_type_hints(cls, include_extras=True)


@cache
def array_types(cls: type[Any]) -> dict[str, np.dtype[Any]]:
    """Return the fields of a part that are arrays of one dtype, with that dtype."""
    found: dict[str, np.dtype[Any]] = {}
    for name, hint in hints(cls).items():
        while get_origin(hint) in (Annotated, Union, UnionType):
            hint = get_args(hint)[0]
        kind = get_args(hint)[1] if get_origin(hint) is np.ndarray else None
        wanted: Any = get_args(kind)[0] if get_args(kind) else Any
        if wanted not in (Any, np.generic):
            found[name] = np.dtype(wanted)
    return found


def fault(value: Any, hint: Any, allowed: tuple[Any, ...] = ()) -> str:
    """Return the error of a value for an annotation, in words; '' if it is valid.

    `allowed` are the numbers that the enclosing annotation allows.
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return fault(value, args[0], args[1:])
    if origin in (Union, UnionType):
        found = [fault(value, one, allowed) for one in args]
        return "" if "" in found else found[0]
    if origin is np.ndarray:
        return _fault_of_array(value, args[1], allowed)
    if origin is tuple:
        return _fault_of_tuple(value, args, allowed)
    if hint in _PLAIN:
        return "" if type(value) is hint else f"is not {_word(hint)}"
    if hint is float:
        number = type(value) in (int, float)
        return _fault_of_numbers(np.float64(value), allowed) if number else "is not a number"
    if hint is Any:
        numbers = isinstance(value, np.ndarray) or type(value) is float
        return _fault_of_numbers(np.asarray(value), allowed) if numbers else ""
    return "" if isinstance(value, hint) else "is of the wrong kind"


def _word(kind: Any) -> str:
    words = {bool: "a truth value", int: "a whole number", str: "a word"}
    return words.get(kind, "empty")


def _fault_of_array(value: Any, kind: Any, allowed: tuple[Any, ...]) -> str:
    if not isinstance(value, np.ndarray):
        return "is not an array"
    array = cast("NDArray[Any]", value)
    wanted: Any = get_args(kind)[0] if get_args(kind) else Any
    known = wanted is Any or issubclass(array.dtype.type, wanted)
    if not known or not array.dtype.isnative:
        return f"is an array of {array.dtype}"
    return _fault_of_numbers(array, allowed)


def _fault_of_tuple(value: Any, args: tuple[Any, ...], allowed: tuple[Any, ...]) -> str:
    if not isinstance(value, tuple):
        return "is not a tuple"
    entries = cast("tuple[Any, ...]", value)
    kinds = (args[0],) * len(entries) if args[-1] is Ellipsis else args
    if len(kinds) != len(entries):
        return "is a tuple of another length"
    found = (fault(entry, kind, allowed) for entry, kind in zip(entries, kinds, strict=True))
    return next((words for words in found if words), "")


def _fault_of_numbers(value: Any, allowed: tuple[Any, ...]) -> str:
    if value.dtype.kind != "f" or value.size == 0:
        return ""
    with np.errstate(invalid="ignore"):
        least, most = np.fmin.reduce(value, axis=None), np.fmax.reduce(value, axis=None)
    if _MISSING not in allowed and bool(np.isnan(value).any()):
        return "has a missing value"
    size = max(-float(least), float(most))
    if _INFINITE not in allowed and size == np.inf:
        return "has an infinite number"
    if _LARGE not in allowed and size > GREATEST:
        return f"has a number beyond {GREATEST:g}"
    return ""
