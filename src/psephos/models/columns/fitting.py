"""Columns chosen on the training rows, and members fitted on them."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.models.columns.choice import Selection, bought, ranked, read_prices
from psephos.models.columns.problem import Problem
from psephos.models.columns.selectors import score_columns
from psephos.models.committees.fitting import Data, Task, fit_all
from psephos.models.committees.members import mean_vote, voters_of
from psephos.models.committees.naming import check_kind
from psephos.models.training import Training, distinct_rows, ordered_rows
from psephos.vote import Constant, Readout, Vote
from psephos.vote.voters.stumps import prior_voter

_Floats = NDArray[np.float64]
_DEPTH = 32  # columns of a ranking that count, or the budget if that is more


def fit_budget(
    model: Any,
    default: list[tuple[str, Any]],
    table: Table,
    labels: Labels,
    weight: _Floats,
    context: Context,
) -> tuple[Vote, dict[str, Any]]:
    """Return the vote of a budget's members on the columns it buys, and the selection."""
    for one, what in ((model.estimator, "estimator"), (model.selector, "selector")):
        if one is not None and not isinstance(one, str):
            check_kind(model, one, what)
    data = Data.of(table, labels, weight, context, model.n_jobs)
    prices = read_prices(model.prices, table.schema, data.X.shape[1])
    scores, model._path = model._path, None
    if scores is None:
        depth = max(_DEPTH, int(np.ceil(model.n_columns)))
        problem = Problem(_distinct(data, table, labels, weight), depth)
        scores = score_columns(problem, model.selector, data)
    ranking = ranked(scores, prices)
    chosen = bought(ranking, prices, model.n_columns)
    if not len(chosen):
        _warn_of_none(model, ranking, data)
    members = default if model.estimator is None else [("estimator", model.estimator)]
    vote = _vote(members, chosen, data, weight)
    return vote, {"selection_": Selection(scores, ranking, chosen)}


def _warn_of_none(model: Any, ranking: NDArray[np.intp], data: Data) -> None:
    """Warn that no column is taken, and say why and what to do."""
    answer = "the class frequencies" if data.n_classes else "the mean"
    named = isinstance(model.selector, str)
    selector = repr(model.selector) if named else type(model.selector).__name__
    why = (
        f"selector {selector} gives no column a score: nothing it looks at goes with y. Check that "
        "y and the columns are those meant, or take another selector."
        if not len(ranking)
        else f"no column with a score costs at most n_columns={model.n_columns:g}: raise "
        "n_columns, or lower prices."
    )
    warnings.warn(
        f"{type(model).__name__} takes no column and answers every row with {answer}: {why}",
        UserWarning,
        stacklevel=2,
    )


def _distinct(data: Data, table: Table, labels: Labels, weight: _Floats) -> Data:
    """Return the rows for selectors: copies are one row of added weight, in an order of their own.

    What is drawn then depends on what rows hold and not on their places. With groups they are as
    given.
    """
    if data.groups is not None:
        return data
    rows = ordered_rows(distinct_rows(Training(table, labels.target, labels.y, weight)))
    equal = (rows.weight == rows.weight[0]).all()
    return replace(data, X=rows.table.dense(), y=rows.y, weight=None if equal else rows.weight)


def _vote(
    members: list[tuple[str, Any]], chosen: NDArray[np.intp], data: Data, weight: _Floats
) -> Vote:
    if not len(chosen):
        return _prior(data, weight)
    tasks = [Task(one, (6, t), columns=chosen) for t, (_, one) in enumerate(members)]
    fitted = fit_all(data, tasks)
    names = [name for name, _ in members]
    voters = voters_of(fitted, data, [chosen] * len(members), names=names)
    return mean_vote(voters, data.target)


def _prior(data: Data, weight: _Floats) -> Vote:
    """Return the vote of the class frequencies, or of the mean."""
    p, readout = data.X.shape[1], Readout("normalised", "share" if data.n_classes else "identity")
    prior = prior_voter(data.y, weight, data.target, p)
    return Vote(prior, Constant(p, np.ones(1)), readout, data.target)
