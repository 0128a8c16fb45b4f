"""What boosting recipes share: a run of the boosting loop, with a validation share if asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from psephos._errors import PsephosError
from psephos.estimator.input import Context
from psephos.models.boosting.learners import make_learner
from psephos.models.boosting.loop import Learner, Round, boost
from psephos.models.boosting.warm import continued, digests, keep, refuse_watched
from psephos.models.training import Training
from psephos.vote import Constant, ConstantVoters, Readout, Vote, Voters

_Floats = NDArray[np.float64]
_SPLIT = 0  # task id of the validation share's seed; the learners' tasks follow

#: What the stump or a given `estimator` becomes.
VOTERS = ("stump voters", "tree voters", "linear voters", "naive Bayes voters", "nested voters")


class Steps(NamedTuple):
    """The steps of the boosting loop that differ by algorithm."""

    # ``reweight(pi, rounds, voters)``: the next sample weights; ``voters(rounds)`` makes voters of
    # rounds
    reweight: Callable[[_Floats, list[Round], Callable[[list[Round]], Voters]], _Floats]
    # ``make_vote(rounds, voters)``: the vote of these rounds
    make_vote: Callable[[list[Round], Voters], Vote]
    # ``relate(pi, t, round)``: a voter's relevance on each training row
    relate: Callable[[_Floats, int, Round], _Floats] | None = None
    # (m,); the first sample weights, up to a factor; None are the rows' weights
    prior: _Floats | None = None


def fit_boosted(
    model: Any,
    data: Training,
    context: Context,
    readout: Readout,
    make_steps: Callable[[Training], Steps],
    prepare: Callable[[Training], Training] = lambda data: data,
    make_learner: Callable[[Any, Training, Context], Learner] = make_learner,
) -> tuple[Vote, dict[str, Any]]:
    """Run the boosting loop for a recipe with the parameters of `BoostedClassifier`.

    Parameters
    ----------
    readout : of the vote of one constant voter that is returned if no voter beats chance
    make_steps : from the training rows to the recipe's steps
    prepare : from the training rows to those the recipe works on; `distinct_rows` where a part of
        it counts rows or leaves one out (a weighting that keeps them), so that weight 2 is the row
        twice
    make_learner : ``make_learner(model, data, context)``: who learns the next voter
    """
    held, now, begun = None, None, None
    watched = getattr(model, "validation_fraction", None) is not None
    if watched:
        refuse_watched(model)
    if hasattr(model, "warm_start"):
        now = digests(model, data, context)
        begun = continued(model, context, now)
    if watched:
        train, rest = hold_out(data.y, context, model.validation_fraction)
        data, held = data.take(train), data.take(rest)
    data = prepare(data)
    target = data.target
    learner = make_learner(model, data, context)
    steps = make_steps(data)

    def voters(rounds: list[Round]) -> Voters:
        return learner.voters([r.voter for r in rounds])

    def build(rounds: list[Round]) -> Vote:
        return steps.make_vote(rounds, voters(rounds))

    monitor = Monitor(build, held, model.n_iter_no_change) if held is not None else None
    found = boost(
        learner,
        data.y,
        data.weight if steps.prior is None else steps.prior,
        model.n_estimators,
        1.0 - 1.0 / target.n_classes,
        lambda pi, rounds: steps.reweight(pi, rounds, voters),
        monitor,
        steps.relate,
        begun,
    )
    if hasattr(model, "warm_start"):
        keep(model, now, found, len(found.rounds))
    rounds = found.rounds[: monitor.best_round] if monitor else found.rounds
    vote = build(rounds) if rounds else majority_vote(data, readout)
    errors = np.array([r.error for r in rounds])
    return vote, {"estimator_errors_": errors, "stopped_": found.reason}


def hold_out(
    y: NDArray[np.intp], context: Context, share: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return (training rows, validation rows): stratified, or whole groups where given."""
    seed = context.integer(_SPLIT)
    kind: Any = StratifiedShuffleSplit if context.groups is None else GroupShuffleSplit
    splitter = kind(1, test_size=share, random_state=seed)
    try:
        train, held = next(splitter.split(y, y, context.groups))
    except ValueError as error:
        raise PsephosError(
            f"validation_fraction={share} of {len(y)} rows cannot be held out ({error}): hold out "
            "another share, or none."
        ) from None
    classes = np.unique(y)
    if len(np.unique(y[train])) < len(classes) or len(np.unique(y[held])) < len(classes):
        raise PsephosError(
            f"validation_fraction={share} leaves a class without rows in training or validation: "
            "hold out another share, or none."
        )
    return np.sort(train), np.sort(held)


@dataclass
class Monitor:
    """Watches the validation share: keeps the number of voters with the best score.

    Better is a higher balanced accuracy, then a lower log-loss, then fewer voters.
    """

    build: Callable[[list[Round]], Vote]  # from rounds to a vote
    held: Training  # the held-out rows
    patience: int  # rounds without a better score after which the search ends
    best: tuple[float, float] = (-np.inf, -np.inf)
    best_round: int = 0

    def __call__(self, rounds: list[Round]) -> bool:
        """Score the vote of the rounds so far; return whether to end the search."""
        score = self._score(self.build(rounds))
        if score > self.best:
            self.best, self.best_round = score, len(rounds)
        return len(rounds) - self.best_round >= self.patience

    def _score(self, vote: Vote) -> tuple[float, float]:
        y, weight = self.held.y, self.held.weight
        score = vote.score(self.held.table.values)
        right = self.held.target.answers(score) == y
        recalls = [np.average(right[y == k], weights=weight[y == k]) for k in np.unique(y)]
        chosen = vote.readout.probabilities(score, vote.target)[np.arange(len(y)), y]
        loss = np.average(-np.log(np.clip(chosen, 1e-15, None)), weights=weight)
        return float(np.mean(recalls)), -float(loss)


def majority_vote(data: Training, readout: Readout) -> Vote:
    """Return the vote of one constant voter for the heaviest class."""
    code = data.target.code
    totals = np.bincount(data.y, data.weight, minlength=len(code))
    n_features = data.table.values.shape[1]
    voters = ConstantVoters(n_features, code[[int(totals.argmax())]], "the heaviest class")
    return Vote(voters, Constant(n_features, np.ones(1)), readout, data.target)
