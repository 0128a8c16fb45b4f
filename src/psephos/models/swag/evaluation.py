"""Evaluation of candidates: learner, folds and measure; in chunks by workers; search cost."""

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from io import BytesIO
from math import comb
from pathlib import Path
from typing import Any, Self
from uuid import uuid4
from zipfile import BadZipFile

import joblib
import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.estimator.input import Table
from psephos.files.atomic import write_whole
from psephos.models.swag.measures import Errors, Measure, make_measure
from psephos.models.swag.problem import (
    BoundLearner,
    Folds,
    Learner,
    Says,
    SearchProblem,
    Subsets,
    complete_problem,
    prior_scores,
)
from psephos.models.swag.settings import SearchSettings
from psephos.runtime.progress import progress
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import results
from psephos.vote import Voters

_Parts = list[tuple[Indices, Voters]]
_NUMBERS = 2**20  # scores of a chunk (8 MB), independent of the number of workers
_MOST = 1024
_binding = threading.Lock()
_PLAIN = {"free": 200, "own": 450}  # powers of two whose fourth powers, or squares, do not overflow


def _with_prior(scores: Floats, problem: SearchProblem) -> Floats:
    """Return scores (B, L, K) with those of the prior for rows with a score that is not finite."""
    if np.isfinite(scores.sum()):
        return scores
    lost: Any = ~np.isfinite(scores).all(axis=2)
    return np.where(lost[:, :, None], prior_scores(problem), scores)


