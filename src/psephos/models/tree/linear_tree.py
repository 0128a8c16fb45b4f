"""Trees with a linear or logistic model in each leaf."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from psephos._types import Array, ClassWeightLike, Floats, Indices, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import BALANCED
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, OneOf, Several
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.files.field_types import AnySize
from psephos.models import training
from psephos.models.training import make_splits
from psephos.runtime.jit import run_blocks
from psephos.runtime.threads import one_thread
from psephos.trees import linear
from psephos.trees.tree import Tree
from psephos.vote import Constant, Readout, Scores, Vote, Voters, leaf_gates
from psephos.vote.target import AnyTarget, Target

_PENALTIES = (1.0, 10.0, 100.0)
_MOST_TERMS = 30
_Split = tuple[Indices, Indices]
_POSITIVE = Interval(0, open_low=True)
_NOTES = "penalty and pruning by 5 folds of the training part; not among the default models"


@parameters
class _LinearTree:
    """Base class of both estimators.

    Parameters
    ----------
    alphas : float or list of float
        Penalty; from a list, the one with the smallest loss on held-out rows. None is (1, 10, 100).
    max_terms : int or None
        Maximum number of inputs of the linear models: columns, and 0/1 columns of categories. They
        are selected forwards, by the decrease of the loss. None: 30, or a fifth of the rows if that
        is fewer, but at least 3.
    max_depth : int
        Maximum depth of the tree.
    min_samples_leaf : int
        Minimum number of rows on either side of a split.
    one_standard_error : bool
        Use the smallest tree whose loss on held-out rows is within one standard error of the
        minimum.
    n_folds : int
        Folds that choose penalty and pruning, stratified by class, with groups kept together; fewer
        if a class has fewer rows. With 0, or if rows cannot be divided: the middle penalty, and no
        pruning.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories: a split divides them into two sets, and the linear
        models have a 0/1 column per category, or one column for two categories.
    n_jobs : int
        Threads of the cross-validation; the result does not depend on it.
    random_state : int, RandomState or None
        Seed of the folds.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote: one voter per leaf, its linear model; the leaf of a case has weight 1.
    tree_ : Tree
        The tree, in flat arrays; the value of a node is its coefficients on standardised inputs.
    alpha_ : float
        The penalty chosen.
    losses_ : ndarray of shape (n_alphas,)
        The smallest mean loss on held-out rows for each penalty: log-loss, or half the squared
        error divided by the square of the smallest power of two above the greatest abs(y); 0
        without folds.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "alphas": OneOf((_POSITIVE, Several(_POSITIVE)), none=True),
        "max_terms": OneOf((Interval(1, whole=True),), none=True),
        "max_depth": Interval(0, 62, whole=True),
        "min_samples_leaf": Interval(1, whole=True),
        "n_folds": OneOf((Interval(0, 0, whole=True), Interval(2, whole=True))),
    }
    anatomy: ClassVar[Anatomy] = Anatomy(
        ("linear voters", "coded voters"),
        "first match or constant",
        "normalised",
        "splits of the residuals of linear models, cost-complexity pruning",
    )

    alphas: float | Sequence[float] | None = None
    max_terms: int | None = None
    _: KW_ONLY
    max_depth: int = 6
    min_samples_leaf: int = 5
    one_standard_error: bool = False
    n_folds: int = 5
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None
    tree_: Tree = fitted()
    alpha_: float = fitted()
    losses_: AnySize = fitted()

    @one_thread()
    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        if context.groups is None:  # so copies of a row are held out together
            table, labels, weight = training.merged_copies(table, labels, weight)
        X, y, k = table.dense(), labels.y, labels.target.n_classes
        power = 0
        if not k:
            training.refuse_huge(y)
            power = int(np.frexp(np.abs(y).max())[1])
            y = np.ldexp(y, -power)
        weight = np.ldexp(weight, -training.power_of_weights(weight))
        inputs = _Inputs.of(table, X, weight)
        whole = bool(((weight == np.floor(weight)) & (weight < 2.0**31)).all())
        problem = linear.LinearProblem(
            X=X,
            Z=inputs.standardised(X),
            Y=np.eye(k)[y] if k > 2 else y[:, None].astype(np.float64),
            weight=weight,
            copies=weight.astype(np.intp) if whole else np.ones(len(y), np.intp),
            n_codes=table.code_counts,
            n_classes=k,
        )
        found = _chosen(self, problem, _splits(self, problem, labels.y, context))
        vote = _vote(found.growth, inputs, power, labels.target, X.shape[1])
        return vote, {"tree_": found.growth.tree, "alpha_": found.alpha, "losses_": found.losses}


