"""What the parameters of soft trees may be, and how they train."""

from collections.abc import Mapping
from typing import Any

from psephos.base import Labels
from psephos.params import Constraint, Interval, OneOf
from psephos.trees.soft.losses import CrossEntropy, SquaredError
from psephos.trees.soft.training import SoftPlan

__all__ = ["SHARED", "plan_of"]

_ABOVE = Interval(0, open_low=True)

SHARED: Mapping[str, Constraint] = {
    "max_depth": Interval(1, 12, whole=True),
    "learning_rate_init": _ABOVE,
    "max_iter": Interval(1, whole=True),
    "batch_size": Interval(1, whole=True),
    "weight_decay": Interval(0),
    "temperature": _ABOVE,
    "gate_penalty": Interval(0),
    "gate_lasso": Interval(0),
    "validation_fraction": OneOf((Interval(0, 1, open_low=True, open_high=True),), none=True),
    "n_iter_no_change": Interval(1, whole=True),
}


def plan_of(model: Any, labels: Labels) -> SoftPlan:
    """Return how a recipe's parameters train."""
    return SoftPlan(
        CrossEntropy() if labels.target.n_classes else SquaredError(),
        model.boosted,
        float(model.learning_rate) if model.boosted else 1.0,
        bool(model.detach_residual) if model.boosted else True,
        float(model.temperature),
        float(model.gate_penalty),
        float(model.gate_lasso),
        float(model.learning_rate_init),
        float(model.weight_decay),
        int(model.batch_size),
        bool(labels.target.n_classes),
    )
