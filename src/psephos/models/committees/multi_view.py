"""Multi-view learning: a model for each view, a group of columns that are measured together."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags, get_tags

from psephos._errors import PsephosError
from psephos._types import ClassWeightLike, Floats, Indices, NDArray, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures, Context, Schema, Table, VoteFit
from psephos.estimator.params import Accepts, Anything, Constraint, Options, kept
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.models.committees import naming
from psephos.models.committees.fitting import (
    Data,
    MemberTask,
    fit_all,
    mean_vote,
    one_voter,
    voters_of,
)
from psephos.models.committees.levels import fold_plan, pool_weights, side_by_side
from psephos.models.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from psephos.vote import Available, Readout, Vote, Voters
from psephos.vote.operations.joined import join
from psephos.vote.voters.stumps import prior_voter


def _are_views(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(
        isinstance(one, tuple | list) and len(one) in (2, 3) and isinstance(one[0], str)
        for one in value
    )


VIEWS = Accepts(_are_views, "None or a list of (name, columns) or (name, estimator, columns)")


@parameters
class _MultiView(VoteEstimator):
    """Base class of both estimators.

    Parameters
    ----------
    views : list of (str, columns) or (str, estimator, columns)
        Names and columns of the views; columns are a list of names or indices, or a mask. Views may
        share columns; columns in no view are not read. None is one view of all columns.
    estimator : estimator
        The model for views without their own estimator. None is a random forest of 300 trees.
    weights : array of shape (n_views,)
        Weights for late fusion (with other fusions an error), at least 0; a view of weight 0 is not
        read.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; the members of their views must accept them.
    n_jobs : int
        Threads that fit members; the vote does not depend on it.
    random_state : int, RandomState or None
        Seed of the members whose own `random_state` is None.

    Attributes
    ----------
    vote_ : Vote
        One voter per view, and the training prior (for regression: the mean).
    view_names_ : tuple of str
        The names of the voters, except the prior.

    Raises
    ------
    PsephosError
        In fit: if a view has no column of the table or is missing in every row, or weights or
        estimators are given that the fusion does not use; for members as `VotingClassifier`.
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "available", "normalised", "a member for each view"
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "views": VIEWS,
        "estimator": naming.MEMBER,
        "weights": Anything(),
    }
    absent: ClassVar[str] = "vote"
    forest: ClassVar[Callable[[], VoteEstimator]]  # the default member

    views: Any = None
    _: KW_ONLY
    estimator: Any = None
    fusion: str = "late"
    weights: Any = None
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None
    view_names_: tuple[str, ...] = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        self._check_fusion()
        views = columns_of_views(self.views, table.schema)
        if self.fusion == "early":
            views = [("all views", np.unique(np.concatenate([own for _, own in views])))]
        data = Data.of(table, labels, weight, context, self.n_jobs)
        default = self.forest() if self.estimator is None else self.estimator
        own = {view[0]: view[1] for view in self.views or () if len(view) == 3}
        members = [own.get(name, default) for name, _ in views]
        vote, names = fit_views(self, views, members, data)
        return vote, {"view_names_": names}

    def _check_fusion(self) -> None:
        """Raise PsephosError if parameters are given that the fusion would ignore."""
        if self.weights is not None and self.fusion != "late":
            raise PsephosError(
                f"{type(self).__name__}: weights are used only with fusion='late'; with "
                f"fusion={self.fusion!r} leave them out."
            )
        own = [view[0] for view in self.views or () if len(view) == 3]
        if own and self.fusion == "early":
            raise PsephosError(
                f"{type(self).__name__}: view {own[0]!r} has its own estimator, and fusion='early' "
                "fits one model on all views: give the model as estimator=..., and views as (name, "
                "columns)."
            )

    def _params_on(self, columns: NDArray[Any]) -> dict[str, Any]:
        views, weights = views_on(kept(self.views), self.schema_, columns), kept(self.weights)
        if weights is None or self.fusion != "late" or views is None:
            return {"views": views}
        left = {view[0] for view in views}
        given = zip(self.views, weights, strict=True)
        return {"views": views, "weights": [w for view, w in given if view[0] in left]}

    def _params_placed(self, schema: Schema) -> dict[str, Any]:
        if self.views is None or not VIEWS.allows(self.views):
            return {}
        found = columns_of_views(self.views, schema)
        placed = zip(self.views, found, strict=True)
        return {"views": [(*view[:-1], own.tolist()) for view, (_, own) in placed]}

    def reads_categories(self) -> bool:
        """Return whether columns may hold categories, named in `categorical_features`."""
        own = [view[1] for view in kept(self.views) or () if len(view) == 3]
        every = [kept(self.estimator), *own]
        return all(one is None or naming.reads_categories(one) for one in every)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # members that do not accept them do not vote
        tags.input_tags.sparse = True  # members read dense rows
        return tags


