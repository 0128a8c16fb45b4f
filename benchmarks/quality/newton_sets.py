"""Approximate and histogram boosting beside XGBoost's, on ten sets: accuracy and log-loss.

    PSEPHOS_DATA=... python benchmarks/quality/newton_sets.py [--splits 5] [--rounds 30]
        [--sets magic,...]

Both sides get the same rows, defaults and number of rounds. XGBoost's spread is what its own
answer moves by when the order of the rows and columns changes, which its ties and sketches depend
on, and from split to split. A difference is ours less XGBoost's, with the standard error of its
mean over the splits.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is imported

import numpy as np
import xgboost
from realdata import folder
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedShuffleSplit

from psephos import NewtonBoostingClassifier

SETS = [
    "magic", "higgs_11k", "covtype_15k", "spambase", "segment", "vehicle", "waveform5000",
    "optdigits", "madelon", "pima",
]  # fmt: skip


def read(name):
    with np.load(folder() / name / f"{name}.npz", allow_pickle=False) as archive:
        return archive["X"].astype(np.float32), np.unique(archive["y"], return_inverse=True)[1]


def ours(method, X, y, new, rounds):
    return NewtonBoostingClassifier(method, n_estimators=rounds).fit(X, y).predict_proba(new)


def peer(method, X, y, new, rounds, seed=None):
    if seed is not None:
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
        X, y, new = X[rows][:, columns], y[rows], new[:, columns]
    model = xgboost.XGBClassifier(tree_method=method, n_estimators=rounds, n_jobs=1)
    return model.fit(X, y).predict_proba(new)


def scores(answers, truth):
    labels = np.arange(answers.shape[1])
    return np.array(
        [accuracy_score(truth, answers.argmax(axis=1)), log_loss(truth, answers, labels=labels)]
    )


def run(name, method, splits, rounds):
    """Return ours, XGBoost's, and XGBoost's in another order: (splits, 2) each."""
    X, y = read(name)
    found = [[], [], []]
    cut = StratifiedShuffleSplit(splits, test_size=0.3, random_state=0)
    for seed, (train, test) in enumerate(cut.split(X, y)):
        data = X[train], y[train], X[test], rounds
        found[0].append(scores(ours(method, *data), y[test]))
        found[1].append(scores(peer(method, *data), y[test]))
        found[2].append(scores(peer(method, *data, seed), y[test]))
    return [np.array(side) for side in found]


def cell(difference):
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return f"{difference.mean():+.4f} ± {error:.4f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--sets", default=",".join(SETS))
    asked = parser.parse_args()
    head = (
        "set", "method", "accuracy", "XGBoost", "difference", "its own, reordered", "log-loss",
        "XGBoost", "difference", "its own, reordered",
    )  # fmt: skip
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    inside, total = 0, 0
    pooled = {}
    for name in asked.sets.split(","):
        for method in ("approx", "hist"):
            mine, theirs, moved = run(name, method, asked.splits, asked.rounds)
            cells = [name, method]
            for k in range(2):
                gap, own = mine[:, k] - theirs[:, k], moved[:, k] - theirs[:, k]
                cells += [f"{mine[:, k].mean():.4f}", f"{theirs[:, k].mean():.4f}"]
                cells += [cell(gap), cell(own)]
                error = np.hypot(*(d.std(ddof=1) / np.sqrt(len(d)) for d in (gap, own)))
                inside += abs(gap.mean()) <= max(2 * error, np.abs(own).max())
                total += 1
                pooled.setdefault((method, k), []).append(gap.mean())
            print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\n{inside} of {total} mean differences lie within XGBoost's own spread or 2 errors.")
    for (method, k), gaps in pooled.items():
        print(f"{method}, {('accuracy', 'log-loss')[k]}: mean over sets {cell(np.array(gaps))}")


if __name__ == "__main__":
    main()
