"""What a step of a search found: its strong candidates, and the errors of all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psephos.models.swag.candidates import Subsets
from psephos.models.swag.errors import Errors
from psephos.models.swag.settings import SearchSettings

__all__ = ["Chosen", "Step", "make_step", "post_process", "quantile"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """One dimension of a search.

    Parameters
    ----------
    dimension : int
        d.
    subsets : ndarray of shape (T, d), intp
        Columns of the strong candidates, best first: by error, by log-loss, by columns.
    error, spread, tie : ndarray of shape (T,)
        Their errors, as in `Errors`.
    errors : ndarray of shape (M,)
        Errors of all candidates tried, in lexicographic order of their columns.
    candidates : ndarray of shape (M, d) or None
        Their columns, if they were to be kept.
    quantile : float
        The alpha-quantile of `errors`.
    """

    dimension: int
    subsets: Subsets
    error: _Floats
    spread: _Floats
    tie: _Floats
    errors: _Floats
    candidates: Subsets | None
    quantile: float

    @property
    def n_candidates(self) -> int:
        """Return M."""
        return len(self.errors)

    @property
    def n_strong(self) -> int:
        """Return T."""
        return len(self.subsets)

    @property
    def median(self) -> float:
        """Return the median error of all candidates tried."""
        return float(np.median(self.errors))


def _at(n: int, share: float) -> float:
    """Return (n - 1) share, a whole number where it is one but for rounding."""
    place = (n - 1) * share
    return float(round(place)) if abs(place - round(place)) < 1e-9 else place


def quantile(errors: _Floats, share: float) -> float:
    """Return a quantile by linear interpolation (type 7 of R, 'linear' of numpy).

    Parameters
    ----------
    errors : ndarray of shape (M,)
    share : float
        In [0, 1].
    """
    place = _at(len(errors), share)
    low = int(place)
    high = min(low + 1, len(errors) - 1)
    ordered = np.partition(errors, (low, high))
    return float(ordered[low] + (place - low) * (ordered[high] - ordered[low]))


def make_step(candidates: Subsets, errors: Errors, settings: SearchSettings) -> Step:
    """Return the step in which these candidates (lexicographic order) had these errors."""
    share = settings.share(candidates.shape[1])
    cut = quantile(errors.error, share)
    tie = errors.tie if settings.ties != "first" else np.zeros_like(errors.tie)
    order = np.lexsort([tie, errors.error])  # stable: equal ones stay in the order of columns
    if settings.ties == "all":
        n_strong = int((errors.error <= cut).sum())
    else:
        n_strong = int(_at(len(candidates), share)) + 1
    strong = order[:n_strong]
    return Step(
        candidates.shape[1],
        candidates[strong],
        errors.error[strong],
        errors.spread[strong],
        errors.tie[strong],
        errors.error,
        candidates if settings.keep == "all" else None,
        cut,
    )


@dataclass(frozen=True)
class Chosen:
    """The final set of a search.

    Parameters
    ----------
    dimension : int
        The dimension whose median error is lowest (of equals, the smallest).
    threshold : float
        The delta-quantile of that dimension's errors.
    kept : tuple of int
        How many of the strong candidates of each step are in the final set: the first ones.
    """

    dimension: int
    threshold: float
    kept: tuple[int, ...]

    def subsets(self, steps: Sequence[Step]) -> list[Subsets]:
        """Return the columns of the final models, step after step, best first."""
        pairs = zip(steps, self.kept, strict=True)
        return [columns for step, n in pairs for columns in step.subsets[:n]]


def post_process(steps: Sequence[Step], delta: float = 0.01) -> Chosen:
    """Return the final set (seed paper, section 2, "Post-Processing").

    Medians and quantiles are those of all candidates tried in a step, as the paper's error vectors
    hold; models are taken from the strong candidates of all steps, those with error <= the
    delta-quantile of the step with the lowest median.

    Parameters
    ----------
    steps : sequence of Step
        At least one.
    delta : float, default=0.01
        In (0, 1].
    """
    best = min(steps, key=lambda step: (step.median, step.dimension))
    threshold = quantile(best.errors, delta)
    kept = tuple(int((step.error <= threshold).sum()) for step in steps)
    return Chosen(best.dimension, threshold, kept)
