"""The network of columns: how often each is read, and which are read together."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.explain.drawing import draw_network
from psephos.explain.exchange import spring_places, to_graph, write_graph
from psephos.explain.roles import roles
from psephos.vote.ballots import frame_of

__all__ = ["ColumnNetwork", "entropy_of", "voter_usage"]

_Floats = NDArray[np.float64]
_sparse: Any = scipy.sparse


def voter_usage(estimator: Any) -> Any:
    """Return the (T, p) boolean table of which voter reads which column.

    Voters of a reserve, which have weight only where a case has gaps, are left out.

    Parameters
    ----------
    estimator : fitted estimator of psephos
    """
    return estimator.usage()[np.flatnonzero(~estimator.vote_.reserve())]


def entropy_of(counts: _Floats) -> float:
    """Return the Shannon entropy of shares, in nats.

    H = -sum_j f_j ln f_j with f_j = count of j / sum of counts: ln q if q columns are read equally
    often, 0 if only one is.

    Parameters
    ----------
    counts : ndarray of shape (p,)
        Not negative; zeros add nothing. At least one is positive.
    """
    f = counts[counts > 0] / counts.sum()
    return float(-(f * np.log(f)).sum()) + 0.0


@dataclass(frozen=True)
class ColumnNetwork:
    """Columns as nodes, joint use as edges.

    With M models (or voters), u_m the set of columns that model m reads::

        weight of column j     = #{m : j in u_m} / M
        weight of edge (j, k)  = #{m : j in u_m and k in u_m} / M

    A search among many columns of noise ends in a network too: whether there is anything to draw
    says `psephos.explain.selection_test`.

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
    positions: NDArray[np.intp]
    weight: _Floats
    joint: _Floats
    n_models: int

    # ------------------------------------------------------------------ made from
    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Return the network of a fitted estimator's voters.

        Voters that read nothing, and those of a reserve (`voter_usage`), are left out.

        Parameters
        ----------
        estimator : fitted estimator of psephos

        Raises
        ------
        PsephosError
            If no voter reads a column.
        """
        return cls.from_usage(voter_usage(estimator), estimator.schema_.words().columns)

    @classmethod
    def from_library(cls, library: Any, *, chosen: bool = True) -> Self:
        """Return the network of a library's models: those that vote, or all strong ones.

        Parameters
        ----------
        library : Library
            Of a fitted wrapper, or a part of it.
        chosen : bool, default=True
        """
        part = library.chosen() if chosen else library
        names = {int(j): word for j, word in zip(part.columns, part.words, strict=True)}
        words = [names.get(j, "") for j in range(part.n_features)]
        return cls.from_usage(part.usage(), words)

    @classmethod
    def from_usage(cls, usage: Any, names: Sequence[str]) -> Self:
        """Return the network of a (T, p) table of who reads which column.

        Parameters
        ----------
        usage : array or sparse table of shape (T, p)
            True (or any number but 0) where model t reads column j.
        names : sequence of str, length p

        Raises
        ------
        PsephosError
            If no row reads a column, or the names are not one a column.
        """
        table: Any = _sparse.csr_array(usage, dtype=np.float64)
        if table.shape[1] != len(names):
            raise PsephosError(f"{len(names)} names for {table.shape[1]} columns: give one each.")
        table.eliminate_zeros()
        table.data[:] = 1.0
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
        """Return one entry a column: what it is in the network; see `psephos.explain.roles`.

        Returns
        -------
        dict of lists
            ``column``; ``share`` of the models; ``role`` ('main hub', 'secondary hub', 'synonym'
            or 'occasional'); ``hub``, the main hub it stands with most often ('' if none);
            ``lift``, joint share with that hub / product of their shares (NaN if none);
            ``synonym_of``, the column that a synonym replaces ('' for others).
        """
        return {"column": list(self.names), "share": self.weight.tolist(), **roles(self)}

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
        """Return `nodes` as a data frame (pandas if installed, else polars)."""
        return frame_of(self.nodes(), backend)

    def entropy(self) -> float:
        """Return the Shannon entropy of the columns' shares in all uses, in nats (`entropy_of`)."""
        return entropy_of(self.weight)

    def above(self, share: float) -> Self:
        """Return the network of the columns read by at least this share of the models.

        Shares stay those of all models.

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

    # ------------------------------------------------------------------ elsewhere
    def graph(self) -> Any:
        """Return a networkx Graph.

        Nodes are the columns' names, with ``share``, ``role``, ``hub`` and ``synonym_of``; edges
        have ``weight``, the joint share; the graph has ``n_models``.
        """
        return to_graph(self.nodes(), self.edges(), self.n_models)

    def layout(self, seed: int = 0) -> _Floats:
        """Return places (q, 2) in [-1, 1]: strongly joined columns stand near each other.

        The same network and seed give the same places.
        """
        return spring_places(self.graph(), seed)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the network as GraphML, GEXF or JSON (node-link), by the ending of the path.

        The same network gives the same bytes.

        Raises
        ------
        PsephosError
            If the ending is another, or a name has a character that XML cannot hold.
        """
        return write_graph(self.graph(), Path(path))

    def plot(self, *, least: float = 0.0, seed: int = 0, ax: Any = None) -> Any:
        """Draw the network: area by share of the models, line width by joint share.

        Columns are numbered by their share, the most used first, and listed beside.

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
        shown = self.above(least)
        return draw_network(shown, shown.layout(seed), least, ax)
