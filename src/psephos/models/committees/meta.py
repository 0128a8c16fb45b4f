"""How a stack weighs its members: weights of at least 0, learnt from answers to unseen rows."""

from typing import Any

import numpy as np
import scipy.optimize
import scipy.special
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_special: Any = scipy.special
_optimize: Any = scipy.optimize
_LEAST = 1e-9  # a probability below counts as that
_STEPS = 5000
_STILL = 1e-9  # of a step's gain in mean log-likelihood
_RIDGE = 1e-3  # of the squared weights, beside the mean log-loss


def chances_of(votes: _Floats, n_classes: int) -> _Floats:
    """Return (n, M, n_classes) probabilities from votes (n, M, K), the means of codes."""
    if n_classes == 2:
        up = np.clip((1.0 + votes[:, :, 0]) / 2.0, 0.0, 1.0)
        return np.stack([1.0 - up, up], axis=2)
    return np.clip(((n_classes - 1) * votes + 1.0) / n_classes, 0.0, 1.0)


def log_loss(chances: _Floats, y: NDArray[np.intp], weight: _Floats | None) -> float:
    """Return the mean log-loss, by weight; probabilities below 1e-9 count as that."""
    own = np.maximum(np.take_along_axis(chances, y[:, None], axis=1)[:, 0], _LEAST)
    return float(-np.average(np.log(own), weights=weight))


def pool_weights(
    votes: _Floats,
    y: NDArray[np.intp],
    weight: _Floats | None,
    k: int,
    here: NDArray[np.bool_] | None = None,
) -> _Floats:
    """Return the weights on the simplex of least log-loss of the mean probability.

    ``p = sum_t w_t p_t`` is a mixture of the members, whose likelihood has one maximum: the steps
    are those of expectation-maximisation, w_t <- mean_i w_t p_t(y_i) / p(y_i).

    Where some members are silent on some rows (`here`, (n, M)), the mean is over the others,
    ``sum_t a_it w_t p_t / sum_t a_it w_t``, and the log-loss is made least by L-BFGS.
    """
    chances = chances_of(votes, k)
    own = np.take_along_axis(chances, y[:, None, None], axis=2)[:, :, 0]
    own = np.maximum(own, _LEAST)
    share = np.full(len(y), 1.0 / len(y)) if weight is None else weight / weight.sum()
    if here is not None and not here.all():
        return _pool_of_some(own, share, here.astype(np.float64))
    w, before = np.full(own.shape[1], 1.0 / own.shape[1]), -np.inf
    for _ in range(_STEPS):
        mixed = np.maximum(own @ w, _LEAST)
        now = float(share @ np.log(mixed))
        if now - before < _STILL:
            break
        before = now
        w = w * ((share / mixed) @ own)
    w = np.where(w < 1e-4, 0.0, w)  # on their way to 0
    return w / w.sum()


def _pool_of_some(own: _Floats, share: _Floats, here: _Floats) -> _Floats:
    """Return softmax weights of least log-loss of the mean over the members that are there."""

    def loss(logit: _Floats) -> tuple[float, _Floats]:
        w = _special.softmax(logit)
        top, below = (here * own) @ w, here @ w
        slope = (share / top) @ (here * own) - (share / below) @ here  # of the log-likelihood
        value = float(share @ (np.log(top) - np.log(below)))
        gradient = w * (slope - float(w @ slope))
        return -value + _RIDGE * float((logit**2).sum()), -gradient + 2.0 * _RIDGE * logit

    found = _optimize.minimize(loss, np.zeros(own.shape[1]), jac=True, method="L-BFGS-B")
    return _special.softmax(np.asarray(found.x, dtype=np.float64))


def logistic_weights(
    votes: _Floats, y: NDArray[np.intp], weight: _Floats | None, k: int
) -> _Floats:
    """Return (M, K) weights of at least 0 of least log-loss, read by a logistic link.

    ``F_k = sum_t w_tk h_tk`` with the softmax over classes (the logistic function for two); a
    ridge of 1e-3 keeps the weights of members that say the same alike.
    """
    n, m, outputs = votes.shape
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()

    def loss(flat: _Floats) -> tuple[float, _Floats]:
        w = flat.reshape(m, outputs)
        score = np.einsum("nmk,mk->nk", votes, w)
        if k == 2:
            sign = np.where(y == 1, 1.0, -1.0)
            value = float(share @ np.logaddexp(0.0, -sign * score[:, 0]))
            slope = (-share * sign * _special.expit(-sign * score[:, 0]))[:, None]
        else:
            logs = score - _special.logsumexp(score, axis=1, keepdims=True)
            value = float(-(share @ logs[np.arange(n), y]))
            slope = np.exp(logs)
            slope[np.arange(n), y] -= 1.0
            slope *= share[:, None]
        gradient = np.einsum("nmk,nk->mk", votes, slope) + 2.0 * _RIDGE * w
        return value + _RIDGE * float((w**2).sum()), gradient.ravel()

    start = np.full(m * outputs, 1.0 / m)
    found = _optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start)
    )
    w = np.asarray(found.x, dtype=np.float64).reshape(m, outputs)
    return w if (w > 0).any() else np.full((m, outputs), 1.0 / m)


def square_weights(votes: _Floats, y: _Floats, weight: _Floats | None) -> _Floats:
    """Return weights on the simplex of least squared error of the mean number.

    By non-negative least squares with the sum held at 1 by a heavy row (Lawson and Hanson).
    """
    root = np.ones(len(y)) if weight is None else np.sqrt(weight)
    table = votes[:, :, 0] - y[:, None]  # with sum 1 the error is sum_t w_t (h_t - y)
    table = table * root[:, None]
    size = float(np.abs(table).max(initial=0.0))
    if size == 0.0:
        return np.full(votes.shape[1], 1.0 / votes.shape[1])
    heavy = 1e4 * np.sqrt(len(y))
    wide = np.vstack([table / size, np.full(votes.shape[1], heavy)])
    w, _ = _optimize.nnls(wide, np.append(np.zeros(len(y)), heavy))
    return w / w.sum()
