"""Export to SQL as one SELECT: trees, rules, linear models and nested votes, with summed votes.

The columns of a table are qualified by its alias (c."name") and the SELECT's own columns are not,
so their names cannot clash.

Every number has an exponent (1.0e0): without one, 1.0 is a DECIMAL in DuckDB, whose products
overflow. The innermost SELECT replaces NaN by NULL, since databases do not agree on how NaN
compares (in DuckDB and Postgres it equals itself and is greater than all numbers).
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count, zip_longest
from typing import Any

from psephos._errors import PsephosError
from psephos.scoring import sql_text
from psephos.scoring.form import Branching, plain, single_bound
from psephos.vote.reading.answered import needing_all
from psephos.vote.reading.core import LEVEL, VOTERS, filled, part_of, spans, summed, unpacked
from psephos.vote.readout import TIE

_LEVEL = repr(LEVEL)
_TOGETHER = 8  # values whose minimum one expression takes
_FINITE = "BETWEEN -1e308 AND 1e308"  # false of NaN in every database, and NULL of NULL
_QUOTED_OR_DECIMAL = re.compile(r"""'[^']*'|"[^"]*"|(?<![\w.])\d+\.\d+(?![\w.])""")
_BACKSLASH = """\
-- A class or category holds a backslash: write it twice where a backslash in quotes is an escape
-- (MySQL, Snowflake, BigQuery).
"""
_TYPES = """\
-- Numeric columns must have a numeric type (REAL, DOUBLE): in text columns, which SQLite's .import
-- makes unless the table exists, 10 is less than 9, and the predictions are wrong.
"""
_Part = dict[str, Any]  # of a plain model
_Exprs = list[list[str]]  # K expressions for each of T voters
_Ways = Iterator[tuple[int, list[str]]]  # end nodes, and the conditions or factors of the path


def sql(estimator: Any, table: str = "cases", id_columns: Sequence[str] = ()) -> str:
    """Return a SELECT of scores, predictions, probabilities and `answered` for the rows of a table.

    It is ANSI SQL with CASE and ROW_NUMBER (for probabilities also EXP and LN), tested in SQLite
    and DuckDB. NULL, NaN and infinity are missing values; numeric columns must have a numeric type,
    and categories are compared as text. Where the model cannot predict with a missing value, the
    prediction is NULL. `answered` is 1, or 0 where the prediction is only a convention: see
    `unanswered` of ``psephos.vote.reading.answered``. If a class or category has a backslash, a
    comment at the top says so.

    Parameters
    ----------
    estimator : fitted estimator of psephos
        Trees, rules, linear models or nested votes with constant weights (a sum, a mean or the
        weighted median), or an ordered list of rules of which the first that holds decides. It may
        be calibrated (sigmoid, isotonic, temperature).
    table : str, default='cases'
        The name of the table, also as ``schema.table``.
    id_columns : sequence of str, default=()
        Columns of the table that name its rows, to be selected, too.

    Raises
    ------
    PsephosError
        If the model is of another kind, or names differ only in case or clash with an output.

    Examples
    --------
    >>> from psephos import AdaBoostClassifier
    >>> from psephos.scoring.sql import sql
    >>> model = AdaBoostClassifier(n_estimators=1).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> sql(model, id_columns=["patient"]).splitlines()[-7]
    'SELECT k0 AS "patient",'
    """
    model = plain(estimator)
    writer = _Writer.of(model)
    scores = writer.scores(model["voters"], model["weights"], model["readout"])
    answer = sql_text.SqlAnswer(model)
    kept = {f"k{i}": f"c.{sql_text.quoted(name)}" for i, name in enumerate(id_columns)}
    shown = {**dict(zip(kept, id_columns, strict=True)), **answer.names}
    _refuse_alike([column["name"] for column in model["columns"]], "the model reads columns")
    _refuse_alike(list(shown.values()), "the SELECT would have columns")
    first = {**kept, **{f"s{k}": score for k, score in enumerate(scores)}}
    first["known"] = writer.known(model["voters"], model["weights"])
    place = ".".join(map(sql_text.quoted, table.split(".")))
    read = _read(model["columns"], id_columns)
    steps = [f"SELECT {read}\nFROM {place} AS d"]
    for n, layer in enumerate(writer.layers):
        names = [c["name"] for c in model["columns"]]
        _refuse_alike([*names, *(n[1:-1] for n in layer)], "there would be columns")
        steps.append(f"SELECT c.*, {_listed(layer, -n - 1)}\nFROM {_step(len(steps))} AS c")
    steps.append(f"SELECT {_listed(first, 0)}\nFROM {_step(len(steps))} AS c")
    for n, layer in enumerate(answer.layers):
        steps.append(f"SELECT t.*, {_listed(layer, n + 1)}\nFROM {_step(len(steps))} AS t")
    before = ",\n".join(f"{_step(n)} AS (\n{step})" for n, step in enumerate(steps, 1))
    outputs = ",\n  ".join(f"{own} AS {sql_text.quoted(name)}" for own, name in shown.items())
    last = f"WITH {before}\nSELECT {outputs}\nFROM {_step(len(steps))}\n"
    text = _QUOTED_OR_DECIMAL.sub(sql_text.with_exponent, last)
    escaped = any(token[0] == "'" and "\\" in token for token in _QUOTED_OR_DECIMAL.findall(text))
    numeric = any("levels" not in column for column in model["columns"])
    return _TYPES * numeric + _BACKSLASH * escaped + text


