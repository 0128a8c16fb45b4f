"""What soft trees remember besides their vote: parameters and moments, to go on from."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.base import Labels
from psephos.files.field_types import AnySize
from psephos.models.boosting.soft.inputs import SoftInputs
from psephos.optimise.arrays import on_device, on_host
from psephos.trees.soft.losses import CrossEntropy, SquaredError
from psephos.trees.soft.training import SoftPlan, SoftTrainer
from psephos.trees.soft.trees import SoftTrees
from psephos.vote import Constant, ConstantVoters, Readout, Vote, join
from psephos.vote.codec import encode, register
from psephos.vote.part import Columns, check

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
        Adam's running means of gradients and of their squares, of the three. Empty: training goes
        on with new ones.
    n_steps, n_epochs : int
        Of these means; of all calls.
    limits : ndarray of shape (M,)
        The penalty of columns, by tree; see `SoftTrainer`.
    unit : float
        The weight that counts as one row.
    centre, scale : ndarray of shape (K,)
        Of the numbers that are learned; 0 and 1 of classes.
    gate_lasso, temperature, learning_rate : float, default=0.0, 1.0, 1.0
        The parameters that `limits`, the gates and the leaves are of.
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
    temperature: float = 1.0
    learning_rate: float = 1.0

    def __post_init__(self) -> None:
        shapes = [a.shape for a in (self.gate, self.bias, self.leaf)]
        check([len(s) for s in shapes] == [3, 2, 3], "soft trees have another shape")
        gates, trees, q = self.gate.shape
        fits = self.bias.shape == (gates, trees) and self.leaf.shape[::2] == (trees, gates + 1)
        check(fits and gates > 0 and gates & (gates + 1) == 0, "a soft tree is not complete")
        check(q == len(self.inputs.source) + len(self.inputs.gaps), "gates have other inputs")
        if self.first or self.second:
            check([a.shape for a in self.first] == shapes, "moments are of other parameters")
            known = len(self.second) == 3 and self.second[0].shape in ((), shapes[0])
            check(known and [a.shape for a in self.second[1:]] == shapes[1:], "moments of others")
            check(all(bool((a >= 0).all()) for a in self.second), "a mean of squares is below 0")
        check(self.centre.shape == self.scale.shape == shapes[2][1:2], "answers have other units")
        check(self.n_steps >= 0 <= self.n_epochs, "steps are not counted from 0")
        check(self.limits.shape == (trees,), "trees and penalties differ in number")
        known = self.unit > 0 and bool((self.limits >= 0).all()) and bool((self.scale > 0).all())
        check(known, "a weight, scale or penalty is below 0")
        known = self.gate_lasso >= 0 and self.temperature > 0 and self.learning_rate > 0
        check(known and (self.gate_lasso > 0 or not self.limits.any()), "a parameter is below 0")

    @classmethod
    def of(cls, trainer: SoftTrainer, inputs: SoftInputs, **units: Any) -> Self:
        """Return what a trainer knows."""
        adam, plan = trainer.adam, trainer.plan
        gate, bias, leaf = map(on_host, trainer.trees)
        first = tuple(map(on_host, adam.first))
        second = tuple(np.asarray(on_host(a), dtype=np.float32) for a in adam.second)
        return cls(
            inputs, gate, bias, leaf, first, second, adam.n_steps, limits=trainer.limits,
            gate_lasso=plan.gate_lasso, temperature=plan.temperature,
            learning_rate=plan.learning_rate, **units,
        )  # fmt: skip

    def trainer(self, plan: SoftPlan, device: str = "cpu") -> SoftTrainer:
        """Return a trainer that goes on from here, on a device (see `on_device`)."""
        for name in ("gate_lasso", "temperature", "learning_rate"):
            now, then = getattr(plan, name), getattr(self, name)
            if now != then:
                raise_other(name, now, then)
        trees = SoftTrees(*(on_device(a.copy(), device) for a in (self.gate, self.bias, self.leaf)))
        trainer = SoftTrainer(trees, plan, self.inputs.group, self.limits)
        if self.first:
            trainer.adam.first = [on_device(a.copy(), device) for a in self.first]
            trainer.adam.second = [on_device(a.copy(), device) for a in self.second]
            trainer.adam.n_steps = self.n_steps
        return trainer

    def require_same(self, model: Any, n_outputs: int) -> None:
        """Refuse to go on with other trees, or other answers, than there are."""
        gates, trees, _ = self.gate.shape
        wanted = {"max_depth": (gates + 1).bit_length() - 1}
        if model.boosted:
            wanted["n_estimators"] = trees
        for name, known in wanted.items():
            if getattr(model, name) != known:
                raise_other(name, getattr(model, name), known)
        if self.leaf.shape[1] != n_outputs:
            raise PsephosError(
                f"y has {n_outputs} numbers a row, the first call had {self.leaf.shape[1]}: give "
                "the same, or fit anew."
            )

    def vote(self, target: Any) -> Vote:
        """Return the vote of the trees; numbers have their mean as the first voter."""
        coef = self.gate.transpose(1, 0, 2).astype(np.float64) / self.temperature
        bias = np.ascontiguousarray(self.bias.T, dtype=np.float64) / self.temperature
        leaf = np.ascontiguousarray(self.leaf.transpose(0, 2, 1), dtype=np.float64) * self.scale
        if target.n_classes == 2:  # one signed column
            leaf = leaf[:, :, 1:] - leaf[:, :, :1]
        voters: Any = self.inputs.voters(coef, bias, leaf)
        p, weights = self.inputs.n_features, np.full(len(leaf), self.learning_rate)
        if target.n_classes:
            return Vote(voters, Constant(p, weights), Readout("sum", "logistic"), target)
        mean = ConstantVoters(p, self.centre[None].astype(np.float64), "the mean of the target")
        both = [(np.array([0], np.intp), mean), (np.arange(1, len(leaf) + 1), voters)]
        weights = np.concatenate([[1.0], weights])
        return Vote(join(both), Constant(p, weights), Readout("sum", "identity"), target)

    def check_vote(self, vote: Vote) -> None:
        """Raise PsephosError unless these are the trees of a vote that was read beside them."""
        check(self.leaf.shape[1] == max(vote.target.n_classes, self.centre.size), "other outputs")
        held: list[Any] = []
        for one in (self.vote(vote.target), vote):
            arrays: dict[str, NDArray[Any]] = {}
            held.append((encode((one.voters, one.weighting), arrays, "vote"), arrays))
        (words, found), (others, stored) = held
        same = words == others and all(
            np.array_equal(found[n], stored[n], equal_nan=True) for n in stored
        )
        check(same, "the trees to go on from are not those of the vote")

    def thinned(self, keep_moments: bool) -> Self:
        """Return the same without columns of which no gate has a weight, and without moments."""
        if keep_moments:
            return self
        inputs, kept = self.inputs.read(np.asarray(self.gate.any(axis=(0, 1))))
        gate = np.ascontiguousarray(self.gate[:, :, kept])
        return replace(self, inputs=inputs, gate=gate, first=(), second=(), n_steps=0)

    def select(self, columns: Columns) -> Self:
        """Return the same on the table reduced to `columns`."""
        inputs, kept = self.inputs.select(columns)

        def on(a: _Singles) -> _Singles:
            return np.ascontiguousarray(a[:, :, kept])

        first, second = self.first, self.second
        if first:
            first = (on(first[0]), *first[1:])
            own = second[0] if second[0].shape == () else on(second[0])
            second = (own, *second[1:])
        return replace(self, inputs=inputs, gate=on(self.gate), first=first, second=second)


def raise_other(name: str, now: Any, then: Any) -> None:
    """Raise PsephosError: a parameter of the trees to go on from is another."""
    raise PsephosError(
        f"{name}={now}, but the trees to go on from were fitted with {name}={then}: keep it, or "
        "fit with warm_start=False."
    )


def plan_of(model: Any, labels: Labels) -> SoftPlan:
    """Return how a recipe's parameters train."""
    return SoftPlan(
        CrossEntropy() if labels.target.n_classes else SquaredError(),
        model.boosted,
        float(model.learning_rate) if model.boosted else 1.0,
        bool(model.detach_residual) if model.boosted else True,
        float(model.temperature),
        float(model.gate_penalty),
        float(model.gate_lasso),
        float(model.learning_rate_init),
        float(model.weight_decay),
        int(model.batch_size),
        bool(labels.target.n_classes),
    )
