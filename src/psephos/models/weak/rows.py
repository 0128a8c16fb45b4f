"""The training rows of weak labels: codes, weights and inputs."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.models.committees.fitting import Data
from psephos.models.training import Training, distinct_rows, ordered_rows
from psephos.models.weak.learner import Inputs, ScoreLearner
from psephos.supervision.risks import MarginLoss
from psephos.vote import design_matrix
from psephos.vote.target import ClassTarget

if TYPE_CHECKING:
    from psephos.models.weak.settings import WeakLearner


@dataclass(frozen=True)
class WeakRows:
    """The training rows: codes 1 (positive), 0 (negative), -1 (unlabelled), weights, inputs."""

    model: Any
    data: Data  # for other classifiers; y holds class indices, -1 for unlabelled rows
    codes: Indices  # (n,)
    weight: Floats  # (n,)
    positive: int  # the index of the positive class
    inputs: Inputs
    Z: Floats  # (n, q); scaled inputs of density ratios, priors and the built-in score
    context: Context
    counts: dict[int, int]  # number of rows of each code, copies included

    @property
    def code(self) -> Floats:
        """Return the codes of the negative and the positive class."""
        order = [1 - self.positive, self.positive]
        return self.data.target.code[order]

    @property
    def loss(self) -> MarginLoss:
        """Return the loss of the model."""
        return MarginLoss(self.model.loss)

    @cached_property
    def linear(self) -> ScoreLearner:
        """Return the learner of margins that are linear in the inputs."""
        return ScoreLearner.linear(self.inputs, self.Z)

    @property
    def features(self) -> Floats:
        """Return the inputs of density ratios and priors.

        With more inputs than rows these are principal components, which preserve distances and
        penalised linear models.
        """
        return self.linear.A

    @property
    def numbers(self) -> Floats:
        """Return the table with categories as 0/1 columns, for classifiers of numeric columns."""
        X, design = self.data.X, self.inputs.design
        return X if design is None else design_matrix(X, design.source, design.level)

    def take(self, rows: Indices) -> "WeakRows":
        """Return these rows only, with the same inputs."""
        return replace(
            self,
            data=self.data.take(rows, self.weight[rows]),
            codes=self.codes[rows],
            weight=self.weight[rows],
            Z=self.Z[rows],
        )

    @property
    def ignored(self) -> bool:
        """Return whether recorded negatives are left out."""
        return getattr(self.model, "negatives", None) == "ignore"

    def coded(self, codes: Indices) -> "WeakRows":
        """Return the same rows with other codes."""
        return replace(self, codes=codes)

    def learner(self) -> ScoreLearner:
        """Return the learner of the model's kernel."""
        m = self.model
        if m.kernel == "linear":
            return self.linear
        return ScoreLearner.rbf(self.inputs, self.Z, m.sigma, m.n_components, self.context)


def read_rows(
    model: "WeakLearner", table: Table, labels: Labels, weight: Floats, context: Context
) -> WeakRows:
    """Return the rows, copies of one label merged, with codes by the positive class."""
    target = labels.target
    given = labels.y
    if context.groups is None:  # so weight 2 equals the row given twice
        own = ordered_rows(distinct_rows(Training(table, target, labels.y, weight)))
        table, weight = own.table, own.weight
        labels = labels._replace(y=own.y)
    positive = positive_code(model, target)
    classes = {-1: -1, 0: 1 - positive, 1: positive}
    counts = {code: int((given == k).sum()) for code, k in classes.items()}
    y = labels.y
    codes = np.where(y < 0, -1, np.where(y == positive, 1, 0)).astype(np.intp)
    data = Data.of(table, labels, weight, context, None)
    inputs, Z = Inputs.of(table, weight, model.scaling)
    return negatives_read(
        WeakRows(model, data, codes, weight, positive, inputs, Z, context, counts)
    )


def positive_code(model: "WeakLearner", target: ClassTarget) -> int:
    """Return the index of the positive class, whose labels are right."""
    classes = target.classes.tolist()
    if model.pos_label is None:
        return 1
    if model.pos_label not in classes:
        raise PsephosError(
            f"pos_label must be one of the classes {classes}; got {model.pos_label!r}."
        )
    return int(classes.index(model.pos_label))


def check_weights(model: Any, labels: Labels, weight: Floats) -> None:
    """Raise PsephosError if a kind of rows that the fit needs has no weight, naming the kind."""
    positive, y = positive_code(model, labels.target), labels.y
    if not (y == positive).any():
        raise PsephosError(
            f"no row is labelled positive ({labels.target.classes.tolist()[positive]!r}), and "
            f"{type(model).__name__} needs positive rows: set classes and pos_label."
        )
    sides = {-1: "without a label", positive: "labelled positive"}
    if model.contender.both_recorded:
        sides[1 - positive] = "labelled negative"
    for code, kind in sides.items():
        if (y == code).any() and not (weight[y == code] > 0).any():
            raise PsephosError(
                f"sample_weight is zero on every row {kind}: {type(model).__name__} needs such "
                "rows with weight above 0."
            )


def negatives_read(rows: WeakRows) -> WeakRows:
    """Return the rows with those labelled negative treated by the parameter `negatives`."""
    mode = getattr(rows.model, "negatives", "ignore")
    negative, unlabelled = rows.codes == 0, rows.codes == -1
    if mode == "ignore" or not negative.any():
        return rows
    if mode == "unlabeled":
        moved = rows.coded(np.where(negative, -1, rows.codes).astype(np.intp))
        merged = {1: rows.counts[1], 0: 0, -1: rows.counts[-1] + rows.counts[0]}
        return replace(moved, counts=merged)
    if not unlabelled.any():
        return rows
    raise PsephosError(
        f"{negative.sum()} rows are labelled negative while others have no label, and a "
        "positive-unlabelled risk does not use negative labels. Set negatives='ignore' to leave "
        "them out or negatives='unlabeled' to count them as unlabelled; if recorded negatives may "
        "be positive, use LIoISClassifier."
    )
