"""Learning from labels of which the negative ones may be wrong."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._types import Floats, Indices
from psephos.base import Anatomy
from psephos.estimator.contender import Contender
from psephos.estimator.input import FittedVote
from psephos.estimator.params import Accepts, Constraint, Options, is_estimator
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.weak.fitting import fitted_by, prior_of, told_vote
from psephos.models.weak.rows import WeakRows
from psephos.models.weak.settings import DRAWN, WeakLearner, anatomy, compared
from psephos.models.weak.weighing import importance, nnpu_scores, refuse_no_negative
from psephos.supervision import one_sided_risk

PSEUDO_LABELS = Options(("prior", "sign"))
DENSITY_RATIO = Accepts(
    lambda value: value in ("ulsif", "kliep") if isinstance(value, str) else is_estimator(value),
    "'ulsif', 'kliep' or such an estimator of psephos.supervision, an instance",
)


@parameters
class OneSidedNoiseClassifier(WeakLearner):
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
    estimator : classifier
        None: a score that is linear in the inputs, or in kernels. Else any classifier that takes
        `sample_weight`: it is given the weights, and brings its own loss.
    density_ratio : {'ulsif', 'kliep'} or estimator
        `psephos.supervision.ULSIF` or `KLIEP` with their defaults, or one with others.
    pseudo_labels : {'prior', 'sign'}
        Which unlabelled rows count as positive in the numerators: those of greatest score, as many
        as `prior` expects, or, as in the source, those of a score above 0 (where these are all or
        none, as many as `prior` expects).

    Attributes
    ----------
    weights_ : ndarray of shape (2, 3) or None
        The least, mean and greatest sigma of recorded negatives (first row) and positives.

    Raises
    ------
    PsephosError
        In fit: if no row is recorded negative beside unlabelled ones, or no prior can be estimated.

    Notes
    -----
    Two classes only. The labelled and the unlabelled rows are drawn from the same cases. Without an
    unlabelled row every weight is 1, and the fit that of the ordinary risk, with a
    `WeakLabelsWarning`; a given `prior` is refused. The prior enters the
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
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "density_ratio": DENSITY_RATIO,
        "pseudo_labels": PSEUDO_LABELS,
    }
    extras: ClassVar[tuple[str, ...]] = ("prior_", "labels_", "weights_", "objective_", "n_iter_")

    _: KW_ONLY
    density_ratio: Any = "ulsif"
    pseudo_labels: str = "prior"
    weights_: Floats | None = fitted()

    def _fit_rows(self, rows: WeakRows) -> FittedVote:
        refuse_no_negative(rows, "one-sided noise")
        told = prior_of(rows)
        sigma = importance(rows, told.prior, nnpu_scores(rows, told.prior))
        found = fitted_by(rows, one_sided_risk(rows.codes, sigma, rows.loss, rows.weight))
        return told_vote(rows, found, told, weights_=sigma_range(rows.codes, sigma))


def sigma_range(codes: Indices, sigma: Floats) -> Floats:
    """Return the least, mean and greatest weight of recorded negatives and positives."""
    parts = [sigma[codes == code] for code in (0, 1)]
    return np.array([[part.min(), part.mean(), part.max()] for part in parts])
