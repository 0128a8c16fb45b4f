"""The way of cases through a tree, as the reasons of its answers."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prediction.tree_walk import first_share
from psephos.trees.tree import SPREAD, Tree
from psephos.vote.reasons import Always, Path, Reason, Spread, Test

_Floats = NDArray[np.float64]
_Way = tuple[int, float, tuple[Test, ...]]  # node, share of the case, tests so far


class Ways:
    """A tree written as lists, which single steps read faster than arrays.

    It is on the columns of the table; `votes` (nodes, K) are those of its nodes.
    """

    def __init__(self, tree: Tree, votes: _Floats) -> None:
        self._tree = tree
        self._votes = votes
        self._child: list[int] = tree.child.tolist()
        self._n_children: list[int] = tree.n_children.tolist()
        self._missing: list[int] = tree.missing.tolist()
        self._surrogate_ptr: list[int] = tree.surrogates.ptr.tolist()
        self._own = _Rules(tree, tree.strict, tree.single)
        self._surrogates = _Rules(tree.surrogates, tree.strict, tree.single)

    def reason(self, x: list[float], answer: _Floats) -> Reason:
        """Return why the tree votes (K,) `answer` on a case of values `x`, one a column."""
        vote = tuple(answer.tolist())
        if len(self._child) == 1:
            return Always(vote, "a tree of one leaf")
        ends = self._ends(x)
        if len(ends) == 1:
            return Path(vote, ends[0][2])
        paths = tuple(Path(tuple(self._votes[node].tolist()), tests) for node, _, tests in ends)
        return Spread(vote, tuple(share for _, share, _ in ends), paths)

    def _ends(self, x: list[float]) -> list[_Way]:
        """Return where the parts of a case end, the first branch first."""
        found: list[_Way] = []
        todo: list[_Way] = [(0, 1.0, ())]
        while todo:
            node, share, way = todo.pop()
            if not self._n_children[node]:
                found.append((node, share, way))
                continue
            steps = self._steps(node, x)
            if not steps:  # the case stays where its value is missing
                found.append((node, share, (*way, self._own.absent(node, x))))
            first = self._child[node]
            todo += [(first + b, share * part, (*way, test)) for b, part, test in reversed(steps)]
        return found

    def _steps(self, node: int, x: list[float]) -> list[tuple[int, float, Test]]:
        """Return (branch, part of the case, test) of every branch that a case takes at a node."""
        soft = self._tree.softly(node)
        column = self._own.column[node]
        if soft is not None:
            value, threshold = x[column], self._own.threshold[node]
            if soft[0] < value and (value < soft[1] or value <= threshold):
                below = float(first_share(value, soft[0], threshold, soft[1]))
                test = Test(column, "within", soft, value)
                return [(0, below, test), (1, 1.0 - below, test)]
        own = self._own.met(node, x)
        if own is not None:
            return [(own[0], 1.0, own[1])]
        for rule in range(self._surrogate_ptr[node], self._surrogate_ptr[node + 1]):
            met = self._surrogates.met(rule, x)
            if met is not None:
                return [(met[0], 1.0, met[1]._replace(instead_of=column))]
        gap, way = self._own.absent(node, x), self._missing[node]
        if way >= 0:
            return [(way, 1.0, gap)]
        if way != SPREAD:
            return []
        share = np.maximum(self._tree.share[self._tree.children(node)], 0.0)
        total = float(share.sum())
        sent = [(b, s / total) for b, s in enumerate(share.tolist()) if s > 0]
        return [(b, part, gap._replace(sent=self._own.way(node, b))) for b, part in sent]


class _Rules:
    """The rules of nodes, or of surrogates, as lists."""

    def __init__(self, rules: Any, strict: bool, single: bool) -> None:
        self.column: list[int] = rules.column.tolist()
        self.threshold: list[float] = rules.threshold.tolist()
        self._flip: list[bool] = rules.flip.tolist()
        self._ptr: list[int] = rules.code_ptr.tolist()
        self._branch = rules.code_branch
        self._single = single
        self._relations = ("<", ">=") if strict else ("<=", ">")

    def met(self, rule: int, x: list[float]) -> tuple[int, Test] | None:
        """Return the branch that a rule names and the test met; None where it knows none."""
        column = self.column[rule]
        value = x[column]
        if math.isnan(value):
            return None
        if self._ptr[rule] < self._ptr[rule + 1]:
            codes: list[int] = self._codes(rule).tolist()
            branch = codes[int(value)] if 0 <= value < len(codes) else -1
            same = tuple(code for code, b in enumerate(codes) if b == branch)
            return None if branch < 0 else (branch, Test(column, "in", same, value))
        if self._single:
            with np.errstate(over="ignore"):
                value = float(np.float32(value))
        threshold, (below, above) = self.threshold[rule], self._relations
        first = value < threshold if below == "<" else value <= threshold
        if math.isinf(threshold):  # every number goes one way
            return int(first == self._flip[rule]), Test(column, "present", None, x[column])
        test = Test(column, below if first else above, threshold, value)
        return int(first == self._flip[rule]), test

    def way(self, rule: int, branch: int) -> tuple[str, Any]:
        """Return (relation, bound) of the branch that a part of a case is sent to."""
        if self._ptr[rule] < self._ptr[rule + 1]:
            codes: list[int] = self._codes(rule).tolist()
            return "in", tuple(code for code, b in enumerate(codes) if b == branch)
        first = (branch == 0) != self._flip[rule]
        return self._relations[0] if first else self._relations[1], self.threshold[rule]

    def absent(self, rule: int, x: list[float]) -> Test:
        """Return the test of a case whose value is missing, or a category new to the rule."""
        column = self.column[rule]
        if math.isnan(x[column]):
            return Test(column, "missing", None, x[column])
        known: list[int] = np.flatnonzero(self._codes(rule) >= 0).tolist()
        return Test(column, "not in", tuple(known), x[column])

    def _codes(self, rule: int) -> NDArray[np.intp]:
        return self._branch[self._ptr[rule] : self._ptr[rule + 1]]
