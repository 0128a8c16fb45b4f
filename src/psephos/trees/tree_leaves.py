"""Leaves of a tree: the conditions on the path to each, as data and in words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from psephos.trees.tree import SPREAD, Tree

_UPPER, _LOWER = ("<=", "<"), (">", ">=")
_LISTED = 12  # categories of a set that are named


@dataclass(frozen=True)
class Condition:
    """A condition on one column, on a path through a tree."""

    column: int
    op: str  # {'<=', '<', '>', '>=', 'in'}
    value: float | tuple[int, ...]  # the threshold, or the codes of 'in'
    # share of a row that takes this path if its value is missing and no surrogate has a value: 1,
    # 0, or a part of rows that are spread
    missing: float
    # values between which a row takes this path only in part (a soft threshold)
    softly: tuple[float, float] | None = None
    # whether there are surrogates where the value is missing; `missing` then applies to rows in
    # which theirs are missing, too
    surrogates: bool = False
    # whether values are rounded to float32 before they are compared
    single: bool = False


@dataclass(frozen=True)
class RuleTest:
    """A condition of a rule: ``column <= value``, ``column > value`` or, on categories, ``=``.

    It does not hold for a missing value.
    """

    column: int
    op: str
    value: float


@dataclass(frozen=True)
class Leaf:
    """A leaf, and the conditions that lead to it, in order of appearance.

    There are at most two per column, except for soft thresholds.
    """

    node: int
    conditions: tuple[Condition, ...]


def split_conditions(tree: Tree, node: int) -> list[Condition]:
    """Return the condition of each branch of a node; [] at a leaf."""
    n_branches = int(tree.n_children[node])
    if not n_branches:
        return []
    column, missing = int(tree.column[node]), _missing_shares(tree, node)
    surrogates = bool(tree.surrogates.ptr[node + 1] > tree.surrogates.ptr[node])
    codes = tree.code_branch[tree.code_ptr[node] : tree.code_ptr[node + 1]]
    if len(codes):
        ends = np.searchsorted(np.sort(codes), np.arange(n_branches + 1))
        sets = np.split(np.argsort(codes, kind="stable"), ends)[1:-1]
        return [
            Condition(column, "in", tuple(one.tolist()), share, surrogates=surrogates)
            for one, share in zip(sets, missing, strict=True)
        ]
    threshold, ops = float(tree.threshold[node]), ("<", ">=") if tree.strict else ("<=", ">")
    ways = reversed(ops) if tree.flip[node] else ops
    softly = tree.softly(node)
    return [
        Condition(column, op, threshold, share, softly, surrogates, bool(tree.single))
        for op, share in zip(ways, missing, strict=True)
    ]


def _missing_shares(tree: Tree, node: int) -> list[float]:
    """Return the share of a row with a missing value that goes to each branch."""
    way, children = int(tree.missing[node]), tree.children(node)
    if way != SPREAD:
        return (np.arange(len(children)) == way).astype(float).tolist()
    share = np.maximum(tree.share[children], 0.0)
    return (share / share.sum() if share.sum() > 0 else 0.0 * share).tolist()


def leaves_of(tree: Tree) -> list[Leaf]:
    """Return the leaves of a tree, from the first branch to the last, with their conditions.

    Conditions on one column are merged into the tightest threshold, or the intersection of sets. A
    row without missing values ends in the one leaf whose conditions it meets; a row that stays at a
    node because a value is missing meets those of no leaf. Conditions of soft thresholds are not
    merged: the part of a row that reaches a leaf is the product over all of them.
    """
    found: list[Leaf] = []
    todo: list[tuple[int, tuple[Condition, ...]]] = [(0, ())] if tree.n_nodes else []
    while todo:
        node, way = todo.pop()
        children = tree.children(node).tolist()
        if not children:
            found.append(Leaf(node, way))
        todo += [
            (child, _merged(way, new))
            for child, new in reversed(
                list(zip(children, split_conditions(tree, node), strict=True))
            )
        ]
    return found


def _merged(way: tuple[Condition, ...], new: Condition) -> tuple[Condition, ...]:
    """Return the conditions of a path with one more condition."""
    same = [c for c in way if c.column == new.column]
    missing = new.missing * (same[0].missing if same else 1.0)
    surrogates = any(c.surrogates for c in (*same, new))
    hard = [c.softly is new.softly is None and c.op == new.op for c in same]
    kept = [_both(c, new) if met else c for c, met in zip(same, hard, strict=True)]
    if not any(hard):
        kept.append(new)
    kept = [replace(c, missing=missing, surrogates=surrogates) for c in kept]
    kept.sort(key=lambda c: c.op in _UPPER)  # lower bounds first
    out: list[Condition] = []
    for c in way:
        if c.column != new.column:
            out.append(c)
        elif kept:
            out += kept
            kept = []
    return (*out, *kept)


def _both(a: Condition, b: Condition) -> Condition:
    """Return the conjunction of two conditions of one kind on one column."""
    if isinstance(a.value, tuple) or isinstance(b.value, tuple):
        codes = set(b.value) if isinstance(b.value, tuple) else set[int]()
        kept = tuple(c for c in a.value if c in codes) if isinstance(a.value, tuple) else ()
        return Condition(a.column, a.op, kept, b.missing)
    nearer = min(a.value, b.value) if a.op in _UPPER else max(a.value, b.value)
    return Condition(a.column, a.op, nearer, b.missing, single=b.single)


def condition_words(
    condition: Condition,
    names: Sequence[str],
    levels: Mapping[int, Sequence[str]],
    digits: int | None = None,
    *,
    spread: bool = True,
) -> str:
    """Return a condition in words, such as ``V3 <= 1.25 or missing`` or ``site in {a, b}``.

    ``or missing with its surrogates`` means: or if the columns of the surrogates are missing, too.

    Parameters
    ----------
    names : names of the table's columns
    levels : the categories of each categorical column, by code; other codes are shown as numbers
    digits : digits of a threshold; None: as many as needed to divide the cases as the tree does
    spread : whether to show the part of a row with a missing value, where rows are spread
    """
    words, gap = _parts(names[condition.column], condition, levels, digits)
    return words + gap if spread or condition.missing == 1 else words


def otherwise_words(condition: Condition) -> str:
    """Return the condition of the second branch: ``otherwise``, ``otherwise, also if missing``.

    `condition` is that of the second branch.
    """
    if not isinstance(condition.value, tuple) and np.isposinf(condition.value):
        return "otherwise"  # the first branch is "is present"
    gap = _parts("", condition, {}, 6)[1]
    return f"otherwise{gap.replace(' or missing', ', also if missing')}"


def way_words(
    conditions: Sequence[Condition], names: Sequence[str], levels: Mapping[int, Sequence[str]]
) -> str:
    """Return the conditions of a leaf in words, joined by 'and'; 'always' if there is none.

    Two thresholds of one column are one interval: ``0.8 < V3 <= 1.75``.
    """
    listed: list[str] = []
    low: Condition | None = None  # the previous condition, if it is a lower bound
    for c in conditions:
        name = names[c.column]
        hard = c.op in _UPPER and c.softly is None
        if low is not None and low.column == c.column and hard:
            if np.isposinf(c.value):
                continue
            op, bound = bound_words(low)
            name = f"{bound} {'<' if op == '>' else '<='} {name}"
            listed.pop()
        words, gap = _parts(name, c, levels, None)
        listed.append(f"({words}{gap})" if gap and len(conditions) > 1 else words + gap)
        low = c if c.op in _LOWER and c.softly is None else None
    return " and ".join(listed) or "always"


def _parts(
    name: str, c: Condition, levels: Mapping[int, Sequence[str]], digits: int | None
) -> tuple[str, str]:
    """Return the words of a condition for values, and those for missing values."""
    share = c.missing
    surrogates = " with its surrogates" if c.surrogates else ""
    part = f" ({share:.0%})" if share < 1 else ""
    gap = f" or missing{surrogates}{part}" if share else ""
    alone = f"{name} is missing", gap.removeprefix(" or missing")
    if isinstance(c.value, tuple):
        if share and not c.value:
            return alone
        words = levels.get(c.column, ())
        listed = [words[k] if 0 <= k < len(words) else str(k) for k in c.value[:_LISTED]]
        more = f", and {len(c.value) - _LISTED} more" if len(c.value) > _LISTED else ""
        return f"{name} in {{{', '.join(listed)}{more}}}", gap
    if np.isposinf(c.value) and c.op in _UPPER:
        return f"{name} is present", gap
    if np.isposinf(c.value) and share:  # no value is beyond
        return alone
    if c.softly is not None:
        value, *soft = (f"{bound:.{digits or 6}g}" for bound in (c.value, *c.softly))
        return f"{name} {c.op} {value} (softly from {' to '.join(soft)})", gap
    return " ".join([name, *bound_words(c, digits)]), gap


def bound_words(condition: Condition, digits: int | None = None) -> tuple[str, str]:
    """Return the relation and the threshold of a condition in words.

    Without `digits` the threshold has the fewest digits that divide all numbers (of single
    precision, if the tree compares in it) as the tree does: ``<= t`` may become ``< the number
    after t``.

    Examples
    --------
    >>> from psephos.trees.tree_leaves import Condition, bound_words
    >>> bound_words(Condition(0, "<=", 2.3499999999999996, 0.0))
    ('<', '2.35')
    """
    op, bound = condition.op, float(np.asarray(condition.value, dtype=np.float64)) + 0.0  # no -0
    if digits is not None or not math.isfinite(bound):
        return op, f"{bound:.{digits or 6}g}"
    after = op in ("<=", ">")
    if condition.single and bound:
        with np.errstate(over="ignore"):
            low = np.float32(bound)
        below = float(low)  # NumPy would compare both in single precision
        if below > bound or (not after and below == bound):
            low = np.nextafter(low, np.float32(-np.inf))
        ends = float(low), float(np.nextafter(low, np.float32(np.inf)))
        for few in range(1, 10):
            near = float(f"{0.5 * ends[0] + 0.5 * ends[1]:.{few}g}")
            if ends[0] <= near < ends[1] if after else ends[0] < near <= ends[1]:
                return op, _shortest(near)
    other = {"<=": "<", ">": ">=", "<": "<=", ">=": ">"}[op]
    words = _shortest(bound)
    near = _shortest(math.nextafter(bound, math.inf if after else -math.inf))
    return (other, near) if len(near) < len(words) else (op, words)


def _shortest(value: float) -> str:
    return repr(value).removesuffix(".0")


def tree_words(tree: Tree, names: Sequence[str], levels: Mapping[int, Sequence[str]]) -> str:
    """Return the rule of a tree with one split, or the size, columns and root of a larger one."""
    if tree.n_leaves < 2:
        return size_words(tree.n_leaves, tree.columns, names)
    if tree.n_children[0] != 2:
        column = names[int(tree.column[0])]
        return f"{size_words(tree.n_leaves, tree.columns, names)}, which first asks for {column}"
    rule = condition_words(split_conditions(tree, 0)[0], names, levels)
    if tree.n_nodes == 3:
        return rule
    return f"{size_words(tree.n_leaves, tree.columns, names)}, which first asks if {rule}"


def size_words(n_leaves: int, columns: NDArray[np.intp], names: Sequence[str]) -> str:
    """Return the size of a tree and the columns it reads, in words."""
    read = ", ".join(names[int(j)] for j in columns)
    return f"a tree of {n_leaves} leaves on {read or 'no column'}"
