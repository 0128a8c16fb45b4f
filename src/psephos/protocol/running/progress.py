"""How far a comparison is: a bar on a terminal, a line now and then elsewhere."""

import multiprocessing
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from psephos.kernels._jit import announce_compiling

_SECONDS = 20.0  # between two lines


@contextmanager
def shown(progress: bool, total: int, done: int) -> Generator[Callable[[str], None]]:
    """Yield a function to be called with the model of each finished fit.

    Of `total` fits `done` were found finished. It shows how far the comparison is on the standard
    error stream, or with `progress` False nothing.
    """
    if not progress:
        yield lambda model: None
    elif sys.stderr.isatty():
        with _bar(total, done) as advance:
            yield advance
    else:
        yield _Lines(total, done).advance


@contextmanager
def _bar(total: int, done: int) -> Generator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    parts = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*parts, console=Console(stderr=True)) as bar:
        row = bar.add_task("comparing", total=total, completed=done)
        yield lambda model: bar.update(row, advance=1, description=f"{model} done")


class _Lines:
    """Prints how far it is, at the first fit, the last, and every so many seconds between."""

    def __init__(self, total: int, done: int):
        self._total, self._done, self._before = total, done, done
        self._start = time.monotonic()
        self._next = self._start

    def advance(self, model: str) -> None:
        self._done += 1
        now = time.monotonic()
        if now < self._next and self._done < self._total:
            return
        self._next = now + _SECONDS
        left = (now - self._start) / (self._done - self._before) * (self._total - self._done)
        words = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
        more = f", about {words} left" if self._done < self._total else ""
        line = f"comparing: {self._done} of {self._total} fits, {model} done{more}"
        print(line, file=sys.stderr, flush=True)  # noqa: T201


def announced(progress: bool) -> AbstractContextManager[Any]:
    """Return a context that says once that kernels are compiled, if they are.

    Of several processes only the first says so.
    """
    name = multiprocessing.current_process().name
    if not progress or (name != "MainProcess" and not name.endswith("-1")):
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
    print(line, file=sys.stderr, flush=True)  # noqa: T201
