"""
Decision functions on moons and spirals
=======================================

SamBA stands between boosting and nearest neighbours: its voters are stumps, which cut the plane
straight, and each weighs more near training rows on which it was right, which bends the decision.
This redraws Figure 3 of the SamBA paper's supplement (Bauvin et al., UAI 2023, appendices E.2 and
F.3): 1000 rows, 80 % to train (small dots) and 20 % to test (large dots); colour is the decision,
its strength the certainty. The settings are the supplement's: SVM with C = .1 and gamma = 1.1,
the other peers with scikit-learn's defaults. ``--figure 4`` redraws Figure 4: Lasso (here an
l1-penalised logistic regression), linear tree, gradient boosting and Newton boosting (XGBoost's
method), each with its defaults; the supplement does not print the settings of these. It prints
neither the moons' noise (.1 here) nor the spirals' turns (2 here).

SamBA appears twice: with the supplement's 4 voters, a = 1e-15 and b = 20, and with this library's
defaults. Two notes on the first:

* Which distance? The authors' program divides the distances of each case by their sum
  (``distance_scale="sum"``), which is used here. At these settings it does not matter: a^b is
  1e-300, nothing, so a factor common to all distances of a case cancels in the normalised vote,
  and "mean", "sum" and None give the same accuracy. Only the nearest rows count.
* Which update? By Algorithm 3 (``update="sample"``) four voters find both columns of the spirals.
  The program's update without leaving a row out of its own vote does not: a row at distance 0
  from itself outweighs all others by 1e300, so that training votes are right for no good reason,
  the weights stop moving, and one column is cut again and again (balanced accuracy about .7).
  ``update="vote"`` with ``leave_one_out=True``, this library's default, does find them.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from psephos import (
    GradientBoostingClassifier,
    LinearTreeClassifier,
    NewtonBoostingClassifier,
    SamBAClassifier,
)
from psephos.datasets import make_spirals

PAPER = {"n_estimators": 4, "a": 1e-15, "b": 20.0, "update": "sample", "criterion": "gini",
         "distance_scale": "sum", "column_scale": None}  # fmt: skip


def models(figure=3):
    """Return the classifiers of a figure by name."""
    if figure == 4:
        return {
            "Lasso": LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=5000, random_state=0),
            "linear tree": LinearTreeClassifier(random_state=0),
            "gradient boosting": GradientBoostingClassifier(random_state=0),
            "Newton boosting": NewtonBoostingClassifier(random_state=0),
        }
    return {
        "SamBA, the paper's settings": SamBAClassifier(**PAPER),
        "SamBA, defaults": SamBAClassifier(),
        "SVM-RBF": SVC(C=0.1, gamma=1.1),
        "AdaBoost": AdaBoostClassifier(random_state=0),
        "k-NN": KNeighborsClassifier(),
        "random forest": RandomForestClassifier(random_state=0),
        "decision tree": DecisionTreeClassifier(random_state=0),
    }


def tables(n_samples=1000, seed=0):
    """Return moons and spirals, each split into X, Z (test), y, t (test)."""
    moons = make_moons(n_samples, noise=0.1, random_state=seed)
    spirals = make_spirals(n_samples, random_state=seed)
    return {
        name: train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
        for name, (X, y) in {"moons": moons, "spirals": spirals}.items()
    }


# %%
# Every decision on a common scale
# --------------------------------
#
# A probability p becomes 2 p - 1; a score, such as the SVM's, is divided by its largest size.


def certainty(model, points):
    """Return the decision in [-1, 1] at each point."""
    if hasattr(model, "predict_proba"):
        return 2.0 * model.predict_proba(points)[:, 1] - 1.0
    score = model.decision_function(points)
    return score / np.abs(score).max()


def grid_of(X, n_points):
    """Return the axes of a grid a little larger than the table."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = 0.08 * (high - low)
    return [np.linspace(a, b, n_points) for a, b in zip(low - room, high + room, strict=True)]


def contours(n_samples=1000, n_points=160, seed=0, figure=3):
    """Return one dictionary a panel: the fitted model's grid, its accuracy, the split."""
    panels = []
    for table, (X, Z, y, t) in tables(n_samples, seed).items():
        across, up = grid_of(np.vstack([X, Z]), n_points)
        points = np.column_stack([v.ravel() for v in np.meshgrid(across, up)])
        for name, model in models(figure).items():
            model.fit(X, y)
            panels.append(
                {
                    "table": table, "model": name, "across": across, "up": up,
                    "decision": certainty(model, points).reshape(n_points, n_points),
                    "accuracy": balanced_accuracy_score(t, model.predict(Z)),
                    "train": (X, y), "test": (Z, t),
                }
            )  # fmt: skip
    return panels


# %%
# The picture
# -----------


def draw(panels):
    """Draw a row a table and a column a model."""
    names = list(dict.fromkeys(p["model"] for p in panels))
    rows = list(dict.fromkeys(p["table"] for p in panels))
    shape = {"figsize": (2.7 * len(names), 2.9 * len(rows)), "layout": "constrained"}
    fig, axes = plt.subplots(len(rows), len(names), squeeze=False, **shape)
    shade = None
    for panel in panels:
        ax = axes[rows.index(panel["table"]), names.index(panel["model"])]
        across, up = panel["across"], panel["up"]
        shade = ax.imshow(
            panel["decision"], extent=(across[0], across[-1], up[0], up[-1]), origin="lower",
            cmap="RdBu", vmin=-1, vmax=1, alpha=0.75, aspect="auto", interpolation="bilinear",
        )  # fmt: skip
        for (X, y), size in ((panel["train"], 1.5), (panel["test"], 14)):
            edge = {"edgecolors": "white", "linewidths": 0.5} if size > 5 else {"linewidths": 0}
            ax.scatter(*X.T, s=size, c=np.where(y == 1, "#04204a", "#5a0016"), **edge)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{panel['model']}: {panel['accuracy']:.3f}", fontsize=9)
    for ax, name in zip(axes[:, 0], rows, strict=True):
        ax.set_ylabel(name)
    bar = fig.colorbar(shade, ax=axes, shrink=0.8, pad=0.01, ticks=[-1, 0, 1])
    bar.set_label("decision")
    return fig


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Figure 3 or 4 of the SamBA supplement")
    parser.add_argument("--figure", type=int, choices=(3, 4), default=3)
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    found = contours(figure=args.figure)
    for row in found:
        print(f"{row['table']:8} {row['model']:28} balanced accuracy {row['accuracy']:.3f}")
    figure = draw(found)
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()
