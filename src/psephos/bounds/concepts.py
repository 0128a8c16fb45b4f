"""What can be proved of a version space: how little its vote may err on new cases."""

import math
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.bounds.numerics import binomial_inverse, kl_inverse, xi
from psephos.bounds.requirements import INDEPENDENT, checked_delta
from psephos.bounds.result import Bound

__all__ = ["version_space_bound"]


def version_space_bound(model: Any, X: Any, y: Any, *, delta: float = 0.05) -> Bound:
    """Return a limit of the error of the vote of all hypotheses that agree with the rows.

    With H the conjunctions there were, V those left by n rows, Q uniform on V and P uniform on H,
    no member of V errs on the rows, so that with probability 1 - delta over their draw::

        Gibbs error <= kl^-1(0, [ln(|H| / |V|) + ln(xi(n) / delta)] / n)
        error of the vote <= 2 x Gibbs error

    and by itself (Occam) any hypothesis of V errs on at most 1 - (delta / |H|)^(1 / n).

    Parameters
    ----------
    model : fitted VersionSpaceClassifier
        Of two classes, its columns categories, no row left out, |V| counted.
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
    delta = checked_delta(delta)
    space, left = _read(model)
    n = len(y)
    if model.memory_.n_rows != n or (np.asarray(model.predict(X)) != np.asarray(y)).any():
        raise _refusal("give all rows that the model was fitted on, and their labels.")
    size = math.log(space.n_hypotheses)
    divergence = size - math.log(left)
    gibbs = kl_inverse(0.0, (divergence + math.log(xi(n) / delta)) / n)
    return Bound(
        name="Version space bound",
        value=min(1.0, 2.0 * gibbs),
        of="the error of the vote on new cases",
        source="McAllester (1999), with Seeger's kl form",
        parts={
            "rows": float(n),
            "ln |H|": size,
            "KL = ln(|H| / |V|)": divergence,
            "Gibbs error": gibbs,
            "any hypothesis left, by itself": binomial_inverse(0, n, math.exp(-size) * delta),
        },
        assumes=(
            INDEPENDENT,
            "columns and their categories were chosen before the rows",
        ),
        delta=delta,
        trivial=0.5,
    )


def _read(model: Any) -> tuple[Any, int]:
    """Return the space and how many hypotheses are left; raise where the theorem does not hold."""
    memory: Any = getattr(model, "memory_", None)
    space: Any = getattr(memory, "space", None)
    if space is None or not hasattr(model, "n_hypotheses_"):
        raise _refusal(f"{type(model).__name__} keeps no version space.")
    if len(memory.concepts) != 1:
        raise _refusal("it is of two classes, and the model has a version space for each of more.")
    if not space.is_category.all():
        raise _refusal(
            "columns of numbers were cut into bins by the rows, so that the hypotheses were chosen "
            "after the data: cut them at values fixed before, and give the bins as categories."
        )
    if len(memory.left_out):
        raise _refusal("rows were left out because no hypothesis agreed with them and the others.")
    (left,), (error,) = model.n_hypotheses_, model.n_hypotheses_error_
    if error:
        raise _refusal("how many hypotheses are left was sampled, not counted.")
    return space, left


def _refusal(why: str) -> PsephosError:
    return PsephosError(f"the version space bound does not hold: {why}")
