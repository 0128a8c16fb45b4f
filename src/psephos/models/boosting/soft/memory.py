"""What soft trees remember besides their vote: parameters and moments, to go on from."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos._stored import AnySize
from psephos.models.boosting.soft.inputs import SoftInputs
from psephos.trees.soft.training import SoftPlan, SoftTrainer
from psephos.trees.soft.trees import SoftTrees
from psephos.vote.codec import register
from psephos.vote.part import Columns, check

__all__ = ["SoftMemory"]

_Singles = NDArray[np.float32]


@register
@dataclass(frozen=True)
class SoftMemory:
    """Soft trees in training: their parameters, those of Adam, and the units of rows and answers.

    Parameters
    ----------
    inputs : SoftInputs
    gate, bias, leaf : ndarray of float32
        See `psephos.trees.soft.trees.SoftTrees`.
    first, second : tuple of ndarray of float32
        Adam's running means of gradients and of their squares, of the three.
    n_steps, n_epochs : int
        Taken in all calls.
    limits : ndarray of shape (M,)
        The penalty of columns, by tree; see `SoftTrainer`.
    unit : float
        The weight that counts as one row.
    centre, scale : ndarray of shape (K,)
        Of the numbers that are learned; 0 and 1 of classes.
    gate_lasso : float, default=0.0
        The parameter that `limits` are of.
    """

    tag: ClassVar[str] = "soft memory"
    inputs: SoftInputs
    gate: _Singles
    bias: _Singles
    leaf: _Singles
    first: tuple[_Singles, ...]
    second: tuple[_Singles, ...]
    n_steps: int
    n_epochs: int
    limits: NDArray[np.float64]
    unit: float
    centre: AnySize
    scale: AnySize
    gate_lasso: float = 0.0

    def __post_init__(self) -> None:
        shapes = [a.shape for a in (self.gate, self.bias, self.leaf)]
        check([len(s) for s in shapes] == [3, 2, 3], "soft trees have another shape")
        gates, trees, q = self.gate.shape
        fits = self.bias.shape == (gates, trees) and self.leaf.shape[::2] == (trees, gates + 1)
        check(fits and gates > 0 and gates & (gates + 1) == 0, "a soft tree is not complete")
        check(q == len(self.inputs.source) + len(self.inputs.gaps), "gates have other inputs")
        check([a.shape for a in self.first] == shapes, "moments are of other parameters")
        known = len(self.second) == 3 and self.second[0].shape in ((), shapes[0])
        check(known and [a.shape for a in self.second[1:]] == shapes[1:], "moments of others")
        check(self.centre.shape == self.scale.shape == shapes[2][1:2], "answers have other units")
        check(self.n_steps >= 0 <= self.n_epochs, "steps are not counted from 0")
        check(self.limits.shape == (trees,), "trees and penalties differ in number")
        check(self.unit > 0 and bool((self.limits >= 0).all()), "a weight or penalty is below 0")

    @classmethod
    def of(cls, trainer: SoftTrainer, inputs: SoftInputs, **units: Any) -> Self:
        """Return what a trainer knows."""
        adam = trainer.adam
        second = tuple(np.asarray(a, dtype=np.float32) for a in adam.second)
        return cls(
            inputs, *trainer.trees, tuple(adam.first), second, adam.n_steps,
            limits=trainer.limits, **units,
        )  # fmt: skip

    def trainer(self, plan: SoftPlan) -> SoftTrainer:
        """Return a trainer that goes on from here."""
        trees = SoftTrees(*(a.copy() for a in (self.gate, self.bias, self.leaf)))
        trainer = SoftTrainer(trees, plan, self.inputs.group, self.limits)
        trainer.adam.first = [a.copy() for a in self.first]
        trainer.adam.second = [a.copy() for a in self.second]
        trainer.adam.n_steps = self.n_steps
        return trainer

    def select(self, columns: Columns) -> Self:
        """Return the same on the table reduced to `columns`."""
        inputs, kept = self.inputs.select(columns)

        def on(a: _Singles) -> _Singles:
            return np.ascontiguousarray(a[:, :, kept])

        second = self.second[0] if self.second[0].shape == () else on(self.second[0])
        return replace(
            self,
            inputs=inputs,
            gate=on(self.gate),
            first=(on(self.first[0]), *self.first[1:]),
            second=(second, *self.second[1:]),
        )
