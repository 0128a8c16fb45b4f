"""What is asked of any scikit-learn estimator before it is cloned and fitted."""

from collections.abc import Sequence
from typing import Any, NoReturn

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from psephos._errors import PsephosError

_LISTED = 4  # columns that a sentence names


def fitted(model: Any, *given: Any, **more: Any) -> Any:
    """Fit an estimator and return it, as the `fit` of some estimators returns None."""
    model.fit(*given, **more)
    return model


def seed_parameters(model: Any) -> list[str]:
    """Return the parameters that are seeds, its own and those of estimators in it, sorted."""
    return sorted(
        name
        for name in model.get_params()
        if name == "random_state" or name.endswith("__random_state")
    )


def weight_parameter(model: Any) -> str | None:
    """Return the name by which `fit` takes weights of rows; None if it takes none.

    A Pipeline's is that of its last step, which may be a Pipeline.
    """
    if has_fit_parameter(model, "sample_weight"):
        return "sample_weight"
    if not isinstance(model, Pipeline):
        return None
    name, last = model.steps[-1]
    inner = None if last in (None, "passthrough") else weight_parameter(last)
    return None if inner is None else f"{name}__{inner}"


def refuse_categories(model: Any, role: str, columns: Sequence[str], instead: str) -> NoReturn:
    """Raise PsephosError: an estimator would read the codes of these columns as numbers."""
    named = ", ".join(map(repr, columns[:_LISTED]))
    more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
    raise PsephosError(
        f"{named}{more} hold categories, and the {role} {type(model).__name__} would read their "
        f"codes as numbers: make 0/1 columns of them first (OneHotEncoder), or {instead}."
    )
