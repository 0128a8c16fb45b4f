"""Statistics of a comparison: summaries, differences, tests, and design effects of groups."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc
from scipy.stats import f as fisher
from scipy.stats import norm, pearson3
from scipy.stats import t as student

from psephos._errors import PsephosError, must_be_inside
from psephos._types import Array, ArrayLike, Floats, Indices, LabelsLike, PerRow
from psephos.protocol.evaluation.scores import (
    About,
    Answers,
    ResultMetric,
    kind_of,
    known_measures,
    ranked_by,
)
from psephos.protocol.evaluation.stability import Stability, positions_of, selection_stability

_DRAWS = 1000
_PERMUTATIONS = 200
_LEVEL = 0.95  # of the upper limit of the intraclass correlation of predictions


def design_effect(truth: ArrayLike, answers: Any, groups: PerRow, copies: Any = None) -> float:
    """Return the design effect of the accuracy under grouping (at least 1).

    n predictions carry as much information as n / `design_effect` independent ones.

    Parameters
    ----------
    truth : array of int, shape (n,)
        The class of each case.
    answers : array of int, shape (n,)
        The predicted class of each case. Both may be numbers (float).
    groups : array of shape (n,)
    copies : array of shape (n,), optional
        Cases with the same value are copies of each other. Copies must be in one group, and count
        as one case even if their classes differ.

    Returns
    -------
    effect : float

    Notes
    -----
    Let y be 1 if a case is of a class, a be 1 if that class is predicted, with intraclass
    correlations r_y and r_a. If predictions do not depend on labels, the products of deviations
    (y - mean)(a - mean) of two cases of one group have covariance r_y r_a times the variance, and
    their sum over all cases has the variance of n independent ones times

        1 + r_y r_a (sum of squared group sizes / n - 1),

    Kish's design effect with the correlation of the product. For groups of equal size this is the
    variance over permutations of whole groups and of the labels within them. r_y is 1 for labels
    that are constant within groups, and 0 for labels that vary within groups as over all cases.
    Correlations are estimated by the analysis of variance. If r_y is above 0, r_a is the upper 95 %
    limit (by the F distribution): predictions depend on the labels that the model was fitted on,
    and in few groups they may seem uncorrelated by chance. The result is the greatest effect over
    the classes, at least 1. If neither labels nor predictions vary within groups, n / effect is the
    number of groups, or n^2 / sum of squared sizes if sizes differ.

    References
    ----------
    Kish (1965), "Survey Sampling", section 5.4; Donner & Klar (2000), "Design and Analysis of
    Cluster Randomization Trials", for the estimate of the correlation.

    Examples
    --------
    >>> from psephos.protocol.evaluation.statistics import design_effect
    >>> groups = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    >>> design_effect([0, 0, 0, 1, 1, 1] * 2, [0, 0, 0, 1, 1, 1] * 2, groups)  # labels of groups
    3.0
    >>> design_effect([0, 0, 1] * 4, [0, 0, 1] * 4, groups)  # each group has both classes
    1.5
    """
    y, a = np.asarray(truth), np.asarray(answers)
    group = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    n = len(y)
    alike = n if copies is None else _squares(np.asarray(copies))
    pairs = [(y, a)] if y.dtype.kind == "f" else [(y == k, a == k) for k in np.unique(y)]
    both = [_product(*pair, group) for pair in pairs]
    return float(alike + max(0.0, *both) * (_squares(group) - alike)) / n


def _product(y: LabelsLike, a: Any, group: Indices) -> float:
    labels = intraclass(y, group)
    return labels * intraclass(a, group, _LEVEL if labels > 0 else None)


def intraclass(values: Any, groups: Any, level: float | None = None) -> float:
    """Return the intraclass correlation of values by groups, estimated from mean squares.

    It is 0 if all values are equal, and 1 if there is one group only, or each case is a group.

    Parameters
    ----------
    values : array of shape (n,)
    groups : array of int, shape (n,)
        Codes 0, 1, ..., each of which occurs.
    level : float, optional
        If given, return the upper limit of this one-sided level instead of the estimate.
    """
    v = np.asarray(values, dtype=np.float64)
    v, sizes = v - v.mean(), np.bincount(groups)
    n, k = len(v), len(sizes)
    if not v.any():
        return 0.0
    if k in (1, n):
        return 1.0
    between = float((np.bincount(groups, v) ** 2 / sizes).sum())
    within = (float((v**2).sum()) - between) / (n - k)
    typical = (n - float((sizes**2).sum()) / n) / (k - 1)
    between /= k - 1
    if level is not None:
        between /= float(fisher.ppf(1.0 - level, k - 1, n - k))
    return max(-1.0, (between - within) / (between + (typical - 1.0) * within))


def _squares(groups: Array) -> float:
    """Return the sum of squared group sizes."""
    return float((np.unique(groups, return_counts=True)[1] ** 2).sum())


def pooled_numbers(
    truth: Floats, predicted: Floats, units: Array, seed: int
) -> dict[str, float | None]:
    """Return R², MAE and RMSE of all predictions together, each with a 95 % bootstrap interval.

    The interval lies between the 2.5 % and 97.5 % quantiles over a thousand resamples of the units
    (cases, or groups of cases): the models are not fitted again.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n,)
    units : ndarray of shape (n,)
        The case or group of each prediction.
    seed : int

    Returns
    -------
    figures : dict
        ``r2``, ``r2_low``, ``r2_high``, and the same for ``mae`` and ``rmse``; None if not defined.
    """
    unit, off, y = np.unique(units, return_inverse=True)[1], truth - predicted, truth - truth.mean()
    columns = (np.ones(len(y)), np.abs(off), off**2, y, y**2)
    sums = np.array([np.bincount(unit, one) for one in columns], dtype=np.float64).T
    rng, n = np.random.default_rng(seed), len(sums)
    often = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(_DRAWS))
    drawn: list[Floats] = [sums.sum(axis=0), *(counts @ sums for counts in often)]
    each = _figures_of(np.vstack(drawn))
    found: dict[str, float | None] = {}
    for name, values in zip(("r2", "mae", "rmse"), each, strict=True):
        known = values[1:][np.isfinite(values[1:])]
        ends = np.quantile(known, (0.025, 0.975)) if n > 1 and len(known) else (math.nan, math.nan)
        cells = (values[0], *ends)
        keys = (name, f"{name}_low", f"{name}_high")
        found |= {k: float(v) if v == v else None for k, v in zip(keys, cells, strict=True)}
    return found


def _figures_of(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return R², MAE and RMSE from rows of the sums of 1, |e|, e^2, y and y^2."""
    n, absolute, squared, y, y_squared = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        r2 = 1 - squared / (y_squared - y**2 / n)
    return np.where(np.isfinite(r2), r2, np.nan), absolute / n, np.sqrt(squared / n)


