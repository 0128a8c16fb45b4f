"""A batch's objective with the functions of an array namespace, for other devices."""

from typing import Any

from psephos.kernels.prototypes.dense import dense_sums

__all__ = ["objective_dense"]


def objective_dense(
    xp: Any, references: Any, candidates: Any, y_references: Any, y_candidates: Any,
    base_own: Any, base_total: Any, omega: Any, is_category: Any, agree: Any, theta: Any, *,
    regression: bool = False, lambda_v: float = 1e-3, lambda_w: float = 1e-8,
    lambda_u: float = 0.0, alpha_v: float = 0.05, alpha_w: float = 0.05, block: int = 1024,
    twin: Any = None, echo: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Say what ``BatchObjective`` says with arrays of a namespace ``xp``, on their device.

    Parameters are those of ``BatchObjective``, arrays of one floating type; ``theta`` is v, w and,
    in regression, u, end to end. ``block`` references are looked at at a time: (block, M) arrays
    are made. ``twin`` is an array of whole numbers, or None.

    Returns
    -------
    value : array of shape ()
    gradient : array of shape (q + M,) or (q + M + 1,)
    """
    q, m = references.shape[1], candidates.shape[0]
    v, w = theta[:q], theta[q : q + m]
    u = theta[q + m] if regression else None
    value, by_v, by_w, by_u = dense_sums(
        xp, references, candidates, y_references, y_candidates, v, w, u, base_own, base_total,
        omega, is_category, agree, block, twin, echo,
    )  # fmt: skip
    parts = []
    for x, by, strength, share in (
        (v, by_v, lambda_v, alpha_v),
        (w, by_w, lambda_w, alpha_w),
    ):
        value = value + strength * (0.5 * (1.0 - share) * xp.sum(x * x) + share * xp.sum(x))
        parts.append(by + strength * ((1.0 - share) * x + share))
    if u is not None:
        value = value + 0.5 * lambda_u * u * u
        parts.append(xp.reshape(by_u + lambda_u * u, (1,)))
    return value, xp.concat(parts)
