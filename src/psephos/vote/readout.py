"""How a weighted vote becomes an answer: named data, never a callable."""

# pyright: reportMissingTypeStubs=false

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.special
from numpy.typing import NDArray

from psephos.kernels.prediction.vote_shares import shares_of
from psephos.vote.codec import register
from psephos.vote.part import check
from psephos.vote.target import AnyTarget

__all__ = ["Readout"]

_special: Any = scipy.special  # its types say less than they promise
_SCORES = ("sum", "normalised")
_LINKS = ("share", "logistic", "identity")


@register
@dataclass(frozen=True)
class Readout:
    """Score and link of a vote.

    Parameters
    ----------
    score : {'sum', 'normalised'}
        sum: F(x) = sum_t w_t(x) h_t(x). normalised: the same divided by mass(x) = sum_t |w_t(x)|.
    link : {'share', 'logistic', 'identity'}
        From a score to probabilities. share: the share of the weight that voted for the class,
        ((K - 1) F_k + 1) / K, which is (1 + F) / 2 for two classes. logistic: softmax of
        `slope` * F, which is 1 / (1 + exp(-slope * F)) for two classes. identity: the score is
        the answer (regression).
    slope : float
        Of the logistic link; 1 otherwise.
    """

    tag: ClassVar[str] = "readout"
    score: str
    link: str
    slope: float = 1.0

    def __post_init__(self) -> None:
        check(self.score in _SCORES, f"unknown score {self.score!r}")
        check(self.link in _LINKS, f"unknown link {self.link!r}")
        check(self.link != "share" or self.score == "normalised", "a share needs a normalised sum")
        check(0 < self.slope < np.inf, "the slope of a link is not a positive number")

    def finish(self, total: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score from the (n, K) sums and the (n,) mass."""
        if self.score == "sum":
            return total
        heard = np.where(mass > 0, mass, 1.0)  # where nobody is heard the sum is zero already
        return total / heard[:, None]

    def probabilities(self, score: NDArray[np.float64], target: AnyTarget) -> NDArray[np.float64]:
        """Return (n, n_classes) probabilities from an (n, K) score; of labels, each its own."""
        check(self.link != "identity", "a vote that answers with numbers has no probabilities")
        k = target.n_classes
        if target.kind == "multilabel":  # each label on its own
            shares = np.clip((1.0 + score) / 2.0, 0.0, 1.0)
            return shares if self.link == "share" else _special.expit(self.slope * score)
        if self.link == "share":
            if k == 2:
                up = np.minimum(np.maximum((1.0 + score[:, 0]) / 2.0, 0.0), 1.0)  # sums round
                return _both(up)
            return shares_of(score)
        if k == 2:
            return _both(_special.expit(self.slope * score[:, 0]))
        return _special.softmax(self.slope * score, axis=1)


def _both(up: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n, 2) probabilities from those of the second class."""
    both = np.empty((len(up), 2))
    np.subtract(1.0, up, out=both[:, 0])
    both[:, 1] = up
    return both
