"""What a model declares of itself, as data: what it is made of, how it takes part in comparisons.

A recipe says ``contender = Contender("my-model", "tree", ...)`` in its class body. By that
`psephos.compare` builds it, `psephos list` names it, and the contract of `psephos.testing` fits it
in its small setting.
"""

import importlib.util
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from psephos._errors import PsephosError
from psephos.estimator.distributions import Choice, Distribution, Integers, LogUniform, Uniform

__all__ = [
    "Anatomy", "Choice", "Contender", "Distribution", "Integers", "LogUniform", "Params", "Shape",
    "Uniform",
]  # fmt: skip

Params = dict[str, Any]
_NAME = r"[A-Za-z0-9][\w-]{0,63}"


class Anatomy(NamedTuple):
    """What a model is made of, in the tags its fitted `vote_` carries; a test compares the two.

    Parameters
    ----------
    voters : tuple of str
        Tags of the voters it may have, the default's first.
    weighting, readout : str
        The default's first, others it may have behind it: ``constant or by output``. A read-out
        may be followed by a map of its scores: ``normalised, then table of posteriors``.
    found_by : str
        The search, in words.
    """

    voters: tuple[str, ...]
    weighting: str
    readout: str
    found_by: str

    def allows(self, weighting: str) -> bool:
        """Return whether a vote may have these weights."""
        return weighting in self.weighting.split(" or ")

    def readouts(self) -> list[str]:
        """Return the read-outs that a vote may have."""
        return [one.split(", then ")[0] for one in self.readout.split(" or ")]


@dataclass(frozen=True)
class Shape:
    """What a contender may know of a table before it is fitted.

    Parameters
    ----------
    n_columns, n_classes : int
        Of a target of numbers there are 0 classes.
    categorical : tuple of int
        The categorical columns.
    missing : bool
        Whether any value is missing.
    multilabel : bool, default=False
        Whether a row may have several labels; `n_classes` is then their number.
    positive : int, default=1
        The class that is sure where it is recorded, if labels of the table are partial.
    prior : float, default=None
        The share of that class among rows without a label, if it is given.
    views : sequence of (str, tuple of int), default=()
        Names and columns of the views of the table.
    """

    n_columns: int
    n_classes: int
    categorical: tuple[int, ...] = ()
    missing: bool = False
    multilabel: bool = False
    positive: int = 1
    prior: float | None = None
    views: Sequence[tuple[str, tuple[int, ...]]] = ()

    @property
    def n_told(self) -> int:
        """Return how many classes one model tells apart: 2, whether it is so, of a label."""
        return 2 if self.multilabel else self.n_classes


def _by_class(params: Params, shape: Shape, seed: int) -> Any:
    raise PsephosError("a contender is built by its class: psephos.protocol.known_models() has it.")


