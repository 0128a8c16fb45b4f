"""Who learns the next voter: the library's stump, or any scikit-learn classifier."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos.base import VoteEstimator
from psephos.estimator.input import Context
from psephos.estimator.params import refuse_unread
from psephos.kernels.numerics.criteria import opposite_labels
from psephos.models.boosting.loop import Learner
from psephos.models.cloning import in_codes, refuse_categories, seed_parameters
from psephos.models.training import Training
from psephos.trees.stump import Criterion, Stump, StumpSearch
from psephos.vote import StumpVoters, Voters, from_estimators, mixed_voters

_Floats = NDArray[np.float64]


class StumpLearner:
    """Decision stumps over all columns, sorted once.

    By 'gini' each side answers with its heaviest class, as a tree of depth 1 does; by 'error' the
    two sides answer differently (two classes: opposite signs), since the stump is then the pair
    of answers of least weighted error. With `says` 'probability' each side says its class shares,
    by weight.
    """

    def __init__(
        self,
        data: Training,
        criterion: Criterion,
        min_weight: float,
        n_jobs: int | None,
        says: str = "answer",
    ) -> None:
        table, target = data.table, data.target
        self.n_features = table.values.shape[1]
        self.code = target.code
        self.criterion: Criterion = criterion
        self.min_weight = min_weight
        self.says = says
        self.search = StumpSearch(
            table.values, data.y, target.n_classes, categories=table.n_codes, n_jobs=n_jobs
        )

    def learn(self, pi: _Floats, task: int) -> tuple[Any, NDArray[Any]] | None:
        """Return the best stump and what it says."""
        stump = self.search.best(pi, self.criterion, self.min_weight)
        if stump is None:
            return None
        if self.says == "probability":
            shares = [_shares(side) for side in (stump.left_totals, stump.right_totals)]
            return (stump, *shares), np.where(self.search.left(stump)[:, None], *shares)
        left, right = self._answers(stump)
        answers = np.where(self.search.left(stump), left, right).astype(np.intp)
        return (stump, left, right), answers

    def _answers(self, stump: Stump) -> tuple[int, int]:
        left, right = stump.left_totals, stump.right_totals
        if self.criterion == "gini":
            return int(left.argmax()), int(right.argmax())
        return opposite_labels(left, right)

    def voters(self, found: Sequence[Any]) -> StumpVoters:
        """Return the stumps as voters."""
        stumps: list[Stump] = [f[0] for f in found]
        columns, feature = np.unique([s.column for s in stumps], return_inverse=True)
        none = np.empty(0, dtype=bool)
        sets = [none if s.left_categories is None else s.left_categories for s in stumps]
        return StumpVoters(
            n_features=self.n_features,
            columns=columns.astype(np.intp),
            feature=feature.astype(np.intp),
            threshold=np.array([s.threshold for s in stumps], dtype=np.float64),
            missing_left=np.array([s.missing_left for s in stumps], dtype=bool),
            category_ptr=np.cumsum([0, *(len(s) for s in sets)]).astype(np.intp),
            category_left=np.concatenate([none, *sets]),
            left=self._votes([f[1] for f in found]),
            right=self._votes([f[2] for f in found]),
        )

    def _votes(self, said: list[Any]) -> _Floats:
        """Return the (T, K) votes for classes, or for class shares."""
        return np.stack(said) @ self.code if self.says == "probability" else self.code[said]


def _shares(totals: _Floats) -> _Floats:
    """Return the class shares of a side; a side without weight says all alike."""
    total = totals.sum()
    return totals / total if total > 0 else np.full(len(totals), 1.0 / len(totals))


class EstimatorLearner:
    """Any scikit-learn classifier that takes sample weights, cloned and fitted each round.

    It is given pi times the total weight (the number of rows, where no row has a weight), so that
    a penalty such as C means what it means outside boosting. With `says` 'probability' a voter says
    its ``predict_proba``.
    """

    def __init__(
        self, estimator: Any, data: Training, context: Context, says: str = "answer"
    ) -> None:
        self.estimator = in_codes(estimator, data.target)
        self.X = data.table.values
        self.y = data.y
        self.total = float(data.weight.sum())
        self.code = data.target.code
        self.context = context
        self.says = says
        self.given = _categories(estimator, data)

    def learn(self, pi: _Floats, task: int) -> tuple[Any, NDArray[Any]] | None:
        """Return a fitted clone and what it says."""
        voter: Any = clone(self.estimator)
        seeds = seed_parameters(voter)
        voter.set_params(**{n: self.context.integer(1 + task, i) for i, n in enumerate(seeds)})
        voter.set_params(**self.given)
        try:
            voter.fit(self.X, self.y, sample_weight=pi * self.total)
        except (TypeError, ValueError) as error:  # a Pipeline raises the second
            if "sample_weight" not in str(error) or isinstance(error, PsephosError):
                raise
            raise PsephosError(
                f"estimator {type(voter).__name__} does not take sample_weight in fit: boosting "
                "needs a classifier that does."
            ) from None
        if self.says == "probability":
            return voter, self._probabilities(voter)
        return voter, np.asarray(voter.predict(self.X), dtype=np.intp)

    def _probabilities(self, voter: Any) -> _Floats:
        if not hasattr(voter, "predict_proba"):
            raise PsephosError(
                f"estimator {type(voter).__name__} has no predict_proba: let it say 'answer', or "
                "boost CalibratedClassifierCV of it."
            )
        known = np.asarray(voter.predict_proba(self.X), dtype=np.float64)
        said = np.zeros((len(known), len(self.code)))
        said[:, np.asarray(voter.classes_, dtype=np.intp)] = known
        return said

    def voters(self, found: Sequence[Any]) -> Voters:
        """Return the fitted classifiers as voters; known kinds become plain arrays."""
        if self.says == "probability":
            return mixed_voters(found, self.X.shape[1], self.code, "probability")
        return from_estimators(found, self.X.shape[1], self.code)


def _categories(estimator: Any, data: Training) -> dict[str, Any]:
    """Return the parameters by which an estimator knows columns of category codes."""
    columns = sorted(data.table.n_codes)
    if not columns:
        return {}
    if isinstance(estimator, VoteEstimator) and estimator.reads_categories():
        return {"categorical_features": columns}
    words = data.table.schema.words().columns
    known = "CARTClassifier, C45Classifier, or the stumps of estimator=None"
    instead = f"boost a model of psephos that knows categories ({known})"
    refuse_categories(estimator, "estimator", [words[j] for j in columns], instead)


def make_learner(model: Any, data: Training, context: Context) -> Learner:
    """Return the learner a recipe's parameters ask for."""
    says = getattr(model, "says", "answer")
    if model.estimator is None:
        least = model.min_weight_fraction_leaf
        return StumpLearner(data, model.criterion, least, model.n_jobs, says)
    refuse_unread(
        model,
        ("criterion", "min_weight_fraction_leaf"),
        "with an estimator of your own: it applies to the default stump only; set parameters of "
        "the estimator instead.",
    )
    return EstimatorLearner(model.estimator, data, context, says)
