"""Bayesian votes over concepts: a hypothesis drawn from the posterior, and the vote of all."""

from typing import Any

import numpy as np

from psephos.bounds.hypotheses import hypotheses_of
from psephos.bounds.requirements import Asked, asked, constant_weights
from psephos.bounds.result import Bound

__all__ = ["gibbs_bound"]

_CELLS = 1 << 21


def gibbs_bound(model: Any, X: Any) -> Bound:
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
    size = max(1, _CELLS // (T * max(k, target.n_outputs)))
    for start in range(0, n, size):
        votes = one.vote.votes(one.values[start : start + size])
        flat = votes.reshape(-1, target.n_outputs)
        said = target.answers(flat)
        if not np.array_equal(flat, target.code[said]):
            raise one.refuse("a voter says no single class, and the theorem is of hypotheses.")
        heard = np.eye(k)[said].reshape(len(votes), T, k)
        p = np.einsum("t,ntk->nk", weights, heard)
        bayes += float((1.0 - p.max(axis=1)).sum())
        gibbs += float((1.0 - (p**2).sum(axis=1)).sum())
    return Bound(
        name="Gibbs error by the Bayes error",
        value=2.0 * bayes / n,
        of="the expected error of a hypothesis drawn from the posterior",
        source="Haussler, Kearns & Schapire (1994); Mitchell (1997), section 6.8",
        parts={"Bayes": bayes / n, "Gibbs": gibbs / n},
        assumes=(
            "weights are the posterior of a prior that the target was drawn from, and labels are "
            "as the hypotheses and the noise of that posterior say",
        ),
        trivial=one.guess,
    )


def _refuse_unless_posterior(one: Asked) -> None:
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


def _asked(model: Any, X: Any) -> Asked:
    """Return the vote and the cases; labels are not asked for."""
    vote: Any = getattr(model, "vote_", model)
    classes: Any = getattr(getattr(vote, "target", None), "classes", None)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    unknown = np.repeat(np.asarray([0] if classes is None else classes[:1]), n)
    return asked(model, X, unknown, "bound of the Gibbs error by the Bayes error")
