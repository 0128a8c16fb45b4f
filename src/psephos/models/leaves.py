"""The leaf of each row in each tree: `apply` of trees, forests and boosted trees."""

from typing import Any, ClassVar

from psephos._errors import PsephosError
from psephos._types import Indices, TableLike
from psephos.vote import Vote


class Leaves:
    """Mixin of models of one or several trees: `apply`."""

    vote_: Vote
    _values: Any
    _one_tree: ClassVar[bool] = False  # whether the vote is one tree
    _by_output: ClassVar[bool] = False  # whether each round has a tree per output

    def apply(self, X: TableLike) -> Indices:
        """Return the leaf of each row, as in scikit-learn.

        A leaf is given by the index of its node: 0 is the root, and children come after their
        parents. Indices differ from scikit-learn's, but the partition of the rows is the same.

        Returns
        -------
        leaves : ndarray
            (n_samples,) for one tree, (n_samples, n_trees) for several, and (n_samples, n_rounds,
            n_outputs) for gradient boosting of classes, with one output for two classes. -1 where
            a tree distributes a row over several leaves, as C4.5 does for missing values.
        """
        values = self._values(X)
        leaves = self.vote_.leaves(values)
        if not leaves.shape[1]:
            raise PsephosError(f"the voters of this {type(self).__name__} are not trees.")
        outputs = (self.vote_.target.n_outputs,) if self._by_output else ()
        return leaves[:, 0] if self._one_tree else leaves.reshape(len(leaves), -1, *outputs)
