"""How a cohort differs from the training rows: familiarity of cases, usable voters, its columns."""

import math
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Usage
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.prototypes import Prototypes
from psephos.files.names import fixed, listed, number, plural
from psephos.files.near import shown
from psephos.validation.cohort import Cohort
from psephos.vote import Vote
from psephos.vote.part import Weighting, over_outputs
from psephos.vote.profile import LEVELS, Profile
from psephos.vote.rows import row_groups

_CASES = 5
_ROWS = 512
_TENTHS = 10


def familiarity(model: Any, cohort: Cohort) -> dict[str, Any] | None:
    """Return how near cases are to the training cases that the model keeps; None if it keeps none.

    For weights that keep training cases: the distance to the nearest kept case, compared with each
    kept case's own distance to the nearest other one, both on the columns that the cohort has. A
    distance uses the columns that both cases have; ``shared`` is the share of these columns.
    ``same`` counts the cases that equal a training case in all these columns, missing where it is
    missing. For prototypes: their total weight, without the prior, compared with the quantiles of
    the training rows; columns that the cohort lacks count there as they do on average.

    ``expected_beyond_90`` is the share of the training cases themselves that are farther than 90 %
    of them, and ``expected`` their share in each tenth of ``share_farther``: with ties these differ
    from one tenth.
    """
    weighting: Weighting = model.vote_.weighting
    cases, prototypes = weighting.kept_cases(), weighting.prototype_batches()
    if cases is None and prototypes is None:
        return None
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


def _farther(order: Floats, distance: Floats) -> Floats:
    """Return the share of sorted distances that are greater than each."""
    return 1.0 - np.searchsorted(order, distance, "right") / len(order)


def _by_tenths(shares: Floats) -> list[float]:
    """Return the fraction of the shares that lies in each tenth of [0, 1]."""
    which = np.minimum((shares * _TENTHS).astype(np.intp), _TENTHS - 1)
    return (np.bincount(which, minlength=_TENTHS) / len(shares)).tolist()


def _same(rows: Floats, cases: Floats) -> int:
    """Return how many rows equal one of the cases, missing where it is missing."""
    groups = row_groups(np.vstack([cases, rows]))
    return int(np.isin(groups[len(cases) :], groups[: len(cases)]).sum())


def _median(values: Floats) -> float:
    """Return the median; the lower of the two middle values if their mean exceeds float64."""
    with np.errstate(over="ignore"):
        middle = float(np.median(values))
    return middle if math.isfinite(middle) else float(np.quantile(values, 0.5, method="lower"))


def _nearest(vote: Any, X: Floats, own: Floats, skip: int) -> tuple[Floats | None, Floats]:
    """Return the distance of each row to its nearest kept case but `skip`, and the shared columns.

    The second array is the share of the compared columns that both have; `own` are the kept cases.
    """
    columns = vote.weighting.columns
    found: list[Floats] = []
    shared: list[Floats] = []
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


def _by_mass(model: VoteEstimator, cohort: Cohort) -> dict[str, Any] | None:
    baseline = model._known_baseline()
    profile: Profile | None = None if baseline is None else baseline.profile
    if profile is None or not len(profile.mass) or np.isnan(profile.mass).any():
        return None
    weighed = set(model.vote_.weighting.columns.tolist())
    mass, trained, n_kept = model.vote_.mass(cohort.X), profile.mass, model.vote_.n_voters
    # the prior has the same weight everywhere
    if model.vote_.weighting.prototype_batches() is not None:
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
        return ["the model keeps no training cases: familiarity cannot be measured."]
    n, mass = near["n"], "weight" in near["measure"]
    than = "training rows" if mass else "training cases are from their nearest other one"
    far = "are less familiar than 90 % of the" if mass else "are farther than 90 % of the"
    least = "less familiar than every training row" if mass else "farther than each of them"
    lines = [
        f"{near['measure']}: median {_number(near['median'])}, of the training cases "
        f"{_number(near['trained_median'])}.",
        f"{near['beyond_90']} of {n} cases {far} {than} (expected of cases like the training rows: "
        f"{n * near['expected_beyond_90']:.1f}); {near['beyond_all']} {least}.",
    ]
    if near["shared"] < 1:
        lines.append(
            f"a distance uses the columns that both cases have: on average "
            f"{100 * near['shared']:.0f} % of the {near['compared']} that are compared, at least "
            f"{100 * near['least_shared']:.0f} %."
        )
    if near["lacking"]:
        lines.append(
            f"{plural(near['lacking'], 'column')} of the prototypes missing: they count as on "
            "average, so the comparison is approximate."
        )
    if near["same"]:
        lines.append(
            f"{plural(near['same'], 'case')} with the values of a training case in all "
            f"{plural(near['compared'], 'column')} that are compared, missing where it is missing: "
            "if the model was fitted on them, the figures are too optimistic."
        )
    return lines


