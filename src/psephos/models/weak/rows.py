"""The training rows of weak labels: codes, weights and inputs."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos.base import Labels
from psephos.models.committees.fitting import Data
from psephos.models.training import Training, distinct_rows, ordered_rows
from psephos.models.weak.inputs import Inputs
from psephos.models.weak.learner import Learner
from psephos.supervision.losses import MarginLoss

__all__ = ["Rows", "read_rows"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """The training rows: codes 1 (positive), 0 (negative), -1 (unlabelled), weights, inputs.

    Parameters
    ----------
    model : estimator
    data : Data
        As any classifier is given them; its y are class indices, of unlabelled rows -1.
    codes : ndarray of shape (n,)
    weight : ndarray of shape (n,)
    positive : int
        The index of the positive class.
    inputs : Inputs or None
        None where another classifier learns.
    Z : ndarray of shape (n, q)
    context : Context
    """

    model: Any
    data: Data
    codes: NDArray[np.intp]
    weight: _Floats
    positive: int
    inputs: Inputs | None
    Z: _Floats
    context: Context

    @property
    def code(self) -> _Floats:
        """Return the codes of the negative and the positive class."""
        order = [1 - self.positive, self.positive]
        return self.data.target.code[order]

    @property
    def loss(self) -> MarginLoss:
        """Return the loss of the model."""
        return MarginLoss(self.model.loss)

    @cached_property
    def linear(self) -> Learner:
        """Return what minimises a risk of margins that are linear in the inputs."""
        assert self.inputs is not None
        return Learner.linear(self.inputs, self.Z)

    @property
    def features(self) -> _Floats:
        """Return what ratios and priors look at: inputs, or the table for another classifier.

        Where there are more inputs than rows, their principal components: distances and penalised
        lines are the same.
        """
        return self.data.X if self.inputs is None else self.linear.A

    def take(self, rows: NDArray[np.intp]) -> "Rows":
        """Return these rows only, with the same inputs."""
        return replace(
            self,
            data=self.data.take(rows, self.weight[rows]),
            codes=self.codes[rows],
            weight=self.weight[rows],
            Z=self.Z[rows],
        )

    def coded(self, codes: NDArray[np.intp]) -> "Rows":
        """Return the same rows with other codes."""
        return replace(self, codes=codes)

    def learner(self) -> Learner:
        """Return what minimises a risk of margins."""
        m = self.model
        assert self.inputs is not None
        if m.kernel == "linear":
            return self.linear
        return Learner.rbf(self.inputs, self.Z, m.sigma, m.n_components, self.context)


def read_rows(model: Any, table: Table, labels: Labels, weight: _Floats, context: Context) -> Rows:
    """Return the rows, equal ones of one label made one; codes by which class is positive.

    Raises
    ------
    PsephosError
        If `pos_label` is no class.
    """
    target = labels.target
    if context.groups is None:  # weight 2 is the row twice
        own = ordered_rows(distinct_rows(Training(table, target, labels.y, weight)))
        table, weight = own.table, own.weight
        labels = labels._replace(y=own.y)
    classes = target.classes.tolist()
    positive = 1
    if model.pos_label is not None:
        if model.pos_label not in classes:
            raise PsephosError(
                f"pos_label is {model.pos_label!r}, which is none of the classes {classes}."
            )
        positive = classes.index(model.pos_label)
    y = labels.y
    codes = np.where(y < 0, -1, np.where(y == positive, 1, 0)).astype(np.intp)
    data = Data.of(table, labels, weight, context, None)
    if model.estimator is not None:
        return Rows(model, data, codes, weight, positive, None, data.X, context)
    inputs, Z = Inputs.of(table, weight, model.scaling)
    return Rows(model, data, codes, weight, positive, inputs, Z, context)
