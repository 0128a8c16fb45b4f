"""Is what forests and bags say of their own certainty true of rows they have not seen?

    PSEPHOS_DATA=... python benchmarks/quality/bag_uncertainty.py [--splits 5]

Half of the rows fit, the other half is held out, stratified, `--splits` times. Of the probability
of the answer, out of bag and on held-out rows: the expected calibration error over ten bins of
equal numbers of rows (the mean over bins of |share right - mean probability|, in percent), and that
of a model whose probabilities were true (drawn from them), for comparison. Of each measure of
uncertainty: the chance that it is greater for a wrong answer than for a right one (AUC). Of
numbers: how many held-out rows lie within two standard deviations, by the jackknife's variance of
the mean (none where it is below 0) plus the mean squared error out of bag.
"""

import argparse

import numpy as np
from committees import read
from sklearn.datasets import load_diabetes, make_classification, make_friedman1
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from psephos import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

MEASURES = ("total", "aleatoric", "epistemic", "variance")


def tables():
    """Yield (name, X, y) of classes."""
    for name in ("breast_cancer", "vowel", "satellite"):
        yield name, *read(name)[:2]
    X, y, _ = read("letter")
    some = np.random.default_rng(0).permutation(len(y))[:6000]
    yield "letter, 6,000 rows", X[some], y[some]
    for noise in (0.0, 0.3):
        yield (
            f"drawn, {noise:.0%} of labels at random",
            *make_classification(2000, 20, n_informative=5, flip_y=noise, random_state=0),
        )


def calibration(chances, right):
    """Return (expected calibration error, that of true probabilities) in percent."""
    order = np.argsort(chances, kind="stable")
    bins = np.array_split(order, 10)
    rng = np.random.default_rng(0)

    def error(right):
        return np.mean([abs(right[b].mean() - chances[b].mean()) for b in bins])

    ideal = np.mean([error(rng.random(len(chances)) < chances) for _ in range(20)])
    return 100 * error(right), 100 * ideal


def of_classes(make, X, y, splits):
    found = []
    cut = StratifiedShuffleSplit(splits, test_size=0.5, random_state=0)
    for seed, (train, test) in enumerate(cut.split(X, y)):
        model = make(seed).fit(X[train], y[train])
        oob = model.oob_decision_function_
        known = ~np.isnan(oob[:, 0])
        inside = calibration(
            oob[known].max(axis=1), model.classes_[oob[known].argmax(axis=1)] == y[train][known]
        )
        chances = model.predict_proba(X[test])
        right = model.classes_[chances.argmax(axis=1)] == y[test]
        outside = calibration(chances.max(axis=1), right)
        sure = model.uncertainty(X[test])._asdict()
        ranks = []
        for name in MEASURES:
            size = sure[name] if sure[name].ndim == 1 else sure[name].sum(axis=1)
            ranks.append(roc_auc_score(~right, size))
        found.append([100 * model.oob_score_, 100 * right.mean(), *inside, *outside, *ranks])
    return np.mean(found, axis=0)


def of_numbers(make, X, y, splits):
    found = []
    cut = ShuffleSplit(splits, test_size=0.5, random_state=0)
    for seed, (train, test) in enumerate(cut.split(X)):
        model = make(seed).fit(X[train], y[train])
        known = ~np.isnan(model.oob_prediction_)
        noise = np.mean((y[train][known] - model.oob_prediction_[known]) ** 2)
        variance = np.maximum(model.uncertainty(X[test]).jackknife, 0.0)
        off = np.abs(y[test] - model.predict(X[test]))
        found.append([model.oob_score_, model.score(X[test], y[test]),
                      100 * (off <= 2 * np.sqrt(variance + noise)).mean(),
                      100 * (off <= 2 * np.sqrt(noise)).mean()])  # fmt: skip
    return np.mean(found, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    splits = parser.parse_args().splits
    print("| table | model | OOB % | held out % | ECE OOB (true) | ECE held out (true) | "
          "AUC of errors: total | aleatoric | epistemic | variance |")  # fmt: skip
    print("| --- | --- |" + " ---: |" * 8)
    kinds = {
        "forest, 200": lambda s: RandomForestClassifier(200, oob_score=True, random_state=s),
        "bag, 50": lambda s: BaggingClassifier(n_estimators=50, oob_score=True, random_state=s),
    }
    for name, X, y in tables():
        for kind, make in kinds.items():
            r = of_classes(make, X, y, splits)
            print(f"| {name} | {kind} | {r[0]:.1f} | {r[1]:.1f} | {r[2]:.1f} ({r[3]:.1f}) | "
                  f"{r[4]:.1f} ({r[5]:.1f}) | " + " | ".join(f"{v:.2f}" for v in r[6:]) + " |",
                  flush=True)  # fmt: skip
    print("\n| table | model | OOB R^2 | held out | within two s.d. % | without the jackknife % |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    kinds = {
        "forest, 200": lambda s: RandomForestRegressor(200, oob_score=True, random_state=s),
        "bag, 50": lambda s: BaggingRegressor(n_estimators=50, oob_score=True, random_state=s),
    }
    drawn = make_friedman1(1000, noise=1.0, random_state=0)
    for name, (X, y) in (("diabetes", load_diabetes(return_X_y=True)), ("friedman 1", drawn)):
        for kind, make in kinds.items():
            r = of_numbers(make, X, y, splits)
            print(f"| {name} | {kind} | {r[0]:.2f} | {r[1]:.2f} | {r[2]:.1f} | {r[3]:.1f} |")


if __name__ == "__main__":
    main()
