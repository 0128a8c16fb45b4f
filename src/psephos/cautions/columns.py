"""Cautions on columns: what is not a measurement, though it can be learnt from."""

import re
from collections.abc import Sequence

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.cautions.dates import are_dates, are_written_days
from psephos.cautions.given import Found, Given, some
from psephos.files.near import CELL, shown

_LEAST = 10  # rows: of fewer, order and differences are chance
_INDEX = re.compile(
    r"unnamed: ?0|level_0|(?:row_?)?(?:index|names?|number|nr|no)|\.\.\.1|x\.?1?", re.IGNORECASE
)
_ID = re.compile(
    r"(?:.*[\W_])?(?:id|nr|no|code|key|number|mrn|ssn|accession|barcode)\.?", re.IGNORECASE
)
_EXACT = 2.0**53  # whole numbers up to here are doubles
_DIGITS, _FIRST_DAY = 10**6, 19_000_000
_SHORT = 100  # sentinels below are usual values, too
_SENTINELS = [s * v for v in (9, 88, 99, 777, 888, 999, 9999, 99999, 999999, 1e20) for s in (-1, 1)]


def _drop(given: Given, columns: Sequence[int] | Indices) -> Found:
    kept = [int(j) for j in columns]
    first = given.levels.get(kept[0]) if kept else None
    shows = f" (such as {shown(first[0], CELL)})" if first else ""
    return Found(kept, facts={"such": shows}, remedy=[("--drop", given.names[j]) for j in kept])


def dates(given: Given) -> Found:
    """Find dates and times, by type, as words, or as numbers such as 20210209."""
    columns = [j for j, words in given.words.items() if are_dates(words)]
    whole = given.whole[np.fmin.reduce(given.X[:, given.whole], axis=0) > _FIRST_DAY]
    written = [int(j) for j in whole if are_written_days(given.X[:, j])]
    return _drop(given, sorted({*columns, *written, *given.times}))


def words_once(given: Given) -> Found:
    """Find words most of which occur once: names and remarks."""
    columns: list[int] = []
    for j, words in given.words.items():
        codes = given.X[:, j]
        counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(words))
        if (counts > 0).sum() >= _LEAST and 2 * (counts == 1).sum() > counts.sum():
            columns.append(j)
    found = _drop(given, columns)
    days = all(are_dates(given.words[j]) for j in columns)  # name no case
    return found._replace(facts={**found.facts, "named": "" if days else ", or name one as the id"})


def _counting(given: Given) -> tuple[Indices, Indices]:
    """Return the columns that hold a saved index, and others that count the rows."""
    n, kept = len(given.X), given.different
    if n < _LEAST or not len(kept):
        return kept[:0], kept[:0]
    values = given.X[:, kept]
    steps, width = np.diff(values, axis=0), np.ptp(values, axis=0)
    called = np.array([_INDEX.fullmatch(given.names[j]) is not None for j in map(int, kept)])
    saved = called | ((values[0] == 0) & (steps == 1).all(axis=0))
    counting = ((steps > 0).all(axis=0) & (width < 2 * n)) | (width == n - 1)
    return kept[saved], kept[counting & ~saved]


def counts_rows(given: Given) -> Found:
    """Find numbers that count the rows."""
    return _drop(given, _counting(given)[1])


def saved_index(given: Given) -> Found:
    """Find an index that a program wrote beside the table."""
    return _drop(given, _counting(given)[0])


def ids(given: Given) -> Found:
    """Find numbers that name the rows: of many digits, or called so."""
    kept = np.setdiff1d(given.different, np.concatenate(_counting(given)))
    if len(given.X) < _LEAST or not len(kept):
        return Found()
    low, high = given.X[:, kept].min(axis=0), given.X[:, kept].max(axis=0)
    long = low >= _DIGITS
    long[long] = np.trunc(np.log10(low[long])) == np.trunc(np.log10(high[long]))
    called = np.array([_ID.fullmatch(given.names[j]) is not None for j in map(int, kept)])
    return _drop(given, kept[long | (called & (low >= 0))])


def beyond_exact(given: Given) -> Found:
    """Find whole numbers of more digits than a double keeps."""
    with np.errstate(invalid="ignore"):
        large = given.whole[(np.abs(given.X[:, given.whole]) > _EXACT).any(axis=0)]
    return _drop(given, [j for j in large if _has_many_digits(given.X[:, j])])


