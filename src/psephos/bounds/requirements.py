"""What bounds require of a vote and of rows, with the sentences that refuse, and their result."""

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
    """A bound on a risk: the number, its parts, what it assumes, and whether it says anything.

    Parameters
    ----------
    name : str
    value : float
        The risk is at most this; a vacuous one may be above 1.
    of : str
        What is bounded, in words.
    source : str
    parts : dict of str to float
        What the value was computed from, by name.
    assumes : tuple of str
        What must hold and cannot be read off the model or the rows, a sentence each.
    delta : float, default=None
        The chance that the bound fails, over the draw of the rows; None where nothing is drawn.
    trivial : float, default=1.0
        What needs no model: the error of always predicting the most frequent class, which is the
        share of the rows that are of the others. A bound that is not below it is vacuous.

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
        """Return whether always predicting the most frequent class is as good as what is proved."""
        return not self.value < self.trivial

    def as_dict(self) -> JsonObject:
        """Return all of it as plain values."""
        return {
            "name": self.name, "value": self.value, "of": self.of, "vacuous": self.vacuous,
            "delta": self.delta, "trivial": self.trivial, "parts": dict(self.parts),
            "assumes": list(self.assumes), "source": self.source,
        }  # fmt: skip

    def sentence(self) -> str:
        """Return what is proved, as a sentence, and whether it says anything."""
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

INDEPENDENT = "the rows are drawn independently from what new rows come from (no groups, no time)"
SETTINGS = "settings were not chosen by these rows (of the best of M take delta / M)"
OUT_OF_BAG = (
    "no voter depends on the rows left out of it (a forest of this library bins a column of more "
    "than max_bins different values by all rows, their answers unseen)"
)
_ASSUMED = {
    "categories": "columns and their categories were chosen before the rows",
    "estimators": "the estimators were fitted on other rows than these",
}


class Evaluated(NamedTuple):
    """A vote and the rows it is asked about.

    Parameters
    ----------
    model : object
        What was given: an estimator, or the vote itself.
    vote : Vote
    values : array of shape (n, p)
    y : ndarray of shape (n,)
        Class indices.
    bound : str
        The bound's name, for refusals.
    """

    model: Any
    vote: Vote
    values: Any
    y: Indices
    bound: str

    @property
    def name(self) -> str:
        """Return what the model is called in a sentence."""
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
        """Return the error that says why the bound does not hold here."""
        return PsephosError(f"the {self.bound} does not hold for {self.name}: {why}")


def asked(model: VoteEstimator, X: TableLike, y: Any, bound: str) -> Evaluated:
    """Return a fitted model's vote and the rows as it reads them."""
    vote: Any = model if isinstance(model, Vote) else getattr(model, "vote_", None)
    if vote is None:
        raise PsephosError(
            f"the {bound} is about a vote: {type(model).__name__} is not a fitted model of "
            "psephos. held_out_bound takes any classifier."
        )
    found = Evaluated(model, vote, X, np.empty(0, np.intp), bound)
    if vote.target.kind not in ("binary", "multiclass"):
        raise found.refuse("it does not answer with one class, and the bound is about errors.")
    if getattr(vote.readout.calibration, "posterior", None) is not None:
        raise found.refuse(
            "its answer follows a table of what the votes have meant in training, not their sign. "
            "held_out_bound asks nothing of the votes."
        )
    if vote.readout.calibration is not None or vote.target.losses is not None:
        raise found.refuse(
            "its answer follows calibrated probabilities or losses, not the sign of the vote. Ask "
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
    """Return delta if it is a probability above 0 and below 1."""
    must_be_inside("delta", delta)
    return float(delta)


def refuse_unless_binary(one: Evaluated) -> None:
    """Raise PsephosError if there are more than two classes."""
    k = one.vote.target.n_classes
    if k != 2:
        raise one.refuse(
            f"it has {k} classes, and the theorem is about votes in [-1, 1] on two. tandem_bound "
            "and held_out_bound hold for any number of classes."
        )


def constant_weights(one: Evaluated) -> Floats:
    """Return Q: the weights as a distribution over the voters, (T,)."""
    weights = one.vote.constant_weights()
    if weights is None:
        raise one.refuse(
            f"its weights depend on the case ({one.vote.weighting_words()}), and the theorem "
            "averages over voters by one distribution, chosen before the case is seen. "
            "held_out_bound asks nothing of the weights."
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

    In [0, 1]: 0 or 1 of a voter that says one class. Where their mean by weight is below 1/2, the
    vote is right.
    """
    return np.concatenate([block for _, block in loss_blocks(one)])


def signed_votes(one: Evaluated) -> Floats:
    """Return y h_t(x) of two classes, (n, T), in [-1, 1]."""
    return 1.0 - 2.0 * losses(one)


def _refuse_unbounded(one: Evaluated, size: Floats) -> None:
    if (size > 1.0 + _ROUNDING).any():
        t = int(np.argmax(size))
        raise one.refuse(
            f"voter {t + 1} says {size[t]:.4g}, and votes must lie in [-1, 1]: scores of boosted "
            "trees and of linear models do not. held_out_bound asks nothing of the voters."
        )


def divergence_of(one: Evaluated, prior: Any, weights: Floats, dropped: int = 0) -> float:
    """Return KL(Q || P).

    `prior` {'uniform', 'weights'} or array of shape (T,): P. `weights` (T,): Q. `dropped` voters
    were there besides, and have weight 0: a uniform prior was over these, too.
    """
    if dropped and not (isinstance(prior, str) and prior == "uniform"):
        raise one.refuse(
            f"its voters were chosen among {dropped + len(weights)} by these rows, and a prior "
            "over the chosen ones alone depends on the data: leave prior=None, which is uniform "
            "over all voters before the selection."
        )
    if isinstance(prior, str):
        if prior not in ("uniform", "weights"):
            raise PsephosError(f"prior={prior!r}: give 'uniform', 'weights' or one number a voter.")
        p = weights if prior == "weights" else np.full(len(weights), 1.0 / (len(weights) + dropped))
    else:
        p = np.asarray(prior, dtype=np.float64)
        fits = p.shape == weights.shape and bool(np.isfinite(p).all() and (p >= 0).all())
        if not fits or abs(p.sum() - 1.0) > _ROUNDING:
            raise PsephosError(
                f"prior: give {len(weights)} probabilities, one a voter, that sum to 1."
            )
    there = weights > 0
    if (p[there] <= 0).any():
        t = int(np.flatnonzero(there & (p <= 0))[0])
        raise PsephosError(f"prior: voter {t + 1} has weight and prior 0, so KL is infinite.")
    return relative_entropy(weights, np.log(np.where(p > 0, p, 1.0)))


def relative_entropy(weights: Floats, log_prior: Floats) -> float:
    """Return KL(Q || P) of Q and ln P."""
    there = weights > 0
    q = weights[there]
    return max(0.0, float((q * (np.log(q) - log_prior[there])).sum()))


def refuse_seen(one: Evaluated, what: str) -> str:
    """Return what is to be assumed of held-out rows; raise if the model was fitted on them.

    Besides what `psephos.vote.seen` refuses everywhere: a single row that equals a training row,
    unless columns have so few values that this is by chance.

    `what`: what the rows must be, for the refusal.
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
    return f"{what}: as far as the rows that the model keeps tell, they are others"


# ---------------------------------------------------------------------- rows out of bag
def out_of_bag_rows(one: Evaluated, X: TableLike, y: LabelsLike) -> NDArray[np.bool_]:
    """Return which rows each voter was not grown on, (T, n), and below those that were dropped."""
    ask: Any = getattr(one.model, "_left_out", None)
    if ask is None:
        raise one.refuse(
            "it does not know which rows each voter was grown on: only fitted bags and forests "
            "(BaggingClassifier, RandomForestClassifier with bootstrap=True) do. Give held-out "
            "rows, and rows='held-out'."
        )
    if one.model.memory_.grouped:
        raise one.refuse(
            "it was fitted with groups, and rows of one group are not drawn independently of each "
            "other. Give held-out rows, one a group, and rows='held-out'."
        )
    out = ask(X, y)
    if out is None:
        raise one.refuse(
            "its voters were not grown on bootstrap samples of these rows: set bootstrap=True, and "
            "give the X and y of fit (fitted without sample_weight)."
        )
    _refuse_unlike(one, X, y)
    return np.asarray(out, dtype=np.bool_)


def _refuse_unlike(one: Evaluated, X: TableLike, y: LabelsLike) -> None:
    """Raise PsephosError if some rows were drawn oftener than others, by the causes there are."""
    weight = one.model.read(X, y)[2]
    causes: list[str] = []
    mended: list[str] = []
    if len(one.model.memory_.mass) != len(one.y):
        causes.append("copies of a row are drawn together")
        mended.append("on distinct rows")
    if np.ptp(weight) > 1e-12 * weight.max():
        causes.append(f"class_weight={one.model.class_weight!r} draws some classes oftener")
        mended.append("with class_weight=None")
    if causes:
        raise one.refuse(
            f"rows were not drawn alike: {' and '.join(causes)}, so that rows left out are no fair "
            f"sample. Fit it {' and '.join(mended)}, or give held-out rows."
        )


# ---------------------------------------------------------------------- hypotheses
def hypotheses_of(model: VoteEstimator) -> Any:
    """Return what a model says of its hypotheses, `hypotheses_`; None if it has none."""
    return getattr(model, "hypotheses_", None)


def of_hypotheses(one: Evaluated, facts: Any, weights: Floats) -> tuple[float, tuple[str, ...]]:
    """Return (KL(Q || P), what is assumed) of a posterior, by the prior over the whole space."""
    assumed = refuse_bins(one, facts)
    if len(facts.log_prior) != 1:
        raise one.refuse(
            "each of its classes has hypotheses of its own, and the theorem is about one vote. "
            "Two classes have one."
        )
    (log_prior,) = facts.log_prior
    if len(log_prior) != len(weights):
        raise one.refuse("its voters are others than the hypotheses whose prior it knows.")
    return relative_entropy(weights, log_prior), (INDEPENDENT, assumed, SETTINGS)


def refuse_bins(one: Evaluated, facts: Any) -> str:
    """Return what is assumed of hypotheses; raise if the rows decided what they are."""
    if facts.kind == "bins":
        raise one.refuse(
            "columns of numbers were cut into bins by the rows, so that the hypotheses were chosen "
            "after the data: cut them at values fixed before, and give the bins as categories."
        )
    return _ASSUMED[facts.kind]
