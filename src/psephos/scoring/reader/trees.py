"""Trees: with two branches in flat arrays, with any number, and groups of trees that are forests.

Nodes of both kinds are read as one: rules with branches, surrogates, and what a gap does.
"""

import math
from functools import cached_property
from typing import Any

from psephos.vote.reading.core import VOTERS, best, of_kind, single, spans
from psephos.vote.reasons import Abstention, Always, Inner, Path, Spread, Test


def spoken_share(shares: Any, code: Any) -> Any:
    """Return sum over k of p_k code_k; of SAMME's codes so that equal shares stay equal."""
    k, total = len(code), 0.0
    samme = k > 2 and all(
        code[i][j] == (1.0 if i == j else -1.0 / (k - 1)) for i in range(k) for j in range(k)
    )
    if samme:
        for share in shares:
            total += share
        return [(k * share - total) / (k - 1) for share in shares]
    out = [0.0] * len(code[0])
    for share, row in zip(shares, code, strict=True):
        out = [a + share * b for a, b in zip(out, row, strict=True)]
    return out


class _Branches:
    """Rules of nodes or of surrogates: which branch a value names."""

    def __init__(self, rules: Any, columns: Any, strict: bool, rounded: bool) -> None:
        self.column = [columns[f] if f >= 0 else -1 for f in rules["column"]]
        self.threshold, self.flip = rules["threshold"], rules["flip"]
        self.codes = [rules["code_branch"][a:b] for a, b in spans(rules["code_ptr"])]
        self.strict, self.rounded = strict, rounded

    def branch(self, r: int, x: Any) -> int:
        """Return the branch; -1 where the rule knows none."""
        value, codes = x[self.column[r]], self.codes[r]
        if value != value:
            return -1
        if codes:
            return codes[int(value)] if 0 <= value < len(codes) else -1
        if self.rounded:
            value = single(value)
        holds = value < self.threshold[r] if self.strict else value <= self.threshold[r]
        return 0 if holds != bool(self.flip[r]) else 1

    def test(self, r: int, branch: int, x: Any) -> Test:
        """Return the test of a value that named a branch."""
        column, codes = self.column[r], self.codes[r]
        value = x[column]
        if codes:
            same = tuple(c for c, b in enumerate(codes) if b == branch)
            return Test(column, "in", same, value)
        threshold = self.threshold[r]
        if math.isinf(threshold):
            return Test(column, "present", None, value)
        first = (branch == 0) != bool(self.flip[r])
        value = single(value) if self.rounded else value
        return Test(column, self._relation(first), threshold, value)

    def _relation(self, first: bool) -> str:
        return (("<", ">=") if self.strict else ("<=", ">"))[not first]

    def way(self, r: int, branch: int) -> tuple[str, Any]:
        """Return (relation, bound) of the branch that a part of a case is sent to."""
        if self.codes[r]:
            return "in", tuple(c for c, b in enumerate(self.codes[r]) if b == branch)
        return self._relation((branch == 0) != bool(self.flip[r])), self.threshold[r]

    def absent(self, r: int, x: Any) -> Test:
        """Return the test of a value that is missing, or a category new to the rule."""
        column = self.column[r]
        if x[column] != x[column]:
            return Test(column, "missing", None, x[column])
        known = tuple(c for c, b in enumerate(self.codes[r]) if b >= 0)
        return Test(column, "not in", known, x[column])


def _first_share(x: float, lower: float, threshold: float, upper: float) -> float:
    """Return the share of a value that goes to the first branch of a soft threshold."""
    if x <= threshold:
        if x <= lower:
            return 1.0
        width = 0.5 * threshold - 0.5 * lower
        return 1.0 - 0.5 * ((0.5 * x - 0.5 * lower) / width) if width > 0.0 else 0.5
    if x >= upper:
        return 0.0
    width = 0.5 * upper - 0.5 * threshold
    return 0.5 * ((0.5 * upper - 0.5 * x) / width) if width > 0.0 else 0.5


