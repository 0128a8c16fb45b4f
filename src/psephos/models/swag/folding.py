"""The folds of a search: drawn once, the same for every candidate."""

from typing import Any

from numpy.typing import NDArray

from psephos.models.folding import make_splits
from psephos.models.swag.problem import Folds

__all__ = ["make_folds"]


def make_folds(y: NDArray[Any], n_classes: int, **how: Any) -> Folds:
    """Return the splits on which every candidate is judged; see `make_splits`."""
    return Folds.of(make_splits(y, n_classes, **how))
