"""PPV and NPV at another share of positive cases, in Python: what the page's script works out."""

import math

from scipy.special import expit

from psephos.figures import Estimate, predictive_values, wilson
from psephos.figures.estimate import quantile

_Z = quantile(0.95)


def predictive(counts, prevalence):
    """Return PPV and NPV where the share of positive cases is another, in (0, 1).

    Notes
    -----
    The intervals are those on the logit scale of Mercaldo, Lau & Zhou (Statistics in Medicine 26,
    2007): with sensitivity s and specificity c of m and n cases, the variance of logit PPV is
    (1 - s) / (s m) + c / ((1 - c) n), that of logit NPV s / ((1 - s) m) + (1 - c) / (c n). They
    take the prevalence as known and cases as independent. Where a count is zero, half a case is
    added to each of the four, for the interval only.
    """
    m, n = counts.positive, counts.negative
    if not m or not n:
        return [wilson(0, 0), wilson(0, 0)]
    ppv, npv = predictive_values(counts.found / m, counts.cleared / n, prevalence)
    odds = math.log(prevalence / (1 - prevalence))
    return [
        _at(ppv, counts.found, counts.alarms, m, n, odds),
        _at(npv, counts.cleared, counts.missed, n, m, -odds),
    ]


def _at(value, right, wrong, of, other, odds):
    """Return a predictive value with Mercaldo's interval: `right` of `of`, `wrong` of `other`."""
    if math.isnan(value):
        return wilson(0, 0)
    add = 0.5 if min(right, wrong, of - right, other - wrong) == 0 else 0.0
    a, b = (right + add) / (of + 2 * add), (wrong + add) / (other + 2 * add)
    middle = odds + math.log(a) - math.log(b)
    half = _Z * math.sqrt((1 - a) / (a * (of + 2 * add)) + (1 - b) / (b * (other + 2 * add)))
    low, high = min(float(expit(middle - half)), value), max(float(expit(middle + half)), value)
    return Estimate(value, low, high, of + other, "Mercaldo, Lau and Zhou")
