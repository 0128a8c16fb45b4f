"""How few columns are enough? A vote on few columns beside votes on all, on fat tables.

    PSEPHOS_DATA=... python benchmarks/quality/few_columns.py OUT.csv [--models ...] [--repeats 6]
    python benchmarks/quality/few_columns.py OUT.csv --table

Five folds, drawn several times, stratified, rows of one subject together where a set names them;
columns are chosen anew in every training part. AUC (of several classes the mean of each against the
rest) and balanced accuracy, where the class is answered whose probability is the greatest multiple
of its share of the training rows; beside it that of the most probable class. OUT.csv gets a line
a model, budget and fold; what is there is not fitted again. ``--table`` prints mean differences to
the forest on all columns, sets as the unit, with the standard error over sets.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from realdata import load
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import psephos

SETS = [
    "colon_alon", "leukemia_golub", "prostate_6033", "breast_gravier", "gut_cirrhosis",
    "gut_colorectal", "gut_obesity", "otu_lean_obese", "lsvt", "srbct", "lymphoma", "arcene",
]  # fmt: skip
BUDGETS = (1, 2, 4, 8, 16, 20, 32)
OWN = 0  # the budget of models that choose their own size


def budget(selector="blend", estimator=None):
    def fit(X, y, groups, seed):
        model = psephos.ColumnBudgetClassifier(
            selector=selector, estimator=estimator, random_state=seed
        )
        return model.path(X, y, BUDGETS, groups=groups)

    return fit


def alone(make):
    def fit(X, y, groups, seed):
        model = make(seed)
        told = {} if groups is None or not hasattr(model, "vote_") else {"groups": groups}
        return {OWN: model.fit(X, y, **told)}

    return fit


def shrunk(make, target="labels"):
    """Fit one model, and make it smaller on its own training rows (out of bag, of a forest)."""

    def fit(X, y, groups, seed):
        model = make(seed).fit(X, y)
        found = {}
        for k in BUDGETS:
            try:
                found[k] = psephos.shrink(model, k, X, y, target=target)
            except psephos.PsephosError:  # no voter reads so few
                continue
        return found

    return fit


def l1(seed):
    """Return scikit-learn's l1-penalised logistic regression, its penalty by five folds."""
    path = LogisticRegressionCV(
        Cs=np.logspace(-2, 1, 10), l1_ratios=(1.0,), solver="liblinear", cv=5,
        scoring="neg_log_loss", random_state=seed, use_legacy_attributes=False,
    )  # fmt: skip
    return make_pipeline(StandardScaler(), OneVsRestClassifier(path))


def forest(seed, n=500):
    return psephos.RandomForestClassifier(n, random_state=seed)


def both(seed):
    members = [("forest", forest(None)), ("ridge", psephos.RankRidgeClassifier())]
    return psephos.VotingClassifier(members, random_state=seed)


MODELS = {
    "forest, all columns": alone(forest),
    "forest, another seed": alone(lambda seed: forest(seed + 1000)),
    "forest + ridge, all columns": alone(both),
    "blend -> forest + ridge": budget(),
    "importance -> forest": budget("importance", psephos.RandomForestClassifier(300)),
    "SamBA": alone(lambda seed: psephos.SamBAClassifier(random_state=seed)),
    "AdaBoost": alone(lambda seed: psephos.AdaBoostClassifier(random_state=seed)),
    "l1-logistic": alone(l1),
    "importance -> forest + ridge": budget("importance"),
    "lars -> forest + ridge": budget("lars"),
    "stability -> forest + ridge": budget("stability"),
    "univariate -> forest + ridge": budget("univariate"),
    "shrink(forest)": shrunk(lambda seed: psephos.RandomForestClassifier(300, random_state=seed)),
    "shrink(AdaBoost)": shrunk(lambda seed: psephos.AdaBoostClassifier(random_state=seed)),
    "shrink(AdaBoost, target='model')": shrunk(
        lambda seed: psephos.AdaBoostClassifier(random_state=seed), "model"
    ),
    "SWAG": alone(lambda seed: psephos.SparseWrapperClassifier(random_state=seed)),
    "proset": alone(lambda seed: psephos.ProsetClassifier(random_state=seed)),
}


def read(name):
    X, y, groups, _ = load(name)
    return X, np.unique(y, return_inverse=True)[1], groups


