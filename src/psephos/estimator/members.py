"""Estimators that are members of a vote: fits, checks and parameters."""

from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from psephos._errors import PsephosError
from psephos._types import Estimator, Label
from psephos.vote.target import ClassTarget


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


_LISTED = 4  # columns that a message names


def fitted(model: Any, *given: Any, **more: Any) -> Any:
    """Fit an estimator and return it; some estimators' `fit` returns None."""
    model.fit(*given, **more)
    return model


def seed_parameters(model: Estimator) -> list[str]:
    """Return the names of all seed parameters, nested ones included, sorted."""
    return sorted(
        name
        for name in model.get_params()
        if name == "random_state" or name.endswith("__random_state")
    )


def in_codes(model: Estimator, target: ClassTarget) -> Any:
    """Return an estimator whose parameters name class codes in place of labels of `target`.

    Members are fitted on codes, but users write labels: in `class_weight`, `classes`, `pos_label`
    and `constant` of a member, and of estimators nested in it.
    """
    if not target.n_classes or not hasattr(model, "get_params"):
        return model
    code = {label: k for k, label in enumerate(target.classes.tolist())}
    found: dict[str, Any] = {}
    for name, value in model.get_params().items():
        last = name.rpartition("__")[2]
        if last == "class_weight" and isinstance(value, dict):
            named: Any = value
            found[name] = {_code(code, label, name): weight for label, weight in named.items()}
        elif last == "classes" and isinstance(value, list | tuple):
            found[name] = [_code(code, label, name) for label in value]
        elif last in ("pos_label", "constant") and isinstance(value, Hashable) and value in code:
            found[name] = code[value]
    copy: Any = clone(model) if found else model
    return copy.set_params(**found) if found else copy


def _code(code: dict[Any, int], label: Label, name: str) -> int:
    if label not in code:
        raise PsephosError(
            f"{name} of a member must name labels of y, {', '.join(map(repr, code))}; got "
            f"{label!r}."
        )
    return code[label]


def refuse_categories(
    model: Estimator, role: str, columns: Sequence[str], instead: str
) -> NoReturn:
    """Raise PsephosError: the estimator would read the codes of these columns as numbers."""
    named = ", ".join(map(repr, columns[:_LISTED]))
    more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
    raise PsephosError(
        f"{named}{more} hold categories, and the {role} {type(model).__name__} would read their "
        f"codes as numbers: encode them as 0/1 columns first (OneHotEncoder), or {instead}."
    )
