"""CART: binary trees with surrogates, priors and losses, pruned by cost-complexity."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, ClassWeightLike, Floats, Indices, NDArray, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import Choice, Integers
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Anything, Constraint, Interval, OneOf, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.kernels.sorted_trees.cart_search import ROW
from psephos.models.training import power_of, power_of_weights, refuse_huge
from psephos.models.tree.cart_readings import CartReadings, cut
from psephos.trees import cart
from psephos.trees.cart_growth import CartGrowth, cross_validate, growth_of, tree_of
from psephos.trees.tree import Tree
from psephos.vote import Constant, CostTarget, Readout, Vote, branch_voters
from psephos.vote.target import AnyTarget

DEEPEST = 62  # splits on a path: nodes are numbered 2 i and 2 i + 1 below node i
_FOLLOW = {"none": 0, "only": 1, "majority": 2}
_COUNT = 2.0**31  # a weight above it is not taken as a number of rows


def _for_comparison(params: Params, shape: Shape, seed: int) -> Params:
    """Return the parameters in a comparison: 1-SE rule, surrogates only where they are needed."""
    plain = not (shape.missing or shape.categorical)
    surrogates: Params = {"max_surrogates": 0} if plain else {}
    return {"cp": 1e-4, "one_standard_error": True, **surrogates, **params}


CONTENDER = Contender(
    "cart",
    "tree",
    {
        "quick": {"criterion": Choice(("gini", "entropy")), "min_samples_split": Integers(4, 40)},
        "samba": {
            "max_depth": Integers(1, 30),
            "criterion": Choice(("gini", "entropy")),
            "min_samples_split": Integers(2, 40),
        },
    },
    settings=_for_comparison,
    notes=(
        "grown to cp = 0.0001 and pruned by the 1-SE rule in 10 folds of the training part; "
        "surrogates only if values are missing or there are categories; their columns, read if "
        "another is missing, are not counted as used"
    ),
    grouped=True,
    small={"min_samples_split": 6, "n_folds": 3, "random_state": 0},
).weighted()


_FOUND = "greedy growth with surrogates, cost-complexity pruning"


@parameters
class _CART(CartReadings):
    """Base class of both estimators.

    Parameters
    ----------
    cp : float
        Minimum decrease of the risk by each split, as a share of the root's risk.
    min_samples_split : int
        Minimum number of rows of a node that is split.
    min_samples_leaf : int
        Minimum number of rows on either side of a split; None is a third of `min_samples_split`,
        rounded.
    max_depth : int or None
        Maximum depth of the tree, at most 62; None is 62.
    max_competitors : int
        Number of next best splits that are kept with each split (`splits_`).
    max_surrogates : int
        Number of surrogates that are kept with each split.
    surrogate_style : {'total', 'known'}
        Whether the agreement of a surrogate is a share of all rows that the split sends, or of
        those that have the surrogate's value.
    use_surrogates : {'majority', 'only', 'none'}
        How a row is sent if the split's value is missing. majority: by surrogates, otherwise with
        the majority. only: by surrogates, otherwise it stays at the node. none: it stays at the
        node.
    n_folds : int
        Folds of the cross-validation of `cptable_`; 0: none. Groups given to `fit` are kept
        together.
    folds : array of shape (n_samples,)
        The fold of each row, instead of random folds.
    one_standard_error : bool
        Prune to the smallest tree whose cross-validated error is within one standard error of the
        minimum.
    costs : array of shape (n_features,)
        A column's improvements are divided by its cost.
    n_jobs : int
        Threads of the cross-validation; the result does not depend on it.
    random_state : int, RandomState or None
        Seed of the folds.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote: one voter, the tree.
    tree_ : Tree
        The tree: its nodes, in flat arrays.
    growth_ : CartGrowth
        All splits, competitors and surrogates that were kept, and the complexity of every node.
    cptable_ : dict of ndarray
        The prunings, smallest first: cp, n_splits, rel_error, xerror, xstd.
    nodes_, splits_, competitors_ : dict of ndarray
        Columns of the tables of nodes, of splits with competitors and surrogates, and of
        competitors only.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "cp": Interval(0),
        "min_samples_split": Interval(2, whole=True),
        "min_samples_leaf": OneOf((Interval(1, whole=True),), none=True),
        "max_depth": OneOf((Interval(1, DEEPEST, whole=True),), none=True),
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
    max_competitors: int = 4
    max_surrogates: int = 5
    surrogate_style: str = "total"
    use_surrogates: str = "majority"
    n_folds: int = 10
    folds: Any = None
    one_standard_error: bool = False
    costs: Any = None
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None


