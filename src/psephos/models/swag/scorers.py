"""Any scikit-learn scorer as a measure: it is shown a model that has its answers ready."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from psephos._errors import PsephosError
from psephos.models.swag.errors import Errors, summarise, tie_losses
from psephos.models.swag.problem import Folds

__all__ = ["ScorerMeasure"]

_Floats = NDArray[np.float64]


class _Answered(BaseEstimator):
    """A fitted model whose scores are known: row i of its table X is test row X[i, 0]."""

    def __init__(self, scores: Any = None) -> None:
        self.scores = scores

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _at(self, X: Any) -> _Floats:
        return self.scores[np.asarray(X)[:, 0].astype(np.intp)]


class _AnsweredClassifier(ClassifierMixin, _Answered):
    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        super().__init__(scores)
        self.classes = classes
        self.classes_ = classes

    def decision_function(self, X: Any) -> _Floats:
        scores = self._at(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> _Floats:
        scores = self._at(X)
        if scores.shape[1] > 1:
            return softmax(scores, axis=1)
        return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])

    def predict(self, X: Any) -> NDArray[Any]:
        scores = self._at(X)
        two = scores.shape[1] == 1
        return self.classes_[(scores[:, 0] > 0).astype(np.intp) if two else scores.argmax(axis=1)]


class _AnsweredRegressor(RegressorMixin, _Answered):
    def predict(self, X: Any) -> _Floats:
        return self._at(X)[:, 0]


@dataclass(frozen=True)
class ScorerMeasure:
    """The negative of a scorer, called once a candidate and split.

    The scorer sees the labels, the answers, ``decision_function`` (the scores) and
    ``predict_proba`` (their logistic function or softmax), and a table of one column: the
    places of its rows among the test rows.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``, greater is better.
    labels : ndarray of shape (n_classes,)
        Empty for regression.
    y : ndarray of shape (L,)
        Codes or numbers.
    weight : ndarray of shape (L,) or None
        Passed to the scorer as `sample_weight` unless all rows count the same.
    plain, ptr : as in `KernelMeasure`
    """

    scorer: Any
    labels: NDArray[Any]
    y: NDArray[Any]
    weight: _Floats | None
    plain: _Floats
    ptr: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        scoring: Any,
        y: NDArray[Any],
        labels: NDArray[Any],
        weight: _Floats,
        plain: _Floats,
        folds: Folds,
    ) -> Self:
        """Return the measure of a scorer or its name.

        Raises
        ------
        PsephosError
            If scikit-learn has no scorer of that name.
        """
        try:
            scorer = get_scorer(scoring)
        except ValueError as error:
            raise PsephosError(
                f"scoring is {scoring!r}, which is no measure of psephos and no scorer of "
                "scikit-learn (sklearn.metrics.get_scorer_names() lists these)."
            ) from error
        weights = None if (weight == weight[0]).all() else weight
        return cls(scorer, labels, y, weights, plain, folds.test_ptr)

    def errors(self, scores: _Floats) -> Errors:
        """Return the errors of candidates from their out-of-fold scores (B, L, K)."""
        losses = np.empty((len(scores), len(self.ptr) - 1))
        truth = self.labels[self.y] if len(self.labels) else self.y
        for b, lines in enumerate(scores):
            model = _AnsweredClassifier(lines, self.labels) if len(self.labels) else None
            model = _AnsweredRegressor(lines) if model is None else model
            for s in range(losses.shape[1]):
                losses[b, s] = -self._score(model, truth, slice(self.ptr[s], self.ptr[s + 1]), s)
        return summarise(losses, tie_losses(scores, self.y, self.plain, self.ptr))

    def _score(self, model: Any, truth: NDArray[Any], rows: slice, split: int) -> float:
        weights = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        places = np.arange(rows.start, rows.stop)[:, None]
        try:
            score = float(self.scorer(model, places, truth[rows], **weights))
        except (TypeError, ValueError) as error:
            raise PsephosError(
                f"scoring fails on the test rows of split {split}: {error}"
            ) from error
        if not np.isfinite(score):
            raise PsephosError(
                f"scoring gives {score} on the test rows of split {split}: use fewer folds, or a "
                "measure that is defined there."
            )
        return score
