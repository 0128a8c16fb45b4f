"""Bounds by a prior chosen before the rows were seen: PAC-Bayes-kl, C-bound, tandem bound."""

from typing import Any

import numpy as np

from psephos._errors import must_be
from psephos._types import Floats, LabelsLike, NDArray, TableLike
from psephos.bounds import requirements
from psephos.bounds.formulas import c_bound_1, c_bound_2, c_bound_value, gibbs_kl, tandem_kl
from psephos.estimator.vote_estimator import VoteEstimator

_ROWS = ("held-out", "weights", "out-of-bag", "training")


def c_bound(model: VoteEstimator, X: TableLike, y: LabelsLike) -> requirements.Bound:
    """Return the C-bound of a vote: a limit of its error on the given rows, from their margins.

    With M = y F(x), F the weighted mean of votes in [-1, 1], R the Gibbs risk and d the
    disagreement of two voters drawn by weight::

        P(M <= 0) <= 1 - E[M]^2 / E[M^2] = 1 - (1 - 2 R)^2 / (1 - 2 d)

    It always holds, but only for these rows: for new cases use `pac_bayes_c_bound`.

    Parameters
    ----------
    model : fitted classifier of psephos, or Vote
        With two classes, constant weights and votes in [-1, 1].
    X : table of shape (n, p)
    y : array of shape (n,)

    Raises
    ------
    PsephosError
        If the model is not such a vote; the message gives the reason.

    References
    ----------
    Lacasse, Laviolette, Marchand, Germain & Usunier (2006), "PAC-Bayes bounds for the risk of the
    majority vote and the variance of the Gibbs classifier"; Germain et al. (2015), JMLR 16.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import RandomForestClassifier
    >>> from psephos.bounds import c_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> found = c_bound(model, X[1::2], y[1::2])
    >>> found.value >= 1 - model.score(X[1::2], y[1::2])
    True
    """
    one = requirements.evaluate(model, X, y, "C-bound")
    requirements.refuse_unless_binary(one)
    weights = requirements.constant_weights(one)
    risk, disagreement, margin = _moments(requirements.signed_votes(one), weights)
    return one.proved(
        name="C-bound",
        value=c_bound_value(risk, disagreement),
        of="the error of the vote on these rows",
        source="Germain et al. (2015), JMLR 16",
        parts={
            "error on the rows": float((margin <= 0).mean()),
            "Gibbs risk": risk,
            "disagreement": disagreement,
            "rows": float(len(one.y)),
        },
    )


