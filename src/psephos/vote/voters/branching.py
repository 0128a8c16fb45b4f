"""Trees of any number of branches as voters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, NDArray
from psephos.trees.tree import STAY, Tree, join_trees
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.nodes import check_nodes
from psephos.vote.operations.trees import Trees
from psephos.vote.part import Columns, ReadsColumns, check, check_part


@register
@dataclass(frozen=True)
class BranchVoters(ReadsColumns, ReadAsLowered):
    """Trees of any number of branches; each votes what its leaves say.

    Rules are on numbers or on categories, with surrogates and with rows that are spread over the
    branches where a value is missing: see `psephos.trees.tree.Tree`. Binary trees by the hundred
    are better written as `TreeVoters`.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that a rule or a surrogate reads.
    root : ndarray of shape (T,), intp
        The first node of each tree.
    nodes : Tree
        The nodes of all trees, one tree after the other; their columns are positions in `columns`.
    code : ndarray of shape (C, K) or None, default=None
        The vote is sum over c of value_c code_c, with value (C,) what the tree says: class shares
        and the table of codes. None: it is value itself.
    """

    tag: ClassVar[str] = "branching tree voters"
    n_features: int
    columns: Columns
    root: NDArray[np.intp]
    nodes: Tree
    code: Floats | None = None

    def __post_init__(self) -> None:
        check_part(self)
        check(type(self.nodes) is Tree, "the nodes are not those of trees")
        check_nodes(self.root, self.nodes, len(self.columns))
        code = self.code
        if code is not None:
            check(code.ndim == 2, "codes are not a table")
            check(len(code) == self.nodes.value.shape[1], "codes and class shares differ")

    @classmethod
    def of(cls, trees: Sequence[Tree], n_features: int, code: Floats | None = None) -> Self:
        """Return trees as voters.

        Parameters
        ----------
        trees : sequence of Tree
            At least one, all of one class with the same `strict` and `single`; their columns are
            those of the table.
        n_features : int
        code : ndarray of shape (C, K), default=None
            As above: `Target.code` for trees whose values are class shares.
        """
        alike = {(tree.lower is None, tree.strict, tree.single) for tree in trees}
        check(len(alike) == 1, "trees compare in different ways")
        root, nodes = join_trees(trees)
        columns = nodes.columns
        rules = np.searchsorted(columns, nodes.column)
        local = nodes.on_columns(rules, np.searchsorted(columns, nodes.surrogates.column))
        return cls(n_features, columns, root, local, code)

    @property
    def n_voters(self) -> int:
        return len(self.root)

    @cached_property
    def _operation(self) -> Trees:
        says = "value" if self.code is None else "probability"
        how: Any = {"code": self.code, "says": says}
        return Trees(self.n_features, self.columns, self.root, self.nodes, self.nodes.value, **how)

    @property
    def node_votes(self) -> Floats:
        """Return the (nodes, K) votes of the nodes."""
        return self._operation.node_votes

    def leaves(self, X: Floats) -> NDArray[np.intp]:
        """Return the (n, T) node at which each row of X ends in each tree; -1 if it is divided."""
        return self._operation.leaves(X)

    def primary(self) -> Self:
        return self.primary_beside(())

    def primary_beside(self, unsure: Sequence[int]) -> Self:
        """Return the same trees without the surrogates that only a missing value asks.

        Of a rule on categories that does not know all of them, and of rules on the columns
        `unsure`, of which there may be categories that the trees were not grown on, those stay that
        a case without missing values may ask: up to the first on numbers.
        """
        nodes, every = self.nodes, np.arange(self.nodes.n_nodes)
        unseen = np.repeat(every, np.diff(nodes.code_ptr))[nodes.code_branch < 0]
        asked = nodes.column >= 0
        asked[asked] = np.isin(self.columns[nodes.column[asked]], list(unsure))
        unseen = np.union1d(unseen, every[asked])
        asked_for = nodes.surrogates.of_nodes(every, ~np.isin(every, unseen))
        surrogates = asked_for.without_gaps()
        return replace(self, nodes=replace(nodes, surrogates=surrogates)).take(
            np.arange(self.n_voters)
        )

    def abstaining(self) -> Self:
        stay = np.full_like(self.nodes.missing, STAY)
        return replace(self, nodes=replace(self.nodes, missing=stay))

    def take(self, voters: NDArray[np.intp]) -> Self:
        root, _, nodes = self.nodes.of_trees(self.root, voters)
        kept = nodes.columns
        rules = np.searchsorted(kept, nodes.column)
        local = nodes.on_columns(rules, np.searchsorted(kept, nodes.surrogates.column))
        return replace(self, columns=self.columns[kept], root=root, nodes=local)
