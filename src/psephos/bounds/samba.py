"""SamBA's bounds: the error on the training rows (theorem 1), sample compression (2 to 4)."""

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import must_be
from psephos._types import Floats, Indices, LabelsLike, PerRow, TableLike
from psephos.bounds import requirements
from psephos.bounds.formulas import sample_compression
from psephos.estimator.labels import read_sample_weight
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.vote.part import Weighting
from psephos.vote.rows import columns_of

_STUMP, _SIMILARITY = 2, 1  # rows


def sample_compression_bound(
    model: VoteEstimator, X: TableLike, y: Any, *, theorem: int = 3, delta: float = 0.05
) -> requirements.Bound:
    """Return SamBA's sample-compression bound, for the variant of SamBA for which it holds.

    The sc-voters are v_ti(x) = h_t(x) a^b / (a^b + d(x_i, x)^b), in [-1, 1]. Each is a function of
    at most lambda of the m training rows, and Q is their share of the weight. With probability
    1 - delta over the rows (theorems 2 and 3)::

        R(vote) <= 2 R(Q) <= 2 (R_m(Q) + sqrt(w / (2 (m - lambda))))
        w = KL(Q || P) + 4 lambda + ln(2 sqrt(m - lambda) / delta)

    with R_m(Q) = (1 - mean of y E_Q v) / 2 on all m rows. Theorem 3 has T x K sc-voters with
    lambda = 3 (two rows for a stump, one for the similarity). Theorem 4 has one sc-voter per stump,
    the sum over the K anchors, with lambda = K + 3.

    Parameters
    ----------
    model : fitted CompressedSamBAClassifier
        Or any estimator whose attribute `sample_compression_` holds the same facts.
    X, y : table of shape (m, p), array of shape (m,)
        The rows of `fit`, in the same order. A model fitted with rows of weight 0 has no bound.
    theorem : {3, 4}, default=3
        4 needs `n_anchors` well below the number of rows.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        If a hypothesis does not hold, or there are more than two classes. `SamBAClassifier` always
        raises it: its stumps are searched over all weighted rows, its distance is on the columns
        that its voters read, divided by means over the training rows, and a prior over its T
        stumps is chosen after the data.

    Notes
    -----
    **For which SamBA it holds.** Each stump is determined by one column, two training rows (the
    threshold is half-way between them) and a message, the class predicted on each side. The prior
    is uniform over all such stumps, not over the T that were kept, times all rows as anchors, or K
    anchors drawn by index. Rows that coincide in class and in the columns of the distance are one
    sc-voter, with the sum of their priors. Columns and scales of the distance must be fixed before
    the data, and a must be above 0 (at 0 the scaled similarity is 0, and the bound 1 or more).

    **Corrections to the source.** (1) Theorem 4 prints R_D(B) <= 2 R_L(G) <= 2 (R_D(G) + ...):
    empirical and true risk are exchanged; corrected, as here, it has theorem 3's form. (2) Theorems
    2 to 4 are about voters in [-1, 1], but h m / (a^b + d^b) reaches m / a^b. Multiplied by a^b / m
    it is bounded, and the vote has the same sign; but where rows are far, in units of a, votes are
    near 0 and R_m(Q) is near 1/2. (3) "For any posterior P on I x Sigma" should be "prior". (4) Any
    prior means any that is fixed before the rows: a uniform one over the T m learned voters is not.
    (5) Equation (11) weighs anchors by pi_t[k], which depends on all rows, so its voter is not a
    function of K + 3 of them. The relevance omega_t[k], which depends only on stump and anchor, is
    used instead. Then K + 2 rows suffice; the printed K + 3, which is larger, is kept. (6) The
    proof of theorem 1 prints exp(1/e) - exp(-e) as -1.37: it is +1.38, and the sign before it is
    wrong, too.

    References
    ----------
    Bauvin et al. (2023), UAI, supplement, D.2 and D.3; Germain, Lacasse, Laviolette, Marchand &
    Roy (2015), JMLR 16, for theorem 2.
    """
    one = requirements.evaluate(model, X, y, "sample-compression bound")
    delta = requirements.checked_delta(delta)
    must_be("theorem", theorem, (3, 4))
    requirements.refuse_unless_binary(one)
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
            f"its voters are functions of {size} of {m} rows, and the bound needs other rows "
            "besides. Theorem 4 needs n_anchors well below the number of rows."
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
            requirements.INDEPENDENT,
            requirements.SETTINGS,
            "columns and unit of the distance were chosen before the rows",
        ),
        delta=delta,
    )


def _gibbs(one: requirements.Evaluated, scale: float) -> tuple[float, float]:
    """Return (Gibbs risk of the scaled sc-voters, error) on the rows."""
    score, mass = one.vote.score_and_mass(one.values)
    total = score[:, 0] * mass if one.vote.readout.score == "normalised" else score[:, 0]
    margin = np.where(one.y == 1, total, -total) * scale
    if bool((np.abs(margin) > 1.0 + 1e-9).any()):
        raise one.refuse("its votes lie beyond [-1, 1].")
    return float(0.5 * (1.0 - margin.mean())), float((margin <= 0).mean())