def _number(value: float) -> str:
    return number(value) if math.isfinite(value) else "beyond float64's range"


_SHARED_ROWS = 256
ABSENT = ("missing", "silent")  # ways to treat columns that a cohort lacks
STATES = ("all", "some", "none", "no column")


def check_columns(model: VoteEstimator, vote: Vote, cohort: Cohort) -> None:
    """Raise PsephosError, naming the columns, if the vote needs values that the cohort lacks."""
    names = model.schema_.words().columns
    gaps = np.isnan(cohort.X)
    if not gaps.any():
        return
    row = gaps.any(axis=1).argmax()
    try:
        vote.score(cohort.X[gaps.any(axis=1)])
    except PsephosError as error:
        columns = list(cohort.lacking) or np.flatnonzero(gaps[row]).tolist()
        where = "the cohort lacks" if cohort.lacking else f"case {cohort.ids[int(row)]!r} lacks"
        raise PsephosError(
            f"{where} {listed([shown(names[j]) for j in columns])}, which "
            f"{type(model).__name__} cannot answer without: measure or impute "
            "them, or validate a model that accepts missing values (swag with absent='vote', trees "
            "with surrogates)."
        ) from error


def usable_vote(model: VoteEstimator, cohort: Cohort) -> Any:
    """Return the vote without the voters that read a column that the cohort lacks.

    Raises
    ------
    PsephosError
        If no voter that reads a column is left.
    """
    vote = model.vote_
    _, reads, lost = _lost(vote, cohort)
    kept = np.flatnonzero(lost == 0)
    if not (reads[kept] > 0).any():
        names = model.schema_.words().columns
        raise PsephosError(
            f"every voter of {type(model).__name__} reads a column that the cohort lacks ("
            f"{listed([names[j] for j in cohort.lacking])}): none is left. --absent missing "
            "(absent='missing') lets them vote by their rule for missing values."
        )
    return vote if len(kept) == vote.n_voters else vote.take(kept)


def _lost(vote: Vote, cohort: Cohort) -> tuple[Any, Any, Any]:
    """Return the mask (p,) of lacking columns, and for each voter how many it reads and lacks."""
    lacking = np.zeros(vote.n_features, dtype=bool)
    lacking[list(cohort.lacking)] = True
    usage: Usage = vote.voters.primary().usage()
    reads = np.asarray(usage.sum(axis=1)).ravel().astype(int)
    return lacking, reads, np.asarray(usage[:, lacking].sum(axis=1)).ravel().astype(int)


def usable(model: VoteEstimator, cohort: Cohort, absent: str) -> dict[str, Any]:
    """Return counts, and a table, of the voters by how many of their columns the cohort has.

    A voter has all its columns, some, none, or reads no column; the columns of surrogates do not
    count. `share` is its mean share of the weight over the cohort.
    """
    vote, names = model.vote_, model.schema_.words().columns
    lacking, reads, lost = _lost(vote, cohort)
    state = np.where(reads == 0, 3, np.where(lost == 0, 0, np.where(lost < reads, 1, 2)))
    kept = np.flatnonzero(lost == 0) if absent == "silent" else np.arange(vote.n_voters)
    share = np.zeros(vote.n_voters)
    share[kept] = _shares(vote.take(kept) if len(kept) < vote.n_voters else vote, cohort)
    table = {
        "voter": list(range(1, vote.n_voters + 1)),
        "columns": reads.tolist(),
        "missing": lost.tolist(),
        "has": [STATES[k] for k in state.tolist()],
        "share": share.tolist(),
    }
    weighed = vote.weighting.columns
    words = [word.replace(" ", "_") for word in STATES]
    return {
        "absent": absent,
        "n_voters": vote.n_voters,
        "n_heard": int((share > 0).sum()),
        **{f"n_{word}": int((state == k).sum()) for k, word in enumerate(words)},
        **{f"share_{word}": float(share[state == k].sum()) for k, word in enumerate(words)},
        "lacking": [names[j] for j in cohort.lacking],
        "weights_read": len(weighed),
        "weights_lack": int(lacking[weighed].sum()),
        "voters": table,
    }


def _shares(vote: Vote, cohort: Cohort) -> Floats:
    """Return each voter's mean share of the weight over the cohort."""
    share = np.zeros(vote.n_voters)
    for start in range(0, len(cohort.X), _SHARED_ROWS):
        sizes = np.abs(over_outputs(vote.output_shares(cohort.X[start : start + _SHARED_ROWS])))
        total = sizes.sum(axis=1, keepdims=True)
        share += (sizes / np.where(total > 0, total, 1.0)).sum(axis=0) / len(cohort.X)
    return share


