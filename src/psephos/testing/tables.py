"""Small generated tables for the contract."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class SmallTable(NamedTuple):
    """A table with labels; the last columns are noise."""

    X: NDArray[np.float64]
    y: NDArray[Any]


def small_table(
    n_classes: int = 2, n: int = 60, p: int = 12, missing: float = 0.0, seed: int = 0
) -> SmallTable:
    """Return a table whose first columns separate the classes, the others are noise.

    Column 2 takes few values (ties), column 3 is constant. With `missing`, that share of the
    values of every column but the constant one is NaN. With `n_classes` 0 the target is a number.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % (n_classes or 3)
    X = rng.standard_normal((n, p))
    X[:, 0] += 1.5 * y
    X[:, 1] += 1.5 * (y == y.max())
    X[:, 2] = np.round(X[:, 2] + y)
    X[:, 3] = 7.0
    if missing:
        holes = rng.random((n, p)) < missing
        holes[:, 3] = False
        X[holes] = np.nan
    if n_classes == 0:
        return SmallTable(X, y + 0.25 * rng.standard_normal(n))
    return SmallTable(X, np.array(["ham", "egg", "jam", "tea", "pie"])[y])
