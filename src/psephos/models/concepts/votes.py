"""Version spaces and posteriors as votes: listed, counted or sampled; facts for bounds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.models.concepts.version_spaces import Concept
from psephos.vote import Constant, Readout, Target, Vote, Voters
from psephos.vote.codec import register
from psephos.vote.operations.joined import join
from psephos.vote.operations.nested import NestedVoters
from psephos.vote.part import check
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses
from psephos.vote.voters.counting import STATES, Problem, TooManyStates, minimal_negatives
from psephos.vote.voters.hypotheses import CountedHypotheses, HypothesisVoters

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


_KINDS = ("categories", "bins", "estimators")


@register
@dataclass(frozen=True)
class HypothesisFacts:
    """The prior of the voting hypotheses over the whole hypothesis space, and the kind of space.

    Voters are the hypotheses that the rows have left, so a prior over the voters only would be
    chosen after the rows. This prior is over the whole space; over the voters it sums to at most 1.

    Parameters
    ----------
    kind : {'categories', 'bins', 'estimators'}
        categories: all columns are categorical. bins: some are numeric, cut into bins by the rows.
        estimators: hypotheses are fitted estimators, in files of older releases.
    log_size : float
        ln |H|, with |H| the number of hypotheses (of each concept).
    log_prior : tuple of ndarray of shape (T,)
        ln P(h) of the voters, an array per concept; for hypotheses that are counted as one voter,
        of their sum.
    answer : float or None
        ln P(h) of the one hypothesis that predicts (the sum over concepts); None for a vote, even
        if only one hypothesis is left: the choice of bound must not depend on the rows.
    drawn : bool
        Whether the weights are shares of draws, not the posterior itself.
    """

    tag: ClassVar[str] = "hypothesis facts"
    kind: str
    log_size: float
    log_prior: tuple[Floats, ...]
    answer: float | None
    drawn: bool

    def __post_init__(self) -> None:
        check(self.kind in _KINDS, f"no such kind of hypotheses: {self.kind!r}")
        check(all(own.ndim == 1 for own in self.log_prior), "a prior must be a row of numbers")
        least = max((float(own.max(initial=-np.inf)) for own in self.log_prior), default=-np.inf)
        check(least <= 1e-9 and (self.answer or 0.0) <= 1e-9, "a prior is above 1")

    def check_vote(self, vote: Vote) -> None:
        """Raise PsephosError unless these are the hypotheses that vote."""
        one = len(self.log_prior) == 1
        check(not one or len(self.log_prior[0]) == vote.n_voters, "a prior of other hypotheses")

    def within(self, before: "HypothesisFacts") -> "HypothesisFacts":
        """Return the facts over the larger space of `before` (uniform prior)."""
        more = before.log_size - self.log_size
        log_prior = tuple(own - more for own in self.log_prior)
        answer = None if self.answer is None else self.answer - more * len(log_prior)
        return replace(
            self, kind=before.kind, log_size=before.log_size, log_prior=log_prior, answer=answer
        )


def facts_of(
    parts: Sequence[WeighedHypotheses], space: ConjunctiveSpace, prior: str, n_tests: int, *,
    loudest: bool = False, n_draws: int | None = None,
) -> HypothesisFacts:  # fmt: skip
    """Return the facts of conjunctions.

    Parameters
    ----------
    parts : the hypotheses that vote, of each concept
    space : the whole hypothesis space
    prior : {'uniform', 'short'}
    n_tests : maximum number of tests of a hypothesis
    loudest : whether only the most probable hypothesis predicts
    n_draws : number of hypotheses drawn to vote; None without draws
    """
    whole = _log_total(space, prior, n_tests)
    log_prior = tuple(_log_masses(part, prior) - whole for part in parts)
    at = [int(part.weight.argmax()) for part in parts]
    answer = sum(float(own[t]) for own, t in zip(log_prior, at, strict=True))
    return HypothesisFacts(
        kind="categories" if space.is_category.all() else "bins",
        log_size=_log_total(space, "uniform", n_tests),
        log_prior=log_prior,
        answer=answer if loudest or n_draws == 1 else None,
        drawn=n_draws is not None or any(part.sampled for part in parts),
    )


def by_tests(each: Sequence[int], most: int) -> list[int]:
    """Return the number of conjunctions with 0, 1, ..., `most` tests; `each`: tests per column."""
    # coefficients of prod(1 + e z)
    number = [1]
    for e in each:
        terms = zip([*number, 0], [0, *number], strict=True)
        number = [a + e * b for a, b in terms][: most + 1]
    return number


def _log_total(space: ConjunctiveSpace, prior: str, n_tests: int) -> float:
    """Return the logarithm of the sum of exp(log_priors) over all hypotheses of so many tests."""
    tests = [c - 1 for c in space.n_constraints()]
    each = tests if prior == "uniform" else [min(e, 1) for e in tests]
    if n_tests >= len(tests):
        total = math.prod(1 + e for e in each)
    else:
        total = sum(by_tests(each, n_tests))
    empty = 0.0 if prior == "uniform" else -sum(math.log(max(e, 1)) for e in tests)
    return float(np.logaddexp(math.log(total), empty))


def _log_masses(part: WeighedHypotheses, prior: str) -> Floats:
    """Return the log prior of each voter, plus the constant of `log_priors`."""
    if part.hypotheses is not None:
        return log_priors(part.space, part.hypotheses, prior)
    problem: Any = part.problem
    number = problem.count() + bool(problem.specific.empty[0])
    least = 0.0
    if prior == "short":  # the unit of the integers in `ConjunctiveSpace.priors`
        least = sum(math.log(max(c - 1, 1)) for c in part.space.n_constraints())
    return np.array([math.log(number) - least])