class _Trees:
    """Walks of a case from the roots: `ends` are (node, part of the case) in order."""

    def __init__(self, nodes: Any, columns: Any, root: Any, value: Any) -> None:
        strict, rounded = bool(nodes["strict"]), bool(nodes["single"])
        self.root, self.value = root, value
        self.child, self.n_children = nodes["child"], nodes["n_children"]
        self.missing, self.share = nodes["missing"], nodes["share"]
        self.rules = _Branches(nodes, columns, strict, rounded)
        self.surrogates = _Branches(nodes["surrogates"], columns, strict, rounded)
        self.ptr = nodes["surrogates"]["ptr"]
        self.lower, self.upper = nodes.get("lower"), nodes.get("upper")
        self.n_voters = len(root)

    def steps(self, node: int, x: Any, told: bool = False) -> list[tuple[int, float, Any]]:
        """Return (branch, part, test) of every branch a case takes; tests only if `told`."""
        rules = self.rules
        if self.lower and not rules.codes[node]:
            value, low, up = x[rules.column[node]], self.lower[node], self.upper[node]
            threshold = rules.threshold[node]
            if value > low and (value < up or value <= threshold) and low < up:
                below = _first_share(value, low, threshold, up)
                test = Test(rules.column[node], "within", (low, up), value) if told else None
                return [(0, below, test), (1, 1.0 - below, test)]
        branch = rules.branch(node, x)
        if branch >= 0:
            return [(branch, 1.0, rules.test(node, branch, x) if told else None)]
        for r in range(self.ptr[node], self.ptr[node + 1]):
            branch = self.surrogates.branch(r, x)
            if branch >= 0:
                test = self.surrogates.test(r, branch, x) if told else None
                return [(branch, 1.0, test and test._replace(instead_of=rules.column[node]))]
        return self._gap(node, x, told)

    def _gap(self, node: int, x: Any, told: bool) -> list[tuple[int, float, Any]]:
        test, way = self.rules.absent(node, x) if told else None, self.missing[node]
        if way >= 0:
            return [(way, 1.0, test)]
        if way != -1:
            return []  # the case stays
        first, total = self.child[node], 0.0
        shares = [max(s, 0.0) for s in self.share[first : first + self.n_children[node]]]
        for share in shares:
            total += share
        return [
            (b, share / total, test and test._replace(sent=self.rules.way(node, b)))
            for b, share in enumerate(shares)
            if share > 0.0
        ]

    def ends(self, t: int, x: Any, told: bool = False) -> list[tuple[int, float, Any]]:
        """Return (node, part, tests) where the parts of a case end, the first branch first."""
        found, todo = [], [(self.root[t], 1.0, ())]
        while todo:
            node, part, way = todo.pop()
            steps = self.steps(node, x, told) if self.n_children[node] else []
            if not steps:
                stays = told and self.n_children[node] > 0
                found.append((node, part, (*way, self.rules.absent(node, x)) if stays else way))
                continue
            first = self.child[node]
            todo += [(first + b, part * p, (*way, test)) for b, p, test in reversed(steps)]
        return found

    def vote(self, t: int, x: Any) -> list[float]:
        """Return a tree's (K,) vote."""
        ends = self.ends(t, x)
        if len(ends) == 1:
            return self.value[ends[0][0]]
        out = [0.0] * len(self.value[0])
        for node, part, _ in ends:
            out = [a + part * v for a, v in zip(out, self.value[node], strict=True)]
        return out

    def reason(self, t: int, x: Any, answer: Any) -> Any:
        """Return why."""
        if not self.n_children[self.root[t]]:
            return Always(tuple(answer), "a tree of one leaf")
        ends = self.ends(t, x, told=True)
        if len(ends) == 1:
            return Path(tuple(answer), ends[0][2])
        paths = tuple(Path(tuple(self.value[node]), tests) for node, _, tests in ends)
        return Spread(tuple(answer), tuple(part for _, part, _ in ends), paths)

    @cached_property
    def reads(self) -> list[list[int]]:
        """Return the sorted columns of each tree's rules and surrogates."""
        found, rules, others = [], self.rules.column, self.surrogates.column
        for a, b in spans([*self.root, len(self.child)]):
            spare = others[self.ptr[a] : self.ptr[b]]
            found.append(sorted({j for j in [*rules[a:b], *spare] if j >= 0}))
        return found


@of_kind(VOTERS, "branching tree voters")
class BranchingTrees(_Trees):
    """Trees of any number of branches."""

    def __init__(self, part: dict[str, Any]) -> None:
        value, code = part["nodes"]["value"], part["code"]
        said = value if code is None else [spoken_share(row, code) for row in value]
        super().__init__(part["nodes"], part["columns"], part["root"], said)

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        return [self.vote(t, x) for t in range(self.n_voters)]

    def reasons(self, x: Any) -> Any:
        """Return why."""
        return [self.reason(t, x, self.vote(t, x)) for t in range(self.n_voters)]


