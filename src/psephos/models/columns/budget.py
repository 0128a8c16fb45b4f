"""Votes on a budget of columns: columns are selected on the training rows, then members fitted."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import (
    Array,
    ClassWeightLike,
    Floats,
    Indices,
    LabelsLike,
    PerRow,
    SeedLike,
    TableLike,
)
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator import params
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures, Context, Schema, Table, VoteFit
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.columns.selection import Selection, SelectionProblem, selected
from psephos.models.columns.selectors import SELECTORS, score_columns
from psephos.models.committees import naming
from psephos.models.committees.fitting import Data, MemberTask, fit_all, mean_vote, voters_of
from psephos.models.committees.voting import VotingClassifier
from psephos.models.ensemble import Ensemble, uniform_vote
from psephos.models.forest.random_forest import RandomForestClassifier
from psephos.models.linear.rank_ridge import RankRidgeClassifier, RankRidgeRegressor
from psephos.models.training import merged_copies
from psephos.vote import Vote
from psephos.vote.voters.stumps import prior_voter

_BUDGETS = (4, 8, 16)  # of the variants


@parameters
class _Budget(Ensemble):
    """Base class of both estimators.

    Parameters
    ----------
    n_columns : float
        Maximum number of columns; with `prices`, their maximum total price.
    selector : {'blend', 'lars', 'stability', 'importance', 'univariate'} or estimator
        How columns are scored. blend: the sum of 1 / (4 + rank) over the first 32 (or `n_columns`)
        of 'importance' and of 'lars'. importance: decrease of the impurity in a forest of 2,000
        trees. lars: how early a column enters the lasso on 40 draws of 80 % of the rows (of
        each class). stability: the share of 100 half-samples in which it is among the first 20 to
        enter. univariate: the correlation of its normal scores with the class. An estimator: its
        `feature_importances_` (of any vote of psephos) or `coef_` once fitted on all columns.
        With more than two classes, scores of each class against the rest are summed.
    prices : dict of column to float, or array of shape (n_features,)
        Price of each column, 1 by default. Columns are chosen by score divided by price; one of
        infinite price is never chosen.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories, as in HistGradientBoostingClassifier.
    n_jobs : int
        Threads of forests; the model does not depend on it.
    stable : bool
        Whether the selection should depend less on the seed: 10,000 trees, and the lasso on 160
        draws. A fit then takes about 4 times as long.

    Attributes
    ----------
    selection_ : Selection
        The selector's results, from which the other attributes are read.
    scores_ : ndarray of shape (`n_features_in_`,)
        Each column's score by the selector; 0 if it has none.
    ranking_ : ndarray
        The columns with a score above 0, by score divided by price: names, or indices.
    selected_ : ndarray
        The columns on which the members were fitted, in table order: names, or indices.
    return_rate_ : ndarray of shape (n_selected,)
        How often each of `selected_` would be selected again if a quarter of the rows were
        replaced, as between two of five folds (see Notes); NaN unless `selector` is 'blend' or
        'lars'.
    synonyms_ : dict of column to list of columns
        For each of `selected_`, columns correlated with it (|rho| >= .8 of normal scores), the most
        correlated first; columns without synonyms are left out.
    """

    constraints: ClassVar[Mapping[str, params.Constraint]] = {
        "n_columns": params.Interval(0, open_low=True),
        "selector": params.OneOf((params.Options(tuple(SELECTORS)), naming.MEMBER)),
        "estimator": naming.MEMBER,
        "prices": params.Anything(),
        "stable": params.Flag(),
    }
    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "constant", "normalised", "columns first, then members fitted on them"
    )
    _path = None  # the selection to use, in a model made by `path`

    n_columns: float = 16
    _: KW_ONLY
    selector: Any = "blend"
    estimator: Any = None
    prices: Any = None
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    stable: bool = False
    random_state: SeedLike = None
    selection_: Selection = fitted()

    @property
    def scores_(self) -> Floats:
        """Each column's score by the selector, 0 if it has none; (p,)."""
        self._fitted()
        return self.selection_.scores

    @property
    def ranking_(self) -> Array:
        """The columns with a score above 0, by score divided by price: names, or indices."""
        self._fitted()
        return self._named(self.selection_.ranking)

    @property
    def selected_(self) -> Array:
        """The columns on which the members were fitted, in table order: names, or indices.

        Members may not use all of them: see `features_used_`.
        """
        self._fitted()
        return self._named(self.selection_.chosen)

    @property
    def return_rate_(self) -> Floats:
        """How often each of `selected_` is selected again if a quarter of the rows is replaced."""
        self._fitted()
        rates = self.selection_.rates
        return rates if len(rates) else np.full(len(self.selection_.chosen), np.nan)

    @property
    def synonyms_(self) -> dict[str | int, list[str]]:
        """The columns correlated with each of `selected_`, the most correlated first."""
        self._fitted()
        found = [list(self.selection_.synonyms(i)) for i in range(len(self.selected_))]
        return {j: own for j, own in zip(self.selected_.tolist(), found, strict=True) if own}

    def path(
        self,
        X: TableLike,
        y: LabelsLike,
        n_columns: Iterable[float] = (1, 2, 4, 8, 16, 32),
        sample_weight: PerRow = None,
        *,
        groups: Array | None = None,
    ) -> dict[float, Any]:
        """Return a fitted estimator for each budget, scoring the columns only once.

        Each equals the result of `fit` with that `n_columns`, except for the selector 'blend' above
        32 columns: there the rankings are as deep as the greatest budget of the path.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`.
        n_columns : iterable of float, default=(1, 2, 4, 8, 16, 32)

        Returns
        -------
        models : dict of float to estimator
            By budget, ascending.
        """
        if isinstance(n_columns, str) or not np.iterable(n_columns):
            raise PsephosError(f"n_columns must be budgets such as (4, 8, 16); got {n_columns!r}.")
        budgets = list(n_columns)
        for budget in budgets:
            model = self._of_path(budget, None)
            params.check_params(model, model.constraints)
        budgets = sorted(set(budgets))
        if not budgets:
            raise PsephosError("n_columns must be budgets such as (4, 8, 16); got none.")
        models: dict[float, Any] = {}
        found: Selection | None = None
        for budget in reversed(budgets):
            model = self._of_path(budget, found)
            models[budget] = model.fit(X, y, sample_weight, groups=groups)
            found = model.selection_
        return {budget: models[budget] for budget in budgets}

    def selecting(self) -> dict[str, object]:
        """Return the parameters on which the scores of columns depend."""
        return {**self.get_params(deep=False), "n_columns": _depth(self.n_columns)}

    def take_selection(self, found: Selection | None) -> None:
        """Have the next `fit` use the scores of another fit; None: compute them."""
        self._path = found

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        for one, what in ((self.estimator, "estimator"), (self.selector, "selector")):
            if one is not None and not isinstance(one, str):
                naming.check_kind(self, one, what)
        data = Data.of(table, labels, weight, context, self.n_jobs, sparse=True)
        prices = read_prices(self.prices, table.schema, data.X.shape[1])
        known, self._path = self._path, None
        depth = _depth(self.n_columns)
        problem = SelectionProblem(_distinct(data, table, labels, weight), depth, self.stable)
        scores = score_columns(problem, self.selector, data) if known is None else known.scores
        ranking = ranked(scores, prices)
        chosen = bought(ranking, prices, self.n_columns)
        if not len(chosen):
            _warn_of_none(self, ranking, data)
        members = [("estimator", self.estimator)]
        if self.estimator is None:
            members = naming.default_members(data.n_classes > 0)
        vote = _vote(members, chosen, data, weight)
        drawn = problem.agreement[-1] if problem.agreement else np.empty(0)
        agreement = drawn if known is None else known.agreement
        found = selected(problem, Selection(scores, ranking, chosen, agreement), self.selector)
        return vote, {"selection_": found.named(table.schema.words().columns)}

    def _of_path(self, budget: float, found: Selection | None) -> Any:
        model: Any = type(self)(**{**self.get_params(deep=False), "n_columns": budget})
        model.take_selection(found)
        return model

    def _params_on(self, columns: Array) -> dict[str, Any]:
        return {"prices": prices_on(params.kept(self.prices), self.schema_, columns)}

    def _params_placed(self, schema: Schema) -> dict[str, Any]:
        if self.prices is None:
            return {}
        return {"prices": read_prices(self.prices, schema, schema.n_features).tolist()}


