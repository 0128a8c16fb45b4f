"""Forests against scikit-learn's: whole fits of 100 trees, binning included, one thread each.

    python benchmarks/speed/bench_forest.py [--sets letter,fat,...] [--trees 100] [--repeats 3]
    python benchmarks/speed/bench_forest.py --growth [FILE]
    python benchmarks/speed/bench_forest.py --threads

CPU time, the median after a run that warms up; both in one process, a set at a time. Then the peak
of memory above what the process held before the fit, each fit in a process of its own (Linux).
``--growth`` measures how time grows with rows, columns and depth, and draws it to a file.
``--threads`` is the wall time of one thread over that of two. Real sets need PSEPHOS_DATA;
the others are drawn: gauss is 100,000 × 28, fat is 2,000 × 5,000.
"""

import argparse
import csv
import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
import sklearn.ensemble as peer

import psephos

MODELS = ["RandomForestClassifier", "ExtraTreesClassifier"]
SETS = ["letter", "shuttle", "satellite", "higgs_11k", "gauss", "fat"]


def drawn(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.standard_normal(n) > 0).astype(int)


def read(name):
    """Return (X, y)."""
    if name in ("gauss", "fat"):
        return drawn(*{"gauss": (100_000, 28), "fat": (2_000, 5_000)}[name])
    if "PSEPHOS_DATA" not in os.environ:
        raise SystemExit("this set is a real table: set PSEPHOS_DATA to the folder of the tables")
    folder = Path(os.environ["PSEPHOS_DATA"]) / name
    if (folder / f"{name}.npz").exists():
        with np.load(folder / f"{name}.npz", allow_pickle=False) as archive:
            return archive["X"].astype(float), archive["y"]
    with gzip.open(folder / f"{name}.csv.gz", "rt") as lines:
        table = np.array(list(csv.reader(lines))[1:])
    return table[:, :-1].astype(float), np.unique(table[:, -1], return_inverse=True)[1]


def seconds(library, model, X, y, repeats, **options):
    return cpu_time(lambda: getattr(library, model)(random_state=0, **options).fit(X, y), repeats)


def peak(library, model, name, trees):
    """MiB by which one fit raises the peak of a fresh process, after a small fit that compiles."""
    command = [sys.executable, __file__, "--peak", library, model, name, "--trees", str(trees)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure_peak(library, model, name, trees):
    X, y = read(name)
    make = getattr(psephos if library == "psephos" else peer, model)
    rows = np.concatenate([np.flatnonzero(y == k)[:9] for k in np.unique(y)])
    make(2).fit(X[rows], y[rows])
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = peak_kib()
    fitted = make(trees, random_state=0).fit(X, y)
    print((peak_kib() - before) / 1024)
    del fitted


def peak_kib():
    """The peak of this process's memory, as Linux counts it."""
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(entry for entry in status if entry.startswith("VmHWM")).split()[1])


def table(names, trees, repeats):
    head("set", "model", "ours s", "scikit-learn s", "ratio", "accuracy", "peer", "MiB", "peer")
    for name in names:
        X, y = read(name)
        test = np.arange(len(y)) % 3 == 0
        for model in MODELS:
            ours = seconds(psephos, model, X, y, repeats, n_estimators=trees)
            theirs = seconds(peer, model, X, y, repeats, n_estimators=trees)
            scores = []
            for library in (psephos, peer):
                fitted = getattr(library, model)(trees, random_state=0).fit(X[~test], y[~test])
                scores.append(f"{fitted.score(X[test], y[test]):.4f}")
            memory = [f"{peak(which, model, name, trees):.0f}" for which in ("psephos", "sklearn")]
            ratio = f"{theirs / ours:.1f}"
            line(name, model, f"{ours:.2f}", f"{theirs:.2f}", ratio, *scores, *memory)


def growth(repeats, file):
    """Seconds of ten trees, by rows, columns and depth."""
    head("n", "p", "depth", "forest s", "peer s", "ratio", "extra trees s", "peer s", "ratio")
    sizes = [("rows", n, 20, None) for n in (1_000, 10_000, 100_000)]
    sizes += [("columns", 2_000, p, None) for p in (10, 100, 1_000, 10_000)]
    sizes += [("depth", 50_000, 20, d) for d in (2, 4, 8, 16)]
    found = {}
    for axis, n, p, depth in sizes:
        X, y = drawn(n, p)
        cells, times = [], []
        for model in MODELS:
            options = {"n_estimators": 10, "max_depth": depth}
            both = [seconds(lib, model, X, y, repeats, **options) for lib in (psephos, peer)]
            cells += [f"{both[0]:.3f}", f"{both[1]:.3f}", f"{both[1] / both[0]:.1f}"]
            times += both
        found.setdefault(axis, []).append(({"rows": n, "columns": p, "depth": depth}[axis], *times))
        line(str(n), str(p), str(depth or "none"), *cells)
    if file:
        draw(found, file)


def draw(found, file):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(found), figsize=(4 * len(found), 3.2), sharey=True)
    names = ["forest", "scikit-learn's", "extra trees", "scikit-learn's"]
    for ax, (axis, rows) in zip(axes, found.items(), strict=True):
        value, *times = np.array(rows).T
        for name, marks, spent in zip(names, ("o-", "o--", "s-", "s--"), times, strict=True):
            ax.plot(value, spent, marks, label=name)
        ax.set(xlabel=axis, xscale="linear" if axis == "depth" else "log", yscale="log")
    axes[0].set_ylabel("CPU s, ten trees")
    axes[0].legend()
    figure.savefig(file, bbox_inches="tight")


def threads(names, trees, repeats):
    """Wall seconds by the number of threads."""
    head("set", "model", "one thread s", "two s", "times as quick")
    for name in names:
        X, y = read(name)
        for model in MODELS:
            wall = []
            for n_jobs in (1, 2):
                make = getattr(psephos, model)(trees, n_jobs=n_jobs, random_state=0)
                times = []
                for _ in range(repeats + 1):
                    start = time.perf_counter()
                    make.fit(X, y)
                    times.append(time.perf_counter() - start)
                wall.append(sorted(times[1:])[repeats // 2])
            line(name, model, *(f"{w:.2f}" for w in wall), f"{wall[0] / wall[1]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--growth", nargs="?", const="", metavar="FILE", help="and a drawing")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak:
        measure_peak(*args.peak, args.trees)
    elif args.threads:
        threads(args.sets.split(","), args.trees, args.repeats)
    elif args.growth is not None:
        growth(args.repeats, args.growth)
    else:
        table(args.sets.split(","), args.trees, args.repeats)


if __name__ == "__main__":
    main()