@dataclass(frozen=True)
class Contender:
    """A model that takes part in comparisons.

    Parameters
    ----------
    name : str
        Its one name: in `models=`, results, report and the names of files. Letters, digits, - and
        _, a letter or digit first, at most 64, and not 'all'. A model of another package begins
        with the package's name.
    family : str
        For people.
    distributions : dict of str to dict of str to Distribution, default={}
        What is drawn, by the name of the set ('quick', 'samba'); a set that is not there draws
        nothing.
    settings : callable (params, shape, seed) -> params, default=None
        The constructor's parameters from those drawn, where they are others or depend on the
        table. A `random_state`, and `categorical_features` where the model knows categories, are
        set besides.
    build : callable (params, shape, seed) -> estimator
        A fresh estimator; by default of the class that declares the contender.
    origin : {'psephos', 'baseline'}, default='psephos'
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
        Whether its fit draws folds of its own, and so is given the groups of the rows.
    default : bool, default=False
        Whether it takes part if no models are named; of psephos and its peers
        `psephos.protocol.running.contenders` says so.
    multilabel : bool, default=False
        Whether it is fitted on a table of 0 and 1, one column a label. Of others one is fitted a
        label. Known of models of psephos by their class.
    two_classes : bool, default=False
        Whether it tells two classes apart and no more; of more it is left out.
    partial_labels : bool, default=False
        Whether it is given rows without a label; others learn from the rest.
    both_recorded : bool, default=False
        Whether it learns from rows without a label only beside records of both classes.
    small : dict of str, default={}
        Constructor parameters of a small model: fitted by the contract and by `psephos warm-up`.
    variants : dict of str to dict, default={}
        The model under other names, each with the constructor parameters that it fixes; what is
        drawn of the rest is the same. 'all' names none but those that take part by default.
    variant_of : str, default=""
        The model of which it is a variant.
    shares : str, default=""
        A name in place of its own from which the seed of a comparison is made, so that models of
        one such name may share a part of their fits; tasks of theirs on one split are done in turn.
    in_search : dict of str, default={}
        Constructor parameters with which settings are ranked in the inner folds by the usual
        measure, of what is costly there and rarely changes it. The best is then fitted there
        without them, and so is the next if that lowered its score below it.
    apart : bool, default=False
        Set by `compare`: True for code of other packages. Its fits are then done in a process of
        their own: if it ends the process, the fit has failed, and what it prints is kept out of
        the command's output.

    Raises
    ------
    PsephosError
        If the name is none.
    """

    name: str
    family: str
    distributions: Mapping[str, Mapping[str, Distribution]] = field(default_factory=dict[str, Any])
    settings: Callable[[Params, Shape, int], Params] | None = None
    build: Callable[[Params, Shape, int], Any] = _by_class
    origin: str = "psephos"
    ensemble: bool = False
    needs: str = ""
    first: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    notes: str = ""
    binary_only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    grouped: bool = False
    default: bool = False
    multilabel: bool = False
    two_classes: bool = False
    partial_labels: bool = False
    both_recorded: bool = False
    small: Mapping[str, Any] = field(default_factory=dict[str, Any])
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    variant_of: str = ""
    shares: str = ""
    in_search: Mapping[str, Any] = field(default_factory=dict[str, Any])
    apart: bool = False

    def __post_init__(self) -> None:
        """Check the name, which files are called by."""
        sound = isinstance(self.name, str) and re.fullmatch(_NAME, self.name, re.ASCII)
        if not sound or self.name.lower() == "all":
            raise PsephosError(
                f"a model is named {self.name!r}: give it a name of letters, digits, - and _, a "
                "letter or digit first, at most 64, and not 'all'."
            )

    def drawn(self, which: str, n_classes: int) -> dict[str, Distribution]:
        """Return the distributions of a set, without the values that only two classes allow."""
        found = dict(self.distributions.get(which, {}))
        if n_classes > 2:
            for name, dropped in self.binary_only.items():
                given = found.get(name)
                if isinstance(given, Choice):
                    found[name] = Choice(tuple(v for v in given.values if v not in dropped))
        return found

    def of_numbers(self, name: str, *without: str, **changes: Any) -> "Contender":
        """Return how the regressor beside a classifier takes part: the same draws but of classes.

        Parameters
        ----------
        name : str
        *without : str
            Parameters, drawn or of searches, that it does not have, beside `class_weight`.
        **changes
            Other fields.
        """
        changes = {"binary_only": {}, "variants": {}} | changes
        return self._without({"class_weight", *without}, name=name, **changes)

    def variant(self, name: str) -> "Contender":
        """Return how a variant takes part: the draws are those of parameters it does not fix."""
        fixed = self.variants[name]
        words = ", ".join(f"{key}={value!r}" for key, value in fixed.items())
        return self._without(
            fixed, name=name, notes=f"{self.name} with {words}", variants={}, variant_of=self.name
        )

    def _without(self, gone: Collection[str], **changes: Any) -> "Contender":
        """Return the contender that does not draw some parameters."""
        drawn, first = (
            {which: {k: v for k, v in own.items() if k not in gone} for which, own in one.items()}
            for one in (self.distributions, self.first)
        )
        quick = {name: value for name, value in self.in_search.items() if name not in gone}
        return replace(self, distributions=drawn, first=first, in_search=quick, **changes)

    @property
    def available(self) -> bool:
        """Return whether its package is installed."""
        known = not self.needs or self.needs in sys.modules  # a script of one's own has no spec
        return known or importlib.util.find_spec(self.needs) is not None
