"""What a bound returns: its value, what it is made of, and what it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Bound:
    """A bound on a risk: the number, its parts, what it assumes, and whether it says anything.

    Parameters
    ----------
    name : str
    value : float
        The risk is at most this; a vacuous one may be above 1.
    of : str
        What is bounded, in words.
    source : str
    parts : dict of str to float
        What the value was computed from, by name.
    assumes : tuple of str
        What must hold and cannot be read off the model or the rows, a sentence each.
    delta : float, default=None
        The chance that the bound fails, over the draw of the rows; None where nothing is drawn.
    trivial : float, default=1.0
        What needs no model: the error of always predicting the most frequent class, which is the
        share of the rows that are of the others. A bound that is not below it is vacuous.

    Examples
    --------
    >>> from psephos.bounds import Bound
    >>> print(Bound("hold-out", 0.6, "the error on new rows", "", {}, (), 0.05, 0.5))
    hold-out: the error on new rows is at most 0.6, with probability 95 %. Vacuous: always \
predicting the most frequent class errs on 0.5.
    """

    name: str
    value: float
    of: str
    source: str
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    assumes: tuple[str, ...] = ()
    delta: float | None = None
    trivial: float = 1.0

    @property
    def vacuous(self) -> bool:
        """Return whether always predicting the most frequent class is as good as what is proved."""
        return not self.value < self.trivial

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "name": self.name, "value": self.value, "of": self.of, "vacuous": self.vacuous,
            "delta": self.delta, "trivial": self.trivial, "parts": dict(self.parts),
            "assumes": list(self.assumes), "source": self.source,
        }  # fmt: skip

    def sentence(self) -> str:
        """Return what is proved, as a sentence, and whether it says anything."""
        chance = "" if self.delta is None else f", with probability {100 * (1 - self.delta):.4g} %"
        proved = f"{self.name}: {self.of} is at most {self.value:.4g}{chance}."
        if not self.vacuous:
            return proved
        if self.trivial >= 1:
            return f"{proved} Vacuous: no risk is above 1."
        constant = f"always predicting the most frequent class errs on {self.trivial:.4g}"
        return f"{proved} Vacuous: {constant}."

    def __str__(self) -> str:
        lines = [self.sentence()]
        width = max((len(name) for name in self.parts), default=0)
        lines += [f"  {name:<{width}}  {value:.6g}" for name, value in self.parts.items()]
        if self.assumes:
            lines += ["It assumes that", *(f"  - {one}" for one in self.assumes)]
        return "\n".join(lines + ([f"Source: {self.source}"] if self.source else []))
