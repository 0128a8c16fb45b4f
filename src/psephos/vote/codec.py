"""Conversion of parts to plain data and back, and the registry of parts of the model file.

A part is a frozen dataclass with a `tag`. Its fields are numbers, strings, arrays, tuples or other
parts; nothing else can be written, and only registered tags can be read. Reading runs no code from
the file: it builds registered dataclasses, whose fields must match their annotations (see
`psephos.files.field_types`) and whose `__post_init__` checks every index and shape, since compiled
kernels do not.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from inspect import signature
from typing import Any, TypeVar, cast, dataclass_transform

import numpy as np

from psephos._errors import ModelFileError, PsephosError
from psephos._types import Array, NDArray
from psephos.files.arrays import object_array
from psephos.files.field_types import fault, hints
from psephos.vote.part import Part, Voters, Weighting

_REGISTRY: dict[str, type[Any]] = {}
#: Methods that a part may define and readers call.
MEMBERS = {name for part in (Voters, Weighting) for name in vars(part) | vars(Part)} - {"__doc__"}
_NUMERIC = "biufU"  # kinds of arrays that hold data only
_T = TypeVar("_T")
_Form = TypeVar("_Form", bound=Callable[..., Any])

Arrays = MutableMapping[str, NDArray[Any]]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def register(cls: type[_T]) -> type[_T]:
    """Register a part, so that model files can hold it: the decorator `psephos.vote.register_part`.

    The part is a dataclass with a `tag` of its own (``tag: ClassVar[str]``); a class that is not a
    dataclass yet becomes a frozen one. Annotations restrict its fields: ``NDArray[np.float64]`` to
    finite numbers, `psephos.vote.Nullable` to finite numbers or NaN, `psephos.vote.Thresholds` to
    numbers, NaN or infinities.

    Raises
    ------
    PsephosError
        If another class has the tag, or a method's name nearly equals that of a part's method.
    """
    tag: str = getattr(cls, "tag")  # noqa: B009  (a generic class has no declared tag)
    known = _REGISTRY.get(tag, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise PsephosError(
            f"the tag {tag!r} is already that of {known.__module__}.{known.__qualname__}: give "
            f"{cls.__name__} another tag."
        )
    if issubclass(cls, Part):
        _check_names(cls)
    if "__dataclass_fields__" not in vars(cls):
        cls = dataclass(frozen=True)(cls)
    _REGISTRY[tag] = cls  # a module may be loaded again
    _REGISTRY.update(dict.fromkeys(getattr(cls, "former", ()), cls))  # tags of older files
    return cls


def register_form(tag: str) -> Callable[[_Form], _Form]:
    """Register a function that builds a part from the fields of an older part with this tag.

    A decorator. Files of older releases, in which the part was of another kind, can so be read.
    """

    def known(form: _Form) -> _Form:
        made: Any = form
        _REGISTRY[tag] = made
        return form

    return known


def registered(tag: str) -> type[Any] | None:
    """Return the registered class of a tag, or None."""
    return _REGISTRY.get(tag)


def _check_names(cls: type[Any]) -> None:
    """Raise PsephosError if a method's name is nearly one of `MEMBERS`: nothing would call it."""
    own = {name for name, value in vars(cls).items() if callable(value) and name[0] != "_"}
    for name in sorted(own - MEMBERS):
        meant = get_close_matches(name, MEMBERS, 1, 0.85)
        if meant:
            raise PsephosError(
                f"nothing calls {cls.__name__}.{name}: did you mean {meant[0]!r} (see "
                "psephos.vote.part)? Otherwise use another name."
            )


