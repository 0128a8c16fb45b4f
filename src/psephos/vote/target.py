"""Targets: the classes, labels or numbers that are predicted, and their coding as votes."""

from typing import Any, ClassVar, Literal

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.files import names as naming
from psephos.vote.codec import register
from psephos.vote.reading.core import LEVEL

_LABELS = (bool, int, float, str)
_TIED = 1e-12  # of the greatest loss: expected losses that differ by less are equal

Kind = Literal["binary", "multiclass"]


@register
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
            raise PsephosError("class labels must be numbers, booleans or strings.")
        if len({isinstance(c, str) for c in self.classes.tolist()}) > 1:
            raise PsephosError("class labels must be all strings or all numbers, not both.")

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
    def code(self) -> Floats:
        """Return the (n_classes, K) table of codes."""
        k = self.n_classes
        if k == 2:
            return np.array([[-1.0], [1.0]])
        return np.where(np.eye(k, dtype=bool), 1.0, -1.0 / (k - 1))

    @property
    def outputs(self) -> list[str]:
        """Return the names of the K columns of a score; [''] if K is 1."""
        return [""] if self.n_outputs == 1 else [str(label) for label in self.classes.tolist()]

    def words(self, votes: Floats) -> list[str]:
        """Return the name of the class that each row of (m, K) votes is for."""
        return self.classes[self.answers(votes)].astype(str).tolist()

    def decode(self, score: Floats) -> NDArray[Any]:
        """Return the predicted label of each row of an (n, K) score."""
        return self.classes[self.chosen(score)]

    def chosen(self, score: Floats) -> Indices:
        """Return the predicted class index of each row of (n, K) scores, after any calibration."""
        return self.answers(score)

    @property
    def losses(self) -> Floats | None:
        """Return the losses, (true class, predicted class); None: 1 for every wrong class."""
        return None

    def level(self, score: Floats) -> Floats:
        """Return (n, K) scores in which classes that differ from the greatest by rounding equal it.

        A tie is then a tie in predictions and in probabilities, and goes to the first class.
        """
        if self.n_outputs == 1:
            return np.where(np.abs(score) <= LEVEL, 0.0, score)
        top = score[:, 0].copy()
        for k in range(1, score.shape[1]):  # a tenth of what max(axis=1) takes for a few classes
            np.maximum(top, score[:, k], out=top)
        near = score >= (top - LEVEL)[:, None]
        if np.count_nonzero(near) == len(score) and not np.isnan(top).any():
            return score  # no row has two
        return np.where(near, top[:, None], score)

    def answers(self, score: Floats) -> Indices:
        """Return the class index of each row of an (n, K) score; a tie goes to the first class.

        With `losses` it is the class of least expected loss, under the class shares whose mean code
        is the score.
        """
        losses = self.losses
        if losses is not None:
            expected = self._shares(score) @ losses
            least = expected.min(axis=1, keepdims=True) + _TIED * losses.max()
            return (expected <= least).argmax(axis=1)
        if self.n_outputs == 1:
            return (score[:, 0] > 0).astype(np.intp)
        return score.argmax(axis=1)

    def _shares(self, score: Floats) -> Floats:
        """Return the (n, n_classes) shares p whose sum over k of p_k code_k is the score."""
        if self.n_outputs == 1:
            return np.column_stack([1.0 - score[:, 0], 1.0 + score[:, 0]]) / 2.0
        k = self.n_classes
        return ((k - 1) * score + 1.0) / k

    # ------------------------------------------------------------------ in words
    def leading(self, score: Floats) -> int:
        """Return the output of the class predicted by a (K,) score, or the only output."""
        return 0 if self.n_outputs == 1 else int(self.answers(score[None])[0])

    def about(self, output: int) -> str:
        """Return the name of the class that a contribution to an output counts for."""
        return f"class {self._named(1 if self.n_outputs == 1 else output)}"

    def _named(self, k: int) -> str:
        return naming.sentence_name(str(self.classes[k]))

    def vote_words(self, vote: Floats, scale: float, adds: bool) -> str:
        """Return a (K,) vote in words: ``ill``, ``ill 81.0 %``, ``+0.31 for ill``, ``nothing``.

        Parameters
        ----------
        vote : ndarray of shape (K,)
        scale : float
            The size of the other votes: rounding errors of that size count as 0.
        adds : bool
            Whether votes are terms of a sum, rather than averaged.
        """
        k = int(self.answers(vote[None])[0])
        named = [str(label) for label in self.classes.tolist()]
        level, code = self.level(vote[None])[0].tolist(), self.code[k].tolist()
        return naming.class_vote(vote.tolist(), scale, adds, named, k, level, code)

    def answered(self, score: Floats, chances: Floats) -> str:
        """Return the prediction of a (K,) score in words: class, probability and ties."""
        k = int(self.chosen(score[None])[0])
        words = f"{self._named(k)} ({naming.percent(float(chances[k]))})"
        if self.rule():
            return words
        level = np.flatnonzero(chances == chances[k]).tolist()
        others = [self._named(j) for j in level if j != k]
        if not others or len(level) == self.n_classes:
            return words
        return f"{words}, the first of equals: {' and '.join(others)} alike"

    def rule(self) -> str:
        """Return the rule that replaces the greatest score, in words; '' if there is none."""
        return ""

    def margin(self, score: Floats, y: Indices) -> Floats:
        """Return y . F(x), scaled to 1 for one correct voter and -1/(K-1) for a wrong one.

        For two classes this is y F(x) with y in {-1, 1}.
        """
        k = self.n_classes
        if k == 2:
            return np.where(y == 1, score[:, 0], -score[:, 0])
        return (k - 1) / k * np.einsum("nk,nk->n", self.code[y], score)