def _divergence(one: requirements.Evaluated, facts: Any, theorem: int) -> float:
    """Return KL(Q || P), with equal sc-voters counted as one.

    P is the same for each row as an anchor. Rows that coincide in class and in the columns of the
    distance are one sc-voter, with the sum of their priors.
    """
    q = facts.posterior(one.vote)  # (stumps that differ, K)
    if theorem == 4:
        q, number = q.sum(axis=1), float(facts.n_candidates)
        return requirements.relative_entropy(q, np.full(len(q), -math.log(number)))
    weighting: Any = one.vote.weighting
    own = _keys(weighting.anchors, weighting.anchor_class)
    every = own  # anchors that were drawn: each is one of them
    if facts.n_anchors == facts.n_rows:
        every = _keys(columns_of(one.values, weighting.columns), one.y)
    times = Counter(every)
    different = list(dict.fromkeys(own))
    index = np.array([different.index(key) for key in own])
    merged = np.zeros((len(q), len(different)))
    np.add.at(merged.T, index, q.T)
    share = np.log([times[key] for key in different]) - math.log(facts.n_voters)
    return requirements.relative_entropy(merged.ravel(), np.tile(share, len(q)))


def _keys(rows: Floats, classes: Indices) -> list[tuple[bytes, int]]:
    pairs = zip(rows + 0.0, classes.tolist(), strict=True)
    return [(row.tobytes(), label) for row, label in pairs]


def _check(one: requirements.Evaluated, facts: Any) -> None:
    """Raise PsephosError unless the vote agrees with its stated facts."""
    weighting: Any = one.vote.weighting
    similarity: Any = weighting.local_similarity()
    if similarity is None or len(facts.candidate) != one.vote.n_voters:
        raise one.refuse("its weights are not local, or belong to other voters.")
    if similarity.a <= 0:
        raise one.refuse(
            "a is 0: scaled into [-1, 1], its votes are 0 everywhere except at their anchor."
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
            f"these are not the {facts.n_rows} rows that it was fitted on. Give the X and y of "
            "fit, in their order; where rows had weight 0, fit it again without them."
        )
    if similarity.per_query or bool((similarity.column_scale != 1.0).any()):
        raise one.refuse("its distance is scaled by the training rows.")


def _reasons(one: requirements.Evaluated) -> str:
    """Return the reasons, as far as the vote shows them, why the theorem does not hold for it."""
    weighting: Weighting = one.vote.weighting
    similarity: Any = weighting.local_similarity()
    reasons = [
        "its voters were found by all weighted rows (a stump's threshold, too), so none is a "
        "function of three of them",
        "a prior over the voters that were found is chosen after the data",
    ]
    if similarity is None:
        reasons.insert(0, "its weights are not SamBA's")
    elif np.array_equal(weighting.columns, one.vote.voters.columns):
        reasons.append("its distance is on the columns that these voters read")
    if similarity is not None and (similarity.per_query or similarity.scale != 1.0):
        reasons.append("distances are divided by a mean over the training rows")
    if similarity is not None and bool((similarity.column_scale != 1.0).any()):
        reasons.append("columns are divided by their spread over the training rows")
    if similarity is not None and similarity.a <= 0:
        reasons.append("a is 0")
    listed = "; ".join(reasons)
    return (
        f"{listed}. Fit CompressedSamBAClassifier, whose voters are functions of three rows and "
        "whose prior is over all possible voters, or use held_out_bound."
    )


# ---------------------------------------------------------------------- training error


class _Rounds(NamedTuple):
    """The contribution of each round to the margins of the rows, and the theorem that applies."""

    steps: Floats  # (m, T): y_i F_t(x_i)
    signs: Floats  # (m, T): y_i h_t(x_i)
    prior: Floats  # (m,): pi_1
    published: str  # whose published product holds: 'AdaBoost', 'SamBA' or ''


