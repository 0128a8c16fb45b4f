"""How far a comparison is: a bar on a terminal, a line now and then elsewhere."""

import multiprocessing
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from psephos.protocol.running.forecast import Forecast
from psephos.protocol.running.tasks import Task
from psephos.runtime.jit import announce_compiling
from psephos.vote.names import plural

_SECONDS = 20.0  # between two lines


@contextmanager
def shown(
    progress: bool, tasks: Sequence[Task], forecast: Forecast
) -> Generator[Callable[[Mapping[str, Any]], None]]:
    """Yield a function to be called with the journal entry of each finished task.

    It shows how far the comparison is on the standard error stream, or with `progress` False
    nothing.
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
        yield _Lines(forecast).advance


def plan_words(tasks: Sequence[Task], forecast: Forecast) -> list[str]:
    """Return how many fits there are, and how many of them an earlier run has done."""
    total, models = sum(forecast.fits.values()), {task.contender.name for task in tasks}
    splits, protocol = {task.split for task in tasks} - {None}, tasks[0].protocol
    draws = max(protocol.n_draws(model) for model in models)
    tried = f"(of up to {draws} settings in {protocol.inner_folds} inner folds), "
    words = [
        f"comparing {plural(len(models), 'model')} in {plural(len(splits), 'fold')} and on all "
        f"rows: {f'{forecast.n_searches} searches {tried}' if forecast.n_searches else ''}"
        f"{plural(total, 'fit')} in all"
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


class _Lines:
    """Prints how far it is, at the first fit, the last, and every so many seconds between."""

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
    """Return how long it will still take; nothing while that is not known."""
    left = forecast.left()
    if left is None:
        return ""
    return f"about {left:.0f} s left" if left < 100 else f"about {left / 60:.0f} min left"


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def announced(progress: bool) -> AbstractContextManager[Any]:
    """Return a context that says once that kernels are compiled, if they are.

    Of several processes only the first says so.
    """
    name = multiprocessing.current_process().name
    told = _tell.cache_info().currsize > 0
    if not progress or told or (name != "MainProcess" and not name.endswith("-1")):
        return nullcontext()
    return announce_compiling(_tell)


@cache  # once a process
def _tell(kept: bool) -> None:
    if kept:
        line = "preparing kernels, once per machine: this can take minutes (psephos warm-up)"
    else:
        line = (
            "preparing kernels, in every run since no folder for them can be written: set the "
            "variable NUMBA_CACHE_DIR to one"
        )
    _print(line)
