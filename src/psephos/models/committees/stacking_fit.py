"""The fit of a stack: members, their answers to unseen rows, and the final estimator."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos.models.committees.fitting import Data, Task, fit_all
from psephos.models.committees.levels import Levels, fold_plan, read_answers
from psephos.models.committees.members import mean_vote, voters_of
from psephos.models.committees.meta import (
    chances_of,
    log_loss,
    logistic_weights,
    pool_weights,
    square_weights,
)
from psephos.models.committees.naming import ESTIMATORS, check_kind, checked, is_member
from psephos.vote import OutputWeights, Readout, Vote, Voters

_Floats = NDArray[np.float64]


def stack(model: Any, data: Data) -> tuple[Vote, dict[str, Any]]:
    """Return the vote of a stack and its further fitted attributes."""
    levels = _levels(model)
    names = tuple(name for name, _ in levels[-1])
    if isinstance(model.cv, str) and model.cv == "oob":
        if len(levels) > 1:
            raise PsephosError("cv='oob' has one level: further levels need folds, such as cv=5.")
        voters, answers = _out_of_bag(levels[0], data)
        every = [answers]
    else:
        plan = Levels(
            data, fold_plan(data, model.cv), passthrough=model.passthrough, all_before=False
        )
        for members in levels:
            plan.add(members)
        if len(levels) >= plan.n_folds:
            raise PsephosError(
                f"{len(levels)} levels need more than {plan.n_folds} folds: set a larger cv."
            )
        every = [plan.out_of_fold(level) for level in range(len(levels))]
        voters, answers = plan.voters(len(levels) - 1), every[-1]
    vote = _final(model, data, voters, names, answers)
    scores = tuple(member_scores(data, said) for said in every)
    return vote, {"member_names_": names, "member_scores_": scores}


def _levels(model: Any) -> list[list[tuple[str, Any]]]:
    listed = model.levels is None or isinstance(model.levels, list | tuple)
    given: list[Any] = [model._members(), *((model.levels or ()) if listed else ())]
    for members in given:
        if not listed or not ESTIMATORS.allows(members) or members is None:
            raise PsephosError(
                f"{type(model).__name__}: levels must be a list of lists of pairs (name, "
                "estimator), one list a level."
            )
    return [checked(model, members) for members in given]


def _final(
    model: Any, data: Data, voters: Voters, names: tuple[str, ...], answers: _Floats
) -> Vote:
    """Return the vote of members weighed or read by the final estimator."""
    final, target = model.final_estimator, data.target
    known = ~np.isnan(answers).any(axis=1)  # out of bag a row may lack an answer
    if not known.any():
        raise PsephosError("no row is out of every member's bag: give members more estimators.")
    votes = answers[known].reshape(int(known.sum()), len(names), -1)
    y, weight = data.y[known], None if data.weight is None else data.weight[known]
    k = data.n_classes
    if final == "pool":
        pooled = pool_weights(votes, y, weight, k) if k else square_weights(votes, y, weight)
        return mean_vote(voters, target, pooled)
    if final == "logistic" and k:
        alpha = logistic_weights(votes, y, weight, k)
        kept = np.flatnonzero(alpha.any(axis=1))
        weights = OutputWeights(voters.n_features, alpha[kept])
        return Vote(voters.take(kept), weights, Readout("sum", "logistic"), target)
    if not is_member(final):
        allowed = "'pool', 'logistic' or a classifier" if k else "'pool' or a regressor"
        raise PsephosError(
            f"{type(model).__name__}: final_estimator is {final!r}; it must be {allowed} (an "
            "instance, not its class)."
        )
    check_kind(model, final, "final_estimator")
    words = data.names_of(names)
    rows = np.flatnonzero(known)
    whole = data.reading(answers, words, passthrough=model.passthrough)
    fitted = fit_all(whole, [Task(final, (99,), rows)])
    readers = read_answers(voters, fitted, data, words, ("final",), passthrough=model.passthrough)
    return mean_vote(readers.take(np.arange(1)), target)


def member_scores(data: Data, answers: _Floats) -> _Floats:
    """Return each member's log-loss, or mean squared error, of its answers to unseen rows."""
    known = ~np.isnan(answers).any(axis=1)
    votes = answers[known].reshape(int(known.sum()), -1, data.target.n_outputs)
    y, weight = data.y[known], None if data.weight is None else data.weight[known]
    if not data.n_classes:
        off = (votes[:, :, 0] - y[:, None]) ** 2
        return np.average(off, axis=0, weights=weight)
    chances = chances_of(votes, data.n_classes)
    losses = [log_loss(chances[:, t], y, weight) for t in range(votes.shape[1])]
    return np.array(losses)


def _out_of_bag(members: list[tuple[str, Any]], data: Data) -> tuple[Voters, _Floats]:
    """Return members fitted once as voters, and their out-of-bag answers (n, M K)."""
    for name, one in members:
        if "oob_score" not in one.get_params():
            raise PsephosError(
                f"cv='oob': member {name!r} ({type(one).__name__}) has no oob_score; take forests "
                "or bags, or a number of folds."
            )
    tasks = [Task(_with_oob(one), (1, t)) for t, (_, one) in enumerate(members)]
    models = fit_all(data, tasks)
    said: list[_Floats] = []
    for one in models:
        if data.n_classes:
            shares = np.array(one.oob_decision_function_, dtype=np.float64)
            shares[~(shares > 0).any(axis=1)] = np.nan  # scikit-learn's way to say: never out
            said.append(shares @ data.target.code)
        else:
            number = np.array(one.oob_prediction_, dtype=np.float64)
            number[_never_out(one, number)] = np.nan
            said.append(number[:, None])
    return voters_of(models, data, names=[name for name, _ in members]), np.hstack(said)


def _never_out(model: Any, number: _Floats) -> NDArray[np.bool_]:
    """Return which rows were drawn for every member; scikit-learn answers 0 for these."""
    drawn: Any = getattr(model, "estimators_samples_", None)  # scikit-learn's
    if drawn is None:
        return np.isnan(number)
    out = np.zeros(len(number), dtype=np.int64)
    for rows in drawn:
        out += np.bincount(rows, minlength=len(number)) == 0
    return out == 0


def _with_oob(estimator: Any) -> Any:
    copy: Any = clone(estimator)
    return copy.set_params(oob_score=True)