@parameters
class ColumnBudgetClassifier(_Budget, VoteClassifier):
    """Few columns are selected first, then members vote on them.

    Use it on fat tables (tens to thousands of rows, up to 10^5 columns) if predictions should
    depend on few measurements: a small assay, a readable model. On average over such tables, 16 to
    20 columns lose little or no accuracy against a forest on all columns;
    `psephos.explain.ColumnCurveDisplay` measures the loss on your table.

    A selector scores each column on the training rows, the best are selected within the budget, and
    the members are fitted on these columns only. By default a forest and a ridge-penalised logistic
    regression on ranks vote with equal weight.

    Parameters
    ----------
    estimator : estimator
        The model fitted on the columns. None: a random forest of 300 trees (``forest``) and a
        `RankRidgeClassifier` (``ridge``), whose probabilities are averaged.

    Raises
    ------
    PsephosError
        In fit: if a price is not positive or names an unknown column, or an estimator as selector
        has neither importances nor coefficients.

    Warns
    -----
    UserWarning
        In fit: if no column is selected, because none has a score or none is within the budget. The
        class frequencies are then predicted for every row.

    Notes
    -----
    *The columns are not "the" markers.* On other rows of the same study about half of the selected
    columns are different, because columns are correlated. `return_rate_` estimates how often each
    is selected again if a quarter of the rows is replaced. It is available for 'blend' and 'lars':
    a logistic function of the agreement of the selector's draws of rows, and of the column's score
    over that of the best column not selected. On tables to which the function was not fitted,
    columns with a rate of 80 % were selected again in 91 %. If *all* rows are replaced, as between
    two halves of a study, they were in 42 to 68 %. `ColumnCurveDisplay` counts this on your table.

    *Few columns cost accuracy.* With 4, no method tried reached a forest on all columns (AUC .03 to
    .06 less, on average over fat tables).

    *An unbiased accuracy* needs the selection in every fold: cross-validate this estimator, never a
    model on columns that were selected on all rows.

    Selectors read normal scores of ranks (as `RankRidgeClassifier`; forests read values). A missing
    value has the median's score. A category of more than two levels is scored as a number: the mean
    target of the rows of its level in the other four of five folds, so that random levels, however
    many, score as a random number does. With `groups`, folds and draws keep groups together.

    References
    ----------
    Efron, Hastie, Johnstone & Tibshirani (2004), "Least angle regression". Meinshausen & Bühlmann
    (2010), "Stability selection". Cormack, Clarke & Büttcher (2009), "Reciprocal rank fusion".

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import ColumnBudgetClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 1000))
    >>> y = np.where(X[:, 7] + X[:, 70] + X[:, 700] > 0, "ill", "well")
    >>> model = ColumnBudgetClassifier(3, random_state=0).fit(X, y)
    >>> model.selected_
    array([  7,  70, 700])
    """

    contender: ClassVar[Contender] = Contender(
        "column-budget", "few columns", ensemble=True, grouped=True,
        notes="16 columns of the blend, a forest and a ridge on ranks vote on them",
        variants={
            f"column-budget-{k}": {"n_columns": k, "class_weight": "balanced"} for k in _BUDGETS
        },
        shares="column-budget",
        small={
            "n_columns": 3, "selector": "univariate", "random_state": 0,
            "estimator": VotingClassifier(
                [("forest", RandomForestClassifier(4)), ("ridge", RankRidgeClassifier((1.0, 9.0)))]
            ),
        },
    )  # fmt: skip
    _: KW_ONLY
    prices: Any = None
    class_weight: ClassWeightLike = None


