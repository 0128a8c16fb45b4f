"""What is predicted: from scores to answers, and votes in words."""

from typing import Any

from psephos.vote.names import number, percent
from psephos.vote.reading.core import best

_LEVEL = 2.0**-41


def target_of(data: dict[str, Any]) -> Any:
    """Return the reader of a target."""
    kinds = {
        "target": ClassReader,
        "target with losses": ClassReader,
        "target with a threshold": ClassReader,
        "labels target": LabelSets,
    }
    return kinds.get(data["kind"], Numbers)(data)


class ClassReader:
    """One class."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.classes, self.n_classes = data["classes"], len(data["classes"])
        self.kind = "binary" if self.n_classes == 2 else "multiclass"
        self.loss, self.bound = data.get("loss"), data.get("bound")
        self.outputs = [""] if self.n_classes == 2 else [str(c) for c in self.classes]
        k = self.n_classes
        many = [[1.0 if i == j else -1.0 / (k - 1) for j in range(k)] for i in range(k)]
        self.code = [[-1.0], [1.0]] if k == 2 else many

    def level(self, score: Any) -> Any:
        """Return the score in which what is a tie but for rounding is a tie."""
        if len(score) == 1:
            return [0.0 if abs(score[0]) <= _LEVEL else score[0]]
        top = max(score)
        return [top if s >= top - _LEVEL else s for s in score]

    def answer(self, score: Any) -> int:
        """Return the place of the class, the first of equals."""
        if self.loss is None:
            return int(score[0] > 0) if len(score) == 1 else best(score)
        k = self.n_classes
        shares = (
            [(1.0 - score[0]) / 2.0, (1.0 + score[0]) / 2.0]
            if k == 2
            else [((k - 1) * s + 1.0) / k for s in score]
        )
        expected = [sum(shares[j] * self.loss[j][i] for j in range(k)) for i in range(k)]
        least = min(expected) + 1e-12 * max(max(row) for row in self.loss)
        return next(i for i, one in enumerate(expected) if one <= least)

    def decoded(self, score: Any) -> Any:
        """Return the label."""
        return self.classes[self.chosen(score)]

    def chosen(self, score: Any) -> int:
        """Return the class index of a score that decides; above a bound the second."""
        return self.answer(score) if self.bound is None else int(score[0] > self.bound)

    def plainly(self, vote: Any) -> Any:
        """Return the code of the class that a vote is for."""
        return self.code[self.answer(vote)]

    def called(self, vote: Any, silent: bool = False) -> str:
        """Return the class that a vote is for; '' for none, and of a voter without weight."""
        if silent:
            return ""
        if len(vote) == 1:
            return str(self.classes[self.answer(vote)]) if vote[0] != 0 else ""
        top = sorted(vote)
        one = top[-1] > 0 and top[-1] > top[-2]
        return str(self.classes[self.answer(vote)]) if one else ""

    def vote_words(self, vote: Any, scale: float, adds: bool) -> str:
        """Return what a vote says: ``ill``, ``ill 81.0 %``, ``+0.31 for ill``, ``nothing``."""
        if all(abs(v) <= 1e-12 * scale for v in vote) or not any(vote):
            return "nothing"
        names = [str(c) for c in self.classes]
        if adds:
            return _added_words(vote, names, scale)
        k, n = self.answer(vote), self.n_classes
        if list(vote) == self.code[k]:
            return names[k]
        level = [j for j, s in enumerate(self.level(vote)) if s == max(vote)] if n > 2 else []
        if len(level) == n:
            return "each class alike"
        share = (1.0 + (vote[0] if k else -vote[0])) / 2 if n == 2 else ((n - 1) * vote[k] + 1) / n
        several = len(level) > 1
        words = " and ".join(names[j] for j in level) if several else names[k]
        return f"{words} {percent(share)}{' each' if several else ''}"


def _added_words(vote: Any, names: list[str], scale: float) -> str:
    if len(vote) == 1:
        return f"+{number(abs(vote[0]), scale)} for {names[int(vote[0] > 0)]}"
    order = sorted(range(len(vote)), key=lambda k: -abs(vote[k]))
    size = vote[order[0]]
    if all(abs(v - size) <= 1e-9 * abs(size) for v in vote):
        return f"{'+' if size > 0 else ''}{number(size, scale)} for every class"
    moved = [k for k in order if abs(vote[k]) > 1e-12 * scale and vote[k] != 0]
    parts = [
        f"{'+' if vote[k] > 0 else ''}{number(vote[k], scale)} for {names[k]}" for k in moved[:4]
    ]
    more = len(moved) - len(parts)
    return ", ".join(parts) + (f" and less for {more} more" if more else "")


class LabelSets:
    """Several labels, each given or not."""

    kind = "multilabel"

    def __init__(self, data: dict[str, Any]) -> None:
        self.classes, self.n_classes = data["classes"], len(data["classes"])
        self.threshold, self.or_equal = data["threshold"], data["or_equal"]
        self.outputs = [str(c) for c in self.classes]

    def level(self, score: Any) -> Any:
        """Return the score in which what is 0 but for rounding is 0."""
        return [0.0 if abs(s) <= _LEVEL else s for s in score]

    def decoded(self, score: Any) -> list[int]:
        """Return 1 for each label that is given."""
        return [int(s >= self.threshold if self.or_equal else s > self.threshold) for s in score]

    def plainly(self, vote: Any) -> Any:
        """Return the signs of a vote."""
        return [float((v > 0) - (v < 0)) for v in vote]

    def called(self, vote: Any, silent: bool = False) -> str:
        """Return the labels that a vote is for."""
        return ", ".join(n for n, v in zip(self.outputs, vote, strict=True) if v > 0) or "no label"

    def vote_words(self, vote: Any, scale: float, adds: bool) -> str:
        """Return what a vote says."""
        there = [(n, v) for n, v in zip(self.outputs, vote, strict=True) if abs(v) > 1e-12 * scale]
        if not any(v for _, v in there):
            return "nothing"
        if adds:
            return ", ".join(f"{'+' if v > 0 else ''}{number(v, scale)} for {n}" for n, v in there)
        if all(abs(v) == 1 for v in vote):
            return self.called(vote)
        each = zip(self.outputs, vote, strict=True)
        return ", ".join(f"{n} {percent((1.0 + v) / 2.0)}" for n, v in each)


class Numbers:
    """One number, or several."""

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

    def called(self, vote: Any, silent: bool = False) -> str:
        """Return the number to five digits."""
        if len(vote) == 1:
            return f"{vote[0]:.5g}"
        return ", ".join(f"{n} = {v:.5g}" for n, v in zip(self.outputs, vote, strict=True))

    def vote_words(self, vote: Any, scale: float, adds: bool) -> str:
        """Return the number."""
        if len(vote) == 1:
            return number(vote[0], scale)
        pairs = zip(self.outputs, vote, strict=True)
        return ", ".join(f"{n} = {number(v, scale)}" for n, v in pairs)