Rows = Sequence[Mapping[str, Any]]
#: Shown instead of figures over folds (spread, interval, stability) if there is one test part.
ONE_PART = "not available with one test part"


def one_part(results: Rows) -> bool:
    """Return whether all rows of results.csv are of one test part."""
    return len({(row["repeat"], row["fold"]) for row in results}) == 1


@dataclass(frozen=True)
class FoldSpread:
    """Mean, standard deviation (divisor J - 1) and standard error SD / sqrt(J) of J values.

    All are NaN without values; SD and SE are 0 for one value. The standard error treats splits as
    independent, which they are not: it can rank models, but is not an interval.
    """

    mean: float
    sd: float
    se: float
    n: int


@dataclass(frozen=True)
class Summary:
    """The figures of one model over its outer splits."""

    model: str
    measures: Mapping[str, FoldSpread]
    columns_used: FoldSpread
    n_voters: FoldSpread
    training: FoldSpread  # the measure that models are ranked by, on the training parts
    stability: Stability
    n_failed: int
    ranked_by: ResultMetric

    @property
    def score(self) -> float:
        """Return the mean of the measure that models are ranked by.

        By default balanced accuracy (average precision of several labels, R² of numbers, PU-F of
        partly recorded labels without the truth).
        """
        return self.measures[self.ranked_by.name].mean

    @property
    def merit(self) -> float:
        """Return the score, negated if smaller is better: the greatest is the best."""
        return self.ranked_by.sign * self.score

    @property
    def score_se(self) -> float:
        """Return the standard error of the score."""
        return self.measures[self.ranked_by.name].se


