"""The hypotheses of the bounds, checked with errors that say which fails, and their result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import PsephosError, must_be_inside
from psephos._types import Array, Floats, Indices, JsonObject, LabelsLike, NDArray, TableLike
from psephos.estimator.labels import codes_among
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.vote import Vote
from psephos.vote.seen import seen


@dataclass(frozen=True)
class Bound:
    """A bound on a risk: its value, its parts, its assumptions, and whether it is vacuous.

    Parameters
    ----------
    name : str
    value : float
        The risk is at most this; a vacuous one may be above 1.
    of : str
        The quantity that is bounded, in words.
    source : str
    parts : dict of str to float
        The quantities that the value was computed from, by name.
    assumes : tuple of str
        Hypotheses that cannot be checked from the model or the rows, a sentence each.
    delta : float, default=None
        The probability that the bound fails, over the draw of the rows; None if nothing is drawn.
    trivial : float, default=1.0
        The error of always predicting the most frequent class. A bound that is not below it is
        vacuous.

    Examples
    --------
    >>> from psephos.bounds import Bound
    >>> print(Bound("hold-out", 0.6, "the error on new rows", "", {}, (), 0.05, 0.5))
    hold-out: the error on new rows is at most 0.6, with probability 95 %. Vacuous: always \
predicting the most frequent class errs on 0.5.
    """

    name: str
    value: float
    of: str
    source: str
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    assumes: tuple[str, ...] = ()
    delta: float | None = None
    trivial: float = 1.0

    @property
    def vacuous(self) -> bool:
        """Return whether the value is not below the error of predicting the most frequent class."""
        return not self.value < self.trivial

    def as_dict(self) -> JsonObject:
        """Return all fields as plain values, for JSON."""
        return {
            "name": self.name, "value": self.value, "of": self.of, "vacuous": self.vacuous,
            "delta": self.delta, "trivial": self.trivial, "parts": dict(self.parts),
            "assumes": list(self.assumes), "source": self.source,
        }  # fmt: skip

    def sentence(self) -> str:
        """Return the bound as a sentence, and a second one if it is vacuous."""
        chance = "" if self.delta is None else f", with probability {100 * (1 - self.delta):.4g} %"
        proved = f"{self.name}: {self.of} is at most {self.value:.4g}{chance}."
        if not self.vacuous:
            return proved
        if self.trivial >= 1:
            return f"{proved} Vacuous: no risk is above 1."
        constant = f"always predicting the most frequent class errs on {self.trivial:.4g}"
        return f"{proved} Vacuous: {constant}."

    def __str__(self) -> str:
        lines = [self.sentence()]
        width = max((len(name) for name in self.parts), default=0)
        lines += [f"  {name:<{width}}  {value:.6g}" for name, value in self.parts.items()]
        if self.assumes:
            lines += ["It assumes that", *(f"  - {one}" for one in self.assumes)]
        return "\n".join(lines + ([f"Source: {self.source}"] if self.source else []))


_CELLS = 1 << 21  # numbers of a block: 16 MiB
_ROUNDING = 1e-9

INDEPENDENT = "the rows are independent draws from the population of new rows (no groups, no time)"
SETTINGS = "settings were not chosen by these rows (for the best of M models use delta / M)"
OUT_OF_BAG = (
    "no voter depends on its out-of-bag rows (a forest of this library bins a column of more than "
    "max_bins different values by all rows, without their labels)"
)
_ASSUMED = {
    "categories": "columns and their categories were chosen before the rows were seen",
    "estimators": "the estimators were fitted on other rows than these",
}


class Evaluated(NamedTuple):
    """A vote and the rows on which it is evaluated.

    Parameters
    ----------
    model : object
        The argument of the bound: an estimator, or the vote itself.
    vote : Vote
    values : array of shape (n, p)
    y : ndarray of shape (n,)
        Class indices.
    bound : str
        The bound's name, for error messages.
    """

    model: Any
    vote: Vote
    values: Any
    y: Indices
    bound: str

    @property
    def name(self) -> str:
        """Return the model's name for a message."""
        return "the vote" if self.model is self.vote else type(self.model).__name__

    def proved(
        self,
        *,
        of: str = "the error of the vote on new cases",
        trivial: float | None = None,
        **fields: Any,
    ) -> Bound:
        """Return the bound of these fields; `trivial` is by default the `constant_error`."""
        constant = constant_error(np.bincount(self.y)) if trivial is None else trivial
        return Bound(of=of, trivial=constant, **fields)

    def refuse(self, why: str) -> PsephosError:
        """Return the error for a bound that does not hold for this model, and why."""
        return PsephosError(f"the {self.bound} does not hold for {self.name}: {why}")


