"""Proset's fallback: held-out log-loss with it, without it, and of the class frequencies.

On real sets (PSEPHOS_DATA), five folds twice, whole groups; and on 100 tables of noise, 60 rows of
50 normal columns whose labels are random, with 1,000 new rows each. Run it as
``python benchmarks/quality/proset_fallback.py [noise|SET ...]``.
"""

import sys
import time

import numpy as np
from realdata import load
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from psephos import ProsetClassifier

SETS = [
    "gut_obesity", "gut_cirrhosis", "gut_colorectal", "colon_alon", "breast_gravier", "lsvt",
    "sonar", "ionosphere", "wine", "glass", "pima",
]  # fmt: skip
NOISE = range(100)


def compare(X, y, new, truth, seed):
    """Return (frequencies', fit's, guarded fit's log-loss), shrinkage, seconds of either fit."""
    shares = np.unique(y, return_counts=True)[1] / len(y)
    losses, seconds, shrinkage = [], [], 1.0
    for fallback in (None, "shrink"):
        start = time.perf_counter()
        model = ProsetClassifier(fallback=fallback, random_state=seed).fit(X, y)
        seconds.append(time.perf_counter() - start)
        losses.append(log_loss(truth, model.predict_proba(new), labels=model.classes_))
        shrinkage = model.shrinkage_
    prior = log_loss(truth, np.tile(shares, (len(truth), 1)), labels=np.unique(y))
    return [prior, *losses], shrinkage, seconds


def of_noise():
    for seed in NOISE:
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((1060, 50)), rng.integers(0, 2, 1060)
        yield compare(X[:60], y[:60], X[60:], y[60:], seed)


def of_set(name):
    X, y, groups, _ = load(name)
    for seed in range(2):
        if groups is None:
            folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
        else:
            folds = StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(X, y, groups)
        for train, test in folds:
            yield compare(X[train], y[train], X[test], y[test], seed)


def main():
    heads = ("table", "frequencies", "no fallback", "fallback", "shrinkage: 0, between, 1")
    print("{:<15} {:>11}  {:>11}  {:>8}  {}  seconds".format(*heads), flush=True)
    for name in sys.argv[1:] or ["noise", *SETS]:
        found = list(of_noise() if name == "noise" else of_set(name))
        prior, plain, guarded = np.mean([one[0] for one in found], axis=0)
        shrinkage = np.array([one[1] for one in found])
        few, all_of = int((shrinkage == 0).sum()), int((shrinkage == 1).sum())
        told = f"{few}, {len(found) - few - all_of}, {all_of}"
        before, after = np.mean([one[2] for one in found], axis=0)
        print(
            f"{name:<15} {prior:>11.3f}  {plain:>11.3f}  {guarded:>8.3f}  {told:>24}  "
            f"{before:.2f} -> {after:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
