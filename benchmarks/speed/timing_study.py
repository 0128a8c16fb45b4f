"""Seed paper's two timing studies, redrawn: fit and predict against the number of columns.

    python benchmarks/speed/timing_study.py [--rows 500 2000] [--columns 10 100 1000 10000 50000]
        [--studies 10 sizes] [--budget 60] [--out FILE.csv] [--plot FILE.png]

X is uniform and y random, as in the supplement (Bauvin et al., UAI 2023, E.1 and F.1). Study
'10': ten voters everywhere, a tree of depth 10. Study 'sizes': the sizes the methods had on real
data there: SamBA 7, forest 127, AdaBoost 146 (XGBoost too: the supplement states none for it), a
tree of depth int(log2(17)). CPU seconds of one thread; cases to predict are as many as training
rows, new. Each method is called once on a small table first. A call under a second is repeated
and its median given. A fit and prediction that would take longer than the budget is not run, and
the table says how long the fit should take, by proportion to the number of columns (its root for
the forest, which draws so many a node) from the widest table measured.
"""

# ruff: noqa: E402 (the thread settings must come before the libraries that read them)

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # before anything that reads them is imported

import argparse
import csv
import math
import platform
import statistics
import sys
import time
from importlib.metadata import version

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from psephos import AdaBoostClassifier, SamBAClassifier

PEER = "scikit-learn AdaBoost"
SIZES = {
    "10": {"samba": 10, "forest": 10, "adaboost": 10, "xgboost": 10, "depth": 10},
    "sizes": {
        "samba": 7,
        "forest": 127,
        "adaboost": 146,
        "xgboost": 146,
        "depth": int(math.log2(17)),
    },
}
REPEATS = 5
GROWTH = {"random forest": 0.5}  # seconds ~ columns to this power, 1 for the others


def methods(study):
    """Return every method's constructor, by name; XGBoost if it is installed."""
    size = SIZES[study]
    found = {
        "SamBA": lambda: SamBAClassifier(n_estimators=size["samba"]),
        "SamBA, sample": lambda: SamBAClassifier(n_estimators=size["samba"], update="sample"),
        "AdaBoost, error": lambda: AdaBoostClassifier(
            n_estimators=size["adaboost"], criterion="error"
        ),
        "AdaBoost, gini": lambda: AdaBoostClassifier(n_estimators=size["adaboost"]),
        PEER: lambda: SklearnAdaBoost(n_estimators=size["adaboost"], random_state=0),
        "random forest": lambda: RandomForestClassifier(size["forest"], random_state=0, n_jobs=1),
        "k-NN": lambda: KNeighborsClassifier(n_jobs=1),
        "SVM-RBF": SVC,
        "decision tree": lambda: DecisionTreeClassifier(max_depth=size["depth"], random_state=0),
    }
    try:
        from xgboost import XGBClassifier
    except ImportError:
        return found
    found["XGBoost"] = lambda: XGBClassifier(n_estimators=size["xgboost"], n_jobs=1)
    return found


def timed(call):
    """Return the median CPU seconds of a call: several calls if one takes less than a second."""
    seconds = []
    while True:
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
        if len(seconds) >= REPEATS or sum(seconds) >= 1.0:
            return statistics.median(seconds)


def measure(make, X, y, Z):
    """Return CPU seconds of fit and predict, and how many voters the fit kept."""
    models = []

    def fit():
        models[:] = [make().fit(X, y)]

    fitting = timed(fit)
    model = models[0]
    vote = getattr(model, "vote_", None)
    kept = vote.n_voters if vote is not None else len(getattr(model, "estimators_", ()))
    return fitting, timed(lambda: model.predict(Z)), kept


def forecast(name, seen, p):
    """Return the seconds of fit and predict on p columns, from the widest table measured.

    Tables under 1,000 columns say nothing: there a call's overhead is what is measured.
    """
    widest = max(seen)
    if widest < 1000:
        return 0.0, 0.0
    factor = (p / widest) ** GROWTH.get(name, 1.0)
    return seen[widest][0] * factor, seen[widest][1] * factor


def study_rows(study, rows, columns, budget, rng):
    """Yield one result a cell: its seconds, or the reason it was not run."""
    makers = methods(study)
    small = rng.uniform(size=(60, 20)), rng.integers(0, 2, 60)
    for make in makers.values():  # one warm-up each: compilation and lazy imports
        make().fit(*small).predict(small[0])
    for n in rows:
        seen = {name: {0: (0.0, 0.0)} for name in makers}
        for p in columns:
            X, Z = rng.uniform(size=(n, p)), rng.uniform(size=(n, p))
            y = rng.integers(0, 2, n)
            for name, make in makers.items():
                cell = {"study": study, "rows": n, "columns": p, "method": name}
                fit, predict = forecast(name, seen[name], p)
                if fit + predict > budget:
                    yield cell | {"fit_expected": fit, "note": f"not run, about {fit:.0f} s"}
                    continue
                fit, predict, kept = measure(make, X, y, Z)
                seen[name][p] = fit, predict
                yield cell | {"fit_s": fit, "predict_s": predict, "voters": kept}
                print(f"{study} {n} x {p} {name}: {fit:.4f} {predict:.4f}", file=sys.stderr)