def evaluate(model: VoteEstimator, X: TableLike, y: Any, bound: str) -> Evaluated:
    """Return a fitted model's vote and the rows as it reads them; raise if no bound applies."""
    vote: Any = model if isinstance(model, Vote) else getattr(model, "vote_", None)
    if vote is None:
        raise PsephosError(
            f"the {bound} is about a vote: {type(model).__name__} is not a fitted model of "
            "psephos. Use held_out_bound, which takes any classifier."
        )
    found = Evaluated(model, vote, X, np.empty(0, np.intp), bound)
    if vote.target.kind not in ("binary", "multiclass"):
        raise found.refuse("it does not predict one class per row, and the bound is about errors.")
    if getattr(vote.readout.calibration, "posterior", None) is not None:
        raise found.refuse(
            "it predicts by a table of class probabilities by votes, not by the sign of the vote. "
            "Use held_out_bound, which assumes nothing about the votes."
        )
    if vote.readout.calibration is not None or vote.target.losses is not None:
        raise found.refuse(
            "it predicts by calibrated probabilities or losses, not by the sign of the vote. Give "
            "the model without them."
        )
    if not vote.readout.is_sum:
        raise found.refuse(
            f"its read-out is {vote.readout.score!r}, and the bound is about the weighted mean."
        )
    values = np.asarray(X, dtype=np.float64) if isinstance(model, Vote) else model._values(X)
    codes = codes_among(vote.target.classes, values, y)
    if not len(codes):
        raise PsephosError(f"the {bound} needs at least one row.")
    return found._replace(values=values, y=codes)


def constant_error(counts: Any) -> float:
    """Return the error of always predicting the most frequent class, from the sizes of classes."""
    sizes: Array = np.asarray(counts, dtype=np.float64)
    return float((sizes.sum() - sizes.max()) / sizes.sum())


def checked_delta(delta: float) -> float:
    """Return delta as a float; raise unless it is above 0 and below 1."""
    must_be_inside("delta", delta)
    return float(delta)


def refuse_unless_binary(one: Evaluated) -> None:
    """Raise PsephosError if there are more than two classes."""
    k = one.vote.target.n_classes
    if k != 2:
        raise one.refuse(
            f"it has {k} classes, and the theorem is about two. Use tandem_bound or "
            "held_out_bound, which hold for any number of classes."
        )


def constant_weights(one: Evaluated) -> Floats:
    """Return Q: the weights as a distribution over the voters, (T,)."""
    weights = one.vote.constant_weights()
    if weights is None:
        raise one.refuse(
            f"its weights depend on the case ({one.vote.weighting_words()}), and the theorem "
            "needs weights that are the same for all cases. Use held_out_bound, which assumes "
            "nothing about the weights."
        )
    if (weights < 0).any():
        t = int(np.argmin(weights))
        raise one.refuse(f"voter {t + 1} has a weight below 0, and weights are probabilities.")
    return weights / weights.sum()


