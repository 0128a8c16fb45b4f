"""Progress of long fits, printed as lines (the parameter `verbose`)."""

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

_LINES = 10  # printed for a fit, with verbose=1

_Item = TypeVar("_Item")
#: The name and the `verbose` of the estimator that is being fitted in this thread, if above 0.
_fitting: ContextVar[tuple[str, int] | None] = ContextVar("fitting", default=None)


@contextmanager
def reporting(estimator: Any) -> Generator[None]:
    """Let `progress` print in this block according to the parameter `verbose` of an estimator."""
    level = int(getattr(estimator, "verbose", 0))
    token = _fitting.set((type(estimator).__name__, level) if level > 0 else None)
    try:
        yield
    finally:
        _fitting.reset(token)


def progress(total: int, what: str) -> Callable[[], None]:
    """Return a function to call, in any thread, after each of `total` steps of a fit."""
    if _fitting.get() is None or total < 1:
        return lambda: None
    name, level = _fitting.get() or ("", 0)
    start, lock, done = time.perf_counter(), threading.Lock(), 0

    def step() -> None:
        nonlocal done
        with lock:  # lines come in the order of their numbers
            done += 1
            if level > 1 or done * _LINES // total > (done - 1) * _LINES // total:
                spent = time.perf_counter() - start
                with suppress(AttributeError, OSError, ValueError):  # no output, or it was closed
                    sys.stdout.write(f"{name}: {done} of {total} {what} ({spent:.1f} s)\n")
                    sys.stdout.flush()

    return step


def tracked(items: Iterable[_Item], what: str) -> Generator[_Item]:
    """Yield items, and print the progress of a fit after each."""
    every = list(items)
    step = progress(len(every), what)
    for one in every:
        try:
            yield one
        finally:  # also if the loop breaks off at this item
            step()
