"""Candidates judged in fixed chunks by any workers, to the same bytes; progress and cost.

A folder that keeps the finished steps of a search, so that a killed one goes on.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from io import BytesIO
from math import comb
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import BadZipFile

import joblib
import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from psephos._errors import PsephosError
from psephos.files.atomic import write_whole
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.measures import Errors
from psephos.models.swag.problem import Subsets
from psephos.models.swag.settings import SearchSettings
from psephos.models.swag.steps import Step
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import results

_DAMAGED = (BadZipFile, OSError, ValueError, KeyError, TypeError, EOFError, NotImplementedError)


def identity_of(evaluation: Evaluation, settings: SearchSettings, seed: int) -> dict[str, str]:
    """Return what makes a search the same search: a hash (or the words) of each of its parts."""
    problem = evaluation.problem
    parts: dict[str, Any] = {
        "table": (problem.X, evaluation.missing, problem.weight),
        "target": (problem.y, problem.n_classes),
        "folds": problem.folds,
        "scoring": evaluation.measure,
        "learner": evaluation.learner,
    }
    try:
        hashes = {name: str(joblib.hash(part, hash_name="sha1")) for name, part in parts.items()}
    except Exception as error:
        raise PsephosError(
            f"a search with this learner and scoring cannot be kept in a folder: {error}. Use "
            "functions that are defined in a module, or leave the folder out."
        ) from error
    versions = [f"{name} {version(name)}" for name in ("psephos", "numpy", "scikit-learn")]
    return {
        **hashes,
        "settings": repr(settings),
        "seed": f"{seed}, {problem.seed}",
        "versions": ", ".join(versions),
    }


class Store:
    """The steps of one search in a folder, made if it does not exist: a file for each.

    Every file is written whole or not at all, whenever the process is killed. `identity` says what
    the search is; see `identity_of`.
    """

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._claim(dict(identity))
        except OSError as error:
            raise PsephosError(
                f"the folder {str(folder)!r} cannot be used ({error.strerror}): give another."
            ) from error

    def _claim(self, identity: dict[str, str]) -> None:
        path = self.folder / "search.json"
        if not path.exists():
            if any(not entry.name.startswith(".") for entry in self.folder.iterdir()):
                raise PsephosError(
                    f"the folder {str(self.folder)!r} holds files that are no search: give an "
                    "empty folder, or a new one."
                )
            write_whole(path, json.dumps(identity, sort_keys=True, indent=1).encode() + b"\n")
            return
        try:
            known = json.loads(path.read_bytes())
            differing = sorted(k for k in {*known, *identity} if known.get(k) != identity.get(k))
        except (ValueError, AttributeError, TypeError):
            differing = ["its description, which cannot be read"]
        if differing:
            raise PsephosError(
                f"the folder {str(self.folder)!r} holds another search (it differs in "
                f"{', '.join(differing)}): give a new folder, or remove this one."
            )

    def _path(self, dimension: int) -> Path:
        return self.folder / f"step-{dimension:02d}.npz"

    def load(self, dimension: int) -> Step | None:
        """Return a finished step, or None."""
        path = self._path(dimension)
        if not path.exists():
            return None
        try:
            arrays = _read(path)
            step = Step(dimension, quantile=float(arrays.pop("quantile")), **arrays)
        except _DAMAGED as error:
            raise PsephosError(
                f"step {dimension} in the folder {str(self.folder)!r} is damaged ({error}): remove "
                f"{path.name!r} to have it done again."
            ) from error
        self.chunks(dimension).clear()  # a kill may have come before they were removed
        return step

    def save(self, step: Step) -> Step:
        """Write a finished step and return it."""
        arrays = asdict(step)
        _write(self._path(arrays.pop("dimension")), arrays)
        self.chunks(step.dimension).clear()
        return step

    def chunks(self, dimension: int) -> "ChunkMemory":
        """Return the memory of a step's finished chunks."""
        return ChunkMemory(self.folder, f"chunk-{dimension:02d}-")


class ChunkMemory:
    """The finished chunks of an unfinished step, one file each."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder, self._prefix = folder, prefix

    def _path(self, index: int) -> Path:
        return self._folder / f"{self._prefix}{index:06d}.npz"

    def get(self, index: int, size: int) -> Errors | None:
        """Return the errors of a chunk of `size` candidates, or None if it is to be done."""
        try:
            errors = Errors(**_read(self._path(index)))
        except _DAMAGED:
            return None  # not there, or damaged: done again
        return errors if len(errors.error) == size else None

    def put(self, index: int, errors: Errors) -> None:
        """Keep the errors of a chunk."""
        _write(self._path(index), asdict(errors))

    def clear(self) -> None:
        """Remove all chunks of the step."""
        for path in self._folder.glob(f"{self._prefix}*.npz"):
            path.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any]:
    """Return the arrays of a file, each checked against its checksum."""
    with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as found:
        return dict(found)


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    out = BytesIO()
    np.savez(out, **arrays)
    write_whole(path, out.getvalue())


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is.

    The time left to its end is estimated as if candidates of the steps to come were as many and
    took as long as those of this step; it is NaN while nothing is known.
    """

    dimension: int  # the step at work
    last: int  # the greatest dimension that may follow
    done: int  # candidates judged in this step
    total: int
    seconds: float  # spent in this step
    seconds_left: float


Report = Callable[[SearchProgress], None]


