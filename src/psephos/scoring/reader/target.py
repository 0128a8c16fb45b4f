"""Targets: from scores to labels or numbers, and votes as text."""

from typing import Any

from psephos.files.names import (
    class_called,
    class_vote,
    label_vote,
    labels_called,
    number_vote,
    numbers_called,
    threshold_words,
)  # fmt: skip
from psephos.vote.reading.answered import expected_losses
from psephos.vote.reading.core import LEVEL, best


def target_of(data: dict[str, Any]) -> Any:
    """Return the reader of a target."""
    if data["kind"] == "labels target":
        return LabelSets(data)
    classes = ("target", "target with losses", "target with a threshold")
    return (ClassReader if data["kind"] in classes else Numbers)(data)


class ClassReader:
    """A target of one class per case."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.classes, self.n_classes = data["classes"], len(data["classes"])
        self.kind = "binary" if self.n_classes == 2 else "multiclass"
        self.loss, self.bound = data.get("loss"), data.get("bound")
        self.outputs = [""] if self.n_classes == 2 else [str(c) for c in self.classes]
        self.rule = ""
        if "threshold" in data:
            self.rule = threshold_words(str(self.classes[data["positive"]]), data["threshold"])
        k = self.n_classes
        many = [[1.0 if i == j else -1.0 / (k - 1) for j in range(k)] for i in range(k)]
        self.code = [[-1.0], [1.0]] if k == 2 else many

    def level(self, score: Any) -> Any:
        """Return the score with ties up to rounding made exact."""
        if len(score) == 1:
            return [0.0 if abs(score[0]) <= LEVEL else score[0]]
        top = max(score)
        return [top if s >= top - LEVEL else s for s in score]

    def answer(self, score: Any) -> int:
        """Return the index of the class, the first of ties."""
        if self.loss is None:
            return int(score[0] > 0) if len(score) == 1 else best(score)
        expected = expected_losses(score, self.loss)
        least = min(expected) + 1e-12 * max(max(row) for row in self.loss)
        return next(i for i, one in enumerate(expected) if one <= least)

    def decoded(self, score: Any) -> Any:
        """Return the label."""
        return self.classes[self.chosen(score)]

    def chosen(self, score: Any) -> int:
        """Return the predicted class index; with a bound, the second class above it."""
        return self.answer(score) if self.bound is None else int(score[0] > self.bound)

    def plainly(self, vote: Any) -> Any:
        """Return the code of the class that a vote is for, as a majority vote counts it."""
        return self.code[self.answer(vote)]

    def called(self, vote: Any, unused: bool = False) -> str:
        """Return the class that a vote is for; '' for none, or for a voter without weight."""
        return "" if unused else class_called(vote, str(self.classes[self.answer(vote)]))

    def vote_words(self, vote: Any, scale: float, adds: bool) -> str:
        """Return a vote as text: ``ill``, ``ill 81.0 %``, ``+0.31 for ill``, ``nothing``."""
        named, k = [str(c) for c in self.classes], self.answer(vote)
        return class_vote(vote, scale, adds, named, k, self.level(vote), self.code[k])


class LabelSets:
    """A target of several labels per case, each given or not."""

    kind = "multilabel"

    def __init__(self, data: dict[str, Any]) -> None:
        self.classes, self.n_classes = data["classes"], len(data["classes"])
        self.threshold, self.or_equal = data["threshold"], data["or_equal"]
        self.outputs = [str(c) for c in self.classes]

    def level(self, score: Any) -> Any:
        """Return the score with entries that are 0 up to rounding made 0."""
        return [0.0 if abs(s) <= LEVEL else s for s in score]

    def decoded(self, score: Any) -> list[int]:
        """Return 1 for each label that is predicted, else 0."""
        return [int(s >= self.threshold if self.or_equal else s > self.threshold) for s in score]

    def plainly(self, vote: Any) -> Any:
        """Return the signs of a vote, as a majority vote counts it."""
        return [float((v > 0) - (v < 0)) for v in vote]

    def called(self, vote: Any, unused: bool = False) -> str:
        """Return the labels that a vote is for."""
        return labels_called(vote, self.outputs)

    def vote_words(self, vote: Any, scale: float, adds: bool) -> str:
        """Return a vote as text."""
        return label_vote(vote, scale, adds, self.outputs)


class Numbers:
    """A target of one number per case, or several."""

    kind = "regression"

    def __init__(self, data: dict[str, Any]) -> None:
        self.classes, self.n_classes, self.loss = [], 0, None
        self.outputs = data.get("names", [""])

    def level(self, score: Any) -> Any:
        """Return the score: numbers have no ties."""
        return score

    def decoded(self, score: Any) -> Any:
        """Return the number, or the numbers."""
        return score[0] if len(self.outputs) == 1 else score

    def called(self, vote: Any, unused: bool = False) -> str:
        """Return the number to five digits."""
        return numbers_called(vote, self.outputs)

    def vote_words(self, vote: Any, scale: float, adds: bool) -> str:
        """Return a vote as text."""
        return number_vote(vote, scale, self.outputs)
