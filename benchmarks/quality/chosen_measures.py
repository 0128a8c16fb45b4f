"""Do measures by choice keep what they promise? On tables of noise, and of a threshold by cost.

    python benchmarks/quality/chosen_measures.py [--tables 100] [--only noise|threshold|constant]

Noise: tables of 90 rows, 30 of them of the positive class, and 20 columns of independent standard
normal numbers. `better_than_constant` may return a model in at most 5 % of them, for each measure.
Threshold: tables of the same size with one telling column; the mean of `cost` over the folds, at
thresholds chosen inside the training parts, is set against the cost of the same rule on 4,000 fresh
rows: the model of all rows, with its own threshold.
Constant: how often single models of scikit-learn are called better than the best constant where
errors cost, on noise and with one telling column, with cases alone and in groups of 10; and how
often by permutations alone (`before`). Folds and thresholds are made here, not by `compare`.
"""

import argparse

import numpy as np
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from psephos.figures import called
from psephos.protocol import Protocol, better_than_constant, compare
from psephos.protocol.evaluation.scores import ClassAnswers, cost_metric
from psephos.protocol.evaluation.statistics import design_effect, permuted
from psephos.protocol.running.tasks import cheapest

ROWS, POSITIVE, COLUMNS, FRESH = 90, 30, 20, 4000
PLAN = Protocol("small", folds=5, inner_folds=3, draws=1)
MODELS = ["sklearn-l1-logistic", "sklearn-decision-tree"]
METRICS = ("log_loss", "average_precision", "sensitivity@0.9", "f1", "cost")
CELLS = (  # rows, share of the positive class, distance of the classes, cases of a group
    (60, 0.15, 0.0, 1), (200, 0.15, 0.0, 1), (200, 0.3, 0.0, 1), (200, 0.17, 0.0, 10),
    (200, 0.3, 0.5, 1), (200, 0.3, 1.0, 10), (200, 0.1, 1.3, 1), (600, 0.41, 1.3, 1),
)  # fmt: skip
COSTS = (2, 5, 10)
SINGLE = {
    "logistic regression": LogisticRegression(),
    "1-NN": KNeighborsClassifier(1),
    "tree": DecisionTreeClassifier(max_depth=2, min_samples_leaf=5, random_state=0),
}


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


def verdict(X, y, groups, model, missed):
    """Return whether a model is called better, whether it was before, and what it saves a case."""
    measure, n = cost_metric(float(missed)), len(y)
    p, counts, rows, chance = np.zeros((n, 2)), np.zeros(4), [], []
    for fold, (train, test) in enumerate(parts(5).split(X, y, groups)):
        inner = cross_val_predict(model, X[train], y[train], groups=groups[train], cv=parts(3),
                                  method="predict_proba")[:, 1]  # fmt: skip
        at = cheapest(inner, y[train], missed)
        p[test] = model.fit(X[train], y[train]).predict_proba(X[test])
        found = ClassAnswers(p[test].argmax(axis=1), p[test], p[test], 1, at)
        counts += np.bincount(2 * y[test] + called(p[test][:, 1], at), minlength=4)
        chance.append(permuted(measure, found, y[test], fold))
        rows.append({"model": "m", "repeat": 0, "fold": fold, "status": "ok", "columns_used": 1,
                     "n_train": len(train), "n_test": len(test), "n_voters": None,
                     "balanced_accuracy": 0.5,
                     "cost": measure.measured(found, y[test])})  # fmt: skip
    constant = min((y == 0).mean(), missed * (y == 1).mean())
    own = {"name": "cost", "lower_is_better": True, "constant": constant, "missed": missed,
           "chance": {"m": np.mean(chance, axis=0).tolist()},
           "counts": {"m": counts.tolist()}}  # fmt: skip
    effect = max(design_effect((y == k) * 1.0, p[:, k], groups) for k in (0, 1))
    about = {"classes": ["0", "1"], "class_counts": np.bincount(y).tolist(), "n_rows": n,
             "design_effects": {"m": effect}}  # fmt: skip
    old = {k: v for k, v in own.items() if k != "counts"}
    each = [bool(better_than_constant(rows, about | {"metric": one})) for one in (own, old)]
    return [*each, constant - np.mean([row["cost"] for row in rows])]


def parts(n):
    return StratifiedGroupKFold(n, shuffle=True, random_state=0)


def constants(n_tables):
    """Print how often models are called better than the best constant, by cell, cost and model."""
    print("| rows | positive | distance | group | missed | model | called | before | saves |")
    print("|---|---|---|---|---|---|---|---|---|")
    for cell in CELLS:
        n, share, distance, size = cell
        found = {(c, name): [] for c in COSTS for name in SINGLE}
        for seed in range(n_tables):
            rng = np.random.default_rng([9, CELLS.index(cell), seed])
            groups = np.arange(n) // size
            y = rng.permutation(np.arange(n) < round(share * n)).astype(int)
            X = rng.standard_normal((n, 6))
            X += 2 * (size > 1) * rng.standard_normal((n // size, 6))[groups]
            X[:, 0] += distance * y
            for missed, name in found:
                found[missed, name].append(verdict(X, y, groups, SINGLE[name], missed))
        for (missed, name), each in found.items():
            now, before, saved = np.mean(each, axis=0)
            shown = [f"{v:.3f}" for v in (now, before, saved)]
            print(f"| {' | '.join(map(str, [*cell, missed, name, *shown]))} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--only", choices=["noise", "threshold", "constant"])
    parser.add_argument("--metrics", nargs="+", default=METRICS)
    args = parser.parse_args()
    if args.only in (None, "constant"):
        constants(args.tables)
    if args.only in (None, "noise"):
        noise(args.tables, args.metrics)
    if args.only in (None, "threshold"):
        threshold(args.tables)


if __name__ == "__main__":
    main()
