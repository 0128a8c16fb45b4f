"""Theorem 1: what the rounds of boosting prove of the error on the training rows."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.bounds.requirements import (
    Asked,
    asked,
    constant_error,
    constant_weights,
    refuse_unless_binary,
    signed_votes,
)
from psephos.bounds.result import Bound
from psephos.estimator.labels import read_sample_weight
from psephos.vote.part import offers
from psephos.vote.rows import columns_of

_Floats = NDArray[np.float64]


class _Rounds(NamedTuple):
    """What each round adds to a row's margin, and what the theorem says besides."""

    steps: _Floats  # (m, T): y_i times what voter t adds to F(x_i)
    signs: _Floats  # (m, T): y_i h_t(x_i)
    prior: _Floats  # (m,): pi_1
    published: str  # of the two published products the one that is about it, or ''


def training_error_bound(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Bound:
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
    anchored = offers(part, "anchor_scores")
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


def _constant(one: Asked, weight: _Floats) -> _Rounds:
    constant_weights(one)
    signs = signed_votes(one)
    alpha = one.vote.constant_weights()
    assert alpha is not None  # constant_weights has refused it
    prior = weight / weight.sum()
    steps = 0.5 * alpha * signs
    return _Rounds(steps, signs, prior, _adaboost(steps, signs, prior))


def _adaboost(steps: _Floats, signs: _Floats, prior: _Floats) -> str:
    """Return 'AdaBoost' if each weight is what its round's error asks for, and so exp(-2 ...)."""
    z, epsilon = _replay(_Rounds(steps, signs, prior, ""))
    hard = bool((np.abs(signs) == 1.0).all())
    least = 2.0 * np.sqrt(epsilon * (1.0 - epsilon))
    return "AdaBoost" if hard and np.allclose(z, least, rtol=1e-9, atol=1e-12) else ""


def _local(one: Asked, X: Any, y: Any, weight: _Floats) -> _Rounds:
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


def _refuse_others(one: Asked, part: Any, weight: _Floats) -> None:
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


def _weights_of(rows: _Floats, y: Any, weight: _Floats) -> dict[tuple[bytes, int], float]:
    """Return the weight of each different row and class."""
    found: dict[tuple[bytes, int], float] = {}
    for row, label, w in zip(rows + 0.0, y.tolist(), weight.tolist(), strict=True):
        key = row.tobytes(), int(label)
        found[key] = found.get(key, 0.0) + w
    return found


def _replay(rounds: _Rounds) -> tuple[_Floats, _Floats]:
    """Return each round's Z_t and weighted error eps_t."""
    pi = rounds.prior
    z, epsilon = np.empty(rounds.steps.shape[1]), np.empty(rounds.steps.shape[1])
    for t, (step, sign) in enumerate(zip(rounds.steps.T, rounds.signs.T, strict=True)):
        moved = pi * np.exp(-step)
        z[t], epsilon[t] = moved.sum(), float(pi @ (1.0 - sign)) / 2.0
        pi = moved / z[t]
    return z, epsilon
