"""Committees against scikit-learn's: accuracy on the same folds of seven sets.

    PSEPHOS_DATA=... python benchmarks/quality/committees.py OUT.csv [--sets lsvt,...]
    python benchmarks/quality/committees.py OUT.csv --table

Voting, stacking and ensemble selection are of the same four members on both sides: scikit-learn's
random forest of 100 trees, logistic regression on scaled columns, Gaussian naive Bayes and a tree.
Bags are of 50 trees; the cascade is of its default members. Ten folds of two repeats (three folds
of one repeat for satellite and letter), stratified; rows of one subject stay together where a set
names them. OUT.csv gets a line a model and fold; what is there is not fitted again. ``--table``
prints the mean accuracies, and each model's less that of scikit-learn's forest with its standard
error over folds (they share rows: Nadeau and Bengio 2003).
"""

import argparse
import csv
import math
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn.ensemble as peer
from forest_sets import read as read_numbers
from realdata import folder, load
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import psephos

SETS = ["breast_cancer", "vowel", "lsvt", "gut_cirrhosis", "gut_colorectal", "satellite", "letter"]
LARGE = {"satellite", "letter"}


def members(seed):
    return [
        ("forest", peer.RandomForestClassifier(100, random_state=seed)),
        ("line", make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))),
        ("bayes", GaussianNB(var_smoothing=1e-6)),
        ("tree", DecisionTreeClassifier(min_samples_leaf=5, random_state=seed)),
    ]


def models(seed):
    """Return the models by name, unfitted."""
    tree, at = DecisionTreeClassifier(random_state=0), {"random_state": seed}
    return {
        "voting": psephos.VotingClassifier(members(seed), **at),
        "voting, peer": peer.VotingClassifier(members(seed), voting="soft"),
        "stacking": psephos.StackingClassifier(members(seed), **at),
        "stacking, logistic": psephos.StackingClassifier(
            members(seed), final_estimator="logistic", **at
        ),
        "stacking, peer": peer.StackingClassifier(members(seed), cv=5),
        "selection": psephos.EnsembleSelectionClassifier(members(seed), **at),
        "cascade": psephos.CascadeClassifier(**at),
        "bagging": psephos.BaggingClassifier(tree, 50, **at),
        "bagging, peer": peer.BaggingClassifier(tree, 50, **at),
        "forest, peer": peer.RandomForestClassifier(100, **at),
        "hist boosting, peer": peer.HistGradientBoostingClassifier(**at),
    }


def read(name):
    """Return (X, y, groups or None)."""
    if name == "breast_cancer":
        return *load_breast_cancer(return_X_y=True), None
    if name == "vowel":  # ten acoustic columns; the others name the speaker
        with (folder() / name / "vowel.csv").open() as lines:
            head, *rows = csv.reader(lines)
        columns = [j for j, word in enumerate(head) if word.startswith("Feature")]
        table = np.array(rows)
        return (
            table[:, columns].astype(float),
            np.unique(table[:, -1], return_inverse=True)[1],
            None,
        )
    if name == "satellite":
        return *read_numbers(name), None
    X, y, groups, _ = load(name)
    return X, np.unique(y, return_inverse=True)[1], groups


def splits(name, X, y, groups):
    """Yield (number, training rows, test rows)."""
    folds, repeats = (3, 1) if name in LARGE else (10, 2)
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    for repeat in range(repeats):
        cut = kind(folds, shuffle=True, random_state=repeat).split(X, y, groups)
        for fold, (train, test) in enumerate(cut):
            yield folds * repeat + fold, train, test


def run(place, sets):
    done = {tuple(row[:3]) for row in csv.reader(place.open())} if place.exists() else set()
    warnings.simplefilter("ignore")  # of logistic regressions that stop early
    for name in sets:
        X, y, groups = read(name)
        for number, train, test in splits(name, X, y, groups):
            for kind, model in models(number).items():
                if (name, kind, str(number)) in done:
                    continue
                told = {}
                if groups is not None and type(model).__module__.startswith("psephos"):
                    told["groups"] = groups[train]
                start = time.process_time()
                model.fit(X[train], y[train], **told)
                seconds = time.process_time() - start
                score = model.score(X[test], y[test])
                with place.open("a", newline="") as out:
                    csv.writer(out).writerow([name, kind, number, score, f"{seconds:.2f}"])


def table(place):
    """Print mean accuracies in percent, and differences to scikit-learn's forest."""
    found = {}
    for name, kind, number, score, seconds in csv.reader(place.open()):
        found.setdefault(name, {}).setdefault(kind, {})[int(number)] = float(score), float(seconds)
    sets = [name for name in SETS if name in found]
    print("| model | " + " | ".join(sets) + " | mean difference to the forest |")
    print("| --- |" + " ---: |" * (len(sets) + 1))
    for kind in models(0):
        cells, means = [], []
        for name in sets:
            ours, forest = found[name].get(kind, {}), found[name]["forest, peer"]
            both = sorted(ours.keys() & forest.keys())
            if not both:
                cells.append("")
                continue
            scores = np.array([ours[i][0] for i in both])
            off = scores - [forest[i][0] for i in both]
            folds = 3 if name in LARGE else 10
            error = off.std(ddof=1) * math.sqrt(1 / len(off) + 1 / (folds - 1))
            means.append(off.mean())
            seconds = np.mean([ours[i][1] for i in both])
            cells.append(
                f"{100 * scores.mean():.1f} ({100 * off.mean():+.1f} ± {100 * error:.1f}; "
                f"{seconds:.1f} s)"
            )
        spread = np.std(means, ddof=1) / math.sqrt(len(means)) if len(means) > 1 else np.nan
        print(f"| {kind} | {' | '.join(cells)} | "
              f"{100 * np.mean(means):+.2f} ± {100 * spread:.2f} |")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.table:
        table(args.out)
    else:
        run(args.out, args.sets.split(","))


if __name__ == "__main__":
    main()
