"""Cautions on rows: replicates, the order of the rows, few of a class, batches."""

import re

import numpy as np

from psephos._types import Floats, Indices
from psephos.cautions.given import Found, Given, parts_of
from psephos.cautions.replicates import replicates
from psephos.files.near import CELL, shown, some

_BATCH = re.compile(
    r"(?:.* )?(?:batch|site|cent(?:er|re)|plate|run|lane|scanner|hospital|clinic|labo?r?|cohort|"
    r"study|machine|instrument|operator|reader|ward|lot|flowcell|chargen?|zentrum|station|klinik)"
    r"(?: (?:id|nr|no|name|number|code|\d+))*"
)
_SUBJECT = re.compile(
    r"(?:.* )?(?:patient|patienten|subject|person|participant|proband|individual|donor|animal|"
    r"mouse|specimen|sujet|paciente)(?: (?:id|ids|nr|no|num|number|name|code))*"
)
_LEAST, _EXPLAINED = 20, 0.5
_ROWS_EACH, _PURE, _BY_CHANCE = 8, 0.95, 1e-6  # of a subject at most, on average
_FAR = 5.0  # standard deviations fewer changes than in any order


def divided_replicates(given: Given) -> Found:
    """Find rows that are replicates of each other and that folds may divide."""
    pairs, tied = replicates(given.X), given.groups
    pairs = [(a, b) for a, b in pairs if tied is None or tied[a] != tied[b]]
    if not pairs:
        return Found()
    first, second = np.array(pairs).T
    coded: list[int] = [*given.levels, *given.whole.tolist()]
    many = {j: len(np.unique(given.X[:, j])) for j in coded}
    fit = [j for j, k in many.items() if len(given.X) / 4 < k < len(given.X)]
    fit = [j for j in fit if (given.X[first, j] == given.X[second, j]).all()]
    column = given.names[max(fit, key=lambda j: many[j])] if fit else ""
    rows = sorted({i for pair in pairs for i in pair})
    words = some([f"{given.row(a)} and {given.row(b)}" for a, b in pairs])
    which = f" (column {shown(column)} has one value in each pair)" if column else ""
    facts = {"n": str(len(rows)), "pairs": words, "which": which}
    return Found(rows=rows, facts=facts, remedy=[("--group", column)] if column else ())


def subjects(given: Given) -> Found:
    """Find columns that name subjects of several rows each, whose rows have one class."""
    if given.answers is None or len(given.X) < _LEAST:
        return Found()
    found = [j for j in [*given.levels, *given.whole.tolist()] if _names_subjects(given, int(j))]
    answer = {"answer": "class" if len(given.classes) else "number"} if found else {}
    return Found(found, (), answer, [("--group", str(given.names[j])) for j in found[:1]])


def _names_subjects(given: Given, j: int) -> bool:
    known = ~np.isnan(given.X[:, j])
    values, subject, sizes = np.unique(given.X[known, j], return_inverse=True, return_counts=True)
    several = np.flatnonzero(sizes > 1)
    rows = int(sizes[several].sum())
    if len(values) * _ROWS_EACH < known.sum() or len(several) < 10 or rows * 5 < known.sum():
        return False
    answers = np.asarray(given.answers)[known]
    ordered, ends = answers[np.argsort(subject, kind="stable")], np.cumsum(sizes)
    first, last = (end.reduceat(ordered, ends - sizes) for end in (np.minimum, np.maximum))
    pure = first[several] == last[several]
    share = np.bincount(answers) / known.sum()
    most = share.max()  # a power of it may underflow
    by_size = {
        int(k): k * np.log(most) + np.log(((share / most) ** k).sum()) for k in np.unique(sizes)
    }
    chance = sum(by_size[int(k)] for k in sizes[several[pure]])
    if pure.mean() < _PURE or chance > np.log(_BY_CHANCE):
        return False
    if j in given.levels or _SUBJECT.fullmatch(" ".join(parts_of(given.names[j]))):
        return True
    if not len(given.classes):  # a number that the target is made of
        return False
    changes = (np.diff(first) != 0).sum()  # few: a number that tells the class
    return bool(2 * changes > (len(values) - 1) * (1 - (share**2).sum()))


def ordered(given: Given) -> Found:
    """Find an order of the rows that tells the class."""
    n, answers = len(given.X), given.answers
    if answers is None or not len(given.counts) or n < _LEAST:
        return Found()
    expected = (n - 1) * (1 - ((given.counts / n) ** 2).sum())
    changes = int((np.diff(answers) != 0).sum())
    far = expected - _FAR * np.sqrt(expected * (1 - expected / (n - 1)))
    if 2 * changes > expected or changes >= far:
        return Found()
    return Found(facts={"changes": str(changes), "expected": f"{expected:.0f}"})


def few_rows(given: Given) -> Found:
    """Find classes of fewer rows than there are folds."""
    small: list[int] = np.flatnonzero(given.counts < given.n_folds).tolist()
    if given.answers is None or not small:
        return Found()
    words = [f"{shown(given.classes[k], CELL)} ({given.counts[k]})" for k in small]
    facts = {"classes": some(words), "folds": str(given.n_folds)}
    return Found(rows=np.flatnonzero(np.isin(given.answers, small)).tolist(), facts=facts)


def batches(given: Given) -> Found:
    """Find a batch or site that tells the class."""
    answers = given.answers
    if answers is None or not len(given.counts) or len(answers) < _LEAST:
        return Found()
    coded: list[int] = [*given.levels, *given.whole.tolist()]
    named = [j for j in coded if _BATCH.fullmatch(" ".join(parts_of(given.names[j])))]
    columns = [j for j in named if _explained(given.X[:, j], answers) > _EXPLAINED]
    words = [shown(given.names[j]) for j in columns]
    if given.groups is not None:
        codes = np.unique(given.groups, return_inverse=True)[1].astype(np.float64)
        words += ["the group"] * (_explained(codes, answers) > _EXPLAINED)
    remedy = [("--group", given.names[j]) for j in columns[:1]]
    return Found(columns, facts={"which": some(words)} if words else {}, remedy=remedy)


def _explained(values: Floats, answers: Indices) -> float:
    """Return the share of the rows outside the commonest class that a few batches set right."""
    held = ~np.isnan(values)
    levels, codes = np.unique(values[held], return_inverse=True)
    if not 2 <= len(levels) <= max(2, len(values) / 10):
        return 0.0
    table = np.zeros((len(levels), int(answers.max()) + 1))
    np.add.at(table, (codes, answers[held]), 1)
    most = table.sum(axis=0).max()
    return float((table.max(axis=1).sum() - most) / max(table.sum() - most, 1))