@parameters
class ColumnBudgetRegressor(_Budget, VoteRegressor):
    """Few columns are selected first, then members vote on them: regression.

    As `ColumnBudgetClassifier`, except that 'blend' has a third ranking, by the coefficients of a
    ridge regression on normal scores, draws of rows are not stratified, and the trees of
    'importance' have leaves of at least 5 rows.

    Parameters
    ----------
    estimator : estimator
        None: a random forest of 300 trees (``forest``) and a `RankRidgeRegressor` (``ridge``),
        whose predictions are averaged.

    Notes
    -----
    See `ColumnBudgetClassifier`. If no column is selected the prediction is the mean, with a
    warning. The scores of 'lars', 'stability' and 'univariate' do not depend on the unit of y, nor
    on a constant added to it (up to rounding); those of 'importance' depend on them only through
    the rows that the forest draws.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import ColumnBudgetRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ColumnBudgetRegressor(4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5), len(model.selected_)
    (True, 4)
    """

    contender: ClassVar[Contender] = Contender(
        "column-budget-regressor", "few columns", ensemble=True, grouped=True,
        variants={f"column-budget-{k}-regressor": {"n_columns": k} for k in _BUDGETS},
        shares="column-budget-regressor",
        small={
            "n_columns": 3, "selector": "univariate", "random_state": 0,
            "estimator": RankRidgeRegressor(),
        },
    )  # fmt: skip


_DEPTH = 32  # depth of a ranking, or the budget if that is greater


def _depth(n_columns: float) -> int:
    return max(_DEPTH, int(np.ceil(n_columns)))


