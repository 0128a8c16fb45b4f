"""The plain form of a vote: nested lists and dictionaries, which any language can read.

A part is ``{"kind": tag, field: value, ...}``: the tag and the fields of its dataclass, as in the
model file, with arrays written as nested lists. Its docstring explains each field.

- An array of numbers or truth values is a list (of lists) of numbers, row by row, truth values 0
  and 1; ``null`` is NaN, ``{"float": "inf"}`` and ``{"float": "-inf"}`` are infinite. An empty
  array whose shape a list does not show is ``{"shape": [0, 5]}``.
- A tuple is a list; None is ``null``.
"""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from inspect import signature
from types import NoneType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

import numpy as np

from psephos._errors import ModelFileError, PsephosError
from psephos._types import Array, NDArray
from psephos.files.field_types import hints
from psephos.vote.codec import refusal_of, registered

_FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def to_plain(value: Any) -> Any:
    """Return a part, or the value of a field, as lists, dictionaries, strings and numbers.

    Names of training rows are replaced by -1 (unknown); positions in the training table are kept.
    """
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, np.generic):
        return to_plain(cast("np.generic[Any]", value).item())
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, np.ndarray):
        return _listed(cast("NDArray[Any]", value))
    kind: Any = cast("type[Any]", type(value))
    kind = getattr(kind, "read_as", kind)
    tag = getattr(kind, "tag", None)
    if tag is None or registered(tag) is not kind:
        raise PsephosError(f"the model has no plain form: {refusal_of(value)}.")
    content = {field.name: to_plain(getattr(value, field.name)) for field in fields(kind)}
    for name in _identifiers(kind):
        if getattr(value, name).dtype.kind not in "iu":
            content[name] = [-1] * len(getattr(value, name))
    return {"kind": tag, **content}


@cache
def _identifiers(kind: type[Any]) -> tuple[str, ...]:
    """Return the fields of a part that may name training rows: `rows`, arrays of any kind."""
    hint = hints(kind).get("rows")
    entries = get_args(get_args(hint)[1]) if hint is not None else ()
    return ("rows",) if Any in entries or np.generic in entries else ()


def _listed(array: Array) -> Any:
    if array.size == 0 and array.ndim > 1 and 0 in array.shape[:-1]:
        return {"shape": list(array.shape)}
    if array.dtype.kind == "b":
        return array.astype(np.int64).tolist()
    if array.dtype.kind != "f":
        return [to_plain(v) for v in array.tolist()] if array.dtype.kind == "O" else array.tolist()
    if np.isfinite(array).all():
        return array.tolist()
    flat = [None if np.isnan(v) else to_plain(v) for v in array.ravel().tolist()]
    holder = np.empty(array.size, dtype=object)
    holder[:] = flat
    return holder.reshape(array.shape).tolist()


# ---------------------------------------------------------------------- and back
def from_plain(data: Any, hint: Any = Any) -> Any:
    """Return the part of plain data: the inverse of `to_plain`.

    `hint` is the annotation of the field that holds the data.
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return from_plain(data, args[0])
    if origin in (Union, UnionType):
        if data is None:
            return None
        kept = [one for one in args if one is not NoneType]
        return from_plain(data, kept[0] if len(kept) == 1 else Any)
    if origin is np.ndarray:
        return _array(data, args[1])
    if origin is tuple:
        kinds = (args[0],) * len(data) if args[-1] is Ellipsis else args
        return tuple(from_plain(one, kind) for one, kind in zip(data, kinds, strict=True))
    if isinstance(data, dict):
        content = cast("dict[str, Any]", data)
        return _FLOATS[content["float"]] if "float" in content else _part(content)
    return float(data) if hint is float and type(data) is int else data


def _part(content: Mapping[str, Any]) -> Any:
    kind = content.get("kind")
    cls = registered(str(kind))
    if cls is None:
        raise PsephosError(f"a plain model names a part {kind!r} that is unknown.")
    known = hints(cls)
    given = {name: value for name, value in content.items() if name != "kind"}
    if not set(given) <= set(signature(cls).parameters):
        raise PsephosError(f"a plain model gives part {kind!r} an unknown field.")
    try:
        return cls(**{name: from_plain(value, known[name]) for name, value in given.items()})
    except (TypeError, KeyError, ModelFileError) as error:
        raise PsephosError(f"part {kind!r} of a plain model is damaged: {error}.") from None


def _array(data: Any, kind: Any) -> Array:
    """Return an array of the type in a field's annotation."""
    wanted: Any = get_args(kind)[0] if get_args(kind) else Any
    if isinstance(data, dict) and "shape" in data:
        shape = cast("dict[str, list[int]]", data)["shape"]
        return np.empty(shape, dtype=np.float64 if wanted in (Any, np.generic) else wanted)
    if wanted in (Any, np.generic):
        whole = np.asarray(data)
        return whole if whole.dtype.kind in "biufU" else np.array(data, dtype=object)
    if wanted is np.float64:
        return np.array(_numbers(data), dtype=np.float64)
    return np.array(data, dtype=wanted)


def _numbers(data: Any) -> Any:
    if isinstance(data, list):
        return [_numbers(one) for one in cast("list[Any]", data)]
    if isinstance(data, dict):
        return _FLOATS[cast("dict[str, str]", data)["float"]]
    return np.nan if data is None else data


def kinds_within(data: Any) -> set[str]:
    """Return the kinds of all parts in plain data."""
    if isinstance(data, list):
        return {kind for one in cast("list[Any]", data) for kind in kinds_within(one)}
    if not isinstance(data, dict):
        return set()
    content = cast("dict[str, Any]", data)
    own = {str(content["kind"])} if "kind" in content else set[str]()
    return own | {kind for one in content.values() for kind in kinds_within(one)}
