"""What each sentence and table of a study's page must say, by its numbers; imports no psephos."""

import math
import re
from typing import Any

import numpy as np
import pandas as pd
from _page_figures import (
    MEASURES,
    binomial_limit,
    delong,
    grouped_share,
    net_benefit,
    nogueira,
    wilson,
)

N = r"([<>]?[−+-]?\d+(?:\.\d+)?(?:e[−+-]?\d+)?)"  # a printed number
SPAN = rf"{N} to {N}"
CELL = re.compile(N)
ONE = 1e-9


def plain(name):
    """Return a class without the quotes of the page."""
    return name.strip().strip("“”")


class AtThreshold:
    """The held-out answers of a model for two classes, cut at a threshold."""

    def __init__(self, study, key, positive, threshold):
        own = study.held_out(key)
        self.p = own[f"p_{positive}"].to_numpy(float)
        self.truth = (own["truth"] == positive).to_numpy()
        self.groups = None if study.groups is None else np.asarray(study.groups)[own.index]
        self.rows, self.fold, self.t = own.index.to_numpy(), own["fold"].to_numpy(), threshold
        self.called = self.p >= threshold - ONE
        if len(study.classes) > 2:  # the most probable class, the first of equal ones
            chances = own[[f"p_{c}" for c in study.classes]].to_numpy(float)
            self.called = chances.argmax(axis=1) == study.classes.index(positive)

    @staticmethod
    def positive_of(study, page):
        """Return the class that the figures are about, by the page's confusion or calibration."""
        for table in page["tables"] if study.classes else ():
            if table["test"] == "confusion" and len(study.classes) == 2:
                return plain(table["rows"][0][1].removeprefix("called "))
            if table["test"] == "like" and len(study.classes) > 2:
                return plain(searched(r"answers for ([^,]*)", table["caption"])[1])
        return None

    def interval(self, hits, own):
        """Return the interval of a share of the cases `own`."""
        if self.groups is None:
            return wilson(int(hits[own].sum()), int(own.sum()))
        return grouped_share(hits[own], self.groups[own])

    def four(self, own=None):
        """Return hits, cases, share and interval of sensitivity, specificity, PPV and NPV."""
        own = np.ones(len(self.p), bool) if own is None else own
        right = self.called == self.truth
        found = []
        for among in (self.truth, ~self.truth, self.called, ~self.called):
            mine = among & own
            k, n = int((right & mine).sum()), int(mine.sum())
            found.append((k, n, k / n if n else math.nan, *self.interval(right, mine)))
        return found

    def counts(self):
        """Return found, missed, false alarms and cleared."""
        (found, pos, *_), (cleared, neg, *_), *_ = self.four()
        return found, pos - found, neg - cleared, cleared

    def slices(self, table):
        """Return the cases of each row of the calibration table: by its sizes, in order of p."""
        order, start, found = np.argsort(self.p, kind="stable"), 0, []
        for row in table["rows"][1:]:
            end = start + int(row[1])
            found.append(order[start:end])
            start = end
        return found if start == len(order) else []


