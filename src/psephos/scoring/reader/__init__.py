"""The plain reader: predictions and reasons from a plain model, with the standard library alone.

`psephos.scoring.joining` bundles these files, with the modules of psephos that they import, into
one program, a scorer, so nothing here may need another package. Each kind of voters or weights is a
class, registered by `of_kind`.
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
    """Return the kinds of parts that the reader supports."""
    return {*VOTERS, *WEIGHTS, *CALIBRATIONS, *_WITHIN}
