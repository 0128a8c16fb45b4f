"""Learning from positive and unlabelled rows."""

from collections.abc import Mapping
from typing import Any, ClassVar

from psephos.base import Anatomy
from psephos.estimator.contender import Contender
from psephos.estimator.input import VoteFit
from psephos.estimator.params import Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.weak.fitting import fitted_by, fitted_vote, odds_map, prior_of
from psephos.models.weak.learner import WeakRows
from psephos.models.weak.settings import WeakLearner, anatomy, compared, weak_contender
from psephos.supervision import non_negative_pu_risk, pu_risk


@parameters
class PUClassifier(WeakLearner):
    """A binary classifier learned from positive and unlabelled rows.

    Use it if some cases are known to be of one class (patients with a diagnosis) and nothing is
    known about the others. It needs the class prior p, the share of positives among the rows
    without a label, which is given or estimated.

    With l the loss, g the score, and E_P and E_U means over positive and unlabelled rows, it
    minimises one of these (plus ``alpha |w|^2`` for a linear or kernel score)::

        unbiased       p E_P[l(g)] + E_U[l(-g)] - p E_P[l(-g)]
        non-negative   p E_P[l(g)] + max(0, E_U[l(-g)] - p E_P[l(-g)])

    Parameters
    ----------
    estimator : classifier
        None: a score that is linear in the inputs, or in kernels. Otherwise any classifier that
        accepts `sample_weight`: with ``risk='unbiased'`` and a loss with l(m) + l(-m) = 1 it is
        fitted, with its own loss, to positives of weight 2 p / n_P and to unlabelled rows of weight
        1 / n_U as negatives. The non-negative risk needs gradients, so it cannot be combined with
        `estimator`.
    risk : {'non-negative', 'unbiased'}
        Both assume that labelled positives are a random sample of the positives, and unlabelled
        rows a random sample of all cases (case-control).
    loss : {'sigmoid', 'logistic', 'ramp'}
        See `psephos.supervision.MarginLoss`.
    negatives : {'refuse', 'ignore', 'unlabeled'}
        How rows labelled negative are treated if there are unlabelled ones: an error, left out, or
        counted as unlabelled.
    beta, gamma : float
        For the non-negative risk: if its second part is below -beta, a step is -gamma times that
        part's gradient.

    Attributes
    ----------
    objective_ : float or None
        Final risk plus penalty; None with `estimator`.
    n_iter_ : int
        Iterations of the optimiser; 1 with `estimator`.

    Raises
    ------
    PsephosError
        In fit: if rows are labelled negative and ``negatives='refuse'``, risk and `estimator` are
        incompatible, or the prior cannot be estimated.

    Notes
    -----
    Two classes only. Without an unlabelled row the ordinary risk is fitted, whatever `risk`, with a
    `WeakLabelsWarning`; a given `prior` is then an error. Equal rows of one label are merged and
    their weights summed, unless `groups` are given: a row of weight 2 equals the row given twice.

    A probability is ``1 / (1 + exp(-g))``. With the logistic loss it estimates P(y | x) for a share
    of positives equal to the prior; with the sigmoid and ramp losses it is only an increasing
    function of the score that is 1/2 at 0. With `estimator` it is ``min(1, q / (1 - q) / 2)`` with
    q its probability, which assumes the prior.

    References
    ----------
    du Plessis, Niu & Sugiyama (2014), "Analysis of learning from positive and unlabeled data",
    NeurIPS; (2015), "Convex formulation for learning from positive and unlabeled data", ICML.
    Kiryo, Niu, du Plessis & Sugiyama (2017), "Positive-unlabeled learning with non-negative risk
    estimator", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import PUClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> known = np.random.default_rng(0).random(len(y)) < 0.3
    >>> seen = np.where((y == 1) & known, 1.0, np.nan)  # the rest is not known
    >>> model = PUClassifier(prior=0.55, random_state=0).fit(X, seen)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    anatomy: ClassVar[Anatomy] = anatomy("least risk of positive and unlabelled rows")
    contender: ClassVar[Contender] = weak_contender(
        "pu",
        settings=lambda params, shape, seed: {
            **compared(params, shape, seed), "negatives": "ignore",
        },
        notes="labelled negatives are left out where other rows have no label",
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "risk": Options(("non-negative", "unbiased")),
        "negatives": Options(("refuse", "ignore", "unlabeled")),
        "beta": Interval(0),
        "gamma": Interval(0, 1),
    }

    _: KW_ONLY
    risk: str = "non-negative"
    scaling: str = "auto"
    negatives: str = "refuse"
    beta: float = 0.0
    gamma: float = 1.0

    def _fit_rows(self, rows: WeakRows) -> VoteFit:
        labels = prior_of(rows)
        if self.risk == "unbiased":
            risk: Any = pu_risk(rows.codes, labels.prior, rows.loss, rows.weight)
        else:
            risk = non_negative_pu_risk(
                rows.codes, labels.prior, rows.loss, rows.weight, beta=self.beta, gamma=self.gamma
            )
        found = fitted_by(rows, risk)
        # with weights 2 prior / n_P and 1 / n_U the odds are twice P(y = positive)
        calibration = None if self.estimator is None else odds_map(rows, 0.5)
        return fitted_vote(rows, found, labels, calibration)
