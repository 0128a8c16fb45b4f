"""A model as ONNX: stumps, trees and linear models whose votes add up, in single precision.

Trees are a `TreeEnsembleRegressor`, linear models a `Gemm`, links and answers plain operators. The
input is one table of the columns that the model reads, float32, NaN where missing, categories as
codes (their places among the levels, which stand in the metadata).
"""

import json
from importlib import import_module
from typing import Any

import numpy as np

from psephos import __version__
from psephos._errors import MissingExtraError, PsephosError
from psephos.scoring.form import plain
from psephos.scoring.plain_rules import Branching, codes_of, single_below

_TIE = 1e-6  # scores of single precision that differ by less are equal: the first class
_LEAF, _NUMBER = "LEAF", "BRANCH_LEQ"


def onnx_model(estimator: Any) -> bytes:
    """Return a fitted model as the bytes of an ONNX file.

    Outputs are ``score`` (n, K), and of classes ``label`` (a number, its place among the classes)
    and ``probabilities`` (n, classes). Values are read in single precision: one that lies within
    its rounding of a threshold may be sent to the other side, and of scores within 1e-6 the first
    class is the label. Where a linear model lacks a value the score is NaN and the label -1.

    Parameters
    ----------
    estimator : fitted estimator of psephos
        Of stumps, trees or linear models with constant weights.

    Raises
    ------
    PsephosError
        If the model is of another kind, or the package onnx is not installed (extra 'onnx').
    """
    try:
        onnx: Any = import_module("onnx")
    except ImportError:
        raise MissingExtraError("onnx", "an ONNX file", "onnx") from None
    model = plain(estimator)
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
    told = {"columns": model["columns"], "classes": model["classes"], "model": model["model"]}
    helper.set_model_props(whole, {name: json.dumps(value) for name, value in told.items()})
    onnx.checker.check_model(whole)
    return whole.SerializeToString()


