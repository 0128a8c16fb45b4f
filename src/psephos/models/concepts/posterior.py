"""The posterior of conjunctions where labels are noisy: of all, or of all with few tests."""

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.models.concepts.facts import by_tests
from psephos.models.concepts.votes import Weighed, in_order, log_priors
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses

_Floats = NDArray[np.float64]
_Codes = NDArray[np.int32]
_TESTS = 20  # of a hypothesis, where not all are gone through
_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)


class Evidence(NamedTuple):
    """The rows as one concept sees them."""

    code: _Codes  # (n, q) int32
    # (n,); the weight of a row if it is positive, else its negative: the agreement of a hypothesis
    # is the sum over rows it holds for, plus that of the empty one
    gain: _Floats
    noise: float  # the chance that a label is wrong, 0 < noise < 1/2

    @property
    def slope(self) -> float:
        """Return the log likelihood of one more row that agrees."""
        return float(np.log1p(-self.noise) - np.log(self.noise))


def noisy(space: ConjunctiveSpace, evidence: Evidence, prior: str, most: int) -> Weighed:
    """Return the posterior ``P(h | D) ~ P(h) (1 - noise)^agree noise^disagree``.

    Of the whole space if it has at most `most` hypotheses, else of those with few tests: of at most
    as many as leave no more than `most`.
    """
    n_tests = tests_within(space, most)
    found, agreement = _gone_through(space, evidence, n_tests)
    log = log_priors(space, found, prior) + evidence.slope * agreement
    weight = np.exp(log - log.max())
    kept = np.flatnonzero(weight > 0)  # others have less than 1e-300 of the greatest
    order = kept[in_order(found.take(kept), weight[kept])]
    return Weighed(space, found.take(order), weight[order] / weight.sum())


def tests_within(space: ConjunctiveSpace, most: int) -> int:
    """Return how many tests a hypothesis may have so that there are at most `most`."""
    number = by_tests([c - 1 for c in space.n_constraints()], _TESTS)
    if space.n_hypotheses <= most:
        return space.n_columns
    total, tests = 1 + number[0], 0
    while tests + 1 < len(number) and total + number[tests + 1] <= most:
        tests += 1
        total += number[tests]
    if not tests:
        raise PsephosError(
            f"there are {1 + number[0] + number[1]:,} conjunctions of at most one test, and "
            f"max_hypotheses is {most:,}: raise it, or give fewer columns or bins."
        )
    return tests


def _gone_through(
    space: ConjunctiveSpace, evidence: Evidence, n_tests: int
) -> tuple[Hypotheses, _Floats]:
    """Return all hypotheses of so many tests, the empty one last, and how they agree with rows.

    Rows that a hypothesis holds for are bits. Either every column is enumerated, ``?`` included, or
    each combination of at most `n_tests` columns, without ``?``.
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