def voter_words(data: dict[str, Any]) -> list[str]:
    """Return what `usable` returned in sentences."""
    lacking: list[str] = data["lacking"]
    if not lacking:
        return ["every column that the model reads is in the cohort: all voters are usable."]
    how = "left out of the vote" if data["absent"] == "silent" else "in the vote"
    without = data["n_some"] + data["n_none"]
    lines = [
        f"{plural(len(lacking), 'column')} of the model without a value in the cohort: "
        f"{listed(lacking)}.",
        f"of {plural(data['n_voters'], 'voter')} {data['n_all']} have all their columns, "
        f"{data['n_some']} some, {data['n_none']} none"
        + (f"; {data['n_no_column']} read none" if data["n_no_column"] else "")
        + f". Those that lack some or all are {how}.",
    ]
    part = 100 * (data["share_some"] + data["share_none"])
    if without and data["absent"] == "missing" and part == 0:
        lines.append("they have no weight: the model uses those whose columns were measured.")
    elif without and data["absent"] == "missing":
        lines.append(
            f"they have {part:.0f} % of the weight and vote by the model's rule for missing "
            "values; a voter without any of its columns votes the same for every case. "
            "--absent silent (absent='silent') leaves them out."
        )
    if data["weights_lack"]:
        lines.append(
            f"the weights compare cases on {data['weights_read']} columns, {data['weights_lack']} "
            "of which are missing."
        )
    return lines


_COUNT = 1.358  # critical value of Kolmogorov and Smirnov's distance at 0.05
_DRAWS = 1999  # permutations of levels between cohort and training rows


def shift(model: VoteEstimator, cohort: Cohort) -> dict[str, Any]:
    """Return a table that compares each column of the cohort with the training rows.

    Keys of `columns`: ``missing`` and ``trained_missing`` (shares), ``outside`` (cases beyond the
    training range; None for categories), ``difference`` (of means, in standard deviations of the
    training rows), ``distance`` (a lower bound of Kolmogorov's distance, at the quantiles that are
    kept; for categories the total variation distance), ``chance`` (the critical value of that
    distance at 0.05: of Kolmogorov and Smirnov for numbers, by permutation of the levels for
    categories). ``outside_mean`` is the mean number of columns of a case beyond the training range;
    for cases like the training rows it is at most ``outside_expected``: a new value is the least or
    greatest of n + 1 in 2 of n + 1 cases.
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
    found: dict[str, Any] = {"columns": table, "trained_rows": None}
    if profile is not None:
        compared = [row for row in rows if row.get("distance") is not None]
        found |= {
            "trained_rows": profile.n_rows,
            "cases_outside": int((outside > 0).sum()),
            "outside_mean": float(outside.mean()),
            "outside_expected": expected,
            "outside": outside.tolist(),
            "n_shifted": sum(row["distance"] > row["chance"] for row in compared),
            "n_compared": len(compared),
        }
    return found


_KEYS = ("trained_missing", "outside", "difference", "distance", "chance")


def _beside(known: Floats, profile: Profile, place: int) -> dict[str, Any]:
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
        return row | {"distance": distance, "chance": _limit(own, len(known), trained, n_trained)}
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


def _limit(own: Floats, n: int, trained: Floats, n_trained: int) -> float:
    """Return the 0.95 quantile of the distance of levels under random permutation."""
    counts = np.round(own * n) + np.round(trained * n_trained)
    total, rng = int(counts.sum()), np.random.default_rng(0)
    drawn = rng.multivariate_hypergeometric(counts.astype(np.int64), n, _DRAWS)
    gaps = np.abs(drawn / n - (counts - drawn) / (total - n)).sum(axis=1) / 2
    return float(np.quantile(gaps, 0.95, method="higher"))


def ks_at_least(values: Floats, quantiles: Floats, n_trained: int) -> float:
    """Return a lower bound of Kolmogorov's distance of values to rows with these quantiles.

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
def shift_words(data: dict[str, Any], n_cases: int) -> list[str]:
    """Return how the columns of `n_cases` cases have shifted, in sentences."""
    if data["trained_rows"] is None:
        return ["the model keeps no summary of its training columns: shifts cannot be measured."]
    return [
        f"compared with a summary of {data['trained_rows']} training rows, significantly "
        f"different: {data['n_shifted']} of {plural(data['n_compared'], 'column')} (expected "
        f"without a shift: at most {data['n_compared'] / 20:.1f}).",
        f"{plural(data['cases_outside'], 'case')} of {n_cases} with a value beyond the training "
        f"range; {fixed(data['outside_mean'], 2)} columns a case on average (expected of "
        f"cases like the training rows: at most {fixed(data['outside_expected'], 2)}).",
    ]
