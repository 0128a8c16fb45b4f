"""Networks for other programs: networkx, GraphML, GEXF, JSON."""

# pyright: reportMissingTypeStubs=false

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError

__all__ = ["spring_places", "to_graph", "write_graph"]

_WRITERS = (".graphml", ".gexf", ".json")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DATE = re.compile(rb' lastmodifieddate="[^"]*"')
_NODE_KEYS = ("share", "role", "hub", "synonym_of")


def to_graph(nodes: dict[str, list[Any]], edges: dict[str, list[Any]], n_models: int) -> Any:
    """Return a networkx Graph of the tables of a network."""
    graph: Any = nx.Graph(n_models=n_models)
    for i, name in enumerate(nodes["column"]):
        graph.add_node(name, **{key: nodes[key][i] for key in _NODE_KEYS})
    for a, b, share in zip(edges["first"], edges["second"], edges["share"], strict=True):
        graph.add_edge(a, b, weight=share)
    return graph


def spring_places(graph: Any, seed: int) -> NDArray[np.float64]:
    """Return places (q, 2) in [-1, 1] of the nodes in their order (Fruchterman & Reingold)."""
    if len(graph) == 1:
        return np.zeros((1, 2))
    places = nx.spring_layout(graph, weight="weight", seed=seed, iterations=200)
    return np.array([places[name] for name in graph])


def write_graph(graph: Any, file: Path) -> Path:
    """Write a graph by the ending of the path; see `ColumnNetwork.write`."""
    ending = file.suffix.lower()
    if ending not in _WRITERS:
        raise PsephosError(f"{file.name!r} ends in none of {', '.join(_WRITERS)}.")
    if ending == ".json":
        links: Any = nx.node_link_data(graph, edges="links")
        file.write_text(json.dumps(links, indent=1, sort_keys=True), encoding="utf-8")
        return file
    for name in graph:
        if _NOT_XML.search(name):
            raise PsephosError(
                f"column {name!r} has a character that {ending} files cannot hold: rename it, or "
                "write .json."
            )
    buffer = BytesIO()
    if ending == ".gexf":
        nx.write_gexf(graph, buffer)
    else:
        nx.write_graphml_xml(graph, buffer)  # not lxml's, so that bytes depend on no other package
    file.write_bytes(_DATE.sub(b"", buffer.getvalue(), count=1))
    return file