def splits(X, y, groups, repeats):
    """Yield (number, training rows, test rows)."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    for repeat in range(repeats):
        cut = kind(5, shuffle=True, random_state=repeat).split(X, y, groups)
        for fold, (train, test) in enumerate(cut):
            yield 5 * repeat + fold, train, test


def scores(model, X, y, prior):
    """Return (AUC, balanced accuracy by shares, of the most probable) on rows not seen."""
    chances = model.predict_proba(X)
    if len(prior) == 2:
        auc = roc_auc_score(y, chances[:, 1])
    else:
        auc = np.mean([roc_auc_score(y == k, chances[:, k]) for k in np.unique(y)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a test part may lack a class
        by_shares = balanced_accuracy_score(y, (chances / prior).argmax(axis=1))
        return auc, by_shares, balanced_accuracy_score(y, chances.argmax(axis=1))


def size(model):
    """Return how many columns a model reads."""
    if hasattr(model, "n_features_used_"):
        return model.n_features_used_
    coef = np.concatenate([one.coef_ for one in model[-1].estimators_])
    return int(np.count_nonzero(coef.any(axis=0)))


def run(place, sets, models, repeats):
    done = {tuple(row[:3]) for row in csv.reader(place.open())} if place.exists() else set()
    warnings.simplefilter("ignore")  # of classes rarer than folds
    for kind in models:
        for name in sets:
            X, y, groups = read(name)
            for number, train, test in splits(X, y, groups, repeats):
                if (name, kind, str(number)) in done:
                    continue
                start = time.process_time()
                told = None if groups is None else groups[train]
                found = MODELS[kind](X[train], y[train], told, number)
                seconds = time.process_time() - start
                prior = np.bincount(y[train]) / len(train)
                rows = [
                    [name, kind, number, k, size(model), *scores(model, X[test], y[test], prior)]
                    for k, model in found.items()
                ]
                with place.open("a", newline="") as out:
                    csv.writer(out).writerows([*row, f"{seconds:.2f}"] for row in rows)


def means(place):
    """Return {kind: {budget: {set: [columns, AUC, two accuracies, seconds]}}}, means over folds."""
    found = {}
    for name, kind, _, k, *figures in csv.reader(place.open()):
        folds = found.setdefault(kind, {}).setdefault(int(k), {}).setdefault(name, [])
        folds.append([float(figure) for figure in figures])
    return {
        kind: {k: {n: np.mean(f, axis=0) for n, f in sets.items()} for k, sets in by.items()}
        for kind, by in found.items()
    }


def table(place):
    """Print differences to the forest on all columns, and the sets one by one."""
    found = means(place)
    base = found["forest, all columns"][OWN]
    print("| model | columns | sets | AUC | balanced accuracy | of the most probable | s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind, by in found.items():
        for k in sorted(by):
            sets = [name for name in by[k] if name in base]
            off = np.array([by[k][n][1:4] - base[n][1:4] for n in sets])
            error = off.std(axis=0, ddof=1) / np.sqrt(len(sets)) if len(sets) > 1 else off[0] * 0
            cells = [f"{m:+.3f} ± {e:.3f}" for m, e in zip(off.mean(axis=0), error, strict=True)]
            read_by = np.mean([by[k][n][0] for n in sets])
            columns = f"{k}" if k else f"({read_by:.0f})"
            seconds = np.mean([by[k][n][4] for n in sets])
            print(f"| {kind} | {columns} | {len(sets)} | {' | '.join(cells)} | {seconds:.1f} |")
    print("\n| set | forest, all |" + "".join(f" {k} |" for k in BUDGETS))
    print("| --- |" + " ---: |" * (len(BUDGETS) + 1))
    ours = found["blend -> forest + ridge"]
    for name in base:
        cells = [
            f"{ours[k][name][1] - base[name][1]:+.3f} / {ours[k][name][2] - base[name][2]:+.3f}"
            for k in BUDGETS
        ]
        whole = f"{base[name][1]:.3f} / {base[name][2]:.3f}"
        print(f"| {name} | {whole} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=";".join(MODELS))
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.table:
        table(args.out)
    else:
        run(args.out, args.sets.split(","), args.models.split(";"), args.repeats)


if __name__ == "__main__":
    main()
