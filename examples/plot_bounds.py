"""
What can be proved of a forest's error
======================================

A bound holds with probability 95 % over the rows drawn, whatever made them. It is informative only
if it is below the error of always predicting the most frequent class, here about 1/2; else it is
vacuous. Here a forest is fitted on more and more rows of a generated problem, and what is proved of
it is drawn beside its error on 20,000 new rows: from a quarter of the rows that were kept out of
the fit, and from the rows that each tree of a forest on all rows happened not to be grown on.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from psephos import RandomForestClassifier
from psephos.bounds import held_out_bound, pac_bayes_kl_bound, tandem_bound

# %%
# The problem
# -----------


def rows_of(n, rng, noise=0.05):
    """Return n rows of ten columns; a sum of two decides, and some labels are flipped."""
    X = rng.standard_normal((n, 10))
    y = np.where((X[:, 0] + X[:, 1] > 0) ^ (rng.random(n) < noise), "ill", "well")
    return X, y


# %%
# What is proved, and what is so
# ------------------------------
#
# *Held out* is the binomial limit of the errors on rows kept apart: it costs a quarter of the rows.
# *Tandem* is four times a limit of how often two trees err together, *PAC-Bayes-kl* twice a limit
# of how often one tree does, both on out-of-bag rows, so that all rows are fitted.


def curves(sizes=(200, 400, 800, 1600, 3200), n_trees=60, seed=0):
    """Return the error and the bounds of forests, by number of rows.

    Returns
    -------
    dict of str to list of float
    """
    rng = np.random.default_rng(seed)
    new = rows_of(20_000, rng)
    found = {"error on new rows": [], "held out": [], "tandem": [], "PAC-Bayes-kl": []}
    for n in sizes:
        X, y = rows_of(n, rng)
        forest = RandomForestClassifier(n_trees, min_samples_leaf=5, random_state=seed).fit(X, y)
        kept = n // 4
        part = RandomForestClassifier(n_trees, min_samples_leaf=5, random_state=seed)
        part.fit(X[kept:], y[kept:])
        found["error on new rows"].append(1 - forest.score(*new))
        found["held out"].append(held_out_bound(part, X[:kept], y[:kept]).value)
        found["tandem"].append(tandem_bound(forest, X, y).value)
        found["PAC-Bayes-kl"].append(pac_bayes_kl_bound(forest, X, y, rows="out-of-bag").value)
    return dict(found)


# %%
# The picture
# -----------


def main() -> None:
    """Draw the bounds, or save them."""
    parser = argparse.ArgumentParser(description="Bounds of a forest's error by rows.")
    parser.add_argument("--out")
    args = parser.parse_args()
    sizes = (200, 400, 800, 1600, 3200)
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for name, values in curves(sizes).items():
        axes.plot(sizes, values, marker="o", label=name)
    axes.axhline(0.5, color="grey", linestyle="--", label="most frequent class")
    axes.set(xscale="log", xlabel="rows", ylabel="error", ylim=(0, 1),
             title="What is proved of a forest, and its error")  # fmt: skip
    axes.legend()
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
