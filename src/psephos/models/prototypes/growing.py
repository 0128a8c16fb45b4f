"""What a fitted model keeps so that batches can be added to it, and rows that come later."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from psephos._errors import PsephosError
from psephos._input import Table
from psephos._labels import read_sample_weight, read_target
from psephos.models.prototypes.kinds import Batch
from psephos.models.training import Training, distinct_rows, ordered_rows
from psephos.vote import KernelScaling

__all__ = ["Growth", "Rows", "later_labels", "later_weight", "merged_rows"]

_Floats = NDArray[np.float64]
_ORDERED_BY = 64  # first columns, all that `ordered_rows` looks at


class Rows(NamedTuple):
    """Distinct rows in an order of their own, as positions in the table given."""

    table: Table
    rows: NDArray[np.intp]  # (n,)
    y: NDArray[Any]
    weight: _Floats
    copies: _Floats  # how many rows each stands for

    @property
    def names(self) -> NDArray[Any]:
        """Return the rows' identifiers."""
        return self.table.rows[self.rows]

    def alone(self) -> "Rows":
        """Return the same with a table of these rows only, dense."""
        values = self.table.values
        some = values[self.rows] if isinstance(values, np.ndarray) else values[self.rows].toarray()
        table = Table(some, self.table.schema, self.names)
        return self._replace(table=table, rows=np.arange(len(self.rows)))

    def after(self, earlier: "Rows") -> "Rows":
        """Return the earlier rows and then these; equal ones are not made one."""
        values = np.concatenate([earlier.table.values, self.table.values])
        names = np.concatenate([earlier.table.rows, self.table.rows])
        of_rows = (np.append(a, b) for a, b in zip(earlier[2:], self[2:], strict=True))
        return Rows(Table(values, self.table.schema, names), np.arange(len(names)), *of_rows)


class Growth(NamedTuple):
    """What further batches start from."""

    scaling: KernelScaling
    totals: _Floats  # weight of each class; or mean and deviation of the targets
    batches: list[Batch]
    n_given: int  # rows, of all calls
    rows: Rows | None = None  # those of `partial_fit`


def merged_rows(data: Training, *, whole: bool = True) -> Rows:
    """Return distinct rows in an order of their own; the table is not copied for it.

    How many rows each stands for is said by weights if all are whole (and `whole`), else by copies.
    """
    found = _ordered(data)
    copies = found.weight
    if not (whole and (data.weight == np.floor(data.weight)).all()):
        copies = _ordered(data._replace(weight=np.ones(len(data.weight)))).weight
    return Rows(data.table, found.table.rows, found.y, found.weight, copies)


def _ordered(data: Training) -> Training:
    """Return the rows so ordered, identified by their positions, without most of their columns."""
    numbered = replace(data.table, rows=np.arange(len(data.y)))
    found = distinct_rows(data._replace(table=numbered))
    few = replace(found.table, values=found.table.values[:, :_ORDERED_BY])
    return ordered_rows(found._replace(table=few))


def later_labels(
    estimator: Any, X: Any, y: Any, classes: Any, known: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return (classes, codes) of labels that need not name every class.

    Raises
    ------
    PsephosError
        If a label is none of the classes, or other classes were known before.
    """
    if classes is None and known is None:
        return read_target(estimator, X, y)
    given: Any = known if classes is None else np.unique(column_or_1d(np.asarray(classes)))
    if known is not None and not np.array_equal(given, known):
        raise PsephosError(
            f"classes are {given.tolist()}, but the first call knew {known.tolist()}: leave "
            "`classes` out, or give the same."
        )
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    read_target(estimator, given, given)  # what may be said of any labels
    code = {label: k for k, label in enumerate(given.tolist())}
    codes = np.array([code.get(label, -1) for label in y.tolist()], dtype=np.intp)
    if (codes < 0).any():
        raise PsephosError(
            f"label {y[codes < 0].tolist()[0]!r} is not one of the classes {given.tolist()}: the "
            "first call of partial_fit has to name all classes."
        )
    return given, codes


def later_weight(
    sample_weight: Any, class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp]
) -> _Floats:
    """Return each row's weight, where not every class need be there.

    Raises
    ------
    PsephosError
        If the class weights are 'balanced', or name what is no class.
    """
    weight = read_sample_weight(sample_weight, len(codes))
    if isinstance(class_weight, str):
        raise PsephosError(
            f"class_weight is {class_weight!r}: partial_fit cannot know the rows to come; give a "
            "dictionary, or sample_weight."
        )
    if class_weight is not None:
        strange = [label for label in class_weight if label not in classes.tolist()]
        if strange:
            raise PsephosError(
                f"class_weight names {strange[0]!r}, which is none of the classes "
                f"{classes.tolist()}: correct it."
            )
        by_class = [float(class_weight.get(label, 1.0)) for label in classes.tolist()]
        weight = weight * np.array(by_class)[codes]
    return weight
