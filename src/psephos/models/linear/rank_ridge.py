"""Ridge regression on normal scores of ranks."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._types import ClassWeightLike, Floats, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import BALANCED
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, OneOf, Several
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.files.field_types import AnySize
from psephos.models.ensemble import uniform_vote
from psephos.models.linear.ridge import Ridge, ScoredColumns, default_alphas, fit_ridge
from psephos.models.training import Design, merged_copies
from psephos.vote import RankedVoters, linear_models

_POSITIVE = Interval(0, open_low=True)


@parameters
class _RankRidge:
    """Base class of both estimators.

    Parameters
    ----------
    alphas : float or list of float
        Penalty; from a list, the one with the smallest loss on held-out rows. None is (.3, 1, 3,
        10, 30), times q / 16 for more than 16 columns q.
    n_folds : int
        Folds that choose the penalty, stratified by class, with groups kept together; fewer if a
        class has fewer rows. A class's only row is always a training row.
    n_quantiles : int
        Maximum number of values of a column whose scores are kept; if there are more, values at
        even steps of the score are kept. Scores in between are interpolated; beyond the smallest
        and largest value they are constant.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories, as in HistGradientBoostingClassifier: a 0/1 column per
        category, or one column for two categories.
    random_state : int, RandomState or None
        Seed of the folds.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties tried.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "alphas": OneOf((_POSITIVE, Several(_POSITIVE)), none=True),
        "n_quantiles": Interval(2, whole=True),
    }
    anatomy: ClassVar[Anatomy] = Anatomy(
        ("ranked voters", "coded voters"), "constant", "normalised",
        "ridge penalty by cross-validation",
    )  # fmt: skip

    alphas: Any = None
    _: KW_ONLY
    n_folds: int = 5
    n_quantiles: int = 1000
    categorical_features: CategoricalFeatures = "from_dtype"
    random_state: SeedLike = None
    alpha_: float = fitted()
    alphas_: AnySize = fitted()
    losses_: Floats = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        if context.groups is None:  # so copies of a row are held out together
            table, labels, weight = merged_copies(table, labels, weight)
        design = Design.of_table(table)
        scored = ScoredColumns(table.values, weight, design, self.n_quantiles)
        q, n_classes = scored.shape[1], labels.target.n_classes
        alphas = default_alphas(q) if self.alphas is None else np.ravel(self.alphas).tolist()
        power = 0 if n_classes else int(np.frexp(np.abs(labels.y).max())[1])
        y = labels.y if n_classes else np.ldexp(labels.y, -power)
        seed = context.integer(0)
        found = fit_ridge(
            scored,
            y,
            n_classes,
            weight,
            alphas,
            n_folds=self.n_folds,
            groups=context.groups,
            seed=seed,
        )
        voters = _voters(found, scored.knots, power, labels.target)
        voters = voters if design is None else design.coded(voters)
        vote = uniform_vote(voters.take(np.arange(1)), labels.target)
        extras = {"alpha_": found.alpha, "alphas_": np.array(alphas), "losses_": found.losses}
        return vote, extras


@parameters
class RankRidgeClassifier(_RankRidge, VoteClassifier):
    """Ridge-penalised logistic regression on the normal scores of each column's ranks.

    Use it for a few measurements of any scale and distribution, as the smooth half of a committee
    beside a forest, or on all columns of a fat table: it is robust to outliers, does not depend on
    units, and needs no transformation.

    Column j's value is replaced by the normal score of its rank among the training rows,
    ``z_j = Phi^-1((W_below + W_equal / 2) / W)`` with W their weights, and the log-odds are linear
    in these::

        log-odds = b + sum_j c_j z_j(x_j),    minimising sum_i w_i log-loss_i + alpha / 2 |c|^2

    With more than two classes each has its own score (multinomial).

    Attributes
    ----------
    losses_ : ndarray of shape (n_alphas,)
        Mean log-loss of each penalty on held-out rows; 0 if nothing was held out.

    Warns
    -----
    UserWarning
        In fit: if the rows cannot be divided into folds; the middle penalty is then used.

    Notes
    -----
    Equal rows of one label are merged, weights summed, and so held out together, and folds do not
    depend on the order of rows (except for rows that differ only beyond the first 64 columns). With
    `groups` rows are used as given. Rows are sorted by their columns, from the first column on,
    before folds are drawn: if columns are in another order, folds and `alpha_` may differ.

    A missing value has the score 0, that of the median; so has every value of a column that was
    entirely missing in training. Ranks are computed from all training rows, held-out ones included,
    without the labels. With more columns than rows the model is computed in the rows' principal
    directions, which is exact.

    References
    ----------
    van der Waerden (1952), "Order tests for the two-sample problem". Hoerl & Kennard (1970),
    "Ridge regression", Technometrics 12. le Cessie & van Houwelingen (1992), "Ridge estimators in
    logistic regression", Applied Statistics 41.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import RankRidgeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RankRidgeClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    """

    contender: ClassVar[Contender] = Contender(
        "rank-ridge", "linear", {"quick": {"class_weight": BALANCED}}, grouped=True,
        small={"alphas": (0.3, 3.0), "n_folds": 3, "random_state": 0},
    )  # fmt: skip
    _: KW_ONLY
    n_quantiles: int = 1000
    class_weight: ClassWeightLike = None


@parameters
class RankRidgeRegressor(_RankRidge, VoteRegressor):
    """Ridge regression on the normal scores of each column's ranks.

    As `RankRidgeClassifier`, with a prediction that is linear in the scores; the penalty is chosen
    by the squared error on held-out rows.

    Attributes
    ----------
    losses_ : ndarray of shape (n_alphas,)
        Mean squared error of each penalty on held-out rows, divided by the square of the smallest
        power of two above the greatest ``|y|``; 0 if nothing was held out.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import RankRidgeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(RankRidgeRegressor(random_state=0).fit(X, y).score(X, y) > 0.45)
    True
    """

    contender: ClassVar[Contender] = Contender(
        "rank-ridge-regressor", "linear", grouped=True, small={"random_state": 0}
    )


def _voters(found: Ridge, knots: Any, power: int, target: Any) -> RankedVoters:
    """Return the one voter, on all columns of the design."""
    every = np.arange(found.coef.shape[1])
    says = "probability" if target.n_classes else "value"
    value = target.code if target.n_classes else np.zeros((1, 1))
    coef, intercept = np.ldexp(found.coef[None], power), np.ldexp(found.intercept[None], power)
    line = linear_models(len(every), every, coef, intercept, value, says)
    return RankedVoters(len(every), every, line, *knots)
