"""The settings of a fit of batches, and its results."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from psephos.models.prototypes.frozen import FrozenBatch
from psephos.models.prototypes.optimiser import Minimum
from psephos.vote import PrototypeBatch

__all__ = ["NO_PATH", "Batch", "Path", "Settings"]


class Settings(NamedTuple):
    """Parameters of a fit; see `ProsetClassifier`."""

    n_batches: int
    penalties: dict[str, Any]
    beta: float
    n_candidates: int
    max_fraction: float
    grouping: str
    references: str
    tol: float
    max_iter: int
    max_reentries: int
    min_gain: float
    n_jobs: int | None


class Batch(NamedTuple):
    """One batch, and how it was found."""

    found: PrototypeBatch
    minimum: Minimum  # without its place
    frozen: FrozenBatch


class Path(NamedTuple):
    """The batches of another penalty, where descents start."""

    last: Sequence[Batch]
    cold: bool  # whether descents also start from the default place


NO_PATH = Path((), True)
