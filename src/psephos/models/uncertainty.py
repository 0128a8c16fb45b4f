"""Uncertainty of forests and bags: entropies, variance of votes, infinitesimal jackknife."""

from typing import Any, NamedTuple

import numpy as np
import scipy.special

from psephos._errors import PsephosError
from psephos._types import Floats, TableLike
from psephos.models.sampling import Draw
from psephos.vote import Vote

_special: Any = scipy.special  # its type stubs are incomplete
_CELLS = 1 << 21  # numbers of a block: 16 MiB


class Uncertainty(NamedTuple):
    """Uncertainty of a classifier per row; see `RandomForestClassifier.uncertainty`.

    `total`, `aleatoric`, `epistemic`: (n,), in nats. `variance`, `jackknife`: (n,) for the second
    of two classes, else (n, n_classes); `jackknife` is None without a bootstrap.
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats
    variance: Floats
    jackknife: Floats | None


class NumberUncertainty(NamedTuple):
    """Uncertainty of a regressor per row: `variance` and `jackknife`, each (n,)."""

    variance: Floats
    jackknife: Floats | None


class ClassifierUncertaintyMixin:
    """Mixin of forests and bags of classifiers: `uncertainty`."""

    def uncertainty(self, X: TableLike) -> Uncertainty:
        """Return the uncertainty of the forest or bag for each row.

        With H the entropy in nats and p_t(x) the class shares of tree t::

            total     = H(mean_t p_t)
            aleatoric = mean_t H(p_t)            uncertainty within the trees
            epistemic = total - aleatoric >= 0   disagreement between the trees
            variance  = var_t p_t                of single trees
            jackknife = sum_i Cov_t(N_it, p_t)^2 - (s / T^2) sum_t (p_t - mean p)^2

        The last estimates the variance of the forest's mean p_t over training samples (Wager,
        Hastie & Efron 2014), with N_it how often row i was drawn for tree t and s the number of
        draws per tree. It is corrected for the finite number of trees and may be negative.

        Returns
        -------
        Uncertainty
            The first three have shape (n,), the others (n,) for the second of two classes, else
            (n, n_classes); `jackknife` is None if ``bootstrap=False``.
        """
        own: Any = self
        vote, memory, values = own.vote_, own.memory_, own._values(X)
        _check_equal(vote)
        k, counts = vote.target.n_classes, _counts(memory)
        parts: list[tuple[Any, ...]] = []
        for votes in _blocks(vote, values):
            flat = votes.reshape(-1, votes.shape[2])
            shares = vote.readout.probabilities(flat, vote.target).reshape(len(votes), -1, k)
            mean = shares.mean(axis=1)
            total, aleatoric = _entropy(mean), _entropy(shares).mean(axis=1)
            answers = shares[:, :, 1:] if k == 2 else shares
            spread = np.maximum(total - aleatoric, 0.0)  # negative only by rounding
            parts.append(
                (total, aleatoric, spread, answers.var(axis=1), _jackknife(answers, memory, counts))
            )
        total, aleatoric, spread, variance, jackknife = _joined(parts)
        if k == 2:
            variance = variance[:, 0]
            jackknife = None if jackknife is None else jackknife[:, 0]
        return Uncertainty(total, aleatoric, spread, variance, jackknife)


class RegressorUncertaintyMixin:
    """Mixin of forests and bags of regressors: `uncertainty`."""

    def uncertainty(self, X: TableLike) -> NumberUncertainty:
        """Return the variance of the members' predictions and the jackknife of their mean, (n,).

        See `RandomForestClassifier.uncertainty`; the second is None without a bootstrap.
        """
        own: Any = self
        vote, memory, values = own.vote_, own.memory_, own._values(X)
        _check_equal(vote)
        counts = _counts(memory)
        parts = [(v.var(axis=1), _jackknife(v, memory, counts)) for v in _blocks(vote, values)]
        variance, jackknife = _joined(parts)
        return NumberUncertainty(variance[:, 0], None if jackknife is None else jackknife[:, 0])


def _entropy(shares: Floats) -> Floats:
    return _special.entr(shares).sum(axis=-1)


def _check_equal(vote: Any) -> None:
    """Raise PsephosError unless all voters have the same weight."""
    alpha = vote.weighting.alpha
    if (alpha != alpha[0]).any():
        raise PsephosError(
            "uncertainty needs voters of equal weight, and these have different weights: use the "
            "forest or bag before the selection of its members."
        )


def _joined(parts: list[tuple[Any, ...]]) -> list[Any]:
    """Concatenate the parts of all blocks of rows."""
    columns = zip(*parts, strict=True)
    return [None if column[0] is None else np.concatenate(column) for column in columns]


def _blocks(vote: Vote, values: Any) -> Any:
    """Yield the votes (rows, T, K) in blocks of rows."""
    size = max(1, _CELLS // (vote.n_voters * max(vote.target.n_classes, 1)))
    for start in range(0, values.shape[0], size):
        yield vote.votes(values[start : start + size])


def _jackknife(answers: Floats, memory: Draw, counts: Floats | None) -> Floats | None:
    """Return (n, K): the infinitesimal jackknife's variance of the mean over trees of (n, T, K).

    With N_ib how often row i was drawn for tree b of B, and t_b the tree's prediction::

        V = sum_i Cov_b(N_ib, t_b)^2 - (s / B^2) sum_b (t_b - mean t)^2

    where the second term, with s draws, corrects for the finite number of trees. A row of weight c
    represents c rows, which share its covariance.
    """
    if counts is None:
        return None
    n, trees, k = answers.shape
    off = (answers - answers.mean(axis=1, keepdims=True)).transpose(0, 2, 1).reshape(n * k, trees)
    m, total = len(memory.mass), memory.mass.sum()
    step = max(1, _CELLS // max(trees, n * k))
    sums = np.zeros(n * k)
    for start in range(0, m, step):
        span = slice(start, start + step)
        drawn = counts[:, span]
        covariance = off @ (drawn - drawn.mean(axis=0)) / trees
        sums += (covariance**2 / memory.mass[span]).sum(axis=1)
    noise = memory.size * (m / total) * (off**2).sum(axis=1) / trees**2
    return (sums - noise).reshape(n, k)


def _counts(memory: Draw) -> Floats | None:
    """Return (T, m), how often each row was drawn for each tree; None without a bootstrap."""
    draws = memory.draws
    return None if draws is None else np.array([draws.counts(seed) for seed in memory.seeds])
