"""What soft trees remember besides their vote: parameters and moments, to go on from.

What gates of soft trees read of a table: numbers in standard deviations, 0/1 levels, gaps.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.base import Labels
from psephos.estimator.input import Table
from psephos.files.field_types import AnySize, Nullable
from psephos.models.training import Design, moments_of_columns
from psephos.optimise.arrays import on_device, on_host
from psephos.trees.soft import CrossEntropy, SoftPlan, SoftTrainer, SoftTrees, SquaredError
from psephos.vote import Constant, ConstantVoters, Readout, SoftTreeVoters, Vote, join
from psephos.vote.codec import encode, register
from psephos.vote.operations.columns import CodedVoters, design_matrix
from psephos.vote.part import Columns, Voters, check
from psephos.vote.target import AnyTarget

_FARTHEST = 1e6  # deviations: float32 squares them


@register
@dataclass(frozen=True)
class SoftInputs:
    """The inputs of gates: P columns of numbers or levels, then one for each that had gaps.

    A number enters as ``(x - centre) / scale``, mean and standard deviation of the training rows;
    a level as 1 or 0, less its share. A missing value enters as 0, and where the column had any in
    training, as 1 in an input of its own. Columns of one value are left out.
    """

    tag: ClassVar[str] = "soft inputs"
    n_features: int  # columns of the table
    source: Indices  # (P,); the table's column that each is made of, in order
    level: Nullable  # (P,); the category it stands for; NaN: the number itself
    centre: AnySize  # (P,)
    scale: AnySize  # (P,)
    gaps: Indices  # (a,); the first input of each column that had missing values

    def __post_init__(self) -> None:
        P = len(self.source)
        same = self.level.shape == self.centre.shape == self.scale.shape == self.source.shape
        check(same and self.source.dtype == np.intp, "inputs lack a source, centre or scale")
        check(bool((np.diff(self.source) >= 0).all()), "inputs are not in the order of the table")
        inside = P == 0 or (self.source[0] >= 0 and self.source[-1] < self.n_features)
        check(bool(inside), "an input is of no column")
        check(bool((self.scale > 0).all()), "a scale is not above 0")
        known = (self.gaps >= 0) & (self.gaps < P)
        check(bool(known.all()) and self.gaps.dtype == np.intp, "a gap is of no input")
        check(bool((np.diff(self.gaps) > 0).all()), "gaps are not in order")

    @classmethod
    def of(cls, table: Table, weight: Floats) -> Self:
        """Return the inputs that a training table gives."""
        X = table.dense()
        design = Design.of(table.code_counts, X)
        D = design.matrix(X) if table.code_counts.any() else X
        missing = np.isnan(D)
        low, high = (f.reduce(D, axis=0) for f in (np.fmin, np.fmax))
        varies = (low < high) | (missing.any(axis=0) & ~missing.all(axis=0))
        source, level, D = design.source[varies], design.level[varies], D[:, varies]
        centre, scale = centre_and_scale(D, weight)
        scale[~np.isnan(level)] = 1.0
        first = np.ones(len(source), dtype=bool)
        first[1:] = source[1:] != source[:-1]
        gaps = np.flatnonzero(first & missing[:, varies].any(axis=0))
        return cls(X.shape[1], source, level, centre, scale, gaps)

    @property
    def group(self) -> Indices:
        """Return the number of the column that each of the P + a inputs is made of."""
        both = np.concatenate([self.source, self.source[self.gaps]])
        return np.unique(both, return_inverse=True)[1].astype(np.intp)

    def rows(self, X: Floats) -> NDArray[np.float32]:
        """Return (n, P + a) inputs of rows of the table, (n, p)."""
        D = design_matrix(X, self.source, self.level)
        absent = np.isnan(D)
        with np.errstate(over="ignore"):
            D = (D - self.centre) / self.scale
        D[absent] = 0.0
        both = [np.clip(D, -_FARTHEST, _FARTHEST), absent[:, self.gaps]]
        return np.ascontiguousarray(np.concatenate(both, axis=1), dtype=np.float32)

    def voters(self, coef: Floats, bias: Floats, leaf: Floats) -> Any:
        """Return soft trees as voters on the table.

        `coef` (T, gates, P + a); `bias` (T, gates); `leaf` (T, leaves, K).
        """
        P, coded = len(self.source), bool((~np.isnan(self.level)).any())
        columns = np.arange(P) if coded else self.source
        width = P if coded else self.n_features
        inner = SoftTreeVoters(
            width, columns, self.centre, self.scale, np.ascontiguousarray(coef[:, :, :P]), bias,
            self.gaps, np.ascontiguousarray(coef[:, :, P:]), leaf,
        )  # fmt: skip
        if coded:
            read, place = np.unique(self.source, return_inverse=True)
            inner = CodedVoters(self.n_features, read, inner, place.astype(np.intp), self.level)
        return inner.take(np.arange(len(leaf)))

    def read(self, used: NDArray[np.bool_]) -> tuple[Self, Indices]:
        """Return the inputs of columns of which any of the P + a is used, and which these are."""
        group = self.group
        both = np.bincount(group, used) > 0
        return self._some(np.flatnonzero(both[group[: len(self.source)]]))

    def select(self, columns: Columns) -> tuple[Self, Indices]:
        """Return the inputs on the table reduced to `columns`, and which of the P + a they are."""
        reduced, kept = self._some(np.flatnonzero(np.isin(self.source, columns)))
        source = np.searchsorted(columns, reduced.source).astype(np.intp)
        return replace(reduced, n_features=len(columns), source=source), kept

    def _some(self, kept: Indices) -> tuple[Self, Indices]:
        """Return some of the P inputs with their gaps, and which of the P + a these are."""
        gaps = np.flatnonzero(np.isin(self.gaps, kept))
        reduced = replace(
            self, source=self.source[kept], level=self.level[kept], centre=self.centre[kept],
            scale=self.scale[kept], gaps=np.searchsorted(kept, self.gaps[gaps]).astype(np.intp),
        )  # fmt: skip
        return reduced, np.concatenate([kept, len(self.source) + gaps])


def centre_and_scale(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of each column, by weight; NaN is missing.

    A column of one value has the scale 1. Columns beyond the range of squares are measured in a
    unit of their own.
    """
    _, centre, scale = moments_of_columns(values, weight / weight.max())
    low, high = (f.reduce(values, axis=0) for f in (np.fmin, np.fmax))
    one = ~(low < high)
    centre[one] = np.nan_to_num(low[one])
    scale[one | (scale == 0)] = 1.0
    return centre, scale


