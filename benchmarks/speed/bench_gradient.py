"""Gradient boosting against scikit-learn's two: whole fits of 100 rounds, depth 3, one thread each.

    python benchmarks/speed/bench_gradient.py [--sets letter2,satellite,...] [--rounds 100]

CPU time of one fit after one that warms up, sorting or binning included; all in one process, a set
at a time. Then the peak of memory above what the process held before the fit, each fit in a
process of its own (Linux). Real sets need PSEPHOS_DATA; letter2 is
letter with the first and the last 13 letters as classes; drawn is 10,000 x 28, fat 500 x 5,000.
"""

import argparse
import csv
import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

from _timing import head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier as TheirExact
from sklearn.ensemble import HistGradientBoostingClassifier as TheirHist

from psephos import GradientBoostingClassifier

SETS = ["letter2", "satellite", "drawn", "fat"]
SIZES = {"drawn": (10_000, 28), "fat": (500, 5_000)}
MAKERS = {
    "exact": lambda rounds: GradientBoostingClassifier(n_estimators=rounds),
    "hist": lambda rounds: GradientBoostingClassifier(tree_method="hist", n_estimators=rounds),
    "peer": lambda rounds: TheirExact(n_estimators=rounds, random_state=0),
    "peer hist": lambda rounds: TheirHist(
        max_iter=rounds, max_depth=3, early_stopping=False, min_samples_leaf=1
    ),
}


def read(name):
    """Return (X, y)."""
    if name in SIZES:
        n, p = SIZES[name]
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, p))
        score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] + rng.standard_normal(n)
        return X, (score > 0).astype(int)
    if "PSEPHOS_DATA" not in os.environ:
        raise SystemExit("this set is a real table: set PSEPHOS_DATA to the folder of the tables")
    real = name.rstrip("2")
    folder = Path(os.environ["PSEPHOS_DATA"], real)
    if (folder / f"{real}.npz").exists():
        with np.load(folder / f"{real}.npz", allow_pickle=False) as archive:
            X, labels = archive["X"].astype(float), archive["y"]
    else:
        with gzip.open(folder / f"{real}.csv.gz", "rt") as lines:
            cells = np.array(list(csv.reader(lines))[1:])
        X, labels = cells[:, :-1].astype(float), cells[:, -1]
    y = np.unique(labels, return_inverse=True)[1]
    return X, (y >= 13).astype(int) if name == "letter2" else y


def peak(kind, name, rounds):
    """MiB by which one fit raises the peak of a fresh process, after a small fit that compiles."""
    command = [sys.executable, __file__, "--peak", kind, name, "--rounds", str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure_peak(kind, name, rounds):
    X, y = read(name)
    rows = np.concatenate([np.flatnonzero(y == k)[:9] for k in np.unique(y)])
    MAKERS[kind](2).fit(X[rows], y[rows])
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = peak_kib()
    fitted = MAKERS[kind](rounds).fit(X, y)
    print((peak_kib() - before) / 1024)
    del fitted


def peak_kib():
    """The peak of this process's memory, as Linux counts it."""
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(entry for entry in status if entry.startswith("VmHWM")).split()[1])


def table(names, rounds):
    head("set", *(f"{kind} s" for kind in MAKERS), *(f"{k} acc." for k in MAKERS),
         *(f"{k} MiB" for k in MAKERS))  # fmt: skip
    for name in names:
        X, y = read(name)
        test = np.arange(len(y)) % 3 == 0
        times, scores, memory = [], [], []
        for kind, make in MAKERS.items():
            fitted = make(rounds).fit(X[~test], y[~test])  # warms up
            scores.append(f"{fitted.score(X[test], y[test]):.4f}")
            start = time.process_time()
            make(rounds).fit(X, y)
            times.append(f"{time.process_time() - start:.2f}")
            memory.append(f"{peak(kind, name, min(rounds, 5)):.0f}")
        line(name, *times, *scores, *memory)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak:
        measure_peak(*args.peak, args.rounds)
    else:
        table(args.sets.split(","), args.rounds)


if __name__ == "__main__":
    main()
