"""What is predicted, and how an answer is written as numbers."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.vote.codec import register

__all__ = ["CostTarget", "RegressionTarget", "Target"]

_LABELS = (bool, int, float, str)
_TIED = 1e-12  # of the greatest loss: expected losses that differ by less are equal

Kind = Literal["binary", "multiclass"]


@register
@dataclass(frozen=True)
class Target:
    """The classes of a problem and their coding.

    Two classes are one signed column: -1 for the first class, +1 for the second. K > 2 classes
    are K columns in the coding of SAMME (Zhu, Zou, Rosset & Hastie 2009, section 2): 1 in the
    column of the class, -1/(K-1) elsewhere. Both are one rule, `margin`.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    """

    tag: ClassVar[str] = "target"
    classes: NDArray[np.generic]

    def __post_init__(self) -> None:
        if self.classes.ndim != 1 or len(self.classes) < 2:
            raise PsephosError("a target needs at least two classes.")
        plain = self.classes.dtype.kind in "biufUO"
        if not plain or not all(isinstance(c, _LABELS) for c in self.classes.tolist()):
            raise PsephosError("class labels are numbers, truth values or words.")
        if len({isinstance(c, str) for c in self.classes.tolist()}) > 1:
            raise PsephosError("class labels are words or numbers, not both.")

    @property
    def kind(self) -> Kind:
        """Return 'binary' or 'multiclass'."""
        return "binary" if len(self.classes) == 2 else "multiclass"

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    @property
    def n_outputs(self) -> int:
        """Return K, the number of columns of a score: 1 for two classes, else one a class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def code(self) -> NDArray[np.float64]:
        """Return the (n_classes, K) table of codes."""
        k = self.n_classes
        if k == 2:
            return np.array([[-1.0], [1.0]])
        return np.where(np.eye(k, dtype=bool), 1.0, -1.0 / (k - 1))

    @property
    def outputs(self) -> list[str]:
        """Return the names of the K columns of a score; '' where there is one."""
        return [""] if self.n_outputs == 1 else [str(label) for label in self.classes.tolist()]

    def words(self, votes: NDArray[np.float64]) -> list[str]:
        """Return the class that each row of (m, K) votes speaks for."""
        return self.classes[self.answers(votes)].astype(str).tolist()

    def decode(self, score: NDArray[np.float64]) -> NDArray[Any]:
        """Return the label each row of a (n, K) score speaks for."""
        return self.classes[self.answers(score)]

    @property
    def losses(self) -> NDArray[np.float64] | None:
        """Return the loss of each answer, rows the true class; None: of every wrong answer 1."""
        return None

    def answers(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the class index each row of a (n, K) score speaks for; a tie goes to the first.

        With `losses` it is the answer of least expected loss, by the class shares whose codes add
        up to the score.
        """
        losses = self.losses
        if losses is not None:
            expected = self._shares(score) @ losses
            least = expected.min(axis=1, keepdims=True) + _TIED * losses.max()
            return (expected <= least).argmax(axis=1)
        if self.n_outputs == 1:
            return (score[:, 0] > 0).astype(np.intp)
        return score.argmax(axis=1)

    def _shares(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the (n, n_classes) shares p of which the score is sum over k of p_k code_k."""
        if self.n_outputs == 1:
            return np.column_stack([1.0 - score[:, 0], 1.0 + score[:, 0]]) / 2.0
        k = self.n_classes
        return ((k - 1) * score + 1.0) / k

    def margin(self, score: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return y . F(x) scaled so that a voter alone scores 1 if right and -1/(K-1) if wrong.

        For two classes this is y F(x) with y in {-1, 1}.
        """
        k = self.n_classes
        if k == 2:
            return np.where(y == 1, score[:, 0], -score[:, 0])
        return (k - 1) / k * np.einsum("nk,nk->n", self.code[y], score)


@register
@dataclass(frozen=True)
class CostTarget(Target):
    """Classes that are not equally bad to be mistaken for: the answer is that of least loss.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    loss : ndarray of shape (n_classes, n_classes)
        ``loss[j, k]`` is what it costs to answer k where j is true.
    """

    tag: ClassVar[str] = "target with losses"
    loss: NDArray[np.float64]

    def __post_init__(self) -> None:
        super().__post_init__()
        k = self.n_classes
        if self.loss.shape != (k, k) or self.loss.dtype != np.float64:
            raise PsephosError("losses are a table of numbers: a row and a column for each class.")
        if not (np.isfinite(self.loss).all() and (self.loss >= 0).all()):
            raise PsephosError("losses are finite numbers of at least 0.")

    @property
    def losses(self) -> NDArray[np.float64]:
        """Return the loss of each answer, rows the true class."""
        return self.loss


@register
@dataclass(frozen=True)
class RegressionTarget:
    """A number: one column, which is the answer itself.

    Parameters
    ----------
    unit : str, default=''
        In words.
    """

    tag: ClassVar[str] = "regression target"
    unit: str = ""

    @property
    def kind(self) -> Literal["regression"]:
        """Return 'regression'."""
        return "regression"

    @property
    def n_classes(self) -> int:
        """Return 0: there is none."""
        return 0

    @property
    def n_outputs(self) -> int:
        """Return K = 1."""
        return 1

    @property
    def outputs(self) -> list[str]:
        """Return the one nameless column."""
        return [""]

    def words(self, votes: NDArray[np.float64]) -> list[str]:
        """Return each number of (m, 1) votes, to five digits."""
        return [f"{value:.5g}" for value in votes[:, 0].tolist()]

    def decode(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number each row of an (n, 1) score is."""
        return score[:, 0]

    def margin(self, score: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
        """Raise: a margin is for classes.

        Raises
        ------
        PsephosError
            Always.
        """
        raise PsephosError("a margin needs classes: this vote answers with a number.")
