"""Is there anything in the columns a model selected? A permutation test of the selection."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.explain.drawing import axes_of
from psephos.vote.ballots import Framed

__all__ = ["SelectionTest"]

_Floats = NDArray[np.float64]
_LEVEL = 0.02


@dataclass(frozen=True)
class SelectionTest(Framed):
    """What a model's selection shows on the labels given, and on permuted labels.

    With s the statistic on the labels given, s_1 ... s_B on B permutations of them, and b of
    those at most s (low is strong)::

        p = (1 + b) / (1 + B)

    The labels given are one of the 1 + B orders that would be equally likely if labels and
    columns had nothing in common, so p <= level happens in at most a share `level` of the tables
    of noise, and p is never 0.

    Source: Phipson and Smyth (2010), "Permutation P-values should never be zero", Statistical
    Applications in Genetics and Molecular Biology 9, for (1 + b) / (1 + B).

    Parameters
    ----------
    names : tuple of str
        The statistics.
    headline : str
        The one that decides.
    observed : ndarray of shape (S,)
    null : ndarray of shape (B, S)
    permuted : {'rows', 'groups', 'rows within groups'}
        What changed places.
    """

    names: tuple[str, ...]
    headline: str
    observed: _Floats
    null: _Floats
    permuted: str

    @property
    def n_permutations(self) -> int:
        """Return B."""
        return len(self.null)

    @property
    def p_value(self) -> float:
        """Return p of the headline statistic."""
        return float(self.p_values()[self.names.index(self.headline)])

    def p_values(self) -> _Floats:
        """Return p of every statistic by itself, shape (S,)."""
        return _ranks(np.vstack([self.observed, self.null]))[0]

    def adjusted(self) -> _Floats:
        """Return p of every statistic for a reader who looks at all of them, shape (S,).

        The least of several p is small more often than each. Every permutation is given p-values
        as if it were the labels given; adjusted p is the share of the 1 + B orders whose least p
        is at most the statistic's own. With B permutations it is coarser than p.

        Source: Westfall and Young (1993), "Resampling-Based Multiple Testing", section 2.3
        (single-step minP).
        """
        p = _ranks(np.vstack([self.observed, self.null]))
        least = p.min(axis=1)
        return np.mean(least[:, None] <= p[0] + 1e-12, axis=0)

    def is_signal(self, level: float = _LEVEL) -> bool:
        """Return whether the headline's p is at most `level`.

        At .05, one table of noise in twenty is called signal, and a network that is drawn looks
        convincing whether or not it is. At the default, .02, it is one in fifty, so that of 100
        tables of noise more than five are called signal with a chance of .015; with the default
        of 99 permutations at most one of them may be as strong as the labels given. At .01 none
        may, and planted columns are lost to a single lucky permutation.

        Parameters
        ----------
        level : float, default=0.02
            In (0, 1).

        Raises
        ------
        PsephosError
            If no p can be so small with this number of permutations.
        """
        if not 0 < level < 1:
            raise PsephosError(f"level is {level}: it must be above 0 and below 1.")
        if level * (1 + self.n_permutations) < 1 - 1e-9:
            raise PsephosError(
                f"with {self.n_permutations} permutations p is at least "
                f"{1 / (1 + self.n_permutations):.2g}, never {level:g}: use n_permutations="
                f"{int(np.ceil(1 / level - 1e-9)) - 1} or more."
            )
        return self.p_value <= level + 1e-12

    def table(self) -> dict[str, list[Any]]:
        """Return one entry a statistic.

        Keys: ``statistic``, ``observed``, ``null_low``, ``null_median``, ``null_high`` (quantiles
        .05, .5 and .95 of the permutations), ``p_value``, ``adjusted``, ``headline``.
        """
        low, middle, high = np.quantile(self.null, [0.05, 0.5, 0.95], axis=0)
        return {
            "statistic": list(self.names),
            "observed": self.observed.tolist(),
            "null_low": low.tolist(),
            "null_median": middle.tolist(),
            "null_high": high.tolist(),
            "p_value": self.p_values().tolist(),
            "adjusted": self.adjusted().tolist(),
            "headline": [name == self.headline for name in self.names],
        }

    def sentence(self, level: float = _LEVEL) -> str:
        """Return the answer in words.

        Parameters
        ----------
        level : float, default=0.02
            As for `is_signal`.
        """
        where = self.names.index(self.headline)
        b = round(self.p_value * (1 + self.n_permutations)) - 1
        words = "signal" if self.is_signal(level) else "no more than noise would show"
        return (
            f"{words}: {self.headline.replace('_', ' ')} {self.observed[where]:.3g}, as low in {b} "
            f"of {self.n_permutations} permutations of {self.permuted} (p = {self.p_value:.2g}, "
            f"level {level:g})."
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the headline on permuted labels as a histogram, and on the labels given as a line.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        ax : matplotlib Axes

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        axes: Any = axes_of(ax)
        where = self.names.index(self.headline)
        axes.hist(self.null[:, where], bins=20, color="0.6", label="permuted labels")
        axes.axvline(self.observed[where], color="C3", label="the labels given")
        axes.set_xlabel(self.headline.replace("_", " "))
        axes.set_yticks([])
        axes.set_title(f"p = {self.p_value:.2g}, {self.n_permutations} permutations")
        axes.legend(fontsize=8)
        return axes


def _ranks(values: _Floats) -> _Floats:
    """Return for each row of (1 + B, S) the share of rows at most it; equal but for rounding is."""
    slack = 1e-9 * np.maximum(1.0, np.abs(values))
    ordered = np.sort(values, axis=0)
    counts = [
        np.searchsorted(ordered[:, s], values[:, s] + slack[:, s], side="right")
        for s in range(values.shape[1])
    ]
    return np.stack(counts, axis=1) / len(values)
