"""The candidates of a batch, rows that may become prototypes, and its reference rows.

A batch divides the training rows: candidates may become prototypes, and the likelihood is computed
on references. Both are drawn within groups, so that hard rows are drawn as often as easy ones.
Source: Ruf, proset manual and releases 0.5 and 0.6, "candidate selection" and the bins algorithm.

This halves a small table. With `draw_leave_one_out` every row is a reference, candidates included,
each left out of its own likelihood.

Rows of weight 0 are ignored.
"""

from typing import NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray

_MOST_COPIES = 1000  # maximum number of copies of a row that are drawn from


class BatchRows(NamedTuple):
    """The rows of one batch."""

    candidates: Indices  # (M,) ascending
    references: Indices  # (R,) ascending
    omega: Floats  # (R,) the references' weights in the likelihood; they sum to 1
    twin: Indices | None = None  # (R,) the candidate that is the same row, or -1; None: none is
    echo: Floats | None = None  # (R,) share of a reference's weight that is of its copies

    @property
    def of_all(self) -> bool:
        """Return whether nothing is random: each row is a candidate and a reference."""
        return len(self.candidates) == len(self.references) and self.twin is not None

    def with_references(self, weight: Floats, drawn_from: float) -> "BatchRows":
        """Return the draw with further rows, of these weights, in front, as references only.

        `drawn_from` is the total weight of the rows that were drawn from.
        """
        n, total = len(weight), weight.sum() + drawn_from
        omega = np.concatenate([weight / total, self.omega * (drawn_from / total)])
        more = BatchRows(self.candidates + n, np.append(np.arange(n), self.references + n), omega)
        if self.twin is None or self.echo is None:
            return more
        twin, echo = np.full(n, -1, dtype=np.intp), np.zeros(n)
        return more._replace(twin=np.append(twin, self.twin), echo=np.append(echo, self.echo))


def hard_rows(
    strata: Indices, goodness: Floats, weight: Floats, *, beta: float = 0.1
) -> NDArray[np.bool_]:
    """Return the mask of the worst predicted rows: ``goodness < beta-quantile of stratum``.

    `goodness` (n,) is the likelihood of each row's own class or target. The quantile is NumPy's,
    over the rows of positive weight, not weighted. "Below" is strict: if all rows of a stratum have
    the same likelihood, as in the first batch of a classifier, none is hard.
    """
    hard = np.zeros(len(strata), dtype=bool)
    positive = weight > 0
    for stratum in np.unique(strata[positive]):
        rows = np.flatnonzero(positive & (strata == stratum))
        hard[rows] = goodness[rows] < np.quantile(goodness[rows], beta)
    return hard


def misread_rows(masses: Floats, y: Indices) -> NDArray[np.bool_]:
    """Return the mask of the rows predicted wrongly by class masses (n, K).

    It is the grouping of proset before 0.5; of equal masses the first class is predicted.
    """
    return masses.argmax(axis=1) != y


def target_strata(target: Floats, weight: Floats, n_strata: int = 5) -> Indices:
    """Divide the rows of a regression by quantiles of the target, in place of classes.

    The quantiles are of the rows of positive weight, not weighted. Equal targets stay together, so
    there may be fewer strata than `n_strata`: 0, 1, ... ascending with the target.
    """
    positive = weight > 0
    edges = np.quantile(target[positive], np.arange(1, n_strata) / n_strata)
    codes = np.searchsorted(edges, target, side="left")
    used = np.unique(codes[positive])
    return np.minimum(np.searchsorted(used, codes), len(used) - 1)


def smallest_divided(max_fraction: float) -> int:
    """Return the minimum number of rows of a stratum that is divided into hard rows and others.

    From ``2 max(ceil(0.5 / eta), floor(0.5 / (1 - eta)) + 1) - 1`` rows on, the larger of the two
    groups has both a candidate and a reference.
    """
    for_candidate = int(np.ceil(0.5 / max_fraction))
    for_reference = int(np.floor(0.5 / (1.0 - max_fraction))) + 1
    return 2 * max(for_candidate, for_reference) - 1


