"""Bootstrap samples of forests and bags, and the uncertainty that they show."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.special

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, LabelsLike, NDArray, PerRow, TableLike
from psephos.estimator.input import Context, Table
from psephos.estimator.labels import Labels
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.models.training import SHRUNK, FirstFit
from psephos.trees.forest import Bootstraps
from psephos.vote import Vote
from psephos.vote.part import check

_CELLS = 1 << 21  # numbers of a block: 16 MiB
#: Attributes that exist only with ``oob_score=True``.
OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_")


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How the rows of each member were drawn: `seeds` (T,), weights `mass` (m,), `size` draws.

    If `grouped`, whole groups were drawn, and `mass` has their weights. `dropped` holds the seeds
    of members that were removed by a selection.
    """

    seeds: NDArray[np.uint64]
    mass: Floats
    size: int
    first_fit: FirstFit | None = None
    ranked: bool = False
    grouped: bool = False
    dropped: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))

    def __post_init__(self) -> None:
        check(self.seeds.ndim == self.mass.ndim == 1, "seeds and row weights must be lists")
        whole = self.seeds.dtype == self.dropped.dtype == np.uint64 and self.dropped.ndim == 1
        check(whole, "seeds must be uint64")
        check(self.mass.dtype == np.float64, "row weights must be float64")
        check(bool(np.isfinite(self.mass).all() and (self.mass > 0).all()), "row weights")
        check(isinstance(self.size, int) and 0 <= self.size < 2**31, "the number of draws")
        check(self.size == 0 or len(self.mass) > 0, "there must be rows to draw from")
        check(isinstance(self.grouped, bool), "grouped must be True or False")

    def take(self, voters: Indices) -> Self:
        """Return the draws of these members only."""
        own: Any = self
        first = self.first_fit and self.first_fit.changed(SHRUNK)
        dropped = np.append(self.dropped, np.delete(self.seeds, voters))
        return replace(own, seeds=self.seeds[voters], first_fit=first, dropped=dropped)

    @property
    def draws(self) -> Bootstraps | None:
        """Return the bootstrap samples; None if there were none."""
        return Bootstraps(self.mass, self.size) if self.size else None

    def left_groups_out(self, now: FirstFit, groups: Array | None) -> NDArray[np.bool_] | None:
        """Return `left_out` if groups were drawn; None if the rows of `now` are not those of fit.

        Raises
        ------
        PsephosError
            If the groups are not those of the fit.
        """
        first = self.first_fit
        if first is not None and not first.has(now):
            return None
        unit = np.empty(0) if groups is None else np.unique(groups, return_inverse=True)[1]
        other = first is not None and first.rows and first.rows != now.rows
        if other or len(np.unique(unit)) != len(self.mass):
            raise PsephosError(
                "the model was fitted with groups, which a bootstrap draws as a whole: pass the "
                "same groups (groups=)."
            )
        return self.left_out(unit)

    def left_out(self, unit: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows were not drawn for each member, (T, n); dropped members come last.

        `unit` (n,) is the index of each row (or its group) in `mass`.
        """
        draws, seeds = self.draws, np.append(self.seeds, self.dropped)
        assert draws is not None  # called only if there is a bootstrap
        return np.array([draws.counts(seed)[unit] == 0 for seed in seeds])


class DrawsRows(VoteEstimator):
    """Mixin of models whose members were fitted on bootstrap samples."""

    memory_: Any

    def _distinct_rows(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> tuple[FirstFit, Indices, Floats]:
        """Return digests of the rows, the distinct row of each, and the weights of these."""
        raise NotImplementedError

    def _left_out(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None, groups: PerRow = None
    ) -> NDArray[np.bool_] | None:
        """Return `left_out`, followed by a row for each member that `shrink` removed."""
        self._fitted()
        memory = self.memory_
        if not memory.size:
            return None
        table, labels, weight, context = self.read(X, y, sample_weight, groups)
        now, group, mass = self._distinct_rows(table, labels, weight, context)
        if memory.grouped:
            return memory.left_groups_out(now, context.groups)
        known = memory.first_fit is None or memory.first_fit.has(now)
        return memory.left_out(group) if known and np.array_equal(mass, memory.mass) else None

    def left_out(
        self,
        X: TableLike,
        y: LabelsLike,
        sample_weight: PerRow = None,
        *,
        groups: Array | None = None,
    ) -> NDArray[np.bool_] | None:
        """Return which training rows were not drawn for each member, (n_estimators, n_samples).

        X, y, sample_weight and groups must be those of `fit`. None if they are not, or if rows were
        not drawn with replacement. Rows of weight 0 have no column.
        """
        found = self._left_out(X, y, sample_weight, groups)
        return None if found is None else found[: len(self.memory_.seeds)]


def drawn_seeds(context: Context, first: int, end: int) -> NDArray[np.uint64]:
    """Return the seeds of the trees from `first` to `end`."""
    drawn = [context.generator(t).integers(2**64, dtype=np.uint64) for t in range(first, end)]
    return np.array(drawn, dtype=np.uint64)


def groups_drawn(groups: Any, size: int, number: float) -> tuple[Indices, Floats, int]:
    """Return the group index of each row, the groups' equal weights, and the number of draws.

    So many groups are drawn that they have `size` of `number` rows on average.

    Raises
    ------
    PsephosError
        If there is only one group.
    """
    unit = np.unique(groups, return_inverse=True)[1].astype(np.intp)
    n = int(unit.max()) + 1
    if n == 1:
        raise PsephosError(
            "all rows are of one group, and a bootstrap draws whole groups: give several groups, "
            "omit groups, or set bootstrap=False."
        )
    return unit, np.ones(n), max(1, round(size / number * n))


def earlier(model: Any, mass: Floats, size: int, members: str, now: FirstFit | None) -> Any:
    """Return the draws of the fit that a warm start continues; `members` is a word for messages."""
    memory: Any = model.memory_
    if len(memory.seeds) > model.n_estimators:
        raise PsephosError(
            f"n_estimators must be at least the {len(memory.seeds)} {members} of the first fit "
            f"with warm_start=True; got {model.n_estimators}."
        )
    if memory.first_fit is None and not memory.size:
        raise PsephosError(
            "the first fit had warm_start=False and kept no digest of its rows: set "
            "warm_start=True before the first fit. To fit anew, set warm_start=False."
        )
    if memory.first_fit is not None and now is not None:
        memory.first_fit.require(now)
    if not np.array_equal(memory.mass, mass) or memory.size != size:
        raise PsephosError(
            "with warm_start=True the rows, their weights, max_samples and bootstrap must be those "
            "of the first fit. To change them, set warm_start=False."
        )
    return memory


def out_of_bag(
    model: Any, vote: Vote, memory: Draw, unit: Indices, X: Any, y: NDArray[Any], weight: Floats
) -> dict[str, Any]:
    """Return the out-of-bag attributes: the predictions (n, C) and their score.

    `unit` (n,) is the index of each row (or its group) in `memory.mass`. A row that is in the
    sample of every member has NaN. Both are None without a bootstrap, or if `oob_score` is False.

    Warns
    -----
    UserWarning
        If there are rows with NaN.
    """
    n_classes, draws = vote.target.n_classes, memory.draws
    name = "oob_decision_function_" if n_classes else "oob_prediction_"
    if not model.oob_score or draws is None:
        return {"oob_score_": None, name: None}
    left = np.array([draws.counts(seed) == 0 for seed in memory.seeds])
    answers = np.full((len(y), n_classes or 1), np.nan)
    size = max(1, _CELLS // (vote.n_voters * max(n_classes, 1)))
    for start in range(0, len(y), size):
        span = slice(start, start + size)
        out = left[:, unit[span]].T
        known = np.flatnonzero(out.any(axis=1))
        votes = np.where(out[:, :, None], vote.votes(X[span]), 0.0).sum(axis=1)[known]
        mean = vote.target.level(votes / out[known].sum(axis=1)[:, None])
        if n_classes:
            mean = vote.readout.probabilities(mean, vote.target)
        answers[known + start] = mean
    voted = ~np.isnan(answers[:, 0])
    if not voted.all():
        warnings.warn(
            f"{np.count_nonzero(~voted)} of {len(voted)} rows were drawn for every tree or member: "
            f"they have no out-of-bag prediction (NaN in {name}), and oob_score_ is that of the "
            "others. Set a larger n_estimators, or a smaller max_samples.",
            UserWarning,
            stacklevel=2,
        )
    y, w = y[voted], weight[voted]
    if not voted.any():
        score = np.nan
    elif n_classes:
        score = np.average(answers[voted].argmax(axis=1) == y, weights=w)
    else:
        error = (w * (y - answers[voted, 0]) ** 2).sum()
        spread = (w * (y - np.average(y, weights=w)) ** 2).sum()
        score = 1.0 - error / spread if spread > 0.0 else np.nan
    return {"oob_score_": float(score), name: answers if n_classes else answers[:, 0]}


def drawn_columns(wanted: Any, p: int) -> int:
    """Return the number of p columns drawn at a node, by the parameter `max_features`."""
    if wanted in ("sqrt", "log2"):
        number = int(np.sqrt(p) if wanted == "sqrt" else np.log2(p))
    elif wanted is None:
        number = p
    else:
        number = int(wanted) if isinstance(wanted, int | np.integer) else int(wanted * p)
    return min(max(number, 1), p)


_special: Any = scipy.special  # its type stubs are incomplete


class Uncertainty(NamedTuple):
    """Uncertainty of a classifier per row; see `RandomForestClassifier.uncertainty`.

    `total`, `aleatoric`, `epistemic`: (n,), in nats. `variance`, `jackknife`: (n,) for the second
    of two classes, else (n, n_classes); `jackknife` is None without a bootstrap.
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats
    variance: Floats
    jackknife: Floats | None


class NumberUncertainty(NamedTuple):
    """Uncertainty of a regressor per row: `variance` and `jackknife`, each (n,)."""

    variance: Floats
    jackknife: Floats | None


class ClassifierUncertaintyMixin(DrawsRows):
    """Mixin of forests and bags of classifiers: `uncertainty`."""

    def uncertainty(self, X: TableLike) -> Uncertainty:
        """Return the uncertainty of the forest or bag for each row.

        With H the entropy in nats and p_t(x) the class shares of tree t::

            total     = H(mean_t p_t)
            aleatoric = mean_t H(p_t)            uncertainty within the trees
            epistemic = total - aleatoric >= 0   disagreement between the trees
            variance  = var_t p_t                of single trees
            jackknife = sum_i Cov_t(N_it, p_t)^2 - (s / T^2) sum_t (p_t - mean p)^2

        The last estimates the variance of the forest's mean p_t over training samples (Wager,
        Hastie & Efron 2014), with N_it how often row i was drawn for tree t and s the number of
        draws per tree. It is corrected for the finite number of trees and may be negative.

        Returns
        -------
        Uncertainty
            The first three have shape (n,), the others (n,) for the second of two classes, else
            (n, n_classes); `jackknife` is None if ``bootstrap=False``.
        """
        vote, memory, values = self.vote_, self.memory_, self._values(X)
        _check_equal(vote)
        k, counts = vote.target.n_classes, _counts(memory)
        parts: list[tuple[Any, ...]] = []
        for votes in _blocks(vote, values):
            flat = votes.reshape(-1, votes.shape[2])
            shares = vote.readout.probabilities(flat, vote.target).reshape(len(votes), -1, k)
            mean = shares.mean(axis=1)
            total, aleatoric = _entropy(mean), _entropy(shares).mean(axis=1)
            answers = shares[:, :, 1:] if k == 2 else shares
            spread = np.maximum(total - aleatoric, 0.0)  # negative only by rounding
            parts.append(
                (total, aleatoric, spread, answers.var(axis=1), _jackknife(answers, memory, counts))
            )
        total, aleatoric, spread, variance, jackknife = _joined(parts)
        if k == 2:
            variance = variance[:, 0]
            jackknife = None if jackknife is None else jackknife[:, 0]
        return Uncertainty(total, aleatoric, spread, variance, jackknife)


class RegressorUncertaintyMixin(DrawsRows):
    """Mixin of forests and bags of regressors: `uncertainty`."""

    def uncertainty(self, X: TableLike) -> NumberUncertainty:
        """Return the variance of the members' predictions and the jackknife of their mean, (n,).

        See `RandomForestClassifier.uncertainty`; the second is None without a bootstrap.
        """
        vote, memory, values = self.vote_, self.memory_, self._values(X)
        _check_equal(vote)
        counts = _counts(memory)
        parts = [(v.var(axis=1), _jackknife(v, memory, counts)) for v in _blocks(vote, values)]
        variance, jackknife = _joined(parts)
        return NumberUncertainty(variance[:, 0], None if jackknife is None else jackknife[:, 0])


def _entropy(shares: Floats) -> Floats:
    return _special.entr(shares).sum(axis=-1)


def _check_equal(vote: Any) -> None:
    """Raise PsephosError unless all voters have the same weight."""
    alpha = vote.weighting.alpha
    if (alpha != alpha[0]).any():
        raise PsephosError(
            "uncertainty needs voters of equal weight, and these have different weights: use the "
            "forest or bag before the selection of its members."
        )


def _joined(parts: list[tuple[Any, ...]]) -> list[Any]:
    """Concatenate the parts of all blocks of rows."""
    columns = zip(*parts, strict=True)
    return [None if column[0] is None else np.concatenate(column) for column in columns]


def _blocks(vote: Vote, values: Any) -> Any:
    """Yield the votes (rows, T, K) in blocks of rows."""
    size = max(1, _CELLS // (vote.n_voters * max(vote.target.n_classes, 1)))
    for start in range(0, values.shape[0], size):
        yield vote.votes(values[start : start + size])


def _jackknife(answers: Floats, memory: Draw, counts: Floats | None) -> Floats | None:
    """Return (n, K): the infinitesimal jackknife's variance of the mean over trees of (n, T, K).

    With N_ib how often row i was drawn for tree b of B, and t_b the tree's prediction::

        V = sum_i Cov_b(N_ib, t_b)^2 - (s / B^2) sum_b (t_b - mean t)^2

    where the second term, with s draws, corrects for the finite number of trees. A row of weight c
    represents c rows, which share its covariance.
    """
    if counts is None:
        return None
    n, trees, k = answers.shape
    off = (answers - answers.mean(axis=1, keepdims=True)).transpose(0, 2, 1).reshape(n * k, trees)
    m, total = len(memory.mass), memory.mass.sum()
    step = max(1, _CELLS // max(trees, n * k))
    sums = np.zeros(n * k)
    for start in range(0, m, step):
        span = slice(start, start + step)
        drawn = counts[:, span]
        covariance = off @ (drawn - drawn.mean(axis=0)) / trees
        sums += (covariance**2 / memory.mass[span]).sum(axis=1)
    noise = memory.size * (m / total) * (off**2).sum(axis=1) / trees**2
    return (sums - noise).reshape(n, k)


def _counts(memory: Draw) -> Floats | None:
    """Return (T, m), how often each row was drawn for each tree; None without a bootstrap."""
    draws = memory.draws
    return None if draws is None else np.array([draws.counts(seed) for seed in memory.seeds])
