"""Evaluation of candidates in chunks by workers, a folder of finished chunks, and search cost."""

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
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

from psephos._errors import PsephosError
from psephos.files.atomic import write_whole
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.measures import Errors
from psephos.models.swag.problem import Subsets
from psephos.models.swag.settings import SearchSettings
from psephos.runtime.progress import progress
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import results

_DAMAGED = (BadZipFile, OSError, ValueError, KeyError, TypeError, EOFError, NotImplementedError)


def identity_of(evaluation: Evaluation, settings: SearchSettings, seed: int) -> dict[str, str]:
    """Return the identity of a search: a hash, or the text, of each of its parts."""
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
            f"a search with this learner and scoring cannot be saved in a folder: {error}. Use "
            "functions that are defined in a module, or omit the folder."
        ) from error
    versions = [f"{name} {version(name)}" for name in ("psephos", "numpy", "scikit-learn")]
    return {
        **hashes,
        "settings": repr(settings),
        "seed": f"{seed}, {problem.seed}",
        "versions": ", ".join(versions),
    }


class Store:
    """The finished chunks of one search in a folder, one file each; the folder is created.

    All results of a search follow from the errors in these files. Files are written atomically.
    `identity` is that of the search; see `identity_of`.
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
                    f"the folder must be empty, new, or hold a search; {str(self.folder)!r} holds "
                    "other files."
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

    def _path(self, dimension: int, index: int) -> Path:
        return self.folder / f"chunk-{dimension:02d}-{index:06d}.npz"

    def get(self, dimension: int, index: int, size: int) -> Errors | None:
        """Return the errors of a chunk of `size` candidates, or None if it is not finished."""
        try:
            content = BytesIO(self._path(dimension, index).read_bytes())
            with np.load(content, allow_pickle=False) as found:
                errors = Errors(**found)
        except _DAMAGED:
            return None  # missing or damaged: evaluated again
        return errors if len(errors.error) == size else None

    def put(self, dimension: int, index: int, errors: Errors) -> None:
        """Save the errors of a chunk."""
        out = BytesIO()
        np.savez(out, **asdict(errors))
        write_whole(self._path(dimension, index), out.getvalue())


_held: dict[str, Evaluation] = {}  # the evaluation of this worker process
_lock = threading.Lock()


@dataclass(frozen=True)
class Workers:
    """The workers that evaluate candidates.

    The size of chunks does not depend on the workers, each is a pure function of the evaluation and
    its candidates, and linear algebra runs in one thread. So errors are the same bytes for any
    `n_jobs` (as in joblib) and any backend, including those that repeat lost tasks. Batched
    learners release Python's lock and use threads, others use processes, each of which binds the
    learner once; ``joblib.parallel_config`` (loky, Dask, Ray) takes precedence.
    """

    evaluation: Evaluation
    n_jobs: int | None = None
    store: Store | None = None  # of finished chunks
    key: str = field(default_factory=lambda: uuid4().hex)  # of the evaluation, to other processes

    def __call__(self, subsets: Subsets) -> Errors:
        """Return the errors of candidates (M, d)."""
        size, d, store = self.evaluation.chunk, subsets.shape[1], self.store
        chunks = [subsets[start : start + size] for start in range(0, len(subsets), size)]
        known = [store.get(d, i, len(c)) if store else None for i, c in enumerate(chunks)]
        todo = [i for i, errors in enumerate(known) if errors is None]
        step = progress(len(todo), f"parts of the candidates of {d} columns")
        for j, errors in self._run([chunks[i] for i in todo]):
            known[todo[j]] = errors
            if store is not None:
                store.put(d, todo[j], errors)
            step()
        return Errors.joined([errors for errors in known if errors is not None])

    def _run(self, chunks: list[Subsets]) -> Iterator[tuple[int, Errors]]:
        batched = getattr(self.evaluation.learner, "batched", True)
        calls = [(self.key, os.getpid(), chunk) for chunk in chunks]
        prefer = "threads" if batched else "processes"
        with one_thread():
            yield from results(_evaluate, self.evaluation, calls, self.n_jobs, prefer)


def _evaluate(evaluation: Evaluation, key: str, home: int, subsets: Subsets) -> Errors:
    """Return the errors of a chunk, in the calling process (`home`) or in a worker's."""
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
    """The expected cost of a step."""

    dimension: int
    n_candidates: int  # at most
    n_fits: int  # candidates times splits
    seconds: float  # of one worker


def estimate_cost(
    evaluation: Evaluation, settings: SearchSettings, *, seconds: float = 0.5, seed: int = 0
) -> list[StepCost]:
    """Return the maximum cost of each step of a search, measured on random candidates.

    The pool S* is taken to have the share alpha of the columns. Strong candidates may take longer
    than random ones (support vectors, separable classes). Each dimension is timed for about
    `seconds`, at least one chunk. The sum of the steps' seconds, divided by the number of workers,
    is the time of the search.
    """
    p = evaluation.problem.X.shape[1]
    n_pool = int((p - 1) * settings.share(1)) + 1
    rng = np.random.default_rng(seed)
    workers = Workers(evaluation, 1)
    workers(np.zeros((1, 1), dtype=np.intp))  # compiles and binds
    steps: list[StepCost] = []
    for d in range(1, min(settings.last, n_pool) + 1):
        count = p if d == 1 else int(min(comb(n_pool, d), settings.most(n_pool)))
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
