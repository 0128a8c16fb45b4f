"""Parameters that are a number, or several to choose from."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from psephos._types import Floats, TableLike
from psephos.estimator.params import Accepts, Interval, OneOf, Options, Several

#: What a width of kernels may be: its square is a number.
WIDTH = Interval(1e-150, 1e150)


def positive(*words: str) -> Accepts:
    """Return what allows None (a grid), a word, a number of `WIDTH`, or a list of such."""
    allowed = OneOf((Options(words), WIDTH, Several(WIDTH)), none=True)
    named = "".join(f"{word!r}, " for word in words)
    return Accepts(allowed.allows, f"None, {named}a number from 1e-150 to 1e150, or a list of such")


def candidates(value: Any, grid: tuple[float, ...], unit: float) -> list[float]:
    """Return the numbers to choose from: the grid times its unit for None, the unit for a word."""
    if value is None:
        return [factor * unit for factor in grid]
    return [unit] if isinstance(value, str) else [float(v) for v in np.ravel(value)]


def median_width(squared: Floats) -> float:
    """Return the square root of the median squared distance of points that differ; 1 of none."""
    apart = squared[squared > 0]
    return float(np.sqrt(np.median(apart))) if len(apart) else 1.0


def read_numbers(X: TableLike, *, gaps: bool = False) -> Floats:
    """Return a table of finite numbers, or where `gaps` are let in, of such and NaN."""
    check: Any = check_array  # its types say less than it takes
    return check(X, dtype=np.float64, ensure_all_finite="allow-nan" if gaps else True)
