"""Export to ONNX: trees, rules and linear models whose votes are summed, in single precision.

Trees are a `TreeEnsembleRegressor`, or operators level by level where a case may take several
branches or surrogates decide; linear models, links and predictions are plain operators. The input
is one float32 table of the columns that the model reads: NaN where missing, categories as codes
(their indices among the levels, which the metadata lists).
"""

import json
import warnings
from importlib import import_module
from typing import Any

import numpy as np

from psephos import __version__
from psephos._errors import MissingExtraError, PsephosError
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.files.near import quoted
from psephos.scoring.form import Branching, bound_in_single, plain, vote_of
from psephos.scoring.onnx_trees import TreeLevels
from psephos.vote.plain import to_plain
from psephos.vote.reading.core import filled, spans
from psephos.vote.reading.trees import spoken_share
from psephos.vote.readout import TIE

_TIE = 1e-6  # scores that differ by less are equal in single precision: the first class
_LEAF, _NUMBER = "LEAF", "BRANCH_LEQ"


def onnx_model(estimator: VoteEstimator) -> bytes:
    """Return a fitted model as the bytes of an ONNX file.

    Outputs are ``score`` (n, K), and for classifiers ``label`` (the index of the class) and
    ``probabilities`` (n, classes). Values are read in single precision: one within rounding of a
    threshold takes the side of the threshold itself. The label is the first class of those whose
    scores differ by at most 1e-6; a score within 1e-6 of a decision threshold counts as equal to
    it. Where a linear model lacks a value, the score is NaN and the label -1.

    Parameters
    ----------
    estimator : fitted estimator of psephos
        Trees, rules or linear models with constant weights (a sum, a mean or the weighted median),
        or an ordered list of rules of which the first that holds decides.

    Raises
    ------
    PsephosError
        If the model is of another kind, or the package onnx is not installed (extra 'onnx').

    Warns
    -----
    UserWarning
        If columns have whole numbers that single precision cannot represent (above 16,777,216, such
        as dates written 20181131).
    """
    try:
        onnx: Any = import_module("onnx")
    except ImportError:
        raise MissingExtraError("onnx", "an ONNX file", "onnx") from None
    model = plain(estimator)
    _warn_of_whole_numbers(estimator)
    graph = _Graph(model, onnx)
    graph.build()
    q, k = len(model["columns"]), graph.n_outputs
    helper, kinds = onnx.helper, onnx.TensorProto
    outputs = [helper.make_tensor_value_info("score", kinds.FLOAT, [None, k])]
    if model["classes"]:
        many = len(model["classes"])
        outputs.append(helper.make_tensor_value_info("label", kinds.INT64, [None]))
        outputs.append(helper.make_tensor_value_info("probabilities", kinds.FLOAT, [None, many]))
    made = helper.make_graph(
        graph.nodes,
        "psephos",
        [helper.make_tensor_value_info("columns", kinds.FLOAT, [None, q])],
        outputs,
        graph.constants,
    )
    whole = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)],
        producer_name="psephos",
        producer_version=__version__,
        ir_version=8,
    )
    props = {name: json.dumps(model[name]) for name in ("columns", "classes", "model")}
    helper.set_model_props(whole, props)
    onnx.checker.check_model(whole)
    return whole.SerializeToString()


def _warn_of_whole_numbers(estimator: VoteEstimator) -> None:
    """Warn of columns whose breakpoints are whole numbers, or halves, that float32 cannot hold."""
    marked, values = estimator.vote_.marks()
    values = np.where(np.isfinite(values), values, 0.0)
    large = (np.abs(values) > 2.0**23) & (np.abs(values) < 2.0**53) & (2 * values % 1 == 0)
    names = estimator.schema_.words().columns
    columns: list[int] = np.unique(np.asarray(marked)[large]).tolist()
    found = [names[j] for j in columns]
    if found:
        warnings.warn(
            f"ONNX reads single precision, in which large whole numbers as in {quoted(found)} are "
            "rounded to others. Subtract a constant from such columns before fitting (for dates, "
            "the first), or export a scorer or SQL.",
            UserWarning,
            stacklevel=3,
        )


