"""Proset with all rows as judges (leave-one-out) beside halves, the authors' program's division.

    PSEPHOS_DATA=... python benchmarks/quality/proset_references.py [--seeds 8] [--first-seed 10]

Stratified splits 70/30, both with the defaults but for ``references``; log-loss of the test part,
means over the seeds, columns and prototypes, and on how many splits all rows are better. `made_p`
is scikit-learn's make_classification, 200 rows of p columns, ten of them informative, another
table for each seed. Splits 0 to 7 chose the penalty of the columns.
"""

import argparse

import numpy as np
from realdata import load
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from psephos import ProsetClassifier

BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "cancer": load_breast_cancer,
    "digits": load_digits,
}
REAL = (
    "lsvt", "gut_cirrhosis", "gut_colorectal", "colon_alon", "leukemia_golub", "prostate_6033",
    "srbct", "breast_gravier",
)  # fmt: skip
MADE = ("made_50", "made_500", "made_5000")


def table(name, seed):
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    if name in MADE:
        n_columns = int(name.removeprefix("made_"))
        return make_classification(
            200, n_columns, n_informative=10, n_redundant=0, random_state=seed
        )
    return load(name)[:2]


def judged(name, seed, references):
    """Return log-loss, columns and prototypes on one split."""
    X, y = table(name, seed)
    A, B, s, t = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    model = ProsetClassifier(references=references, random_state=seed).fit(A, s)
    return log_loss(t, model.predict_proba(B)), model.n_features_used_, model.n_prototypes_.sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=10)
    args = parser.parse_args()
    print(
        "| table | rows x columns | frequencies | halves | all | all lower | columns | prototypes |"
    )
    print("|---|---|---:|---:|---:|---|---|---|")
    for name in (*BUNDLED, *MADE, *REAL):
        seeds = range(args.first_seed, args.first_seed + args.seeds)
        X, y = table(name, seeds[0])
        share = np.unique(y, return_counts=True)[1] / len(y)
        halves, every = (
            np.array([judged(name, seed, kind) for seed in seeds]) for kind in ("rest", "all")
        )
        h, a = halves.mean(axis=0), every.mean(axis=0)
        print(
            f"| {name} | {X.shape[0]} x {X.shape[1]} | {-(share * np.log(share)).sum():.3f} | "
            f"{h[0]:.3f} | {a[0]:.3f} | {(every[:, 0] < halves[:, 0]).sum()} of {len(seeds)} | "
            f"{h[1]:.1f} / {a[1]:.1f} | {h[2]:.0f} / {a[2]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