class PanelRules:
    """The rules for one model that the page shows."""

    def __init__(self, study, key, page, threshold):
        self.study, self.key, self.page, self.t = study, key, page, threshold
        self.positive = AtThreshold.positive_of(study, page)
        self.at: Any = (
            None if self.positive is None else AtThreshold(study, key, self.positive, threshold)
        )
        self.best = max(study.models, key=lambda one: study.mean(one, study.measure)[0])
        self.wholes = {re.sub("_+", " ", c).strip(): c for c in study.table} if has(study) else {}
        for table in page["tables"]:
            if table["test"] == "whole-names":
                self.wholes |= {row[0]: row[1] for row in table["rows"][1:]}
        self.like = next((t for t in page["tables"] if t["test"] == "like"), None)
        self.parts = self.at.slices(self.like) if self.at and self.like else []

    def of_table(self, table):
        """Return the pairs of each row of a table."""
        for test, method in TABLES.items():
            if re.fullmatch(test, table["test"] or table["caption"]):
                return enumerate_rows(method(self, table))
        return {}

    def of(self, key):
        """Return the rules of another model, for the same page."""
        return PanelRules(self.study, key, self.page, self.t)

    def first(self, match):
        """Return the rules of the model that the first screen names, at a printed threshold."""
        found = self.of(self.shown())
        t = re.search(rf"threshold of {N}", match.string)
        found.at = AtThreshold(self.study, found.key, self.positive, number(t[1]) if t else 0.5)
        return found

    def column(self, unit):
        """Return the whole name of the column whose part of the page a sentence stands in."""
        return self.whole(unit.get("column") or "")

    def whole(self, name):
        """Return the name of a column in the table."""
        return name if has(self.study) and name in self.study.table else self.wholes.get(name)

    # ------------------------------------------------------------------ accuracy
    def results(self, table):
        """The table of models: mean and deviation, difference from the best, stability."""
        heads, study, out = table["rows"][0], self.study, []
        for row in table["rows"][1:]:
            key, found = row[0], []
            for head, cell in zip(heads, row, strict=True):
                name = MEASURES.get(head.replace("pooled ", ""))
                numbers = CELL.findall(cell)
                if "difference" in head and cell != "the best":
                    found += pairs(numbers, study.interval(key, self.best)[:3])
                elif head == "stability" and numbers:
                    found += pairs(numbers, nogueira(study.chosen(key))[:1])
                elif name and numbers:
                    found += pairs(numbers, study.mean(key, name))
                elif head == "draws" and numbers:
                    found += pairs(numbers, [int(study.folds(key)["draws"].iloc[0])])
            out.append(found)
        return out

    def pooled(self, table):
        """Figures of numbers over all cases: values by the predictions, ends by own bootstrap."""
        rng, out = np.random.default_rng(0), []
        for row in table["rows"][1:]:
            own = self.study.held_out(row[0])
            y, p = own["truth"].astype(float).to_numpy(), own["predicted"].to_numpy(float)
            draws = [pooled_of(y[i], p[i]) for i in rng.integers(len(y), size=(2000, len(y)))]
            low, high = np.percentile(draws, [2.5, 97.5], axis=0)
            found = []
            for k, cell in enumerate(row[1:]):
                value, *ends = CELL.findall(cell)
                found.append((value, float(pooled_of(y, p)[k])))
                for end, mine in zip(ends, (low[k], high[k]), strict=False):
                    near = abs(number(end) - mine) < 0.15 * (high[k] - low[k])
                    found.append((end, number(end) if near else float(mine)))
            out.append(found)
        return out

    def proved(self, table):
        """The exact binomial limit of the folds' models."""
        out = []
        for row in table["rows"][1:]:
            folds = self.study.folds(row[0])
            errors = np.rint((1 - folds["accuracy"]) * folds["n_test"]).astype(int)
            out.append([(CELL.findall(row[1])[0], binomial_limit(errors, folds["n_test"]))])
        return out

    # ------------------------------------------------------------------ missed
    def measures(self, table):
        """Sensitivity, specificity, PPV and NPV at the threshold."""
        return [pairs(CELL.findall(strip_names(" ".join(row[1:4]), self.study)), own)
                for row, own in zip(table["rows"][1:], self.at.four(), strict=True)]  # fmt: skip

    def confusion(self, table):
        """The confusion table of two or more classes."""
        found, missed, alarms, cleared = self.at.counts()
        return [pairs(table["rows"][1][1:], [found, missed]),
                pairs(table["rows"][2][1:], [alarms, cleared])]  # fmt: skip

    def grid(self, table):
        """The cases of each class by the class that they are called."""
        names, own = [plain(h[7:]) for h in table["rows"][0][1:]], self.study.held_out(self.key)
        called = own[[f"p_{c}" for c in self.study.classes]].to_numpy(float).argmax(axis=1)
        called, truth = np.array(self.study.classes)[called], own["truth"].to_numpy()
        return [[(cell, int(((truth == plain(row[0])) & (called == c)).sum()))
                 for c, cell in zip(names, row[1:], strict=True)]
                for row in table["rows"][1:]]  # fmt: skip

    def by_class(self, table):
        """Sensitivity, PPV and area of each class against the others."""
        out = []
        for row in table["rows"][1:]:
            one = AtThreshold(self.study, self.key, plain(row[0]), 0.5)
            (k, n, p, *ends), _, (right, m, q, *others), _ = one.four()
            under = delong(one.truth, one.p)
            own = [[k, n], [p], ends, [right, m], [q], others, under[:1], under[1:]]
            own = own if one.groups is None else own[:-1]
            cells = [strip_names(cell, self.study) for cell in row[1:]]
            out.append([pair for cell, values in zip(cells, own, strict=False)
                        for pair in pairs(CELL.findall(cell), values)])  # fmt: skip
        return out

    def tenths(self, table):
        """Counts, measures and net benefit at the tenths."""
        out = []
        for row in table["rows"][1:]:
            one = AtThreshold(self.study, self.key, self.positive, float(row[0]))
            own = [*one.counts(), *(m[2] for m in one.four())]
            benefit = net_benefit(one.truth, one.called, float(row[0]))
            out.append(pairs(row[1:], [*own, float(benefit)]))
        return out

    def calibration(self, table):
        """The groups of the calibration, as slices of the sorted answers."""
        out = []
        for row, own in zip(table["rows"][1:], self.parts, strict=False):
            k, n = int(self.at.truth[own].sum()), len(own)
            ends = self.at.interval(self.at.truth, np.isin(np.arange(len(self.at.p)), own))
            numbers = [row[0], row[1], *CELL.findall(strip_names(row[2], self.study)), row[3]]
            values = [float(self.at.p[own].mean()), n, k, n, k / n, *ends]
            out.append(pairs([*numbers, *CELL.findall(row[4])], values))
        return out or None

    def listed(self, table):
        """The list of mistakes: held-out answers and values of columns."""
        heads, out = table["rows"][0], []
        for row in table["rows"][1:]:
            at, found = self.study.row_of(row[0]), []
            name = plain(row[2]) if "called" in heads else self.positive
            found.append((row[heads.index("answer")], self.held(at, name)))
            for head, cell in zip(heads[2:], row[2:], strict=True):
                name = self.whole(head)
                if name and has(self.study):
                    found += value_pair(cell, self.study.table[name].iloc[at])
            out.append(found)
        return out

    def held(self, row, name=None):
        """Return the held-out answer of a row of the table."""
        own = self.study.held_out(self.key)
        name = name or self.positive
        return float(own.loc[row, f"p_{name}"]) if row in own.index else math.nan

    def by_groups(self, table):
        """The table of subgroups: counts, and from ten cases on value and interval."""
        name, out = table["rows"][0][0].removeprefix("by "), []
        t = float(searched(rf" from {N}: counts", table["caption"])[1])
        at = AtThreshold(self.study, self.key, self.positive, t)
        for row in table["rows"][1:]:
            own = self.level(name, row[0])
            if own is None:
                out.append([])
                continue
            found = [(row[1], int(own.sum()))]
            for cell, one in zip(row[2:], at.four(own), strict=True):
                found += pairs(CELL.findall(cell), one)
            out.append(found)
        return out

    def level(self, name, level):
        """Return which held-out cases are of a level of a division; None if it is not known."""
        rows = self.at.rows if self.at else []
        if name == "fold":
            return self.at.fold + 1 == int(level.split()[-1])
        if name == self.study.about["groups"] and self.at.groups is not None:
            return self.at.groups.astype(str) == level
        if not self.whole(name):
            return None
        values = self.study.table[self.whole(name)].iloc[rows]
        if level == "missing":
            return values.isna().to_numpy()
        cut = re.fullmatch(rf"(up to|above) {N}", level)
        if cut and pd.api.types.is_numeric_dtype(values):
            low = values.to_numpy(float) <= number(cut[2])
            return low if cut[1] == "up to" else ~low & values.notna().to_numpy()
        return same_level(values, level)

    # ------------------------------------------------------------------ values
    def sides(self, table):
        """The cases of each class on either side of a threshold, or of each category."""
        name = self.whole(table["caption"].split(": ")[0])
        heads, out = [plain(h) for h in table["rows"][0][1:]], []
        if not name or not has(self.study):
            return None
        values, y = self.study.table[name], self.study.y.astype(str).to_numpy()
        for row in table["rows"][1:]:
            own = side_of(values, row[0])
            if own is None or not set(heads) <= set(self.study.classes or ()):
                out.append([])
                continue
            out.append([(cell, int((own & (y == c)).sum()))
                        for c, cell in zip(heads, row[1:], strict=True)])  # fmt: skip
        return out

    # ------------------------------------------------------------------ case
    def near(self, table):
        """The nearest cases: their held-out answers, and distances to the values in the fields."""
        out, each = [], self.distances()
        for row in table["rows"][1:]:
            at = self.study.row_of(row[0])
            name = plain(row[1]) if "its class" in table["rows"][0][2] else None
            own = None if each is None else float(each[at])
            if own is not None and abs(number(row[3]) - own) < 0.02:  # the page rounds values
                own = number(row[3])
            out.append([(row[2], self.held(at, name)), (row[3], own)])
        return out

    def case(self, match):
        """Return the number of a case if its class is the one printed, else the class."""
        own = self.study.held_out(self.key)
        truth = own["truth"].get(self.study.row_of(match.group(0)))
        return int(match.group(1)) if truth == plain(match.group(2)) else str(truth)

    def same(self):
        """Return how many other cases have the values in the fields, to three digits."""
        fields = self.page.get("fields")
        if not fields or not has(self.study):
            return None
        alike = np.ones(len(self.study.table), bool)
        for name, value in zip(fields["columns"], fields["values"], strict=True):
            column = self.study.table[name]
            if value == "":
                alike &= column.isna().to_numpy()
            elif pd.api.types.is_numeric_dtype(column):
                alike &= np.isclose(column.to_numpy(float), float(value), rtol=5e-3, atol=1e-12)
            else:
                alike &= (column.astype(object) == value).to_numpy()
        return int(alike.sum()) - (fields["start"].startswith("r"))

    def shown(self):
        """Return the model that the first screen names."""
        head = next(t["text"] for t in self.page["texts"] if " held-out " in t["text"])
        return head.split(" reads ")[0]

    def per_column(self, key):
        """Return the cases of the rarest class for each column of a fit, and these columns."""
        n = int(self.study.refits.loc[key, "columns_used"])
        rarest = int(self.study.held_out(key)["truth"].value_counts().min())
        return [rarest / n, None, n]

    def missing(self):
        """Return how many values are missing in the columns that saved models read, of how many."""
        if not has(self.study):
            return None
        kept = self.study.table[self.study.kept]
        return [int(kept.isna().to_numpy().sum()), int(kept.size)]

    def distances(self):
        """Return the distance of each case from the values in the fields: over shared columns."""
        fields = self.page.get("fields")
        if not fields or not fields["columns"] or not has(self.study):
            return None
        total, both = np.zeros(len(self.study.table)), np.zeros(len(self.study.table))
        for name, value in zip(fields["columns"], fields["values"], strict=True):
            column = self.study.table[name]
            if pd.api.types.is_numeric_dtype(column) and value != "":
                off = (column - float(value)) / column.std(ddof=0)
            else:
                off = (column.astype(object) != value).astype(float)
            known = column.notna().to_numpy() & (value != "")
            total += np.where(known, off.to_numpy(float) ** 2, 0)
            both += known
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(total * len(fields["columns"]) / both)

    # ------------------------------------------------------------------ stability
    def times(self, table):
        """How many of the folds' models read a column."""
        chosen = self.study.chosen(self.key).sum(axis=0)
        if not has(self.study):
            return None
        columns, heads = list(self.study.table), table["rows"][0]
        if heads[:1] == ["times read"]:
            return [[(row[1], int((chosen == int(row[0].split()[0])).sum()))]
                    for row in table["rows"][1:]]  # fmt: skip
        at = [k for k, h in enumerate(heads) if h in ("times", "folds") or h.startswith("of ")]
        if not at:
            return None
        last = at[0]
        return [
            [(row[last], int(chosen[columns.index(self.whole(row[0]))]))]
            for row in table["rows"][1:]
            if self.whole(row[0])
        ]

    # ------------------------------------------------------------------ methods
    def cohort(self, table):
        """Table 1: counts of categories, medians and quartiles, missing values."""
        if not has(self.study):
            return None
        heads, out = table["rows"][0][1:], []
        own = [self.cohort_part(head, k) for k, head in enumerate(heads)]
        for row in table["rows"][1:]:
            shown, _, what = row[0].rpartition(": ")
            name, found = self.whole(shown), []
            for cell, part in zip(row[1:], own, strict=True):
                if not name or part is None:
                    continue
                values = self.study.table[name][part]
                found += cohort_pairs(CELL.findall(cell), what, values)
            out.append(found)
        return out

    def cohort_part(self, head, k):
        """Return which cases are of a column of Table 1."""
        name, n = head.rsplit(", n ", 1)
        if self.study.classes:
            return (self.study.y.astype(str) == plain(name)).to_numpy()
        y = self.study.y.to_numpy(float)
        order = np.sort(y)  # thirds whose sizes the heads give
        sizes = [int(h.rsplit(", n ", 1)[1]) for h in self.thirds()]
        start = sum(sizes[:k])
        return (y >= order[start]) & (y <= order[start + int(n) - 1])

    def thirds(self):
        """Return the heads of Table 1."""
        table = next(t for t in self.page["tables"] if t["test"] == "cohort-table")
        return table["rows"][0][1:]

    # ------------------------------------------------------------------ numbers
    def worst(self, table):
        """The greatest errors."""
        own, out = self.errors(), []
        order = own["error"].abs().sort_values(ascending=False).to_numpy()
        for k, row in enumerate(table["rows"][1:]):
            at = own.loc[self.study.row_of(row[0])]
            values = [at["truth"], at["predicted"], at["error"], int(at["fold"]) + 1]
            found = pairs([*CELL.findall(" ".join(row[1:4])), row[4]], values)
            out.append([*found, (row[3].strip("+−-"), float(order[k]))])
        return out

    def errors(self):
        """Return the held-out predictions of numbers with their errors."""
        own = self.study.held_out(self.key).copy()
        own["truth"] = own["truth"].astype(float)
        own["error"] = own["predicted"] - own["truth"]
        return own

    def by_parts(self, table):
        """Errors by the observed number."""
        out = []
        for row in table["rows"][1:]:
            size = between(self.errors(), row[0])
            numbers = [*row[1:3], *CELL.findall(row[3]), row[4]]
            out.append(pairs(numbers, error_values(size)))
        return out


