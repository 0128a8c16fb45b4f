"""The operation `Trees`, row by row: the leaf of a case in each tree, the vote and its reason."""

import math
from functools import cached_property
from typing import Any

from psephos.vote.reading.core import VOTERS, best, of_kind, single, spans
from psephos.vote.reasons.base import Always
from psephos.vote.reasons.paths import Path, Spread, Test
from psephos.vote.reasons.read import Abstention, Inner


def spoken_share(shares: Any, code: Any) -> Any:
    """Return the sum over k of p_k code_k, computed so that equal shares give equal votes."""
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
    """Rules of nodes or of surrogates, which send a value to a branch."""

    def __init__(self, rules: Any, columns: Any, strict: bool, rounded: bool) -> None:
        self.column = [columns[f] if f >= 0 else -1 for f in rules["column"]]
        self.threshold, self.flip = rules["threshold"], rules["flip"]
        self.codes = [rules["code_branch"][a:b] for a, b in spans(rules["code_ptr"])]
        self.strict, self.rounded = strict, rounded

    def branch(self, r: int, x: Any) -> int:
        """Return the branch of a case; -1 if its value is missing or unknown to the rule."""
        value, codes = x[self.column[r]], self.codes[r]
        if value != value:
            return -1
        if codes:
            return codes[int(value)] if 0 <= value < len(codes) else -1
        if self.rounded:
            value = single(value)
        bound = self.threshold[r]
        holds = bound is not None and (value < bound if self.strict else value <= bound)
        return 0 if holds != bool(self.flip[r]) else 1

    def test(self, r: int, branch: int, x: Any) -> Test:
        """Return the test by which a value was sent to a branch."""
        column, codes = self.column[r], self.codes[r]
        value = x[column]
        if codes:
            return Test(column, "in", tuple(c for c, b in enumerate(codes) if b == branch), value)
        threshold = self.threshold[r]
        if threshold is None or math.isinf(threshold):
            return Test(column, "present", None, value)
        first = (branch == 0) != bool(self.flip[r])
        test = Test(column, self._relation(first), threshold, value)
        near = single(value) if self.rounded else value
        return test if near == value else test._replace(rounded=near)

    def _relation(self, first: bool) -> str:
        return (("<", ">=") if self.strict else ("<=", ">"))[not first]

    def way(self, r: int, branch: int) -> tuple[str, Any]:
        """Return (relation, bound) of the branch to which a part of a case is sent."""
        if self.codes[r]:
            return "in", tuple(c for c, b in enumerate(self.codes[r]) if b == branch)
        bound = math.nan if self.threshold[r] is None else self.threshold[r]
        return self._relation((branch == 0) != bool(self.flip[r])), bound

    def absent(self, r: int, x: Any) -> Test:
        """Return the test of a value that is missing, or of a category unknown to the rule."""
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