@parameters
class MultiViewClassifier(_MultiView, VoteClassifier):
    """A vote of models that each read one view: a group of columns measured together.

    Use it if columns come from several sources (genes and clinic, two microphones), some of which
    may be missing for a case: only the members of the present views vote, each by its own columns,
    and ballots show the vote of each view.

    Parameters
    ----------
    fusion : {'late', 'early', 'stacked'}
        late: the mean of the members' probabilities, by `weights`. stacked: non-negative weights
        that minimise the out-of-fold log-loss, as in `StackingClassifier`. early: one model,
        `estimator`, on the columns of all views together; views then cannot have their own
        estimator.
    cv : int, splitter or list of (training rows, test rows)
        Folds of stacked fusion.

    Notes
    -----
    *Absent views.* In `predict` columns of a frame may be absent (all or part of a view) and in any
    order; absent columns are missing values. (For other models such a frame is an error; for this
    one it is if the frame has a column unseen in fit.) A member that accepts missing values votes
    if any column that it reads has a value; another only if all have. The weights of the members
    that vote are divided by their sum. If no view is present the training prior predicts. In fit a
    member is fitted on the rows in which its view is present, by the same rule.

    References
    ----------
    Xu, Tao & Xu (2013), "A survey on multi-view learning".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import MultiViewClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> views = [("mean", range(10)), ("error", range(10, 20)), ("worst", range(20, 30))]
    >>> model = MultiViewClassifier(views, random_state=0).fit(X[:400], y[:400])
    >>> new = X[400:].copy()
    >>> new[:, 20:] = np.nan  # the third view is absent
    >>> bool(model.score(new, y[400:]) > 0.9)
    True
    """

    contender: ClassVar[Contender] = Contender(
        "multi-view", "committees", ensemble=True, grouped=True,
        notes="without views, as here, one forest of 300 trees on all columns",
        small={
            "estimator": RandomForestClassifier(n_estimators=4, random_state=0),
            "random_state": 0,
        },
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "fusion": Options(("late", "early", "stacked")),
        "cv": naming.CV,
    }

    forest: ClassVar[Callable[[], VoteEstimator]] = partial(RandomForestClassifier, 300)

    _: KW_ONLY
    cv: Any = 5
    class_weight: ClassWeightLike = None


