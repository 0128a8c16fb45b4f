"""Losses that soft trees are trained on: of margins, with their derivatives.

A loss is any object with `value` and `gradient`; one without `curvature` cannot be boosted with
residuals that are not detached. Margins may have axes in front of (n, K), such as one a tree.
"""

from typing import Any, Protocol

from psephos.optimise.arrays import namespace


class TreeLoss(Protocol):
    """A loss of margins (..., n, K) and targets (n, K)."""

    def value(self, margin: Any, y: Any, weight: Any) -> Any:
        """Return the loss of the rows, by weight (n,): their sum, shape (...)."""
        ...

    def gradient(self, margin: Any, y: Any) -> Any:
        """Return the derivative of each row's own loss by its margins, (..., n, K).

        Of a loss that is no sum over rows (a risk that is kept from being negative): n times that
        of the mean over these rows.
        """
        ...


class SquaredError:
    """Half the squared error: ``|F - y|^2 / 2`` a row."""

    def value(self, margin: Any, y: Any, weight: Any) -> Any:
        """Return the weighted sum over rows."""
        xp = namespace(margin)
        miss = margin - y
        return xp.sum(xp.sum(miss * miss, axis=-1) * weight, axis=-1) / 2

    def gradient(self, margin: Any, y: Any) -> Any:
        """Return ``F - y``."""
        return margin - y

    def curvature(self, margin: Any, y: Any, v: Any) -> Any:
        """Return the second derivative times v: v itself."""
        return v


class CrossEntropy:
    """Cross-entropy of the softmax: ``-sum_k y_k log s_k``, y probabilities of classes."""

    def value(self, margin: Any, y: Any, weight: Any) -> Any:
        """Return the weighted sum over rows."""
        xp = namespace(margin)
        low = margin - xp.max(margin, axis=-1, keepdims=True)
        logs = low - xp.log(xp.sum(xp.exp(low), axis=-1, keepdims=True))
        return -xp.sum(xp.sum(y * logs, axis=-1) * weight, axis=-1)

    def gradient(self, margin: Any, y: Any) -> Any:
        """Return ``s - y``, s the softmax."""
        return _softmax(margin) - y

    def curvature(self, margin: Any, y: Any, v: Any) -> Any:
        """Return the second derivative times v: ``s (v - s . v)``."""
        share = _softmax(margin)
        both = share * v
        return both - share * namespace(v).sum(both, axis=-1, keepdims=True)


def _softmax(margin: Any) -> Any:
    xp = namespace(margin)
    share = xp.exp(margin - xp.max(margin, axis=-1, keepdims=True))
    share /= xp.sum(share, axis=-1, keepdims=True)
    return share