@register
class CostTarget(Target):
    """Classes with misclassification losses: the class of least expected loss is predicted.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    loss : ndarray of shape (n_classes, n_classes)
        ``loss[j, k]`` is the loss of predicting k where j is true.
    """

    tag: ClassVar[str] = "target with losses"
    loss: Floats

    def __post_init__(self) -> None:
        super().__post_init__()
        k = self.n_classes
        if self.loss.shape != (k, k) or self.loss.dtype != np.float64:
            raise PsephosError("losses must be a table of numbers, a row and a column a class.")
        if not (np.isfinite(self.loss).all() and (self.loss >= 0).all()):
            raise PsephosError("losses must be finite numbers of at least 0.")

    @property
    def losses(self) -> Floats:
        return self.loss


@register
class ThresholdTarget(Target):
    """Two classes, one of which is predicted where its probability is at least a threshold.

    The second class is predicted where the score (2 p - 1 of a calibrated probability p, if there
    is a calibration) is above `bound`, and the first elsewhere.

    Parameters
    ----------
    classes : ndarray of shape (2,)
        The labels, sorted.
    positive : int
        The index of the class whose probability is compared.
    threshold : float
    bound : float
    """

    tag: ClassVar[str] = "target with a threshold"
    positive: int
    threshold: float
    bound: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_classes != 2 or self.positive not in (0, 1):
            raise PsephosError("a threshold needs exactly two classes.")
        if not (0.0 < self.threshold < 1.0 and np.isfinite(self.bound)):
            raise PsephosError("a threshold must be a number above 0 and below 1.")

    def chosen(self, score: Floats) -> Indices:
        return (score[:, 0] > self.bound).astype(np.intp)

    def rule(self) -> str:
        return naming.threshold_words(str(self.classes[self.positive]), self.threshold)


class _Numbers:
    """Base class of numeric targets: the score is the prediction."""

    outputs: list[str] | Any

    @property
    def kind(self) -> Literal["regression"]:
        return "regression"

    @property
    def n_classes(self) -> int:
        return 0

    @property
    def n_outputs(self) -> int:
        return len(self.outputs)

    def about(self, output: int) -> str:
        return self.outputs[output]

    def level(self, score: Floats) -> Floats:
        return score

    def leading(self, score: Floats) -> int:
        """Return 0: ballots explain the first number."""
        return 0

    def words(self, votes: Floats) -> list[str]:
        return [naming.numbers_called(row, self.outputs) for row in votes.tolist()]

    def vote_words(self, vote: Floats, scale: float, adds: bool) -> str:
        return naming.number_vote(vote.tolist(), scale, self.outputs)

    def answered(self, score: Floats, chances: Any) -> str:
        return self.vote_words(score, 0.0, False)

    def margin(self, score: Floats, y: Indices) -> Floats:
        """Raise PsephosError: only classes have a margin."""
        raise PsephosError("a margin needs classes: this vote answers with a number.")


