"""SamBA's generalisation bounds: sample compression (theorems 2 to 4 of its supplement)."""

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.bounds.formulas import sample_compression
from psephos.bounds.requirements import (
    INDEPENDENT,
    SETTINGS,
    Asked,
    asked,
    checked_delta,
    refuse_unless_binary,
    relative_entropy,
)
from psephos.bounds.result import Bound
from psephos.vote.part import field_of
from psephos.vote.rows import columns_of

_Floats = NDArray[np.float64]
_STUMP, _SIMILARITY = 2, 1  # rows


def sample_compression_bound(
    model: Any, X: Any, y: Any, *, theorem: int = 3, delta: float = 0.05
) -> Bound:
    """Return SamBA's sample-compression bound, for the variant of SamBA for which it holds.

    With sc-voters v_ti(x) = h_t(x) a^b / (a^b + d(x_i, x)^b), in [-1, 1], each a function of at
    most lambda of the m training rows, and Q their share of the weight, with probability
    1 - delta over the rows (theorems 2 and 3)::

        R(vote) <= 2 R(Q) <= 2 (R_m(Q) + sqrt(w / (2 (m - lambda))))
        w = KL(Q || P) + 4 lambda + ln(2 sqrt(m - lambda) / delta)

    with R_m(Q) = (1 - mean of y E_Q v) / 2 on all m rows. Theorem 3 has T x K sc-voters of
    lambda = 3 rows (two of a stump, one of the similarity); theorem 4 one per stump, which adds up
    the K anchors, of lambda = K + 3.

    Parameters
    ----------
    model : fitted CompressedSamBAClassifier
        Or any estimator whose attribute `sample_compression_` states the same facts.
    X, y : table of shape (m, p), array of shape (m,)
        The rows of `fit`, in their order. Of a model fitted with rows of weight 0 none serve.
    theorem : {3, 4}, default=3
        4 needs `n_anchors` well below the number of rows.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        If a hypothesis does not hold. `SamBAClassifier` is always refused, with the reasons that
        its vote shows: its stumps are searched over all weighted rows, its distance is on the
        columns that voters came to read, divided by means over the training rows, and a prior over
        its T stumps is chosen after the data. So are more than two classes.

    Notes
    -----
    **For which SamBA it holds.** Each stump is made of one column, two training rows (the threshold
    is half-way between them) and a message, who is answered on which side. The prior is uniform
    over all of these there could be, or over a pool drawn by number before labels are looked at
    (`n_candidates`), not over the T that were kept; times all rows as anchors, or K drawn by
    number. Rows that coincide in class and the columns of the distance are one sc-voter, of the
    prior of all of them. A distance on columns and with scales fixed before the data. a above 0
    (at 0 the scaled similarity is 0, and the bound 1 or more).

    **Corrections to the source.** (1) Theorem 4 prints R_D(B) <= 2 R_L(G) <= 2 (R_D(G) + ...):
    empirical and true risk are exchanged, and the other way round it is theorem 3's form, as here.
    (2) Theorems 2 to 4 are of voters in [-1, 1]; h m / (a^b + d^b) reaches m / a^b. Multiplied by
    a^b / m it is bounded, and the vote has the same sign; but where rows are far, in units of a,
    voters say nearly nothing and R_m(Q) is near 1/2. (3) "For any posterior P on I x Sigma" is the
    prior. (4) Any prior means any that is fixed before the rows: a uniform one over the T m voters
    that were learned is not. (5) Equation (11) weighs anchors by pi_t[k], which depends on all
    rows, so that its voter is no function of K + 3 of them; the relevance omega_t[k] depends on
    stump and anchor alone, and is used. Then K + 2 rows do, and the printed K + 3 is kept, which
    is larger. (6) The proof of theorem 1 prints exp(1/e) - exp(-e) as -1.37: it is +1.38, and the
    sign before it is wrong, too.

    References
    ----------
    Bauvin et al. (2023), UAI, supplement, D.2 and D.3; Germain, Lacasse, Laviolette, Marchand &
    Roy (2015), JMLR 16, for theorem 2.
    """
    one = asked(model, X, y, "sample-compression bound")
    delta = checked_delta(delta)
    if theorem not in (3, 4):
        raise PsephosError(f"theorem={theorem!r}: give 3 or 4.")
    refuse_unless_binary(one)
    facts: Any = getattr(model, "sample_compression_", None)
    if facts is None:
        raise one.refuse(_reasons(one))
    _check(one, facts)
    weighting: Any = one.vote.weighting
    total = float((weighting.anchor_weight @ weighting.expertise).sum())
    similarity = weighting.similarity
    m, K = len(one.y), len(weighting.anchors)
    gibbs, error = _gibbs(one, float(similarity.a) ** float(similarity.b) / total)
    divergence = _divergence(one, facts, theorem)
    size = _STUMP + _SIMILARITY if theorem == 3 else K + _STUMP + _SIMILARITY
    if size >= m:
        raise one.refuse(
            f"its voters are functions of {size} rows of {m}, and rows must be left. Theorem 4 "
            "needs n_anchors well below the number of rows."
            if theorem == 4
            else f"voters of {size} rows each leave none of {m}: give more rows."
        )
    limit = sample_compression(gibbs, divergence, m, size, delta)
    return one.proved(
        name=f"sample compression (theorem {theorem})",
        value=2.0 * limit,
        source="Bauvin et al. (2023), supplement D; Germain et al. (2015), JMLR 16",
        parts={
            "error on the rows": error,
            "Gibbs risk on the rows": gibbs,
            "Gibbs risk is at most": limit,
            "KL(Q || P)": divergence,
            "lambda": float(size),
            "rows": float(m),
        },
        assumes=(
            INDEPENDENT,
            SETTINGS,
            "columns and unit of the distance were chosen before the rows",
        ),
        delta=delta,
    )


