"""One tree of C4.5 against scikit-learn's tree: whole fits, CPU time, one thread, one run.

PSEPHOS_DATA=... python benchmarks/speed/bench_c45.py [--small]

scikit-learn's tree (entropy, min_samples_leaf=2) is not pruned; ours is, and 'grown' is what it
takes without pruning. Beside the three real sets: rows with missing values, a fat table, and how
the time grows with rows and columns (a generated table of two classes and noise).
"""

import argparse
import csv
import gzip
import os
from pathlib import Path

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

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


def generated(n, p, missing=0.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)).round(2)
    y = (X[:, : min(p, 4)].sum(axis=1) + rng.standard_normal(n) > 0).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def row(name, X, y, repeats=5):
    peer = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
    ours, plain = C45Classifier(), C45Classifier(pruning=None)
    whole = cpu_time(lambda: ours.fit(X, y), repeats)
    grown = cpu_time(lambda: plain.fit(X, y), repeats)
    theirs = cpu_time(lambda: peer.fit(X, y), repeats)
    line(
        name, f"{X.shape[0]} x {X.shape[1]}", f"{ours.get_n_leaves()}",
        f"{100 * ours.score(X, y):.3f}", f"{whole:.3f}", f"{grown:.3f}", f"{theirs:.3f}",
        f"{whole / theirs:.2f}",
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small tables, to try the command")
    small = parser.parse_args().small
    print(f"\n## C4.5, CPU s; ratio to scikit-learn's tree, at most {LIMIT:g} on the real sets\n")
    head("table", "rows x columns", "leaves", "right, %", "fit", "grown", "peer", "ratio")
    folder = os.environ.get("PSEPHOS_DATA")
    if folder and not small:
        row("letter", *letter(Path(folder)))
        row("shuttle", *statlog(Path(folder), "shuttle"))
        row("satellite", *statlog(Path(folder), "satellite"))
    for n in (1_000,) if small else (1_000, 10_000, 100_000):
        row("generated", *generated(n, 10), 3)
    for p in (20,) if small else (100, 1_000):
        row("generated", *generated(1_000, p), 3)
    row("missing 10 %", *generated(1_000 if small else 10_000, 10, 0.1), 3)
    row("fat", *generated(60, 500 if small else 20_000), 3)


if __name__ == "__main__":
    main()
