"""How columns differ from those of the training rows."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.validation.cohort import Cohort
from psephos.vote.names import fixed, plural
from psephos.vote.profile import LEVELS, Profile

_Floats = NDArray[np.float64]
_COUNT = 1.358  # of Kolmogorov and Smirnov's distance, at 0.05
_DRAWS = 1999  # in which levels are dealt to cohort and training rows by lot


def shift(model: Any, cohort: Cohort) -> dict[str, Any]:
    """Return a table of the columns: each of the cohort beside the training rows.

    Keys of `columns`: ``missing`` and ``trained_missing`` (shares), ``outside`` (cases beyond the
    training range; of a category, none), ``difference`` (of means, in standard deviations of the
    training rows), ``distance`` (Kolmogorov's distance at the quantiles that are kept, which is at
    least so great; of categories the total variation distance), ``chance`` (what that distance
    exceeds in at most one of twenty columns without any shift: of numbers by Kolmogorov and
    Smirnov, of categories by dealing the levels of both by lot). ``outside_mean`` is how many
    columns of a case are beyond the training range; of cases like the training rows it is at most
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
            "role": "backup" if j in backup else "used",
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
    shares = profile.levels(place)
    if shares is not None:
        own = np.bincount(known.astype(np.intp), minlength=len(shares)) / len(known)
        trained = np.concatenate([shares, np.zeros(len(own) - len(shares))])
        distance = float(np.abs(own - trained).sum() / 2)
        return row | {"distance": distance, "chance": _dealt(own, len(known), trained, n_trained)}
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
        "chance": _COUNT * math.sqrt(1 / len(known) + 1 / n_trained),
    }


def _dealt(own: _Floats, n: int, trained: _Floats, n_trained: int) -> float:
    """Return what the distance of levels exceeds in at most one of twenty deals by lot."""
    counts = np.round(own * n) + np.round(trained * n_trained)
    total, rng = int(counts.sum()), np.random.default_rng(0)
    dealt = rng.multivariate_hypergeometric(counts.astype(np.int64), n, _DRAWS)
    gaps = np.abs(dealt / n - (counts - dealt) / (total - n)).sum(axis=1) / 2
    return float(np.quantile(gaps, 0.95, method="higher"))


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
    return float(max(0.0, most - 1.0 / n_trained))


# ---------------------------------------------------------------------- in words
def shift_words(told: dict[str, Any], n_cases: int) -> list[str]:
    """Return how the columns of so many cases have shifted, in sentences."""
    if told["trained_rows"] is None:
        return ["the model keeps no summary of its training columns: no shift can be told."]
    return [
        f"beside a summary of {told['trained_rows']} training rows: {told['n_shifted']} of "
        f"{plural(told['n_compared'], 'column')} differ by more than chance (without a shift it "
        f"would be at most {told['n_compared'] / 20:.1f}).",
        f"{plural(told['cases_outside'], 'case')} of {n_cases} with a value beyond the training "
        f"range; {fixed(told['outside_mean'], 2)} columns a case, and at most "
        f"{fixed(told['outside_expected'], 2)} if the cases were like the training rows.",
    ]
