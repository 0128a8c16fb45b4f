"""What a fit made of labels that are missing: the rows of each kind, and the class prior."""

from dataclasses import dataclass
from typing import Any, ClassVar

from psephos.vote.codec import register
from psephos.vote.names import fixed
from psephos.vote.part import check


@register
@dataclass(frozen=True)
class WeakLabels:
    """How many rows of weight were of each kind, and the class prior that was used.

    Parameters
    ----------
    n_positive, n_negative, n_unlabelled : int
        Rows fitted on that were labelled so; rows that were left out do not count.
    prior : float
        The share of positives among the rows without a label.
    estimate : tuple of float
        The estimate before it was clipped, and its standard error; empty where the prior was given.
    doubtful : bool, default=False
        Whether the estimate was clipped, or within two standard errors of 1.
    """

    tag: ClassVar[str] = "weak labels"
    n_positive: int
    n_negative: int
    n_unlabelled: int
    prior: float
    estimate: tuple[float, ...] = ()
    doubtful: bool = False

    def __post_init__(self) -> None:
        check(0.0 < self.prior < 1.0, "a class prior is no share")
        check(len(self.estimate) in (0, 2), "an estimate is no number with its error")

    def told(self, names: Any, vote: Any) -> list[str]:
        """Return what `describe` adds to the vote in words."""
        parts = [
            f"{self.n_positive} rows labelled positive",
            f"{self.n_unlabelled} without a label",
        ]
        if self.n_negative:
            parts.insert(1, f"{self.n_negative} recorded negative")
        listed = f"{', '.join(parts[:-1])} and {parts[-1]}"
        source = "given"
        if self.estimate:
            source = f"estimated: {self.estimate[0]:.3g} +- {self.estimate[1]:.2g}"
            source += ", doubtful: give it if it is known" if self.doubtful else ""
        return [f"Fitted on {listed}; class prior {fixed(self.prior, 3)} ({source})."]
