"""Trees of a plain model as rules of nodes, for export to SQL and ONNX."""

from typing import Any, NamedTuple

import numpy as np

from psephos.vote.reading.core import unpacked
from psephos.vote.reading.trees import TreeReader


def single_bound(threshold: float, strict: bool) -> float:
    """Return t so that ``x <= t`` if x, rounded to float32, is at most (strict: below) a bound.

    t is halfway between the greatest float32 that passes and the next; a value exactly halfway is
    rounded to the even one.
    """
    with np.errstate(over="ignore"):
        at = np.float32(threshold)
    inf = np.float32(np.inf)
    if float(at) > threshold or (strict and float(at) == threshold):
        at = np.nextafter(at, -inf)
    after = np.nextafter(at, inf)
    if not np.isfinite(after):
        return float(np.finfo(np.float64).max)
    middle = (float(at) + float(after)) / 2.0
    even = int(at.view(np.int32)) % 2 == 0
    return middle if even else float(np.nextafter(middle, -np.inf))


class NodeRule(NamedTuple):
    """A rule of a node: a threshold, or the branch of each code."""

    column: int
    threshold: Any
    codes: list[int]
    flip: bool


class Branching(TreeReader):
    """The operation `Trees`, node by node, for export.

    Of each node: `children` (empty for a leaf), `missing`, the branch of a missing value (-1: all
    branches by share; -2: the case stays), and `value`, the (K,) vote or, for a voter of several
    trees, a term of a mean (see `says`, `code`). `reads` are the columns of each voter.
    """

    def __init__(self, part: dict[str, Any]) -> None:
        super().__init__(unpacked(part))
        self.strict, self.single, self.soft = self.rules.strict, self.rules.rounded, self.lower
        ends = zip(self.child, self.n_children, strict=True)
        self.children = [list(range(first, first + n)) for first, n in ends]

    def within(self, tree: int) -> list[int]:
        """Return the nodes of a tree."""
        return list(range(self.root[tree], [*self.root, len(self.children)][tree + 1]))

    def divides(self, tree: int) -> bool:
        """Return whether a case may end at several nodes of a tree."""
        return any(self.missing[n] == -1 and self.children[n] for n in self.within(tree))

    def node_rules(self, node: int) -> list[NodeRule]:
        """Return the rule of a node and its surrogates, in the order in which they are tried."""
        spare = range(self.ptr[node], self.ptr[node + 1])
        each = [(self.rules, node), *((self.surrogates, r) for r in spare)]
        return [
            NodeRule(own.column[r], own.threshold[r], own.codes[r], bool(own.flip[r]))
            for own, r in each
        ]


def bound_in_single(threshold: float, strict: bool, single: bool) -> float:
    """Return the float32 b such that a value, rounded to float32, passes if it is at most b.

    For a model that reads float32 (`single`) it is the greatest float32 at most (if `strict`,
    below) the threshold, which keeps its predictions. For other models it is the threshold rounded
    like the values, so that a value equal to it stays on its side.

    Examples
    --------
    >>> from psephos.scoring.plain_rules import bound_in_single
    >>> bound_in_single(0.8, False, False) > 0.8 > bound_in_single(0.8, False, True)
    True
    """
    low = np.float32(-np.inf)
    with np.errstate(over="ignore"):
        at = np.float32(threshold)
    if single and float(at) > threshold:
        return float(np.nextafter(at, low))
    passes = not strict or (single and float(at) != threshold)
    return float(at if passes else np.nextafter(at, low))
