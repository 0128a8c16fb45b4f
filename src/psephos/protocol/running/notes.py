"""Notes and warnings of a comparison: copies, labels, failures, class priors."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos._types import Floats, Indices, JsonObject
from psephos.cautions import Cautions
from psephos.estimator.contender import Contender
from psephos.figures.confusion import called
from psephos.files.names import plural
from psephos.models.prototypes.mixture import NormalMixture
from psephos.protocol.evaluation.answers import (
    LEVELS,
    LabelAnswers,
    NumberAnswers,
    prior_precision,
    r_squared,
)
from psephos.protocol.evaluation.scores import Answers, ClassAnswers, missed_cost
from psephos.protocol.evaluation.splits import Protocol, Rows, Split
from psephos.protocol.evaluation.statistics import design_effect
from psephos.protocol.running.contenders import default_models
from psephos.protocol.running.tasks import FitTask, chosen_measure, positive_code
from psephos.protocol.study.folder import SCHEMA, Journal
from psephos.protocol.study.outputs import versions
from psephos.protocol.tables.copies import Copies
from psephos.protocol.tables.table import DataTable

PRINTED = "printed: "  # prefix, among the warnings of a fit, of the first line that it printed
Finished = Sequence[tuple[Any, Mapping[str, Any]]]  # tasks, and their entries


def about_copies(copies: Copies | None, treated: str) -> dict[str, Any] | None:
    """Return the entry of comparison.json on copied rows."""
    if copies is None:
        return None
    found = {"rows": len(copies.rows), "different": copies.n_different}
    return {**found, "named": list(copies.names), "treated": treated}


def about_cautions(cautions: Cautions, accepted: Sequence[str]) -> dict[str, Any]:
    """Return the entry of comparison.json on cautions."""
    return {"cautions": [{**one.data(), "accepted": one.code in accepted} for one in cautions]}


def held_out(name: str, finished: Finished) -> tuple[Indices, Indices, Floats] | None:
    """Return the test rows of a model, their repeats and its predictions, or None.

    Predictions are probabilities, one column per class, or a column of numbers.
    """
    done = [
        (task.test, task.split[0], entry.get("proba") or [[v] for v in entry["predicted"]])
        for task, entry in finished
        if task.contender.name == name and task.split is not None and entry["status"] == "ok"
    ]
    if not done:
        return None
    rows = np.concatenate([test for test, _, _ in done])
    repeats = np.repeat([repeat for _, repeat, _ in done], [len(test) for test, _, _ in done])
    return rows, repeats, np.concatenate([np.asarray(p, dtype=np.float64) for _, _, p in done])


def about_groups(
    table: DataTable, divided: DataTable, copies: Copies | None, finished: Finished
) -> dict[str, Any]:
    """Return the effective number of independent rows, and each model's design effect of groups.

    Parameters
    ----------
    table : DataTable
    divided : DataTable
        The same table; if `copies` stay together, its groups hold all copies of their rows.
    copies : Copies or None
    finished : sequence of (Task, entry)
    """
    untrue = table.partial is not None and not table.partial.truth
    if table.groups is None or table.multilabel or untrue:
        return {"independent_rows": divided.n_independent}
    group = np.unique(np.asarray(divided.groups), return_inverse=True)[1].ravel()
    found: dict[str, float] = {}
    ranked = any(task.protocol.metric for task, _ in finished)
    for name in dict.fromkeys(task.contender.name for task, _ in finished):
        answered = held_out(name, finished)
        if answered is not None:
            rows, repeats, chances = answered
            first = repeats * table.n_rows  # a group of another repeat is another group
            alike = None if copies is None else first + copies.labels[rows]
            predicted = chances[:, 0] if table.kind == "numbers" else chances.argmax(axis=1)
            found[name] = design_effect(table.codes[rows], predicted, first + group[rows], alike)
            if ranked and table.kind == "classes":  # by probabilities, which may differ more
                pairs = [((table.codes[rows] == k) * 1.0, p) for k, p in enumerate(chances.T)]
                each = [design_effect(*pair, first + group[rows], alike) for pair in pairs]
                found[name] = max(found[name], *each)
    return {"independent_rows": divided.n_independent, "design_effects": found}


def about_labels(table: DataTable, splits: Sequence[Split], *, named: bool) -> dict[str, Any]:
    """Return the measures of a constant prediction of labels or numbers, and models left out.

    `named` is whether the user named the models.
    """
    if table.kind == "numbers":
        flat = [np.full(len(test), table.y[train].mean()) for train, test in splits]
        pairs = [(one, table.y[test]) for one, (_, test) in zip(flat, splits, strict=True)]
        each = [r_squared(NumberAnswers(one), truth) for one, truth in pairs]
        known = [one for one in each if one is not None]
        return {
            "task": "numbers",
            "constant": float(np.mean(known)) if known else None,
            "constant_rmse": [float(np.sqrt(((one - y) ** 2).mean())) for one, y in pairs],
            "deviation": float(table.y.std()),
        }
    if not table.multilabel:
        return {}
    worth = [prior_precision(table.y[train], table.y[test]) for train, test in splits]
    known = [one for one in worth if one == one]
    taking = set(default_models("labels"))
    left = [] if named else [n for n in default_models() if n not in taking]
    return {"constant": float(np.mean(known)) if known else None, "not_asked": left}


def constant_of(table: DataTable, plan: Protocol, splits: Sequence[Split]) -> dict[str, Any] | None:
    """Return a chosen measure, and its mean over test parts for the best constant prediction."""
    chosen = chosen_measure(table, plan)
    if chosen is None:
        return None
    means: list[float] = []
    for answers in zip(*(_constants(table, *one) for one in splits), strict=True):
        pairs = zip(answers, splits, strict=True)
        each = [chosen.measured(one, table.codes[test]) for one, (_, test) in pairs]
        known = [value for value in each if value is not None]
        means += [float(np.mean(known))] if known else []
    best = max(means, key=lambda v: chosen.sign * v, default=None)
    return {"name": chosen.name, "lower_is_better": chosen.lower_is_better, "constant": best}


def _constants(table: DataTable, train: Rows, test: Rows) -> Sequence[Answers]:
    """Return constant predictions for test rows: each class, with the training frequencies.

    For numbers the mean and the median; for several labels those that half the rows have.
    """
    n, y = len(test), table.codes[train]
    if table.kind == "numbers":
        stated = NormalMixture(np.ones((n, 1)), y.mean(keepdims=True), y.std(keepdims=True))
        flat = np.tile(np.quantile(y, LEVELS), (n, 1))
        return [NumberAnswers(np.full(n, v), stated, flat) for v in (y.mean(), np.median(y))]
    if table.multilabel:
        share = np.tile(y.mean(axis=0), (n, 1))
        return [LabelAnswers(share >= 0.5, share)]
    share = np.tile(np.bincount(y, minlength=len(table.classes)) / len(y), (n, 1))
    codes, code = [np.full(n, k) for k in range(len(table.classes))], positive_code(table)
    return [ClassAnswers(one, share, code) for one in codes]


def about_metric(chosen: JsonObject | None, table: DataTable, finished: Finished) -> dict[str, Any]:
    """Return the entry of comparison.json on a chosen measure: of constants, and permutations.

    For a cost it also has the cost of a missed case, and the counts of true negatives, false
    positives, false negatives and true positives; a case in several test parts counts once, by its
    mean.
    """
    if chosen is None:
        return {}
    moments: dict[str, list[list[float]]] = {}
    counted: dict[str, list[tuple[Rows, Rows]]] = {}
    costs: dict[str, Any] = {}
    for task, entry in finished:
        if entry.get("chance"):
            moments.setdefault(task.contender.name, []).append(entry["chance"])
            if entry.get("threshold") is not None:
                k, p = positive_code(table), np.asarray(entry["proba"], dtype=np.float64)
                kinds = 2 * (table.codes[task.test] == k) + called(p[:, k], entry["threshold"])
                counted.setdefault(task.contender.name, []).append((task.test, kinds))
                costs = {"missed": missed_cost(task.protocol.metric), "counts": {}}
    for name, own in counted.items():
        rows, kinds = (np.concatenate(one) for one in zip(*own, strict=True))
        share = len(np.unique(rows)) / len(rows)
        costs["counts"][name] = (np.bincount(kinds, minlength=4) * share).tolist()
    chance = {name: np.mean(each, axis=0).tolist() for name, each in moments.items()}
    return {"metric": {**chosen, "chance": chance, **costs}}


def environment_of(
    models: Sequence[Contender], journal: Journal, finished: Finished, doubts: Sequence[str]
) -> dict[str, Any]:
    """Return the content of environment.json; `doubts` are notes on the table."""
    needed = [one.needs for one in models if one.needs]
    failed = [(task, entry["error"]) for task, entry in finished if entry["error"]]
    notes = [f"{task.contender.name}, {_place(task)}: {error}" for task, error in failed]
    if journal.n_damaged:
        notes.append(f"journal.jsonl has {plural(journal.n_damaged, 'damaged line')}, ignored.")
    notes = [*doubts, *notes, *_printed(finished), *rows_left_out(finished)]
    notes += doubtful_priors(finished)
    return {"schema": SCHEMA, "versions": versions(needed), "warnings": notes}


def _printed(finished: Finished) -> list[str]:
    """Return notes on models that printed in their fits or predictions."""
    lines = [(task.contender.name, one) for task, e in finished for one in e["timing"]["warnings"]]
    counts = Counter(name for name, line in lines if line.startswith(PRINTED))
    where = "(the first lines are in timings.csv)"
    return [f"{name} printed in {plural(n, 'fit')} {where}." for name, n in counts.items()]


def rows_left_out(finished: Finished) -> list[str]:
    """Return notes on rows that models left out, in the refit and in the number of fits."""
    found: dict[str, list[tuple[FitTask, str]]] = {}
    for task, entry in finished:
        found.setdefault(task.contender.name, [])
        found[task.contender.name] += [(task, one) for one in entry.get("left_out", ())]
    notes: list[str] = []
    for name, each in found.items():
        fits = sum(one.contender.name == name for one, _ in finished)
        where = f"rows were left out in {len(each)} of its {fits} fits (timings.csv)"
        refit = [words for task, words in each if task.split is None]
        if each:
            notes.append(f"{name}: {where}" + (f"; on all rows {refit[0]}" if refit else "."))
    return notes


def _place(task: FitTask) -> str:
    return "all rows" if task.split is None else f"repeat {task.split[0]}, fold {task.split[1]}"


# ------------------------------------------------------------------- partly recorded labels
def refuted_records(table: DataTable) -> list[str]:
    """Return a note on records that count as certain, but are wrong."""
    partial = table.partial
    wrong = 0 if partial is None else partial.contradicted(table.codes)
    if partial is None or not wrong:
        return []
    return [
        f"{wrong} of the {int((partial.codes == 1).sum())} cases recorded "
        f"{str(table.classes[partial.positive])!r}, which count as certain, are of the other "
        "class: the measures that need no truth (PU-F, the interval of the accuracy) and models "
        "that trust these records are biased; check --recorded-class, or correct the records."
    ]


def _priors(finished: Finished) -> dict[str, list[Any]]:
    """Return the entries of fits that used a class prior, by model."""
    found: dict[str, list[Any]] = {}
    for task, entry in finished:
        if entry.get("prior") is not None:
            found.setdefault(task.contender.name, []).append(entry)
    return found


def partial_about(table: DataTable, about: Mapping[str, Any], finished: Finished) -> dict[str, Any]:
    """Return the entry of comparison.json on partly recorded labels after all fits."""
    if table.partial is None:
        return {}
    return {"partial": {**about["partial"], "told": _prior_words(table, finished)}}


def _prior_words(table: DataTable, finished: Finished) -> str:
    """Return a sentence on the class priors that models used; '' if none did."""
    each = {name: [one["prior"] for one in own] for name, own in _priors(finished).items()}
    if not each or table.partial is None:
        return ""
    positive = str(table.classes[table.partial.positive])
    what = f"The share of {positive!r} among cases without a label"
    if table.partial.prior is not None:
        return f"{what} was given as {table.partial.prior:g}, and used by {', '.join(each)}."
    shares = [f"{name} {_between(own)}" for name, own in each.items()]
    return f"{what} was estimated in each fit: {', '.join(shares)}."


def _between(shares: list[float]) -> str:
    least, most = (f"{one:.2g}" for one in (min(shares), max(shares)))
    return least if least == most else f"{least} to {most}"


def doubtful_priors(finished: Finished) -> list[str]:
    """Return notes on doubtful estimates of the class prior."""
    words: list[str] = []
    for name, own in _priors(finished).items():
        bad = [one["prior"] for one in own if one["prior_doubtful"]]
        if bad:
            words.append(
                f"{name}: the class prior it estimated is doubtful in {len(bad)} of {len(own)} "
                f"fits ({_between(bad)} was used): it was clipped, or cases with and without a "
                "label are hard to distinguish. Predictions depend on it. Give the share of "
                "positives among the cases without a label, if it is known: --prior (in Python "
                "prior=)."
            )
    return words
