"""Fits of a risk by whatever learns, class priors, and votes with maps of their probabilities.

What a fit made of labels that are missing: the rows of each kind, and the class prior.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.estimator.input import FittedVote
from psephos.files.names import fixed
from psephos.models.committees.fitting import MemberTask, fit_all, voters_of
from psephos.models.weak.rows import WeakRows
from psephos.supervision import ElkanNotoPrior, WeightedRisk, supervised_risk
from psephos.vote import Constant, Readout, Vote, Voters
from psephos.vote.calibration import Isotonic
from psephos.vote.codec import register
from psephos.vote.part import check

__all__ = [
    "FIT_TASK", "Fitted", "estimated", "fitted_by", "labels_told", "odds_map", "one_vote",
    "ordinary", "prior_of", "told_vote",
]  # fmt: skip


@register
@dataclass(frozen=True)
class WeakLabels:
    """How many rows of weight were of each kind, and the class prior that was used.

    Parameters
    ----------
    n_positive, n_negative, n_unlabelled : int
        Rows fitted on that were labelled so; rows that were left out do not count.
    prior : float
        The share of positives among the rows without a label.
    estimate : tuple of float
        The estimate before it was clipped, and its standard error; empty where the prior was given.
    doubtful : bool, default=False
        Whether the estimate was clipped, or within two standard errors of 1.
    """

    tag: ClassVar[str] = "weak labels"
    n_positive: int
    n_negative: int
    n_unlabelled: int
    prior: float
    estimate: tuple[float, ...] = ()
    doubtful: bool = False

    def __post_init__(self) -> None:
        check(0.0 < self.prior < 1.0, "a class prior is no share")
        check(len(self.estimate) in (0, 2), "an estimate is no number with its error")

    def told(self, names: Any, vote: Vote) -> list[str]:
        """Return what `describe` adds to the vote in words."""
        parts = [
            f"{self.n_positive} rows labelled positive",
            f"{self.n_unlabelled} without a label",
        ]
        if self.n_negative:
            parts.insert(1, f"{self.n_negative} recorded negative")
        listed = f"{', '.join(parts[:-1])} and {parts[-1]}"
        source = "given"
        if self.estimate:
            source = f"estimated: {self.estimate[0]:.3g} +- {self.estimate[1]:.2g}"
            source += ", doubtful: give it if it is known" if self.doubtful else ""
        return [f"Fitted on {listed}; class prior {fixed(self.prior, 3)} ({source})."]


_KNOTS, _LEAST_SHARE = 128, 1e-6  # of a map of probabilities, and the least but 0
_PRIOR_TASK, FIT_TASK = 2, 3


class Fitted(NamedTuple):
    """A voter, the objective it reached (None: not known), and the iterations that took."""

    voters: Voters
    objective: float | None = None
    n_iter: int = 1


def fitted_by(rows: WeakRows, risk: Any) -> Fitted:
    """Return the voter that has the least risk, by whatever learner the model names."""
    m = rows.model
    if m.estimator is None:
        learner = rows.learner()
        starts = learner.starts(risk, m.n_starts)
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


def _weighted(rows: WeakRows, risk: WeightedRisk) -> Fitted:
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
    model = fit_all(data, [MemberTask(rows.model.estimator, (FIT_TASK,), kept)])[0]
    return Fitted(voters_of([model], data))


def ordinary(rows: WeakRows) -> Fitted:
    """Return the fit of the ordinary risk of the labelled rows."""
    return fitted_by(rows, supervised_risk(rows.codes, rows.loss, rows.weight))


def prior_of(rows: WeakRows) -> WeakLabels:
    """Return the prior that is given, or estimated from positive and unlabelled rows."""
    if not isinstance(rows.model.prior, str):
        return labels_told(rows, rows.model.prior)
    return labels_told(rows, estimated(rows))


def labels_told(rows: WeakRows, prior: Any) -> WeakLabels:
    """Return what is kept of labels, and of a prior or its estimate."""
    n = (rows.counts[1], 0 if rows.ignored else rows.counts[0], rows.counts[-1])
    if not isinstance(prior, ElkanNotoPrior):
        return WeakLabels(*n, float(prior))
    estimate = (float(prior.raw_), float(prior.error_))
    return WeakLabels(*n, float(prior.prior_), estimate, bool(prior.doubtful_))


def estimated(rows: WeakRows) -> ElkanNotoPrior:
    """Return Elkan and Noto's estimate on the inputs, or on other features.

    By another classifier, on the table's numbers, categories as columns of 0 and 1.
    """
    known, open_ = np.flatnonzero(rows.codes == 1), np.flatnonzero(rows.codes == -1)
    both = np.concatenate([known, open_])
    groups = None if rows.data.groups is None else rows.data.groups[both]
    seed = rows.context.integer(_PRIOR_TASK)
    own = ElkanNotoPrior(rows.model.estimator, random_state=seed)
    weights = (rows.weight[known], rows.weight[open_])
    features = rows.features if rows.model.estimator is None else rows.numbers
    return own.fit(features[known], features[open_], weights, groups)


def one_vote(rows: WeakRows, voters: Voters, calibration: Any = None) -> Vote:
    """Return the vote of one voter, or the mean of several, with a map of its probabilities."""
    weights = Constant(voters.n_features, np.ones(voters.n_voters))
    readout = Readout("normalised", "share", calibration=calibration)
    return Vote(voters, weights, readout, rows.data.target)


def told_vote(
    rows: WeakRows,
    found: Fitted,
    told: WeakLabels | None = None,
    calibration: Any = None,
    **own: Any,
) -> FittedVote:
    """Return the vote of a fit, and what the estimator keeps beside it."""
    kept = {"prior_": told and told.prior, "labels_": told, **own}
    kept |= {"objective_": found.objective, "n_iter_": found.n_iter}
    return one_vote(rows, found.voters, calibration), kept


def odds_map(rows: WeakRows, factor: float) -> Isotonic:
    """Return the map of q = P(labelled | x) to ``min(1, factor q / (1 - q))``.

    In pieces between probabilities that grow by the same factor (1.11), and 1/2, where the answer
    changes: of any prior a probability is wrong by less than a 300th of itself.
    """
    told = np.union1d(np.geomspace(_LEAST_SHARE, 1.0, _KNOTS), [0.0, 0.5])
    points: Floats = np.append(told / (told + factor), 1.0)
    points = np.round(points, 15).astype(np.float64)  # 1 less a point is another, too
    given, first = np.unique(points, return_index=True)
    told = np.append(told, 1.0)[first]
    told[-1] = 1.0
    return _both(rows, given, told)


def _both(rows: WeakRows, given: Floats, told: Floats) -> Isotonic:
    """Return a map of the positive class's probability as one of both classes."""
    other = ((1.0 - given)[::-1].copy(), (1.0 - told)[::-1].copy())
    pairs = [other, (given, told)] if rows.positive == 1 else [(given, told), other]
    return Isotonic(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs), fixed=True)
