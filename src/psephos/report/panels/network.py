"""Columns that are read together: the network of the voters, and the errors of a search."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from psephos._types import JsonObject
from psephos.explain import ColumnNetwork, ErrorDisplay
from psephos.report.study.opened import Opened
from psephos.report.words import SPACE, count, number, of, plural

MOST_COLUMNS = 60  # more cannot be distinguished
MOST_PAIRS = 200
FEWEST_VOTERS = 20  # with fewer, a list of pairs is shown in place of a network
_DIGITS = 4  # decimals of coordinates


def drawing(
    network: ColumnNetwork, whole: Mapping[str, str] = MappingProxyType({}), n_voters: int = 0
) -> JsonObject:
    """Return the tables of a network, with coordinates of its columns.

    Parameters
    ----------
    network : ColumnNetwork
        The `MOST_COLUMNS` most used columns are drawn, and of the pairs among them the `MOST_PAIRS`
        that are read together most often.
    whole : dict of str to str
        Short name -> full name of a column.
    n_voters : int, default=0
        The number of voters of the model, with those that read no column.

    Returns
    -------
    drawing : dict
        ``nodes``, with coordinates from -1 to 1; ``pairs``; ``words``, a sentence on the numbers of
        voters and columns; ``left_out``, a sentence or ''. Shares are exact.
    """
    shown = _most_used(network)
    rest = f", of the {count(n_voters)} of the model," if n_voters > network.n_models else ""
    table, joined = shown.nodes(), shown.edges()
    places = np.round(shown.layout(seed=0), _DIGITS).tolist()
    nodes = [
        {
            "name": name,
            "whole": whole.get(name, name),
            "share": table["share"][j],
            "share_text": _per_cent(table["share"][j]),
            "role": table["role"][j],
            "place": places[j],
            "sentence": _sentence(shown, j),
        }
        for j, name in enumerate(shown.names)
    ]
    where = {name: j for j, name in enumerate(table["column"])}
    pairs = [
        _pair(nodes, where[first], where[second], share, network.n_models)
        for first, second, share in zip(*joined.values(), strict=True)
    ]
    return {
        "nodes": nodes,
        "pairs": pairs[:MOST_PAIRS],
        "few": network.n_models < FEWEST_VOTERS,
        "words": (
            f"{plural(network.n_models, 'voter')}{rest} read"
            f" {plural(len(network.names), 'column')} between them; shares are of these."
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


def _pair(
    nodes: Sequence[dict[str, Any]], j: int, k: int, share: float, n_models: int
) -> dict[str, Any]:
    a, b = nodes[j], nodes[k]
    return {
        "first": j,
        "second": k,
        "names": (a["name"], b["name"]),
        "whole": (a["whole"], b["whole"]),
        "share": share,
        "share_text": _per_cent(share),
        "voters": of(round(share * n_models), n_models),
        "sentence": f"{a['name']} and {b['name']}: together in {_per_cent(share)} of the voters",
    }


def _sentence(shown: ColumnNetwork, j: int) -> str:
    """Return the description of a column's circle: its share, and its most frequent partners."""
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


def _per_cent(share: float) -> str:
    """Return a share in per cent, with one decimal if it is small."""
    return f"{100 * share:.{0 if share >= 0.1 or share == 0 else 1}f}{SPACE}%"


def searched(errors: ErrorDisplay, numbers: dict[str, list[Any]]) -> JsonObject:
    """Return the figures of a search, one row per number of columns.

    Parameters
    ----------
    numbers : dict of lists
        For each number of columns: ``n_candidates``, ``n_strong``, ``best``, ``threshold``,
        ``median``.
    """
    rows = [
        [
            str(errors.dimension[d]),
            *(count(numbers[key][d]) for key in ("n_candidates", "n_strong")),
            *(number(numbers[key][d]) for key in ("best", "threshold", "median")),
        ]
        for d in range(len(errors.dimension))
    ]
    return {"rows": rows, "measure": errors.measure.replace("_", " ")}


def together(label: str, opened: Opened) -> dict[str, Any] | None:
    """Return the network of the columns of the card's model; None if it has none."""
    network = opened.network()
    if network is None:
        return None
    alike = bool(network.joint.min() == 1)  # every pair in every voter
    numbers = opened.errors()
    return {
        "label": label,
        "network": None if alike else drawing(network, opened.whole, opened.model.vote_.n_voters),
        "alike": (
            f"The {plural(network.n_models, 'voter')} that read columns all read the same"
            f" {len(network.names)}, so there are no pairs to show."
        )
        if alike
        else "",
        "errors": searched(*numbers) if numbers else None,
    }
