"""Boosting with local expertise, Algorithm 1 of the SamBA supplement, and SamBA's local weights.

A recipe defines how the next voter is learned and how sample weights are updated after each round.
AdaBoost has one weight per voter, SamBA one relevance per voter and sample.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.estimator.input import Context
from psephos.estimator.labels import class_factors
from psephos.files.field_types import GREATEST
from psephos.kernels.prediction.similarity import Metric, mean_distance
from psephos.models.training import Training, power_of_columns, spread_of_columns
from psephos.runtime.progress import tracked
from psephos.vote import InverseDistance, Local, LocalRelevance, Voters

_STILL = 1e-14  # relative change of the sample weights up to which a round had no effect
TOO_GREAT = "sample weights beyond float64"  # why a loop ended


class Round(NamedTuple):
    """One round of the loop: a voter, its predictions and its error."""

    voter: Any  # as returned by the learner
    answers: Indices  # (m,); predicted class index of each training row
    right: NDArray[np.bool_]  # (m,)
    # weighted error rate; with probabilities the weighted mean of 1 - the true class's probability
    error: float
    share: Floats | None = None  # (m,); probability of the true class; None if it predicts classes
    relevance: Floats | None = None  # (m,); omega_t; None if the recipe derives it from `right`


class VoterLearner(Protocol):
    """Base learner: finds the best voter for given sample weights."""

    def learn(self, pi: Floats, task: int) -> tuple[Any, Array] | None:
        """Return (voter, its predictions on the training rows), or None if no voter exists.

        Predictions are class indices, shape (m,), or class probabilities, float64 of shape (m, K).
        """
        ...

    def voters(self, found: Sequence[Any]) -> Any:
        """Return the results of `learn` as the voters of a vote."""
        ...


@dataclass
class Boosted:
    """Result of the loop: the rounds in order, and why it ended."""

    rounds: list[Round] = field(default_factory=list[Round])
    # 'all voters', 'no better than chance', 'no effect', 'no difficult row', 'validation' or
    # `TOO_GREAT`
    reason: str = "all voters"
    pi: Floats | None = None  # the sample weights of the last round


def boost(
    learner: VoterLearner,
    y: Indices,
    prior: Floats,
    n_rounds: int,
    chance: float,
    reweight: Callable[[Floats, list[Round]], Floats],
    enough: Callable[[list[Round]], bool] | None = None,
    relate: Callable[[Floats, int, Round], Floats] | None = None,
    begun: Boosted | None = None,
) -> Boosted:
    """Run Algorithm 1.

    Parameters
    ----------
    learner : line 4: finds the best voter under the sample weights
    y : (m,); class indices
    prior : (m,); line 2: the first sample weights; they sum to 1
    n_rounds : T
    chance : error of random guessing; a voter's error must be lower
    reweight : ``reweight(pi, rounds)`` returns the next sample weights, unnormalised: the loop
        divides them by their sum (line 7, where the printed normaliser lacks pi_t(i))
    enough : the loop ends after a round where ``enough(rounds)`` is true
    relate : line 5: ``relate(pi, t, round)`` returns the voter's relevance on each training row
    begun : earlier rounds to continue from, on the same rows

    The loop ends early when no voter beats chance (that voter is not kept), when a round leaves the
    sample weights unchanged (every later round would repeat it), when all weights are 0, or when
    their sum overflows float64.
    """
    out = Boosted() if begun is None else replace(begun, reason="all voters")
    pi = prior / prior.sum() if out.pi is None else out.pi
    first = len(out.rounds)
    if 0 < first < n_rounds and (moved := _moved(reweight, pi, out)) is not None:
        pi = moved
    for t in tracked(range(first, n_rounds if out.reason == "all voters" else 0), "rounds"):
        found = learner.learn(pi, t)
        if found is None:
            out.reason = "no better than chance"
            break
        last = _evaluated(*found, y, pi)
        if last.error >= chance - 1e-12:
            out.reason = "no better than chance"
            break
        if relate is not None:
            last = last._replace(relevance=relate(pi, t, last))
        out.rounds.append(last)
        out.pi = pi
        if enough is not None and enough(out.rounds):
            out.reason = "validation"
            break
        if len(out.rounds) == n_rounds:  # no voter is learned from the next weights
            break
        moved = _moved(reweight, pi, out)
        if moved is None:
            break
        pi = moved
    return out


def _moved(reweight: Callable[..., Floats], pi: Floats, out: Boosted) -> Floats | None:
    """Return the next sample weights, or None and set the reason why the loop ends."""
    moved = reweight(pi, out.rounds)
    with np.errstate(over="ignore"):
        total = moved.sum()
    if not moved.any():
        out.reason = "no difficult row"
    elif not np.isfinite(total):
        out.reason = TOO_GREAT
    elif np.all(np.abs(moved / total - pi) <= _STILL * pi):
        out.reason = "no effect"
    else:
        return moved / total
    return None


def _evaluated(voter: Any, predicted: NDArray[Any], y: Indices, pi: Floats) -> Round:
    """Return the round of a voter that predicts classes, (m,), or probabilities, (m, K)."""
    if predicted.ndim == 1:
        right = predicted == y
        return Round(voter, predicted, right, float(pi[~right].sum()))
    share = predicted[np.arange(len(y)), y]
    answers = predicted.argmax(axis=1)
    return Round(voter, answers, answers == y, float((pi * (1.0 - share)).sum()), share)


@dataclass(frozen=True)
class BoostingRound:
    """What a relevance or difficulty function sees: one round, on the training rows.

    Not the voters of other rounds, and no row that is held out. Arrays cannot be written to.
    Copies of a row (in all columns and the label) are one row here.

    Parameters
    ----------
    t : int
        The round, from 0.
    X : ndarray or sparse array of shape (m, n_features)
        The rows: NaN is missing, categories are codes.
    y : ndarray of shape (m,)
        Their labels.
    agreement : ndarray of shape (m,)
        h_t(x_i) y_i: 1 where the voter is right, -1/(K-1) where it is wrong (-1 for two classes),
        between where it says probabilities.
    share : ndarray of shape (m,)
        Probability the voter gives to the row's class, 1 or 0 where it says classes;
        ``agreement`` is (K share - 1) / (K - 1).
    weight : ndarray of shape (m,)
        pi_t, which sum to 1.
    error : float
        Sum of ``weight * (1 - share)``: the voter's weighted error.
    n_classes : int
        K.
    relevance : ndarray of shape (m,), default=None
        omega_t, for a difficulty function; None for a relevance function.
    """

    t: int
    X: Any
    y: NDArray[Any]
    agreement: Floats
    share: Floats
    weight: Floats
    error: float
    n_classes: int
    relevance: Floats | None = None


def log_odds(error: float, n_classes: int) -> float:
    """Return AdaBoost's weight of a voter by SAMME, ln((1 - error) / error) + ln(K - 1)."""
    return np.log((1.0 - error) / error) + np.log(n_classes - 1.0)


