"""Gradient boosting: trees fitted to what the vote so far still gets wrong (Friedman).

The loop of gradient boosting: from a table to a vote of a constant and trees.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, ClassWeightLike, Floats, NDArray, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice, Integers, LogUniform, Uniform
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, OneOf, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.boosting.common import WarmStart, continued, digests, hold_out_rows, keep
from psephos.models.boosting.losses import (
    GradientLoss,
    LeafRows,
    classification_loss,
    regression_loss,
)
from psephos.models.boosting.newton_fit import column_values, vote_of
from psephos.models.ensemble import BoostedSum, Leaves
from psephos.models.sampling import drawn_columns
from psephos.models.training import Training, power_of_weights
from psephos.runtime.progress import tracked
from psephos.trees.gradient import GradientLimits, SquaresGrower
from psephos.trees.newton import TreeSample
from psephos.vote import Readout

CONTENDER = Contender(
    "gradient-boosting",
    "boosting",
    {
        "quick": {
            "n_estimators": Integers(10, 40),
            "max_depth": Integers(1, 3),
            "learning_rate": LogUniform(0.05, 0.5),
        },
        "samba": {
            "n_estimators": Integers(1, 300),
            "max_depth": Integers(1, 10),
            "loss": Choice(("log_loss", "exponential")),
            "learning_rate": Uniform(0, 1),
        },
    },
    ensemble=True,
    first={"quick": {"n_estimators": 30, "learning_rate": 0.2}},
    binary_only={"loss": ("exponential",)},
    notes="every cut is looked at",
    small={"n_estimators": 4, "learning_rate": 0.7, "random_state": 0},
).weighted()


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
        Least weight of a node that is split (number of rows, without sample weights); below 1 a
        share of the total. 2: no limit.
    min_samples_leaf : int or float
        Least weight on either side of a split; below 1 a share of the total. 1: no limit.
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
        "subsample": _SHARE,
        "criterion": Options(("friedman_mse", "squared_error")),
        "min_samples_split": OneOf((Interval(2, whole=True), _PART)),
        "min_samples_leaf": OneOf((Interval(1, whole=True), _PART)),
        "min_weight_fraction_leaf": Interval(0, 0.5),
        "min_impurity_decrease": Interval(0),
        "max_features": OneOf(
            (Interval(1, whole=True), _SHARE, Options(("sqrt", "log2"))), none=True
        ),
        "validation_fraction": Interval(1e-6, 1, open_high=True),  # less would be no row
        "n_iter_no_change": OneOf((Interval(1, whole=True),), none=True),
        "tol": Interval(0),
        "tree_method": Options(("exact", "hist")),
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
    random_state: SeedLike = None
    max_features: Any = None
    max_leaf_nodes: int | None = None
    validation_fraction: float = 0.1
    n_iter_no_change: int | None = None
    tol: float = 1e-4
    warm_start: bool = False
    tree_method: str = "exact"
    max_bin: int = 256
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    n_estimators_: int = fitted()
    train_score_: Floats = fitted()
    validation_losses_: Floats = fitted()
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
        ``sum r_i / sum |r_i|``, probabilities 1 / (1 + exp(-2 F)).

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
    constraints: ClassVar[Mapping[str, Constraint]] = {"loss": Options(("log_loss", "exponential"))}

    _: KW_ONLY
    tol: float = 1e-4
    class_weight: ClassWeightLike = None

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
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
    loss : {'squared_error', 'absolute_error', 'quantile'}
        'squared_error': the mean; r = y - F; leaves are the mean of r. 'absolute_error': the
        median; the sign of y - F; the median of y - F. 'quantile': the `alpha`-quantile; alpha
        above F and alpha - 1 below it; the alpha-quantile of y - F.
    alpha : float
        The quantile of 'quantile'.

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
    Statistics 29, algorithms 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=10).fit(X, y)
    >>> model.vote_.n_voters
    11
    """

    contender: ClassVar[Contender] = CONTENDER.of_numbers("gradient-boosting-regressor", "loss")
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "loss": Options(("squared_error", "absolute_error", "quantile")),
        "alpha": _PART,
    }

    _: KW_ONLY
    loss: str = "squared_error"
    max_features: Any = None
    alpha: float = 0.9

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        data = Training(table, labels.target, labels.y, weight)
        loss = regression_loss(self.loss, self.alpha, data.y)
        return fit_gradient(self, data, context, loss, Readout("sum", "identity"))


_ROWS, _COLUMNS, _TIES = 1, 2, 4  # task ids of seeds


def fit_gradient(
    model: "_Gradient", data: Training, context: Context, loss: GradientLoss, readout: Readout
) -> VoteFit:
    """Boost trees with the parameters of a recipe."""
    held = None
    train = data
    if model.n_iter_no_change is not None:
        rows, rest = hold_out_rows(data, context, model.validation_fraction)
        train, held = data.take(rows), data.take(rest)
    now = digests(model, data, context)
    boosted = continued(model, context, now) or _GradientLoop(model, train, context, loss)
    reason = boosted.run(model, held)
    keep(model, now, boosted, len(boosted.rounds))
    vote = vote_of(len(boosted.values), boosted.base, boosted.rounds, train.target, readout)
    return vote, {
        "n_estimators_": len(boosted.rounds),
        "train_score_": np.array(boosted.scores),
        "validation_losses_": np.array(boosted.losses),
        "stopped_": reason,
    }


