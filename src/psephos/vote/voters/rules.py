"""A list of rules as parts of a vote: the first rule that holds gives the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, NDArray, Usage
from psephos.files.field_types import Thresholds
from psephos.trees.c45_rules import RuleTest
from psephos.trees.tree import spans_of
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.nodes import chains
from psephos.vote.operations.trees import Trees
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    ReadsLike,
    Weighting,
    check,
    check_part,
    check_ptr,
    check_within,
    usage_table,
)

_OPS = ("<=", ">", "=")


@register
@dataclass(frozen=True)
class RuleVoters(ReadsColumns, ReadAsLowered):
    """Rules: each votes for its class where all its tests hold, and abstains elsewhere.

    A missing value holds for no test. A rule without tests always holds: it votes for what is
    left by the others, and counts as reading the columns that they read.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that are read.
    ptr : ndarray of shape (T + 1,)
        The tests of rule t are ``ptr[t] : ptr[t + 1]``.
    feature : ndarray of shape (C,)
        Position in `columns` of the column each test reads.
    op : ndarray of shape (C,)
        0: ``value <= bound``; 1: ``value > bound``; 2, on categories: ``code = bound``.
    bound : ndarray of shape (C,)
    value : ndarray of shape (T, K)
        The vote of each.
    """

    tag: ClassVar[str] = "rule voters"
    n_features: int
    columns: Columns
    ptr: NDArray[np.intp]
    feature: NDArray[np.intp]
    op: NDArray[np.intp]
    bound: Thresholds
    value: Floats

    def __post_init__(self) -> None:
        check_part(self)
        shapes = {a.shape for a in (self.feature, self.op, self.bound)}
        check(shapes == {(len(self.feature),)}, "tests differ in number")
        check(self.value.ndim == 2 and len(self.value) > 0, "rules have no votes")
        check_ptr(self.ptr, len(self.value), len(self.feature), "rules")
        check_within(self.feature, len(self.columns), "a rule reads a column it lacks")
        check_within(self.op, len(_OPS), "a test asks what is unknown")

    @classmethod
    def of(cls, rules: Sequence[Sequence[RuleTest]], value: Floats, n_features: int) -> Self:
        """Return rules given by their tests, which name columns of the table."""
        tests = [test for rule in rules for test in rule]
        columns, feature = np.unique([test.column for test in tests], return_inverse=True)
        return cls(
            n_features,
            columns.astype(np.intp),
            np.cumsum([0, *(len(rule) for rule in rules)]).astype(np.intp),
            feature.astype(np.intp),
            np.array([_OPS.index(test.op) for test in tests], dtype=np.intp),
            np.array([test.value for test in tests], dtype=np.float64),
            value,
        )

    @property
    def n_voters(self) -> int:
        return len(self.value)

    @cached_property
    def _operation(self) -> Trees:
        """Return the rules as chains, each in the order of its columns."""
        sizes, k = np.diff(self.ptr), self.value.shape[1]
        order = np.lexsort((self.feature, np.repeat(np.arange(self.n_voters), sizes)))
        tests = self.feature[order], self.op[order], self.bound[order]
        root, last, nodes = chains(sizes, *tests)
        row = np.where(nodes.n_children > 0, -1, self.n_voters)
        row[last] = np.arange(self.n_voters)
        value = np.append(self.value, np.zeros((1, k)), axis=0)
        return Trees(self.n_features, self.columns, root, nodes, value, row, each="rule")

    def take(self, voters: NDArray[np.intp]) -> Self:
        ptr, tests = spans_of(self.ptr, voters)
        kept, feature = np.unique(self.feature[tests], return_inverse=True)
        return replace(
            self,
            columns=self.columns[kept],
            ptr=ptr,
            feature=feature.astype(np.intp),
            op=self.op[tests],
            bound=self.bound[tests],
            value=self.value[voters],
        )


@register
@dataclass(frozen=True)
class FirstMatch(ReadsLike, Weighting):
    """w_t(x) = 1 for the first rule that holds on x, else 0: a gate.

    Whether a rule is the first depends on those before it: its weight reads their columns too.

    Parameters
    ----------
    rules : RuleVoters
    rank : ndarray of shape (T,)
        Their order: the lowest comes first.
    share : ndarray of shape (T,)
        Share of the training weight that each decided.
    """

    tag: ClassVar[str] = "first match"
    read_by: ClassVar[str] = "rules"
    rules: RuleVoters | Trees
    rank: NDArray[np.intp]
    share: Floats

    def __post_init__(self) -> None:
        check_part(self)
        rules = type(self.rules) is RuleVoters or getattr(self.rules, "each", "") == "rule"
        check(rules, "the first match is not of rules")
        t = self.rules.n_voters
        check(self.rank.shape == self.share.shape == (t,), "rules and their order differ in number")
        check(len(np.unique(self.rank)) == t, "no order of rules")
        shares = np.isfinite(self.share) & (self.share >= 0)
        check(bool(shares.all()), "a share of rows is not one")

    @property
    def n_voters(self) -> int:
        return self.rules.n_voters

    def lowered(self) -> Self:
        return replace(self, rules=self.rules.lowered())

    def weights(self, X: Floats) -> Floats:
        t = self.n_voters
        order = np.argsort(self.rank)
        held = self.rules.lowered().holds(X)[:, order]
        first = np.where(held.any(axis=1), held.argmax(axis=1), t)
        out = np.zeros((len(X), t))
        decided = np.flatnonzero(first < t)
        out[decided, order[first[decided]]] = 1.0
        return out

    def mean_share(self) -> Floats:
        """Return each rule's share of the training rows that these rules decided."""
        total = self.share.sum()
        return self.share / total if total > 0 else np.full(self.n_voters, 1.0 / self.n_voters)

    def words(self) -> str:
        return "the first rule that holds decides"

    def usage(self) -> Usage:
        """Return the (T, p) table: the columns of each rule and of all before it."""
        own: Any = self.rules.usage().toarray()
        order = np.argsort(self.rank)
        before = np.empty_like(own)
        before[order] = np.logical_or.accumulate(own[order], axis=0)
        voter, column = np.nonzero(before)
        return usage_table(voter, column, own.shape)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return the weights of these rules alone, in their old order of precedence."""
        return replace(
            self,
            rules=self.rules.take(voters),
            rank=self.rank[voters],
            share=self.share[voters],
        )