@parameters
class CARTClassifier(_CART, VoteClassifier):
    """Classification tree of Breiman, Friedman, Olshen and Stone, grown as in rpart.

    Use it for one readable binary tree, pruned by cross-validation, with priors and losses of
    classes, and surrogate splits for missing values.

    A node with weight n_j of class j predicts the class with the smallest expected loss, which is
    its risk R. A split must lower the risk of the tree by `cp` times the root's risk::

        R(node)  = min_k sum_j n_j rho_j L[j][k]         rho_j   = prior_j / share_j
        improve  = W I(node) - W_L I(left) - W_R I(right)
        I        = sum_j p_j (1 - p_j)  or  -sum_j p_j ln p_j,   p_j ~ n_j alpha_j
        alpha_j  = prior_j sum_k L[j][k] / (sum_ik prior_i L[i][k]) / share_j

    over the rows that have the column's value; W is sum_j n_j alpha_j. A row whose value is missing
    goes by the first surrogate whose value it has: a split on another column that sends the rows in
    a similar way.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss', 'twoing'}
        I: the first formula for 'gini', the second for 'entropy' and 'log_loss'. 'twoing': the
        improvement is ``W_L W_R / (4 W) (sum_j |p_j(L) - p_j(R)|)^2``.
    priors : array of shape (n_classes,)
        Share of each class (in the order of `classes_`) in the population where the tree is used;
        None: that of the training rows.
    loss : array of shape (n_classes, n_classes)
        Loss of predicting the column's class if the row's is true; 0 on the diagonal. None: 1 for
        every wrong prediction.

    Attributes
    ----------
    variable_importance_ : ndarray of shape (`n_features_in_`,)
        Sum of the improvements of a column's splits, and of the splits it is a surrogate of times
        the adjusted agreement.

    Notes
    -----
    A split compares ``value < threshold``. A row in which every column is missing is left out of
    the training. Candidate sets of categories: with two classes, the nested sets in order of their
    class shares; with more, all sets of up to 12 categories of a node, and above that the nested
    sets in order of their first principal component, which may miss the best set. So may the nested
    sets with two classes if min_samples_leaf excludes some of them. Of equal splits the lowest
    threshold is used.

    If every sample weight is an integer, a row of weight w counts as w rows wherever rows are
    counted, so weight 2 equals the row given twice; otherwise, as in rpart, each row counts once.

    rpart 4.1.19 differs: rows count once whatever their weights, and a row in which every column is
    missing is kept if there are weights; a surrogate of categories needs two rows that disagree
    with the split; the cross-validated error reads the losses transposed; and a row that stays at
    an inner node there takes over the errors of the row before it. Sums are computed in another
    order: splits that are equal except for rounding may be chosen differently, as may sets of more
    than 12 categories.

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
    categorical_features: CategoricalFeatures = "from_dtype"
    class_weight: ClassWeightLike = None

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        target = labels.target
        k = target.n_classes
        priors, loss = _priors(self.priors, k), _losses(self.loss, k)
        if loss is not None:
            target = CostTarget(target.classes, loss)
        problem = cart.CartProblem(k, labels.y, weight, np.empty(0, np.int64), priors, loss)
        return fit_cart(self, table, problem, target, context)


@parameters
class CARTRegressor(_CART, VoteRegressor):
    """Regression tree of Breiman, Friedman, Olshen and Stone, grown as by rpart's anova method.

    Use it for one readable binary tree that predicts numbers.

    A node predicts the mean of its rows; its risk R is their sum of squares around it. A split must
    lower the risk of the tree by `cp` times the root's risk. Over the rows that have the column's
    value, with y centred at their mean and S the weighted sums of y on each side::

        improve = (S_L^2 / W_L + S_R^2 / W_R) / R(node)

    Missing values, surrogates, pruning and the parameters are those of `CARTClassifier`.

    Parameters
    ----------
    criterion : {'squared_error', 'friedman_mse'}
        Two names of the criterion above: Friedman's ``W_L W_R / (W_L + W_R) (mean_L - mean_R)^2``
        is the decrease of the sum of squares. The absolute error and the Poisson deviance are not
        available: risks, pruning and predictions are those of squares.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories. They are ordered by their means; a cut of this order is
        the best of all sets unless min_samples_leaf excludes some.

    Attributes
    ----------
    variable_importance_ : ndarray of shape (`n_features_in_`,)
        Decrease of the sum of squares by a column's splits, and by the splits it is a surrogate of
        times the adjusted agreement.

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
    contender: ClassVar[Contender] = CONTENDER.of_numbers("cart-regressor", "criterion")
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "criterion": Options(("squared_error", "friedman_mse"))
    }

    _: KW_ONLY
    criterion: str = "squared_error"

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        problem = cart.CartProblem(0, labels.y, weight, np.empty(0, np.int64))
        return fit_cart(self, table, problem, labels.target, context)