def pac_bayes_kl_bound(
    model: VoteEstimator,
    X: TableLike,
    y: LabelsLike,
    *,
    rows: str = "held-out",
    prior: Floats | None = None,
    delta: float = 0.05,
) -> requirements.Bound:
    """Return the PAC-Bayes-kl bound of a vote: twice an upper limit of the Gibbs risk.

    For a prior P over the voters that was chosen before the rows were seen, with probability
    1 - delta over n independent rows, for every distribution Q of weights::

        kl(R_n || R) <= (KL(Q || P) + ln(xi(n) / delta)) / n,   error of the vote <= 2 R

    with R the Gibbs risk, the error of a voter drawn from Q.

    Parameters
    ----------
    model : fitted classifier of psephos, or Vote
        With two classes, constant weights and votes in [-1, 1].
    X, y : table of shape (n, p), array of shape (n,)
    rows : {'held-out', 'weights', 'out-of-bag', 'training'}, default='held-out'
        How the model used the rows. held-out: not at all. weights: only for the weights; the voters
        were fixed before, as are the hypotheses of BayesOptimalClassifier, GibbsClassifier and
        VersionSpaceClassifier if all columns are categories. out-of-bag: these are the rows of
        `fit`, and each voter is evaluated on those it was not grown on; `n` is the smallest number
        of such rows of a voter. training: for the voters themselves; always an error.
    prior : {'uniform', 'weights'} or array of shape (n_voters,), default=None
        P. None means 'weights' for held-out rows (Q itself, so KL = 0) and 'uniform' for out-of-bag
        rows. With rows='weights' it must be given, except for models of hypotheses, whose own
        prior over all hypotheses is used.
    delta : float, default=0.05
        The probability that the bound fails.

    Raises
    ------
    PsephosError
        If a hypothesis does not hold: more than two classes; weights that depend on the case; votes
        beyond [-1, 1]; rows that the voters were learned on, so that any prior over the voters was
        chosen after the data; rows given as held-out that equal training rows.

    Notes
    -----
    Held-out rows can be checked only against the training rows that the model keeps (at most 512,
    none in a loaded model). What cannot be checked is listed in ``assumes``.

    References
    ----------
    Langford & Seeger (2001), "Bounds for averaging classifiers"; Maurer (2004), "A note on the PAC
    Bayesian theorem", for xi; Germain et al. (2015), JMLR 16.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import RandomForestClassifier
    >>> from psephos.bounds import pac_bayes_kl_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> found = pac_bayes_kl_bound(model, X[1::2], y[1::2])
    >>> bool(found.parts["error on the rows"] < found.value < 0.5)
    True
    """
    one = requirements.evaluate(model, X, y, "PAC-Bayes-kl bound")
    requirements.refuse_unless_binary(one)
    weights = requirements.constant_weights(one)
    delta = requirements.checked_delta(delta)
    divergence, assumes = _prior_and_rows(one, weights, rows, prior, "pac_bayes_kl_bound")
    loss, error = requirements.losses(one), {}
    if rows == "out-of-bag":
        out = requirements.out_of_bag_rows(one, X, y)
        counts = out.sum(axis=1)
        n, here = int(counts.min()), slice(len(weights))
        if n < 1:
            raise one.refuse(
                "a voter has no out-of-bag row. Grow each voter on fewer rows (max_samples)."
            )
        risk = float(weights @ ((loss.T * out[here]).sum(axis=1) / counts[here]))
    else:
        n, risk = len(one.y), float((loss @ weights).mean())
        error = {"error on the rows": float((loss @ weights >= 0.5).mean())}
    gibbs = gibbs_kl(risk, divergence, n, delta)
    return one.proved(
        name="PAC-Bayes-kl",
        value=2.0 * gibbs,
        source="Maurer (2004); Germain et al. (2015), JMLR 16",
        parts={
            **error,
            "Gibbs risk on the rows": risk,
            "Gibbs risk is at most": gibbs,
            "KL(Q || P)": divergence,
            "rows": float(n),
        },
        assumes=assumes,
        delta=delta,
    )


def pac_bayes_c_bound(
    model: VoteEstimator,
    X: TableLike,
    y: LabelsLike,
    *,
    version: int = 2,
    rows: str = "held-out",
    prior: Floats | None = None,
    delta: float = 0.05,
) -> requirements.Bound:
    """Return the C-bound of a vote on new cases: PAC-Bound 1 or 2 of Germain et al.

    Version 1 is the C-bound at an upper limit of the Gibbs risk and a lower limit of the
    disagreement, each at delta / 2. Version 2 is the greatest C-bound over all joint errors and
    disagreements whose divergence (of three outcomes) from the observed ones is at most
    (2 KL(Q || P) + ln((xi(n) + n) / delta)) / n.

    Parameters
    ----------
    model, X, y
        As in `pac_bayes_kl_bound`.
    version : {1, 2}, default=2
    rows : {'held-out', 'weights', 'training'}, default='held-out'
        As in `pac_bayes_kl_bound`; 'out-of-bag' is an error, because these rows differ by voter.
    prior : {'uniform', 'weights'} or array of shape (n_voters,), default=None
        As in `pac_bayes_kl_bound`.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        As `pac_bayes_kl_bound`.

    References
    ----------
    Germain, Lacasse, Laviolette, Marchand & Roy (2015), "Risk bounds for the majority vote: from a
    PAC-Bayesian analysis to a learning algorithm", JMLR 16, PAC-Bounds 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import RandomForestClassifier
    >>> from psephos.bounds import pac_bayes_c_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> found = pac_bayes_c_bound(model, X[1::2], y[1::2])
    >>> round(found.value, 2), round(found.trivial, 2), found.vacuous
    (0.44, 0.39, True)
    """
    one = requirements.evaluate(model, X, y, "PAC-Bayes C-bound")
    requirements.refuse_unless_binary(one)
    weights = requirements.constant_weights(one)
    delta = requirements.checked_delta(delta)
    must_be("version", version, (1, 2))
    if rows == "out-of-bag":
        raise one.refuse(
            "it needs the same rows for all voters, and out-of-bag rows differ by voter. Use "
            "tandem_bound for them."
        )
    divergence, assumes = _prior_and_rows(one, weights, rows, prior, "pac_bayes_c_bound")
    risk, disagreement, margin = _moments(requirements.signed_votes(one), weights)
    formula = c_bound_1 if version == 1 else c_bound_2
    n = len(one.y)
    return one.proved(
        name=f"PAC-Bayes C-bound {version}",
        value=formula(risk, disagreement, divergence, n, delta),
        source=f"Germain et al. (2015), JMLR 16, PAC-Bound {version}",
        parts={
            "error on the rows": float((margin <= 0).mean()),
            "Gibbs risk on the rows": risk,
            "disagreement on the rows": disagreement,
            "C-bound on the rows": c_bound_value(risk, disagreement),
            "KL(Q || P)": divergence,
            "rows": float(n),
        },
        assumes=assumes,
        delta=delta,
    )


