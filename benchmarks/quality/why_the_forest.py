"""Where does the forest's lead over SamBA come from? Voters, their number, and their depth.

    PSEPHOS_DATA=... python benchmarks/quality/why_the_forest.py [--repeats 2]

Fixed settings, nothing tuned; 5-fold cross-validation on four tables that are not among the five
of five_sets.py. Balanced accuracy and columns used. Exploratory: these settings were looked at
together, so the best of them is flattered.
"""

import argparse

import numpy as np
from samba_defaults import folds
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

from psephos import SamBAClassifier
from psephos.protocol import columns_used

SETS = ["breast_gravier", "gut_colorectal", "meterA", "sonar"]


def samba(depth=None, **params):
    voter = None
    if depth is not None:
        voter = DecisionTreeClassifier(max_depth=depth, max_features="sqrt")
    return SamBAClassifier(voter, class_weight="balanced", random_state=0, **params)


MODELS = {
    "SamBA, 20 stumps": samba(n_estimators=20, a=0.3),
    "SamBA, 40 stumps": samba(n_estimators=40, a=0.3),
    "SamBA, 120 stumps": samba(n_estimators=120, a=0.3),
    "SamBA, 80 stumps, update='sample'": samba(n_estimators=80, a=0.3, update="sample"),
    "SamBA, 100 stumps on random columns": samba(1, n_estimators=100, a=0.3),
    "SamBA, 60 trees of depth 2": samba(2, n_estimators=60, a=0.3),
    "SamBA, 40 trees of depth 3": samba(3, n_estimators=40, a=0.3),
    "SamBA, 80 trees of depth 3, a = 1": samba(3, n_estimators=80, a=1.0),
    "random forest, 100": RandomForestClassifier(100, random_state=0),
    "random forest, 300, balanced": RandomForestClassifier(
        300, class_weight="balanced", random_state=0
    ),
}


def measure(model, name, repeats):
    found = []
    for X, y, Z, t in folds(name, repeats):
        model.fit(X, y)
        used = len(columns_used(model, X.shape[1]))
        found.append((balanced_accuracy_score(t, model.predict(Z)), used))
    return np.mean(found, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    repeats = parser.parse_args().repeats
    print("| model | " + " | ".join(SETS) + " | mean | columns |")
    print("|" + "---|" * (len(SETS) + 3))
    for label, model in MODELS.items():
        each = [measure(model, name, repeats) for name in SETS]
        mean = np.mean(each, axis=0)
        cells = [*(f"{score:.3f}" for score, _ in each), f"{mean[0]:.3f}", f"{mean[1]:.0f}"]
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
