"""Voters that were fitted by scikit-learn, as plain arrays: trees, linear models, naive Bayes.

Anything else stays a foreign estimator: it votes in memory, and cannot be written to a file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.vote_sums import leaf_of_rows
from psephos.vote.codec import register
from psephos.vote.part import (
    Columns,
    Voters,
    check,
    check_columns,
    check_present,
    positions,
    sparse,
    usage_table,
)

__all__ = ["ForeignVoters", "LinearVoters", "NaiveBayesVoters", "TreeVoters", "from_estimators"]

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class TreeVoters:
    """Binary trees in flat arrays; each votes the code at the leaf it reaches.

    Node arrays are concatenated over trees; `root` holds each tree's first node, `feature` the
    position in `columns` (-1 at a leaf), `value` (nodes, K) the votes. `single`: compare values
    rounded to float32, as trees grown on float32 do.
    """

    tag: ClassVar[str] = "tree voters"
    n_features: int
    columns: Columns
    root: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: _Floats
    missing_left: NDArray[np.bool_]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    value: _Floats
    single: bool

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        nodes = len(self.feature)
        flat = (self.threshold, self.missing_left, self.first, self.second)
        check(all(a.shape == (nodes,) for a in flat), "node arrays differ in length")
        check(self.feature.ndim == self.root.ndim == 1, "nodes are not in a row")
        check(self.missing_left.dtype == np.bool_, "flags are not truth values")
        check(self.value.ndim == 2 and len(self.value) == nodes, "nodes and votes differ")
        check(self.threshold.dtype == self.value.dtype == np.float64, "numbers are not float64")
        whole = (self.root, self.feature, self.first, self.second)
        check(all(a.dtype == np.intp for a in whole), "positions are not integers")
        check(bool((self.feature < len(self.columns)).all()), "a tree reads a column it lacks")
        ends = self._ends()
        check(nodes == 0 or ends[0] == 0, "the first root is not the first node")
        check(bool((np.diff(ends) > 0).all()), "a tree has no node")
        inner = np.flatnonzero(self.feature >= 0)
        end = np.repeat(ends[1:], np.diff(ends))[inner]
        for child in (self.first[inner], self.second[inner]):  # children follow: no cycles
            check(bool(((child > inner) & (child < end)).all()), "a tree is not a tree")

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.root)

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        leaf = np.empty((len(X), self.n_voters), dtype=np.intp)
        read = np.ascontiguousarray(X[:, self.columns], dtype=np.float64)
        nodes = (self.feature, self.threshold, self.missing_left, self.first, self.second)
        leaf_of_rows(read, self.root, *nodes, self.single, leaf)
        return self.value[leaf]

    def _ends(self) -> NDArray[np.intp]:
        return np.append(self.root, len(self.feature))

    def usage(self) -> Any:
        """Return the (T, p) table of columns split on."""
        ends = self._ends()
        voter = np.repeat(np.arange(self.n_voters), np.diff(ends))
        inner = self.feature >= 0
        column = self.columns[self.feature[inner]]
        return usage_table(voter[inner], column, (self.n_voters, self.n_features))

    def select(self, columns: Columns) -> Self:
        """Return the same trees on the table reduced to `columns`."""
        where = positions(self.columns, columns)
        return replace(self, n_features=len(columns), columns=where)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these trees only."""
        ends = self._ends()
        sizes = ends[voters + 1] - ends[voters]
        root = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        spans = [np.arange(int(ends[t]), int(ends[t + 1])) for t in voters]
        nodes = np.concatenate([np.empty(0, dtype=np.intp), *spans]).astype(np.intp)
        shift = np.repeat(root - self.root[voters], sizes)
        old = self.feature[nodes]
        kept, feature = np.unique(old[old >= 0], return_inverse=True)
        local = np.full(len(nodes), -1, dtype=np.intp)
        local[old >= 0] = feature
        return replace(
            self,
            columns=self.columns[kept],
            root=root,
            feature=local,
            threshold=self.threshold[nodes],
            missing_left=self.missing_left[nodes],
            first=self.first[nodes] + shift,
            second=self.second[nodes] + shift,
            value=self.value[nodes],
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the tree as its columns and number of leaves."""
        ends = self._ends()
        own = self.feature[ends[voter] : ends[voter + 1]]
        read = [names[self.columns[f]] for f in np.unique(own[own >= 0])]
        return f"a tree of {int((own < 0).sum())} leaves on {', '.join(read) or 'no column'}"

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return no short answer: a tree has as many as leaves."""
        return []


@register
@dataclass(frozen=True)
class LinearVoters:
    """Linear models: each votes the code of the class whose linear score is greatest.

    `coef` is (T, R, q) and `intercept` (T, R): one row (R = 1) decides between two classes by its
    sign, else one row a class. `value` (n_classes, K) is the table of codes.
    """

    tag: ClassVar[str] = "linear voters"
    n_features: int
    columns: Columns
    coef: _Floats
    intercept: _Floats
    value: _Floats

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        check(self.coef.ndim == 3 and self.coef.shape[2] == len(self.columns), "coefficients")
        check(self.intercept.shape == self.coef.shape[:2], "intercepts")
        rows = 2 if self.coef.shape[1] == 1 else self.coef.shape[1]
        check(self.value.ndim == 2 and len(self.value) == rows, "classes")
        numbers = (self.coef, self.intercept, self.value)
        check(all(a.dtype == np.float64 for a in numbers), "numbers are not float64")

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.coef)

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        read = X[:, self.columns]
        check_present(read, "linear models")
        linear = np.einsum("nq,trq->ntr", read, self.coef) + self.intercept
        answer = (linear[:, :, 0] > 0).astype(int) if linear.shape[2] == 1 else linear.argmax(2)
        return self.value[answer]

    def usage(self) -> Any:
        """Return the (T, p) table of columns with a coefficient."""
        voter, column = np.nonzero((self.coef != 0).any(axis=1))
        return usage_table(voter, self.columns[column], (self.n_voters, self.n_features))

    def select(self, columns: Columns) -> Self:
        """Return the same models on the table reduced to `columns`."""
        where = positions(self.columns, columns)
        return replace(self, n_features=len(columns), columns=where)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these models only; columns no longer read are dropped."""
        coef = self.coef[voters]
        read = np.flatnonzero((coef != 0).any(axis=(0, 1)))
        coef = np.ascontiguousarray(coef[:, :, read])
        columns, intercept = self.columns[read], self.intercept[voters]
        return replace(self, columns=columns, coef=coef, intercept=intercept)

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the linear score in words (two classes), or its columns."""
        coef = self.coef[voter]
        read = np.flatnonzero((coef != 0).any(axis=0))
        if len(coef) > 1 or len(read) > 6:
            return f"a linear model of {len(read)} columns"
        terms = [f"{coef[0, j]:+.4g} {names[self.columns[j]]}" for j in read]
        return " ".join([*terms, f"{self.intercept[voter, 0]:+.4g} > 0"])

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the two answers, or none."""
        if self.coef.shape[1] > 1:
            return []
        return [("if so", self.value[1]), ("otherwise", self.value[0])]


@register
@dataclass(frozen=True)
class NaiveBayesVoters:
    """Gaussian naive Bayes: `mean` and `variance` (T, classes, q), `log_prior` (T, classes)."""

    tag: ClassVar[str] = "naive Bayes voters"
    n_features: int
    columns: Columns
    mean: _Floats
    variance: _Floats
    log_prior: _Floats
    value: _Floats

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        check(self.mean.ndim == 3 and self.mean.shape == self.variance.shape, "moments")
        check(self.mean.shape[2] == len(self.columns), "moments and columns differ")
        check(self.log_prior.shape == self.mean.shape[:2], "priors")
        check(bool((self.variance > 0).all()), "a variance is not positive")
        check(self.value.ndim == 2 and len(self.value) == self.mean.shape[1], "classes")
        numbers = (self.mean, self.variance, self.log_prior, self.value)
        check(all(a.dtype == np.float64 for a in numbers), "numbers are not float64")

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.mean)

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        read = X[:, self.columns]
        check_present(read, "naive Bayes voters")
        answer = np.empty((len(X), self.n_voters), dtype=np.intp)
        for t in range(self.n_voters):
            squares = (read[:, None, :] - self.mean[t]) ** 2 / self.variance[t]
            constant = self.log_prior[t] - 0.5 * np.log(2 * np.pi * self.variance[t]).sum(axis=1)
            answer[:, t] = (constant - 0.5 * squares.sum(axis=2)).argmax(axis=1)
        return self.value[answer]

    def usage(self) -> Any:
        """Return the (T, p) table: every column of the model."""
        voter, column = np.indices((self.n_voters, len(self.columns))).reshape(2, -1)
        return usage_table(voter, self.columns[column], (self.n_voters, self.n_features))

    def select(self, columns: Columns) -> Self:
        """Return the same models on the table reduced to `columns`."""
        where = positions(self.columns, columns)
        return replace(self, n_features=len(columns), columns=where)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these models only."""
        moments = {"mean": self.mean[voters], "variance": self.variance[voters]}
        return replace(self, **moments, log_prior=self.log_prior[voters])

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return what it is."""
        return f"Gaussian naive Bayes on {len(self.columns)} columns"

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return no short answer."""
        return []


