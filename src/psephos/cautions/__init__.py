"""Cautions: what may be wrong with a table, before a model learns from it, numbered and named.

A test looks at a `Given` table and returns what it found; `registry.CAUTIONS` has all of them.
"""

import warnings
from collections.abc import Mapping, Sequence

from psephos._types import Floats
from psephos.cautions.given import Given
from psephos.cautions.registry import CAUTIONS, OF_TYPES, Caution, Cautions, cautions_on

__all__ = ["CAUTIONS", "Caution", "Cautions", "Given", "cautions_on", "warn_of_types"]


def warn_of_types(
    X: Floats, names: Sequence[str], levels: Mapping[int, Sequence[str]], *, listed: bool
) -> None:
    """Warn, for who called `fit`, of columns whose names or types say that they measure nothing.

    Where the user `listed` the columns of categories, these are taken as they are.
    """
    for one in cautions_on(Given(X, names, levels, listed=listed), OF_TYPES).warnings():
        warnings.warn(one, stacklevel=3)
