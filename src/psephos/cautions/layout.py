"""Cautions on layout: the first line, the last row, transposed tables, spelling of classes."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from psephos._types import Floats
from psephos.cautions.given import SUBJECT, Found, Given
from psephos.files.cells import Cells
from psephos.files.columns import TOTAL
from psephos.files.names import plural
from psephos.files.near import CELL, quoted, shown, some
from psephos.files.spelling import alike

_MADE = re.compile(
    r"unnamed: ?[1-9]\d*(?:_level_\d)?|__unnamed__\d+|\.\.\.\d+|_c\d+|column_?\d+|\s*",
    re.IGNORECASE,
)
_FEATURE = re.compile(
    r"ENS[A-Z]*[GTP]\d{6,}.*|[kdpcofgs]__.*|.*;\s*[pcofgs]__.*|\d+(?:_[sxfar])*_at|rs\d{3,}|"
    r"cg\d{6,}|(?:z?OTU|ASV)[_ ]?\d+|hsa-.*|[NX][MR]_\d+.*|ILMN_\d+|[OPQ]\d[A-Z\d]{3}\d",
    re.IGNORECASE,
)
_SAMPLE = re.compile(
    r"GSM\d+|[SED]RR\d+|SAM[END]A?\d+|TCGA-.*|"
    rf"(?:{SUBJECT}|sample|case|probe|cell)[\W_]*\d+",
    re.IGNORECASE,
)
#: MARCH1, SEPT2 and DEC1 as a spreadsheet writes them.
_GENE_DAY = re.compile(
    r"\d{1,2}[-. ]+(?:mar|sept?|dec|mrz|mär|dez)\.?(?:[-. ]\d{2}(?:\d{2})?)?|"
    r"(?:mar|sept?|dec|mrz|mär|dez)[-. ]+\d{1,2}|"
    r"(?:0?[1-9]|1[0-5])\.(?:0?[39]|12)\.20\d{2}|"
    r"(?:0?[39]|12)/(?:0?[1-9]|1[0-5])/(?:20)?\d{2}|"
    r"\d{4}-(?:03|09|12)-(?:0[1-9]|1[0-5])(?:[ T]00:00(?::00)?)?",
    re.IGNORECASE,
)
_MOST, _BY_CHANCE = 0.8, 1e-4  # share of the columns; p-value of a row of rounded means


def no_names(given: Given) -> Found:
    """Find a first line that is a case: the target's name is a class, or names are values."""
    places, at = _numbers(given)
    values = sum(given.names[j] in words for j, words in given.levels.items())
    kept = given.X[:, places]
    within = int(((np.fmin.reduce(kept) <= at) & (at <= np.fmax.reduce(kept))).sum())
    usual = _one_way(at) and (len(at) > 2 or [*at] == [*range(len(at))])  # 0, 1 of a frame
    classes = {word.strip().casefold() for word in given.classes}
    if given.target.strip().casefold() in classes and values + within * (not usual):
        return Found(facts={"why": f"{shown(given.target)} is a class of {shown(given.target)}"})
    values += 0 if _one_way(at) else within
    if values < 2 or 2 * values < len(given.names):
        return Found()
    return Found(facts={"why": f"{values} names are values of their own columns"})


def _numbers(given: Given) -> tuple[list[int], Floats]:
    """Return the columns whose names are numbers, and these numbers."""
    read = [(j, Cells().number(name)) for j, name in enumerate(given.names)]
    known = {j: value for j, value in read if value is not None}
    return [*known], np.array([*known.values()])


def _one_way(at: Floats) -> bool:
    """Return whether names that are numbers increase or decrease, as wavelengths do."""
    return bool((np.diff(at) > 0).all() or (np.diff(at) < 0).all())


def merged_names(given: Given) -> Found:
    """Find names that a program made up for empty or merged cells of the first line."""
    known = set(given.names)  # of two "dose" pandas makes dose and dose.1
    places, at = _numbers(given)
    known -= {given.names[j] for j in places if _one_way(at)}
    again = [name.endswith(".1") and name[:-2] in known for name in given.names]
    return Found([j for j, k in enumerate(given.names) if again[j] or _MADE.fullmatch(k)])


