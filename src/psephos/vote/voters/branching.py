"""Trees of any number of branches as voters."""

from collections.abc import Sequence

import numpy as np

from psephos._types import Floats, Indices
from psephos.trees.tree import Tree, join_trees
from psephos.vote.codec import register_form
from psephos.vote.operations.trees import Trees
from psephos.vote.part import Columns, check


def branch_voters(trees: Sequence[Tree], n_features: int, code: Floats | None = None) -> Trees:
    """Return trees as voters; each votes what its leaves say.

    Rules are on numbers or on categories, with surrogates and with rows that are spread over the
    branches where a value is missing: see `psephos.trees.tree.Tree`. Binary trees by the hundred
    are better written as `TreeVoters`.

    Parameters
    ----------
    trees : sequence of Tree
        At least one, all with intervals or all without, and with the same `strict` and
        `single`; their columns are those of the table.
    n_features : int
    code : ndarray of shape (C, K), default=None
        `Target.code` for trees whose values are class shares (C,): the vote is the sum over c of
        value_c code_c. None: it is the value itself.
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
    """Return voters of the nodes of all trees, as files of older releases hold them.

    The fields are those of `Trees`.
    """
    says = "value" if code is None else "probability"
    return Trees(n_features, columns, root, nodes, nodes.value, code=code, says=says)