def encode(value: Any, arrays: Arrays, path: str) -> Any:
    """Return `value` as JSON-ready data; arrays go to `arrays`, named by their path."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        number = cast("np.generic[Any]", value)
        plain = number.dtype.kind in _NUMERIC
        return encode(number.item(), arrays, path) if plain else _refuse(number)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, tuple | list):
        entries = cast("Sequence[Any]", value)
        return {"tuple": [encode(item, arrays, f"{path}.{i}") for i, item in enumerate(entries)]}
    if isinstance(value, np.ndarray):
        return _encode_array(cast("NDArray[Any]", value), arrays, path)
    return _encode_part(value, arrays, path)


def held_once(data: Any, arrays: Arrays) -> Any:
    """Return encoded data in which an array that occurs several times has one name.

    Its other names are removed from `arrays`.
    """
    first: dict[int, str] = {}
    names = {name: first.setdefault(id(array), name) for name, array in arrays.items()}
    for name in [name for name, kept in names.items() if name != kept]:
        del arrays[name]
    return _renamed(data, names)


def _renamed(data: Any, names: Mapping[str, str]) -> Any:
    if isinstance(data, list):
        return [_renamed(item, names) for item in cast("list[Any]", data)]
    if not isinstance(data, dict):
        return data
    content = cast("dict[str, Any]", data)
    if set(content) == {"array"}:
        return {"array": names[content["array"]]}
    return {key: _renamed(item, names) for key, item in content.items()}


def content_of(part: Any, other: Any) -> Any:
    """Return the content of a part as a comparable value; `other` if it cannot be encoded."""
    arrays: dict[str, Array] = {}
    try:
        data = encode(part, arrays, "")
    except ModelFileError:
        return other
    held = tuple((name, a.shape, a.dtype.str, a.tobytes()) for name, a in arrays.items())
    return repr(data), held


def _encode_part(value: Any, arrays: Arrays, path: str) -> Any:
    kind = cast("type[Any]", type(value))
    tag = getattr(kind, "tag", None)
    if tag in _REGISTRY and kind is _REGISTRY[tag]:
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        wrong = _fault(kind, own, tag)
        if wrong:
            raise ModelFileError(f"the model cannot be saved: {wrong}.")
        content = {name: encode(item, arrays, f"{path}.{name}") for name, item in own.items()}
        return {"part": tag, "fields": content}
    return _refuse(value)


def _fault(cls: type[Any], content: Mapping[str, Any], tag: str) -> str:
    """Return a clause on the first field that does not match its annotation; '' if all match."""
    known = hints(cls)
    found = ((name, fault(value, known[name])) for name, value in content.items())
    return next((f"{name!r} of {tag!r} {words}" for name, words in found if words), "")


def _refuse(value: Any) -> Any:
    raise ModelFileError(f"the model cannot be saved: {refusal_of(value)}.")


def refusal_of(value: Any) -> str:
    """Return why a value cannot be written."""
    return value.refusal() if isinstance(value, Part) else Part.refusal(value)


def _encode_array(value: Array, arrays: Arrays, path: str) -> Any:
    if value.dtype.kind == "O":  # class labels and row names may be objects: words or numbers
        return {"objects": [encode(item, arrays, path) for item in value.tolist()]}
    if value.dtype.kind not in _NUMERIC:
        raise ModelFileError(
            f"the model cannot be saved: {path} is an array of {value.dtype}, which is not "
            "numbers, booleans or words."
        )
    arrays[path] = value
    return {"array": path}


def decode(data: Any, arrays: Mapping[str, Array]) -> Any:
    """Return the value that `encode` wrote."""
    if data is None or isinstance(data, bool | str | int | float):
        return data
    if not isinstance(data, dict) or not data:
        raise ModelFileError("the model file is damaged: a value is not of a known kind.")
    content = cast("dict[str, Any]", data)
    if "float" in content:
        known = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
        if str(content["float"]) not in known:
            raise ModelFileError("the model file is damaged: a value is not of a known kind.")
        return known[str(content["float"])]
    if "tuple" in content:
        return tuple(decode(item, arrays) for item in _listed(content["tuple"]))
    if "objects" in content:
        return object_array([decode(item, arrays) for item in _listed(content["objects"])])
    if "array" in content:
        name = str(content["array"])
        if name not in arrays:
            raise ModelFileError(f"the model file is damaged: array {_short(name)} is missing.")
        return arrays[name]
    return _decode_part(content, arrays)


def _short(name: Any) -> str:
    return ascii(name)[:80]


def _listed(items: Any) -> list[Any]:
    if not isinstance(items, list):
        raise ModelFileError("the model file is damaged: a value is not of a known kind.")
    return cast("list[Any]", items)


def _decode_part(content: dict[str, Any], arrays: Mapping[str, Array]) -> Any:
    tag = str(content.get("part"))
    cls = _REGISTRY.get(tag)
    if cls is None:
        raise ModelFileError(
            f"the model file names a part {_short(content.get('part'))} that this version of "
            "psephos does not know: read it with the version that wrote it, or a newer one; if "
            "another package made the part, import that first (the command: --import MODULE)."
        )
    written = content.get("fields")
    known = signature(cls).parameters
    # a field that older files lack has a default
    needed = {name for name, field in known.items() if field.default is field.empty}
    entries = cast("dict[str, Any]", written) if isinstance(written, dict) else {}
    if not needed <= set(entries) <= set(known):
        raise ModelFileError(
            f"the model file is damaged: part {_short(content['part'])} is incomplete."
        )
    values = {name: decode(item, arrays) for name, item in entries.items()}
    wrong = _fault(cls, values, tag)
    if wrong:
        raise ModelFileError(f"the model file is damaged: {wrong}.")
    return cls(**values)
