"""What takes part in a comparison."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from psephos.protocol.distributions import Choice, Distribution
from psephos.protocol.pipelines import Shape

__all__ = ["Contender", "Params"]

Params = dict[str, Any]


@dataclass(frozen=True)
class Contender:
    """A model that takes part in comparisons.

    Parameters
    ----------
    name : str
        Its one name: in `models=`, results, report and model files. A model of another package
        begins with the package's name.
    family : str
        For people.
    origin : {'psephos', 'baseline'}
    build : callable (params, shape, seed) -> estimator
        A fresh estimator; `params` are the drawn values.
    distributions : dict of str to dict of str to Distribution
        What is drawn, by the name of the set ('quick', 'samba').
    ensemble : bool, default=False
        Whether its answer is made of many models' answers.
    needs : str, default=""
        An optional package, which is also the name of the extra that installs it.
    first : dict of str to dict
        The default setting of a set, where it is not the constructor's: what the first draw is
        if the protocol says `defaults_first`.
    notes : str, default=""
        What a reader of results should know.
    binary_only : dict of str to tuple
        Values of a `Choice` that only two classes allow.
    grouped : bool, default=False
        Whether its fit draws folds of its own, and so is told the groups of the rows.
    default : bool, default=True
        Whether it takes part if no models are named.
    """

    name: str
    family: str
    origin: str
    build: Callable[[Params, Shape, int], Any]
    distributions: Mapping[str, Mapping[str, Distribution]]
    ensemble: bool = False
    needs: str = ""
    first: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    notes: str = ""
    binary_only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    grouped: bool = False
    default: bool = True

    def drawn(self, which: str, n_classes: int) -> dict[str, Distribution]:
        """Return the distributions of a set, without the values that only two classes allow."""
        found = dict(self.distributions[which])
        if n_classes > 2:
            for name, dropped in self.binary_only.items():
                given = found.get(name)
                if isinstance(given, Choice):
                    found[name] = Choice(tuple(v for v in given.values if v not in dropped))
        return found

    @property
    def available(self) -> bool:
        """Return whether its package is installed."""
        return not self.needs or importlib.util.find_spec(self.needs) is not None
