"""Similarities computed from logarithms, in NumPy alone."""

import numpy as np
from numpy.typing import NDArray


def inverse_in_logs(
    u: NDArray[np.float64], a: float, b: float, scale: float, mass: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (w, log_scale), (n, m) and (n,): ``1 / (a^b + d^b)`` is ``exp(log_scale) w``.

    ``d = sqrt(u) / scale``, where scale is replaced by the row's ``sum_j mass_j sqrt(u_j)`` if that
    is above 0 (without infinite distances). Computed from logarithms, so that numbers stay in the
    range of float64: the greatest w of each row is 1. If a = 0 and some distances are 0, only these
    count; if all distances are infinite, w is 0.
    """
    same = u == 0
    if a == 0.0 and same.any(axis=1).all():
        return same.astype(np.float64), np.zeros(len(u))
    sums = np.where(np.isinf(u), 0.0, np.sqrt(u)) @ mass
    with np.errstate(divide="ignore"):
        logs = 0.5 * np.log(u) - np.log(np.where(sums > 0, sums, scale))[:, None]
        logs = -np.logaddexp(b * np.log(a), b * logs)
    return of_greatest(logs)


def of_greatest(logs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return exp(logs) over each row's greatest, and its logarithm (0 if it is infinite)."""
    top = logs.max(axis=1, keepdims=True, initial=-np.inf)
    scale = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(over="ignore"):
        relative = np.where(top == np.inf, logs == np.inf, np.exp(logs - scale))
    return relative, scale[:, 0]
