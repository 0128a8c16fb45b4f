"""Requirements of members of a committee: `predict_proba`, and row weights in `fit`."""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from psephos._errors import PsephosError
from psephos._types import Estimator


def weight_parameter(model: Any) -> str | None:
    """Return the name of the parameter of `fit` for row weights; None if it has none.

    That of a Pipeline is that of its last step, which may be a Pipeline.
    """
    if has_fit_parameter(model, "sample_weight"):
        return "sample_weight"
    if not isinstance(model, Pipeline):
        return None
    name, last = model.steps[-1]
    inner = None if last in (None, "passthrough") else weight_parameter(last)
    return None if inner is None else f"{name}__{inner}"


def needed_weight_parameter(model: Estimator) -> str:
    """Return `weight_parameter`; raise PsephosError if there is none."""
    found = weight_parameter(model)
    if found is not None:
        return found
    raise PsephosError(
        f"{type(model).__name__} takes no sample_weight in fit, and rows have different weights: "
        "give rows equal weight, or use a member that takes weights."
    )


def check_probabilities(model: Estimator, instead: str = "") -> None:
    """Raise PsephosError if a fitted classifier has no predict_proba; `instead` adds advice."""
    if hasattr(model, "predict_proba"):
        return
    kind = type(model).__name__
    raise PsephosError(
        f"member {kind} has no predict_proba: use CalibratedClassifierCV({kind}()) of "
        f"scikit-learn instead{instead}."
    )
