"""Lists of rules as voters, and the weights by which the first rule that holds decides."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from psephos._types import Floats, Indices, Usage
from psephos.files.field_types import Thresholds
from psephos.trees.tree import Tree
from psephos.trees.tree_leaves import RuleTest, way_words
from psephos.vote import part
from psephos.vote.codec import register, register_form
from psephos.vote.operations.nodes import chains, leaf_chains
from psephos.vote.operations.trees import Trees
from psephos.vote.reasons import InLeaf, Path, Reason

_OPS = ("<=", ">", "=")


@register_form("rule voters")
def chains_of_tests(
    n_features: int,
    columns: part.Columns,
    ptr: Indices,
    feature: Indices,
    op: Indices,
    bound: Thresholds,
    value: Floats,
) -> Trees:
    """Return rules as voters: each votes for its class where all its tests hold, else abstains.

    No test holds for a missing value. A rule without tests always holds: it decides the cases that
    the others leave, and counts as reading all their columns. The parameters are the fields of such
    parts in files of older releases.

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
    shapes = {a.shape for a in (feature, op, bound)}
    part.check(shapes == {(len(feature),)}, "tests differ in number")
    part.check(value.ndim == 2 and len(value) > 0, "rules have no votes")
    sizes = part.check_ptr(ptr, len(value), len(feature), "rules")
    part.check_within(op, len(_OPS), "a test has an unknown operation")
    every = np.arange(len(value))
    order = np.lexsort((feature, np.repeat(every, sizes)))  # each in the order of its columns
    root, last, nodes = chains(sizes, feature[order], op[order], bound[order])
    row = np.where(nodes.n_children > 0, -1, len(value))
    row[last] = every
    votes = np.append(value, np.zeros((1, value.shape[1])), axis=0)
    return Trees(n_features, columns, root, nodes, votes, row, each="rule")


def rule_voters(rules: Sequence[Sequence[RuleTest]], value: Floats, n_features: int) -> Trees:
    """Return rules, given as sequences of tests on columns of the table, as voters."""
    tests = [test for rule in rules for test in rule]
    columns, feature = np.unique([test.column for test in tests], return_inverse=True)
    return chains_of_tests(
        n_features,
        columns.astype(np.intp),
        np.cumsum([0, *(len(rule) for rule in rules)]).astype(np.intp),
        feature.astype(np.intp),
        np.array([_OPS.index(test.op) for test in tests], dtype=np.intp),
        np.array([test.value for test in tests], dtype=np.float64),
        value,
    )


def leaf_gates(tree: Tree, n_features: int) -> "FirstMatch":
    """Return weights that are 1 for the leaf of a tree in which a case ends, else 0.

    Every node must have two branches and send missing values to one of them. Shares are those of
    the training weight (`counts`).
    """
    columns = tree.columns
    local = tree.on_columns(np.searchsorted(columns, tree.column), tree.surrogates.column)
    leaves = np.flatnonzero(tree.n_children == 0)
    root, last, nodes = leaf_chains(local, leaves)
    every = np.arange(len(leaves), dtype=np.intp)
    row = np.where(nodes.n_children > 0, -1, len(leaves))
    row[last] = every
    holds = np.append(np.ones((len(leaves), 1)), np.zeros((1, 1)), axis=0)
    rules = Trees(n_features, columns, root, nodes, holds, row, each="rule")
    weight = tree.counts[leaves, 0]
    return FirstMatch(rules, every, weight / weight.sum(), leaves=True)


@register
class FirstMatch(part.ReadsLike, part.Weighting):
    """w_t(x) = 1 for the first rule that holds on x, else 0.

    The weight of a rule also depends on the columns of the rules before it.

    Parameters
    ----------
    rules : Trees
        Chains of tests.
    rank : ndarray of shape (T,)
        Their order, lowest first.
    share : ndarray of shape (T,)
        Share of the training weight that each rule decided.
    leaves : bool, default=False
        Whether rules are the paths to the leaves of a tree, of which exactly one holds for each
        case, and voters are the models of the leaves.
    """

    tag: ClassVar[str] = "first match"
    read_by: ClassVar[str] = "rules"
    rules: Trees
    rank: Indices
    share: Floats
    leaves: bool = False

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.rules.each == "rule", "the first match is not of rules")
        t = self.rules.n_voters
        shapes = {self.rank.shape, self.share.shape}
        part.check(shapes == {(t,)}, "rules and their order differ in number")
        part.check(len(np.unique(self.rank)) == t, "two rules have one rank")
        shares = np.isfinite(self.share) & (self.share >= 0)
        part.check(shares, "a share of rows is negative or not finite")

    def weights(self, X: Floats) -> Floats:
        t = self.n_voters
        order = np.argsort(self.rank)
        held = self.rules.holds(X)[:, order]
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
        return "the model of the leaf" if self.leaves else "the first rule that holds decides"

    def where(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return ``in the leaf x > 3 and y <= 2``; '' for rules, whose words have the tests."""
        if not self.leaves:
            return ""
        return f"in the leaf {way_words(self.rules.way(voter), names, levels)}"

    def because(self, X: Floats, reasons: list[list[Reason]]) -> list[list[Reason]]:
        """Return the reasons of the models of leaves, preceded by the tests that lead there."""
        if not self.leaves:
            return reasons
        ways = self.rules.reasons(X)
        found: list[list[Reason]] = []
        for way, own in zip(ways, reasons, strict=True):
            pairs = zip(way, own, strict=True)
            found.append([InLeaf(one.answer, cast("Path", there), one) for there, one in pairs])
        return found

    def usage(self) -> Usage:
        """Return the (T, p) table of the columns of each rule and of all before it.

        Leaves exclude each other: each has its own columns only.
        """
        if self.leaves:
            return self.rules.usage()
        own: Any = self.rules.usage().toarray()
        order = np.argsort(self.rank)
        before = np.empty_like(own)
        before[order] = np.logical_or.accumulate(own[order], axis=0)
        voter, column = np.nonzero(before)
        return part.usage_table(voter, column, own.shape)

    def take(self, voters: Indices) -> Self:
        """Return the weights of these rules only, in their old order of precedence."""
        rules = self.rules.take(voters)
        return replace(self, rules=rules, rank=self.rank[voters], share=self.share[voters])
