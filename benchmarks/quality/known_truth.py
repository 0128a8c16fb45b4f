"""Known truth: two columns decide, fifty are noise. Who finds them, and only them?

    python benchmarks/quality/known_truth.py [--seeds 5] [--first-seed 0]
        [--noise-columns 50] [--turns 1.25 2 2.5] [--moons-noise 0.1] [--rows 1000]

Spirals (make_spirals) and scikit-learn's moons with noise, brought to unit variance, plus
standard normal columns; 80/20 stratified. Mean balanced accuracy on the test part over the
seeds, its least over the seeds, and in how many seeds exactly the two true columns are used.
The target (SamBA with constructor defaults): .98 and at least 4 of 5.
"""

import argparse

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from psephos import AdaBoostClassifier, SamBAClassifier
from psephos.datasets import make_spirals

MODELS = {
    "SamBA, defaults": SamBAClassifier,
    'SamBA, update="sample"': lambda: SamBAClassifier(update="sample"),
    'SamBA, criterion="error"': lambda: SamBAClassifier(criterion="error"),
    "SamBA, sample and error": lambda: SamBAClassifier(update="sample", criterion="error"),
    "AdaBoost, 50 voters": lambda: AdaBoostClassifier(n_estimators=50),
    "5-NN": KNeighborsClassifier,
}


def split(make, seed, n_noise):
    """Return train and test parts of a generated table with noise columns."""
    X, y = make(seed)
    noise = np.random.RandomState(10_000 + seed).normal(size=(len(X), n_noise))
    table = np.hstack([(X - X.mean(axis=0)) / X.std(axis=0), noise])
    return train_test_split(table, y, test_size=0.2, stratify=y, random_state=seed)


def score(make_model, make_table, seeds, n_noise, first=0):
    """Return balanced accuracies, columns used, and whether those are the two true ones."""
    accuracy, used, exact = [], [], []
    for seed in range(first, first + seeds):
        X, Z, y, t = split(make_table, seed, n_noise)
        model = make_model().fit(X, y)
        accuracy.append(balanced_accuracy_score(t, model.predict(Z)))
        columns = getattr(model, "features_used_", np.arange(X.shape[1]))
        used.append(len(columns))
        exact.append(list(columns) == [0, 1])
    return accuracy, used, exact


def tables(args):
    """Return the generators by name, each a function of the seed."""
    found = {
        f"spirals, {turns:g} turns": lambda seed, turns=turns: make_spirals(
            args.rows, n_turns=turns, random_state=seed
        )
        for turns in args.turns
    }
    found[f"moons, noise {args.moons_noise:g}"] = lambda seed: make_moons(
        args.rows, noise=args.moons_noise, random_state=seed
    )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--noise-columns", type=int, default=50)
    parser.add_argument("--turns", type=float, nargs="+", default=[1.25, 1.5, 2.0, 2.5])
    parser.add_argument("--moons-noise", type=float, default=0.1)
    args = parser.parse_args()
    defaults = SamBAClassifier().get_params()
    told = ("n_estimators", "a", "b", "criterion", "update", "distance_scale", "column_scale")
    print("SamBA's defaults: " + ", ".join(f"{k}={defaults[k]!r}" for k in told))
    seeds = f"{args.seeds} seeds from {args.first_seed}"
    print(f"{args.rows} rows, {args.noise_columns} noise columns, {seeds}, 80/20\n")
    print("| table | model | mean bal. acc. | least | columns used | exactly the two |")
    print("|---|---|---:|---:|---:|---:|")
    for table, make_table in tables(args).items():
        for name, make_model in MODELS.items():
            accuracy, used, exact = score(
                make_model, make_table, args.seeds, args.noise_columns, args.first_seed
            )
            line = f"{np.mean(accuracy):.3f} | {min(accuracy):.3f} | {np.mean(used):.1f}"
            print(f"| {table} | {name} | {line} | {sum(exact)} of {args.seeds} |", flush=True)


if __name__ == "__main__":
    main()
