"""Pure random trees: cells of a cube, drawn without labels, and the theory of their number."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.binned_trees.forest_pure import (
    BALANCED,
    MIDPOINT,
    UNIFORM,
    cell_sides,
    count_cells,
    grow_pure,
)

Split = Literal["uniform", "midpoint", "balanced"]
SPLITS: dict[str, int] = {"uniform": UNIFORM, "midpoint": MIDPOINT, "balanced": BALANCED}

_Floats = NDArray[np.float64]


class PureTree(NamedTuple):
    """Cells of [0, 1]^d; the second child of a node follows its first.

    `link` (nodes, 2): coordinate (-1 at a leaf) and first child; `cut` (nodes,), NaN at a leaf;
    `missing_left` (nodes,).
    """

    link: NDArray[np.int64]
    cut: _Floats
    missing_left: NDArray[np.bool_]

    def sides(self, points: _Floats) -> _Floats:
        """Return (n, d), the sides of the cell of each point of the cube."""
        d = points.shape[1]
        out = np.empty(points.shape)
        cell_sides(points, self.link, self.cut, np.empty(d), np.empty(d), out)
        return out

    def shares(
        self,
        X: _Floats,
        y: NDArray[np.intp],
        weight: _Floats,
        column: NDArray[np.intp],
        threshold: _Floats,
        n_classes: int,
    ) -> _Floats:
        """Return (nodes, n_classes): class shares of the rows in each cell, even where none is.

        `X` (n, p); `y`, `weight` (n,); `column` (d,): the columns of X that are the coordinates.
        `threshold` (nodes,): the cuts in the units of X.
        """
        sums = np.zeros((len(self.cut), n_classes))
        count_cells(X, y, weight, column, self.link, threshold, self.missing_left, sums)
        mass = sums.sum(axis=1, keepdims=True)
        return np.where(mass > 0.0, sums / np.where(mass > 0.0, mass, 1.0), 1.0 / n_classes)


def pure_tree(split: str, n_columns: int, n_leaves: int, seed: int) -> PureTree:
    """Return a tree of so many cells; see `psephos.kernels.binned_trees.forest_pure.grow_pure`."""
    nodes = 2 * n_leaves - 1
    link, cut = np.full((nodes, 2), -1, np.int64), np.full(nodes, np.nan)
    missing_left = np.zeros(nodes, np.bool_)
    scratch = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    grow_pure(
        SPLITS[split], n_columns, n_leaves, np.uint64(seed), link, cut, missing_left, *scratch
    )
    return PureTree(link, cut, missing_left)


def theory_leaves(split: str, n_columns: int, n_rows: float) -> int:
    """Return the number of cells k that balances what few cells and few rows a cell cost.

    The sides of a cell shrink like k^(-a / d) and the noise of its share grows like
    sqrt(k / n): both fall alike for uniform cuts (guaranteed a = 1/8) at k = n^(4d / (4d + 1)),
    for midpoints (a = 1/3.87) at k = n^(3.87d / (3.87d + 2)), and for balanced cells (a = 1) at
    k = (n / ln n)^(d / (d + 2)).
    """
    d, n = n_columns, max(float(n_rows), 1.0)
    if split == "uniform":
        k = n ** (4.0 * d / (4.0 * d + 1.0))
    elif split == "midpoint":
        k = n ** (3.87 * d / (3.87 * d + 2.0))
    else:
        k = (n / max(np.log(n), 1.0)) ** (d / (d + 2.0))
    return max(2, round(k))


def side_exponent(split: str, n_columns: int) -> float:
    """Return b: the sides of a random point's cell shrink like k^-b with the number of cells k.

    With j cells that of the point is the next to be cut with probability 1 / j, so it is cut about
    ln k times, 1/d of them along a coordinate. A uniform cut leaves it 2/3 of the side on average
    (it lies in the longer part more often), a midpoint half: k^(-1 / (3 d)) and k^(-1 / (2 d)).
    Balanced cells have log2(k) / d halvings a coordinate: k^(-1 / d).
    """
    return 1.0 / ({"uniform": 3, "midpoint": 2, "balanced": 1}[split] * n_columns)
