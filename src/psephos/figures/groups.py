"""Intervals of cases in groups: groups are independent, cases are not, and few groups say little.

Variances are of sums over G groups, with G / (G - 1), and the quantile is that of t with G - 1
degrees of freedom. Under ten groups even that is uncertain (three groups that happen to be alike
have next to no variance): there no interval is narrower than that by cases.
"""

from scipy.special import ndtri, stdtrit

from psephos._errors import PsephosError

FEW_GROUPS = 10  # below which intervals say that they are uncertain, and are never those narrower


def quantile(level: float) -> float:
    """Return z, so that a standard normal number is within -z and z with this probability."""
    if not 0.0 < level < 1.0:
        raise PsephosError(f"level is {level!r}; it must be above 0 and below 1.")
    return float(ndtri(0.5 + level / 2.0))


def t_quantile(level: float, n_groups: int) -> float:
    """Return what the normal quantile of a level becomes where a variance is of so many groups."""
    quantile(level)  # refuses what is no level
    return float(stdtrit(n_groups - 1, 0.5 + level / 2.0))


def half_width(
    by_groups: float, by_cases: float, n_groups: int, level: float
) -> tuple[float, bool]:
    """Return half an interval of two standard errors, and whether it is that by cases.

    Parameters
    ----------
    by_groups, by_cases : float
        Standard errors.
    n_groups : int
        Of which the first is.
    level : float
    """
    grouped, alone = t_quantile(level, n_groups) * by_groups, quantile(level) * by_cases
    wider = n_groups < FEW_GROUPS and alone > grouped
    return (alone if wider else grouped), wider


def of_groups(
    words: str, n_groups: int, by_cases: bool, after: str = "", fewest: int | None = None
) -> str:
    """Return how an interval of so many groups was found, in words.

    Parameters
    ----------
    words : str
    n_groups : int
    by_cases : bool
        Whether it is that by cases, which is the wider one.
    after : str, default=""
        What is said of the groups.
    fewest : int, default=None
        Groups that have the rarer of two classes; None: all.
    """
    found = f"{words}, of {n_groups} groups{after}"
    if by_cases:
        found = f"{words}, of cases: wider than of {n_groups} groups{after}"
    few = (n_groups if fewest is None else fewest) < FEW_GROUPS
    return found + ("; so few groups make it uncertain" if few else "")