def searched(pattern, text):
    """Return the first match of a pattern that a text must have."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"The page must have {pattern!r} in {text!r}.")
    return found


def has(study):
    """Return whether the study's table was given."""
    return study.table is not None


def number(text):
    """Return a printed number."""
    return float(text.replace("−", "-").strip("<>"))


def pairs(printed, own):
    """Return printed numbers with own values, as many as there are."""
    return list(zip(printed, own, strict=False))


def enumerate_rows(rows):
    """Return the pairs of rows by their number, the head being 0."""
    return {} if rows is None else {i + 1: one for i, one in enumerate(rows)}


def strip_names(text, study):
    """Return a text without the names of classes, which may hold digits."""
    for name in study.classes or ():
        text = re.sub(rf"[“]?(?<!\d){re.escape(name)}[”]?(?= |$)", "", text) if name else text
    return text


def pooled_of(y, p):
    """Return R², MAE and RMSE of all cases."""
    return (
        1 - np.sum((y - p) ** 2) / np.sum((y - y.mean()) ** 2),
        np.abs(y - p).mean(),
        math.sqrt(np.mean((y - p) ** 2)),
    )


def value_pair(cell, own):
    """Return a cell of the list of mistakes with the value of the table."""
    if isinstance(own, str):
        return [(cell, own)]
    if pd.isna(own):
        return [(cell, "missing")]
    return [(cell, number(cell) if close(cell, own, 2) else float(own))]