def tandem_bound(
    model: VoteEstimator,
    X: TableLike,
    y: LabelsLike,
    *,
    rows: str = "out-of-bag",
    prior: Floats | None = None,
    delta: float = 0.05,
) -> requirements.Bound:
    """Return the tandem bound: four times a limit of the probability that two voters err together.

    It bounds the error of a bag or forest from its training rows only: each pair of voters is
    evaluated on the rows that neither was grown on. It takes into account that voters correct
    each other; twice the Gibbs risk does not.

    With l_t(x, y) the share of voter t's vote for wrong classes (0 or 1 if it predicts one class),
    and L_st the mean of l_s l_t over the n_st rows that neither s nor t was grown on::

        error of the vote <= 4 E_QQ[l_s l_t] <= 4 kl^-1(sum_st q_s q_t L_st,
                                                        (2 KL(Q || P) + ln(xi(n) / delta)) / n)

    where n is the smallest n_st. It holds for any number of classes.

    Parameters
    ----------
    model : fitted classifier of psephos, or Vote
        With constant weights, and voters that predict classes or shares of classes.
    X, y : table of shape (n, p), array of shape (n,)
        For out-of-bag rows, those of `fit`.
    rows : {'out-of-bag', 'held-out', 'weights', 'training'}, default='out-of-bag'
        How the model used the rows: see `pac_bayes_kl_bound`.
    prior : {'uniform', 'weights'} or array of shape (n_voters,), default=None
        See `pac_bayes_kl_bound`. A forest's weights are uniform, so KL = 0. After `shrink`, the
        prior and the smallest overlap `n` are over all voters before the reduction.
    delta : float, default=0.05
        The probability that the bound fails, over the draw of the rows and the bootstrap samples.

    Raises
    ------
    PsephosError
        If weights depend on the case, votes lie beyond [-1, 1], two voters have no common
        out-of-bag row, or the rows were not used as `rows` states.

    Notes
    -----
    With few rows or many voters the smallest overlap is small: two bootstrap samples of 60 rows
    leave out 8 rows in common on average, but the smallest of 4,950 pairs perhaps 1. The bound is
    then vacuous, and `held_out_bound` on a third of the rows is tighter. A smaller `max_samples`
    leaves more rows out.

    References
    ----------
    Masegosa, Lorenzen, Igel & Seldin (2020), "Second order PAC-Bayesian bounds for the weighted
    majority vote", NeurIPS. Shares in place of 0 and 1: by Markov's inequality on the square of
    the mean loss, which is 1/2 or more where the vote is wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import RandomForestClassifier
    >>> from psephos.bounds import tandem_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(30, max_samples=0.5, random_state=0).fit(X, y)
    >>> found = tandem_bound(model, X, y)
    >>> round(found.value, 2), round(found.trivial, 2), found.vacuous
    (0.41, 0.37, True)
    """
    one = requirements.evaluate(model, X, y, "tandem bound")
    weights = requirements.constant_weights(one)
    delta = requirements.checked_delta(delta)
    divergence, assumes = _prior_and_rows(one, weights, rows, prior, "tandem_bound")
    parts: dict[str, float] = {}
    if rows == "out-of-bag":
        both, wrong = _pairs(one, requirements.out_of_bag_rows(one, X, y))
        n = int(both.min())
        if n < 1:
            s, t = np.unravel_index(int(both.argmin()), both.shape)
            raise one.refuse(
                f"voters {s + 1} and {t + 1} have no row that neither was grown on. Grow fewer "
                "voters, or each on fewer rows (max_samples)."
            )
        pairs = wrong / both[: len(wrong), : len(wrong)]
    else:
        n, loss = len(one.y), requirements.losses(one)
        pairs = loss.T @ loss / n
        parts["error on the rows"] = float((loss @ weights >= 0.5).mean())
    tandem = float(weights @ pairs @ weights)
    return one.proved(
        name="tandem bound",
        value=tandem_kl(tandem, divergence, n, delta),
        source="Masegosa et al. (2020), NeurIPS",
        parts={
            **parts,
            "tandem loss on the rows": tandem,
            "KL(Q || P)": divergence,
            "rows of the pair that shares fewest": float(n),
        },
        assumes=assumes,
        delta=delta,
    )


