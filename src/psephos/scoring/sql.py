"""A model as one SELECT: stumps, trees, rules and linear models whose votes add up."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from psephos._errors import PsephosError
from psephos.scoring.form import plain
from psephos.scoring.plain_rules import Branching, codes_of, single_bound, spans

__all__ = ["sql"]

_LEVEL = repr(2.0**-41)  # scores that differ by less are equal
_Exprs = list[list[str]]  # of T voters, K expressions each


def sql(estimator: Any, table: str = "cases") -> str:
    """Return a SELECT that adds score, answer and probability to the rows of a table.

    It is ANSI SQL, made of CASE (probabilities of a log-odds score use EXP too). NULL is a missing
    value; a category is compared as text.

    Parameters
    ----------
    estimator : fitted estimator of psephos
        Of stumps, trees, rules or linear models with constant weights, or rules of which the first
        that holds decides.
    table : str, default='cases'

    Raises
    ------
    PsephosError
        If the model is of another kind.

    Examples
    --------
    >>> from psephos import AdaBoostClassifier
    >>> from psephos.scoring.sql import sql
    >>> model = AdaBoostClassifier(n_estimators=1).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> sql(model).splitlines()[1].strip()
    'CASE WHEN s."score" > 4.547473508864641e-13 THEN 1 ELSE 0 END AS predicted,'
    """
    model = plain(estimator)
    scores = _Writer(model).scores()
    names = _score_names(model)
    inner = ", ".join(f"{e} AS {_name(n)}" for e, n in zip(scores, names, strict=True))
    outer = ",\n  ".join(["s.*", *_answers(model, [f"s.{_name(n)}" for n in names])])
    return f"SELECT {outer}\nFROM (SELECT c.*, {inner} FROM {_name(table)} AS c) AS s\n"


def _name(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _text(word: Any) -> str:
    if isinstance(word, str):
        return "'" + word.replace("'", "''") + "'"
    return repr(int(word) if isinstance(word, bool) else word)


def _score_names(model: dict[str, Any]) -> list[str]:
    classes = model["classes"]
    many = [str(c) for c in classes] if len(classes) != 2 else [""]
    outputs = many if classes else model["target"].get("names", [""])
    return [f"score_{name}" if name else "score" for name in outputs]


def _answers(model: dict[str, Any], scores: list[str]) -> list[str]:
    """Return the expressions of the answer and the probabilities."""
    classes, readout = model["classes"], model["readout"]
    if not classes:
        return [f"{scores[0]} AS predicted"] if len(scores) == 1 else []
    if readout["calibration"] or model["target"]["kind"] != "target":
        raise PsephosError(
            "SQL is written for answers of the greatest score: this model's are calibrated, weigh "
            "losses, or are several labels. Export a scorer."
        )
    if len(classes) == 2:
        no, yes = map(_text, classes)
        told = f"CASE WHEN {scores[0]} > {_LEVEL} THEN {yes} ELSE {no} END"
        chance = _chance(scores[0], readout)
        named = [f"{_name(f'probability_{classes[0]}')}", f"{_name(f'probability_{classes[1]}')}"]
        return [f"{told} AS predicted", f"1.0 - {chance} AS {named[0]}", f"{chance} AS {named[1]}"]
    first = [
        f"WHEN {' AND '.join(f'{a} >= {b} - {_LEVEL}' for b in scores if b != a)} THEN {_text(c)}"
        for a, c in zip(scores[:-1], classes[:-1], strict=True)
    ]
    return [f"CASE {' '.join(first)} ELSE {_text(classes[-1])} END AS predicted"]


def _chance(score: str, readout: dict[str, Any]) -> str:
    if readout["link"] == "share":
        half = f"(1.0 + {score}) / 2.0"
        return f"CASE WHEN {half} < 0.0 THEN 0.0 WHEN {half} > 1.0 THEN 1.0 ELSE {half} END"
    return f"1.0 / (1.0 + EXP(-({readout['slope']!r} * {score})))"


def _sum(terms: Sequence[str]) -> str:
    """Return a sum in pairs, so that a long one is not deep."""
    if len(terms) <= 2:
        return " + ".join(terms) if terms else "0.0"
    half = len(terms) // 2
    return f"({_sum(terms[:half])}) + ({_sum(terms[half:])})"


class _Writer:
    def __init__(self, model: dict[str, Any]) -> None:
        self.model = model
        self.columns = [_name(column["name"]) for column in model["columns"]]
        self.levels = [column.get("levels") for column in model["columns"]]

    def scores(self) -> list[str]:
        """Return the K scores as expressions."""
        model = self.model
        kind, readout = model["weights"]["kind"], model["readout"]["score"]
        if readout not in ("sum", "normalised") or kind not in ("constant", "first match"):
            raise PsephosError(
                f"{model['model']} is not written as SQL: its weights are {kind!r} and its "
                f"read-out {readout!r}, and what is no weighted sum of few rules has no short "
                "SELECT. Export a scorer."
            )
        if kind == "first match":
            return self._first(model["voters"], model["weights"])
        votes, alpha = self.voters(model["voters"]), model["weights"]["alpha"]
        total = 0.0
        for weight in alpha:
            total += abs(weight)
        scale = total if readout == "normalised" and total > 0 else 1.0
        found: list[str] = []
        for k in range(len(votes[0])):
            terms = [f"{a!r} * ({v[k]})" for a, v in zip(alpha, votes, strict=True) if a]
            found.append(_sum(terms) if scale == 1.0 else f"({_sum(terms)}) / {scale!r}")
        return found

    def voters(self, part: dict[str, Any]) -> _Exprs:
        """Return the votes as expressions."""
        writer: Callable[[dict[str, Any]], _Exprs] | None = getattr(
            self, "_" + part["kind"].replace(" ", "_"), None
        )
        if writer is None:
            raise PsephosError(
                f"{self.model['model']} is not written as SQL: its voters are {part['kind']!r}, "
                "and SQL is written for stumps, trees, rules and linear models. Export a scorer."
            )
        return writer(part)

    def _constant_voters(self, part: dict[str, Any]) -> _Exprs:
        return [[repr(v) for v in row] for row in part["values"]]

    def _joined_voters(self, part: dict[str, Any]) -> _Exprs:
        each = [self.voters(one) for one in part["parts"]]
        return [each[k][t] for k, t in zip(part["part"], part["place"], strict=True)]

    def _stump_voters(self, part: dict[str, Any]) -> _Exprs:
        found: _Exprs = []
        for t, codes in enumerate(codes_of(part["category_ptr"], part["category_left"])):
            j = part["columns"][part["feature"][t]]
            branches = [0 if c else 1 for c in codes]
            test = self._branch(j, part["threshold"][t], branches, False, False)
            way = 0 if part["missing_left"][t] else 1
            found.append(
                [
                    f"CASE {self._case([test], way)} WHEN 0 THEN {left!r} ELSE {right!r} END"
                    for left, right in zip(part["left"][t], part["right"][t], strict=True)
                ]
            )
        return found

    def _branch(
        self, j: int, threshold: Any, codes: list[int], strict: bool, flip: bool
    ) -> list[tuple[str, int]]:
        """Return (condition, branch) of a rule, in order; none holds where it knows no branch."""
        name, levels = self.columns[j], self.levels[j]
        if codes:
            words = levels or [str(code) for code in range(len(codes))]
            return [
                (f"{name} IN ({', '.join(_text(words[c]) for c in own)})", b)
                for b in sorted(set(codes) - {-1})
                if (own := [c for c, way in enumerate(codes) if way == b and c < len(words)])
            ]
        if isinstance(threshold, dict):  # every number goes one way
            first = (threshold["float"] == "inf") != flip
            return [(f"{name} IS NOT NULL", 0 if first else 1)]
        sign = "<" if strict else "<="
        ways = (1, 0) if flip else (0, 1)
        return [(f"{name} {sign} {threshold!r}", ways[0]), (f"{name} IS NOT NULL", ways[1])]

    @staticmethod
    def _case(tests: list[list[tuple[str, int]]], missing: int) -> str:
        parts = " ".join(f"WHEN {c} THEN {b}" for test in tests for c, b in test)
        return f"CASE {parts} ELSE {missing} END" if parts else str(missing)

    def _tree_voters(self, part: dict[str, Any]) -> _Exprs:
        return self._trees(Branching.of_binary(part))

    def _branching_tree_voters(self, part: dict[str, Any]) -> _Exprs:
        return self._trees(Branching.of(part))

    def _trees(self, trees: Branching) -> _Exprs:
        if trees.divides:
            raise PsephosError(
                f"{self.model['model']} is not written as SQL: its trees divide a case among "
                "branches (of a missing value, or by soft thresholds). Export a scorer."
            )
        found: _Exprs = []
        for root in trees.root:
            ends = list(self._ends(trees, root, []))
            found.append([self._tree(trees, ends, k) for k in range(len(trees.value[0]))])
        return found

    def _tree(self, trees: Branching, ends: list[tuple[int, list[str]]], k: int) -> str:
        """Return a tree as one CASE: the ways to its ends, which exclude each other."""
        if len(ends) == 1:
            return repr(trees.value[ends[0][0]][k])
        ways = [f"WHEN {' AND '.join(way)} THEN {trees.value[node][k]!r}" for node, way in ends]
        return f"CASE {' '.join(ways)} END"

    def _ends(self, trees: Branching, node: int, way: list[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield the nodes where cases end, with the conditions on the way."""
        if not trees.children[node]:
            yield node, way
            return
        asked = self._case(self._tests(trees, node), trees.missing[node])
        for b, child in enumerate(trees.children[node]):
            yield from self._ends(trees, child, [*way, self._taken(trees, node, b, asked)])
        if trees.missing[node] < 0:  # the case stays
            yield node, [*way, f"{asked} = {trees.missing[node]}"]

    def _tests(self, trees: Branching, node: int) -> list[list[tuple[str, int]]]:
        tests: list[list[tuple[str, int]]] = []
        for rule in trees.rules(node):
            bound = rule.threshold
            if trees.single and isinstance(bound, float):
                bound = single_bound(bound, trees.strict)
            strict = trees.strict and not trees.single
            tests.append(self._branch(rule.column, bound, rule.codes, strict, rule.flip))
        return tests

    def _taken(self, trees: Branching, node: int, b: int, asked: str) -> str:
        """Return the condition that a case takes a branch."""
        rules, tests = trees.rules(node), self._tests(trees, node)
        if len(rules) > 1 or rules[0].codes or len(tests[0]) != 2:
            return f"{asked} = {b}"
        (low, first), _ = tests[0]
        name = self.columns[rules[0].column]
        sign, bound = low.removeprefix(name).split()
        held = low if first == b else f"{name} {'>' if sign == '<=' else '>='} {bound}"
        return f"({held} OR {name} IS NULL)" if trees.missing[node] == b else held

    def _held(self, part: dict[str, Any]) -> list[str]:
        """Return the conditions of rules."""
        found: list[str] = []
        for a, b in spans(part["ptr"]):
            tests: list[str] = []
            for f, op, bound in zip(
                part["feature"][a:b], part["op"][a:b], part["bound"][a:b], strict=True
            ):
                j = part["columns"][f]
                name, levels = self.columns[j], self.levels[j]
                word = _text((levels or [])[int(bound)]) if op == 2 and levels else repr(bound)
                tests.append(f"{name} {('<=', '>', '=')[op]} {word}")
            found.append(" AND ".join(tests) or "1 = 1")
        return found

    def _rule_voters(self, part: dict[str, Any]) -> _Exprs:
        return [
            [f"CASE WHEN {held} THEN {v!r} ELSE 0.0 END" for v in row]
            for held, row in zip(self._held(part), part["value"], strict=True)
        ]

    def _first(self, part: dict[str, Any], weights: dict[str, Any]) -> list[str]:
        held = self._held(part)
        order = sorted(range(len(held)), key=lambda t: weights["rank"][t])
        found: list[str] = []
        for k in range(len(part["value"][0])):
            ways = [f"WHEN {held[t]} THEN {part['value'][t][k]!r}" for t in order]
            found.append(f"CASE {' '.join(ways)} ELSE 0.0 END")
        return found

    def _linear_voters(self, part: dict[str, Any]) -> _Exprs:
        rows = [
            [self._line(part, coef, constant) for coef, constant in zip(rows, own, strict=True)]
            for rows, own in zip(part["coef"], part["intercept"], strict=True)
        ]
        if part["abstains"]:
            raise PsephosError("linear models that abstain are not written as SQL.")
        if part["says"] == "value":
            return rows
        if len(rows[0]) > 1 or len(part["value"]) != 2:
            raise PsephosError(
                f"{self.model['model']} is not written as SQL: its linear models tell several "
                "classes apart. Export a scorer."
            )
        no, yes = part["value"]
        if part["says"] == "answer":
            return [
                [
                    f"CASE WHEN {z[0]} > 0 THEN {b!r} ELSE {a!r} END"
                    for a, b in zip(no, yes, strict=True)
                ]
                for z in rows
            ]
        p = [f"(1.0 / (1.0 + EXP(-({part['slope']!r} * ({z[0]})))))" for z in rows]
        return [
            [f"(1.0 - {one}) * {a!r} + {one} * {b!r}" for a, b in zip(no, yes, strict=True)]
            for one in p
        ]

    def _line(self, part: dict[str, Any], coef: Sequence[float], constant: float) -> str:
        names = [self.columns[j] for j in part["columns"]]
        terms = [f"{c!r} * {name}" for c, name in zip(coef, names, strict=True) if c]
        return f"{_sum(terms)} + {constant!r}" if terms else repr(constant)
