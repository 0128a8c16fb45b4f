"""Soft trees: forward and backward passes, with all gates of all trees in one matrix product.

A gate i sends a row to its left child with probability ``p_i(x) = sigmoid((w_i . x + b_i) /
temperature)``. A tree of depth D is complete: gates 0 ... 2^D - 2 from the top, level by level,
children of i are 2 i + 1 (left) and 2 i + 2. ``reach_l(x)`` is the product of the probabilities on
the path to leaf l, and the output of a tree is ``h(x) = sum_l reach_l(x) theta_l``.

Arrays have the rows last, so that every level is a slice: gates (I, M, n), leaves (L, M, n).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.optimise.arrays import namespace


class SoftTrees(NamedTuple):
    """The parameters of M soft trees of one depth, I = 2^D - 1 gates and L = 2^D leaves each."""

    gate: Any  # (I, M, q)
    bias: Any  # (I, M)
    leaf: Any  # (M, K, L)

    @property
    def depth(self) -> int:
        """Return D."""
        return int(self.leaf.shape[2]).bit_length() - 1

    def copy(self) -> "SoftTrees":
        """Return the same parameters in new arrays."""
        return SoftTrees(*(namespace(a).asarray(a, copy=True) for a in self))


class SoftAnswers(NamedTuple):
    """The outputs of soft trees on rows, and intermediate results for the backward pass."""

    outputs: Any  # (M, K, n)
    left: Any  # (I, M, n); probabilities of going left
    # (2^d, M, n) for d = 0 ... D; probabilities of arriving at the nodes of each level
    reach: list[Any]


def started(
    rng: np.random.Generator, n_trees: int, depth: int, n_columns: int, n_outputs: int
) -> SoftTrees:
    """Return trees of float32 drawn uniformly: gates within 1 / sqrt(q), leaves 1 / sqrt(L)."""
    gates, leaves = 2**depth - 1, 2**depth
    wide, high = 1.0 / max(n_columns, 1) ** 0.5, 1.0 / leaves**0.5

    def drawn(most: float, shape: tuple[int, ...]) -> NDArray[np.float32]:
        return rng.uniform(-most, most, shape).astype(np.float32)

    return SoftTrees(
        drawn(wide, (gates, n_trees, n_columns)),
        drawn(wide, (gates, n_trees)),
        drawn(high, (n_trees, n_outputs, leaves)),
    )


def forward(trees: SoftTrees, rows: Any, temperature: float = 1.0) -> SoftAnswers:
    """Return the outputs of the trees on rows (n, q)."""
    xp = namespace(rows)
    n_gates, n_trees, q = trees.gate.shape
    n = rows.shape[0]
    linear = xp.reshape(trees.gate, (n_gates * n_trees, q)) @ rows.T
    linear += xp.reshape(trees.bias, (n_gates * n_trees, 1))
    left = xp.tanh(linear * (0.5 / temperature))
    left *= 0.5
    left += 0.5
    left = xp.reshape(left, (n_gates, n_trees, n))
    reach = [xp.ones_like(left[:1])]
    for level in range(trees.depth):
        first = 2**level - 1
        went = reach[-1] * left[first : 2 * first + 1]
        both = xp.stack([went, reach[-1] - went], axis=1)
        reach.append(xp.reshape(both, (2 ** (level + 1), n_trees, n)))
    outputs = trees.leaf @ xp.permute_dims(reach[-1], (1, 0, 2))
    return SoftAnswers(outputs, left, reach)


def backward(
    trees: SoftTrees,
    rows: Any,
    found: SoftAnswers,
    slopes: Any,
    temperature: float = 1.0,
) -> SoftTrees:
    """Return the gradients of a loss from its derivatives by the outputs, `slopes` (M, K, n)."""
    xp = namespace(rows)
    n_gates, n_trees, q = trees.gate.shape
    reach = found.reach
    d_leaf = slopes @ xp.permute_dims(reach[-1], (1, 2, 0))
    above = xp.permute_dims(trees.leaf, (0, 2, 1)) @ slopes
    above = xp.permute_dims(above, (1, 0, 2))
    d_left: list[Any] = []
    for level in reversed(range(trees.depth)):
        first = 2**level - 1
        left = found.left[first : 2 * first + 1]
        children = xp.reshape(above, (2**level, 2, n_trees, rows.shape[0]))
        step = children[:, 0] - children[:, 1]
        above = children[:, 1] + left * step
        step = step * reach[level]
        d_left.append(step)
    d_linear = xp.concat(d_left[::-1], axis=0)
    d_linear *= found.left
    d_linear *= 1.0 - found.left
    if temperature != 1.0:
        d_linear /= temperature
    flat = xp.reshape(d_linear, (n_gates * n_trees, rows.shape[0]))
    d_gate = xp.reshape(flat @ rows, (n_gates, n_trees, q))
    return SoftTrees(d_gate, xp.sum(d_linear, axis=2), d_leaf)
