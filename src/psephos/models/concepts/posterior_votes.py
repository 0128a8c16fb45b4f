"""Base class of classifiers by the posterior of conjunctions, and that posterior with noise."""

import itertools
import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray, SeedLike
from psephos.base import Labels
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.labels import row_word
from psephos.estimator.params import Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.concepts import votes
from psephos.models.concepts.version_spaces import eliminated, space_of, started
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses

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


def noisy(
    space: ConjunctiveSpace, evidence: Evidence, prior: str, most: int
) -> votes.WeighedHypotheses:
    """Return the posterior ``P(h | D) ~ P(h) (1 - noise)^agree noise^disagree``.

    It is over the whole space if this has at most `most` hypotheses, else over the hypotheses with
    at most `tests_within` tests.
    """
    n_tests = tests_within(space, most)
    found, agreement = _enumerated(space, evidence, n_tests)
    log = votes.log_priors(space, found, prior) + evidence.slope * agreement
    weight = np.exp(log - log.max())
    kept = np.flatnonzero(weight > 0)  # others underflow
    order = kept[votes.in_order(found.take(kept), weight[kept])]
    return votes.WeighedHypotheses(space, found.take(order), weight[order] / weight.sum())


def tests_within(space: ConjunctiveSpace, most: int) -> int:
    """Return the maximum number of tests with which there are at most `most` hypotheses."""
    number = votes.by_tests([c - 1 for c in space.n_constraints()], _TESTS)
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
    hypotheses_: votes.HypothesisFacts = fitted()
    n_tests_: int = fitted()

    def _concepts(
        self, table: Table, labels: Labels, weight: Floats, context: Context, *,
        prior: str, drawing: bool,
    ) -> list[votes.WeighedHypotheses]:  # fmt: skip
        """Return the posterior of the conjunctions of each concept."""
        space, k = space_of(table, self.n_bins), labels.target.n_classes
        limits = votes.Limits(self.max_hypotheses, self.n_samples)
        if self.noise == 0:
            memory = eliminated(started(space, k), table, labels, context, 1)
            if len(memory.left_out):
                row = row_word(int(memory.left_out[0]))
                raise PsephosError(
                    f"no conjunction agrees with {row} and the rows before, so none has a "
                    "posterior: set noise above 0."
                )
            return [
                votes.consistent(
                    space, concept, prior, limits, context.generator(c), listing=drawing
                )
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
        vote = votes.concept_votes(parts, labels.target, score, seed)
        space = space_of(table, self.n_bins)
        tests = tests_within(space, self.max_hypotheses) if self.noise else space.n_columns
        facts = votes.facts_of(
            parts, space, prior, tests, loudest=score == "loudest", n_draws=n_draws
        )
        posterior = tuple(part.weight for part in parts)
        return vote, {"posterior_": posterior, "hypotheses_": facts, "n_tests_": tests}


def _most_probable(part: votes.WeighedHypotheses) -> votes.WeighedHypotheses:
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
    return votes.WeighedHypotheses(part.space, problem.specific, np.ones(1))


def _drawn(weight: Floats, number: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
    """Return the indices of hypotheses drawn from a posterior, and their shares of the draws."""
    at = rng.choice(len(weight), number, p=weight)
    kept, times = np.unique(at, return_counts=True)
    order = np.argsort(-times, kind="stable")
    return kept[order].astype(np.intp), times[order] / number