def _numbers(given: Any, name: str, shape: tuple[int, ...], words: str) -> Floats:
    """Return a parameter as an array of numbers of at least 0."""
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise PsephosError(f"{name} must be numbers; an entry is not a number.") from None
    if array.shape != shape:
        raise PsephosError(f"{name} must be {words}, of shape {shape}; got shape {array.shape}.")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise PsephosError(f"{name} must be finite numbers of at least 0; an entry is not.")
    return array


def _priors(priors: Any, k: int) -> Floats | None:
    if priors is None:
        return None
    array = _numbers(priors, "priors", (k,), "one share per class")
    if abs(array.sum() - 1.0) > 1e-6:
        raise PsephosError(f"priors must sum to 1; they sum to {array.sum():.6g}.")
    return array


def _losses(loss: Any, k: int) -> Floats | None:
    if loss is None:
        return None
    array = _numbers(loss, "loss", (k, k), "a row and a column per class")
    if np.diag(array).any():
        raise PsephosError("loss must be 0 on its diagonal, the loss of a right prediction.")
    if not (array.sum(axis=1) > 0).all():
        raise PsephosError("loss must not have a row of zeros, a class without any loss.")
    return array


def in_units(problem: cart.CartProblem) -> tuple[cart.CartProblem, tuple[int, int]]:
    """Return the problem, and the powers of two by which its weights and numbers were divided.

    The powers are 0 unless products would over- or underflow.
    """
    by_weight, by_number = power_of_weights(problem.weight), 0
    if problem.n_classes == 0:
        largest = float(np.abs(problem.y).max())
        by_number = 0 if largest == 0.0 else power_of(largest, largest)
        problem = problem._replace(y=np.ldexp(problem.y, -by_number))
    return problem._replace(weight=np.ldexp(problem.weight, -by_weight)), (by_weight, by_number)


def out_of_units(
    tree: Tree, growth: CartGrowth, by_weight: int, by_number: int
) -> tuple[Tree, CartGrowth]:
    """Return the tree and its growth in the units of the user's weights and numbers."""
    worth = growth.worth
    if not growth.regression:
        worth = np.where(growth.role < 2, np.ldexp(worth, by_weight), worth)
    growth = replace(
        growth,
        weight=np.ldexp(growth.weight, by_weight),
        risk=np.ldexp(growth.risk, by_weight + 2 * by_number),
        worth=worth,
    )
    gain = tree.gain if growth.regression else np.ldexp(tree.gain, by_weight)
    return replace(
        tree,
        counts=np.ldexp(tree.counts, by_weight),
        value=np.ldexp(tree.value, by_number),
        gain=gain,
    ), growth


def fit_cart(
    model: "_CART", table: Table, problem: cart.CartProblem, target: AnyTarget, context: Context
) -> VoteFit:
    """Return the vote of a grown (and pruned) tree, and its growth.

    `problem` lacks only the counts of rows and the costs of columns.
    """
    n, p = table.values.shape
    problem = problem._replace(copies=_copies(problem.weight), costs=_costs(model.costs, p))
    folds = _folds(model, n, context)
    presorted = cart.presort(table.values, table.n_codes)
    known = _known_rows(presorted.keys, presorted.known, n)
    if len(known) < n and len(known) > 0:
        table = table.take(known)
        fewer = {name: getattr(problem, name)[known] for name in ("y", "weight", "copies")}
        problem = _balanced_again(problem._replace(**fewer), problem, model)
        folds = None if folds is None else folds[known]
        presorted = cart.presort(table.values, table.n_codes)
    settings = _settings(model, p)
    if problem.n_classes == 0:
        refuse_huge(problem.y)
    problem, units = in_units(problem)
    data = cart.prepare(problem, presorted)
    rows = np.arange(len(problem.weight), dtype=np.int32)
    risk = cart.root_risk(data, rows)
    grown = cart.grow_tree(data, settings, rows, settings.cp * risk, reuse=folds is None)
    found = cart.prunings(grown, settings.cp * risk)
    if folds is not None:
        part = _part_of(table)
        found = cross_validate(data, settings, found, part, folds, model.n_jobs, risk)
    growth = growth_of(grown, data, found)
    tree = tree_of(growth, grown, data, settings.use_surrogates)
    if any(units):
        tree, growth = out_of_units(tree, growth, *units)
    if model.one_standard_error:
        if folds is None:
            raise PsephosError(
                "one_standard_error needs cross-validation: n_folds must be at least 2, with rows "
                "of two or more groups."
            )
        cp = float(found.cp[cart.one_se_row(found)])
        tree, growth = cut(tree, growth, cp), growth.pruned(cp)
    return _vote(tree, p, target), {"growth_": growth}


