"""Candidates judged in fixed chunks, by any number of workers of any kind, to the same bytes."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import joblib

from psephos._workers import delayed, one_thread
from psephos.models.swag.candidates import Subsets
from psephos.models.swag.errors import Errors
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.progress import Clock
from psephos.models.swag.store import ChunkMemory

__all__ = ["Workers"]

_held: dict[str, Evaluation] = {}  # the evaluation that a worker process is bound to
_lock = threading.Lock()


@dataclass(frozen=True)
class Workers:
    """Who judges candidates.

    Chunks have a size that does not depend on the workers, each is a pure function of the
    evaluation and its candidates, and linear algebra runs in one thread, so that the errors are
    the same bytes for any `n_jobs` and any backend of joblib; a chunk lost with a worker is
    computed again by backends that repeat tasks (Dask), to the same bytes.

    Parameters
    ----------
    evaluation : Evaluation
    n_jobs : int or None, default=None
        As in joblib: None is 1, or what ``joblib.parallel_config`` says.
    key : str
        By which a worker's process knows the evaluation that it is bound to.

    Notes
    -----
    Batched learners release Python's lock and ask for threads, others for processes; a backend
    set by ``joblib.parallel_config`` (loky, threading, Dask, Ray) goes before that. Arrays of more
    than 1 MB are shared with loky's processes through joblib's memory maps, and a process binds
    the learner once.
    """

    evaluation: Evaluation
    n_jobs: int | None = None
    key: str = field(default_factory=lambda: uuid4().hex)

    def __call__(
        self, subsets: Subsets, memory: ChunkMemory | None = None, clock: Clock | None = None
    ) -> Errors:
        """Return the errors of candidates (M, d); see `search.Evaluate`."""
        size = self.evaluation.chunk
        chunks = [subsets[start : start + size] for start in range(0, len(subsets), size)]
        known = [memory.get(i, len(c)) if memory else None for i, c in enumerate(chunks)]
        todo = [i for i, errors in enumerate(known) if errors is None]
        if clock is not None:
            clock.tick(sum(len(c) for c in chunks) - sum(len(chunks[i]) for i in todo), known=True)
        for i, errors in zip(todo, self._run([chunks[i] for i in todo]), strict=True):
            known[i] = errors
            if memory is not None:
                memory.put(i, errors)
            if clock is not None:
                clock.tick(len(chunks[i]))
        return Errors.joined([errors for errors in known if errors is not None])

    def _run(self, chunks: list[Subsets]) -> Iterator[Errors]:
        batched = getattr(self.evaluation.learner, "batched", True)
        prefer = "threads" if batched else "processes"
        options = {"n_jobs": self.n_jobs, "prefer": prefer, "batch_size": 1}
        try:
            pool = joblib.Parallel(**options, return_as="generator")
        except ValueError:  # the backend cannot give results one by one
            pool = joblib.Parallel(**options)
        task = delayed(_judge)
        with one_thread():
            results: Any = pool(task(self.evaluation, self.key, os.getpid(), c) for c in chunks)
            yield from results


def _judge(evaluation: Evaluation, key: str, home: int, subsets: Subsets) -> Errors:
    """Return the errors of a chunk, in the process that asks (`home`) or in a worker's."""
    if os.getpid() == home:
        return evaluation.errors(subsets)
    with _lock:
        if key not in _held:
            _held.clear()
            _held[key] = evaluation
        evaluation = _held[key]
    with one_thread():
        return evaluation.errors(subsets)
