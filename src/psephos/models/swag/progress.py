"""How far a search is, and how long the rest takes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["Clock", "Report", "Standing", "progress_bar"]


@dataclass(frozen=True)
class Standing:
    """How far a search is.

    Parameters
    ----------
    dimension, last : int
        The step at work, and the greatest dimension that may follow.
    done, total : int
        Candidates judged in this step, and all of it.
    seconds : float
        Time spent in this step.
    seconds_left : float
        Estimated time to the end of the search, if candidates of the steps to come are as many
        and take as long as those of this step; NaN while nothing is known.
    """

    dimension: int
    last: int
    done: int
    total: int
    seconds: float
    seconds_left: float


Report = Callable[[Standing], None]


class Clock:
    """Calls `report` with a `Standing` after each chunk of a step."""

    def __init__(self, report: Report, dimension: int, last: int, total: int) -> None:
        self._report = report
        self._step = (dimension, last)
        self._total = total
        self._done = 0
        self._known = 0
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
        self._report(Standing(dimension, last, self._done, self._total, spent, seconds_left))


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

        def report(standing: Standing) -> None:
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