def lies_across(given: Given) -> Found:
    """Find features in rows: rows are named like features, or columns like samples."""
    if _share(given.rows, _FEATURE) > 0.5:
        return Found(facts={"what": f"rows are named like features ({quoted(given.rows[:3])})"})
    if _share(given.names, _SAMPLE) > 0.5:
        return Found(facts={"what": f"columns are named like samples ({quoted(given.names[:3])})"})
    return Found()


def _share(names: Sequence[str], form: re.Pattern[str]) -> float:
    found = [bool(form.fullmatch(name)) for name in names[:1000]]
    return sum(found) / len(found) if len(found) > 2 else 0.0


def gene_days(given: Given) -> Found:
    """Find names of genes that a spreadsheet turned into dates, unless most names are dates."""
    days = [bool(_GENE_DAY.fullmatch(name)) for name in given.names]
    return Found(np.flatnonzero(days).tolist() if 2 * sum(days) < len(days) else [])


def total_row(given: Given) -> Found:
    """Find a last row that holds the sums or means of the others, or is named total or similar."""
    n = len(given.X) - 1
    if n < 1:
        return Found()
    words = [levels[int(code)] for j, levels in given.levels.items()
             if (code := given.X[n, j]) == code and (given.X[:, j] == code).sum() == 1]  # fmt: skip
    called = [word for word in [*given.rows[-1:], *words] if TOTAL.fullmatch(word)]
    found = (_summing(given, n) or _summing(given, n - 1)) if n > 3 else ""
    if not (found or called):
        return Found()
    why = f"holds the {found}" if found else f"is named {shown(called[0], CELL)}"
    return Found((), [n], {"row": given.row(n), "why": why}, [("--skip-last", "1")])


def _summing(given: Given, n: int) -> str:
    """Return in words whether the last row holds sums or means of the first n; '' if neither."""
    body, last = given.X[:n], given.X[-1]
    sums = np.nansum(body, axis=0)
    means = sums / np.maximum((~np.isnan(body)).sum(axis=0), 1)
    varied = (sums != 0) & (body[:1] != body).any(axis=0) & ~np.isnan(last)
    varied[list(given.levels)] = False
    if varied.sum() < 2:
        return ""
    found = ""
    for what, of in (("means", means), ("sums", sums)):
        near = np.isclose(last, of, rtol=1e-3, atol=0)[varied]
        if near.mean() >= _MOST:
            part = "" if near.all() else f" in {near.sum()} of {len(near)} columns"
            found = f"{what} of the first {n} rows{part}"
    if not found and _rounded(body[:, varied], last[varied], means[varied]):
        found = f"means of the first {n} rows, rounded"
    return found


def _rounded(body: Floats, last: Floats, means: Floats) -> bool:
    """Return whether the last row holds means, rounded to its digits, and no other row does.

    The product over columns of the share of rows that are as near to the mean must be small.
    """
    shown = [*(np.round(last, k) == last for k in range(7)), np.full(len(last), fill_value=True)]
    half = 0.5 * 10.0 ** -np.argmax(shown, axis=0)
    far = np.abs(np.vstack([body, last]) - means)
    near, wider = far <= 1.001 * half, (far[:-1] <= 2 * half).mean(axis=1)
    chance = (near[:-1].sum(axis=0) + 1) / len(far)
    found = near[-1].mean() >= _MOST and chance[near[-1]].prod() < _BY_CHANCE
    return bool(found) and not (wider >= near[-1].mean()).any()


def classes_alike(given: Given) -> Found:
    """Find classes that differ only in case, blanks, hyphens or the form of a number."""
    counts = dict(zip(given.classes, given.counts.tolist(), strict=True))
    return _spellings(alike(counts), counts)


def groups_alike(given: Given) -> Found:
    """Find groups that differ only in case, blanks, zeros before digits or the form of a number."""
    counts = Counter([] if given.groups is None else map(str, given.groups.tolist()))
    return _spellings(alike(counts, padded=True), counts)


def _spellings(same: Sequence[Sequence[str]], counts: Mapping[str, int]) -> Found:
    words = {word: f"{shown(word, CELL)} ({plural(n, 'row')})" for word, n in counts.items()}
    each = [" and ".join(words[word] for word in one) for one in same]
    return Found(facts={"which": some(each)} if each else {})
