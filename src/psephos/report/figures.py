"""From fits to the figures of each model, and to the model whose card is shown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from psephos.protocol import one_standard_error, pareto, summary
from psephos.protocol.statistics import Spread, Summary
from psephos.report.folder import Fit, Folder

__all__ = ["Choice", "Standing", "choose", "standings"]


@dataclass(frozen=True)
class Standing:
    """One model over all its splits."""

    key: str
    label: str
    ours: bool
    optimal: bool
    summary: Summary
    fits: list[Fit]  # those that succeeded
    failed: list[Fit]

    def spread(self, measure: str) -> Spread:
        """Return the mean and standard deviation of a measure."""
        return self.summary.measures[measure]

    @property
    def score(self) -> float:
        """Return the mean balanced accuracy; NaN if no fit succeeded."""
        return self.summary.score

    @property
    def score_sd(self) -> float:
        """Return its standard deviation over the splits."""
        return self.spread("balanced_accuracy").sd

    @property
    def columns(self) -> Spread:
        """Return the columns used."""
        return self.summary.columns_used

    @property
    def drawn(self) -> bool:
        """Return whether the model has a place on the chart."""
        return math.isfinite(self.score) and math.isfinite(self.columns.mean)


def standings(folder: Folder) -> list[Standing]:
    """Return one Standing a model, the most accurate first; those that only failed last."""
    about = folder.about.get("models", {})
    figures = summary(folder.rows)
    optimal = {one.model for one in pareto(figures)}
    rows = [
        Standing(
            key=one.model,
            label=one.model,
            ours=about.get(one.model, {}).get("origin") == "psephos",
            optimal=one.model in optimal,
            summary=one,
            fits=[f for f in folder.fits if f.model == one.model and not f.error],
            failed=[f for f in folder.fits if f.model == one.model and f.error],
        )
        for one in figures
    ]
    rows.sort(key=lambda s: (math.isnan(s.score), -s.score if s.score == s.score else 0.0))
    return rows


@dataclass(frozen=True)
class Choice:
    """The model of the card, and whether it came within a standard error of the best."""

    model: Standing
    best: Standing
    standard_error: float
    within: bool


def choose(rows: Sequence[Standing], available: Sequence[str]) -> Choice | None:
    """Return the psephos model with the fewest columns within one standard error of the best.

    The rule is `psephos.protocol.one_standard_error`. If it names none, the most accurate psephos
    model is returned.

    Parameters
    ----------
    rows : sequence of Standing
    available : sequence of str
        Keys of the models that have a file.
    """
    drawn = [s for s in rows if s.drawn]
    ours = {s.key: s for s in drawn if s.ours and s.key in available}
    if not ours:
        return None
    best = max(drawn, key=lambda s: (s.score, -s.columns.mean))
    error = best.spread("balanced_accuracy").se
    near = one_standard_error([s.summary for s in drawn], among=list(ours))
    if near is not None:
        return Choice(ours[near.model], best, error, True)
    return Choice(max(ours.values(), key=lambda s: (s.score, -s.columns.mean)), best, error, False)
