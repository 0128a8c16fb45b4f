"""Gradient boosting: trees fitted to what the vote so far still gets wrong (Friedman)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table
from psephos.estimator.params import Constraint, Interval, OneOf, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.boosting.gradient_fit import CONTENDER, fit_gradient
from psephos.models.boosting.gradient_losses import classification_loss
from psephos.models.boosting.gradient_numbers import regression_loss
from psephos.models.boosting.warm import WarmStart
from psephos.models.ensemble import BoostedSum
from psephos.models.leaves import Leaves
from psephos.models.training import Training
from psephos.vote import Readout, Vote

_Floats = NDArray[np.float64]
_SHARE = Interval(0, 1, open_low=True)
_PART = Interval(0, 1, open_low=True, open_high=True)


@parameters
class _Gradient(WarmStart, BoostedSum, Leaves):
    """What the two share.

    Parameters
    ----------
    learning_rate : float
        Shrinks every tree.
    n_estimators : int
        Rounds.
    subsample : float
        Share of the rows drawn for each round, without replacement.
    min_samples_split : int or float
        Least weight of a node that is split: rows, if they have no weights; below 1 a share of
        all. 2 is no limit.
    min_samples_leaf : int or float
        Least weight on either side of a split; below 1 a share of all. 1 is no limit.
    min_weight_fraction_leaf : float
        Least share of the drawn rows' weight on either side of a split.
    criterion : {'friedman_mse', 'squared_error'}
        Two names of one gain: Friedman's ``W_L W_R / (W_L + W_R) (mean_L - mean_R)^2`` is the fall
        of the sum of squares.
    max_depth : int or None
        None: no limit; 'hist' stops at 32.
    min_impurity_decrease : float
        Least fall of the sum of squares of r, as a share of the drawn rows' weight.
    random_state : int, RandomState or None
        Seeds the draws of rows and columns, those among columns of equal gain, and the validation
        share.
    max_features : int, float, {'sqrt', 'log2'} or None
        Columns drawn at a node: a number, a share, the root or the binary logarithm of their
        number, or all.
    max_leaf_nodes : int or None
        Most leaves of a tree; the largest gain splits first.
    validation_fraction : float
        Share of the rows held out if `n_iter_no_change` is set. Rows of one group stay together.
    n_iter_no_change : int or None
        Boosting ends after a round whose held-out loss is not lower by `tol` than any of that
        many before it. None holds nothing out.
    tol : float
        How much lower it has to be.
    tree_method : {'exact', 'hist'}
        'exact' looks at every cut, 'hist' at those between the bins of columns.
    max_bin : int
        Bins of a column, the one for missing values among them; not used by 'exact'.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories: a node divides them into two sets, along the order
        of their mean residuals; codes that the node has not seen count as missing.
    n_jobs : int
        Threads; the result does not depend on it.

    Attributes
    ----------
    n_estimators_ : int
        Rounds.
    validation_losses_ : ndarray
        Held-out loss after each round; empty if none was held out.
    stopped_ : str
        'all rounds' or 'validation'.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "learning_rate": Interval(0, open_low=True),
        "n_estimators": Interval(1, whole=True),
        "subsample": _SHARE,
        "criterion": Options(("friedman_mse", "squared_error")),
        "min_samples_split": OneOf((Interval(2, whole=True), _PART)),
        "min_samples_leaf": OneOf((Interval(1, whole=True), _PART)),
        "min_weight_fraction_leaf": Interval(0, 0.5),
        "max_depth": OneOf((Interval(1, whole=True),), none=True),
        "min_impurity_decrease": Interval(0),
        "max_features": OneOf(
            (Interval(1, whole=True), _SHARE, Options(("sqrt", "log2"))), none=True
        ),
        "max_leaf_nodes": OneOf((Interval(2, whole=True),), none=True),
        "validation_fraction": Interval(1e-6, 1, open_high=True),  # less would be no row
        "n_iter_no_change": OneOf((Interval(1, whole=True),), none=True),
        "tol": Interval(0),
        "tree_method": Options(("exact", "hist")),
        "max_bin": Interval(2, 256, whole=True),
    }
    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "constant", "sum", "boosting loop, trees on pseudo-residuals"
    )

    _: KW_ONLY
    loss: str = "log_loss"
    learning_rate: float = 0.1
    n_estimators: int = 100
    subsample: float = 1.0
    criterion: str = "friedman_mse"
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_depth: int | None = 3
    min_impurity_decrease: float = 0.0
    random_state: Any = None
    max_features: Any = None
    max_leaf_nodes: int | None = None
    validation_fraction: float = 0.1
    n_iter_no_change: int | None = None
    tol: float = 1e-4
    warm_start: bool = False
    tree_method: str = "exact"
    max_bin: int = 256
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    n_estimators_: int = fitted()
    train_score_: NDArray[np.float64] = fitted()
    validation_losses_: NDArray[np.float64] = fitted()
    stopped_: str = fitted()


