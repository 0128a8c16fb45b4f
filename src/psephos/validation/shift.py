"""How columns, and the familiarity of cases, differ from those of the training rows."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.validation.cohort import Cohort
from psephos.vote.names import fixed, number, plural
from psephos.vote.profile import LEVELS, Profile

__all__ = ["familiarity", "familiarity_words", "shift", "shift_words"]

_Floats = NDArray[np.float64]
_CASES = 5
_ROWS = 512
_COUNT = 1.358  # of Kolmogorov and Smirnov's distance, at 0.05


def shift(model: Any, cohort: Cohort) -> dict[str, Any]:
    """Return a table of the columns: each of the cohort beside the training rows.

    Keys of `columns`: ``missing`` and ``trained_missing`` (shares), ``outside`` (cases beyond the
    training range; of a category, none), ``difference`` (of means, in standard deviations of the
    training rows), ``distance`` (Kolmogorov's distance at the quantiles that are kept, which is at
    least so great; of categories the total variation distance), ``chance`` (what that distance
    exceeds in one of twenty columns without any shift). ``outside_mean`` is how many columns of a
    case are beyond the training range; of cases like the training rows it is at most
    ``outside_expected``: a new value is the least or greatest of n + 1 in 2 of n + 1 cases.
    """
    vote, names = model.vote_, model.schema_.words().columns
    baseline = model._known_baseline()
    profile: Profile | None = None if baseline is None else baseline.profile
    backup = set(vote.backup.tolist())
    rows: list[dict[str, Any]] = []
    expected = 0.0
    outside = np.zeros(len(cohort.X), dtype=int)
    for place, j in enumerate(vote.columns.tolist()):
        values = cohort.X[:, j]
        known = values[~np.isnan(values)]
        row: dict[str, Any] = {
            "column": names[j],
            "role": "stand-in" if j in backup else "used",
            "there": j not in cohort.lacking,
            "missing": 1.0 - len(known) / len(values),
        }
        if profile is not None:
            row |= _beside(known, profile, place)
            if profile.levels(place) is None and not np.isnan(profile.quantiles[place]).any():
                low, high = profile.quantiles[place][[0, -1]]
                with np.errstate(invalid="ignore"):
                    outside += (values < low) | (values > high)
                trained = profile.n_rows * (1.0 - float(profile.missing[place]))
                expected += 2.0 / (trained + 1.0) * (len(known) / len(values))
        rows.append(row)
    keys = ("column", "role", "there", "missing", *_KEYS)
    table = {key: [row.get(key) for row in rows] for key in keys}
    told: dict[str, Any] = {"columns": table, "trained_rows": None}
    if profile is not None:
        told["trained_rows"] = profile.n_rows
        told["cases_outside"] = int((outside > 0).sum())
        told["outside_mean"] = float(outside.mean())
        told["outside_expected"] = expected
        told["outside"] = outside.tolist()
        told["n_shifted"] = sum(
            1 for row in rows if row.get("distance") is not None and row["distance"] > row["chance"]
        )
        told["n_compared"] = sum(row.get("distance") is not None for row in rows)
    return told


_KEYS = ("trained_missing", "outside", "difference", "distance", "chance")


def _beside(known: _Floats, profile: Profile, place: int) -> dict[str, Any]:
    missing = float(profile.missing[place])
    n_trained = round(profile.n_rows * (1.0 - missing))
    row: dict[str, Any] = {"trained_missing": missing}
    if not len(known) or not n_trained:
        return row
    chance = _COUNT * math.sqrt(1 / len(known) + 1 / n_trained)
    shares = profile.levels(place)
    if shares is not None:
        own = np.bincount(known.astype(np.intp), minlength=len(shares)) / len(known)
        trained = np.concatenate([shares, np.zeros(len(own) - len(shares))])
        return row | {"distance": float(np.abs(own - trained).sum() / 2), "chance": chance}
    quantiles = profile.quantiles[place]
    if np.isnan(quantiles).any():
        return row
    spread = float(profile.spread[place])
    with np.errstate(over="ignore", invalid="ignore"):
        gap = float(known.mean()) - float(profile.mean[place])
    return row | {
        "outside": int(((known < quantiles[0]) | (known > quantiles[-1])).sum()),
        "difference": gap / spread if spread > 0 and math.isfinite(gap) else None,
        "distance": ks_at_least(known, quantiles, n_trained),
        "chance": chance,
    }


def ks_at_least(values: _Floats, quantiles: _Floats, n_trained: int) -> float:
    """Return how far the distribution of values is at least from that with these quantiles.

    At a kept value v the training share at or below v is at least the highest level whose quantile
    is v, and the share below v at most the lowest such level (each known to one row in n).
    """
    ordered = np.sort(values)
    most = 0.0
    for v in np.unique(quantiles).tolist():
        levels = [level for level, q in zip(LEVELS, quantiles.tolist(), strict=True) if q == v]
        below = np.searchsorted(ordered, v, "left") / len(ordered)
        within = np.searchsorted(ordered, v, "right") / len(ordered)
        most = max(most, max(levels) - within, below - min(levels))
    return max(0.0, most - 1.0 / n_trained)


def familiarity(model: Any, cohort: Cohort) -> dict[str, Any] | None:
    """Return how near cases are to the training cases that the model keeps; None: it keeps none.

    Of weights that keep the training cases: the distance to the nearest, beside each kept case's
    own distance to the nearest other one, both on the columns that the cohort has. Of prototypes:
    the total weight of a case beside the quantiles of the training rows; columns that the cohort
    lacks count there as they do on average.
    """
    weighting: Any = model.vote_.weighting
    if not hasattr(weighting, "nearest"):
        return None
    cases = getattr(weighting, "anchors", getattr(weighting, "cases", None))
    if cases is None or len(cases) < 2:
        return _by_mass(model, cohort)
    own = np.full((len(cases), model.vote_.n_features), np.nan)
    own[:, weighting.columns] = cases
    own[:, list(cohort.lacking)] = np.nan
    near = _nearest(model.vote_, cohort.X, 0)
    trained = _nearest(model.vote_, own, 1)
    if near is None or trained is None:
        return None
    order = np.sort(trained)
    farther = 1.0 - np.searchsorted(order, near, "left") / len(order)
    return {
        "measure": "distance to the nearest training case kept",
        "n_kept": len(cases),
        "median": _median(near),
        "trained_median": _median(trained),
        "beyond_90": int((near > np.quantile(trained, 0.9)).sum()),
        "beyond_all": int((near > order[-1]).sum()),
        "same": int((near == 0).sum()),
        "lacking": 0,
        "n": len(near),
        "cases": {"familiarity": near.tolist(), "share_farther": farther.tolist()},
    }


def _median(values: _Floats) -> float:
    """Return the median; the lower one of two whose mean is beyond float64."""
    with np.errstate(over="ignore"):
        middle = float(np.median(values))
    return middle if math.isfinite(middle) else float(np.quantile(values, 0.5, method="lower"))


def _nearest(vote: Any, X: _Floats, skip: int) -> _Floats | None:
    """Return the distance of each row to the nearest kept case, or to the next but `skip`."""
    found: list[_Floats] = []
    for start in range(0, len(X), _ROWS):
        with np.errstate(over="ignore", invalid="ignore"):  # a distance beyond float64 is inf
            near = vote.nearest(X[start : start + _ROWS], _CASES)
        if near is None or near.distance.shape[1] <= skip:
            return None
        found.append(np.sort(near.distance, axis=1)[:, skip])
    return np.concatenate(found)


def _by_mass(model: Any, cohort: Cohort) -> dict[str, Any] | None:
    baseline = model._known_baseline()
    profile: Profile | None = None if baseline is None else baseline.profile
    if profile is None or not len(profile.mass) or np.isnan(profile.mass).any():
        return None
    weighed = set(model.vote_.weighting.columns.tolist())
    mass = model.vote_.mass(cohort.X)
    share = np.interp(mass, profile.mass, LEVELS) if profile.mass[-1] > profile.mass[0] else None
    return {
        "measure": "total weight of the prototypes",
        "n_kept": model.vote_.n_voters,
        "median": _median(mass),
        "trained_median": float(profile.mass[LEVELS.index(0.5)]),
        "beyond_90": int((mass < profile.mass[LEVELS.index(0.1)]).sum()),
        "beyond_all": int((mass < profile.mass[0]).sum()),
        "same": 0,
        "lacking": len(weighed & set(cohort.lacking)),
        "n": len(mass),
        "cases": {
            "familiarity": mass.tolist(),
            "share_farther": [None] * len(mass) if share is None else share.tolist(),
        },
    }


# ---------------------------------------------------------------------- in words
def shift_words(told: dict[str, Any], n_cases: int) -> list[str]:
    """Return how the columns of so many cases have shifted, in sentences."""
    if told["trained_rows"] is None:
        return ["the model keeps no summary of its training columns: no shift can be told."]
    return [
        f"beside a summary of {told['trained_rows']} training rows: {told['n_shifted']} of "
        f"{plural(told['n_compared'], 'column')} differ by more than one in twenty would "
        f"without a shift ({told['n_compared'] / 20:.1f} of these).",
        f"{plural(told['cases_outside'], 'case')} of {n_cases} with a value beyond the training "
        f"range; {fixed(told['outside_mean'], 2)} columns a case, and at most "
        f"{fixed(told['outside_expected'], 2)} if the cases were like the training rows.",
    ]


def familiarity_words(near: dict[str, Any] | None) -> list[str]:
    """Return how near cases are to the training cases, in sentences; None: nothing is kept."""
    if near is None:
        return ["the model keeps no training cases to be near to: nothing can be told."]
    n, mass = near["n"], "weight" in near["measure"]
    than = "training rows" if mass else "training cases are from their nearest other one"
    far = "less than 90 % of the" if mass else "farther than 90 % of the"
    least = "less than any of the training rows" if mass else "farther than any of them"
    lines = [
        f"{near['measure']}: median {_number(near['median'])}, of the training cases "
        f"{_number(near['trained_median'])}.",
        f"{near['beyond_90']} of {n} cases {far} {than} (a tenth, {round(n / 10)}, if they "
        f"were like these); {near['beyond_all']} {least}.",
    ]
    if near["lacking"]:
        lines.append(
            f"{plural(near['lacking'], 'column')} of the prototypes missing: they count as on "
            "average, so that the comparison is a rough one."
        )
    if near["same"]:
        lines.append(
            f"{plural(near['same'], 'case')} at distance 0 of a training case: if the model "
            "was fitted on them, figures flatter."
        )
    return lines


def _number(value: float) -> str:
    return number(value) if math.isfinite(value) else "beyond float64's range"
