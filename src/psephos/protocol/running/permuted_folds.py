"""Permutation importance of columns on the held-out cases of each fold."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from warnings import warn

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.estimator.columns import dense_columns
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.permuting import (
    DRAWS,
    constant_within,
    encoded,
    held_out_sample,
    most_important,
    worse_by,
)
from psephos.files.levels import quiet_levels
from psephos.protocol.evaluation.scores import ClassAnswers, codes_of, ranked_by
from psephos.protocol.evaluation.splits import seed_of
from psephos.protocol.running import tasks
from psephos.protocol.study.folder import Study, key_of
from psephos.protocol.study.folds import kept_fold
from psephos.protocol.study.outputs import Finished
from psephos.protocol.tables.table import DataTable
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import results

PermutedRow = dict[str, str | int | float | None]  # of permuted.csv
_Found = dict[str, float | None]  # by column
_OF_CLASSES = ("balanced_accuracy", "accuracy")  # measures of the class alone


def permuted_rows(
    table: DataTable, finished: Finished, models: Mapping[str, VoteEstimator], study: Study,
    n_jobs: int | None,
) -> list[PermutedRow]:  # fmt: skip
    """Return the rows of permuted.csv: the loss of accuracy on a fold if a column is permuted.

    The columns are those of the refit. Results in the journal are reused. Models of folds that are
    too large to be kept are deleted.

    Parameters
    ----------
    finished : sequence of (FitTask, mapping)
        All fits with their entries in the journal.
    models : dict of str to estimator
        The refits.
    """
    journal, folder = study.journal, study.folder
    if folder is None:
        return []
    first: dict[str, tuple[str, ...]] = {}
    for name, model in models.items():
        names, order = model.schema_.words().columns, list[int](most_important(model))
        first[name] = tuple(str(names[j]) for j in order)
    calls: dict[str, tuple[tasks.FitTask, float | None, tuple[str, ...]]] = {}
    whole = {"whole": "groups"} if exchanged(table) else {}
    for task, entry in finished:
        name, digest = task.contender.name, entry.get("file_sha256")
        if task.split is None or not digest or not first.get(name) or table.partial is not None:
            continue  # the truth of partly recorded labels may not be known
        of = {"permuted": DRAWS, "fit": task.key, "file": digest, "columns": first[name], **whole}
        calls[key_of(of)] = (task, entry.get("threshold"), first[name])
    files = {key: kept_fold(folder, call[0].key) for key, call in calls.items()}
    todo = [key for key, path in files.items() if journal.get(key) is None and path.exists()]
    work = [(*calls[key], _Content(files[key])) for key in todo]
    for i, (worse, unread) in results(_measured, table, work, n_jobs):
        task = work[i][0]
        if unread:
            where = "repeat {}, fold {}".format(*(task.split or ()))
            how = f"permutation importances are not measured for {task.contender.name} in"
            warn(f"{how} {where}, whose model cannot be read: {unread}", UserWarning, stacklevel=3)
            continue
        journal.add({"key": todo[i], "model": task.contender.name, "worse": worse})
    for task, entry in finished:
        if task.split is not None and entry.get("not_kept"):
            kept_fold(folder, task.key).unlink(missing_ok=True)
    return [
        {"model": task.contender.name, "repeat": repeat, "fold": fold, "column": name,
         "measure": tasks.inner_metric(table, task.protocol), "worse": worse[name]}
        for key, (task, *_, columns) in calls.items()
        for repeat, fold in [task.split or (0, 0)]
        for worse in [(journal.get(key) or {}).get("worse", {})]
        for name in columns if name in worse
    ]  # fmt: skip


def exchanged(table: DataTable) -> bool:
    """Return whether whole groups exchange values: if the target is constant within groups."""
    return table.groups is not None and constant_within(table.groups, table.codes)


@dataclass(frozen=True)
class _Content:
    """The bytes of a file, read when they are needed or sent to a worker."""

    path: Path

    def __bytes__(self) -> bytes:
        return self.path.read_bytes()

    def __reduce__(self) -> tuple[type[bytes], tuple[bytes]]:
        return bytes, (bytes(self),)


def _measured(
    table: DataTable, task: tasks.FitTask, threshold: float | None, first: Sequence[str],
    content: bytes | _Content,
) -> tuple[_Found, str]:  # fmt: skip
    """Return the mean loss by column (0 if it is not read), and why the file was not read."""
    from psephos.modelfile import load

    with TemporaryDirectory() as place:
        path = Path(place) / "fold.psephos"
        path.write_bytes(bytes(content))
        try:
            model = load(path)
        except PsephosError as error:
            return {}, str(error).replace(str(path), "the file")
    with one_thread(), quiet_levels(), suppress(Exception):  # the comparison is valid without it
        return _by_column(table, task, threshold, model, first), ""
    return {}, ""


def _by_column(
    table: DataTable, task: tasks.FitTask, threshold: float | None, model: VoteEstimator,
    first: Sequence[str],
) -> _Found:  # fmt: skip
    names = model.schema_.words().columns
    test = task.test[held_out_sample(len(task.test), len(names))]
    chosen = tasks.chosen_measure(table, task.protocol)
    metric = chosen or ranked_by(tasks.metrics_of(table, task.protocol))
    truth, X = table.codes[test], _encoded(table, test, model)
    answering, read = encoded(model, X)

    def answered(X: Floats) -> Any:
        if metric.name in _OF_CLASSES:  # probabilities would double the time
            return ClassAnswers(codes_of(answering, X, len(table.classes)), X)
        answers: Any = tasks.answers_to(answering, X, table)
        return answers._replace(threshold=threshold) if table.kind == "classes" else answers

    def measured(answers: Any, at: Indices) -> float | None:
        by_row = [n for n in answers._fields if isinstance(getattr(answers, n), np.ndarray)]
        own = answers._replace(**{n: getattr(answers, n)[at] for n in by_row})
        found = metric.measured(own, truth)
        return None if found is None else metric.sign * found

    columns = [names.index(name) for name in first if name in names]
    groups = None if table.groups is None else table.groups[test]
    seed = seed_of(task.seeds[0], "permuted")
    lost = worse_by(X, columns, answered, measured, groups, seed, whole=exchanged(table), read=read)
    if columns and not lost:  # the measure is not defined
        return {}
    means = {names[j]: float(np.mean(own)) if own else None for j, own in lost.items()}
    return {name: means.get(name, 0.0) for name in first}


def _encoded(table: DataTable, rows: Indices, model: VoteEstimator) -> Floats:
    """Return rows of a table in the codes of a model; unknown categories are missing."""
    where = {name: j for j, name in enumerate(table.names)}
    columns = [where[name] for name in model.schema_.words().columns]
    X = dense_columns(table.X[rows], np.array(columns))
    for k, levels in model.schema_.levels.items():
        own = {word: float(code) for code, word in enumerate(levels)}
        codes = np.array([*(own.get(w, np.nan) for w in table.categories[columns[k]]), np.nan])
        X[:, k] = codes[np.where(np.isnan(X[:, k]), -1, X[:, k]).astype(np.intp)]
    return X
