"""The posterior of conjunctions where labels are noisy: of the whole space, or sampled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.models.concepts.votes import Limits, Weighed, in_order, log_priors, sampled
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses

__all__ = ["Evidence", "noisy"]

_Floats = NDArray[np.float64]
_Codes = NDArray[np.int32]
_SWEEPS = 50  # of a chain over all columns
_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)


class Evidence(NamedTuple):
    """The rows as one concept sees them.

    Parameters
    ----------
    code : ndarray of shape (n, q), int32
    gain : ndarray of shape (n,)
        The weight of a row if it is positive, else its negative: the agreement of a hypothesis is
        the sum over rows it holds for, plus that of the empty one.
    noise : float
        The chance that a label is wrong, 0 < noise < 1/2.
    """

    code: _Codes
    gain: _Floats
    noise: float

    @property
    def slope(self) -> float:
        """Return the log likelihood of one more row that agrees."""
        return float(np.log1p(-self.noise) - np.log(self.noise))


def noisy(
    space: ConjunctiveSpace,
    evidence: Evidence,
    prior: str,
    limits: Limits,
    rng: np.random.Generator,
) -> Weighed:
    """Return the posterior ``P(h | D) ~ P(h) (1 - noise)^agree noise^disagree``.

    All hypotheses are gone through if they are no more than are listed, else some are drawn.
    """
    if space.n_hypotheses > limits.listed:
        return sampled(space, _chains(space, evidence, prior, limits.drawn, rng))
    found, agreement = _everything(space, evidence)
    log = log_priors(space, found, prior) + evidence.slope * agreement
    weight = np.exp(log - log.max())
    kept = np.flatnonzero(weight > 0)  # others have less than 1e-300 of the greatest
    order = kept[in_order(found.take(kept), weight[kept])]
    return Weighed(space, found.take(order), weight[order] / weight.sum(), "listed")


def _everything(space: ConjunctiveSpace, evidence: Evidence) -> tuple[Hypotheses, _Floats]:
    """Return the whole space, the empty hypothesis last, and how far each agrees with the rows.

    Rows that a hypothesis holds for are bits, and columns are added one after another.
    """
    n = len(evidence.code)
    held = np.packbits(np.ones((1, n), dtype=np.bool_), axis=1)
    at: list[NDArray[np.intp]] = []
    bounds = [space.constraints(i) for i in range(space.n_columns)]
    for i, (low, high) in enumerate(bounds):
        x = evidence.code[:, i]
        own = np.packbits((low[:, None] <= x) & (x <= high[:, None]), axis=1)
        at = [np.repeat(one, len(low)) for one in at]
        at.append(np.tile(np.arange(len(low)), len(held)))
        held = (held[:, None] & own[None]).reshape(-1, held.shape[1])
    agreement = np.zeros(len(held) + 1)
    gain = np.zeros(8 * held.shape[1])
    gain[:n] = evidence.gain
    for byte, column in enumerate(held.T):
        agreement[:-1] += (_BYTE @ gain[8 * byte : 8 * byte + 8])[column]
    low, high = np.zeros((2, len(agreement), space.n_columns), dtype=np.int32)
    for i, (lows, highs) in enumerate(bounds):
        low[:-1, i], high[:-1, i] = lows[at[i]], highs[at[i]]
    return Hypotheses(low, high, np.arange(len(agreement)) == len(agreement) - 1), agreement


def _chains(
    space: ConjunctiveSpace,
    evidence: Evidence,
    prior: str,
    size: int,
    rng: np.random.Generator,
) -> Hypotheses:
    """Return the ends of `size` Markov chains that draw one column's constraint after another.

    Each column is drawn from its posterior given the others (Gibbs sampling), from a start at the
    hypothesis without tests. Chains do not depend on each other, so their ends are as many draws.
    """
    start = space.anything()
    low, high = np.repeat(start.low, size, axis=0), np.repeat(start.high, size, axis=0)
    fails = np.zeros((size, len(evidence.code)), dtype=np.int32)
    bounds = [space.constraints(i) for i in range(space.n_columns)]
    inside: list[NDArray[np.bool_]] = []
    for (lows, highs), x in zip(bounds, evidence.code.T, strict=True):
        inside.append((lows[:, None] <= x) & (x <= highs[:, None]))
    logs = [np.log(np.array(space.priors(i, prior), float)) for i in range(space.n_columns)]
    choice = np.zeros((size, space.n_columns), dtype=np.intp)  # the first tests nothing
    for _ in range(_SWEEPS):
        for i in rng.permutation(space.n_columns):
            fails -= ~inside[i][choice[:, i]]
            rest = (fails == 0).astype(np.float64)
            score = logs[i] + evidence.slope * (rest @ (inside[i] * evidence.gain).T)
            ends = np.cumsum(np.exp(score - score.max(axis=1, keepdims=True)), axis=1)
            at = rng.random(size) * ends[:, -1]
            drawn = np.minimum((ends <= at[:, None]).sum(axis=1), len(bounds[i][0]) - 1)
            choice[:, i] = drawn
            fails += ~inside[i][drawn]
    for i, (lows, highs) in enumerate(bounds):
        low[:, i], high[:, i] = lows[choice[:, i]], highs[choice[:, i]]
    return Hypotheses(low, high, np.zeros(size, dtype=np.bool_))
