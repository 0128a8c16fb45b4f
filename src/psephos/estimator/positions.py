"""Whole numbers in parameters are positions, also where columns are named by whole numbers."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from psephos.estimator.columns import is_lazy

_NAMING = ("categorical_features", "distance_columns", "prices", "views")


def warn_of_positions(model: Any, X: Any) -> None:
    """Warn if a parameter names columns by whole numbers, and the frame X names them otherwise."""
    names: Any = None if is_lazy(X) else getattr(X, "columns", None)
    if names is None:
        return
    listed = list(names)
    whole = any(map(_is_whole, listed))
    if not whole or listed == list(range(len(listed))):
        return
    for name in _NAMING:
        given = getattr(model, name, None)
        of_each = name == "prices" and not isinstance(given, Mapping)  # a price a column
        if not of_each and _has_whole(given):
            warnings.warn(
                f"{type(model).__name__}: {name} holds whole numbers, which are positions (the "
                f"first column is 0), and the columns of X are named by other whole numbers "
                f"({listed[0]!r} is at 0). To give names, give words: {str(listed[0])!r}.",
                UserWarning,
                stacklevel=4,
            )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _has_whole(value: Any) -> bool:
    """Return whether a parameter names columns by whole numbers, also within views."""
    if isinstance(value, Mapping):
        return any(map(_is_whole, value))
    if isinstance(value, str) or np.ndim(np.asarray(value, dtype=object)) == 0:
        return False
    parts = [one[-1] if isinstance(one, tuple | list) and one else one for one in value]
    return any(_is_whole(p) or (not isinstance(p, str) and _has_whole(p)) for p in parts)
