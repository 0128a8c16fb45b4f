"""From fits to the figures of each model: means, spreads, the optimal ones, the one for the card."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos.report.folder import MEASURES, Fit, Folder

__all__ = ["Choice", "Standing", "choose", "standings"]


@dataclass(frozen=True)
class Standing:
    """One model over all its splits."""

    key: str
    label: str
    family: str
    ours: bool
    fits: list[Fit]  # those that succeeded
    failed: list[Fit]
    optimal: bool = False

    def values(self, measure: str) -> list[float]:
        """Return the measure on each split where it is defined."""
        return [f.measures[measure] for f in self.fits if measure in f.measures]

    def mean(self, measure: str) -> float | None:
        """Return the mean of a measure."""
        return _mean(self.values(measure))

    def sd(self, measure: str) -> float:
        """Return the standard deviation over splits (divisor n - 1); 0 with one split."""
        return _sd(self.values(measure))

    @property
    def score(self) -> float:
        """Return the mean balanced accuracy; NaN if no fit succeeded."""
        mean = self.mean("balanced_accuracy")
        return math.nan if mean is None else mean

    @property
    def columns(self) -> list[float]:
        """Return the columns used on each split."""
        return [f.columns_used for f in self.fits if f.columns_used is not None]

    @property
    def mean_columns(self) -> float:
        """Return their mean; NaN if unknown."""
        mean = _mean(self.columns)
        return math.nan if mean is None else mean

    @property
    def sd_columns(self) -> float:
        """Return their standard deviation."""
        return _sd(self.columns)

    @property
    def voters(self) -> list[float]:
        """Return the voters on each split, where the model has such."""
        return [f.n_voters for f in self.fits if f.n_voters is not None]

    @property
    def drawn(self) -> bool:
        """Return whether the model has a place on the chart."""
        return math.isfinite(self.score) and math.isfinite(self.mean_columns)


def standings(folder: Folder) -> list[Standing]:
    """Return one Standing a model, the most accurate first; the failed last."""
    about: dict[str, Any] = folder.about.get("models", {})
    order = list(dict.fromkeys([*about, *(f.model for f in folder.fits)]))
    rows: list[Standing] = []
    for key in order:
        fits = [f for f in folder.fits if f.model == key]
        if not fits:
            continue
        told = about.get(key, {})
        rows.append(
            Standing(
                key=key,
                label=str(told.get("label") or key),
                family=str(told.get("family") or ""),
                ours=told.get("origin") == "psephos",
                fits=[f for f in fits if not f.error],
                failed=[f for f in fits if f.error],
            )
        )
    rows.sort(key=lambda s: (math.isnan(s.score), -s.score if s.score == s.score else 0.0))
    return [_marked(s, _optimal(s, rows)) for s in rows]


def _marked(s: Standing, optimal: bool) -> Standing:
    return Standing(s.key, s.label, s.family, s.ours, s.fits, s.failed, optimal)


def _optimal(s: Standing, rows: Sequence[Standing]) -> bool:
    """Return whether no other model is as good in both figures and better in one."""
    if not s.drawn:
        return False
    return not any(
        o.drawn
        and o.score >= s.score
        and o.mean_columns <= s.mean_columns
        and (o.score > s.score or o.mean_columns < s.mean_columns)
        for o in rows
    )


@dataclass(frozen=True)
class Choice:
    """The model of the card, and whether it came within a standard error of the best."""

    model: Standing
    best: Standing
    standard_error: float
    within: bool


def choose(rows: Sequence[Standing], available: Sequence[str]) -> Choice | None:
    """Return the psephos model with the fewest columns within one standard error of the best.

    The standard error is that of the best model's mean balanced accuracy over the splits,
    sd / sqrt(splits). If no psephos model comes within it, the best psephos model is returned.

    Parameters
    ----------
    rows : sequence of Standing
    available : sequence of str
        Keys of the models that have a file.
    """
    drawn = [s for s in rows if s.drawn]
    ours = [s for s in drawn if s.ours and s.key in available]
    if not ours:
        return None
    best = max(drawn, key=lambda s: (s.score, -s.mean_columns))
    n = max(len(best.values(MEASURES[0])), 1)
    error = best.sd(MEASURES[0]) / math.sqrt(n)
    near = [s for s in ours if s.score >= best.score - error - 1e-12]
    if near:
        fewest = min(near, key=lambda s: (s.mean_columns, -s.score))
        return Choice(fewest, best, error, True)
    return Choice(max(ours, key=lambda s: (s.score, -s.mean_columns)), best, error, False)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _sd(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
