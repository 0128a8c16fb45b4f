"""Selectors of columns: each returns a score per column, at least 0; 0 is not selected."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.columns.problem import SelectionProblem
from psephos.models.columns.selectors.blend import blend
from psephos.models.columns.selectors.importance import importance, of_model, univariate
from psephos.models.columns.selectors.lars import lars, stability
from psephos.models.committees.fitting import Data

__all__ = ["SELECTORS", "score_columns"]

SELECTORS: Mapping[str, Callable[[SelectionProblem], NDArray[np.float64]]] = {
    "blend": blend,
    "lars": lars,
    "stability": stability,
    "importance": importance,
    "univariate": univariate,
}


def score_columns(problem: SelectionProblem, selector: Any, given: Data) -> NDArray[np.float64]:
    """Return (p,) scores by a selector's name, or by an estimator fitted on `given`."""
    if isinstance(selector, str):
        return SELECTORS[selector](problem)
    return of_model(given, selector)
