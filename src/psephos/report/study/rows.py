"""Training rows that a vote keeps: whether it does, and what the page calls them."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["keeps_rows", "renamed_rows"]

_KEPT = ("rows", "left_out")  # fields of parts that hold names of training rows


def renamed_rows(part: Any, names: Mapping[str, str]) -> Any:
    """Return a vote or a part of one whose training rows have other names.

    Parameters
    ----------
    part : dataclass, tuple of dataclasses, or anything else, which stays as it is
    names : dict of str to str
        By the names there are; rows that are not in it keep theirs.
    """
    if isinstance(part, tuple):
        parts = cast("tuple[Any, ...]", part)
        made = tuple(renamed_rows(one, names) for one in parts)
        return made if any(a is not b for a, b in zip(made, parts, strict=True)) else parts
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changed: dict[str, Any] = {}
    for field in fields(part):
        value: Any = getattr(part, field.name)
        if not field.init:
            continue
        if field.name in _KEPT and isinstance(value, np.ndarray):
            rows = cast("NDArray[Any]", value)
            if rows.dtype.kind == "U":
                changed[field.name] = np.array([names.get(v, v) for v in rows.tolist()], dtype=str)
        else:
            made = renamed_rows(value, names)
            if made is not value:
                changed[field.name] = made
    return replace(part, **changed) if changed else part


def keeps_rows(part: Any) -> bool:
    """Return whether a vote keeps values of training rows."""
    return any(len(rows) for rows in _kept(part))


def _kept(part: Any) -> Iterator[Any]:
    if isinstance(part, tuple):
        for one in cast("tuple[Any, ...]", part):
            yield from _kept(one)
    elif is_dataclass(part) and not isinstance(part, type):
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name == "rows" and isinstance(value, np.ndarray):
                yield value
            elif field.init:
                yield from _kept(value)
