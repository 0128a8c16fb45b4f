"""What is asked of any scikit-learn estimator before it is cloned and fitted."""

from collections.abc import Sequence
from typing import Any, NoReturn

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


def refuse_categories(model: Any, role: str, columns: Sequence[str], instead: str) -> NoReturn:
    """Raise PsephosError: an estimator would read the codes of these columns as numbers."""
    named = ", ".join(map(repr, columns[:_LISTED]))
    more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
    raise PsephosError(
        f"{named}{more} hold categories, and the {role} {type(model).__name__} would read their "
        f"codes as numbers: make 0/1 columns of them first (OneHotEncoder), or {instead}."
    )
