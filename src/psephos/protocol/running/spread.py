"""Tasks of a comparison in worker processes, with a time limit if there is one."""

import math
import time
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import Any

from psephos.protocol.running.notes import PRINTED
from psephos.protocol.running.progress import announced
from psephos.protocol.running.tasks import FitTask, failed_entry, run_task
from psephos.protocol.tables.table import DataTable
from psephos.runtime.workers import WorkerLostError, alone, end_limited, limited, rerouted, results

_Outcome = tuple[dict[str, Any], Any]  # the journal's entry, and the model that is kept


def results_of(
    todo: Sequence[FitTask], table: DataTable, n_jobs: int | None, progress: bool, keep: bool,
    limit: float | None,
) -> Iterator[_Outcome]:  # fmt: skip
    """Yield the result of `run_task` for each task when it is done; lost tasks count as failed.

    Models of unknown packages (`Contender.apart`) run in separate processes even without a time
    limit; if one task runs at a time, the other models run in this process.
    """
    parts: dict[object, list[FitTask]] = {}  # tasks that share a part of their fits
    for task in todo:
        shares = task.contender.shares
        parts.setdefault((shares, task.split) if shares else task.key, []).append(task)

    def limit_of(part: Sequence[FitTask]) -> float | None:
        apart = any(task.contender.apart for task in (part if alone(n_jobs) else todo))
        return math.inf if limit is None and apart else limit

    calls = [(part, progress, keep, limit_of(part)) for part in parts.values()]
    prefer = "threads" if limit_of(todo) else None

    def lost(i: int, error: WorkerLostError) -> list[_Outcome]:
        return [(failed_entry(task, error), None) for task in calls[i][0]]

    try:
        for _, found in results(_each, table, calls, n_jobs, prefer, lost):
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
            run = _captured if task.contender.apart else run_task
            return run(task, table, keep)
    begun = time.perf_counter()
    try:
        entry, model = limited(_done, table, (task, progress, keep, None), limit)
    except WorkerLostError as error:
        entry, model = failed_entry(task, error), None
    timing = entry["timing"]
    if entry["status"] != "ok" or timing.get("draws_stopped"):  # the time of all its processes
        rest = sum(timing.get(f"{part}_seconds", 0.0) for part in ("fit", "predict"))
        timing["search_seconds"] = time.perf_counter() - begun - rest
    return entry, model


def _captured(task: FitTask, table: DataTable, keep: bool) -> _Outcome:
    """Return the result of `run_task`, with the output of the model among its warnings."""
    with TemporaryFile() as file:
        try:
            with rerouted(file.fileno(), 1, 2):
                entry, model = run_task(task, table, keep)
        except BaseException as error:  # a KeyboardInterrupt is the model's: Ctrl-C ends the parent
            entry, model = failed_entry(task, error), None
        file.seek(0)
        lines = file.read(1 << 20).decode(errors="replace").splitlines()
    if lines:
        entry["timing"]["warnings"] |= {f"{PRINTED}{lines[0][:400]}": len(lines)}
    return entry, model