_Singles = NDArray[np.float32]


@register
@dataclass(frozen=True)
class SoftMemory:
    """Soft trees in training: their parameters, those of Adam, and the units of rows and answers.

    Parameters
    ----------
    inputs : SoftInputs
    gate, bias, leaf : ndarray of float32
        See `psephos.trees.soft.SoftTrees`.
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
    limits: Floats
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
        """Return a trainer that continues from here, on a device (see `on_device`)."""
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

    def vote(self, target: AnyTarget) -> Vote:
        """Return the vote of the trees; numbers have their mean as the first voter."""
        coef = self.gate.transpose(1, 0, 2).astype(np.float64) / self.temperature
        bias = np.ascontiguousarray(self.bias.T, dtype=np.float64) / self.temperature
        leaf = np.ascontiguousarray(self.leaf.transpose(0, 2, 1), dtype=np.float64) * self.scale
        if target.n_classes == 2:  # one signed column
            leaf = leaf[:, :, 1:] - leaf[:, :, :1]
        voters: Voters = self.inputs.voters(coef, bias, leaf)
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
            arrays: dict[str, Array] = {}
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
        float(model.gate_lasso),
        float(model.learning_rate_init),
        float(model.weight_decay),
        int(model.batch_size),
        bool(labels.target.n_classes),
    )
