"""Trees as plain ONNX operators, one level of nodes at a time."""

# pyright: standard

from collections.abc import Sequence
from typing import Any

import numpy as np

from psephos.scoring.form import Branching, bound_in_single
from psephos.vote.reading.trees import spoken_share


class TreeLevels:
    """Some of the trees of an operation, and the share of a case that reaches each of their nodes.

    A rule is a lookup table of branches: entry 0 is for a missing value, 1 and 2 for the sides of a
    threshold, 1 + c for the code c. An entry of -1 means that the next surrogate decides, and after
    the last the node's rule for missing values. The share of a case at a node is that at its parent
    times the share that takes its branch.
    """

    def __init__(self, graph: Any, trees: Branching, which: Sequence[int]) -> None:
        self._graph, self._trees, self._which = graph, trees, list(which)
        self._prefix = f"trees {len(graph.nodes)}"
        self._count = 0
        levels, self.of_tree = [[trees.root[t] for t in self._which]], dict[int, int]()
        for place, t in enumerate(self._which):
            self.of_tree |= dict.fromkeys(trees.within(t), place)
        while below := [c for n in levels[-1] for c in trees.children[n]]:
            levels.append(below)
        self._levels = levels
        self._inner = [n for level in levels for n in level if trees.children[n]]
        self._branch = self._branches()

    def _op(self, kind: str, inputs: list[str], **more: Any) -> str:
        self._count += 1
        return self._graph.op(kind, inputs, f"{self._prefix}.{self._count}", **more)

    def _floats(self, values: Any) -> str:
        return self._graph.constant(np.asarray(values, dtype=np.float32))

    def _whole(self, values: Any) -> str:
        return self._graph.constant(np.asarray(values, dtype=np.int64))

    def _as_float(self, truth: str) -> str:
        return self._op("Cast", [truth], to=1)

    def _branches(self) -> str:
        """Return the (n, inner) branches taken; -1: all branches by share; -2: the case stays."""
        trees, inner = self._trees, self._inner
        rules = [trees.node_rules(n) for n in inner]
        found = ""
        for rank in range(max(map(len, rules), default=0) - 1, -1, -1):
            own = self._looked_up([own[rank] if rank < len(own) else None for own in rules])
            none = self._op("Less", [own, self._floats(0.0)])
            rest = found or self._floats([trees.missing[n] for n in inner])
            found = self._op("Where", [none, rest, own])
        return found

    def _looked_up(self, rules: Sequence[Any]) -> str:
        """Return the (n, inner) branches by one rule of each node; -1 where it does not decide."""
        column, bound, most, start, table = [], [], [], [], [-1]
        how = self._trees.strict, self._trees.single
        for rule in rules:
            start.append(len(table) if rule else 0)
            column.append(rule.column if rule else 0)
            codes = rule.codes if rule else []
            most.append(len(codes) + 1 if codes else 0)
            there = rule and not codes
            bound.append(bound_in_single(rule.threshold, *how) if there else 0.0)
            if rule and codes:
                table += [-1, *codes, -1]
            elif rule:
                table += [-1, 1, 0] if rule.flip else [-1, 0, 1]
        x = self._op("Gather", [self._graph.columns, self._whole(column)], axis=1)
        gone = self._op("IsNaN", [x])
        first = self._as_float(self._op("LessOrEqual", [x, self._floats(bound)]))
        side = self._op("Sub", [self._floats(2.0), first])
        code = self._op("Min", [self._op("Floor", [x]), self._floats(2.0**24)])
        code = self._op("Max", [self._op("Add", [code, self._floats(1.0)]), self._floats(0.0)])
        coded = self._op("Where", [
            self._graph.constant(np.array([m > 0 for m in most])),
            self._op("Min", [code, self._floats(most)]), side,
        ])  # fmt: skip
        known = self._graph.constant(np.array([rule is not None for rule in rules]))
        kept = self._op("And", [self._op("Not", [gone]), known])
        at = self._op("Cast", [self._op("Where", [kept, coded, self._floats(0.0)])], to=7)
        branches = self._floats(table)
        return self._op("Gather", [branches, self._op("Add", [at, self._whole(start)])], axis=0)

    def _ends(self, value: Any) -> str:
        """Return the sum over end nodes of the share of the case there times ``value(node)``."""
        trees, place = self._trees, {n: i for i, n in enumerate(self._inner)}
        reach, total = "", ""
        for depth, level in enumerate(self._levels):
            if depth:
                reach = self._reached(depth, level, reach, place)
            rows = np.array([value(n) for n in level], dtype=np.float64)
            leaf = np.array([not trees.children[n] for n in level])
            if depth and leaf.any():
                at = self._floats(np.where(leaf[:, None], rows, 0.0))
                total = self._plus(total, self._op("MatMul", [reach, at]))
            stays = [i for i, n in enumerate(level) if trees.children[n] and trees.missing[n] == -2]
            if stays:
                where = self._whole([place[level[i]] for i in stays])
                part = self._as_float(self._op("Equal", [
                    self._op("Gather", [self._branch, where], axis=1), self._floats(-2.0),
                ]))  # fmt: skip
                if depth:
                    above = self._op("Gather", [reach, self._whole(stays)], axis=1)
                    part = self._op("Mul", [part, above])
                total = self._plus(total, self._op("MatMul", [part, self._floats(rows[stays])]))
        return total

    def _reached(self, depth: int, level: list[int], above: str, place: dict[int, int]) -> str:
        """Return the share of a case that reaches each node of a level."""
        trees, upper = self._trees, self._levels[depth - 1]
        edges = [(i, n, b) for i, n in enumerate(upper) for b in range(len(trees.children[n]))]
        share = []
        for _, n, b in edges:
            each = np.maximum([trees.share[c] for c in trees.children[n]], 0.0)
            share.append(each[b] / each.sum() if each.sum() > 0 else 0.0)
        parents = self._whole([place[n] for _, n, _ in edges])
        taken = self._op("Gather", [self._branch, parents], axis=1)
        part = self._as_float(self._op("Equal", [taken, self._floats([b for *_, b in edges])]))
        if any(trees.missing[n] == -1 for _, n, _ in edges):
            spread = self._as_float(self._op("Equal", [taken, self._floats(-1.0)]))
            part = self._op("Add", [part, self._op("Mul", [spread, self._floats(share)])])
        if depth == 1:
            return part
        arrived = self._op("Gather", [above, self._whole([i for i, *_ in edges])], axis=1)
        return self._op("Mul", [part, arrived])

    def _plus(self, total: str, more: str) -> str:
        return self._op("Add", [total, more]) if total else more

    # ------------------------------------------------------------------ results
    def sums(self, weight: Any) -> str:
        """Return the (n, K) weighted sum of the trees' votes."""
        value = self._trees.value
        return self._ends(lambda n: weight[self.of_tree[n]] * np.array(value[n]))

    def holds(self) -> str:
        """Return (n, trees) numbers: 1 where all tests of a rule hold, else 0."""
        trees, many = self._trees, len(self._which)
        last = {trees.last(t): i for i, t in enumerate(self._which)}
        always = np.array([float(not trees.children[trees.root[t]]) for t in self._which])
        found = self._ends(lambda n: np.eye(many)[last[n]] if n in last else np.zeros(many))
        return self._op("Add", [found, self._floats(always)]) if found else self._constant(always)

    def votes(self, alpha: Any) -> str:
        """Return the (n, K) weighted sum of votes of voters that abstain or are groups of trees."""
        trees, many = self._trees, len(self._trees.group)
        width = len(trees.value[0])
        voter = np.repeat(np.arange(many), [b - a for a, b in trees.group])
        size = np.array([b - a for a, b in trees.group])

        def row(n: int) -> Any:
            out = np.zeros((many, width))
            t = voter[self.of_tree[n]]
            out[t] = np.array(trees.value[n]) / size[t]
            return out.ravel()

        short = [trees.root[t] for t in self._which if len(trees.within(t)) == 1]
        alone = np.sum([np.zeros(many * width), *map(row, short)], axis=0)
        voted = self._ends(row)
        voted = self._op("Add", [voted, self._floats(alone)]) if voted else self._constant(alone)
        voted = self._op("Reshape", [voted, self._whole([-1, many, width])])
        if trees.grouped and trees.says == "answer":
            best = self._op("ArgMax", [voted], axis=2, keepdims=0)
            voted = self._op("Gather", [self._floats(trees.code), best], axis=0)
        elif trees.grouped and trees.says == "probability":
            code = [spoken_share(one, trees.code) for one in np.eye(width).tolist()]
            voted = self._op("MatMul", [voted, self._floats(code)])
        weight = self._floats(np.asarray(alpha)[:, None])
        if trees.abstains:
            reads = np.zeros((len(self._graph.model["columns"]), many))
            for t, own in enumerate(trees.reads):
                reads[own, t] = 1.0
            gaps = self._as_float(self._op("IsNaN", [self._graph.columns]))
            lacks = self._op("MatMul", [gaps, self._floats(reads)])
            there = self._as_float(self._op("Less", [lacks, self._floats(0.5)]))
            there = self._op("Unsqueeze", [there, self._whole([2])])
            voted = self._op("Mul", [voted, there])
        weighed = self._op("Mul", [voted, weight])
        return self._op("ReduceSum", [weighed, self._whole([1])], keepdims=0)

    def _constant(self, row: Any) -> str:
        """Return an (n, width) tensor with the same row for every case."""
        return self._op("Add", [self._graph.zeros(len(row)), self._floats(row)])