class _Graph:
    """The graph's nodes and constants: terms that sum to the score, then the prediction."""

    def __init__(
        self, model: dict[str, Any], onnx: Any, within: "_Graph | None" = None, columns: str = ""
    ) -> None:
        self.model, self._onnx, self.columns = model, onnx, columns or "columns"
        self.nodes: list[Any] = within.nodes if within else []
        self.constants: list[Any] = within.constants if within else []
        self.width: int = within.width if within else len(model["columns"])  # of the input
        self._scope = f"vote {len(self.nodes)}: " if within else ""
        self._score_of = f"{self._scope}score"
        self.terms: list[str] = []
        many = len(model["classes"])
        self.n_outputs = 1 if many == 2 else many or len(model["target"].get("names", [""]))
        self.base = np.zeros(self.n_outputs)
        self.trees: dict[str, list[Any]] = {}
        self.tree = 0

    def build(self) -> None:
        """Add the nodes of the score and, for classifiers, of the prediction."""
        self._sum()
        if self.model["classes"]:
            self._answer()

    def _sum(self) -> None:
        """Add the score."""
        model = self.model
        how, weights = model["readout"]["score"], model["weights"]
        known = ("sum", "normalised") + ("median",) * (weights["kind"] == "constant")
        if how not in known or weights["kind"] not in ("constant", "first match"):
            raise self._refused(f"its weights are {weights['kind']!r} and its read-out {how!r}")
        if model["readout"]["calibration"]:
            raise self._refused("its probabilities are calibrated, which takes double precision")
        if model["target"]["kind"] not in (
            "target", "target with a threshold", "regression target", "numbers target",
        ):  # fmt: skip
            raise self._refused(f"its target is a {model['target']['kind']!r}")
        if weights["kind"] == "first match":
            self._first(weights)
        elif how == "median":
            self._median(np.abs(weights["alpha"]))
        else:
            alpha = np.array(weights["alpha"], dtype=np.float64)
            size = float(np.abs(alpha).sum()) if how == "normalised" else 1.0
            self._voters(model["voters"], alpha / (size if size > 0 else 1.0))
        self._total()

    def _median(self, weights: Any) -> None:
        """Add the weighted median: the mean of the least votes that reach, and exceed, half."""
        scope = f"median {len(self.nodes)}"
        first, second = self.axis(1), self.axis(2)
        votes = [self.op("Unsqueeze", [one, first], f"{scope} vote {t}")
                 for t, one in enumerate(self._each_vote())]  # fmt: skip
        every = self.op("Concat", votes, f"{scope} votes", axis=1)  # (n, T, K)
        each = self.op("Unsqueeze", [every, second], f"{scope} each")
        others = self.op("Unsqueeze", [every, first], f"{scope} others")
        below = self.op("LessOrEqual", [others, each], f"{scope} below")
        share = self.constant((weights / weights.sum())[:, None])  # in double precision
        part = self.op("Mul", [self.cast(below, "DOUBLE"), share], f"{scope} part")
        reached = self.op("ReduceSum", [part, second], f"{scope} reached", keepdims=0)
        for test, level in (("GreaterOrEqual", 0.5 - TIE), ("Greater", 0.5 + TIE)):
            held = self.op(test, [reached, self.constant(np.array(level))], f"{scope} {test}")
            left = self.op("Where", [held, every, self.number(np.inf)], f"{scope} left {test}")
            least = self.op("ReduceMin", [left], f"{scope} least {test}", axes=[1], keepdims=0)
            self.terms.append(self.op("Mul", [least, self.number(0.5)], f"{scope} half {test}"))
        gone = self.op("ReduceSum", [every, first], f"{scope} sum", keepdims=0)
        self.terms.append(self.op("Mul", [gone, self.number(0.0)], f"{scope} 0, or NaN"))

    def _refused(self, why: str) -> PsephosError:
        return PsephosError(
            f"{self.model['model']} cannot be written as ONNX: {why}. It must have trees, rules or "
            "linear models of numbers, with constant weights: export a scorer instead."
        )

    def _voters(self, part: dict[str, Any], alpha: Any) -> None:
        kind = part["kind"]
        if kind == "joined voters":
            where, place = np.array(part["part"]), np.array(part["place"])
            for k, one in enumerate(part["parts"]):
                own = np.zeros(int(place[where == k].max(initial=-1)) + 1)
                np.add.at(own, place[where == k], alpha[where == k])
                self._voters(one, own)
        elif kind == "trees":
            self._trees(Branching(part), alpha)
        elif kind == "nested voters":
            self._nested(part, alpha)
        elif kind == "scores" and part["coef"] is None:
            raise self._refused(f"its voters are those of {part['called']}")
        elif kind == "ranked voters":
            self._ranked(part, alpha)
        elif kind == "coded voters":
            self._coded(part, alpha)
        elif kind == "scores":
            self._lines(part, alpha)
        else:
            raise self._refused(f"its voters are {kind!r}")

    # ------------------------------------------------------------------ votes within the vote
    def _nested(self, part: dict[str, Any], alpha: Any) -> None:
        each = zip(part["inner"], part["places"], part["levels"], alpha, strict=False)
        for vote, places, levels, weight in each:
            table = [part["columns"][i] for i in places]
            columns = self._read(table, dict(levels)) if table else self.columns
            target = vote["target"]
            model = {
                "model": self.model["model"], "columns": table, "voters": vote["voters"],
                "weights": vote["weighting"], "readout": vote["readout"], "target": target,
                "classes": target.get("classes", []),
            }  # fmt: skip
            inner = _Graph(model, self._onnx, self, columns)
            inner._sum()
            voted = inner._voted(part["says"], np.array(part["value"], dtype=np.float32))
            if part["abstains"] and table:
                gone = inner.cast(inner.op("IsNaN", [columns], "gaps"))
                most = inner.op("ReduceMax", [gone], "any gap", axes=[1], keepdims=1)
                there = inner.op("Sub", [self.number(1.0), most], "complete")
                voted = inner.op("Mul", [voted, there], "vote or nothing")
            self.terms.append(inner.op("Mul", [voted, self.number(weight)], "weighed"))

    def _read(self, table: list[int], levels: dict[int, Any]) -> str:
        """Return the columns of a nested vote, which has its own codes of categories."""
        scope, found = f"columns {len(self.nodes)}", list[str]()
        for j, column in enumerate(table):
            at = self.constant(np.array([column], dtype=np.int64))
            one = self.op("Gather", [self.columns, at], f"{scope}.{j}", axis=1)
            if j in levels:
                codes = np.array(levels[j]).astype(np.int64)
                known = np.full(int(codes.max(initial=0)) + 3, np.nan, dtype=np.float32)
                known[codes + 1] = np.arange(len(codes))
                gone = self.op("IsNaN", [one], f"{one} gone")
                after = self.op("Add", [one, self.number(1.0)], f"{one} after")
                kept = self.op("Min", [after, self.number(len(known) - 1)], f"{one} kept")
                place = self.op("Where", [gone, self.number(0.0), kept], f"{one} place")
                own = self.constant(known)
                one = self.op("Gather", [own, self.cast(place, "INT64")], f"{one} own")
            found.append(one)
        return self.op("Concat", found, scope, axis=1)

    def _voted(self, says: str, code: Any) -> str:
        """Return the (n, K) vote that this nested vote casts by its score."""
        if says == "value":
            return self._score_of
        if says not in ("answer", "probability"):
            raise self._refused(f"its nested votes cast {says!r}")
        own = self.constant(code[self.model["classes"]])
        place = (self._two if len(self.model["classes"]) == 2 else self._several)()
        if says == "answer":
            voted = self.op("Gather", [own, place], "answer", axis=0)
        else:
            voted = self.op("MatMul", [f"{self._scope}probabilities", own], "mean code")
        sums = self.op("ReduceSum", [self._score_of, self.axis(1)], "sum of scores")
        none = self.op("Mul", [sums, self.number(0.0)], "0, or NaN without a score")
        return self.op("Add", [voted, none], "vote")

    # ------------------------------------------------------------------ trees
    def _row(self, **row: Any) -> None:
        """Add an entry to attributes of the trees."""
        for name, one in row.items():
            self.trees.setdefault(name, []).append(one)

    def _node(
        self, number: int, mode: str, column: int = 0, value: float = 0.0, missing: bool = False
    ) -> None:
        self._row(
            nodes_treeids=self.tree, nodes_nodeids=number, nodes_modes=mode,
            nodes_featureids=column, nodes_values=value, nodes_truenodeids=0, nodes_falsenodeids=0,
            nodes_missing_value_tracks_true=int(missing), nodes_hitrates=1.0,
        )  # fmt: skip

    def _leaf(self, number: int, votes: Any) -> None:
        self._node(number, _LEAF)
        for k, vote in enumerate(votes):
            own = {"target_ids": k, "target_weights": float(vote)}
            self._row(target_treeids=self.tree, target_nodeids=number, **own)

    def _split(self, column: int, bound: float, codes: list[int], missing: int, way: Any) -> int:
        """Write a split as one test, or as one per run of codes; return the number of its node."""
        if not codes:
            return self._runs(column, [(bound, 0)], missing, 1, way)
        ways = [branch if branch >= 0 else missing for branch in codes]
        ends = [k for k in range(len(ways)) if ways[k : k + 1] != ways[k + 1 : k + 2]]
        return self._runs(column, [(k + 0.5, ways[k]) for k in ends], missing, missing, way)

    def _runs(
        self, column: int, runs: list[tuple[float, int]], missing: int, last: int, way: Any
    ) -> int:
        """Write a test for each run of values that take one branch; those beyond take `last`."""
        if not runs:
            return way(last)
        (bound, branch), rest = runs[0], runs[1:]
        number = self._next
        self._next += 1
        at = len(self.trees.get("nodes_nodeids", []))
        self._node(number, _NUMBER, column, bound, missing=branch == missing)
        self.trees["nodes_truenodeids"][at] = way(branch)
        self.trees["nodes_falsenodeids"][at] = self._runs(column, rest, missing, last, way)
        return number

    def _trees(self, trees: Branching, alpha: Any) -> None:
        if trees.soft:
            raise self._refused("its trees have soft thresholds")
        alpha = np.append(alpha, np.zeros(len(trees.group) - len(alpha)))
        if trees.abstains or (trees.grouped and trees.says == "answer"):
            self.terms.append(TreeLevels(self, trees, range(len(trees.root))).votes(alpha))
            return
        voter = np.repeat(np.arange(len(alpha)), [b - a for a, b in trees.group])
        share = alpha[voter] / np.array([b - a for a, b in trees.group])[voter]
        if trees.grouped and trees.says == "probability":
            trees.value = [spoken_share(v, trees.code) for v in trees.value]
        walked: list[int] = []
        for tree, (root, weight) in enumerate(zip(trees.root, share.tolist(), strict=True)):
            own = trees.within(tree)
            if len(own) == 1:
                self.base += weight * np.array(trees.value[root])
            elif all(trees.missing[n] >= 0 and len(trees.node_rules(n)) == 1 and len(
                trees.children[n]) == 2 for n in own if trees.children[n]):  # fmt: skip
                self._next = 0
                self._grow(trees, root, weight)
                self.tree += 1
            else:
                walked.append(tree)
        if walked:
            self.terms.append(TreeLevels(self, trees, walked).sums(share[walked]))

    def _first(self, weights: dict[str, Any]) -> None:
        """Add the vote of the first rule that holds."""
        trees = Branching(weights["rules"])
        order = np.argsort(weights["rank"], kind="stable").tolist()
        voted = np.array([trees.value[trees.last(t)] for t in order])
        held = TreeLevels(self, trees, order).holds()
        earlier = self.op("CumSum", [held, self.constant(np.int64(1))], "rules before", exclusive=1)
        none = self.op("Less", [earlier, self.number(0.5)], "none before")
        first = self.op("Mul", [held, self.cast(none)], "first rule")
        if self.model["voters"]["kind"] == "trees":
            self.terms.append(self.op("MatMul", [first, self.floats(voted)], "rules"))
            return
        own = [self.op("Unsqueeze", [one, self.axis(1)], f"{one}, alone")
               for one in self._each_vote()]  # fmt: skip
        every = self.op("Concat", [own[t] for t in order], "models", axis=1)  # (n, T, K)
        chosen = self.op("Unsqueeze", [first, self.axis(2)], "chosen")
        kept = self.op("Mul", [every, chosen], "the leaf's")
        self.terms.append(self.op("ReduceSum", [kept, self.axis(1)], "rules", keepdims=0))

    def _each_vote(self) -> list[str]:
        """Return the (n, K) votes of each voter."""
        voters, found = vote_of(self.model).voters, list[str]()
        for t in range(voters.n_voters):
            inner = _Graph(self.model, self._onnx, self, self.columns)
            inner._voters(to_plain(voters.take(np.array([t])).lowered()), np.ones(1))
            found.append(inner._total())
        return found

    def _grow(self, trees: Branching, node: int, weight: float) -> int:
        if not trees.children[node]:
            self._next += 1
            number = self._next - 1
            self._leaf(number, weight * np.array(trees.value[node]))
            return number
        rules = trees.node_rules(node)
        rule, missing = rules[0], trees.missing[node]
        children = trees.children[node]
        codes, bound = rule.codes, rule.threshold
        if not codes and np.isfinite(bound):
            bound = bound_in_single(bound, trees.strict, trees.single)
        flip = rule.flip and not codes

        def way(b: int) -> int:
            return self._grow(trees, children[1 - b if flip else b], weight)

        gap = (1 - missing) if flip else missing
        return self._split(rule.column, bound, codes, gap, way)

    # ------------------------------------------------------------------ the rest
    def _lines(self, part: dict[str, Any], alpha: Any) -> None:
        """Add linear models; for two classes the scores are 0 and the model's."""
        coef, constant, one = np.array(part["coef"]), part["constant"], len(part["coef"]) == 1
        code = np.array(part["value"][: 2 if one else None])
        for t, ((a, b), weight) in enumerate(zip(spans(part["ptr"]), alpha, strict=False)):
            name = f"line {len(self.nodes)}"
            read = [part["columns"][i] for i in part["position"][a:b]]
            sums = self.zeros(len(coef))
            if read:  # missing values of other columns do not matter
                at = self.constant(np.array(read, dtype=np.int64))
                own = self.op("Gather", [self.columns, at], f"{name} columns", axis=1)
                if part.get("fill"):
                    gap = self.op("IsNaN", [own], f"{name} gaps")
                    fill = self.floats(part["fill"][a:b])
                    own = self.op("Where", [gap, fill, own], f"{name} filled")
                sums = self.op("MatMul", [own, self.floats(coef[:, a:b].T)], f"{name} sum")
            voted = score = self.op("Add", [sums, self.floats(constant[t])], name)
            if part["says"] != "value":
                level = self.op("Mul", [score, self.number(0.0)], f"{name} level")
                each = self.op("Concat", [level, score], f"{name} each", axis=1) if one else score
                if part["says"] == "answer":
                    place = self.op("ArgMax", [each], f"{name} place", axis=1, keepdims=0)
                    voted = self.op("Gather", [self.floats(code), place], f"{name} answer", axis=0)
                else:
                    odds = self.op("Mul", [each, self.number(part["slope"])], f"{name} log odds")
                    shares = self.op("Softmax", [odds], f"{name} shares", axis=1)
                    voted = self.op("MatMul", [shares, self.floats(code)], f"{name} mean code")
            total = self.op("ReduceSum", [score, self.axis(1)], f"{name} total")
            gone = self.op("IsNaN", [total], f"{name} gone")
            nothing = self.number(0.0 if part["abstains"] else np.nan)
            voted = self.op("Where", [gone, nothing, voted], f"{name} vote")
            self.terms.append(self.op("Mul", [voted, self.number(weight)], f"{name} weighed"))

    def _ranked(self, part: dict[str, Any], alpha: Any) -> None:
        """Add voters on normal scores: each column is interpolated between its knots."""
        scope, found = f"ranks {len(self.nodes)}", list[str]()
        for j, (a, b) in zip(part["columns"], spans(part["start"]), strict=True):
            x, y = np.array(part["knots"][a:b]), np.array(part["scores"][a:b])
            at, own = self.constant(np.array([j], dtype=np.int64)), f"{scope}.{j}"
            value = self.op("Gather", [self.columns, at], f"{own} value", axis=1)
            gone = self.op("IsNaN", [value], f"{own} gone")
            if not len(x):
                found.append(self.op("Mul", [self.cast(gone), self.number(0.0)], own))
                continue
            slope = np.append(np.append(0.0, np.diff(y) / np.diff(x)), 0.0)
            knot, start = np.append(x[0], x), np.append(y[0], y)
            met = self.op("GreaterOrEqual", [value, self.floats(x)], f"{own} met")
            count = self.op("ReduceSum", [self.cast(met), self.axis(1)], f"{own} count")
            place = self.cast(count, "INT64")
            held = [self.op("Gather", [self.floats(v), place], f"{own} {k}")
                    for k, v in (("slope", slope), ("knot", knot), ("score", start))]  # fmt: skip
            apart = self.op("Sub", [value, held[1]], f"{own} apart")
            rise = self.op("Mul", [apart, held[0]], f"{own} rise")
            line = self.op("Add", [rise, held[2]], f"{own} line")
            found.append(self.op("Where", [gone, self.number(0.0), line], own))
        self._on(self.op("Concat", found, scope, axis=1), len(found), part["inner"], alpha)

    def _coded(self, part: dict[str, Any], alpha: Any) -> None:
        """Add voters on a design: numbers as they are, categories as 0 and 1."""
        scope, level = f"codes {len(self.nodes)}", np.array(filled(part["level"]), dtype=float)
        at = self.constant(np.array([part["columns"][i] for i in part["source"]], dtype=np.int64))
        value = self.op("Gather", [self.columns, at], f"{scope} value", axis=1)
        same = self.cast(self.op("Equal", [value, self.floats(level)], f"{scope} same"))
        gone = self.op("IsNaN", [value], f"{scope} gone")
        kept = self.op("Or", [gone, self.constant(np.isnan(level))], f"{scope} kept")
        self._on(self.op("Where", [kept, value, same], scope), len(level), part["inner"], alpha)

    def _on(self, columns: str, width: int, voters: dict[str, Any], alpha: Any) -> None:
        """Add voters on a table of columns that are computed from those of the case."""
        model = {**self.model, "columns": list(range(width)), "voters": voters}
        inner = _Graph(model, self._onnx, self, columns)
        inner._voters(voters, alpha)
        self.terms.append(inner._total())

    def floats(self, values: Any) -> str:
        """Return the name of a constant in single precision."""
        return self.constant(np.asarray(values, dtype=np.float32))

    def cast(self, name: str, kind: str = "FLOAT") -> str:
        """Return a tensor cast to another type."""
        made = f"{name} as {kind}".removeprefix(self._scope)
        return self.op("Cast", [name], made, to=getattr(self._onnx.TensorProto, kind))

    def axis(self, number: int) -> str:
        """Return the name of a constant that is the number of an axis."""
        return self.constant(np.array([number], dtype=np.int64))

    def constant(self, value: Any) -> str:
        """Return the name of a constant."""
        name = f"constant {len(self.constants)}"
        self.constants.append(self._onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def op(self, kind: str, inputs: list[str], output: str, **more: Any) -> str:
        """Add an operator, and return the name of its output."""
        name = f"{self._scope}{output}"
        self.nodes.append(self._onnx.helper.make_node(kind, inputs, [name], **more))
        return name

    def _total(self) -> str:
        """Add the score, and return its name."""
        if self.trees:
            self.terms.append(self.op(
                "TreeEnsembleRegressor", [self.columns], "trees", domain="ai.onnx.ml",
                n_targets=self.n_outputs, aggregate_function="SUM", post_transform="NONE",
                **self.trees,
            ))  # fmt: skip
        if not self.terms and not self.width:
            raise self._refused("it reads no column")
        if not self.terms:
            self.terms.append(self.zeros(self.n_outputs))
        total = self.terms[0]
        for n, term in enumerate(self.terms[1:]):
            total = self.op("Add", [total, term], f"sum {n}")
        return self.op("Add", [total, self.floats(self.base)], "score")

    def _answer(self) -> None:
        """Add the probabilities of the link, and the index of the predicted class."""
        gone = self.op("IsNaN", [self._score_of], "score gone")
        alone = self.op("Cast", [gone], "gone", to=self._onnx.TensorProto.INT32)
        most = self.op("ReduceMax", [alone], "any gone", axes=[1], keepdims=0)
        none = self.op("Cast", [most], "no answer", to=self._onnx.TensorProto.BOOL)
        found = (self._two if len(self.model["classes"]) == 2 else self._several)()
        self.op("Where", [none, self.constant(np.int64(-1)), found], "label")

    def zeros(self, k: int) -> str:
        """Return an (n, k) tensor of zeros."""
        gone = self.cast(self.op("IsNaN", ["columns"], f"gone {len(self.nodes)}"))
        none = self.constant(np.zeros((self.width, k), dtype=np.float32))
        return self.op("MatMul", [gone, none], f"zeros {len(self.nodes)}")

    def number(self, value: Any) -> str:
        """Return the name of a constant number."""
        return self.constant(np.float32(value))

    def _two(self) -> str:
        readout, one = self.model["readout"], self.number(1.0)
        if readout["link"] == "share":
            raised = self.op("Add", [self._score_of, one], "raised")
            half = self.op("Div", [raised, self.number(2.0)], "half")
            up = self.op("Clip", [half, self.number(0.0), one], "up")
        else:
            odds = self.op("Mul", [self._score_of, self.number(readout["slope"])], "log odds")
            up = self.op("Sigmoid", [odds], "up")
        self.op("Concat", [self.op("Sub", [one, up], "down"), up], "probabilities", axis=1)
        target = self.model["target"]
        rounding = -_TIE if target.get("positive") else _TIE  # at the threshold: the positive class
        bound = self.number(target.get("bound", 0.0) + rounding)
        above = self.op("Greater", [self._score_of, bound], "above")
        whole = self.op("Cast", [above], "second", to=self._onnx.TensorProto.INT64)
        return self.op("Squeeze", [whole, self.axis(1)], "place")

    def _several(self) -> str:
        readout, many = self.model["readout"], len(self.model["classes"])
        if readout["link"] == "share":
            times = self.op("Mul", [self._score_of, self.number(many - 1)], "times")
            raised = self.op("Add", [times, self.number(1.0)], "raised")
            kept = self.op("Relu", [self.op("Div", [raised, self.number(many)], "share")], "kept")
            total = self.op("ReduceSum", [kept, self.axis(1)], "total", keepdims=1)
            self.op("Div", [kept, total], "probabilities")
        else:
            odds = self.op("Mul", [self._score_of, self.number(readout["slope"])], "log odds")
            self.op("Softmax", [odds], "probabilities", axis=1)
        top = self.op("ReduceMax", [self._score_of], "greatest", axes=[1], keepdims=1)
        near = self.op("Sub", [top, self.number(_TIE)], "near")
        below = self.op("Less", [self._score_of, near], "below")
        level = self.op("Cast", [self.op("Not", [below], "level")], "first",
                         to=self._onnx.TensorProto.INT32)  # fmt: skip
        return self.op("ArgMax", [level], "place", axis=1, keepdims=0)
