"""
What bagging reduces, and what boosting does
============================================

A deep tree changes with the rows (variance); a stump stays the same, and wrong on the same
rows (bias). Bagging averages the first away, boosting adds up the second. `BiasVarianceDisplay`
fits each model on 30 samples of the same rows, predicts the rows that were not drawn, and divides
its error in two (Kohavi & Wolpert 1996).

A bag's members also measure how certain it is: `uncertainty` is how far they disagree. The last
panel predicts the most certain cases first; its error rises as less certain ones are added.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from psephos import AdaBoostClassifier, BaggingClassifier, CARTClassifier
from psephos.explain import BiasVarianceDisplay

GROWN = CARTClassifier(cp=0.0, min_samples_split=2, n_folds=0, random_state=0)
STUMP = AdaBoostClassifier(n_estimators=1)
MODELS = {
    "deep tree": GROWN,
    "bag of 30 deep trees": BaggingClassifier(GROWN, 30, random_state=0),
    "stump": STUMP,
    "100 boosted stumps": AdaBoostClassifier(n_estimators=100),
}


def cases(n, seed):
    """Return n cases of two columns, in two classes that overlap."""
    return make_moons(n, noise=0.3, random_state=seed)


# %%
# Bias and variance
# -----------------


def terms(n_draws=30):
    """Return the bias and the variance of each model, by name."""
    X, y = cases(300, 0)
    found = {}
    for name, model in MODELS.items():
        display = BiasVarianceDisplay.from_estimator(model, X, y, n_draws=n_draws)
        found[name] = {t: display.value(t, "kohavi-wolpert") for t in ("bias", "variance")}
    return found


# %%
# The surest cases first
# ----------------------


def errors_of_the_surest(shares, seed=0):
    """Return the error of the bag on the cases of which it is surest, for each share of them."""
    X, y = cases(300, seed)
    new, truth = cases(3000, seed + 1)
    bag = BaggingClassifier(GROWN, 100, random_state=0).fit(X, y)
    wrong = (bag.predict(new) != truth)[np.argsort(bag.uncertainty(new).total, kind="stable")]
    return [float(wrong[: int(share * len(wrong))].mean()) for share in shares]


# %%
# The picture
# -----------


def draw(found, shares, errors):
    """Return the figure: bars of bias and variance, and the errors by share answered."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    names, base = list(found), np.zeros(len(found))
    for term in ("bias", "variance"):
        values = np.array([found[name][term] for name in names])
        left.barh(names, values, left=base, label=term)
        base += values
    left.invert_yaxis()
    left.set(xlabel="error on rows not drawn")
    left.legend()
    right.plot(shares, errors, marker="o")
    right.set(xlabel="share of cases answered, the surest first", ylabel="error", ylim=(0, None))
    return figure


def main() -> None:
    """Draw both panels, or save them."""
    parser = argparse.ArgumentParser(description="Bias, variance and uncertainty")
    parser.add_argument("--out", help="save the picture here instead of showing it")
    parser.add_argument("--draws", type=int, default=30)
    args = parser.parse_args()
    shares = np.linspace(0.1, 1, 10)
    figure = draw(terms(args.draws), shares, errors_of_the_surest(shares))
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
