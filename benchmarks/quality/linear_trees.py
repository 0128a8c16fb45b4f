"""Linear trees beside Weka's M5P and LMT, CART, ridge and logistic regression.

    PSEPHOS_DATA=... python benchmarks/quality/linear_trees.py OUT.jsonl --weka weka.jar
    PSEPHOS_DATA=... python benchmarks/quality/linear_trees.py OUT.jsonl --sets servo,glass
    python benchmarks/quality/linear_trees.py OUT.jsonl --table

Eight sets: four of numbers (root mean squared error, in standard deviations of the set's target)
and four of classes (error rate), the same five folds for all. A line of JSON is appended for each
set, fold and model, with its error, leaves and the CPU seconds of the fit (of Weka the seconds that
it prints itself); what is there is not fitted again. `--table` prints the means over the folds with
their standard errors, and how the linear tree differs from Weka's tree fold by fold, with the
standard error of the differences. The ballots of every linear tree are checked on its test rows by
`psephos.testing.assert_ballots_are_true`.

Weka is Debian's 3.6.14 with its default settings: `apt-get install weka`, or its package's jar.
CART is psephos's with the rule of one standard error; ridge and logistic regression are
scikit-learn's, cross-validated, on standardised columns with means for gaps and 0/1 columns for
categories. `smallest` is the linear tree by the rule of one standard error.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from psephos import CARTClassifier, CARTRegressor, LinearTreeClassifier, LinearTreeRegressor
from psephos.testing import assert_ballots_are_true

NUMBERS = ("servo", "auto_mpg", "bike_day", "diabetes")
SETS = (*NUMBERS, "hepatitis", "pima", "glass", "vehicle")
WEKA = {0: ("weka.classifiers.trees.M5P", "Number of Rules"), 1: (
    "weka.classifiers.trees.LMT", "Number of Leaves")}  # fmt: skip


def load(name):
    """Return X (codes in categories), y (numbers, or codes of classes), levels of categories."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return X, y, {}
    place = Path(os.environ["PSEPHOS_DATA"]) / name
    schema = place / "schema.json"
    if not schema.exists():
        with np.load(place / f"{name}.npz", allow_pickle=False) as held:
            return held["X"].astype(float), held["y"], {}
    features = json.loads(schema.read_text())["features"]
    with (place / f"{name}.csv").open(newline="") as file:
        _, *rows = csv.reader(file)
    levels = {j: f["categories"] for j, f in enumerate(features) if f["type"] == "nominal"}
    X = np.full((len(rows), len(features)), np.nan)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row[:-1]):
            if cell not in ("", "?"):
                X[i, j] = levels[j].index(cell) if j in levels else float(cell)
    answers = [row[-1] for row in rows]
    if name in NUMBERS:
        return X, np.array(answers, dtype=float), levels
    return X, np.unique(answers, return_inverse=True)[1], levels


def folds_of(X, y, numbers):
    """Return the five folds."""
    splitter = (KFold if numbers else StratifiedKFold)(5, shuffle=True, random_state=0)
    return list(splitter.split(X, y))


def linear(numbers, levels, p):
    """Return ridge or logistic regression with its preparation."""
    coded = [j for j in range(p) if j in levels]
    plain = [j for j in range(p) if j not in levels]
    codes = OneHotEncoder(handle_unknown="ignore", drop="if_binary")
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), plain),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), codes), coded),
    )
    if numbers:
        return make_pipeline(prepare, RidgeCV(np.logspace(-2, 3, 16)))
    return make_pipeline(prepare, LogisticRegressionCV(
        Cs=np.logspace(-3, 2, 8), l1_ratios=(0.0,), use_legacy_attributes=False,
        scoring="neg_log_loss", max_iter=2000,
    ))  # fmt: skip


def models(numbers, levels, p):
    """Return the models by name; the linear tree is called that, whatever it predicts."""
    tree = LinearTreeRegressor if numbers else LinearTreeClassifier
    cart = CARTRegressor if numbers else CARTClassifier
    known = {"categorical_features": sorted(levels), "random_state": 0}
    return {
        "linear tree": tree(**known),
        "smallest": tree(one_standard_error=True, **known),
        "CART": cart(cp=1e-4, one_standard_error=True, **known),
        "ridge" if numbers else "logistic": linear(numbers, levels, p),
    }


def error_of(y, answers, scale):
    """Return the error rate, or the root mean squared error in units of `scale`."""
    if scale is None:
        return float((answers != y).mean())
    return float(np.sqrt(np.mean((answers - y) ** 2)) / scale)


def fitted(model, X, y, train, test, scale):
    """Return error, leaves and seconds of a model on a fold."""
    start = time.process_time()
    model.fit(X[train], y[train])
    seconds = time.process_time() - start
    if hasattr(model, "explain") and not hasattr(model, "cptable_"):
        ballots = model.explain(X[test])
        assert_ballots_are_true(ballots, ballots.X)
    leaves = model.tree_.n_leaves if hasattr(model, "tree_") else 1
    return error_of(y[test], model.predict(X[test]), scale), leaves, seconds


