"""Any scikit-learn scorer as a measure of candidates, whose scores are all there is of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from psephos._errors import PsephosError

_Floats = NDArray[np.float64]


class _Answered(BaseEstimator):
    """A fitted model whose scores are known: row i of its table X is test row X[i, 0]."""

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        self.scores = scores
        self.classes = self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> _Floats:
        scores = self.scores[np.asarray(X)[:, 0].astype(np.intp)]
        return scores[:, 0] if scores.shape[1] == 1 else scores


class _AnsweredClassifier(ClassifierMixin, _Answered):
    def predict_proba(self, X: Any) -> _Floats:
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return softmax(scores, axis=1)
        return np.column_stack([expit(-scores), expit(scores)])

    def predict(self, X: Any) -> NDArray[Any]:
        scores = self.decision_function(X)
        two = scores.ndim == 1
        return self.classes_[(scores > 0).astype(np.intp) if two else scores.argmax(axis=1)]


class _AnsweredRegressor(RegressorMixin, _Answered):
    def predict(self, X: Any) -> _Floats:
        return self.decision_function(X)


@dataclass(frozen=True)
class Scorer:
    """The negative of ``scorer(estimator, X, y)``, called once a candidate and split.

    The scorer sees the labels (empty for regression), the answers, ``decision_function`` (the
    scores) and ``predict_proba`` (their logistic function or softmax), a table of one column, the
    places of its rows among the test rows, and `weight` (L,) unless it is None.
    """

    scorer: Any
    labels: NDArray[Any]
    weight: _Floats | None

    def put(self, scores: _Floats, y: Any, ptr: NDArray[np.int64], out: _Floats) -> None:
        """Put the losses of candidates in out (B, S)."""
        classes = len(self.labels) > 0
        kind = _AnsweredClassifier if classes else _AnsweredRegressor
        truth = self.labels[y] if classes else y
        for b, lines in enumerate(scores):
            model = kind(lines, self.labels)
            for s in range(out.shape[1]):
                out[b, s] = -self._score(model, truth, slice(ptr[s], ptr[s + 1]), s)

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


def scorer_of(scoring: Any) -> Any:
    """Return the scikit-learn scorer that is meant."""
    try:
        return get_scorer(scoring)
    except ValueError as error:
        raise PsephosError(
            f"scoring is {scoring!r}, which is no measure of psephos and no scorer of "
            "scikit-learn (sklearn.metrics.get_scorer_names() lists these)."
        ) from error
