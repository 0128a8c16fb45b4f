"""Which defaults should SamBA have? A grid on four real sets, none of them used elsewhere to judge.

    PSEPHOS_DATA=... python benchmarks/quality/samba_defaults.py [--jobs 2] [--out FILE]

Stratified (grouped where subjects repeat) 5-fold cross-validation; balanced accuracy, columns
read and log-loss, averaged over folds, then over sets. Every fit happens inside the folds.
"""

import argparse
import csv
import itertools
import sys
from collections import defaultdict

import numpy as np
from joblib import Parallel, delayed
from realdata import load
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from psephos import AdaBoostClassifier, SamBAClassifier

SETS = ["breast_gravier", "gut_colorectal", "otu_lean_obese", "meterA"]
GRID = {
    "n_estimators": [5, 10, 20, 40],
    "a": [1e-10, 0.01, 0.1, 0.3, 1.0],
    "b": [1.0, 2.0, 4.0, 6.0],
    "column_scale": ["std", None],
    "criterion": ["error", "gini"],
    "update": ["sample", "vote"],
}
REFERENCE = {  # the authors' program, as far as its parameters go
    "n_estimators": 2, "a": 0.1, "b": 1.0, "column_scale": None, "criterion": "gini",
    "update": "vote", "leave_one_out": False, "distance_scale": "sum",
}  # fmt: skip


def settings():
    yield "reference", SamBAClassifier, REFERENCE
    yield "reference, 20 voters", SamBAClassifier, {**REFERENCE, "n_estimators": 20}
    for n in (20, 50):
        yield f"AdaBoost {n}", AdaBoostClassifier, {"n_estimators": n}
    for values in itertools.product(*GRID.values()):
        yield "grid", SamBAClassifier, dict(zip(GRID, values, strict=True))


def folds(name, repeats):
    X, y, groups, _ = load(name)
    for r in range(repeats):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        for train, test in kind(5, shuffle=True, random_state=r).split(X, y, groups):
            yield X[train], y[train], X[test], y[test]


def study(name, repeats):
    rows = []
    for fold, (X, y, Z, t) in enumerate(folds(name, repeats)):
        for label, Model, params in settings():
            model = Model(**params).fit(X, y)
            p = model.predict_proba(Z)
            rows.append(
                {
                    "set": name, "fold": fold, "label": label, **params,
                    "balanced_accuracy": balanced_accuracy_score(t, model.predict(Z)),
                    "log_loss": log_loss(t, np.clip(p, 1e-3, 1 - 1e-3), labels=model.classes_),
                    "columns": model.n_features_used_,
                }
            )  # fmt: skip
    return rows


def mean_over_sets(rows, keys):
    cells = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[tuple(str(row.get(k, "")) for k in keys)][row["set"]].append(
            (row["balanced_accuracy"], row["columns"], row["log_loss"])
        )
    table = []
    for key, by_set in cells.items():
        each = {name: np.mean(v, axis=0) for name, v in by_set.items()}
        table.append((key, np.mean(list(each.values()), axis=0), each))
    return sorted(table, key=lambda line: -line[1][0])


def show(title, table, keys, limit=None):
    print(f"\n## {title}\n")
    print("| " + " | ".join([*keys, "bal. acc.", "columns", "log-loss", *SETS]) + " |")
    print("|" + "---|" * (len(keys) + 3 + len(SETS)))
    for key, mean, each in table[:limit]:
        per_set = [f"{each[name][0]:.3f}" for name in SETS]
        cells = [*key, f"{mean[0]:.4f}", f"{mean[1]:.1f}", f"{mean[2]:.3f}", *per_set]
        print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out")
    args = parser.parse_args()
    found = Parallel(n_jobs=args.jobs)(delayed(study)(name, args.repeats) for name in SETS)
    rows = list(itertools.chain.from_iterable(found))
    if args.out:
        with open(args.out, "w", newline="") as file:
            names = sorted({k for row in rows for k in row})
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
    grid = [row for row in rows if row["label"] == "grid"]
    for key in GRID:
        show(f"Averaged over everything but {key}", mean_over_sets(grid, [key]), [key])
    show("Best 15 settings", mean_over_sets(grid, list(GRID)), list(GRID), 15)
    others = [row for row in rows if row["label"] != "grid"]
    table = mean_over_sets(others, ["label"])
    show("The authors' program's settings, and AdaBoost", table, ["label"])
    default = {k: v for k, v in SamBAClassifier().get_params().items() if k in GRID}
    mine = [row for row in grid if all(row[k] == v for k, v in default.items())]
    show("The constructor's defaults", mean_over_sets(mine, list(GRID)), list(GRID))


if __name__ == "__main__":
    sys.exit(main())
