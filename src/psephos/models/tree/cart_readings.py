"""Tables, importances and prunings of a fitted CART."""

from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._types import Array, Floats
from psephos.estimator.params import Interval
from psephos.models.ensemble import Leaves
from psephos.trees.cart_growth import CartGrowth
from psephos.trees.tree import Tree
from psephos.vote import branch_voters
from psephos.vote.codec import register
from psephos.vote.operations.trees import Trees

register(CartGrowth)


def cut(tree: Tree, growth: CartGrowth, cp: float) -> Tree:
    """Return the tree without the splits whose complexity is at most cp."""
    return tree.collapse(np.flatnonzero((tree.n_children > 0) & (growth.complexity <= cp)))


class CartReadings(Leaves):
    """Mixin of the tables, importances and prunings of a fitted CART."""

    _one_tree: ClassVar[bool] = True
    extras: ClassVar[tuple[str, ...]] = ("growth_",)
    growth_: CartGrowth

    @property
    def tree_(self) -> Tree:
        """The tree: nodes in flat arrays; its values are class shares, or numbers."""
        self._fitted()
        target, tree = self.vote_.target, cast("Tree", self._voters.tree(0))
        if target.kind == "regression":
            return tree
        return replace(tree, value=self.vote_.readout.probabilities(tree.value, target))

    @property
    def _voters(self) -> Trees:
        voters: Any = self.vote_.voters
        return voters

    @property
    def cptable_(self) -> dict[str, Array]:
        """The prunings, smallest first: cp, n_splits, rel_error and (with folds) xerror, xstd."""
        self._fitted()
        growth = self.growth_
        names = ("cp", "n_splits", "rel_error", "xerror", "xstd")
        return {name: getattr(growth, name) for name in names if len(getattr(growth, name))}

    @property
    def nodes_(self) -> dict[str, Array]:
        """The nodes: number (2 i and 2 i + 1 below node i), n_rows, weight, risk, complexity."""
        self._fitted()
        names = ("number", "n_rows", "weight", "risk", "complexity")
        return {name: getattr(self.growth_, name) for name in names}

    @property
    def splits_(self) -> dict[str, Array]:
        """The splits of every node: its own, its competitors and its surrogates.

        Keys: node (its number), role ('primary', 'competitor', 'surrogate'), column (its name or
        index), n_rows (with a value; for a surrogate, those that it sent), below (the side of
        values below the threshold, '' for categories), improve (for a surrogate, the share of
        agreement), threshold (NaN for categories) and adj, the adjusted agreement.
        """
        self._fitted()
        growth, names = self.growth_, self.schema_.names
        column = growth.column if names is None else np.array(names, dtype=object)[growth.column]
        return {
            "node": growth.number[growth.owner],
            "role": np.array(["primary", "competitor", "surrogate"])[growth.role],
            "column": column,
            "n_rows": growth.counted,
            "below": np.array(["left", "", "right"])[growth.side + 1],
            "improve": growth.worth,
            "threshold": growth.threshold,
            "adj": growth.adjusted,
        }

    @property
    def competitors_(self) -> dict[str, Array]:
        """The next best splits of every node, best first: the competitors in `splits_`."""
        table = self.splits_
        kept = table["role"] == "competitor"
        return {name: column[kept] for name, column in table.items() if name not in ("role", "adj")}

    @property
    def variable_importance_(self) -> Floats:
        """The variable importance of rpart, (p,): improvements, as a surrogate times adj."""
        self._fitted()
        return self.growth_.importance()

    def get_depth(self) -> int:
        """Return the number of splits on the longest path to a leaf."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    def prune(self, cp: float) -> Self:
        """Return a fitted estimator with the tree pruned at complexity cp.

        Parameters
        ----------
        cp : float
            Splits that lower the risk by at most this share of the root's risk are removed; a
            value of ``cptable_["cp"]`` gives the tree of that row.

        Raises
        ------
        PsephosError
            If cp is not a number of at least 0.
        """
        self._fitted()
        if not Interval(0).allows(cp):
            raise PsephosError(f"cp must be {Interval(0).words()}; got {cp!r}.")
        pruned: Any = clone(self)
        self.schema_.name_columns(pruned)
        vote, growth = self.vote_, self.growth_
        tree = cut(cast("Tree", self._voters.tree(0)), growth, float(cp))
        voters = branch_voters([tree], vote.n_features)
        growth = growth.pruned(float(cp))
        less = replace(vote, voters=voters)
        pruned._set_fitted(less, self.schema_, {"growth_": growth}, self._sample)
        return pruned
