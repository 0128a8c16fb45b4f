"""The bounds as formulas: from risks, a divergence and a number of rows to a number.

`exact`: whether xi(n) is used, or its upper limit 2 sqrt(n), as in many papers.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special
from scipy.optimize import minimize_scalar

from psephos._errors import PsephosError

_special: Any = scipy.special  # its type stubs are incomplete
_SMALL = 1e-6
_STEPS = 100  # halvings: beyond the precision of a float64 between 0 and 1


def kl(q: float, p: float) -> float:
    """Return the Kullback-Leibler divergence of two coins: q ln(q/p) + (1-q) ln((1-q)/(1-p)).

    Examples
    --------
    >>> round(kl(0.1, 0.5), 6)
    0.368064
    """
    return max(0.0, _divergence((q, p), (1.0 - q, 1.0 - p)))


def _divergence(*outcomes: tuple[float, float]) -> float:
    """Return the Kullback-Leibler divergence of two distributions, from (q, p) of each outcome."""
    if any(q > 0 >= p for q, p in outcomes):
        return math.inf
    return sum(q * math.log(q / p) for q, p in outcomes if q > 0)


def bisected(allowed: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the point between `inside` and `outside` from which `allowed` no longer holds.

    Of the last interval the outer end is returned: an upper bound stays one in the last bit.
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

    `q`: an observed mean, in [0, 1]. `most`: the largest divergence allowed, at least 0.
    `upper`: whether to search for p above q.

    Examples
    --------
    >>> round(kl_inverse(0.1, 0.05), 6), round(kl_inverse(0.1, 0.05, upper=False), 6)
    (0.220079, 0.031278)
    """
    if not 0 <= q <= 1 or not most >= 0:
        raise PsephosError(
            f"q must lie in [0, 1] and the divergence must be at least 0; got {q} and {most}."
        )
    return bisected(lambda p: kl(q, p) <= most, q, 1.0 if upper else 0.0)


def xi(m: int) -> float:
    """Return xi(m) = sum over k = 0..m of C(m, k) (k/m)^k (1 - k/m)^(m - k).

    It lies between sqrt(m) and 2 sqrt(m) (m > 1).

    Notes
    -----
    It is computed as 1 + sum over k >= 1 of m (m-1) ... (m-k+1) / m^k, one more than Ramanujan's
    Q-function. This equals the sum above and needs only about 9 sqrt(m) terms: the rest is below
    rounding.

    References
    ----------
    Maurer (2004), "A note on the PAC Bayesian theorem"; supplement of the SamBA paper, equation 9.

    Examples
    --------
    >>> round(xi(10), 6), round(xi(100_000), 6)
    (4.660216, 396.999726)
    """
    if m < 1:
        raise PsephosError(f"the number of rows must be at least 1; got {m}.")
    terms = min(m, int(9.0 * np.sqrt(m)) + 10)  # the next is below exp(-40)
    return 1.0 + float(np.cumprod(1.0 - np.arange(terms) / m).sum())


def binomial_inverse(errors: int, n: int, delta: float) -> float:
    """Return the greatest p at which `errors` or fewer of n have probability delta or more.

    This is the one-sided limit of Clopper & Pearson (1934), the tightest one for n independent
    rows.

    Examples
    --------
    >>> round(binomial_inverse(0, 59, 0.05), 4)  # the rule of three
    0.0495
    """
    if not 0 <= errors <= n or n < 1:
        raise PsephosError(f"errors must be a count between 0 and {n} rows; got {errors}.")
    if errors == n:
        return 1.0
    if delta < _SMALL:  # 1 - delta would be rounded
        return 1.0 - float(_special.betaincinv(n - errors, errors + 1, delta))
    return float(_special.betaincinv(errors + 1, n - errors, 1.0 - delta))


_ROUNDING = 1e-12


def _size(n: int, exact: bool) -> float:
    return xi(n) if exact else 2.0 * math.sqrt(n)


def gibbs_kl(
    risk: float, divergence: float, n: int, delta: float = 0.05, *, exact: bool = True
) -> float:
    """Return r with kl(risk || r) = (KL + ln(xi(n) / delta)) / n: PAC-Bayes-kl, of the Gibbs risk.

    The risk of the vote is at most twice this.

    `risk`: Gibbs risk on n rows, (1 - mean of y E_Q h) / 2. `divergence`: KL(Q || P), in nats.
    `delta`: the chance that the bound fails.

    References
    ----------
    Langford & Seeger (2001); Maurer (2004); Germain et al. (2015), JMLR 16.

    Examples
    --------
    >>> round(2 * gibbs_kl(0.2, 5.0, 1000), 6)
    0.531085
    """
    return kl_inverse(risk, (divergence + math.log(_size(n, exact) / delta)) / n)


def tandem_kl(
    loss: float, divergence: float, n: int, delta: float = 0.05, *, exact: bool = True
) -> float:
    """Return 4 t with kl(loss || t) = (2 KL + ln(xi(n) / delta)) / n: the tandem bound of the vote.

    `loss`: the tandem loss, the probability that two voters drawn from Q are both wrong.
    `divergence`, `n`, `delta`, `exact`: as in `gibbs_kl`.

    References
    ----------
    Masegosa, Lorenzen, Igel & Seldin (2020), "Second order PAC-Bayesian bounds for the weighted
    majority vote", NeurIPS.
    """
    return 4.0 * kl_inverse(loss, (2.0 * divergence + math.log(_size(n, exact) / delta)) / n)


