"""Rules from a tree, as by c4.5rules: generalised paths, selected by description length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from psephos.kernels.sorted_trees.c45_prune import Limit, added_errors
from psephos.trees.tree import Tree
from psephos.trees.tree_leaves import RuleTest

_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]
_special: Any = scipy.special  # its types are incomplete
_THEORY = 0.5  # weight of the bits of rules, relative to those of exceptions
_EXHAUSTIVE = 10  # number of rules of a class up to which all subsets are tried
_STARTS = 5  # times eleven random starts of the search otherwise
_WORST = 0.7  # rules of greater error are dropped
_NOTHING = 1e-9  # shares of a sum of weights below this are rounding errors


@dataclass(frozen=True)
class C45Rule:
    """A rule: if all tests hold, the class `target`; `error` is its pessimistic error rate."""

    tests: tuple[RuleTest, ...]
    target: int
    error: float


@dataclass(frozen=True)
class RuleList:
    """Rules in their order: the first that holds decides; if none does, the default class."""

    rules: tuple[C45Rule, ...]
    default: int


def matches(test: RuleTest, X: _Floats) -> _Flags:
    """Return the mask of rows of X, shape (n, p), for which a test holds."""
    x = X[:, test.column]
    if test.op == "<=":
        return x <= test.value
    return x > test.value if test.op == ">" else x == test.value


@dataclass(frozen=True)
class _Data:
    """The training rows."""

    X: _Floats
    y: NDArray[np.intp]
    weight: _Floats
    n_classes: int
    n_codes: dict[int, int]

    @property
    def n(self) -> float:
        return float(self.weight.sum())

    def held(self, tests: Iterable[RuleTest]) -> _Flags:
        out = np.ones(len(self.y), np.bool_)
        for test in tests:
            out &= matches(test, self.X)
        return out


def find_rules(
    tree: Tree,
    X: _Floats,
    y: NDArray[np.intp],
    weight: _Floats,
    n_codes: dict[int, int],
    limit: Limit,
    generator: np.random.Generator,
) -> RuleList:
    """Return the rules of an unpruned tree.

    Every path to a leaf is a rule. Its tests are dropped one by one while its pessimistic or
    training error does not rise. For each class the subset of rules is selected that, with its
    exceptions, has the shortest description in bits. Classes are ordered by their false positives.
    Finally rules are dropped that are wrong more often than the rules after them would be.

    Parameters
    ----------
    tree : grown on the table (release 8), not pruned
    X : (n, p)
    y, weight : (n,)
    n_codes : number of codes of each column of categories
    limit : parameters of pessimistic errors
    generator : draws the starts of the search if a class has more than ten rules
    """
    data = _Data(X, y, weight, tree.counts.shape[1], n_codes)
    found: dict[tuple[frozenset[RuleTest], int], C45Rule] = {}
    for tests, target in _paths(tree):
        rule = _generalised(tests, target, data, limit)
        if rule is not None:
            found.setdefault((frozenset(rule.tests), target), rule)
    bits = _TestBits.of(data)
    chosen: list[list[C45Rule]] = []
    for target in range(data.n_classes):
        own = [rule for rule in found.values() if rule.target == target]
        chosen.append(_subset(own, target, data, bits, generator))
    ordered = _ordered(chosen, data)
    default = _default(ordered, data)
    return RuleList(tuple(_polished(ordered, default, data)), default)


# ---------------------------------------------------------------------- from paths to rules
def _paths(tree: Tree) -> list[tuple[tuple[RuleTest, ...], int]]:
    """Return (tests, class) of every path to a leaf; a leaf without rows has its parent's class."""
    found: list[tuple[tuple[RuleTest, ...], int]] = []
    todo: list[tuple[int, int, tuple[RuleTest, ...]]] = [(0, 0, ())]
    while todo:
        node, known, way = todo.pop()
        known = node if tree.counts[node].sum() > 0 else known
        children = tree.children(node).tolist()
        if not children:
            found.append((way, int(tree.counts[known].argmax())))
            continue
        column = int(tree.column[node])
        numeric = tree.code_ptr[node] == tree.code_ptr[node + 1]
        for branch, child in reversed(list(enumerate(children))):
            if numeric:
                test = RuleTest(column, "<=" if branch == 0 else ">", float(tree.threshold[node]))
            else:
                test = RuleTest(column, "=", float(branch))
            todo.append((child, known, (*way, test)))
    return found


def _rates(n: _Floats, e: _Floats, limit: Limit) -> tuple[_Floats, _Floats]:
    """Return the pessimistic and the training error rates; 1 without rows."""
    rates = [
        ((ei + added_errors(ni, ei, limit)) / ni, ei / ni) if ni > 0 else (1.0, 1.0)
        for ni, ei in zip(n.tolist(), e.tolist(), strict=True)
    ]
    return np.array([r[0] for r in rates]), np.array([r[1] for r in rates])


