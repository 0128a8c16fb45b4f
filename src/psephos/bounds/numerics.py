"""The functions that bounds are made of: kl and its inverses, xi, the binomial tail."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from psephos._errors import PsephosError

_special: Any = scipy.special  # its types say less than they promise
_SMALL = 1e-6
_STEPS = 100  # halvings: more than a float64 between 0 and 1 can tell


def kl(q: float, p: float) -> float:
    """Return the Kullback-Leibler divergence of two coins: q ln(q/p) + (1-q) ln((1-q)/(1-p)).

    Examples
    --------
    >>> round(kl(0.1, 0.5), 6)
    0.368064
    """
    total = 0.0
    for one, other in ((q, p), (1.0 - q, 1.0 - p)):
        if one > 0:
            if other <= 0:
                return math.inf
            total += one * math.log(one / other)
    return max(0.0, total)


def bisected(allowed: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return where `allowed` ends between a point where it holds and one where it may not.

    The end that is returned is the outer one: an upper bound stays one in the last bit.
    """
    if allowed(outside):
        return outside
    for _ in range(_STEPS):
        middle = 0.5 * (inside + outside)
        if allowed(middle):
            inside = middle
        else:
            outside = middle
    return outside


def kl_inverse(q: float, most: float, *, upper: bool = True) -> float:
    """Return the greatest (or least) p with kl(q, p) <= most.

    `q`: a mean that was observed, in [0, 1]. `most`: what the divergence may be, at least 0.
    `upper`: whether p is sought above q.

    Examples
    --------
    >>> round(kl_inverse(0.1, 0.05), 6), round(kl_inverse(0.1, 0.05, upper=False), 6)
    (0.220079, 0.031278)
    """
    if not 0 <= q <= 1 or not most >= 0:
        raise PsephosError(f"kl_inverse({q}, {most}): a share in [0, 1] and a number of at least 0")
    return bisected(lambda p: kl(q, p) <= most, q, 1.0 if upper else 0.0)


def xi(m: int) -> float:
    """Return xi(m) = sum over k = 0..m of C(m, k) (k/m)^k (1 - k/m)^(m - k).

    It lies between sqrt(m) and 2 sqrt(m) (m > 1).

    Notes
    -----
    It is summed as 1 + sum over k >= 1 of m (m-1) ... (m-k+1) / m^k, one more than Ramanujan's
    Q-function: the same number from sqrt(m) terms, of which what is left out is below rounding.

    References
    ----------
    Maurer (2004), "A note on the PAC Bayesian theorem"; supplement of the SamBA paper, equation 9.

    Examples
    --------
    >>> round(xi(10), 6), round(xi(100_000), 6)
    (4.660216, 396.999726)
    """
    if m < 1:
        raise PsephosError(f"xi({m}): a number of rows is at least 1.")
    terms = min(m, int(9.0 * np.sqrt(m)) + 10)  # the next is below exp(-40)
    return 1.0 + float(np.cumprod(1.0 - np.arange(terms) / m).sum())


def binomial_inverse(errors: int, n: int, delta: float) -> float:
    """Return the greatest p at which `errors` or fewer of n have probability delta or more.

    The one-sided limit of Clopper & Pearson (1934): the tightest there is for n independent rows.

    Examples
    --------
    >>> round(binomial_inverse(0, 59, 0.05), 4)  # the rule of three
    0.0495
    """
    if not 0 <= errors <= n or n < 1:
        raise PsephosError(f"{errors} errors of {n} rows: give a count of errors among rows.")
    if errors == n:
        return 1.0
    if delta < _SMALL:  # 1 - delta would be rounded
        return 1.0 - float(_special.betaincinv(n - errors, errors + 1, delta))
    return float(_special.betaincinv(errors + 1, n - errors, 1.0 - delta))
