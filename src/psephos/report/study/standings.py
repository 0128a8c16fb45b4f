"""Figures of each model over its fits, their differences, and the models that the page shows."""

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from psephos._errors import PsephosError
from psephos.protocol import one_standard_error, paired_difference, summary
from psephos.protocol.evaluation.statistics import FoldSpread, Rows, Summary, comparable
from psephos.protocol.study.comparison import frontier
from psephos.report.study.folder import Fit, Folder
from psephos.report.words import difference, span


@dataclass(frozen=True)
class Standing:
    """One model over all its splits."""

    key: str
    label: str
    frontier: bool  # see `psephos.protocol.study.comparison.frontier`
    draws: int | None  # draws of its search; None if it was not tuned, or not recorded
    summary: Summary
    fits: list[Fit]  # fits that succeeded
    failed: list[Fit]
    ranked: bool = True  # whether it has the same folds as others (see `comparable`)

    def spread(self, measure: str) -> FoldSpread:
        """Return the mean and standard deviation of a measure; NaN if it was not measured."""
        return self.summary.measures.get(measure, FoldSpread(math.nan, math.nan, math.nan, 0))

    @property
    def score(self) -> float:
        """Return the mean of the first measure (see `Summary.score`); NaN if no fit succeeded."""
        return self.summary.score

    @property
    def most(self) -> str:
        """Return the adjective of the model that is ranked first."""
        return "best" if self.summary.ranked_by.ranks else "most accurate"

    @property
    def columns(self) -> FoldSpread:
        """Return the columns used."""
        return self.summary.columns_used

    @property
    def drawn(self) -> bool:
        """Return whether the model can be drawn on the chart."""
        return math.isfinite(self.score) and math.isfinite(self.columns.mean)


def standings(folder: Folder, better: Collection[str] = ()) -> list[Standing]:
    """Return a Standing for each model, the most accurate first, those not ranked last.

    Parameters
    ----------
    better : collection of str
        The models significantly better than a constant prediction (`better_than_constant`).
    """
    about, figures = folder.about.get("models", {}), summary(folder.rows, folder.about)
    ranked, line = {s.model for s in comparable(figures)}, frontier(figures, better)
    rows = [
        Standing(
            key=one.model,
            label=one.model,
            frontier=one.model in line,
            draws=_draws(about.get(one.model, {})),
            summary=one,
            fits=[f for f in folder.fits if f.model == one.model and not f.error],
            failed=[f for f in folder.fits if f.model == one.model and f.error],
            ranked=one.model in ranked,
        )
        for one in figures
    ]
    rows.sort(key=lambda s: (not s.ranked, -s.summary.merit if s.score == s.score else math.inf))
    return rows


def _draws(about: dict[str, Any]) -> int | None:
    return int(about["draws"]) if about.get("distributions") and about.get("draws") else None


@dataclass(frozen=True)
class Opening:
    """The models that the page shows: the best, the smallest near it, and the one shown in detail.

    Parameters
    ----------
    best : Standing
        The model with the best mean score; of ties, with the fewest columns.
    smallest : Standing
        The model with the fewest columns within one standard error of the best, with a file or not.
    standard_error : float
        The standard error of the best.
    opened : Standing or None
        The model whose file is shown in detail; None if no file was saved.
    requested : bool
        Whether `opened` was requested by name.
    alone : bool
        Whether it is the only model with figures.
    fewest : bool
        Whether `opened` was chosen for its few columns, and is not the most accurate with a file.
    """

    best: Standing
    smallest: Standing
    standard_error: float
    opened: Standing | None
    requested: bool = False
    alone: bool = False
    fewest: bool = False

    def named(self) -> list[Standing]:
        """Return the models that the page shows, without repetition."""
        shown = [self.best, self.smallest, *([self.opened] if self.opened else [])]
        return list({s.key: s for s in shown}.values())


def choose(
    rows: Sequence[Standing],
    available: Sequence[str],
    wanted: str | None = None,
    better: Collection[str] = (),
) -> Opening | None:
    """Return the models that the page shows, or None if every fit failed.

    `opened` is the model with the fewest columns of those with a file that are among the `better`
    ones and within one standard error of the best; if there is none, the most accurate with a file,
    of ties that with the fewest columns. `smallest` is that of
    `psephos.protocol.one_standard_error`.

    Parameters
    ----------
    available : sequence of str
        Keys of the models that have a file.
    wanted : str, optional
        The model to show in detail instead.
    better : collection of str
        Keys of the models significantly better than a constant prediction.

    Raises
    ------
    PsephosError
        If the wanted model has no file.
    """
    drawn = [s for s in rows if s.drawn and s.ranked]
    if wanted not in available and f"{wanted}-regressor" in available:
        wanted = f"{wanted}-regressor"  # the short name, as in `compare`
    if wanted is not None and wanted not in available:
        listed = ", ".join(available) or "there is none"
        raise PsephosError(
            f"model must be one with a file in this folder ({listed}); got {wanted!r}."
        )
    if not drawn:
        return None
    best = max(drawn, key=_accurate)
    error = best.summary.score_se
    smallest = _smallest(drawn, drawn) or best
    every = [s for s in rows if s.drawn]
    files = [s for s in every if s.key in available]
    most = max(files, key=lambda s: (s.ranked, *_accurate(s)), default=None)
    opened = _smallest(drawn, [s for s in files if s.key in better]) or most
    if wanted is not None:
        opened = next((s for s in files if s.key == wanted), opened)
    fewest = wanted is None and opened is not most
    return Opening(best, smallest, error, opened, wanted is not None, len(every) == 1, fewest)


def _accurate(s: Standing) -> tuple[float, float]:
    return s.summary.merit, -s.columns.mean


def _smallest(drawn: Sequence[Standing], among: Sequence[Standing]) -> Standing | None:
    found = one_standard_error([s.summary for s in drawn], among=[s.key for s in among])
    return None if found is None else next(s for s in drawn if s.key == found.model)


@dataclass(frozen=True)
class Pair:
    """A model's mean difference from the reference, and its corrected 95 % interval."""

    key: str
    reads: bool  # whether it reads any column, unlike a constant prediction
    mean: float
    low: float
    high: float

    @property
    def interval(self) -> str:
        """Return the interval as text; '' if it is not known."""
        return span(self.low, self.high, difference)


def pairs(results: Rows, rows: Sequence[Standing], reference: Standing | None) -> list[Pair]:
    """Return the difference of each other model from the reference, over the folds of both."""
    found: list[Pair] = []
    if reference is None:
        return found
    for s in rows:
        if s.drawn and s.key != reference.key:
            with suppress(PsephosError):  # they share no fold
                d = paired_difference(results, s.key, reference.key, s.summary.ranked_by.name)
                reads = s.columns.mean > 0
                found.append(Pair(s.key, reads, d.mean, d.low, d.high))
    return found
