"""The section on columns that are read together: whose voters, their network, their errors."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from psephos._types import JsonObject
from psephos.explain import ColumnNetwork, ErrorDisplay
from psephos.report.study.opened import Opened
from psephos.report.study.standings import Standing
from psephos.report.words import SPACE, count, head_and_end, number, plural

MOST_COLUMNS = 60  # more cannot be distinguished
MOST_PAIRS = 200
_SIDE, _MARGIN, _RADIUS, _LEAST, _WIDTH = 560.0, 46.0, 26.0, 3.0, 9.0
_LETTER, _LETTERS = 6.4, 34
_WIDE, _TALL, _LEFT = 520.0, 54.0, 8.0  # of a histogram of errors


def drawing(network: ColumnNetwork, whole: Mapping[str, str] = MappingProxyType({})) -> JsonObject:
    """Return the drawing and the tables of a network.

    Parameters
    ----------
    network : ColumnNetwork
        The most used columns come first: the first `MOST_COLUMNS` are drawn, and of the pairs
        among them the `MOST_PAIRS` most often read together.
    whole : dict of str to str
        The whole names of columns whose names in the network are shortened.

    Returns
    -------
    drawing : dict
        ``side`` (of the square), ``nodes``, ``pairs``, ``words`` (how many models and columns),
        ``left_out`` (a sentence, or nothing). Areas of circles and widths of lines are in
        proportion to shares; shares are exact.
    """
    shown = _most_used(network)
    table, joined = shown.nodes(), shown.edges()
    places = _places(shown.layout(seed=0))
    shares: list[float] = table["share"]
    radii = [max(_RADIUS * math.sqrt(share), _LEAST) for share in shares]
    nodes = [
        {
            "name": table["column"][j],
            "whole": whole.get(table["column"][j], table["column"][j]),
            "share": shares[j],
            "share_text": _per_cent(shares[j]),
            "role": table["role"][j],
            "x": places[j][0],
            "y": places[j][1],
            "r": _r(radii[j]),
            "sentence": _sentence(shown, j),
        }
        for j in range(len(shares))
    ]
    for node, label in zip(nodes, _labels(nodes), strict=True):
        node["label"] = label
    where = {name: j for j, name in enumerate(table["column"])}
    pairs = [
        _pair(nodes, where[first], where[second], share)
        for first, second, share in zip(*joined.values(), strict=True)
    ]
    return {
        "side": _SIDE,
        "nodes": nodes,
        "pairs": pairs[:MOST_PAIRS],
        "words": (
            f"{plural(network.n_models, 'voter')} read"
            f" {plural(len(network.names), 'column')} between them."
        ),
        "left_out": _left_out(network, len(nodes), len(pairs)),
    }


def _most_used(network: ColumnNetwork) -> ColumnNetwork:
    most = slice(MOST_COLUMNS)
    return ColumnNetwork(
        network.names[most],
        network.positions[most],
        network.weight[most],
        network.joint[most, most],
        network.n_models,
    )


def _pair(nodes: Sequence[dict[str, Any]], j: int, k: int, share: float) -> dict[str, Any]:
    a, b = nodes[j], nodes[k]
    return {
        "first": j,
        "second": k,
        "names": (a["name"], b["name"]),
        "whole": (a["whole"], b["whole"]),
        "share": share,
        "share_text": _per_cent(share),
        "x1": a["x"],
        "y1": a["y"],
        "x2": b["x"],
        "y2": b["y"],
        "width": _r(max(_WIDTH * share, 0.4)),
        "sentence": f"{a['name']} and {b['name']}: together in {_per_cent(share)} of the voters",
    }


def _sentence(shown: ColumnNetwork, j: int) -> str:
    """Return what a column's circle says: its share, and whom it stands with most."""
    words = f"{shown.names[j]}: read by {_per_cent(float(shown.weight[j]))} of the voters"
    joint = shown.joint[j].copy()
    joint[j] = 0
    others = [int(k) for k in np.argsort(-joint, kind="stable")[:3] if joint[k] > 0]
    if not others:
        return f"{words}, never with another column shown"
    partners = ", ".join(f"{shown.names[k]} ({_per_cent(float(joint[k]))})" for k in others)
    return f"{words}, most often with {partners}"


def _left_out(network: ColumnNetwork, n_nodes: int, n_pairs: int) -> str:
    words: list[str] = []
    if len(network.names) > n_nodes:
        share = _per_cent(float(network.weight[n_nodes]))
        rest = plural(len(network.names) - n_nodes, "column")
        words.append(f"{rest} read less often (by at most {share} of the voters)")
    if n_pairs > MOST_PAIRS:
        words.append(f"{plural(n_pairs - MOST_PAIRS, 'pair')} joined less often")
    return f"Left out: {' and '.join(words)}." if words else ""


# ------------------------------------------------------------------- where things stand
def _places(layout: Any) -> list[tuple[float, float]]:
    """Return the layout, stretched to the square."""
    low, high = layout.min(axis=0), layout.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    part = np.where(high > low, (layout - low) / span, 0.5)
    inside = _MARGIN + part * (_SIDE - 2 * _MARGIN)
    return [(_r(x), _r(y)) for x, y in inside.tolist()]


