"""Adam: steps by a running mean of the gradient over the root of that of its square."""

from collections.abc import Sequence
from typing import Any

from psephos.optimise.arrays import namespace

__all__ = ["Adam"]


class Adam:
    """Adam (Kingma & Ba 2015, algorithm 1) on a list of arrays, which it changes in place.

    With g the gradient plus ``weight_decay`` times the parameter (an L2 penalty, not decoupled),
    at step t::

        m = beta1 m + (1 - beta1) g         v = beta2 v + (1 - beta2) g^2
        parameter -= learning_rate  m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)

    Parameters
    ----------
    parameters : sequence of arrays
        Of NumPy or any library of the array API standard.
    learning_rate : float, default=1e-3
    beta1, beta2, eps : float, default=.9, .999, 1e-8
    weight_decay : float, default=0.0
    shared : sequence of bool, default=()
        Arrays whose entries share one v, the mean over them: one step size, so that a proximal
        step on a norm of theirs is exact. Empty: none does.

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
        zeros = [namespace(p).zeros_like(p) for p in self.parameters]
        self.first = zeros
        self.second = [
            namespace(p).sum(z) if one else namespace(p).zeros_like(p)
            for p, z, one in zip(self.parameters, zeros, self.shared, strict=True)
        ]
        self.n_steps = 0

    def step(self, gradients: Sequence[Any]) -> None:
        """Take one step by the gradients, one for each parameter."""
        self.n_steps += 1
        rate = self.learning_rate / (1.0 - self.beta1**self.n_steps)
        root = (1.0 - self.beta2**self.n_steps) ** 0.5
        for i, (parameter, g) in enumerate(zip(self.parameters, gradients, strict=True)):
            xp = namespace(parameter)
            if self.weight_decay:
                g = g + self.weight_decay * parameter
            self.first[i] *= self.beta1
            self.first[i] += (1.0 - self.beta1) * g
            square = xp.mean(g * g) if self.shared[i] else g * g
            self.second[i] = self.second[i] * self.beta2 + (1.0 - self.beta2) * square
            move = xp.sqrt(self.second[i])
            move = move / root + self.eps
            parameter -= rate * self.first[i] / move

    def size(self, i: int) -> float:
        """Return the last step a unit of the gradient's mean, of a parameter with one v."""
        xp = namespace(self.parameters[i])
        root = (1.0 - self.beta2**self.n_steps) ** 0.5
        return self.learning_rate / (float(xp.sqrt(self.second[i])) / root + self.eps)