@dataclass(frozen=True)
class ForeignVoters:
    """Any fitted classifiers, kept as they are; columns they do not read are filled with zero.

    `width` is the number of columns they were fitted on; `source` the positions of `columns`
    in that table; `used` (T, q) who reads which.
    """

    n_features: int
    columns: Columns
    source: Columns
    width: int
    used: NDArray[np.bool_]
    estimators: tuple[Any, ...]
    value: _Floats

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.estimators)

    def refusal(self) -> str:
        """Return why a model of these voters cannot be written to a file."""
        name = type(self.estimators[0]).__name__
        return (
            f"its voters are {name}, which psephos cannot write as plain data (it can write its "
            "own stumps and scikit-learn's trees, linear models and Gaussian naive Bayes)"
        )

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        table = np.zeros((len(X), self.width))
        table[:, self.source] = X[:, self.columns]
        answers = [np.asarray(e.predict(table), dtype=np.intp) for e in self.estimators]
        return self.value[np.stack(answers, axis=1)]

    def usage(self) -> Any:
        """Return the (T, p) table."""
        voter, column = np.nonzero(self.used)
        return usage_table(voter, self.columns[column], (self.n_voters, self.n_features))

    def select(self, columns: Columns) -> Self:
        """Return the same voters on the table reduced to `columns`."""
        where = positions(self.columns, columns)
        return replace(self, n_features=len(columns), columns=where)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these voters only; columns no longer read are dropped."""
        used = self.used[voters]
        read = np.flatnonzero(used.any(axis=0))
        return replace(
            self,
            columns=self.columns[read],
            source=self.source[read],
            used=used[:, read],
            estimators=tuple(self.estimators[t] for t in voters),
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the estimator's name and how many columns it reads."""
        return f"{type(self.estimators[voter]).__name__} on {int(self.used[voter].sum())} columns"

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return no short answer."""
        return []


# ---------------------------------------------------------------------- from scikit-learn
_TREES = ("DecisionTreeClassifier", "ExtraTreeClassifier")
_LINEAR = (
    "LogisticRegression",
    "LinearSVC",
    "RidgeClassifier",
    "SGDClassifier",
    "Perceptron",
    "LinearDiscriminantAnalysis",
)


def from_estimators(estimators: Sequence[Any], n_features: int, code: _Floats) -> Voters:
    """Return fitted classifiers of the codes 0 ... n_classes - 1 as voters.

    Parameters
    ----------
    estimators : sequence of fitted classifiers
        All of one class, fitted on all `n_features` columns and on integer class codes.
    n_features : int
    code : ndarray of shape (n_classes, K)
        What a voter says for each class.
    """
    kind = cast("type[Any]", type(estimators[0]))
    own = kind.__module__.startswith("sklearn.")
    full = all(len(e.classes_) == len(code) for e in estimators)
    if own and kind.__name__ in _TREES:
        return _trees(estimators, n_features, code)
    if own and full and kind.__name__ in _LINEAR:
        return _linear(estimators, n_features, code)
    if own and full and kind.__name__ == "GaussianNB":
        return NaiveBayesVoters(
            n_features,
            np.arange(n_features),
            np.stack([e.theta_ for e in estimators]),
            np.stack([e.var_ for e in estimators]),
            np.log(np.stack([e.class_prior_ for e in estimators])),
            code,
        )
    used = np.stack([_columns_read(e, n_features) for e in estimators])
    columns = np.flatnonzero(used.any(axis=0))
    return ForeignVoters(
        n_features, columns, columns, n_features, used[:, columns], tuple(estimators), code
    )


def _columns_read(estimator: Any, n_features: int) -> NDArray[np.bool_]:
    importances = getattr(estimator, "feature_importances_", None)
    if importances is None or len(importances) != n_features:
        return np.ones(n_features, dtype=bool)
    return np.asarray(importances) != 0


def _trees(estimators: Sequence[Any], n_features: int, code: _Floats) -> TreeVoters:
    trees = [e.tree_ for e in estimators]
    sizes = np.array([tree.node_count for tree in trees])
    root = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)

    def joined(name: str, shift: bool = False) -> NDArray[Any]:
        parts = [getattr(t, name) + (r if shift else 0) for t, r in zip(trees, root, strict=True)]
        return np.concatenate(parts)

    split = np.concatenate([t.children_left >= 0 for t in trees])
    column = np.where(split, joined("feature"), -1).astype(np.intp)
    columns, local = np.unique(column[split], return_inverse=True)
    feature = np.full(len(column), -1, dtype=np.intp)
    feature[split] = local
    leaders = [tree.value[:, 0].argmax(1) for tree in trees]
    values = [np.asarray(e.classes_)[k] for e, k in zip(estimators, leaders, strict=True)]
    return TreeVoters(
        n_features,
        columns.astype(np.intp),
        root,
        feature,
        joined("threshold").astype(np.float64),
        joined("missing_go_to_left").astype(bool),
        np.where(split, joined("children_left", shift=True), -1).astype(np.intp),
        np.where(split, joined("children_right", shift=True), -1).astype(np.intp),
        code[np.concatenate(values).astype(np.intp)],
        single=True,
    )


def _linear(estimators: Sequence[Any], n_features: int, code: _Floats) -> LinearVoters:
    coefs: list[Any] = [e.coef_ for e in estimators]
    plain = [np.asarray(c.toarray() if sparse.issparse(c) else c) for c in coefs]
    dense = [np.atleast_2d(c) for c in plain]  # some models of two classes have one flat row
    coef = np.stack(dense).astype(np.float64)
    intercept = np.stack([np.broadcast_to(e.intercept_, coef.shape[1]) for e in estimators])
    used = np.flatnonzero((coef != 0).any(axis=(0, 1)))
    coef = np.ascontiguousarray(coef[:, :, used])  # sums in one order, whatever made the array
    return LinearVoters(n_features, used, coef, intercept.astype(np.float64), code)
