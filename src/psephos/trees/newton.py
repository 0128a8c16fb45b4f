"""Trees of second-order boosting as they grow, and what limits them."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, NDArray
from psephos.kernels.sorted_trees.newton_exact import descend
from psephos.kernels.sorted_trees.newton_gain import Penalty, weigh

_Whole = NDArray[np.intp]
_Singles = NDArray[np.float32]
_LEAST_LOSS = np.float32(1e-6)  # a split must gain more


@dataclass(frozen=True)
class TreeLimits:
    """What limits a tree."""

    penalty: Penalty
    max_depth: int
    # (p,); 1: the answer must not fall as the column grows; -1: not rise; 0: it may do both
    directions: NDArray[np.int64]
    max_leaves: int | None = None  # None: as many as the depth allows
    # the leaf that gains most is split first; else those of one level before those of the next
    best_first: bool = False

    @property
    def by_level(self) -> bool:
        """Return whether whole levels are split, so that the order does not matter."""
        return self.max_leaves is None and not self.best_first


@dataclass(frozen=True)
class TreeSample:
    """Which rows and columns a tree sees."""

    rows: NDArray[np.bool_]  # (n,)
    tree: _Whole  # columns of the tree, increasing
    # `by_level`, `by_node`: shares of them drawn anew for each level, and of those for each node
    by_level: float = 1.0
    by_node: float = 1.0
    rng: np.random.Generator | None = None  # None where both shares are 1
    n_features: int = 0
    ties: int = 0  # seed of the draws among columns of equal gain; 0: the lowest is taken
    _levels: dict[int, _Whole] = field(default_factory=dict[int, _Whole])

    def level(self, depth: int) -> _Whole:
        """Return the columns of a level."""
        if depth not in self._levels:
            self._levels[depth] = drawn(self.rng, self.tree, self.by_level)
        return self._levels[depth]

    def tie_seed(self, depth: int) -> int:
        """Return the seed of the draws of one level."""
        return (self.ties + depth) % 2**62 if self.ties else 0

    def columns(self, depth: int, nodes: int) -> tuple[_Whole, NDArray[np.bool_]]:
        """Return (columns of a level, (nodes, p) columns of each node or an empty table)."""
        own = self.level(depth)
        if self.by_node >= 1.0:
            return own, np.empty((0, 0), np.bool_)
        allowed = np.zeros((nodes, self.n_features), np.bool_)
        for node in range(nodes):
            allowed[node, drawn(self.rng, own, self.by_node)] = True
        return own, allowed


def drawn(rng: np.random.Generator | None, columns: _Whole, share: float) -> _Whole:
    """Return a share of the columns, at least one, increasing."""
    if share >= 1.0 or rng is None:
        return columns
    size = max(1, int(share * len(columns)))
    return np.sort(rng.choice(columns, size, replace=False))


class BestSplits(NamedTuple):
    """The best split of each of some nodes: see `NewtonTree`; column -1 where there is none.

    `members` holds the codes of the first child, of nodes whose best split is on categories.
    """

    loss: _Singles
    threshold: NDArray[Any]
    missing_left: NDArray[np.bool_]
    column: _Whole
    members: dict[int, NDArray[np.bool_]]


@dataclass
class NewtonTree:
    """A tree as it grows: nodes in the order they were made, both children of a node together."""

    growth: TreeLimits
    feature: _Whole  # (nodes,); column of a split, -1 at a leaf
    # (nodes,) float32 or float64; rows with ``value < threshold`` go to the first child; in the
    # type in which values are compared
    threshold: NDArray[Any]
    missing_left: NDArray[np.bool_]  # (nodes,)
    first: _Whole  # (nodes,); the first child; the second is the next node
    loss: _Singles  # (nodes,); what the split gained
    weight: _Singles  # (nodes,); what the node would say as a leaf, before shrinkage
    cover: NDArray[np.float64]  # (nodes,); sum of hessians
    # `low`, `high`: (nodes,); bounds of weights, from columns with a direction
    low: _Singles
    high: _Singles
    # (n_codes,) bool each; codes that go to the first child, of nodes that split on categories
    sets: dict[int, NDArray[np.bool_]] = field(default_factory=dict[int, NDArray[np.bool_]])
    # (nodes,); the node's value as a leaf: the weight, shrunk; empty while the tree grows
    answer: _Singles = field(default_factory=lambda: np.empty(0, np.float32))

    @classmethod
    def root_alone(cls, growth: TreeLimits, kind: Any = np.float32) -> Self:
        """Return a tree that is its root, its thresholds of a type of floats."""
        fields: Any = _nodes(1, kind)
        return cls(growth, *fields)

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.feature)

    @property
    def rules(self) -> tuple[Array, ...]:
        """Return the arrays that kernels walk by."""
        sets = np.full(self.n_nodes, -1, np.int64)
        width = max((len(codes) for codes in self.sets.values()), default=0)
        members = np.zeros((len(self.sets), width), np.bool_)
        for i, (node, codes) in enumerate(self.sets.items()):
            sets[node], members[i, : len(codes)] = i, codes
        return (
            self.feature, self.threshold, self.missing_left, self.first, sets, members,
        )  # fmt: skip

    def compact(self) -> Self:
        """Return the tree without the nodes that pruning left hanging."""
        kept = np.zeros(self.n_nodes, np.bool_)
        kept[0] = True
        for node in np.flatnonzero(self.feature >= 0):
            kept[self.first[node] : self.first[node] + 2] = kept[node]
        place = np.cumsum(kept) - 1
        fields: dict[str, Any] = {name: getattr(self, name)[kept] for name in (*_FIELDS, "answer")}
        fields["first"] = np.where(fields["feature"] >= 0, place[fields["first"]], 0)
        sets = {int(place[node]): codes for node, codes in self.sets.items() if kept[node]}
        return type(self)(self.growth, **fields, sets=sets)

    def leaves(self, values: Array) -> _Whole:
        """Return the leaf of every column of the (p, n) table `values`."""
        position = np.zeros(values.shape[1], np.intp)
        descend(values, *self.rules, position)
        return position

    def bounds(self, base: int, nodes: int) -> tuple[_Singles, _Singles]:
        """Return the bounds of some nodes."""
        return self.low[base : base + nodes], self.high[base : base + nodes]

    def weigh(self, base: int, sums: NDArray[np.float64]) -> None:
        """Give weights to the nodes from `base` on, by their sums (nodes, 2)."""
        pen = self.growth.penalty
        part = slice(base, base + len(sums))
        weigh(pen, sums, self.low[part], self.high[part], self.weight[part])
        self.cover[part] = sums[:, 1]
        if pen.constrained and base:
            self._narrow(base)

    def _narrow(self, base: int) -> None:
        """Bound what grows below the nodes from `base` on by the middle of each pair's weights."""
        for parent in np.flatnonzero((self.feature >= 0) & (self.first >= base)):
            one = self.first[parent]
            middle = (self.weight[one] + self.weight[one + 1]) * np.float32(0.5)
            direction = self.growth.directions[self.feature[parent]]
            if direction:
                below, above = (one, one + 1) if direction > 0 else (one + 1, one)
                self.high[below] = self.low[above] = middle

    def split(self, base: int, found: "BestSplits") -> int:
        """Split the nodes from `base` on where that gains enough; return how many were."""
        loss, threshold, missing_left, column, members = found
        chosen = np.flatnonzero((column >= 0) & (loss > _LEAST_LOSS))
        nodes = base + chosen
        self.feature[nodes], self.threshold[nodes] = column[chosen], threshold[chosen]
        self.missing_left[nodes], self.loss[nodes] = missing_left[chosen], loss[chosen]
        self.first[nodes] = self.n_nodes + 2 * np.arange(len(nodes))
        new = _nodes(2 * len(nodes), self.threshold.dtype)
        for name, more in zip(_FIELDS, new, strict=True):
            setattr(self, name, np.concatenate([getattr(self, name), more]))
        self.sets |= {base + s: members[s] for s in chosen.tolist() if s in members}
        for node in nodes if self.growth.penalty.constrained else ():
            pair = slice(self.first[node], self.first[node] + 2)
            self.low[pair], self.high[pair] = self.low[node], self.high[node]
        return len(nodes)