class _GradientLoop:
    """The boosting loop, with its trees and training scores so far."""

    def __init__(self, model: Any, data: Training, context: Context, loss: GradientLoss) -> None:
        self.model, self.data, self.context, self.objective = model, data, context, loss
        self.values = self._values(data)
        p, n = self.values.shape
        weight = data.weight
        limits = limits_of(model, float(weight.sum()))
        self.grower = SquaresGrower(
            self.values, data.table.n_codes, weight, limits, model.tree_method, model.max_bin,
            model.n_jobs,
        )  # fmt: skip
        self.base = loss.start(data.y, weight)
        self.margin = np.repeat(self.base[None], n, axis=0)
        self.share = column_share(model.max_features, p)
        self.rounds: list[list[Any]] = []  # the trees of each, one for each output
        self.scores: list[float] = []
        self.losses: list[float] = []
        self.held_margin: Floats | None = None
        self.latest = np.full(model.n_iter_no_change or 1, np.inf)
        self.reason = "all rounds"

    def _values(self, data: Training) -> Array:
        """Return the (p, n) table; bins are alike in either type, middles are not."""
        return column_values(data.table, np.float64 if self.model.tree_method == "exact" else None)

    def run(self, model: "_Gradient", held: Training | None) -> str:
        """Grow further rounds, until the held-out loss has long not been lower by `tol`."""
        self.model = model
        rest = self._values(held) if held is not None else None
        if held is not None and self.held_margin is None:
            self.held_margin = np.repeat(self.base[None], len(held.y), axis=0)
        margin, latest = self.held_margin, self.latest
        ended = self.reason == "validation"  # before a warm start
        for t in tracked(range(len(self.rounds), 0 if ended else model.n_estimators), "rounds"):
            with np.errstate(over="ignore", invalid="ignore"):
                trees = self._round(t)
            if not np.isfinite(self.scores[-1]):
                raise PsephosError(
                    f"learning_rate={model.learning_rate}: after round {t + 1} the loss is beyond "
                    "float64. Give a smaller one; above 2 boosting seldom converges."
                )
            if held is None or rest is None or margin is None:
                continue
            for c, tree in enumerate(trees):
                margin[:, c] += tree.answer[tree.leaves(rest)]
            self.losses.append(self._loss(margin, held.y, held.weight))
            if not (self.losses[-1] + model.tol < latest).any():
                self.reason = "validation"
                break
            latest[t % len(latest)] = self.losses[-1]
        return self.reason

    def _round(self, t: int) -> list[Any]:
        """Grow one tree for each output, all from the same margins."""
        y, weight = self.data.y, self.data.weight
        rows = self._rows(t)
        residual = self.objective.residuals(self.margin, y, weight)
        inside = slice(None) if rows.all() else np.flatnonzero(rows)
        trees: list[Any] = []
        for c in range(residual.shape[1]):
            r = np.ascontiguousarray(residual[:, c])
            tree, position, own = self.grower.grow(r, self._draws(rows, t, c))
            leaf = own[position]
            leaves = LeafRows(leaf[inside], tree.n_nodes, weight[inside])
            values = self.objective.answers(r[inside], self.margin[inside, c], y[inside], leaves)
            answer: Any = self.model.learning_rate * values
            tree.answer = answer
            self.margin[:, c] += answer[leaf]
            trees.append(tree)
        self.rounds.append(trees)
        self.scores.append(self._loss(self.margin[inside], y[inside], weight[inside]))
        return trees

    def _loss(self, margin: Floats, y: Array, weight: Floats) -> float:
        """Return the mean loss; weights far from 1 are brought near it first."""
        return self.objective.loss(margin, y, np.ldexp(weight, -power_of_weights(weight)))

    def _rows(self, t: int) -> NDArray[np.bool_]:
        n, share = len(self.margin), self.model.subsample
        if share >= 1.0:
            return np.ones(n, np.bool_)
        rows = np.zeros(n, np.bool_)
        size = max(1, int(share * n))
        rows[self.context.generator(_ROWS, t).choice(n, size, replace=False)] = True
        return rows

    def _draws(self, rows: NDArray[np.bool_], t: int, c: int) -> TreeSample:
        p = len(self.values)
        ties = 1 + self.context.integer(_TIES, t, c)
        if self.share >= 1.0:
            return TreeSample(rows, np.arange(p), ties=ties)
        rng = self.context.generator(_COLUMNS, t, c)
        return TreeSample(rows, np.arange(p), by_node=self.share, rng=rng, n_features=p, ties=ties)


def limits_of(model: "_Gradient", total: float) -> GradientLimits:
    """Return the limits of growth that a model's parameters set, with rows of that much weight.

    The integers 1 for a leaf and 2 for a split set no limit, whatever the weights.
    """
    leaf, split = model.min_samples_leaf, model.min_samples_split
    return GradientLimits(
        model.max_depth,
        (0.0 if leaf == 1 else float(leaf)) if leaf >= 1 else float(leaf) * total,
        float(model.min_weight_fraction_leaf),
        (0.0 if split == 2 else float(split)) if split >= 2 else float(split) * total,
        float(model.min_impurity_decrease),
        model.max_leaf_nodes,
    )


def column_share(wanted: Any, p: int) -> float:
    """Return the share of the p columns that a node draws."""
    number = drawn_columns(wanted, p)
    return 1.0 if number == p else (number + 0.5) / p  # rounds down to the number
