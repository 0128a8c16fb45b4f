"""The parameters that the three classifiers of weak labels share.

What another class prior would change.
"""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from psephos._errors import ConstantAnswerWarning, PsephosError, WeakLabelsWarning, must_be_inside
from psephos._types import Array, Floats, LabelsLike, PerRow, SeedLike, TableLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Shape
from psephos.estimator.distributions import Choice, Distribution
from psephos.estimator.input import CategoricalFeatures, Context, FittedVote, Table
from psephos.estimator.params import Anything, Classes, Constraint, Interval, OneOf, Options, Voter
from psephos.estimator.partial import NO_UNLABELED
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.weak.fitting import WeakLabels, ordinary, told_vote
from psephos.models.weak.rows import WeakRows, check_weights, read_rows
from psephos.supervision import LOSSES
from psephos.supervision.grids import WIDTH

_VOTERS = (
    "ranked voters", "coded voters", "linear voters", "kernel voters", "nested voters",
    "joined voters", "tree voters", "naive Bayes voters", "foreign voters",
)  # fmt: skip


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
    given = {} if shape.prior is None else {"prior": shape.prior}
    return {**params, **own, **given, **({"scaling": "rank"} if shape.missing else {})}


class PriorSensitivity:
    """What can be asked of a fitted classifier that has used a class prior."""

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
        """Return how answers change if the class prior was less, or more, by `shift`.

        The model is fitted again with these priors (not below .01 or above .99, unless the one used
        is), from the same seed: what changes is the prior's doing. Where `random_state` is no
        number, it is fitted again with the prior used as well.

        Parameters
        ----------
        X, y, sample_weight, groups
            The training rows, as fit was given them.
        shift : float, default=0.1
            Above 0 and below 1.

        Returns
        -------
        rows : list of dict
            Of the prior less, as used, and more: `prior`, `positive` (the share of rows of X
            answered positive) and `changed` (the share answered otherwise than with the prior
            used).

        Raises
        ------
        PsephosError
            If no prior was used, since every row had a label, or `shift` is none.

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
            raise PsephosError("no class prior was used: every row had a label.")
        must_be_inside("shift", shift)
        classes = own.classes_.tolist()
        positive = classes[1] if own.pos_label is None else own.pos_label
        seed, used = own.random_state, own.prior_
        again = not isinstance(seed, int | np.integer)
        if again:
            seed = int(check_random_state(seed).randint(2**31 - 1))
        less, more = (round(used + by, 12) for by in (-shift, shift))
        priors = (max(less, min(0.01, used)), used, min(more, max(0.99, used)))

        def answers(prior: float) -> Any:
            model: Any = clone(own)
            model.set_params(prior=prior, random_state=seed)
            with warnings.catch_warnings():  # `positive` is then 0 or 1
                warnings.simplefilter("ignore", ConstantAnswerWarning)
                return model.fit(X, y, sample_weight, groups=groups).predict(X)

        said = answers(used) if again else own.predict(X)
        each = [said if prior == used else answers(prior) for prior in priors]
        return [
            {
                "prior": prior,
                "positive": float(np.mean(other == positive)),
                "changed": float(np.mean(other != said)),
            }
            for prior, other in zip(priors, each, strict=True)
        ]


@parameters
class WeakLearner(PriorSensitivity, VoteClassifier):
    """A classifier of two classes that uses rows without a label, and a class prior.

    Parameters
    ----------
    loss : {'sigmoid', 'logistic', 'ramp'}
        See `psephos.supervision.MarginLoss`.
    prior : float or 'elkan-noto'
        The share of positives among the unlabelled rows; the estimate is that of
        `psephos.supervision.ElkanNotoPrior`, which is too large where the classes overlap, and by
        far on tables with more columns than rows: give the prior there. `prior_sensitivity` shows
        what .1 more or less changes.
    kernel : {'linear', 'rbf'}
        What the score is linear in: the inputs, or Gaussian kernels of them.
    alpha : float
        Penalty of the score's weights (of kernels, of their norm); the intercept is free.
    scaling : {'auto', 'standard', 'rank'}
        standard: columns are centred and divided by their standard deviation; no value may be
        missing. rank: inputs are normal scores of the columns' ranks, in which a missing value is
        the median. auto: rank if a value of the training rows is missing, else standard (cases to
        be answered may then lack none).
    classes : list of two labels
        Needed where one class alone has rows with a label and that is not 1 or True.
    pos_label : label
        The class whose labels are sure; None: the second.
    unlabeled : label
        What stands in y where there is no label, besides None and NaN.
    sigma : float
        Width of the kernels of the score; None: the median distance of rows to their centres.
    n_components : int
        Most kernels of the score, centred on rows drawn from all.
    n_starts : int
        Searches (L-BFGS) of a risk that is not convex, from 0 and from points ever further down its
        slope there; the best is taken.
    max_iter, learning_rate : int, float
        Steps of Adam on the non-negative risk, all rows at once. Where the sizes of a row's inputs
        add up to more than 30 on average (about 40 columns), the rate is less in that proportion.
    categorical_features : 'from_dtype', list, mask or None
        As in HistGradientBoostingClassifier: each is a 0/1 column, of two the second alone.

    Attributes
    ----------
    prior_ : float or None
        The prior used; None where every row had a label.
    labels_ : WeakLabels or None
        How many rows were of each kind, and whether the prior was given or estimated, and how well;
        ``print(model)`` says it.
    objective_ : float or None
        Risk and penalty at the end; None of another classifier.
    n_iter_ : int
        Iterations of the search; 1 of another classifier.
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
            self._say_no_unlabelled()
            vote, own = told_vote(rows, ordinary(rows), **dict.fromkeys(self.extras))
        answers = np.unique(vote.answers(rows.data.X)).tolist()
        if len(answers) == 1:
            warnings.warn(
                f"{type(self).__name__} predicts {answers[0]!r} for all {len(labels.y)} training "
                "rows: see whether the labels, the class prior and alpha fit the table.",
                ConstantAnswerWarning,
                stacklevel=4,
            )
        return vote, own

    def _fit_rows(self, rows: WeakRows) -> FittedVote:
        """Return the vote and extras where rows lack a label: a recipe writes this method."""
        raise NotImplementedError

    def _say_no_unlabelled(self) -> None:
        """Warn that no row lacks a label; raise PsephosError if a prior was given all the same."""
        name = type(self).__name__
        if not isinstance(self.prior, str):
            raise PsephosError(
                f"prior={self.prior:g} is the share of positives among the rows without a label, "
                f"and {NO_UNLABELED}; for an ordinary fit leave the prior out."
            )
        warnings.warn(
            f"{name}: {NO_UNLABELED}. The fit is the ordinary one of labelled rows, without a "
            "class prior.",
            WeakLabelsWarning,
            stacklevel=5,
        )

    def describe(self) -> list[str]:
        """Return the model as sentences, the last of them on the labels it was fitted on."""
        words = super().describe()
        return words if self.labels_ else [*words, f"An ordinary fit: {NO_UNLABELED}."]