def _generalised(
    tests: tuple[RuleTest, ...], target: int, data: _Data, limit: Limit
) -> C45Rule | None:
    """Return the rule without tests that do not lower its error; None if it is useless."""
    kept = list(tests)
    each = [matches(t, data.X) for t in tests]
    held = np.array(each, np.bool_).reshape(len(tests), len(data.y))
    wrong = data.weight * (data.y != target)
    while True:
        failed = (~held).sum(axis=0)
        inside, near = failed == 0, failed == 1  # near: inside if the failed test were dropped
        n, e = data.weight[inside].sum(), wrong[inside].sum()
        missed = ~held[:, near]
        without_n = np.append(n, n + missed @ data.weight[near])
        without_e = np.append(e, e + missed @ wrong[near])
        pessimistic, actual = _rates(without_n, without_e, limit)
        better = (pessimistic[1:] <= pessimistic[0]) | (actual[1:] <= actual[0])
        if not better.any():
            break
        worth = np.where(better, pessimistic[1:], np.inf)
        drop = int(np.flatnonzero(worth <= worth.min())[-1])  # of equal ones the deepest
        del kept[drop]
        held = np.delete(held, drop, axis=0)
    guessing = 1.0 - (data.weight[data.y == target].sum() + 1.0) / (data.n + 2.0)
    if n <= 0 or pessimistic[0] >= guessing or pessimistic[0] > _WORST:
        return None
    return C45Rule(tuple(kept), target, float(pessimistic[0]))


# ---------------------------------------------------------------------- bits
@dataclass(frozen=True)
class _TestBits:
    """Bits of a test: of the choice of its column, and of its branch."""

    choice: float
    branch: _Floats

    @classmethod
    def of(cls, data: _Data) -> "_TestBits":
        """Return the bits of tests on each column of a table."""
        branch = np.zeros(data.X.shape[1])
        for j in range(len(branch)):
            x = data.X[:, j]
            known = ~np.isnan(x)
            if j in data.n_codes:
                sums = np.bincount(x[known].astype(np.intp), data.weight[known])
                share = sums[sums > 0] / data.n
                branch[j] = -(share * np.log2(share)).sum()
            else:
                distinct = len(np.unique(x[known]))
                branch[j] = 1.0 + 0.5 * np.log2(distinct) if distinct > 1 else 0.0
        share = branch[branch > 0] / branch.sum() if branch.any() else np.ones(1)
        return cls(float(-(share * np.log2(share)).sum()), branch)

    def rule(self, rule: C45Rule) -> float:
        """Return the bits of a rule, whose tests have no order."""
        k = len(rule.tests)
        own = sum(self.choice + float(self.branch[test.column]) for test in rule.tests)
        order = float(_special.gammaln(k + 1)) / log(2.0)
        return own + (np.log2(k) - order if k > 0 else 0.0)


def _biased(n: _Floats, e: _Floats, expected: _Floats) -> _Floats:
    """Return the bits that identify e errors among n rows, if `expected` errors are expected."""
    e, right = (np.where(part > _NOTHING * n, part, 0.0) for part in (e, n - e))
    rate = np.clip(expected / np.where(n > 0, n, 1.0), 0.0, 1.0)
    bits = -(_special.xlogy(e, rate) + _special.xlog1py(right, -rate)) / log(2.0)
    return np.where(n > 0, bits, 0.0)


def _exception_bits(n: float, fired: _Floats, wrong: _Floats, missed: _Floats) -> _Floats:
    """Return the bits of the exceptions to the rules of a class (Quinlan 1995)."""
    fired, others = (np.where(part > _NOTHING * n, part, 0.0) for part in (fired, n - fired))
    half = 0.5 * (wrong + missed)
    large = fired > n / 2
    bits = _biased(fired, wrong, np.where(large, half, wrong))
    return np.log2(n) + bits + _biased(others, missed, np.where(large, missed, half))


