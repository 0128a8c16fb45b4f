"""One tree of a vote, to be drawn: what voters that are trees offer for it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.trees.tree import Tree
from psephos.vote.part import Voters

__all__ = ["ShownTree", "n_trees", "shown_tree"]

_Floats = NDArray[np.float64]


class ShownTree(NamedTuple):
    """A tree on the columns of the table, and the votes of its nodes.

    `shares` (nodes, n_classes) are the class shares of its nodes, None where they hold none;
    `votes` (nodes, K) are the votes of its nodes.
    """

    tree: Tree
    shares: _Floats | None
    votes: _Floats


def n_trees(voters: Voters, voter: int) -> int:
    """Return how many trees a voter is; 0: it is none. Trees say so by a method of that name."""
    ask: Any = getattr(voters, "n_trees", None)
    return 0 if ask is None else ask(voter)


def shown_tree(voters: Voters, voter: int, tree: int) -> ShownTree:
    """Return a tree of a voter that is made of `n_trees`, by the voters' method ``shown_tree``."""
    ask: Any = getattr(voters, "shown_tree")  # noqa: B009  (voters need not have it)
    return ask(voter, tree)
