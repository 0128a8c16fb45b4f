"""The network of columns: how often each is read, and which are read together."""

# pyright: reportMissingTypeStubs=false

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import networkx as nx
import numpy as np
import scipy.sparse

from psephos._errors import PsephosError
from psephos._types import Axes, Floats, Indices
from psephos.estimator.params import shown_value
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import axes_of, fitted_vote, plain
from psephos.files.names import plural
from psephos.vote.frames import frame_of

_ALIKE = 0.5  # the least cosine of synonyms
_LISTED = 40  # names listed beside the plot
_NODE_KEYS = ("share", "role", "hub", "synonym_of")
_sparse: Any = scipy.sparse


def voter_usage(estimator: VoteEstimator) -> Any:
    """Return the (T, p) boolean table of which voter of a fitted estimator reads which column.

    Reserves, which have weight only where values are missing, are left out.
    """
    return estimator.usage()[np.flatnonzero(~estimator.vote_.reserve())]


def entropy_of(counts: Floats) -> float:
    """Return the Shannon entropy of counts, in nats.

    H = -sum_j f_j ln f_j with f_j = count of j / sum of counts: ln q if q columns are read equally
    often, 0 if only one is read. Counts must not be negative, and at least one must be positive.
    """
    f = counts[counts > 0] / counts.sum()
    return float(-(f * np.log(f)).sum()) + 0.0


