"""What users do, in two versions of psephos, in turn in one run: which tasks became slower?

    python benchmarks/speed/versions.py SRC_BEFORE SRC_AFTER [--only WORD] [--repeats 7]

SRC is the `src` folder of a checked-out version. A process of each does every task once, which
compiles, then the two take turns; CPU seconds of one thread (the least of the repeats: what else
the machine does only adds), and their ratio. Above 1.3 a task is marked.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

LIMIT = 1.3
Task = Callable[[], object]


def tables() -> dict[str, Any]:
    """Return generated and bundled tables by name."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer, load_digits, make_classification

    def fat(n: int, p: int) -> Any:
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((n, p)), np.arange(n) % 2
        X[y == 1, :20] += 0.5
        return X, y

    def tall() -> Any:
        return make_classification(20_000, 16, n_informative=10, n_classes=5, random_state=0)

    def gappy() -> Any:
        X, y = make_classification(5_000, 20, n_informative=8, random_state=0)
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
        return X, y

    return {
        "cancer": lambda: load_breast_cancer(return_X_y=True),
        "digits": lambda: load_digits(return_X_y=True),
        "tall": tall,
        "gappy": gappy,
        "fat": lambda: fat(100, 10_000),
        "wide": lambda: fat(640, 12_000),
    }


def models(psephos: Any) -> dict[str, tuple[str, Any]]:
    """Return (table, estimator) by the name of the task."""
    swag = {"m": 200, "alpha": 0.1, "p_max": 3, "n_folds": 5, "random_state": 0}
    made: dict[str, tuple[str, Any]] = {}
    for table in ("cancer", "tall", "gappy", "fat", "wide"):
        seeded = {"random_state": 0}
        made |= {
            f"random forest, {table}": (table, psephos.RandomForestClassifier(50, **seeded)),
            f"extra trees, {table}": (table, psephos.ExtraTreesClassifier(50, **seeded)),
            f"CART, {table}": (table, psephos.CARTClassifier(cp=1e-3, n_folds=0, **seeded)),
            f"C4.5, {table}": (table, psephos.C45Classifier()),
            f"AdaBoost, {table}": (table, psephos.AdaBoostClassifier(n_estimators=50)),
            f"SamBA, {table}": (table, psephos.SamBAClassifier(n_estimators=10, **seeded)),
            f"gradient boosting, {table}": (
                table, psephos.GradientBoostingClassifier(n_estimators=10, **seeded),
            ),
            f"second-order exact, {table}": (
                table, psephos.NewtonBoostingClassifier(n_estimators=10),
            ),
            f"second-order histograms, {table}": (
                table, psephos.NewtonBoostingClassifier("hist", n_estimators=10),
            ),
        }  # fmt: skip
    for table in ("cancer", "digits"):
        made[f"proset, {table}"] = (table, psephos.ProsetClassifier(random_state=0))
    for learner in ("lda", "logistic", "linear_svm", "rbf_svm", "lasso", "tree", "forest"):
        made[f"SWAG {learner}, cancer"] = (
            "cancer",
            psephos.SparseWrapperClassifier(learner, **swag),
        )
    made["CART with ten folds, cancer"] = ("cancer", psephos.CARTClassifier(random_state=0))
    made["C4.5 rules, cancer"] = ("cancer", psephos.C45RulesClassifier())
    made["AdaBoost by Gini, wide"] = (
        "wide", psephos.AdaBoostClassifier(n_estimators=50, criterion="gini"),
    )  # fmt: skip
    return made


def tasks() -> dict[str, Task]:
    """Return every task by name."""
    import psephos

    source = {name: cache(make) for name, make in tables().items()}
    found: dict[str, Task] = {}
    for name, (table, model) in models(psephos).items():

        def fit(model: Any = model, table: str = table) -> object:
            return model.fit(*source[table]())

        def predict(model: Any = model, table: str = table) -> object:
            X = source[table]()[0]
            for _ in range(max(1, 2_000_000 // X.size)):
                model.predict_proba(X)
            return None

        found[f"fit {name}"] = fit

        def predict_one(model: Any = model, table: str = table) -> object:
            X = source[table]()[0]
            for i in range(200):
                model.predict_proba(X[i % len(X)][None])
            return None

        found[f"predict {name}"] = predict  # after its fit: tasks are done in their order
        if table == "cancer":
            found[f"predict one row 200 times, {name}"] = predict_one
    for table in ("cancer", "digits", "fat"):

        def compare(table: str = table) -> object:
            X, y = source[table]()
            return psephos.compare(X, y, random_state=0)

        found[f"compare, {table}"] = compare
    return found


def serve() -> None:
    """Do the tasks that are asked for by name, and print their CPU seconds."""
    import warnings

    warnings.simplefilter("ignore")
    known = tasks()
    print("\n".join(["", *known, "ready"]), flush=True)
    for asked in sys.stdin:
        start = time.process_time()
        try:
            known[asked.rstrip("\n")]()
            print(f"took {time.process_time() - start:.6f}", flush=True)
        except Exception as error:
            print(f"failed {type(error).__name__}: {error}"[:200].replace("\n", " "), flush=True)


class Version:
    """A process of one version."""

    def __init__(self, source: str) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        environment = {**os.environ, **threads, "PYTHONPATH": source}
        told = [sys.executable, __file__, "--serve"]
        self._process: Any = subprocess.Popen(
            told, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.tasks: list[str] = []
        for text in self._process.stdout:
            if text == "ready\n":
                break
            self.tasks.append(text.rstrip("\n"))
        self.tasks = [name for name in self.tasks if name]

    def ask(self, task: str) -> str:
        """Return what the process says of a task."""
        self._process.stdin.write(task + "\n")
        self._process.stdin.flush()
        for text in self._process.stdout:
            if text.startswith(("took ", "failed ")):
                return text.rstrip("\n")
        return "failed: the process ended"


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.serve:
        serve()
        return
    versions = [Version(source) for source in told.sources]
    print("| task | before, s | after, s | after / before |\n| --- | --- | --- | --- |", flush=True)
    for task in [task for task in versions[0].tasks if told.only in task]:
        said = [version.ask(task) for version in versions]
        failed = [text for text in said if not text.startswith("took")]
        if failed:
            print(f"| {task} | {' | '.join(said)} | |", flush=True)
            continue
        seconds: list[list[float]] = [[], []]
        for _ in range(told.repeats):
            for mine, version in zip(seconds, versions, strict=True):
                mine.append(float(version.ask(task).split()[1]))
        before, after = (min(mine) for mine in seconds)
        mark = " **slower**" if after > LIMIT * before else ""
        print(f"| {task} | {before:.4f} | {after:.4f} | {after / before:.2f}{mark} |", flush=True)


if __name__ == "__main__":
    main()
