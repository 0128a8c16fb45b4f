"""Recalibration of a model's probabilities by the held-out predictions of its recipe."""

import math
from typing import ClassVar

from psephos.files.names import fixed
from psephos.vote.calibration import Isotonic, Sigmoid
from psephos.vote.codec import register
from psephos.vote.part import check


@register
class Recalibration:
    """A rising map from a model's probabilities to calibrated ones, fitted on held-out predictions.

    The model predicts as before; `psephos.recalibrated` returns one that applies the map. The map
    was fitted on predictions of models trained on parts of the table: it assumes that the final
    model's probabilities are on their scale.

    Parameters
    ----------
    calibration : Sigmoid or Isotonic
    n_cases : int
        Number of held-out cases.
    log_loss, brier : float
        Scores of their predictions before the map.
    log_loss_after, brier_after : float
        Scores after it, cross-fitted: each case by a map fitted on other cases.
    n_folds : int
        Folds of the cross-fitting.
    """

    tag: ClassVar[str] = "recalibration"
    calibration: Sigmoid | Isotonic
    n_cases: int
    log_loss: float
    brier: float
    log_loss_after: float
    brier_after: float
    n_folds: int

    def __post_init__(self) -> None:
        numbers = (self.log_loss, self.brier, self.log_loss_after, self.brier_after)
        check(all(math.isfinite(one) and one >= 0 for one in numbers), "a loss is not a number")
        check(self.n_cases > 0 and self.n_folds > 1, "a recalibration of no cases")

    @property
    def method(self) -> str:
        """Return 'sigmoid' or 'isotonic'."""
        return "sigmoid" if isinstance(self.calibration, Sigmoid) else "isotonic"

    @property
    def helped(self) -> bool:
        """Return whether the cross-fitted map lowered the log-loss."""
        return self.log_loss_after < self.log_loss

    def words(self) -> str:
        """Return a clause on the map and the change of log-loss and Brier score."""
        change = "lowered" if self.helped else "did not lower"
        kind = {"sigmoid": "a sigmoid", "isotonic": "an isotonic"}[self.method]
        return (
            f"{kind} map fitted on the held-out answers of {self.n_cases} cases; "
            f"cross-fitted, it {change} their pooled log-loss ({fixed(self.log_loss, 3)} before, "
            f"{fixed(self.log_loss_after, 3)} after) and their Brier score went from "
            f"{fixed(self.brier, 3)} to {fixed(self.brier_after, 3)}"
        )


def no_map(what: str, n_classes: int) -> str:
    """Return the message for a model without a recalibration map: why, and how to get one."""
    if not n_classes:
        return f"{what} predicts numbers: --calibrated is for classifiers."
    return (
        f"{what} has no map of held-out answers: the models that psephos compare writes have one, "
        "if they are classifiers with held-out answers for at least two cases of each class and no "
        "calibration of their own. psephos.calibrate fits one on rows you hold out."
    )
