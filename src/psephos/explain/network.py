"""The network of columns: how often each is read, and which are read together."""

# pyright: reportMissingTypeStubs=false

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import networkx as nx
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from psephos._errors import MissingExtraError, PsephosError
from psephos.vote.ballots import frame_of

__all__ = ["ColumnNetwork"]

_Floats = NDArray[np.float64]
_sparse: Any = scipy.sparse
_WRITERS = (".graphml", ".gexf", ".json")


@dataclass(frozen=True)
class ColumnNetwork:
    """Columns as nodes, joint use as edges.

    With M models (or voters), u_m the set of columns that model m reads::

        weight of column j     = #{m : j in u_m} / M
        weight of edge (j, k)  = #{m : j in u_m and k in u_m} / M

    Source: SWAG (Molinari et al. 2020), section 4, Figures 1 and 2.

    Parameters
    ----------
    names : list of str
        Columns that some model reads, the most used first.
    positions : ndarray of shape (q,), intp
        Their places in the table.
    weight : ndarray of shape (q,)
        Share of the models that read each.
    joint : ndarray of shape (q, q)
        Share of the models that read both; the diagonal is `weight`.
    n_models : int
    """

    names: list[str]
    positions: NDArray[np.intp]
    weight: _Floats
    joint: _Floats
    n_models: int

    # ------------------------------------------------------------------ made from
    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Return the network of a fitted estimator's voters; those that read nothing are left out.

        Parameters
        ----------
        estimator : fitted estimator of psephos

        Raises
        ------
        PsephosError
            If no voter reads a column.
        """
        return cls.from_usage(estimator.usage(), estimator.schema_.words().columns)

    @classmethod
    def from_library(cls, library: Any, *, chosen: bool = True) -> Self:
        """Return the network of a library's models: those that vote, or all strong ones."""
        part = library.chosen() if chosen else library
        names = {int(j): word for j, word in zip(part.columns, part.words, strict=True)}
        words = [names.get(j, "") for j in range(part.n_features)]
        return cls.from_usage(part.usage(), words)

    @classmethod
    def from_usage(cls, usage: Any, names: Sequence[str]) -> Self:
        """Return the network of a (T, p) table of who reads which column.

        Raises
        ------
        PsephosError
            If no row reads a column.
        """
        table: Any = _sparse.csr_array(usage, dtype=np.float64)
        table = table[np.flatnonzero(np.diff(table.indptr) > 0)]
        n_models = table.shape[0]
        if not n_models:
            raise PsephosError("no voter reads a column: there is no network to draw.")
        counts = np.asarray(table.sum(axis=0)).ravel()
        used = np.flatnonzero(counts)
        order = used[np.lexsort([used, -counts[used]])]
        small = table[:, order]
        joint = np.asarray((small.T @ small).toarray()) / n_models
        words = [names[int(j)] for j in order]
        return cls(words, order.astype(np.intp), counts[order] / n_models, joint, n_models)

    # ------------------------------------------------------------------ reading it
    def nodes(self) -> dict[str, list[Any]]:
        """Return one entry a column: ``column``, ``share``, ``role``, ``hub``, ``lift``.

        Roles (source, section 4): a *main hub* is read by at least half of the models (if none
        is, the most used columns are); a *secondary hub* or synonym stands with a main hub more
        often than chance (`lift` above 1); others are called *occasional*. ``hub`` is the main hub
        that the column stands with most often; ``lift`` is joint share / product of shares.
        """
        main = self.hubs()
        role, hub, lift = list[str](), list[str](), list[float]()
        for j, name in enumerate(self.names):
            if name in main:
                role, hub, lift = [*role, "main hub"], [*hub, ""], [*lift, float("nan")]
                continue
            best = max(range(len(main)), key=lambda k, j=j: (self.joint[j, k], -k))
            ratio = float(self.joint[j, best] / (self.weight[j] * self.weight[best]))
            role.append("secondary hub" if ratio > 1 else "occasional")
            hub.append(main[best] if self.joint[j, best] > 0 else "")
            lift.append(ratio)
        return {
            "column": list(self.names),
            "share": self.weight.tolist(),
            "role": role,
            "hub": hub,
            "lift": lift,
        }

    def hubs(self, share: float = 0.5) -> list[str]:
        """Return the main hubs: columns read by at least this share of the models.

        If there is none, those of the greatest share.
        """
        bound = min(share, float(self.weight.max()))
        return [n for n, w in zip(self.names, self.weight, strict=True) if w >= bound]

    def edges(self, least: float = 0.0) -> dict[str, list[Any]]:
        """Return one entry a pair of columns read together: ``first``, ``second``, ``share``.

        Parameters
        ----------
        least : float, default=0.0
            Pairs of a smaller share are left out.
        """
        first, second = np.nonzero(np.triu(self.joint, 1) > 0)
        share = self.joint[first, second]
        kept = np.flatnonzero(share >= least)
        order = kept[np.lexsort([second[kept], first[kept], -share[kept]])]
        return {
            "first": [self.names[j] for j in first[order]],
            "second": [self.names[j] for j in second[order]],
            "share": share[order].tolist(),
        }

    def frame(self, backend: str | None = None) -> Any:
        """Return `nodes` as a data frame."""
        return frame_of(self.nodes(), backend)

    def entropy(self) -> float:
        """Return the Shannon entropy of the columns' shares in all uses, in nats.

        H = -sum_j f_j ln f_j with f_j = uses of j / uses of all: ln q if q columns are read
        equally often, 0 if only one is.
        """
        f = self.weight / self.weight.sum()
        return float(-(f * np.log(f)).sum())

    def above(self, share: float) -> Self:
        """Return the network of the columns read by at least this share of the models.

        Raises
        ------
        PsephosError
            If there is none.
        """
        kept = np.flatnonzero(self.weight >= share)
        if not len(kept):
            raise PsephosError(
                f"no column is read by {share:.0%} of the models: the most used one is read by "
                f"{self.weight.max():.0%}."
            )
        names = [self.names[j] for j in kept]
        joint = self.joint[np.ix_(kept, kept)]
        return type(self)(names, self.positions[kept], self.weight[kept], joint, self.n_models)

    # ------------------------------------------------------------------ other programs
    def graph(self) -> Any:
        """Return a networkx Graph: nodes with ``share`` and ``role``, edges with ``weight``."""
        graph: Any = nx.Graph(n_models=self.n_models)
        told = self.nodes()
        for name, share, role in zip(told["column"], told["share"], told["role"], strict=True):
            graph.add_node(name, share=share, role=role)
        pairs = self.edges()
        for a, b, share in zip(pairs["first"], pairs["second"], pairs["share"], strict=True):
            graph.add_edge(a, b, weight=share)
        return graph

    def layout(self, seed: int = 0) -> _Floats:
        """Return places (q, 2) in [-1, 1]: strongly joined columns stand near each other."""
        if len(self.names) == 1:
            return np.zeros((1, 2))
        places = nx.spring_layout(self.graph(), weight="weight", seed=seed, iterations=200)
        return np.array([places[name] for name in self.names])

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the network as GraphML, GEXF or JSON (node-link), by the ending of the path.

        Raises
        ------
        PsephosError
            If the ending is another.
        """
        file = Path(path)
        if file.suffix.lower() not in _WRITERS:
            raise PsephosError(f"{file.name!r} ends in none of {', '.join(_WRITERS)}.")
        graph = self.graph()
        if file.suffix.lower() == ".json":
            links: Any = nx.node_link_data(graph, edges="links")
            file.write_text(json.dumps(links, indent=1, sort_keys=True), encoding="utf-8")
        elif file.suffix.lower() == ".gexf":
            nx.write_gexf(graph, file)
        else:
            nx.write_graphml(graph, file)
        return file

    # ------------------------------------------------------------------ drawing
    def plot(self, *, least: float = 0.0, seed: int = 0, ax: Any = None) -> Any:
        """Draw the network: area by share of the models, line width by joint share.

        Parameters
        ----------
        least : float, default=0.0
            Columns and edges of a smaller share are left out.
        seed : int, default=0
            Of the layout.
        ax : matplotlib Axes, default=None

        Returns
        -------
        ax : matplotlib Axes

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise MissingExtraError("matplotlib", "a plot", "plot") from None
        shown = self.above(least)
        places = shown.layout(seed)
        axes: Any = plt.subplots(figsize=(7, 7))[1] if ax is None else ax
        for j in range(len(shown.names)):
            for k in range(j):
                share = shown.joint[j, k]
                if share > 0 and share >= least:
                    line = places[[j, k]].T
                    axes.plot(*line, color="0.6", lw=0.5 + 4 * share, alpha=0.3 + 0.6 * share)
        axes.scatter(*places.T, s=60 + 900 * shown.weight, c=shown.weight, cmap="Blues", vmin=-0.3,
                     vmax=1, edgecolors="0.3", zorder=2)  # fmt: skip
        for name, (x, y) in zip(shown.names, places, strict=True):
            axes.annotate(name, (x, y), ha="center", va="center", fontsize=8, zorder=3)
        axes.set_axis_off()
        axes.set_title(f"{len(shown.names)} columns of {self.n_models} models")
        return axes
