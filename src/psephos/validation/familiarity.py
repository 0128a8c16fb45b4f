"""How familiar cases are: how near to the training cases that a model keeps, or of what weight."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.explain.prototypes import Prototypes
from psephos.validation.cohort import Cohort
from psephos.vote.names import number, plural
from psephos.vote.part import field_of, offers
from psephos.vote.profile import LEVELS, Profile
from psephos.vote.rows import row_groups

_Floats = NDArray[np.float64]
_CASES = 5
_ROWS = 512
_TENTHS = 10


def familiarity(model: Any, cohort: Cohort) -> dict[str, Any] | None:
    """Return how near cases are to the training cases that the model keeps; None: it keeps none.

    Of weights that keep the training cases: the distance to the nearest, beside each kept case's
    own distance to the nearest other one, both on the columns that the cohort has; a distance is of
    the columns that both cases have, and ``shared`` tells what share of them that is. ``same``
    counts the cases that equal a training case in all these columns, missing where it is missing.
    Of prototypes: their total weight, without the prior, beside the quantiles of the training rows;
    columns that the cohort lacks count there as they do on average.

    ``expected_beyond_90`` is the share of the training cases themselves that are farther than 90 %
    of them, and ``expected`` of each tenth of ``share_farther``: with ties these are no tenths.
    """
    weighting: Any = model.vote_.weighting
    if not offers(weighting, "nearest"):
        return None
    cases = field_of(weighting, "anchors", field_of(weighting, "cases"))
    if cases is None or len(cases) < 2:
        return _by_mass(model, cohort)
    own = np.full((len(cases), model.vote_.n_features), np.nan)
    own[:, weighting.columns] = cases
    own[:, list(cohort.lacking)] = np.nan
    near, shared = _nearest(model.vote_, cohort.X, own, 0)
    trained, _ = _nearest(model.vote_, own, own, 1)
    if near is None or trained is None:
        return None
    order = np.sort(trained)
    farther, usual = _farther(order, near), _farther(order, trained)
    far = np.quantile(trained, 0.9)
    return {
        "measure": "distance to the nearest training case kept",
        "n_kept": len(cases),
        "median": _median(near),
        "trained_median": _median(trained),
        "beyond_90": int((near > far).sum()),
        "expected_beyond_90": float((trained > far).mean()),
        "beyond_all": int((near > order[-1]).sum()),
        "same": _same(cohort.X[:, weighting.columns], own[:, weighting.columns]),
        "compared": len(weighting.columns),
        "shared": float(shared.mean()),
        "least_shared": float(shared.min()),
        "lacking": 0,
        "n": len(near),
        "expected": _by_tenths(usual),
        "cases": {"familiarity": near.tolist(), "share_farther": farther.tolist()},
    }


def _farther(order: _Floats, distance: _Floats) -> _Floats:
    """Return the share of sorted distances that are greater than each."""
    return 1.0 - np.searchsorted(order, distance, "right") / len(order)


def _by_tenths(shares: _Floats) -> list[float]:
    """Return what part of the shares is in each tenth."""
    which = np.minimum((shares * _TENTHS).astype(np.intp), _TENTHS - 1)
    return (np.bincount(which, minlength=_TENTHS) / len(shares)).tolist()


def _same(rows: _Floats, cases: _Floats) -> int:
    """Return how many rows equal one of the cases, missing where it is missing."""
    groups = row_groups(np.vstack([cases, rows]))
    return int(np.isin(groups[len(cases) :], groups[: len(cases)]).sum())


def _median(values: _Floats) -> float:
    """Return the median; the lower one of two whose mean is beyond float64."""
    with np.errstate(over="ignore"):
        middle = float(np.median(values))
    return middle if math.isfinite(middle) else float(np.quantile(values, 0.5, method="lower"))


def _nearest(vote: Any, X: _Floats, own: _Floats, skip: int) -> tuple[_Floats | None, _Floats]:
    """Return the distance of each row to the nearest kept case, or to the next but `skip`.

    Beside it the share of the compared columns that both have: `own` are the kept cases.
    """
    columns = vote.weighting.columns
    found: list[_Floats] = []
    shared: list[_Floats] = []
    for start in range(0, len(X), _ROWS):
        block = X[start : start + _ROWS]
        with np.errstate(over="ignore", invalid="ignore"):  # a distance beyond float64 is inf
            near = vote.nearest(block, _CASES)
        if near is None or near.distance.shape[1] <= skip:
            return None, np.empty(0)
        each = np.arange(len(block))
        place = np.argsort(near.distance, axis=1, kind="stable")[:, skip]
        found.append(near.distance[each, place])
        case = near.anchor[each, place]
        case = vote.weighting.voter[case] if hasattr(vote.weighting, "voter") else case
        both = ~np.isnan(block[:, columns]) & ~np.isnan(own[case][:, columns])
        shared.append(both.mean(axis=1) if len(columns) else np.ones(len(block)))
    return np.concatenate(found), np.concatenate(shared)


def _by_mass(model: Any, cohort: Cohort) -> dict[str, Any] | None:
    baseline = model._known_baseline()
    profile: Profile | None = None if baseline is None else baseline.profile
    if profile is None or not len(profile.mass) or np.isnan(profile.mass).any():
        return None
    weighed = set(model.vote_.weighting.columns.tolist())
    mass, trained, n_kept = model.vote_.mass(cohort.X), profile.mass, model.vote_.n_voters
    if (
        field_of(model.vote_.weighting, "batches") is not None
    ):  # what the prior weighs is the same everywhere
        whole, found = mass, Prototypes.of(model)
        mass = found.familiarity(cohort.X[:, found.columns])
        trained = np.maximum(trained - np.median(whole - mass), 0.0)
        n_kept = int((~found.is_prior).sum())
    share = np.interp(mass, trained, LEVELS) if trained[-1] > trained[0] else None
    return {
        "measure": "total weight of the prototypes",
        "n_kept": n_kept,
        "median": _median(mass),
        "trained_median": float(trained[LEVELS.index(0.5)]),
        "beyond_90": int((mass < trained[LEVELS.index(0.1)]).sum()),
        "expected_beyond_90": 0.1,
        "beyond_all": int((mass < trained[0]).sum()),
        "same": 0,
        "compared": len(weighed),
        "shared": 1.0,
        "least_shared": 1.0,
        "lacking": len(weighed & set(cohort.lacking)),
        "n": len(mass),
        "expected": [1.0 / _TENTHS] * _TENTHS,
        "cases": {
            "familiarity": mass.tolist(),
            "share_farther": [None] * len(mass) if share is None else share.tolist(),
        },
    }


# ---------------------------------------------------------------------- in words
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
        f"{near['beyond_90']} of {n} cases {far} {than} (of cases like these it would be "
        f"{n * near['expected_beyond_90']:.1f}); {near['beyond_all']} {least}.",
    ]
    if near["shared"] < 1:
        lines.append(
            f"a distance is of the columns that both cases have: on average "
            f"{100 * near['shared']:.0f} % of the {near['compared']} that are compared, at least "
            f"{100 * near['least_shared']:.0f} %."
        )
    if near["lacking"]:
        lines.append(
            f"{plural(near['lacking'], 'column')} of the prototypes missing: they count as on "
            "average, so that the comparison is a rough one."
        )
    if near["same"]:
        lines.append(
            f"{plural(near['same'], 'case')} with the values of a training case in all "
            f"{plural(near['compared'], 'column')} that are compared, missing where it is missing: "
            "if the model was fitted on them, figures flatter."
        )
    return lines


def _number(value: float) -> str:
    return number(value) if math.isfinite(value) else "beyond float64's range"