@parameters
class MultiViewRegressor(_MultiView, VoteRegressor):
    """A vote of regressors that each read one view: a group of columns measured together.

    As `MultiViewClassifier`: the prediction is the mean of the members whose view is present, by
    `weights`.

    Parameters
    ----------
    fusion : {'late', 'early'}
        late: the mean of the members' predictions. early: one model, `estimator`, on the columns of
        all views together; views then cannot have their own estimator.

    Notes
    -----
    If no view is present the training mean is predicted; see `MultiViewClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import MultiViewRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> views = [("person", range(4)), ("blood", range(4, 10))]
    >>> model = MultiViewRegressor(views, random_state=0).fit(X[:300], y[:300])
    >>> model.view_names_, bool(model.score(X[300:], y[300:]) > 0.3)
    (('person', 'blood'), True)
    """

    contender: ClassVar[Contender] = Contender(
        "multi-view-regressor", "committees", ensemble=True, grouped=True,
        notes=MultiViewClassifier.contender.notes,
        small={
            "estimator": RandomForestRegressor(n_estimators=4, random_state=0),
            "random_state": 0,
        },
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {"fusion": Options(("late", "early"))}
    forest: ClassVar[Callable[[], VoteEstimator]] = partial(
        RandomForestRegressor, 300, max_features=1 / 3
    )


def columns_of_views(
    views: Sequence[tuple[Any, ...]] | None, schema: Schema
) -> list[tuple[str, Indices]]:
    """Return the sorted columns of each view; without views, one view of all columns."""
    if views is None:
        return [("all columns", np.arange(schema.n_features))]
    names: list[str] = [view[0] for view in views]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise PsephosError(f"names of views must differ; two are named {name!r}.")
    return [(view[0], _columns(view[0], view[-1], schema)) for view in views]


def _columns(name: str, given: Any, schema: Schema) -> Indices:
    if isinstance(given, str) or np.ndim(given) != 1 or len(given) == 0:
        raise PsephosError(
            f"view {name!r}: its columns must be a list of names or indices, or a mask of all "
            f"columns; got {given!r}."
        )
    own = schema.columns_of(given, f"view {name!r}")
    if not own:
        raise PsephosError(f"view {name!r}: its mask must be True for at least one column.")
    return np.array(own, dtype=np.intp)


def views_on(
    views: Sequence[tuple[Any, ...]] | None, schema: Schema, columns: Indices
) -> list[tuple[Any, ...]] | None:
    """Return the views on the table reduced to some columns; empty views are dropped."""
    if views is None:
        return None
    index = {j: i for i, j in enumerate(columns.tolist())}
    names = schema.names
    left: list[tuple[Any, ...]] = []
    for view, (_, own) in zip(views, columns_of_views(views, schema), strict=True):
        kept = [j for j in own.tolist() if j in index]
        if kept:
            left.append((*view[:-1], [names[j] if names else index[j] for j in kept]))
    return left or None


_Views = list[tuple[str, Indices]]


def fit_views(
    model: Any, views: _Views, members: list[Any], data: Data
) -> tuple[Vote, tuple[str, ...]]:
    """Return the vote of a member for each view with weight, and the names of these views."""
    given = model.weights if model.fusion == "late" else None
    alpha = naming.weights_of(given, [name for name, _ in views], "views")
    views = [view for view, weight in zip(views, alpha, strict=True) if weight > 0]
    members = [one for one, weight in zip(members, alpha, strict=True) if weight > 0]
    for (name, _), one in zip(views, members, strict=True):
        if not naming.is_member(one):
            raise PsephosError(
                f"view {name!r}: its estimator must be an instance, not a class; got {one!r}."
            )
        naming.check_kind(model, one, f"the estimator of view {name!r}")
    partly = np.array([bool(get_tags(one).input_tags.allow_nan) for one in members])
    here = _here(views, partly, data.X)
    for (name, _), rows in zip(views, here.T, strict=True):
        if not rows.any():
            raise PsephosError(
                f"view {name!r} is missing in every row, so nothing can be fitted. A member that "
                "accepts missing values needs one value per row, another needs all."
            )
    fitted = fit_all(data, _tasks(members, views, here, np.ones(len(data.y), dtype=bool), data))
    voters = _voters(fitted, views, partly, data)
    stacked = model.fusion == "stacked"
    alpha = _stacked(model.cv, members, views, partly, here, data) if stacked else alpha[alpha > 0]
    return _vote(voters, alpha, partly, data), tuple(name for name, _ in views)


def _here(views: _Views, partly: NDArray[np.bool_], X: Floats) -> NDArray[np.bool_]:
    """Return the mask (n, n_views) of rows in which a view is present."""
    known = [~np.isnan(X[:, own]) for _, own in views]
    return np.column_stack(
        [k.any(axis=1) if some else k.all(axis=1) for k, some in zip(known, partly, strict=True)]
    )


def _tasks(
    members: list[Any], views: _Views, here: NDArray[np.bool_], rows: NDArray[np.bool_], data: Data
) -> list[MemberTask]:
    """Return the fits on `rows`: each member on those in which its view is present."""
    if data.n_classes:
        _check_classes(views, here & rows[:, None], data.y)
    return [
        MemberTask(one, (1, t), np.flatnonzero(here[:, t] & rows), own)
        for t, (one, (_, own)) in enumerate(zip(members, views, strict=True))
    ]


def _check_classes(views: _Views, here: NDArray[np.bool_], y: Indices) -> None:
    """Raise PsephosError if all rows in which a view is present are of one class."""
    for (name, _), rows in zip(views, here.T, strict=True):
        if len(np.unique(y[rows])) < 2:
            raise PsephosError(
                f"view {name!r}: the {int(rows.sum())} rows that have it, on which its member "
                "would be fitted, are of fewer than two classes: leave the view out (or, with "
                "stacked fusion, set a smaller cv)."
            )


def _voters(fitted: list[Any], views: _Views, partly: NDArray[np.bool_], data: Data) -> Voters:
    """Return the members as voters; one that does not accept missing values votes 0 at them."""
    voters = voters_of(fitted, data, [own for _, own in views], names=[name for name, _ in views])
    parts: list[Voters] = []
    for t, (name, _) in enumerate(views):
        alone = voters.take(np.array([t]))
        if not partly[t]:
            says = "probability" if data.n_classes else "value"
            alone = one_voter(mean_vote(alone, data.target), says, name, abstains=True)
        parts.append(alone)
    return side_by_side(parts)


def _stacked(
    cv: Any,
    members: list[Any],
    views: _Views,
    partly: NDArray[np.bool_],
    here: NDArray[np.bool_],
    data: Data,
) -> Floats:
    """Return the weights that minimise the out-of-fold log-loss over the present views."""
    fold = fold_plan(data, cv)
    votes = np.zeros((len(data.y), len(views), data.target.n_outputs))
    for f in range(int(fold.max()) + 1):
        test = np.flatnonzero(fold == f)
        fitted = fit_all(data, _tasks(members, views, here, fold != f, data))
        votes[test] = _voters(fitted, views, partly, data).votes(data.X[test])
    some = here.any(axis=1)
    weight = None if data.weight is None else data.weight[some]
    alpha = pool_weights(votes[some], data.y[some], weight, data.n_classes, here[some])
    return np.maximum(alpha, 1e-6)  # so that each view can predict if it is the only one present


def _vote(voters: Any, alpha: Floats, partly: NDArray[np.bool_], data: Data) -> Vote:
    share = np.ones(len(data.y)) if data.weight is None else data.weight
    prior = prior_voter(data.y, share, data.target, voters.n_features)
    every = side_by_side([voters, join([(np.zeros(1, dtype=np.intp), prior)], ["prior"])])
    usage = every.usage()
    columns = np.unique(usage.indices).astype(np.intp)
    link = "share" if data.n_classes else "identity"
    weights = Available(
        voters.n_features,
        columns,
        np.asarray(usage[:, columns].toarray(), dtype=bool),
        np.append(alpha, 1.0),
        np.append(np.zeros(len(alpha), dtype=np.intp), 1),
        partly=np.append(partly, False),
    )
    return Vote(every, weights, Readout("normalised", link), data.target)
