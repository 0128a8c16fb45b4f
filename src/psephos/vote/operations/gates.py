"""The operation `SoftTreeVoters`: soft trees, complete trees whose gates divide every case."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array

from psephos._types import Floats, Indices, NDArray, Usage
from psephos.files.field_types import AnySize
from psephos.files.names import formula_name, plural
from psephos.runtime.threads import one_thread
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.lowered import RowByRow
from psephos.vote.reading.scores import SoftTreeReader

_NAMED = 6  # columns of a gate that a rule names
_FARTHEST = 1e30  # deviations from the centre beyond which a value counts as at them


@register
class SoftTreeVoters(part.ReadsColumns, RowByRow):
    """Soft trees of depth D: a gate sends a share of a case to the left, the rest to the right.

    ``left_g(x) = 1 / (1 + exp(-(bias_g + sum_j coef_gj z_j(x))))`` with ``z_j = (x_j - centre_j) /
    scale_j``; where x_j is missing, z_j is 0 and ``absent_gj`` is added. A tree votes
    ``sum_l reach_l(x) leaf_l``, where reach_l is the product of the shares on the path to leaf l.
    Gates are numbered from the top, level by level; children of g are 2 g + 1 (left) and 2 g + 2.

    Parameters
    ----------
    n_features : int
        p, the number of columns of the table.
    columns : ndarray of shape (q,), intp
        Sorted columns that any of the trees reads.
    centre, scale : ndarray of shape (q,)
    coef : ndarray of shape (T, 2^D - 1, q)
        A tree does not read columns whose coefficients are all 0.
    bias : ndarray of shape (T, 2^D - 1)
    gaps : ndarray of shape (a,), intp
        Positions in `columns`, rising, of the columns that have coefficients in `absent`.
    absent : ndarray of shape (T, 2^D - 1, a)
    leaf : ndarray of shape (T, 2^D, K)
    """

    tag: ClassVar[str] = "soft trees"
    reader: ClassVar[type[Any]] = SoftTreeReader
    n_features: int
    columns: part.Columns
    centre: AnySize
    scale: AnySize
    coef: Floats
    bias: Floats
    gaps: Indices
    absent: Floats
    leaf: Floats

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.leaf.ndim == 3 and self.leaf.shape[2] > 0, "leaves are not (T, L, K)")
        trees, leaves, _ = self.leaf.shape
        part.check(leaves >= 2 and leaves & (leaves - 1) == 0, "a soft tree is not complete")
        q, gates = len(self.columns), (trees, leaves - 1)
        part.check(self.coef.shape == (*gates, q), "coef is not (T, gates, q)")
        part.check(self.bias.shape == gates, "bias is not (T, gates)")
        part.check(self.gaps.ndim == 1, "gaps are not in a row")
        part.check(self.absent.shape == (*gates, len(self.gaps)), "absent is not (T, gates, gaps)")
        part.check_columns(self.gaps, q)
        part.check(self.centre.shape == self.scale.shape == (q,), "a column has no centre or scale")
        part.check(self.scale > 0, "a scale is not above 0")

    @property
    def n_voters(self) -> int:
        return len(self.leaf)

    @property
    def depth(self) -> int:
        """Return D."""
        return self.leaf.shape[1].bit_length() - 1

    def _inputs(self, X: Floats) -> Floats:
        """Return (n, q + a): the inputs that the gates multiply by `coef`, then by `absent`."""
        read = X[:, self.columns]
        with np.errstate(over="ignore"):
            away = (read - self.centre) / self.scale
        known = np.clip(np.where(np.isnan(away), 0.0, away), -_FARTHEST, _FARTHEST)
        return np.concatenate([known, np.isnan(read[:, self.gaps])], axis=1)

    def _linear(self, inputs: Floats) -> Floats:
        """Return the log-odds of going left at each gate, (T, gates, n)."""
        coef = np.concatenate([self.coef, self.absent], axis=2)
        linear = _times(coef.reshape(self.bias.size, coef.shape[2]), inputs.T)
        return linear.reshape(*self.bias.shape, len(inputs)) + self.bias[:, :, None]

    def votes(self, X: Floats) -> Floats:
        each = zip(self._linear(self._inputs(X)), self.leaf, strict=True)
        votes = [_times(leaf.T, _reach(one)[len(one) :]).T for one, leaf in each]
        return np.stack(votes, axis=1)

    def usage(self) -> Usage:
        voter, column = np.nonzero(self._read())
        return part.usage_at(self, voter, column)

    def _read(self) -> NDArray[np.bool_]:
        """Return the (T, q) mask of the columns that each tree reads."""
        read = (self.coef != 0).any(axis=1)
        read[:, self.gaps] |= (self.absent != 0).any(axis=1)
        return read

    def marks(self) -> part.Breakpoints:
        """Return (columns, values): two units on either side of the centres."""
        away = 2.0 * self.scale
        return part.outer_marks(self.columns, self.centre - away, self.centre + away)

    def take(self, voters: Indices) -> Self:
        read = np.flatnonzero(self._read()[voters].any(axis=0))
        kept = np.isin(self.gaps, read)
        return replace(
            self,
            columns=self.columns[read],
            centre=self.centre[read],
            scale=self.scale[read],
            coef=np.ascontiguousarray(self.coef[voters][:, :, read]),
            bias=self.bias[voters],
            gaps=np.searchsorted(read, self.gaps[kept]).astype(np.intp),
            absent=np.ascontiguousarray(self.absent[voters][:, :, kept]),
            leaf=self.leaf[voters],
        )

    # ------------------------------------------------------------------ in words
    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return a description of the tree: its depth, and the log-odds of its first gate."""
        read = np.flatnonzero(self._read()[voter])
        coded = any(names[int(j)].startswith("(") for j in self.columns[read])
        tree = f"a soft tree of depth {self.depth} on {plural(len(read), _kind(coded))}"
        coef = self.coef[voter, 0]
        order = np.argsort(-np.abs(coef), kind="stable")[: np.count_nonzero(coef)]
        if not len(order):
            return tree
        named = [(coef[j], formula_name(names[int(self.columns[j])])) for j in order]
        terms = [f"{'-' if c < 0 else '+'} {abs(c):.3g} × {name}" for c, name in named]
        more = len(terms) - _NAMED
        beyond = f" and {plural(more, 'more ' + _kind(coded))}" if more > 0 else ""
        unit = "numbers in standard deviations from their means"
        unit += ", levels as 1 or 0 less their shares" if coded else ""
        unit += ", nothing missing" if self.absent[voter, 0].any() else ""
        odds = " ".join([f"{self.bias[voter, 0]:.3g}", *terms[:_NAMED]])
        return f"{tree}; its first gate goes left by log-odds {odds}{beyond} ({unit})"

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        """Return []: a soft tree may vote differently on every case."""
        return []

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): sizes (n, T) divided among gates, and in a gate among its terms.

        The part of a gate is the change of the vote if the gate alone moved from its value at the
        training mean to that of the case; the part of a term is ``|coef_j (z_j - mean z_j)|``.
        """
        inputs, middle = self._inputs(X), self._inputs(centre[None])
        linear, mean = self._linear(inputs), self._linear(middle)
        away = np.abs(inputs - middle)
        out = np.zeros((len(X), away.shape[1]))
        with one_thread():
            for t in range(self.n_voters):
                steep = np.abs(np.concatenate([self.coef[t], self.absent[t]], axis=1))
                moves = _gate_moves(linear[t], mean[t], self.leaf[t])
                terms = steep @ away.T
                moves = np.where(terms > 0, moves, 0.0)
                total = moves.sum(axis=0)
                rate = moves / np.where(total > 0, total, 1.0) / np.where(terms > 0, terms, 1.0)
                out += (rate * size[:, t]).T @ steep * away
        q = len(self.columns)
        found = np.zeros((len(X), self.n_features))
        found[:, self.columns] = out[:, :q]
        found[:, self.columns[self.gaps]] += out[:, q:]
        return found


def _kind(coded: bool) -> str:
    return "input" if coded else "column"


def _times(table: Floats, cases: Floats) -> Floats:
    """Return the product; each entry is the same to the last bit whatever the other cases are.

    Nor does it depend on the other rows of the table, or on columns of 0.
    """
    product: Any = csr_array(table) @ cases
    return product


def _chance(linear: Floats) -> Floats:
    """Return 1 / (1 + exp(-linear))."""
    return 0.5 + 0.5 * np.tanh(0.5 * linear)


def _reach(linear: Floats) -> Floats:
    """Return the share of each row that arrives at each node, (2 gates + 1, n)."""
    reach = np.ones((2 * len(linear) + 1, linear.shape[1]))
    left = _chance(linear)
    for g in range(len(linear)):
        reach[2 * g + 1] = reach[g] * left[g]
        reach[2 * g + 2] = reach[g] * (1.0 - left[g])
    return reach


def _gate_moves(linear: Floats, mean: Floats, leaf: Floats) -> Floats:
    """Return (gates, n): the change of the tree's vote as each gate moves from its mean."""
    left, gates = _chance(linear), len(linear)
    below = np.empty((2 * gates + 1, linear.shape[1], leaf.shape[1]))
    below[gates:] = leaf[:, None]
    for g in reversed(range(gates)):
        share = left[g][:, None]
        below[g] = share * below[2 * g + 1] + (1.0 - share) * below[2 * g + 2]
    apart = np.abs(below[1::2] - below[2::2]).sum(axis=2)
    return _reach(linear)[:gates] * np.abs(left - _chance(mean)) * apart
