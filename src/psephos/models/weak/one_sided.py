"""Learning from labels of which the negative ones may be wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._input import Context, Table
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.contender import Contender
from psephos.models.weak.fitting import fitted_by, one_vote, ordinary, prior_of
from psephos.models.weak.rows import read_rows
from psephos.models.weak.sensitivity import PriorSensitivity
from psephos.models.weak.settings import DRAWN, SHARED, anatomy, compared
from psephos.models.weak.told import WeakLabels
from psephos.models.weak.weighing import importance, nnpu_scores, refuse_no_negative
from psephos.params import Constraint
from psephos.supervision import one_sided_risk
from psephos.vote import Vote

__all__ = ["DensityRatio", "OneSidedNoiseClassifier"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DensityRatio:
    """'ulsif', 'kliep', or an estimator of density ratios."""

    def allows(self, value: Any) -> bool:
        """Return whether the value estimates ratios."""
        if isinstance(value, str):
            return value in ("ulsif", "kliep")
        made = all(hasattr(value, method) for method in ("fit", "predict", "get_params"))
        return made and not isinstance(value, type)

    def words(self) -> str:
        """Return what is allowed."""
        return "'ulsif', 'kliep' or such an estimator of psephos.supervision, an instance"


class OneSidedNoiseClassifier(PriorSensitivity, VoteClassifier):
    """A classifier of two classes where a recorded positive is right and a negative may be wrong.

    Use it for records in which a finding that stands is true and one that does not stand may have
    been missed, beside many cases without any record. With the weights of a row

    - sigma+ = 1 / P(recorded + | x, positive), at least 1, of a recorded positive,
    - sigma- = P(negative | x, recorded -), from 0 to 1, of a recorded negative,

    the mean of ``sigma(x) l(y g(x))`` over the labelled rows is the risk of the true labels. The
    weights are ratios of densities. Their numerators are unlabelled rows, called positive or
    negative by a non-negative positive-unlabelled fit, a share `prior` of them positive; their
    denominators are the rows recorded so.

    Parameters
    ----------
    estimator : classifier, default=None
        None: a score that is linear in the inputs, or in kernels. Else any classifier that takes
        `sample_weight`: it is given the weights, and brings its own loss.
    density_ratio : {'ulsif', 'kliep'} or estimator, default='ulsif'
        `psephos.supervision.ULSIF` or `KLIEP` with their defaults, or one with others.
    loss : {'sigmoid', 'logistic', 'ramp'}, default='sigmoid'
        See `psephos.supervision.MarginLoss`; no weight is negative, so that any serves.
    prior : float or 'elkan-noto', default='elkan-noto'
        The share of positives among the unlabelled rows; the estimate is that of
        `psephos.supervision.ElkanNotoPrior`, too large by far on tables with more columns than
        rows: give the prior there. `prior_sensitivity` shows what .1 more or less changes.
    kernel : {'linear', 'rbf'}, default='linear'
    alpha : float, default=0.01
        Penalty of the score's weights (of kernels, of their norm); the intercept is free.
    scaling : {'auto', 'standard', 'rank'}, default='auto'
        As in `PUClassifier`.
    classes : list of two labels, default=None
    pos_label : label, default=None
        The class whose labels are sure; None: the second.
    unlabeled : label, default=None
        What stands in y where there is no label, besides None and NaN.
    sigma : float, default=None
        Width of the kernels of the score; None: the median distance of rows to their centres.
    n_components : int, default=100
        Most kernels of the score.
    n_starts : int, default=3
        Searches (L-BFGS) of a risk that is not convex, from 0 and from points ever further down its
        slope there; the best is taken.
    max_iter, learning_rate : int, float, default=400, 0.1
        Of the positive-unlabelled fit, as in `PUClassifier`.
    categorical_features : 'from_dtype', list, mask or None, default='from_dtype'
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    vote_ : Vote
    prior_ : float or None
        The prior used; None where every row had a label.
    labels_ : WeakLabels or None
        How many rows were of each kind, and whether the prior was given or estimated, and how well;
        ``print(model)`` says it.
    weights_ : ndarray of shape (2, 3) or None
        The least, mean and greatest sigma of recorded negatives (first row) and positives.
    objective_ : float or None
        Risk and penalty at the end; None of another classifier.
    n_iter_ : int
        Iterations of the search; 1 of another classifier.
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if X had column names.
    n_features_used_ : int
    features_used_ : ndarray
    feature_importances_ : ndarray of shape (n_features,)

    Raises
    ------
    PsephosError
        In fit: if no row is recorded negative beside unlabelled ones, or no prior can be estimated.

    Notes
    -----
    Two classes only. The labelled and the unlabelled rows are drawn from the same cases. Without an
    unlabelled row every weight is 1, and the fit that of the ordinary risk. The prior enters the
    weights alone, through the rows that count as positive.

    A probability is ``1 / (1 + exp(-g))``: of the logistic loss an estimate of P(y | x) with the
    share of positives that the weights imply, of the sigmoid and the ramp loss a map of the score
    that rises and is 1/2 at 0.

    References
    ----------
    Zhang, Zhao, Jiang & Zhou (2019), "Learning from incomplete and inaccurate supervision", KDD.
    Sugiyama, Suzuki & Kanamori (2012), "Density-ratio matching under the Bregman divergence",
    AISM 64.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import OneSidedNoiseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rng = np.random.default_rng(0)
    >>> recorded = np.where((y == 1) & (rng.random(len(y)) < 0.4), 0.0, y)  # some are missed
    >>> recorded[rng.random(len(y)) < 0.6] = np.nan
    >>> model = OneSidedNoiseClassifier(prior=0.63, random_state=0).fit(X, recorded)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    anatomy: ClassVar[Anatomy] = anatomy("least risk of weighted labels")
    contender: ClassVar[Contender] = Contender(
        "one-sided-noise", "weak labels",
        {"quick": DRAWN},
        settings=compared, grouped=True, two_classes=True, partial_labels=True,
        both_recorded=True, small={"random_state": 0},
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {**SHARED, "density_ratio": DensityRatio()}
    extras: ClassVar[tuple[str, ...]] = ("prior_", "labels_", "weights_", "objective_", "n_iter_")
    partial_labels: ClassVar[bool] = True
    one_class: ClassVar[bool] = True
    binary_only: ClassVar[bool] = True
    prior_: float | None
    labels_: WeakLabels | None
    weights_: _Floats | None
    objective_: float | None
    n_iter_: int

    def __init__(
        self,
        estimator: Any = None,
        *,
        density_ratio: Any = "ulsif",
        loss: str = "sigmoid",
        prior: Any = "elkan-noto",
        kernel: str = "linear",
        alpha: float = 0.01,
        scaling: str = "auto",
        classes: Any = None,
        pos_label: Any = None,
        unlabeled: Any = None,
        sigma: float | None = None,
        n_components: int = 100,
        n_starts: int = 3,
        max_iter: int = 400,
        learning_rate: float = 0.1,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.density_ratio = density_ratio
        self.loss = loss
        self.prior = prior
        self.kernel = kernel
        self.alpha = alpha
        self.scaling = scaling
        self.classes = classes
        self.pos_label = pos_label
        self.unlabeled = unlabeled
        self.sigma = sigma
        self.n_components = n_components
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        rows = read_rows(self, table, labels, weight, context)
        extras: dict[str, Any] = dict.fromkeys(self.extras)
        if not (rows.codes == -1).any():
            found = ordinary(rows)
        else:
            refuse_no_negative(rows, "one-sided noise")
            told = prior_of(rows)
            sigma = importance(rows, told.prior, nnpu_scores(rows, told.prior))
            found = fitted_by(rows, one_sided_risk(rows.codes, sigma, rows.loss, rows.weight))
            extras |= {"prior_": told.prior, "labels_": told}
            extras["weights_"] = sigma_range(rows.codes, sigma)
        extras |= {"objective_": found.objective, "n_iter_": found.n_iter}
        return one_vote(rows, found.voters), extras


def sigma_range(codes: NDArray[np.intp], sigma: _Floats) -> _Floats:
    """Return the least, mean and greatest weight of recorded negatives and positives."""
    parts = [sigma[codes == code] for code in (0, 1)]
    return np.array([[part.min(), part.mean(), part.max()] for part in parts])