def same_level(values, level):
    """Return which values are a level, as text or as a number."""
    if pd.api.types.is_numeric_dtype(values):
        try:
            return np.isclose(values.to_numpy(float), number(level), rtol=1e-4)
        except ValueError:
            return None
    return (values.astype(object) == plain(level)).to_numpy()


def side_of(values, words):
    """Return which values are on a side of a threshold, or of a category."""
    if words == "missing":
        return values.isna().to_numpy()
    cut = re.fullmatch(rf"(above|at or below|at or above|below) {N}", words)
    if cut is None:
        return None if words.startswith("mean answer") else same_level(values, words)
    v, t, kind = values.to_numpy(float), number(cut[2]), cut[1]
    return {"above": v > t, "at or below": v <= t, "at or above": v >= t, "below": v < t}[kind]


def cohort_pairs(printed, what, values):
    """Return the pairs of a cell of Table 1."""
    if what == "missing":
        return pairs(printed, [int(values.isna().sum())])
    if what.startswith("median"):
        v = values.dropna().to_numpy(float)
        own = np.percentile(v, [50, 25, 75]) if len(v) else []
        return [(p, number(p) if close(p, o) else float(o)) for p, o in pairs(printed, own)]
    own = same_level(values, what)
    return [] if own is None or what == "other categories" else pairs(printed, [int(own.sum())])


