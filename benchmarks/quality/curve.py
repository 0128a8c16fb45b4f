"""Accuracy against columns (`compare --curve`): are known columns found, is the curve unbiased?

    python benchmarks/quality/curve.py known [--draws 20] [--rows 100] [--fresh 20000]
    PSEPHOS_DATA=... python benchmarks/quality/curve.py shared [--sets gut_colorectal ...]

`known`: four generated tables whose informative columns are known, the rest noise. Of each draw
the curve is made as `compare(..., curve=True)` makes it, and every model of it is fitted again in
the same way (settings, rows, columns, seed) and evaluated on fresh rows. A line a table, model and
k: the share of the known columns among the first k (k = their number marked *), the curve's mean
over draws and folds, the mean on fresh rows, and their difference with a 95 % interval (Student's
t over draws, which are independent).

`shared`: the curve of each set of PSEPHOS_DATA, as the page has it.
"""

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import t as student
from sklearn.metrics import balanced_accuracy_score

from psephos.protocol import PROTOCOLS, CurveDisplay, compare, read_table, table_from_arrays
from psephos.protocol.evaluation.splits import outer_splits
from psephos.protocol.evaluation.stability import positions_of
from psephos.protocol.running.contenders import contenders
from psephos.protocol.running.curve import curve_tasks
from psephos.protocol.running.runner import _tasks
from psephos.protocol.running.tasks import fitted_part, run_task, shape_of

P = 100
MODELS = ["sklearn-l1-logistic", "cart", "adaboost", "sklearn-k-nn"]
SETS = ["gut_colorectal", "leukemia_golub", "colon_alon", "vote", "glass", "gasoline_octane"]
NUMBERS = ["sklearn-lasso", "sklearn-random-forest-regressor", "column-budget-regressor"]
CLASSES = ["sklearn-l1-logistic", "sklearn-random-forest", "column-budget"]


def even(rng, n):
    """Four columns of equal weight."""
    X = rng.standard_normal((n, P))
    return X, X[:, :4].sum(axis=1) + rng.standard_normal(n) > 0, 4


