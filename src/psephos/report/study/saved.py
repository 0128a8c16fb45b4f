"""The saved models of a study, each opened once, with the cases as it reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from psephos.explain.effects import Threshold, asked_values
from psephos.protocol.study.returning import rules_of
from psephos.report.study.folder import Folder
from psephos.report.study.names import Shown
from psephos.report.study.opened import Asked, Opened, open_model
from psephos.report.study.standings import standings


@dataclass(frozen=True)
class Saved:
    """The saved models of a study, in the order of the verdict: the most accurate first.

    Parameters
    ----------
    names : dict of str to Shown
        What columns are called, by their names in the table.
    known : dict of str to Opened
        Those that are open already.
    """

    folder: Folder
    names: Mapping[str, Shown]
    known: dict[str, Opened] = field(default_factory=dict[str, Opened])
    _asked: dict[str, Asked] = field(default_factory=dict[str, Asked])
    _values: dict[str, tuple[dict[int, list[Threshold]], set[int]]] = field(
        default_factory=dict[str, tuple[dict[int, list[Threshold]], set[int]]]
    )
    _cuts: dict[str, NDArray[np.float64]] = field(default_factory=dict[str, NDArray[np.float64]])

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

    def asked_values(self, key: str) -> tuple[dict[int, list[Threshold]], set[int]]:
        """Return what `psephos.explain.effects.asked_values` says of a model."""
        if key not in self._values:
            self._values[key] = asked_values(self.asked(key))
        return self._values[key]

    def cuts(self, column: str) -> NDArray[np.float64]:
        """Return the thresholds of all models for a column, by its name in the table, sorted."""
        if not self._cuts:
            found: dict[str, set[float]] = {}
            for key in self.keys:
                asked, opened = self.asked(key), self.opened(key)
                for j, own in self.asked_values(key)[0].items():
                    found.setdefault(asked.whole[j], set()).update(one.at for one in own)
                for rule in rules_of(opened.model):
                    if rule.bound is not None:
                        whole = opened.whole.get(rule.column, rule.column)
                        found.setdefault(whole, set()).add(rule.bound)
            self._cuts.update({name: np.array(sorted(own)) for name, own in found.items()})
            self._cuts.setdefault("", np.empty(0))  # that they were looked for
        return self._cuts.get(column, np.empty(0))
