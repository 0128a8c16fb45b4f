"""The errors of all small models tried, by their number of columns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Axes, ColumnLists, Floats, Indices
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import pyplot
from psephos.files.names import plural
from psephos.vote.frames import Framed


def searched_by(estimator: VoteEstimator) -> Any:
    """Return the small models that a fitted estimator searched; None if it makes no search."""
    searched: Any = getattr(estimator, "searched", None)
    return None if searched is None else searched()


@dataclass(frozen=True)
class ErrorDisplay(Framed):
    """Histograms of the cross-validated errors per number of columns.

    Source: SWAG (Molinari et al. 2020), Tables 1, 3 and 4, whose histograms compare the small
    models with the same mechanism on all columns.

    Parameters
    ----------
    dimension : ndarray of shape (D,)
    counts : ndarray of shape (D, bins)
        All candidates tried; those whose error is not finite are left out.
    chosen : ndarray of shape (D, bins)
        Those of them that vote.
    edges : ndarray of shape (bins + 1,)
    threshold : ndarray of shape (D,)
        Below which models are strong.
    median : ndarray of shape (D,)
    measure : str
    reference : dict of str to float
        Errors of other models on the same folds, such as the mechanism on all columns.
    """

    dimension: Indices
    counts: Indices
    chosen: Indices
    edges: Floats
    threshold: Floats
    median: Floats
    measure: str
    reference: dict[str, float]

    @classmethod
    def from_estimator(
        cls, estimator: VoteEstimator, reference: Mapping[str, float] | None = None
    ) -> Self:
        """Return the display of a fitted wrapper.

        Parameters
        ----------
        estimator : fitted SparseWrapperClassifier or SparseWrapperRegressor
        reference : dict of str to float, default=None
            Errors to draw beside the histograms, by name: the same measure on the same folds (give
            the wrapper and `cross_val_score` one `cv`), or the comparison is none.

        Raises
        ------
        PsephosError
            If the estimator has no library, or a reference is not a finite number.
        """
        library = searched_by(estimator)
        if library is None:
            raise PsephosError(
                f"{type(estimator).__name__} has no library of small models: give a fitted "
                "SparseWrapperClassifier or SparseWrapperRegressor."
            )
        return cls.from_library(library, reference)

    @classmethod
    def from_library(cls, library: Any, reference: Mapping[str, float] | None = None) -> Self:
        """Return the display of a library; see `from_estimator`."""
        given = {str(name): float(error) for name, error in (reference or {}).items()}
        for name, error in given.items():
            if not math.isfinite(error):
                raise PsephosError(f"reference {name!r} is {error}: give a finite error.")
        seen = library.dimensions
        voting = [library.error[library.votes & (library.dimension == d)] for d in seen.dimension]
        chosen = np.array([np.histogram(one, seen.edges)[0] for one in voting], dtype=np.intp)
        lines = seen.threshold, seen.median
        return cls(seen.dimension, seen.counts, chosen, seen.edges, *lines, library.measure, given)

    def table(self) -> ColumnLists:
        """Return one entry a bar: ``dimension``, ``low``, ``high``, ``count``, ``chosen``."""
        bins = len(self.edges) - 1
        return {
            "dimension": np.repeat(self.dimension, bins).tolist(),
            "low": np.tile(self.edges[:-1], len(self.dimension)).tolist(),
            "high": np.tile(self.edges[1:], len(self.dimension)).tolist(),
            "count": self.counts.ravel().tolist(),
            "chosen": self.chosen.ravel().tolist(),
        }

    def better(self) -> ColumnLists:
        """Return how many small models are better than each reference.

        The errors of the models that vote are the least of many, and flatter them; a reference is
        one error, that does not.

        Returns
        -------
        dict of lists
            ``reference``, ``error``, ``dimension``, and ``share``: of the models of that dimension,
            those in bars that end at or below the error.
        """
        rows = [(name, error, d) for name, error in self.reference.items()
                for d in range(len(self.dimension))]  # fmt: skip
        below = [self.edges[1:] <= error + 1e-12 for _, error, _ in rows]
        total = np.maximum(self.counts.sum(axis=1), 1)
        return {
            "reference": [name for name, _, _ in rows],
            "error": [error for _, error, _ in rows],
            "dimension": [int(self.dimension[d]) for _, _, d in rows],
            "share": [
                float(self.counts[d][bars].sum() / total[d])
                for (_, _, d), bars in zip(rows, below, strict=True)
            ],
        }

    def plot(self, ax: Any = None) -> Axes:
        """Draw one histogram a number of columns, above each other, on one scale of error.

        Heights are shares of the dimension's tallest bar. The voting models are drawn over all,
        to the height of their own tallest bar: they are too few to be seen on the scale of all.

        Parameters
        ----------
        ax : array of D matplotlib Axes, default=None

        Returns
        -------
        axes : ndarray of matplotlib Axes, shape (D,)

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        PsephosError
            If `ax` has not one Axes a dimension.
        """
        plt = pyplot()
        n = len(self.dimension)
        if ax is None:
            size = (7, 1.4 * n + 1)
            made = plt.subplots(
                n, 1, sharex=True, squeeze=False, figsize=size, layout="constrained"
            )
            ax = made[1][:, 0]
        axes: Any = np.atleast_1d(ax)
        if axes.shape != (n,):
            raise PsephosError(f"ax has shape {axes.shape}: give one Axes a dimension ({n}).")
        for d in range(n):
            self._draw(axes[d], d)
        axes[0].legend(loc="upper right", fontsize=8)
        axes[-1].set_xlabel(f"cross-validated {self.measure.replace('_', ' ')}")
        return axes

    def _draw(self, axes: Axes, d: int) -> None:
        heights = self.counts[d] / max(self.counts[d].max(), 1)
        voting = self.chosen[d] / max(self.chosen[d].max(), 1)
        axes.stairs(heights, self.edges, fill=True, color="0.7", label="all models tried")
        axes.stairs(voting, self.edges, color="C0", lw=1.5, label="models that vote")
        axes.axvline(self.threshold[d], color="C1", lw=1.2, ls="--", label="strong below")
        for i, (name, error) in enumerate(self.reference.items()):
            axes.axvline(error, color=f"C{i + 3}", lw=1.5, ls=":", label=name)
        axes.set_ylabel(plural(self.dimension[d], "column"))
        axes.set_yticks([])