def training_error_bound(
    model: VoteEstimator, X: TableLike, y: LabelsLike, *, sample_weight: PerRow = None
) -> requirements.Bound:
    """Return the bound on the training error of a boosted vote, its rounds replayed.

    With pi_1 the sample weights, F = sum_t F_t and pi_{t+1}(i) = pi_t(i) exp(-y_i F_t(x_i)) / Z_t::

        weighted training error <= product over t of Z_t

    For AdaBoost F_t = alpha_t h_t / 2, so that Z_t = 2 sqrt(eps_t (1 - eps_t)) and the product is
    at most exp(-2 sum gamma_t^2), gamma_t = 1/2 - eps_t. For SamBA at a = 0 F_t(x_i) is
    omega_t[i] h_t(x_i), Z_t = exp(1/e) eps_t + exp(-e) (1 - eps_t), and the product is at most
    prod (1 - gamma_t) <= exp(-sum gamma_t): theorem 1 of its supplement. It depends only on the
    fitted vote, not on how its voters were found.

    Parameters
    ----------
    model : fitted classifier of psephos, or Vote
        With two classes, and constant weights or SamBA's with a = 0 and every training row an
        anchor.
    X, y : table of shape (n, p), array of shape (n,)
        The rows of `fit`. With constant weights the inequality holds for any rows, and is about
        those given. SamBA's is about its anchors: other rows raise an error.
    sample_weight : array of shape (n,), default=None
        That of `fit`. For SamBA, class weights of the model are added by this function.

    Raises
    ------
    PsephosError
        If there are more than two classes, weights depend on the case in another way, or the rows
        are not the anchors of a local vote.

    Notes
    -----
    It says nothing about new cases. SamBA's error is that of the vote in which each training row is
    weighed by its own relevance (``vote_.anchor_scores()``), which depends on its label: it is
    right as soon as 11.9 % of the voters are. For AdaBoost fitted with criterion='gini', eps_t may
    exceed the smallest weighted error of a stump; the product holds all the same. The printed
    proof has a sign wrong: see `sample_compression_bound`. For voters with votes between -1 and 1,
    prod (1 - gamma_t) need not hold, though the paper's footnote claims it; prod Z_t does, and is
    the value. A relevance other than exp(h_t(x_i) y_i) is stored up to a factor that changes no
    prediction: it is scaled so that its maximum is e, as in SamBA.

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
    one = requirements.evaluate(model, X, y, "bound on the training error")
    requirements.refuse_unless_binary(one)
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
        trivial=requirements.constant_error(shares),
    )


def _constant(one: requirements.Evaluated, weight: Floats) -> _Rounds:
    requirements.constant_weights(one)
    signs = requirements.signed_votes(one)
    alpha = one.vote.constant_weights()
    assert alpha is not None  # else constant_weights raises
    prior = weight / weight.sum()
    steps = 0.5 * alpha * signs
    return _Rounds(steps, signs, prior, _adaboost(steps, signs, prior))


def _adaboost(steps: Floats, signs: Floats, prior: Floats) -> str:
    """Return 'AdaBoost' if each weight is AdaBoost's for its round's error, else ''."""
    z, epsilon = _replay(_Rounds(steps, signs, prior, ""))
    hard = bool((np.abs(signs) == 1.0).all())
    least = 2.0 * np.sqrt(epsilon * (1.0 - epsilon))
    return "AdaBoost" if hard and np.allclose(z, least, rtol=1e-9, atol=1e-12) else ""


def _local(one: requirements.Evaluated, X: TableLike, y: LabelsLike, weight: Floats) -> _Rounds:
    part: Any = one.vote.weighting
    similarity: Any = part.similarity
    if similarity.a != 0:
        raise one.refuse(
            f"a is {similarity.a:.4g}, and theorem 1 is about a = 0, where a training row is "
            "weighed only by its own relevance."
        )
    if one.model is not one.vote:  # with class weights and without rows of weight 0, as in `fit`
        table, labels, weight, _ = one.model.read(X, y, weight)
        one = one._replace(values=table.values, y=labels.y)
    kept, whole = float(part.anchor_weight.sum()), float(weight.sum())
    if not math.isclose(kept, whole, rel_tol=1e-9):
        raise one.refuse(
            f"its anchors weigh {kept:.6g} in all, and these rows {whole:.6g}. Theorem 1 needs "
            "every training row as an anchor (n_anchors=None), and the X, y and sample_weight of "
            "fit."
        )
    _refuse_others(one, part, weight)
    votes = one.vote.voters.select(part.columns).votes(part.anchors)[:, :, 0]
    signs = votes * np.where(part.anchor_class == 1, 1.0, -1.0)[:, None]
    ratio = part.expertise / np.exp(signs)
    known = np.allclose(ratio, ratio[0, 0], rtol=1e-9)
    named = "SamBA" if known else ""
    relevance = np.exp(signs) if known else part.expertise * (math.e / part.expertise.max())
    if named and not bool((np.abs(signs) == 1.0).all()):
        named = ""  # real-valued voters: prod (1 - gamma_t) need not be a bound
    return _Rounds(relevance * signs, signs, part.anchor_weight / kept, named)


def _refuse_others(one: requirements.Evaluated, part: Any, weight: Floats) -> None:
    """Raise PsephosError unless the rows, copies counted together, are the anchors."""
    rows = columns_of(one.values, part.columns)
    given, kept = (
        _weights_of(rows, one.y, weight),
        _weights_of(part.anchors, part.anchor_class, part.anchor_weight),
    )
    same = given.keys() == kept.keys()
    if not same or not all(math.isclose(given[k], kept[k], rel_tol=1e-9) for k in kept):
        raise one.refuse(
            "these are other rows than its anchors, the rows of fit. Give the X, y and "
            "sample_weight of fit."
        )


def _weights_of(rows: Floats, y: Any, weight: Floats) -> dict[tuple[bytes, int], float]:
    """Return the total weight of each distinct row and class."""
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
