"""What all soft models can do besides fit: learn from batches as they come, and from a teacher."""

from collections.abc import Iterable
from os import PathLike
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from sklearn.exceptions import NotFittedError

from psephos._errors import PsephosError, PsephosTypeError, shortly
from psephos._types import Estimator, LabelsLike, PerRow, TableLike
from psephos.estimator.partial import SoftLabels

_ARRAYS = ("X", "y", "sample_weight")


class UnfittedError(PsephosError, NotFittedError):
    """A model that has to be fitted first."""


class LearnsFromBatches:
    """Methods of soft models: `partial_fit_batches` and `distill`."""

    def partial_fit_batches(
        self, batches: Iterable[Any], classes: LabelsLike | None = None
    ) -> Self:
        """Call `partial_fit` on each batch of an iterable: rows that are never in one place.

        Parameters
        ----------
        batches : iterable
            Each is ``(X, y)``, ``(X, y, sample_weight)``, or the path of a .npz file with arrays
            X, y and perhaps sample_weight, which is read when its turn comes.
        classes : array of shape (n_classes,), default=None
            Of a classifier: all labels there will be. None: those of the first batch.

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            If there is no batch, or one is none of these or cannot be read; the message has its
            number, from 0. Batches before it have been learned.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from psephos import SoftTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> stream = ((X[k::5], y[k::5]) for k in range(5))
        >>> model = SoftTreeClassifier(2, random_state=0).partial_fit_batches(stream)
        >>> model.memory_.n_steps
        5
        """
        own: Any = self
        if isinstance(batches, str | bytes | PathLike) or not isinstance(batches, Iterable):
            raise PsephosTypeError(
                f"batches is {batches!r:.80}: give an iterable of batches, such as [path] for "
                "one file."
            )
        n = -1
        for n, batch in enumerate(batches):
            X, y, weight = _opened(batch, n)
            try:
                own._partial_fit(X, y, weight, classes)
            except PsephosError as error:
                raise type(error)(f"batch {n}: {error}") from None
        if n < 0:
            raise PsephosError("there is no batch to learn from: check the iterable.")
        return self

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
        return own.fit(X, self._taught(teacher, X), sample_weight)

    def _taught(self, teacher: Estimator, X: TableLike) -> Any:
        """Return what a teacher says of rows, as labels of this model."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it learns")


class LearnsClasses(LearnsFromBatches):
    """The same with `partial_fit`, of classifiers."""

    def _taught(self, teacher: Estimator, X: TableLike) -> SoftLabels:
        return learnt_labels(teacher, X)

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
            As `fit`; if a label is none of the classes; if in the first call no column varies.

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


class LearnsNumbers(LearnsFromBatches):
    """The same with `partial_fit`, of regressors."""

    def _taught(self, teacher: Estimator, X: TableLike) -> Any:
        return learnt_numbers(teacher, X)

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
            f"{type(teacher).__name__} answers with classes, which are no numbers to be learned: "
            "let a classifier learn them."
        )
    return _answers(teacher, "predict", X)


def _answers(teacher: Estimator, method: str, X: TableLike) -> Any:
    try:
        return getattr(teacher, method)(X)
    except NotFittedError as error:
        raise UnfittedError(
            f"the teacher, a {type(teacher).__name__}, is not fitted: call its fit first."
        ) from error


def _opened(batch: Any, number: int) -> tuple[Any, Any, Any]:
    """Return X, y and the weights or None of a batch."""
    if isinstance(batch, str | PathLike):
        return _read(batch, number)
    if isinstance(batch, tuple | list) and len(batch) in (2, 3):
        return batch[0], batch[1], batch[2] if len(batch) == 3 else None
    raise PsephosError(
        f"batch {number} is a {type(batch).__name__}: give (X, y), (X, y, sample_weight), or the "
        "path of a .npz file with X and y."
    )


def _read(path: Any, number: int) -> tuple[Any, Any, Any]:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as held:
            found = {name: held[name] for name in _ARRAYS if name in held.files}
            names = held.files
    except FileNotFoundError:
        raise PsephosError(f"batch {number}: there is no file {path}.") from None
    except (OSError, ValueError, EOFError, BadZipFile, AttributeError, TypeError) as error:
        raise PsephosError(
            f"batch {number}: {path} is not read as a .npz file of arrays X and y, without objects "
            f"({shortly(error)}): write it by numpy.savez."
        ) from None
    if not {"X", "y"} <= set(found):
        raise PsephosError(f"batch {number}: {path} holds {names}: it needs arrays X and y.")
    return found["X"], found["y"], found.get("sample_weight")
