"""Second-order boosting of trees: regularised Newton steps in function space (XGBoost)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._types import ClassWeightLike, Floats, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Anything, Constraint, Function, Interval, OneOf, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.boosting.common import WarmStart
from psephos.models.boosting.losses import Unit, classification, regression
from psephos.models.boosting.newton_fit import CONTENDER, fit_newton
from psephos.models.ensemble import BoostedSum, Leaves
from psephos.models.training import Training
from psephos.vote import Readout

_SHARE = Interval(0, 1, open_low=True)
_RETURNS = "of (y, margin) that returns (gradient, hessian)"


@parameters
class _Newton(WarmStart, BoostedSum, Leaves):
    """What the two share.

    Parameters
    ----------
    tree_method : {'exact', 'approx', 'hist'}
        'exact' looks at every cut, in float32 as XGBoost's own 'exact' does: the same trees and
        margins, bit for bit, where no rows or columns are drawn and no weights are given; see
        the notes of NewtonBoostingClassifier. 'approx' looks at cuts of equal hessian, proposed
        anew for each tree. 'hist' at the cuts of bins made once. These two compare values in
        float64.
    n_estimators : int
        Rounds.
    learning_rate : float
        Shrinks every tree.
    max_depth : int or None
        None: no limit.
    max_leaves : int or None
        Most leaves of a tree; None: as many as the depth allows. Not for 'exact'.
    grow_policy : {'depthwise', 'lossguide'}
        Which leaf is split next, while there may be more of them: 'depthwise' one of the least
        depth, 'lossguide' the one that gains most. The same trees where `max_leaves` does not
        bind. Not for 'exact', nor for local proposals.
    reg_lambda : float
        Cost of squared weights.
    reg_alpha : float
        Cost of absolute weights.
    gamma : float
        Least gain of a split. 'hist' and 'approx' make no other; 'exact' and local proposals
        undo, when the tree is complete, splits into two leaves that gain less: a weak split
        above a strong one then stays. XGBoost does the same.
    min_child_weight : float
        Least sum of hessians on either side: of weights, for squared error.
    max_delta_step : float
        Most a weight may be, before shrinkage; 0: anything.
    subsample : float
        Each row is seen by a round with this probability.
    colsample_bytree, colsample_bylevel, colsample_bynode : float
        Share of the columns drawn for each tree, of those for each level, of those for each node.
        With 'hist' levels beyond the 64th have the columns of that.
    max_bin : int
        Bins of a column, the one for missing values among them; not used by 'exact'.
    proposal : {'global', 'local'}
        Of 'approx': cuts are proposed once for each tree, or anew for each node.
    monotone_constraints : sequence of {-1, 0, 1} or dict
        1: the score must not fall as the column grows, -1: not rise. A dict names columns.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories: a node divides them into two sets, along the order
        of their G / (H + lambda); codes that the node has not seen count as missing.
    validation_fraction : float
        Share of the training rows held out to decide how many rounds to keep; None holds out
        none. Rows of one group stay together.
    n_iter_no_change : int
        Rounds without a lower validation loss after which boosting ends. Needs
        `validation_fraction`.
    n_jobs : int
        Threads; the result does not depend on it.
    random_state : int, RandomState or None
        Seeds the draws of rows and columns and the validation share.

    Attributes
    ----------
    vote_ : Vote
        The base score (voter 1) and the trees, of constant weight 1.
    n_estimators_ : int
        Rounds kept.
    validation_losses_ : ndarray
        Held-out loss after each round; empty if none was held out.
    stopped_ : str
        'all rounds' or 'validation'.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "tree_method": Options(("exact", "approx", "hist")),
        "max_leaves": OneOf((Interval(2, whole=True),), none=True),
        "grow_policy": Options(("depthwise", "lossguide")),
        "reg_lambda": Interval(0),
        "reg_alpha": Interval(0),
        "gamma": Interval(0),
        "min_child_weight": Interval(0),
        "max_delta_step": Interval(0),
        "subsample": _SHARE,
        "colsample_bytree": _SHARE,
        "colsample_bylevel": _SHARE,
        "colsample_bynode": _SHARE,
        "base_score": OneOf((Interval(-np.inf),), none=True),
        "proposal": Options(("global", "local")),
        "monotone_constraints": Anything(),
    }
    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "constant", "sum", "boosting loop, second-order trees"
    )

    tree_method: str = "exact"
    _: KW_ONLY
    n_estimators: int = 100
    learning_rate: float = 0.3
    max_depth: int | None = 6
    max_leaves: int | None = None
    grow_policy: str = "depthwise"
    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    gamma: float = 0.0
    min_child_weight: float = 1.0
    max_delta_step: float = 0.0
    subsample: float = 1.0
    colsample_bytree: float = 1.0
    colsample_bylevel: float = 1.0
    colsample_bynode: float = 1.0
    base_score: float | None = None
    max_bin: int = 256
    proposal: str = "global"
    monotone_constraints: Any = None
    objective: Any = None
    categorical_features: CategoricalFeatures = "from_dtype"
    validation_fraction: float | None = None
    n_iter_no_change: int = 10
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: SeedLike = None
    n_estimators_: int = fitted()
    validation_losses_: Floats = fitted()
    stopped_: str = fitted()