# ---------------------------------------------------------------------- Weka
def write_arff(path, X, y, levels, numbers):
    """Write rows as Weka reads them; categories are called by their codes."""
    lines = ["@relation t"]
    for j in range(X.shape[1]):
        kind = (
            f"{{{','.join(f'c{k}' for k in range(len(levels[j])))}}}" if j in levels else "numeric"
        )
        lines.append(f"@attribute x{j} {kind}")
    classes = ",".join(f"k{k}" for k in range(int(max(y)) + 1)) if not numbers else ""
    lines += ["@attribute y " + ("numeric" if numbers else f"{{{classes}}}"), "@data"]
    for row, answer in zip(X, y, strict=True):
        cells = ["?" if np.isnan(v) else f"c{int(v)}" if j in levels else repr(float(v))
                 for j, v in enumerate(row)]  # fmt: skip
        lines.append(",".join([*cells, repr(float(answer)) if numbers else f"k{answer}"]))
    path.write_text("\n".join(lines) + "\n")


def by_weka(jar, X, y, levels, train, test, scale):
    """Return error, leaves and seconds of M5P or LMT on a fold."""
    numbers = scale is not None
    kind, size = WEKA[int(not numbers)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{part}.arff" for part in ("train", "test")]
        if not numbers:  # the same classes in both headers: the last one is in each fold
            assert max(y[train]) == max(y[test])
        for path, rows in zip(paths, (train, test), strict=True):
            write_arff(path, X[rows], y[rows], levels, numbers)
        command = ["java", "-Djava.awt.headless=true", "-cp", jar, kind]
        done = subprocess.run([*command, "-t", str(paths[0]), "-T", str(paths[1])],
                              capture_output=True, text=True, check=True)  # fmt: skip
    after = done.stdout.split("=== Error on test data ===")[1]
    wanted = r"Root mean squared error +([\d.]+)" if numbers else (
        r"Correctly Classified Instances +(\d+)")  # fmt: skip
    found = float(re.search(wanted, after)[1])
    error = found / scale if numbers else 1 - found / len(test)
    leaves = int(re.search(rf"{size}\s*:\s*(\d+)", done.stdout)[1])
    seconds = float(re.search(r"Time taken to build model: ([\d.]+)", done.stdout)[1])
    return error, leaves, seconds


# ---------------------------------------------------------------------- the study
def run(out, names, jar):
    """Fit what is not in `out` yet."""
    done = set()
    if out.exists():
        done = {tuple(json.loads(line)[:3]) for line in out.read_text().splitlines()}
    for name in names:
        X, y, levels = load(name)
        numbers = name in NUMBERS
        scale = float(y.std()) if numbers else None
        for fold, (train, test) in enumerate(folds_of(X, y, numbers)):
            each = models(numbers, levels, X.shape[1])
            if jar:
                each["M5P" if numbers else "LMT"] = None
            for called, model in each.items():
                if (name, fold, called) in done:
                    continue
                found = (
                    by_weka(jar, X, y, levels, train, test, scale) if model is None
                    else fitted(model, X, y, train, test, scale)
                )  # fmt: skip
                with out.open("a") as file:
                    file.write(json.dumps([name, fold, called, *found]) + "\n")


def table(out):
    """Print a row a set: errors with standard errors, leaves, seconds."""
    held = defaultdict(dict)
    for line in out.read_text().splitlines():
        name, fold, called, *found = json.loads(line)
        held[name, called][fold] = found
    columns = ("linear tree", "smallest", "Weka", "CART", "ridge / logistic")
    print("| set | " + " | ".join(columns) + " | less Weka |")
    print("|---|" + "---|" * (len(columns) + 1))
    for name in SETS:
        numbers, cells, errors = name in NUMBERS, [], {}
        for column, pair in zip(columns, (*((c,) * 2 for c in columns[:2]), ("M5P", "LMT"),
                                ("CART",) * 2, ("ridge", "logistic")), strict=True):  # fmt: skip
            own = held.get((name, pair[0] if numbers else pair[1]))
            if not own:
                cells.append("–")
                continue
            each = np.array([own[f] for f in sorted(own)])
            errors[column] = {f: own[f][0] for f in own}
            se = each[:, 0].std(ddof=1) / np.sqrt(len(each))
            size = f"{each[:, 1].mean():.1f} leaves, " if column != columns[-1] else ""
            cells.append(f"{each[:, 0].mean():.3f} ± {se:.3f} ({size}{each[:, 2].mean():.1f} s)")
        if "Weka" in errors and "linear tree" in errors:
            both = sorted(errors["Weka"].keys() & errors["linear tree"].keys())
            gap = np.array([errors["linear tree"][f] - errors["Weka"][f] for f in both])
            cells.append(f"{gap.mean():+.3f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.3f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    """Run the sets that are named, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--weka", default="", help="the jar; without it Weka is left out")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if not given.table:
        run(given.out, given.sets.split(","), given.weka)
    table(given.out)


if __name__ == "__main__":
    main()
