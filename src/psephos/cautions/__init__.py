"""Cautions: what may be wrong with a table, before a model learns from it, numbered and named.

A test looks at a `Given` table and returns what it found; `registry.CAUTIONS` has all of them.
"""

import warnings
from collections.abc import Mapping, Sequence

from psephos._types import Floats
from psephos.cautions.given import Given
from psephos.cautions.registry import (
    CAUTIONS,
    OF_COLUMNS,
    OF_TYPES,
    Caution,
    Cautions,
    cautions_on,
)  # fmt: skip

__all__ = ["CAUTIONS", "OF_COLUMNS", "Caution", "Cautions", "Given", "cautions_on", "warn_of_types"]

_warned: set[str] = set()  # columns of which this process was warned


def warn_of_types(
    X: Floats, names: Sequence[str], levels: Mapping[int, Sequence[str]],
    *, listed: bool, once: bool,
) -> None:  # fmt: skip
    """Warn, for who called `fit`, of columns whose names or types say that they measure nothing.

    Where the user `listed` the columns of categories, these are taken as they are. What the process
    was warned of is not repeated where `once` is wanted: for clones, of which scikit-learn's
    searches and folds fit many, and in which an index may look otherwise.
    """
    found = cautions_on(Given(X, names, levels, all_listed=listed), OF_TYPES)
    before = _warned.copy() if once else set[str]()
    for one in found:
        if not before.issuperset(one.columns):
            warnings.warn(one.warning(), stacklevel=3)
        _warned.update(one.columns)