def _log_odds_factor(seen: BoostingRound) -> Floats:
    """Return exp(-alpha_t h_t y / 2), without the factor that is common to all rows."""
    if seen.error <= 0:
        return np.ones(len(seen.y))
    return np.exp(log_odds(seen.error, seen.n_classes) * (1.0 - seen.share))


#: Line 5, by name: SamBA's omega and AdaBoost's.
RELEVANCES: Mapping[str, Callable[[BoostingRound], Floats]] = {
    "exp": lambda seen: np.exp(seen.agreement),
    "right": lambda seen: seen.share,
}
#: Line 7, by name: SamBA's factor and AdaBoost's.
DIFFICULTIES: Mapping[str, Callable[[BoostingRound], Floats]] = {
    "exp": lambda seen: np.exp(-(np.asarray(seen.relevance) * seen.agreement)),
    "log-odds": _log_odds_factor,
}


@dataclass(frozen=True)
class Skeleton:
    """Lines 5 and 7 of Algorithm 1 on the training rows; return values of functions are checked."""

    data: Training
    relevance: Any
    difficulty: Any

    def relate(self, pi: Floats, t: int, last: Round) -> Floats:
        """Return the relevance of a round's voter on each row."""
        return self._called("relevance", RELEVANCES, self._seen(pi, t, last))

    def reweight(self, pi: Floats, rounds: list[Round]) -> Floats:
        """Return the next sample weights, not yet normalised."""
        last = rounds[-1]
        seen = replace(self._seen(pi, len(rounds) - 1, last), relevance=_fixed(last.relevance))
        return pi * self._called("difficulty", DIFFICULTIES, seen)

    @cached_property
    def _X(self) -> Any:
        return _rows(self.data)

    def _seen(self, pi: Floats, t: int, last: Round) -> BoostingRound:
        target = self.data.target
        k: int = target.n_classes
        share = last.right.astype(np.float64) if last.share is None else last.share
        return BoostingRound(
            t, self._X, _fixed(target.classes[self.data.y]), _fixed((k * share - 1.0) / (k - 1.0)),
            _fixed(share), _fixed(pi), last.error, k,
        )  # fmt: skip

    def _called(self, name: str, known: Mapping[str, Any], seen: BoostingRound) -> Floats:
        given = getattr(self, name)
        if isinstance(given, str):
            return known[given](seen)
        return checked(given(seen), f"{name} in round {seen.t}", self.data.table.rows)