def _vote(tree: Tree, p: int, target: AnyTarget) -> Vote:
    numbers = target.kind == "regression"
    if not numbers:
        tree = replace(tree, value=_votes(tree.value))
    readout = Readout("sum", "identity") if numbers else Readout("normalised", "share")
    return Vote(branch_voters([tree], p), Constant(p, np.ones(1)), readout, target)


def _votes(shares: Floats) -> Floats:
    """Return the votes of class shares p, sum_k p_k code_k; equal shares are equal votes."""
    k = shares.shape[1]
    if k == 2:
        return shares[:, 1:] - shares[:, :1]
    return (k * shares - 1.0) / (k - 1)


def _settings(model: Any, p: int) -> cart.CartSettings:
    split, leaf = int(model.min_samples_split), model.min_samples_leaf
    return cart.CartSettings(
        cp=float(model.cp),
        min_samples_split=min(split, int(_COUNT)),
        min_samples_leaf=min(max(1, round(split / 3)) if leaf is None else int(leaf), int(_COUNT)),
        max_depth=DEEPEST if model.max_depth is None else int(model.max_depth),
        max_competitors=min(int(model.max_competitors), p - 1),
        max_surrogates=min(int(model.max_surrogates), p - 1),
        of_known=model.surrogate_style == "known",
        use_surrogates=_FOLLOW[model.use_surrogates],
        criterion=model.criterion,
    )


def _balanced_again(
    fewer: cart.CartProblem, every: cart.CartProblem, model: "_CART"
) -> cart.CartProblem:
    """Return the problem of fewer rows with classes balanced as they were among all rows."""
    if not isinstance(getattr(model, "class_weight", None), str):
        return fewer
    whole, kept = (
        np.bincount(one.y, one.weight, minlength=every.n_classes) for one in (every, fewer)
    )
    factor = whole / np.where(kept > 0, kept, 1.0) * (kept.sum() / whole.sum())
    return fewer._replace(weight=fewer.weight * factor[fewer.y])


def _copies(weight: Floats) -> NDArray[np.int64]:
    """Return the number of rows that each row counts as: its weight, if all are integers."""
    if bool(((weight == np.floor(weight)) & (weight < _COUNT)).all()):
        return weight.astype(np.int64)
    return np.ones(len(weight), np.int64)


def _costs(costs: Any, p: int) -> Floats | None:
    if costs is None:
        return None
    given = _numbers(costs, "costs", (p,), "one number per column")
    if not given.all():
        raise PsephosError(f"costs must be above 0; that of column {int(given.argmin())} is 0.")
    return given


def _known_rows(keys: NDArray[np.int64], known: NDArray[np.int64], n: int) -> Indices:
    """Return the rows with a value in some column."""
    present = np.zeros(n, np.bool_)
    for j in range(len(known)):
        present[keys[j, : known[j]] & ROW] = True
        if present.all():
            break
    return np.flatnonzero(present)


def _part_of(table: Table) -> Callable[[Array, Array], Floats]:
    """Return a function that returns some rows and columns of the table, dense."""
    values = table.values

    def part(rows: NDArray[Any], columns: NDArray[Any]) -> Floats:
        if isinstance(values, np.ndarray):
            return np.ascontiguousarray(values[np.ix_(rows, columns)], dtype=np.float64)
        return table.dense(columns)[rows]

    return part


def _folds(model: "_CART", n: int, context: Context) -> Indices | None:
    """Return the fold in which each row is held out, given or drawn; None without folds."""
    if model.folds is not None:
        return _given_folds(model.folds, n, context)
    units = np.arange(n) if context.groups is None else context.groups
    names, unit = np.unique(units, return_inverse=True)
    number = min(int(model.n_folds), len(names))
    if number < 2:
        return None
    order = context.generator(0).permutation(len(names))
    return (order % number)[unit].astype(np.intp)


def _given_folds(folds: Any, n: int, context: Context) -> Indices:
    given = np.asarray(folds)
    kept = context.kept
    if given.ndim != 1 or len(given) < n or (kept is None and len(given) != n):
        raise PsephosError(f"folds must have one fold per row, {n}; got shape {given.shape}.")
    names, fold = np.unique(given if kept is None else given[kept], return_inverse=True)
    if len(names) < 2:
        raise PsephosError("folds must have at least two folds; got one.")
    return fold.astype(np.intp)
