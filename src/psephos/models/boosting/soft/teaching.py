"""What all soft models can do besides fit: learn from rows as they come, and from a teacher."""

from typing import Any, Self

from sklearn.exceptions import NotFittedError

from psephos._errors import PsephosError
from psephos._types import Estimator, LabelsLike, PerRow, TableLike
from psephos.estimator.partial import SoftLabels


class UnfittedError(PsephosError, NotFittedError):
    """A model that has to be fitted first."""


class LearnsFromTeachers:
    """The method `distill` of soft models."""

    def distill(self, teacher: Estimator, X: TableLike, sample_weight: PerRow = None) -> Self:
        """Fit what a fitted model says of rows, in place of labels.

        A classifier learns the teacher's probabilities (`predict_proba`), by cross-entropy with
        these, a regressor the numbers of a regressor. Rows need no labels. Where they come in
        batches, give `partial_fit` the teacher's probabilities.

        Parameters
        ----------
        teacher : estimator
            Fitted, of any library.
        X : table of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            If the teacher is not fitted, that of a classifier has no probabilities, or that of a
            regressor is a classifier.
        """
        own: Any = self
        learnt = learnt_labels if isinstance(self, LearnsClasses) else learnt_numbers
        return own.fit(X, learnt(teacher, X), sample_weight)


class LearnsClasses(LearnsFromTeachers):
    """The same with `partial_fit`, of classifiers."""

    def partial_fit(
        self,
        X: TableLike,
        y: LabelsLike,
        classes: LabelsLike | None = None,
        sample_weight: PerRow = None,
    ) -> Self:
        """Go once through further rows, a step a batch, in the order given.

        The columns, categories, mean and standard deviation of each column, what counts as one
        row's weight, and the penalty of `gate_lasso` are those of the first call, or of `fit`: let
        it have a fair sample. A column of one value there is never read (a warning names it).

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_classes)
            Labels, or probabilities: those of a teacher distil it on rows as they come. Their
            columns are `classes` in the order given, else `classes_`; a data frame names its own.
        classes : array of shape (n_classes,), default=None
            All labels there will be. None: those of the first call.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            As `fit`; if a label is not one of the classes; if no column varies in the first call.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> from psephos import SoftTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> teacher = RandomForestClassifier(20, random_state=0).fit(X, y)
        >>> student = SoftTreeClassifier(3, random_state=0)
        >>> for k in range(300):
        ...     rows = X[k % 3 :: 3]
        ...     _ = student.partial_fit(rows, teacher.predict_proba(rows), teacher.classes_)
        >>> bool((student.predict(X) == teacher.predict(X)).mean() > 0.95)
        True
        """
        own: Any = self
        return own._partial_fit(X, y, sample_weight, classes)


class LearnsNumbers(LearnsFromTeachers):
    """The same with `partial_fit`, of regressors."""

    def partial_fit(self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None) -> Self:
        """Go once through further rows, a step a batch, in the order given.

        The columns and categories, the mean and standard deviation of each column and of y, what
        counts as one row's weight, and the penalty of `gate_lasso` are those of the first call, or
        of `fit`: let it have a fair sample. A column of one value there is never read (a warning
        names it).

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            As `fit`; if y has another number of outputs than in the first call; if in the first
            call no column varies.
        """
        own: Any = self
        return own._partial_fit(X, y, sample_weight)


def learnt_labels(teacher: Any, X: TableLike) -> SoftLabels:
    """Return a fitted classifier's probabilities as labels of its classes."""
    if not hasattr(teacher, "predict_proba"):
        raise PsephosError(
            f"{type(teacher).__name__} has no probabilities to learn from: give a classifier with "
            "predict_proba (CalibratedClassifierCV makes one of others)."
        )
    return SoftLabels.of(_answers(teacher, "predict_proba", X), teacher.classes_)


def learnt_numbers(teacher: Estimator, X: TableLike) -> Any:
    """Return a fitted regressor's numbers."""
    if hasattr(teacher, "classes_") or hasattr(teacher, "predict_proba"):
        raise PsephosError(
            f"teacher must be a regressor; {type(teacher).__name__} predicts classes: let a "
            "classifier learn them."
        )
    return _answers(teacher, "predict", X)


def _answers(teacher: Estimator, method: str, X: TableLike) -> Any:
    try:
        return getattr(teacher, method)(X)
    except NotFittedError as error:
        raise UnfittedError(
            f"the teacher, a {type(teacher).__name__}, is not fitted: call its fit first."
        ) from error
