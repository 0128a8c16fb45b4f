"""Values of categorical columns unknown to a model: named in a warning, or refused."""

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from psephos._errors import PsephosError
from psephos.files.levels import LevelCodes
from psephos.files.near import shown

_quiet: ContextVar[bool] = ContextVar("quiet levels", default=False)


@contextmanager
def quiet_levels() -> Generator[None]:
    """Read unknown categories as missing without a word, in folds of one table."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


@dataclass(frozen=True)
class Unknown:
    """Values of a column that are none of its levels."""

    column: str
    n_present: int  # values that are not missing
    values: tuple[Any, ...]  # those that are no level, each once, as they come
    n: int  # rows that hold one of them
    levels: tuple[Any, ...]  # what the model knows

    @classmethod
    def among(
        cls, column: str, present: Iterable[Any], find: LevelCodes, levels: Sequence[Any]
    ) -> "Unknown | None":
        """Return what is unknown among the values that are not missing; None if nothing is."""
        if _quiet.get():
            return None
        values = list(present)
        strange = [value for value in values if math.isnan(find.code(value))]
        if not strange:
            return None
        once = {str(value): value for value in strange}
        return cls(column, len(values), tuple(once.values()), len(strange), tuple(levels))

    def refuse(self) -> None:
        """Raise PsephosError if several values are there and none is a level.

        One unknown value alone, in one row or in all, is read as missing: it may be new.
        """
        if self.n < self.n_present or len(self.values) < 2:
            return
        raise PsephosError(
            f"column {shown(self.column)} holds none of the categories that the model knows: it "
            f"holds "
            f"{_shown(self.values)}; the model knows {_shown(self.levels)}. Write them as they "
            "were written for the fit, or leave the cells empty if they are missing."
        )

    def words(self) -> str:
        """Return a sentence with the share."""
        return (
            f"column {shown(self.column)}: {self.n} of {self.n_present} values "
            f"({self.n / self.n_present:.0%}) are none of the categories that the model knows "
            f"({_shown(self.values)}); they are read as missing."
        )


def _shown(values: Sequence[Any]) -> str:
    words = [repr(value.item() if hasattr(value, "item") else value) for value in values[:4]]
    more = f" and {len(values) - 4} more" if len(values) > 4 else ""
    return ", ".join(words) + more
