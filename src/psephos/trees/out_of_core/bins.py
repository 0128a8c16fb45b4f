"""Bins of columns that were only ever seen through their summaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.binned_trees.bins import code_values
from psephos.runtime.jit import run_blocks
from psephos.trees.bins import MAX_BINS
from psephos.trees.newton_hist import edges
from psephos.trees.quantiles import QuantileSummary

_BINS = 256


@dataclass(frozen=True)
class BlockBins:
    """The bins of a table's columns."""

    n_bins: NDArray[np.int64]  # (p,); bins of known values; it is the code of a missing one
    # (p, 256); a code of at most b is ``value < cuts[j, b]``; the last cut is above all values seen
    cuts: NDArray[np.float64]

    @classmethod
    def of(cls, summaries: Sequence[QuantileSummary], max_bin: int = 256) -> Self:
        """Return bins of even weight.

        `max_bin`: bins of a column, the one for missing values among them.
        """
        if not 3 <= max_bin <= _BINS:
            raise PsephosError(f"max_bin={max_bin}: it lies from 3 to {_BINS}.")
        found = [s.bins(min(max_bin - 1, MAX_BINS)) for s in summaries]
        n_bins = np.array([len(low) for low, _ in found], dtype=np.int64)
        low, high = np.full((2, len(found), _BINS), np.nan)
        for j, (lows, highs) in enumerate(found):
            low[j, : len(lows)], high[j, : len(highs)] = lows, highs
        return cls(n_bins, edges(low, high, n_bins))

    def codes(self, columns: NDArray[Any], n_jobs: int | None = None) -> NDArray[np.uint8]:
        """Return the (p, m) bins of values (p, m)."""
        out = np.empty(columns.shape, dtype=np.uint8)

        def work(j: int) -> None:
            padded, inner = np.full(_BINS, np.inf), max(int(self.n_bins[j]) - 1, 0)
            # Not below a cut is above the number before it.
            padded[:inner] = np.nextafter(self.cuts[j, :inner], -np.inf)
            code_values(columns[j], padded, int(self.n_bins[j]), out[j])

        run_blocks(work, len(columns), n_jobs)
        return out
