"""The progress of a comparison: number of fits, and a forecast of the time left."""

import heapq
import multiprocessing
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from statistics import median
from typing import Any

from psephos.estimator.contender import Shape
from psephos.files.names import plural
from psephos.protocol.running.curve import CurveTask
from psephos.protocol.running.tasks import Draws, FitTask
from psephos.runtime.jit import announce_compiling

# Time of a fit of each default model in hundredths of a second: rounded means over tables of 155 x
# 19, 500 x 50 and 62 x 2000, for numbers 167 x 4 and 215 x 100; variants of swag by their ratio to
# swag on 150 x 20. They order the first fits, and are used until a model has been fitted.
_GUESSES = {
    "column-budget-4": 48.0, "column-budget-8": 45.0, "column-budget-16": 45.0, "proset": 33.0,
    "swag": 6.0, "samba": 5.0, "newton-boosting": 3.5, "rank-ridge": 3.3, "random-forest": 1.3,
    "sklearn-l1-logistic": 0.8, "sklearn-svm-rbf": 0.8, "majority": 0.1,
    "column-budget-4-regressor": 56.0, "column-budget-8-regressor": 54.0,
    "column-budget-16-regressor": 53.0, "random-forest-regressor": 7.0,
    "gradient-boosting-regressor": 6.0, "swag-regressor": 4.0, "rank-ridge-regressor": 1.2,
    "sklearn-ridge": 0.8, "sklearn-lasso": 0.7, "mean": 0.1,
    "swag-rbf-svm": 300.0, "swag-forest": 240.0, "swag-lasso": 95.0, "swag-linear-svm": 23.0,
    "swag-forest-500": 1200.0, "swag-published": 5000.0, "swag-forest-regressor": 240.0,
    "sklearn-forward": 100.0, "sklearn-backward": 60.0, "sklearn-recursive": 40.0,
    "sklearn-elastic-net-logistic": 30.0, "sklearn-ridge-classifier": 0.8,
}  # fmt: skip
_OTHER, _CONSTANT = 10.0, 0.1
_KNOWN = 0.01  # share of the work, by these guesses, below which imports dominate the times


def n_fits(task: FitTask, shape: Shape) -> int:
    """Return the number of fits of a task: each draw in each inner fold, and the final one.

    For a budget of seconds it is the minimum, for a curve the maximum.
    """
    if isinstance(task, CurveTask):
        return task.n_fits(shape)
    draws = Draws(task, shape)
    searched = draws.least * task.protocol.inner_folds if draws.searched else 0
    alone = shape.multilabel and not task.contender.multilabel  # one model per label
    return (searched + 1) * (shape.n_classes if alone else 1)


def seconds_of(entry: Mapping[str, Any]) -> float | None:
    """Return the seconds of a task; None if not known, or if kernels were compiled in it."""
    timing: Mapping[str, float] = entry["timing"]
    if "search_seconds" not in timing or timing.get("kernels_compiled", 0):
        return None
    return sum(timing.get(f"{part}_seconds", 0.0) for part in ("search", "fit", "predict"))


class Forecast:
    """The time left, from the mean time per fit and row of each model.

    Searches with a budget of seconds take this budget, and the time of a fit. A model that has not
    been fitted yet is expected to take its guess, times the median ratio of time to guess of the
    other models.

    Parameters
    ----------
    tasks : sequence of Task
        All tasks of the comparison.
    shape : Shape
    workers : int
        Number of tasks that run at the same time.
    """

    def __init__(self, tasks: Sequence[FitTask], shape: Shape, workers: int) -> None:
        self.fits = {task.key: n_fits(task, shape) for task in tasks}
        draws = {t.key: Draws(t, shape) for t in tasks if not isinstance(t, CurveTask)}
        self.n_curve = sum(n for key, n in self.fits.items() if key not in draws)
        self.n_searches = sum(one.searched for one in draws.values())
        self._budget = dict.fromkeys(self.fits, 0.0)
        self._budget |= {key: one.seconds or 0.0 for key, one in draws.items()}
        self._tasks = {task.key: task for task in tasks}
        self._left = dict.fromkeys(self.fits)
        self._workers = workers
        self._work, self._seconds = defaultdict[str, float](float), defaultdict[str, float](float)
        guesses = ((_GUESSES.get(task.contender.name, _OTHER), task.key) for task in tasks)
        self._guessed = sum(guess * self._size(key) for guess, key in guesses)

    @property
    def n_done(self) -> int:
        """Return the number of fits done."""
        return sum(self.fits.values()) - sum(self.fits[key] for key in self._left)

    @property
    def _models_left(self) -> set[str]:
        return {self._tasks[key].contender.name for key in self._left}

    @property
    def sure(self) -> bool:
        """Return whether a time or a guess is known for each model that is left."""
        return self._models_left <= {*self._work, *(() if any(self._budget.values()) else _GUESSES)}

    def order(self, tasks: Sequence[FitTask]) -> list[FitTask]:
        """Return tasks in the order in which they run.

        Split by split over all models, refits last, so that an unfinished journal is balanced. In
        the first split the shortest tasks are first, so that there soon is a forecast; then the
        longest, so that none of them runs alone at the end.
        """
        first = min((task.split for task in tasks if task.split is not None), default=())

        def place(task: FitTask) -> tuple[bool, tuple[int, ...], float]:
            guess = _GUESSES.get(task.contender.name, _OTHER) * self.fits[task.key]
            return task.split is None, task.split or (), guess if task.split == first else -guess

        found = sorted(tasks, key=place)
        self._left = dict.fromkeys(task.key for task in found)
        return found

    def learn(self, entry: Mapping[str, Any]) -> None:
        """Use the time of a task that is finished, in this or an earlier run."""
        key, seconds = entry["key"], seconds_of(entry)
        self._left.pop(key, None)
        if seconds is not None:
            model = self._tasks[key].contender.name
            self._work[model] += self._size(key)
            self._seconds[model] += max(0.0, seconds - self._budget[key])

    def left(self) -> float | None:
        """Return the seconds left, or None while too little is known.

        Running tasks count as half finished.
        """
        guessed = sum(_GUESSES.get(model, _OTHER) * work for model, work in self._work.items())
        known, budgets = guessed >= _KNOWN * self._guessed, any(self._budget.values())
        rates = {model: self._seconds[model] / work for model, work in self._work.items()}
        # constant predictions do not measure the machine's speed: their fits take no time
        guesses = {model: _GUESSES.get(model, _OTHER) for model in rates}
        off = [rates[model] / guess for model, guess in guesses.items() if guess > _CONSTANT]
        if not budgets and not (known and (off or self._models_left <= {*rates})):
            return None
        scale = median(off) if off else 0.0
        times = [
            self._budget[key]
            + self._size(key) * rates.get(model, _GUESSES.get(model, _OTHER) * scale)
            for key in self._left
            for model in [self._tasks[key].contender.name]
        ]
        # the time at which each worker is free; one of them is free now, and takes the next task
        ends = [seconds / 2 for seconds in times[: self._workers - 1]] + [0.0]
        heapq.heapify(ends)
        for seconds in times[self._workers - 1 :]:
            heapq.heapreplace(ends, ends[0] + seconds)
        return max(ends)

    def _size(self, key: str) -> float:
        """Return the work of a task: fits times training rows."""
        return self.fits[key] * len(self._tasks[key].train)


