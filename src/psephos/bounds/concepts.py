"""Bounds of votes of hypotheses: of a version space, and of one drawn from a posterior."""

import math
from typing import Any, cast

import numpy as np

from psephos._types import LabelsLike, TableLike
from psephos.bounds import requirements
from psephos.bounds.formulas import binomial_inverse, gibbs_kl
from psephos.estimator.vote_estimator import VoteEstimator

_CELLS = 1 << 21


def version_space_bound(
    model: VoteEstimator, X: TableLike, y: LabelsLike, *, delta: float = 0.05
) -> requirements.Bound:
    """Return an upper limit of the error of the vote of all hypotheses that agree with the rows.

    H is the set of all conjunctions, V the subset that agrees with n rows, P uniform on H and Q
    uniform on V. No member of V errs on these rows, so with probability 1 - delta over their draw::

        Gibbs error <= kl^-1(0, [ln(|H| / |V|) + ln(xi(n) / delta)] / n)
        error of the vote <= 2 x Gibbs error

    A single hypothesis of V errs on at most ``1 - (delta / |H|)^(1 / n)`` (Occam). If rows were
    left out, use `pac_bayes_kl_bound` with rows='weights', which counts them as errors.

    Parameters
    ----------
    model : fitted VersionSpaceClassifier
        With two classes, categorical columns only, no row left out, and V listed or counted.
    X, y : table of shape (n, p), array of shape (n,)
        All rows that it was fitted on.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        If a hypothesis does not hold: for example, numeric columns were binned by the rows.

    References
    ----------
    McAllester (1999), "Some PAC-Bayesian theorems", with Seeger's kl form; Mitchell (1997),
    "Machine Learning", section 7.3.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import VersionSpaceClassifier
    >>> from psephos.bounds import version_space_bound
    >>> X = np.random.default_rng(0).integers(0, 2, (400, 3))
    >>> y = (X[:, 0] == 1) & (X[:, 1] == 0)
    >>> model = VersionSpaceClassifier(categorical_features=[0, 1, 2]).fit(X, y)
    >>> model.n_hypotheses_, round(version_space_bound(model, X, y).value, 3)
    ([1], 0.047)
    """
    one = requirements.evaluate(model, X, y, "version space bound")
    requirements.refuse_unless_binary(one)
    delta = requirements.checked_delta(delta)
    memory: Any = getattr(model, "memory_", None)
    facts, target = requirements.hypotheses_of(model), cast("Any", one.vote.target)
    if facts is None or not hasattr(memory, "left_out"):
        raise one.refuse("it has no version space. Give a fitted VersionSpaceClassifier.")
    if len(memory.left_out):
        raise one.refuse(
            "rows were left out because no hypothesis agreed with them and the others. "
            "pac_bayes_kl_bound with rows='weights' counts them as errors."
        )
    if facts.drawn:
        raise one.refuse(
            "the hypotheses that agree with the rows were too many to count, so a sample of them "
            "votes, and the bound is about the vote of all. Fit it on fewer columns."
        )
    divergence, assumes = requirements.of_hypotheses(one, facts, requirements.constant_weights(one))
    n = len(one.y)
    if memory.n_rows != n or (one.vote.answers(one.values) != target.classes[one.y]).any():
        raise one.refuse(
            "give all rows that the model was fitted on, and their labels (without rows of weight "
            "0, which a fit leaves out)."
        )
    size = facts.log_size
    gibbs = gibbs_kl(0.0, divergence, n, delta)
    return one.proved(
        name="version space bound",
        value=2.0 * gibbs,
        source="McAllester (1999), with Seeger's kl form",
        parts={
            "rows": float(n),
            "ln |H|": size,
            "KL = ln(|H| / |V|)": divergence,
            "Gibbs error": gibbs,
            "any hypothesis left, by itself": binomial_inverse(0, n, math.exp(-size) * delta),
        },
        assumes=assumes,
        delta=delta,
    )


