"""Version spaces and posteriors as votes: listed, counted or sampled."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.models.concepts.concept import Concept
from psephos.vote import Constant, Readout, Target, Vote, Voters
from psephos.vote.operations.joined import join
from psephos.vote.operations.nested import NestedVoters
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses
from psephos.vote.voters.counted import CountedHypotheses
from psephos.vote.voters.counting import STATES, Problem, TooManyStates, minimal_negatives
from psephos.vote.voters.hypotheses import HypothesisVoters

_FEWEST = 100  # draws from a space that can be neither listed nor counted


class Limits(NamedTuple):
    """Maximum number of listed hypotheses, and number of draws if they cannot be counted."""

    listed: int
    drawn: int


class WeighedHypotheses(NamedTuple):
    """The hypotheses of one concept, and their posterior."""

    space: ConjunctiveSpace
    hypotheses: Hypotheses | None  # None: they are counted
    weight: Floats  # (T,); their posterior
    problem: Problem | None = None  # the counting problem
    sampled: bool = False  # whether they were drawn, with shares of the draws as weights

    def voters(self, yes: Floats, no: Floats) -> Voters:
        """Return the hypotheses as voters."""
        if self.hypotheses is not None:
            return HypothesisVoters.of(self.space, self.hypotheses, yes, no)
        problem: Any = self.problem
        one = problem.specific
        return CountedHypotheses(
            self.space, one.low[0], one.high[0], bool(one.empty[0]), problem.negatives,
            problem.prior, yes, no,
        )  # fmt: skip


def consistent(
    space: ConjunctiveSpace,
    concept: Concept,
    prior: str,
    limits: Limits,
    rng: np.random.Generator,
    *,
    listing: bool = False,
) -> WeighedHypotheses:
    """Return the version space of a concept: listed if it is small, else counted, else sampled.

    With `listing` it is sampled instead of counted.
    """
    read = np.flatnonzero(concept.empty | (concept.low >= 0))  # no hypothesis tests other columns
    small, part = space.take(read), concept.take(read)
    negatives = minimal_negatives(small, part.specific, part.negatives)
    problem = Problem(small, part.specific, negatives, prior)
    try:
        # the number of hypotheses decides, not their prior
        plain = Problem(small, part.specific, negatives) if prior != "uniform" else problem
        if plain.count(STATES) + concept.empty <= limits.listed:
            found = problem.table(STATES).listed()
            if concept.empty:
                found = _with_empty(found)
            return _weighed(small, found, np.exp(log_priors(small, found, prior)), problem)
        if not listing:
            return WeighedHypotheses(small, None, np.ones(1), problem)
        drawn = problem.table(STATES).drawn(limits.drawn, rng)
    except TooManyStates:
        sample = problem.drawn(limits.drawn, rng)
        drawn = sample.hypotheses
        if sample.accepted < min(_FEWEST, limits.drawn):
            raise PsephosError(
                f"of {sample.drawn} hypotheses drawn from the space {sample.accepted} agree with "
                "the rows, and there are too many to count: give fewer columns or bins, or use a "
                "BayesOptimalClassifier with noise above 0."
            ) from None
    return sampled(small, drawn)


def _with_empty(found: Hypotheses) -> Hypotheses:
    q = found.low.shape[1]
    one = np.zeros((1, q), dtype=np.int32)
    return Hypotheses(
        np.vstack([found.low, one]), np.vstack([found.high, one]), np.append(found.empty, True)
    )


def log_priors(space: ConjunctiveSpace, found: Hypotheses, prior: str) -> Floats:
    """Return the log prior of each hypothesis, up to a constant; 0 without tests."""
    if prior == "uniform":
        return np.zeros(len(found.empty))
    per_test = np.array([-np.log(max(c - 1, 1)) for c in space.n_constraints()])
    tested = (found.low >= 0) | found.empty[:, None]
    return tested.astype(np.float64) @ per_test


def _weighed(
    space: ConjunctiveSpace, found: Hypotheses, weight: Floats, problem: Problem
) -> WeighedHypotheses:
    by_codes = np.lexsort([*found.high.T[::-1], *found.low.T[::-1], found.empty])
    order = by_codes[in_order(found.take(by_codes), weight[by_codes])]
    return WeighedHypotheses(space, found.take(order), weight[order] / weight.sum(), problem)


def sampled(space: ConjunctiveSpace, found: Hypotheses) -> WeighedHypotheses:
    """Return drawn hypotheses, each once, with its share of the draws as its weight."""
    table = np.hstack([found.low, found.high, found.empty[:, None]])
    _, first, number = np.unique(table, axis=0, return_index=True, return_counts=True)
    some, weight = found.take(first), number / number.sum()
    order = in_order(some, weight)
    return WeighedHypotheses(space, some.take(order), weight[order], sampled=True)


def in_order(found: Hypotheses, weight: Floats) -> Indices:
    """Return the order of hypotheses: the most probable first, of ties the one with most tests.

    The sort is stable.
    """
    tests = np.where(found.empty, found.low.shape[1] + 1, (found.low >= 0).sum(axis=1))
    return np.lexsort([-tests, -weight]).astype(np.intp)


# ---------------------------------------------------------------------- one vote of all concepts
def says(target: Target, concept: int) -> tuple[Floats, Floats]:
    """Return the (K,) votes for and against a class; against it is for all others equally."""
    code = target.code
    if target.n_classes == 2:
        return code[1], code[0]
    return code[concept], -code[concept] / (target.n_classes - 1)


def concept_votes(
    parts: Sequence[WeighedHypotheses], target: Target, score: str, seed: int
) -> Vote:
    """Return the vote over the hypotheses of all concepts.

    With two classes there is one concept, whose hypotheses vote. With more, each class has a
    concept with its own vote, and these votes are the voters.

    `score` {'normalised', 'loudest', 'drawn'}: the read-out of each concept.
    """
    readout = Readout(score, "share", seed=seed if score == "drawn" else 0)
    if target.n_classes == 2:
        voters = parts[0].voters(*says(target, 1))
        return Vote(voters, Constant(voters.n_features, parts[0].weight), readout, target)
    inner = Target(np.arange(2))
    members: list[tuple[Indices, Voters]] = []
    for k, part in enumerate(parts):
        voters = part.voters(*says(inner, 1))
        own = Vote(voters, Constant(voters.n_features, part.weight), readout, inner)
        read = own.columns
        yes, no = says(target, k)
        output = "probability" if score == "normalised" else "answer"
        member = NestedVoters(
            own.n_features, read, (np.arange(len(read)),), (own.select(read),), ((),), output,
            np.array([no, yes]), abstains=False,
        )  # fmt: skip
        members.append((np.array([k], dtype=np.intp), member))
    voters = join(members, [str(label) for label in target.classes.tolist()])
    each = Constant(voters.n_features, np.ones(len(parts)))
    return Vote(voters, each, Readout("normalised", "share"), target)
