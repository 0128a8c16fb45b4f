"""uLSIF and KLIEP against the package densratio: seconds of a fit with its choice of settings.

    python benchmarks/speed/bench_density_ratio.py [--large]

CPU seconds of one thread. 200 rows of N(1, (1/8)^2) beside 369 of N(1, (1/2)^2), as in the
package's own example, 100 kernels; our median of five runs, its time of one (it compiles with numba
where that is installed, in a run before). Errors are the mean |r - true ratio| over the rows of the
denominator. It is asked for with ``pip install densratio``; without it ours is timed alone.
``--large``: 20,000 rows of 50 columns in each sample.
"""

import argparse

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    large() if parser.parse_args().large else small()
