"""The posterior of a finite list of fitted classifiers, from rows they are asked about."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from psephos._errors import PsephosError
from psephos.base import VoteEstimator
from psephos.vote import Voters, mixed_voters

_Floats = NDArray[np.float64]


class InCodes:
    """A fitted classifier of another library that answers with the codes of the classes.

    `classes`: the code of each of its classes.
    """

    def __init__(self, model: Any, classes: NDArray[np.intp]) -> None:
        self.model, self.classes_ = model, classes
        self.n_features_in_ = getattr(model, "n_features_in_", None)
        if hasattr(model, "predict_proba"):
            self.predict_proba = model.predict_proba

    def predict(self, X: _Floats) -> NDArray[np.intp]:
        """Return the codes of the answers."""
        return self.classes_[np.searchsorted(self.model.classes_, self.model.predict(X))]


def voters_of_fitted(
    members: Sequence[tuple[str, Any]], n_features: int, target: Any, says: str
) -> Voters:
    """Return fitted classifiers as the voters of one vote."""
    models = [_coded(name, _thawed(one), n_features, target) for name, one in members]
    return mixed_voters(models, n_features, target.code, says, [name for name, _ in members])


def _thawed(model: Any) -> Any:
    """Return what a FrozenEstimator holds, or the model."""
    return model.estimator if type(model).__name__ == "FrozenEstimator" else model


def _coded(name: str, model: Any, n_features: int, target: Any) -> Any:
    if not is_classifier(model):
        raise PsephosError(f"member {name!r} ({type(model).__name__}) is no classifier.")
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise PsephosError(
            f"member {name!r} is not fitted: fit it first, on other rows than these, and give "
            "FrozenEstimator(it) (sklearn.frozen) where the model will be cloned."
        ) from None
    width = getattr(model, "n_features_in_", n_features)
    if width != n_features:
        raise PsephosError(f"member {name!r} is of {width} columns; these rows have {n_features}.")
    known = {label: k for k, label in enumerate(target.classes.tolist())}
    own = np.asarray(model.classes_).tolist()
    strange = [label for label in own if label not in known]
    if strange:
        raise PsephosError(
            f"member {name!r} was fitted with the label {strange[0]!r}, which is not in y."
        )
    codes = np.array([known[label] for label in own], dtype=np.intp)
    if isinstance(model, VoteEstimator):
        return _own(name, model, codes)
    if (
        "classes_" in vars(model)
        and type(model).__module__.startswith("sklearn.")
        and (np.array_equal(codes, np.sort(codes)))
    ):
        small = copy.copy(model)
        small.classes_ = codes
        return small
    return InCodes(model, codes)


def _own(name: str, model: Any, codes: NDArray[np.intp]) -> Any:
    if model.schema_.levels:
        raise PsephosError(
            f"member {name!r} reads categories by codes of its own: make 0/1 columns of them first "
            "(OneHotEncoder)."
        )
    small = copy.copy(model)
    small.vote_ = replace(model.vote_, target=replace(model.vote_.target, classes=codes))
    return small


def prior_of_members(given: Any, members: Sequence[tuple[str, Any]]) -> _Floats:
    """Return the prior of each member; 'uniform' is alike."""
    if isinstance(given, str):
        if given == "uniform":
            return np.full(len(members), 1.0 / len(members))
        raise PsephosError("prior='short' is of conjunctions: give a number for each estimator.")
    try:
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        prior = np.empty(0)
    good = prior.shape == (len(members),) and np.isfinite(prior).all() and (prior >= 0).all()
    if not good or not prior.sum() > 0:
        names = ", ".join(name for name, _ in members)
        raise PsephosError(
            f"prior is {given!r}: give one number of at least 0 for each of the {len(members)} "
            f"estimators ({names}), one of them above."
        )
    return prior / prior.sum()


def posterior_of(
    voters: Voters, X: _Floats, y: NDArray[np.intp], weight: _Floats, target: Any, *,
    prior: _Floats, noise: float,
) -> _Floats:  # fmt: skip
    """Return P(h | D) of voters by the prior and the labels of rows, each to its weight.

    A voter says label k with probability q_k (its answer: 1 or 0); then
    ``P(y | h, x) = (1 - noise) q_y + noise (1 - q_y) / (K - 1)``.
    """
    log = np.log(np.where(prior > 0, prior, 1.0))
    log[prior == 0] = -np.inf
    k = target.n_classes
    for start in range(0, len(X), 1024):
        part = slice(start, start + 1024)
        votes = voters.votes(X[part])
        share = _chance(votes, y[part], k)
        chance = (1.0 - noise) * share + noise * (1.0 - share) / (k - 1)
        with np.errstate(divide="ignore"):
            log += weight[part] @ np.log(chance)
    if not np.isfinite(log.max()):
        raise PsephosError(
            "each estimator gives some row the likelihood 0, so that none has a posterior: set "
            "noise above 0."
        )
    share = np.exp(log - log.max())
    return share / share.sum()


def _chance(votes: _Floats, y: NDArray[np.intp], k: int) -> _Floats:
    """Return (n, T): the probability that each voter gives each row's label."""
    if k == 2:
        up = (1.0 + votes[:, :, 0]) / 2.0
        share = np.where(y[:, None] == 1, up, 1.0 - up)
    else:
        share = ((k - 1) * votes[np.arange(len(y)), :, y] + 1.0) / k
    return np.clip(share, 0.0, 1.0)
