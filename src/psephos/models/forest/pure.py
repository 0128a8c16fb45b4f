"""Pure random forests: cells drawn at random, independently of the labels."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._types import ClassWeightLike, Floats, Indices, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice, Integers
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Constraint, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.ensemble import Ensemble, Leaves, uniform_vote
from psephos.runtime.jit import run_blocks
from psephos.runtime.progress import progress
from psephos.trees.forest import SPLITS, PureTree, number_of, pure_tree, theory_leaves
from psephos.vote import TreeVoters

_MOST_LEAVES = 2**20  # of the theory, whose n is the sum of integer weights


@parameters
class PureRandomForestClassifier(Leaves, Ensemble, VoteClassifier):
    """Pure random forest: cells drawn at random, each voting the class shares of its rows.

    Use it to study the effect of averaging without data-dependent splits: the labels do not affect
    its cells, so noise columns mislead it, and its rates are known from theory. To predict, use
    `RandomForestClassifier`.

    Every column is scaled to [0, 1] by its training minimum and maximum. A tree divides the cube
    into k cells independently of the labels, by one of three rules::

        uniform    a cell, a coordinate and a threshold on its side, all drawn uniformly
        midpoint   a cell and a coordinate drawn uniformly; cut in the middle
        balanced   all cells, level by level; each coordinate once a round, in random order; middle

    The vote of a cell is the share of each class among the training rows in it, 1 / K if it is
    empty, and the forest is the mean. Rates of convergence of these forests are known: with n rows,
    d columns, k cells as below and a Lipschitz eta, the excess risk decreases at least as
    n^(-1 / (8d + 2)), n^(-1 / (3.87d + 2)) and (ln n / n)^(1 / (d + 2)).

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    split : {'uniform', 'midpoint', 'balanced'}
        The rule.
    max_leaf_nodes : int
        Cells of a tree, k, at least 2. None is the optimum in theory: n^(4d / (4d + 1)) for
        uniform, n^(3.87d / (3.87d + 2)) for midpoint and (n / ln n)^(d / (d + 2)) for balanced
        cells.
    n_jobs : int
        Threads that grow trees; the forest does not depend on it.
    random_state : int, RandomState or None
        Seed of the cuts; tree t depends only on the seed and t.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        As for any vote. Here it does not reflect the labels: columns are drawn uniformly.
    n_leaves_ : int
        Cells of each tree.

    Notes
    -----
    Constant columns are not coordinates: d counts those that vary. The outermost cells extend
    beyond the training minimum and maximum. A missing value goes to one side of a cut, drawn once
    per cut with probabilities proportional to the sides' lengths. Columns must be numeric: encode
    categories. The number of rows n is the sum of the weights if they are integers.

    The rates are upper bounds and far from tight for the first two rules; at finite n the shape of
    the cells is visible. The sides of the cell of a random point shrink as k^(-1 / (3d)),
    k^(-1 / (2d)) and k^(-1 / d), see ``examples/plot_forest_rates.py``. The third rule follows
    Breiman's forests in that every coordinate is cut in turn; in the source the data choose the
    order of coordinates, which removes the logarithm, and here they do not.

    References
    ----------
    Gao & Zhou (2020), "Towards convergence rate analysis of random forests for classification",
    NeurIPS 33; Gao, Xu & Zhou (2022), Artificial Intelligence 313. The third rule is
    reconstructed from the rate. Biau, Devroye & Lugosi (2008), "Consistency of random forests and
    other averaging classifiers", JMLR 9: pure random forests.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from psephos import PureRandomForestClassifier
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> model = PureRandomForestClassifier(split="midpoint", random_state=0)
    >>> bool(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9), model.n_leaves_
    (True, 67)
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("tree voters",), "constant", "normalised", "cells drawn without labels"
    )
    contender: ClassVar[Contender] = Contender(
        "pure-random-forest",
        "forest",
        {
            "quick": {
                "max_leaf_nodes": Integers(2, 64),
                "split": Choice(("uniform", "midpoint", "balanced")),
            },
            "samba": {
                "n_estimators": Integers(1, 300),
                "max_leaf_nodes": Integers(2, 256),
                "split": Choice(("uniform", "midpoint", "balanced")),
            },
        },
        ensemble=True,
        notes=(
            "its cells are drawn without looking at the classes; where the table has categories "
            "it reads one column of 0 and 1 per level, and medians where values are missing"
        ),
        small={"n_estimators": 4, "random_state": 0},
    ).weighted()
    constraints: ClassVar[Mapping[str, Constraint]] = {"split": Options(tuple(SPLITS))}

    n_estimators: int = 100
    _: KW_ONLY
    split: str = "uniform"
    max_leaf_nodes: int | None = None
    class_weight: ClassWeightLike = None
    n_jobs: int | None = None
    random_state: SeedLike = None
    n_leaves_: int = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        X = np.ascontiguousarray(table.dense())
        columns, low, high = _ranges(X)
        leaves = self._leaves(len(columns), number_of(weight, len(weight)))
        grown: list[Any] = [None] * self.n_estimators
        k, step = labels.target.n_classes, progress(self.n_estimators, "trees")

        def work(t: int) -> None:
            tree = pure_tree(self.split, len(columns), leaves, context.integer(t))
            cuts = _in_units(tree, low, high)
            shares = tree.shares(X, labels.y, weight, columns, cuts, k)
            grown[t] = tree, cuts, (k * (shares[:, 1:] if k == 2 else shares) - 1.0) / (k - 1)
            step()

        run_blocks(work, self.n_estimators, self.n_jobs)
        voters = _voters(grown, columns, X.shape[1])
        return uniform_vote(voters, labels.target), {"n_leaves_": leaves}

    def _leaves(self, n_columns: int, n_rows: float) -> int:
        """Return the number of cells; 1 if no column varies."""
        if n_columns == 0:
            return 1
        theory = theory_leaves(self.split, n_columns, n_rows)
        return self.max_leaf_nodes or min(theory, _MOST_LEAVES)


def _ranges(X: Floats) -> tuple[Indices, Floats, Floats]:
    """Return the columns that vary, and their minima and maxima."""
    known = np.where(np.isnan(X), np.inf, X)
    low = known.min(axis=0)
    high = np.where(np.isnan(X), -np.inf, X).max(axis=0)
    columns = np.flatnonzero(low < high).astype(np.intp)
    return columns, low[columns], high[columns]


def _in_units(tree: PureTree, low: Floats, high: Floats) -> Floats:
    """Return the cuts of a tree in the units of the columns; NaN at a leaf."""
    cuts = np.full(len(tree.cut), np.nan)
    inner = tree.link[:, 0] >= 0
    f, u = tree.link[inner, 0], tree.cut[inner]
    cuts[inner] = (1.0 - u) * low[f] + u * high[f]
    return cuts


def _voters(
    grown: list[tuple[PureTree, Floats, Floats]], columns: Indices, n_features: int
) -> TreeVoters:
    """Return the trees as voters."""
    sizes = np.array([len(cuts) for _, cuts, _ in grown], np.intp)
    link = np.concatenate([tree.link for tree, _, _ in grown])
    return TreeVoters.of_nodes(
        n_features,
        sizes,
        np.where(link[:, 0] >= 0, np.append(columns, -1)[link[:, 0]], -1),
        link[:, 1],
        np.concatenate([cuts for _, cuts, _ in grown]),
        np.concatenate([tree.missing_left for tree, _, _ in grown]),
        np.concatenate([value for _, _, value in grown]),
        single=False,
    )
