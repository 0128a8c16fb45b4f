"""LIoIS: learning from incomplete and one-sided inaccurate supervision."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.special import logit

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.base import Anatomy
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice
from psephos.estimator.input import VoteFit
from psephos.estimator.params import Constraint, Interval, OneOf, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.training import make_splits
from psephos.models.weak.fitting import fitted_by, fitted_vote, one_vote, prior_of
from psephos.models.weak.learner import WeakRows, importance, nnpu_scores, refuse_no_negative
from psephos.models.weak.one_sided import DENSITY_RATIO, PSEUDO_LABELS, sigma_range
from psephos.models.weak.settings import DRAWN, WeakLearner, anatomy, weak_contender
from psephos.supervision import WeightedRisk, non_negative_pu_risk, one_sided_risk, pu_risk
from psephos.supervision.risks import MarginLoss

_GAMMAS = (0.0, 0.25, 0.5, 0.75, 1.0)
_FOLDS_TASK = 5


@parameters
class LIoISClassifier(WeakLearner):
    """A classifier for few labels, of which negative ones may be wrong, and many unlabelled rows.

    Use it if recorded positives are right, some recorded negatives are positives that were missed,
    and most cases have no record. It minimises a weighted sum of two risks::

        gamma R_PU + (1 - gamma) R_oIS

    R_PU is the risk of positive and unlabelled rows (`PUClassifier`), without the recorded
    negatives. R_oIS is the risk of the labelled rows, weighted by the probability that each record
    is right (`OneSidedNoiseClassifier`).

    With a known class prior it is only slightly better than either part; with a wrong estimate of
    the prior it loses less than R_PU.

    Parameters
    ----------
    estimator : classifier
        None: a score that is linear in the inputs, or in kernels. Otherwise any classifier that
        accepts `sample_weight`, if l(m) + l(-m) = 1 for the loss: it is fitted, with its own loss,
        to rows weighted by both risks.
    gamma : float or 'cv'
        The share of R_PU, from 0 to 1. 'cv': the one of 0, .25, .5, .75 and 1 with the smallest
        R_PU (sigmoid loss) on held-out rows.
    risk : {'unbiased', 'non-negative'}
        R_PU: the unbiased risk, as in the source, or the non-negative one, for scores flexible
        enough to fit the unlabelled rows one by one, as on tables with more columns than rows. The
        latter needs gradients, so it cannot be combined with `estimator`.
    n_folds : int
        Folds that choose gamma; at most the number of positive, negative or unlabelled rows.
    density_ratio : {'ulsif', 'kliep'} or estimator
        As in `OneSidedNoiseClassifier`.
    pseudo_labels : {'prior', 'sign'}
        As in `OneSidedNoiseClassifier`.

    Attributes
    ----------
    gamma_ : float or None
        The share of R_PU.
    gamma_risks_ : ndarray of shape (5,) or None
        Held-out R_PU of each share tried; None if `gamma` is a number.
    weights_ : ndarray of shape (2, 3) or None
        The minimum, mean and maximum of sigma for recorded negatives (first row) and positives.

    Raises
    ------
    PsephosError
        In fit: if there are unlabelled rows but no recorded negative, there are too few rows for
        folds, or the prior cannot be estimated.

    Notes
    -----
    Two classes only. Labelled and unlabelled rows must be from the same population. Without an
    unlabelled row the ordinary risk is fitted, with a `WeakLabelsWarning`; a given `prior` is then
    an error. Probabilities are as in `OneSidedNoiseClassifier`.

    References
    ----------
    Zhang, Zhao, Jiang & Zhou (2019), "Learning from incomplete and inaccurate supervision", KDD;
    (2022), IEEE TKDE 34.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import LIoISClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rng = np.random.default_rng(0)
    >>> recorded = np.where((y == 1) & (rng.random(len(y)) < 0.4), 0.0, y)  # some are missed
    >>> recorded[rng.random(len(y)) < 0.6] = np.nan
    >>> model = LIoISClassifier(prior=0.63, random_state=0).fit(X, recorded)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    anatomy: ClassVar[Anatomy] = anatomy("least risk of unlabelled rows and weighted labels")
    contender: ClassVar[Contender] = weak_contender(
        "liois", {**DRAWN, "risk": Choice(("unbiased", "non-negative"))}, both_recorded=True
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "density_ratio": DENSITY_RATIO,
        "pseudo_labels": PSEUDO_LABELS,
        "gamma": OneOf((Options(("cv",)), Interval(0, 1))),
        "risk": Options(("unbiased", "non-negative")),
    }
    extras: ClassVar[tuple[str, ...]] = (
        "prior_", "labels_", "gamma_", "gamma_risks_", "weights_", "objective_", "n_iter_",
    )  # fmt: skip

    _: KW_ONLY
    gamma: Any = 0.5
    risk: str = "unbiased"
    n_folds: int = 5
    density_ratio: Any = "ulsif"
    pseudo_labels: str = "prior"
    gamma_: float | None = fitted()
    gamma_risks_: Floats | None = fitted()
    weights_: Floats | None = fitted()

    def _fit_rows(self, rows: WeakRows) -> VoteFit:
        refuse_no_negative(rows, "LIoIS")
        labels = prior_of(rows)
        gamma, risks = self.gamma, None
        if isinstance(gamma, str):
            gamma, risks = _chosen(rows, labels.prior)
        both, sigma = _risks(rows, labels.prior)
        found = fitted_by(rows, both[0].mixed(both[1], float(gamma)))
        own = {"gamma_": float(gamma), "gamma_risks_": risks}
        return fitted_vote(rows, found, labels, weights_=sigma_range(rows.codes, sigma), **own)