def loss_blocks(one: Evaluated) -> Iterator[tuple[slice, Floats]]:
    """Yield `losses` in blocks of rows."""
    k, target = one.vote.target.n_classes, one.vote.target
    n, T = len(one.y), one.vote.n_voters
    size = max(1, _CELLS // (T * target.n_outputs))
    for start in range(0, n, size):
        part = slice(start, min(start + size, n))
        votes = one.vote.votes(one.values[part])
        m = len(votes)
        margin = target.margin(votes.reshape(m * T, -1), np.repeat(one.y[part], T))
        if k > 2:
            _refuse_unbounded(one, -votes.min(axis=(0, 2)) * (k - 1))
        else:
            _refuse_unbounded(one, np.abs(votes[:, :, 0]).max(axis=0, initial=0.0))
        yield part, np.clip((k - 1) / k * (1.0 - margin.reshape(m, T)), 0.0, 1.0)


def losses(one: Evaluated) -> Floats:
    """Return the loss of each voter on each row, (n, T): the share of its vote for other classes.

    Losses lie in [0, 1], and are 0 or 1 if the voter predicts one class. Where their weighted mean
    is below 1/2, the vote is right.
    """
    return np.concatenate([block for _, block in loss_blocks(one)])


def signed_votes(one: Evaluated) -> Floats:
    """Return y h_t(x) of two classes, (n, T), in [-1, 1]."""
    return 1.0 - 2.0 * losses(one)


def _refuse_unbounded(one: Evaluated, size: Floats) -> None:
    if (size > 1.0 + _ROUNDING).any():
        t = int(np.argmax(size))
        raise one.refuse(
            f"votes must lie in [-1, 1]; voter {t + 1} votes {size[t]:.4g}, as boosted trees and "
            "linear models may. Use held_out_bound, which assumes nothing about the voters."
        )


def divergence_of(one: Evaluated, prior: Any, weights: Floats, dropped: int = 0) -> float:
    """Return KL(Q || P).

    `prior` {'uniform', 'weights'} or array of shape (T,): P. `weights` (T,): Q. `dropped`: the
    number of voters removed by `shrink`, which have weight 0 in Q and count in a uniform P.
    """
    if dropped and not (isinstance(prior, str) and prior == "uniform"):
        raise one.refuse(
            f"its voters were chosen among {dropped + len(weights)} by these rows, and a prior "
            "over the chosen ones only depends on the data. Use prior=None, which is uniform over "
            "all voters before the selection."
        )
    if isinstance(prior, str):
        if prior not in ("uniform", "weights"):
            raise PsephosError(
                f"prior must be 'uniform', 'weights' or one number per voter; got {prior!r}."
            )
        p = weights if prior == "weights" else np.full(len(weights), 1.0 / (len(weights) + dropped))
    else:
        p = np.asarray(prior, dtype=np.float64)
        fits = p.shape == weights.shape and bool(np.isfinite(p).all() and (p >= 0).all())
        if not fits or abs(p.sum() - 1.0) > _ROUNDING:
            raise PsephosError(
                f"prior must be {len(weights)} probabilities, one per voter, that sum to 1."
            )
    impossible = np.flatnonzero((weights > 0) & (p <= 0))
    if len(impossible):
        t = int(impossible[0])
        raise PsephosError(
            f"prior must be above 0 for each voter that has weight; voter {t + 1} has prior 0, so "
            "KL is infinite."
        )
    return relative_entropy(weights, np.log(np.where(p > 0, p, 1.0)))


def relative_entropy(weights: Floats, log_prior: Floats) -> float:
    """Return KL(Q || P) of Q and ln P."""
    positive = weights > 0
    q = weights[positive]
    return max(0.0, float((q * (np.log(q) - log_prior[positive])).sum()))


def refuse_seen(one: Evaluated, what: str) -> str:
    """Return the assumption about held-out rows; raise if the model was fitted on them.

    It is stricter than `psephos.vote.seen`: a single row that equals a training row is an error,
    unless columns have so few values that chance explains it.

    `what`: the condition that the rows must meet, for the message.
    """
    found = seen(one.model, one.values, one.y)
    known = found.words()
    if found.single:
        known = found.equal_words()
    if known:
        raise one.refuse(f"{known}. It must be that {what}.")
    if not found.kept:
        return f"{what}: the model keeps no training rows to compare with"
    if len(found.same):
        return (
            f"{what}: in the columns it reads {len(found.same)} of these {found.n} rows equal some "
            "that it was fitted on, as new rows may by chance, so that this cannot be checked"
        )
    return f"{what}: they differ from the training rows that the model keeps"


# ---------------------------------------------------------------------- rows out of bag
def out_of_bag_rows(one: Evaluated, X: TableLike, y: LabelsLike) -> NDArray[np.bool_]:
    """Return the out-of-bag rows of each voter, (T, n), followed by those of dropped voters."""
    left_out: Any = getattr(one.model, "_left_out", None)
    if left_out is None:
        raise one.refuse(
            "the rows that each voter was grown on are not known: only fitted bags and forests "
            "(BaggingClassifier, RandomForestClassifier with bootstrap=True) keep them. Give "
            "held-out rows, and rows='held-out'."
        )
    if one.model.memory_.grouped:
        raise one.refuse(
            "it was fitted with groups, and rows of one group are not drawn independently of each "
            "other. Give held-out rows, one per group, and rows='held-out'."
        )
    out = left_out(X, y)
    if out is None:
        raise one.refuse(
            "its voters were not grown on bootstrap samples of these rows: set bootstrap=True, and "
            "give the X and y of fit (fitted without sample_weight)."
        )
    _refuse_unlike(one, X, y)
    return np.asarray(out, dtype=np.bool_)


def _refuse_unlike(one: Evaluated, X: TableLike, y: LabelsLike) -> None:
    """Raise PsephosError, with the causes, if some rows were drawn with a higher probability."""
    weight = one.model.read(X, y)[2]
    causes: list[str] = []
    remedies: list[str] = []
    if len(one.model.memory_.mass) != len(one.y):
        causes.append("copies of a row are drawn together")
        remedies.append("on distinct rows")
    if np.ptp(weight) > 1e-12 * weight.max():
        causes.append(f"class_weight={one.model.class_weight!r} draws some classes oftener")
        remedies.append("with class_weight=None")
    if causes:
        raise one.refuse(
            f"rows were not drawn alike: {' and '.join(causes)}, so that out-of-bag rows are a "
            f"biased sample. Fit it {' and '.join(remedies)}, or give held-out rows."
        )


# ---------------------------------------------------------------------- hypotheses
def hypotheses_of(model: VoteEstimator) -> Any:
    """Return the facts about a model's hypotheses, its `hypotheses_`; None if it has none."""
    return getattr(model, "hypotheses_", None)


def of_hypotheses(one: Evaluated, facts: Any, weights: Floats) -> tuple[float, tuple[str, ...]]:
    """Return (KL(Q || P), assumptions) of a posterior, with P the prior over all hypotheses."""
    assumed = refuse_bins(one, facts)
    if len(facts.log_prior) != 1:
        raise one.refuse(
            "each of its classes has hypotheses of its own, and the theorem is about one vote. Fit "
            "it on two classes, which have one."
        )
    (log_prior,) = facts.log_prior
    if len(log_prior) != len(weights):
        raise one.refuse("its voters are not the hypotheses whose prior it holds.")
    return relative_entropy(weights, log_prior), (INDEPENDENT, assumed, SETTINGS)


def refuse_bins(one: Evaluated, facts: Any) -> str:
    """Return the assumption about the hypotheses; raise if they depend on the rows."""
    if facts.kind == "bins":
        raise one.refuse(
            "numeric columns were cut into bins by the rows, so the hypotheses were chosen after "
            "the data. Cut them at values fixed before, and give the bins as categories."
        )
    return _ASSUMED[facts.kind]