@dataclass(frozen=True)
class Evaluation:
    """How candidates are evaluated: a pure function of a candidate's columns.

    A candidate with missing values in its columns is trained on the complete rows. A test row with
    a missing value is scored by the prior of the split's training rows (log-odds or log-shares of
    the classes, or the mean), and so are all rows of a split that cannot be trained: the error thus
    includes the effect of missing values. A score that is not finite (some estimators on a constant
    column) is also replaced by the prior's.

    Two optional attributes of a learner are used: `draws` (default False; with True, candidates
    with missing values are evaluated one by one, so that each has its own seed) and `chunk`, the
    number of candidates evaluated at once (default: as many as give 2^20 scores, at most 1024).
    """

    learner: Learner
    problem: SearchProblem  # 0 where a value is missing
    missing: NDArray[np.bool_] | None  # (n, p); None if no value is missing
    measure: Measure
    powers: Indices | None = None  # (p,) powers of two by which columns, not voters, were divided

    @classmethod
    def of(
        cls,
        learner: Learner,
        X: Floats,
        y: Array,
        n_classes: int,
        *,
        folds: Folds,
        weight: Floats | None = None,
        seed: int = 0,
        scoring: Any = None,
        classes: Array | None = None,
        n_codes: Indices | None = None,
        powers: Indices | None = None,
    ) -> Self:
        """Return the evaluation of a table X (n, p); NaN is missing."""
        weights = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        measure = make_measure(scoring, y, n_classes, weights, folds, classes)
        missing = np.isnan(X)
        filled = np.asfortranarray(np.where(missing, 0.0, X) if missing.any() else X, np.float64)
        problem = SearchProblem(filled, y, n_classes, weights, folds, seed, n_codes)
        return cls(learner, problem, missing if missing.any() else None, measure, powers)

    @property
    def chunk(self) -> int:
        """Return the number of candidates evaluated at once."""
        each = max(1, self.problem.folds.n_tests * self.problem.n_outputs)
        return int(getattr(self.learner, "chunk", None) or max(1, min(_MOST, _NUMBERS // each)))

    @property
    def n_parts(self) -> float:
        """Return k, the number of splits that test every row once."""
        folds = self.problem.folds
        return folds.n_splits * len(self.problem.y) / folds.n_tests

    def errors(self, subsets: Indices) -> Errors:
        """Return the errors of candidates (B, d)."""
        return self.measure.errors(self.scores(subsets))

    def scores(self, subsets: Subsets) -> Floats:
        """Return the out-of-fold scores of candidates, shape (B, L, K)."""
        problem = self.problem
        if self.missing is None:
            return _with_prior(self.bound().scores(subsets), problem)
        partial: Any = self._incomplete[subsets].any(axis=1)
        out = np.empty((len(subsets), problem.folds.n_tests, problem.n_outputs))
        if not partial.all():
            out[~partial] = self.bound().scores(subsets[~partial])
        if partial.any():
            prior = prior_scores(problem)
            for chosen, present in self._groups(subsets, np.flatnonzero(partial)):
                out[chosen] = prior
                columns = np.unique(subsets[chosen])
                part, tested = complete_problem(problem, columns, present)
                if part.folds.n_splits:
                    local = np.searchsorted(columns, subsets[chosen])
                    bound = self._bind(part, subsets[chosen[0]])
                    out[np.ix_(chosen, tested)] = bound.scores(local)
        return _with_prior(out, problem)

    def _groups(
        self, subsets: Subsets, which: Indices
    ) -> Iterator[tuple[Indices, NDArray[np.bool_]]]:
        """Yield candidates of `which` that are complete on the same rows, and these rows.

        If the learner draws, each candidate is its own group.
        """
        assert self.missing is not None
        absent = np.zeros((len(which), len(self.missing)), dtype=bool)
        for column in subsets[which].T:
            absent |= self.missing[:, column].T
        packed = np.packbits(absent, axis=1)
        _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        group = group.ravel()
        if self._draws:
            first = group = np.arange(len(which))
        for g, i in enumerate(first):
            yield which[group == g], ~absent[i]

    @cached_property
    def _incomplete(self) -> NDArray[np.bool_]:
        """The mask of columns with missing values, (p,)."""
        assert self.missing is not None
        return np.logical_or.reduce(self.missing, axis=0)

    @property
    def _draws(self) -> bool:
        return bool(getattr(self.learner, "draws", False))

    def _bind(self, part: SearchProblem, columns: Indices) -> BoundLearner:
        """Bind the learner; if it draws, with a seed from the candidate's columns."""
        if self._draws:
            words = [self.problem.seed, *columns.tolist()]
            seed = int(np.random.SeedSequence(words).generate_state(1)[0])
            part = replace(part, seed=seed)
        return self.learner.bind(part)

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> _Parts:
        """Return one voter per subset, trained on all rows that are complete in its columns.

        See `BoundLearner.fit`. If these rows cannot train it (a class is missing), the voter
        predicts their prior. Parts are (indices, voters) for `psephos.vote.join`: one for all
        subsets without missing values, and one for each set of complete rows.
        """
        parts = self._fitted(subsets, says, code)
        if self.powers is None:
            return parts
        units: list[tuple[Indices, Any]] = parts
        return [(which, voters.times(self.powers)) for which, voters in units]

    def _fitted(self, subsets: Sequence[Indices], says: Says, code: Floats) -> _Parts:
        """Return the voters on the scaled table."""
        if self.missing is None:
            return [(np.arange(len(subsets)), self.bound().fit(subsets, says, code))]
        partial = np.array([bool(self._incomplete[s].any()) for s in subsets])
        parts: _Parts = []
        if not partial.all():
            kept = np.flatnonzero(~partial)
            parts.append((kept, self.bound().fit([subsets[i] for i in kept.tolist()], says, code)))
        every, nothing = np.arange(self.problem.X.shape[1]), np.empty(0, dtype=np.intp)
        sizes = np.array([len(s) for s in subsets])
        for size in np.unique(sizes[partial]):
            which = np.flatnonzero(partial & (sizes == size))
            table = np.stack([subsets[i] for i in which.tolist()])
            for chosen, present in self._groups(table, np.arange(len(which))):
                part, _ = complete_problem(self.problem, every, present)
                bound = self._bind(part, table[chosen[0]])
                trainable = self.problem.n_classes in (0, len(np.unique(part.y)))
                read = [table[i] if trainable and len(part.y) > 1 else nothing for i in chosen]
                parts.append((which[chosen], bound.fit(read, says, code)))
        return parts

    def bound(self) -> BoundLearner:
        """Return the learner on the whole problem, bound once in each process."""
        with _binding:
            if "_bound" not in self.__dict__:
                self.__dict__["_bound"] = self.learner.bind(self.problem)
            return self.__dict__["_bound"]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_bound"}


def powers_of(table: Table, X: Floats, learner: Any) -> Indices | None:
    """Return the powers of two (p,) to divide columns by, 0 for most; None if all are 0.

    The attribute ``units`` of a learner is 'any' if it only compares values (the default), 'free'
    if it does not depend on the unit of a column, and 'own' if it does.
    """
    units = getattr(learner, "units", "any")
    if units == "any":
        return None
    with np.errstate(invalid="ignore"):
        most = np.fmax(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))
    most = np.where(np.isnan(most), 0.0, most)
    most[list(table.n_codes)] = 0.0
    powers = np.frexp(most)[1].astype(np.intp)
    powers[np.abs(powers) <= _PLAIN[units]] = 0
    far = np.flatnonzero(powers)
    if len(far) and (units == "own" or table.n_codes):
        j = int(far[0])
        shift = int(np.clip(-np.log10(most[j]), -300, 300))
        raise PsephosError(
            f"the largest number of column {table.schema.words().columns[j]!r} is {most[j]:.3g}: "
            f"squares of such numbers overflow. Multiply the column by 1e{shift:+d}."
        )
    return powers if len(far) else None


def divided(X: Floats, powers: Indices | None) -> Floats:
    """Return the columns divided by powers of two, which is exact."""
    return X if powers is None else np.ldexp(X, -powers)


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
