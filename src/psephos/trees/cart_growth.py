"""The growth of a CART: its nodes, all rules considered, its prunings and their errors."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from psephos._errors import ModelFileError
from psephos._types import Array, Floats, NDArray
from psephos.files.field_types import Nullable
from psephos.kernels.sorted_trees import cart_grow
from psephos.runtime.jit import run_blocks
from psephos.trees.cart import CartData, CartSettings, Prunings, grow_tree
from psephos.trees.tree import STAY, Surrogates, Tree

_Whole = NDArray[np.int64]
_NODES = ("number", "n_rows", "weight", "risk", "complexity", "n_rules", "n_surrogates")
_RULES = ("column", "counted", "side", "worth", "threshold", "adjusted")
_TABLE = ("cp", "n_splits", "rel_error", "xerror", "xstd")


@dataclass(frozen=True, eq=False)
class CartGrowth:
    """The record of growing a CART.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    regression : bool
    number : ndarray of shape (nodes,)
        1 at the root, 2 i and 2 i + 1 below node i.
    n_rows, weight, risk, complexity : ndarray of shape (nodes,)
        Complexity is a share of the root's risk.
    n_rules, n_surrogates : ndarray of shape (nodes,)
        Number of the following rules that belong to a node: first its own and the competitors, then
        the surrogates.
    column, counted, side, worth, threshold, adjusted : ndarray of shape (rules,)
        The rule's column; the number of rows with a value (of a surrogate: that it sent); the side
        of values below the threshold (-1 left, 1 right, 0 for categories); the decrease of the
        impurity (numbers: as a share of the node's risk; a surrogate: the share of agreement);
        adjusted agreement.
    level_ptr, level_code, level_branch : ndarray
        Rules on categories: ``level_ptr[r] : level_ptr[r + 1]`` are the codes known to rule r, and
        their branches.
    cp, n_splits, rel_error, xerror, xstd : ndarray
        The prunings; see `psephos.trees.cart.Prunings`.
    """

    tag: ClassVar[str] = "growth of a CART"
    n_features: int
    regression: bool
    number: _Whole
    n_rows: _Whole
    weight: Floats
    risk: Floats
    complexity: Floats
    n_rules: _Whole
    n_surrogates: _Whole
    column: _Whole
    counted: _Whole
    side: _Whole
    worth: Floats
    threshold: Nullable
    adjusted: Floats
    level_ptr: _Whole
    level_code: _Whole
    level_branch: _Whole
    cp: Floats
    n_splits: _Whole
    rel_error: Floats
    xerror: Floats
    xstd: Floats

    def __post_init__(self) -> None:
        nodes, rules = len(self.number), len(self.column)
        held = self.n_rules + self.n_surrogates if nodes else np.zeros(0)
        arrays = [getattr(self, f.name) for f in fields(self)[2:]]
        kinds = ["i" if f.type is _Whole else "f" for f in fields(self)[2:]]
        sound = (
            all(isinstance(a, np.ndarray) and a.ndim == 1 for a in arrays)
            and all(a.dtype.kind == k for a, k in zip(arrays, kinds, strict=True))
            and all(len(getattr(self, name)) == nodes for name in _NODES)
            and all(len(getattr(self, name)) == rules for name in _RULES)
            and len(self.level_ptr) == rules + 1
            and len(self.level_code) == len(self.level_branch) == self.level_ptr[-1]
            and bool((np.diff(self.level_ptr) >= 0).all())
            and bool((held >= 0).all() and held.sum() == rules)
            and bool(((self.column >= 0) & (self.column < self.n_features)).all())
            and bool((np.abs(self.side) <= 1).all())
            and len({len(getattr(self, name)) for name in _TABLE[:3]}) == 1
            and len(self.xerror) == len(self.xstd) in (0, len(self.cp))
        )
        if not sound:
            raise ModelFileError("the growth of a tree is damaged.")

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal."""
        names = [f.name for f in fields(self)]
        return isinstance(other, CartGrowth) and all(
            np.array_equal(getattr(self, n), getattr(other, n), equal_nan=n == "threshold")
            for n in names
        )

    __hash__ = None  # type: ignore[assignment]

    def check_vote(self, vote: Any) -> None:
        """Raise ModelFileError if this is not the growth of that vote's tree."""
        nodes = getattr(vote.voters, "nodes", None)
        inner = self.n_rules > 0
        if nodes is None or len(nodes.n_children) != len(inner) or self.n_features != (
            vote.n_features
        ):  # fmt: skip
            raise ModelFileError("the growth of a tree does not fit the tree.")
        if not (inner == (nodes.n_children > 0)).all():
            raise ModelFileError("the growth of a tree does not fit the tree.")

    @property
    def first(self) -> _Whole:
        """Return the first rule of every node."""
        held = self.n_rules + self.n_surrogates
        return np.cumsum(held) - held

    @property
    def owner(self) -> _Whole:
        """Return the node of every rule."""
        return np.repeat(np.arange(len(self.number)), self.n_rules + self.n_surrogates)

    @property
    def role(self) -> _Whole:
        """Return the role of every rule: 0 the node's own, 1 a competitor, 2 a surrogate."""
        place = np.arange(len(self.column)) - self.first[self.owner]
        return np.where(place == 0, 0, np.where(place < self.n_rules[self.owner], 1, 2))

    def importance(self) -> Floats:
        """Return each column's importance, (p,), by its splits and surrogates.

        A split adds its improvement to its own column, and its improvement times the adjusted
        agreement to the column of each surrogate.
        """
        worth = np.zeros(len(self.number))
        own = self.role == 0
        worth[self.owner[own]] = self.worth[own]
        if self.regression:
            worth *= self.risk
        share = np.where(own, 1.0, np.where(self.role == 2, self.adjusted, 0.0))
        out = np.bincount(self.column, worth[self.owner] * share, minlength=self.n_features)
        return out.astype(np.float64)

    def pruned(self, cp: float) -> Self:
        """Return the growth of the tree in which nodes of complexity at most `cp` are leaves."""
        inner = self.n_rules > 0
        leaf = ~(inner & (self.complexity > cp))
        parents = {int(number) for number in self.number[~leaf]}
        kept = np.array([number == 1 or int(number) // 2 in parents for number in self.number])
        above = self.cp > cp
        rows = min(int(above.sum()) + 1, len(self.cp))
        table: dict[str, Any] = {name: getattr(self, name)[:rows] for name in _TABLE}
        if not above[rows - 1]:
            table["cp"] = np.append(self.cp[: rows - 1], cp)
        keep = kept[self.owner] & ~leaf[self.owner]
        number = {name: np.where(leaf, 0, getattr(self, name))[kept] for name in _NODES[5:]}
        plain = {name: getattr(self, name)[kept] for name in _NODES[:5]}
        return replace(self._without(keep), **number, **plain, **table)

    def _without(self, keep: NDArray[np.bool_]) -> Any:
        """Return a copy with only these rules."""
        sizes = np.diff(self.level_ptr)
        levels = np.repeat(keep, sizes)
        changed: dict[str, Any] = {name: getattr(self, name)[keep] for name in _RULES}
        lost = np.bincount(self.owner[~keep], minlength=len(self.number))
        lost_surrogates = np.bincount(
            self.owner[~keep & (self.role == 2)], minlength=len(self.number)
        )
        return replace(
            self,
            n_rules=self.n_rules - (lost - lost_surrogates),
            n_surrogates=self.n_surrogates - lost_surrogates,
            level_ptr=np.concatenate([[0], np.cumsum(sizes[keep])]),
            level_code=self.level_code[levels],
            level_branch=self.level_branch[levels],
            **changed,
        )

    def select(self, columns: Array) -> Self:
        """Return the growth on a table of these columns, without rules on other columns."""
        where = np.full(self.n_features, -1)
        where[np.asarray(columns, dtype=np.intp)] = np.arange(len(columns))
        left = self._without(where[self.column] >= 0)
        return replace(left, n_features=len(columns), column=where[left.column])


def growth_of(grown: cart_grow.CartNodes, data: CartData, table: Prunings) -> CartGrowth:
    """Return the record of a grown tree, with rules in the order of the nodes."""
    whole, real, inner = grown.whole, grown.real, grown.whole[:, cart_grow.CHILD] > 0
    held = np.where(inner, whole[:, cart_grow.N_RULES] + whole[:, cart_grow.N_SURROGATES], 0)
    start = np.cumsum(held) - held
    rules = np.repeat(whole[:, cart_grow.FIRST] - start, held) + np.arange(int(held.sum()))
    sizes = grown.rule_whole[rules, 4]
    ends = np.cumsum(sizes)
    levels = np.repeat(grown.rule_whole[rules, 3] - (ends - sizes), sizes) + np.arange(sizes.sum())
    risk = float(real[0, cart_grow.RISK])
    return CartGrowth(
        n_features=len(data.sorted.known),
        regression=data.cart.n_classes == 0,
        number=whole[:, cart_grow.NUMBER],
        n_rows=whole[:, cart_grow.ROWS],
        weight=real[:, cart_grow.WEIGHT],
        risk=real[:, cart_grow.RISK],
        complexity=real[:, cart_grow.COMPLEXITY] / (risk if risk > 0 else 1.0),
        n_rules=np.where(inner, whole[:, cart_grow.N_RULES], 0),
        n_surrogates=np.where(inner, whole[:, cart_grow.N_SURROGATES], 0),
        column=grown.rule_whole[rules, 0],
        counted=grown.rule_whole[rules, 1],
        side=np.where(sizes > 0, 0, grown.rule_whole[rules, 2]),
        worth=grown.rule_real[rules, 0],
        threshold=grown.rule_real[rules, 1],
        adjusted=grown.rule_real[rules, 2],
        level_ptr=np.concatenate([[0], ends]),
        level_code=grown.code[levels].astype(np.int64),
        level_branch=grown.branch[levels].astype(np.int64),
        cp=table.cp,
        n_splits=table.n_splits.astype(np.int64),
        rel_error=table.rel_error,
        xerror=table.xerror,
        xstd=table.xstd,
    )


def tree_of(
    growth: CartGrowth, grown: cart_grow.CartNodes, data: CartData, use_surrogates: int
) -> Tree:
    """Return the tree for prediction.

    A row that no rule can send goes, as during growth, to the child of more known weight. It stays
    at the node if both have the same weight, or if the majority is not used after surrogates.
    """
    cart, whole = data.cart, grown.whole
    child = whole[:, cart_grow.CHILD]
    inner = child > 0
    at, more = np.where(inner, child, 0), whole[:, cart_grow.HEAVIER]
    larger = np.where(more == 0, STAY, (more > 0).astype(np.intp))
    own, surrogate = growth.role == 0, growth.role == 2
    if use_surrogates == 0:
        surrogate = np.zeros_like(surrogate)
    column = np.full(len(inner), -1, np.intp)
    threshold, flip = np.full(len(inner), np.nan), np.zeros(len(inner), np.bool_)
    gain, share = np.zeros(len(inner)), np.ones(len(inner))
    column[inner], threshold[inner] = growth.column[own], growth.threshold[own]
    flip[inner], gain[inner] = growth.side[own] > 0, growth.worth[own]
    sent = growth.weight[at] + growth.weight[np.where(inner, child + 1, 0)]
    for side in (0, 1):
        share[child[inner] + side] = growth.weight[child[inner] + side] / sent[inner]
    codes = _codes(growth, data.sorted.n_codes)
    rules = [codes[r] for r in np.flatnonzero(own).tolist()]
    branches = [codes[r] for r in np.flatnonzero(surrogate).tolist()]
    sizes = np.zeros(len(inner), np.intp)
    sizes[inner] = [len(code) for code in rules]
    return Tree(
        child=np.where(inner, child, 0).astype(np.intp),
        n_children=np.where(inner, 2, 0).astype(np.intp),
        column=column,
        threshold=threshold,
        flip=flip,
        code_ptr=_ptr(sizes),
        code_branch=_joined(rules),
        missing=np.where(inner, larger if use_surrogates == 2 else STAY, 0).astype(np.intp),
        share=share,
        value=_values(grown, data),
        counts=grown.counts if cart.n_classes else growth.weight[:, None],
        n_rows=growth.n_rows.astype(np.intp),
        gain=gain,
        surrogates=Surrogates(
            ptr=_ptr(np.bincount(growth.owner[surrogate], minlength=len(inner))),
            column=growth.column[surrogate].astype(np.intp),
            threshold=growth.threshold[surrogate],
            flip=growth.side[surrogate] > 0,
            code_ptr=_ptr(np.array([len(code) for code in branches], np.intp)),
            code_branch=_joined(branches),
        ),
        strict=True,
    )


def _ptr(sizes: Array) -> NDArray[np.intp]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def _joined(parts: list[NDArray[np.intp]]) -> NDArray[np.intp]:
    return np.concatenate([np.empty(0, np.intp), *parts])


def _codes(growth: CartGrowth, n_codes: _Whole) -> dict[int, NDArray[np.intp]]:
    """Return, for each rule, the branch of every code of its column (-1: unknown)."""
    out: dict[int, NDArray[np.intp]] = {}
    role = growth.role
    for r in range(len(growth.column)):
        branch = np.empty(0, np.intp)
        if growth.side[r] == 0 and role[r] != 1:
            levels = slice(int(growth.level_ptr[r]), int(growth.level_ptr[r + 1]))
            branch = np.full(int(n_codes[growth.column[r]]), -1, np.intp)
            branch[growth.level_code[levels]] = growth.level_branch[levels] > 0
        out[r] = branch
    return out


def _means(grown: cart_grow.CartNodes, data: CartData) -> Floats:
    """Return the mean of each node; if its rows have one number, exactly that number."""
    mean, known = grown.real[:, cart_grow.MEAN] + data.centre, data.numbers
    largest = max(abs(float(known[0])), abs(float(known[-1])))
    slack = (grown.whole[:, cart_grow.ROWS] + 2) * np.finfo(float).eps * largest  # of rounding
    above = np.minimum(np.searchsorted(known, mean), len(known) - 1)
    below = np.maximum(above - 1, 0)
    near = np.where(mean - known[below] < known[above] - mean, known[below], known[above])
    alike = grown.real[:, cart_grow.RISK] <= grown.real[:, cart_grow.WEIGHT] * slack**2
    return np.where(alike & (np.abs(near - mean) <= slack), near, mean)


def _values(grown: cart_grow.CartNodes, data: CartData) -> Floats:
    cart = data.cart
    if cart.n_classes == 0:
        return _means(grown, data)[:, None]
    weighed = grown.counts * cart.rho
    total = weighed.sum(axis=1, keepdims=True)
    plain = grown.counts / grown.counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, weighed / np.where(total > 0, total, 1.0), plain)


def run_down(
    grown: cart_grow.CartNodes, tree: Tree, values: NDArray[np.float64], limits: NDArray[np.float64]
) -> _Whole:
    """Return the node at which each row ends under each limit on the complexity.

    A row ends at the first node whose complexity is at most the limit; the limits descend.
    """
    n, every = len(values), np.arange(len(limits))
    ends = np.zeros((n, len(limits)), np.int64)
    # For each node the first limit below its complexity, none at a leaf.
    below = np.searchsorted(-limits, -grown.real[:, cart_grow.COMPLEXITY], side="right")
    below[tree.n_children == 0] = len(limits)
    rows, node, first = np.arange(n), np.zeros(n, np.intp), np.zeros(n, np.intp)
    while len(rows):
        first = np.maximum(first, below[node])
        on = first < len(limits)
        rows, node, first = rows[on], node[on], first[on]
        branch = tree.branches(values, rows, node)
        sent = branch >= 0
        node, rows, first = tree.child[node[sent]] + branch[sent], rows[sent], first[sent]
        ends[rows] = np.where(every >= first[:, None], node[:, None], ends[rows])
    return ends


def _limits(cp: Floats) -> Floats:
    """Return a complexity within each interval of the table: the geometric means of its ends."""
    return np.concatenate([[10.0 * cp[0]], np.sqrt(cp[:-1] * cp[1:])])


def cross_validate(
    data: CartData,
    settings: CartSettings,
    table: Prunings,
    values: Any,
    folds: NDArray[np.intp],
    n_jobs: int | None,
    risk: float,
) -> Prunings:
    """Return the table with its cross-validated errors.

    For each fold a tree is grown on the other rows, with complexities in proportion to their
    weight, and predicts the rows left out at the complexity of each row of the table.

    `values`: ``values(rows, columns)`` is that part of the table, dense. `folds` (n,): the fold in
    which each row is left out. `risk`: that of the root.

    With e_i the loss of row i times rho of its class (or the squared error), W the weight::

        xerror = sum_i w_i e_i / risk
        xstd   = sqrt(sum_i w_i e_i^2 - (sum_i w_i e_i)^2 / W) / risk
    """
    names = np.unique(folds)
    errors = np.zeros((len(folds), len(table.cp)))
    plan = _for_folds(data, settings)

    def one(b: int) -> None:
        out = np.flatnonzero(folds == names[b])
        kept = np.flatnonzero(folds != names[b]).astype(np.int32)
        if len(kept):
            errors[out] = _left_out(data, plan, table, values, kept, out, risk)

    run_blocks(one, len(names), n_jobs)
    weight = data.cart.weight[:, None]
    unit = risk if risk > 0 else 1.0
    total, squares = (weight * errors).sum(axis=0), (weight * errors**2).sum(axis=0)
    spread = np.sqrt(np.maximum(squares - total**2 / weight.sum(), 0.0))
    return table._replace(xerror=total / unit, xstd=spread / unit)


def _for_folds(data: CartData, settings: CartSettings) -> CartSettings:
    """Return the settings without competitors, and surrogates if nothing is missing."""
    whole = bool((data.sorted.known == len(data.cart.weight)).all())
    lists = bool(data.sorted.n_codes.any())
    n_surrogates = 0 if whole and not lists else settings.max_surrogates
    return replace(settings, max_competitors=0, max_surrogates=n_surrogates)


def _left_out(
    data: CartData,
    settings: CartSettings,
    table: Prunings,
    values: Any,
    kept: NDArray[np.int32],
    out: NDArray[np.intp],
    risk: float,
) -> Floats:
    cart = data.cart
    scale = float(cart.weight[kept].sum() / cart.weight.sum()) * risk
    grown = grow_tree(data, settings, kept, float(table.cp[-1]) * scale)
    tree = tree_of(growth_of(grown, data, table), grown, data, settings.use_surrogates)
    columns, spare = tree.columns, tree.surrogates.column
    tree = tree.on_columns(np.searchsorted(columns, tree.column), np.searchsorted(columns, spare))
    ends = run_down(grown, tree, values(out, columns), _limits(table.cp) * scale)
    if cart.n_classes == 0:
        return (cart.target[out, None] - grown.real[ends, cart_grow.MEAN]) ** 2
    answers = grown.whole[ends, cart_grow.CLASS]
    truth = cart.y[out, None]
    return cart.rho[truth] * cart.loss[truth, answers]
