"""The base class of all estimators: the final `fit`, and methods that read the fitted vote."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import Tags, estimator_html_repr, get_tags
from sklearn.utils.validation import check_is_fitted

from psephos._errors import PsephosError
from psephos._types import Array, Estimator, Floats, Indices, LabelsLike, PerRow, TableLike, Usage
from psephos.estimator import input
from psephos.estimator.columns import is_lazy
from psephos.estimator.contender import Anatomy, Contender
from psephos.estimator.labels import Labels, is_outermost, one_fit, read_groups
from psephos.estimator.params import Constraint, Unsaved, check_params, kept
from psephos.files.names import joined_words, listed
from psephos.registry import is_registered
from psephos.runtime.jit import logged_compiling
from psephos.runtime.progress import reporting
from psephos.vote import Ballots, Vote
from psephos.vote.ballot_views import sentences_html, sentences_text
from psephos.vote.describing import describe, trained_words
from psephos.vote.importance import Baseline, SampleRows, baseline_of
from psephos.vote.part import Voters, Weighting, check
from psephos.vote.profile import Profile
from psephos.vote.recalibration import Recalibration
from psephos.vote.target import AnyTarget


class VoteEstimator(BaseEstimator):
    """Base of every model: a subclass (recipe) only returns the vote.

    A recipe sets `anatomy`, `constraints` and `contender` and implements `_fit_vote`.

    Parameters
    ----------
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories, as in HistGradientBoostingClassifier. 'from_dtype':
        categorical and text columns of a frame, as the command reads a file.
    n_jobs : int
        Number of threads; the vote does not depend on it.
    random_state : int, RandomState or None
        Seed of all random numbers.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote.
    n_features_in_ : int
        Number of columns of the training table.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only if X had column names that were all strings. Other names (numbers, tuples) are turned
        into strings in rules and `features_used_`; columns named 0, 1, 2, ... count as unnamed.
    n_features_used_ : int
        Number of columns that predict a case without missing values.
    features_used_, features_backup_ : ndarray
        Names, or positions, of these columns; and of the columns read only if another is missing.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Shares of the columns in the changes of the score: see the attribute itself.
    """

    anatomy: ClassVar[Anatomy]
    contender: ClassVar[Contender]
    constraints: ClassVar[Mapping[str, Constraint]]
    extras: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()  # extras that exist only with some parameters
    #: The calibration by held-out predictions, in models of `compare`: see `psephos.recalibrated`.
    recalibration_: Recalibration | None = None
    #: Cautions that the user accepted before the fit, such as 'FD004 saved-index'.
    accepted_: tuple[str, ...] = ()
    #: Classes that were merged or left out before the fit (`classes` of `read_table`), with rows.
    joined_: Mapping[str, tuple[str | None, int]] = MappingProxyType({})
    _cloned = False
    _calibrated_on: Profile | None = None  # the summary of rows that a calibration was fitted on
    _sample: SampleRows | None = None  # training rows, within the process
    _calibration_rows: SampleRows | None = None  # rows of a calibration, within the process

    # ------------------------------------------------------------------ fitting
    @final
    def fit(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None, *, groups: PerRow = None
    ) -> Self:
        """Fit the vote.

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
            Numbers; NaN is missing; columns named in `categorical_features` may hold anything.
        y : array of shape (n_samples,)
            Class labels, or numbers for a regressor.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows; None: all 1. Rows of weight 0 are left out.
        groups : array of shape (n_samples,), default=None
            Rows of a group (a subject) stay together in validation splits and bootstrap samples.

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            If a parameter, a column, a label or a weight cannot be used; the message names it.
        """
        check_params(self, self.constraints)
        warn_of_positions(self, X)
        with one_fit(), reporting(self), logged_compiling(f"{type(self).__name__}.fit"):
            schema = input.read_schema(self, X, y, getattr(self, "categorical_features", None))
            table, labels, weight, context = self._training(X, y, sample_weight, groups, schema)
            if is_outermost() and schema.names and isinstance(table.values, np.ndarray):
                from psephos.cautions import warn_of_types  # here: its patterns take long to import

                given, levels = getattr(self, "categorical_features", None), schema.words().levels
                warn_of_types(table.values, schema.names, levels, given, once=self._cloned)
            if getattr(self, "warm_start", False):
                context = replace(context, previous=self._previous(schema, labels.target))
            return self._learn(table, labels, weight, context, schema)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy for `sklearn.base.clone`."""
        copy = cast("Self", super().__sklearn_clone__())
        copy._cloned = True
        return copy

    def _learn(
        self,
        table: input.Table,
        labels: Labels,
        weight: Floats,
        context: input.Context,
        schema: input.Schema,
    ) -> Self:
        """Call the recipe and store its result (shared by fit, warm start, partial_fit)."""
        vote, extras = self._fit_vote(table, labels, weight, context)
        read = None if hasattr(self, "partial_fit") else vote  # later calls may use more columns
        sample = SampleRows.of(read, table.values, labels.certain)
        earlier = self._sample if context.further else None
        self._set_fitted(vote, schema, extras, sample.after(earlier))
        return self

    def _previous(self, schema: input.Schema, target: AnyTarget) -> Vote | None:
        """Return the vote that a warm start continues; None before the first fit."""
        if not hasattr(self, "vote_"):
            return None
        now, then = (getattr(t, "classes", np.empty(0)) for t in (target, self.vote_.target))
        if schema != self.schema_ or not np.array_equal(now, then):
            raise PsephosError(
                "with warm_start=True the table must have the columns, categories and classes of "
                "the first fit. To fit another table, set warm_start=False."
            )
        return self.vote_

    def _partial_fit(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow, classes: LabelsLike | None = None
    ) -> Self:
        """Fit more rows: `partial_fit` of estimators that have one."""
        check_params(self, self.constraints)
        first = not hasattr(self, "vote_")
        categorical = getattr(self, "categorical_features", None)
        schema = input.read_schema(self, X, y, categorical) if first else self.schema_
        table = input.read_table(self, X, schema, reset=first)
        labels, weight = self._further_labels(table.values, y, sample_weight, classes)
        kept = np.flatnonzero(weight > 0)
        if len(kept) == 0:
            raise PsephosError("sample_weight is zero on every row: a row needs weight.")
        seed, n = input.seed_sequence(getattr(self, "random_state", None)), len(weight)
        context = input.Context(
            seed, None, kept, getattr(self, "vote_", None), further=True, n_rows=n
        )
        return self._learn(table.take(kept), labels.take(kept), weight[kept], context, schema)

    def read(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None, groups: PerRow = None
    ) -> tuple[input.Table, Labels, Floats, input.Context]:
        """Return the arguments that `fit` would pass to the recipe.

        Returns
        -------
        table, labels, weight, context
            Without the rows of weight 0. The estimator is not changed.
        """
        scratch: Any = clone(self)
        check_params(scratch, scratch.constraints)
        schema = input.read_schema(scratch, X, y, getattr(self, "categorical_features", None))
        return scratch._training(X, y, sample_weight, groups, schema)

    def _training(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow, groups: Any, schema: input.Schema
    ) -> tuple[input.Table, Labels, Floats, input.Context]:
        table = input.read_table(self, X, schema, reset=True)
        labels, weight = self._read_labels(table.values, y, sample_weight)
        groups = read_groups(groups, len(labels.y))
        kept = np.flatnonzero(weight > 0)
        seed = input.seed_sequence(getattr(self, "random_state", None))
        if len(kept) == len(weight):
            return table, labels, weight, input.Context(seed, groups)
        labels = labels.take(kept)
        groups = None if groups is None else groups[kept]
        return table.take(kept), labels, weight[kept], input.Context(seed, groups, kept)

    def _read_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow
    ) -> tuple[Labels, Floats]:
        raise NotImplementedError(f"{type(self).__name__} does not implement _read_labels")

    def _further_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow, classes: LabelsLike | None
    ) -> tuple[Labels, Floats]:
        raise NotImplementedError(f"{type(self).__name__} does not implement _further_labels")

    def _fit_vote(
        self, table: input.Table, labels: Labels, weight: Floats, context: input.Context
    ) -> input.VoteFit:
        """Fit the vote: the one method of a recipe. Parameters, X and y have been validated.

        Parameters
        ----------
        table : Table
            Rows of positive weight: ``table.dense()`` is (n, p) float64 with NaN for missing values
            and codes for categories; `schema` has the names and categories.
        labels : Labels
            ``labels.y`` are class indices (or numbers); ``labels.target`` goes into the vote, and
            ``labels.target.code[k]`` is the (K,) vote of a voter that is certain of class k: one
            number, -1 or 1, for two classes, SAMME's coding for more.
        weight : ndarray of shape (n,)
            Sample weights, positive.
        context : Context
            Seeds by task, groups, and the vote that a warm start continues.

        Returns
        -------
        vote : Vote
        extras : dict
            The fitted attributes named in `extras`; model files keep them.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement _fit_vote")

    def _set_fitted(
        self,
        vote: Vote,
        schema: input.Schema,
        extras: Mapping[str, Any],
        sample: SampleRows | None = None,
        baseline: Baseline | None = None,
    ) -> None:
        self.vote_ = vote
        self._sample = sample
        self._baseline = baseline
        self.recalibration_ = self._calibrated_on = self._calibration_rows = None
        self.accepted_, self.joined_ = (), {}
        self.schema_ = schema
        for name in self.extras:
            vars(self).pop(name, None)
            if extras[name] is not None or name not in self.optional:
                setattr(self, name, extras[name])

    @property
    def is_registered(self) -> bool:
        """Whether the class itself (not a base) is in the registry."""
        return is_registered(type(self))

    def _has_its_anatomy(self, nothing_found: bool = True) -> bool:
        """Return whether the parts of the fitted vote are those that `anatomy` declares.

        With `nothing_found` it may also be a constant, if the fit of the class can find no voters.
        """
        voters: Voters = self.vote_.voters
        weighting: Weighting = self.vote_.weighting
        tags = voters.kind, weighting.tag
        known = tags[0] in self.anatomy.voters and self.anatomy.allows(tags[1])
        if nothing_found and (hasattr(self, "estimator") or "joined voters" in self.anatomy.voters):
            known |= tags[0] == "constant voters" and tags[1] in ("constant", "available")
        return known

    def _check_loaded(self) -> None:
        """Raise PsephosError unless the parts of a loaded model are consistent."""
        check(self._has_its_anatomy(), f"it is not that of {type(self).__name__}")
        same = (self.vote_.target.kind == "regression") == isinstance(self, RegressorMixin)
        check(same, "its class predicts another kind of target")

    # ------------------------------------------------------------------ predicting
    def _values(self, X: TableLike) -> Any:
        return self._table(X).values

    def _table(self, X: TableLike) -> input.Table:
        self._fitted()
        absent = getattr(self, "absent", None) == "vote"
        return input.read_table(self, X, self.schema_, reset=False, absent=absent)

    def _fitted(self) -> None:
        if not hasattr(self, "vote_"):  # scikit-learn's check takes longer than many predictions
            check_is_fitted(self, "vote_")

    @staticmethod
    def _flat(score: Floats) -> Floats:
        return score[:, 0] if score.shape[1] == 1 else score

    def predict(self, X: TableLike) -> Array:
        """Return the predicted class, or number, of each row; shape (n_samples,)."""
        values = self._values(X)
        return self.vote_.answers(values)

    def _staged(self, X: TableLike) -> Iterator[tuple[Floats, Any]]:
        values = self._values(X)  # raises if the model is not fitted
        return self.vote_.staged(values)

    def staged_predict(self, X: TableLike) -> Iterator[Array]:
        """Yield the predictions of the first 1, 2, ..., T voters."""
        for score, mass in self._staged(X):
            yield self.vote_.decided(score, mass)

    # ------------------------------------------------------------------ reading the vote
    @property
    def n_features_used_(self) -> int:
        """Number of columns that predict a case without missing values."""
        return len(self.features_used_)

    @property
    def features_used_(self) -> Array:
        """Columns that predict a case without missing values; see also `features_backup_`.

        Names if the table had them, else positions.
        """
        self._fitted()
        return self._named(self.vote_.used)

    @property
    def features_backup_(self) -> Array:
        """Columns read only if another is missing: those of surrogates and reserve models.

        Names if the table had them, else positions. Unknown categories are missing values.
        """
        self._fitted()
        return self._named(self.vote_.backup)

    def _named(self, columns: Indices) -> Array:
        names = self.schema_.names
        return columns if names is None else np.asarray(names, dtype=object)[columns]

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in the changes of the score over training rows; shape (p,).

        Measured on at most 512 training rows, evenly spaced (or from all calls of `partial_fit`).
        The size of a voter in a row is the distance of its weighted vote from its training mean,
        summed over the outputs. It is divided among the columns:

        - in a tree, by how far each split on the row's path changes the vote (the vote of an inner
          node is the mean of its training rows in CART and C4.5, and the plain mean of its two
          children in forests and boosted trees);
        - in a linear model, by the terms ``|coef_j (x_j - mean_j)|``;
        - in a vote of votes, by the importances of the inner vote;
        - in the weight of a prototype, by the columns' parts of the exponent; in a local weight, or
          that of neighbours, by their parts of the squared distance from the column means;
        - in other voters (kernels, Gaussian models, rules, other libraries' estimators), equally.

        Constants, and surrogates that no case needed, get 0. The sum is 1, or 0 if no column
        changes the score. The share of a column is not the effect of leaving it out.
        """
        baseline = self._needed_baseline()
        shares = np.zeros(self.vote_.n_features)
        shares[self.vote_.columns] = baseline.importance
        return shares

    def _needed_baseline(self) -> Baseline:
        self._fitted()
        if self._baseline is None:
            if self._sample is None:
                raise PsephosError(
                    f"importance needs training rows, which this {type(self).__name__} does not "
                    "keep: it was fitted on a cluster, comes from a model file, or its file was "
                    "written by an older version. Fit it on the training rows."
                )
            self._baseline = baseline_of(self.vote_, self._sample, self.schema_.levels)
        return self._baseline

    def _known_baseline(self) -> Baseline | None:
        """Return the training means that importance needs; None if they are not known."""
        return None if self._baseline is None and self._sample is None else self._needed_baseline()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle: with the training means, without training rows."""
        if hasattr(self, "vote_"):
            self._known_baseline()
        state: Any = super().__getstate__()
        return state | {name: None for name in ("_sample", "_calibration_rows") if name in state}

    @property
    def anatomy_(self) -> Anatomy:
        """The parts of the fitted vote: its voters, also nested ones, weights and read-out."""
        self._fitted()
        vote = self.vote_
        kinds, weights = vote.voters.kinds(), getattr(type(vote.weighting), "tag", "")
        readout, last = vote.readout.score, vote.readout.calibration
        readout += "" if last is None else f", then {last.tag}"
        return Anatomy(kinds, weights, readout, self.anatomy.found_by)

    def usage(self) -> Usage:
        """Return a (T, p) boolean CSR array: whether a voter, or its weight, reads a column."""
        self._fitted()
        return self.vote_.usage()

    def contributions(self, X: TableLike) -> Floats:
        """Return each voter's contribution to the score, (n, T) for two classes, else (n, T, K)."""
        values = self._values(X)
        terms = self.vote_.contributions(values)
        return terms[:, :, 0] if terms.shape[2] == 1 else terms

    def local_importance(self, X: TableLike) -> Floats:
        """Return the share of each column in the change of the score, for each row.

        It is defined as in `feature_importances_`: shape (n, q), for the q columns that the vote
        reads, in the order of the table. A row's sum is 1, or 0 if no column changes its score.
        """
        values = self._values(X)
        return self.vote_.local_importance(values, self._needed_baseline())

    def mass(self, X: TableLike) -> Floats:
        """Return the total raw weight of each row, shape (n,): low far from the anchors."""
        values = self._values(X)
        return self.vote_.mass(values)

    def explain(self, X: TableLike) -> Ballots:
        """Return the ballots of each row: each voter's vote, its weight, and its columns.

        If training cases vote, only those are listed that are a neighbour of any of the rows.
        """
        table = self._table(X)
        found = Ballots.of(self.vote_, self.schema_.words(), table.values, table.rows.tolist())
        found.returns.update(self.returns_words())
        return found

    def returns_words(self) -> dict[str, str]:
        """Return for each column how often other samples select it, if the model estimated it."""
        self._fitted()
        found: dict[int, str] = {}
        for extra in self.extras:
            found |= getattr(getattr(self, extra, None), "returns", dict)()
        names = self.schema_.words().columns
        return {names[j]: words for j, words in found.items()}

    def describe(self) -> list[str]:
        """Return the model as sentences: a summary, then the lines of a tree, or one per voter.

        Voters of equal content share a sentence. Percentages of a normalised vote are shares of the
        total weight (local weights: over the anchors). ``print(model)`` shows the same.
        """
        return self._described()

    def _described(self, *, heaviest: bool = False) -> list[str]:
        self._fitted()
        target: Any = self.vote_.target
        classes = target.classes.tolist() if target.n_classes else []
        names = replace(self.schema_.words(), classes=[str(c) for c in classes])
        named = set(self.vote_.voters.voter_names())
        members = getattr(self, "member_names_", ())
        idle = [name for name in members if name not in named] if named <= set(members) else []
        words = [f"Without weight: {listed(idle)} (see member_names_)."] if named and idle else []
        for extra in self.extras:
            summary: Any = getattr(getattr(self, extra, None), "summary", None)
            words += [] if summary is None else summary(names, self.vote_)
        if self.accepted_:
            words += [f"Fitted with accepted cautions: {', '.join(self.accepted_)}."]
        words += [f"It was fitted on {joined_words(self.joined_)}"] if self.joined_ else []
        return describe(self.vote_, names, type(self).__name__, heaviest=heaviest) + words

    def __str__(self) -> str:
        return sentences_text(self.describe()) if hasattr(self, "vote_") else repr(self)

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        if not hasattr(self, "vote_"):
            return diagram
        head, *voters = self._described(heaviest=True)
        known = trained_words(self.vote_, self.schema_.words().columns, self._known_baseline())
        screen = sentences_html([head, *known, *voters])
        return f"{screen}<details><summary>Parameters</summary>{diagram}</details>"

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": str(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown

    def reduce(self, backup: bool = True) -> Self:
        """Return the fitted estimator on only the columns it reads, with the same predictions.

        A vote that reads no column keeps the first, since a table needs one.

        Parameters
        ----------
        backup : bool, default=True
            Whether to keep the columns read only if another is missing (`features_backup_`). False
            drops them, with the surrogates and the reserve models that read them. Predictions may
            then differ where a value is missing: a tree uses the branch for cases that no surrogate
            can send, and a library uses its models of the first rank whose columns are all
            measured, else the training prior. Importances are those of the whole model.
        """
        self._fitted()
        vote = self.vote_ if backup else self.vote_.primary()
        columns = vote.columns if len(vote.columns) else np.array([0])
        reduced: Any = clone(self)
        schema = self.schema_.select(columns)
        if not isinstance(getattr(self, "categorical_features", None), str | None):
            named = [schema.names[j] if schema.names else j for j in schema.levels]
            reduced.set_params(categorical_features=named or None)
        lost = {n for n, v in self.get_params(deep=False).items() if isinstance(v, Unsaved)}
        reduced.set_params(**{n: v for n, v in self._params_on(columns).items() if n not in lost})
        extras: dict[str, Any] = {name: getattr(self, name, None) for name in self.extras}
        if not backup:
            extras = {n: v.primary() if hasattr(v, "primary") else v for n, v in extras.items()}
        extras = {n: v.select(columns) if hasattr(v, "select") else v for n, v in extras.items()}
        schema.name_columns(reduced)
        baseline, rows = self._known_baseline(), self._calibrated_on
        baseline = baseline if backup or baseline is None else baseline.primary(self.vote_)
        reduced._set_fitted(vote.select(columns), schema, extras, None, baseline)
        reduced._sample = self._sample and self._sample.reduced(vote)
        reduced._calibration_rows = self._calibration_rows and self._calibration_rows.reduced(vote)
        reduced._calibrated_on = rows and rows.take(np.isin(self.vote_.columns, vote.columns))
        reduced.recalibration_, reduced.accepted_ = self.recalibration_, self.accepted_
        reduced.joined_ = self.joined_
        return reduced

    def _params_on(self, columns: Array) -> dict[str, Any]:
        """Return the parameters that name columns, on the table reduced to `columns`."""
        return {}

    def _params_placed(self, schema: input.Schema) -> dict[str, Any]:
        """Return the parameters that name columns of a table, by their positions in it."""
        return {}

    def reads_categories(self) -> bool:
        """Return whether the model supports `categorical_features`."""
        voter: Any = kept(getattr(self, "estimator", None))
        known = "categorical_features" in self.get_params(deep=False)
        return known and (
            voter is None or (isinstance(voter, VoteEstimator) and voter.reads_categories())
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        voter = kept(getattr(self, "estimator", None))
        reads = get_tags(voter).input_tags if voter is not None else None
        tags.input_tags.allow_nan = reads is None or reads.allow_nan
        tags.input_tags.sparse = reads is None or reads.sparse
        return tags


_NAMING = ("categorical_features", "distance_columns", "prices", "views")


def warn_of_positions(model: Estimator, X: TableLike) -> None:
    """Warn if a parameter has column positions, but the column names of X are other integers."""
    names: Any = None if is_lazy(X) else getattr(X, "columns", None)
    if names is None:
        return
    listed = list(names)
    whole = any(map(_is_whole, listed))
    if not whole or listed == list(range(len(listed))):
        return
    for name in _NAMING:
        given = getattr(model, name, None)
        of_each = name == "prices" and not isinstance(given, Mapping)  # one price per column
        if not of_each and _has_whole(given):
            warnings.warn(
                f"{type(model).__name__}: {name} holds whole numbers, which are positions (the "
                f"first column is 0), and the columns of X are named by other whole numbers "
                f"({listed[0]!r} is at 0). To give names, give strings: {str(listed[0])!r}.",
                UserWarning,
                stacklevel=4,
            )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _has_whole(value: Any) -> bool:
    """Return whether a parameter names columns by whole numbers, also within views."""
    if isinstance(value, Mapping):
        return any(map(_is_whole, value))
    if isinstance(value, str) or np.ndim(np.asarray(value, dtype=object)) == 0:
        return False
    parts = [one[-1] if isinstance(one, tuple | list) and one else one for one in value]
    return any(_is_whole(p) or (not isinstance(p, str) and _has_whole(p)) for p in parts)
