"""Stumps and constants as voters."""

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.files.field_types import Thresholds
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.nodes import flat_nodes
from psephos.vote.operations.trees import Trees


@register
class ConstantVoters(part.ReadsNothing, ReadAsLowered):
    """Voters with the same vote on every case: a class prior, a base score.

    Parameters
    ----------
    n_features : int
        Columns of the table; none is read.
    values : ndarray of shape (T, K)
        The vote of each.
    name : str
        Their name in descriptions.
    """

    tag: ClassVar[str] = "constant voters"
    n_features: int
    values: Floats
    name: str

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.values.ndim == 2, "constant voters need a (T, K) table of votes")

    @property
    def n_voters(self) -> int:
        return len(self.values)

    def take(self, voters: Indices) -> Self:
        return replace(self, values=self.values[voters])

    def lowered(self) -> Trees:
        t = self.n_voters
        none = np.full(t, -1)
        nodes = flat_nodes(none, none, np.full(t, np.nan), none)
        return Trees(
            self.n_features, self.columns, np.arange(t), nodes, self.values, each="constant",
            name=self.name,
        )  # fmt: skip


def prior_name(regression: bool) -> str:
    """Return the name of the prior voter of classes, or of a regression."""
    return "the mean of the target" if regression else "the class frequencies, by weight"


def prior_voter(y: NDArray[Any], weight: Floats, target: Any, n_features: int) -> ConstantVoters:
    """Return the voter of the weighted class frequencies, or of the weighted mean."""
    regression = target.kind == "regression"
    if regression:
        values = np.array([[np.average(y, weights=weight)]])
    else:
        values = (np.bincount(y, weight, target.n_classes) / weight.sum())[None] @ target.code
    return ConstantVoters(n_features, values, prior_name(regression))


@register
class StumpVoters(part.ReadsColumns, ReadAsLowered):
    """Decision stumps: a rule on one column, one vote where it holds and one elsewhere.

    A numeric rule holds where ``value <= threshold``, a rule on categories where the code is in
    its set. With `missing_left` it also holds where the value is missing; a code beyond
    `category_left` counts as missing.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that are read.
    feature : ndarray of shape (T,)
        Position in `columns` of the column each stump reads.
    threshold : ndarray of shape (T,)
        Thresholds; NaN for a rule on categories.
    missing_left : ndarray of shape (T,), bool
    category_ptr : ndarray of shape (T + 1,)
        Stump t's set is ``category_left[category_ptr[t]:category_ptr[t + 1]]``; empty for a
        numeric rule.
    category_left : ndarray, bool
        Whether each code is in the set.
    left, right : ndarray of shape (T, K)
        The votes where the rule holds, and elsewhere.
    """

    tag: ClassVar[str] = "stump voters"
    n_features: int
    columns: part.Columns
    feature: Indices
    threshold: Thresholds
    missing_left: NDArray[np.bool_]
    category_ptr: Indices
    category_left: NDArray[np.bool_]
    left: Floats
    right: Floats

    def __post_init__(self) -> None:
        part.check_part(self)
        t = len(self.feature)
        ranks = (self.feature, self.threshold, self.missing_left)
        part.check(all(a.shape == (t,) for a in ranks), "stumps differ in number")
        part.check_within(
            self.feature, len(self.columns), "a stump reads a column outside its list"
        )
        left, right = self.left, self.right
        part.check(left.ndim == 2 and left.shape == right.shape, "votes differ in shape")
        part.check(len(self.left) == t, "stumps and votes differ in number")
        part.check(self.category_left.ndim == 1, "sets of categories are not a row")
        part.check_ptr(self.category_ptr, t, len(self.category_left), "categories")

    @property
    def n_voters(self) -> int:
        return len(self.feature)

    def votes(self, X: Floats) -> Floats:
        """Return the (n, T, K) votes, voter by voter in memory.

        Votes are then summed in the same order as weights: where all voters agree, their share is
        exactly 1, and ties stay ties.
        """
        return np.ascontiguousarray(super().votes(X).swapaxes(0, 1)).swapaxes(0, 1)

    def take(self, voters: Indices) -> Self:
        kept, feature = np.unique(self.feature[voters], return_inverse=True)
        sets = [self._set(int(t)) for t in voters]
        return replace(
            self,
            columns=self.columns[kept],
            feature=feature.astype(np.intp),
            threshold=self.threshold[voters],
            missing_left=self.missing_left[voters],
            category_ptr=np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.intp),
            category_left=np.concatenate([np.empty(0, dtype=bool), *sets]),
            left=self.left[voters],
            right=self.right[voters],
        )

    def _set(self, voter: int) -> NDArray[np.bool_]:
        return self.category_left[self.category_ptr[voter] : self.category_ptr[voter + 1]]

    @cached_property
    def _operation(self) -> Trees:
        t = self.n_voters
        root, none = 3 * np.arange(t), np.full(t, -1)

        def nodes(first: Any, other: Any) -> Any:
            return np.stack([first, other, other], axis=1).ravel()

        sizes = nodes(np.diff(self.category_ptr), np.zeros(t, np.intp))
        return Trees(
            self.n_features,
            self.columns,
            root,
            flat_nodes(
                nodes(root + 1, none),
                nodes(self.feature, none),
                nodes(self.threshold, np.full(t, np.nan)),
                nodes(np.where(self.missing_left, 0, 1), none),
                code_ptr=np.append(0, np.cumsum(sizes)),
                code_branch=np.where(self.category_left, 0, 1),
            ),
            np.concatenate([self.left, self.right]),
            np.stack([none, np.arange(t), t + np.arange(t)], axis=1).ravel(),
            each="stump",
        )
