"""What the three classifiers of weak labels share: rows, learners, and votes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._distributions import Choice, Distribution
from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos.base import Anatomy, Labels
from psephos.contender import Shape
from psephos.models.committees.fitting import Data, Task, fit_all
from psephos.models.committees.members import voters_of
from psephos.models.training import Training, distinct_rows, ordered_rows
from psephos.models.weak.inputs import Inputs
from psephos.models.weak.learner import Learner
from psephos.params import Anything, Classes, Constraint, Interval, OneOf, Options, Seed, Voter
from psephos.supervision import LOSSES, ElkanNotoPrior, WeightedRisk, supervised_risk
from psephos.supervision.losses import MarginLoss
from psephos.vote import Constant, Readout, Vote, Voters
from psephos.vote.calibration import Isotonic

__all__ = [
    "DRAWN",
    "SHARED", "Fitted", "Rows", "anatomy", "compared", "estimated", "fitted_by", "odds_map",
    "one_vote", "ordinary", "prior_of", "read_rows", "share_map",
]  # fmt: skip

_Floats = NDArray[np.float64]
_KNOTS = 64  # pieces of a map of probabilities
_VOTERS = (
    "ranked voters", "coded voters", "linear voters", "kernel voters", "nested voters",
    "joined voters", "tree voters", "naive Bayes voters", "foreign voters",
)  # fmt: skip
PRIOR_TASK, FIT_TASK = 2, 3

SHARED: Mapping[str, Constraint] = {
    "estimator": Voter(),
    "kernel": Options(("linear", "rbf")),
    "loss": Options(LOSSES),
    "prior": OneOf((Options(("elkan-noto",)), Interval(0, 1, open_low=True, open_high=True))),
    "alpha": Interval(0),
    "scaling": Options(("auto", "standard", "rank")),
    "classes": Classes(),
    "pos_label": Anything(),
    "unlabeled": Anything(),
    "sigma": OneOf((Interval(0, open_low=True),), none=True),
    "n_components": Interval(1, whole=True),
    "n_starts": Interval(1, whole=True),
    "max_iter": Interval(1, whole=True),
    "learning_rate": Interval(0, open_low=True),
    "random_state": Seed(),
}


#: What a comparison draws.
DRAWN: Mapping[str, Distribution] = {
    "alpha": Choice((0.0001, 0.001, 0.01)),
    "kernel": Choice(("linear", "rbf")),
    "scaling": Choice(("standard", "rank")),
}


def anatomy(found_by: str) -> Anatomy:
    """Return the anatomy of a vote of one score."""
    return Anatomy(_VOTERS, "constant", "normalised", found_by)


def compared(params: Mapping[str, Any], shape: Shape, seed: int) -> dict[str, Any]:
    """Return the settings of a comparison, whose classes are codes."""
    own = {"classes": [0, 1], "pos_label": shape.positive}
    return {**params, **own, **({"scaling": "rank"} if shape.missing else {})}


class Fitted(NamedTuple):
    """A voter, the objective it reached (None: not known), and the iterations that took."""

    voters: Voters
    objective: float | None = None
    n_iter: int = 1


@dataclass(frozen=True)
class Rows:
    """The training rows: codes 1 (positive), 0 (negative), -1 (unlabelled), weights, inputs.

    Parameters
    ----------
    model : estimator
    data : Data
        As any classifier is given them; its y are class indices, of unlabelled rows -1.
    codes : ndarray of shape (n,)
    weight : ndarray of shape (n,)
    positive : int
        The index of the positive class.
    inputs : Inputs or None
        None where another classifier learns.
    Z : ndarray of shape (n, q)
    context : Context
    """

    model: Any
    data: Data
    codes: NDArray[np.intp]
    weight: _Floats
    positive: int
    inputs: Inputs | None
    Z: _Floats
    context: Context

    @property
    def code(self) -> _Floats:
        """Return the codes of the negative and the positive class."""
        order = [1 - self.positive, self.positive]
        return self.data.target.code[order]

    @property
    def loss(self) -> MarginLoss:
        """Return the loss of the model."""
        return MarginLoss(self.model.loss)

    @cached_property
    def linear(self) -> Learner:
        """Return what minimises a risk of margins that are linear in the inputs."""
        assert self.inputs is not None
        return Learner.linear(self.inputs, self.Z)

    @property
    def features(self) -> _Floats:
        """Return what ratios and priors look at: inputs, or the table for another classifier.

        Where there are more inputs than rows, their principal components: distances and penalised
        lines are the same.
        """
        return self.data.X if self.inputs is None else self.linear.A

    def take(self, rows: NDArray[np.intp]) -> "Rows":
        """Return these rows only, with the same inputs."""
        return replace(
            self,
            data=self.data.take(rows, self.weight[rows]),
            codes=self.codes[rows],
            weight=self.weight[rows],
            Z=self.Z[rows],
        )

    def coded(self, codes: NDArray[np.intp]) -> "Rows":
        """Return the same rows with other codes."""
        return replace(self, codes=codes)

    def learner(self) -> Learner:
        """Return what minimises a risk of margins."""
        m = self.model
        assert self.inputs is not None
        if m.kernel == "linear":
            return self.linear
        return Learner.rbf(self.inputs, self.Z, m.sigma, m.n_components, self.context)


def read_rows(model: Any, table: Table, labels: Labels, weight: _Floats, context: Context) -> Rows:
    """Return the rows, equal ones of one label made one; codes by which class is positive.

    Raises
    ------
    PsephosError
        If `pos_label` is no class.
    """
    target = labels.target
    if context.groups is None:  # weight 2 is the row twice
        own = ordered_rows(distinct_rows(Training(table, target, labels.y, weight)))
        table, weight = own.table, own.weight
        labels = labels._replace(y=own.y)
    classes = target.classes.tolist()
    positive = 1
    if model.pos_label is not None:
        if model.pos_label not in classes:
            raise PsephosError(
                f"pos_label is {model.pos_label!r}, which is none of the classes {classes}."
            )
        positive = classes.index(model.pos_label)
    y = labels.y
    codes = np.where(y < 0, -1, np.where(y == positive, 1, 0)).astype(np.intp)
    data = Data.of(table, labels, weight, context, None)
    if model.estimator is not None:
        return Rows(model, data, codes, weight, positive, None, data.X, context)
    inputs, Z = Inputs.of(table, weight, model.scaling)
    return Rows(model, data, codes, weight, positive, inputs, Z, context)


def fitted_by(rows: Rows, risk: Any) -> Fitted:
    """Return the voter that has the least risk, by whatever learner the model names.

    Raises
    ------
    PsephosError
        If another classifier should learn, and the risk is no weighting of rows.
    """
    m = rows.model
    if m.estimator is None:
        learner = rows.learner()
        starts = learner.starts(rows.context, m.n_starts)
        found, objective, n_iter = learner.fit(
            risk, alpha=m.alpha, starts=starts, max_iter=m.max_iter,
            learning_rate=m.learning_rate,
        )  # fmt: skip
        return Fitted(learner.voters(found, rows.code), objective, n_iter)
    if not isinstance(risk, WeightedRisk):
        raise PsephosError(
            f"the non-negative risk needs gradients, and {type(m.estimator).__name__} learns from "
            "weighted rows: use risk='unbiased', or estimator=None."
        )
    return _weighted(rows, risk)


def _weighted(rows: Rows, risk: WeightedRisk) -> Fitted:
    """Return a classifier fitted on rows weighted as the risk weighs them."""
    up, down = risk.weights
    both = np.flatnonzero((up > 0) & (down > 0))
    assert not len(both), "a row counts as both"
    weight, kept = up + down, np.flatnonzero(up + down > 0)
    weight = weight * (len(kept) / weight.sum())
    y = np.where(up > 0, rows.positive, 1 - rows.positive).astype(np.intp)
    if len(np.unique(y[kept])) < 2:
        raise PsephosError("all rows of weight are of one class: there is nothing to tell apart.")
    data = replace(rows.data, y=y, weight=weight)
    if np.ptp(weight[kept]) <= 1e-12:
        data = replace(data, weight=None)
    model = fit_all(data, [Task(rows.model.estimator, (FIT_TASK,), kept)])[0]
    return Fitted(voters_of([model], data))


def ordinary(rows: Rows) -> Fitted:
    """Return the fit of the ordinary risk of the labelled rows."""
    return fitted_by(rows, supervised_risk(rows.codes, rows.loss, rows.weight))


def prior_of(rows: Rows) -> float:
    """Return the prior that is given, or estimated from positive and unlabelled rows."""
    if not isinstance(rows.model.prior, str):
        return float(rows.model.prior)
    return estimated(rows).prior_


def estimated(rows: Rows, features: _Floats | None = None, alpha: float = 1e-3) -> ElkanNotoPrior:
    """Return Elkan and Noto's estimate on what the model looks at, or on other features."""
    known, open_ = np.flatnonzero(rows.codes == 1), np.flatnonzero(rows.codes == -1)
    both = np.concatenate([known, open_])
    groups = None if rows.data.groups is None else rows.data.groups[both]
    seed = rows.context.integer(PRIOR_TASK)
    own = ElkanNotoPrior(rows.model.estimator, alpha=alpha, random_state=seed)
    weights = (rows.weight[known], rows.weight[open_])
    features = rows.features if features is None else features
    return own.fit(features[known], features[open_], weights, groups)