def _prior_and_rows(
    one: requirements.Evaluated, weights: Floats, rows: str, prior: Any, function: str
) -> tuple[float, tuple[str, ...]]:
    """Return (KL(Q || P), assumptions); raise if rows or prior do not fit the theorem."""
    must_be("rows", rows, _ROWS)
    facts = requirements.hypotheses_of(one.model)
    if rows == "training" and facts is not None and facts.kind != "bins":
        raise one.refuse(
            "its hypotheses were fixed before the rows were seen, but their weights were not. Use "
            "rows='weights', whose prior is over all hypotheses."
        )
    if rows == "training":
        raise one.refuse(
            "the voters were learned on these rows, so any prior over them, even a uniform one, is "
            "chosen after the data. Give rows that it was not fitted on or, if it is a forest or "
            f"bag, its training rows as {function}(..., rows='out-of-bag') where that is accepted."
        )
    if rows == "out-of-bag":
        dropped = len(getattr(getattr(one.model, "memory_", None), "dropped", ()))
        prior = "uniform" if prior is None else prior
        divergence = requirements.divergence_of(one, prior, weights, dropped)
        return divergence, (
            requirements.INDEPENDENT,
            requirements.SETTINGS,
            requirements.OUT_OF_BAG,
        )
    if rows == "held-out":
        divergence = requirements.divergence_of(one, "weights" if prior is None else prior, weights)
        assumed = "the rows are held out: neither voters, weights nor settings were chosen by them"
        return divergence, (requirements.INDEPENDENT, requirements.refuse_seen(one, assumed))
    if facts is not None and not isinstance(prior, list | tuple | np.ndarray):
        if prior is not None:
            raise one.refuse(
                f"prior={prior!r} is over the hypotheses that the rows have left, and so "
                "depends on the data. Use prior=None, the model's own prior over all hypotheses."
            )
        return requirements.of_hypotheses(one, facts, weights)
    if prior is None or (isinstance(prior, str) and prior == "weights"):
        raise one.refuse(
            "weights that were learned on these rows cannot be their own prior: give a prior that "
            "was chosen before, prior='uniform' or one number per voter."
        )
    assumed = "all voters with a prior above 0 were fixed before the rows were seen"
    return requirements.divergence_of(one, prior, weights), (
        requirements.INDEPENDENT,
        requirements.refuse_seen(one, assumed),
    )


def _moments(votes: Floats, weights: Floats) -> tuple[float, float, Floats]:
    """Return (Gibbs risk, disagreement, margins) from y h_t(x), (n, T)."""
    margin = votes @ weights
    return (float(0.5 * (1.0 - margin.mean())), float(0.5 * (1.0 - (margin**2).mean())), margin)


def _pairs(one: requirements.Evaluated, out: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return per pair of voters the number of common out-of-bag rows, and the sum of l_s l_t.

    Dropped voters (the last rows of `out`) are counted in the first only.
    """
    T = one.vote.n_voters
    both, wrong = np.zeros((len(out), len(out))), np.zeros((T, T))
    for part, loss in requirements.loss_blocks(one):
        left = out[:, part].astype(np.float64)
        both += left @ left.T
        lost = loss.T * left[:T]
        wrong += lost @ lost.T
    return both, wrong