def _has_many_digits(values: Floats) -> bool:
    held = values[np.abs(values) > _EXACT]
    return any(float(f"{value:.15g}") != value for value in held.tolist())


def sentinels(given: Given) -> Found:
    """Find a number such as -999 far from all others, which stands for a missing value."""
    found: dict[int, float] = {}
    for end in (np.fmin.reduce(given.X, axis=0), np.fmax.reduce(given.X, axis=0)):
        for j in np.flatnonzero(np.isin(end, _SENTINELS)).tolist():
            if j not in given.levels and _stands_far(given.X[:, j], float(end[j])):
                found.setdefault(j, float(end[j]))
    words = [f"{value:.15g} in {shown(given.names[j])}" for j, value in found.items()]
    marks = [("--missing", f"{value:.15g}") for value in dict.fromkeys(found.values())]
    return Found(list(found), facts={"values": some(words)}, remedy=marks)


def _stands_far(column: Floats, value: float) -> bool:
    others = column[(column != value) & ~np.isnan(column)]
    often = 1 if abs(value) > _SHORT else max(3, len(column) // 100)
    if len(column) < _LEAST or len(np.unique(others)) < 3 or (column == value).sum() < often:
        return False
    return min(abs(value - others.min()), abs(value - others.max())) > np.ptp(others)


def is_target(given: Given) -> Found:
    """Find a column that divides the rows as the target does: the target under another name."""
    return _drop(given, _twins(given))


def _twins(given: Given) -> list[int]:
    if given.answers is None or len(given.X) < _LEAST:
        return []
    if not len(given.classes):
        return _ordered_alike(given.X, given.answers)
    firsts = given.X[np.unique(given.answers, return_index=True)[1]]
    same = np.flatnonzero((firsts[given.answers] == given.X).all(axis=0)).tolist()
    return [j for j in same if len(np.unique(firsts[:, j])) == len(firsts)]


def _ordered_alike(X: Floats, answers: Indices) -> list[int]:
    """Return columns that rise, or fall, wherever the number does, in other units or rounded.

    Rounded they have more than ten values; of fewer the agreement may be no accident.
    """
    ordered = X[np.argsort(answers, kind="stable")]
    sizes = np.bincount(answers)
    ends = np.cumsum(sizes)
    low = np.minimum.reduceat(ordered, ends - sizes)
    high = np.maximum.reduceat(ordered, ends - sizes)
    rising = (high[:-1] <= low[1:]).all(axis=0)
    falling = (low[:-1] >= high[1:]).all(axis=0)
    same: list[int] = np.flatnonzero(rising | falling).tolist()
    return [j for j in same if len(np.unique(X[:, j])) > min(_LEAST, len(sizes) - 1)]


def tells_all(given: Given) -> Found:
    """Find a column that by itself tells all classes apart: it may be written after the answer."""
    sizes, answers, n = given.counts, given.answers, len(given.X)
    if answers is None or len(sizes) < 2 or len(sizes) > n / 3 or sizes.min() < 3 or n < 2 * _LEAST:
        return Found()
    columns = _dividing(given, answers) & (np.isnan(given.X).mean(axis=0) < 0.5)
    for j, words in given.levels.items():
        held = ~np.isnan(given.X[:, j])
        pairs = set(zip(given.X[held, j].tolist(), answers[held].tolist(), strict=True))
        once = len({code for code, _ in pairs}) == len(pairs) >= len(sizes)
        columns[j] = once and 3 * len(words) <= n
    columns[[*_twins(given), *np.concatenate(_counting(given))]] = False
    return _drop(given, np.flatnonzero(columns))


def _dividing(given: Given, answers: Indices) -> NDArray[np.bool_]:
    """Return which columns of numbers have an interval for each class."""
    each = [given.X[answers == k] for k in range(len(given.classes))]
    low = np.stack([np.fmin.reduce(part, axis=0) for part in each])
    high = np.stack([np.fmax.reduce(part, axis=0) for part in each])
    order = np.argsort(low, axis=0)
    low, high = np.take_along_axis(low, order, 0), np.take_along_axis(high, order, 0)
    return np.asarray((high[:-1] < low[1:]).all(axis=0))