@parameters
class NewtonBoostingClassifier(_Newton, VoteClassifier):
    """Second-order gradient boosting: a vote of a base score and of real-valued trees.

    Use it where you would use XGBoost: objective, penalties and names of parameters are XGBoost's,
    and answers come with ballots.

    Round t adds, for each output, the tree f_t of greatest decrease of the quadratic expansion of
    the log-loss, with g and h its first two derivatives at the margins so far::

        Obj = sum_i (g_i f(x_i) + h_i f(x_i)^2 / 2) + gamma T + lambda/2 |w|^2 + alpha |w|_1
        w*  = -G / (H + lambda)                                        (alpha = 0)
        gain of a split = G_L^2/(H_L+lambda) + G_R^2/(H_R+lambda) - G^2/(H+lambda)
        F(x) = base + sum_t learning_rate f_t(x)

    Two classes have one margin and probabilities 1 / (1 + exp(-F)); K > 2 classes have K, a tree
    each a round, and their softmax.

    Parameters
    ----------
    base_score : float
        A probability (two classes), or the margin that all classes start from. None: the log-odds
        of the classes' shares.
    objective : callable
        ``objective(y, margin)`` returns gradient and hessian; y are class indices. None: log-loss.

    Notes
    -----
    `decision_function` adds the float32 leaves in float64, so that contributions sum to it;
    XGBoost adds them in float32, tree by tree. Sample weights multiply gradients in float64
    (there: in float32), so that weight 2 is the row twice; where a column has more than `max_bin`
    values, the bins of 'hist' hold equal shares of the weights, as XGBoost's do, and a cut lies at
    the last value on its left, where XGBoost's lies at the first on its right: training rows go
    the same way, a new value between the two goes right here and left there. Rows of weight 0
    are left out, as if they were not there; XGBoost lets their values propose cuts, so that a row
    that counts nothing moves thresholds: to compare, give it the other rows. Missing values are
    learned to go to the better side of each split. A zero of a sparse table is a value.

    'exact' rounds values to float32 in `fit` and in `predict`, and warns, naming them, of columns
    in which different values become equal (more of them than of random values, of which rounding
    merges fewer than d^2 / 2^24 of d). A table with a column beyond the range of float32 (a number
    above 3.4e38, or none but 0 above 1e-30) is compared in float64. So trees do not depend on the
    unit of a column, with one exception, XGBoost's: a
    split that has all known values on one side is placed at 1e-6 beyond twice the last. Between
    neighbours in float32, an exact cut found from the left rounds as XGBoost's does, and may leave
    a side empty; with `monotone_constraints`, which that would break, it does not.

    References
    ----------
    Chen & Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD, sections 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import NewtonBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NewtonBoostingClassifier(n_estimators=10, max_depth=3).fit(X, y)
    >>> model.vote_.n_voters
    11
    """

    contender: ClassVar[Contender] = CONTENDER
    constraints: ClassVar[Mapping[str, Constraint]] = {"objective": Function((None,), _RETURNS)}

    _: KW_ONLY
    objective: Any = None
    class_weight: ClassWeightLike = None

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        data = Training(table, labels.target, labels.y, weight)
        objective = classification(self.objective, labels.target.n_classes)
        return fit_newton(self, data, context, objective, Readout("sum", "logistic"))


@parameters
class NewtonBoostingRegressor(_Newton, VoteRegressor):
    """Second-order gradient boosting of trees for numbers: squared error, or a custom objective.

    As NewtonBoostingClassifier, with one margin, which is the answer itself.

    Parameters
    ----------
    base_score : float
        The number that boosting starts from; None: the mean.
    objective : 'squared_error' or callable
        ``objective(y, margin)`` returns gradient and hessian; it starts from `base_score` or 0.

    Notes
    -----
    Targets, gradients and leaves are float32, as XGBoost's are, and no split gains less than 1e-6.
    That is measured, with squared error, in a power of two between 1/16 and 1/8 of the range of y,
    so that answers do not depend on the unit of y; and where the middle of y is more than 16 to 32
    ranges from 0, a constant near it is subtracted first. XGBoost does neither: in a small unit it
    makes no split, and far from 0 it loses the digits of y. For y of another size its trees and
    margins are the same, bit for bit, but where a split gains next to nothing. `gamma`, `reg_alpha`
    and `max_delta_step` are in the unit of y, as there; so are the margins of a custom objective,
    which are not changed. Values of columns are compared in float64 but by 'exact': see
    NewtonBoostingClassifier.

    References
    ----------
    Chen & Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD, sections 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import NewtonBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NewtonBoostingRegressor(n_estimators=10, max_depth=2).fit(X, y)
    >>> model.vote_.n_voters
    11
    """

    contender: ClassVar[Contender] = CONTENDER.of_numbers("newton-boosting-regressor")
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "objective": Function(("squared_error",), _RETURNS)
    }

    _: KW_ONLY
    objective: Any = "squared_error"

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        data = Training(table, labels.target, labels.y, weight)
        objective = regression(self.objective, Unit.of(labels.y.min(), labels.y.max()))
        return fit_newton(self, data, context, objective, Readout("sum", "identity"))
