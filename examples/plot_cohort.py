"""
A fitted model on another cohort
================================

A model is fitted in one clinic and predicts the patients of another, where one marker is measured
on another scale and one was not measured at all. `validate` fits nothing again: it reports which
voters can still be used, which columns have shifted, which cases the model misses, and separately
what a recalibration on the new cohort would change.

Run it with ``python examples/plot_cohort.py``, or with ``--out picture.png``. The same figures are
a page after ``psephos validate MODEL COHORT --out FOLDER`` and ``psephos report FOLDER``.
"""

import argparse

import numpy as np
import pandas as pd

from psephos import AdaBoostClassifier, validate
from psephos.explain import MissedDisplay

MARKERS = ["CRP", "ferritin", "IL-6", "age", "height"]


def patients(n, seed, shift=0.0):
    """Return markers of n patients and their diagnoses: ill where three markers are high."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, len(MARKERS))), columns=MARKERS)
    ill = X["CRP"] + X["ferritin"] + X["IL-6"] + 0.5 * rng.normal(size=n) > 0
    X["CRP"] += shift  # another device
    return X, np.where(ill, "ill", "well")


def cohorts():
    """Return the validation on patients like those of the fit, and on those of another clinic."""
    model = AdaBoostClassifier(n_estimators=20).fit(*patients(200, seed=0))
    alike = validate(model, *patients(200, seed=1), positive="ill")
    X, y = patients(200, seed=2, shift=1.0)
    other = validate(model, X.drop(columns="IL-6"), y, positive="ill")
    return {"as in the fit": alike, "the other clinic": other}


def missed(found):
    """Return whom a validated model misses, as a display."""
    cases = found.frame("predictions")
    return MissedDisplay.from_predictions(
        cases["truth"], cases["p_ill"], pos_label="ill", ids=cases["id"]
    )


def draw(found):
    """Draw the answers of both cohorts, a lane a class."""
    import matplotlib.pyplot as plt  # the extra 'plot'

    figure, axes = plt.subplots(len(found), 1, figsize=(9, 7), layout="constrained")
    for ax, (name, one) in zip(axes, found.items(), strict=True):
        missed(one).plot(ax=ax)
        ax.set_title(f"{name}: ROC-AUC {one.figure('ROC-AUC')['value']:.2f}")
    return figure


def main():
    """Print what changes, and draw it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    out = parser.parse_args().out
    found = cohorts()
    for name, one in found.items():
        print(f"{name}: {missed(one)}")
    print(found["the other clinic"])
    figure = draw(found)
    if out:
        figure.savefig(out)


if __name__ == "__main__":
    main()
