"""The saved models of a study, each opened once, with the cases as it reads them."""

from dataclasses import dataclass, field

from psephos.report.adapter import Asked, Opened, open_model
from psephos.report.figures import standings
from psephos.report.folder import Folder
from psephos.report.names import short_names

__all__ = ["Saved"]


@dataclass(frozen=True)
class Saved:
    """The saved models of a study, in the order of the verdict: the most accurate first.

    Parameters
    ----------
    folder : Folder
    known : dict of str to Opened
        Those that are open already.
    """

    folder: Folder
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
            short = short_names([str(c) for c in self.folder.about.get("columns", ())])
            self.known[key] = open_model(self.folder.models[key], short)
        return self.known[key]

    def asked(self, key: str) -> Asked:
        """Return a model on the columns it reads, with the training cases."""
        if key not in self._asked:
            cases = self.folder.cases
            assert cases is not None, "there are no models without cases"
            self._asked[key] = self.opened(key).asked(cases)
        return self._asked[key]
