"""Which models are shown to be better than a constant answer, counting how many were looked at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psephos.figures import Estimate, mean_of, share
from psephos.protocol import paired_difference
from psephos.protocol.scores import main_metric
from psephos.report.study.answers import Answers, called
from psephos.report.study.folder import Folder
from psephos.report.study.standings import Standing

__all__ = ["CONFIDENCE", "Beyond", "balanced", "beyond_chance"]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Beyond:
    """The models that read a column, and those of them shown to be better than a constant."""

    asked: tuple[str, ...]
    better: frozenset[str]
    pooled: bool  # counted over all held-out cases; else by the means of the folds


def beyond_chance(folder: Folder, rows: Sequence[Standing], answers: Answers | None) -> Beyond:
    """Return which models are better than a constant answer, all claims holding at once.

    A model is, where the lower limit of its balanced accuracy, counted over the held-out cases,
    is above that of a constant answer; with groups these are independent, not cases. Limits are
    one-sided, at 95 % shared by all models that read a column (Bonferroni). Without the answers,
    or with several labels a case, the limit is that of the mean over the folds (Nadeau & Bengio).
    """
    asked = [s for s in rows if s.drawn and s.columns.mean > 0]
    level = 1 - 2 * (1 - CONFIDENCE) / max(len(asked), 1)
    better = frozenset(
        s.key for s in asked if _lower(folder, s, answers, level) > folder.constant + 1e-12
    )
    return Beyond(tuple(s.key for s in asked), better, answers is not None)


def _lower(folder: Folder, s: Standing, answers: Answers | None, level: float) -> float:
    if answers is None:
        return _of_folds(folder, s, level)
    known = answers.known(s.key)
    groups = None if answers.groups is None else answers.groups[known]
    said, truth = called(answers.chances[s.key][known]), answers.truth[known]
    return balanced(said, truth, len(folder.about["classes"]), groups, level).low


def balanced(
    said: NDArray[np.intp],
    truth: NDArray[np.intp],
    n_classes: int,
    groups: NDArray[np.intp] | None,
    level: float = CONFIDENCE,
) -> Estimate:
    """Return the balanced accuracy of calls: the mean share of each class that is called so."""
    own = [truth == k for k in range(n_classes)]
    told = [None if groups is None else groups[mine] for mine in own]
    hits = [(said == truth)[mine] for mine in own]
    return mean_of([share(h, g, level) for h, g in zip(hits, told, strict=True)])


def _of_folds(folder: Folder, s: Standing, level: float) -> float:
    measure = main_metric(s.summary.measures)
    fits = [f for f in s.fits if measure in f.measures]
    if len(fits) < 2:
        return math.nan
    ratio = sum(f.n_test for f in fits) / sum(f.n_train for f in fits)
    values = [f.measures[measure] for f in fits]
    found = paired_difference(values, [folder.constant] * len(fits), ratio, level=level)
    return folder.constant + found.low