def uneven(rng, n):
    """Eight columns of falling weight, in a table of correlated noise."""
    X = rng.standard_normal((n, P)) + 0.7 * np.repeat(rng.standard_normal((n, P // 10)), 10, axis=1)
    return X, X[:, :80:10] @ (1.6 * 0.8 ** np.arange(8)) + rng.standard_normal(n) > 0, 8


def rule(rng, n):
    """Both of two columns above a threshold, one label of ten wrong."""
    X = rng.standard_normal((n, P))
    y = (X[:, 0] > -0.5) & (X[:, 1] > -0.5)
    return X, y ^ (rng.random(n) < 0.1), 2


def three(rng, n):
    """Three classes, two columns each of the first two; one value of twenty missing."""
    X = rng.standard_normal((n, P))
    scores = np.column_stack([X[:, 0] + X[:, 1], X[:, 2] + X[:, 3], np.zeros(n)])
    y = (2 * scores + rng.gumbel(size=(n, 3))).argmax(axis=1)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, 4


def known_of(k, at):
    """Return which columns are known of a table."""
    return range(0, 80, 10) if at is uneven else range(k)


def draw(make, seed, args):
    """Return of a draw, by model and k, curve, fresh accuracy and share found, each a mean."""
    rng = np.random.default_rng(seed)
    X, y, n_known = make(rng, args.rows)
    fresh, truth, _ = make(rng, args.fresh)
    known = set(known_of(n_known, make))
    table = table_from_arrays(X, np.asarray(y).astype(int), task="classes")
    plan, shape = PROTOCOLS["demo"], shape_of(table)
    named = contenders(args.models, n_told=shape.n_told)
    fits = _tasks(table, plan, named, outer_splits(table, plan, seed), seed)
    fits = [one for one in fits if one.split is not None]
    found = {}
    for fit, curve in zip(fits, curve_tasks(table, fits), strict=True):
        tuned = run_task(fit, table)[0]
        points = run_task(replace(curve, tuned=tuned), table)[0]["points"]
        for point in points:
            columns = np.array(positions_of(point["columns"]))
            narrow = table.part(columns)
            # fresh rows may lack values in columns that are complete here
            seen = replace(shape_of(narrow), missing=shape.missing)
            model = fitted_part(curve, json.loads(tuned["params"]), seen, narrow)
            on_fresh = balanced_accuracy_score(truth, model.predict(fresh[:, columns]))
            share = len(known & set(columns.tolist())) / n_known
            cell = found.setdefault((fit.contender.name, point["k"]), [])
            cell.append((point["measures"]["balanced_accuracy"], on_fresh, share))
    return {key: (np.mean(cell, axis=0), len(cell)) for key, cell in found.items()}


def run_known(args):
    """Print the table of generated tables."""
    print("| table | model | k | known found | curve | fresh rows | difference | 95 % | folds |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for make, n_known in ((even, 4), (uneven, 8), (rule, 2), (three, 4)):
        if make.__name__ not in args.tables:
            continue
        draws = [draw(make, args.first_seed + seed, args) for seed in range(args.draws)]
        keys = sorted({key for one in draws for key in one}, key=lambda k: (MODELS.index(k[0]), k))
        for model, k in keys:
            cells = [one[model, k] for one in draws if (model, k) in one]
            values = np.array([cell for cell, _ in cells])
            off = values[:, 0] - values[:, 1]
            spread = off.std(ddof=1) if len(off) > 1 else np.nan
            half = student.ppf(0.975, len(off) - 1) * spread / len(off) ** 0.5
            curve, fresh, share = values.mean(axis=0)
            print(
                f"| {make.__name__} | {model} | {k}{'*' if k == n_known else ''} | {share:.2f} | "
                f"{curve:.3f} | {fresh:.3f} | {off.mean():+.3f} | ± {half:.3f} | "
                f"{sum(n for _, n in cells)} |",
                flush=True,
            )


def table_of(name):
    """Return a set of PSEPHOS_DATA as a table."""
    place = Path(os.environ["PSEPHOS_DATA"]) / name
    if (place / f"{name}.csv").exists():
        return read_table(place / f"{name}.csv", target="target")
    with np.load(place / f"{name}.npz", allow_pickle=False) as held:
        y = held["y"]
        groups = held.get("groups")
        task = "numbers" if y.dtype.kind == "f" and len(np.unique(y)) > 10 else "classes"
        y = y if task == "numbers" else np.unique(y, return_inverse=True)[1]
        return table_from_arrays(held["X"], y, groups=groups, task=task, dataset=name)


def run_shared(args):
    """Print the curve of each set."""
    for name in args.sets:
        table, clock = table_of(name), time.perf_counter()
        models = NUMBERS if table.kind == "numbers" else CLASSES
        study = compare(table, models=models, n_jobs=args.n_jobs, curve=True)
        spent = time.perf_counter() - clock
        curve = sum(row["seconds"] or 0.0 for row in study.curve)
        print(f"\n{name}: {table.contents()} {spent:.0f} s, of which points {curve:.0f} s")
        print("| model | k | columns | score | price | 95 % | stability | failed | |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|---|")
        for p in CurveDisplay.from_comparison(study).points:
            print(
                f"| {p['model']} | {p['k'] or 'all'} | {p['columns']:.1f} | {p['score']:.3f} | "
                f"{p['price']:+.3f} | {p['low']:+.3f} to {p['high']:+.3f} | {p['stability']:.2f} | "
                f"{p['failed']} | {'knee' if p['knee'] else ''} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["known", "shared"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--tables", nargs="+", default=["even", "uneven", "rule", "three"])
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--fresh", type=int, default=20_000)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--n-jobs", type=int, default=1)
    given = parser.parse_args()
    run_known(given) if given.part == "known" else run_shared(given)
