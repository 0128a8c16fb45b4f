"""SamBA's bounds: the error on the training rows (theorem 1), sample compression (2 to 4)."""

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import must_be
from psephos._types import Floats, Indices, LabelsLike, PerRow, TableLike
from psephos.bounds.formulas import sample_compression
from psephos.bounds.requirements import (
    INDEPENDENT,
    SETTINGS,
    Bound,
    Evaluated,
    asked,
    checked_delta,
    constant_error,
    constant_weights,
    refuse_unless_binary,
    relative_entropy,
    signed_votes,
)
from psephos.estimator.labels import read_sample_weight
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.vote.part import Weighting
from psephos.vote.rows import columns_of

_STUMP, _SIMILARITY = 2, 1  # rows


def sample_compression_bound(
    model: VoteEstimator, X: TableLike, y: Any, *, theorem: int = 3, delta: float = 0.05
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
    over all of these there could be, not over the T that were kept; times all rows as anchors, or
    K drawn by number. Rows that coincide in class and the columns of the distance are one sc-voter,
    of the prior of all of them. A distance on columns and with scales fixed before the data. a
    above 0 (at 0 the scaled similarity is 0, and the bound 1 or more).

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
    must_be("theorem", theorem, (3, 4))
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


def _gibbs(one: Evaluated, scale: float) -> tuple[float, float]:
    """Return (Gibbs risk of the scaled sc-voters, error) on the rows."""
    score, mass = one.vote.score_and_mass(one.values)
    total = score[:, 0] * mass if one.vote.readout.score == "normalised" else score[:, 0]
    margin = np.where(one.y == 1, total, -total) * scale
    if bool((np.abs(margin) > 1.0 + 1e-9).any()):
        raise one.refuse("its voters answer beyond [-1, 1].")
    return float(0.5 * (1.0 - margin.mean())), float((margin <= 0).mean())


def _divergence(one: Evaluated, facts: Any, theorem: int) -> float:
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


def _keys(rows: Floats, classes: Indices) -> list[tuple[bytes, int]]:
    pairs = zip(rows + 0.0, classes.tolist(), strict=True)
    return [(row.tobytes(), label) for row, label in pairs]


def _check(one: Evaluated, facts: Any) -> None:
    """Raise PsephosError unless the vote shows what is stated of it."""
    weighting: Any = one.vote.weighting
    similarity: Any = weighting.local_similarity()
    if similarity is None or len(facts.candidate) != one.vote.n_voters:
        raise one.refuse("its weights are not local, or not of its voters.")
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


def _reasons(one: Evaluated) -> str:
    """Return why the theorem is not about a vote, as far as it shows."""
    weighting: Weighting = one.vote.weighting
    similarity: Any = weighting.local_similarity()
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


# ---------------------------------------------------------------------- training error


class _Rounds(NamedTuple):
    """What each round adds to a row's margin, and what the theorem says besides."""

    steps: Floats  # (m, T): y_i times what voter t adds to F(x_i)
    signs: Floats  # (m, T): y_i h_t(x_i)
    prior: Floats  # (m,): pi_1
    published: str  # of the two published products the one that is about it, or ''


def training_error_bound(
    model: VoteEstimator, X: TableLike, y: LabelsLike, *, sample_weight: PerRow = None
) -> Bound:
    """Return the bound on the training error of a boosted vote, its rounds replayed.

    With pi_1 the sample weights, F = sum_t F_t and pi_{t+1}(i) = pi_t(i) exp(-y_i F_t(x_i)) / Z_t::

        weighted training error <= product over t of Z_t

    For AdaBoost F_t = alpha_t h_t / 2, so that Z_t = 2 sqrt(eps_t (1 - eps_t)) and the product is
    at most exp(-2 sum gamma_t^2), gamma_t = 1/2 - eps_t. For SamBA at a = 0 F_t(x_i) is
    omega_t[i] h_t(x_i), Z_t = exp(1/e) eps_t + exp(-e) (1 - eps_t), and the product is at most
    prod (1 - gamma_t) <= exp(-sum gamma_t): theorem 1 of its supplement. The fitted vote is enough;
    how its voters were found does not matter.

    Parameters
    ----------
    model : fitted classifier of psephos, or Vote
        Of two classes; constant weights, or SamBA's with a = 0 and every training row an anchor.
    X, y : table of shape (n, p), array of shape (n,)
        The rows of `fit`. With constant weights the inequality holds of any rows, and is of those
        given; SamBA's is of the rows that the vote keeps, and others are refused.
    sample_weight : array of shape (n,), default=None
        That of `fit`; class weights of the model need not be given where SamBA is asked.

    Raises
    ------
    PsephosError
        If there are more than two classes, weights depend on the case in another way, or rows are
        others than the anchors of a local vote.

    Notes
    -----
    Nothing is said of new cases. SamBA's error is that of the vote in which each training row is
    weighed at its own place by its own relevance (``vote_.anchor_scores()``), which knows its
    label: it is right as soon as 11.9 % of the voters are. Of AdaBoost fitted with criterion='gini'
    an error eps_t may exceed what the least weighted error would be; the product holds all the
    same. The printed proof has a sign wrong: see `sample_compression_bound`. For voters that say
    numbers between -1 and 1, prod (1 - gamma_t) need not hold (the footnote claims it does); prod
    Z_t does, and is the value. A relevance other than exp(h_t(x_i) y_i) is stored up to a factor,
    which changes no answer: it is then taken so that the greatest is e, as SamBA's.

    References
    ----------
    Freund & Schapire (1997), J. Comput. System Sci. 55; Bauvin et al. (2023), UAI, supplement D.1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import AdaBoostClassifier
    >>> from psephos.bounds import training_error_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> found = training_error_bound(model, X, y)
    >>> bool(found.parts["error on the rows"] <= found.value < 0.4)
    True
    """
    one = asked(model, X, y, "bound on the training error")
    refuse_unless_binary(one)
    weight = read_sample_weight(sample_weight, len(one.y))
    part: Any = one.vote.weighting
    anchored = part.local_similarity() is not None
    rounds = _local(one, X, y, weight) if anchored else _constant(one, weight)
    error = float(rounds.prior[rounds.steps.sum(axis=1) <= 0].sum())
    shares = np.bincount(part.anchor_class if anchored else one.y, rounds.prior)
    z, epsilon = _replay(rounds)
    gamma = 0.5 - epsilon
    parts = {"error on the rows": error, "rounds": float(len(z))}
    if rounds.published == "SamBA":
        parts["product of 1 - gamma_t"] = float(np.prod(1.0 - gamma))
        parts["exp(-sum of gamma_t)"] = math.exp(-float(gamma.sum()))
    elif rounds.published == "AdaBoost":
        parts["exp(-2 sum of gamma_t^2)"] = math.exp(-2.0 * float((gamma**2).sum()))
    return one.proved(
        name="training error (theorem 1)",
        value=float(np.prod(z)),
        of="the weighted error on the training rows, each weighed at its own place"
        if anchored
        else "the error on these rows, by the weights given",
        source="Freund & Schapire (1997); Bauvin et al. (2023), supplement D.1",
        parts=parts,
        trivial=constant_error(shares),
    )


def _constant(one: Evaluated, weight: Floats) -> _Rounds:
    constant_weights(one)
    signs = signed_votes(one)
    alpha = one.vote.constant_weights()
    assert alpha is not None  # constant_weights has refused it
    prior = weight / weight.sum()
    steps = 0.5 * alpha * signs
    return _Rounds(steps, signs, prior, _adaboost(steps, signs, prior))


def _adaboost(steps: Floats, signs: Floats, prior: Floats) -> str:
    """Return 'AdaBoost' if each weight is what its round's error asks for, and so exp(-2 ...)."""
    z, epsilon = _replay(_Rounds(steps, signs, prior, ""))
    hard = bool((np.abs(signs) == 1.0).all())
    least = 2.0 * np.sqrt(epsilon * (1.0 - epsilon))
    return "AdaBoost" if hard and np.allclose(z, least, rtol=1e-9, atol=1e-12) else ""


def _local(one: Evaluated, X: TableLike, y: LabelsLike, weight: Floats) -> _Rounds:
    part: Any = one.vote.weighting
    similarity: Any = part.similarity
    if similarity.a != 0:
        raise one.refuse(
            f"a is {similarity.a:.4g}, and theorem 1 is about a = 0, where a training row is "
            "weighed by its own relevance alone."
        )
    if one.model is not one.vote:  # class weights, and rows of weight 0, as `fit` takes them
        table, labels, weight, _ = one.model.read(X, y, weight)
        one = one._replace(values=table.values, y=labels.y)
    kept, whole = float(part.anchor_weight.sum()), float(weight.sum())
    if not math.isclose(kept, whole, rel_tol=1e-9):
        raise one.refuse(
            f"its anchors weigh {kept:.6g} and these rows {whole:.6g}: theorem 1 needs every "
            "training row as an anchor (n_anchors=None), and the X, y and sample_weight of fit."
        )
    _refuse_others(one, part, weight)
    votes = one.vote.voters.select(part.columns).votes(part.anchors)[:, :, 0]
    signs = votes * np.where(part.anchor_class == 1, 1.0, -1.0)[:, None]
    ratio = part.expertise / np.exp(signs)
    known = np.allclose(ratio, ratio[0, 0], rtol=1e-9)
    named = "SamBA" if known else ""
    relevance = np.exp(signs) if known else part.expertise * (math.e / part.expertise.max())
    if named and not bool((np.abs(signs) == 1.0).all()):
        named = ""  # real-valued voters: 1 - gamma_t need not hold
    return _Rounds(relevance * signs, signs, part.anchor_weight / kept, named)


def _refuse_others(one: Evaluated, part: Any, weight: Floats) -> None:
    """Raise PsephosError unless the rows, copies counted together, are the anchors."""
    rows = columns_of(one.values, part.columns)
    given, kept = (
        _weights_of(rows, one.y, weight),
        _weights_of(part.anchors, part.anchor_class, part.anchor_weight),
    )
    same = given.keys() == kept.keys()
    if not same or not all(math.isclose(given[k], kept[k], rel_tol=1e-9) for k in kept):
        raise one.refuse(
            "these are other rows than its anchors, which are those of fit. Give the X, y and "
            "sample_weight of fit."
        )


def _weights_of(rows: Floats, y: Any, weight: Floats) -> dict[tuple[bytes, int], float]:
    """Return the weight of each different row and class."""
    found: dict[tuple[bytes, int], float] = {}
    for row, label, w in zip(rows + 0.0, y.tolist(), weight.tolist(), strict=True):
        key = row.tobytes(), int(label)
        found[key] = found.get(key, 0.0) + w
    return found


def _replay(rounds: _Rounds) -> tuple[Floats, Floats]:
    """Return each round's Z_t and weighted error eps_t."""
    pi = rounds.prior
    z, epsilon = np.empty(rounds.steps.shape[1]), np.empty(rounds.steps.shape[1])
    for t, (step, sign) in enumerate(zip(rounds.steps.T, rounds.signs.T, strict=True)):
        moved = pi * np.exp(-step)
        z[t], epsilon[t] = moved.sum(), float(pi @ (1.0 - sign)) / 2.0
        pi = moved / z[t]
    return z, epsilon
