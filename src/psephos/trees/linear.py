"""Growing trees with a linear model in every node, each a correction of its parent's.

The scores of a node are ``F(x) = b + sum_j c_j z_j`` with z the inputs of all models, one sum per
class (a single one for numbers and for two classes). A node corrects the model above it; it
minimises::

    sum over its rows of w loss(F) + penalty / 2 ((b - b_above)^2 + |c - c_above|^2)

where c_above of the root is 0 and its b is not penalised. Let g be the residuals of the rows (y -
F, or the class indicator less its probability), A the inputs preceded by a 1, and kappa the
greatest curvature of the loss (1 for half the squared error, 1/4 for two classes, 1/2 for several).
The worth of a split is a lower bound of the decrease of the penalised loss by correcting both
sides::

    worth = 1/2 sum over sides of G' (kappa A'WA + penalty I)^-1 G,   G = A'W g

less the same for both sides together. For squared error it is the decrease itself.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from psephos._types import Floats, Indices
from psephos.trees.tree import Surrogates, Tree

_CUTS = 24  # cuts of a column that are tried before those around the best of them
_COLUMNS = 64  # columns whose cuts are tried with linear corrections: the best with constants
_PIECES = 8  # the most important inputs, used in the corrections of a tried cut
_LEAST = 1e-4  # splits that save less, as a share of the root's loss, are not made
_STEPS, _SAME = 50, 1e-8  # steps of Newton's method, and its relative tolerance of the loss
_JITTER = 1e-12  # of the trace, added to the diagonal
_BLOCK = 1 << 22  # values sorted at once


class LinearProblem(NamedTuple):
    """The training data of a tree.

    `X` (n, p): values, NaN where missing; codes in columns with `n_codes` (p,) above 0. `Z`
    (n, q): inputs of the models, 0 where missing. `Y` (n, R): numbers, or class indicators (R = 1
    for two classes: 1 for the second). `copies` (n,): the number of rows that each counts as.
    """

    X: Floats
    Z: Floats
    Y: Floats
    weight: Floats
    copies: Indices
    n_codes: Indices
    n_classes: int

    def take(self, rows: Indices) -> "LinearProblem":
        """Return these rows only."""
        few = {name: getattr(self, name)[rows] for name in ("X", "Z", "Y", "weight", "copies")}
        return self._replace(**few)

    @property
    def curvature(self) -> float:
        """Return kappa."""
        return {0: 1.0, 2: 0.25}.get(self.n_classes, 0.5)

    def means(self, F: Floats) -> Floats:
        """Return the predictions of scores (n, R): numbers, or probabilities."""
        if self.n_classes == 0:
            return F
        if self.n_classes == 2:
            return expit(F)
        odds = np.exp(F - F.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def bends(self, mean: Floats) -> Floats:
        """Return the (n, R, R) second derivatives of the loss by the scores, at these means."""
        if self.n_classes == 0:
            return np.ones((len(mean), 1, 1))
        own = np.eye(mean.shape[1]) * mean[:, None]
        return own - mean[:, :, None] * mean[:, None]

    def losses(self, F: Floats) -> Floats:
        """Return half the squared error of each row, or its log-loss."""
        if self.n_classes == 0:
            return 0.5 * ((self.Y - F) ** 2)[:, 0]
        if self.n_classes == 2:
            return np.logaddexp(0.0, np.where(self.Y > 0, -F, F))[:, 0]
        top = F.max(axis=1, keepdims=True)
        return np.log(np.exp(F - top).sum(axis=1)) + top[:, 0] - (self.Y * F).sum(axis=1)


class LinearSettings(NamedTuple):
    """Settings of growing; `max_terms` is the greatest number of inputs of the models."""

    penalty: float
    max_terms: int
    max_depth: int
    min_samples_leaf: int


class LinearGrowth(NamedTuple):
    """A grown tree; the value of a node is its (1 + d, R) coefficients, flattened.

    `inputs` (d,) are those of the models, the most important first. `complexity` (nodes,) is the
    loss saved per leaf of the subtree: pruning at a limit makes a leaf of each node at or below it
    (-inf for leaves).
    """

    tree: Tree
    inputs: Indices
    complexity: Floats

    def pruned(self, limit: float) -> Tree:
        """Return the tree in which nodes of complexity at most `limit` are leaves."""
        return self.tree.collapse(np.flatnonzero(self.complexity <= limit))

    def scores(self, Z: Floats, node: Indices) -> Floats:
        """Return the (n, R) scores of rows, each by the model of its node."""
        coef = self.tree.value.reshape(self.tree.n_nodes, len(self.inputs) + 1, -1)[node]
        return np.einsum("nd,ndr->nr", _with_one(Z[:, self.inputs]), coef)


def _with_one(Z: Floats) -> Floats:
    return np.concatenate([np.ones((len(Z), 1)), Z], axis=1)


# ---------------------------------------------------------------------- models
def correction(
    problem: LinearProblem, rows: Indices, inputs: Indices, F: Floats, penalty: float, *, root: bool
) -> Floats:
    """Return the (1 + d, R) coefficients of the correction of scores F, (n, R), of these rows.

    At the root the constant is not penalised.
    """
    A, few = _with_one(problem.Z[rows][:, inputs]), problem.take(rows)
    ridge = np.append(penalty * (not root), np.full(len(inputs), penalty))[:, None]

    def at(step: Floats) -> tuple[Floats, float]:
        scores = F + A @ step
        return scores, float(few.weight @ few.losses(scores) + 0.5 * (ridge * step**2).sum())

    step = np.zeros((A.shape[1], F.shape[1]))
    scores, loss = at(step)
    for _ in range(_STEPS if problem.n_classes else 1):
        mean = few.means(scores)
        slope = (A.T * few.weight) @ (few.Y - mean) - ridge * step
        move = (
            np.linalg.solve(_hessian(few, A, mean, ridge), slope.T.ravel()).reshape(slope.T.shape).T
        )
        size, last = 1.0, loss
        scores, loss = at(step + move)
        while not loss <= last and size > _SAME:
            size /= 2
            scores, loss = at(step + size * move)
        if not loss <= last:
            break
        step = step + size * move
        if last - loss <= _SAME * abs(last):
            break
    return step


def _hessian(few: LinearProblem, A: Floats, mean: Floats, ridge: Floats) -> Floats:
    """Return the (R c, R c) second derivatives of the penalised loss, score by score."""
    c, r = A.shape[1], mean.shape[1]
    H = np.zeros((c, r * r * c))
    block = max(1, _BLOCK // H.shape[1])
    for first in range(0, len(A), block):
        own = slice(first, first + block)
        bent = few.weight[own, None, None] * few.bends(mean[own])
        H += A[own].T @ (bent[:, :, :, None] * A[own, None, None]).reshape(len(bent), -1)
    flat = H.reshape(c, r, r, c).transpose(1, 0, 2, 3).reshape(r * c, r * c)
    return flat + np.diag(np.tile(ridge[:, 0], r) + _JITTER * np.trace(flat))


def ranked_inputs(problem: LinearProblem, settings: LinearSettings) -> Indices:
    """Return at most `max_terms` inputs by forward selection.

    The next input is the one with the greatest bound ``sum_r (z'W g_r)^2 / (kappa z'W z +
    penalty)``, where g are the residuals of a ridge model on those chosen before. If all inputs
    enter, only the first few are ordered.
    """
    Z, w, every = problem.Z, problem.weight, np.arange(len(problem.Z))
    q = Z.shape[1]
    size = problem.curvature * (w @ Z**2) + settings.penalty
    chosen, F = np.empty(0, np.intp), np.zeros(problem.Y.shape)
    wanted = settings.max_terms if settings.max_terms < q else min(_PIECES, q)
    while True:
        F = F + _with_one(Z[:, chosen]) @ correction(
            problem, every, chosen, F, settings.penalty, root=True
        )
        worth = (((Z.T * w) @ (problem.Y - problem.means(F))) ** 2).sum(axis=1) / size
        worth[chosen] = -1.0
        if len(chosen) == wanted or worth.max() <= 0:
            break
        chosen = np.append(chosen, worth.argmax())
    rest = np.setdiff1d(np.arange(q), chosen) if q <= settings.max_terms else chosen[:0]
    return np.append(chosen, rest)


# ---------------------------------------------------------------------- splits
class _Split(NamedTuple):
    """Values up to `threshold`, or the codes in `first`, go to branch 0; missing to `missing`."""

    worth: float
    column: int
    threshold: float
    branch: Indices
    missing: int


class _Sums(NamedTuple):
    """Products of the inputs, (rows, D), and of inputs and residuals, (rows, E), to be summed."""

    products: Floats
    slopes: Floats
    square: Indices  # (c, c), the column of the product of two inputs
    kappa: float
    penalty: Floats  # (c, c)

    @classmethod
    def of(cls, A: Floats, w: Floats, g: Floats, kappa: float, penalty: float) -> "_Sums":
        c = A.shape[1]
        above = np.triu_indices(c)
        square = np.zeros((c, c), np.intp)
        square[above] = np.arange(len(above[0]))
        square = np.maximum(square, square.T)
        slopes = (A[:, :, None] * (w[:, None] * g)[:, None]).reshape(len(A), -1)
        ridge = penalty * np.eye(c)
        return cls(w[:, None] * A[:, above[0]] * A[:, above[1]], slopes, square, kappa, ridge)

    def worth(self, products: Floats, slopes: Floats) -> Floats:
        """Return the least saving by correcting each of some sets of rows, from their sums."""
        H = self.kappa * products[:, self.square] + self.penalty
        H += 1e-9 * np.trace(H, axis1=1, axis2=2)[:, None, None] * np.eye(H.shape[1])
        G = slopes.reshape(len(slopes), H.shape[1], -1)
        return 0.5 * (G * np.linalg.solve(H, G)).sum(axis=(1, 2))


def _screened(problem: LinearProblem, rows: Indices, g: Floats) -> Indices:
    """Return at most `_COLUMNS` columns, those with the best cuts by constant corrections."""
    p = problem.X.shape[1]
    if p <= _COLUMNS:
        return np.arange(p)
    worth, w = np.empty(p), problem.weight[rows]
    step = max(1, _BLOCK // (len(rows) * g.shape[1]))
    for first in range(0, p, step):
        X = problem.X[rows, first : first + step]
        order = np.argsort(X, axis=0, kind="stable")
        weight = np.cumsum(np.where(np.isnan(X), 0.0, w[:, None])[order, np.arange(X.shape[1])], 0)
        saved = np.zeros(X.shape)
        for r in range(g.shape[1]):
            own = np.where(np.isnan(X), 0.0, (w * g[:, r])[:, None])
            left = np.cumsum(own[order, np.arange(X.shape[1])], axis=0)
            right = left[-1] - left
            rest = weight[-1] - weight
            with np.errstate(divide="ignore", invalid="ignore"):
                saved += np.where(weight > 0, left**2 / weight, 0.0)
                saved += np.where(rest > 1e-12 * weight[-1], right**2 / rest, 0.0)
        value = np.take_along_axis(X, order, axis=0)
        saved[:-1][~(value[:-1] < value[1:])] = 0.0  # no cut between equal values
        worth[first : first + step] = saved[:-1].max(axis=0)
    return np.sort(np.argsort(-worth, kind="stable")[:_COLUMNS])


def _ranks(codes: Floats, n_codes: int, w: Floats, g: Floats) -> tuple[Floats, Indices]:
    """Return the codes' ranks by mean residual, and the codes in that order; NaN is kept.

    For several classes they are ordered along the first principal direction of the means.
    """
    known = ~np.isnan(codes)
    at = codes[known].astype(np.intp)
    weight = np.bincount(at, w[known], n_codes)
    held = np.flatnonzero(weight > 0)
    total = [np.bincount(at, (w * g[:, r])[known], n_codes)[held] for r in range(g.shape[1])]
    mean = np.array(total).T / weight[held, None]
    away = (mean - np.average(mean, axis=0, weights=weight[held])) * np.sqrt(weight[held, None])
    direction = np.linalg.svd(away, full_matrices=False)[2][0]
    along = mean @ direction
    order = held[np.argsort(along, kind="stable")]
    rank = np.full(n_codes, np.nan)
    rank[order] = np.arange(len(order))
    out = codes.copy()
    out[known] = rank[at]
    return out, order


class _Cuts(NamedTuple):
    """Cuts of a column: its rows in order, missing values last, and the positions of cuts."""

    column: int
    order: Indices
    value: Floats  # (known,), rising
    codes: Indices  # of a column of categories, in their order
    ends: Indices  # number of rows on the left of each cut

    @classmethod
    def of(
        cls, problem: LinearProblem, rows: Indices, j: int, g: Floats, least: int
    ) -> "_Cuts | None":
        """Return all cuts of a column with at least `least` rows on either side, or None."""
        x, codes = problem.X[rows, j], np.empty(0, np.intp)
        if problem.n_codes[j] and not np.isnan(x).all():
            x, codes = _ranks(x, int(problem.n_codes[j]), problem.weight[rows], g)
        order = np.argsort(x, kind="stable")
        known = int((~np.isnan(x)).sum())
        value, copies = x[order][:known], np.cumsum(problem.copies[rows][order][:known])
        enough = (copies[:-1] >= least) & (copies[-1:] - copies[:-1] >= least)
        ends = np.flatnonzero((value[:-1] < value[1:]) & enough) + 1
        return cls(j, order, value, codes, ends) if len(ends) else None

    def some(self, low: int, high: int, most: int) -> "_Cuts":
        """Return at most `most` evenly spaced cuts from index `low` to `high`."""
        return self._replace(
            ends=self.ends[np.unique(np.linspace(low, high, most).astype(np.intp))]
        )

    def sums(self, sums: _Sums) -> list[list[Floats]]:
        """Return the (cuts, ...) sums of products and slopes: left, right and missing."""
        known = len(self.value)
        parts = np.append(0, self.ends)
        parts = np.append(parts, known) if known < len(self.order) else parts
        found: list[list[Floats]] = []
        for table in (sums.products, sums.slopes):
            each = np.add.reduceat(table[self.order], parts)
            gone = each[len(self.ends) + 1 :].sum(axis=0)
            left = np.cumsum(each[: len(self.ends)], axis=0)
            right = each.sum(axis=0) - gone - left
            found.append([left, right, np.broadcast_to(gone, left.shape)])
        return [list(pair) for pair in zip(*found, strict=True)]

    def split(self, problem: LinearProblem, i: int, worth: float, missing: int) -> _Split:
        """Return a cut as a split."""
        low, high = self.value[self.ends[i] - 1], self.value[self.ends[i]]
        branch = np.full(int(problem.n_codes[self.column]), -1, np.intp)
        branch[self.codes] = (np.arange(len(self.codes)) > low).astype(np.intp)
        middle = low / 2 + high / 2
        threshold = np.nan if len(branch) else float(middle if low <= middle < high else low)
        return _Split(worth, self.column, threshold, branch, missing)


def _worth_of(cuts: list[_Cuts], sums: _Sums) -> tuple[Floats, Indices]:
    """Return the worth of the cuts of some columns, and the branch of their missing values.

    This is the better branch or, if no value is missing, the one of more weight.
    """
    each = [own.sums(sums) for own in cuts]
    left, right, gone = ([np.concatenate(t) for t in zip(*side, strict=True)]
                         for side in zip(*each, strict=True))  # fmt: skip
    base = sums.worth(*(table.sum(axis=0)[None] for table in (sums.products, sums.slopes)))

    def both(one: list[Floats], other: list[Floats]) -> Floats:
        return sums.worth(*(a + b for a, b in zip(one, gone, strict=True))) + sums.worth(*other)

    first = both(left, right)
    missing = (left[0][:, 0] < right[0][:, 0]).astype(np.intp)
    some = gone[0][:, 0] > 0
    if some.any():
        second = both(right, left)
        missing = np.where(some, (second > first).astype(np.intp), missing)
        first = np.where(some, np.maximum(first, second), first)
    return first - base, missing


def best_split(
    problem: LinearProblem, rows: Indices, F: Floats, inputs: Indices, settings: LinearSettings
) -> _Split | None:
    """Return the best split of rows with scores F, the first of equals.

    Some cuts of each column are tried, then all those around the best one.
    """
    g, few = problem.Y[rows] - problem.means(F), inputs[:_PIECES]
    A, w, least = (
        _with_one(problem.Z[rows][:, few]),
        problem.weight[rows],
        settings.min_samples_leaf,
    )
    each = (_Cuts.of(problem, rows, j, g, least) for j in _screened(problem, rows, g).tolist())
    every = [own for own in each if own is not None]
    if not every:
        return None
    sums = _Sums.of(A, w, g, problem.curvature, settings.penalty)
    tried = [own.some(0, len(own.ends) - 1, _CUTS) for own in every]
    worth, _ = _worth_of(tried, sums)
    at = int((worth >= worth.max() - _SAME * abs(worth.max())).argmax())
    of = np.repeat(np.arange(len(tried)), [len(own.ends) for own in tried])[at]
    own, near = every[of], tried[of].ends
    place = at - int(
        np.searchsorted(np.repeat(np.arange(len(tried)), [len(t.ends) for t in tried]), of)
    )
    ends = near[[max(place - 1, 0), min(place + 1, len(near) - 1)]]
    fine = own.some(*np.searchsorted(own.ends, ends).tolist(), 2 * _CUTS)
    worth, missing = _worth_of([fine], sums)
    at = int(worth.argmax())
    return fine.split(problem, at, float(worth[at]), int(missing[at]))


# ---------------------------------------------------------------------- the tree
class _Growing(NamedTuple):
    """Nodes of a growing tree, in lists; the second child of a split follows the first."""

    split: list[_Split | None]
    child: list[int]
    coef: list[Floats]
    weight: list[float]
    n_rows: list[int]
    risk: list[float]


def grow_linear(problem: LinearProblem, settings: LinearSettings) -> LinearGrowth:
    """Return a tree grown on all rows, level by level."""
    inputs = ranked_inputs(problem, settings)
    nodes = _Growing([], [], [], [], [], [])
    zeros = np.zeros((len(inputs) + 1, problem.Y.shape[1]))

    def add(rows: Indices, above: Floats) -> Floats:
        A = _with_one(problem.Z[rows][:, inputs])
        start = A @ above
        step = correction(problem, rows, inputs, start, settings.penalty, root=above is zeros)
        coef = above + step
        F, w = A @ coef, problem.weight[rows]
        nodes.split.append(None)
        nodes.child.append(0)
        nodes.coef.append(coef)
        nodes.weight.append(float(w.sum()))
        nodes.n_rows.append(int(problem.copies[rows].sum()))
        nodes.risk.append(float(w @ problem.take(rows).losses(F)))
        return F

    every = np.arange(len(problem.X))
    todo = [(0, every, add(every, zeros), 0)]
    least = _LEAST * nodes.risk[0]
    while todo:
        node, rows, F, depth = todo.pop(0)
        room = nodes.n_rows[node] >= 2 * settings.min_samples_leaf and depth < settings.max_depth
        split = best_split(problem, rows, F, inputs, settings) if room else None
        if split is None or split.worth <= least:
            continue
        nodes.split[node], nodes.child[node] = split, len(nodes.child)
        side = _side(problem.X[rows, split.column], split)
        for b in (0, 1):
            own = rows[side == b]
            todo.append((len(nodes.child), own, add(own, nodes.coef[node]), depth + 1))
    tree = _tree(nodes)
    return LinearGrowth(tree, inputs, complexities(tree, np.array(nodes.risk)))


def _side(x: Floats, split: _Split) -> Indices:
    gone = np.isnan(x)
    if not len(split.branch):
        return np.where(gone, split.missing, np.where(x <= split.threshold, 0, 1))
    side = split.branch[np.where(gone, 0, x).astype(np.intp)]
    return np.where(gone | (side < 0), split.missing, side)


def _tree(nodes: _Growing) -> Tree:
    splits, n = nodes.split, len(nodes.split)
    inner = np.array([s is not None for s in splits])
    child, weight = np.array(nodes.child, np.intp), np.array(nodes.weight)
    share = np.ones(n)
    for b in (0, 1):
        share[child[inner] + b] = weight[child[inner] + b] / weight[inner]
    none = np.empty(0, np.intp)
    branches = [none if s is None else s.branch for s in splits]

    def each(of: Callable[[_Split], float], else_: float) -> Floats:
        return np.array([else_ if s is None else of(s) for s in splits])

    return Tree(
        child=np.where(inner, child, 0),
        n_children=np.where(inner, 2, 0).astype(np.intp),
        column=each(lambda s: s.column, -1).astype(np.intp),
        threshold=each(lambda s: s.threshold, np.nan),
        flip=np.zeros(n, np.bool_),
        code_ptr=np.append(0, np.cumsum([len(own) for own in branches])).astype(np.intp),
        code_branch=np.concatenate([none, *branches]),
        missing=each(lambda s: s.missing, 0).astype(np.intp),
        share=share,
        value=np.array([coef.ravel() for coef in nodes.coef]),
        counts=weight[:, None],
        n_rows=np.array(nodes.n_rows, np.intp),
        gain=each(lambda s: s.worth, 0.0),
        surrogates=Surrogates.none(n),
    )


# ---------------------------------------------------------------------- pruning
def complexities(tree: Tree, risk: Floats) -> Floats:
    """Return the limit at which each node becomes a leaf by weakest-link pruning; -inf of leaves.

    The node t with the least ``(R(t) - R(leaves below t)) / (number of these - 1)`` becomes a leaf,
    until only the root is left; R is the loss of the rows by the node's own model.
    """
    out = np.full(tree.n_nodes, -np.inf)
    left, last = tree.n_children > 0, 0.0
    while left.any():
        below, number = risk.copy(), np.ones(tree.n_nodes)
        for node in np.flatnonzero(left)[::-1].tolist():  # children follow
            own = tree.children(node)
            below[node], number[node] = below[own].sum(), number[own].sum()
        at = np.flatnonzero(left)
        weakest = (risk[at] - below[at]) / (number[at] - 1.0)
        last = max(last, float(weakest.min()))
        todo = at[weakest <= last].tolist()
        while todo:
            node = todo.pop()
            if left[node]:
                out[node], left[node] = last, False
                todo += tree.children(node).tolist()
    return out


def limits_of(growth: LinearGrowth) -> Floats:
    """Return a limit for each pruning of a tree, falling: geometric means of its complexities."""
    steps = np.unique(growth.complexity[growth.tree.n_children > 0])[::-1]
    if not len(steps):
        return np.zeros(1)
    return np.append(np.append(10.0 * steps[0], np.sqrt(steps[:-1] * steps[1:])), 0.0)


def held_out_losses(growth: LinearGrowth, problem: LinearProblem, limits: Floats) -> Floats:
    """Return (n, limits): the loss of each row by the tree pruned at each limit."""
    n, tree = len(problem.X), growth.tree
    out, going = np.empty((n, len(limits))), np.ones((n, len(limits)), np.bool_)
    rows, node = np.arange(n), np.zeros(n, np.intp)
    while len(rows):
        loss = problem.take(rows).losses(growth.scores(problem.Z[rows], node))
        ends = going[rows] & (growth.complexity[node][:, None] <= limits)
        out[rows] = np.where(ends, loss[:, None], out[rows])
        going[rows] &= ~ends
        on = going[rows].any(axis=1)
        rows, node = rows[on], node[on]
        branch = tree.branches(problem.X, rows, node)
        node = tree.child[node] + branch
    return out
