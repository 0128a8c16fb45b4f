"""CART: binary trees with surrogates, priors and losses, pruned by cost and complexity."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table
from psephos.estimator.params import Anything, Constraint, Interval, OneOf, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.tree.cart_common import DEEPEST, fit_cart
from psephos.models.tree.cart_readings import CartReadings
from psephos.models.tree.cart_settings import CONTENDER
from psephos.trees.cart import Problem
from psephos.vote import CostTarget, Vote

_Floats = NDArray[np.float64]

_FOUND = "greedy growth with surrogates, cost-complexity pruning"


@parameters
class _CART(CartReadings):
    """What the two share.

    Parameters
    ----------
    cp : float
        Least share of the root's risk that each split must save.
    min_samples_split : int
        Rows that a node needs to be split.
    min_samples_leaf : int
        Rows on either side of a split; None is a third of `min_samples_split`, rounded.
    max_depth : int or None
        Rules on the longest way to a leaf, at most 62; None is 62.
    max_leaf_nodes : int
        Grow best first: of all leaves the one whose split is worth most is divided, until there
        are so many; then `cp` cuts back, at 0 nothing. None: as many leaves as `cp` allows.
    max_features : int, float, {'sqrt', 'log2'} or None
        Columns drawn at a node, among which its split and its competitors are sought: a number, a
        share, the root or the binary logarithm of their number. While none that was drawn has a
        split more are drawn. Surrogates are sought among all. None: no draw, all columns.
    max_competitors : int
        Next best splits that are kept with each split (`splits_`).
    max_surrogates : int
        Surrogates that are kept with each split.
    surrogate_style : {'total', 'known'}
        Agreement of a surrogate is counted among all rows that the split sends, or among those
        that have the surrogate's value.
    use_surrogates : {'majority', 'only', 'none'}
        Where a row goes without the split's value: by surrogates, else with the majority; by
        surrogates, else no further; no further.
    n_folds : int
        Folds of the cross-validation of `cptable_`; below 2 there is none. Groups given to `fit`
        are not divided.
    folds : array of shape (n_samples,)
        The fold of each row, instead of folds that are drawn.
    one_standard_error : bool
        Prune to the smallest tree whose cross-validated error is within one standard error of the
        least.
    costs : array of shape (n_features,)
        A column's improvements are divided by its cost.
    n_jobs : int
        Threads of the cross-validation; the result does not depend on it.
    random_state : int, RandomState or None
        Draws the folds, and the columns of `max_features`.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote: one voter, the tree.
    tree_ : Tree
        The tree: its nodes, in flat arrays.
    growth_ : CartGrowth
        Every rule that was kept, and the complexity of every node.
    cptable_ : dict of ndarray
        The prunings, smallest first: cp, n_splits, rel_error, xerror, xstd.
    nodes_, splits_, competitors_ : dict of ndarray
        Columns of the tables of nodes, of splits with competitors and surrogates, and of the
        competitors alone.
    """

    removed: ClassVar[Mapping[str, Any]] = {"rpart_compat": False}
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "cp": Interval(0),
        "min_samples_split": Interval(2, whole=True),
        "min_samples_leaf": OneOf((Interval(1, whole=True),), none=True),
        "max_depth": OneOf((Interval(1, DEEPEST, whole=True),), none=True),
        "max_features": OneOf(
            (Interval(1, whole=True), Interval(0, 1, open_low=True), Options(("sqrt", "log2"))),
            none=True,
        ),
        "max_leaf_nodes": OneOf((Interval(2, whole=True),), none=True),
        "max_competitors": Interval(0, whole=True),
        "max_surrogates": Interval(0, whole=True),
        "surrogate_style": Options(("total", "known")),
        "use_surrogates": Options(("majority", "only", "none")),
        "n_folds": OneOf((Interval(0, 0, whole=True), Interval(2, whole=True))),
        "folds": Anything(),
        "costs": Anything(),
    }

    cp: float = 0.01
    min_samples_split: int = 20
    min_samples_leaf: int | None = None
    max_depth: int | None = 30
    _: KW_ONLY
    max_leaf_nodes: int | None = None
    max_features: Any = None
    max_competitors: int = 4
    max_surrogates: int = 5
    surrogate_style: str = "total"
    use_surrogates: str = "majority"
    n_folds: int = 10
    folds: Any = None
    one_standard_error: bool = False
    costs: Any = None
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None


@parameters
class CARTClassifier(_CART, VoteClassifier):
    """Classification tree of Breiman, Friedman, Olshen and Stone, as rpart grows it.

    Use it for one binary tree to draw and read, pruned by cross-validation, with priors and costs
    of classes, and surrogate splits where values are missing.

    A node that holds weight n_j of class j answers with the class of least expected loss; that
    loss is its risk R. A split must lower the risk of the tree by `cp` times the root's risk::

        R(node)  = min_k sum_j n_j rho_j L[j][k]         rho_j   = prior_j / share_j
        improve  = W I(node) - W_L I(left) - W_R I(right)
        I        = sum_j p_j (1 - p_j)  or  -sum_j p_j ln p_j,   p_j ~ n_j alpha_j
        alpha_j  = prior_j sum_k L[j][k] / (sum_ik prior_i L[i][k]) / share_j

    over the rows that have the column's value; W is sum_j n_j alpha_j. A row without it goes by
    the first surrogate that it has a value for: a rule on another column that sends the rows much
    as the split does.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss', 'twoing'}
        I, by the first formula or the second, which has two names; 'twoing' improves by
        ``W_L W_R / (4 W) (sum_j |p_j(L) - p_j(R)|)^2``.
    priors : array of shape (n_classes,)
        Share of each class (in the order of `classes_`) where the tree will be used; None: that
        of the training rows.
    loss : array of shape (n_classes, n_classes)
        What it costs to answer with the column's class where the row's is true; 0 on the diagonal.
        None: 1 for every wrong answer.

    Attributes
    ----------
    variable_importance_ : ndarray of shape (n_features_in_,)
        Worth of a column's splits, and of those it is a surrogate of times the adjusted agreement.

    Notes
    -----
    Values below a threshold, not at it, are on one side. A row that lacks every column is left
    out of the training. Categories: for two classes, the nested subsets in order of their shares;
    for more all subsets of up to 12 categories of a node, and beyond that the nested subsets in
    order of their first principal component, which may miss the best. So may the nested subsets of
    two classes if min_samples_leaf forbids some of them. Cuts of equal worth: the lowest.

    If every sample weight is a whole number, a row of weight w counts as w rows wherever rows are
    counted, so weight 2 is the row twice; otherwise, as in rpart, each row counts once.

    rpart 4.1.19 differs: rows count once whatever their weights, and one that lacks every column is
    kept if there are weights; a surrogate of categories needs two rows that disagree with the
    split; the cross-validated error reads the losses transposed; and a row that gets stuck there
    takes over the errors of the row before it. Sums are not added up in its order: splits whose
    worth is equal but for rounding may be chosen otherwise, and so may be sets of more than 12
    categories.

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and Regression Trees". Therneau &
    Atkinson, "An introduction to recursive partitioning using the RPART routines". Coppersmith,
    Hong & Hosking (1999), "Partitioning nominal attributes in decision trees", Data Mining and
    Knowledge Discovery 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CARTClassifier(random_state=0).fit(X, y)
    >>> model.cptable_["n_splits"].tolist(), model.cptable_["rel_error"].tolist()
    ([0, 1, 2], [1.0, 0.5, 0.06])
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("branching tree voters",), "constant", "normalised", _FOUND
    )
    contender: ClassVar[Contender] = CONTENDER
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "criterion": Options(("gini", "entropy", "log_loss", "twoing")),
        "priors": Anything(),
        "loss": Anything(),
    }

    _: KW_ONLY
    one_standard_error: bool = False
    criterion: str = "gini"
    priors: Any = None
    loss: Any = None
    categorical_features: Any = "from_dtype"
    class_weight: Any = None

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        target = labels.target
        k = target.n_classes
        priors, loss = _priors(self.priors, k), _losses(self.loss, k)
        if loss is not None:
            target = CostTarget(target.classes, loss)
        problem = Problem(k, labels.y, weight, np.empty(0, np.int64), priors, loss)
        return fit_cart(self, table, problem, target, context)


