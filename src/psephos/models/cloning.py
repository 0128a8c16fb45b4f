"""What is asked of any scikit-learn estimator before it is cloned and fitted."""

from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._types import Estimator, Label
from psephos.vote.target import ClassTarget

_LISTED = 4  # columns that a sentence names


def fitted(model: Any, *given: Any, **more: Any) -> Any:
    """Fit an estimator and return it, as the `fit` of some estimators returns None."""
    model.fit(*given, **more)
    return model


def seed_parameters(model: Estimator) -> list[str]:
    """Return the parameters that are seeds, its own and those of estimators in it, sorted."""
    return sorted(
        name
        for name in model.get_params()
        if name == "random_state" or name.endswith("__random_state")
    )


def in_codes(model: Estimator, target: ClassTarget) -> Any:
    """Return an estimator whose parameters name class codes where they name labels of `target`.

    Members are fitted on codes: their `class_weight`, `classes`, `pos_label` and `constant`, and
    those of estimators in them, are written in the labels that users know.
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
            f"{name} of a member names {label!r}, which is not a label of y: its labels are "
            f"{', '.join(map(repr, code))}."
        )
    return code[label]


def refuse_categories(
    model: Estimator, role: str, columns: Sequence[str], instead: str
) -> NoReturn:
    """Raise PsephosError: an estimator would read the codes of these columns as numbers."""
    named = ", ".join(map(repr, columns[:_LISTED]))
    more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
    raise PsephosError(
        f"{named}{more} hold categories, and the {role} {type(model).__name__} would read their "
        f"codes as numbers: make 0/1 columns of them first (OneHotEncoder), or {instead}."
    )