def one_vote(rows: Rows, voters: Voters, calibration: Any = None) -> Vote:
    """Return the vote of one voter, or the mean of several, with a map of its probabilities."""
    weights = Constant(voters.n_features, np.ones(voters.n_voters))
    readout = Readout("normalised", "share", calibration=calibration)
    return Vote(voters, weights, readout, rows.data.target)


def odds_map(rows: Rows, factor: float) -> Isotonic:
    """Return the map of q = P(labelled | x) to ``min(1, factor q / (1 - q))``, in 64 pieces."""
    top = 1.0 / (1.0 + factor)
    half = 1.0 / (1.0 + 2.0 * factor)  # q where the answer changes
    points = np.append(np.linspace(0.0, top, _KNOTS + 1), [half, 1.0])
    given = np.unique(np.round(points, 12)).astype(np.float64)
    told = np.ones(len(given))
    below = given < np.round(top, 12)
    told[below] = np.minimum(factor * given[below] / (1.0 - given[below]), 1.0)
    return _both(rows, given, told)


def share_map(rows: Rows, c: float) -> Isotonic | None:
    """Return the map of s = P(labelled | x) to ``min(1, s / c)``; None if c is 1."""
    if c >= 1.0:
        return None
    return _both(rows, np.array([0.0, c, 1.0]), np.array([0.0, 1.0, 1.0]))


def _both(rows: Rows, given: _Floats, told: _Floats) -> Isotonic:
    """Return a map of the positive class's probability as one of both classes."""
    other = ((1.0 - given)[::-1].copy(), (1.0 - told)[::-1].copy())
    pairs = [other, (given, told)] if rows.positive == 1 else [(given, told), other]
    return Isotonic(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs))
