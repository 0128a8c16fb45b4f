"""Reasons that rest on the answers of other voters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from psephos.vote.names import Names
from psephos.vote.reasons.base import Always, Codes, Reason
from psephos.vote.reasons.read import ReadReason

__all__ = ["OfAnswers"]

_NONE = Always(())  # fields before it have defaults


@dataclass(frozen=True)
class OfAnswers(ReadReason):
    """Reason of a voter that reads answers of others: its own reason, and the columns behind it.

    Parameters
    ----------
    columns, values : tuple
        The columns of the table that the voter or those whose answers it reads depend on, and the
        case's values.
    told : Reason
        Of the table, behind whose columns stand the answers: the last answer is column -1.
    answers : tuple of str
        Their names.
    """

    told: Reason = _NONE
    answers: tuple[str, ...] = ()
    kind = "answers"

    def _wide(self, names: Names) -> Names:
        return replace(names, columns=[*names.columns, *self.answers])

    def words(self, names: Names) -> str:
        """Return the reader's reason, such as ``kNN's answer = 0.4 > 0.1``."""
        return self.told.words(self._wide(names))

    def data(self, names: Names) -> dict[str, Any]:
        return {**super().data(names), "told": self.told.data(self._wide(names))}

    def mapped(self, columns: Sequence[int], codes: Codes) -> Self:
        wide = [*columns, *range(-len(self.answers), 0)]
        return replace(super().mapped(columns, codes), told=self.told.mapped(wide, codes))

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        return self.mapped(columns, {})