@parameters
class LinearTreeClassifier(_LinearTree, VoteClassifier):
    """A tree with a logistic regression in each leaf.

    Use it if a logistic regression is nearly right, but with different coefficients in a few
    regions: each leaf has a readable formula, a correction of the formula above it.

    Every node has log-odds ``F(x) = b + sum_j c_j z_j``, with z the standardised columns; with more
    than two classes one such sum per class (softmax). Coefficients start from those of the parent
    and are corrected on the node's own rows, minimising::

        sum w log-loss(F) + alpha / 2 ((b - b_above)^2 + |c - c_above|^2)

    At the root c_above is 0 and b is not penalised: a tree of one leaf is ridge-penalised logistic
    regression. A node is split where the residuals of its model, class less probability, are best
    explained by different corrections on the two sides (formula in `psephos.trees.linear`).

    The tree is pruned by cost-complexity: at limit l a split is kept if its subtree lowers the
    training loss by more than l per leaf it adds. The limit and alpha have the smallest loss on
    held-out rows, by trees grown without each fold.

    Notes
    -----
    A missing value goes to the side of a split that was better for the training rows in which it is
    missing or, if there are none, to the side of greater weight; in a linear model it is replaced
    by the training mean (for a 0/1 column, the share). Models extrapolate linearly: a value far
    outside the training range gives a prediction far outside, too. With more than 64 columns, a
    node tries the 64 best by a constant on either side. A row of weight w counts as w rows in all
    sums; copies of a row are held out together. The logistic model trees of Landwehr, Hall & Frank
    (LMT) are another method: boosted on each path, with C4.5's splits.

    References
    ----------
    Landwehr, Hall & Frank (2005), "Logistic model trees", Machine Learning 59. Böhning (1992),
    "Multinomial logistic regression algorithm", Annals of the Institute of Statistical Mathematics
    44 (the bound of the curvature). Zeileis, Hothorn & Hornik (2008), "Model-based recursive
    partitioning", Journal of Computational and Graphical Statistics 17.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import LinearTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearTreeClassifier(10.0, max_terms=5, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    contender: ClassVar[Contender] = Contender(
        "linear-tree", "tree", {"quick": {"class_weight": BALANCED}}, grouped=True, notes=_NOTES,
        small={"alphas": 10.0, "n_folds": 3, "min_samples_leaf": 8, "random_state": 0},
    )  # fmt: skip
    _: KW_ONLY
    min_samples_leaf: int = 5
    class_weight: ClassWeightLike = None


@parameters
class LinearTreeRegressor(_LinearTree, VoteRegressor):
    """A tree with a linear regression in each leaf.

    As `LinearTreeClassifier`, with a prediction that is linear in the columns and half the squared
    error as the loss; a tree of one leaf is ridge regression on standardised columns.

    Notes
    -----
    Missing values, splits and pruning are those of `LinearTreeClassifier`. M5 (Quinlan; Wang &
    Witten) splits by the variance of the target on either side, drops terms and smooths a leaf's
    prediction with those above it; here the penalty has the effect of smoothing.

    References
    ----------
    Quinlan (1992), "Learning with continuous classes", AI'92. Wang & Witten (1997), "Induction of
    model trees for predicting continuous classes", ECML poster papers.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import LinearTreeRegressor
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = LinearTreeRegressor(0.01, random_state=0).fit(x, np.abs(x[:, 0]))
    >>> model.tree_.n_leaves
    2
    """

    contender: ClassVar[Contender] = Contender(
        "linear-tree-regressor", "tree", grouped=True, notes=_NOTES,
        small={"alphas": 1.0, "n_folds": 3, "min_samples_leaf": 8, "random_state": 0},
    )  # fmt: skip


# ---------------------------------------------------------------------- fitting
class _Inputs(NamedTuple):
    """The inputs of the linear models: their design, training means and standard deviations."""

    design: training.Design | None
    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, table: Table, X: Floats, weight: Floats) -> "_Inputs":
        """Return the inputs of a table, and its values (n, p)."""
        design = training.Design.of_table(table)
        _, mean, scale = training.moments_of_columns(cls._numbers(design, X), weight)
        return cls(design, mean, np.where(scale > 0, scale, np.inf))

    @staticmethod
    def _numbers(design: training.Design | None, X: Floats) -> Floats:
        return X if design is None else design.matrix(X)

    def standardised(self, X: Floats) -> Floats:
        """Return (n, q): 0 where a value is missing or the column is constant."""
        return np.nan_to_num((self._numbers(self.design, X) - self.mean) / self.scale)


class _Chosen(NamedTuple):
    """A pruned tree, its penalty, and the smallest held-out loss for each penalty."""

    growth: linear.LinearGrowth
    alpha: float
    losses: Floats


def _splits(
    model: "_LinearTree", problem: linear.LinearProblem, y: Array, context: Context
) -> list[_Split]:
    """Return the folds, fewer if a class has fewer rows; none if rows cannot be divided."""
    groups, k = context.groups, problem.n_classes
    units = len(y) if groups is None else len(np.unique(groups))
    counts = np.bincount(y) if k else np.array([units])
    folds = min(model.n_folds, units, int(counts[counts > 0].min()) if groups is None else units)
    if folds < 2:
        return []
    return make_splits(y, k, groups=groups, n_folds=folds, seed=context.integer(0))


def _chosen(model: "_LinearTree", problem: linear.LinearProblem, splits: list[_Split]) -> _Chosen:
    """Return the tree with the penalty and limit of the smallest loss on held-out rows."""
    alphas = _PENALTIES if model.alphas is None else tuple(np.ravel(model.alphas).tolist())
    n, held = len(problem.X), np.zeros(len(problem.X), np.bool_)
    plans = [_settings(model, alpha, n) for alpha in alphas]
    found: dict[int, linear.LinearGrowth] = {}

    def grow(i: int) -> None:
        found[i] = linear.grow_linear(problem, plans[i])

    run_blocks(grow, len(alphas), model.n_jobs)
    grown = [found[i] for i in range(len(alphas))]
    limits = [linear.limits_of(one) for one in grown]
    if not splits:
        middle = len(alphas) // 2
        return _Chosen(grown[middle], alphas[middle], np.zeros(len(alphas)))
    errors = [np.zeros((n, len(own))) for own in limits]

    def one(task: int) -> None:
        train, test = splits[task // len(alphas)]
        i = task % len(alphas)
        part = problem.take(train)
        share = part.weight.sum() / problem.weight.sum()
        growth = linear.grow_linear(part, plans[i])
        errors[i][test] = linear.held_out_losses(growth, problem.take(test), share * limits[i])

    run_blocks(one, len(splits) * len(alphas), model.n_jobs)
    for _, test in splits:
        held[test] = True
    return _least(model, problem.weight[held], [e[held] for e in errors], alphas, grown, limits)


def _settings(model: "_LinearTree", alpha: float, n_rows: int) -> linear.LinearSettings:
    few = min(_MOST_TERMS, max(3, n_rows // 5))
    terms = few if model.max_terms is None else model.max_terms
    return linear.LinearSettings(float(alpha), terms, model.max_depth, model.min_samples_leaf)


def _least(
    model: "_LinearTree",
    weight: Floats,
    errors: list[Floats],
    alphas: tuple[float, ...],
    grown: list[linear.LinearGrowth],
    limits: list[Floats],
) -> _Chosen:
    """Return the best of all prunings; of ties the one with fewest leaves and greatest penalty."""
    share = weight / weight.sum()
    means = [share @ own for own in errors]
    losses = np.array([own.min() for own in means])
    i = int(losses.argmin())
    best = errors[i][:, int(means[i].argmin())]
    slack = 1e-9 * losses[i]
    if model.one_standard_error:
        slack += float(np.sqrt(share @ (best - losses[i]) ** 2 / len(best)))
    near = [
        ((growth.complexity > limit).sum(), -alpha, g, float(limit))
        for g, (growth, alpha) in enumerate(zip(grown, alphas, strict=True))
        for limit, mean in zip(limits[g], means[g], strict=True)
        if mean <= losses[i] + slack
    ]
    _, alpha, g, limit = min(near)
    tree = grown[g].pruned(limit)
    return _Chosen(grown[g]._replace(tree=tree, complexity=np.empty(0)), -alpha, losses)


# ---------------------------------------------------------------------- the vote
def _vote(
    growth: linear.LinearGrowth, inputs: _Inputs, power: int, target: AnyTarget, n_features: int
) -> Vote:
    tree, k = growth.tree, target.n_classes
    leaves = np.flatnonzero(tree.n_children == 0)
    voters = _voters(growth, leaves, inputs, power, target)
    if inputs.design is not None:
        voters = inputs.design.coded(voters)
    return Vote(
        voters.take(np.arange(len(leaves))),
        leaf_gates(tree, n_features) if len(leaves) > 1 else Constant(n_features, np.ones(1)),
        Readout("normalised", "share" if k else "identity"),
        target,
    )


def _voters(
    growth: linear.LinearGrowth, leaves: Indices, inputs: _Inputs, power: int, target: AnyTarget
) -> Voters:
    """Return the linear models of leaves, on unstandardised inputs."""
    tree, k = growth.tree, target.n_classes
    order = np.argsort(growth.inputs)
    read = growth.inputs[order]
    coef = tree.value[leaves].reshape(len(leaves), len(read) + 1, -1)
    constant, coef = coef[:, 0], coef[:, 1:][:, order]
    mean, scale = inputs.mean[read], inputs.scale[read]
    raw = coef / scale[:, None]
    constant = constant - (raw * mean[:, None]).sum(axis=1)
    voter, position = np.nonzero((raw != 0).any(axis=2))
    value = target.code if isinstance(target, Target) else np.zeros((1, 1))
    return Scores(
        len(inputs.mean), read, np.searchsorted(voter, np.arange(len(leaves) + 1)).astype(np.intp),
        position, np.ldexp(constant, power), value, "a linear model",
        "probability" if k else "value", fill=mean[position],
        coef=np.ascontiguousarray(np.ldexp(raw[voter, position], power).T),
    )  # fmt: skip