def _read(columns: Sequence[_Part], id_columns: Sequence[str]) -> str:
    """Return the columns that are read, with NULL for NaN and infinity, and the id columns."""
    found: dict[str, str] = {}
    for column in columns:
        name = sql_text.quoted(column["name"])
        number = f"CASE WHEN d.{name} {_FINITE} THEN d.{name} END AS {name}"
        found[name] = f"d.{name}" if "levels" in column else number
    for name in map(sql_text.quoted, id_columns):
        found.setdefault(name, f"d.{name}")
    return ",\n  ".join(found.values()) or "NULL AS nothing"


def _step(n: int) -> str:
    """Return the name of a step; steps avoid nested SELECTs, whose depth databases limit."""
    return sql_text.quoted(f"psephos step {n}")


def _listed(layer: sql_text.Layer, number: int) -> str:
    """Return the columns of a layer, and one that keeps a database from merging it with the next.

    If merged, each expression would be computed again wherever its column is used.
    """
    mark = f"n{number}" if number >= 0 else sql_text.quoted(f"inner row {-number}")
    columns = {**layer, mark: "ROW_NUMBER() OVER ()"}
    return ",\n  ".join(f"{expression} AS {name}" for name, expression in columns.items())


def _refuse_alike(names: Sequence[str], who: str) -> None:
    """Raise PsephosError if two names differ only in case, which databases ignore."""
    seen: dict[str, str] = {}
    for name in names:
        if "\0" in name:
            raise PsephosError(f"{who} named {name!r}, which databases reject: rename it.")
        other = seen.get(name.casefold())
        seen[name.casefold()] = name
        if other is not None:
            raise PsephosError(
                f"{who} named {other!r} and {name!r}, which are the same to databases: rename one "
                "(an id column by a view of the table), or export a scorer."
            )


