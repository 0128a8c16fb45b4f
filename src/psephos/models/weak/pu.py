"""Learning from positive and unlabelled rows."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._input import Context, Table
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.contender import Contender
from psephos.models.weak.fitting import one_vote, ordinary
from psephos.models.weak.pu_fit import bagged, by_risk, elkan_noto, negatives_read
from psephos.models.weak.rows import read_rows
from psephos.models.weak.sensitivity import PriorSensitivity
from psephos.models.weak.settings import DRAWN, SHARED, anatomy, compared
from psephos.models.weak.told import WeakLabels
from psephos.params import Constraint, Interval, OneOf, Options
from psephos.vote import Vote

__all__ = ["PUClassifier"]

_Floats = NDArray[np.float64]
_FITS = {
    "non-negative": by_risk, "unbiased": by_risk, "elkan-noto": elkan_noto, "bagging": bagged,
}  # fmt: skip


class PUClassifier(PriorSensitivity, VoteClassifier):
    """A classifier of two classes from positive rows and rows without a label.

    Use it where some cases are known to be of one class (patients with a diagnosis) and of the
    others nothing is known. It needs the class prior p, the share of positives among the rows
    without a label, which is given or estimated.

    With l the loss, g the score, E_P and E_U means over positive and unlabelled rows, it makes
    one of these least (for a linear or a kernel score, with ``alpha |w|^2`` added)::

        unbiased       p E_P[l(g)] + E_U[l(-g)] - p E_P[l(-g)]
        non-negative   p E_P[l(g)] + max(0, E_U[l(-g)] - p E_P[l(-g)])

    or tells labelled from unlabelled rows and maps that to the classes ('elkan-noto', 'bagging').

    Parameters
    ----------
    estimator : classifier, default=None
        None: a score that is linear in the inputs, or in kernels. Else any classifier that takes
        `sample_weight`: with ``risk='unbiased'`` and a loss for which l(m) + l(-m) = 1, positives
        weigh 2 p / n_P and unlabelled rows 1 / n_U as negatives; it brings its own loss. The
        non-negative risk needs gradients and refuses it.
    risk : {'non-negative', 'unbiased', 'elkan-noto', 'bagging'}, default='non-negative'
        The setting differs: the two risks and bagging take positives drawn from the positives and
        unlabelled rows drawn from all cases (case-control); Elkan and Noto one sample of cases in
        which each positive was labelled with the same chance (single sample; rows labelled and not
        together are then the cases, and so its probabilities are of such a sample).
    loss : {'sigmoid', 'logistic', 'ramp'}, default='sigmoid'
        See `psephos.supervision.MarginLoss`. Elkan and Noto and bagging take the logistic loss.
    prior : float or 'elkan-noto', default='elkan-noto'
        The estimate is that of `psephos.supervision.ElkanNotoPrior`, which is too large where the
        classes overlap, and by far on tables with more columns than rows: give the prior there.
        `prior_sensitivity` shows what .1 more or less changes.
    kernel : {'linear', 'rbf'}, default='linear'
    alpha : float, default=0.01
        Penalty of the score's weights (of kernels, of their norm); the intercept is free.
    scaling : {'auto', 'standard', 'rank'}, default='auto'
        standard: columns are centred and divided by their standard deviation; no value may be
        missing. rank: inputs are normal scores of the columns' ranks, in which a missing value is
        the median. auto: rank if a value of the training rows is missing, else standard (cases to
        be answered may then lack none).
    negatives : {'refuse', 'ignore', 'unlabeled'}, default='refuse'
        What rows labelled negative are where others lack a label.
    beta, gamma : float, default=0.0, 1.0
        Of the non-negative risk: where its second part is below -beta a step is -gamma times that
        part's gradient.
    n_estimators : int, default=10
        Members of 'bagging'.
    max_samples : int, default=None
        Unlabelled rows drawn for a member, each with a chance in proportion to its weight; None: as
        many as rows are labelled positive (rows, whatever their weight).
    classes : list of two labels, default=None
        Needed where one class alone has rows with a label and that is not 1 or True.
    pos_label : label, default=None
        The class whose labels are sure; None: the second.
    unlabeled : label, default=None
        What stands in y where there is no label, besides None and NaN.
    sigma : float, default=None
        Width of the kernels; None: the median distance of rows to their centres.
    n_components : int, default=100
        Most kernels, centred on rows drawn from all.
    n_starts : int, default=3
        Searches (L-BFGS) of a risk that is not convex, from 0 and from points ever further down its
        slope there; the best is taken.
    max_iter, learning_rate : int, float, default=400, 0.1
        Steps of Adam on the non-negative risk, all rows at once. Where the sizes of a row's inputs
        add up to more than 30 on average (about 40 columns), the rate is less in that proportion.
    categorical_features : 'from_dtype', list, mask or None, default='from_dtype'
        As in HistGradientBoostingClassifier: each is a 0/1 column, of two the second alone.
    random_state : int, RandomState or None, default=None
        Of starts, kernels, bags and the folds of the prior.

    Attributes
    ----------
    vote_ : Vote
    prior_ : float or None
        The prior used; None where every row had a label.
    labels_ : WeakLabels or None
        How many rows were of each kind, and whether the prior was given or estimated, and how well;
        ``print(model)`` says it.
    objective_ : float or None
        Risk and penalty at the end; None of another classifier, or of bags.
    n_iter_ : int
        Iterations of the search; 1 of another classifier, or of bags.
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
        In fit: if rows are labelled negative and `negatives` refuses them, a risk and a learner do
        not fit together, or no prior can be estimated.

    Notes
    -----
    Two classes only. Without an unlabelled row the fit is that of the ordinary risk, whatever
    `risk`. Equal rows of one label are one row of added weight, unless `groups` are given: a row of
    weight 2 is the row twice, but in bagging, which draws as many rows as there are.

    A probability is ``1 / (1 + exp(-g))``. Of the logistic loss that is an estimate of P(y | x)
    where the share of positives is the prior; of the sigmoid and the ramp loss it is a map of the
    score that rises and is 1/2 at 0, and says nothing of frequencies. Of another classifier, and of
    bags, it is ``min(1, f q / (1 - q))`` with q their probability and f = 1/2, or the prior; of
    Elkan and Noto ``min(1, s / c)``: both assume the prior, in their own setting.

    References
    ----------
    du Plessis, Niu & Sugiyama (2014), "Analysis of learning from positive and unlabeled data",
    NeurIPS; (2015), "Convex formulation for learning from positive and unlabeled data", ICML.
    Kiryo, Niu, du Plessis & Sugiyama (2017), "Positive-unlabeled learning with non-negative risk
    estimator", NeurIPS. Elkan & Noto (2008), "Learning classifiers from only positive and unlabeled
    data", KDD. Mordelet & Vert (2014), "A bagging SVM to learn from positive and unlabeled
    examples", Pattern Recognition Letters 37.

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

    anatomy: ClassVar[Anatomy] = anatomy(
        "least risk of positive and unlabelled rows, or of telling them apart"
    )
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
        **SHARED,
        "risk": Options(tuple(_FITS)),
        "negatives": Options(("refuse", "ignore", "unlabeled")),
        "beta": Interval(0),
        "gamma": Interval(0, 1),
        "n_estimators": Interval(1, whole=True),
        "max_samples": OneOf((Interval(1, whole=True),), none=True),
    }
    extras: ClassVar[tuple[str, ...]] = ("prior_", "labels_", "objective_", "n_iter_")
    partial_labels: ClassVar[bool] = True
    one_class: ClassVar[bool] = True
    binary_only: ClassVar[bool] = True
    prior_: float | None
    labels_: WeakLabels | None
    objective_: float | None
    n_iter_: int

    def __init__(
        self,
        estimator: Any = None,
        *,
        risk: str = "non-negative",
        loss: str = "sigmoid",
        prior: Any = "elkan-noto",
        kernel: str = "linear",
        alpha: float = 0.01,
        scaling: str = "auto",
        negatives: str = "refuse",
        beta: float = 0.0,
        gamma: float = 1.0,
        n_estimators: int = 10,
        max_samples: int | None = None,
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
        self.risk = risk
        self.loss = loss
        self.prior = prior
        self.kernel = kernel
        self.alpha = alpha
        self.scaling = scaling
        self.negatives = negatives
        self.beta = beta
        self.gamma = gamma
        self.n_estimators = n_estimators
        self.max_samples = max_samples
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
        rows = negatives_read(read_rows(self, table, labels, weight, context))
        if not (rows.codes == -1).any():
            found, calibration, told = ordinary(rows), None, None
        else:
            found, calibration, told = _FITS[self.risk](rows)
        prior = None if told is None else told.prior
        extras = {
            "prior_": prior,
            "labels_": told,
            "objective_": found.objective,
            "n_iter_": found.n_iter,
        }
        return one_vote(rows, found.voters, calibration), extras
