"""The leaf of each row in each tree: `apply` of trees, forests and boosted trees."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, TableLike
from psephos.base import VoteClassifier, VoteEstimator, VoteRegressor
from psephos.estimator.params import Constraint
from psephos.vote import Constant, Readout, Vote, Voters
from psephos.vote.target import AnyTarget, RegressionTarget


def uniform_vote(voters: Voters, target: AnyTarget, weights: Floats | None = None) -> Vote:
    """Return the weighted mean of the voters, by default with equal weights."""
    alpha = np.ones(voters.n_voters) if weights is None else weights
    readout = Readout("normalised", "share" if target.n_classes else "identity")
    return Vote(voters, Constant(voters.n_features, alpha), readout, target)


class Leaves(VoteEstimator):
    """Mixin of models of one or several trees: `apply`."""

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


class _Voter(Leaves):
    """Base class: a voter is fitted with its ensemble, not by itself."""

    _one_tree: ClassVar[bool] = True
    constraints: ClassVar[Mapping[str, Constraint]] = {}

    def _fit_vote(self, table: Any, labels: Any, weight: Any, context: Any) -> Any:
        raise PsephosError(
            f"a {type(self).__name__} is one voter of a fitted ensemble and cannot be fitted by "
            "itself: fit the ensemble."
        )


class VoterClassifier(_Voter, VoteClassifier):
    """One voter of a fitted ensemble, as a classifier: an entry of its `estimators_`.

    It reads the same table and has the same classes as the ensemble, and has all methods of a
    fitted model.
    """


class VoterRegressor(_Voter, VoteRegressor):
    """One voter of a fitted ensemble, as a regressor: an entry of its `estimators_`."""


class _Members(Sequence[Any]):
    """The voters of an ensemble as fitted estimators, each made when it is indexed."""

    def __init__(self, model: "_Indexed") -> None:
        self._model = model

    def __len__(self) -> int:
        return self._model._n_members()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[t] for t in range(*index.indices(len(self)))]
        return self._model._member(range(len(self))[index])  # negative indices, IndexError

    def __repr__(self) -> str:
        return f"<{len(self)} voters of {type(self._model).__name__}>"


class _Indexed(VoteEstimator):
    """Base class of the mixins: `len(model)`, ``model[t]`` and iteration."""

    def _n_members(self) -> int:
        raise NotImplementedError

    def _member(self, index: int) -> Any:
        raise NotImplementedError

    def _members_made(self) -> _Members:
        self._fitted()
        return _Members(self)

    def _as_estimator(self, vote: Vote) -> Any:
        """Return a vote on the ensemble's table as a fitted estimator."""
        made: Any = VoterClassifier() if vote.target.n_classes else VoterRegressor()
        self.schema_.name_columns(made)
        made._set_fitted(vote, self.schema_, {}, self._sample)
        return made

    def __bool__(self) -> bool:
        return True  # by `len`, an ensemble without voters would be False

    def __len__(self) -> int:
        return len(self._members_made())

    def __getitem__(self, index: Any) -> Any:
        return self._members_made()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members_made())


class Ensemble(_Indexed):
    """Mixin of ensembles: `estimators_`, `len(model)`, ``model[t]`` and iteration.

    Attributes
    ----------
    estimators_ : sequence of estimators
        The voters, each as a fitted estimator, created on access.
    estimator_weights_ : ndarray of shape (n_voters,)
        Their weights, if these are the same for every row.
    """

    @property
    def estimators_(self) -> Any:
        """The voters, each as a fitted estimator; see the class for how they are combined."""
        return self._members_made()

    def _n_members(self) -> int:
        return self.vote_.n_voters

    @property
    def estimator_weights_(self) -> Floats:
        """The weight of each voter, shape (n_voters,), if it is the same for every row."""
        self._fitted()
        weights = self.vote_.constant_weights()
        if weights is None:
            raise AttributeError(
                f"the weights of this {type(self).__name__} differ from row to row: use "
                "vote_.weights(X)."
            )
        return weights

    def _member(self, index: int) -> Any:
        """Return a voter as an estimator that predicts by its vote only."""
        return self._voter_of(self.vote_.voters, index)

    def _voter_of(self, voters: Voters, voter: int) -> Any:
        """Return one of `voters` as an estimator that predicts by its vote only."""
        alone = voters.take(np.array([voter], dtype=np.intp))
        return self._as_estimator(uniform_vote(alone, self.vote_.target))


class BoostedSum(_Indexed):
    """Mixin of sums of a constant and of trees, K per round: `estimators_` is (`n_estimators_`, K).

    Attributes
    ----------
    estimators_ : ndarray of shape (`n_estimators_`, K)
        The trees as fitted regressors, one per round and output: K is 1 for two classes and for
        regression.
    init_ : ndarray of shape (K,)
        The constant that the sum begins with.
    """

    @property
    def init_(self) -> Floats:
        """The constant that the sum begins with, shape (K,)."""
        self._fitted()
        first: Any = self.vote_.voters.take(np.zeros(1, dtype=np.intp))
        return first.votes(np.zeros((1, self.vote_.n_features)))[0, 0]

    @property
    def estimators_(self) -> Array:
        """The trees as fitted regressors: ``init_[c]`` and those of column c sum to score c."""
        made = np.empty((len(self), self.vote_.target.n_outputs), dtype=object)
        for t, row in enumerate(self):
            made[t] = row
        return made

    def _n_members(self) -> int:
        return (self.vote_.n_voters - 1) // self.vote_.target.n_outputs

    def _member(self, index: int) -> Array:
        """Return the trees of a round, shape (K,)."""
        outputs = self.vote_.target.n_outputs
        trees = np.empty(outputs, dtype=object)
        for c in range(outputs):
            trees[c] = self._tree(1 + index * outputs + c, c)
        return trees

    def _tree(self, voter: int, output: int) -> Any:
        """Return a tree as a regressor of its one output."""
        taken: Any = self.vote_.voters.take(np.array([voter], dtype=np.intp))
        tree = taken.parts[0]
        tree = replace(tree, value=np.ascontiguousarray(tree.value[:, [output]]))
        one = Constant(self.vote_.n_features, np.ones(1))
        vote = Vote(tree, one, Readout("sum", "identity"), RegressionTarget())
        return self._as_estimator(vote)
