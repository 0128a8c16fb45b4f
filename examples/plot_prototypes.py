"""
Prototypes: which earlier cases decide this one?
================================================

Proset on scikit-learn's breast cancer table: a few training cases that vote for their own
diagnosis, each with a local weight. The example shows which cases these are, which of them decide a
doubtful case, and how a case that is unlike all of them is detected.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import psephos
from psephos.explain import (
    BatchMap,
    ColumnMap,
    DecisionSurface,
    PrototypeBallot,
    PrototypeTable,
    familiarity_p_value,
    reference_point,
)

# %%
# Fit
# ---
#
# One batch. A stronger penalty of bandwidths leaves few columns, a stronger L1 penalty of weights
# few prototypes. Of the cases that the fit has not seen, half will be references.


def fitted(seed=0):
    """Return the model, its training cases, the references, and the cases to be read."""
    data = load_breast_cancer(as_frame=True)
    diagnosis = data.target_names[data.target]
    X, rest, y, truth = train_test_split(
        data.data, diagnosis, test_size=0.4, stratify=diagnosis, random_state=seed
    )
    references, cases, _, truth = train_test_split(
        rest, truth, test_size=0.5, stratify=truth, random_state=seed
    )
    model = psephos.ProsetClassifier(lambda_v=1e-2, lambda_w=1e-4, alpha_w=0.95, random_state=seed)
    return model.fit(X, y), X, references, cases, truth


# %%
# Who decides
# -----------
#
# The impact of a prototype is its weight times its similarity with the case. The dominant set are
# the prototypes of highest impact that settle the answer: whatever the diagnoses of all others
# had been, it would be the same. A case may be doubtful because diagnoses are mixed around it, or
# because nothing is near; here it is one of the first kind.


def doubtful(model, cases, p):
    """Return the familiar case whose probability is nearest to 1/2, as a table of one row."""
    off = np.abs(model.predict_proba(cases)[:, 1] - 0.5)
    return cases.iloc[[np.argmin(np.where(p > 0.2, off, 1.0))]]


# %%
# Who is a stranger
# -----------------
#
# A case whose radius was entered in another unit is near no prototype. The model answers with the
# class frequencies, and without the p-value nobody would see that this is no answer.


def mistaken(model, cases):
    """Return a typical case with its radius in tenths of the unit."""
    case = cases.iloc[[reference_point(model, cases)]].copy()
    case["worst radius"] *= 10
    return case


def story(seed=0):
    """Return everything the example shows, in one dictionary."""
    model, X, references, cases, truth = fitted(seed)
    p = familiarity_p_value(model, cases, references)
    case, stranger = doubtful(model, cases, p), mistaken(model, cases)
    return {
        "model": model,
        "accuracy": model.score(cases, truth),
        "table": PrototypeTable.from_estimator(model),
        "case": case,
        "ballot": PrototypeBallot.from_estimator(model, case),
        "cases": cases,
        "p": p,
        "stranger": stranger,
        "stranger_p": float(familiarity_p_value(model, stranger, references)[0]),
        "stranger_probability": model.predict_proba(stranger)[0],
        "columns": ColumnMap.from_estimator(model),
        "map": BatchMap.from_estimator(model),
        "surface": DecisionSurface.from_estimator(model, ("worst radius", "worst texture"), X),
    }


def tell(found):
    """Print the story."""
    model, table = found["model"], found["table"].table()
    n_columns = len(model.features_used_)
    print(f"{model.n_prototypes_.sum()} prototypes read {n_columns} columns; ", end="")
    print(f"accuracy on unseen cases {found['accuracy']:.3f}.\n\nThe heaviest prototypes:")
    for i in range(2, 6):
        values = ", ".join(f"{c} {table[f'value_{c}'][i]:.4g}" for c in model.features_used_)
        print(f"  row {table['row'][i]}, {table['answer'][i]}: {values}")
    ballot = found["ballot"].table()
    named = sum(ballot["dominant"])
    print(f"\nCase {ballot['case'][0]}: {named} of {len(ballot['row']) - 1} prototypes suffice.")
    for i in range(1, min(named, 5) + 1):
        print(f"  {ballot['share'][i]:.0%}: row {ballot['row'][i]}, {ballot['answer'][i]}")
    print(f"\nUnseen cases with p <= 0.05: {np.mean(found['p'] <= 0.05):.1%}.")
    chance = ", ".join(f"{p:.2f}" for p in found["stranger_probability"])
    print(f"The case with a radius in another unit: p = {found['stranger_p']:.3f}, ", end="")
    print(f"probabilities {chance}.")


# %%
# The picture
# -----------
#
# Top, the answer where two columns vary, and the ballot of the doubtful case. Below, the
# prototypes as near to each other as the model hears them, with that case as a cross, and how
# sharply each column is looked at.


def draw(found):
    """Draw surface, ballot, map and columns."""
    fig, axes = plt.subplots(2, 2, figsize=(12, 8), layout="constrained")
    found["surface"].plot(ax=axes[0, 0])
    found["ballot"].plot(ax=axes[0, 1])
    found["map"].plot(found["case"], ax=axes[1, 0])
    found["columns"].plot(ax=axes[1, 1])
    return fig


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Reading prototypes")
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    everything = story()
    tell(everything)
    figure = draw(everything)
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()
