"""Tiny fits: every batched learner against a loop over scikit-learn's estimator, same folds.

    python benchmarks/speed/bench_tiny.py [--meter-a]

n = 70, ten folds, one thread, CPU microseconds a fit and prediction of its test rows. With
--meter-a (and PSEPHOS_DATA): the logistic search on Meter A with m = 40,000, 10 x 10 folds and up
to 6 columns, wall seconds on two cores; alpha is (.07, .3), so that m is reached from 4 columns on
(with the SWAG paper's .05 there are too few strong parents for it on these rows). Then the errors
of its 1,000 strongest models beside scikit-learn's, on ten folds.
"""

import argparse
import os
import time

import _timing  # noqa: F401  (one thread, before NumPy is loaded)
import numpy as np
from _tiny_gaussian import rows as gaussian
from _tiny_logistic import differing_errors, screening
from _tiny_logistic import rows as logistic
from _tiny_svm import rows as support
from _tiny_trees import rows as trees

KEYS = ("learner", "n", "d", "folds", "ours_us", "peer_us", "ratio", "disagreements")


def products(X):
    """The columns and all products of two."""
    p = X.shape[1]
    return np.column_stack([X, *(X[:, i] * X[:, j] for i in range(p) for j in range(i + 1, p))])


def meter_a() -> None:
    from psephos import SparseWrapperClassifier

    with np.load(os.path.join(os.environ["PSEPHOS_DATA"], "meterA", "meterA.npz")) as given:
        X, y = products(given["X"]), given["y"]
    rows = np.random.default_rng(0).permutation(len(y))[:69]
    settings = {"alpha": (0.07, 0.3), "delta": 0.0005, "p_max": 6, "n_jobs": 2, "random_state": 0}
    SparseWrapperClassifier(m=50, **settings).fit(X[rows], y[rows])  # compiles
    start, used = time.perf_counter(), time.process_time()
    model = SparseWrapperClassifier(m=40_000, n_repeats=10, **settings).fit(X[rows], y[rows])
    wall, used = time.perf_counter() - start, time.process_time() - used
    fits = int(model.library_.dimensions.n_candidates.sum()) * model.n_splits_
    print(f"\nMeter A, logistic: {fits:,} fits in {wall:.0f} s on two threads ({used:.0f} CPU s)")
    print(f"{wall / fits * 2e7:.0f} s for 2 x 10^7 fits")
    library = model.library_
    top = [library.subset(k) for k in range(min(1000, len(library.error)))]
    apart = differing_errors(X[rows], y[rows], top)
    print(f"errors of the {len(top)} strongest, rows apart: candidates: {apart}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--meter-a", action="store_true")
    options = parser.parse_args()
    print("| " + " | ".join(KEYS) + " |")
    print("|" + "---|" * len(KEYS))
    for made in (logistic, gaussian, support, trees):
        for row in made():
            cells = [row.get(key, "") for key in KEYS]
            told = [f"{c:.4g}" if isinstance(c, float) else str(c) for c in cells]
            print("| " + " | ".join(told) + " |", flush=True)
    print(f"\nfirst screening, 100,000 columns x 10 folds, logistic: {screening():.1f} CPU s")
    if options.meter_a:
        meter_a()


if __name__ == "__main__":
    main()
