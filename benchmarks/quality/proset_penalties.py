"""Proset's penalties: what fewer prototypes and columns cost in log-loss and save in prediction.

python benchmarks/quality/proset_penalties.py [--sets digits,...] [--seeds 5] [--first-seed 0]
    [--settings default,lambda_v-x2,...]

The tables of benchmarks/speed/bench_proset.py, stratified splits 70/30. Each setting changes the
defaults of ProsetClassifier by what it names: ``x2`` is twice the automatic penalty, numbers are
the parameter; `program` are the penalties of prototypes of the authors' program (lambda_w = 1e-8,
alpha_w = .05). Means over the seeds: log-loss of the test part, columns, prototypes, their product
(multiplications a row), and microseconds of CPU to answer the test rows, a row (median of 15
calls). Seeds below 100 chose the defaults; 100 to 109 are those of bench_proset.py.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "speed"))
from bench_proset import SETS, timed  # first: it asks NumPy for one thread

# isort: split
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from psephos import ProsetClassifier
from psephos.models.prototypes.problem import automatic

_CALLS = 15
TIMES = {"lambda_v", "lambda_w"}  # these are given as multiples of the automatic value
PROGRAM = {"alpha_w": 0.05, "lambda_w": None}  # 1e-8, whatever the rows
SETTINGS = {
    "default": {},
    "program": PROGRAM,
    **{f"lambda_w-x{k:g}": {"lambda_w": k} for k in (0.03, 0.1, 0.3, 1.6, 3, 10)},
    **{f"alpha_w-{a:g}": {"alpha_w": a} for a in (0.05, 0.5, 0.95)},
    **{f"lambda_v-x{k:g}": {"lambda_v": k} for k in (0.5, 2, 3, 5)},
    **{f"alpha_v-{a:g}": {"alpha_v": a} for a in (0.5, 0.95)},
    **{f"tol-{t:g}": {"tol": t} for t in (2e-7, 1e-8)},
    **{f"candidates-{m}": {"n_candidates": m} for m in (300, 500)},
    "halves": {"references": "rest"},
}


def changed(changes, n_rows, n_columns):
    """Return the parameters that a setting stands for, on so many rows and columns that vary."""
    found = dict(changes)
    for name in TIMES & set(found):
        times = found[name]
        found[name] = 1e-8 if times is None else times * automatic(name, n_rows, n_columns)
    return found


def one(name, seed, changes):
    """Return log-loss, columns, prototypes, their product and microseconds a row."""
    X, y = SETS[name](seed)
    A, B, s, t = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    settings = changed(changes, len(s), int((np.ptp(A, axis=0) > 0).sum()))
    model = ProsetClassifier(random_state=seed, **settings).fit(A, s)
    loss = log_loss(t, model.predict_proba(B))
    asked = np.median([timed(lambda: model.predict_proba(B))[0] for _ in range(_CALLS)])
    columns, prototypes = model.n_features_used_, int(model.n_prototypes_.sum())
    return loss, columns, prototypes, columns * prototypes, asked / len(t) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    print("| set | setting | log-loss | columns | prototypes | product | us a row |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name in options.sets.split(","):
        for setting in options.settings.split(","):
            seeds = range(options.first_seed, options.first_seed + options.seeds)
            found = np.mean([one(name, seed, SETTINGS[setting]) for seed in seeds], axis=0)
            loss, columns, prototypes, product, asked = found
            print(
                f"| {name} | {setting} | {loss:.4f} | {columns:.1f} | {prototypes:.0f} | "
                f"{product:.0f} | {asked:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
