"""Declarations of a model as data: its parts (`Anatomy`), its role in comparisons (`Contender`).

A recipe has ``contender = Contender("my-model", "tree", ...)`` in its class body. `psephos.compare`
builds it from this, `psephos list` lists it, and the checks of `psephos.testing` fit its small
setting.
"""

import importlib.util
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from psephos._errors import PsephosError
from psephos.estimator import distributions as weights
from psephos.estimator.distributions import Choice, Distribution, Integers, LogUniform, Uniform

__all__ = [
    "Anatomy", "Choice", "Contender", "Distribution", "Integers", "LogUniform", "Params", "Shape",
    "Uniform",
]  # fmt: skip

Params = dict[str, Any]
_NAME = r"[A-Za-z0-9][\w-]{0,63}"


class Anatomy(NamedTuple):
    """The parts of a model, by the tags of its fitted `vote_`; a test compares the two.

    Parameters
    ----------
    voters : tuple of str
        Tags of the voters it may have, the default's first.
    weighting, readout : str
        The default's tag first, then other possible ones: ``constant or by output``. A read-out
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
    """The properties of a table that a contender may use before it is fitted.

    Parameters
    ----------
    n_columns, n_classes : int
        A numeric target has 0 classes.
    categorical : tuple of int
        The categorical columns.
    missing : bool
        Whether any value is missing.
    multilabel : bool, default=False
        Whether a row may have several labels; `n_classes` is then their number.
    positive : int, default=1
        The class whose recorded labels are certain, if labels of the table are partial.
    prior : float, default=None
        The given share of that class among rows without a label.
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
        """Return the number of classes of one model: 2 if there is one model per label."""
        return 2 if self.multilabel else self.n_classes


def _by_class(params: Params, shape: Shape, seed: int) -> Any:
    raise PsephosError("a contender is built by its class: psephos.protocol.known_models() has it.")


@dataclass(frozen=True)
class Contender:
    """A model that takes part in comparisons.

    Parameters
    ----------
    name : str
        Its name in `models=`, results, report and file names. Letters, digits, - and _, a letter or
        digit first, at most 64, and not 'all'. That of a model of another package begins with the
        package's name.
    family : str
        The kind of model, as listed for users.
    distributions : dict of str to dict of str to Distribution, default={}
        The distributions of parameters, by the name of the set ('quick', 'samba'); from a set that
        is missing nothing is drawn.
    settings : callable (params, shape, seed) -> params, default=None
        Turns the drawn parameters into those of the constructor, if they differ or depend on the
        table. `random_state`, and `categorical_features` if the model supports categories, are set
        in addition.
    build : callable (params, shape, seed) -> estimator
        Makes an unfitted estimator; by default of the class that declares the contender.
    origin : {'psephos', 'baseline'}, default='psephos'
    ensemble : bool, default=False
        Whether it combines the predictions of many models.
    needs : str, default=""
        An optional package, which is also the name of the extra that installs it.
    first : dict of str to dict
        The default setting of a set, if it is not that of the constructor: the first draw if the
        protocol has `defaults_first`.
    notes : str, default=""
        Notes for readers of results.
    binary_only : dict of str to tuple
        Values of a `Choice` that are allowed for two classes only.
    grouped : bool, default=False
        Whether its fit draws folds of its own, and so takes the groups of the rows.
    default : bool, default=False
        Whether it takes part if no models are named; for psephos and its peers
        `psephos.protocol.running.contenders` decides.
    multilabel : bool, default=False
        Whether it is fitted on a table of 0 and 1, one column per label. Otherwise one model is
        fitted for each label. For models of psephos the class decides.
    two_classes : bool, default=False
        Whether it supports two classes only; tables with more leave it out.
    partial_labels : bool, default=False
        Whether its fit takes rows without a label; others are fitted on the labelled rows.
    both_recorded : bool, default=False
        Whether it learns from rows without a label only if both classes are recorded.
    small : dict of str, default={}
        Constructor parameters of a small model, for `psephos.testing` and `psephos warm-up`.
    variants : dict of str to dict, default={}
        The model under other names, each with the constructor parameters that it fixes; the other
        parameters are drawn as usual. 'all' includes only variants that take part by default.
    variant_of : str, default=""
        The model of which it is a variant.
    shares : str, default=""
        A name that replaces its own in the seed of a comparison, so that models with the same value
        can share parts of their fits; their tasks on one split run one after another.
    in_search : dict of str, default={}
        Constructor parameters used while settings are ranked in the inner folds, which switch off
        what is costly there and rarely changes the ranking. The best setting is then fitted there
        without them, and so is the next one if the score of the best fell below its score.
    apart : bool, default=False
        Set by `compare`: True for code of other packages. It is fitted in a process of its own: if
        it ends the process, only that fit fails, and its prints stay out of the command's output.

    Raises
    ------
    PsephosError
        If the name is invalid.
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
        """Validate the name, which is used in file names."""
        sound = isinstance(self.name, str) and re.fullmatch(_NAME, self.name, re.ASCII)
        if not sound or self.name.lower() == "all":
            raise PsephosError(
                "the name of a model must be at most 64 letters, digits, - and _, begin with a "
                f"letter or digit, and not be 'all'; got {self.name!r}."
            )

    def drawn(self, which: str, n_classes: int) -> dict[str, Distribution]:
        """Return the distributions of a set, without values that are not for `n_classes`."""
        found = dict(self.distributions.get(which, {}))
        if n_classes > 2:
            for name, dropped in self.binary_only.items():
                given = found.get(name)
                if isinstance(given, Choice):
                    found[name] = Choice(tuple(v for v in given.values if v not in dropped))
        return found

    def of_numbers(self, name: str, *without: str, **changes: Any) -> "Contender":
        """Return the contender of the regressor that corresponds to a classifier.

        Parameters
        ----------
        name : str
        *without : str
            Parameters of `distributions`, `first` and `in_search` that it does not have, besides
            `class_weight`.
        **changes
            Other fields.
        """
        changes = {"binary_only": {}, "variants": {}} | changes
        return self._without({"class_weight", *without}, name=name, **changes)

    def weighted(self) -> "Contender":
        """Return it with class weights: drawn, and balanced in quick comparisons."""
        drawn = dict(self.distributions)
        for which, own in (("quick", weights.BALANCED), ("samba", weights.WEIGHTS)):
            drawn[which] = {**drawn[which], "class_weight": own}
        first = {"quick": {**self.first.get("quick", {}), "class_weight": "balanced"}}
        return replace(self, distributions=drawn, first=first)

    def variant(self, name: str) -> "Contender":
        """Return the contender of a variant: it draws the parameters that it does not fix."""
        fixed = self.variants[name]
        words = ", ".join(f"{key}={value!r}" for key, value in fixed.items())
        return self._without(
            fixed, name=name, notes=f"{self.name} with {words}", variants={}, variant_of=self.name
        )

    def _without(self, gone: Collection[str], **changes: Any) -> "Contender":
        """Return the contender without some parameters."""
        drawn, first = (
            {which: {k: v for k, v in own.items() if k not in gone} for which, own in one.items()}
            for one in (self.distributions, self.first)
        )
        quick = {name: value for name, value in self.in_search.items() if name not in gone}
        return replace(self, distributions=drawn, first=first, in_search=quick, **changes)

    @property
    def available(self) -> bool:
        """Return whether its package is installed."""
        known = not self.needs or self.needs in sys.modules  # a user's script has no spec
        return known or importlib.util.find_spec(self.needs) is not None
