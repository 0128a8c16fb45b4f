"""From fits to the figures of each model, their differences, and the models the page shows."""

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
    draws: int | None  # of its search; None where nothing is tuned, or it was not written
    summary: Summary
    fits: list[Fit]  # those that succeeded
    failed: list[Fit]
    ranked: bool = True  # whether it has the folds that others have (see `comparable`)

    def spread(self, measure: str) -> FoldSpread:
        """Return the mean and standard deviation of a measure; NaN where it was not measured."""
        return self.summary.measures.get(measure, FoldSpread(math.nan, math.nan, math.nan, 0))

    @property
    def score(self) -> float:
        """Return the mean of the first measure (see `Summary.score`); NaN if no fit succeeded."""
        return self.summary.score

    @property
    def most(self) -> str:
        """Return what the model is called that is ranked first."""
        return "best" if self.summary.ranked_by.ranks else "most accurate"

    @property
    def columns(self) -> FoldSpread:
        """Return the columns used."""
        return self.summary.columns_used

    @property
    def drawn(self) -> bool:
        """Return whether the model has a place on the chart."""
        return math.isfinite(self.score) and math.isfinite(self.columns.mean)


def standings(folder: Folder, better: Collection[str] = ()) -> list[Standing]:
    """Return one Standing a model, the most accurate first, then those that are not ranked.

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
    """What the page shows: the best model, the smallest near it, and the one it opens.

    Parameters
    ----------
    best : Standing
        The best mean score; of equals the fewest columns.
    smallest : Standing
        The fewest columns within one standard error of the best, whoever made the model.
    standard_error : float
        Of the best.
    opened : Standing or None
        The model whose file is shown in detail; None if no file was saved.
    asked : bool
        Whether the reader asked for `opened` by name.
    alone : bool
        Whether there was no other model to choose from.
    fewest : bool
        Whether `opened` is the model of fewest columns of those near the best, and not the best.
    """

    best: Standing
    smallest: Standing
    standard_error: float
    opened: Standing | None
    asked: bool = False
    alone: bool = False
    fewest: bool = False

    def named(self) -> list[Standing]:
        """Return the models the page shows, each once."""
        shown = [self.best, self.smallest, *([self.opened] if self.opened else [])]
        return list({s.key: s for s in shown}.values())


def choose(
    rows: Sequence[Standing],
    available: Sequence[str],
    wanted: str | None = None,
    better: Collection[str] = (),
) -> Opening | None:
    """Return what the page shows, or None if every fit failed.

    Opened is, of the models of `available` within one standard error of the best, that of fewest
    columns among the `better` ones; if there is none, the most accurate, of equals that with the
    fewest columns. `smallest` is that of `psephos.protocol.one_standard_error`.

    Parameters
    ----------
    available : sequence of str
        Keys of the models that have a file.
    wanted : str, optional
        The model to open instead.
    better : collection of str
        Keys of the models significantly better than a constant prediction.

    Raises
    ------
    PsephosError
        If the wanted model has no file.
    """
    drawn = [s for s in rows if s.drawn and s.ranked]
    if wanted not in available and f"{wanted}-regressor" in available:
        wanted = f"{wanted}-regressor"  # named shortly, as in `compare`
    if wanted is not None and wanted not in available:
        raise PsephosError(
            f"the model {wanted!r} has no file in this folder: there are"
            f" {', '.join(available) or 'none'}."
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
    reads: bool  # whether it reads any column: a constant answer does not
    mean: float
    low: float
    high: float

    @property
    def interval(self) -> str:
        """Return the interval in words; nothing where it is not known."""
        return span(self.low, self.high, difference)


def pairs(results: Rows, rows: Sequence[Standing], reference: Standing | None) -> list[Pair]:
    """Return the difference of every other model from the reference, on the folds both have."""
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
