"""One tree of C4.5 against scikit-learn's tree: whole fits, CPU time, one thread, one run.

PSEPHOS_DATA=... python benchmarks/speed/bench_c45.py [--small] [--growth FILE.svg]

scikit-learn's tree (entropy, min_samples_leaf=2) is not pruned; ours is, and 'grown' is what it
takes without pruning. Beside the three real sets: rows with missing values, and a fat table (a
generated table of two classes and noise). Peaks are of fresh processes, beyond what is resident
before the fit. ``--growth``: time by rows, columns and the least rows of a
leaf, drawn to a file.
"""

import argparse
import csv
import gzip
import os
from pathlib import Path

from _growth import ask, generated, growth, say_peak
from _timing import cpu_time, head, line

# isort: split
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from psephos import C45Classifier

LIMIT = 3.0  # what we allow ourselves, in scikit-learn's time


def letter(folder):
    with np.load(folder / "letter" / "letter.npz", allow_pickle=True) as file:
        return file["X"].astype(np.float64), file["y"]


def statlog(folder, name):
    with gzip.open(folder / name / f"{name}.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[:-1] for row in rows], dtype=float), np.array([row[-1] for row in rows])


def peer(least=2):
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=least, random_state=0)


def table(name, small=False):
    """Return a table by name."""
    if name in ("letter", "shuttle", "satellite"):
        folder = Path(os.environ["PSEPHOS_DATA"])
        return letter(folder) if name == "letter" else statlog(folder, name)
    if name == "missing 10 %":
        return generated(1_000 if small else 10_000, 10, 0.1)
    return generated(60, 500 if small else 20_000)


def row(name, small, repeats):
    X, y = table(name, small)
    ours, plain, theirs = C45Classifier(), C45Classifier(pruning=None), peer()
    whole = cpu_time(lambda: ours.fit(X, y), repeats)
    grown = cpu_time(lambda: plain.fit(X, y), repeats)
    other = cpu_time(lambda: theirs.fit(X, y), repeats)
    peaks = [ask(__file__, "--peak", who, name) for who in ("ours", "theirs")]
    line(
        name, f"{X.shape[0]} x {X.shape[1]}", f"{ours.get_n_leaves()}",
        f"{100 * ours.score(X, y):.3f}", f"{whole:.3f}", f"{grown:.3f}", f"{other:.3f}",
        f"{whole / other:.2f}", *(f"{peak:.1f}" for peak in peaks),
    )  # fmt: skip


def grow(place):
    """Print and draw how the time grows."""

    def at(least):
        def both(n, p):
            return C45Classifier(least).fit, peer(least).fit, *generated(n, p)

        return both

    axes = [
        ("rows (of 10 columns)", [1_000 * 2**k for k in range(8)], lambda n: at(2)(n, 10)),
        ("columns (of 1,000 rows)", [10, 30, 100, 300, 1_000, 3_000], lambda p: at(2)(1_000, p)),
        (
            "least rows of a leaf (20,000 x 10)", [2_000, 500, 100, 20, 5, 2],
            lambda least: at(least)(20_000, 10),
        ),
    ]  # fmt: skip
    growth(axes, lambda model: model.get_depth(), Path(place), "C4.5")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small tables, to try the command")
    parser.add_argument("--growth", help="draw to this file how the time grows")
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak:
        who, name = args.peak
        say_peak((C45Classifier() if who == "ours" else peer()).fit, *table(name))
    elif args.growth:
        grow(args.growth)
    else:
        print(f"\n## C4.5, CPU s; ratio to scikit-learn's tree, at most {LIMIT:g} on real sets\n")
        head(
            "table", "rows x columns", "leaves", "right, %", "fit", "grown", "peer", "ratio",
            "peak, MiB", "peer's",
        )  # fmt: skip
        real = ["letter", "shuttle", "satellite"] if os.environ.get("PSEPHOS_DATA") else []
        for name in [] if args.small else real:
            row(name, args.small, 5)
        for name in ("missing 10 %", "fat"):
            row(name, args.small, 3)


if __name__ == "__main__":
    main()
