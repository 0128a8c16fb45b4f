"""Warm starts of boosting: the loop continues from where the last fit left it."""

from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos.estimator.input import Context
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.first_fit import FirstFit
from psephos.models.training import Training


class _Loop(NamedTuple):
    """The state of a boosting loop, and digests of what it was fitted on."""

    first_fit: FirstFit
    state: Any
    n_rounds: int


@parameters
class WarmStart:
    """What boosting models with a warm start share.

    Parameters
    ----------
    warm_start : bool
        Whether `fit` keeps the rounds of the last fit and adds those that `n_estimators` asks for
        more, as one fit of all rounds would. Table, labels, weights and all parameters but
        `n_estimators` and `n_jobs` must be those of the first fit, which must have had
        ``warm_start=True`` in the same process: model files and pickles do not keep the loop.
    """

    _loop: ClassVar[_Loop | None] = None

    _: KW_ONLY
    warm_start: bool = False

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[misc]
        return {name: value for name, value in state.items() if name != "_loop"}


def digests(model: "WarmStart", data: Training, context: Context) -> FirstFit | None:
    """Return digests of the training rows; None without a warm start, which alone needs them."""
    if not model.warm_start:
        return None
    return FirstFit.of(model, data.table.values, data.y, data.weight, context.groups, ordered=True)


def continued(model: Any, context: Context, now: FirstFit | None) -> Any:
    """Return a copy of the state that a warm start continues from; None of a first fit.

    The model keeps its own until `keep`, so that a fit that is interrupted changes nothing.

    Raises
    ------
    PsephosError
        If there is none, or the rows, a parameter or `n_estimators` do not allow it.
    """
    loop = model._loop
    if context.previous is None or now is None:
        return None
    if loop is None:
        raise PsephosError(
            "a warm start continues from a completed fit with warm_start=True in the same process, "
            f"and this {type(model).__name__} has none. To fit anew, set warm_start=False."
        )
    loop.first_fit.require(now)
    if model.n_estimators < loop.n_rounds:
        raise PsephosError(
            f"n_estimators={model.n_estimators} must be larger or equal to the {loop.n_rounds} "
            "rounds of the last fit when warm_start=True."
        )
    return _copied(loop.state)


def _copied(state: Any) -> Any:
    """Return a state whose lists and arrays may change; tables of the training rows are shared."""
    new = copy(state)
    for name, value in vars(state).items():
        if isinstance(value, list):
            setattr(new, name, list(value))
        elif isinstance(value, np.ndarray) and name not in ("values", "weight"):
            setattr(new, name, value.copy())
    return new


def keep(model: Any, first_fit: FirstFit | None, state: Any, n_rounds: int) -> None:
    """Keep the state of the loop for a warm start."""
    model._loop = None if first_fit is None else _Loop(first_fit, state, n_rounds)


def refuse_watched(model: Any) -> None:
    """Raise PsephosError if a warm start meets a validation share, which drops rounds."""
    if getattr(model, "warm_start", False):
        raise PsephosError(
            "warm_start=True and validation_fraction exclude each other: the share decides how "
            "many rounds are kept. Set validation_fraction=None."
        )
