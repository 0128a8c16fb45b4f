"""J48's tree as its description reads: lists of (row, weight), one node after another."""

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import norm

TIE = 1e-6


@dataclass
class Node:
    counts: np.ndarray
    column: int = -1
    threshold: float = np.nan
    shares: list = field(default_factory=list)
    children: list = field(default_factory=list)

    def leaves(self):
        return [self] if not self.children else [x for c in self.children for x in c.leaves()]


def entropy(counts):
    p = np.asarray(counts, float)[np.asarray(counts) > TIE]
    return float(-(p / p.sum() * np.log2(p / p.sum())).sum()) if len(p) else 0.0


@dataclass
class Twin:
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    k: int
    n_codes: dict
    least: float = 2.0
    confidence: float = 0.25
    pruning: bool = True
    by_gain: bool = False
    gap: float = 0.0

    def tree(self):
        rows = [(i, w) for i, w in enumerate(self.weight)]
        root = self.grow(rows)
        self.collapsed(root)
        if self.pruning:
            self.prune(root, rows)
        return root

    def counts(self, rows):
        out = np.zeros(self.k)
        for i, w in rows:
            out[self.y[i]] += w
        return out

    def branch(self, node, i):
        value = self.X[i, node.column]
        if np.isnan(value):
            return -1
        if node.column not in self.n_codes:
            return 0 if value <= node.threshold else 1
        return int(value)

    def divide(self, node, rows, shares=None):
        """Return the rows of each branch, and the branches' shares of the known weight."""
        k = len(node.children) or len(node.shares)
        parts = [[(i, w) for i, w in rows if self.branch(node, i) == b] for b in range(k)]
        known = [sum(w for _, w in part) for part in parts]
        total = sum(known)
        if shares is None:
            shares = [w / total if total > 0 else 1 / k for w in known]
        for part, share in zip(parts, shares, strict=True):
            if share > TIE:
                part += [(i, w * share) for i, w in rows if self.branch(node, i) < 0]
        return parts, shares

    # ------------------------------------------------------------------ growing
    def gain_and_ratio(self, bags, total):
        """Return (gain, ratio) of bags of class weights in a node of this weight."""
        bags = [np.asarray(bag, float) for bag in bags]
        known, whole = sum(bag.sum() for bag in bags), sum(bags)
        won = known * entropy(whole) - sum(bag.sum() * entropy(bag) for bag in bags)
        gain = won / total if abs(won) >= TIE else 0.0
        return gain, lambda g: self.ratio(g, [bag.sum() for bag in bags], total)

    def ratio(self, gain, sizes, total):
        parts = [s / total for s in (*sizes, total - sum(sizes)) if s > TIE]
        info = -sum(p * np.log2(p) for p in parts)
        if total * abs(info) < TIE:
            return 0.0
        return gain if self.by_gain else gain / info

    def numeric(self, rows, j, total):
        known = sorted((self.X[i, j], i, w) for i, w in rows if not np.isnan(self.X[i, j]))
        weight = sum(w for _, _, w in known)
        least = 0.1 * weight / self.k
        least = self.least if least <= self.least + TIE else min(least, 25.0)
        if sum(self.weight[i] for _, i, _ in known) <= 2 * least - TIE:
            return None
        best, at, tries = 0.0, None, 0
        for s in range(len(known) - 1):
            low, high = known[s][0], known[s + 1][0]
            if not low + self.gap < high:
                continue
            bags = [
                self.counts([(i, w) for _, i, w in part])
                for part in (known[: s + 1], known[s + 1 :])
            ]
            if min(bag.sum() for bag in bags) <= least - TIE:
                continue
            tries += 1
            gain, ratio = self.gain_and_ratio(bags, total)
            if gain > best + TIE:
                best, at = gain, (low, high, ratio)
        if at is None:
            return None
        best -= np.log2(tries) / total
        if best < TIE:
            return None
        middle = (at[0] + at[1]) / 2
        middle = middle if middle < at[1] else at[0]
        column = self.X[:, j]
        return best, at[2](best), column[column <= middle].max()

    def nominal(self, rows, j, total):
        bags = [
            self.counts([(i, w) for i, w in rows if self.X[i, j] == v])
            for v in range(self.n_codes[j])
        ]
        heavy = [bag.sum() > self.least - TIE for bag in bags]
        if sum(heavy) < 2:
            return None
        gain, ratio = self.gain_and_ratio(bags, total)
        return gain, ratio(gain), np.nan

    def grow(self, rows):
        node = Node(self.counts(rows))
        total = node.counts.sum()
        if total <= 2 * self.least - TIE or total - node.counts.max() < TIE:
            return node
        p = self.X.shape[1]
        found = [
            (self.nominal if j in self.n_codes else self.numeric)(rows, j, total) for j in range(p)
        ]
        few = [
            j not in self.n_codes or self.n_codes[j] < 0.3 * self.weight.sum() - TIE
            for j in range(p)
        ]
        counted = [f[0] for f, s in zip(found, few, strict=True) if f and (s or not any(few))]
        if not counted:
            return node
        average, best = np.mean(counted), 0.0
        for j, f in enumerate(found):
            if f and f[0] > average - 1e-3 - TIE and f[1] > best + TIE:
                best, node.column, node.threshold = f[1], j, f[2]
        if node.column < 0:
            return node
        node.shares = [0.0] * self.n_codes.get(node.column, 2)
        parts, node.shares = self.divide(node, rows)
        node.children = [self.grow(part) for part in parts]
        return node

    # ------------------------------------------------------------------ pruning
    def collapsed(self, node):
        if node.children:
            inside = sum(x.counts.sum() - x.counts.max() for x in node.leaves())
            if inside >= node.counts.sum() - node.counts.max() - 1e-3 - TIE:
                node.children = []
            for child in node.children:
                self.collapsed(child)

    def added(self, n, e):
        cf, z = self.confidence, norm.ppf(1 - self.confidence)
        if cf > 0.5:
            return 0.0
        none = n * (1 - cf ** (1 / n))
        if e == 0:
            return none
        if e < 1:
            return none + e * (self.added(n, 1.0) - none)
        if e + 0.5 >= n:
            return max(n - e, 0.0)
        f = (e + 0.5) / n
        r = f + z**2 / (2 * n) + z * np.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))
        return r / (1 + z**2 / n) * n - e

    def errors(self, counts):
        n = counts.sum()
        return 0.0 if n < TIE else n - counts.max() + self.added(n, n - counts.max())

    def errors_below(self, node, rows):
        if not node.children:
            return self.errors(self.counts(rows))
        parts, _ = self.divide(node, rows)
        return sum(self.errors_below(c, r) for c, r in zip(node.children, parts, strict=True))

    def recount(self, node, rows):
        node.counts = self.counts(rows)
        if node.children:
            parts, node.shares = self.divide(node, rows)
            for child, part in zip(node.children, parts, strict=True):
                self.recount(child, part)

    def prune(self, node, rows):
        if not node.children:
            return
        parts, _ = self.divide(node, rows, node.shares)
        for child, part in zip(node.children, parts, strict=True):
            self.prune(child, part)
        leaf = self.errors(node.counts)
        tree = sum(self.errors(x.counts) for x in node.leaves())
        weights = [child.counts.sum() for child in node.children]
        largest, most = None, 0.0
        for child, own in zip(node.children, weights, strict=True):
            if most - own < TIE:
                largest, most = child, own
        branch = self.errors_below(largest, rows)
        if leaf < tree + 0.1 + TIE and leaf < branch + 0.1 + TIE:
            node.children = []
        elif branch < tree + 0.1 + TIE:
            node.column, node.threshold = largest.column, largest.threshold
            node.shares, node.children = largest.shares, largest.children
            self.recount(node, rows)
            self.prune(node, rows)