class _Writer:
    """Writer of votes on some columns; the scores of nested votes are layers of their own."""

    def __init__(
        self, model: str, columns: Sequence[str], levels: Sequence[Any], number: Iterator[int]
    ) -> None:
        self.model, self.columns, self.levels, self._number = model, columns, levels, number
        self.layers: list[sql_text.Layer] = []  # the first is the innermost SELECT

    @classmethod
    def of(cls, model: _Part) -> "_Writer":
        """Return the writer of a plain model."""
        columns = [f"c.{sql_text.quoted(column['name'])}" for column in model["columns"]]
        return cls(model["model"], columns, [c.get("levels") for c in model["columns"]], count(1))

    def _beside(self, columns: Sequence[str], levels: Sequence[Any]) -> "_Writer":
        """Return a writer whose layers are independent of those of other such writers."""
        return _Writer(self.model, columns, levels, self._number)

    def _take_layers(self, writers: Sequence["_Writer"]) -> None:
        """Add the layers of independent writers, merging those of the same depth."""
        for beside in zip_longest(*(writer.layers for writer in writers), fillvalue={}):
            self.layers.append({name: own for layer in beside for name, own in layer.items()})

    def scores(self, voters: _Part, weights: _Part, how: _Part) -> list[str]:
        """Return the K scores as expressions."""
        kind, readout = weights["kind"], how["score"]
        known = {"constant": ("sum", "normalised", "median"), "first match": ("sum", "normalised")}
        if readout not in known.get(kind, ()):
            raise PsephosError(
                f"{self.model} cannot be written as SQL: its weights are {kind!r} and its readout "
                f"is {readout!r}; it must be a weighted sum or median, or a list of rules. Export "
                "a scorer."
            )
        if kind == "first match":
            return self._first(weights, voters)
        votes, alpha = self.voters(voters), weights["alpha"]
        if readout == "median":
            return self._medians(votes, [abs(a) / (summed(map(abs, alpha)) or 1.0) for a in alpha])
        scale = (summed(map(abs, alpha)) if readout == "normalised" else 1.0) or 1.0
        found: list[str] = []
        for k in range(len(votes[0])):
            terms = [f"{a!r} * ({v[k]})" for a, v in zip(alpha, votes, strict=True) if a]
            total = sql_text.added(terms)
            found.append(total if scale == 1.0 else f"({total}) / {scale!r}")
        return found

    def _medians(self, votes: _Exprs, share: list[float]) -> list[str]:
        """Return weighted medians: means of the least votes that reach, and that exceed, half."""
        found: list[str] = []
        weights = [w for w in share if w]
        kept = self._layers("vote", [v for v, w in zip(votes, share, strict=True) if w])
        for own in zip(*kept, strict=True):
            reached = self._layer("reached", [sql_text.weight_up_to(v, own, weights) for v in own])
            for test in (f">= {0.5 - TIE!r}", f"> {0.5 + TIE!r}"):
                pairs = zip(own, reached, strict=True)
                left = [f"CASE WHEN {r} {test} THEN {v} END" for v, r in pairs]
                while len(left := self._layer("least", left)) > 1:
                    parts = range(0, len(left), _TOGETHER)
                    left = [sql_text.least_of(left[i : i + _TOGETHER]) for i in parts]
                found += left
        pairs = zip(found[::2], found[1::2], strict=True)
        return [f"({low} + {high}) / 2.0" for low, high in pairs]

    def known(self, voters: _Part, weights: _Part) -> str:
        """Return 1 where a voter with weight has the values it needs or no value is missing."""
        reader = part_of(VOTERS, unpacked(voters))
        alpha = weights.get("alpha") or [1.0] * reader.n_voters
        each = list(zip(alpha, reader.reads, needing_all(reader, weights), strict=True))
        every = sorted({j for own in reader.reads for j in own})
        whole = {tuple(own) for a, own, all_of in each if a and own and all_of}
        any_of = {(j,) for a, own, all_of in each if a and not all_of for j in own}
        ways = sorted({tuple(every), *whole, *any_of}) if every else []
        held = [" AND ".join(map(self._known, own)) for own in ways]
        return f"CASE WHEN {' OR '.join(held)} THEN 1 ELSE 0 END" if held else "1"

    def voters(self, part: _Part) -> _Exprs:
        """Return the votes as expressions."""
        name = "_" + part["kind"].replace(" ", "_")
        writer: Callable[[_Part], _Exprs] | None = getattr(self, name, None)
        if writer is None:
            raise PsephosError(
                f"{self.model} cannot be written as SQL: its voters are {part['kind']!r}; they "
                "must be trees, rules, linear models or nested votes. Export a scorer."
            )
        return writer(part)

    def _joined_voters(self, part: _Part) -> _Exprs:
        writers = [self._beside(self.columns, self.levels) for _ in part["parts"]]
        each = [one.voters(own) for one, own in zip(writers, part["parts"], strict=True)]
        self._take_layers(writers)
        return [each[k][t] for k, t in zip(part["part"], part["place"], strict=True)]

    def _branch(
        self, j: int, threshold: float, codes: list[int], strict: bool, flip: bool
    ) -> list[tuple[str, int]]:
        """Return (condition, branch) pairs of a rule in order; none holds if no branch is taken."""
        name, levels = self.columns[j], self.levels[j]
        if codes:
            words = levels or [str(code) for code in range(len(codes))]
            return [
                (f"{name} IN ({', '.join(sql_text.literal(words[c]) for c in own)})", b)
                for b in sorted(set(codes) - {-1})
                if (own := [c for c, way in enumerate(codes) if way == b and c < len(words)])
            ]
        if math.isinf(threshold):  # all numbers take the same branch
            first = (threshold > 0) != flip
            return [(f"{name} IS NOT NULL", 0 if first else 1)]
        sign = "<" if strict else "<="
        ways = (1, 0) if flip else (0, 1)
        return [(f"{name} {sign} {threshold!r}", ways[0]), (f"{name} IS NOT NULL", ways[1])]

    @staticmethod
    def _case(tests: list[list[tuple[str, int]]], missing: int) -> str:
        parts = " ".join(f"WHEN {c} THEN {b}" for test in tests for c, b in test)
        return f"CASE {parts} ELSE {missing} END" if parts else str(missing)

    def _layer(self, name: str, expressions: Sequence[str]) -> list[str]:
        """Add a layer of columns, and return their names."""
        number = next(self._number)
        names = [sql_text.quoted(f"{name} {number} {i}") for i in range(len(expressions))]
        self.layers.append(dict(zip(names, expressions, strict=True)))
        return [f"c.{one}" for one in names]

    def _coded_voters(self, part: _Part) -> _Exprs:
        made = list[str]()
        for i, level in zip(part["source"], filled(part["level"]), strict=True):
            j: int = part["columns"][i]
            one = self.columns[j]
            if level == level:  # a category: 1 or 0, and NULL if it is unknown
                levels = self.levels[j]
                word = sql_text.literal(levels[int(level)] if levels else int(level))
                known = f"CASE WHEN {self._known(j)} THEN 0.0 END"
                one = f"CASE WHEN {one} = {word} THEN 1.0 ELSE {known} END"
            made.append(one)
        return self._on_layer("category", made, part["inner"])

    def _on_layer(self, name: str, columns: list[str], inner: _Part) -> _Exprs:
        """Return the votes of voters that read a layer of these columns."""
        names = self._layer(name, columns)
        writer = self._beside(names, [None] * len(names))
        voted = writer.voters(inner)
        self._take_layers([writer])
        return voted

    def _ranked_voters(self, part: _Part) -> _Exprs:
        lines = [
            sql_text.interpolated(self.columns[int(j)], part["knots"][a:b], part["scores"][a:b])
            for j, (a, b) in zip(part["columns"], spans(part["start"]), strict=True)
        ]
        scores = [f"COALESCE({line}, 0.0)" for line in lines]
        return self._on_layer("normal score", scores, part["inner"])

    def _layers(self, name: str, groups: Sequence[Sequence[str]]) -> _Exprs:
        """Add one layer of columns, and return the names of those of each group."""
        names = iter(self._layer(name, [one for own in groups for one in own]))
        return [[next(names) for _ in own] for own in groups]

    def _nested_voters(self, part: _Part) -> _Exprs:
        """Return the votes of nested votes, whose scores are columns of one layer."""
        each = zip(part["places"], part["levels"], strict=True)
        inner = [self._inner(part, *one) for one in each]
        votes: list[_Part] = part["inner"]
        for vote in votes:
            self._check_inner(part, vote)
        each = zip(inner, votes, strict=True)
        scores = [one.scores(v["voters"], v["weighting"], v["readout"]) for one, v in each]
        self._take_layers(inner)
        scores = self._layers("inner vote", scores)
        several = [t for t, own in enumerate(scores) if len(own) > 1]
        if part["says"] == "probability" and several:
            raised = [sql_text.raised_shares(scores[t]) for t in several]
            kept = self._layers("share", [sql_text.not_below_0(own) for own in raised])
            shares = [sql_text.of_total(own, f"({sql_text.added(own)})") for own in kept]
            for t, own in zip(several, self._layers("chance", shares), strict=True):
                scores[t] = own
        found: _Exprs = []
        for writer, vote, own in zip(inner, votes, scores, strict=True):
            voted = self._outer(part, vote, own)
            if part["abstains"] and writer.columns:
                there = " AND ".join(map(writer._known, range(len(writer.columns))))
                voted = [f"CASE WHEN {there} THEN {one} ELSE 0.0 END" for one in voted]
            found.append(voted)
        return found

    def _inner(self, part: _Part, places: list[int], levels: list[Any]) -> "_Writer":
        """Return the writer of a nested vote, with the categories it knows."""
        table: list[int] = [part["columns"][i] for i in places]
        outer = [self.levels[j] for j in table]
        known = {j: [outer[j][int(v)] if outer[j] else v for v in own] for j, own in levels}
        columns = [self.columns[j] for j in table]
        return self._beside(columns, [known.get(j) for j in range(len(table))])

    def _check_inner(self, part: _Part, vote: _Part) -> None:
        target, readout, says = vote["target"], vote["readout"], part["says"]
        classes = target["kind"] in ("target", "target with a threshold")
        plainly = classes and not readout["calibration"]
        share = says == "probability" and readout["link"] == "share"
        if says != "value" and not (plainly and (says == "answer" or share)):
            raise PsephosError(
                f"{self.model} cannot be written as SQL: its nested votes are calibrated, or cast "
                f"{says!r} by a link other than 'share'. Export a scorer."
            )

    def _outer(self, part: _Part, vote: _Part, scores: list[str]) -> list[str]:
        """Return the vote of a nested vote from its scores, or from shares of K > 2 classes."""
        target, says = vote["target"], part["says"]
        if says == "value":
            return scores
        codes = list(zip(*(part["value"][c] for c in target["classes"]), strict=True))
        if says == "probability" and len(scores) == 1:
            up = sql_text.within(f"((1.0 + {scores[0]}) / 2.0)", 0.0, 1.0)
            return [f"(1.0 - ({up})) * {a!r} + ({up}) * {b!r}" for a, b in codes]
        if says == "probability":
            return sql_text.expected(scores, [part["value"][c] for c in target["classes"]])
        if len(scores) == 1:
            level = repr(target["bound"]) if "bound" in target else _LEVEL
            return [sql_text.above(scores[0], level, repr(a), repr(b)) for a, b in codes]
        return [sql_text.of_greatest(scores, f" - {_LEVEL}", map(repr, own)) for own in codes]

    def _trees(self, part: _Part) -> _Exprs:
        trees = Branching(part)
        found: _Exprs = []
        for voter, (start, end) in enumerate(trees.group):
            each = [self._tree_vote(trees, tree) for tree in range(start, end)]
            voted = [sql_text.added([one[k] for one in each]) for k in range(len(each[0]))]
            if trees.grouped:
                means = [f"({one}) / {float(end - start)!r}" for one in voted]
                voted = self._votes_of_means(trees, means)
            if trees.abstains and trees.reads[voter]:
                known = " AND ".join(map(self._known, trees.reads[voter]))
                voted = [f"CASE WHEN {known} THEN {one} ELSE 0.0 END" for one in voted]
            found.append(voted)
        return found

    def _known(self, j: int) -> str:
        levels = self.levels[j]
        words = f" IN ({', '.join(map(sql_text.literal, levels))})" if levels else " IS NOT NULL"
        return self.columns[j] + words

    @staticmethod
    def _votes_of_means(trees: Branching, shares: list[str]) -> list[str]:
        """Return the votes of mean shares."""
        if trees.says == "value":
            return shares
        codes = list(zip(*trees.code, strict=True))
        if trees.says == "probability":
            terms = [zip(shares, column, strict=True) for column in codes]
            return [sql_text.added([f"({s}) * {c!r}" for s, c in own]) for own in terms]
        each = [f"({s})" for s in shares]
        return [sql_text.of_greatest(each, "", map(repr, own)) for own in codes]

    def _tree_vote(self, trees: Branching, tree: int) -> list[str]:
        """Return the vote of a tree, one expression per output."""
        root, outputs = trees.root[tree], range(len(trees.value[0]))
        if trees.soft:
            raise PsephosError(
                f"{self.model} cannot be written as SQL: its trees have soft thresholds. "
                "Export a scorer."
            )
        if trees.divides(tree):
            parts = list(self._parts(trees, root, []))
            terms = [[[*way, repr(trees.value[n][k])] for n, way in parts] for k in outputs]
            return [sql_text.added([" * ".join(one) for one in own]) for own in terms]
        ends = list(self._ends(trees, root, []))
        return [self._tree(trees, ends, k) for k in outputs]

    def _parts(self, trees: Branching, node: int, way: list[str]) -> _Ways:
        """Yield the nodes where shares of a case end, with the factors of each share."""
        children = trees.children[node]
        if not children:
            yield node, way
            return
        missing = trees.missing[node]
        shares = [max(trees.share[child], 0.0) for child in children]
        total = summed(shares)
        if missing == -1 and not total:
            missing = -2
        for b, child in enumerate(children):
            gap = shares[b] / total if missing == -1 else float(b == missing)
            if any(b == branch for test in self._tests(trees, node) for _, branch in test) or gap:
                factor = self._factor(trees, node, lambda branch, b=b: float(branch == b), gap)
                yield from self._parts(trees, child, [*way, factor])
        if missing == -2:
            yield node, [*way, self._factor(trees, node, lambda branch: 0.0, 1.0)]

    def _factor(self, trees: Branching, node: int, part: Callable[[int], float], gap: float) -> str:
        """Return the share of a case that a node passes on, by the branch that its tests name."""
        tests = self._tests(trees, node)
        ways = " ".join(f"WHEN {c} THEN {part(b)!r}" for test in tests for c, b in test)
        return f"CASE {ways} ELSE {gap!r} END"

    def _tree(self, trees: Branching, ends: list[tuple[int, list[str]]], k: int) -> str:
        """Return a tree as one CASE over its paths, which exclude each other."""
        if len(ends) == 1:
            return repr(trees.value[ends[0][0]][k])
        ways = [f"WHEN {' AND '.join(way)} THEN {trees.value[node][k]!r}" for node, way in ends]
        return f"CASE {' '.join(ways)} END"

    def _ends(self, trees: Branching, node: int, way: list[str]) -> _Ways:
        """Yield the nodes where cases end, with the conditions of the path."""
        if not trees.children[node]:
            yield node, way
            return
        branch = self._case(self._tests(trees, node), trees.missing[node])
        for b, child in enumerate(trees.children[node]):
            yield from self._ends(trees, child, [*way, self._taken(trees, node, b, branch)])
        if trees.missing[node] < 0:  # the case stays
            yield node, [*way, f"{branch} = {trees.missing[node]}"]

    def _tests(self, trees: Branching, node: int) -> list[list[tuple[str, int]]]:
        tests: list[list[tuple[str, int]]] = []
        for rule in trees.node_rules(node):
            bound = rule.threshold
            if trees.single and not rule.codes and math.isfinite(bound):
                bound = single_bound(bound, trees.strict)
            strict = trees.strict and not trees.single
            tests.append(self._branch(rule.column, bound, rule.codes, strict, rule.flip))
        return tests

    def _taken(self, trees: Branching, node: int, b: int, expression: str) -> str:
        """Return the condition that a case takes branch b of the branches in `expression`."""
        rules, tests = trees.node_rules(node), self._tests(trees, node)
        if len(rules) == 1 and rules[0].codes and trees.missing[node] != b:
            return next((held for held, branch in tests[0] if branch == b), "1 = 0")
        if len(rules) > 1 or rules[0].codes or len(tests[0]) != 2:
            return f"{expression} = {b}"
        (low, first), _ = tests[0]
        name = self.columns[rules[0].column]
        sign, bound = low.removeprefix(name).split()
        held = low if first == b else f"{name} {'>' if sign == '<=' else '>='} {bound}"
        return f"({held} OR {name} IS NULL)" if trees.missing[node] == b else held

    def _first(self, weights: _Part, voters: _Part) -> list[str]:
        """Return the vote of the first rule that holds, or of the model in its leaf."""
        trees = Branching(weights["rules"])
        held = [self._held(trees, t) for t in range(len(trees.root))]
        order = sorted(range(len(held)), key=lambda t: weights["rank"][t])
        found: list[str] = []
        models = None if voters["kind"] == "trees" else self._layers("model", self.voters(voters))
        for k in range(len(models[0] if models else trees.value[0])):
            votes = models or {t: [*map(repr, trees.value[trees.last(t)])] for t in order}
            ways = [f"WHEN {held[t]} THEN {votes[t][k]}" for t in order]
            found.append(f"CASE {' '.join(ways)} ELSE 0.0 END")
        return found

    def _held(self, trees: Branching, t: int) -> str:
        """Return the condition that all tests of a rule hold."""
        end = trees.last(t)
        ways = [way for node, way in self._ends(trees, trees.root[t], []) if node == end]
        return " AND ".join(ways[0]) or "1 = 1"

    def _scores(self, part: _Part) -> _Exprs:
        if part["coef"] is None:
            raise PsephosError(
                f"{self.model} cannot be written as SQL: its voters are {part['called']}; they "
                "must be linear models. Export a scorer."
            )
        each = enumerate(part["constant"])
        lines = [[self._line(part, t, r) for r in range(len(own))] for t, own in each]
        if part["says"] == "value":
            rows = lines
        elif len(lines[0]) == 1:
            rows = [self._vote(part, line) for (line,) in lines]
        else:
            slope = repr(part["slope"]) if part["says"] == "probability" else "1.0"
            scaled = [[f"{slope} * ({line})" for line in own] for own in lines]
            rows = self._votes_of_several(part, self._layers("linear score", scaled))
        return [[f"COALESCE({v}, 0.0)" for v in row] for row in rows] if part["abstains"] else rows

    def _votes_of_several(self, part: _Part, scores: _Exprs) -> _Exprs:
        """Return the votes of scores with one per class."""
        if part["says"] == "answer":
            codes = list(zip(*part["value"], strict=True))
            return [[sql_text.of_greatest(own, "", map(repr, c)) for c in codes] for own in scores]
        tops = self._layers("top", [[sql_text.of_greatest(own, "", own)] for own in scores])
        pairs = list(zip(scores, tops, strict=True))
        each = [[sql_text.exp_of(f"({v} - {t})") for v in own] for own, (t,) in pairs]
        odds = self._layers("odds", each)
        shares = [sql_text.of_total(own, f"({sql_text.added(own)})") for own in odds]
        return [sql_text.expected(own, part["value"]) for own in self._layers("likely", shares)]

    def _vote(self, part: _Part, score: str) -> list[str]:
        """Return the K votes from the one score of two classes."""
        pairs = list(zip(*part["value"], strict=True))
        if part["says"] == "answer":
            return [sql_text.above(score, "0.0", repr(a), repr(b)) for a, b in pairs]
        up = f"1.0 / (1.0 + EXP(-({part['slope']!r} * ({score}))))"
        return [f"(1.0 - ({up})) * {a!r} + ({up}) * {b!r}" for a, b in pairs]

    def _line(self, part: _Part, voter: int, output: int) -> str:
        constant, coef = part["constant"][voter][output], part["coef"][output]
        entries = range(*part["ptr"][voter : voter + 2])
        names = {i: self.columns[part["columns"][part["position"][i]]] for i in entries}
        if part.get("fill"):
            names = {i: f"COALESCE({name}, {part['fill'][i]!r})" for i, name in names.items()}
        terms = [f"{coef[i]!r} * {name}" for i, name in names.items()]
        return f"{sql_text.added(terms)} + {constant!r}" if terms else repr(constant)
