"""What the speed tables share: one thread, CPU time, medians."""

import os
import sys

if "numpy" in sys.modules:
    raise ImportError("import _timing before NumPy: it limits NumPy to one thread")
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported

import time  # noqa: E402
from collections.abc import Callable  # noqa: E402


def cpu_time(work: Callable[[], object], repeats: int = 5) -> float:
    """Median CPU seconds of ``repeats`` runs after one that warms up."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return sorted(seconds)[repeats // 2]


def line(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def head(*cells: str) -> None:
    line(*cells)
    line(*["---"] * len(cells))