@dataclass(frozen=True)
class Difference:
    """The mean difference of two models over J shared splits, with its corrected t test."""

    mean: float
    low: float  # the interval; NaN with fewer than two splits
    high: float
    p: float  # two-sided; 1 if all differences are 0, NaN with fewer than two splits
    n: int  # J
    ratio: float  # n_test / n_train of the correction


def summary(results: Rows, about: About | None = None) -> list[Summary]:
    """Return the figures of each model, in the order in which models first appear.

    Parameters
    ----------
    results : sequence of mappings
        Rows of results.csv, or `Comparison.results`; failed fits count as `n_failed` only.
    about : mapping, optional
        The content of comparison.json, or `Comparison.about`, which holds the measure that models
        are ranked by if one was chosen.
    """
    found: list[Summary] = []
    chosen = ranked_by(results[0] if results else (), about)
    known = dict.fromkeys([*known_measures(), chosen.name])
    metrics = [name for name in known if not results or name in results[0]]
    for model in dict.fromkeys(str(row["model"]) for row in results):
        rows = [row for row in results if row["model"] == model]
        done = [row for row in rows if row["status"] == "ok"]
        found.append(
            Summary(
                model=model,
                measures={metric: _spread(_values(done, metric)) for metric in metrics},
                columns_used=_spread(_values(done, "columns_used")),
                n_voters=_spread(_values(done, "n_voters")),
                training=_spread(_values(done, "training")),
                stability=_stability(done),
                n_failed=len(rows) - len(done),
                ranked_by=chosen,
            )
        )
    return found


def _values(rows: Rows, column: str) -> list[float]:
    return [v for v in (_number(row.get(column)) for row in rows) if v is not None]


def _stability(rows: Rows) -> Stability:
    """Return the selection stability; not defined for older rows, which lack the columns."""
    n_columns = _number(rows[0].get("n_columns")) if rows else None
    if n_columns is None or any(row.get("columns") is None for row in rows):
        return Stability(math.nan, math.nan, math.nan, len(rows))
    return selection_stability([positions_of(str(r["columns"])) for r in rows], int(n_columns))


def _number(value: Any) -> float | None:
    return None if value is None or value == "" else float(value)


def _spread(values: Sequence[float]) -> FoldSpread:
    if not values:
        return FoldSpread(math.nan, math.nan, math.nan, 0)
    n = len(values)
    sd = float(np.std(values, ddof=1)) if n > 1 else 0.0
    return FoldSpread(float(np.mean(values)), sd, sd / math.sqrt(n), n)


# ------------------------------------------------------------------- differences
def paired_difference(
    results: Rows | Sequence[float] | Array,
    model: str | Sequence[float] | Array,
    other: str | float,
    metric: str = "balanced_accuracy",
    *,
    level: float = 0.95,
) -> Difference:
    """Return the mean difference of two models and its corrected resampled t interval.

    Call it with rows, ``paired_difference(results, "samba", "adaboost", "balanced_accuracy")``,
    or with the values of both models on the same splits and the ratio of test to training rows,
    ``paired_difference(a, b, 0.25)``.

    Parameters
    ----------
    results : sequence of mappings, or values a of the first model
    model : str, or values b of the second model
    other : str, or the ratio n_test / n_train
    metric : str, default="balanced_accuracy"
    level : float, default=0.95

    Returns
    -------
    difference : Difference
        The difference model - other (a - b), over the splits on which both are defined.

    Raises
    ------
    PsephosError
        If a model has no rows, or no split is common to both.

    Notes
    -----
    With differences d_1 ... d_J of mean m and variance v (divisor J - 1), the standard error is
    sqrt((1 / J + n_test / n_train) v) and the quantile Student's with J - 1 degrees of freedom:
    training parts overlap, so that v / J alone is far too small (Nadeau and Bengio 2003, Machine
    Learning 52, section 3.2). The correction was derived for random splits. For k-fold
    cross-validation, repeated or not, the same formula is used with n_test / n_train = sum of
    test rows / sum of training rows over the shared splits, which is 1 / (k - 1) (Bouckaert and
    Frank 2004).
    """
    if isinstance(model, str):
        a, b, ratio = _paired(results, model, str(other), metric)
    else:
        a, b = np.asarray(results, dtype=np.float64), np.asarray(model, dtype=np.float64)
        ratio = float(other)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise PsephosError(
            f"paired values have shapes {a.shape} and {b.shape}: give both models' values on the "
            "same splits."
        )
    differences = a - b
    mean, n = float(np.mean(differences)), len(differences)
    if n < 2:
        return Difference(mean, math.nan, math.nan, math.nan, n, ratio)
    error = math.sqrt((1 / n + ratio) * float(np.var(differences, ddof=1)))
    if error == 0:
        return Difference(mean, mean, mean, 1.0 if mean == 0 else 0.0, n, ratio)
    half = float(student.ppf((1 + level) / 2, n - 1)) * error
    p = 2 * float(student.sf(abs(mean) / error, n - 1))
    return Difference(mean, mean - half, mean + half, p, n, ratio)


