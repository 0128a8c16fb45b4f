"""How the parameters of soft trees train."""

from typing import Any

from psephos.base import Labels
from psephos.trees.soft.losses import CrossEntropy, SquaredError
from psephos.trees.soft.training import SoftPlan

__all__ = ["plan_of"]


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