def close(printed, own, further=3):
    """Return whether a number is a value to the first significant digit and `further` ones."""
    if own == 0:
        return number(printed) == 0
    unit = 10.0 ** (math.floor(math.log10(abs(own))) - further)
    return abs(number(printed) - own) <= 0.5 * unit * (1 + 1e-6)


def between(own, words, by="truth"):
    """Return the cases whose number, observed or predicted, is in 'above 16, up to 20'."""
    for side, end in re.findall(rf"(above|up to) {N}", words):
        y = own[by]
        own = own[y > number(end) + ONE] if side == "above" else own[y <= number(end) + ONE]
    return own


def error_values(own):
    """Return cases, mean absolute error with its normal interval, and mean error."""
    size = own["error"].abs()
    half = 1.959963984540054 * size.std(ddof=1) / math.sqrt(len(size))
    mean = float(size.mean())
    return len(size), mean, mean - half, mean + half, float(own["error"].mean())


TABLES = {
    "results|more-results": PanelRules.results, "pooled": PanelRules.pooled,
    "proved": PanelRules.proved, "measures": PanelRules.measures,
    "confusion": PanelRules.confusion, "grid": PanelRules.grid, "by-class": PanelRules.by_class,
    "tenths": PanelRules.tenths,
    "like": PanelRules.calibration, "groups": PanelRules.by_groups,
    "missed-list|alarms-list|wrong-list|The other \\d+.*": PanelRules.listed,
    ".*: cases on either side, by class": PanelRules.sides,
    "The nearest cases of the study|near": PanelRules.near,
    "stability|stability-list": PanelRules.times, "cohort-table": PanelRules.cohort,
    "worst": PanelRules.worst, "parts": PanelRules.by_parts,
}  # fmt: skip
