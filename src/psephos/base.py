"""Base classes of the models: a classifier and a regressor that are votes."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length

from psephos._errors import PsephosError
from psephos._types import Floats, LabelsLike, NDArray, PerRow, TableLike
from psephos.estimator.contender import Anatomy
from psephos.estimator.labels import (
    Labels,
    class_target,
    codes_among,
    is_table,
    number_target,
    read_sample_weight,
    require_answers,
)
from psephos.estimator.partial import (
    later_labels,
    later_soft,
    later_weight,
    partial_target,
    soft_target,
)
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.vote import Target

__all__ = [
    "Anatomy",
    "Labels",
    "VoteClassifier",
    "VoteEstimator",
    "VoteRegressor",
]


@parameters
class _Verbose:
    """Mixin: the parameter that every estimator has.

    Parameters
    ----------
    verbose : int
        Above 0 the progress of fits of many steps (rounds, trees, members) is printed: at 1 about
        ten lines, from 2 on one for each step. It changes no prediction and is not saved.
    """

    _: KW_ONLY
    verbose: int = 0


class VoteClassifier(_Verbose, ClassifierMixin, VoteEstimator):
    """Base of every classifier.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None
        Weights of the training rows by class, times `sample_weight`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted or as declared by `classes`.
    n_classes_ : int or list of int
        Number of classes; of several labels 2 for each.
    """

    #: Whether y may be a table of 0 and 1, one column a label.
    multilabel: ClassVar[bool] = False
    #: Whether rows may lack a label: None, NaN or the value of the parameter `unlabeled`.
    partial_labels: ClassVar[bool] = False
    #: Whether, if rows lack a label, all labelled rows may be of one class.
    one_class: ClassVar[bool] = False
    #: Whether it supports two classes only.
    binary_only: ClassVar[bool] = False
    #: Whether y may be a table of probabilities, one column a class.
    soft_labels: ClassVar[bool] = False

    def _read_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow
    ) -> tuple[Labels, Floats]:
        labels, weight = self._labels_of(X, y, sample_weight)
        if self.binary_only and labels.target.n_classes > 2:
            raise PsephosError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {labels.target.n_classes} classes, and {type(self).__name__} supports two; "
                "fit one class against the rest."
            )
        return labels, weight

    def _labels_of(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow
    ) -> tuple[Labels, Floats]:
        if self.soft_labels and is_table(y):
            found, soft, weight = soft_target(self, X, y, sample_weight)
            codes = np.where(soft.any(axis=1), soft.argmax(axis=1), -1)
            return Labels(Target(found), codes.astype(np.intp), soft), weight
        if self.partial_labels and not issparse(y) and np.asarray(y).ndim == 1:
            partial = partial_target(self, X, y, sample_weight)
            if partial is not None:
                classes, codes, weight = partial
                return Labels(Target(classes), codes), weight
        target, codes, weight = class_target(self, X, y, sample_weight)
        return Labels(target, codes), weight

    def _further_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow, classes: LabelsLike | None
    ) -> tuple[Labels, Floats]:
        known = self.classes_ if hasattr(self, "vote_") else None
        if self.soft_labels and is_table(y):
            found, soft, weight = later_soft(self, X, y, sample_weight, classes, known)
            return Labels(Target(found), soft.argmax(axis=1), soft), weight
        found, codes = later_labels(self, X, y, classes, known)
        weight = later_weight(sample_weight, getattr(self, "class_weight", None), found, codes)
        return Labels(Target(found), codes), weight

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted or as declared by `classes`; shape (n_classes,)."""
        self._fitted()
        target: Any = self.vote_.target
        return target.classes

    @property
    def n_classes_(self) -> int | list[int]:
        """Number of classes; for multilabel targets, a list with one 2 per label."""
        number = len(self.classes_)
        return [2] * number if self.vote_.target.kind == "multilabel" else number

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.multilabel
        tags.classifier_tags.multi_class = not self.binary_only
        return tags

    def decision_function(self, X: TableLike) -> Floats:
        """Return the score F(x).

        Returns
        -------
        score : ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        values = self._values(X)
        return self._flat(self.vote_.score(values))

    def predict_proba(self, X: TableLike) -> Floats:
        """Return class probabilities, shape (n_samples, n_classes), by the link of the read-out.

        With the link 'logistic' (boosting, soft trees, scores of weak labels) they are a function
        of the score. With the link 'share' (most others) they are the classes' shares of the weight
        of the vote. If each voter votes for one class, as in a majority vote of similar models, a
        share can be near 1 although the model is right less often (see `psephos.calibrate`).
        """
        values = self._values(X)  # raises if the model is not fitted
        return self.vote_.probabilities(values)

    def predict_log_proba(self, X: TableLike) -> Any:
        """Return the natural logarithms of `predict_proba`, -inf for a probability of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: TableLike) -> Iterator[Floats]:
        """Yield the score of the first 1, 2, ..., T voters.

        The final vote is truncated: columns and scale of local weights are those of the whole vote.
        """
        for score, _ in self._staged(X):
            yield self._flat(score)

    def staged_predict_proba(self, X: TableLike) -> Iterator[Floats]:
        """Yield the probabilities of the first 1, 2, ..., T voters."""
        for score, mass in self._staged(X):
            yield self.vote_.readout.probabilities(score, self.vote_.target, mass)

    def score(self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None) -> float:
        """Return the weighted accuracy; for several labels, of rows with all labels right.

        Raises
        ------
        PsephosError
            If y, or one of its labels, is missing.
        """
        require_answers(y)
        return super().score(X, y, sample_weight)

    def staged_score(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None
    ) -> Iterator[float]:
        """Yield the accuracy of the first 1, 2, ..., T voters."""
        require_answers(y)
        for answer in self.staged_predict(X):
            yield float(accuracy_score(y, answer, sample_weight=sample_weight))

    def margins(self, X: TableLike, y: LabelsLike) -> Floats:
        """Return each row's margin for its label, in [-1, 1] if votes are (not in boosted trees).

        For two classes it is positive where the vote is right; for K > 2 where the label has more
        than 1 / K of the vote, which need not make it the prediction. For several labels per row, y
        is a table of 0 and 1, and the margin is the mean over labels.

        Raises
        ------
        PsephosError
            If y has a label that is not in `classes_`.
        ValueError
            Raised by scikit-learn, if y is not as long as X.
        """
        values = self._values(X)
        if self.vote_.target.kind == "multilabel":
            labels = np.asarray(y)
            check_consistent_length(values, labels)
            return self.vote_.margins(values, labels)
        codes = codes_among(self.classes_, values, y)
        return self.vote_.margins(values, codes)


class VoteRegressor(_Verbose, RegressorMixin, VoteEstimator):
    """Base of every regressor."""

    #: Whether y may have several columns of numbers.
    multioutput: ClassVar[bool] = False

    def _read_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow
    ) -> tuple[Labels, Floats]:
        target, numbers, weight = number_target(self, X, y, sample_weight)
        return Labels(target, numbers), weight

    def _further_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow, classes: LabelsLike | None
    ) -> tuple[Labels, Floats]:
        target, numbers, _ = number_target(self, X, y, None)
        return Labels(target, numbers), read_sample_weight(sample_weight, len(numbers))

    def score(self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None) -> float:
        """Return the weighted R^2.

        Raises
        ------
        PsephosError
            If y, or one of its numbers, is missing.
        """
        require_answers(y)
        return super().score(X, y, sample_weight)

    def staged_score(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None
    ) -> Iterator[float]:
        """Yield R^2 of the first 1, 2, ..., T voters."""
        require_answers(y)
        for answer in self.staged_predict(X):
            yield float(r2_score(y, answer, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.multioutput
        return tags