@parameters
class GradientBoostingClassifier(_Gradient, VoteClassifier):
    """Gradient boosting: a vote of a constant and of regression trees on pseudo-residuals.

    Use it for accuracy on tables where columns act together; with ``max_depth=1`` every voter is a
    rule on one column, and the model reads as their sum.

    From the constant of least loss, round t adds, for each output, a tree that is grown by
    squared error on the negative gradients, and whose leaves then step to less loss::

        F_0 = the log-odds of the class shares
        r_i = -dL(y_i, F(x_i)) / dF                  (log-loss: y_i - p_i)
        leaf: sum r_i / sum p_i (1 - p_i)            (K classes: times (K-1)/K)
        F_t(x) = F_{t-1}(x) + learning_rate * leaf(x)

    Two classes have one score and probabilities 1 / (1 + exp(-F)); K > 2 classes have K, a tree
    each a round, and their softmax.

    Parameters
    ----------
    loss : {'log_loss', 'exponential'}
        'exponential' is AdaBoost's, for two classes: r_i = s_i exp(-s_i F), s_i = -1 or 1, leaves
        sum r_i / sum |r_i|, probabilities 1 / (1 + exp(-2 F)).

    Attributes
    ----------
    vote_ : Vote
        The constant (voter 1) and the trees, of constant weight 1. Stages count voters.
    train_score_ : ndarray
        Loss on the drawn rows after each round; of two classes the deviance, twice the log-loss.

    Notes
    -----
    Of columns whose best cuts gain the same to seven digits (gains are float32 here), one is drawn,
    as in scikit-learn, anew for each tree and level: where few rows are left, cuts of different
    columns often divide them alike. Where nothing ties, predictions are scikit-learn's, but that
    values are compared in float64 (there: float32). Gains are of residuals less their node's mean.
    To 'hist' a residual is a whole number of 2^-30 of the sum of all sizes: in nodes whose spread
    is near that unit, cuts are lost. Weights make a second difference: `min_samples_leaf` and
    `min_samples_split` count rows there, whatever they weigh. Missing values go to the better side
    of each split. A zero of a sparse table is a value.

    References
    ----------
    Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29, algorithms 1, 5 and 6; Friedman (2002), "Stochastic gradient boosting",
    Computational Statistics & Data Analysis 38.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import GradientBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=10).fit(X, y)
    >>> model.vote_.n_voters
    11
    """

    _by_output: ClassVar[bool] = True
    contender: ClassVar[Contender] = CONTENDER
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "loss": Options(("log_loss", "exponential")),
    }

    _: KW_ONLY
    tol: float = 1e-4
    class_weight: Any = None

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        data = Training(table, labels.target, labels.y, weight)
        loss = classification_loss(self.loss, labels.target.n_classes)
        slope = 2.0 if self.loss == "exponential" else 1.0
        return fit_gradient(self, data, context, loss, Readout("sum", "logistic", slope))


@parameters
class GradientBoostingRegressor(_Gradient, VoteRegressor):
    """Gradient boosting of regression trees for numbers.

    As GradientBoostingClassifier, with one score, which is the answer itself; F_0, r and the
    leaves are those of the loss.

    Parameters
    ----------
    loss : {'squared_error', 'absolute_error', 'huber', 'quantile'}
        'squared_error': the mean; r = y - F; leaves are the mean of r. 'absolute_error': the
        median; the sign of y - F; the median of y - F. 'quantile': the `alpha`-quantile; alpha
        above F and alpha - 1 below it; the alpha-quantile of y - F. 'huber': the median; y - F cut
        off at delta, the alpha-quantile of |y - F|; the median m of y - F plus the mean of
        y - F - m cut off at delta.
    alpha : float
        The quantile of 'huber' and 'quantile'.

    Attributes
    ----------
    vote_ : Vote
        The constant (voter 1) and the trees, of constant weight 1.
    train_score_ : ndarray
        Loss on the drawn rows after each round.

    Notes
    -----
    A quantile is the least value that the share of the weight does not exceed, so that a row of
    weight 2 is the row twice. scikit-learn's leaves say the same, and its F_0 too if there are
    weights; without, its F_0 lies between two values.

    References
    ----------
    Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29, algorithms 2 to 4.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=10).fit(X, y)
    >>> model.vote_.n_voters
    11
    """

    contender: ClassVar[Contender] = Contender(
        "gradient-boosting-regressor",
        "boosting",
        small={"n_estimators": 4, "learning_rate": 0.7, "random_state": 0},
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "loss": Options(("squared_error", "absolute_error", "huber", "quantile")),
        "alpha": _PART,
    }

    _: KW_ONLY
    loss: str = "squared_error"
    max_features: Any = None
    alpha: float = 0.9

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        data = Training(table, labels.target, labels.y, weight)
        loss = regression_loss(self.loss, self.alpha, data.y)
        return fit_gradient(self, data, context, loss, Readout("sum", "identity"))