_SECONDS = 20.0  # between two lines


@contextmanager
def shown(
    progress: bool, tasks: Sequence[FitTask], forecast: Forecast
) -> Generator[Callable[[Mapping[str, Any]], None]]:
    """Yield a function to be called with the journal entry of each finished task.

    It shows the progress on standard error; nothing if `progress` is False.
    """
    if not progress:
        yield lambda entry: None
        return
    for line in plan_words(tasks, forecast):
        _print(line)
    if sys.stderr.isatty():
        with _bar(forecast) as advance:
            yield advance
    else:
        yield _ProgressLines(forecast).advance


def plan_words(tasks: Sequence[FitTask], forecast: Forecast) -> list[str]:
    """Return in words the number of fits, and of those reused from an earlier run."""
    total, models = sum(forecast.fits.values()), {task.contender.name for task in tasks}
    splits, protocol = {task.split for task in tasks} - {None}, tasks[0].protocol
    draws = max(protocol.n_draws(model) for model in models)
    each = f"up to {draws} settings" if protocol.seconds is None else f"{protocol.seconds:g} s"
    tried = f"(of {each} in {protocol.inner_folds} inner folds), "
    words = [
        f"comparing {plural(len(models), 'model')} in {plural(len(splits), 'fold')} and on all "
        f"rows: {f'{forecast.n_searches} searches {tried}' if forecast.n_searches else ''}"
        f"{'at least ' if protocol.seconds else ''}{plural(total, 'fit')} in all"
        + (f", up to {forecast.n_curve} of them for the curve" if forecast.n_curve else "")
    ]
    done = forecast.n_done
    return [*words, f"{done} of {total} fits are reused from an earlier run"] if done else words


@contextmanager
def _bar(forecast: Forecast) -> Generator[Callable[[Mapping[str, Any]], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    total = sum(forecast.fits.values())
    with Progress(*parts, console=Console(stderr=True)) as bar:
        row = bar.add_task("comparing", total=total, completed=forecast.n_done, left="")

        def advance(entry: Mapping[str, Any]) -> None:
            forecast.learn(entry)
            left, model = left_words(forecast), entry["model"]
            bar.update(row, completed=forecast.n_done, description=model, left=left)

        yield advance


class _ProgressLines:
    """Prints the progress at the first fit, the last, and every 20 seconds in between."""

    def __init__(self, forecast: Forecast):
        self._forecast, self._total = forecast, sum(forecast.fits.values())
        self._next = time.monotonic()

    def advance(self, entry: Mapping[str, Any]) -> None:
        self._forecast.learn(entry)
        now, done = time.monotonic(), self._forecast.n_done
        if now < self._next and done < self._total:
            return
        words = left_words(self._forecast)
        self._next = now + _SECONDS if words else now
        left = f", {words}" if words and done < self._total else ""
        _print(f"comparing: {done} of {self._total} fits, {entry['model']} done{left}")


def left_words(forecast: Forecast) -> str:
    """Return the time left in words; '' while it is not known."""
    left, word = forecast.left(), "about" if forecast.sure else "perhaps"
    if left is None or (left < 0.5 and not forecast.sure):
        return ""
    return f"{word} {left:.0f} s left" if left < 100 else f"{word} {left / 60:.0f} min left"


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def announced(progress: bool) -> AbstractContextManager[Any]:
    """Return a context that prints once, in the first of several processes, if kernels compile."""
    name = multiprocessing.current_process().name
    printed = _print_compiling.cache_info().currsize > 0
    if not progress or printed or (name != "MainProcess" and not name.endswith("-1")):
        return nullcontext()
    return announce_compiling(_print_compiling)


@cache  # once per process
def _print_compiling(kept: bool) -> None:
    if kept:
        line = (
            "preparing kernels that no earlier command needed: this can take minutes (psephos "
            "warm-up prepares all of them)"
        )
    else:
        line = (
            "preparing kernels, in every run, since no folder for them can be written: set the "
            "variable NUMBA_CACHE_DIR to one"
        )
    _print(line)