def group_shares(sizes: Indices, n_candidates: int, max_fraction: float) -> Indices:
    """Return the number of candidates from each group, equal shares as far as possible.

    From the smallest group to the largest: a group gives an equal share of the candidates still to
    be drawn, at most ``max_fraction`` of its rows and never all; the rest is left to the larger
    ones. Shares are rounded to the nearest integer, halves to the even one, so their sum may differ
    from `n_candidates` by up to half the number of groups.
    """
    shares = np.zeros(len(sizes))
    order = np.argsort(sizes, kind="stable")
    left = float(n_candidates)
    for i, group in enumerate(order):
        even = left / (len(order) - i)
        if even <= max_fraction * sizes[group]:
            shares[order[i:]] = even
            break
        shares[group] = max_fraction * sizes[group]
        left -= shares[group]
    return np.minimum(np.round(shares).astype(np.intp), sizes - 1)


def draw_candidates(
    strata: Indices,
    hard: NDArray[np.bool_],
    weight: Floats,
    generator: np.random.Generator,
    *,
    n_candidates: int = 1000,
    max_fraction: float = 0.5,
    names: tuple[str, ...] = (),
    copies: Floats | None = None,
) -> BatchRows:
    """Draw the candidates of a batch; all other rows are references.

    The groups are the hard rows of each stratum and its other rows. From each group its share
    (`group_shares`) is drawn, without replacement and regardless of weights. A reference then also
    represents the candidates of its group, so that the likelihood keeps the proportions of all
    training rows: with W the total weight,
    ``omega_n = weight_n / W * (group's weight) / (group's weight - its candidates' weight)``.

    A row that represents c equal ones (``copies``, default 1, capped at 1,000) is drawn as if these
    were c rows: if k of them are drawn the row is a candidate, and the others are a reference with
    (c - k) / c of its weight.

    A small table gives fewer than `n_candidates`: at most about `max_fraction` of each group. A
    stratum below `smallest_divided` rows is one group; if rounding leaves a stratum of two rows or
    more without a candidate, its largest group gives one. The row of a stratum of one is a
    reference in every batch: it affects prototypes of other classes near it, but its own class is
    represented only by its frequency. (If the row were both, its likelihood would be that of a
    prototype at distance 0.)

    `strata` are class codes or `target_strata`, `names` their names for messages; `hard` is from
    `hard_rows` or `misread_rows`. Each batch needs another stream of the generator: equal ones
    would draw the same candidates again.
    """
    groups = _groups(strata, hard, weight, max_fraction)
    times = np.ones(len(strata)) if copies is None else np.clip(copies, 1.0, _MOST_COPIES)
    counts = times.astype(np.intp)
    sizes = [int(counts[rows].sum()) for rows in groups.values()]
    shares = _shares(groups, sizes, n_candidates, max_fraction, least=2)
    if not shares.any():
        raise PsephosError(_too_few(strata, weight, names))
    total = weight.sum()
    omega, left = weight / total, weight.copy()  # left as references
    chosen: list[Indices] = []
    for rows, share in zip(groups.values(), shares, strict=True):
        drawn, k = _drawn(rows, counts[rows], int(share), generator)
        left[drawn] *= 1.0 - k / counts[drawn]
        positive = rows[left[rows] > 0]
        omega[rows] = left[rows] / total * (weight[rows].sum() / left[positive].sum())
        chosen.append(drawn)
    references = np.flatnonzero(left > 0)
    return BatchRows(np.sort(np.concatenate(chosen)), references, omega[references])


