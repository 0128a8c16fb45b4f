"""Small generated tables for the contract."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class SmallTable(NamedTuple):
    """A table with labels; the last columns are noise."""

    X: NDArray[np.float64]
    y: NDArray[Any]


def small_table(
    n_classes: int = 2,
    n: int = 60,
    p: int = 12,
    missing: float = 0.0,
    seed: int = 0,
    categories: Sequence[int] = (),
) -> SmallTable:
    """Return a table whose first columns separate the classes, the others are noise.

    Column 2 takes few values (ties), column 3 is constant. With `missing`, that share of the
    values of every column but the constant one is NaN. With `n_classes` 0 the target is a number.
    Columns in `categories` hold codes from 0 to 3, of which most rows of a class have the same one;
    their order means nothing.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % (n_classes or 3)
    X = rng.standard_normal((n, p))
    X[:, 0] += 1.5 * y
    X[:, 1] += 1.5 * (y == y.max())
    X[:, 2] = np.round(X[:, 2] + y)
    X[:, 3] = 7.0
    drawn = np.random.default_rng([seed, 1])  # the other columns are the same with and without
    for j in categories:
        usual = np.array([0, 2, 1, 3, 0])[y]
        X[:, j] = np.where(drawn.random(n) < 0.7, usual, drawn.integers(0, 4, n))
    if missing:
        holes = rng.random((n, p)) < missing
        holes[:, 3] = False
        X[holes] = np.nan
    if n_classes == 0:
        return SmallTable(X, y + 0.25 * rng.standard_normal(n))
    return SmallTable(X, np.array(["ham", "egg", "jam", "tea", "pie"])[y])
