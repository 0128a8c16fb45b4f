"""Constructor parameters as the data of a model file."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from psephos._errors import ModelFileError
from psephos.params import Unsaved
from psephos.registry import estimator_class
from psephos.vote.codec import encode


def written_params(model: Any) -> dict[str, Any]:
    """Return the parameters of an estimator as data, but what it prints while it is fitted."""
    params = model.get_params(deep=False).items()
    return {name: written_param(value) for name, value in params if name != "verbose"}


def written_param(value: Any) -> Any:
    """Return a constructor parameter as data; foreign estimators, random states as words only."""
    from psephos.base import VoteEstimator

    if isinstance(value, Unsaved):  # the model is of a file itself
        return {"words": value.saved}
    if isinstance(value, VoteEstimator) and estimator_class(type(value).__name__) is type(value):
        return {"model": type(value).__name__, "params": written_params(value)}
    if _are_members(value):
        members = [[_item(part) for part in one] for one in value]
        plain = all("words" not in part for one in members for part in one)
        return {"members": members} if plain else {"words": repr(value)}
    if isinstance(value, list | tuple) and any(map(_are_members, value)):  # levels of them
        lists = [written_param(one) for one in value]
        return (
            {"lists": lists} if all("members" in one for one in lists) else {"words": repr(value)}
        )
    if isinstance(value, Mapping):  # class weights; JSON's own keys would all be words
        pairs = tuple((key, value[key]) for key in value)
        content = written_param(pairs)
        return {"pairs": content} if "words" not in content else {"words": repr(value)}
    if callable(value):  # by name: where it lies in memory differs from run to run
        name = getattr(value, "__qualname__", type(value).__name__)
        return {"words": f"{value.__module__}.{name}"}
    try:
        return encode(_without_arrays(value), {}, "")
    except ModelFileError:
        return {"words": repr(value)}


def _without_arrays(value: Any) -> Any:
    """Return a parameter with lists in the place of arrays (folds given as rows, weights)."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(map(_without_arrays, value)) if isinstance(value, list | tuple) else value


def _are_members(value: Any) -> TypeGuard[Sequence[Any]]:
    """Return whether a parameter is a list of names with estimators (or columns) behind."""
    if not isinstance(value, list | tuple) or not value:
        return False
    if not all(isinstance(one, tuple | list) and len(one) > 1 for one in value):
        return False
    named = all(isinstance(one[0], str) for one in value)
    parts = [part for one in value for part in one[1:] if not isinstance(part, str)]
    return named and bool(parts) and all(map(_is_part, parts))


def _is_part(part: Any) -> bool:
    """Return whether it is an estimator, or a row of columns."""
    return hasattr(part, "get_params") or (not isinstance(part, dict) and np.ndim(part) == 1)


def _item(part: Any) -> Any:
    """Return a part of a member as data: a word, an estimator, or columns."""
    if isinstance(part, str) or hasattr(part, "get_params"):
        return part if isinstance(part, str) else written_param(part)
    columns = np.asarray(part)
    plain = columns.ndim == 1 and columns.dtype.kind in "biuU"
    return {"columns": columns.tolist()} if plain else {"words": repr(part)}
