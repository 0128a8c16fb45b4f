"""
How few columns are enough, and will they be selected again?
============================================================

A table of 200 rows and 200 columns, in which four columns decide the class. Two questions are
asked of a column-budget model: how accurate it is with 1, 2, 4, 8 and 16 columns, measured in
folds in which the columns are chosen again; and how often each chosen column would be chosen if a
quarter of the rows were replaced, which the model estimates from draws of rows (``return_rate_``).
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from psephos import ColumnBudgetClassifier
from psephos.explain import ColumnCurveDisplay

# %%
# The table
# ---------
# Columns 0 to 3 add up to the log-odds, the first with the largest coefficient.

COEFFICIENTS = np.array([3.0, 2.5, 2.0, 1.0])


def rows_of(n, rng, n_columns=200):
    """Return n rows, and their classes."""
    X = rng.standard_normal((n, n_columns))
    odds = X[:, :4] @ COEFFICIENTS
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "ill", "well")


def small(seed=0):
    """Return a model that selects by LARS: fast enough for an example."""
    return ColumnBudgetClassifier(selector="lars", random_state=seed)


# %%
# Accuracy against columns
# ------------------------
# Each fold selects its columns on its own training rows: a curve on columns that were chosen with
# the test rows in view would be too high.


def curve(X, y, budgets=(1, 2, 4, 8, 16)):
    """Return the cross-validated AUC for each number of columns."""
    return ColumnCurveDisplay.from_estimator(small(), X, y, n_columns=budgets, cv=4)


# %%
# Will they be selected again?
# ----------------------------
# The rate of each selected column, and how often fits select it in fact if a quarter of the rows is
# replaced by new ones. The order is right, but the numbers are not: the constants of the estimate
# are those of measured tables, whose columns are correlated. Here four columns matter, and all
# others are noise.


def rates(X, y, rng, n_samples=8, n_columns=8):
    """Return the columns of a model, their estimated rates, and the rates on other samples."""
    model = small().set_params(n_columns=n_columns).fit(X, y)
    columns = np.asarray(model.features_used_, dtype=int)
    stated = np.asarray(model.return_rate_)
    again = np.zeros(X.shape[1])
    for seed in range(n_samples):
        kept = rng.permutation(len(X))[len(X) // 4 :]
        new_X, new_y = rows_of(len(X) - len(kept), rng)
        fresh = small(seed).set_params(n_columns=n_columns)
        fresh.fit(np.concatenate([X[kept], new_X]), np.concatenate([y[kept], new_y]))
        again[np.asarray(fresh.features_used_, dtype=int)] += 1 / n_samples
    order = np.argsort(-stated, kind="stable")
    return columns[order], stated[order], again[columns[order]]


# %%
# The picture
# -----------


def main() -> None:
    """Draw the curve and the rates, or save them."""
    parser = argparse.ArgumentParser(description="Accuracy against columns, and return rates.")
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    X, y = rows_of(200, rng)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    curve(X, y).plot(ax=left)
    columns, stated, again = rates(X, y, rng)
    places = np.arange(len(columns))
    right.barh(places - 0.2, stated, height=0.4, label="estimated in the fit")
    right.barh(places + 0.2, again, height=0.4, label="a quarter of the rows replaced")
    right.set_yticks(places, [f"column {j}" for j in columns])
    right.invert_yaxis()
    right.set(xlabel="how often the column is selected again", xlim=(0, 1.02))
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
