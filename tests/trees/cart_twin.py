"""CART written as it is told, row by row: the slow twin of ``kernels.cart_grow``."""

from itertools import combinations, pairwise

import numpy as np

from psephos.kernels.sorted_trees.cart_search import worth as worth_of

LEFT, RIGHT = -1, 1


class Twin:
    """Grows a tree by looking at every row of a node for every question.

    `nodes` are dictionaries in the order root, left subtree, right subtree.
    """

    def __init__(self, X, y, weight, copies, n_classes, n_codes, criterion, settings, **shares):
        self.X, self.y, self.w, self.copies = X, y, weight, copies
        self.k, self.n_codes, self.criterion, self.s = n_classes, n_codes, criterion, settings
        self.rho, self.alpha, self.loss = shares["rho"], shares["alpha"], shares["loss"]
        self.nodes, self.largest = [], 0.0
        rows = np.arange(len(y))
        root = self.describe(rows)
        self.floor = settings.cp * root["risk"]
        self.grow(rows, 1, 0, root["risk"])
        for parent in self.nodes:  # no complexity above the parent's
            for child in self.nodes:
                if child["number"] // 2 == parent["number"]:
                    child["complexity"] = min(child["complexity"], parent["complexity"])

    # ------------------------------------------------------------------ one node
    def sums(self, rows):
        return np.array([self.w[rows][self.y[rows] == k].sum() for k in range(self.k)])

    def describe(self, rows):
        w = self.w[rows]
        if self.k == 0:
            mean = np.average(self.y[rows], weights=w)
            risk = (w * (self.y[rows] - mean) ** 2).sum()
            return {"rows": self.copies[rows].sum(), "weight": w.sum(), "risk": risk, "says": mean}
        losses = (self.sums(rows) * self.rho) @ self.loss
        says = int(np.flatnonzero(losses <= losses.min() + 1e-9)[0])
        return {
            "rows": self.copies[rows].sum(), "weight": w.sum(), "risk": losses[says], "says": says,
        }  # fmt: skip

    def grow(self, rows, number, depth, cap):
        node = self.describe(rows) | {"number": number, "rules": [], "spare": []}
        self.nodes.append(node)
        place = len(self.nodes)
        risk = node["risk"]
        capped = min(risk, cap)
        node["complexity"] = self.floor
        if (
            node["rows"] < self.s.min_samples_split
            or capped <= self.floor
            or depth >= self.s.max_depth
        ):
            return node, risk, 0
        node["rules"] = self.rules(rows, risk)
        if not node["rules"]:
            return node, risk, 0
        sides, node["spare"] = self.sides(rows, node["rules"][0])
        left, right = rows[sides == LEFT], rows[sides == RIGHT]
        below = [self.grow(left, 2 * number, depth + 1, capped - self.floor)]
        child, risk_l, splits_l = below[0]
        save = max((risk - risk_l) / (splits_l + 1), risk - child["risk"])
        below.append(self.grow(right, 2 * number + 1, depth + 1, min(save, capped) - self.floor))
        risks, splits = [b[1] for b in below], [b[2] for b in below]
        own = (risk - sum(risks)) / (sum(splits) + 1)
        for i in sorted((0, 1), key=lambda i: below[i][0]["complexity"]):  # the weaker first
            if own > below[i][0]["complexity"]:
                risks[i], splits[i] = below[i][0]["risk"], 0
                own = (risk - sum(risks)) / (sum(splits) + 1)
        node["complexity"] = own
        if own <= self.floor:
            del self.nodes[place:]
            node["rules"], node["spare"] = [], []
            return node, risk, 0
        return node, sum(risks), sum(splits) + 1

    # ------------------------------------------------------------------ rules
    def candidates(self, j, rows):
        """Yield (threshold or None, levels on the first side, rows there)."""
        x = self.X[rows, j]
        values = np.unique(x)
        if j not in self.n_codes:
            for low, high in pairwise(values):
                yield (low + high) / 2, None, x < (low + high) / 2
            return
        if self.k > 2:
            count = len(values) - 1
            for step in range(1, 1 << count):  # the subsets of a Gray code
                code = step ^ (step >> 1)
                first = [values[i] for i in range(count) if code >> i & 1]
                yield None, first, np.isin(x, first)
            return
        means = []
        for v in values:
            at = rows[x == v]
            means.append(np.average(self.y[at], weights=self.w[at]))
        order = values[np.argsort(means, kind="stable")]
        for i in range(1, len(order)):
            yield None, list(order[:i]), np.isin(x, order[:i])

    def rules(self, rows, risk):
        found = []
        for j in range(self.X.shape[1]):
            known = rows[~np.isnan(self.X[rows, j])]
            best = None
            for threshold, levels, first in self.candidates(j, known) if len(known) else ():
                one, two = known[first], known[~first]
                least = min(self.copies[one].sum(), self.copies[two].sum())
                if least < self.s.min_samples_leaf:
                    continue
                worth, lower = self.worth(one, two)
                if worth > 1e-12 and (best is None or worth > best["worth"] * (1 + 1e-13)):
                    best = {"worth": worth, "side": LEFT if lower else RIGHT}
                    best |= {"threshold": threshold, "levels": levels, "column": j}
            if best is None:
                continue
            best["worth"] /= risk if self.k == 0 else 1.0
            best["counted"] = self.copies[known].sum()
            best["seen"] = np.unique(self.X[known, j])
            if best["worth"] > 1e-10 * self.largest:
                self.largest = max(self.largest, best["worth"])
                found.append(best)
        found.sort(key=lambda rule: -rule["worth"])
        return found[: self.s.max_competitors + 1]

    def worth(self, one, two):
        if self.k == 0:
            both = np.concatenate([one, two])
            centred = self.y - np.average(self.y[both], weights=self.w[both])
            sums = [(self.w[s] * centred[s]).sum() for s in (one, two)]
            worth = sum(s**2 / self.w[r].sum() for s, r in zip(sums, (one, two), strict=True))
            return worth, sums[0] < sums[1]
        left, right = self.alpha * self.sums(one), self.alpha * self.sums(two)
        index = np.arange(self.k)
        worth = worth_of(self.criterion, left + right, left, right)
        return worth, (index * left).sum() / left.sum() < (index * right).sum() / right.sum()

    def send(self, rule, rows):
        """Where a rule sends rows: -1, 1, or 0 if it cannot."""
        x = self.X[rows, rule["column"]]
        if rule["levels"] is None:
            side = np.where(x < rule["threshold"], rule["side"], -rule["side"])
        else:
            side = np.where(np.isin(x, rule["levels"]), rule["side"], -rule["side"])
            side = np.where(np.isin(x, rule["seen"]), side, 0)
        return np.where(np.isnan(x), 0, side)

    def sides(self, rows, rule):
        sides = self.send(rule, rows)
        spare = self.surrogates(rows, sides, rule["column"])
        weight = [self.w[rows][sides == s].sum() for s in (LEFT, RIGHT)]
        heavier = 0 if weight[0] == weight[1] else (LEFT if weight[0] > weight[1] else RIGHT)
        if self.s.use_surrogates > 0:
            for other in spare:
                sent = np.where(sides == 0, self.send(other, rows), 0)
                other["counted"] = self.copies[rows][sent != 0].sum()
                sides = sides + sent
            if self.s.use_surrogates == 2:
                sides = np.where(sides == 0, heavier, sides)
        return sides, spare

    def surrogates(self, rows, sides, primary):
        known = rows[sides != 0]
        goes = dict(zip(rows, sides, strict=True))
        totals = self.totals(known, goes)
        found = []
        for j in range(self.X.shape[1]):
            both = known[~np.isnan(self.X[known, j])]
            if j == primary or not len(both):
                continue
            base = self.totals(both, goes) if self.s.of_known else totals
            best = self.agreeing(j, rows, both, goes)
            if best is None or max(base) >= sum(base):
                continue
            best["worth"] = best["agreement"] / sum(base)
            most = max(base) / sum(base)
            best["adjusted"] = (best["worth"] - most) / (1 - most)
            best |= {"column": j, "counted": 0}
            if best["adjusted"] > 1e-10:
                found.append(best)
        found.sort(key=lambda rule: -rule["worth"])
        return found[: self.s.max_surrogates]

    def totals(self, rows, goes):
        return [sum(self.w[r] for r in rows if goes[r] == s) for s in (LEFT, RIGHT)]

    def agreeing(self, j, rows, both, goes):
        if j in self.n_codes:
            return self.agreeing_levels(j, both, goes)
        values = np.unique(self.X[rows, j][~np.isnan(self.X[rows, j])])
        best, most = None, max(self.totals(both, goes))
        for low, high in pairwise(values):
            below = self.X[both, j] < high
            if min(self.copies[both[below]].sum(), self.copies[both[~below]].sum()) < 2:
                continue
            for side in (RIGHT, LEFT):  # where low values go
                says = np.where(below, side, -side)
                agreement = sum(self.w[r] for r, s in zip(both, says, strict=True) if goes[r] == s)
                if agreement > most:
                    most = agreement
                    best = {"agreement": agreement, "side": side, "threshold": (low + high) / 2}
                    best["levels"] = None
        return best

    def agreeing_levels(self, j, both, goes):
        x, of_known = self.X[both, j], self.totals(both, goes)
        first, agreement, sent = [], 0.0, {LEFT: 0, RIGHT: 0}
        for v in np.unique(x):
            at = both[x == v]
            held = self.totals(at, goes)
            tied = of_known if held[0] == held[1] else held
            side = LEFT if tied[0] > tied[1] else RIGHT
            agreement += held[0] if side == LEFT else held[1]
            sent[side] += self.copies[at].sum()
            first += [v] if side == LEFT else []
        if min(sent.values()) < 2:
            return None
        return {
            "agreement": agreement, "side": LEFT, "levels": first, "seen": np.unique(x),
            "threshold": None,
        }  # fmt: skip


def best_of_all_subsets(worth, levels):
    """The largest worth of a division of the levels into two sides."""
    return max(
        worth(set(first))
        for size in range(1, len(levels))
        for first in combinations(levels, size)
    )  # fmt: skip
