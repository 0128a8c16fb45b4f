"""What can be proved of votes of hypotheses: those left by the rows, one drawn against all."""

import math
from typing import Any, cast

import numpy as np

from psephos._types import LabelsLike, TableLike
from psephos.bounds.formulas import binomial_inverse, gibbs_kl
from psephos.bounds.requirements import (
    Bound,
    Evaluated,
    asked,
    checked_delta,
    constant_error,
    constant_weights,
    hypotheses_of,
    of_hypotheses,
    refuse_unless_binary,
)
from psephos.estimator.vote_estimator import VoteEstimator

_CELLS = 1 << 21


def version_space_bound(
    model: VoteEstimator, X: TableLike, y: LabelsLike, *, delta: float = 0.05
) -> Bound:
    """Return a limit of the error of the vote of all hypotheses that agree with the rows.

    With H the conjunctions there were, V those left by n rows, Q uniform on V and P uniform on H,
    no member of V errs on the rows, so that with probability 1 - delta over their draw::

        Gibbs error <= kl^-1(0, [ln(|H| / |V|) + ln(xi(n) / delta)] / n)
        error of the vote <= 2 x Gibbs error

    and by itself (Occam) any hypothesis of V errs on at most ``1 - (delta / |H|)^(1 / n)``. Where
    rows were left out, `pac_bayes_kl_bound` with rows='weights' counts them as errors.

    Parameters
    ----------
    model : fitted VersionSpaceClassifier
        Of two classes, its columns categories, no row left out, V listed or counted.
    X, y : table of shape (n, p), array of shape (n,)
        All rows that it was fitted on.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        If something is not so: bins of numbers, which the rows placed, among others.

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
    one = asked(model, X, y, "version space bound")
    refuse_unless_binary(one)
    delta = checked_delta(delta)
    memory: Any = getattr(model, "memory_", None)
    facts, target = hypotheses_of(model), cast("Any", one.vote.target)
    if facts is None or not hasattr(memory, "left_out"):
        raise one.refuse("it keeps no version space.")
    if len(memory.left_out):
        raise one.refuse(
            "rows were left out because no hypothesis agreed with them and the others. "
            "pac_bayes_kl_bound with rows='weights' counts them as errors."
        )
    if facts.drawn:
        raise one.refuse(
            "the hypotheses left were too many to count, and a sample of them votes: the bound is "
            "about the vote of all. Give fewer columns."
        )
    divergence, assumes = of_hypotheses(one, facts, constant_weights(one))
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


def gibbs_bound(model: VoteEstimator, X: TableLike) -> Bound:
    """Return the bound on the Gibbs classifier by the Bayes-optimal vote: Gibbs <= 2 Bayes.

    With p_k(x) the posterior weight of the hypotheses that say class k, of targets drawn from the
    posterior the vote errs at x with 1 - max p, and one hypothesis drawn from it with
    1 - sum p^2 <= 2 (1 - max p): 2 p (1 - p) <= 2 min(p, 1 - p) for two classes.

    Parameters
    ----------
    model : fitted classifier of psephos, or Vote
        Whose voters are hypotheses that say one class, and whose weights are their posterior:
        BayesOptimalClassifier, or VersionSpaceClassifier without rows left out. Of a vote by itself
        this is assumed.
    X : table of shape (n, p)
        Cases, over which the errors are averaged; no labels are needed.

    Returns
    -------
    bound : Bound
        ``value`` is 2 Bayes, the parts both expected errors.

    Raises
    ------
    PsephosError
        If weights depend on the case or are no posterior, or a voter says no single class.

    Notes
    -----
    It holds in expectation over targets drawn from the prior, and not for every single target.
    Hypotheses that were drawn have shares of draws as weights (GibbsClassifier with `n_draws`, and
    spaces too large to count), which are no posterior: such models are refused, and so are
    boosting, forests and all others that declare none.

    References
    ----------
    Haussler, Kearns & Schapire (1994), "Bounds on the sample complexity of Bayesian learning",
    Machine Learning 14; Mitchell (1997), section 6.8.
    """
    one = _asked(model, X)
    weights = constant_weights(one)
    if one.model is not one.vote:
        _refuse_unless_posterior(one)
    target: Any = one.vote.target  # of classes: asked has refused others
    T = one.vote.n_voters
    n, k = one.values.shape[0], target.n_classes
    bayes = gibbs = 0.0
    shares = np.zeros(k)
    size = max(1, _CELLS // (T * max(k, target.n_outputs)))
    for start in range(0, n, size):
        votes = one.vote.votes(one.values[start : start + size])
        flat = votes.reshape(-1, target.n_outputs)
        said = target.answers(flat)
        if not np.array_equal(flat, target.code[said]):
            raise one.refuse("a voter says no single class, and the theorem is of hypotheses.")
        says = np.eye(k)[said].reshape(len(votes), T, k)
        p = np.einsum("t,ntk->nk", weights, says)
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
            "weights are the posterior of a prior that the target was drawn from, and labels are "
            "as the hypotheses and the noise of that posterior say",
        ),
        trivial=constant_error(shares),
    )


def _refuse_unless_posterior(one: Evaluated) -> None:
    """Raise PsephosError unless the model says that its weights are a posterior."""
    facts = hypotheses_of(one.model)
    if facts is None:
        raise one.refuse(
            "its weights are not the posterior of a prior over hypotheses, as those of "
            "BayesOptimalClassifier are."
        )
    if facts.drawn:
        raise one.refuse(
            "its hypotheses were drawn, and their weights are shares of the draws, not the "
            "posterior. BayesOptimalClassifier has the posterior, where hypotheses can be listed."
        )
    memory = getattr(one.model, "memory_", None)
    if len(getattr(memory, "left_out", ())):
        raise one.refuse(
            "rows were left out because no hypothesis agreed with them and the others, so that "
            "weights are not the posterior of all rows. BayesOptimalClassifier with noise above 0 "
            "has it."
        )


def _asked(model: Any, X: Any) -> Evaluated:
    """Return the vote and the cases; labels are not asked for."""
    vote: Any = getattr(model, "vote_", model)
    classes: Any = getattr(getattr(vote, "target", None), "classes", None)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    unknown = np.repeat(np.asarray([0] if classes is None else classes[:1]), n)
    return asked(model, X, unknown, "bound of the Gibbs error by the Bayes error")