def first_weights(prior: Any, data: Training) -> Floats | None:
    """Return pi_1 up to a factor: each row's weight times its prior; None if `prior` is None.

    `prior` None, 'balanced', dict or callable.
    """
    if prior is None:
        return None
    if callable(prior):
        each = checked(prior(_rows(data), data.target.classes[data.y]), "prior", data.table.rows)
    else:
        totals = np.bincount(data.y, data.weight, minlength=data.target.n_classes)
        totals = totals.astype(np.float64)
        each = class_factors(prior, data.target.classes.tolist(), totals, "prior")[data.y]
    if not (each * data.weight).sum() > 0:
        raise PsephosError("prior is 0 on every row: at least one row needs a positive prior.")
    return data.weight * each


def checked(values: Any, what: str, rows: Array) -> Floats:
    """Return what a function of the user's returned, a finite number of at least 0 a row."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(())
    if numbers.shape != rows.shape:
        raise PsephosError(
            f"{what} did not return one number for each of the {len(rows)} rows it was given: it "
            f"returned {type(values).__name__} of shape {np.shape(values)}."
        )
    bad = np.flatnonzero(~((numbers >= 0) & (numbers <= GREATEST)))
    if len(bad):
        raise PsephosError(
            f"{what} is {numbers[bad[0]]:g} for row {rows[bad[0]]}: it must be at least 0 and at "
            f"most {GREATEST:g}."
        )
    return numbers


def _rows(data: Training) -> Any:
    """Return the rows as a function of the user's may see them."""
    values = data.table.values
    return _fixed(values) if isinstance(values, np.ndarray) else values.copy()


