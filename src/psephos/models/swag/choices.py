"""What a wrapper chooses where its parameters leave it open: folds, shares, most columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._input import Context
from psephos.base import Labels
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.rules import embedded_count, events_per_variable

__all__ = ["among_kept", "default_shares", "fold_count", "most_columns"]

_EPV_MOST = 6
_ALPHA, _POOL = 0.05, 30


def fold_count(given: int, labels: Labels, context: Context) -> int:
    """Return the folds that the table allows: no more than rows (or groups) of any class."""
    if context.groups is not None:
        units = len(np.unique(context.groups))
    else:
        units = int(np.bincount(labels.y).min()) if labels.target.n_classes else len(labels.y)
    if len(labels.y) < 2:
        raise PsephosError("n_samples=1: cross-validation needs at least two rows.")
    return max(2, min(given, units))


def among_kept(cv: Any, kept: NDArray[np.intp] | None) -> Any:
    """Return given (train, test) pairs without the rows of weight 0, by the places of the rest."""
    if kept is None or cv is None or isinstance(cv, str | int) or hasattr(cv, "split"):
        return cv
    pairs: list[tuple[Any, Any]] = []
    for parts in cv:
        rows = [np.asarray(part) for part in parts]
        rows = [np.flatnonzero(part) if part.dtype == bool else part for part in rows]
        train, test = (np.searchsorted(kept, part[np.isin(part, kept)]) for part in rows)
        pairs.append((train, test))
    return pairs


def default_shares(evaluation: Evaluation) -> tuple[float, float]:
    """Return the default shares: 5 %, but a pool of 30 columns where the table has them."""
    return max(_ALPHA, min(1.0, _POOL / evaluation.problem.X.shape[1])), _ALPHA


def most_columns(given: Any, evaluation: Evaluation) -> Any:
    """Return p_max of its rule: a number, or 'curve', which the search itself follows.

    Events are rows, counted as often as their weights say where these are whole numbers.
    """
    problem = evaluation.problem
    if given == "epv":
        whole = bool((problem.weight == np.round(problem.weight)).all())  # repetitions of rows
        weight = problem.weight if whole else np.ones(len(problem.y))
        events = np.bincount(problem.y, weight) if problem.n_classes else [weight.sum() / 2]
        return min(_EPV_MOST, events_per_variable(events))
    if given == "embedded":
        weight = problem.weight
        return embedded_count(problem.X, problem.y, problem.n_classes, problem.folds, weight)
    return given
