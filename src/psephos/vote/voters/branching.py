"""Trees of any number of branches as voters."""

from collections.abc import Sequence

import numpy as np

from psephos._types import Floats, Indices
from psephos.trees.tree import Tree, join_trees
from psephos.vote.codec import register_form
from psephos.vote.operations.trees import Trees
from psephos.vote.part import Columns, check


def branch_voters(trees: Sequence[Tree], n_features: int, code: Floats | None = None) -> Trees:
    """Return trees of any number of branches as voters; each votes the value of its leaf.

    Rules are on numbers or categories, may have surrogates, and may divide rows with missing values
    among branches: see `psephos.trees.tree.Tree`. For hundreds of binary trees, `TreeVoters` is
    faster.

    Parameters
    ----------
    trees : sequence of Tree
        At least one, all with intervals or all without, and with the same `strict` and
        `single`; their columns are those of the table.
    n_features : int
    code : ndarray of shape (C, K), default=None
        `Target.code` for trees whose values are class shares (C,): the vote is the sum over c of
        value_c code_c. None: the vote is the value.
    """
    alike = {(tree.lower is None, tree.strict, tree.single) for tree in trees}
    check(len(alike) == 1, "trees compare in different ways")
    root, nodes = join_trees(trees)
    columns = nodes.columns
    rules = np.searchsorted(columns, nodes.column)
    local = nodes.on_columns(rules, np.searchsorted(columns, nodes.surrogates.column))
    return joined_trees(n_features, columns, root, local, code)


@register_form("branching tree voters")
def joined_trees(
    n_features: int, columns: Columns, root: Indices, nodes: Tree, code: Floats | None = None
) -> Trees:
    """Return voters from the nodes of all trees, a part of files of older releases.

    The parameters are those of `Trees`.
    """
    says = "value" if code is None else "probability"
    return Trees(n_features, columns, root, nodes, nodes.value, code=code, says=says)
