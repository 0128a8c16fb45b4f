"""AdaBoost.R2: regressors on rows drawn by weight, combined by their weighted median."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from psephos._types import Estimator, Floats, SeedLike
from psephos.base import Anatomy, Labels, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.members import weight_parameter
from psephos.estimator.params import Constraint, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.boosting.adaboost import AdaBoostClassifier
from psephos.models.boosting.common import WarmStart, continued, digests, keep
from psephos.models.committees.fitting import Data, MemberTask, fit_all, voters_of
from psephos.models.committees.naming import MEMBER, check_kind
from psephos.models.ensemble import Ensemble
from psephos.models.training import Training, distinct_rows, ordered_rows
from psephos.models.tree.cart import CARTRegressor
from psephos.runtime.progress import tracked
from psephos.trees.forest import number_of
from psephos.vote import Constant, Readout, Vote

_ROWS, _MEMBERS = 0, 1  # task ids of seeds


@parameters
class AdaBoostRegressor(WarmStart, Ensemble, VoteRegressor):
    """AdaBoost.R2: the weighted median of regressors fitted on samples weighted by earlier errors.

    Use it if a single tree predicts some rows badly. Each voter is fitted on rows drawn with
    replacement by their weights, which decrease where the voter's error is small.

    Parameters
    ----------
    estimator : regressor
        The voter. None is a `CARTRegressor` of depth 3 without pruning.
    n_estimators : int
        Maximum number of voters, T.
    learning_rate : float
        Shrinks the weight of every voter and the change of the sample weights.
    loss : {'linear', 'square', 'exponential'}
        Loss of an error, relative to the largest error D of the round.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; the estimator must accept them.
    n_jobs : int
        Ignored, as each round depends on the last; kept for scikit-learn's tools.
    random_state : int, RandomState or None
        Seed of the draws, and of voters whose own `random_state` is None.

    Attributes
    ----------
    estimator_errors_ : ndarray of shape (T,)
        The average loss of each voter, by the sample weights of its round.
    stopped_ : str
        Why the loop ended: 'all voters', 'perfect voter', 'average loss of one half' or 'sample
        weights below float64'.

    Notes
    -----
    With pi the sample weights of a round, sum 1, and e_i = abs(h(x_i) - y_i) / D::

        L_i  = e_i (linear), e_i^2 (square) or 1 - exp(-e_i) (exponential)
        mean = sum_i pi_i L_i;  beta = mean / (1 - mean)
        weight of the voter = learning_rate * ln(1 / beta)
        pi_i <- pi_i beta^(learning_rate * (1 - L_i)), divided by the sum

    A voter without error ends the loop with weight 1. One whose mean is 1/2 or more ends it and is
    dropped, unless it is the first, which then has weight 1. The prediction is the weighted median
    of the voters' predictions. If the median lies exactly between two voters it is their mean;
    scikit-learn and the paper use the lower one.

    References
    ----------
    Drucker (1997), "Improving regressors using boosting techniques", ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostRegressor(n_estimators=10, random_state=0).fit(X, y)
    >>> len(model), bool(model.score(X, y) > 0.45)
    (10, True)
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("nested voters", "joined voters", "tree voters", "linear voters"),
        "constant", "median", "boosting loop, losses relative to the largest",
    )  # fmt: skip
    contender: ClassVar[Contender] = AdaBoostClassifier.contender.of_numbers(
        "adaboost-regressor", "max_depth", settings=None, notes="AdaBoost.R2 on trees of depth 3"
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "estimator": MEMBER,
        "loss": Options(("linear", "square", "exponential")),
    }

    estimator: Any = None
    _: KW_ONLY
    n_estimators: int = 50
    learning_rate: float = 1.0
    loss: str = "linear"
    warm_start: bool = False
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None
    estimator_errors_: Floats = fitted()
    stopped_: str = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        rows = Training(table, labels.target, labels.y, weight)
        now, size = digests(self, rows, context), round(number_of(weight, len(weight)))
        # distinct rows in the order of their values: draws do not depend on order and copies
        rows = rows._replace(table=replace(table, rows=np.arange(len(weight))))
        rows = ordered_rows(distinct_rows(rows))
        index = rows.table.rows.astype(np.intp)
        alone = replace(context, groups=None if context.groups is None else context.groups[index])
        data = Data.of(rows.table, Labels(rows.target, rows.y), rows.weight, alone, self.n_jobs)
        data = replace(data, weight=None)
        run = continued(self, context, now) or _RegressorRun(rows.weight / rows.weight.sum())
        member = self.estimator
        if member is None:
            member = CARTRegressor(
                cp=0, min_samples_split=2, min_samples_leaf=1, max_depth=3, n_folds=0
            )
        check_kind(self, member, "estimator")
        weighs = weight_parameter(member) is not None
        end = self.n_estimators if run.stopped == "all voters" else 0
        for t in tracked(range(len(run.models), end), "rounds"):
            drawn = context.generator(_ROWS, t).choice(len(run.pi), size, p=run.pi)
            task = MemberTask(member, (_MEMBERS, t), drawn)
            if weighs:  # a row drawn twice is one row of weight 2
                counts = np.bincount(drawn, minlength=len(run.pi)).astype(np.float64)
                task = task._replace(rows=np.flatnonzero(counts), weight=counts)
            model = fit_all(data, [task])[0]
            predicted = voters_of([model], data).votes(data.X)[:, 0, 0]
            run.add(model, np.abs(predicted - data.y), self.loss, self.learning_rate)
            if run.stopped != "all voters":
                break
        keep(self, now, run, len(run.models))
        voters = voters_of(run.models, data)
        vote = Vote(
            voters, Constant(voters.n_features, np.array(run.weights)),
            Readout("median", "identity"), labels.target,
        )  # fmt: skip
        return vote, {"estimator_errors_": np.array(run.errors), "stopped_": run.stopped}


@dataclass
class _RegressorRun:
    """State of the loop: sample weights, and the voters with their weights and average losses."""

    pi: Floats
    models: list[Any] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    stopped: str = "all voters"

    def add(self, model: Estimator, error: Floats, loss: str, rate: float) -> None:
        """Add a voter with its absolute error on each row, and update the sample weights."""
        largest = float(error[self.pi > 0].max())
        each = error / largest if largest > 0 else error
        if loss == "square":
            each = each**2
        elif loss == "exponential":
            each = 1.0 - np.exp(-each)
        mean = float((self.pi * each).sum())
        if mean <= 0:
            self.stopped, weight = "perfect voter", 1.0
        elif mean >= 0.5:
            self.stopped, weight = "average loss of one half", 1.0
            if self.models:
                return
        else:
            beta = mean / (1.0 - mean)
            weight = rate * float(np.log(1.0 / beta))
            moved = self.pi * beta ** (rate * np.maximum(1.0 - each, 0.0))  # rows of weight 0 too
            if moved.sum() > 0:
                self.pi = moved / moved.sum()
            else:
                self.stopped = "sample weights below float64"
        self.models.append(model)
        self.weights.append(weight)
        self.errors.append(mean)