def _paired(results: Any, model: str, other: str, metric: str) -> tuple[Floats, Floats, float]:
    mine, theirs = (_by_split(results, name, metric) for name in (model, other))
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        raise PsephosError(
            f"{model!r} and {other!r} have no common split on which {metric!r} is defined: name "
            "models of the comparison that did not fail."
        )
    rows = [mine[split] for split in shared]
    a = np.array([float(mine[split][metric]) for split in shared])
    b = np.array([float(theirs[split][metric]) for split in shared])
    n_test = sum(int(row["n_test"]) for row in rows)
    return a, b, n_test / max(sum(int(row["n_train"]) for row in rows), 1)


def _by_split(results: Rows, model: str, metric: str) -> dict[tuple[int, int], Mapping[str, Any]]:
    if results and metric not in results[0]:
        known = [m for m in known_measures() if m in results[0]]
        raise PsephosError(f"metric must be one of {', '.join(known)}; got {metric!r}.")
    return {
        (int(row["repeat"]), int(row["fold"])): row
        for row in results
        if row["model"] == model and row["status"] == "ok" and _number(row[metric]) is not None
    }


# ------------------------------------------------------------------- choosing
def constant_score(about: About) -> float:
    """Return the first measure of a constant prediction, from the content of comparison.json."""
    if about.get("metric"):
        return float(about["metric"]["constant"] or 0.0)
    if about.get("partial") and not about["partial"]["truth"]:
        return 1.0  # PU-F, if all rows are predicted positive
    if kind_of(about) == "classes":
        return 1 / len(about["classes"])
    known = about.get("constant")
    return 0.0 if known is None else float(known)


