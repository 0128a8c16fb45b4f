"""Cautions: numbered and named checks of a table for likely mistakes, before a model is fitted.

A test takes a `Given` table and returns what it `Found`; `registry.CAUTIONS` lists all tests.
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
    categories: object, *, once: bool,
) -> None:  # fmt: skip
    """Warn the caller of `fit` of columns that seem not to be measurements, by name or type.

    Columns that the user listed in `categories` are accepted (not if it is a word, as 'auto').
    With `once`, for the clones in scikit-learn's searches and folds, a warning of this process is
    not repeated.
    """
    listed = not isinstance(categories, str)
    found = cautions_on(Given(X, names, levels, all_listed=listed), OF_TYPES)
    before = _warned.copy() if once else set[str]()
    for one in found:
        if not before.issuperset(one.columns):
            warnings.warn(one.warning(), stacklevel=3)
        _warned.update(one.columns)
