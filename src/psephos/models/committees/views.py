"""Views of a table: groups of columns that are measured together, by name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.input import Schema
from psephos.estimator.params import Accepts

_Columns = NDArray[np.intp]


def _are_views(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(
        isinstance(one, tuple | list) and len(one) in (2, 3) and isinstance(one[0], str)
        for one in value
    )


VIEWS = Accepts(_are_views, "None or a list of (name, columns) or (name, estimator, columns)")


def columns_of_views(
    views: Sequence[tuple[Any, ...]] | None, schema: Schema
) -> list[tuple[str, _Columns]]:
    """Return the sorted columns of each view; without views all columns are one."""
    if views is None:
        return [("all columns", np.arange(schema.n_features))]
    names: list[str] = [view[0] for view in views]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise PsephosError(f"two views are named {name!r}: give each a name of its own.")
    return [(view[0], _columns(view[0], view[-1], schema)) for view in views]


def _columns(name: str, given: Any, schema: Schema) -> _Columns:
    if isinstance(given, str) or np.ndim(given) != 1 or len(given) == 0:
        raise PsephosError(
            f"view {name!r}: its columns are {given!r}; give a list of names, of positions, or a "
            "mask of all columns."
        )
    own = schema.columns_of(given, f"view {name!r}")
    if not own:
        raise PsephosError(f"view {name!r}: its mask names no column; one at least must be true.")
    return np.array(own, dtype=np.intp)


def views_on(
    views: Sequence[tuple[Any, ...]] | None, schema: Schema, columns: _Columns
) -> list[tuple[Any, ...]] | None:
    """Return the views on the table reduced to some columns; those without one are dropped."""
    if views is None:
        return None
    place = {j: i for i, j in enumerate(columns.tolist())}
    names = schema.names
    left: list[tuple[Any, ...]] = []
    for view, (_, own) in zip(views, columns_of_views(views, schema), strict=True):
        kept = [j for j in own.tolist() if j in place]
        if kept:
            left.append((*view[:-1], [names[j] if names else place[j] for j in kept]))
    return left or None