def _warn_of_none(model: "_Budget", ranking: Indices, data: Data) -> None:
    """Warn that no column is selected, with the reason and the remedy."""
    constant = "the class frequencies" if data.n_classes else "the mean"
    named = isinstance(model.selector, str)
    selector = repr(model.selector) if named else type(model.selector).__name__
    why = (
        f"selector {selector} gives no column a score, as none is associated with y. Check y and "
        "the columns, or use another selector."
        if not len(ranking)
        else f"no column with a score costs at most n_columns={model.n_columns:g}: raise "
        "n_columns, or lower prices."
    )
    warnings.warn(
        f"{type(model).__name__} selects no column and predicts {constant} for every row: {why}",
        UserWarning,
        stacklevel=2,
    )


def _distinct(data: Data, table: Table, labels: Labels, weight: Floats) -> Data:
    """Return the rows for selectors: copies merged and sorted; with groups the rows as given.

    So random draws depend on the content of rows, not on their order.
    """
    if data.groups is not None:
        return data
    table, labels, weight = merged_copies(table, labels, weight)
    equal = (weight == weight[0]).all()
    return replace(data, X=table.as_held(), y=labels.y, weight=None if equal else weight)


def _vote(members: naming.Members, chosen: Indices, data: Data, weight: Floats) -> Vote:
    if not len(chosen):  # the class frequencies, or the mean
        return uniform_vote(prior_voter(data.y, weight, data.target, data.X.shape[1]), data.target)
    tasks = [MemberTask(one, (6, t), columns=chosen) for t, (_, one) in enumerate(members)]
    fitted = fit_all(data, tasks)
    names = [name for name, _ in members]
    voters = voters_of(fitted, data, [chosen] * len(members), names=names)
    return mean_vote(voters, data.target)


def read_prices(given: Any, schema: Schema, p: int) -> Floats:
    """Return the price of each column, 1 by default."""
    prices = np.ones(p)
    if given is None:
        return prices
    if isinstance(given, Mapping):
        known = schema.words().columns
        index: dict[Any, int] = {name: j for j, name in enumerate(known)}
        index |= dict(enumerate(range(p)))
        named: dict[int, Any] = {}
        for name, price in given.items():
            plain = isinstance(name, str | int | np.integer) and not isinstance(name, bool)
            if not plain or name not in index:
                raise PsephosError(f"prices must name columns of X; got {name!r}.")
            if index[name] in named:
                raise PsephosError(
                    f"prices names a column twice, as {named[index[name]]!r} and as {name!r} "
                    "(integers are indices). Give each column one price."
                )
            named[index[name]] = name
            prices[index[name]] = _price(price, name)
        return prices
    if np.shape(given) != (p,):
        raise PsephosError(
            f"prices must have one number per column, {p}, or be a dict from columns to prices; "
            f"got shape {np.shape(given)}."
        )
    return np.array([_price(price, j) for j, price in enumerate(given)])


def prices_on(given: Any, schema: Schema, columns: Array) -> Any:
    """Return the parameter `prices` for the table reduced to `columns`."""
    if given is None:
        return None
    kept = columns.tolist()
    if not isinstance(given, Mapping):
        return [given[j] for j in kept]
    words = schema.words().columns
    found = {i: given.get(j, given.get(words[j], 1.0)) for i, j in enumerate(kept)}
    names = schema.names
    return {i if names is None else names[kept[i]]: price for i, price in found.items()}


def _price(price: Any, name: Any) -> float:
    try:
        number = -1.0 if isinstance(price, str | bool) else float(price)
    except (TypeError, ValueError):
        number = -1.0
    if not number > 0:  # infinity is allowed: such a column is never selected
        raise PsephosError(f"the price of column {name!r} must be above 0; got {price!r}.")
    return number


def ranked(scores: Floats, prices: Floats) -> Indices:
    """Return the columns with a score above 0, by score divided by price; ties in table order."""
    worth = np.divide(scores, prices)
    order = np.argsort(-worth, kind="stable")
    return order[worth[order] > 0].astype(np.intp)


def bought(ranking: Indices, prices: Floats, budget: float) -> Indices:
    """Return, sorted, the columns selected in the order of the ranking within the budget.

    A column that costs more than the rest of the budget is skipped.
    """
    kept: list[int] = []
    left = float(budget)
    for j in ranking.tolist():
        if prices[j] <= left * (1 + 1e-12):
            kept.append(j)
            left -= float(prices[j])
    return np.array(sorted(kept), dtype=np.intp)
