"""Cautions on new cases: columns whose distribution differs from that in the fit."""

import numpy as np

from psephos._types import Floats
from psephos.cautions.given import Found, Given
from psephos.files.near import shown, some

_LEAST = 5  # cases with a value
#: Factors between units: powers of ten; feet and cm; years and days; mmol/l and mg/dl of glucose,
#: cholesterol and triglycerides; µmol/l and mg/dl of creatinine and bilirubin.
_FAR = np.array([10.0, 100.0, 1e3, 1e6, 1e9, 30.48, 365.25, 18.016, 38.67, 88.57, 88.4, 17.1])
#: Inches, pounds, stones, months, urea and haemoglobin: values of sick people may be higher by such
#: factors, so that median and spread must agree more closely.
_CLOSE = np.array([2.54, 2.20462, 6.35029, 12.0, 2.8, 1.6114])
_SCALES = [(1.8, 32.0), (1.0, 273.15)]  # Fahrenheit and Kelvin of Celsius: times, plus
_WARMEST = 60.0  # maximum median in degrees Celsius
_LOGS = (np.log2, np.log1p, np.log, np.log10, lambda x: np.log2(1 + x))
_POWERS = (np.exp2, np.expm1, np.exp, lambda x: 10.0**x, lambda x: np.exp2(x) - 1)
# Tolerance of the median, in quartile ranges; of the logarithms of median and spread.
_NEAR, _SPREAD = 0.75, 0.7
_AGREE, _DRAWN = 0.1, 1.2  # of both for the factors of _CLOSE: 0.1 + 1.2 / sqrt(cases)


def _beyond(given: Given) -> tuple[list[int], list[int]]:
    """Return the columns whose values all lie outside the training range; those in other units."""
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
    """Return whether median and spread match those of the fit in another unit, or logarithms."""
    now, then = np.quantile(values, (0.25, 0.5, 0.75)), known[2:5]
    close = [then * c for c in (*_CLOSE, *(1 / _CLOSE))]
    degrees = [then * c + d for c, d in _SCALES if then[1] < _WARMEST]
    degrees += [(then - d) / c for c, d in _SCALES if (then[1] - d) / c < _WARMEST]
    with np.errstate(all="ignore"):  # undefined logarithms and powers do not match
        far = [*(then * c for c in (*_FAR, *(1 / _FAR))), *(f(then) for f in (*_LOGS, *_POWERS))]
        expected = np.array([*close, *degrees, *far])
        wide = expected[:, 2] - expected[:, 0]
        unlike = np.abs(np.log([(now[2] - now[0]) / wide, now[1] / expected[:, 1]])).max(axis=0)
        away = np.abs(now[1] - expected[:, 1]) / wide
    usual = np.array([[_NEAR], [_SPREAD]]) + 2 / len(values)
    agree = _AGREE + _DRAWN / np.sqrt(len(values))
    limits = np.where(np.arange(len(expected)) < len(close), agree, usual)
    return bool((np.stack([away, unlike]) < limits).all(axis=0).any())


def beyond_range(given: Given) -> Found:
    """Find columns all of whose values lie above, or all below, those of the fit."""
    columns = _beyond(given)[0]
    return Found(columns, facts={"which": some([shown(given.names[k]) for k in columns])})


def other_units(given: Given) -> Found:
    """Find columns in another unit than in the fit, or whose logarithms were taken."""
    columns, known = _beyond(given)[1], given.quantiles
    words = [
        f"{shown(given.names[k])} (median {np.nanmedian(given.X[:, k]):.4g}, in training "
        f"{known[k][3]:.4g})" for k in columns if known is not None
    ]  # fmt: skip
    return Found(columns, facts={"which": some(words)})
