"""Facts about the hypotheses that bounds need: above all their prior over the whole space."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from psephos._types import Floats
from psephos.models.concepts.votes import WeighedHypotheses, log_priors
from psephos.vote import Vote
from psephos.vote.codec import register
from psephos.vote.part import check
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace

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
