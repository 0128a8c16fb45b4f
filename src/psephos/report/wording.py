"""How a page says where the answers on it are from: held out in folds, or of another cohort."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["HELD_OUT", "Wording"]


@dataclass(frozen=True)
class Wording:
    """The words of the panel of answers that depend on where these are from."""

    dot: str  # what a dot is
    answer: str  # 'held-out answer'
    axis: str  # behind the name of the axis
    by: str  # whose answers the grid of several classes counts
    person: str  # before 'the model answered 0.31'
    absent: str  # where a model has none
    source: str  # the first sentence of the note
    omits: str  # what intervals leave out, or hold for
    file: str  # the name of the csv file
    sources: Mapping[str, str] = field(default_factory=dict[str, str])  # of models by themselves


HELD_OUT = Wording(
    dot="Each dot is one case, at the answer of models that had not seen it.",
    answer="held-out answer",
    axis="held out",
    by="each by the models that had not seen it",
    person="Held out,",
    absent="There are no held-out answers of this model.",
    source="All from the held-out answers of the folds' models, pooled.",
    omits="and leave out how much a model would change with other cases.",
    file="held-out-answers",
)
