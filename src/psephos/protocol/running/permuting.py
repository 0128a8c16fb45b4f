"""Columns permuted among the held-out cases of each fold, for the kept models of the folds."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psephos._types import Floats, Indices
from psephos.estimator.columns import dense_columns
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.permuting import DRAWS, encoded, held_out_sample, most_important, worse_by
from psephos.files.levels import quiet_levels
from psephos.protocol.evaluation.scores import (
    ClassAnswers,
    ResultMetric,
    codes_of,
    ranked_by,
)
from psephos.protocol.evaluation.splits import seed_of
from psephos.protocol.running.tasks import (
    FitTask,
    answers_to,
    chosen_measure,
    error_sentence,
    metrics_of,
)
from psephos.protocol.study.folder import Study, key_of
from psephos.protocol.study.folds import kept_fold
from psephos.protocol.study.outputs import Finished
from psephos.protocol.tables.table import DataTable
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import WorkerLostError, results

PermutedRow = dict[str, str | int | float | None]  # of permuted.csv
_Found = tuple[dict[str, float | None], str]  # by column, and what it failed with
_OF_CLASSES = ("balanced_accuracy", "accuracy")  # measures of the class alone
_Call = tuple[FitTask, float | None, Path, tuple[str, ...]]


def permuted_rows(
    table: DataTable,
    finished: Finished,
    models: Mapping[str, VoteEstimator],
    study: Study,
    n_jobs: int | None,
) -> list[PermutedRow]:
    """Return the rows of permuted.csv: by how much worse a fold is answered without a column.

    The columns are those of the refit. What the journal has is not measured again.

    Parameters
    ----------
    finished : sequence of (FitTask, mapping)
        All fits with their entries in the journal.
    models : dict of str to estimator
        The refits.
    """
    journal, calls = study.journal, dict[str, _Call]()
    first = {name: _first_columns(model) for name, model in models.items()}
    if table.partial is not None:  # there need not be a truth
        return []
    for task, entry in finished:
        name, digest = task.contender.name, entry.get("file_sha256")
        if study.folder is None or task.split is None or not digest or not first.get(name):
            continue
        of = {"permuted": DRAWS, "fit": task.key, "file": digest, "columns": first[name]}
        place = kept_fold(study.folder, task.key)
        calls[key_of(of)] = (task, entry.get("threshold"), place, first[name])
    todo = [key for key in calls if journal.get(key) is None]

    def lost(i: int, error: WorkerLostError) -> _Found:
        return {}, error_sentence(error)

    for i, (worse, error) in results(
        _measured, table, [calls[k] for k in todo], n_jobs, None, lost
    ):
        model = calls[todo[i]][0].contender.name
        journal.add({"key": todo[i], "model": model, "worse": worse, "error": error})
    return [
        {"model": task.contender.name, "repeat": repeat, "fold": fold, "column": name,
         "measure": _measure(table, task).name, "worse": worse[name]}
        for key, (task, *_, columns) in calls.items()
        for repeat, fold in [task.split or (0, 0)]
        for worse in [(journal.get(key) or {}).get("worse", {})]
        for name in columns if name in worse
    ]  # fmt: skip


def _first_columns(model: VoteEstimator) -> tuple[str, ...]:
    names, first = model.schema_.words().columns, [int(j) for j in most_important(model)]
    return tuple(str(names[j]) for j in first)


def _measured(
    table: DataTable, task: FitTask, threshold: float | None, place: Path, first: Sequence[str]
) -> _Found:
    """Return the mean over draws of each column, 0 of one that the model does not read."""
    from psephos.modelfile import load

    try:
        with one_thread(), quiet_levels():
            return _by_column(table, task, threshold, load(place), first), ""
    except Exception as error:  # whatever a model raises, the comparison stands
        return {}, error_sentence(error)


def _by_column(
    table: DataTable, task: FitTask, threshold: float | None, model: VoteEstimator,
    first: Sequence[str],
) -> dict[str, float | None]:  # fmt: skip
    names = model.schema_.words().columns
    test = task.test[held_out_sample(len(task.test), len(names))]
    truth, metric = table.codes[test], _measure(table, task)
    answering = encoded(model)

    def answers_of(X: Floats) -> Any:
        if metric.name in _OF_CLASSES:  # probabilities would take as long again
            return ClassAnswers(codes_of(answering, X, len(table.classes)), X, X)
        found: Any = answers_to(answering, X, table)
        return found._replace(threshold=threshold) if table.kind == "classes" else found

    def measured(X: Floats) -> Callable[[Indices], float | None]:
        answers = answers_of(X)
        by_row = [n for n in answers._fields if isinstance(getattr(answers, n), np.ndarray)]

        def of(at: Indices) -> float | None:
            own = answers._replace(**{n: getattr(answers, n)[at] for n in by_row})
            found = metric.measured(own, truth)
            return None if found is None else metric.sign * found

        return of

    columns = [names.index(name) for name in first if name in names]
    groups = None if table.groups is None else table.groups[test]
    seed = seed_of(task.seeds[0], "permuted")
    found = worse_by(_encoded(table, test, model), columns, measured, groups, seed)
    if columns and not found:  # the measure is not defined
        return {}
    means = {names[j]: float(np.mean(own)) if own else None for j, own in found.items()}
    return {name: means.get(name, 0.0) for name in first}


def _measure(table: DataTable, task: FitTask) -> ResultMetric:
    chosen = chosen_measure(table, task.protocol)
    if chosen is not None and chosen.name != "crps":  # whole distributions are not kept apart
        return chosen
    return ranked_by(metrics_of(table, task.protocol))


def _encoded(table: DataTable, rows: Indices, model: VoteEstimator) -> Floats:
    """Return rows of a table in the codes of a model; a category that it has not is missing."""
    where = {name: j for j, name in enumerate(table.names)}
    columns = [where[name] for name in model.schema_.words().columns]
    X = dense_columns(table.X[rows], np.array(columns))
    for k, levels in model.schema_.levels.items():
        own = {word: float(code) for code, word in enumerate(levels)}
        codes = np.array(
            [own.get(word, np.nan) for word in table.categories[columns[k]]] + [np.nan]
        )
        X[:, k] = codes[np.where(np.isnan(X[:, k]), -1, X[:, k]).astype(np.intp)]
    return X
