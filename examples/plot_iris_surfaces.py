"""
One standard error, or the best? Surfaces of E3 and E4
======================================================

The manual of proset shows two decision surfaces on the first two columns of iris, sepal length and
width: of E3, where the most penalised candidate within one standard deviation of the best is chosen
(23 prototypes), and of E4, where the best is chosen (265 prototypes, which follow single flowers).
Here the same searches are made with `ProsetSearchCV`. Batches that do not lower the loss are not
kept, so the best has hardly more prototypes than the other, and the two surfaces are nearly alike:
over ten splits 31 and 28 prototypes, log-loss .52 and .54. What is left of the difference is how
sure the model is far from the borders.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from psephos import ProsetClassifier
from psephos.explain import DecisionSurface
from psephos.protocol import ProsetSearchCV

# %%
# The two searches
# ----------------
#
# Penalties are chosen at one batch, then the number of batches, 0 to 10, on five folds. `one_sd`
# takes the most penalised candidate within one standard deviation of the best, `best` the best.


def split(seed=0):
    """Return training and test rows of the two columns of sepals, 70 and 30 %."""
    flowers = load_iris(as_frame=True)
    X = flowers.data[["sepal length (cm)", "sepal width (cm)"]]
    names = flowers.target_names[flowers.target]
    return train_test_split(X, names, test_size=0.3, stratify=names, random_state=seed)


def searched(rule, X, y, seed=0):
    """Return the model that the two-stage search chooses by a rule."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    model = ProsetClassifier(
        alpha_v=0.05, alpha_w=0.05, grouping="correct", fallback=None, random_state=seed
    )
    search = ProsetSearchCV(model, strategy="two-stage", max_batches=10, rule=rule, cv=folds)
    return search.fit(X, y).best_estimator_


# %%
# The picture
# -----------


def title_of(name, model, new, truth):
    """Return the experiment, how many prototypes its model has, and its scores on test rows."""
    loss = log_loss(truth, model.predict_proba(new), labels=model.classes_)
    right = balanced_accuracy_score(truth, model.predict(new))
    number = int(model.n_prototypes_.sum())
    return f"{name}: {number} prototypes\nlog-loss {loss:.2f}, balanced accuracy {right:.2f}"


def draw(models, X, y, new, truth):
    """Return the figure: the surface of each model, with the training rows."""
    limits = tuple((X[name].min() - 0.3, X[name].max() + 0.3) for name in X.columns)
    figure, axes = plt.subplots(1, len(models), figsize=(10, 4.4), layout="constrained")
    for axis, (name, model) in zip(axes, models.items(), strict=True):
        surface = DecisionSurface.from_estimator(model, tuple(X.columns), X, limits=limits)
        surface.plot(ax=axis)
        for label in model.classes_:
            rows = X[np.asarray(y) == label]
            axis.plot(*rows.to_numpy().T, "o", ms=3, mec="white", mew=0.4, label=label)
        axis.set_title(title_of(name, model, new, truth), fontsize="medium")
    return figure


def main():
    parser = argparse.ArgumentParser(description="Decision surfaces of iris, E3 and E4")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    X, new, y, truth = split(args.seed)
    rules = {"E3 (one standard deviation)": "one_sd", "E4 (the best)": "best"}
    models = {name: searched(rule, X, y, args.seed) for name, rule in rules.items()}
    figure = draw(models, X, y, new, truth)
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
