"""Soft gradient boosting as its authors state it: Algorithm 2 for one mini-batch B, term by term.

    1  o_0 = 0                                                  for every row of B
    2  for m = 1 ... M:
    3      o_m = h_m(x)                                         forward
    4      r_m = - d l(A_m, y) / d A_m,  A_m = nu sum_{j<m} o_j  residual
    5      l_m = sum over B of |r_m - o_m|^2                     local loss
    6  L = l_1 + ... + l_M
    7  one step on the parameters of all trees by the gradient of L

l is a loss of margins, nu the learning rate (1 in the source). With e_m = o_m - r_m::

    dL/do_m = 2 e_m                                    r_m held fixed ("detached")
    dL/do_m = 2 e_m + nu sum_{k>m} 2 J_k e_k           else: l_k depends on o_m by A_k as well

where J_k is the second derivative of l at A_k. The source does not say which is meant.

Feng, Xu, Jiang & Zhou (2020), "Soft gradient boosting machine", arXiv 2006.04059.
"""

from typing import Any

from psephos._errors import PsephosError
from psephos.optimise.arrays import namespace


def residual_losses(
    said: Any, y: Any, weight: Any, loss: Any, learning_rate: float, detach: bool
) -> tuple[Any, Any]:
    """Return L and its gradient by what each tree says: lines 1 and 4 to 6.

    `said` (M, K, n): line 3: o_m of every row. `y` (n, K); `weight` (n,): of the rows in each local
    loss. `learning_rate`: nu.
    """
    xp = namespace(said)
    before = xp.zeros_like(said)  # line 1
    for m in range(1, said.shape[0]):
        before[m] = before[m - 1] + learning_rate * said[m - 1]
    o, A = (xp.permute_dims(a, (0, 2, 1)) for a in (said, before))  # (M, n, K)
    r = -loss.gradient(A, y)  # line 4
    e = o - r
    weighted = weight[:, None] * e
    L = xp.sum(weighted * e)  # lines 5 and 6
    gradient = 2.0 * weighted
    if not detach:
        _require_curvature(loss)
        later = learning_rate * loss.curvature(A, y, gradient)  # nu 2 J_k e_k
        total = xp.zeros_like(later[0])
        for m in range(o.shape[0] - 2, -1, -1):
            total += later[m + 1]
            gradient[m] += total
    return L, xp.permute_dims(gradient, (0, 2, 1))


def summed_loss(said: Any, y: Any, weight: Any, loss: Any, learning_rate: float) -> tuple[Any, Any]:
    """Return the loss of the sum ``F = nu sum_m o_m`` itself, and its gradient by each o_m.

    What one soft tree is trained on, and a way to train several for a loss without curvature.
    """
    xp = namespace(said)
    F = learning_rate * xp.sum(said, axis=0).T
    by_margin = learning_rate * weight[:, None] * loss.gradient(F, y)
    gradient = xp.zeros_like(said)
    gradient += by_margin.T
    return loss.value(F, y, weight), gradient


def _require_curvature(loss: Any) -> None:
    if not hasattr(loss, "curvature"):
        raise PsephosError(
            f"the loss {type(loss).__name__} has no curvature, which residuals that are not "
            "detached need: set detach_residual=True."
        )
