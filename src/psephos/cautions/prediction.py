"""Cautions on new cases: a column that as a whole is not as it was in the fit."""

import numpy as np

from psephos._types import Floats
from psephos.cautions.given import Found, Given, some
from psephos.files.near import shown

_LEAST = 5  # cases with a value
#: What one unit is in another: powers of ten, inches, pounds, and mmol/l of glucose, cholesterol,
#: triglycerides and urea, and µmol/l of creatinine and bilirubin.
_FACTORS = (10.0, 100.0, 1e3, 1e6, 1e9, 2.54, 2.20462, 18.016, 38.67, 88.57, 2.8, 88.4, 17.1)
_NEAR, _SPREAD = 0.12, 0.7  # of a factor, and of the spread's, on the scale of logarithms


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
    """Return whether median and spread are those of the fit, times or divided by a usual factor."""
    (low, now, high), then = np.quantile(values, (0.25, 0.5, 0.75)), known[2:5]
    if min(now, then[1], high - low, then[2] - then[0]) <= 0:
        return False
    ratio = np.log(now / then[1])
    spread = np.log((high - low) / (then[2] - then[0]))
    near = np.abs(abs(ratio) - np.log(_FACTORS)).min()
    return bool(near < _NEAR + 1 / len(values) and abs(spread - ratio) < _SPREAD)


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
