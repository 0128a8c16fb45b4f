"""Fits of every family on fat tables: 100 and 1,000 rows, 1,000 to 100,000 columns.

    python benchmarks/speed/bench_fat.py [--draw FILE.svg] [--only NAME ...] [--most CELLS]

CPU seconds of one thread, the median of three (of one, where a fit of the peer takes over 20 s),
ours and the peer's in turn; two classes, columns drawn from a normal distribution, twenty of them
moved by half a standard deviation. Trees stop at the peer's least leaf. Above 1: ours is faster.
"""

from _timing import head, line  # first: it asks NumPy for one thread

# isort: split
import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.ensemble
import sklearn.tree

import psephos

ROWS, COLUMNS = (100, 1_000), (1_000, 10_000, 100_000)
PATIENCE = 20.0  # CPU seconds of a fit above which it is not repeated
Maker = Callable[[], Any]


def second_order(**more: Any) -> Maker:
    """Return a maker of XGBoost's classifier."""
    import xgboost

    settings = {"n_estimators": 5, "max_depth": 3, "n_jobs": 1, **more}
    return lambda: xgboost.XGBClassifier(**settings)


def stumps() -> Any:
    """Return scikit-learn's AdaBoost."""
    return sklearn.ensemble.AdaBoostClassifier(n_estimators=10)


FAMILIES: dict[str, tuple[Maker, Maker]] = {
    "random forest, 100 trees": (
        lambda: psephos.RandomForestClassifier(100, random_state=0),
        lambda: sklearn.ensemble.RandomForestClassifier(100, random_state=0),
    ),
    "extra trees, 100": (
        lambda: psephos.ExtraTreesClassifier(100, random_state=0),
        lambda: sklearn.ensemble.ExtraTreesClassifier(100, random_state=0),
    ),
    "CART": (
        lambda: psephos.CARTClassifier(min_samples_leaf=2, n_folds=0),
        lambda: sklearn.tree.DecisionTreeClassifier(min_samples_leaf=2, random_state=0),
    ),
    "CART without surrogates": (
        lambda: psephos.CARTClassifier(min_samples_leaf=2, n_folds=0, max_surrogates=0),
        lambda: sklearn.tree.DecisionTreeClassifier(min_samples_leaf=2, random_state=0),
    ),
    "C4.5": (
        lambda: psephos.C45Classifier(min_samples_leaf=2),
        lambda: sklearn.tree.DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=2, random_state=0
        ),
    ),
    "AdaBoost, 10 stumps": (lambda: psephos.AdaBoostClassifier(n_estimators=10), stumps),
    "SamBA, 10 stumps (peer: AdaBoost)": (
        lambda: psephos.SamBAClassifier(n_estimators=10, random_state=0), stumps,
    ),
    "gradient boosting, 5 trees": (
        lambda: psephos.GradientBoostingClassifier(n_estimators=5, random_state=0),
        lambda: sklearn.ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0),
    ),
    "second-order, exact, 5 trees": (
        lambda: psephos.NewtonBoostingClassifier(n_estimators=5, max_depth=3, tree_method="exact"),
        second_order(tree_method="exact"),
    ),
    "second-order, histograms, 5 trees": (
        lambda: psephos.NewtonBoostingClassifier(n_estimators=5, max_depth=3, tree_method="hist"),
        second_order(tree_method="hist"),
    ),
}  # fmt: skip


def table(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = np.arange(n) % 2
    X[y == 1, :20] += 0.5
    return X, y


def seconds(make: Maker, X: np.ndarray, y: np.ndarray) -> float:
    """Return the CPU seconds of one fit."""
    model = make()
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def pair(ours: Maker, peer: Maker, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return median CPU seconds of our fits and of the peer's, measured in turn."""
    found = [(seconds(ours, X, y), seconds(peer, X, y))]
    while len(found) < 3 and max(found[0]) < PATIENCE:
        found.append((seconds(ours, X, y), seconds(peer, X, y)))
    mine, theirs = np.median(found, axis=0).tolist()
    return mine, theirs


def draw(found: dict[str, list[tuple[int, int, float, float]]], place: str) -> None:
    """Draw seconds by columns, a part for each family."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = 3
    figure, axes = pyplot.subplots(
        -(-len(found) // across), across, figsize=(11, 9), sharex=True, squeeze=False
    )
    for ax, (name, rows) in zip(axes.flat, found.items(), strict=False):
        for n, mark in zip(ROWS, "os", strict=True):
            points = np.array([(p, a, b) for m, p, a, b in rows if m == n]).T
            if points.size:
                ax.loglog(points[0], points[1], f"{mark}-", label=f"psephos, {n:,} rows")
                ax.loglog(points[0], points[2], f"{mark}--", label=f"peer, {n:,} rows")
        ax.set_title(name, fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("columns")
    for ax in axes[:, 0]:
        ax.set_ylabel("CPU s")
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(place)
    print(f"\ndrawn to {place}")


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", metavar="FILE")
    parser.add_argument("--only", nargs="*", default=list(FAMILIES))
    parser.add_argument("--most", type=int, default=10**8, help="cells of a table")
    told = parser.parse_args()
    found: dict[str, list[tuple[int, int, float, float]]] = {}
    few = table(60, 5)
    head("family", "rows", "columns", "ours, s", "peer, s", "ratio")
    for name in told.only:
        ours, peer = FAMILIES[name]
        for make in (ours, peer):
            make().fit(*few)  # kernels are compiled
        for n in ROWS:
            for p in COLUMNS:
                if n * p > told.most:
                    continue
                X, y = table(n, p)
                mine, theirs = pair(ours, peer, X, y)
                found.setdefault(name, []).append((n, p, mine, theirs))
                ratio = f"{theirs / mine:.1f}"
                line(name, f"{n:,}", f"{p:,}", f"{mine:.3f}", f"{theirs:.3f}", ratio)
    if told.draw:
        draw(found, told.draw)


if __name__ == "__main__":
    main()