class Clock:
    """Calls `report` with a `SearchProgress` after each chunk of a step."""

    def __init__(self, report: Report, dimension: int, last: int, total: int) -> None:
        self._report, self._step, self._total = report, (dimension, last), total
        self._done = self._known = 0
        self._start = time.monotonic()

    def tick(self, n: int, *, known: bool = False) -> None:
        """Count n more candidates; `known` ones were read, and say nothing of the time it takes."""
        self._done += n
        self._known += n if known else 0
        spent = time.monotonic() - self._start
        fresh = self._done - self._known
        dimension, last = self._step
        left = self._total - self._done + (last - dimension) * self._total
        seconds_left = spent / fresh * left if fresh else float("nan")
        self._report(SearchProgress(dimension, last, self._done, self._total, spent, seconds_left))


@contextmanager
def progress_bar() -> Iterator[Report]:
    """Return a report that draws a bar for each step, with the time left to the end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns) as bar:
        tasks = {}

        def report(standing: SearchProgress) -> None:
            d = standing.dimension
            if d not in tasks:
                words = f"{d} column{'s' if d > 1 else ''}"
                tasks[d] = bar.add_task(words, total=standing.total, left="")
            seconds = standing.seconds_left
            left = "" if seconds != seconds else f"about {_words(seconds)} to the end"
            bar.update(tasks[d], completed=standing.done, left=left)

        yield report


def _words(seconds: float) -> str:
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


_held: dict[str, Evaluation] = {}  # the evaluation that a worker process is bound to
_lock = threading.Lock()


@dataclass(frozen=True)
class Workers:
    """Who judges candidates.

    Chunks have a size that does not depend on the workers, each is a pure function of the
    evaluation and its candidates, and linear algebra runs in one thread, so that the errors are
    the same bytes for any `n_jobs` (as in joblib) and any backend, those that repeat a lost task
    too. Batched learners release Python's lock and ask for threads, others for processes, each of
    which binds the learner once; ``joblib.parallel_config`` (loky, Dask, Ray) goes before that.
    """

    evaluation: Evaluation
    n_jobs: int | None = None
    key: str = field(default_factory=lambda: uuid4().hex)  # of the evaluation, to other processes

    def __call__(
        self, subsets: Subsets, memory: ChunkMemory | None = None, clock: Clock | None = None
    ) -> Errors:
        """Return the errors of candidates (M, d)."""
        size = self.evaluation.chunk
        chunks = [subsets[start : start + size] for start in range(0, len(subsets), size)]
        known = [memory.get(i, len(c)) if memory else None for i, c in enumerate(chunks)]
        todo = [i for i, errors in enumerate(known) if errors is None]
        if clock is not None:
            clock.tick(sum(len(c) for c in chunks) - sum(len(chunks[i]) for i in todo), known=True)
        for j, errors in self._run([chunks[i] for i in todo]):
            i = todo[j]
            known[i] = errors
            if memory is not None:
                memory.put(i, errors)
            if clock is not None:
                clock.tick(len(chunks[i]))
        return Errors.joined([errors for errors in known if errors is not None])

    def _run(self, chunks: list[Subsets]) -> Iterator[tuple[int, Errors]]:
        batched = getattr(self.evaluation.learner, "batched", True)
        calls = [(self.key, os.getpid(), chunk) for chunk in chunks]
        prefer = "threads" if batched else "processes"
        with one_thread():
            yield from results(_judge, self.evaluation, calls, self.n_jobs, prefer)


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


@dataclass(frozen=True)
class StepCost:
    """What a step is expected to cost."""

    dimension: int
    n_candidates: int  # at most
    n_fits: int  # candidates times splits
    seconds: float  # of one worker


def estimate_cost(
    evaluation: Evaluation, settings: SearchSettings, *, seconds: float = 0.5, seed: int = 0
) -> list[StepCost]:
    """Return what each step of a search will cost at most, from random candidates.

    The pool S* is taken to have the share alpha of the columns (of pairs: all columns). Strong
    candidates may take longer than random ones (support vectors, separable classes). Each
    dimension is tried for so many `seconds`, at least one chunk. The sum of the steps' seconds,
    divided by the number of workers, is the time of the search.
    """
    p = evaluation.problem.X.shape[1]
    pairs = settings.first_step == "pairs" and p > 1
    n_pool = p if pairs else int((p - 1) * settings.share(1)) + 1
    rng = np.random.default_rng(seed)
    workers = Workers(evaluation, 1)
    workers(np.zeros((1, 1), dtype=np.intp))  # compiles and binds
    steps: list[StepCost] = []
    for d in range(1, min(settings.last, n_pool) + 1):
        count = p if d == 1 else int(min(comb(n_pool, d), settings.most(n_pool)))
        if pairs and d == 2:
            count = min(comb(p, 2), settings.n_pairs)
        spent, tried, size = 0.0, 0, 1
        while tried < count and spent < seconds:
            size = min(size, evaluation.chunk, count - tried)
            probe = np.sort(np.stack([rng.choice(p, d, replace=False) for _ in range(size)]))
            start = time.perf_counter()
            workers(probe)
            spent += time.perf_counter() - start
            tried, size = tried + size, 4 * size
        fits = count * evaluation.problem.folds.n_splits
        steps.append(StepCost(d, count, fits, spent / tried * count))
    return steps
