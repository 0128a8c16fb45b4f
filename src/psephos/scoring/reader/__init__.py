"""The plain reader: answers and reasons from a plain model, with the standard library alone.

Files are joined by `psephos.scoring.joining` into one program, a scorer: what they import of
psephos (the words of reasons) goes with them, so nothing here may need another package. A kind of
voters or weights is one class, in the file of its family, under `of_kind`.
"""

from psephos.scoring.reader import calibrated, weights, within
from psephos.scoring.reader.model import PlainModel
from psephos.vote.reading import near, scores, trees
from psephos.vote.reading.core import CALIBRATIONS, VOTERS, WEIGHTS

__all__ = ["PlainModel", "every_kind"]

_FILES = (calibrated, near, scores, trees, weights, within)
_WITHIN = (
    "vote",
    "readout",
    "target",
    "target with losses",
    "target with a threshold",
    "labels target",
    "numbers target",
    "regression target",
    "nodes",
    "surrogate rules",
    "distance",
    "prototype batches",
    "inverse power",
    "gaussian profile",
    "k nearest",
    "right or wrong",
    "degrees",
    "own point",
)


def every_kind() -> set[str]:
    """Return the kinds of parts that are read."""
    return {*VOTERS, *WEIGHTS, *CALIBRATIONS, *_WITHIN}
