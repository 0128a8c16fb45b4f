"""Models of hypotheses that were there before the rows: their prior, over the whole space."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.bounds.requirements import INDEPENDENT, SETTINGS, Asked, relative_entropy

__all__ = ["hypotheses_of", "of_hypotheses", "refuse_bins"]

_ASSUMED = {
    "categories": "columns and their categories were chosen before the rows",
    "estimators": "the estimators were fitted on other rows than these",
}


def hypotheses_of(model: Any) -> Any:
    """Return what a model says of its hypotheses, `hypotheses_`; None if it has none."""
    return getattr(model, "hypotheses_", None)


def of_hypotheses(
    one: Asked, facts: Any, weights: NDArray[np.float64]
) -> tuple[float, tuple[str, ...]]:
    """Return (KL(Q || P), what is assumed) of a posterior, by the prior over the whole space."""
    assumed = refuse_bins(one, facts)
    if len(facts.log_prior) != 1:
        raise one.refuse(
            "each of its classes has hypotheses of its own, and the theorem is about one vote. "
            "Two classes have one."
        )
    (log_prior,) = facts.log_prior
    if len(log_prior) != len(weights):
        raise one.refuse("its voters are others than the hypotheses whose prior it knows.")
    return relative_entropy(weights, log_prior), (INDEPENDENT, assumed, SETTINGS)


def refuse_bins(one: Asked, facts: Any) -> str:
    """Return what is assumed of hypotheses; raise if the rows decided what they are."""
    if facts.kind == "bins":
        raise one.refuse(
            "columns of numbers were cut into bins by the rows, so that the hypotheses were chosen "
            "after the data: cut them at values fixed before, and give the bins as categories."
        )
    return _ASSUMED[facts.kind]
