"""
CART and C4.5 side by side
==========================

The two trees that most others come from, grown on the same 300 patients: a `site` of four levels, a
`dose`, a `marker` that follows the dose, and an uninformative `age`. At site A a high dose
cures, elsewhere a low one does; a fifth of the outcomes is flipped.

What differs: a split of CART has two branches, one of C4.5 a branch for each level. CART
compares splits by Gini impurity, C4.5 by entropy and gain ratio. CART prunes by cross-validated
cost-complexity, C4.5 by a pessimistic limit of the errors on the training rows themselves. Both
predict where a value is missing, though surveys say that C4.5 does not: CART uses a surrogate, here
the marker in place of the dose, with few more errors; C4.5 sends the case down all branches, by
their shares, and without the dose these are no better than chance here.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from psephos import C45Classifier, CARTClassifier
from psephos.explain import TreeDisplay

# %%
# The patients
# ------------


def patients(n, seed):
    """Return n patients and their outcomes."""
    rng = np.random.default_rng(seed)
    site, dose = rng.choice(list("ABCD"), n), rng.uniform(0, 10, n).round(1)
    X = pd.DataFrame(
        {
            "site": pd.Categorical(site, categories=list("ABCD")),
            "dose": dose,
            "marker": (dose + rng.normal(0, 1, n)).round(1),
            "age": rng.uniform(20, 80, n).round(),
        }
    )
    cured = ((dose > 5) == (site == "A")) ^ (rng.random(n) < 0.2)
    return X, np.where(cured, "cured", "ill")


# %%
# Both trees, and what they do
# ----------------------------


def side_by_side(seed=28):
    """Return the two fitted trees, and what is to be compared of each.

    Returns
    -------
    trees : dict of str to estimator
    compared : dict of str to dict
        Of each tree: answers of its first question about `site`, leaves grown and kept, error on
        training and new patients, and on these where their dose is not known.
    """
    X, y = patients(300, seed)
    new, truth = patients(2000, seed + 1)
    lacking = new.assign(dose=np.nan)
    kinds = {
        "CART": (CARTClassifier, {"one_standard_error": True}, {"cp": 0.0, "n_folds": 0}),
        "C4.5": (C45Classifier, {}, {"pruning": None}),
    }
    trees, compared = {}, {}
    for name, (kind, pruned, whole) in kinds.items():
        seeded = {"random_state": seed} if kind is CARTClassifier else {}
        tree = trees[name] = kind(**pruned, **seeded).fit(X, y)
        nodes = TreeDisplay.from_estimator(tree).frame()
        asked = nodes["condition"].str.contains("site", na=False)
        first = nodes.loc[asked, "parent"].iloc[0]
        compared[name] = {
            "answers of its question about the site": int((nodes["parent"] == first).sum()),
            "leaves before pruning": kind(**whole, **seeded).fit(X, y).get_n_leaves(),
            "leaves": tree.get_n_leaves(),
            "error, training patients": 1 - tree.score(X, y),
            "error, new patients": 1 - tree.score(new, truth),
            "error where the dose is missing": 1 - tree.score(lacking, truth),
        }
    return trees, compared


# %%
# The picture
# -----------


def draw(trees, compared):
    """Return the figure: a tree a row, the table below."""
    figure, axes = plt.subplots(3, 1, figsize=(15, 13), height_ratios=(3, 3, 1.2))
    figure.set_layout_engine("constrained")
    for ax, (name, tree) in zip(axes, trees.items(), strict=False):
        TreeDisplay.from_estimator(tree).plot(ax)
        ax.set_title(name)
    frame = pd.DataFrame(compared)
    shown = [[f"{v:g}" if v >= 2 else f"{v:.3f}" for v in row] for row in frame.to_numpy()]
    axes[2].axis("off")
    axes[2].table(shown, rowLabels=list(frame.index), colLabels=list(frame), loc="center right",
                  colWidths=[0.2, 0.2])  # fmt: skip
    return figure


def main() -> None:
    """Draw both trees, or save them."""
    parser = argparse.ArgumentParser(description="CART and C4.5 side by side")
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    figure = draw(*side_by_side())
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
