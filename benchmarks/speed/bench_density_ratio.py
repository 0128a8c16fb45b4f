"""uLSIF and KLIEP against the package densratio: seconds of a fit with its choice of settings.

    python benchmarks/speed/bench_density_ratio.py [--large | --own-threads]

CPU seconds of one thread. 200 rows of N(1, (1/8)^2) beside 369 of N(1, (1/2)^2), as in the
package's own example, 100 kernels; our median of five runs, its time of one (it compiles with numba
where that is installed, in a run before). Errors are the mean |r - true ratio| over the rows of the
denominator. It is asked for with ``pip install densratio``; without it ours is timed alone.
``--large``: 20,000 rows of 50 columns in each sample. ``--own-threads``: as users run it, with as
many BLAS threads as each library starts by itself: wall seconds of uLSIF, three fits in each of
three processes, in turn; the package as ``pip install densratio`` leaves it, without numba, and
with it.
"""

import argparse

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import os
import subprocess
import sys
import time

import numpy as np

from psephos.supervision import KLIEP, ULSIF


def peer():
    """Return densratio's function, or None."""
    try:
        from densratio import densratio
    except ImportError:
        return None
    return densratio


def small():
    rng = np.random.default_rng(0)
    top, bottom = rng.normal(1, 1 / 8, (200, 1)), rng.normal(1, 1 / 2, (369, 1))
    true = 4 * np.exp(-32 * (bottom[:, 0] - 1) ** 2 + 2 * (bottom[:, 0] - 1) ** 2)
    head("estimator", "seconds", "mean error")
    for kind in (ULSIF, KLIEP):
        fitted = kind(random_state=0).fit(top, bottom)
        error = np.mean(np.abs(fitted.predict(bottom) - true))
        seconds = cpu_time(lambda kind=kind: kind(random_state=0).fit(top, bottom))
        line(kind.__name__, f"{seconds:.4f}", f"{error:.4f}")
    densratio = peer()
    if densratio is None:
        print("densratio is not installed")
        return
    for method in ("uLSIF", "KLIEP"):
        np.random.seed(0)  # noqa: NPY002  # it draws from NumPy's global generator
        found = densratio(top, bottom, method=method, verbose=False)
        error = np.mean(np.abs(found.compute_density_ratio(bottom) - true))
        start = time.process_time()
        densratio(top, bottom, method=method, verbose=False)
        line(f"densratio's {method}", f"{time.process_time() - start:.3f}", f"{error:.4f}")


def large():
    rng = np.random.default_rng(0)
    top, bottom = rng.normal(0.1, 1, (20000, 50)), rng.normal(0, 1, (20000, 50))
    head("estimator, 20,000 rows of 50 columns each", "seconds")
    for kind in (ULSIF, KLIEP):
        start = time.process_time()
        kind(random_state=0).fit(top, bottom)
        line(kind.__name__, f"{time.process_time() - start:.2f}")


OWN = """
import sys, time
import numpy as np
if sys.argv[1] == "psephos":
    from psephos.supervision import ULSIF
    fit = lambda top, bottom: ULSIF(random_state=0).fit(top, bottom)
else:
    if sys.argv[1] == "densratio":
        sys.modules["numba"] = None  # as where it is not installed
    from densratio import densratio
    fit = lambda top, bottom: densratio(top, bottom, verbose=False)
rng = np.random.default_rng(0)
samples = rng.normal(1, 1 / 8, (200, 1)), rng.normal(1, 1 / 2, (369, 1))
for _ in range(3):
    start = time.perf_counter()
    fit(*samples)
    print(f"{time.perf_counter() - start:.3f}", end=" ")
"""


def own_threads():
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    head("library", "wall seconds of three fits, a process a row")
    for _ in range(3):
        for name in ("psephos", "densratio", "densratio with numba"):
            command = [sys.executable, "-c", OWN, name]
            done = subprocess.run(command, env=free, capture_output=True, text=True, check=True)
            line(name, done.stdout.strip())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--own-threads", action="store_true")
    args = parser.parse_args()
    large() if args.large else own_threads() if args.own_threads else small()
