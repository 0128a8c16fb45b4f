"""Cautions on new cases: a column that as a whole is not as it was in the fit."""

import numpy as np

from psephos._types import Floats
from psephos.cautions.given import Found, Given
from psephos.files.near import shown, some

_LEAST = 5  # cases with a value
#: What one unit is in another: powers of ten, inches, feet, pounds, stones, months and days of
#: years, mmol/l of glucose, cholesterol, triglycerides, urea and haemoglobin, and µmol/l of
#: creatinine and bilirubin.
_FACTORS = np.array(
    [10.0, 100.0, 1e3, 1e6, 1e9, 2.54, 30.48, 2.20462, 6.35029, 12.0, 365.25, 18.016, 38.67, 88.57,
     2.8, 1.6114, 88.4, 17.1]
)  # fmt: skip
_SCALES = [(1.8, 32.0), (1.0, 273.15)]  # Fahrenheit and Kelvin of Celsius: times, plus
_LOGS = (np.log2, np.log1p, np.log, np.log10, lambda x: np.log2(1 + x))
_POWERS = (np.exp2, np.expm1, np.exp, lambda x: 10.0**x, lambda x: np.exp2(x) - 1)
_NEAR, _SPREAD = 0.75, 0.7  # quartile ranges of the median; logarithms of it and of the spread


def _beyond(given: Given) -> tuple[list[int], list[int]]:
    """Return columns that lie beyond their range as a whole, and those in other units."""
    outside: list[int] = []
    units: list[int] = []
    for k, known in enumerate([] if given.quantiles is None else given.quantiles):
        values = given.X[~np.isnan(given.X[:, k]), k]
        if len(values) < _LEAST or not np.isfinite(known).all() or known[0] == known[-1]:
            continue
        below, above = values < known[0], values > known[-1]
        if 2 * (below | above).sum() >= len(values) and _of_another_unit(values, known):
            units.append(k)
        elif below.all() or above.all():
            outside.append(k)
    return outside, units


def _of_another_unit(values: Floats, known: Floats) -> bool:
    """Return whether median and spread are those of the fit in another unit, or logarithms."""
    now, then = np.quantile(values, (0.25, 0.5, 0.75)), known[2:5]
    scales = [then * c for c in (*_FACTORS, *(1 / _FACTORS))]
    scales += [then * c + d for c, d in _SCALES] + [(then - d) / c for c, d in _SCALES]
    with np.errstate(all="ignore"):  # what cannot be a logarithm, or a power, is no match
        expected = np.array([*scales, *(f(then) for f in (*_LOGS, *_POWERS))])
        wide = expected[:, 2] - expected[:, 0]
        unlike = np.abs(np.log([(now[2] - now[0]) / wide, now[1] / expected[:, 1]])).max(axis=0)
        near = np.abs(now[1] - expected[:, 1]) < (_NEAR + 2 / len(values)) * wide
    return bool((near & (unlike < _SPREAD + 2 / len(values))).any())


def beyond_range(given: Given) -> Found:
    """Find columns all of whose values lie beyond those of the fit, on one side."""
    columns = _beyond(given)[0]
    return Found(columns, facts={"which": some([shown(given.names[k]) for k in columns])})


def other_units(given: Given) -> Found:
    """Find columns whose values are those of the fit times a usual factor."""
    columns, known = _beyond(given)[1], given.quantiles
    words = [
        f"{shown(given.names[k])} (median {np.nanmedian(given.X[:, k]):.4g}, in the fit "
        f"{known[k][3]:.4g})" for k in columns if known is not None
    ]  # fmt: skip
    return Found(columns, facts={"which": some(words)})
