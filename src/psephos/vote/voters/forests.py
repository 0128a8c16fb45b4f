"""Forests as voters: each is the mean of a group of trees."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, NDArray
from psephos.trees.tree import spans_of
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.trees import Trees
from psephos.vote.part import ReadsLike, check, check_part, check_ptr
from psephos.vote.voters.trees import TreeVoters


@register
@dataclass(frozen=True)
class ForestVoters(ReadsLike, ReadAsLowered):
    """Forests: each voter averages its trees, leaf by leaf, and votes by the mean.

    Forest t is the trees ``group[t] : group[t + 1]`` of `trees`, whose leaves hold class shares
    (nodes, n_classes), or a number (nodes, 1).

    Parameters
    ----------
    trees : TreeVoters
    group : ndarray of shape (T + 1,)
    value : ndarray of shape (n_classes, K)
        The table of codes; one row and column, unused, where `says` is 'value'.
    says : {'answer', 'probability', 'value'}
        answer: the code of the class with the greatest mean share, the first of equals.
        probability: sum over k of p_k code_k, p the mean shares. value: the mean number.
    abstains : bool, default=False
        True: a forest votes 0 on a row that lacks a value of any column its trees split on.
        False: missing values go where each node sends them.
    """

    tag: ClassVar[str] = "forest voters"
    read_by: ClassVar[str] = "trees"
    trees: TreeVoters
    group: NDArray[np.intp]
    value: Floats
    says: str = "answer"
    abstains: bool = False

    def __post_init__(self) -> None:
        check(type(self.trees) is TreeVoters, "a forest is not of trees")
        check(not self.trees.abstains, "a tree of a forest abstains alone")
        check_part(self)
        sizes = check_ptr(self.group, max(self.group.size, 1) - 1, self.trees.n_voters, "groups")
        check(bool((sizes > 0).all()), "a forest has no tree")
        check(self.says in ("answer", "probability", "value"), f"says is {self.says!r}")
        check(self.value.ndim == 2, "codes are not a table")
        check(
            len(self.value) == self.trees.value.shape[1],
            "values of trees and codes differ in number of classes",
        )
        check(self.says != "value" or self.value.shape == (1, 1), "a value is one number")

    @property
    def n_voters(self) -> int:
        return len(self.group) - 1

    @cached_property
    def _operation(self) -> Trees:
        how: Any = {"says": self.says, "abstains": bool(self.abstains), "group": self.group}
        return replace(
            self.trees.lowered(), code=None if self.says == "value" else self.value, **how
        )

    def take(self, voters: NDArray[np.intp]) -> Self:
        group, trees = spans_of(self.group, voters)
        return replace(self, trees=self.trees.take(trees), group=group)
