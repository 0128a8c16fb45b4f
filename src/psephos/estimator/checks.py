"""What scikit-learn checks of tables and labels; what it refuses is a PsephosError here."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array as _check_array
from sklearn.utils import multiclass, validation

from psephos._errors import PsephosError, PsephosTypeError


class UnfittedError(PsephosError, NotFittedError):
    """A model that has to be fitted first."""


def _ours(check: Callable[..., Any]) -> Callable[..., Any]:
    """Return the check with its sentences raised as errors of psephos."""

    @wraps(check)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return check(*args, **kwargs)
        except TypeError as error:
            raise PsephosTypeError(str(error)) from error
        except ValueError as error:
            raise PsephosError(str(error)) from error

    return checked


check_array = _ours(_check_array)
check_classification_targets = _ours(multiclass.check_classification_targets)
check_consistent_length = _ours(validation.check_consistent_length)
column_or_1d = _ours(validation.column_or_1d)
validate_data = _ours(validation.validate_data)