def _drawn(
    rows: Indices, counts: Indices, share: int, generator: np.random.Generator
) -> tuple[Indices, Indices]:
    """Return the rows drawn and how often, if `share` of all their copies are drawn."""
    if counts.max() == 1:
        drawn = generator.choice(rows, share, replace=False)
        return drawn, np.ones(share, dtype=np.intp)
    times = generator.multivariate_hypergeometric(counts, share)
    return rows[times > 0], times[times > 0]


def draw_leave_one_out(
    strata: Indices,
    hard: NDArray[np.bool_],
    weight: Floats,
    generator: np.random.Generator,
    *,
    n_candidates: int = 1000,
    names: tuple[str, ...] = (),
    copies: Floats | None = None,
) -> BatchRows:
    """Draw the candidates of a batch; all rows are references, left out of their own sums.

    A row that represents c equal ones (``copies``, shape (n,), default 1) keeps (c - 1) / c of its
    own weight. Up to ``n_candidates`` rows, all are candidates; if there are more, shares of each
    group (`group_shares`, without a maximum fraction) are drawn as in `draw_candidates`, which has
    the same parameters and error. The references' weights are those of the rows.
    """
    rows = np.flatnonzero(weight > 0)
    candidates = rows
    times = np.ones(len(strata)) if copies is None else np.maximum(copies, 1.0)
    if np.bincount(strata[rows], times[rows]).max() < 2:
        raise PsephosError(_too_few(strata, weight, names))
    if len(rows) > n_candidates:
        groups = _groups(strata, hard, weight, None)
        sizes = [len(group) for group in groups.values()]
        shares = _shares(groups, sizes, n_candidates, 1.0, least=1)
        drawn = [
            generator.choice(group, share, replace=False)
            for group, share in zip(groups.values(), shares, strict=True)
        ]
        candidates = np.sort(np.concatenate(drawn))
    twin = np.full(len(strata), -1, dtype=np.intp)
    twin[candidates] = np.arange(len(candidates))
    echo = 1.0 - 1.0 / times
    return BatchRows(candidates, rows, weight[rows] / weight.sum(), twin[rows], echo[rows])


def _groups(
    strata: Indices, hard: NDArray[np.bool_], weight: Floats, max_fraction: float | None
) -> dict[int, Indices]:
    """Return the rows of each group that is not empty, by its number 2 * stratum + hard."""
    positive = weight > 0
    least = 0 if max_fraction is None else smallest_divided(max_fraction)
    divided = np.bincount(strata[positive], minlength=strata.max() + 1) >= least
    codes = 2 * strata + (hard & divided[strata])
    return {
        int(code): np.flatnonzero(positive & (codes == code)) for code in np.unique(codes[positive])
    }


def _shares(
    groups: dict[int, Indices], counts: list[int], n_candidates: int, max_fraction: float, *,
    least: int,
) -> Indices:  # fmt: skip
    """Return `group_shares`, at least one for each stratum that has a group of `least` rows."""
    sizes = np.array(counts, dtype=np.intp)
    shares = group_shares(sizes, n_candidates, max_fraction)
    _give_each_stratum_one(np.array(list(groups)) // 2, sizes, shares, least)
    return shares


def _give_each_stratum_one(strata: Indices, sizes: Indices, shares: Indices, least: int) -> None:
    """Give a stratum without a candidate one from its largest group, if this has `least` rows."""
    for stratum in np.unique(strata):
        own = np.flatnonzero(strata == stratum)
        largest = own[sizes[own].argmax()]
        if not shares[own].any() and sizes[largest] >= least:
            shares[largest] = 1


def _too_few(strata: Indices, weight: Floats, names: tuple[str, ...]) -> str:
    only = np.unique(strata[weight > 0])
    listed = ", ".join(names[s] if names else str(s) for s in only[:5])
    more = f" and {len(only) - 5} more" if len(only) > 5 else ""
    return (
        "at least one class must have two rows of positive weight, as a prototype is evaluated on "
        f"other rows of its class; each has one (classes {listed}{more})."
    )
