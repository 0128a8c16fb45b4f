"""Labels 0 and 1 where 0 stands for "not known": what the three models of weak labels make of them.

    python benchmarks/quality/zero_means_unknown.py --seeds 0-19

A planted table has 200 rows and 6 columns, two of which tell the classes apart; a noise table has
none. Of the positives 40 % are labelled 1, all other rows 0. Each model is fitted on these labels
as they stand, and with the rows that are not known marked: for `PUClassifier` by ``unlabeled=0``;
`LIoISClassifier` and `OneSidedNoiseClassifier` need recorded negatives, so half of the true
negatives keep 0 and the rows that are not known are -1. Counted are fits that are refused, fits
that predict one class for all rows, and fits that warn; accuracies are of the true classes of the
training rows, over the fits that were made. A constant has an accuracy of about .5.
"""

import argparse
import warnings
from collections import defaultdict

import numpy as np

from psephos import LIoISClassifier, OneSidedNoiseClassifier, PsephosError, PUClassifier

MODELS = {"pu": PUClassifier, "one-sided-noise": OneSidedNoiseClassifier, "liois": LIoISClassifier}
PRIORS = {"given": {"prior": 0.5}, "estimated": {}}


def table(seed, planted):
    """Return rows, true classes, labels where 0 is "not known", and labels with recorded 0."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(200) % 2
    X = rng.normal(0, 1, (200, 6))
    X[:, :2] += planted * np.where(y == 1, 1.0, -1.0)[:, None]
    seen = np.where((y == 1) & (rng.random(200) < 0.4), 1, 0)
    recorded = np.where((y == 0) & (rng.random(200) < 0.5), 0, np.where(seen == 1, 1, -1))
    return X, y, seen, recorded


def outcome(model, X, labels, y):
    """Return (refused, constant, warned of labels, warned of a constant, accuracy) of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answers = model.fit(X, labels).predict(X)
        except PsephosError:
            return 1, 0, 0, 0, np.nan
    words = [str(one.message) for one in caught]
    warned = [any(part in w for w in words) for part in ("without a label;", " predicts ")]
    return 0, len(set(answers.tolist())) == 1, *warned, float(np.mean(answers == y))


def main():
    """Print a table of counts and mean accuracies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0-19")
    first, last = map(int, parser.parse_args().seeds.split("-"))
    found = defaultdict(list)
    for planted in (True, False):
        for seed in range(first, last + 1):
            X, y, seen, recorded = table(seed, planted)
            for name, kind in MODELS.items():
                for prior, settings in PRIORS.items():
                    place = ("planted" if planted else "noise", name, prior)
                    plain = kind(random_state=seed, **settings)
                    found[*place, "as they stand"].append(outcome(plain, X, seen, y))
                    mark, labels = (0, seen) if name == "pu" else (-1, recorded)
                    marked = kind(random_state=seed, unlabeled=mark, **settings)
                    found[*place, f"unlabeled={mark}"].append(outcome(marked, X, labels, y))
    print(
        "| table | model | prior | labels | fits | refused | constant | warned of labels "
        "| warned of the constant | accuracy |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for place, rows in found.items():
        *counted, accuracy = np.array(rows, dtype=float).T
        mean = "-" if np.isnan(accuracy).all() else f"{np.nanmean(accuracy):.2f}"
        counts = [len(rows), *(int(v.sum()) for v in counted)]
        print(f"| {' | '.join([*place, *map(str, counts), mean])} |")


if __name__ == "__main__":
    main()
