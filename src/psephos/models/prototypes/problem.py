"""What batches are fitted to: rows of classes or of numbers, and the prior's masses."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.models.prototypes.candidates import target_strata
from psephos.models.prototypes.scaling import Scaled

_Floats = NDArray[np.float64]
_STRATA = 5  # ranges of a target that stand in for classes, fewer where rows are few


class Masses(NamedTuple):
    """What the vote so far gives each training row: its own answer, in all, and each class."""

    own: _Floats  # (n,)
    total: _Floats  # (n,)
    by_class: _Floats  # (n, K), kept up where the draw reads it; (n, 0) for numbers


class Problem(NamedTuple):
    """What a batch is fitted to, for classes and for numbers.

    `y` are class codes, or targets of mean 0 and variance 1; `prior` holds the frequency of each
    row's class, or the prior's density of its target; `answer` is what a row says as a prototype.
    """

    scaled: Scaled
    y: _Floats
    answer: NDArray[Any]
    strata: NDArray[np.intp]
    prior: Masses
    weight: _Floats
    rows: NDArray[Any]
    names: tuple[str, ...]
    unit: float  # of the target; 0 for classes
    copies: _Floats  # how many equal rows each stands for

    @property
    def regression(self) -> bool:
        """Return whether the answers are numbers."""
        return self.unit > 0


def class_problem(
    scaled: Scaled, codes: NDArray[np.intp], weight: _Floats, rows: NDArray[Any],
    names: tuple[str, ...], copies: _Floats, share: _Floats,
) -> Problem:  # fmt: skip
    """Return the problem of classes; the prior is their frequency, `share`."""
    every = np.broadcast_to(share, (len(codes), len(share)))
    prior = Masses(share[codes], np.ones(len(codes)), every)
    return Problem(scaled, codes.astype(float), codes, codes, prior, weight, rows, names, 0.0,
                   copies)  # fmt: skip


def number_problem(
    scaled: Scaled, y: _Floats, weight: _Floats, rows: NDArray[Any], moments: tuple[float, float],
    copies: _Floats,
) -> Problem:  # fmt: skip
    """Return the problem of numbers: the prior is a normal density with the target's moments."""
    t = (y - moments[0]) / moments[1]
    density = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi)
    prior = Masses(density, np.ones(len(t)), np.empty((len(t), 0)))
    strata = target_strata(t, weight, max(1, min(_STRATA, len(t) // 4)))
    names = tuple(f"of target range {k + 1}" for k in range(int(strata.max()) + 1))
    return Problem(scaled, t, y, strata, prior, weight, rows, names, moments[1], copies)
