"""Second-order boosting, ours against XGBoost and LightGBM: CPU time, one thread, one run.

python benchmarks/speed/bench_newton.py [--part exact|hist|wide|memory|threads] [--small]
python benchmarks/speed/bench_newton.py --growth [FILE]: time against rows, columns and depth, drawn

Real sets come from the folder PSEPHOS_DATA names and are left out, with a line, where it is unset.
"fit" includes sorting or binning on all sides; "a tree" is the difference between fits of many
rounds and of one, divided by the trees between, so that only growing is left. The peers run with
the same depth, learning rate 0.3, lambda 1 and least hessian 1; LightGBM with 2^depth leaves.
"""

import argparse
import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import lightgbm
import numpy as np
import xgboost
from sklearn.metrics import roc_auc_score

from psephos import NewtonBoostingClassifier

REPEATS = 5
SLOW = ("XGBoost exact", "XGBoost approx")  # run once after a run that warms up


# ---------------------------------------------------------------------- data
def real(name):
    folder = os.environ.get("PSEPHOS_DATA")
    if not folder:
        return None
    path = Path(folder, name, f"{name}.npz")
    if path.exists():
        with np.load(path, allow_pickle=False) as archive:
            return archive["X"].astype(np.float32), np.unique(archive["y"], return_inverse=True)[1]
    with gzip.open(path.with_suffix(".csv.gz"), "rt") as file:
        rows = [row.rstrip().split(",") for row in file][1:]
    X = np.array([row[:-1] for row in rows], dtype=np.float32)
    return X, np.unique([row[-1] for row in rows], return_inverse=True)[1]


