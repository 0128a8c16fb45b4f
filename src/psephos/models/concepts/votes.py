"""Version spaces and posteriors as votes: listed, counted, sampled or noisy; facts for bounds."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray, SeedLike
from psephos.base import Labels
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.labels import row_word
from psephos.estimator.params import Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.concepts.version_spaces import Concept, eliminated, space_of, started
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


# ---------------------------------------------------------------------- posteriors with noise
_Codes = NDArray[np.int32]
_TESTS = 20  # maximum number of tests of a hypothesis, if not all hypotheses are listed
_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)


class Evidence(NamedTuple):
    """The rows of one concept."""

    code: _Codes  # (n, q) int32
    # (n,); the weight of a positive row, minus the weight of another: the agreement of a hypothesis
    # is the sum over the rows for which it holds, plus the agreement of the empty hypothesis
    gain: Floats
    noise: float  # the probability that a label is wrong, 0 < noise < 1/2

    @property
    def slope(self) -> float:
        """Return the log likelihood of one more row that agrees."""
        return float(np.log1p(-self.noise) - np.log(self.noise))


def noisy(space: ConjunctiveSpace, evidence: Evidence, prior: str, most: int) -> WeighedHypotheses:
    """Return the posterior ``P(h | D) ~ P(h) (1 - noise)^agree noise^disagree``.

    It is over the whole space if this has at most `most` hypotheses, else over the hypotheses with
    at most `tests_within` tests.
    """
    n_tests = tests_within(space, most)
    found, agreement = _enumerated(space, evidence, n_tests)
    log = log_priors(space, found, prior) + evidence.slope * agreement
    weight = np.exp(log - log.max())
    kept = np.flatnonzero(weight > 0)  # others underflow
    order = kept[in_order(found.take(kept), weight[kept])]
    return WeighedHypotheses(space, found.take(order), weight[order] / weight.sum())


def tests_within(space: ConjunctiveSpace, most: int) -> int:
    """Return the maximum number of tests with which there are at most `most` hypotheses."""
    number = by_tests([c - 1 for c in space.n_constraints()], _TESTS)
    if space.n_hypotheses <= most:
        return space.n_columns
    total, tests = 1 + number[0], 0
    while tests + 1 < len(number) and total + number[tests + 1] <= most:
        tests += 1
        total += number[tests]
    if not tests:
        raise PsephosError(
            f"max_hypotheses must be at least {1 + number[0] + number[1]:,}, the number of "
            f"conjunctions of at most one test; got {most:,}. Or give fewer columns or bins."
        )
    return tests


def _enumerated(
    space: ConjunctiveSpace, evidence: Evidence, n_tests: int
) -> tuple[Hypotheses, Floats]:
    """Return all hypotheses of at most `n_tests` tests, the empty one last, and their agreement.

    The rows for which a hypothesis holds are packed bits. Either all columns are enumerated, ``?``
    included, or each combination of at most `n_tests` columns, without ``?``.
    """
    n, q = evidence.code.shape
    bounds = [space.constraints(i) for i in range(q)]
    bits = [
        np.packbits((low[:, None] <= x) & (x <= high[:, None]), axis=1)
        for (low, high), x in zip(bounds, evidence.code.T, strict=True)
    ]
    whole = n_tests == q
    few = (itertools.combinations(range(q), number) for number in range(n_tests + 1))
    sets = [tuple(range(q))] if whole else itertools.chain.from_iterable(few)
    first = 0 if whole else 1  # whether '?' is among the constraints
    gain = np.zeros(8 * ((n + 7) // 8))
    gain[:n] = evidence.gain
    lows, highs, agreements = [], [], []
    for columns in sets:
        held = np.packbits(np.ones((1, n), dtype=np.bool_), axis=1)
        sizes = [len(bits[i]) - first for i in columns]
        at = np.indices(sizes).reshape(len(columns), math.prod(sizes)) + first
        for i in columns:
            held = (held[:, None] & bits[i][None, first:]).reshape(-1, held.shape[1])
        top = space.anything()
        low, high = (np.repeat(a, len(held), axis=0) for a in (top.low, top.high))
        for i, one in zip(columns, at, strict=True):
            low[:, i], high[:, i] = bounds[i][0][one], bounds[i][1][one]
        agreement = np.zeros(len(held))
        for byte, column in enumerate(held.T):
            agreement += (_BYTE @ gain[8 * byte : 8 * byte + 8])[column]
        lows.append(low)
        highs.append(high)
        agreements.append(agreement)
    empty = space.nothing()
    found = Hypotheses(
        np.concatenate([*lows, empty.low]),
        np.concatenate([*highs, empty.high]),
        np.arange(1 + sum(map(len, lows))) == sum(map(len, lows)),
    )
    return found, np.concatenate([*agreements, [0.0]])


_SEED = 99  # task of the seed of draws from the posterior


@parameters
class PosteriorVotes:
    """Base class of classifiers by the posterior of conjunctions.

    Parameters
    ----------
    prior : {'uniform', 'short'}
        P(h). uniform: equal. short: each column is tested with probability 1/2, by each of its
        constraints with equal probability; the empty hypothesis counts as one that tests all.
    noise : float
        The probability that a label is wrong. 0: only hypotheses that agree with all rows are left.
    n_bins : int
        Bins of a numeric column; see `VersionSpaceClassifier`.
    max_hypotheses : int
        Maximum number of conjunctions that are listed as voters. With noise, if there are more,
        only hypotheses of at most `n_tests_` tests are listed, the greatest number within this
        maximum. Without noise, those that agree with all rows are listed, or counted as one voter,
        or `n_samples` of them are drawn if they cannot be counted.
    n_samples : int
        Number of hypotheses drawn; a share among them has a standard error of at most ``0.5 /
        sqrt(n_samples)``.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories.
    random_state : int, RandomState or None
        Seed of the draws.

    Attributes
    ----------
    hypotheses_ : HypothesisFacts
        The prior of the voters over all hypotheses, for `psephos.bounds`.
    n_tests_ : int
        Maximum number of tests of a hypothesis: the number of columns, unless that gives too many.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "prior": Options(("uniform", "short")),
        "noise": Interval(0, 0.5, open_high=True),
        "n_bins": Interval(2, 100, whole=True),
        "max_hypotheses": Interval(0, whole=True),
    }

    _: KW_ONLY
    prior: str = "uniform"
    noise: float = 0.1
    n_bins: int = 4
    max_hypotheses: int = 10_000
    n_samples: int = 1000
    categorical_features: CategoricalFeatures = "from_dtype"
    random_state: SeedLike = None
    posterior_: tuple[Floats, ...] = fitted()
    hypotheses_: HypothesisFacts = fitted()
    n_tests_: int = fitted()

    def _concepts(
        self, table: Table, labels: Labels, weight: Floats, context: Context, *,
        prior: str, drawing: bool,
    ) -> list[WeighedHypotheses]:  # fmt: skip
        """Return the posterior of the conjunctions of each concept."""
        space, k = space_of(table, self.n_bins), labels.target.n_classes
        limits = Limits(self.max_hypotheses, self.n_samples)
        if self.noise == 0:
            memory = eliminated(started(space, k), table, labels, context, 1)
            if len(memory.left_out):
                row = row_word(int(memory.left_out[0]))
                raise PsephosError(
                    f"no conjunction agrees with {row} and the rows before, so none has a "
                    "posterior: set noise above 0."
                )
            return [
                consistent(space, concept, prior, limits, context.generator(c), listing=drawing)
                for c, concept in enumerate(memory.concepts)
            ]
        code = space.encode(table.dense())
        classes = [1] if k == 2 else range(k)
        gains = [np.where(labels.y == c, weight, -weight) for c in classes]
        return [
            noisy(space, Evidence(code, gain, self.noise), prior, self.max_hypotheses)
            for gain in gains
        ]

    def _vote(
        self, table: Table, labels: Labels, weight: Floats, context: Context, *,
        prior: str, score: str, n_draws: int | None = None,
    ) -> VoteFit:  # fmt: skip
        """Return the vote of all hypotheses by their posterior, or of some drawn from it."""
        seed = context.integer(_SEED)
        drawing = score == "drawn" or n_draws is not None
        parts = self._concepts(table, labels, weight, context, prior=prior, drawing=drawing)
        if n_draws is not None:
            parts = [
                part._replace(hypotheses=part.hypotheses.take(kept), weight=share)
                for c, part in enumerate(parts)
                for kept, share in [_drawn(part.weight, n_draws, context.generator(_SEED, c))]
                if part.hypotheses is not None
            ]
        if score == "loudest":  # the others are left out
            parts = [_most_probable(part) for part in parts]
        vote = concept_votes(parts, labels.target, score, seed)
        space = space_of(table, self.n_bins)
        tests = tests_within(space, self.max_hypotheses) if self.noise else space.n_columns
        facts = facts_of(parts, space, prior, tests, loudest=score == "loudest", n_draws=n_draws)
        posterior = tuple(part.weight for part in parts)
        return vote, {"posterior_": posterior, "hypotheses_": facts, "n_tests_": tests}


def _most_probable(part: WeighedHypotheses) -> WeighedHypotheses:
    """Return the most probable hypothesis, with its posterior; S if they are counted.

    Under a uniform prior all hypotheses that agree with every row are equally probable, so S is.
    """
    if part.hypotheses is not None:  # sorted by probability
        first = np.zeros(1, dtype=np.intp)
        return part._replace(hypotheses=part.hypotheses.take(first), weight=part.weight[:1])
    problem: Any = part.problem
    if problem.prior != "uniform":
        raise PsephosError(
            "there are more consistent hypotheses than max_hypotheses, and with prior='short' they "
            "must be listed to find the most probable: raise max_hypotheses, or set "
            "prior='uniform'."
        )
    return WeighedHypotheses(part.space, problem.specific, np.ones(1))


def _drawn(weight: Floats, number: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
    """Return the indices of hypotheses drawn from a posterior, and their shares of the draws."""
    at = rng.choice(len(weight), number, p=weight)
    kept, times = np.unique(at, return_counts=True)
    order = np.argsort(-times, kind="stable")
    return kept[order].astype(np.intp), times[order] / number