def _risks(rows: WeakRows, prior: float) -> tuple[tuple[Any, WeightedRisk], Floats]:
    """Return R_PU and R_oIS of these rows, and the weights sigma."""
    sigma = importance(rows, prior, nnpu_scores(rows, prior))
    of = pu_risk if rows.model.risk == "unbiased" else non_negative_pu_risk
    incomplete = of(rows.codes, prior, rows.loss, rows.weight)
    inaccurate = one_sided_risk(rows.codes, sigma, rows.loss, rows.weight)
    return (incomplete, inaccurate), sigma


def _chosen(rows: WeakRows, prior: float) -> tuple[float, Floats]:
    """Return the share with the smallest held-out R_PU, and the held-out R_PU of all shares."""
    kinds = rows.codes + 1
    counts = np.bincount(kinds, minlength=3)
    folds = min(rows.model.n_folds, int(counts.min()))
    if folds < 2:
        raise PsephosError(
            "gamma='cv' needs two rows recorded positive, two recorded negative and two without a "
            "label: set gamma to a number."
        )
    seed = rows.context.integer(_FOLDS_TASK)
    classes = ["unlabelled", "negative", "positive"]
    cut = make_splits(kinds, 3, groups=rows.data.groups, n_folds=folds, seed=seed, classes=classes)
    risks, counted = np.zeros(len(_GAMMAS)), 0
    for train, test in cut:
        part, rest = rows.take(train), rows.take(test)
        whole = all((part.codes == code).any() for code in (-1, 0, 1))
        if not whole or not ((rest.codes == 1).any() and (rest.codes == -1).any()):
            continue  # a kind may be missing from a fold of groups
        counted += 1
        both, _ = _risks(part, prior)
        held = pu_risk(rest.codes, prior, MarginLoss("sigmoid"), rest.weight)
        for k, gamma in enumerate(_GAMMAS):
            voters = fitted_by(part, both[0].mixed(both[1], gamma)).voters
            share = (1.0 + one_vote(part, voters).score(rest.data.X)[:, 0]) / 2.0
            margin = logit(share if rows.positive == 1 else 1.0 - share)
            risks[k] += held.value_and_gradient(margin[:, None])[0]
    if not counted:
        raise PsephosError(
            "gamma='cv' found no usable fold: with these groups no fold has positive, negative and "
            "unlabelled rows for training, and positive and unlabelled ones for testing. Set gamma "
            "to a number."
        )
    return _GAMMAS[int(risks.argmin())], risks / counted
