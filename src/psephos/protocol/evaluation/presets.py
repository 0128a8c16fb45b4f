"""Protocols: how a table is split, and how hard each model is tuned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psephos._errors import PsephosError
from psephos.estimator.params import Constraint, Flag, Interval, Options, check_params
from psephos.files.near import suggest

_CONSTRAINTS: dict[str, Constraint] = {
    "outer": Options(("kfold", "shuffle")),
    "folds": Interval(2, whole=True),
    "repeats": Interval(1, whole=True),
    "inner_folds": Interval(2, whole=True),
    "draws": Interval(1, whole=True),
    "defaults_first": Flag(),
    "distributions": Options(("quick", "samba")),
}


@dataclass(frozen=True)
class Protocol:
    """A nested protocol: outer splits measure, inner folds tune, and the two never meet.

    Parameters
    ----------
    name : str
        Its name in results.
    outer : {'kfold', 'shuffle'}, default="kfold"
        'kfold': stratified cross-validation, `folds` parts, repeated `repeats` times on newly
        shuffled rows. 'shuffle': `repeats` stratified draws of a test part of 1 / `folds` of the
        rows. With groups, parts are made of whole groups (StratifiedGroupKFold); of several labels
        a row, they are stratified over labels (`MultilabelStratifiedKFold`). A draw is then the
        first part of a newly shuffled division.
    folds, repeats : int, default=5, 1
    inner_folds : int, default=3
        Stratified (grouped) folds of the training part, on which draws are compared.
    draws : int, default=10
        Random draws of hyper-parameters per model and training part.
    draws_of : dict of str to int
        Models that get another number of draws.
    defaults_first : bool, default=True
        Whether the first draw is each model's default setting.
    distributions : {'quick', 'samba'}, default="quick"
        The set of distributions drawn from (see `Contender`).

    Raises
    ------
    PsephosError
        If a parameter is out of its range.

    Notes
    -----
    The draw with the best mean balanced accuracy over the inner folds (of several labels a row,
    average precision) wins, the first one of equals; the model is then fitted with it on the whole
    training part.
    """

    name: str = "own"
    outer: str = "kfold"
    folds: int = 5
    repeats: int = 1
    inner_folds: int = 3
    draws: int = 10
    draws_of: Mapping[str, int] = field(default_factory=dict[str, int])
    defaults_first: bool = True
    distributions: str = "quick"

    def __post_init__(self) -> None:
        check_params(self, _CONSTRAINTS)

    def n_draws(self, model: str) -> int:
        """Return how many draws a model gets."""
        return int(self.draws_of.get(model, self.draws))

    @property
    def splits(self) -> list[tuple[int, int]]:
        """Return the (repeat, fold) of each outer split, in order."""
        parts = 1 if self.outer == "shuffle" else self.folds
        return [(r, f) for r in range(self.repeats) for f in range(parts)]

    def words(self, *, grouped: bool = False, measure: str = "balanced_accuracy") -> str:
        """Return the protocol as a sentence; `measure` is that by which draws are chosen."""
        kind = "iteratively stratified" if measure == "average_precision" else "stratified"
        kind += ", grouped" if grouped else ""
        measure = "PU-F of the recorded labels" if measure == "pu_f" else measure.replace("_", " ")
        if self.outer == "shuffle":
            outer = f"{self.repeats} {kind} random splits, {100 / self.folds:.0f}% of rows to test"
        else:
            times = "" if self.repeats == 1 else f" repeated {self.repeats} times"
            outer = f"{kind} {self.folds}-fold cross-validation{times}"
        first = " (the first of them the default setting)" if self.defaults_first else ""
        apart = ", ".join(f"{n} for {model}" for model, n in sorted(self.draws_of.items()))
        return (
            f"{outer}; inside each training part, random search over {self.draws} draws{first}"
            f"{f', {apart},' if apart else ''} by {measure} in {self.inner_folds} folds."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the protocol as plain values."""
        return {**vars(self), "draws_of": dict(sorted(self.draws_of.items()))}


PROTOCOLS: dict[str, Protocol] = {
    # as many draws for each model: what a comparison of minutes allows the slowest of them
    "quick": Protocol("quick", draws=4),
    # of psephos demo: the defaults and one draw beside them, for each model
    "demo": Protocol("demo", draws=2),
    # SamBA paper, supplement E.3.1: 10 splits 80/20, 50 draws, 5 folds
    "samba": Protocol(
        "samba",
        outer="shuffle",
        folds=5,
        repeats=10,
        inner_folds=5,
        draws=50,
        defaults_first=False,
        distributions="samba",
    ),
}


def protocol_named(protocol: str | Protocol) -> Protocol:
    """Return the protocol itself, or the preset of that name."""
    if isinstance(protocol, Protocol):
        return protocol
    if protocol not in PROTOCOLS:
        raise PsephosError(
            f"there is no protocol {protocol!r}: {suggest(str(protocol), PROTOCOLS)}"
        )
    return PROTOCOLS[protocol]
