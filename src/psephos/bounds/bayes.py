"""Bayesian votes over concepts: a hypothesis drawn from the posterior, and the vote of all."""

from typing import Any

import numpy as np

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
        Whose voters are hypotheses that say one class, and whose weights are their posterior.
    X : table of shape (n, p)
        Cases, over which the errors are averaged; no labels are needed.

    Returns
    -------
    bound : Bound
        ``value`` is 2 Bayes, the parts both expected errors.

    Raises
    ------
    PsephosError
        If weights depend on the case, or a voter says no single class.

    Notes
    -----
    It holds in expectation over targets drawn from the prior, and not for every single target.
    That weights are such a posterior cannot be read off the vote: boosting's are not.

    References
    ----------
    Haussler, Kearns & Schapire (1994), "Bounds on the sample complexity of Bayesian learning",
    Machine Learning 14; Mitchell (1997), section 6.8.
    """
    one = _asked(model, X)
    weights = constant_weights(one)
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
        name="Gibbs by Bayes",
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


def _asked(model: Any, X: Any) -> Asked:
    """Return the vote and the cases; labels are not asked for."""
    vote: Any = getattr(model, "vote_", model)
    classes: Any = getattr(getattr(vote, "target", None), "classes", None)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    unknown = np.repeat(np.asarray([0] if classes is None else classes[:1]), n)
    return asked(model, X, unknown, "bound of Gibbs by Bayes")
