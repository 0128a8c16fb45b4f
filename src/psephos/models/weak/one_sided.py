"""Learning from labels with one-sided noise: negative ones may be wrong."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._types import Floats, Indices
from psephos.base import Anatomy
from psephos.estimator.contender import Contender
from psephos.estimator.input import VoteFit
from psephos.estimator.params import Accepts, Constraint, Options, is_estimator
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.weak.fitting import fitted_by, fitted_vote, prior_of
from psephos.models.weak.learner import WeakRows, importance, nnpu_scores, refuse_no_negative
from psephos.models.weak.settings import WeakLearner, anatomy, weak_contender
from psephos.supervision import one_sided_risk

PSEUDO_LABELS = Options(("prior", "sign"))
DENSITY_RATIO = Accepts(
    lambda value: value in ("ulsif", "kliep") if isinstance(value, str) else is_estimator(value),
    "'ulsif', 'kliep' or such an estimator of psephos.supervision, an instance",
)


@parameters
class OneSidedNoiseClassifier(WeakLearner):
    """A binary classifier for labels whose positives are right and whose negatives may be wrong.

    Use it for records in which a recorded finding is true but a finding may have been missed,
    together with many cases without any record. The weights of rows are

    - sigma+ = 1 / P(recorded + | x, positive), at least 1, for a recorded positive,
    - sigma- = P(negative | x, recorded -), from 0 to 1, for a recorded negative.

    The mean of ``sigma(x) l(y g(x))`` over the labelled rows is the risk of the true labels. The
    weights are density ratios. Their denominators are the recorded positives or negatives. Their
    numerators are the unlabelled rows that a non-negative positive-unlabelled fit predicts positive
    (a share `prior` of them) or negative.

    Parameters
    ----------
    estimator : classifier
        None: a score that is linear in the inputs, or in kernels. Otherwise any classifier that
        accepts `sample_weight`: it is fitted, with its own loss, to the weighted rows.
    density_ratio : {'ulsif', 'kliep'} or estimator
        `psephos.supervision.ULSIF` or `KLIEP` with default parameters, or an instance of one.
    pseudo_labels : {'prior', 'sign'}
        Which unlabelled rows count as positive in the numerators. prior: those with the greatest
        scores, a share `prior`. sign: as in the source, those with a score above 0 (or as with
        'prior', if these are all rows or none).

    Attributes
    ----------
    weights_ : ndarray of shape (2, 3) or None
        The minimum, mean and maximum of sigma for recorded negatives (first row) and positives.

    Raises
    ------
    PsephosError
        In fit: if there are unlabelled rows but no recorded negative, or the prior cannot be
        estimated.

    Notes
    -----
    Two classes only. Labelled and unlabelled rows must be from the same population. Without an
    unlabelled row the ordinary risk is fitted, with a `WeakLabelsWarning`; a given `prior` is then
    an error. The prior affects only the weights, through the rows that count as positive.

    A probability is ``1 / (1 + exp(-g))``. With the logistic loss it estimates P(y | x) for the
    share of positives that the weights imply; with the sigmoid and ramp losses it is only an
    increasing function of the score that is 1/2 at 0.

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
    contender: ClassVar[Contender] = weak_contender("one-sided-noise", both_recorded=True)
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "density_ratio": DENSITY_RATIO,
        "pseudo_labels": PSEUDO_LABELS,
    }
    extras: ClassVar[tuple[str, ...]] = ("prior_", "labels_", "weights_", "objective_", "n_iter_")

    _: KW_ONLY
    density_ratio: Any = "ulsif"
    pseudo_labels: str = "prior"
    weights_: Floats | None = fitted()

    def _fit_rows(self, rows: WeakRows) -> VoteFit:
        refuse_no_negative(rows, "one-sided noise")
        labels = prior_of(rows)
        sigma = importance(rows, labels.prior, nnpu_scores(rows, labels.prior))
        found = fitted_by(rows, one_sided_risk(rows.codes, sigma, rows.loss, rows.weight))
        return fitted_vote(rows, found, labels, weights_=sigma_range(rows.codes, sigma))


def sigma_range(codes: Indices, sigma: Floats) -> Floats:
    """Return the minimum, mean and maximum weight of recorded negatives and positives."""
    parts = [sigma[codes == code] for code in (0, 1)]
    return np.array([[part.min(), part.mean(), part.max()] for part in parts])
