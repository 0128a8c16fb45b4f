"""Labels of rows that are read in blocks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats
from psephos.files.names import plural

_MOST_CLASSES = 1000


@dataclass(frozen=True)
class BlockLabels:
    """A summary of the labels of some rows of positive weight."""

    numbers: bool  # whether the labels are numbers, not classes
    n_rows: int
    # weight of each class; for numbers the total weight (key 0) and the weighted sum (key 1)
    weight: dict[Any, float]
    kind: Any = None  # dtype of classes that are numbers or truth values
    low: float = np.inf  # least and greatest number
    high: float = -np.inf

    def __post_init__(self) -> None:
        if not self.numbers and len(self.weight) > _MOST_CLASSES:
            raise PsephosError(
                f"y has more than {_MOST_CLASSES} classes: are these numbers to learn? Then use a "
                "regressor."
            )

    @classmethod
    def of(cls, y: Array, weight: Floats | None, numbers: bool) -> "BlockLabels":
        """Return the labels of some rows of positive weight."""
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            odd = y[~np.isfinite(y)][0]
            raise PsephosError(f"y holds {odd}: leave out rows that are not labelled.")
        if numbers:
            values = np.asarray(y, dtype=np.float64)
            w = np.ones(len(values)) if weight is None else weight
            ends = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
            return cls(True, len(y), {0: float(w.sum()), 1: float((w * values).sum())}, None, *ends)
        if y.dtype.kind == "f" and (y != np.rint(y)).any():
            raise PsephosError(
                f"y holds {y[y != np.rint(y)][0]}, a fraction: classes are words or whole numbers; "
                "to learn numbers use a regressor."
            )
        classes, code = np.unique(y, return_inverse=True)
        total = np.bincount(code, weight, minlength=len(classes))
        weights = dict(zip(classes.tolist(), total.tolist(), strict=True))
        return cls(False, len(y), weights, y.dtype if y.dtype.kind in "biuf" else None)

    def join(self, other: "BlockLabels") -> "BlockLabels":
        """Return the labels of the rows of both."""
        both = dict(self.weight)
        for label, weight in other.weight.items():
            both[label] = both.get(label, 0.0) + weight
        ends = min(self.low, other.low), max(self.high, other.high)
        return BlockLabels(self.numbers, self.n_rows + other.n_rows, both, self.kind, *ends)

    def classes(self) -> tuple[Array, Floats]:
        """Return the sorted classes and their weights."""
        if len(self.weight) < 2:
            found = plural(len(self.weight), "class", "classes")
            raise PsephosError(f"y must have at least two classes with weight; got {found}.")
        labels = sorted(self.weight)
        return np.array(labels, dtype=self.kind), np.array([self.weight[label] for label in labels])

    def mean(self) -> float:
        """Return the weighted mean of numbers."""
        return self.weight[1] / self.weight[0]