@register
class RegressionTarget(_Numbers):
    """A number: the prediction is the one column of the score.

    Parameters
    ----------
    unit : str, default=''
        Its unit, in words.
    """

    tag: ClassVar[str] = "regression target"
    unit: str = ""

    @property
    def outputs(self) -> list[str]:
        return [""]

    def decode(self, score: Floats) -> Floats:
        return score[:, 0]


@register
class NumbersTarget(_Numbers):
    """Several numbers at once: the prediction is the columns of the score, one a number.

    Parameters
    ----------
    names : tuple of str
        Names of the numbers.
    """

    tag: ClassVar[str] = "numbers target"
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) < len(self.names):
            raise PsephosError("numbers that are predicted together must have different names.")

    @property
    def outputs(self) -> list[str]:
        return list(self.names)

    def decode(self, score: Floats) -> Floats:
        return score


@register
class LabelsTarget:
    """Several labels, each of which a case has or does not have (multilabel).

    A score has one signed column a label: +1 for cases that have it, -1 for others.

    Parameters
    ----------
    classes : ndarray of shape (K,)
        The labels.
    threshold : float, default=0.0
        A label is predicted where its score is above the threshold.
    or_equal : bool, default=False
        Whether it is also predicted where its score equals the threshold.
    """

    tag: ClassVar[str] = "labels target"
    classes: NDArray[np.generic]
    threshold: float = 0.0
    or_equal: bool = False

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1:
            raise PsephosError("a threshold of scores must be between -1 and 1.")
        if self.classes.ndim != 1 or not len(self.classes):
            raise PsephosError("a target of labels needs at least one label.")
        plain = self.classes.dtype.kind in "biufUO"
        if not plain or not all(isinstance(c, _LABELS) for c in self.classes.tolist()):
            raise PsephosError("labels must be numbers, booleans or strings.")
        if len(set(map(str, self.classes.tolist()))) < len(self.classes):
            raise PsephosError("two labels have one name.")

    @property
    def kind(self) -> Literal["multilabel"]:
        return "multilabel"

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_outputs(self) -> int:
        return len(self.classes)

    @property
    def outputs(self) -> list[str]:
        return [str(label) for label in self.classes.tolist()]

    def coded(self, y: Array) -> Floats:
        """Return labels y, an (n, K) table of 0 and 1, as (n, K) votes of -1 and 1."""
        return 2.0 * np.asarray(y, dtype=np.float64) - 1.0

    def words(self, votes: Floats) -> list[str]:
        """Return the labels that each row of (m, K) votes is for."""
        return [naming.labels_called(row, self.outputs) for row in votes.tolist()]

    def level(self, score: Floats) -> Floats:
        """Return (n, K) scores in which rounding errors around 0 are 0."""
        return np.where(np.abs(score) <= LEVEL, 0.0, score)

    def decode(self, score: Floats) -> Indices:
        given = score >= self.threshold if self.or_equal else score > self.threshold
        return given.astype(np.intp)

    def leading(self, score: Floats) -> int:
        """Return the label of greatest score."""
        return int(score.argmax())

    def about(self, output: int) -> str:
        return f"label {naming.sentence_name(self.outputs[output])}"

    def vote_words(self, vote: Floats, scale: float, adds: bool) -> str:
        """Return a (K,) vote in words: ``a, c``, ``a 81.0 %, c 60.0 %``, ``+0.3 for a``."""
        return naming.label_vote(vote.tolist(), scale, adds, self.outputs)

    def answered(self, score: Floats, chances: Floats) -> str:
        names = map(naming.sentence_name, self.outputs)
        each = zip(names, self.decode(score).tolist(), chances.tolist(), strict=True)
        found = [f"{name} ({naming.percent(chance)})" for name, given, chance in each if given]
        return ", ".join(found) if found else "no label"

    def margin(self, score: Floats, y: Array) -> Floats:
        """Return the mean over labels of y F(x), with y in {-1, 1}; y is (n, K) of 0 and 1."""
        return (self.coded(y) * score).mean(axis=1)


AnyTarget = Target | LabelsTarget | RegressionTarget | NumbersTarget
ClassTarget = Target | LabelsTarget