def as_branching(part: dict[str, Any]) -> dict[str, Any]:
    """Return the nodes of binary trees as those of branching ones: children side by side."""
    n, ptr = len(part["feature"]), part["category_ptr"]
    stays = bool(part["abstains"])
    inner = [f >= 0 for f in part["feature"]]
    codes = [
        [0 if c else 1 for c in part["category_left"][ptr[i] : ptr[i + 1]]] if ptr else []
        for i in range(n)
    ]
    starts = [0]
    for own in codes:
        starts.append(starts[-1] + len(own))
    missing = [-2 if stays or not inner[i] else 1 - part["missing_left"][i] for i in range(n)]
    none = {"column": [], "threshold": [], "flip": [], "code_ptr": [0], "code_branch": []}
    return {
        "column": part["feature"], "threshold": part["threshold"], "flip": [0] * n,
        "code_ptr": starts, "code_branch": [c for own in codes for c in own],
        "child": part["first"], "n_children": [2 if i else 0 for i in inner],
        "missing": missing, "share": [1.0] * n, "strict": False, "single": part["single"],
        "surrogates": {**none, "ptr": [0] * (n + 1)},
    }  # fmt: skip


@of_kind(VOTERS, "tree voters")
class BinaryTrees(_Trees):
    """Trees of two branches each."""

    def __init__(self, part: dict[str, Any]) -> None:
        answer, value = part["answer"], part["value"]
        said = [value[a] if a >= 0 else value[0] for a in answer] if answer else value
        super().__init__(as_branching(part), part["columns"], part["root"], said)
        self.second, self.abstains = part["second"], part["abstains"]

    def ends(self, t: int, x: Any, told: bool = False) -> list[tuple[int, float, Any]]:
        """Return the one (node, 1, tests) where a case ends."""
        node, way = self.root[t], []
        while self.n_children[node]:
            steps = self.steps(node, x, told)
            if not steps:
                return [(node, 1.0, (*way, self.rules.absent(node, x)) if told else ())]
            way.append(steps[0][2])
            node = self.second[node] if steps[0][0] else self.child[node]
        return [(node, 1.0, tuple(way))]

    def gaps(self, t: int, x: Any) -> list[int]:
        """Return the columns whose missing makes a tree abstain."""
        return [j for j in self.reads[t] if x[j] != x[j]] if self.abstains else []

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        none = [0.0] * len(self.value[0])
        return [none if self.gaps(t, x) else self.vote(t, x) for t in range(self.n_voters)]

    def reasons(self, x: Any) -> Any:
        """Return why."""
        found = []
        for t, vote in enumerate(self.votes(x)):
            gaps = tuple(self.gaps(t, x))
            absent = Abstention(tuple(vote), gaps, (math.nan,) * len(gaps))
            found.append(absent if gaps else self.reason(t, x, vote))
        return found


@of_kind(VOTERS, "forest voters")
class Forests:
    """Each voter is the mean of a group of trees."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.trees = BinaryTrees(part["trees"])
        self.group, self.code = spans(part["group"]), part["value"]
        self.says, self.abstains = part["says"], part["abstains"]
        self.n_voters = len(self.group)
        reads = [{j for t in range(a, b) for j in self.trees.reads[t]} for a, b in self.group]
        self.reads = [sorted(own) for own in reads]

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        return [self._vote(t, x) for t in range(self.n_voters)]

    def _vote(self, t: int, x: Any) -> Any:
        if self.abstains and any(x[j] != x[j] for j in self.reads[t]):
            return [0.0] * (1 if self.says == "value" else len(self.code[0]))
        start, end = self.group[t]
        total = [0.0] * len(self.trees.value[0])
        for tree in range(start, end):
            total = [a + v for a, v in zip(total, self.trees.vote(tree, x), strict=True)]
        shares = [one / (end - start) for one in total]
        if self.says == "value":
            return shares
        return self.code[best(shares)] if self.says == "answer" else spoken_share(shares, self.code)

    def reasons(self, x: Any) -> Any:
        """Return why."""
        found = []
        for t, vote in enumerate(self.votes(x)):
            read, (start, end) = self.reads[t], self.group[t]
            gaps = tuple(j for j in read if x[j] != x[j]) if self.abstains else ()
            if gaps:
                found.append(Abstention(tuple(vote), gaps, (math.nan,) * len(gaps)))
            else:
                values = tuple(x[j] for j in read)
                found.append(Inner(tuple(vote), tuple(read), values, end - start, "tree"))
        return found
