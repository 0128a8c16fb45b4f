"""Trees, stumps and forests for the search: thousands of tiny ones in one call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from psephos._types import Floats, Indices
from psephos.estimator.params import Constraint, Flag, Interval, OneOf, Options, check_params
from psephos.kernels.small_models import tree as kernel
from psephos.models.sampling import drawn_columns
from psephos.models.swag.problem import BoundLearner, Folds, Says, SearchProblem
from psephos.vote import Voters
from psephos.vote.operations.trees import coded
from psephos.vote.voters.trees import TreeVoters, forest_voters

#: The nodes of a tree: columns of the table (-1: a leaf), first children, thresholds, shares.
_Nodes = tuple[Indices, Indices, Floats, Floats]
_DEEP = 2**31  # deeper than any tree
_COUNT, _SHARE = Interval(1, whole=True), Interval(0, 1, open_low=True)
_DEPTH = OneOf((_COUNT,), none=True)
_TREE: Mapping[str, Constraint] = {"max_depth": _DEPTH, "min_samples_leaf": _COUNT}
_FOREST: Mapping[str, Constraint] = {
    "n_estimators": _COUNT,
    "max_features": OneOf((Options(("sqrt", "log2")), _COUNT, _SHARE), none=True),
    "max_depth": _DEPTH,
    "min_samples_leaf": _COUNT,
    "bootstrap": Flag(),
}


@dataclass(frozen=True)
class TreeLearner:
    """Decision trees on a few columns; with ``max_depth=1``, stumps.

    A node is cut where the impurity falls most: Gini's ``1 - sum_k p_k^2`` for classes, the
    variance for numbers, p_k the weighted share of class k. The threshold is the middle between
    two neighbouring values; of equal cuts the first wins, in the order of the columns, then of
    the values. A leaf answers with its class shares, or its mean. Unlike scikit-learn's trees,
    values are compared in float64 (there: rounded to float32), two are held equal only if they are
    (there: if they differ by less than 1e-7), and a node of a regression is left alone only if all
    its numbers are equal.

    The score of two classes is ``log(p_1 / p_0)``, of more ``log p_k``, with p between
    1 / (2 n + 2) and, for two classes, one less that; n is the number of training rows of a
    split. So it is finite, and above 0 exactly where the second class leads.

    Parameters
    ----------
    max_depth : int or None, default=3
        Cuts between the root and a leaf at most; None: until leaves are pure.
    min_samples_leaf : int, default=1
        Rows a leaf needs, whatever their weights.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), sections 4.3
    and 8.4.
    """

    max_depth: int | None = 3
    min_samples_leaf: int = 1

    def __post_init__(self) -> None:
        check_params(self, _TREE)

    def bind(self, problem: SearchProblem) -> "BoundTrees":
        """Return the trees on a problem, its columns sorted once."""
        return BoundTrees(problem, _table(problem), self, None)


@dataclass(frozen=True)
class ForestLearner:
    """Random forests on a few columns: the mean of trees grown on bootstrap samples.

    Each tree trains on as many rows as there are, drawn with replacement; a row's weight counts
    as often as it was drawn. At each node `max_features` columns are drawn without replacement,
    and more while all drawn are constant there. Shares (numbers) are means over trees; scores and
    trees are those of `TreeLearner`.

    The draws are those of SplitMix64 from a hash of the problem's seed, the candidate's columns,
    the split and the tree: a candidate has the same forest in any batch, order or thread.

    Parameters
    ----------
    n_estimators : int, default=100
    max_features : {'sqrt', 'log2'}, int, float or None, default='sqrt'
        Columns drawn at a node, of d: the whole part of sqrt(d), of log2(d) or of the fraction,
        at least 1; the number itself, at most d; None: all.
    max_depth : int or None, default=None
    min_samples_leaf : int, default=1
        Distinct rows a leaf needs.
    bootstrap : bool, default=True
        False: each tree trains on all rows.

    Notes
    -----
    scikit-learn from 1.9 on uses sample weights as the probabilities of the draws instead.

    References
    ----------
    Breiman, Random forests (2001), Machine Learning 45, sections 1 and 4.
    Steele, Lea and Flood, Fast splittable pseudorandom number generators (2014), OOPSLA, figure 14.
    """

    draws: ClassVar[bool] = True
    n_estimators: int = 100
    max_features: str | int | float | None = "sqrt"
    max_depth: int | None = None
    min_samples_leaf: int = 1
    bootstrap: bool = True

    def __post_init__(self) -> None:
        check_params(self, _FOREST)

    def bind(self, problem: SearchProblem) -> "BoundTrees":
        """Return the forests on a problem, its columns sorted once."""
        return BoundTrees(problem, _table(problem), self, self)


def _table(problem: SearchProblem) -> kernel.TreeTable:
    """Return the columns and their orders."""
    order = np.argsort(problem.XT, axis=1, kind="stable").astype(np.uint32)
    return kernel.TreeTable(
        problem.XT, order, np.asarray(problem.y, dtype=np.float64) - _centre(problem)
    )


def _centre(problem: SearchProblem) -> float:
    """Return what is taken off y: of large numbers that vary little, squares would say nothing."""
    return 0.0 if problem.n_classes else float(np.average(problem.y, weights=problem.weight))


@dataclass(frozen=True)
class BoundTrees(BoundLearner):
    """Trees or forests on one problem; `forest` is the learner, if its models are forests."""

    problem: SearchProblem
    table: kernel.TreeTable
    learner: TreeLearner | ForestLearner
    forest: ForestLearner | None

    def _rule(self, d: int) -> kernel.SmallTreeGrowth:
        depth = _DEEP if self.learner.max_depth is None else min(self.learner.max_depth, _DEEP)
        drawn = drawn_columns(self.forest.max_features, d) if self.forest else d
        least = min(self.learner.min_samples_leaf, len(self.table.y) + 1)
        return kernel.SmallTreeGrowth(self.problem.n_classes, int(depth), int(least), drawn)

    def _n_trees(self) -> int:
        return int(self.forest.n_estimators) if self.forest else 1

    def scores(self, subsets: Indices) -> Floats:
        """Return out-of-fold scores, shape (B, L, K): see the learner."""
        problem, folds = self.problem, self.problem.folds
        out = np.empty((len(subsets), folds.n_tests, problem.n_outputs))
        given = kernel.room(len(self.table.y), subsets.shape[1], problem.n_classes)
        self._run(subsets, folds, 0, (0, self._n_trees()), given, out)
        out += _centre(problem)
        return out

    def _run(
        self, subsets: Indices, folds: Folds, split: int, numbers: tuple[int, int],
        given: tuple[kernel.TreeScratch, kernel.SmallTree], out: Floats,
    ) -> int:  # fmt: skip
        """Run `forest_scores`; return the nodes of the last tree, which stands in `given`."""
        problem, n_classes = self.problem, self.problem.n_classes
        seed = np.uint64(int(problem.seed) % 2**64)
        columns = np.ascontiguousarray(subsets, dtype=np.int64)
        rows = (folds.train, folds.train_ptr, folds.test, folds.test_ptr)
        shares = np.zeros((len(self.table.y), max(n_classes, 1)))
        return kernel.forest_scores(
            self.table, self._rule(columns.shape[1]), problem.weight, *rows, columns, seed, split,
            numbers, self.forest is not None and bool(self.forest.bootstrap), *given,
            given[0].left if n_classes > 2 else None, shares, out,
        )  # fmt: skip

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> Voters:
        """Return one tree or forest per subset, trained on all rows; it abstains."""
        grown = [nodes for subset in subsets for nodes in self._grown(subset)]
        table = np.ones((1, 1)) if says == "value" else np.asarray(code, dtype=np.float64)
        if self.forest is None:
            return _joined(grown, self.problem.X.shape[1], lambda p: coded(p, says, table), True)
        trees = _joined(grown, self.problem.X.shape[1], lambda p: p, False)
        group = np.arange(len(subsets) + 1, dtype=np.intp) * int(self.forest.n_estimators)
        return forest_voters(trees, group, table, says, True)

    def _grown(self, subset: Indices) -> list[_Nodes]:
        """Return the trees of one candidate on all rows."""
        columns = np.ascontiguousarray(subset, dtype=np.int64)
        at, whole = self.problem.folds.n_splits, Folds.whole(len(self.table.y))
        work, tree = kernel.room(len(self.table.y), len(columns), self.problem.n_classes)
        nothing = np.empty((1, 0, self.problem.n_outputs))
        grown = list[_Nodes]()
        for number in range(self._n_trees()):
            numbers = (number, number + 1)
            nodes = self._run(columns[None], whole, at, numbers, (work, tree), nothing)
            link, sums = tree.link[:nodes].astype(np.intp), tree.sums[:nodes].copy()
            inner = link[:, 0] >= 0
            column = np.full(nodes, -1, dtype=np.intp)
            column[inner] = columns[link[inner, 0]]
            first = np.where(inner, link[:, 1], -1)
            grown.append((column, first, sums[:, 0], _shares(sums, self.problem)))
        return grown


def _shares(sums: Floats, problem: SearchProblem) -> Floats:
    """Return class shares (nodes, n_classes), or means (nodes, 1), of the sums of nodes."""
    weight, total = sums[:, 1:2], sums[:, 2:]
    if problem.n_classes == 2:
        total = np.hstack([weight - total, total])
    return total / weight + _centre(problem)


def _joined(grown: Sequence[_Nodes], n_features: int, say: Any, abstains: bool) -> TreeVoters:
    """Return trees as voters; `say` makes a leaf's vote of its shares."""
    column, first, threshold, share = (np.concatenate(part) for part in zip(*grown, strict=True))
    sizes = np.array([len(nodes[0]) for nodes in grown])
    return TreeVoters.of_nodes(
        n_features, sizes, column, first, threshold, np.zeros(len(column), dtype=bool), say(share),
        leaf=-1, single=False, abstains=abstains,
    )  # fmt: skip
