"""
How fast do cells shrink, and how fast does a forest learn?
===========================================================

Theory speaks of forests whose cells are drawn without looking at the labels: pure random forests
(Gao & Zhou 2020). Their rates rest on one thing, how the sides of a random point's cell shrink
with the number k of cells: like k^(-1 / (3d)) if cuts are uniform, k^(-1 / (2d)) if they are
midpoints, k^(-1 / d) if all cells are cut in turn and every coordinate in turn (balanced). The
upper row measures that in one, two and three dimensions, beside the lines of theory.

The lower row asks what it is worth: `PureRandomForestClassifier` with its default number of cells,
on rows whose probability of the second class is ``eta(x) = .5 + .45 mean_j sin(2 pi (.83 x_j +
.137))``, which no midpoint is aligned with. The mean of ``|p(x) - eta(x)|`` over new cases falls
faster than the guarantees of the first two rules (slopes of about -.2 where -.05 to -.17 is
promised: the bounds are loose), and slower than the asymptotic one of the third. In one dimension
the rule with the best guarantee is the worst at these n.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from psephos import PureRandomForestClassifier
from psephos.trees.forest import SPLITS, pure_tree, risk_exponent, side_exponent

# %%
# Sides of cells
# --------------


def sides(split, d, sizes, n_trees=80, n_points=100):
    """Return the mean side of the cell of a random point, for each number of cells."""
    rng = np.random.default_rng(d)
    return np.array(
        [
            np.mean(
                [
                    pure_tree(split, d, int(k), 1000 * t + i)
                    .sides(rng.random((n_points, d)))
                    .mean()
                    for t in range(n_trees)
                ]
            )
            for i, k in enumerate(sizes)
        ]
    )


def slope(x, y):
    """Return the slope of log y on log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


# %%
# Errors of forests
# -----------------


def eta(X):
    """Return the probability of the second class."""
    return 0.5 + 0.45 * np.sin(2 * np.pi * (0.83 * X + 0.137)).mean(axis=1)


def errors(split, d, sizes, n_trees=20, n_repeats=3):
    """Return the mean of |p - eta| over new cases, for each number of training rows."""
    found = []
    for n in sizes:
        each = []
        for seed in range(n_repeats):
            rng = np.random.default_rng(1000 * seed + int(n))
            X, new = rng.random((int(n), d)), rng.random((500, d))
            y = (rng.random(int(n)) < eta(X)).astype(int)
            model = PureRandomForestClassifier(n_trees, split=split, random_state=seed).fit(X, y)
            each.append(np.abs(model.predict_proba(new)[:, 1] - eta(new)).mean())
        found.append(np.mean(each))
    return np.array(found)


# %%
# The picture
# -----------


def draw(cells, rows):
    """Return the figure; `cells` and `rows` are the sizes on the horizontal axes."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.5), layout="constrained")
    for d in (1, 2, 3):
        above, below = axes[0, d - 1], axes[1, d - 1]
        for split, colour in zip(SPLITS, ("C0", "C1", "C2"), strict=True):
            found = sides(split, d, cells)
            exponent = -side_exponent(split, d)
            label = f"{split}: {slope(cells, found):.2f} (theory {exponent:.2f})"
            above.loglog(cells, found, "o", color=colour, label=label)
            line = found[0] * (cells / cells[0]) ** exponent
            above.loglog(cells, line, color=colour, linewidth=1)
            found = errors(split, d, rows)
            label = f"{split}: {slope(rows, found):.2f} (at least {-risk_exponent(split, d):.2f})"
            below.loglog(rows, found, "o-", color=colour, label=label)
        above.set(title=f"{d} dimension{'s' * (d > 1)}", xlabel="cells k")
        below.set(xlabel="rows n")
        below.set_xscale("log", base=2)
        above.legend(fontsize="small")
        below.legend(fontsize="small")
    axes[0, 0].set_ylabel("side of a random point's cell")
    axes[1, 0].set_ylabel("mean |p(x) - eta(x)|")
    return figure


def main():
    parser = argparse.ArgumentParser(description="Rates of pure random forests")
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    figure = draw(2 ** np.arange(4, 13, 2), 2 ** np.arange(8, 14))
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