class _Graph:
    """Nodes and constants: terms that add up to the score, then the answer."""

    def __init__(self, model: dict[str, Any], onnx: Any) -> None:
        self.model, self._onnx = model, onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.terms: list[str] = []
        many = len(model["classes"])
        self.n_outputs = 1 if many == 2 else many or len(model["target"].get("names", [""]))
        self.base = np.zeros(self.n_outputs)
        self.trees: dict[str, list[Any]] = {}
        self.tree = 0

    def build(self) -> None:
        """Make the graph."""
        model = self.model
        how, weights = model["readout"]["score"], model["weights"]
        if how not in ("sum", "normalised") or weights["kind"] != "constant":
            raise self._refused(f"its weights are {weights['kind']!r} and its read-out {how!r}")
        if model["readout"]["calibration"]:
            raise self._refused("its probabilities are calibrated, which takes double precision")
        if model["target"]["kind"] not in (
            "target", "target with a threshold", "regression target", "numbers target",
        ):  # fmt: skip
            raise self._refused(f"its answers are those of a {model['target']['kind']!r}")
        alpha = np.array(weights["alpha"], dtype=np.float64)
        size = float(np.abs(alpha).sum()) if how == "normalised" else 1.0
        self._voters(model["voters"], alpha / (size if size > 0 else 1.0))
        self._score()
        if model["classes"]:
            self._answer()

    def _refused(self, why: str) -> PsephosError:
        return PsephosError(
            f"{self.model['model']} is not written as ONNX: {why}; it is written for stumps, trees "
            "and linear models of numbers, with constant weights. Export a scorer."
        )

    def _voters(self, part: dict[str, Any], alpha: Any) -> None:
        kind = part["kind"]
        if kind == "joined voters":
            where, place = np.array(part["part"]), np.array(part["place"])
            for k, one in enumerate(part["parts"]):
                own = np.zeros(int(place[where == k].max(initial=-1)) + 1)
                np.add.at(own, place[where == k], alpha[where == k])
                self._voters(one, own)
        elif kind == "constant voters":
            self.base += alpha @ np.array(part["values"])[: len(alpha)]
        elif kind == "stump voters":
            self._stumps(part, alpha)
        elif kind in ("tree voters", "branching tree voters"):
            binary = kind == "tree voters"
            self._trees(Branching.of_binary(part) if binary else Branching.of(part), alpha)
        elif kind == "scores" and part["coef"] is None:
            raise self._refused(f"its voters are those of {part['called']}")
        elif kind == "scores" and (part["says"] != "value" or part["abstains"]):
            raise self._refused("its linear models say classes or probabilities, or abstain")
        elif kind == "scores":
            self._line(part, alpha)
        else:
            raise self._refused(f"its voters are {kind!r}")

    # ------------------------------------------------------------------ trees
    def _node(
        self, number: int, mode: str, column: int = 0, value: float = 0.0, **ways: Any
    ) -> None:
        row = {
            "nodes_treeids": self.tree,
            "nodes_nodeids": number,
            "nodes_modes": mode,
            "nodes_featureids": column,
            "nodes_values": value,
            "nodes_truenodeids": ways.get("yes", 0),
            "nodes_falsenodeids": ways.get("no", 0),
            "nodes_missing_value_tracks_true": int(ways.get("missing", 0)),
            "nodes_hitrates": 1.0,
        }
        for name, one in row.items():
            self.trees.setdefault(name, []).append(one)

    def _leaf(self, number: int, votes: Any) -> None:
        self._node(number, _LEAF)
        for k, vote in enumerate(votes):
            row = {
                "target_treeids": self.tree,
                "target_nodeids": number,
                "target_ids": k,
                "target_weights": float(vote),
            }
            for name, one in row.items():
                self.trees.setdefault(name, []).append(one)

    def _stumps(self, part: dict[str, Any], alpha: Any) -> None:
        for t, codes in enumerate(codes_of(part["category_ptr"], part["category_left"])):
            column = part["columns"][part["feature"][t]]
            left, right = (alpha[t] * np.array(part[side][t]) for side in ("left", "right"))
            branches, missing = [0 if c else 1 for c in codes], 0 if part["missing_left"][t] else 1
            self._next = 0
            self._rule(column, part["threshold"][t], branches, missing, [left, right])
            self.tree += 1

    def _rule(self, column: int, threshold: Any, codes: list[int], missing: int, ends: Any) -> None:
        """Write a rule whose two branches end in votes."""

        def end(b: int) -> int:
            self._next += 1
            self._leaf(self._next - 1, ends[b])
            return self._next - 1

        self._split(column, threshold, codes, missing, end)

    def _split(self, column: int, threshold: Any, codes: list[int], missing: int, way: Any) -> int:
        """Write a rule; ``way(branch)`` writes what follows and returns its node."""
        if not codes:
            bound = float("inf") if isinstance(threshold, dict) else threshold
            if isinstance(threshold, dict) and threshold["float"] == "-inf":
                bound = -float("inf")
            number = self._next
            self._next += 1
            at = len(self.trees.get("nodes_nodeids", []))
            self._node(number, _NUMBER, column, single_below(bound), missing=missing == 0)
            self.trees["nodes_truenodeids"][at] = way(0)
            self.trees["nodes_falsenodeids"][at] = way(1)
            return number
        ways = [branch if branch >= 0 else missing for branch in codes]
        ends = [k for k in range(len(ways)) if ways[k : k + 1] != ways[k + 1 : k + 2]]
        return self._runs(column, [(k + 0.5, ways[k]) for k in ends], missing, way)

    def _runs(self, column: int, runs: list[tuple[float, int]], missing: int, way: Any) -> int:
        """Write a chain of tests, one for each run of codes that take one branch.

        A missing value, and a code beyond them, goes on to the end.
        """
        if not runs:
            return way(missing)
        (bound, branch), rest = runs[0], runs[1:]
        number = self._next
        self._next += 1
        at = len(self.trees.get("nodes_nodeids", []))
        self._node(number, _NUMBER, column, bound, missing=branch == missing)
        self.trees["nodes_truenodeids"][at] = way(branch)
        self.trees["nodes_falsenodeids"][at] = self._runs(column, rest, missing, way)
        return number

    def _trees(self, trees: Branching, alpha: Any) -> None:
        if trees.divides:
            raise self._refused("its trees divide a case among branches, or abstain")
        for root, weight in zip(trees.root, alpha, strict=True):
            self._next = 0
            self._grow(trees, root, weight)
            self.tree += 1

    def _grow(self, trees: Branching, node: int, weight: float) -> int:
        if not trees.children[node]:
            self._next += 1
            number = self._next - 1
            self._leaf(number, weight * np.array(trees.value[node]))
            return number
        rules = trees.rules(node)
        if len(rules) > 1 or trees.missing[node] < 0:
            raise self._refused("its trees ask other columns where one is missing, or stay there")
        rule, missing = rules[0], trees.missing[node]
        children = trees.children[node]
        codes, bound = rule.codes, rule.threshold
        if not codes and trees.strict and isinstance(bound, float):
            bound = float(np.nextafter(bound, -np.inf))
        flip = rule.flip and not codes

        def way(b: int) -> int:
            return self._grow(trees, children[1 - b if flip else b], weight)

        gap = (1 - missing) if flip else missing
        return self._split(rule.column, bound, codes, gap, way)

    # ------------------------------------------------------------------ the rest
    def _line(self, part: dict[str, Any], alpha: Any) -> None:
        coef = np.zeros((len(self.model["columns"]), 1))
        read = np.array(part["columns"], dtype=np.intp)[np.array(part["position"], dtype=np.intp)]
        weight = np.repeat(alpha, np.diff(part["ptr"]))
        np.add.at(coef[:, 0], read, weight * np.array(part["coef"][0]))
        self.base += alpha @ np.array(part["constant"])
        name = f"line {len(self.terms)}"
        self._op("MatMul", ["columns", self._constant(coef.astype(np.float32))], name)
        self.terms.append(name)

    def _constant(self, value: Any) -> str:
        name = f"constant {len(self.constants)}"
        self.constants.append(self._onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def _op(self, kind: str, inputs: list[str], output: str, **more: Any) -> str:
        self.nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **more))
        return output

    def _score(self) -> None:
        if self.trees:
            self._op(
                "TreeEnsembleRegressor", ["columns"], "trees", domain="ai.onnx.ml",
                n_targets=self.n_outputs, aggregate_function="SUM", post_transform="NONE",
                **self.trees,
            )  # fmt: skip
            self.terms.append("trees")
        if not self.terms:
            raise self._refused("it reads no column")
        total = self.terms[0]
        for n, term in enumerate(self.terms[1:]):
            total = self._op("Add", [total, term], f"sum {n}")
        self._op("Add", [total, self._constant(self.base.astype(np.float32))], "score")

    def _answer(self) -> None:
        """Add the probabilities of the link, and the place of the class."""
        gone = self._op("IsNaN", ["score"], "score gone")
        alone = self._op("Cast", [gone], "gone", to=self._onnx.TensorProto.INT32)
        most = self._op("ReduceMax", [alone], "any gone", axes=[1], keepdims=0)
        none = self._op("Cast", [most], "no answer", to=self._onnx.TensorProto.BOOL)
        found = (self._two if len(self.model["classes"]) == 2 else self._several)()
        self._op("Where", [none, self._constant(np.int64(-1)), found], "label")

    def _number(self, value: Any) -> str:
        return self._constant(np.float32(value))

    def _two(self) -> str:
        readout, one = self.model["readout"], self._number(1.0)
        if readout["link"] == "share":
            raised = self._op("Add", ["score", one], "raised")
            half = self._op("Div", [raised, self._number(2.0)], "half")
            up = self._op("Clip", [half, self._number(0.0), one], "up")
        else:
            odds = self._op("Mul", ["score", self._number(readout["slope"])], "log odds")
            up = self._op("Sigmoid", [odds], "up")
        self._op("Concat", [self._op("Sub", [one, up], "down"), up], "probabilities", axis=1)
        bound = self.model["target"].get("bound", _TIE)
        above = self._op("Greater", ["score", self._number(bound)], "above")
        whole = self._op("Cast", [above], "second", to=self._onnx.TensorProto.INT64)
        return self._op("Squeeze", [whole, self._constant(np.array([1], dtype=np.int64))], "place")

    def _several(self) -> str:
        readout, many = self.model["readout"], len(self.model["classes"])
        if readout["link"] == "share":
            times = self._op("Mul", ["score", self._number(many - 1)], "times")
            raised = self._op("Add", [times, self._number(1.0)], "raised")
            kept = self._op(
                "Relu", [self._op("Div", [raised, self._number(many)], "share")], "kept"
            )
            axis = self._constant(np.array([1], dtype=np.int64))
            total = self._op("ReduceSum", [kept, axis], "total", keepdims=1)
            self._op("Div", [kept, total], "probabilities")
        else:
            odds = self._op("Mul", ["score", self._number(readout["slope"])], "log odds")
            self._op("Softmax", [odds], "probabilities", axis=1)
        top = self._op("ReduceMax", ["score"], "greatest", axes=[1], keepdims=1)
        near = self._op("Sub", [top, self._number(_TIE)], "near")
        below = self._op("Less", ["score", near], "below")
        level = self._op("Cast", [self._op("Not", [below], "level")], "first",
                         to=self._onnx.TensorProto.INT32)  # fmt: skip
        return self._op("ArgMax", [level], "place", axis=1, keepdims=0)