_FIELDS = (
    "feature", "threshold", "missing_left", "first", "loss", "weight", "cover", "low", "high",
)  # fmt: skip


def _nodes(count: int, kind: Any) -> tuple[Array, ...]:
    return (
        np.full(count, -1, np.intp),
        np.full(count, np.nan, kind),
        np.zeros(count, np.bool_),
        np.zeros(count, np.intp),
        np.zeros(count, np.float32),
        np.zeros(count, np.float32),
        np.zeros(count),
        np.full(count, -np.inf, np.float32),
        np.full(count, np.inf, np.float32),
    )


def prune(tree: NewtonTree, gamma: float) -> _Whole:
    """Undo splits into two leaves that gained less than gamma, from below, in place.

    Returns
    -------
    own : (nodes,); the leaf that each old leaf is now part of
    """
    own = np.arange(tree.n_nodes)
    undone: list[int] = []
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.feature[node] < 0:
            continue
        pair = slice(tree.first[node], tree.first[node] + 2)
        if (tree.feature[pair] < 0).all() and tree.loss[node] < np.float32(gamma):
            tree.feature[node] = -1
            undone.append(node)
    for node in reversed(undone):
        own[tree.first[node] : tree.first[node] + 2] = own[node]
        tree.sets.pop(node, None)
    return own


def shrink(tree: NewtonTree, learning_rate: float) -> None:
    """Set what the nodes say as leaves.

    Raises
    ------
    PsephosError
        If that is beyond float32.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        tree.answer = tree.weight * np.float32(learning_rate)
    if not np.isfinite(tree.answer).all():
        raise PsephosError(
            f"learning_rate={learning_rate}: the value of a leaf is beyond float32. Give a smaller "
            "one; above 2 boosting seldom converges."
        )


def whole_scales(gh: Array, kept: NDArray[np.bool_], penalty: Penalty) -> tuple[float, float]:
    """Return powers of two that make sums of gradients and of hessians whole numbers below 2^30.

    Powers, so that nothing is rounded where a hessian is 1, or a weight a whole number: a leaf of
    `min_child_weight` rows is then one of enough.
    """
    total = sizes_of(gh[kept])
    scale_g, scale_h = (2.0**30 / size if size > 0 else 1.0 for size in total)
    most = 2.0**200, 2.0**40 / max(penalty.lam, 2.0**-160)
    return _power_below(min(scale_g, most[0])), _power_below(min(scale_h, most[1]))


def sizes_of(gh: Array, before: Array | None = None) -> Array:
    """Return the sums of absolute gradients and hessians (n, 2), row after row, and `before`."""
    first = np.zeros((1, 2)) if before is None else before[None]
    return np.cumsum(np.concatenate([first, np.abs(gh.astype(np.float64))]), axis=0)[-1]


def _power_below(number: float) -> float:
    """Return the greatest power of two that is at most a positive number."""
    return math.ldexp(0.5, math.frexp(number)[1])
