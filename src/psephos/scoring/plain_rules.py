"""Trees of a plain model as rules of nodes, for what is written of them: SQL, ONNX."""

from typing import Any, NamedTuple

import numpy as np

from psephos.scoring.reader.trees import spoken_share
from psephos.vote.reading.core import after_hook, spans


def codes_of(ptr: list[int], codes: list[int]) -> list[list[int]]:
    """Return each rule's part of the codes; none where there are no pointers."""
    return [codes[a:b] for a, b in spans(ptr)]


def single_bound(threshold: float, strict: bool) -> float:
    """Return t such that ``x <= t`` where x, rounded to float32, is at (below, if strict) a bound.

    t is half way between the greatest float32 that passes and the next; a value half way is
    rounded to the even one of the two.
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


class Branching:
    """Trees of any number of branches, node by node.

    `children` of each node (none of a leaf), `missing` its branch of a missing value (-2: it
    stays), `value` what it says; `strict` and `single` say how values are compared, and `divides`
    whether a case may end in several leaves.
    """

    def __init__(
        self, nodes: Any, columns: list[int], root: list[int], value: Any, children: Any
    ) -> None:
        self.root, self.value, self.children = root, value, children
        self.missing, self.strict, self.single = nodes["missing"], nodes["strict"], nodes["single"]
        self._nodes, self._columns = nodes, columns
        self._codes = codes_of(nodes["code_ptr"], nodes["code_branch"])
        spare = nodes["surrogates"]
        self._spare, self._spare_codes = spare, codes_of(spare["code_ptr"], spare["code_branch"])
        inner = [m for m, own in zip(self.missing, children, strict=True) if own]
        self.divides = "lower" in nodes or -1 in inner

    @classmethod
    def of(cls, part: dict[str, Any]) -> "Branching":
        """Return branching tree voters."""
        nodes, code = part["nodes"], part["code"]
        ends = zip(nodes["child"], nodes["n_children"], strict=True)
        children = [list(range(first, first + n)) if n else [] for first, n in ends]
        value = nodes["value"]
        said = value if code is None else [spoken_share(row, code) for row in value]
        return cls(nodes, part["columns"], part["root"], said, children)

    @classmethod
    def of_binary(cls, part: dict[str, Any]) -> "Branching":
        """Return tree voters, whose missing values may make them abstain."""
        from psephos.scoring.reader.trees import as_branching

        pairs = zip(part["first"], part["second"], part["feature"], strict=True)
        children = [[a, b] if f >= 0 else [] for a, b, f in pairs]
        answer, value = part["answer"], part["value"]
        said = [value[max(a, 0)] for a in answer] if answer else value
        trees = cls(as_branching(part), part["columns"], part["root"], said, children)
        trees.divides = bool(part["abstains"])
        return trees

    def rules(self, node: int) -> list[NodeRule]:
        """Return the rule of a node and its surrogates, in the order in which they are asked."""
        own, spare = self._nodes, self._spare
        found = [
            NodeRule(
                self._columns[own["column"][node]],
                _bound(own["threshold"][node]),
                self._codes[node],
                bool(own["flip"][node]),
            )
        ]
        for r in range(spare["ptr"][node], spare["ptr"][node + 1]):
            column = self._columns[spare["column"][r]]
            bound, flip = _bound(spare["threshold"][r]), bool(spare["flip"][r])
            found.append(NodeRule(column, bound, self._spare_codes[r], flip))
        return found


def _bound(threshold: Any) -> Any:
    return (
        after_hook(threshold) if isinstance(threshold, dict) and "shape" in threshold else threshold
    )


def single_below(threshold: float) -> float:
    """Return the greatest float32 that is at most a threshold: what float32 values compare to."""
    with np.errstate(over="ignore"):
        at = np.float32(threshold)
    if float(at) > threshold:
        at = np.nextafter(at, np.float32(-np.inf))
    return float(at)
