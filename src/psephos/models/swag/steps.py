"""The results of the steps of a search: strong candidates and the errors of all candidates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from psephos._types import Floats, Indices
from psephos.models.swag.measures import Errors
from psephos.models.swag.problem import Subsets
from psephos.models.swag.settings import SearchSettings
from psephos.vote.codec import register
from psephos.vote.frames import frame_of
from psephos.vote.part import check

_BINS = 60  # of the histograms of errors


@dataclass(frozen=True)
class Step:
    """One dimension of a search; strong candidates by error, then by log-loss, then by columns."""

    dimension: int  # d
    subsets: Subsets  # (T, d) columns of the strong candidates
    error: Floats  # (T,) as in `Errors`
    spread: Floats
    tie: Floats
    errors: Floats  # (M,) of all candidates tried, in lexicographic order of their columns
    quantile: float  # the alpha-quantile of `errors`

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
    """Return (n - 1) share, rounded if it is an integer up to rounding error."""
    index = (n - 1) * share
    return float(round(index)) if abs(index - round(index)) < 1e-9 else index


def quantile(errors: Floats, share: float) -> float:
    """Return a quantile by linear interpolation (type 7 of R, 'linear' of numpy)."""
    index = _at(len(errors), share)
    low = int(index)
    high = min(low + 1, len(errors) - 1)
    ordered = np.partition(errors, (low, high))
    return float(ordered[low] + (index - low) * (ordered[high] - ordered[low]))


def make_step(candidates: Subsets, errors: Errors, settings: SearchSettings) -> Step:
    """Return the step of these candidates (in lexicographic order) with their errors."""
    share = settings.share(candidates.shape[1])
    cut = quantile(errors.error, share)
    tie = errors.tie if settings.ties != "first" else np.zeros_like(errors.tie)
    order = np.lexsort([tie, errors.error])  # stable: ties in the order of columns
    if settings.ties == "all":
        n_strong = int((errors.error <= cut).sum())
    else:
        n_strong = int(_at(len(candidates), share)) + 1
    strong = order[:n_strong]
    return Step(
        candidates.shape[1], candidates[strong], errors.error[strong], errors.spread[strong],
        errors.tie[strong], errors.error, cut,
    )  # fmt: skip


def post_process(
    steps: Sequence[Step], delta: float = 0.01, dimension: int | None = None
) -> list[int]:
    """Return the number of strong candidates of each step, the first ones, in the final set.

    These are the candidates of all steps with error <= the delta-quantile of the step with the
    lowest median (of ties, the smallest): seed paper, section 2, "Post-Processing". Medians and
    quantiles are over all candidates tried in a step, as in the paper's error vectors. With a
    `dimension` (at most the last step's), only those of that step, by its own quantile.
    """
    chosen = min(steps, key=lambda step: (step.median, step.dimension))
    if dimension is not None:
        chosen = steps[min(dimension, len(steps)) - 1]
    threshold = quantile(chosen.errors, delta)
    mixed = dimension is None
    return [int((s.error <= threshold).sum()) if mixed or s is chosen else 0 for s in steps]


@register
@dataclass(frozen=True)
class Dimensions:
    """Summary of the errors of all candidates at each of D dimensions (numbers of columns)."""

    tag: ClassVar[str] = "library dimensions"
    dimension: Indices  # (D,)
    n_candidates: Indices  # (D,) evaluated
    n_strong: Indices  # (D,) kept
    threshold: Floats  # (D,) the alpha-quantile of the errors
    median: Floats  # (D,)
    best: Floats  # (D,)
    counts: Indices  # (D, bins) histogram of the errors
    edges: Floats  # (bins + 1,)

    def __post_init__(self) -> None:
        d = len(self.dimension)
        rows = (self.n_candidates, self.n_strong, self.threshold, self.median, self.best)
        check(all(a.shape == (d,) for a in rows), "dimensions differ in number")
        whole = (self.dimension, self.n_candidates, self.n_strong, self.counts)
        check(all(a.dtype == np.intp for a in whole), "counts are not integers")
        numbers = (self.threshold, self.median, self.best, self.edges)
        check(all(a.dtype == np.float64 for a in numbers), "errors are not float64")
        check(self.edges.ndim == 1, "edges are not one-dimensional")
        check(self.counts.shape == (d, max(len(self.edges) - 1, 0)), "a histogram has other bins")

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as lists, without the histogram."""
        names = ("dimension", "n_candidates", "n_strong", "best", "threshold", "median")
        return {name: getattr(self, name).tolist() for name in names}

    def frame(self, backend: str | None = None) -> Any:
        """Return one row per number of columns as a data frame."""
        return frame_of(self.columns(), backend)


def dimensions_of(steps: Sequence[Step]) -> Dimensions:
    """Return the summary of the steps of a search."""
    everything = np.concatenate([step.errors for step in steps])
    finite = everything[np.isfinite(everything)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    counts = [np.histogram(step.errors[np.isfinite(step.errors)], edges)[0] for step in steps]
    return Dimensions(
        np.array([step.dimension for step in steps], dtype=np.intp),
        np.array([step.n_candidates for step in steps], dtype=np.intp),
        np.array([step.n_strong for step in steps], dtype=np.intp),
        np.array([step.quantile for step in steps]),
        np.array([step.median for step in steps]),
        np.array([float(step.errors.min()) for step in steps]),
        np.stack(counts).astype(np.intp),
        edges,
    )