def gibbs_bound(model: VoteEstimator, X: TableLike) -> requirements.Bound:
    """Return the bound on the Gibbs classifier by the Bayes-optimal vote: Gibbs <= 2 Bayes.

    p_k(x) is the posterior weight of the hypotheses that predict class k. If the target is drawn
    from the posterior, the vote errs at x with probability 1 - max p, and one hypothesis drawn from
    the posterior errs with probability 1 - sum p^2 <= 2 (1 - max p). For two classes this reads
    2 p (1 - p) <= 2 min(p, 1 - p).

    Parameters
    ----------
    model : fitted classifier of psephos, or Vote
        Its voters must each predict one class, and its weights must be their posterior:
        BayesOptimalClassifier, or VersionSpaceClassifier without rows left out. For a bare Vote
        this is assumed.
    X : table of shape (n, p)
        Cases over which the errors are averaged; no labels are needed.

    Returns
    -------
    bound : Bound
        ``value`` is 2 Bayes; ``parts`` holds the expected errors of both classifiers.

    Raises
    ------
    PsephosError
        If weights depend on the case or are not a posterior, or a voter predicts no single class.

    Notes
    -----
    It holds in expectation over targets drawn from the prior, not for every single target. If
    hypotheses were drawn (GibbsClassifier with `n_draws`, and spaces too large to count), weights
    are shares of the draws and not a posterior: such models raise an error. So do boosting,
    forests and all other models without a declared posterior.

    References
    ----------
    Haussler, Kearns & Schapire (1994), "Bounds on the sample complexity of Bayesian learning",
    Machine Learning 14; Mitchell (1997), section 6.8.
    """
    one = _cases(model, X)
    weights = requirements.constant_weights(one)
    if one.model is not one.vote:
        _refuse_unless_posterior(one)
    target: Any = one.vote.target  # of classes: `evaluate` refuses others
    T = one.vote.n_voters
    n, k = one.values.shape[0], target.n_classes
    bayes = gibbs = 0.0
    shares = np.zeros(k)
    size = max(1, _CELLS // (T * max(k, target.n_outputs)))
    for start in range(0, n, size):
        votes = one.vote.votes(one.values[start : start + size])
        flat = votes.reshape(-1, target.n_outputs)
        predicted = target.answers(flat)
        if not np.array_equal(flat, target.code[predicted]):
            raise one.refuse(
                "a voter predicts no single class, and the theorem is about hypotheses that do."
            )
        one_hot = np.eye(k)[predicted].reshape(len(votes), T, k)
        p = np.einsum("t,ntk->nk", weights, one_hot)
        bayes += float((1.0 - p.max(axis=1)).sum())
        gibbs += float((1.0 - (p**2).sum(axis=1)).sum())
        shares += p.sum(axis=0) / n
    return one.proved(
        name="Gibbs error by the Bayes error",
        value=2.0 * bayes / n,
        of="the expected error of a hypothesis drawn from the posterior",
        source="Haussler, Kearns & Schapire (1994); Mitchell (1997), section 6.8",
        parts={"Bayes": bayes / n, "Gibbs": gibbs / n},
        assumes=(
            "the target was drawn from the prior whose posterior the weights are, and labels "
            "follow that posterior's hypotheses and noise",
        ),
        trivial=requirements.constant_error(shares),
    )


def _refuse_unless_posterior(one: requirements.Evaluated) -> None:
    """Raise PsephosError unless the model declares that its weights are a posterior."""
    facts = requirements.hypotheses_of(one.model)
    if facts is None:
        raise one.refuse(
            "its weights are not the posterior of a prior over hypotheses. Give a "
            "BayesOptimalClassifier, whose weights are."
        )
    if facts.drawn:
        raise one.refuse(
            "its hypotheses were drawn at random, and their weights are shares of the draws, not "
            "the posterior. BayesOptimalClassifier has the posterior if hypotheses can be listed."
        )
    memory = getattr(one.model, "memory_", None)
    if len(getattr(memory, "left_out", ())):
        raise one.refuse(
            "rows were left out because no hypothesis agreed with them and the others, so weights "
            "are not the posterior given all rows. Use BayesOptimalClassifier with noise above 0."
        )


def _cases(model: Any, X: Any) -> requirements.Evaluated:
    """Return the vote and the cases, with a placeholder for their labels."""
    vote: Any = getattr(model, "vote_", model)
    classes: Any = getattr(getattr(vote, "target", None), "classes", None)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    unknown = np.repeat(np.asarray([0] if classes is None else classes[:1]), n)
    return requirements.evaluate(model, X, unknown, "bound of the Gibbs error by the Bayes error")
