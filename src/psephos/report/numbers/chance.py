"""Which models are shown to be better than a constant answer, counting how many were looked at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from psephos.protocol import paired_difference
from psephos.protocol.evaluation.scores import main_metric
from psephos.report.study.answers import Answers, called
from psephos.report.study.folder import Folder
from psephos.report.study.standings import Standing

__all__ = ["CONFIDENCE", "DRAWS", "Beyond", "beyond_chance"]

CONFIDENCE = 0.95
DRAWS = 999
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Beyond:
    """The models that read a column, and those of them shown to be better than a constant."""

    asked: tuple[str, ...]
    better: frozenset[str]
    how: str


def beyond_chance(folder: Folder, rows: Sequence[Standing], answers: Answers | None) -> Beyond:
    """Return which models are better than a constant answer, all claims holding at once.

    A model is, where its balanced accuracy, counted over the held-out cases, is above the greatest
    that any of the models has in 19 of 20 shufflings of the classes among the cases (Westfall &
    Young 1993, max T). Groups are independent, not cases: with them it is Student's t of what each
    adds. Without the answers, or with several labels a case, it is where the lower limit of the
    mean over the folds is above (Nadeau & Bengio 2003). Both are one-sided, at 95 % shared by the
    models (Bonferroni).
    """
    asked = [s for s in rows if s.drawn and s.columns.mean > 0]
    keys = tuple(s.key for s in asked)
    if answers is None or not keys:
        level = 1 - 2 * (1 - CONFIDENCE) / max(len(asked), 1)
        better = [s.key for s in asked if _lower(folder, s, level) > folder.constant + 1e-12]
        return Beyond(keys, frozenset(better), "by the means of the folds")
    said = np.array([_said(answers, key) for key in keys])
    calls = np.array([said == c for c in range(len(folder.about["classes"]))], dtype=np.float64)
    known, kinds = (said >= 0).astype(np.float64), np.eye(len(calls))[answers.truth]
    if answers.groups is None:
        above = _above_shuffled(calls, known, kinds)
        how = f"counted over all held-out cases, beside {DRAWS} shufflings of their classes"
    else:
        above = _above_by_groups(calls, known, kinds, answers.groups)
        how = "counted over all held-out cases, whose groups are independent"
    return Beyond(keys, frozenset(k for k, one in zip(keys, above, strict=True) if one), how)


def _said(answers: Answers, key: str) -> NDArray[np.intp]:
    """Return the class that each case was called, -1 where there is no answer."""
    known = answers.known(key)
    return np.where(known, called(np.where(known[:, None], answers.chances[key], 0.0)), -1)


def _above_shuffled(calls: _Floats, known: _Floats, kinds: _Floats) -> Any:
    """Return whose balanced accuracy is above the greatest of all in 19 of 20 shufflings.

    Calls are (K, M, n), ``known`` (M, n) where there is an answer, ``kinds`` (n, K) the classes.
    """
    rng = np.random.default_rng(0)
    drawn = [_recall(calls, known, rng.permutation(kinds)).max() for _ in range(DRAWS)]
    limit = np.quantile(drawn, CONFIDENCE, method="higher")
    return _recall(calls, known, kinds) > limit + 1e-12


def _recall(calls: _Floats, known: _Floats, kinds: _Floats) -> _Floats:
    """Return the balanced accuracy of each model: the mean share of each class called so."""
    hits = np.array([one @ kind for one, kind in zip(calls, kinds.T, strict=True)])
    return (hits / np.maximum(known @ kinds, 1.0).T).mean(axis=0)


def _above_by_groups(calls: _Floats, known: _Floats, kinds: _Floats, groups: Any) -> Any:
    """Return whose groups add to its balanced accuracy, by Student's t shared by the models.

    A group adds, over its cases: whether each is called what it is, less the share of all that
    are called so, over the number of cases of its class.
    """
    share = calls.sum(axis=2) / known.sum(axis=1)  # (K, M)
    size = np.maximum(known @ kinds, 1.0).T
    adds = sum(
        (calls[c] - share[c][:, None] * known) * kinds[:, c] / size[c][:, None]
        for c in range(len(calls))
    )
    sums = np.array([np.bincount(groups, weights=one) for one in np.asarray(adds)])
    m = sums.shape[1]
    if m < 2:
        return np.zeros(len(sums), dtype=bool)
    error = np.sqrt(m / (m - 1) * (sums**2).sum(axis=1))
    limit = student.ppf(1 - (1 - CONFIDENCE) / len(sums), m - 1)
    return sums.sum(axis=1) > np.maximum(limit * error, 1e-12)


def _lower(folder: Folder, s: Standing, level: float) -> float:
    measure = main_metric(s.summary.measures)
    fits = [f for f in s.fits if measure in f.measures]
    if len(fits) < 2:
        return math.nan
    ratio = sum(f.n_test for f in fits) / sum(f.n_train for f in fits)
    values = [f.measures[measure] for f in fits]
    return (
        folder.constant
        + paired_difference(values, [folder.constant] * len(fits), ratio, level=level).low
    )