@dataclass(frozen=True)
class _Cover:
    """The rules of one class: their bits, the rows on which they hold, and the cost of subsets."""

    bits: _Floats
    held: _Flags
    own: _Flags
    weight: _Floats

    def costs(self, chosen: _Flags) -> tuple[float, _Floats]:
        """Return half the bits of the chosen rules plus those of their exceptions.

        And (k,): the same with each rule in turn added, or dropped if it is chosen.
        """
        times = self.held[chosen].sum(axis=0)
        right, other = self.weight * self.own, self.weight * ~self.own
        hits, wrong = right @ (times > 0), other @ (times > 0)
        change = np.where(chosen, -1.0, 1.0)
        mine, theirs = (
            np.where(chosen, self.held @ (w * (times == 1)), self.held @ (w * (times == 0)))
            for w in (right, other)
        )
        hits = np.append(hits, hits + change * mine)
        wrong = np.append(wrong, wrong + change * theirs)
        size = np.append(chosen.sum(), chosen.sum() + change)
        rules = np.append(0.0, change * self.bits) + self.bits[chosen].sum()
        rules -= _special.gammaln(size + 1) / log(2.0)
        exceptions = _exception_bits(
            float(self.weight.sum()), hits + wrong, wrong, float(right.sum()) - hits
        )
        both = _THEORY * rules + exceptions
        return float(both[0]), both[1:]


def _subset(
    rules: list[C45Rule], target: int, data: _Data, bits: _TestBits, generator: np.random.Generator
) -> list[C45Rule]:
    """Return the subset of a class's rules with the shortest description."""
    if not rules:
        return []
    cover = _Cover(
        np.array([bits.rule(rule) for rule in rules]),
        np.array([data.held(rule.tests) for rule in rules]),
        data.y == target,
        data.weight,
    )
    k = len(rules)
    if k <= _EXHAUSTIVE:
        sets = (np.arange(1 << k)[:, None] >> np.arange(k)) % 2 == 1
        best = sets[int(np.argmin([cover.costs(chosen)[0] for chosen in sets]))]
    else:
        shares = np.tile(np.linspace(0, 1, 11), _STARTS)
        starts = [generator.random(k) < share for share in shares]
        best = min((_climb(cover, start) for start in starts), key=lambda end: end[0])[1]
    return [rule for rule, kept in zip(rules, best.tolist(), strict=True) if kept]


def _climb(cover: _Cover, chosen: _Flags) -> tuple[float, _Flags]:
    """Add or drop the rule that saves most bits, until none does."""
    cost, others = cover.costs(chosen)
    while True:
        best = int(np.argmin(others))
        after = chosen.copy()
        after[best] = not after[best]
        less, further = cover.costs(after)
        if not (others[best] < cost - 1e-9 and less < cost):  # rounding does not count
            return cost, chosen
        cost, others, chosen = less, further, after


# ---------------------------------------------------------------------- order
def _ordered(chosen: list[list[C45Rule]], data: _Data) -> list[C45Rule]:
    """Return the rules class by class, the class with fewest false positives first."""
    left = np.ones(len(data.y), np.bool_)
    waiting = [target for target, rules in enumerate(chosen) if rules]
    held = {t: np.any([data.held(r.tests) for r in chosen[t]], axis=0) for t in waiting}
    out: list[C45Rule] = []
    while waiting:
        wrong = [data.weight[left & held[t] & (data.y != t)].sum() for t in waiting]
        target = waiting.pop(int(np.argmin(wrong)))
        out += sorted(chosen[target], key=lambda rule: rule.error)
        left &= ~held[target]
    return out


def _default(rules: Sequence[C45Rule], data: _Data) -> int:
    """Return the heaviest class of rows for which no rule holds; of equals the most frequent."""
    left = np.ones(len(data.y), np.bool_)
    for rule in rules:
        left &= ~data.held(rule.tests)
    over = np.bincount(data.y[left], data.weight[left], data.n_classes)
    all_rows = np.bincount(data.y, data.weight, data.n_classes)
    return int(np.lexsort((np.arange(len(over))[::-1], all_rows, over))[-1])


def _polished(rules: list[C45Rule], default: int, data: _Data) -> list[C45Rule]:
    """Drop, one at a time, the first rule that is wrong more often than the next rules would be."""
    each = [data.held(rule.tests) for rule in rules]
    held = np.array(each, np.bool_).reshape(len(rules), len(data.y))
    target = np.array([rule.target for rule in rules], np.intp)
    kept = list(range(len(rules)))
    while True:
        worse = _first_worse(held[kept], target[kept], default, data)
        if worse < 0:
            return [rules[i] for i in kept]
        del kept[worse]


def _first_worse(held: _Flags, target: NDArray[np.intp], default: int, data: _Data) -> int:
    """Return the first rule that is worse on its rows than the next that holds, or the default.

    -1 if no rule is.
    """
    order = np.where(held, np.arange(len(held))[:, None], len(held))
    first = order.min(axis=0, initial=len(held))
    answer = np.append(target, default)
    for i in range(len(held)):
        mine = first == i
        after = order[i + 1 :, mine].min(axis=0, initial=len(held))
        instead, y, weight = answer[after], data.y[mine], data.weight[mine]
        better = weight[(target[i] == y) & (instead != y)].sum()
        worse = weight[(target[i] != y) & (instead == y)].sum()
        if worse > better:
            return i
    return -1
