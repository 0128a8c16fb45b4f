"""Parameters that are a number, or a list of candidates."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from psephos._types import Floats, TableLike
from psephos.estimator.params import Accepts, Interval, OneOf, Options, Several

#: Range of a width of kernels: its square is finite and above 0.
WIDTH = Interval(1e-150, 1e150)


def positive(*words: str) -> Accepts:
    """Return the constraint: None (a grid), one of `words`, a number in `WIDTH`, or a list."""
    allowed = OneOf((Options(words), WIDTH, Several(WIDTH)), none=True)
    named = "".join(f"{word!r}, " for word in words)
    return Accepts(allowed.allows, f"None, {named}a number from 1e-150 to 1e150, or a list of such")


def candidates(value: Any, grid: tuple[float, ...], unit: float) -> list[float]:
    """Return the candidates: `grid` times `unit` for None, `unit` for a word."""
    if value is None:
        return [factor * unit for factor in grid]
    return [unit] if isinstance(value, str) else [float(v) for v in np.ravel(value)]


def median_width(squared: Floats) -> float:
    """Return the square root of the median positive squared distance; 1 if none is positive."""
    apart = squared[squared > 0]
    return float(np.sqrt(np.median(apart))) if len(apart) else 1.0


def read_numbers(X: TableLike, *, gaps: bool = False) -> Floats:
    """Return a table of finite numbers; with `gaps`, NaN is accepted, too."""
    check: Any = check_array  # its type stubs are incomplete
    return check(X, dtype=np.float64, ensure_all_finite="allow-nan" if gaps else True)
