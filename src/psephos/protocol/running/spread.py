"""Tasks of a comparison done by workers, which may be lost, within a time limit if there is one."""

from collections.abc import Iterator, Sequence
from typing import Any

from psephos.protocol.running.progress import announced
from psephos.protocol.running.tasks import FitTask, failed_entry, run_task
from psephos.protocol.tables.table import DataTable
from psephos.runtime.workers import WorkerLostError, end_limited, limited, results

_Outcome = tuple[dict[str, Any], Any]  # the journal's entry, and the model that is kept


def results_of(
    todo: Sequence[FitTask], table: DataTable, n_jobs: int | None, progress: bool, keep: bool,
    limit: float | None,
) -> Iterator[_Outcome]:  # fmt: skip
    """Yield what `run_task` returns of each task once it is there; lost ones have failed."""
    parts: dict[object, list[FitTask]] = {}  # those that share a part of their fits
    for task in todo:
        shares = task.contender.shares
        parts.setdefault((shares, task.split) if shares else task.key, []).append(task)
    calls = [(part, progress, keep, limit) for part in parts.values()]

    def lost(i: int, error: WorkerLostError) -> list[_Outcome]:
        return [(failed_entry(task, error), None) for task in calls[i][0]]

    try:
        for _, found in results(_each, table, calls, n_jobs, "threads" if limit else None, lost):
            yield from found
    finally:
        end_limited()


def _each(table: DataTable, tasks: Sequence[FitTask], *how: Any) -> list[_Outcome]:
    return [_done(table, task, *how) for task in tasks]


def _done(
    table: DataTable, task: FitTask, progress: bool, keep: bool, limit: float | None
) -> _Outcome:
    if limit is None:
        with announced(progress):
            return run_task(task, table, keep)
    try:
        return limited(_done, table, (task, progress, keep, None), limit)
    except WorkerLostError as error:
        return failed_entry(task, error), None
