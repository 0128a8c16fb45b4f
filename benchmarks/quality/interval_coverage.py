"""Do 95 % intervals of a mean over five folds hold the accuracy of the model on new cases?

    python benchmarks/quality/interval_coverage.py [TABLES]

Tables of two classes are drawn (eight columns, three of them shifted by .6), a logistic regression
and a tree of depth 3 are evaluated in five folds, and fitted to all rows; the truth is the balanced
accuracy of that fit on 4,000 new rows. Printed are, for the corrected resampled t interval and for
the wider of it and Wilson's by the number of cases (as psephos prints it): how often it holds the
truth, its median width, and how often it holds the truth where t is narrower than by cases.
"""

import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from psephos.figures.confusion import of_counts
from psephos.protocol.evaluation.statistics import paired_difference

MODELS = {
    "logistic": LogisticRegression(class_weight="balanced"),
    "tree": DecisionTreeClassifier(max_depth=3, class_weight="balanced"),
}


def drawn(rng, n, share):
    """Return a table of n rows, and classes of which `share` are 1."""
    y = np.r_[np.ones(5), np.zeros(5), rng.random(n - 10) < share].astype(int)
    X = rng.normal(size=(n, 8))
    X[:, :3] += 0.6 * y[:, None]
    return X, y


def intervals(rng, n, share, model):
    """Return the truth, and the ends of the interval by folds, by cases, and the wider."""
    X, y = drawn(rng, n, share)
    folds = StratifiedKFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
    values = [
        float(balanced_accuracy_score(y[test], model.fit(X[train], y[train]).predict(X[test])))
        for train, test in folds.split(X, y)
    ]
    by_cases = of_counts("balanced_accuracy", float(np.mean(values)), np.bincount(y).tolist())
    new, truth = drawn(rng, 4000, share)
    value = balanced_accuracy_score(truth, model.fit(X, y).predict(new))
    t = paired_difference(values, [0.0] * 5, 0.25)
    wider = min(t.low, by_cases[0]), max(t.high, by_cases[1])
    return value, np.array([(t.low, t.high), by_cases, wider])


def main():
    """Print a line for each size, share of the rarer class, and model."""
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    rng = np.random.default_rng(0)
    print("rows share model    | holds: t, wider | width: t, wider | where t is narrower: t, wider")
    for n in (60, 200, 1000):
        for share in (0.5, 0.2):
            for name, model in MODELS.items():
                each = [intervals(rng, n, share, model) for _ in range(tables)]
                truth, ends = (
                    np.array([t for t, _ in each])[:, None],
                    np.array([e for _, e in each]),
                )
                holds = ((ends[..., 0] <= truth) & (truth <= ends[..., 1]))[:, [0, 2]]
                width = np.ptp(ends, axis=2)
                narrow = width[:, 0] < width[:, 1]
                print(
                    f"{n:4} {share:5} {name:8}", *holds.mean(axis=0).round(3),
                    *np.median(width[:, [0, 2]], axis=0).round(3),
                    *holds[narrow].mean(axis=0).round(2), f"({narrow.mean():.2f})", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
