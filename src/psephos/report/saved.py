"""The saved models of a study, each opened once, with the cases as it reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from psephos.report.adapter import Asked, Opened, open_model
from psephos.report.figures import standings
from psephos.report.folder import Folder
from psephos.report.names import Shown

__all__ = ["Saved"]


@dataclass(frozen=True)
class Saved:
    """The saved models of a study, in the order of the verdict: the most accurate first.

    Parameters
    ----------
    folder : Folder
    names : dict of str to Shown
        What columns are called, by their names in the table.
    known : dict of str to Opened
        Those that are open already.
    """

    folder: Folder
    names: Mapping[str, Shown]
    known: dict[str, Opened] = field(default_factory=dict[str, Opened])
    _asked: dict[str, Asked] = field(default_factory=dict[str, Asked])

    @property
    def keys(self) -> list[str]:
        """Return the names of the models; none where no page of columns and cases is made."""
        if self.folder.cases is None or self.folder.multilabel or not self.folder.cases.ids:
            return []
        return [one.key for one in standings(self.folder) if one.key in self.folder.models]

    def opened(self, key: str) -> Opened:
        """Return a model."""
        if key not in self.known:
            short = {name: one.text for name, one in self.names.items()}
            self.known[key] = open_model(self.folder.models[key], short, self.folder.cases)
        return self.known[key]

    def asked(self, key: str) -> Asked:
        """Return a model on the columns it reads, with the training cases."""
        if key not in self._asked:
            cases = self.folder.cases
            assert cases is not None, "there are no models without cases"
            self._asked[key] = self.opened(key).asked(cases)
        return self._asked[key]
