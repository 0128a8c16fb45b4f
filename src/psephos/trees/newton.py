"""Growing trees of second-order boosting, and their limits."""

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
_LEAST_LOSS = np.float32(1e-6)  # the gain of a split must be greater


@dataclass(frozen=True)
class TreeLimits:
    """Limits of a tree."""

    penalty: Penalty
    max_depth: int
    # (p,); 1: the prediction must not fall as the column rises; -1: must not rise; 0: free
    directions: NDArray[np.int64]
    max_leaves: int | None = None  # None: as many as the depth allows
    # whether the leaf of greatest gain is split first; else level by level
    best_first: bool = False

    @property
    def by_level(self) -> bool:
        """Return whether all leaves of a level are split, so that the order does not matter."""
        return self.max_leaves is None and not self.best_first


@dataclass(frozen=True)
class TreeSample:
    """The rows and columns on which a tree is grown."""

    rows: NDArray[np.bool_]  # (n,)
    tree: _Whole  # columns of the tree, increasing
    # `by_level`, `by_node`: shares of these drawn for each level, and of those for each node
    by_level: float = 1.0
    by_node: float = 1.0
    rng: np.random.Generator | None = None  # None if both shares are 1
    n_features: int = 0
    ties: int = 0  # seed of the draws among columns of equal gain; 0: the lowest column
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
        """Return (columns of a level, (nodes, p) mask of each node's columns; empty: all)."""
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
    """The best split of each of some nodes; column -1: none. Fields are as in `NewtonTree`.

    `members` holds, for nodes whose best split is on categories, the codes of the first child.
    """

    loss: _Singles
    threshold: NDArray[Any]
    missing_left: NDArray[np.bool_]
    column: _Whole
    members: dict[int, NDArray[np.bool_]]


@dataclass
class NewtonTree:
    """A growing tree: nodes in the order of their creation, with siblings adjacent."""

    growth: TreeLimits
    feature: _Whole  # (nodes,); column of a split, -1 at a leaf
    # (nodes,) float32 or float64, the type in which values are compared; rows with ``value <
    # threshold`` go to the first child
    threshold: NDArray[Any]
    missing_left: NDArray[np.bool_]  # (nodes,)
    first: _Whole  # (nodes,); the first child; the second is the next node
    loss: _Singles  # (nodes,); gain of the split
    weight: _Singles  # (nodes,); the value of the node as a leaf, before shrinkage
    cover: NDArray[np.float64]  # (nodes,); sum of hessians
    # `low`, `high`: (nodes,); bounds of weights, from columns with a direction
    low: _Singles
    high: _Singles
    # (n_codes,) bool each; codes that go to the first child, of nodes that split on categories
    sets: dict[int, NDArray[np.bool_]] = field(default_factory=dict[int, NDArray[np.bool_]])
    # (nodes,); the shrunk weight, the node's value as a leaf; empty while the tree grows
    answer: _Singles = field(default_factory=lambda: np.empty(0, np.float32))

    @classmethod
    def root_alone(cls, growth: TreeLimits, kind: Any = np.float32) -> Self:
        """Return a tree of one node, with thresholds of type `kind`."""
        fields: Any = _nodes(1, kind)
        return cls(growth, *fields)

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.feature)

    @property
    def rules(self) -> tuple[Array, ...]:
        """Return the arrays that kernels need to find leaves."""
        sets = np.full(self.n_nodes, -1, np.int64)
        width = max((len(codes) for codes in self.sets.values()), default=0)
        members = np.zeros((len(self.sets), width), np.bool_)
        for i, (node, codes) in enumerate(self.sets.items()):
            sets[node], members[i, : len(codes)] = i, codes
        return (
            self.feature, self.threshold, self.missing_left, self.first, sets, members,
        )  # fmt: skip

    def compact(self) -> Self:
        """Return the tree without nodes that pruning made unreachable."""
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
        """Compute the weights of the nodes from `base` on, from their sums (nodes, 2)."""
        pen = self.growth.penalty
        part = slice(base, base + len(sums))
        weigh(pen, sums, self.low[part], self.high[part], self.weight[part])
        self.cover[part] = sums[:, 1]
        if pen.constrained and base:
            self._narrow(base)

    def _narrow(self, base: int) -> None:
        """Bound the weights below pairs of children from `base` on by the mean of their weights."""
        for parent in np.flatnonzero((self.feature >= 0) & (self.first >= base)):
            one = self.first[parent]
            middle = (self.weight[one] + self.weight[one + 1]) * np.float32(0.5)
            direction = self.growth.directions[self.feature[parent]]
            if direction:
                below, above = (one, one + 1) if direction > 0 else (one + 1, one)
                self.high[below] = self.low[above] = middle

    def split(self, base: int, found: "BestSplits") -> int:
        """Split the nodes from `base` on if that gains enough; return the number of splits."""
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

    def shrink(self, learning_rate: float) -> None:
        """Set the values of the nodes as leaves: their shrunk weights.

        Raises
        ------
        PsephosError
            If a value is beyond float32.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            self.answer = self.weight * np.float32(learning_rate)
        if not np.isfinite(self.answer).all():
            raise PsephosError(
                f"learning_rate={learning_rate}: the value of a leaf is beyond float32. Give a "
                "smaller one; above 2 boosting seldom converges."
            )


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
    """Undo splits into two leaves with a gain below gamma, bottom-up, in place.

    Returns
    -------
    own : (nodes,); the leaf to which each old leaf now belongs
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


def whole_scales(gh: Array, kept: NDArray[np.bool_], penalty: Penalty) -> tuple[float, float]:
    """Return powers of two that scale sums of gradients and of hessians to integers below 2^30.

    Hessians of 1, or integer weights, are then not rounded: a leaf of exactly `min_child_weight`
    rows is large enough.
    """
    total = sizes_of(gh[kept])
    scale_g, scale_h = (2.0**30 / size if size > 0 else 1.0 for size in total)
    most = 2.0**200, 2.0**40 / max(penalty.lam, 2.0**-160)
    return _power_below(min(scale_g, most[0])), _power_below(min(scale_h, most[1]))


def sizes_of(gh: Array, before: Array | None = None) -> Array:
    """Return the sums of absolute gradients and hessians (n, 2), row by row, plus `before`."""
    first = np.zeros((1, 2)) if before is None else before[None]
    return np.cumsum(np.concatenate([first, np.abs(gh.astype(np.float64))]), axis=0)[-1]


def _power_below(number: float) -> float:
    """Return the greatest power of two that is at most a positive number."""
    return math.ldexp(0.5, math.frexp(number)[1])
