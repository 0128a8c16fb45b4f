"""
Bagging and boosting on a drifting concept
==========================================

Data come in batches, and the boundary between the classes turns a little from one to the next. Two
ensembles are updated: a bag adds trees fitted on the new batch, and all its trees have equal
weight; a boosted model adds trees fitted to the errors of its score on the new batch. A third, a
bag of the newest batch alone, shows the effect of forgetting everything.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from psephos import BaggingRegressor, CARTRegressor, GradientBoostingRegressor

# %%
# The concept
# -----------
#
# Two of six columns decide: the class is the side of a line through the middle, and the line turns.


def batch(angle, n, rng):
    """Return rows and classes, -1 and 1, of which one in ten is flipped."""
    X = rng.standard_normal((n, 6))
    y = np.where(X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle) > 0, 1.0, -1.0)
    return X, np.where(rng.random(n) < 0.1, -y, y)


# %%
# Two ensembles that grow
# -----------------------
#
# Each gets `n_trees` trees of the same depth a batch. The bag is the mean of all its trees. The
# boosted score is a sum, to which each batch adds a model of the rest it leaves.


def grown_bag(X, y, n_trees, seed):
    """Return a bag of trees fitted on one batch."""
    tree = CARTRegressor(max_depth=4, n_folds=0, cp=0.0)
    return BaggingRegressor(tree, n_trees, random_state=seed).fit(X, y)


def grown_boosting(X, rest, n_trees, seed):
    """Return boosted trees fitted on what is left of one batch."""
    return GradientBoostingRegressor(
        n_estimators=n_trees, max_depth=4, learning_rate=0.1, random_state=seed
    ).fit(X, rest)


def accuracies(turn, n_batches=12, n=300, n_trees=10, seed=0):
    """Return each ensemble's accuracy on the batch that comes next, by batch.

    Parameters
    ----------
    turn : float
        Degrees from one batch to the next.
    """
    rng = np.random.default_rng([seed, int(10 * turn)])
    bags, parts = [], []
    found = {"bag of all batches": [], "boosting": [], "bag of the last batch": []}
    for b in range(n_batches):
        X, y = batch(np.radians(turn) * b, n, rng)
        scores = {
            "bag of all batches": lambda X: np.mean([bag.predict(X) for bag in bags], axis=0),
            "boosting": lambda X: np.sum([part.predict(X) for part in parts], axis=0),
            "bag of the last batch": lambda X: bags[-1].predict(X),
        }
        if b:
            for name, score in scores.items():
                found[name].append(np.mean((score(X) > 0) == (y > 0)))
        rest = y - scores["boosting"](X) if b else y
        bags.append(grown_bag(X, y, n_trees, b))
        parts.append(grown_boosting(X, rest, n_trees, b))
    return {name: np.array(each) for name, each in found.items()}


# %%
# The picture
# -----------
#
# Where nothing moves the bag of all batches is best: every tree it adds is worth as much as the
# others, and boosting learns the noise of each batch by heart. As the line turns, the old trees
# outvote the new ones, while boosting adds what they lack. That boosting stands a moving concept
# better is true beside a bag that forgets nothing; a bag that forgets everything beats both as soon
# as the line turns. The legends hold the mean accuracy over the second half of the batches.


def draw(turns, repeats=5):
    """Return the figure: accuracies over batches, a panel for each speed."""
    figure, panels = plt.subplots(1, len(turns), figsize=(11, 3.4), sharey=True,
                                  layout="constrained")  # fmt: skip
    for turn, axes in zip(turns, panels, strict=True):
        each = [accuracies(turn, seed=seed) for seed in range(repeats)]
        for name in each[0]:
            mean = np.mean([found[name] for found in each], axis=0)
            axes.plot(
                np.arange(1, len(mean) + 1),
                mean,
                label=f"{name}: {mean[len(mean) // 2 :].mean():.3f}",
            )
        axes.set(title=f"{turn:g} degrees a batch", xlabel="batch")
        axes.legend(fontsize="small")
    panels[0].set_ylabel("accuracy on the next batch")
    return figure


def main():
    parser = argparse.ArgumentParser(description="A bag and boosting on a concept that moves")
    parser.add_argument("--out", help="save the picture here instead of showing it")
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    figure = draw((0.0, 3.0, 12.0), args.repeats)
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