def _gibbs(one: Asked, scale: float) -> tuple[float, float]:
    """Return (Gibbs risk of the scaled sc-voters, error) on the rows."""
    score, mass = one.vote.score_and_mass(one.values)
    total = score[:, 0] * mass if one.vote.readout.score == "normalised" else score[:, 0]
    margin = np.where(one.y == 1, total, -total) * scale
    if bool((np.abs(margin) > 1.0 + 1e-9).any()):
        raise one.refuse("its voters answer beyond [-1, 1].")
    return float(0.5 * (1.0 - margin.mean())), float((margin <= 0).mean())


def _divergence(one: Asked, facts: Any, theorem: int) -> float:
    """Return KL(Q || P), equal sc-voters being one.

    P gives each row as an anchor the same: rows that coincide in class and the columns of the
    distance are one sc-voter, and have the prior of all of them together.
    """
    q = facts.posterior(one.vote)  # (stumps that differ, K)
    if theorem == 4:
        q, number = q.sum(axis=1), float(facts.n_candidates)
        return relative_entropy(q, np.full(len(q), -math.log(number)))
    weighting: Any = one.vote.weighting
    own = _keys(weighting.anchors, weighting.anchor_class)
    every = own  # anchors that were drawn: each is one of them
    if facts.n_anchors == facts.n_rows:
        every = _keys(columns_of(one.values, weighting.columns), one.y)
    times = Counter(every)
    different = list(dict.fromkeys(own))
    place = np.array([different.index(key) for key in own])
    merged = np.zeros((len(q), len(different)))
    np.add.at(merged.T, place, q.T)
    share = np.log([times[key] for key in different]) - math.log(facts.n_voters)
    return relative_entropy(merged.ravel(), np.tile(share, len(q)))


def _keys(rows: _Floats, classes: NDArray[np.intp]) -> list[tuple[bytes, int]]:
    pairs = zip(rows + 0.0, classes.tolist(), strict=True)
    return [(row.tobytes(), label) for row, label in pairs]


def _check(one: Asked, facts: Any) -> None:
    """Raise PsephosError unless the vote shows what is stated of it."""
    weighting: Any = one.vote.weighting
    similarity: Any = field_of(weighting, "similarity")
    if similarity is None or len(facts.candidate) != one.vote.n_voters:
        raise one.refuse("its weights are not local, or not of the voters that were drawn.")
    if similarity.a <= 0:
        raise one.refuse(
            "a = 0: scaled into [-1, 1], its voters say 0 everywhere else than at their anchor."
        )
    rows = np.asarray(facts.voter_rows)
    if rows.ndim != 2 or rows.shape[1] > _STUMP or len(rows) != one.vote.n_voters:
        raise one.refuse("its voters are functions of more than two rows each.")
    at = np.asarray(facts.anchor_rows)
    same = (
        facts.n_rows == len(one.y)
        and int(at.max()) < len(one.y)
        and np.array_equal(
            columns_of(one.values[at], weighting.columns), weighting.anchors, equal_nan=True
        )
        and np.array_equal(one.y[at], weighting.anchor_class)
    )
    if not same:
        raise one.refuse(
            f"it was fitted on {facts.n_rows} rows of which its anchors are some, and these are "
            "others. Give the X and y of fit, in their order; where rows had weight 0, fit it "
            "again without them."
        )
    if similarity.per_query or bool((similarity.column_scale != 1.0).any()):
        raise one.refuse("its distance is scaled by the training rows.")


def _reasons(one: Asked) -> str:
    """Return why the theorem is not about a vote, as far as it shows."""
    weighting: Any = one.vote.weighting
    similarity: Any = field_of(weighting, "similarity")
    reasons = [
        "its voters were found by all weighted rows (a stump's threshold, too), so that none is a "
        "function of three of them",
        "a prior over the voters that were found is chosen after the data",
    ]
    if similarity is None:
        reasons.insert(0, "its weights are not SamBA's")
    elif np.array_equal(weighting.columns, one.vote.voters.columns):
        reasons.append("its distance is on the columns that these voters came to read")
    if similarity is not None and (similarity.per_query or similarity.scale != 1.0):
        reasons.append("distances are divided by a mean over the training rows")
    if similarity is not None and bool((similarity.column_scale != 1.0).any()):
        reasons.append("columns are divided by their spread over the training rows")
    if similarity is not None and similarity.a <= 0:
        reasons.append("a is 0")
    listed = "; ".join(reasons)
    return (
        f"{listed}. Fit CompressedSamBAClassifier, whose voters are functions of three rows and "
        "whose prior is over all there could be, or ask held_out_bound."
    )
