"""Are our forests as good as scikit-learn's? Twelve real sets, repeated splits, both forests.

    PSEPHOS_DATA=... python benchmarks/quality/forest_sets.py [--splits 10] [--sets sonar,...]

Stratified splits, a third held out, 100 trees, defaults; the same rows on both sides. The
difference of accuracies is ours less scikit-learn's, with its standard error over splits, which
share rows and are corrected for it (Nadeau & Bengio 2003: the variance times 1/J + n_test /
n_train). The last columns are our out-of-bag accuracy less that on the held-out rows.
"""

import argparse
import csv
import gzip
import math

import numpy as np
import sklearn.ensemble as peer
from realdata import folder
from sklearn.model_selection import StratifiedShuffleSplit

from psephos import ExtraTreesClassifier, RandomForestClassifier

SETS = [
    "sonar", "ionosphere", "pima", "vehicle", "glass", "wine", "segment", "waveform5000",
    "spambase", "satellite", "optdigits", "higgs_11k",
]  # fmt: skip


def read(name):
    """Return (X, y) of a set of numbers."""
    path = folder() / name / f"{name}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as archive:
            return archive["X"].astype(float), archive["y"]
    with gzip.open(folder() / name / f"{name}.csv.gz", "rt") as lines:
        table = np.array(list(csv.reader(lines))[1:])
    return table[:, :-1].astype(float), np.unique(table[:, -1], return_inverse=True)[1]


def compare(X, y, n_splits):
    """Return (ours, scikit-learn's, extra trees' ours, scikit-learn's, out of bag) a split."""
    splits = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0)
    found = []
    for seed, (train, test) in enumerate(splits.split(X, y)):
        models = [
            RandomForestClassifier(oob_score=True, random_state=seed),
            peer.RandomForestClassifier(random_state=seed),
            ExtraTreesClassifier(random_state=seed),
            peer.ExtraTreesClassifier(random_state=seed),
        ]
        scores = [m.fit(X[train], y[train]).score(X[test], y[test]) for m in models]
        found.append([*scores, models[0].oob_score_])
    return np.array(found)


def told(differences):
    """Return a mean difference and its corrected standard error in percent."""
    error = differences.std(ddof=1) * math.sqrt(1 / len(differences) + 1 / 2)
    return f"{100 * differences.mean():+.2f} ± {100 * error:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", default=",".join(SETS))
    args = parser.parse_args()
    cells = [
        "set", "n × p, classes", "forest %", "peer %", "difference", "extra trees %", "peer %",
        "difference", "out of bag less held out",
    ]  # fmt: skip
    print("| " + " | ".join(cells) + " |\n" + "|---" * len(cells) + "|")
    forest, extra, bag = [], [], []
    for name in args.sets.split(","):
        X, y = read(name)
        found = compare(X, y, args.splits)
        mean = [f"{100 * m:.1f}" for m in found.mean(axis=0)]
        forest.append(found[:, 0] - found[:, 1])
        extra.append(found[:, 2] - found[:, 3])
        bag.append(found[:, 4] - found[:, 0])
        row = [name, f"{X.shape[0]} × {X.shape[1]}, {len(np.unique(y))}", *mean[:2]]
        row += [told(forest[-1]), *mean[2:4], told(extra[-1]), told(bag[-1])]
        print("| " + " | ".join(row) + " |", flush=True)
    for title, sets in (("forest", forest), ("extra trees", extra), ("out of bag", bag)):
        means = np.array([100 * d.mean() for d in sets])
        error = means.std(ddof=1) / math.sqrt(len(means)) if len(means) > 1 else np.nan
        print(f"{title}: mean over sets {means.mean():+.3f} ± {error:.3f} percent points")


if __name__ == "__main__":
    main()
