"""Labels of which some are not recorded, or one-sidedly wrong, and the truth beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.params import Interval
from psephos.files.cells import MISSING
from psephos.files.near import CELL, shown
from psephos.files.sheet import Sheet
from psephos.files.text import Header
from psephos.protocol.tables.labels import recorded_labels, written_labels

_Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Partial:
    """What is recorded of the labels of a table of two classes."""

    # (n,), the place of each row's recorded label in the classes; -1: there is none
    recorded: _Codes
    positive: int  # the class whose records are right
    # Whether the table's `y` is the true class of every row. If not, it is the record, and the
    # other class where there is none, which is no one's label: it is never measured against.
    truth: bool
    # the share of `positive` among the rows without a label, if it is given
    prior: float | None = None

    @property
    def codes(self) -> _Codes:
        """Return 1 of rows recorded positive, 0 negative, -1 of unlabelled rows."""
        own = (self.recorded == self.positive).astype(np.intp)
        return np.where(self.recorded < 0, -1, own)

    @property
    def one_class(self) -> bool:
        """Return whether the recorded labels are all positive."""
        return bool((self.recorded[self.recorded >= 0] == self.positive).all())

    def content(self) -> tuple[Any, ...]:
        """Return everything that results depend on."""
        own = () if self.prior is None else (self.prior,)
        return self.recorded.tolist(), self.positive, self.truth, *own

    def check(self, y: NDArray[Any], classes: NDArray[Any]) -> None:
        """Raise PsephosError if records do not fit the table."""
        if len(classes) != 2:
            raise PsephosError(
                f"labels that are partly recorded are of two classes, and there are {len(classes)} "
                f"({', '.join(map(str, classes.tolist()[:5]))}): join some of them."
            )
        inside = Interval(0, 1, open_low=True, open_high=True)
        if self.prior is not None and not inside.allows(self.prior):
            raise PsephosError(
                f"--prior (prior=) is {self.prior!r}: give the share of positives among the cases "
                "without a label, above 0 and below 1."
            )
        if len(self.recorded) != len(y):
            raise PsephosError(f"{len(self.recorded)} records for {len(y)} rows: one per row.")

    def strata(self, y: NDArray[Any], n_folds: int) -> _Codes:
        """Return what folds hold alike: the record, and where there is none the truth."""
        codes = self.codes
        for code, words in ((1, "recorded positive"), (-1, "without a label")):
            n = int((codes == code).sum())
            if n < n_folds:
                raise PsephosError(
                    f"{n} row(s) are {words}, fewer than the {n_folds} folds: use fewer folds "
                    "(--folds), or a table with more."
                )
        own = codes + 1
        if self.truth:
            classes = np.unique(y)
            own = np.where((codes < 0) & (y == classes[1]), 3, own)
        counts = np.bincount(own, minlength=4)
        few = np.isin(own, np.flatnonzero(counts < n_folds))
        return np.where(few, 0, own).astype(np.intp)

    def training(self, rows: _Codes, *, partial_labels: bool) -> tuple[_Codes, NDArray[np.float64]]:
        """Return the rows that a model is fitted on, and their codes, NaN where there is none.

        A model that takes no unlabelled rows is given those with a label; where these are all
        positive, every row, the unlabelled ones as of the other class.
        """
        told = self.recorded[rows].astype(np.float64)
        if partial_labels:
            return rows, np.where(told < 0, np.nan, told)
        if self.one_class:
            return rows, np.where(told < 0, 1.0 - self.positive, told)
        return rows[told >= 0], told[told >= 0]

    def contradicted(self, codes: _Codes) -> int:
        """Return how many rows are recorded positive and truly are not; `codes` are the truth's."""
        sure = self.recorded == self.positive
        return int((codes[sure] != self.positive).sum()) if self.truth else 0

    def words(self, classes: Sequence[str], codes: _Codes) -> dict[str, Any]:
        """Return what comparison.json says of it."""
        counts = [int((self.recorded == k).sum()) for k in (-1, 0, 1)]
        return {
            "positive": classes[self.positive],
            "truth": self.truth,
            "unlabelled": counts[0],
            "recorded": counts[1:],
            "one_class": self.one_class,
            "prior": self.prior,
            "contradicted": self.contradicted(codes),
        }


def given_rows(*, one_class: bool) -> str:
    """Return which rows a model is given that takes none without a label, in words."""
    if one_class:
        return "all cases, those without a label as of the other class"
    return "the cases with a label"


def refuse_old_positive(positive: Any, recorded_class: Any, *others: Any) -> bool:
    """Return whether labels are partly recorded; refuse what `positive` meant before."""
    partly = any(one is not None for one in others)
    if positive is not None and recorded_class is None and partly:
        raise PsephosError(
            f"--positive {shown(positive)} (positive=) names the class that measures and page are "
            "about; the class whose records are right is --recorded-class (recorded_class=): give "
            "that instead, or both."
        )
    return partly or recorded_class is not None


