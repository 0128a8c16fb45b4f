"""
No other classifier is better on average
========================================

"No other classification method using the same hypothesis space and same prior knowledge can
outperform this method on average" (Mitchell 1997, section 6.7, of the Bayes optimal classifier).
On average means over targets drawn from the prior. Here targets are the 82 conjunctions over four
columns of two categories, all equally probable, one label in ten is wrong, and each classifier is
evaluated on the target's labels of all 16 cases.

The left panel shows the mean error over targets and its 95 % interval: none is below the vote of
all hypotheses by more than chance, a hypothesis drawn from the posterior (Gibbs) has at most twice
its error, and learners that know nothing of conjunctions need more rows. The right panel shows what
the sentence does not say: on a share of single targets each of the others has the smaller error.
"""

import argparse
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from psephos import BayesOptimalClassifier, GibbsClassifier

NOISE, COLUMNS = 0.1, 4
CASES = np.array(list(itertools.product((0, 1), repeat=COLUMNS)))
TABLE = pd.DataFrame(CASES, columns=list("abcd"), dtype=pd.CategoricalDtype([0, 1]))
METHODS = {
    "Bayes optimal": BayesOptimalClassifier(noise=NOISE),
    "most probable hypothesis": BayesOptimalClassifier(noise=NOISE, decision="map"),
    "Gibbs": GibbsClassifier(noise=NOISE, n_draws=1, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
    "logistic regression": LogisticRegression(),
}

# %%
# Targets and rows
# ----------------
#
# A target asks of each column for a category, or for nothing; one more says no to every case. A
# sample of one class only is drawn again: whether it has both is seen in the rows, so that the
# posterior given the rows is the same.


def target(rng):
    """Return the labels of all cases by a conjunction drawn from the prior."""
    k = int(rng.integers(3**COLUMNS + 1))
    if k == 3**COLUMNS:
        return np.zeros(len(CASES), dtype=int)
    asked = np.array(np.unravel_index(k, (3,) * COLUMNS)) - 1  # -1: nothing is asked
    return ((asked < 0) | (asked == CASES)).all(axis=1).astype(int)


def drawn(n, rng):
    """Return n rows, their labels, and the labels of all cases by the target."""
    while True:
        truth, rows = target(rng), rng.integers(len(CASES), size=n)
        labels = truth[rows] ^ (rng.random(n) < NOISE)
        if len(np.unique(labels)) == 2:
            return TABLE.iloc[rows], labels, truth


def errors(n, n_targets, seed=0):
    """Return the error of each method (rows) on each target (columns)."""
    rng, found = np.random.default_rng(seed), np.empty((len(METHODS), n_targets))
    for t in range(n_targets):
        X, y, truth = drawn(n, rng)
        for m, method in enumerate(METHODS.values()):
            found[m, t] = np.mean(method.fit(X, y).predict(TABLE) != truth)
    return found


# %%
# The picture
# -----------


def draw(sizes, n_targets):
    """Return the figure: mean errors by the number of rows, and shares of targets won."""
    each = np.stack([errors(n, n_targets, seed=n) for n in sizes])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for m, name in enumerate(METHODS):
        mean = each[:, m].mean(axis=1)
        half = 1.96 * each[:, m].std(axis=1) / np.sqrt(n_targets)
        left.errorbar(sizes, mean, half, fmt="o-", color=f"C{m}", capsize=2, label=name)
        if m:
            won = (each[:, m] < each[:, 0]).mean(axis=1)
            right.plot(sizes, won, "o-", color=f"C{m}", label=name)
    left.set(xscale="log", xlabel="rows", ylabel="mean error over targets")
    right.set(xscale="log", xlabel="rows", ylabel="share of targets with a smaller error")
    for axis in (left, right):
        axis.set_xticks(sizes, [str(n) for n in sizes], minor=False)
        axis.minorticks_off()
        axis.set_ylim(0)
    left.legend(fontsize="small")
    return figure


def main():
    parser = argparse.ArgumentParser(description="The Bayes optimal classifier on average")
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    figure = draw([6, 12, 24, 48, 96], args.targets)
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
