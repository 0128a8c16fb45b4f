"""ML-kNN on six published tables: the authors' split and ten folds, five measures each.

    PSEPHOS_DATA=... python benchmarks/quality/ml_knn.py [--sets yeast,enron]

Prints a row a table, then whether every figure is, to its last digit, that of an independent
program of the paper's algorithm (`EXPECTED`).
"""

import argparse

import numpy as np
from _label_sets import NAMES, label_set, ten_folds

from psephos import MLKNeighborsClassifier
from psephos.protocol import (
    average_precision,
    coverage,
    hamming_loss,
    one_error,
    ranking_loss,
)

# Hamming loss, one-error, coverage, ranking loss, average precision: as written, so that the
# number of digits is known; of ten folds the means, and of yeast the standard deviations.
EXPECTED = {
    "yeast": (".1980 .2345 6.4144 .1715 .7585", ".195 .237 6.281 .168 .762"),
    "scene": (".0989 .2425 .5686 .0931 .8512", ".086 .222 .470 .076 .867"),
    "emotions": (".2937 .4059 2.4901 .2829 .6938", ".265 .405 2.276 .262 .707"),
    "medical": (".0187 .3504 3.5039 .0585 .7256", ".015 .247 2.621 .040 .809"),
    "enron": (".0520 .3040 13.2055 .0938 .6232", ".053 .315 13.04 .092 .629"),
    "genbase": (".0043 .0050 .5779 .0064 .9914", ".004 .009 .555 .006 .989"),
}
SPREAD = {"yeast": ".006 .023 .119 .010 .014"}


def measured(X, Y, train, test):
    """Return the five measures of ML-kNN fitted on `train`, on `test`."""
    model = MLKNeighborsClassifier(10).fit(X[train], Y[train])
    chances, truth = model.predict_proba(X[test]), Y[test]
    ranked = (one_error, coverage, ranking_loss, average_precision)
    return [
        hamming_loss(truth, model.predict(X[test])),
        *(measure(truth, chances) for measure in ranked),
    ]


def agree(found, expected):
    """Return whether each figure is the expected one, rounded as that is."""
    return all(
        f"{value:.{len(text.split('.')[1])}f}".removeprefix("0") == text
        for value, text in zip(found, expected.split(), strict=True)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(NAMES))
    wrong = []
    for name in parser.parse_args().sets.split(","):
        X, Y, train = label_set(name)
        once = measured(X, Y, np.flatnonzero(train), np.flatnonzero(~train))
        folds = np.array([measured(X, Y, *fold) for fold in ten_folds(len(X))])
        mean, spread = folds.mean(axis=0), folds.std(axis=0, ddof=1)
        pairs = (f"{m:.4f}±{s:.3f}" for m, s in zip(mean, spread, strict=True))
        print("|", name, "|", " ".join(f"{v:.4f}" for v in once), "|", " ".join(pairs), "|")
        checks = [("split", once, EXPECTED[name][0]), ("folds", mean, EXPECTED[name][1])]
        if name in SPREAD:
            checks.append(("spread", spread, SPREAD[name]))
        wrong += [f"{name}, {what}" for what, found, text in checks if not agree(found, text)]
    print("all figures agree" if not wrong else f"others: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
