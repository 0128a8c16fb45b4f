"""Fitted estimators of any kinds as the voters of one vote."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from psephos._errors import PsephosError, must_be
from psephos._types import Estimator, Floats, Indices
from psephos.vote.operations.cases import CaseVoters
from psephos.vote.operations.joined import join
from psephos.vote.operations.nested import SAYS, NestedVoters, nested
from psephos.vote.operations.weights import Constant
from psephos.vote.part import Voters
from psephos.vote.readout import Readout
from psephos.vote.target import RegressionTarget, Target
from psephos.vote.vote import Vote
from psephos.vote.voters.foreign import TREES, ForeignVoters, from_estimators, plain_voters
from psephos.vote.weights.local import Neighbours

_KNN = ("KNeighborsClassifier", "KNeighborsRegressor")


def mixed_voters(
    estimators: Sequence[Estimator],
    n_features: int,
    code: Floats,
    says: str = "probability",
    names: Sequence[str] = (),
) -> Voters:
    """Return fitted estimators as voters, each as plain arrays where its kind is known.

    Models of psephos (and registered ones) become votes within the vote; scikit-learn's trees,
    linear models, Gaussian naive Bayes and k nearest neighbours are converted to arrays; others
    are kept as Python objects, and cannot be saved. All are also evaluated on rows with missing
    values, where estimators that do not accept them raise. k nearest neighbours do not: they
    compare the columns that both rows have. A row without any value has no neighbour: all classes
    are then equally probable, and numbers raise.

    Parameters
    ----------
    estimators : sequence of fitted estimators
        Fitted on all `n_features` columns and on the classes 0 ... n_classes - 1, or on numbers.
    n_features : int
    code : ndarray of shape (n_classes, K)
        The vote for each class; for numbers of shape (1, 1) and ignored.
    says : {'answer', 'probability', 'log-odds', 'value'}
        The vote: the code of the class; the mean of the codes under its probabilities; the log-odds
        of these (probabilities of at least 1e-9), for a sum with a logistic link; its number.
    names : sequence of str, default=()
        Names of the estimators in ballots, or none.

    Raises
    ------
    PsephosError
        If there is no estimator, or one cannot predict the probabilities that `says` requires.
    """
    must_be("says", says, SAYS)
    if not estimators:
        raise PsephosError("a vote needs at least one estimator.")
    parts = [_voter(one, n_features, code, says) for one in estimators]
    return join([(np.array([t], dtype=np.intp), part) for t, part in enumerate(parts)], names)


def _voter(model: Any, n_features: int, code: Floats, says: str) -> Voters:
    whole = [np.arange(n_features)]
    own = nested([model], whole, n_features, says, code, abstains=False)
    if own is not None:
        return own
    vote = neighbour_vote(model)
    if vote is not None:
        value = np.zeros((1, 1)) if says == "value" else code
        at = whole[0]
        return NestedVoters(n_features, at, (at,), (vote,), ((),), says, value, abstains=False)
    if says == "answer":
        return from_estimators([model], n_features, code)
    some = _code(model, code, says)
    plainly = "value" if says == "value" else "probability"
    known = None if some is None else plain_voters([model], n_features, some, plainly)
    if known is not None and some is code and says in ("probability", "value"):
        return known
    if known is not None:  # a vote of one voter: on some of the classes, or by log-odds
        one = Constant(n_features, np.ones(1))
        classes = np.asarray(model.classes_, dtype=np.intp)
        alone = Vote(known, one, Readout("normalised", "share"), Target(classes))
        read = alone.columns
        return NestedVoters(
            n_features, read, (np.arange(len(read)),), (alone.select(read),), ((),), says, code,
            abstains=False,
        )  # fmt: skip
    ask = "predict" if says == "value" else "predict_proba"
    if not hasattr(model, ask):
        raise PsephosError(
            f"{type(model).__name__} has no {ask}: use says='answer', or calibrate it first."
        )
    return ForeignVoters.of([model], whole, n_features, says, code, abstains=False)


def _code(model: Any, code: Floats, says: str) -> Floats | None:
    """Return the codes of a model's classes, which may be some of all; None if there is one."""
    if says == "value" or type(model).__name__ in TREES:  # these need the codes of all classes
        return code
    known = len(getattr(model, "classes_", code))
    return Target(np.arange(known)).code if known > 1 else None


def neighbour_vote(model: Any) -> Vote | None:
    """Return scikit-learn's k nearest neighbours as a vote of its training cases, else None.

    Of equally near cases the first in the table are used; scikit-learn uses any of them.
    """
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn.") or name not in _KNN:
        return None
    euclid = model.effective_metric_ == "euclidean" and model.weights in ("uniform", "distance")
    cases: Any = model._fit_X
    if not euclid or not isinstance(cases, np.ndarray) or np.ndim(model._y) > 1:
        return None
    table: Floats = np.ascontiguousarray(cases, dtype=np.float64)
    m, q = int(table.shape[0]), int(table.shape[1])
    if name == "KNeighborsClassifier":
        target: Any = Target(np.asarray(model.classes_))
        values, link = target.code[np.asarray(model._y, dtype=np.intp)], "share"
    else:
        target, link = RegressionTarget(), "identity"
        values = np.asarray(model._y, dtype=np.float64)[:, None]
    columns: Indices = np.arange(q, dtype=np.intp)
    return Vote(
        CaseVoters(q, columns, table, values, np.arange(m)),
        Neighbours(
            q, columns, table, np.arange(m), int(model.n_neighbors), model.weights == "distance",
            np.ones(q), np.zeros(q, dtype=bool), np.inf, needed=link == "identity",
        ),
        Readout("normalised", link),
        target,
    )  # fmt: skip
