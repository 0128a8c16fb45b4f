"""What the parts of a batch's objective have to be."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.models.prototypes.scaling import ScaledRows

__all__ = ["check_parts", "check_penalties"]


def check_penalties(penalties: dict[str, float]) -> None:
    """Refuse a strength that is negative, and a share that is none."""
    for name, value in penalties.items():
        most = 1.0 if name.startswith("alpha") else math.inf
        if not (0.0 <= value <= most and math.isfinite(value)):
            wanted = "from 0 to 1" if most == 1.0 else "finite and at least 0"
            raise PsephosError(f"{name} is {value}; give a number that is {wanted}")


def check_parts(parts: dict[str, Any], is_category: NDArray[np.bool_], dtype: str) -> None:
    """Refuse arrays that do not fit together, or hold values that cannot be used."""
    if str(dtype) not in ("float32", "float64"):
        raise PsephosError(f"dtype is {dtype!r}; give 'float32' or 'float64'")
    for name in ("references", "candidates"):
        Z = parts[name]
        if len(Z.shape) != 2 or len(Z) == 0:
            raise PsephosError(f"{name} has shape {Z.shape}; give a table with at least one row")
        if not isinstance(Z, ScaledRows) and np.isinf(Z).any():
            row, column = np.argwhere(np.isinf(Z))[0]
            raise PsephosError(
                f"{name} is infinite at row {row}, column {column}; replace it, or make it missing"
            )
    rows, q = parts["references"].shape
    shapes = {"candidates": (len(parts["candidates"]), q), "y_references": (rows,),
              "y_candidates": (len(parts["candidates"]),), "base_own": (rows,),
              "base_total": (rows,), "omega": (rows,), "agree": (q,)}  # fmt: skip
    for name, shape in shapes.items():
        if parts[name].shape != shape:
            raise PsephosError(f"{name} has shape {parts[name].shape}; it should be {shape}")
        if name != "candidates" and not np.isfinite(parts[name]).all():
            raise PsephosError(f"{name}[{np.argmin(np.isfinite(parts[name]))}] is not finite")
    if is_category.shape != (q,):
        raise PsephosError(f"is_category has shape {is_category.shape}; it should be ({q},)")
    for name, least in (("base_own", 0.0), ("base_total", 0.0), ("omega", -1e-300)):
        if not (parts[name] > least).all():
            raise PsephosError(
                f"{name}[{np.argmin(parts[name])}] is {parts[name].min()}; masses are positive, "
                "weights at least 0"
            )
