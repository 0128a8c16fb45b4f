"""In which leaf of each tree a row ends: `apply` of trees, forests and boosted trees."""

from typing import Any, ClassVar

from psephos._errors import PsephosError
from psephos._types import Indices, TableLike
from psephos.vote import Vote


class Leaves:
    """What trees can be asked for, one or many."""

    vote_: Vote
    _values: Any
    #: Whether the vote is one tree, and whether each round of trees is a table with one an output.
    _one_tree: ClassVar[bool] = False
    _by_output: ClassVar[bool] = False

    def apply(self, X: TableLike) -> Indices:
        """Return the leaf that each row ends in, as in scikit-learn.

        A leaf is named by its node: 0 is the root, and children come after their parents (other
        numbers than scikit-learn's, for the same division of the rows).

        Returns
        -------
        leaves : ndarray
            Of one tree (n_samples,), of several (n_samples, n_trees); of gradient boosting of
            classes (n_samples, n_rounds, n_outputs), with one output of two classes.
            -1 where a tree spreads a row over leaves, as C4.5 does where a value is missing.
        """
        values = self._values(X)
        leaves = self.vote_.leaves(values)
        if not leaves.shape[1]:
            raise PsephosError(f"the voters of this {type(self).__name__} are not trees.")
        outputs = (self.vote_.target.n_outputs,) if self._by_output else ()
        return leaves[:, 0] if self._one_tree else leaves.reshape(len(leaves), -1, *outputs)
