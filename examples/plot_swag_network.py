"""
A library of small models: which columns, and which together?
=============================================================

SWAG (the Sparse Wrapper AlGorithm) on scikit-learn's breast cancer table with all products of two
measurements, 465 columns: a search for linear discriminants of at most three columns. The network
of the models that vote, their errors beside those of the same mechanism on all columns, and the
question that comes before any reading of it: would the same search find as much in noise?
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_score

import psephos
from psephos.datasets import breast_cancer_interactions
from psephos.explain import ColumnNetwork, ErrorDisplay, selection_test

# %%
# Search
# ------
#
# All candidates are judged on the same ten folds, and so is the mechanism on all columns: that is
# the seed paper's comparison. The errors of the small models are the least of thousands, and
# flatter them; an honest error needs rows outside the search (`psephos compare`).

FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def demo():
    """Return the table as a frame, and the diagnoses."""
    table = breast_cancer_interactions()
    return pd.DataFrame(table.X, columns=table.columns), table.y


def swag(m=3000, seed=0):
    """Return the search, not yet fitted."""
    return psephos.SparseWrapperClassifier(
        "lda", p_max=3, m=m, alpha=0.1, cv=FOLDS, random_state=seed
    )


def error_on_all_columns(X, y):
    """Return the cross-validated error of one linear discriminant of all columns."""
    scores = cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=FOLDS)
    return float(1 - scores.mean())


# %%
# Is it signal?
# -------------
#
# The search is repeated on permuted diagnoses. With 19 permutations, which are soon done, p is at
# least .05, so that is the level here; for a decision take the defaults, 99 and .02. The same is
# asked of diagnoses that have been shuffled before: a search in noise finds its best models too,
# and their network can be drawn like any other.


def is_it_signal(X, y, m=300, n_permutations=19, seed=0):
    """Return the test of the diagnoses, and of shuffled ones."""
    shuffled = np.random.default_rng(seed).permutation(y)
    return {
        name: selection_test(
            swag(m, seed), X, labels, n_permutations=n_permutations, random_state=seed
        )
        for name, labels in (("diagnoses", y), ("shuffled diagnoses", shuffled))
    }


def story(seed=0):
    """Return everything the example shows, in one dictionary."""
    X, y = demo()
    model = swag(seed=seed).fit(X, y)
    reference = {"all 465 columns": error_on_all_columns(X, y)}
    return {
        "model": model,
        "network": ColumnNetwork.from_estimator(model),
        "errors": ErrorDisplay.from_estimator(model, reference),
        "tests": is_it_signal(X, y, seed=seed),
    }


def tell(found):
    """Print the story."""
    network = found["network"]
    print(f"{network.n_models} models of at most 3 columns vote; {len(network.names)} columns.\n")
    nodes = network.nodes()
    for i in range(8):
        line = f"{nodes['column'][i]}: {nodes['share'][i]:.0%} of the models, {nodes['role'][i]}"
        print(line + (f" of {nodes['synonym_of'][i]}" if nodes["synonym_of"][i] else ""))
    better = found["errors"].better()
    print()
    for d, share in zip(better["dimension"], better["share"], strict=True):
        print(f"{share:.0%} of the models with {d} column(s) are better than one of all columns.")
    print()
    for name, test in found["tests"].items():
        print(f"{name}: {test.sentence(level=0.05)}")


# %%
# The picture
# -----------
#
# Left, the network: the seed paper's Figures 1 and 2. Right, its histograms, one a number of
# columns.


def draw(found):
    """Draw the columns that at least 5 % of the models read, and the errors of all models."""
    fig = plt.figure(figsize=(14, 6), layout="constrained")
    left, right = fig.subfigures(1, 2, width_ratios=(3, 2))
    found["network"].plot(least=0.05, ax=left.subplots())
    errors = found["errors"]
    errors.plot(right.subplots(len(errors.dimension), 1, sharex=True))
    return fig


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The network of a library of small models")
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    everything = story()
    tell(everything)
    figure = draw(everything)
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()