def _fixed(array: Any) -> Any:
    """Return a view that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


_ANCHORS = 1 << 20  # task id of the seed that draws anchors: above any number of voters


def relevance(n_classes: int) -> tuple[float, float]:
    """Return omega where a voter is wrong and where it is right: exp(-1/(K-1)) and e."""
    return float(np.exp(-1.0 / (n_classes - 1))), float(np.e)


def anchors_of(n_rows: int, n_anchors: int | None, context: Context) -> Indices:
    """Return the rows that serve as anchors: all, or `n_anchors` drawn without replacement."""
    if n_anchors is None:
        return np.arange(n_rows)
    if n_anchors > n_rows:
        raise PsephosError(
            f"n_anchors={n_anchors} is more than the {n_rows} distinct training rows: lower it, "
            "or use None for all rows."
        )
    drawn = context.generator(_ANCHORS).choice(n_rows, n_anchors, replace=False)
    return np.sort(drawn).astype(np.intp)


@dataclass(frozen=True)
class Geometry:
    """SamBA's distance on given columns, its similarity and its weights, from the training rows."""

    data: Training  # distinct rows
    anchors: Indices  # (m',); rows that serve as anchors
    a: float
    b: float
    distance_scale: str | None  # {'mean', 'sum', None}
    column_scale: str | None  # {'std', None}
    # (q,); columns the distance reads whatever the voters read; None are those of the voters
    columns: Indices | None = None
    unit: float | None = None  # distance that counts as 1, if it is fixed beforehand
    # cache: the similarity of the last columns
    similarities: dict[bytes, InverseDistance] = field(
        default_factory=dict[bytes, InverseDistance], compare=False, repr=False
    )

    def read(self, columns: Indices) -> Floats:
        """Return the training rows on these columns, dense float64."""
        return self.data.table.dense(columns)

    def metric(self, columns: Indices, rows: Floats) -> Metric:
        """Return the distance on these columns; `absent` is set later, from the mean distance."""
        levels = self.data.table.schema.levels
        category = np.array([int(j) in levels for j in columns], dtype=bool)
        scale = np.ones(len(columns))
        if self.column_scale == "std" and len(columns):
            scale = np.where(category, 1.0, spread_of_columns(rows, self.data.weight))
        else:
            self._refuse_far(columns[~category], rows[:, ~category])
        return Metric(scale, category, 0.0)

    def _refuse_far(self, columns: Indices, rows: Floats) -> None:
        """Raise PsephosError if squares of a column's numbers would be beyond float64."""
        far = columns[power_of_columns(rows) != 0]
        if len(far):
            name = self.data.table.schema.words().columns[int(far[0])]
            raise PsephosError(
                f"column {name!r} holds numbers whose squares are beyond float64: distances in the "
                "unit of the column cannot be computed. Use column_scale='std', or multiply the "
                "column by a constant."
            )

    def scale(self, mean: float) -> float:
        """Return what divides distances, given their mean over training pairs."""
        if self.unit is not None:
            return self.unit
        return mean if self.distance_scale == "mean" and mean > 0 else 1.0

    def similarity(self, columns: Indices, rows: Floats) -> InverseDistance:
        """Return the similarity on these columns, scaled by the training pairs' mean distance."""
        known = self.similarities.get(columns.tobytes())
        if known is not None:
            return known
        metric = self.metric(columns, rows)
        mean = self.unit
        if mean is None:
            mean = mean_distance(rows, self.data.weight, metric)
        found = InverseDistance(
            a=float(self.a),
            b=float(self.b),
            scale=self.scale(mean),
            per_query=self.distance_scale == "sum",
            column_scale=metric.scale,
            is_category=metric.is_category,
            absent=mean,
        )
        self.similarities.clear()  # only the last columns are reused
        self.similarities[columns.tobytes()] = found
        return found

    def local(self, rounds: list[Round], voters: Voters) -> Local:
        """Return the weights of equation (1), omega normalised as in line 9 of Algorithm 3.

        omega is divided by its sum over anchors and voters and multiplied by the anchors' total
        weight (m where no row has a weight), so that mass times decision is the source's sum.
        """
        low, high = relevance(self.data.target.n_classes)
        weight = self.data.weight[self.anchors]
        right = np.stack([r.right[self.anchors] for r in rounds], axis=1)
        total = float((weight @ np.where(right, high, low)).sum())
        scale = float(weight.sum()) / total
        return self._anchored(right, low * scale, high * scale, voters)

    def graded(self, rounds: list[Round], voters: Voters) -> LocalRelevance:
        """Return the local weights of rounds whose relevance may be any number of at least 0."""
        weight = self.data.weight[self.anchors]
        omega = np.stack([np.asarray(r.relevance)[self.anchors] for r in rounds], axis=1)
        total = float((weight @ omega).sum())
        if total <= 0:
            raise PsephosError(
                "relevance is 0 for every voter on every anchor: no voter would have weight. Let "
                "it return a positive number on some rows, or keep more anchors."
            )
        nobody = self._anchored(np.empty((len(weight), 0), dtype=bool), 1.0, 1.0, voters)
        return LocalRelevance(nobody, omega * (float(weight.sum()) / total))

    def _anchored(self, right: NDArray[np.bool_], low: float, high: float, voters: Voters) -> Local:
        columns = voters.columns if self.columns is None else self.columns
        rows = self.read(columns)
        return Local(
            n_features=voters.n_features,
            columns=columns,
            similarity=self.similarity(columns, rows),
            anchors=np.ascontiguousarray(rows[self.anchors]),
            anchor_weight=self.data.weight[self.anchors],
            right=np.packbits(right, axis=1),
            voters=right.shape[1],
            low=low,
            high=high,
            rows=self.data.table.rows[self.anchors],
            anchor_class=self.data.y[self.anchors],
        )
