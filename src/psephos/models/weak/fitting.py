"""Minimisation of a risk by any learner, the class prior, and the vote with its calibration."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.estimator.input import VoteFit
from psephos.files.names import fixed
from psephos.models.committees.fitting import MemberTask, fit_all, voters_of
from psephos.models.weak.learner import WeakRows
from psephos.supervision import ElkanNotoPrior, WeightedRisk, supervised_risk
from psephos.vote import Constant, Readout, Vote, Voters
from psephos.vote.calibration import Isotonic
from psephos.vote.codec import register
from psephos.vote.part import check


@register
@dataclass(frozen=True)
class WeakLabels:
    """Numbers of rows of each kind, and the class prior of a fit.

    Parameters
    ----------
    n_positive, n_negative, n_unlabelled : int
        Rows of each kind that were fitted on, without those left out or of weight 0.
    prior : float
        The share of positives among the rows without a label.
    estimate : tuple of float
        The estimate before it was clipped, and its standard error; empty if the prior was given.
    doubtful : bool, default=False
        Whether the estimate was clipped, or is above 1 less two standard errors.
    """

    tag: ClassVar[str] = "weak labels"
    n_positive: int
    n_negative: int
    n_unlabelled: int
    prior: float
    estimate: tuple[float, ...] = ()
    doubtful: bool = False

    def __post_init__(self) -> None:
        check(0.0 < self.prior < 1.0, "the class prior must lie between 0 and 1")
        check(len(self.estimate) in (0, 2), "an estimate must be a number and its error")

    def summary(self, names: Any, vote: Vote) -> list[str]:
        """Return the sentences that `describe` adds."""
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


_KNOTS, _LEAST_SHARE = 128, 1e-6  # of a map of probabilities, and its smallest knot above 0
_PRIOR_TASK, FIT_TASK = 2, 3


class Fitted(NamedTuple):
    """A voter, its objective (None: unknown), and the number of iterations."""

    voters: Voters
    objective: float | None = None
    n_iter: int = 1


def fitted_by(rows: WeakRows, risk: Any) -> Fitted:
    """Return the voter that minimises a risk, by the model's own score or its `estimator`."""
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
            f"the non-negative risk needs gradients, and {type(m.estimator).__name__} is fitted to "
            "weighted rows: use risk='unbiased', or estimator=None."
        )
    return _weighted(rows, risk)


def _weighted(rows: WeakRows, risk: WeightedRisk) -> Fitted:
    """Return a classifier fitted on rows with the weights of the risk."""
    up, down = risk.weights
    both = np.flatnonzero((up > 0) & (down > 0))
    assert not len(both), "a row counts as both"
    weight, kept = up + down, np.flatnonzero(up + down > 0)
    weight = weight * (len(kept) / weight.sum())
    y = np.where(up > 0, rows.positive, 1 - rows.positive).astype(np.intp)
    if len(np.unique(y[kept])) < 2:
        raise PsephosError("rows with weight above 0 must be of two classes; got one class.")
    data = replace(rows.data, y=y, weight=weight)
    if np.ptp(weight[kept]) <= 1e-12:
        data = replace(data, weight=None)
    model = fit_all(data, [MemberTask(rows.model.estimator, (FIT_TASK,), kept)])[0]
    return Fitted(voters_of([model], data))


def ordinary(rows: WeakRows) -> Fitted:
    """Return the fit of the ordinary supervised risk of the labelled rows."""
    return fitted_by(rows, supervised_risk(rows.codes, rows.loss, rows.weight))


def prior_of(rows: WeakRows) -> WeakLabels:
    """Return the counts of rows and the prior, given or estimated from positive and unlabelled."""
    n = (rows.counts[1], 0 if rows.ignored else rows.counts[0], rows.counts[-1])
    if not isinstance(rows.model.prior, str):
        return WeakLabels(*n, float(rows.model.prior))
    found = _estimated(rows)
    estimate = (float(found.raw_), float(found.error_))
    return WeakLabels(*n, float(found.prior_), estimate, bool(found.doubtful_))


def _estimated(rows: WeakRows) -> ElkanNotoPrior:
    """Return Elkan and Noto's estimate.

    It reads the inputs; with `estimator`, the table's numbers and 0/1 columns of categories.
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
    """Return the vote of one voter, or the mean of several, with a calibration."""
    weights = Constant(voters.n_features, np.ones(voters.n_voters))
    readout = Readout("normalised", "share", calibration=calibration)
    return Vote(voters, weights, readout, rows.data.target)


def fitted_vote(
    rows: WeakRows,
    found: Fitted,
    labels: WeakLabels | None = None,
    calibration: Any = None,
    **own: Any,
) -> VoteFit:
    """Return the vote of a fit, and its fitted attributes."""
    kept = {"prior_": labels and labels.prior, "labels_": labels, **own}
    kept |= {"objective_": found.objective, "n_iter_": found.n_iter}
    return one_vote(rows, found.voters, calibration), kept


def odds_map(rows: WeakRows, factor: float) -> Isotonic:
    """Return the map of q = P(labelled | x) to ``min(1, factor q / (1 - q))``.

    It is linear between knots at probabilities in geometric steps (factor 1.11) and at 1/2, where
    the prediction changes. The relative error of a probability is below 1/300 for any prior.
    """
    mapped = np.union1d(np.geomspace(_LEAST_SHARE, 1.0, _KNOTS), [0.0, 0.5])
    points: Floats = np.append(mapped / (mapped + factor), 1.0)
    points = np.round(points, 15).astype(np.float64)  # so that 1 less a knot is a knot, too
    given, first = np.unique(points, return_index=True)
    mapped = np.append(mapped, 1.0)[first]
    mapped[-1] = 1.0
    other = ((1.0 - given)[::-1].copy(), (1.0 - mapped)[::-1].copy())
    pairs = [other, (given, mapped)] if rows.positive == 1 else [(given, mapped), other]
    return Isotonic(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs), fixed=True)