@parameters
class CARTRegressor(_CART, VoteRegressor):
    """Regression tree of Breiman, Friedman, Olshen and Stone, as rpart's anova method grows it.

    Use it for one binary tree to draw and read, whose leaves answer with numbers.

    A node answers with the mean of its rows; its risk R is their sum of squares around it. A split
    must lower the risk of the tree by `cp` times the root's risk. Among the rows that have the
    column's value, centred at their mean, with S the weighted sums on each side::

        improve = (S_L^2 / W_L + S_R^2 / W_R) / R(node)

    Missing values, surrogates, pruning and the parameters are those of `CARTClassifier`.

    Parameters
    ----------
    criterion : {'squared_error', 'friedman_mse'}
        Two names of the worth above: Friedman's ``W_L W_R / (W_L + W_R) (mean_L - mean_R)^2`` is
        the fall of the sum of squares. The absolute error and the Poisson deviance are not offered:
        risks, pruning and answers are those of squares.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; they are put in order of their means, of which one cut
        is the best of all sets if min_samples_leaf forbids none.

    Attributes
    ----------
    variable_importance_ : ndarray of shape (n_features_in_,)
        Fall of the sum of squares by a column's splits, and by those it is a surrogate of times
        the adjusted agreement.

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and Regression Trees", chapter 8.
    Therneau & Atkinson, "An introduction to recursive partitioning using the RPART routines".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import CARTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CARTRegressor(one_standard_error=True, random_state=0).fit(X, y)
    >>> model.get_n_leaves() <= CARTRegressor(n_folds=0).fit(X, y).get_n_leaves()
    True
    """

    anatomy: ClassVar[Anatomy] = Anatomy(("branching tree voters",), "constant", "sum", _FOUND)
    contender: ClassVar[Contender] = Contender(
        "cart-regressor", "tree", small={"min_samples_split": 6, "n_folds": 3, "random_state": 0}
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "criterion": Options(("squared_error", "friedman_mse")),
    }

    _: KW_ONLY
    criterion: str = "squared_error"

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        problem = Problem(0, labels.y, weight, np.empty(0, np.int64))
        return fit_cart(self, table, problem, labels.target, context)


def _numbers(given: Any, name: str, shape: tuple[int, ...], words: str) -> _Floats:
    """Return a parameter as an array of numbers of at least 0."""
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise PsephosError(f"{name} has an entry that is not a number.") from None
    if array.shape != shape:
        raise PsephosError(f"{name} has shape {array.shape}: give {words}, {shape}.")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise PsephosError(f"{name} has an entry that is not a finite number of at least 0.")
    return array


def _priors(priors: Any, k: int) -> _Floats | None:
    if priors is None:
        return None
    array = _numbers(priors, "priors", (k,), "one share per class")
    if abs(array.sum() - 1.0) > 1e-6:
        raise PsephosError(f"priors sum to {array.sum():.6g}: shares of all classes sum to 1.")
    return array


def _losses(loss: Any, k: int) -> _Floats | None:
    if loss is None:
        return None
    array = _numbers(loss, "loss", (k, k), "a row and a column per class")
    if np.diag(array).any():
        raise PsephosError("loss is not 0 on its diagonal: a right answer costs nothing.")
    if not (array.sum(axis=1) > 0).all():
        raise PsephosError("loss has a row of zeros: a class that costs nothing to mistake.")
    return array
