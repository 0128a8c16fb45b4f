"""Do measures by choice keep what they promise? On tables of noise, and of a threshold by cost.

    python benchmarks/quality/chosen_measures.py [--tables 100] [--only noise|threshold]

Noise: tables of 90 rows, 30 of them of the positive class, and 20 columns of independent standard
normal numbers. `better_than_constant` may return a model in at most 5 % of them, for each measure.
Threshold: tables of the same size with one telling column; the mean of `cost` over the folds, at
thresholds chosen inside the training parts, is set against the cost of the same rule on 4,000 fresh
rows: the model of all rows, with its own threshold.
"""

import argparse

import numpy as np
from scipy.stats import binomtest

from psephos.protocol import Protocol, compare

ROWS, POSITIVE, COLUMNS, FRESH = 90, 30, 20, 4000
PLAN = Protocol("small", folds=5, inner_folds=3, draws=1)
MODELS = ["sklearn-l1-logistic", "sklearn-decision-tree"]
METRICS = ("log_loss", "average_precision", "sensitivity@0.9", "f1", "cost")


def table(rng, rows, positive, effect):
    X = rng.standard_normal((rows, COLUMNS))
    y = np.repeat([1, 0], [positive, rows - positive])
    X[y == 1, 0] += effect
    return X, y


def options(metric):
    return {"cost": 5} if metric == "cost" else {"metric": metric}


def noise(n_tables, metrics):
    """Print in how many tables of noise some model is called better than a constant answer."""
    for metric in metrics:
        called = 0
        for seed in range(n_tables):
            X, y = table(np.random.default_rng([7, seed]), ROWS, POSITIVE, 0.0)
            found = compare(X, y, MODELS, PLAN, positive=1, n_jobs=1, random_state=seed,
                            fold_models=False, **options(metric))  # fmt: skip
            called += bool(found.better())
        low, high = binomtest(called, n_tables).proportion_ci(0.95)
        print(
            f"{metric}: {called} of {n_tables} ({100 * low:.1f} - {100 * high:.1f} %)", flush=True
        )


def threshold(n_tables):
    """Print the cost in the folds, on fresh rows, and the standard error of the difference."""
    pairs = []
    for seed in range(n_tables):
        rng = np.random.default_rng([8, seed])
        X, y = table(rng, ROWS, POSITIVE, 1.0)
        found = compare(X, y, ["adaboost"], PLAN, positive=1, n_jobs=1, random_state=seed, cost=5,
                        fold_models=False)  # fmt: skip
        new, truth = table(rng, FRESH, FRESH * POSITIVE // ROWS, 1.0)
        model = found.models["adaboost"]
        said = model.predict(new)
        cost = (5 * ((truth == 1) & (said == 0)) + ((truth == 0) & (said == 1))).mean()
        pairs.append((found.summary()[0].score, cost))
    folds, fresh = np.array(pairs).T
    off = folds - fresh
    error = off.std(ddof=1) / np.sqrt(n_tables)
    print(f"cost in the folds {folds.mean():.3f}, on fresh rows {fresh.mean():.3f}; difference "
          f"{off.mean():+.3f} +- {error:.3f}")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--only", choices=["noise", "threshold"])
    parser.add_argument("--metrics", nargs="+", default=METRICS)
    args = parser.parse_args()
    if args.only != "threshold":
        noise(args.tables, args.metrics)
    if args.only != "noise":
        threshold(args.tables)


if __name__ == "__main__":
    main()
