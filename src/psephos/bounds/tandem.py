"""The tandem bound: how often two voters are wrong together, on rows that neither was grown on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.bounds.formulas import tandem_kl
from psephos.bounds.out_of_bag import out_of_bag_rows
from psephos.bounds.pac_bayes import prior_and_rows
from psephos.bounds.requirements import (
    Asked,
    asked,
    checked_delta,
    constant_weights,
    loss_blocks,
    losses,
)
from psephos.bounds.result import Bound

__all__ = ["tandem_bound"]

_Floats = NDArray[np.float64]


def tandem_bound(
    model: Any, X: Any, y: Any, *, rows: str = "out-of-bag", prior: Any = None, delta: float = 0.05
) -> Bound:
    """Return the tandem bound of a vote: four times a limit of how often two voters err together.

    The certificate of a bag or forest that needs no row besides those of its fit: a pair of voters
    is asked about rows that neither was grown on. It knows that voters correct each other, which
    twice the Gibbs risk does not.

    With l_t(x, y) the share of voter t's vote for wrong classes (0 or 1 if it says one class), and
    L_st the mean of l_s l_t over the n_st rows that neither s nor t was grown on::

        error of the vote <= 4 E_QQ[l_s l_t] <= 4 kl^-1(sum_st q_s q_t L_st,
                                                        (2 KL(Q || P) + ln(xi(n) / delta)) / n)

    where n is the least n_st. For any number of classes.

    Parameters
    ----------
    model : fitted classifier of psephos, or Vote
        Of constant weights, and voters that answer with classes or their shares.
    X, y : table of shape (n, p), array of shape (n,)
        Those of `fit` for out-of-bag rows.
    rows : {'out-of-bag', 'held-out', 'weights', 'training'}, default='out-of-bag'
        What the rows were to the model: see `pac_bayes_kl_bound`.
    prior : {'uniform', 'weights'} or array of shape (n_voters,), default=None
        See `pac_bayes_kl_bound`. A forest's weights are uniform, so KL = 0.
    delta : float, default=0.05
        The chance that the bound fails, over the draw of the rows and of the bootstrap samples.

    Raises
    ------
    PsephosError
        If weights depend on the case, voters answer beyond [-1, 1], two voters share no row, or the
        rows are not what they are said to be.

    Notes
    -----
    Few rows or many voters make the least overlap small: of 60 rows two bootstrap samples leave
    out 8 together on average, the least of 4,950 pairs perhaps 1. There the bound is vacuous, and
    `held_out_bound` on a third of the rows says more. A smaller `max_samples` leaves more out.

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
    >>> bool(found.value < 0.5), found.vacuous
    (True, False)
    """
    one = asked(model, X, y, "tandem bound")
    weights = constant_weights(one)
    delta = checked_delta(delta)
    divergence, assumes = prior_and_rows(one, weights, rows, prior, "tandem_bound")
    parts: dict[str, float] = {}
    if rows == "out-of-bag":
        both, wrong = _pairs(one, out_of_bag_rows(one, X, y))
        n = int(both.min())
        if n < 1:
            s, t = np.unravel_index(int(both.argmin()), both.shape)
            raise one.refuse(
                f"voters {s + 1} and {t + 1} have no row that neither was grown on. Grow fewer "
                "voters, or each on fewer rows (max_samples)."
            )
        pairs = wrong / both
    else:
        n, loss = len(one.y), losses(one)
        pairs = loss.T @ loss / n
        parts["error on the rows"] = float((loss @ weights >= 0.5).mean())
    tandem = float(weights @ pairs @ weights)
    return Bound(
        name="tandem bound",
        value=tandem_kl(tandem, divergence, n, delta),
        of="the error of the vote on new cases",
        source="Masegosa et al. (2020), NeurIPS",
        parts={
            **parts,
            "tandem loss on the rows": tandem,
            "KL(Q || P)": divergence,
            "rows of the pair that shares fewest": float(n),
        },
        assumes=assumes,
        delta=delta,
        trivial=one.guess,
    )


def _pairs(one: Asked, out: NDArray[np.bool_]) -> tuple[_Floats, _Floats]:
    """Return for each two voters the rows both were left out of, and the sum of their losses."""
    both, wrong = np.zeros((len(out), len(out))), np.zeros((len(out), len(out)))
    for part, loss in loss_blocks(one):
        left = out[:, part].astype(np.float64)
        both += left @ left.T
        lost = loss.T * left
        wrong += lost @ lost.T
    return both, wrong