def better_than_constant(results: Rows, about: About, *, chance: float = 0.05) -> dict[str, float]:
    """Return the models that are significantly better than a constant prediction, with p-values.

    If the labels were permuted at random, one or more models would be returned with a probability
    of at most `chance`, for any number of models (Bonferroni).

    Parameters
    ----------
    results : sequence of mappings
        Rows of results.csv, or `Comparison.results`.
    about : mapping
        The content of comparison.json, or `Comparison.about`.
    chance : float, default=0.05

    Returns
    -------
    better : dict of str to float
        The p-value of each such model, corrected for the number of models, in the order of
        `results`. Models that read no column are never included.

    Notes
    -----
    A model predicts class k, which has a share p_k of a test part's n cases, for a share q_k of
    them. If labels are permuted, its balanced accuracy has mean 1 / K and variance
    sum_k q_k (1 - q_k) / p_k / (K^2 (n - 1)), at most (sum_k 1 / p_k - (K - 2)^2) / (4 K^2 (n -
    1)) for any predictions. This bound is used as the variance v of a part, and (1 / J + n_test /
    n_train) v as that of the mean over J parts (as in `paired_difference`: two cases that predict
    each other count twice). If test parts are cohorts, p_k and n are those of each cohort, and v is
    their mean. For cases in groups, n is divided by the `design_effects` of `about`: it is nearly n
    if labels vary within groups as they do over all cases, and the number of groups if neither
    labels nor predictions vary within groups. For copies, and for groups if `about` has no design
    effects, n is replaced by n^2 / sum of squared sizes. For numbers, the mean squared error of the
    mean minus that of a model is g = 2 a - q, where q is the mean square of predictions about the
    mean, and a the mean of their products with the truth, in units of the truth's variance. If
    numbers are permuted, a has mean 0 and variance q / n, and g + q is at least sqrt(g n) of its
    standard deviations for any q. p-values are those of a normal distribution, times the number of
    models that read a column (Bonferroni). For several labels, partly recorded labels, or unknown
    class sizes, v is the observed variance over the parts, and p-values are Student's with J - 1
    degrees of freedom. For a chosen measure (`metric` of `compare`), v is the variance over 200
    permutations of the truth of a test part with fixed predictions, times the design effect; the
    mean is compared with the mean of the permutations, or with the best constant prediction if that
    is better, and p-values are those of Pearson's third type with their skewness.

    A cost is compared with the mean of the permutations, and with each constant prediction by the
    cases for which the model differs from it. It is less than that of "all positive" if the share
    of positive cases among those it calls negative is below 1 / (1 + missed), and less than that of
    "all negative" if their share among those it calls positive is greater. p-values are those of
    the share's beta distribution with Jeffreys' prior, with counts divided by the design effect
    (Brown, Cai and DasGupta 2001, Statistical Science 16). The greatest of the three is used:
    permutations keep the level if models repeat the noise of neighbouring rows, counts if columns
    predict the classes, but not well enough for this cost. Older studies have no counts (`counts`
    of `about`), and are compared as for other measures.
    """
    must_be_inside("chance", chance)
    every = summary(results, about)
    found = [one for one in every if one.columns_used.n and one.columns_used.mean > 0]
    tails = {one.model: _tail(one, results, about) for one in found}
    sure = {model: min(1.0, tail * len(tails)) for model, tail in tails.items()}
    return {model: p for model, p in sure.items() if p <= chance}


def _tail(one: Summary, results: Rows, about: About) -> float:
    """Return the p-value of a model's mean under permutation of the labels, uncorrected."""
    metric = one.ranked_by.name
    rows = list(_by_split(results, one.model, metric).values())
    n_parts, n_test = len(rows), sum(int(row["n_test"]) for row in rows)
    n_train = sum(int(row["n_train"]) for row in rows)
    if not rows or not n_train:
        return 1.0
    gap = one.score - constant_score(about)
    doubled, chosen = 1 / n_parts + n_test / n_train, about.get("metric")
    sizes = np.array([c for c in about.get("class_counts") or () if c], dtype=np.float64)
    closed = metric == "r2" or (metric == "balanced_accuracy" and len(sizes))
    if not chosen and not closed:
        error = math.sqrt(doubled) * one.measures[metric].sd
        return float(student.sf(gap / error, n_parts - 1)) if error > 0 else 1.0
    whole, k = float(sizes.sum() or about["n_rows"]), len(sizes)
    alone = about.get("independent_rows") or about.get("n_groups") or whole
    effect = about.get("design_effects", {}).get(one.model, whole / alone)
    n = n_test / n_parts / max(1.0, effect)
    if n <= 1:
        return 1.0
    if chosen:
        by_chance = _tail_permuted(one, chosen, doubled * max(1.0, effect), n_parts)
        return max(by_chance, _tail_counted(one, chosen, max(1.0, effect)))
    if metric == "r2":
        gain = _gain(rows, results, about)
        return float(norm.sf(math.sqrt(gain * n / doubled))) if gain > 0 else 1.0
    counts = [np.array(one, dtype=np.float64) for one in about.get("cohorts", {}).values()]
    parts = [(c, float(c.sum()) / max(1.0, effect)) for c in counts] or [(sizes, n)]
    if min(alone for _, alone in parts) <= 1:
        return 1.0
    each = [((c.sum() / c).sum() - (k - 2) ** 2) / (alone - 1) for c, alone in parts]
    error = math.sqrt(doubled * float(np.mean(each)) / (4 * k**2))
    return float(norm.sf(gap / error))


def _tail_permuted(one: Summary, chosen: About, inflated: float, n_parts: int) -> float:
    """Return the p-value of a mean by the moments of the measure under permutation."""
    sign, (mean, variance, third) = one.ranked_by.sign, chosen["chance"].get(one.model) or (0, 0, 0)
    if variance <= (1e-9 * mean) ** 2:  # rounding
        return 1.0
    constant = None if one.model in chosen.get("counts", {}) else chosen["constant"]
    known = [sign * v for v in (mean, constant) if v is not None]
    skew = sign * third / variance**1.5 / math.sqrt(n_parts)
    return float(pearson3.sf((one.merit - max(known)) / math.sqrt(inflated * variance), skew))