def generated(n, p=28, seed=0):
    """Two classes with steps, a product and noise, as of a physics experiment."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).astype(np.float32)
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2
    score += 0.4 * X[:, 4:8].sum(axis=1) + 0.2 * X[:, 8] * X[:, 9] * X[:, 10]
    return X, (score + 1.5 * rng.standard_normal(n) > 0.5).astype(int)


def wide(n=2000, p=5000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)).astype(np.float32)
    return X, (X[:, :10].sum(axis=1) + rng.standard_normal(n) > 0).astype(int)


SETS = {
    "letter": lambda: real("letter"),
    "shuttle": lambda: real("shuttle"),
    "satellite": lambda: real("satellite"),
    "100,000 x 28": lambda: generated(100_000),
    "2,000 x 5,000": wide,
}


# ---------------------------------------------------------------------- who fits
def ours(method, X, y, rounds, depth=6):
    return NewtonBoostingClassifier(method, n_estimators=rounds, max_depth=depth).fit(X, y)


def xgb_settings(method, y, depth):
    k = int(y.max()) + 1
    kind = {"objective": "binary:logistic"}
    if k > 2:
        kind = {"objective": "multi:softprob", "num_class": k}
    return {"tree_method": method, "nthread": 1, "max_depth": depth, **kind}


def xgb(method, X, y, rounds, depth=6):
    data = xgboost.DMatrix(X, y, nthread=1)
    return xgboost.train(xgb_settings(method, y, depth), data, rounds)


def lgb_settings(y, depth):
    k = int(y.max()) + 1
    kind = {"objective": "multiclass", "num_class": k} if k > 2 else {"objective": "binary"}
    return {
        "num_threads": 1, "verbose": -1, "max_depth": depth, "num_leaves": 2**depth,
        "learning_rate": 0.3, "lambda_l2": 1.0, "min_data_in_leaf": 1, "max_bin": 255,
        "min_sum_hessian_in_leaf": 1.0, "feature_pre_filter": False, **kind,
    }  # fmt: skip


def lgb(X, y, rounds, depth=6):
    settings = lgb_settings(y, depth)
    return lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), rounds)


FITS = {
    "exact": lambda *data: ours("exact", *data),
    "XGBoost exact": lambda *data: xgb("exact", *data),
    "approx": lambda *data: ours("approx", *data),
    "XGBoost approx": lambda *data: xgb("approx", *data),
    "hist": lambda *data: ours("hist", *data),
    "XGBoost hist": lambda *data: xgb("hist", *data),
    "LightGBM": lambda *data: lgb(*data),
}


# ---------------------------------------------------------------------- tables
def fit_rows(names, rounds, exact_repeats):
    print(f"\n## Fits of {rounds} rounds, depth 6, CPU s\n")
    head("table", *FITS, "exact: of XGBoost exact", "hist: of XGBoost hist", "of LightGBM")
    for name in names:
        data = SETS[name]()
        if data is None:
            line(name, "left out: PSEPHOS_DATA is unset")
            continue
        seconds = {}
        for who, fit in FITS.items():
            repeats = exact_repeats if who in SLOW else REPEATS
            seconds[who] = cpu_time(lambda fit=fit, data=data: fit(*data, rounds), repeats)
        line(
            name, *(f"{s:.3f}" for s in seconds.values()),
            f"{seconds['XGBoost exact'] / seconds['exact']:.1f} x",
            f"{seconds['XGBoost hist'] / seconds['hist']:.1f} x",
            f"{seconds['LightGBM'] / seconds['hist']:.1f} x",
        )  # fmt: skip


def per_tree(fit, rounds, repeats=REPEATS):
    many, one = (cpu_time(lambda k=k: fit(k), repeats) for k in (rounds + 1, 1))
    return 1e3 * (many - one) / rounds


def tree_rows(n, rounds, depths):
    print(f"\n## A tree on {n:,} x 28, CPU ms; area under the curve on 20,000 other rows\n")
    head("depth", "who", "ms a tree", "ours is", "AUC")
    X, y = generated(n + 20_000)
    new, truth = X[n:], y[n:]
    X, y = X[:n], y[:n]
    matrix = xgboost.QuantileDMatrix(X, y, max_bin=256, nthread=1)
    for depth in depths:
        settings, chosen = xgb_settings("hist", y, depth), lgb_settings(y, depth)
        layouts = {}
        for layout in ("force_row_wise", "force_col_wise"):
            params = {**chosen, layout: True}
            data = lightgbm.Dataset(X, y, params=params).construct()
            layouts[f"LightGBM, {layout[6:9]}"] = (
                lambda k, d=data, c=params: lightgbm.train(c, d, k),
                lambda m: m.predict(new),
            )
        who = {
            "psephos hist": (
                lambda k, d=depth: ours("hist", X, y, k, d),
                lambda m: m.decision_function(new),
            ),
            "XGBoost hist": (
                lambda k, s=settings: xgboost.train(s, matrix, k),
                lambda m: m.predict(xgboost.DMatrix(new)),
            ),
            **layouts,
        }
        base = None
        for name, (fit, answer) in who.items():
            ms = per_tree(fit, rounds)
            base = base or ms
            auc = roc_auc_score(truth, answer(fit(rounds + 1)))
            line(str(depth), name, f"{ms:.2f}", f"{ms / base:.2f} x", f"{auc:.4f}")


def wide_rows(n, p, rounds, repeats):
    print(f"\n## A tree on {n:,} x {p:,}, depth 6, CPU ms\n")
    head("who", "ms a tree", "ours exact is")
    X, y = wide(n, p)
    matrix = xgboost.QuantileDMatrix(X, y, max_bin=256, nthread=1)
    plain = xgboost.DMatrix(X, y, nthread=1)
    params = {**lgb_settings(y, 6), "force_col_wise": True}
    data = lightgbm.Dataset(X, y, params=params).construct()
    who = {
        "psephos exact": (lambda k: ours("exact", X, y, k), rounds),
        "LightGBM": (lambda k: lightgbm.train(params, data, k), rounds),
        "XGBoost hist": (
            lambda k: xgboost.train(xgb_settings("hist", y, 6), matrix, k), rounds,
        ),
        "XGBoost exact": (lambda k: xgboost.train(xgb_settings("exact", y, 6), plain, k), 2),
        "psephos hist": (lambda k: ours("hist", X, y, k), rounds),
    }  # fmt: skip
    base = None
    for name, (fit, more) in who.items():
        ms = per_tree(fit, more, repeats if name != "XGBoost exact" else 1)
        base = base or ms
        line(name, f"{ms:.1f}", f"{ms / base:.1f} x")


def memory_rows(names):
    print("\n## Peak memory above the table's own process, MiB, 5 rounds\n")
    head("table", "its size", *FITS)
    for name in names:
        cells = []
        for who in FITS:
            command = [sys.executable, __file__, "--child", name, who]
            out = subprocess.run(command, capture_output=True, text=True, check=False)
            cells.append(out.stdout.strip() or "-")
        data = SETS[name]()
        line(name, f"{data[0].nbytes / 2**20:.0f}" if data else "-", *cells)


def child(name, who):
    data = SETS[name]()
    if data is None:
        return
    FITS[who](data[0][:200, :50], np.arange(200) % 2, 1)  # code is loaded and compiled
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    FITS[who](*data, 5)
    print(f"{resident('VmHWM') - before:.0f}")


def resident(name):
    """Return a line of the kernel's account of this process, in MiB (Linux)."""
    for row in Path("/proc/self/status").read_text().splitlines():
        if row.startswith(name):
            return int(row.split()[1]) / 1024
    raise SystemExit("this system does not tell how much memory a process takes")


