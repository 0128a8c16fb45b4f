"""Multi-view learning: a model for each group of columns that is measured together."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Schema, Table
from psephos.estimator.params import Anything, Constraint, Options, kept
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.committees.fitting import Data
from psephos.models.committees.multi_view_fit import fit_views
from psephos.models.committees.naming import CV, MEMBER, reads_categories
from psephos.models.committees.views import VIEWS, columns_of_views, views_on
from psephos.models.forest import RandomForestClassifier
from psephos.vote import Vote

_Floats = NDArray[np.float64]


@parameters
class MultiViewClassifier(VoteClassifier):
    """A vote of models that each read one view: a group of columns measured together.

    Use it where columns come from several sources (genes and clinic, two microphones), some of
    which may be absent from a case: the members of the views that are there answer, each by what it
    reads alone, and ballots say which view said what.

    Parameters
    ----------
    views : list of (str, columns) or (str, estimator, columns)
        Names and columns: a list of names or positions, or a mask. Views may share columns; columns
        of no view are not read. None is one view of all columns.
    estimator : estimator
        What is fitted on views that name none. None is a random forest of 300 trees.
    fusion : {'late', 'early', 'stacked'}
        late: the mean of the members' probabilities, by `weights`. stacked: weights of at least 0
        of least log-loss on rows that members were not fitted on, as in `StackingClassifier`.
        early: one model, `estimator`, on the columns of all views together; views then have no
        estimator of their own.
    weights : array of shape (n_views,)
        Of late fusion, and refused with another; at least 0, and a view of weight 0 is not read.
    cv : int, splitter or list of (training rows, test rows)
        Folds of stacked fusion.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; the members of their views must know them.
    n_jobs : int
        Threads that fit members; the vote does not depend on it.
    random_state : int, RandomState or None
        Seeds the members whose own `random_state` is None.

    Attributes
    ----------
    vote_ : Vote
        One voter a view, and the training prior.
    view_names_ : tuple of str
        The names of the voters but the last.

    Raises
    ------
    PsephosError
        In fit: if a view names no column of the table, or no row has it, or weights or estimators
        are given that the fusion does not use; of members as `VotingClassifier`.

    Notes
    -----
    *A view that is absent.* In `predict` a frame may lack columns, all or part of a view, and they
    may come in any order; what is lacking is missing. (Other models refuse such a frame, and so
    does this one if the frame holds a column unseen in fit.) Values may be missing, too. A
    member that takes missing values counts where any column that it reads has a value; another
    where all have. The others are silent, and the weights of those that count are divided by their
    sum. Where no view is there the training prior answers. In fit a member learns from the rows
    that have its view, by the same rule.

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

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "available", "normalised", "a member for each view"
    )
    contender: ClassVar[Contender] = Contender(
        "multi-view", "committees", ensemble=True, grouped=True,
        notes="without views, as here, one forest of 300 trees on all columns",
        small={
            "estimator": RandomForestClassifier(n_estimators=4, random_state=0),
            "random_state": 0,
        },
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "views": VIEWS,
        "estimator": MEMBER,
        "fusion": Options(("late", "early", "stacked")),
        "weights": Anything(),
        "cv": CV,
    }
    absent: ClassVar[str] = "vote"

    views: Any = None
    _: KW_ONLY
    estimator: Any = None
    fusion: str = "late"
    weights: Any = None
    cv: Any = 5
    class_weight: Any = None
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None
    view_names_: tuple[str, ...] = fitted()

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        self._check_fusion()
        views = columns_of_views(self.views, table.schema)
        if self.fusion == "early":
            views = [("all views", np.unique(np.concatenate([own for _, own in views])))]
        data = Data.of(table, labels, weight, context, self.n_jobs)
        default = RandomForestClassifier(300) if self.estimator is None else self.estimator
        own = {view[0]: view[1] for view in self.views or () if len(view) == 3}
        members = [own.get(name, default) for name, _ in views]
        vote, names = fit_views(self, views, members, data)
        return vote, {"view_names_": names}

    def _check_fusion(self) -> None:
        """Raise PsephosError if parameters are given that the fusion would ignore."""
        if self.weights is not None and self.fusion != "late":
            raise PsephosError(
                f"MultiViewClassifier: weights are of fusion='late', and fusion={self.fusion!r} "
                "does not use them: leave them out."
            )
        own = [view[0] for view in self.views or () if len(view) == 3]
        if own and self.fusion == "early":
            raise PsephosError(
                f"MultiViewClassifier: view {own[0]!r} has an estimator of its own, and "
                "fusion='early' fits one model on all views: give it as estimator=..., and views "
                "as (name, columns)."
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
        return all(one is None or reads_categories(one) for one in every)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a member that takes none is silent
        tags.input_tags.sparse = True  # members are given dense rows
        return tags
