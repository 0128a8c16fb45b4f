"""Stability of the columns that a model reads on different splits."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from psephos._errors import PsephosError
from psephos._types import Indices


@dataclass(frozen=True)
class Stability:
    """The selection stability of a model over M splits.

    Parameters
    ----------
    value : float
        1: the same columns every time; 0: agreement as by chance. NaN if it is not defined: fewer
        than two splits, or no column or every column read on all of them.
    low, high : float
        A confidence interval, which treats the splits as independent samples; NaN if `value` is.
    n : int
        The number M of splits.
    """

    value: float
    low: float
    high: float
    n: int


def selection_stability(
    sets: Sequence[Iterable[int]], n_columns: int, *, level: float = 0.95
) -> Stability:
    """Return the similarity of sets of columns, corrected for chance, with an interval.

    Parameters
    ----------
    sets : sequence of M iterables of int
        The columns read on each split.
    n_columns : int
        d, the number of columns of the table.
    level : float, default=0.95

    Returns
    -------
    stability : Stability

    Raises
    ------
    PsephosError
        If a column is outside the table.

    Notes
    -----
    With z_if = 1 if split i reads column f, p_f its mean over splits, k_i the number of columns of
    split i and k their mean::

        stability = 1 - (1/d sum_f M/(M-1) p_f (1 - p_f)) / (k/d (1 - k/d))

    If all k_i are equal, it is the mean agreement of pairs of splits beyond chance (Kuncheva's
    index); it is also defined if they differ. The interval is stability -+ z sqrt(v), v = 4/M^2
    sum_i (phi_i - mean phi)^2, with::

        phi_i = [1/d sum_f z_if p_f - k_i k / d^2
                 + stability/2 (2 k_i k / d^2 - k_i/d - k/d + 1)] / (k/d (1 - k/d))

    Source: Nogueira, Sechidis and Brown (2018), "On the Stability of Feature Selection
    Algorithms", JMLR 18, definition 4 and theorem 7, which are about independent samples; the
    training parts of cross-validation overlap, so that columns agree more than they would on new
    data, and the interval is too narrow.
    """
    m, d = len(sets), n_columns
    found = [np.unique(np.fromiter(one, dtype=np.intp)) for one in sets]
    if any(len(one) and not 0 <= one[0] <= one[-1] < d for one in found):
        raise PsephosError(f"sets must hold columns of the table, 0 to {d - 1}.")
    sizes = np.array([len(one) for one in found]) / d
    size = float(sizes.mean()) if m else 0.0
    chance = size * (1 - size)
    if m < 2 or chance <= 0:
        return Stability(math.nan, math.nan, math.nan, m)
    share = np.bincount(np.concatenate(found), minlength=d) / m
    spread = m / (m - 1) * float((share * (1 - share)).sum()) / d
    value = 1 - spread / chance
    own = np.array([float(share[one].sum()) for one in found]) / d
    phi = own - sizes * size + value / 2 * (2 * sizes * size - sizes - size + 1)
    phi /= chance
    variance = 4 / m**2 * float(((phi - phi.mean()) ** 2).sum())
    half = float(norm.ppf((1 + level) / 2)) * math.sqrt(variance)
    return Stability(value, max(value - half, -1.0), min(value + half, 1.0), m)


# ------------------------------------------------------------------- columns as a short text
def ranges_of(columns: Indices) -> str:
    """Return sorted positions as a short text: '0..4 7 9..12'.

    It needs no quotes in a csv cell, and a spreadsheet does not take it for a date.
    """
    if not len(columns):
        return ""
    breaks = np.flatnonzero(np.diff(columns) != 1) + 1
    runs = [(int(run[0]), int(run[-1])) for run in np.split(columns, breaks)]
    return " ".join(str(a) if a == b else f"{a}..{b}" for a, b in runs)


_MOST_COLUMNS = 2**24  # limits the memory that a damaged list can request


def positions_of(text: str) -> list[int]:
    """Return the positions that `ranges_of` wrote."""
    found: list[int] = []
    for run in text.split():
        first, dots, last = run.partition("..")
        try:
            here = range(int(first), int(last if dots else first) + 1)
            if here.start < 0 or here.stop > _MOST_COLUMNS:
                raise ValueError("more columns than a table has")
            found += here
        except ValueError:
            raise PsephosError(
                f"columns must be a list such as '0..4 7'; got {text[:60]!r}."
            ) from None
    return found