CENTRE = {"rows": 50_000, "columns": 28, "depth": 6}
GROWTH = {
    "rows": (12_500, 25_000, 50_000, 100_000, 200_000),
    "columns": (14, 28, 56, 112),
    "depth": (2, 4, 6, 8, 10),
}


def growth_point(rows, columns, depth, rounds=4):
    """Return CPU ms of a tree: ours on histograms, XGBoost's, ours exact."""
    X, y = generated(rows, columns)
    matrix = xgboost.QuantileDMatrix(X, y, max_bin=256, nthread=1)
    settings = xgb_settings("hist", y, depth)
    fits = (
        lambda k: ours("hist", X, y, k, depth),
        lambda k: xgboost.train(settings, matrix, k),
        lambda k: ours("exact", X, y, k, depth),
    )
    return [per_tree(fit, rounds, 3) for fit in fits]


def growth_rows(file, small):
    print(f"\n## Growth of the time of a tree, CPU ms; otherwise {CENTRE}\n")
    head("what", "how many", "psephos hist", "XGBoost hist", "psephos exact")
    found = {}
    centre = {**CENTRE, "rows": 1000} if small else CENTRE
    for what, values in GROWTH.items():
        for value in values[:2] if small else values:
            point = {**centre, what: value // 10 if small and what == "rows" else value}
            found[what, value] = growth_point(**point)
            line(what, f"{value:,}", *(f"{ms:.2f}" for ms in found[what, value]))
    if file:
        draw_growth(found, file)


def draw_growth(found, file):
    from matplotlib.figure import Figure

    figure = Figure((11, 3.6), layout="constrained")
    for axes, what in zip(figure.subplots(1, len(GROWTH)), GROWTH, strict=True):
        values = [value for name, value in found if name == what]
        for i, who in enumerate(("psephos hist", "XGBoost hist", "psephos exact")):
            axes.plot(values, [found[what, v][i] for v in values], "o-", label=who)
        axes.set(xlabel=what, ylabel="ms a tree", yscale="log")
        if what != "depth":
            axes.set_xscale("log")
    axes.legend()
    figure.savefig(file)


THREADS = (
    ("100,000 x 28, hist, depth 6", "hist", lambda: generated(100_000), 6, 30),
    ("100,000 x 28, hist, depth 10", "hist", lambda: generated(100_000), 10, 15),
    ("letter, hist, depth 6", "hist", lambda: real("letter"), 6, 5),
    ("2,000 x 5,000, exact, depth 6", "exact", wide, 6, 6),
    ("100,000 x 28, exact, depth 6", "exact", lambda: generated(100_000), 6, 3),
)


def thread_rows(small):
    print("\n## Two threads: wall s of a fit, best of some, and whether its bytes are the same\n")
    head("table", "one", "two", "speed-up", "same")
    for name, method, data, depth, rounds in THREADS:
        table = data()
        if table is None:
            line(name, "left out: PSEPHOS_DATA is unset")
            continue
        X, y = (part[:500] for part in table) if small else table
        seconds, scores = {}, []
        for jobs in (1, 2):
            model = NewtonBoostingClassifier(
                method, n_estimators=rounds, max_depth=depth, n_jobs=jobs
            )
            seconds[jobs] = np.inf
            for _ in range(2 if small else 4):  # the first may compile
                start = time.perf_counter()
                model.fit(X, y)
                seconds[jobs] = min(seconds[jobs], time.perf_counter() - start)
            scores.append(model.decision_function(X).tobytes())
        line(
            name, f"{seconds[1]:.2f}", f"{seconds[2]:.2f}", f"{seconds[1] / seconds[2]:.2f} x",
            "yes" if scores[0] == scores[1] else "NO",
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=["exact", "hist", "wide", "memory", "threads"])
    parser.add_argument("--sets", help="of the parts 'exact' and 'memory', divided by semicolons")
    parser.add_argument("--growth", nargs="?", const="", metavar="FILE", help="and a drawing")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(*asked.child)
        return
    part, small = asked.part, asked.small
    if asked.growth is not None:
        growth_rows(asked.growth, small)
        return
    if part in (None, "exact"):
        names = asked.sets.split(";") if asked.sets else list(SETS)[:4]
        names = ["satellite"] if small else names
        fit_rows(names, 2 if small else 10, 1)
    if part in (None, "hist"):
        tree_rows(5_000 if small else 100_000, 4 if small else 20, (3,) if small else (6, 10))
    if part in (None, "wide"):
        wide_rows(*((200, 300, 2, 1) if small else (2000, 5000, 4, 3)))
    if part in (None, "memory"):
        names = asked.sets.split(";") if asked.sets else list(SETS)
        memory_rows(["satellite"] if small else names)
    if part in (None, "threads"):
        thread_rows(small)


if __name__ == "__main__":
    main()
