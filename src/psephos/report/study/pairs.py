"""Differences between models on the same folds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from psephos.protocol import paired_difference
from psephos.protocol.scores import main_metric
from psephos.report.study.standings import Standing

__all__ = ["Pair", "pairs"]


@dataclass(frozen=True)
class Pair:
    """A model's mean difference from the reference, and its corrected 95 % interval."""

    key: str
    label: str
    ours: bool
    reads: bool  # whether it reads any column: a constant answer does not
    mean: float
    low: float
    high: float


def pairs(rows: Sequence[Standing], reference: Standing | None) -> list[Pair]:
    """Return the difference of every other model from the reference, on the folds both have."""
    if reference is None:
        return []
    return [
        pair
        for s in rows
        if s.drawn and s.key != reference.key
        for pair in [_pair(s, reference)]
        if pair is not None
    ]


def _pair(s: Standing, reference: Standing) -> Pair | None:
    measure = main_metric(s.summary.measures)
    mine = {f.split: f for f in s.fits if measure in f.measures}
    theirs = {f.split: f for f in reference.fits if measure in f.measures}
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        return None
    a = [mine[k].measures[measure] for k in shared]
    b = [theirs[k].measures[measure] for k in shared]
    if len(shared) < 2:
        return Pair(s.key, s.label, s.ours, s.columns.mean > 0, a[0] - b[0], math.nan, math.nan)
    ratio = sum(mine[k].n_test for k in shared) / sum(mine[k].n_train for k in shared)
    found = paired_difference(a, b, ratio)
    return Pair(s.key, s.label, s.ours, s.columns.mean > 0, found.mean, found.low, found.high)
