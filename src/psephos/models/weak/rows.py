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
    data: Data  # as any classifier is given them; its y are class indices, of unlabelled rows -1
    codes: Indices  # (n,)
    weight: Floats  # (n,)
    positive: int  # the index of the positive class
    inputs: Inputs
    # (n, q); what ratios, priors and our own score look at; another classifier reads the table
    # itself
    Z: Floats
    context: Context
    counts: dict[int, int]  # how many rows are of each code, copies counted

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
        """Return what minimises a risk of margins that are linear in the inputs."""
        return ScoreLearner.linear(self.inputs, self.Z)

    @property
    def features(self) -> Floats:
        """Return what ratios and priors look at: the inputs.

        Where there are more inputs than rows, their principal components: distances and penalised
        lines are the same.
        """
        return self.linear.A

    @property
    def numbers(self) -> Floats:
        """Return the table for a classifier that reads numbers alone: categories as 0/1 columns."""
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
        """Return whether recorded negatives do not count."""
        return getattr(self.model, "negatives", None) == "ignore"

    def coded(self, codes: Indices) -> "WeakRows":
        """Return the same rows with other codes."""
        return replace(self, codes=codes)

    def learner(self) -> ScoreLearner:
        """Return what minimises a risk of margins."""
        m = self.model
        if m.kernel == "linear":
            return self.linear
        return ScoreLearner.rbf(self.inputs, self.Z, m.sigma, m.n_components, self.context)


def read_rows(
    model: "WeakLearner", table: Table, labels: Labels, weight: Floats, context: Context
) -> WeakRows:
    """Return the rows, equal ones of one label made one; codes by which class is positive."""
    target = labels.target
    given = labels.y
    if context.groups is None:  # weight 2 is the row twice
        own = ordered_rows(distinct_rows(Training(table, target, labels.y, weight)))
        table, weight = own.table, own.weight
        labels = labels._replace(y=own.y)
    positive = positive_code(model, target)
    places = {-1: -1, 0: 1 - positive, 1: positive}
    counts = {code: int((given == place).sum()) for code, place in places.items()}
    y = labels.y
    codes = np.where(y < 0, -1, np.where(y == positive, 1, 0)).astype(np.intp)
    data = Data.of(table, labels, weight, context, None)
    inputs, Z = Inputs.of(table, weight, model.scaling)
    return negatives_read(
        WeakRows(model, data, codes, weight, positive, inputs, Z, context, counts)
    )


def positive_code(model: "WeakLearner", target: ClassTarget) -> int:
    """Return the index of the class whose labels are sure."""
    classes = target.classes.tolist()
    if model.pos_label is None:
        return 1
    if model.pos_label not in classes:
        raise PsephosError(
            f"pos_label is {model.pos_label!r}, which must be one of the classes {classes}."
        )
    return int(classes.index(model.pos_label))


def check_weights(model: Any, labels: Labels, weight: Floats) -> None:
    """Raise PsephosError if a kind of rows that the fit needs has no weight, naming the kind."""
    positive, y = positive_code(model, labels.target), labels.y
    if not (y == positive).any():
        raise PsephosError(
            f"no row is labelled positive ({labels.target.classes.tolist()[positive]!r}), and "
            f"{type(model).__name__} learns from those that are: see classes and pos_label."
        )
    sides = {-1: "without a label", positive: "labelled positive"}
    if model.contender.both_recorded:
        sides[1 - positive] = "labelled negative"
    for code, kind in sides.items():
        if (y == code).any() and not (weight[y == code] > 0).any():
            raise PsephosError(
                f"sample_weight is zero on every row {kind}: {type(model).__name__} needs rows of "
                f"weight {kind}."
            )


def negatives_read(rows: WeakRows) -> WeakRows:
    """Return the rows as `negatives` says, if some are labelled negative and others not at all."""
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
        f"{negative.sum()} rows are labelled negative beside others without a label, and a "
        "positive-unlabelled risk has no place for them: negatives='ignore' leaves them out, "
        "negatives='unlabeled' counts them so; where a recorded negative may be positive, "
        "LIoISClassifier uses both."
    )
