"""Voters that say how sure they are against voters that say classes, in local boosting.

    PSEPHOS_DATA=... python benchmarks/quality/sure_voters.py [--repeats 2]

Stratified (grouped where subjects repeat) 5-fold cross-validation, the same folds for all; settings
fixed beforehand. Balanced accuracy, log-loss and columns read, averaged over folds; the difference
to voters that say classes with its corrected standard error (Nadeau and Bengio 2003).
"""

import argparse
import warnings

import numpy as np
from realdata import load
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from psephos import AdaBoostClassifier, LocalBoostingClassifier, SamBAClassifier

SETS = ["colon_alon", "sonar", "pima"]
ADA = {"relevance": "right", "difficulty": "log-odds", "weighting": "log-odds"}


def sure(seen):
    """A relevance that is more than right or wrong: the square of what was said rightly."""
    return seen.share**2


MODELS = {
    "SamBA, default": SamBAClassifier(),
    "local, classes": LocalBoostingClassifier(),
    "local, probabilities": LocalBoostingClassifier(says="probability"),
    "local, probabilities, own relevance": LocalBoostingClassifier(
        says="probability", relevance=sure
    ),
    "AdaBoost, classes": AdaBoostClassifier(n_estimators=20),
    "AdaBoost, probabilities": LocalBoostingClassifier(says="probability", **ADA),
}
BESIDE = {"local, probabilities": "local, classes",
          "local, probabilities, own relevance": "local, classes",
          "AdaBoost, probabilities": "AdaBoost, classes"}  # fmt: skip


def folds(name, repeats):
    X, y, groups, _ = load(name)
    for r in range(repeats):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        for train, test in kind(5, shuffle=True, random_state=r).split(X, y, groups):
            yield X[train], y[train], X[test], y[test]


def scores(model, X, y, Z, t):
    model.fit(X, y)
    chances = np.clip(model.predict_proba(Z), 1e-3, 1 - 1e-3)
    accuracy = balanced_accuracy_score(t, model.predict(Z))
    return accuracy, log_loss(t, chances, labels=model.classes_), model.n_features_used_


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore", UserWarning)
    print("| set | model | balanced accuracy | log-loss | columns | difference | ± |")
    print("|---|---|---|---|---|---|---|")
    for name in SETS:
        found = {key: [] for key in MODELS}
        for fold in folds(name, repeats):
            for key, model in MODELS.items():
                found[key].append(scores(model, *fold))
        table = {key: np.array(rows) for key, rows in found.items()}
        for key, rows in table.items():
            mean = rows.mean(axis=0)
            cells = ["", ""]
            if key in BESIDE:
                off = rows[:, 0] - table[BESIDE[key]][:, 0]
                error = np.sqrt((1 / len(off) + 1 / 4) * off.var(ddof=1))
                cells = [f"{off.mean():+.3f}", f"{error:.3f}"]
            print(f"| {name} | {key} | {mean[0]:.3f} | {mean[1]:.3f} | {mean[2]:.1f} | "
                  f"{cells[0]} | {cells[1]} |")  # fmt: skip


if __name__ == "__main__":
    main()
