"""Labels that are partly recorded, as they stand in a file."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._files.sheet import Header, Sheet
from psephos.protocol.partial import Partial, read_partial
from psephos.protocol.tables import written_labels

__all__ = ["array_words", "partly_written", "plain_words"]


def partly_written(
    cells: Sequence[list[Any]], roles: Any, target: str, sheet: Sheet
) -> tuple[Partial, NDArray[Any]]:
    """Return what is recorded of labels, and the table's y.

    Parameters
    ----------
    cells : sequence of list
        The words of the target, None where missing, and perhaps of the truth.
    roles : object
        With `unlabeled`, `truth`, `positive` and `prior`.
    target : str
        The name of the column, for messages.
    sheet : Sheet
    """
    known = [word is not None and word != roles.unlabeled for word in cells[0]]
    held = [word for word, has in zip(cells[0], known, strict=True) if has]
    at = [i for i, has in enumerate(known) if has]
    tidy: list[Any] = []
    if held:
        tidy = written_labels(held, target, lambda i: sheet.place(at[i])).tolist()
    told = None
    if len(cells) > 1:
        told = written_labels(cells[1], roles.truth or "", sheet.place)
        if held and told.dtype.kind != np.array(tidy).dtype.kind:
            told, tidy = told.astype(str), [str(word) for word in held]
    labels = iter(tidy)
    recorded = [next(labels) if has else None for has in known]
    return read_partial(recorded, told, roles.positive, target, roles.prior)


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


def plain_words(array: NDArray[Any]) -> list[str]:
    """Return the values of an array as words, 1.0 as 1."""
    values: list[Any] = array.tolist()
    return [str(int(v) if isinstance(v, float) and v.is_integer() else v) for v in values]
