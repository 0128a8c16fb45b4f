"""Learning from positive and unlabelled rows."""

from collections.abc import Mapping
from typing import Any, ClassVar

from psephos.base import Anatomy
from psephos.estimator.contender import Contender
from psephos.estimator.input import FittedVote
from psephos.estimator.params import Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.weak.fitting import fitted_by, odds_map, prior_of, told_vote
from psephos.models.weak.rows import WeakRows
from psephos.models.weak.settings import DRAWN, WeakLearner, anatomy, compared
from psephos.supervision import non_negative_pu_risk, pu_risk


@parameters
class PUClassifier(WeakLearner):
    """A classifier of two classes from positive rows and rows without a label.

    Use it where some cases are known to be of one class (patients with a diagnosis) and of the
    others nothing is known. It needs the class prior p, the share of positives among the rows
    without a label, which is given or estimated.

    With l the loss, g the score, E_P and E_U means over positive and unlabelled rows, it makes
    one of these least (for a linear or a kernel score, with ``alpha |w|^2`` added)::

        unbiased       p E_P[l(g)] + E_U[l(-g)] - p E_P[l(-g)]
        non-negative   p E_P[l(g)] + max(0, E_U[l(-g)] - p E_P[l(-g)])

    Parameters
    ----------
    estimator : classifier
        None: a score that is linear in the inputs, or in kernels. Else any classifier that takes
        `sample_weight`: with ``risk='unbiased'`` and a loss for which l(m) + l(-m) = 1, positives
        weigh 2 p / n_P and unlabelled rows 1 / n_U as negatives; it brings its own loss. The
        non-negative risk needs gradients and refuses it.
    risk : {'non-negative', 'unbiased'}
        Both take positives drawn from the positives and unlabelled rows drawn from all cases
        (case-control).
    loss : {'sigmoid', 'logistic', 'ramp'}
        See `psephos.supervision.MarginLoss`.
    negatives : {'refuse', 'ignore', 'unlabeled'}
        What rows labelled negative are: refused where other rows lack a label, left out there, or
        counted as without a label themselves.
    beta, gamma : float
        Of the non-negative risk: where its second part is below -beta a step is -gamma times that
        part's gradient.

    Attributes
    ----------
    objective_ : float or None
        Risk and penalty at the end; None of another classifier.
    n_iter_ : int
        Iterations of the search; 1 of another classifier.

    Raises
    ------
    PsephosError
        In fit: if rows are labelled negative and `negatives` refuses them, a risk and a learner do
        not fit together, or no prior can be estimated.

    Notes
    -----
    Two classes only. Without an unlabelled row the fit is that of the ordinary risk, whatever
    `risk`, with a `WeakLabelsWarning`; a given `prior` is refused. Equal rows of one label are one
    row of added weight, unless `groups` are given: a row of weight 2 is the row twice.

    A probability is ``1 / (1 + exp(-g))``. Of the logistic loss that is an estimate of P(y | x)
    where the share of positives is the prior; of the sigmoid and the ramp loss it is a map of the
    score that rises and is 1/2 at 0, and says nothing of frequencies. Of another classifier it
    is ``min(1, q / (1 - q) / 2)`` with q its probability, which assumes the prior.

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
    contender: ClassVar[Contender] = Contender(
        "pu", "weak labels",
        {"quick": DRAWN},
        settings=lambda params, shape, seed: {
            **compared(params, shape, seed), "negatives": "ignore",
        },
        grouped=True, two_classes=True, partial_labels=True, small={"random_state": 0},
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

    def _fit_rows(self, rows: WeakRows) -> FittedVote:
        labels = prior_of(rows)
        if self.risk == "unbiased":
            risk: Any = pu_risk(rows.codes, labels.prior, rows.loss, rows.weight)
        else:
            risk = non_negative_pu_risk(
                rows.codes, labels.prior, rows.loss, rows.weight, beta=self.beta, gamma=self.gamma
            )
        found = fitted_by(rows, risk)
        # weights 2 prior / n_P and 1 / n_U make odds of twice P(y = positive)
        calibration = None if self.estimator is None else odds_map(rows, 0.5)
        return told_vote(rows, found, labels, calibration)
