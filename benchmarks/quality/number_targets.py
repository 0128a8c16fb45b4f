"""Tables whose target is a number, from csv to page, every figure beside scikit-learn's.

For each set of PSEPHOS_DATA that is named, the command compares some models and writes a folder;
then R², MAE and RMSE are computed from predictions.csv, of each fold and of all rows together, and
set against results.csv and pooled.csv. psephos is not imported here. A line a set::

    set, rows x columns, seconds, figures, greatest difference from scikit-learn,
    best model, R² of all rows: best / ridge / mean

    python benchmarks/quality/number_targets.py servo --models cart,mean,sklearn-ridge
    python benchmarks/quality/number_targets.py --check FOLDER
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

SETS = (
    "gasoline_octane", "cookie_sucrose", "tecator_fat", "riboflavin", "methyl_age", "auto_mpg",
    "abalone", "servo", "ames_price", "bike_day",
)  # fmt: skip
OPTIONS = {
    "abalone": ["--task", "numbers"],  # 28 whole numbers: the command asks
    "ames_price": ["--keep-word", "None", "--accept", "FD020"],
    "riboflavin": ["--group", "groups"],
}
METRICS = {
    "r2": r2_score,
    "mae": mean_absolute_error,
    "rmse": lambda y, p: float(np.sqrt(mean_squared_error(y, p))),
}


def table_of(name, folder):
    """Return the csv file of a set and its target; of an array file one is written."""
    place = Path(os.environ["PSEPHOS_DATA"]) / name
    file = place / f"{name}.csv"
    if not file.exists():
        with np.load(place / f"{name}.npz", allow_pickle=False) as held:
            columns = [*map(str, held["feature_names"]), "target"]
            table = np.column_stack([held["X"], held["y"]]).tolist()
            if "groups" in held:
                columns.append("groups")
                table = [[*row, g] for row, g in zip(table, held["groups"].tolist(), strict=True)]
        file = folder / f"{name}.csv"
        with file.open("w", newline="") as out:
            csv.writer(out).writerows([columns, *table])
        return file, "target"
    with file.open(newline="") as given:
        return file, next(csv.reader(given))[-1]


def rows_of(path):
    """Return the rows of a csv file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def checked(folder):
    """Return the greatest difference of any figure, their number, and R² of all rows by model."""
    answers, worst, n = defaultdict(list), 0.0, 0
    for row in rows_of(folder / "predictions.csv"):
        pair = float(row["truth"]), float(row["predicted"])
        answers[row["model"], row["repeat"], row["fold"]].append(pair)
        answers[row["model"],].append(pair)
    results = [row for row in rows_of(folder / "results.csv") if row["status"] == "ok"]
    keyed = [((row["model"], row["repeat"], row["fold"]), row) for row in results]
    pooled = rows_of(folder / "pooled.csv")
    for key, row in [*keyed, *(((row["model"],), row) for row in pooled)]:
        truth, predicted = np.array(answers[key]).T
        for name, metric in METRICS.items():
            peer = metric(truth, predicted)
            worst, n = max(worst, abs(float(row[name]) - peer) / max(1.0, abs(peer))), n + 1
    return worst, n, {row["model"]: float(row["r2"]) for row in pooled}


def main():
    """Run the sets that are named, or check a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--models", default="")
    parser.add_argument("--check", type=Path)
    parser.add_argument("--out", type=Path, default=Path(tempfile.mkdtemp()))
    given = parser.parse_args()
    if given.check:
        print(checked(given.check))
        return
    given.out.mkdir(exist_ok=True)
    for name in given.sets:
        file, target = table_of(name, given.out)
        out = given.out / f"study-{name}"
        models = ["--models", given.models] if given.models else []
        command = [
            sys.executable,
            "-m",
            "psephos.cli",
            "compare",
            str(file),
            "--target",
            target,
            "--out",
            str(out),
        ]
        start = time.perf_counter()
        done = subprocess.run(
            [*command, "--n-jobs", "1", *models, *OPTIONS.get(name, [])],
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - start
        if done.returncode or not (out / "report.html").exists():
            print(f"{name}: {done.stderr.strip()[-400:]}", flush=True)
            continue
        worst, n, pooled = checked(out)
        first = rows_of(out / "results.csv")[0]
        shape = f"{int(first['n_train']) + int(first['n_test'])} x {first['n_columns']}"
        best = max(pooled, key=pooled.get)
        others = " / ".join(
            f"{pooled[one]:.3f}" for one in (best, "sklearn-ridge", "mean") if one in pooled
        )
        print(
            f"{name}, {shape}, {seconds:.0f} s, {n} figures, {worst:.1e}, {best}, {others}",
            flush=True,
        )


if __name__ == "__main__":
    main()
