"""Parameters of the classifiers of weak labels, their fit and its sensitivity to the prior."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from psephos._errors import ConstantAnswerWarning, PsephosError, WeakLabelsWarning, must_be_inside
from psephos._types import Array, Floats, LabelsLike, PerRow, SeedLike, TableLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Choice, Distribution, Shape
from psephos.estimator.input import CategoricalFeatures, Context, FittedVote, Table
from psephos.estimator.params import Anything, Classes, Constraint, Interval, OneOf, Options, Voter
from psephos.estimator.partial import NO_UNLABELED
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.files.names import fixed
from psephos.models.committees.members import MemberTask, fit_all, voters_of
from psephos.models.weak.learner import WeakRows, check_weights, read_rows
from psephos.supervision import LOSSES, ElkanNotoPrior, WeightedRisk, supervised_risk
from psephos.supervision.grids import WIDTH
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
) -> FittedVote:
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


_VOTERS = (
    "ranked voters", "coded voters", "linear voters", "kernel voters", "nested voters",
    "joined voters", "tree voters", "naive Bayes voters", "foreign voters",
)  # fmt: skip


#: Distributions from which a comparison draws parameters.
DRAWN: Mapping[str, Distribution] = {
    "alpha": Choice((0.0001, 0.001, 0.01)),
    "kernel": Choice(("linear", "rbf")),
    "scaling": Choice(("standard", "rank")),
}


def anatomy(found_by: str) -> Anatomy:
    """Return the anatomy of a vote of one score."""
    return Anatomy(_VOTERS, "constant", "normalised", found_by)


def compared(params: Mapping[str, Any], shape: Shape, seed: int) -> dict[str, Any]:
    """Return the parameters in a comparison, whose classes are codes."""
    own = {"classes": [0, 1], "pos_label": shape.positive}
    given = {} if shape.prior is None else {"prior": shape.prior}
    return {**params, **own, **given, **({"scaling": "rank"} if shape.missing else {})}


class PriorSensitivity:
    """Mixin of classifiers with a class prior: `prior_sensitivity`."""

    prior_: float | None

    def prior_sensitivity(
        self,
        X: TableLike,
        y: LabelsLike,
        sample_weight: PerRow = None,
        groups: Array | None = None,
        *,
        shift: float = 0.1,
    ) -> list[dict[str, float]]:
        """Return how predictions change if the class prior is lower or higher by `shift`.

        The model is fitted again with these priors (within [.01, .99], unless the prior used is
        outside) and the same seed, so that only the prior differs. If `random_state` is not an
        integer, the model is fitted again with the prior used as well.

        Parameters
        ----------
        X, y, sample_weight, groups
            The training rows, as in `fit`.
        shift : float, default=0.1
            Above 0 and below 1.

        Returns
        -------
        rows : list of dict
            For the lower prior, the prior used and the higher one: `prior`, `positive` (the share
            of rows of X predicted positive) and `changed` (the share predicted differently than
            with the prior used).

        Raises
        ------
        PsephosError
            If no prior was used, because every row had a label, or `shift` is out of range.

        Examples
        --------
        >>> import numpy as np
        >>> from psephos import PUClassifier
        >>> X = np.random.default_rng(0).normal(0, 1, (60, 2))
        >>> y = np.where(np.arange(60) < 20, 1.0, np.nan)
        >>> X[:40] += 2
        >>> model = PUClassifier(prior=0.5, random_state=0).fit(X, y)
        >>> [row["prior"] for row in model.prior_sensitivity(X, y)]
        [0.4, 0.5, 0.6]
        """
        own: Any = self
        own._fitted()
        if own.prior_ is None:
            raise PsephosError("the model used no class prior, as every training row had a label.")
        must_be_inside("shift", shift)
        classes = own.classes_.tolist()
        positive = classes[1] if own.pos_label is None else own.pos_label
        seed, used = own.random_state, own.prior_
        again = not isinstance(seed, int | np.integer)
        if again:
            seed = int(check_random_state(seed).randint(2**31 - 1))
        less, more = (round(used + by, 12) for by in (-shift, shift))
        priors = (max(less, min(0.01, used)), used, min(more, max(0.99, used)))

        def predictions(prior: float) -> Any:
            model: Any = clone(own)
            model.set_params(prior=prior, random_state=seed)
            with warnings.catch_warnings():  # `positive` is then 0 or 1
                warnings.simplefilter("ignore", ConstantAnswerWarning)
                return model.fit(X, y, sample_weight, groups=groups).predict(X)

        base = predictions(used) if again else own.predict(X)
        each = [base if prior == used else predictions(prior) for prior in priors]
        return [
            {
                "prior": prior,
                "positive": float(np.mean(other == positive)),
                "changed": float(np.mean(other != base)),
            }
            for prior, other in zip(priors, each, strict=True)
        ]


@parameters
class WeakLearner(PriorSensitivity, VoteClassifier):
    """Base class of binary classifiers that use rows without a label, and a class prior.

    Parameters
    ----------
    loss : {'sigmoid', 'logistic', 'ramp'}
        See `psephos.supervision.MarginLoss`.
    prior : float or 'elkan-noto'
        The share of positives among the unlabelled rows, or its estimate by
        `psephos.supervision.ElkanNotoPrior`. The estimate is too large if the classes overlap, and
        far too large on tables with more columns than rows: give the prior there.
        `prior_sensitivity` shows the effect of a prior .1 lower or higher.
    kernel : {'linear', 'rbf'}
        Whether the score is linear in the inputs, or in Gaussian kernels of them.
    alpha : float
        Penalty of the score's squared weights (for kernels, of its squared norm); the intercept is
        not penalised.
    scaling : {'auto', 'standard', 'rank'}
        standard: columns are centred and divided by their standard deviation; missing values are an
        error. rank: inputs are normal scores of the columns' ranks, in which a missing value is the
        median. auto: rank if a training value is missing, else standard (missing values at
        prediction are then an error).
    classes : list of two labels
        Needed if only one class has labelled rows and its label is not 1 or True.
    pos_label : label
        The class whose labels are right; None: the second.
    unlabeled : label
        The value of y for rows without a label, besides None and NaN.
    sigma : float
        Width of the kernels of the score; None: the median distance of rows to their centres.
    n_components : int
        Maximum number of kernels of the score, centred on rows drawn at random.
    n_starts : int
        Searches (L-BFGS) of a risk that is not convex, from 0 and from points along the negative
        gradient there; the best is used.
    max_iter, learning_rate : int, float
        Full-batch steps of Adam on the non-negative risk. If the absolute inputs of a row sum to
        more than 30 on average (about 36 columns), the rate is reduced in proportion.
    categorical_features : 'from_dtype', list, mask or None
        As in HistGradientBoostingClassifier; a 0/1 column per category, or one for two categories.

    Attributes
    ----------
    prior_ : float or None
        The prior used; None if every row had a label.
    labels_ : WeakLabels or None
        The number of rows of each kind, and the prior, given or estimated, with its standard error;
        shown by ``print(model)``.
    objective_ : float or None
        Final risk plus penalty; None with `estimator`.
    n_iter_ : int
        Iterations of the optimiser; 1 with `estimator`.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "estimator": Voter(),
        "kernel": Options(("linear", "rbf")),
        "loss": Options(LOSSES),
        "prior": OneOf((Options(("elkan-noto",)), Interval(0, 1, open_low=True, open_high=True))),
        "alpha": Interval(0),
        "scaling": Options(("auto", "standard", "rank")),
        "classes": Classes(),
        "pos_label": Anything(),
        "unlabeled": Anything(),
        "sigma": OneOf((WIDTH,), none=True),
        "n_starts": Interval(1, whole=True),
    }
    partial_labels: ClassVar[bool] = True
    one_class: ClassVar[bool] = True
    binary_only: ClassVar[bool] = True

    estimator: Any = None
    _: KW_ONLY
    loss: str = "sigmoid"
    prior: Any = "elkan-noto"
    kernel: str = "linear"
    alpha: float = 0.01
    scaling: str = "auto"
    classes: Any = None
    pos_label: Any = None
    unlabeled: Any = None
    sigma: float | None = None
    n_components: int = 100
    n_starts: int = 3
    max_iter: int = 400
    learning_rate: float = 0.1
    categorical_features: CategoricalFeatures = "from_dtype"
    random_state: SeedLike = None
    prior_: float | None = fitted()
    labels_: WeakLabels | None = fitted()
    objective_: float | None = fitted()
    n_iter_: int = fitted()

    def _read_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow
    ) -> tuple[Labels, Floats]:
        labels, weight = super()._read_labels(X, y, sample_weight)
        check_weights(self, labels, weight)
        return labels, weight

    def _fit_vote(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> FittedVote:
        rows = read_rows(self, table, labels, weight, context)
        if (rows.codes == -1).any():
            vote, own = self._fit_rows(rows)
        else:
            self._warn_no_unlabelled()
            vote, own = fitted_vote(rows, ordinary(rows), **dict.fromkeys(self.extras))
        predicted = np.unique(vote.answers(rows.data.X)).tolist()
        if len(predicted) == 1:
            warnings.warn(
                f"{type(self).__name__} predicts {predicted[0]!r} for all {len(labels.y)} training "
                "rows: check the labels, the class prior and alpha.",
                ConstantAnswerWarning,
                stacklevel=4,
            )
        return vote, own

    def _fit_rows(self, rows: WeakRows) -> FittedVote:
        """Return the vote and extras if there are unlabelled rows; defined by subclasses."""
        raise NotImplementedError

    def _warn_no_unlabelled(self) -> None:
        """Warn that every row has a label; raise PsephosError if a prior was given all the same."""
        name = type(self).__name__
        if not isinstance(self.prior, str):
            raise PsephosError(
                f"prior={self.prior:g} is the share of positives among the rows without a label, "
                f"and {NO_UNLABELED}; for an ordinary fit omit the prior."
            )
        warnings.warn(
            f"{name}: {NO_UNLABELED}. The model is fitted to the labelled rows as an ordinary "
            "classifier, without a class prior.",
            WeakLabelsWarning,
            stacklevel=5,
        )

    def describe(self) -> list[str]:
        """Return the model as sentences, the last of them about its training labels."""
        words = super().describe()
        return words if self.labels_ else [*words, f"An ordinary fit: {NO_UNLABELED}."]
