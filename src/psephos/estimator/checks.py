"""What scikit-learn checks of tables and labels; what it refuses is a PsephosError here.

It is imported when the first is checked: tables are read without it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from psephos._errors import PsephosError, PsephosTypeError


def _ours(name: str, module: str = "sklearn.utils.validation") -> Callable[..., Any]:
    """Return a check with its sentences raised as errors of psephos."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        check = getattr(import_module(module), name)
        try:
            return check(*args, **kwargs)
        except TypeError as error:
            raise PsephosTypeError(str(error)) from error
        except ValueError as error:
            raise PsephosError(str(error)) from error

    return checked


check_array = _ours("check_array")
check_classification_targets = _ours("check_classification_targets", "sklearn.utils.multiclass")
check_consistent_length = _ours("check_consistent_length")
column_or_1d = _ours("column_or_1d")
validate_data = _ours("validate_data")
