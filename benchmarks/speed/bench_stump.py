"""One round of stump search, ours against the peers: CPU time, one thread, the same run.

python benchmarks/speed/bench_stump.py [--small]

A round is one new set of weights; tables are sorted or binned before. scikit-learn has no
prepared form, so its round is a fit of a tree of depth 1. XGBoost's and LightGBM's are the mean of
ten more boosting rounds. The last columns name the physical limit: each entry of the presorted
table is 32 bits, read once a round, against the speed at which this machine's memory is read.
"""

import argparse

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np

from psephos.trees.stump import StumpSearch

SHAPES = [(500, 10), (500, 1_000), (640, 12_000), (500, 50_000), (2_000, 10_000)]


def memory_speed() -> float:
    """Bytes a second of one thread summing a gigabyte."""
    block = np.ones(2**27)
    return block.nbytes / cpu_time(lambda: block.sum())


def peer_scikit(X, y, w, repeats) -> float:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    return cpu_time(lambda: tree.fit(X, y, w, check_input=False), repeats)


def peer_xgboost(X, y, w, repeats) -> float:
    try:
        import xgboost
    except ImportError:
        return float("nan")
    data = xgboost.DMatrix(X, y, weight=w, nthread=1)
    setting = {
        "objective": "binary:logistic", "tree_method": "exact", "max_depth": 1, "nthread": 1,
    }  # fmt: skip

    def rounds(n: int) -> float:
        return cpu_time(lambda: xgboost.train(setting, data, n), repeats)

    return (rounds(11) - rounds(1)) / 10


def peer_lightgbm(X, y, w, repeats) -> float:
    try:
        import lightgbm
    except ImportError:
        return float("nan")
    setting = {
        "objective": "binary", "num_leaves": 2, "max_depth": 1, "num_threads": 1, "verbose": -1,
        "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "force_col_wise": True,
        "feature_pre_filter": False, "max_bin": 255,
    }  # fmt: skip
    data = lightgbm.Dataset(X, y, weight=w, params=setting).construct()

    def rounds(n: int) -> float:
        return cpu_time(lambda: lightgbm.train(setting, data, n), repeats)

    return (rounds(11) - rounds(1)) / 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="only the two smallest tables")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    speed = memory_speed()
    print(f"memory is read at {speed / 1e9:.0f} GB/s by one thread\n")
    head(
        "table", "sort, ns/entry", "error, ms", "gini, ms", "error / scikit-learn",
        "gini / scikit-learn", "error / XGBoost exact", "error / LightGBM",
        "error, ns/entry", "gini, ns/entry", "limit, ns/entry",
    )  # fmt: skip
    for n, p in SHAPES[: 2 if options.small else None]:
        X = rng.standard_normal((n, p), dtype=np.float32)
        y = rng.integers(0, 2, n)
        w = rng.random(n)
        w /= w.sum()
        repeats = options.repeats
        sort = cpu_time(lambda X=X, y=y: StumpSearch(X, y, 2), repeats)
        search = StumpSearch(X, y, 2)
        many = max(3 * repeats, min(200, 10**7 // (n * p)))
        error = cpu_time(lambda s=search, w=w: s.best(w, "error"), many)
        gini = cpu_time(lambda s=search, w=w: s.best(w, "gini"), many)
        scikit = peer_scikit(X, y, w, repeats)
        exact = peer_xgboost(X, y, w, repeats)
        light = peer_lightgbm(X, y, w, repeats)
        each = 1e9 / (n * p)
        line(
            f"{n} x {p}", f"{sort * each:.1f}", f"{error * 1e3:.3f}", f"{gini * 1e3:.3f}",
            f"{scikit / error:.0f}x", f"{scikit / gini:.0f}x", f"{exact / error:.0f}x",
            f"{light / error:.1f}x", f"{error * each:.3f}", f"{gini * each:.3f}",
            f"{4e9 / speed:.3f}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
