"""The errors of all small models tried, by their number of columns."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import MissingExtraError
from psephos.vote.ballots import frame_of

__all__ = ["ErrorDisplay"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorDisplay:
    """Histograms of the cross-validated errors per number of columns.

    Source: SWAG (Molinari et al. 2020), Tables 1, 3 and 4, whose histograms compare the small
    models with the same mechanism on all columns.

    Parameters
    ----------
    dimension : ndarray of shape (D,)
    counts : ndarray of shape (D, bins)
    edges : ndarray of shape (bins + 1,)
    threshold : ndarray of shape (D,)
        Below which models are strong.
    median : ndarray of shape (D,)
    measure : str
    reference : dict of str to float
        Errors of other models on the same folds, such as the mechanism on all columns.
    """

    dimension: NDArray[np.intp]
    counts: NDArray[np.intp]
    edges: _Floats
    threshold: _Floats
    median: _Floats
    measure: str
    reference: dict[str, float]

    @classmethod
    def from_estimator(cls, estimator: Any, reference: dict[str, float] | None = None) -> Self:
        """Return the display of a fitted wrapper.

        Parameters
        ----------
        estimator : fitted SparseWrapperClassifier or SparseWrapperRegressor
        reference : dict of str to float, default=None
            Errors to draw beside the histograms, by name.
        """
        library = estimator.library_
        seen = library.dimensions
        return cls(
            seen.dimension,
            seen.counts,
            seen.edges,
            seen.threshold,
            seen.median,
            library.measure,
            dict(reference or {}),
        )

    def table(self) -> dict[str, list[Any]]:
        """Return one entry a bar: ``dimension``, ``low``, ``high``, ``count``."""
        bins = len(self.edges) - 1
        return {
            "dimension": np.repeat(self.dimension, bins).tolist(),
            "low": np.tile(self.edges[:-1], len(self.dimension)).tolist(),
            "high": np.tile(self.edges[1:], len(self.dimension)).tolist(),
            "count": self.counts.ravel().tolist(),
        }

    def frame(self, backend: str | None = None) -> Any:
        """Return `table` as a data frame."""
        return frame_of(self.table(), backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw one histogram a number of columns, above each other, on one scale of error.

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
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise MissingExtraError("matplotlib", "a plot", "plot") from None
        n = len(self.dimension)
        axes: Any = ax
        if axes is None:
            axes = plt.subplots(n, 1, sharex=True, squeeze=False, figsize=(7, 1.4 * n + 1))[1][:, 0]
        axes = np.atleast_1d(axes)
        for d in range(n):
            axes[d].stairs(self.counts[d], self.edges, fill=True, color="0.6")
            axes[d].axvline(self.threshold[d], color="C0", lw=1.5, label="strong below")
            axes[d].axvline(self.median[d], color="C1", lw=1.5, ls="--", label="median")
            for i, (name, error) in enumerate(self.reference.items()):
                axes[d].axvline(error, color=f"C{i + 2}", lw=1.5, ls=":", label=name)
            plural = "" if self.dimension[d] == 1 else "s"
            axes[d].set_ylabel(f"{self.dimension[d]} column{plural}")
            axes[d].set_yticks([])
        axes[0].legend(loc="upper right", fontsize=8)
        axes[-1].set_xlabel(f"cross-validated {self.measure.replace('_', ' ')}")
        return axes