def text(cell, key):
    """Return a cell of the table, in seconds."""
    if "note" in cell:
        return cell["note"] if key == "fit_s" else "–"
    return f"{cell[key]:.3g}"


def show(results, key, title):
    """Print methods by size of table, in markdown."""
    sizes = sorted({(r["rows"], r["columns"]) for r in results})
    cells = {(r["method"], r["rows"], r["columns"]): r for r in results}
    print(f"\n### {title}\n")
    print("| method | " + " | ".join(f"{n} × {p}" for n, p in sizes) + " |")
    print("|---|" + "---:|" * len(sizes))
    for name in dict.fromkeys(r["method"] for r in results):
        print(f"| {name} | " + " | ".join(text(cells[name, *s], key) for s in sizes) + " |")


def show_ratios(results, title):
    """Print how often scikit-learn's AdaBoost fit holds ours, and what the target misses."""
    peer = {(r["rows"], r["columns"]): r for r in results if r["method"] == PEER}
    print(f"\n### {title}: fit of {PEER} divided by ours (≈: theirs by proportion)\n")
    print("| ours | " + " | ".join(f"{n} × {p}" for n, p in sorted(peer)) + " |")
    print("|---|" + "---:|" * len(peer))
    missed = []
    for name in ("SamBA", "SamBA, sample", "AdaBoost, error", "AdaBoost, gini"):
        mine = {(r["rows"], r["columns"]): r for r in results if r["method"] == name}
        line = []
        for size in sorted(peer):
            if "note" in mine[size]:
                line.append("not run")
                continue
            theirs = peer[size].get("fit_s", peer[size].get("fit_expected"))
            ratio = theirs / mine[size]["fit_s"]
            line.append(("≈ " if "note" in peer[size] else "") + f"{ratio:.3g}")
            target = 20.0 if size[1] >= 10_000 else 1.0
            if name.startswith("SamBA") and ratio < target:
                missed.append(f"{name} at {size[0]} × {size[1]}: {ratio:.2g} (target {target:g})")
        print(f"| {name} | " + " | ".join(line) + " |")
    print("\nMisses of SamBA's target (20 at 10,000 columns or more, 1 below): ", end="")
    print("; ".join(missed) if missed else "none.")


def plot(results, path):
    """Draw fit and predict seconds against columns, log-log: a row a study, a column a size."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = sorted({(r["study"], r["rows"]) for r in results})
    fig, axes = plt.subplots(
        2, len(panels), figsize=(4 * len(panels), 7), sharex=True, sharey="row", squeeze=False,
        layout="constrained",
    )  # fmt: skip
    names = list(dict.fromkeys(r["method"] for r in results))
    for row, key in enumerate(("fit_s", "predict_s")):
        for ax, (study, n) in zip(axes[row], panels, strict=True):
            for i, name in enumerate(names):
                ran = [
                    r for r in results if (r["study"], r["rows"], r["method"]) == (study, n, name)
                ]
                ran = [(r["columns"], r[key]) for r in ran if key in r]
                ours = name.startswith("SamBA") or name.startswith("AdaBoost")
                style = {"marker": "o", "ms": 4, "lw": 2.2} if ours else {"marker": ".", "lw": 1.2}
                ax.loglog(*zip(*ran, strict=True), color=f"C{i}", label=name, **style)
            ax.set_title(f"{n} rows, study '{study}'" if row == 0 else "", fontsize=10)
            ax.grid(True, alpha=0.3)
        axes[row][0].set_ylabel(f"{'fit' if row == 0 else 'predict'}, CPU seconds")
    for ax in axes[1]:
        ax.set_xlabel("columns")
    fig.legend(*axes[0][0].get_legend_handles_labels(), loc="outside right upper", fontsize=9)
    fig.savefig(path, dpi=150)


def machine():
    """Return what the numbers were measured with."""
    libraries = ["numpy", "numba", "scikit-learn"]
    names = ", ".join(f"{name} {version(name)}" for name in libraries)
    return f"Python {platform.python_version()}, {names}, {platform.machine()}, one thread"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--columns", type=int, nargs="+", default=[10, 100, 1000, 10_000, 50_000])
    parser.add_argument("--studies", nargs="+", choices=sorted(SIZES), default=["10", "sizes"])
    parser.add_argument("--budget", type=float, default=60.0, help="CPU seconds a cell may take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", help="csv file of the results")
    parser.add_argument("--plot", help="picture of the results (needs matplotlib)")
    args = parser.parse_args()
    print(machine())
    everything = []
    for study in args.studies:
        rng = np.random.default_rng(args.seed)
        cells = study_rows(study, sorted(args.rows), sorted(args.columns), args.budget, rng)
        results = list(cells)
        everything += results
        words = "ten voters each" if study == "10" else "7, 127, 146 voters"
        show(results, "fit_s", f"Fit, CPU seconds ({words})")
        show(results, "predict_s", f"Predict as many new rows, CPU seconds ({words})")
        show_ratios(results, words)
        sys.stdout.flush()
    if args.out:
        names = ["study", "rows", "columns", "method", "fit_s", "predict_s", "voters", "note"]
        with open(args.out, "w", newline="") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(everything)
    if args.plot:
        plot(everything, args.plot)


if __name__ == "__main__":
    main()