@of_kind(VOTERS, "trees")
class TreeReader:
    """Trees, node by node; the fields are those of `psephos.vote.operations.trees.Trees`."""

    def __init__(self, part: dict[str, Any]) -> None:
        nodes, code, row = part["nodes"], part["code"], part["row"]
        strict, rounded = bool(nodes["strict"]), bool(nodes["single"])
        self.root, self.child, self.n_children = part["root"], nodes["child"], nodes["n_children"]
        self.missing, self.share = nodes["missing"], nodes["share"]
        self.rules = _Branches(nodes, part["columns"], strict, rounded)
        self.surrogates = _Branches(nodes["surrogates"], part["columns"], strict, rounded)
        self.ptr = nodes["surrogates"]["ptr"]
        self.lower, self.upper = nodes["lower"], nodes["upper"]
        self.says, self.abstains, self.code = part["says"], bool(part["abstains"]), code
        self.each, self.name = part["each"], part["name"]
        self.grouped = bool(part["group"])
        self.group = spans(part["group"] or list(range(len(self.root) + 1)))
        self.n_voters = len(self.group)
        voted = part["value"] if self.grouped else [self._vote_of(v) for v in part["value"]]
        self.row = row or list(range(len(self.child)))
        self.value = [voted[max(r, 0)] for r in self.row]

    def _vote_of(self, value: Any) -> Any:
        if self.says == "value":
            return value
        return self.code[best(value)] if self.says == "answer" else spoken_share(value, self.code)

    # ------------------------------------------------------------------ where a case ends
    def steps(self, node: int, x: Any, tests: bool = False) -> list[tuple[int, float, Any]]:
        """Return (branch, part, test) of every branch a case takes; test None unless `tests`."""
        rules = self.rules
        if self.lower and not rules.codes[node]:
            value, low, up = x[rules.column[node]], self.lower[node], self.upper[node]
            threshold = rules.threshold[node]
            if value > low and (value < up or value <= threshold) and low < up:
                below = _first_share(value, low, threshold, up)
                test = Test(rules.column[node], "within", (low, up), value) if tests else None
                return [(0, below, test), (1, 1.0 - below, test)]
        branch = rules.branch(node, x)
        if branch >= 0:
            return [(branch, 1.0, rules.test(node, branch, x) if tests else None)]
        for r in range(self.ptr[node], self.ptr[node + 1]):
            branch = self.surrogates.branch(r, x)
            if branch >= 0:
                test = self.surrogates.test(r, branch, x) if tests else None
                return [(branch, 1.0, test and test._replace(instead_of=rules.column[node]))]
        return self._gap(node, x, tests)

    def _gap(self, node: int, x: Any, tests: bool) -> list[tuple[int, float, Any]]:
        test, way = self.rules.absent(node, x) if tests else None, self.missing[node]
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

    def ends(self, t: int, x: Any, tests: bool = False) -> list[tuple[int, float, Any]]:
        """Return (node, part, tests) where the parts of a case end, the first branch first."""
        found: list[tuple[int, float, Any]] = []
        todo: list[tuple[int, float, Any]] = [(self.root[t], 1.0, ())]
        while todo:
            node, part, way = todo.pop()
            steps = self.steps(node, x, tests) if self.n_children[node] else []
            if not steps:
                stays = tests and self.n_children[node] > 0
                found.append((node, part, (*way, self.rules.absent(node, x)) if stays else way))
                continue
            first = self.child[node]
            todo += [(first + b, part * p, (*way, test)) for b, p, test in reversed(steps)]
        return found

    def voted(self, tree: int, x: Any) -> list[float]:
        """Return the vote of a tree, or its part of a mean."""
        ends = self.ends(tree, x)
        if len(ends) == 1:
            return self.value[ends[0][0]]
        out = [0.0] * len(self.value[0])
        for node, part, _ in ends:
            out = [a + part * v for a, v in zip(out, self.value[node], strict=True)]
        return out

    def holds(self, t: int, x: Any) -> bool:
        """Return whether all tests of a chain hold."""
        return self.ends(t, x)[0][0] == self.last(t)

    def last(self, t: int) -> int:
        """Return the node of a tree at the end of the first branches."""
        node = self.root[t]
        while self.n_children[node]:
            node = self.child[node]
        return node

    # ------------------------------------------------------------------ votes and reasons
    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        return [self._vote(t, x) for t in range(self.n_voters)]

    def _vote(self, t: int, x: Any) -> Any:
        if self.abstains and any(x[j] != x[j] for j in self.reads[t]):
            return [0.0] * len(self.code[0] if self.code else self.value[0])
        start, end = self.group[t]
        if not self.grouped:
            return self.voted(start, x)
        total = [0.0] * len(self.value[0])
        for tree in range(start, end):
            total = [a + v for a, v in zip(total, self.voted(tree, x), strict=True)]
        return self._vote_of([one / (end - start) for one in total])

    @cached_property
    def reads(self) -> list[list[int]]:
        """Return the sorted columns of each voter's rules and surrogates."""
        found: list[list[int]] = []
        rules, others = self.rules.column, self.surrogates.column
        ends = [*self.root, len(self.child)]
        for start, end in self.group:
            a, b = ends[start], ends[end]
            spare = others[self.ptr[a] : self.ptr[b]]
            found.append(sorted({j for j in [*rules[a:b], *spare] if j >= 0}))
        every = sorted({j for own in found for j in own}) if self.each == "rule" else []
        return [own or every for own in found]

    def reasons(self, x: Any, votes: Any = None) -> Any:
        """Return the reasons of the votes, which are computed unless they are given."""
        votes = self.votes(x) if votes is None else votes
        return [self._reason(t, x, tuple(vote)) for t, vote in enumerate(votes)]

    def _reason(self, t: int, x: Any, vote: tuple[float, ...]) -> Any:
        start, end = self.group[t]
        gaps = tuple(j for j in self.reads[t] if x[j] != x[j]) if self.abstains else ()
        if gaps:
            return Abstention(vote, gaps, (math.nan,) * len(gaps))
        if self.grouped:
            read = self.reads[t]
            return Inner(vote, tuple(read), tuple(x[j] for j in read), end - start, "tree")
        number = t + 1 if self.each == "rule" else 0
        if start in self._alike:
            return Always(vote, self._alike[start], number)
        ends = self.ends(start, x, tests=True)
        if len(ends) > 1:
            paths = tuple(Path(tuple(self.value[node]), tests) for node, _, tests in ends)
            return Spread(vote, tuple(part for _, part, _ in ends), paths)
        node, _, tests = ends[0]
        if self.each in ("rule", "hypothesis") and node != self.last(start):
            tests = (self._failing(start, node, x),)
        return Path(vote, tests, number)

    def _failing(self, t: int, end: int, x: Any) -> Test:
        """Return the opposite of the test that fails in a chain."""
        node = self.root[t]
        while self.child[node] + 1 != end:
            node = self.child[node]
        gap = x[self.rules.column[node]] != x[self.rules.column[node]]
        return self.rules.absent(node, x) if gap else self.rules.test(node, 0, x).opposite()

    @cached_property
    def _alike(self) -> dict[int, str]:
        """Return the trees that vote the same on every case, each with a description."""
        found: dict[int, str] = {}
        for t, (a, b) in enumerate(spans([*self.root, len(self.child)])):
            own = [n for n in range(a, b) if not self.n_children[n] or self.missing[n] < 0]
            if b - a == 1:
                found[t] = self._constant(t)
            elif not self.abstains and all(self.value[n] == self.value[own[0]] for n in own):
                found[t] = "always"
        return found

    def _constant(self, t: int) -> str:
        if self.each == "hypothesis" and self.row[self.root[t]] == 1:
            return "the empty hypothesis, which holds for no case"
        return {
            "constant": self.name,
            "rule": "default rule",
            "hypothesis": "no test: it holds for every case",
        }.get(self.each, "a tree of one leaf")
