"""What can be proved of a version space: how little its vote may err on new cases."""

import math
from typing import Any, cast

from psephos.bounds.formulas import gibbs_kl
from psephos.bounds.hypotheses import hypotheses_of, of_hypotheses
from psephos.bounds.numerics import binomial_inverse
from psephos.bounds.requirements import (
    asked,
    checked_delta,
    constant_weights,
    refuse_unless_binary,
)
from psephos.bounds.result import Bound

__all__ = ["version_space_bound"]


def version_space_bound(model: Any, X: Any, y: Any, *, delta: float = 0.05) -> Bound:
    """Return a limit of the error of the vote of all hypotheses that agree with the rows.

    With H the conjunctions there were, V those left by n rows, Q uniform on V and P uniform on H,
    no member of V errs on the rows, so that with probability 1 - delta over their draw::

        Gibbs error <= kl^-1(0, [ln(|H| / |V|) + ln(xi(n) / delta)] / n)
        error of the vote <= 2 x Gibbs error

    and by itself (Occam) any hypothesis of V errs on at most 1 - (delta / |H|)^(1 / n). Where rows
    were left out, `pac_bayes_kl_bound` with rows='weights' counts them as errors.

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
    return Bound(
        name="version space bound",
        value=2.0 * gibbs,
        of="the error of the vote on new cases",
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
        trivial=one.guess,
    )