def check_mark(mark: Any, labels: Iterable[Any], target: str) -> None:
    """Raise PsephosError if what stands for no label stands nowhere.

    '' stands for empty cells; words that are read as missing, such as NA, are no labels either.
    """
    known = list(dict.fromkeys(labels))
    if mark is not None and mark not in MISSING and mark not in known:
        some = ", ".join(shown(str(label), CELL) for label in known[:5])
        some += ", ..." if len(known) > 5 else ""
        raise PsephosError(
            f"--unlabeled (unlabeled=) is {shown(str(mark), CELL)}, which stands nowhere in the "
            f"target {shown(target)}; there are {some}. '' is for empty cells."
        )


def read_partial(
    recorded: Sequence[Any],
    truth: NDArray[Any] | None,
    positive: str | None,
    target: str,
    prior: float | None = None,
) -> tuple[Partial, NDArray[Any]]:
    """Return what is recorded, and the labels of the table.

    `recorded` are tidy labels, None where there is none; `truth` those of all rows, if they are
    known. `positive` is the class whose records are right, in words; None: the one class that is
    recorded, or the second of two. `prior` is its share among the rows without a label. `target` is
    the name of the column, for messages.
    """
    held = [label for label in recorded if label is not None]
    if not held or len(held) == len(recorded):
        raise PsephosError(
            f"the target {shown(target)} has a label in {'every' if held else 'no'} row: give with "
            "--unlabeled what stands there where a row has none"
            f"{'' if held else ', and the column of what is recorded as --target'}."
        )
    classes = list(np.unique(np.array(held)).tolist())
    if truth is not None:
        every = np.unique(truth).tolist()
        strange = [label for label in classes if label not in every]
        if strange:
            raise PsephosError(
                f"the target {shown(target)} records {shown(str(strange[0]), CELL)}, which is no "
                f"class of the truth ({', '.join(map(str, every[:5]))})."
            )
        classes = every
    elif len(classes) == 1:
        classes = sorted([*classes, _other(classes[0])])
    only = {held[0]} if len(set(held)) == 1 else set[Any]()
    named = [k for k, label in enumerate(classes) if str(label) == positive]
    if positive is not None and not named:
        raise PsephosError(
            f"--recorded-class is {shown(positive)}, not one of the classes "
            f"({', '.join(map(str, classes[:5]))})."
        )
    place = named[0] if named else classes.index(next(iter(only))) if only else len(classes) - 1
    codes = np.array([-1 if v is None else classes.index(v) for v in recorded], dtype=np.intp)
    if truth is not None:
        return Partial(codes, place, True, prior), truth
    other = classes[1 - place] if len(classes) == 2 else classes[0]
    y = np.array([other if v is None else v for v in recorded])
    return Partial(codes, place, False, prior), y


def _other(label: Any) -> Any:
    """Return a name of the class that no row is recorded to be."""
    if isinstance(label, str):
        return f"not {label}"
    return 0 if label else 1


# ------------------------------------------------------------------- in files
def partly_written(
    cells: Sequence[list[Any]], roles: Any, target: str, sheet: Sheet
) -> tuple[Partial, NDArray[Any]]:
    """Return what is recorded of labels, and the table's y.

    `cells` are the words of the target, None where missing, and perhaps of the truth; `roles` has
    `unlabeled`, `truth`, `recorded_class` and `prior`.
    """
    known = [word is not None and word != roles.unlabeled for word in cells[0]]
    recorded = recorded_labels(cells[0], known, target, sheet.place, written_labels)
    told = None
    if len(cells) > 1:
        told = written_labels(cells[1], roles.truth or "", sheet.place)
        held = np.array([label for label in recorded if label is not None])
        if len(held) and told.dtype.kind != held.dtype.kind:
            told = told.astype(str)
            recorded = [w if has else None for w, has in zip(cells[0], known, strict=True)]
    return read_partial(recorded, told, roles.recorded_class, target, roles.prior)


def array_words(name: str, array: NDArray[Any], header: Header, unlabeled: str | None) -> list[Any]:
    """Return an array as words, codes of `classes` as their labels, None where there is none."""
    classes = header.arrays.get("classes")
    out: list[Any] = []
    for value, word in zip(array.tolist(), plain_words(array), strict=True):
        whole = isinstance(value, float) and value.is_integer()
        if word == unlabeled or (isinstance(value, float) and value != value):
            out.append(None)
        elif classes is not None and array.dtype.kind in "iuf":
            code = int(value) if whole or isinstance(value, int) else -1
            if not 0 <= code < len(classes):
                raise PsephosError(
                    f"{name!r} of {header.file!r} holds {word}, which is no code of its 'classes' "
                    f"(0 to {len(classes) - 1}): say with --unlabeled if it stands for no label."
                )
            out.append(str(classes[code]))
        else:
            out.append(word)
    return out


def label_word(label: Any) -> str | None:
    """Return a label as a word, 1.0 as 1; None is none."""
    return None if label is None else plain_words(np.array([label], dtype=object))[0]


def plain_words(array: NDArray[Any]) -> list[str]:
    """Return the values of an array as words, 1.0 as 1."""
    values: list[Any] = array.tolist()
    return [str(int(v) if isinstance(v, float) and v.is_integer() else v) for v in values]
