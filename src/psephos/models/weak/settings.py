"""Parameters of the classifiers of weak labels, and their sensitivity to the class prior."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from psephos._errors import ConstantAnswerWarning, PsephosError, WeakLabelsWarning, must_be_inside
from psephos._types import Array, Floats, LabelsLike, PerRow, SeedLike, TableLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender, Shape
from psephos.estimator.distributions import Choice, Distribution
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Anything, Classes, Constraint, Interval, OneOf, Options, Voter
from psephos.estimator.partial import NO_UNLABELED
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.weak.fitting import WeakLabels, fitted_vote, ordinary
from psephos.models.weak.learner import WeakRows, check_weights, read_rows
from psephos.supervision import LOSSES
from psephos.supervision.grids import WIDTH

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


def weak_contender(name: str, drawn: Mapping[str, Distribution] = DRAWN, **more: Any) -> Contender:
    """Return how a model of weak labels takes part in comparisons."""
    plan = {"settings": compared, "small": {"random_state": 0}, **more}
    return Contender(
        name, "weak labels", {"quick": drawn}, grouped=True, two_classes=True, partial_labels=True,
        **plan,
    )  # fmt: skip


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

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
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

    def _fit_rows(self, rows: WeakRows) -> VoteFit:
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