@dataclass(frozen=True)
class ColumnNetwork:
    """Columns as nodes, joint use as edges.

    With M models (or voters) and u_m the set of columns that model m reads::

        weight of column j     = #{m : j in u_m} / M
        weight of edge (j, k)  = #{m : j in u_m and k in u_m} / M

    A search among columns of pure noise yields a network, too: `psephos.explain.selection_test`
    tests whether there is a signal.

    Source: SWAG (Molinari et al. 2020), section 4, Figures 1 and 2.

    Parameters
    ----------
    names : list of str
        The columns that any model reads, the most used first.
    positions : ndarray of shape (q,), intp
        Their positions in the table.
    weight : ndarray of shape (q,)
        The share of models that read each column.
    joint : ndarray of shape (q, q)
        The share of models that read both columns; the diagonal is `weight`.
    n_models : int

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import SparseWrapperClassifier
    >>> from psephos.explain import ColumnNetwork
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> swag = SparseWrapperClassifier("lda", p_max=3, alpha=0.3, random_state=0).fit(X, y)
    >>> network = ColumnNetwork.from_estimator(swag)
    >>> "worst radius" in network.hubs()
    True
    """

    names: list[str]
    positions: Indices
    weight: Floats
    joint: Floats
    n_models: int

    # ------------------------------------------------------------------ made from
    @classmethod
    def from_estimator(cls, estimator: VoteEstimator) -> Self:
        """Return the network of a fitted estimator's voters.

        Voters that read no column, and reserves, are left out.

        Parameters
        ----------
        estimator : fitted estimator of psephos

        Raises
        ------
        PsephosError
            If it is not fitted, or no voter reads a column.
        """
        fitted_vote(estimator)
        return cls.from_usage(voter_usage(estimator), estimator.schema_.words().columns)

    @classmethod
    def from_library(cls, library: Any, *, chosen: bool = True) -> Self:
        """Return the network of a library's models.

        Parameters
        ----------
        library : Library
            The library of a fitted wrapper, or a part of it.
        chosen : bool, default=True
            Only the models that vote; False: all strong models.
        """
        part = library.chosen() if chosen else library
        names = {int(j): word for j, word in zip(part.columns, part.words, strict=True)}
        words = [names.get(j, "") for j in range(part.n_features)]
        return cls.from_usage(part.usage(), words)

    @classmethod
    def from_usage(cls, usage: Any, names: Sequence[str]) -> Self:
        """Return the network of a (T, p) table of which model reads which column.

        Parameters
        ----------
        usage : array or sparse table of shape (T, p)
            True (or any number other than 0) where model t reads column j.
        names : sequence of str, length p

        Raises
        ------
        PsephosError
            If `usage` is not a table of numbers, no model reads a column, or the number of names is
            not that of the columns.
        """
        try:
            table: Any = _sparse.csr_array(usage, dtype=np.float64)
            _, n_columns = table.shape
        except (TypeError, ValueError):
            kind = f"{type(usage).__name__} {shown_value(usage)}"
            raise PsephosError(f"usage must be a (T, p) table of numbers; got {kind}.") from None
        if np.shape(names) != (n_columns,):
            raise PsephosError(
                f"names must name each of {plural(n_columns, 'column')}; got {shown_value(names)}."
            )
        table.eliminate_zeros()
        table.data[:] = 1.0
        table = table[np.flatnonzero(np.diff(table.indptr) > 0)]
        n_models = table.shape[0]
        if not n_models:
            raise PsephosError("usage must have a model that reads a column; no row does.")
        counts = np.asarray(table.sum(axis=0)).ravel()
        used = np.flatnonzero(counts)
        order = used[np.lexsort([used, -counts[used]])]
        small = table[:, order]
        joint = np.asarray((small.T @ small).toarray()) / n_models
        words = [names[int(j)] for j in order]
        return cls(words, order.astype(np.intp), counts[order] / n_models, joint, n_models)

    # ------------------------------------------------------------------ reading it
    def nodes(self) -> dict[str, list[Any]]:
        """Return the role of each column in the network, one entry per column.

        Returns
        -------
        dict of lists
            ``column``; ``share`` of the models; ``role`` ('main hub', 'secondary hub', 'synonym'
            or 'occasional'); ``hub``, the main hub with which it is read most often ('' if none);
            ``lift``, joint share with that hub / product of their shares (NaN if none);
            ``synonym_of``, the column that a synonym replaces ('' for others).

        Notes
        -----
        The source calls the most common columns main hubs and describes a column connected to one
        as "either a secondary hub or a synonym" (with main hub A, column B or column C predict
        equally well). It gives no thresholds; those below are ours. With w the shares and w(j, k)
        the joint ones, lift(j, k) = w(j, k) / (w(j) w(k)) is 1 if two columns are read together as
        often as by chance, and alike(j, k) is the cosine of w(j, .) and w(k, .) over all other
        columns:

        - a *main hub* has w >= 1/2, or the greatest w if no column has that;
        - each other column, the most used first, is
        - a *synonym* of a main or secondary hub k if lift(j, k) < 1 and alike(j, k) >= 1/2: few
          models read both, but they are read with the same other columns (of several k, the one
          with the highest alike);
        - else a *secondary hub*, if it is read with a main hub, and either that hub has no
          secondary hub yet or w is at least half of the threshold of a main hub;
        - else *occasional*.

        ``hub`` is the main hub with which it is read most often (of equals, the most used). These
        roles describe the network only; `Library.synonyms` compares the errors of models with one
        column in place of another.
        """
        return {"column": list(self.names), "share": self.weight.tolist(), **_roles(self)}

    def hubs(self, share: float = 0.5) -> list[str]:
        """Return the main hubs: columns read by at least this share of the models.

        If no column is, those with the greatest share.
        """
        bound = min(share, float(self.weight.max()))
        return [n for n, w in zip(self.names, self.weight, strict=True) if w >= bound]

    def edges(self, least: float = 0.0) -> dict[str, list[Any]]:
        """Return the pairs of columns that are read together: ``first``, ``second``, ``share``.

        Parameters
        ----------
        least : float, default=0.0
            Pairs with a smaller share are left out.
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
        """Return `nodes` as a data frame (pandas if installed, else polars)."""
        return frame_of(self.nodes(), backend)

    def entropy(self) -> float:
        """Return the Shannon entropy of the columns' shares of all uses, in nats."""
        return entropy_of(self.weight)

    def above(self, share: float) -> Self:
        """Return the network of the columns read by at least this share of the models.

        Shares remain those of all models.

        Raises
        ------
        PsephosError
            If no column is.
        """
        kept = np.flatnonzero(self.weight >= share)
        if not len(kept):
            raise PsephosError(
                f"share must be at most {self.weight.max():.0%}, that of the most used column; got "
                f"{share:.0%}."
            )
        names = [self.names[j] for j in kept]
        joint = self.joint[np.ix_(kept, kept)]
        return type(self)(names, self.positions[kept], self.weight[kept], joint, self.n_models)

    # ------------------------------------------------------------------ elsewhere
    def graph(self) -> Any:
        """Return a networkx Graph.

        Nodes are the columns' names, with ``share``, ``role``, ``hub`` and ``synonym_of``; edges
        have ``weight``, the joint share; the graph has ``n_models``. To write it to a file:
        ``networkx.write_graphml(network.graph(), "net.graphml")``.
        """
        nodes, edges = self.nodes(), self.edges()
        graph: Any = nx.Graph(n_models=self.n_models)
        for i, name in enumerate(nodes["column"]):
            graph.add_node(name, **{key: nodes[key][i] for key in _NODE_KEYS})
        for a, b, share in zip(edges["first"], edges["second"], edges["share"], strict=True):
            graph.add_edge(a, b, weight=share)
        return graph

    def layout(self, seed: int = 0) -> Floats:
        """Return (q, 2) coordinates in [-1, 1] by the Fruchterman-Reingold algorithm.

        Columns that are often read together are near each other.
        """
        graph = self.graph()
        if len(graph) == 1:
            return np.zeros((1, 2))
        places = nx.spring_layout(graph, weight="weight", seed=seed, iterations=200)
        return np.array([places[name] for name in graph])

    def plot(self, *, least: float = 0.0, seed: int = 0, ax: Axes | None = None) -> Axes:
        """Draw the network: circle area by share of the models, line width by joint share.

        Columns are numbered by their share, the most used first, and listed beside the plot.

        Parameters
        ----------
        least : float, default=0.0
            Columns and edges with a smaller share are left out.
        seed : int, default=0
            Seed of the layout.
        ax : matplotlib Axes, default=None

        Returns
        -------
        ax : matplotlib Axes

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        shown = self.above(least)
        return _draw(shown, shown.layout(seed), least, ax)


# ---------------------------------------------------------------------- roles of columns
def _roles(network: "ColumnNetwork") -> dict[str, list[Any]]:
    """Return ``role``, ``hub``, ``lift`` and ``synonym_of``: see `ColumnNetwork.nodes`."""
    w, joint = network.weight, network.joint
    lift = joint / np.outer(w, w)
    main = list(range(len(network.hubs())))  # the most used columns are first
    bound = min(0.5, float(w.max())) / 2
    found: list[tuple[str, str, float, str]] = [("main hub", "", float("nan"), "")] * len(main)
    secondary: dict[int, int] = {}  # each secondary hub's main hub
    for j in range(len(main), len(w)):
        hub = int(np.argmax(joint[j, : len(main)]))
        joined = joint[j, hub] > 0
        likes = {k: _alike(joint, j, k) for k in [*main, *secondary] if lift[j, k] < 1 - 1e-9}
        replaced = max(likes, key=lambda k, likes=likes: (likes[k], -k), default=None)
        role, synonym = "occasional", ""
        if replaced is not None and likes[replaced] >= _ALIKE:
            role, synonym = "synonym", network.names[replaced]
        elif joined and (w[j] >= bound or hub not in secondary.values()):
            role = "secondary hub"
            secondary[j] = hub
        name, meets = (network.names[hub], float(lift[j, hub])) if joined else ("", float("nan"))
        found.append((role, name, meets, synonym))
    keys = ("role", "hub", "lift", "synonym_of")
    return {key: [one[i] for one in found] for i, key in enumerate(keys)}


def _alike(joint: Floats, j: int, k: int) -> float:
    """Return the cosine between the joint shares of j and k with all others, rounded for ties."""
    a, b = (np.delete(joint[i], [j, k]) for i in (j, k))
    norm = float(np.sqrt((a @ a) * (b @ b)))
    return round(float(a @ b) / norm, 9) if norm > 0 else 0.0


def _draw(network: ColumnNetwork, places: Floats, least: float, ax: Axes | None) -> Any:
    """Draw a network with its nodes at these (q, 2) coordinates; see `ColumnNetwork.plot`."""
    axes: Any = axes_of(ax, figsize=(10, 7))
    for j, k in np.argwhere(np.triu(network.joint, 1) > 0):
        share = network.joint[j, k]
        if share >= least:
            line = places[[j, k]].T
            axes.plot(*line, color="0.6", lw=0.5 + 4 * share, alpha=0.5 + 0.5 * share)
    shade: dict[str, Any] = {"c": network.weight, "cmap": "Blues", "vmin": -0.3, "vmax": 1.5}
    axes.scatter(*places.T, s=90 + 900 * network.weight, edgecolors="0.3", zorder=2, **shade)
    for i, (x, y) in enumerate(places, 1):
        axes.annotate(str(i), (x, y), ha="center", va="center", fontsize=8, zorder=3)
    known = enumerate(zip(network.names, network.weight, strict=True), 1)
    rows = [f"{i}  {name} ({share:.0%})" for i, (name, share) in known]
    rows[_LISTED:] = [f"and {len(rows) - _LISTED} more"] if len(rows) > _LISTED else []
    axes.text(1.02, 1, plain("\n".join(rows)), transform=axes.transAxes, va="top", fontsize=8)
    axes.set_axis_off()
    axes.set_title(f"{len(network.names)} columns of {network.n_models} models")
    return axes