def c_bound_value(risk: float, disagreement: float) -> float:
    """Return the C-bound 1 - (1 - 2 R)^2 / (1 - 2 d); 1 if R is 1/2 or more.

    `risk`: R, the Gibbs risk. `disagreement`: d = (1 - E (E_Q h)^2) / 2; at most 2 R (1 - R).

    References
    ----------
    Lacasse et al. (2006); Germain et al. (2015), JMLR 16.

    Examples
    --------
    >>> round(c_bound_value(0.2, 0.3), 6)
    0.1
    """
    most = 2.0 * risk * (1.0 - risk)
    if not 0 <= risk <= 1 or not -_ROUNDING <= disagreement <= most + 1e-9:
        raise PsephosError(
            f"disagreement must be at most {most:.6g} at a Gibbs risk of {risk:.6g}; got "
            f"{disagreement:.6g}."
        )
    return _c(risk, min(disagreement, most))


def _c(risk: float, disagreement: float) -> float:
    edge, moment = 1.0 - 2.0 * risk, 1.0 - 2.0 * disagreement
    return 1.0 if edge <= 0 or moment <= 0 else max(0.0, 1.0 - edge * edge / moment)


def c_bound_1(
    risk: float, disagreement: float, divergence: float, n: int, delta: float = 0.05
) -> float:
    """Return PAC-Bound 1: the C-bound at an upper limit of R and a lower limit of d.

    Each limit holds with probability 1 - delta / 2.

    References
    ----------
    Germain et al. (2015), JMLR 16, PAC-Bound 1.

    Examples
    --------
    >>> round(c_bound_1(0.2, 0.3, 5.0, 1000), 6)
    0.614405
    """
    c_bound_value(risk, disagreement)
    size = math.log(2.0 * xi(n) / delta)
    most = kl_inverse(risk, (divergence + size) / n)
    least = kl_inverse(disagreement, (2.0 * divergence + size) / n, upper=False)
    return _c(most, min(least, 2.0 * most * (1.0 - most))) if most < 0.5 else 1.0


def c_bound_2(
    risk: float, disagreement: float, divergence: float, n: int, delta: float = 0.05
) -> float:
    """Return PAC-Bound 2: the greatest C-bound over joint errors e and disagreements d.

    The region is kl(e', d' || e, d) <= (2 KL + ln((xi(n) + n) / delta)) / n and
    d <= 2 (sqrt(e) - e), where kl is that of three outcomes, e' = R' - d' / 2, and R' and d' are
    the observed values.

    Notes
    -----
    The region is convex and the C-bound is quasi-concave on it. So the greatest e is computed for
    each d, and the worst d is found by Brent's bounded search. Where the region reaches
    2 e + d = 1 the bound is 1.

    References
    ----------
    Germain et al. (2015), JMLR 16, PAC-Bound 2.

    Examples
    --------
    >>> round(c_bound_2(0.2, 0.3, 5.0, 1000), 6)
    0.412383
    """
    c_bound_value(risk, disagreement)
    e, d = risk - disagreement / 2.0, disagreement
    most = (2.0 * divergence + math.log((xi(n) + n) / delta)) / n

    def worst(at: float) -> float:
        """Return the greatest e at this d."""
        start = e * (1.0 - at) / (1.0 - d) if d < 1 else 0.0
        return bisected(lambda one: _kl3(e, d, one, at) <= most, start, 1.0 - at)

    def inside(at: float) -> bool:
        least = ((1.0 - math.sqrt(1.0 - 2.0 * at)) / 2.0) ** 2
        within = _kl3(e, d, e * (1.0 - at) / (1.0 - d), at) <= most
        return within and worst(at) >= least

    def value(at: float) -> float:
        return _c(worst(at) + at / 2.0, at)

    low = bisected(inside, d, 0.0)
    high = bisected(inside, d, 0.5)
    found = max(value(low), value(high), value(d))
    if found >= 1.0:
        return 1.0
    if low < high:  # a quasi-concave function of one maximum
        among = minimize_scalar(
            lambda at: -value(at), bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        )
        found = max(found, -float(among.fun))
    return min(1.0, found)


def _kl3(q0: float, q1: float, p0: float, p1: float) -> float:
    """Return the divergence of three outcomes from the probabilities of the first two."""
    return _divergence((q0, p0), (q1, p1), (1.0 - q0 - q1, 1.0 - p0 - p1))


def sample_compression(
    risk: float,
    divergence: float,
    n: int,
    size: int = 3,
    delta: float = 0.05,
    *,
    exact: bool = False,
) -> float:
    """Return the sample-compression bound of the Gibbs risk R.

    It is R + sqrt((KL + 4 size + ln(xi(n - size) / delta)) / (2 (n - size))).

    Theorem 2 of the SamBA supplement; theorems 3 (`size` 3) and 4 (`size` K + 3) bound the vote by
    twice this.

    Parameters
    ----------
    risk : Gibbs risk on all n rows, of voters in [-1, 1]
    divergence : KL(Q || P) of distributions over rows and messages
    size : lambda, the number of rows that determine a voter
    exact : whether xi(n - size) is used, as in theorem 2, or 2 sqrt(n - size), as in theorems 3 and
        4

    Examples
    --------
    >>> round(2 * sample_compression(0.2, 5.0, 1000), 3)
    0.62
    """
    left = n - size
    if left < 1:
        raise PsephosError(f"n must be above {size}, the rows that determine a voter; got {n}.")
    width = divergence + 4.0 * size + math.log(_size(left, exact) / delta)
    return risk + math.sqrt(width / (2.0 * left))
