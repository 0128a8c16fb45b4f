"""CART with five surrogates against scikit-learn's tree: CPU time, one thread, the same run.

PSEPHOS_DATA=folder python benchmarks/speed/bench_cart.py [--threads] [--growth FILE.svg]

Letter, shuttle and satellite (where the folder is not set, generated tables of their shapes),
cp = 1e-4, no cross-validation: the whole of ``fit``, input checks, sorting and surrogates
included. scikit-learn's tree: entropy, two rows a leaf, no surrogates. Beside it the ratio
without surrogates and competitors; the ratio to a tree as large as scikit-learn's (cp = 0,
entropy, two rows a leaf, five surrogates); and a fit with ten-fold cross-validation to one
without. ``--threads``: wall time of that cross-validation by one thread and by two.
"""

import argparse
import csv
import gzip
import os
import time
from pathlib import Path
from typing import Any

from _growth import ask, generated, growth, say_peak
from _timing import cpu_time, head, line

# isort: split
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from psephos import CARTClassifier

SHAPES = {"letter": (20_000, 16, 26), "shuttle": (58_000, 9, 7), "satellite": (6_435, 36, 6)}
OURS = CARTClassifier(cp=1e-4, n_folds=0)
PEER = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the real table, or a generated one of its shape."""
    folder = os.environ.get("PSEPHOS_DATA")
    if folder is None:
        n, p, k = SHAPES[name]
        rng = np.random.default_rng(0)
        X = rng.integers(0, 100, (n, p)).astype(float)
        signal = X[:, :4] @ np.array([1.0, 0.5, 0.25, 0.125]) + 5 * rng.standard_normal(n)
        return X, np.digitize(signal, np.quantile(signal, np.arange(1, k) / k))
    path = Path(folder, name, name)
    if path.with_suffix(".npz").exists():
        table = np.load(path.with_suffix(".npz"), allow_pickle=False)
        return table["X"].astype(float), table["y"]
    with gzip.open(path.with_suffix(".csv.gz"), "rt", newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return np.array([row[:-1] for row in rows], float), np.array([row[-1] for row in rows])


def race() -> None:
    head(
        "table", "CART, s", "scikit-learn, s", "ratio", "leaves", "no surrogates", "as large",
        "its leaves", "10 folds / fit", "peak, MiB", "peer's",
    )  # fmt: skip
    for name in SHAPES:
        X, y = read(name)
        ours, peer = OURS, PEER
        plain = CARTClassifier(cp=1e-4, n_folds=0, max_surrogates=0, max_competitors=0)
        folds = CARTClassifier(cp=1e-4, random_state=0)
        large = CARTClassifier(0.0, 4, 2, n_folds=0, criterion="entropy")
        seconds = {}
        for tree in (ours, plain, folds, large, peer):
            repeats = 3 if tree is folds else 7
            seconds[tree] = cpu_time(lambda tree=tree, X=X, y=y: tree.fit(X, y), repeats)
        line(
            f"{name} {X.shape[0]} x {X.shape[1]}", f"{seconds[ours]:.3f}", f"{seconds[peer]:.3f}",
            f"{seconds[ours] / seconds[peer]:.2f}", str(ours.get_n_leaves()),
            f"{seconds[plain] / seconds[peer]:.2f}", f"{seconds[large] / seconds[peer]:.2f}",
            f"{large.get_n_leaves()} / {peer.get_n_leaves()}",
            f"{seconds[folds] / seconds[ours]:.1f}",
            *(f"{ask(__file__, '--peak', who, name):.1f}" for who in ("ours", "theirs")),
        )  # fmt: skip


def wall_time(model: CARTClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """Least wall seconds of three fits."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def threads() -> None:
    head("table", "10 folds by 1 thread, s", "by 2, s", "speed-up")
    for name in SHAPES:
        X, y = read(name)
        one, two = (
            wall_time(CARTClassifier(cp=1e-4, random_state=0, n_jobs=n), X, y) for n in (1, 2)
        )
        line(name, f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}")


def grow(place: str) -> None:
    """Print and draw how the time grows: whole trees with five surrogates."""

    def at(n: int, p: int, depth: int = 30) -> Any:
        ours = CARTClassifier(0.0, 4, 2, depth, n_folds=0, criterion="entropy")
        peer = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=2, max_depth=depth, random_state=0
        )
        return ours.fit, peer.fit, *generated(n, p)

    axes = [
        ("rows (of 10 columns)", [1_000 * 2**k for k in range(8)], lambda n: at(n, 10)),
        ("columns (of 1,000 rows)", [10, 30, 100, 300, 1_000, 3_000], lambda p: at(1_000, p)),
        ("max_depth (20,000 x 10)", [1, 2, 4, 8, 16, 30], lambda d: at(20_000, 10, d)),
    ]
    growth(axes, lambda model: model.get_depth(), Path(place), "CART")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", action="store_true", help="wall time by 1 and 2 threads")
    parser.add_argument("--growth", help="draw to this file how the time grows")
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak:
        who, name = args.peak
        say_peak((OURS if who == "ours" else PEER).fit, *read(name))
    elif args.growth:
        grow(args.growth)
    elif args.threads:
        threads()
    else:
        race()


if __name__ == "__main__":
    main()