def _labels(nodes: Sequence[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """Place names beside their circles, the most used first, where they cover nothing."""
    circles = [(n["x"] - n["r"], n["y"] - n["r"], n["x"] + n["r"], n["y"] + n["r"]) for n in nodes]
    taken: list[tuple[float, ...]] = []
    found: list[dict[str, Any] | None] = []
    short = [head_and_end(node["name"], _LETTERS) for node in nodes]
    for j, node in enumerate(nodes):
        text = short[j] if short.count(short[j]) == 1 else node["name"]
        width = _LETTER * len(text)
        best = None
        for dx, dy, anchor in _around(node["r"]):
            x, y = node["x"] + dx, node["y"] + dy
            left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            box = (left, y - 10, left + width, y + 3)
            inside = box[0] >= 2 and box[2] <= _SIDE - 2 and box[1] >= 2 and box[3] <= _SIDE - 2
            others = [c for k, c in enumerate(circles) if k != j] + taken
            if inside and not any(_meet(box, other) for other in others):
                best = {"text": text, "x": _r(x), "y": _r(y), "anchor": anchor}
                taken.append(box)
                break
        found.append(best)
    return found


def _around(r: float) -> list[tuple[float, float, str]]:
    return [
        (r + 4, 4.0, "start"),
        (-r - 4, 4.0, "end"),
        (0.0, -r - 5, "middle"),
        (0.0, r + 13, "middle"),
        (0.7 * r + 3, -0.7 * r - 3, "start"),
        (-0.7 * r - 3, -0.7 * r - 3, "end"),
        (0.7 * r + 3, 0.7 * r + 11, "start"),
        (-0.7 * r - 3, 0.7 * r + 11, "end"),
    ]


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _per_cent(share: float) -> str:
    """Return a share in per cent, with a decimal where it is small."""
    return f"{100 * share:.{0 if share >= 0.1 or share == 0 else 1}f}{SPACE}%"


def _r(value: float) -> float:
    return round(float(value), 2)


def histograms(errors: ErrorDisplay, numbers: dict[str, list[Any]]) -> dict[str, Any]:
    """Return one histogram a number of columns, all on one axis of error.

    Parameters
    ----------
    numbers : dict of lists
        Per number of columns: ``n_candidates``, ``n_strong``, ``best``, ``threshold``, ``median``.

    Returns
    -------
    histograms : dict
        ``rows`` (bars as a path, and the figures of the table), ``ticks``, ``measure``.
    """
    low, high = _range(errors)

    def across(error: float) -> float:
        part = (min(max(error, low), high) - low) / (high - low)
        return round(_LEFT + part * (_WIDE - 2 * _LEFT), 2)

    rows = [
        {
            "dimension": int(errors.dimension[d]),
            "bars": _bars(errors.counts[d], errors.edges, across),
            "threshold": across(float(errors.threshold[d])),
            "median": across(float(errors.median[d])),
            "candidates": count(numbers["n_candidates"][d]),
            "strong": count(numbers["n_strong"][d]),
            **{f"{key}_text": number(numbers[key][d]) for key in ("best", "threshold", "median")},
        }
        for d in range(len(errors.dimension))
    ]
    return {
        "rows": rows,
        "width": _WIDE,
        "height": _TALL,
        "ticks": [{"x": across(v), "text": number(v, 2)} for v in _ticks(low, high)],
        "measure": errors.measure.replace("_", " "),
    }


def _range(errors: ErrorDisplay) -> tuple[float, float]:
    """Return the errors between which there are candidates."""
    seen = errors.counts.sum(axis=0).nonzero()[0]
    if not len(seen):
        return 0.0, 1.0
    return float(errors.edges[seen[0]]), float(errors.edges[seen[-1] + 1])


def _bars(counts: Any, edges: Any, across: Any) -> str:
    most = max(int(counts.max()), 1)
    path: list[str] = []
    for i, n in enumerate(counts.tolist()):
        if n:
            x1, x2 = across(float(edges[i])), across(float(edges[i + 1]))
            top = round(_TALL - n / most * (_TALL - 4), 2)
            path.append(f"M{x1} {_TALL:g}V{top}H{x2}V{_TALL:g}z")
    return "".join(path)


def _ticks(low: float, high: float) -> list[float]:
    return [low + (high - low) * i / 4 for i in range(5)]


def together(standing: Standing, opened: Opened) -> dict[str, Any] | None:
    """Return the network of the opened model's columns, or None if its voters join none.

    Parameters
    ----------
    opened : Opened
        The model of the card: the section never shows another.
    """
    network = opened.network()
    if network is None:
        return None
    alike = bool(network.joint.min() == 1)  # every pair in every voter
    numbers = opened.errors()
    return {
        "label": standing.label,
        "stability": _stability(standing),
        "network": None if alike else drawing(network, opened.whole),
        "alike": (
            f"The {plural(network.n_models, 'voter')} that read columns all read the same"
            f" {len(network.names)}: which of these stand together, their votes do not say."
        )
        if alike
        else "",
        "errors": histograms(*numbers) if numbers else None,
    }


def _stability(standing: Standing) -> str:
    found = standing.summary.stability
    words = (
        "A column that many voters read is not thereby a cause, and voters found by one search on"
        " noise share columns, too."
    )
    if found.value != found.value:
        return words
    return (
        f"{words} Over the {found.n} held-out folds the stability of the columns"
        f" {standing.label} reads is {number(found.value, 2)} (95 % interval {number(found.low, 2)}"
        f" to {number(found.high, 2)}; 1: always the same, 0: as by lot)."
    )
