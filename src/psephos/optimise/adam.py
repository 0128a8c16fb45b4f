"""Adam: gradient steps scaled by running means of the gradient and of its square."""

from collections.abc import Sequence
from typing import Any

from psephos.optimise.arrays import namespace


class Adam:
    """Adam (Kingma & Ba 2015, algorithm 1) on a list of arrays, which it changes in place.

    g is the gradient plus ``weight_decay`` times the parameter (an L2 penalty, not decoupled). At
    step t::

        m = beta1 m + (1 - beta1) g         v = beta2 v + (1 - beta2) g^2
        parameter -= learning_rate  m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)

    Parameters
    ----------
    parameters : sequence of arrays, of NumPy or any library of the array API standard
    shared : sequence of bool, one per array; empty: none
        Whether all entries of the array have the same step size, so that a proximal step on a norm
        of its columns is exact. It is updated by AdaMax (algorithm 2): with u the running maximum
        ``max(beta2 u, r)``, r the greatest root mean square of g over the columns (the last axis),
        the step is ``learning_rate m / (1 - beta1^t) / (u + eps)``.

    References
    ----------
    Kingma & Ba (2015), "Adam: a method for stochastic optimization", ICLR.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.optimise.adam import Adam
    >>> x = np.array([3.0])
    >>> adam = Adam([x], learning_rate=0.1)
    >>> for _ in range(500):
    ...     adam.step([2 * x])
    >>> bool(abs(x[0]) < 1e-2)
    True
    """

    def __init__(
        self,
        parameters: Sequence[Any],
        learning_rate: float = 1e-3,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        shared: Sequence[bool] = (),
    ) -> None:
        self.parameters = list(parameters)
        self.learning_rate, self.beta1, self.beta2, self.eps = learning_rate, beta1, beta2, eps
        self.weight_decay = weight_decay
        self.shared = list(shared) or [False] * len(self.parameters)
        self.first = [namespace(p).zeros_like(p) for p in self.parameters]
        self.second = [
            namespace(p).sum(zero) if one else namespace(p).zeros_like(p)
            for p, zero, one in zip(self.parameters, self.first, self.shared, strict=True)
        ]
        self.n_steps = 0

    def step(self, gradients: Sequence[Any]) -> None:
        """Update all parameters by one step; `gradients` has one per parameter."""
        self.n_steps += 1
        rate = self.learning_rate / (1.0 - self.beta1**self.n_steps)
        root = (1.0 - self.beta2**self.n_steps) ** 0.5
        for i, (parameter, g) in enumerate(zip(self.parameters, gradients, strict=True)):
            xp = namespace(parameter)
            if self.weight_decay:
                g = g + self.weight_decay * parameter
            self.first[i] *= self.beta1
            self.first[i] += (1.0 - self.beta1) * g
            if self.shared[i]:
                squares = xp.mean(g * g, axis=tuple(range(g.ndim - 1)))
                most = xp.sqrt(xp.max(squares)) if squares.shape[0] else xp.sum(squares)
                self.second[i] = xp.maximum(self.beta2 * self.second[i], most)
                parameter -= rate / (float(self.second[i]) + self.eps) * self.first[i]
                continue
            self.second[i] *= self.beta2
            self.second[i] += (1.0 - self.beta2) * (g * g)
            parameter -= rate * self.first[i] / (xp.sqrt(self.second[i]) / root + self.eps)

    def step_size(self, i: int) -> float:
        """Return the learning rate over (u + eps) of a shared array after the last step."""
        return self.learning_rate / (float(self.second[i]) + self.eps)
