"""scikit-learn's checks of tables and labels, with errors raised as PsephosError.

scikit-learn is imported at the first check, since reading tables does not need it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from psephos._errors import PsephosError, PsephosTypeError


def _ours(name: str, module: str = "sklearn.utils.validation") -> Callable[..., Any]:
    """Return a check whose errors are raised as errors of psephos."""

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
