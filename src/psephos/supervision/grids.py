"""Parameters that are a number, or several to choose from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from psephos.params import Interval

__all__ = ["Positive", "candidates", "read_numbers"]


@dataclass(frozen=True)
class Positive:
    """None (a grid by default), a number above 0, a list of such, or one of a few words."""

    words_: tuple[str, ...] = ()

    def allows(self, value: Any) -> bool:
        """Return whether the value is one to use, or several to choose from."""
        one = Interval(0, open_low=True)
        if value is None or one.allows(value) or (isinstance(value, str) and value in self.words_):
            return True
        several = isinstance(value, list | tuple | np.ndarray) and len(value) > 0
        return several and all(one.allows(v) for v in value)

    def words(self) -> str:
        """Return what is allowed."""
        named = "".join(f"{word!r}, " for word in self.words_)
        return f"None, {named}a number above 0, or a list of such"


def candidates(value: Any, grid: tuple[float, ...], unit: float) -> list[float]:
    """Return the numbers to choose from: the grid times its unit for None, the unit for a word."""
    if value is None:
        return [factor * unit for factor in grid]
    return [unit] if isinstance(value, str) else [float(v) for v in np.ravel(value)]


def read_numbers(X: Any, *, gaps: bool = False) -> NDArray[np.float64]:
    """Return a table of finite numbers, or where `gaps` are let in, of such and NaN."""
    check: Any = check_array  # its types say less than it takes
    return check(X, dtype=np.float64, ensure_all_finite="allow-nan" if gaps else True)
