"""Fits of a committee's members, independent of `n_jobs`, and the members as voters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats, Indices, NDArray
from psephos.base import Labels, VoteEstimator
from psephos.estimator import members
from psephos.estimator.columns import dense_columns
from psephos.estimator.input import Context, Table
from psephos.estimator.labels import one_fit
from psephos.models.committees.naming import reads_categories
from psephos.models.ensemble import uniform_vote
from psephos.runtime.progress import progress
from psephos.runtime.workers import results
from psephos.vote import Vote, Voters, answer_names, as_read, mixed_voters
from psephos.vote.operations.joined import join
from psephos.vote.operations.nested import NestedVoters
from psephos.vote.target import AnyTarget, RegressionTarget, Target


@dataclass(frozen=True)
class Data:
    """The training rows for members.

    Parameters
    ----------
    X : ndarray or CSC array of shape (n, p)
    y : ndarray of shape (n,)
        Codes 0 ... K - 1 of classes, or numbers.
    weight : ndarray of shape (n,), default=None
        None if all are equal.
    groups : ndarray of shape (n,), default=None
    categories : tuple of int
        Columns that hold codes of categories.
    words : list of str
        The names of the columns, for messages.
    target : Target or the like
    context : Context
    n_jobs : int, default=None
    """

    X: Any  # ndarray or CSC array
    y: NDArray[Any]
    weight: Floats | None
    groups: NDArray[Any] | None
    categories: tuple[int, ...]
    words: list[str]
    target: Any
    context: Context
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        labels: Labels,
        weight: Floats,
        context: Context,
        n_jobs: int | None,
        *,
        sparse: bool = False,
    ) -> "Data":
        """Return the arguments of `_fit_vote` as data; with `sparse`, X may be a CSC array."""
        return cls(
            table.as_held() if sparse else table.dense(),
            labels.y,
            None if (weight == weight[0]).all() else weight,
            context.groups,
            tuple(sorted(table.n_codes)),
            table.schema.words().columns,
            labels.target,
            context,
            n_jobs,
        )

    @property
    def n_classes(self) -> int:
        """Return K; 0 for regression."""
        return self.target.n_classes

    @property
    def says(self) -> str:
        """Return the kind of the members' votes: 'probability', or 'value' for regression."""
        return "probability" if self.n_classes else "value"

    def names_of(self, members: Sequence[str]) -> tuple[str, ...]:
        """Return the names of members' predictions: ``kNN's P(ill)``, or ``kNN's answer``."""
        if not self.n_classes:
            return answer_names(members, self.target.outputs)
        classes = self.target.classes.tolist()[-self.target.n_outputs :]
        return tuple(f"{name}'s P({label})" for name in members for label in classes)

    def take(self, rows: Indices, weight: Floats) -> "Data":
        """Return these rows only, with other weights."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weight=weight, groups=groups)

    def reading(
        self, answers: Floats, names: Sequence[str], *, passthrough: bool, rows: Any = slice(None)
    ) -> "Data":
        """Return the table of predictions for some rows; with `passthrough` after their columns.

        `answers` are votes (n, M K); the table has the probabilities, or numbers.
        """
        if self.n_classes:
            answers = as_read(answers, self.target.n_outputs)
        if not passthrough:
            return replace(self, X=answers, words=list(names), categories=())
        return replace(self, X=np.hstack([self.X[rows], answers]), words=[*self.words, *names])


def voters_of(
    models: Sequence[Estimator],
    data: Data,
    subsets: Sequence[Indices | None] | None = None,
    says: str | None = None,
    names: Sequence[str] = (),
    instead: str = "",
) -> Voters:
    """Return fitted members as the voters of one vote on the table's columns.

    Parameters
    ----------
    subsets : sequence of ndarray or None; the sorted columns each was fitted on; None is all
    says : {'answer', 'probability', 'log-odds', 'value'}; by default `data.says`
    names : of the members, or none
    instead : additional advice in the error for members without probabilities
    """
    says = data.says if says is None else says
    for model in models if says == "probability" else ():
        members.check_probabilities(model, instead)
    p, code = data.X.shape[1], data.target.code if data.n_classes else np.zeros((1, 1))
    if subsets is None or all(s is None for s in subsets):
        return mixed_voters(models, p, code, says, names)
    parts: list[tuple[Indices, Voters]] = []
    for t, (model, subset) in enumerate(zip(models, subsets, strict=True)):
        width = p if subset is None else len(subset)
        part = mixed_voters([model], width, code, says)
        parts.append((np.array([t]), part if subset is None else placed(part, subset, p)))
    return join(parts, names)


def placed(part: Any, columns: Indices, n_features: int) -> Any:
    """Return voters on some sorted columns as voters on the whole table."""
    return replace(part, n_features=n_features, columns=columns[part.columns].astype(np.intp))


def one_voter(vote: Vote, says: str, name: str, *, abstains: bool = False) -> Voters:
    """Return a vote as one voter of another vote on the same table and classes.

    With `abstains` it votes 0 if a value that it reads is missing.
    """
    read = vote.columns
    target: Any = vote.target
    inner: Any = RegressionTarget() if says == "value" else Target(np.arange(target.n_classes))
    code = np.zeros((1, 1)) if says == "value" else target.code
    places = np.arange(len(read))
    voter = NestedVoters(
        vote.n_features, read, (places,), (replace(vote.select(read), target=inner),), ((),), says,
        code, abstains=abstains,
    )  # fmt: skip
    return join([(np.zeros(1, dtype=np.intp), voter)], [name])


def mean_vote(voters: Voters, target: AnyTarget, weights: Floats | None = None) -> Vote:
    """Return the vote that is the weighted mean of voters: of probabilities, or numbers."""
    alpha = np.ones(voters.n_voters) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = np.flatnonzero(alpha > 0)  # a voter without weight reads no column
    voters, alpha = voters.take(kept), alpha[kept]
    return uniform_vote(voters, target, alpha)


class MemberTask(NamedTuple):
    """One estimator to fit, on some `rows` and `columns` (None: all); `seed` is its id.

    `weight` (n,) replaces the weights of the data.
    """

    estimator: Any
    seed: tuple[int, ...]
    rows: Indices | None = None
    columns: Indices | None = None
    weight: Floats | None = None


def fit_all(data: Data, tasks: Sequence[MemberTask]) -> list[Any]:
    """Return the fitted clones in the order of the tasks; they do not depend on `n_jobs`."""
    for task in tasks:
        _check_categories(data, task)
    step = progress(len(tasks), "members")

    found: dict[int, Any] = {}
    pairs: Any = ((i, _fit(data, task)) for i, task in enumerate(tasks))
    if data.n_jobs not in (None, 1) and len(tasks) > 1:
        pairs = results(_fit, data, [(task,) for task in tasks], data.n_jobs, "threads")
    for i, model in pairs:
        found[i] = model
        step()
    return [found[i] for i in range(len(tasks))]


def _fit(data: Data, task: MemberTask) -> Any:
    rows = slice(None) if task.rows is None else task.rows
    weight = data.weight if task.weight is None else task.weight
    X, y = data.X[rows], data.y[rows]
    model: Any = clone(members.in_codes(task.estimator, data.target))
    if task.columns is not None:
        X = np.ascontiguousarray(dense_columns(X, task.columns))
    elif not isinstance(model, VoteEstimator):
        X = dense_columns(X)
    seeds = members.seed_parameters(model)
    unset = [(i, n) for i, n in enumerate(seeds) if model.get_params()[n] is None]
    model.set_params(**{n: data.context.integer(*task.seed, i) for i, n in unset})
    more: dict[str, Any] = {}
    codes = _codes(data, task)
    if codes:
        model.set_params(categorical_features=codes)
    if weight is not None:
        more[members.needed_weight_parameter(model)] = weight[rows]
    if data.groups is not None and isinstance(model, VoteEstimator):
        more["groups"] = data.groups[rows]
    try:
        with one_fit():  # a fit within another, also in its own thread
            return members.fitted(model, X, y, **more)
    except ValueError as error:
        missing = int(np.isnan(X).any(axis=1).sum())
        if isinstance(error, PsephosError) or not missing:
            raise
        kind = type(model).__name__
        raise PsephosError(
            f"{kind} cannot be fitted, and {missing} of {len(X)} rows have missing values: use "
            f"make_pipeline(SimpleImputer(), {kind}(...)) in its place, or a member that accepts "
            f"missing values. Its message: {error}"
        ) from error


def _codes(data: Data, task: MemberTask) -> list[int]:
    """Return the indices of categorical columns among those of a task."""
    if task.columns is None:
        return list(data.categories)
    return np.flatnonzero(np.isin(task.columns, data.categories)).tolist()


def _check_categories(data: Data, task: MemberTask) -> None:
    """Raise PsephosError if a member would read codes of categories as numbers."""
    codes = _codes(data, task)
    if not codes or reads_categories(task.estimator):
        return
    columns = codes if task.columns is None else task.columns[codes].tolist()
    named = [data.words[j] for j in columns]
    instead = "use members of psephos that accept categories"
    members.refuse_categories(task.estimator, "member", named, instead)