def _tail_counted(one: Summary, chosen: About, effect: float) -> float:
    """Return the p-value of a cost that is not below that of each constant prediction."""
    if one.model not in chosen.get("counts", {}):
        return 0.0  # compared with the constant by `_tail_permuted`
    cleared, alarms, lost, found = (float(n) / effect + 0.5 for n in chosen["counts"][one.model])
    least = 1 / (1 + float(chosen["missed"]))  # share of positives at which both cost the same
    return float(max(betainc(cleared, lost, 1 - least), betainc(found, alarms, least)))


def permuted(metric: ResultMetric, answers: Answers, truth: Array, seed: int) -> list[float] | None:
    """Return mean, variance and third central moment of a measure over permutations of the truth.

    None if the measure is not defined.
    """
    rng = np.random.default_rng(seed)
    found = [metric.measured(answers, rng.permutation(truth)) for _ in range(_PERMUTATIONS)]
    values = np.array([value for value in found if value is not None], dtype=np.float64)
    if not len(values):
        return None
    off = values - values.mean()
    return [float(values.mean()), float((off**2).mean()), float((off**3).mean())]


def _gain(rows: Rows, results: Rows, about: About) -> float:
    """Return the reduction of the mean squared error against the mean, in variances of y."""
    splits = sorted({(int(row["repeat"]), int(row["fold"])) for row in results})
    flat: dict[tuple[int, int], float] = dict(zip(splits, about["constant_rmse"], strict=True))
    sizes = np.array([int(row["n_test"]) for row in rows])
    own = np.array([float(row["rmse"]) for row in rows])
    constant = np.array([flat[int(row["repeat"]), int(row["fold"])] for row in rows])
    gain = float((sizes * (constant**2 - own**2)).sum() / sizes.sum())
    return gain / float(about["deviation"]) ** 2


def comparable(summaries: Sequence[Summary]) -> list[Summary]:
    """Return the models whose means can be ranked: those that failed in the fewest folds.

    The mean of a model that failed in some folds is over other cases than the means of others.
    """
    known = [s for s in summaries if math.isfinite(s.score) and s.columns_used.n]
    fewest = min((s.n_failed for s in known), default=0)
    return [s for s in known if s.n_failed == fewest]


def pareto(summaries: Sequence[Summary]) -> list[Summary]:
    """Return the Pareto-optimal models: fewest columns, best score (means; see `Summary`).

    No other model is at least as good in both and better in one. The result is sorted by columns,
    fewest first; models that failed in more folds than others are left out.
    """
    known = comparable(summaries)
    best = [s for s in known if not any(_beats(o, s) for o in known)]
    return sorted(best, key=lambda s: (s.columns_used.mean, -s.merit, s.model))


def _beats(one: Summary, other: Summary) -> bool:
    columns, merit = one.columns_used.mean, one.merit
    if columns > other.columns_used.mean or merit < other.merit:
        return False
    return columns < other.columns_used.mean or merit > other.merit


def one_standard_error(
    summaries: Sequence[Summary], among: Sequence[str] | None = None
) -> Summary | None:
    """Return the model with the fewest columns within one standard error of the best of all.

    Parameters
    ----------
    summaries : sequence of Summary
    among : sequence of str, optional
        The models that may be chosen, by default all. The best model is searched among all.

    Returns
    -------
    chosen : Summary or None
        Among ties the more accurate one. None if no model of `among` is within one standard error
        of the best, SD / sqrt(J) of the best model's scores (0 for one split). Models that failed
        in more folds than others are left out.
    """
    known = comparable(summaries)
    if not known:
        return None
    best = max(known, key=lambda s: (s.merit, -s.columns_used.mean))
    floor = best.merit - best.score_se - 1e-12
    near = [s for s in known if s.merit >= floor and (among is None or s.model in among)]
    return min(near, key=lambda s: (s.columns_used.mean, -s.merit), default=None)
