"""What every estimator shares: one final fit, and what is read off the fitted vote."""

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
from psephos.cautions import warn_of_types
from psephos.estimator.columns import is_lazy
from psephos.estimator.contender import Anatomy, Contender
from psephos.estimator.input import (
    Context,
    FittedVote,
    Schema,
    Table,
    read_schema,
    read_table,
    seed_sequence,
)
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
    """Base of every model: a recipe returns a vote, the rest is here.

    A recipe sets `anatomy`, `constraints` and `contender` and implements `_fit_vote`.

    Parameters
    ----------
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories, as in HistGradientBoostingClassifier. 'from_dtype':
        categorical and text columns of a frame, as the command reads a file.
    n_jobs : int
        Threads; the vote does not depend on it.
    random_state : int, RandomState or None
        Seeds all that is drawn.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only if X had column names, and all were strings. Others (numbers, tuples) are words in
        rules and `features_used_`; columns that are counted from 0 have no names.
    n_features_used_ : int
        Columns that a case without missing values is answered by.
    features_used_, features_backup_ : ndarray
        Their names, or positions; and of columns that are read only where another is missing.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        What moves the score, divided among the columns: see the attribute itself.
    """

    anatomy: ClassVar[Anatomy]
    contender: ClassVar[Contender]
    constraints: ClassVar[Mapping[str, Constraint]]
    extras: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()  # extras that exist only where a parameter asks
    #: The map that held-out answers justify, of models of `compare`; see `psephos.recalibrated`.
    recalibration_: Recalibration | None = None
    #: Cautions that fired and that whoever fitted the model accepted, such as 'FD004 saved-index'.
    accepted_: tuple[str, ...] = ()
    #: What became of classes of its table before the fit (`classes` of `read_table`), their rows.
    joined_: Mapping[str, tuple[str | None, int]] = MappingProxyType({})
    _cloned = False
    _calibrated_on: Profile | None = None  # the summary of rows that a calibration was fitted on
    _sample: SampleRows | None = None  # training rows, within the process
    _calibration_rows: SampleRows | None = None  # and those of a calibration

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
            How much each row counts; None counts each once. Rows of weight 0 are left out.
        groups : array of shape (n_samples,), default=None
            Rows of one group (a subject) are divided neither by a validation share nor a bootstrap.

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
            schema = read_schema(self, X, y, getattr(self, "categorical_features", None))
            table, labels, weight, context = self._training(X, y, sample_weight, groups, schema)
            if is_outermost() and schema.names and isinstance(table.values, np.ndarray):
                listed = not isinstance(getattr(self, "categorical_features", None), str)
                levels = schema.words().levels
                warn_of_types(table.values, schema.names, levels, listed=listed, once=self._cloned)
            if getattr(self, "warm_start", False):
                context = replace(context, previous=self._previous(schema, labels.target))
            return self._learn(table, labels, weight, context, schema)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy, as scikit-learn fits in folds and searches."""
        copy = cast("Self", super().__sklearn_clone__())
        copy._cloned = True
        return copy

    def _learn(
        self,
        table: Table,
        labels: Labels,
        weight: Floats,
        context: Context,
        schema: Schema,
    ) -> Self:
        """Call the recipe and store what it returns (shared by fit, warm start, partial_fit)."""
        vote, extras = self._fit_vote(table, labels, weight, context)
        read = None if hasattr(self, "partial_fit") else vote  # a later call may read others
        sample = SampleRows.of(read, table.values, labels.certain)
        earlier = self._sample if context.further else None
        self._set_fitted(vote, schema, extras, sample.after(earlier))
        return self

    def _previous(self, schema: Schema, target: AnyTarget) -> Vote | None:
        """Return the vote that a warm start goes on from; None before the first fit."""
        if not hasattr(self, "vote_"):
            return None
        now, then = (getattr(t, "classes", np.empty(0)) for t in (target, self.vote_.target))
        if schema != self.schema_ or not np.array_equal(now, then):
            raise PsephosError(
                "with warm_start=True the table needs the columns, categories and classes of the "
                "first fit. To fit another table, set warm_start=False."
            )
        return self.vote_

    def _partial_fit(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow, classes: LabelsLike | None = None
    ) -> Self:
        """Learn from further rows: `partial_fit` of estimators that have one."""
        check_params(self, self.constraints)
        first = not hasattr(self, "vote_")
        categorical = getattr(self, "categorical_features", None)
        schema = read_schema(self, X, y, categorical) if first else self.schema_
        table = read_table(self, X, schema, reset=first)
        labels, weight = self._further_labels(table.values, y, sample_weight, classes)
        kept = np.flatnonzero(weight > 0)
        if len(kept) == 0:
            raise PsephosError("sample_weight is zero on every row: a row needs weight.")
        seed, n = seed_sequence(getattr(self, "random_state", None)), len(weight)
        context = Context(seed, None, kept, getattr(self, "vote_", None), further=True, n_rows=n)
        return self._learn(table.take(kept), labels.take(kept), weight[kept], context, schema)

    def read(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None, groups: PerRow = None
    ) -> tuple[Table, Labels, Floats, Context]:
        """Return what `fit` would work on, for those who look before they fit.

        Returns
        -------
        table, labels, weight, context
            Without the rows of weight 0. The estimator itself is left as it is.
        """
        scratch: Any = clone(self)
        check_params(scratch, scratch.constraints)
        schema = read_schema(scratch, X, y, getattr(self, "categorical_features", None))
        return scratch._training(X, y, sample_weight, groups, schema)

    def _training(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow, groups: Any, schema: Schema
    ) -> tuple[Table, Labels, Floats, Context]:
        table = read_table(self, X, schema, reset=True)
        labels, weight = self._read_labels(table.values, y, sample_weight)
        groups = read_groups(groups, len(labels.y))
        kept = np.flatnonzero(weight > 0)
        seed = seed_sequence(getattr(self, "random_state", None))
        if len(kept) == len(weight):
            return table, labels, weight, Context(seed, groups)
        labels = labels.take(kept)
        groups = None if groups is None else groups[kept]
        return table.take(kept), labels, weight[kept], Context(seed, groups, kept)

    def _read_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow
    ) -> tuple[Labels, Floats]:
        raise NotImplementedError(f"{type(self).__name__} does not say what it predicts")

    def _further_labels(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow, classes: LabelsLike | None
    ) -> tuple[Labels, Floats]:
        raise NotImplementedError(f"{type(self).__name__} does not say what it predicts")

    def _fit_vote(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> FittedVote:
        """Fit: the one method a recipe writes. Parameters have been checked, X and y read.

        Parameters
        ----------
        table : Table
            Rows of positive weight: ``table.dense()`` is (n, p) float64, missing values NaN,
            categories codes; `schema` knows names and categories.
        labels : Labels
            ``labels.y`` are class indices (or numbers); ``labels.target`` goes into the vote, and
            ``labels.target.code[k]`` is the (K,) vote of a voter that is certain of class k: one
            number, -1 or 1, for two classes, SAMME's coding for more.
        weight : ndarray of shape (n,)
            Sample weights, positive.
        context : Context
            Seeds by task, groups, and the vote that a warm start goes on from.

        Returns
        -------
        vote : Vote
        extras : dict
            Further fitted attributes, those named in `extras`; model files keep them.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it is fitted")

    def _set_fitted(
        self,
        vote: Vote,
        schema: Schema,
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
        """Return whether the class is in the registry, and not one derived from such a class."""
        return is_registered(type(self))

    def _has_its_anatomy(self, nothing_found: bool = True) -> bool:
        """Return whether the fitted vote is made of what the class declares.

        With `nothing_found` it may also be a constant, of a class that may find no voter.
        """
        voters: Voters = self.vote_.voters
        weighting: Weighting = self.vote_.weighting
        tags = voters.kind, weighting.tag
        known = tags[0] in self.anatomy.voters and self.anatomy.allows(tags[1])
        if nothing_found and (hasattr(self, "estimator") or "joined voters" in self.anatomy.voters):
            known |= tags[0] == "constant voters" and tags[1] in ("constant", "available")
        return known

    def _check_loaded(self) -> None:
        """Raise PsephosError unless what a file says of a fitted model fits together."""
        check(self._has_its_anatomy(), f"it is not that of {type(self).__name__}")
        numbers = self.vote_.target.kind == "regression"
        check(numbers == isinstance(self, RegressorMixin), "it answers another question")

    # ------------------------------------------------------------------ answering
    def _values(self, X: TableLike) -> Any:
        return self._table(X).values

    def _table(self, X: TableLike) -> Table:
        self._fitted()
        absent = getattr(self, "absent", None) == "vote"
        return read_table(self, X, self.schema_, reset=False, absent=absent)

    def _fitted(self) -> None:
        if not hasattr(self, "vote_"):  # to ask scikit-learn takes longer than many an answer
            check_is_fitted(self, "vote_")

    @staticmethod
    def _flat(score: Floats) -> Floats:
        return score[:, 0] if score.shape[1] == 1 else score

    def predict(self, X: TableLike) -> Array:
        """Return the class, or the number, that each row's vote is for; shape (n_samples,)."""
        values = self._values(X)
        return self.vote_.answers(values)

    def _staged(self, X: TableLike) -> Iterator[tuple[Floats, Any]]:
        values = self._values(X)
        return self.vote_.staged(values)

    def staged_predict(self, X: TableLike) -> Iterator[Array]:
        """Yield the answer of the first 1, 2, ..., T voters."""
        for score, mass in self._staged(X):
            yield self.vote_.decided(score, mass)

    # ------------------------------------------------------------------ reading the vote
    @property
    def n_features_used_(self) -> int:
        """Number of columns that a case without missing values is answered by."""
        self._fitted()
        return len(self.vote_.used)

    @property
    def features_used_(self) -> Array:
        """Columns that a case without missing values is answered by; see `features_backup_`.

        Names if the table had them, else positions.
        """
        self._fitted()
        return self._named(self.vote_.used)

    @property
    def features_backup_(self) -> Array:
        """Columns read only where another is missing: those of surrogates and reserve models.

        Names if the table had them, else positions. Unknown categories are missing values.
        """
        self._fitted()
        return self._named(self.vote_.backup)

    def _named(self, columns: Indices) -> Array:
        names = self.schema_.names
        return columns if names is None else np.asarray(names, dtype=object)[columns]

    @property
    def feature_importances_(self) -> Floats:
        """How much of what moves the score comes from each column; shape (p,).

        Measured on at most 512 training rows, evenly spaced (or of all calls of `partial_fit`).
        Each voter counts for how far its weighted vote is from its training mean, summed over the
        outputs, divided among columns: in a tree by how far each split on the row's path changes
        the vote (above the leaves that is the mean of the training rows in a CART or C4.5, and the
        plain mean of the two children in forests and boosted trees); in a linear model by the terms
        ``|coef_j (x_j - mean_j)|``; in a vote of votes by the importance inside; in a prototype's
        weight by each column's part of the exponent; in a local weight, or that of neighbours, by
        its part of the squared distance from the column means; in other voters (kernels, Gaussian
        models, rules, foreign estimators) equally among those they read.

        Constants, and surrogates that no case needed, get nothing. The sum is 1, or 0 if no column
        moves the score. Two columns' shares do not say what leaving one out would change.
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
                    "keep: it was fitted on a cluster, was made of a model file, or its file was "
                    "written by an older version. Fit it on the training rows."
                )
            self._baseline = baseline_of(self.vote_, self._sample, self.schema_.levels)
        return self._baseline

    def _known_baseline(self) -> Baseline | None:
        """Return what importance is measured from, None where that is not known."""
        return None if self._baseline is None and self._sample is None else self._needed_baseline()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: the training means, and no training rows."""
        if hasattr(self, "vote_"):
            self._known_baseline()
        state: Any = super().__getstate__()
        return state | {name: None for name in ("_sample", "_calibration_rows") if name in state}

    @property
    def anatomy_(self) -> Anatomy:
        """What the fitted vote is made of: its voters, also within voters, weights and read-out."""
        self._fitted()
        vote = self.vote_
        kinds, weights = vote.voters.kinds(), getattr(type(vote.weighting), "tag", "")
        readout, last = vote.readout.score, vote.readout.calibration
        readout += "" if last is None else f", then {last.tag}"
        return Anatomy(kinds, weights, readout, self.anatomy.found_by)

    def usage(self) -> Usage:
        """Return the (T, p) boolean CSR table of which voter (or its weight) reads which column."""
        self._fitted()
        return self.vote_.usage()

    def contributions(self, X: TableLike) -> Floats:
        """Return each voter's contribution to the score, (n, T) for two classes, else (n, T, K)."""
        values = self._values(X)
        terms = self.vote_.contributions(values)
        return terms[:, :, 0] if terms.shape[2] == 1 else terms

    def local_importance(self, X: TableLike) -> Floats:
        """Return per row how much of what moves its score comes from each column.

        By the rule of `feature_importances_`: shape (n, q), a column for each that the vote reads,
        in the order of the table. A row's sum is 1, or 0 where no column moves its score.
        """
        values = self._values(X)
        return self.vote_.local_importance(values, self._needed_baseline())

    def mass(self, X: TableLike) -> Floats:
        """Return the total raw weight of each row, shape (n,): low far from the anchors."""
        values = self._values(X)
        return self.vote_.mass(values)

    def explain(self, X: TableLike) -> Ballots:
        """Return who voted for each row's answer, with what weight, and on which columns.

        Where training cases vote, those are listed that are a neighbour of any of the rows.
        """
        table = self._table(X)
        found = Ballots.of(self.vote_, self.schema_.words(), table.values, table.rows.tolist())
        found.returns.update(self.returns_words())
        return found

    def returns_words(self) -> dict[str, str]:
        """Return by column how often another sample would choose it; of models that estimate it."""
        self._fitted()
        found: dict[int, str] = {}
        for extra in self.extras:
            found |= getattr(getattr(self, extra, None), "returns", dict)()
        names = self.schema_.words().columns
        return {names[j]: words for j, words in found.items()}

    def describe(self) -> list[str]:
        """Return the model as sentences: one on the whole, then a tree's lines or one a voter.

        Voters of equal content are one sentence. Percentages of a normalised vote are of the weight
        over all (for local weights, over the anchors). ``print(model)`` shows the same.
        """
        return self._described()

    def _described(self, *, heaviest: bool = False) -> list[str]:
        self._fitted()
        names = replace(self.schema_.words(), classes=[str(c) for c in self._classes()])
        named = set(self.vote_.voters.voter_names())
        members = getattr(self, "member_names_", ())
        idle = [name for name in members if name not in named] if named <= set(members) else []
        words = [f"Without weight: {listed(idle)} (see member_names_)."] if named and idle else []
        for extra in self.extras:  # what a recipe remembers beside its vote
            summary: Any = getattr(getattr(self, extra, None), "summary", None)
            words += [] if summary is None else summary(names, self.vote_)
        if self.accepted_:
            words += [f"Fitted in spite of what was accepted: {', '.join(self.accepted_)}."]
        words += [f"It was fitted on {joined_words(self.joined_)}"] if self.joined_ else []
        return describe(self.vote_, names, type(self).__name__, heaviest=heaviest) + words

    def _classes(self) -> list[Any]:
        target: Any = self.vote_.target
        return target.classes.tolist() if target.n_classes else []

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
        """Return a fitted estimator of the same class, and answers, over only the columns it reads.

        A vote that reads nothing keeps the first column, since a table needs one.

        Parameters
        ----------
        backup : bool, default=True
            Whether to keep the columns read only where another is missing (`features_backup_`).
            False drops them, with the surrogates and the reserve models that read them. Where a
            value is missing the answer may then be another: a tree sends the case where it sends
            those that no surrogate helps, and a library uses its models of the first rank that
            have all they read, else the training prior. Importances are the whole model's.
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

    def _params_placed(self, schema: Schema) -> dict[str, Any]:
        """Return the parameters that name columns of a table, by their positions in it."""
        return {}

    def reads_categories(self) -> bool:
        """Return whether columns may hold categories, named in `categorical_features`."""
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
    """Warn if a parameter names columns by whole numbers, and the frame X names them otherwise."""
    names: Any = None if is_lazy(X) else getattr(X, "columns", None)
    if names is None:
        return
    listed = list(names)
    whole = any(map(_is_whole, listed))
    if not whole or listed == list(range(len(listed))):
        return
    for name in _NAMING:
        given = getattr(model, name, None)
        of_each = name == "prices" and not isinstance(given, Mapping)  # a price a column
        if not of_each and _has_whole(given):
            warnings.warn(
                f"{type(model).__name__}: {name} holds whole numbers, which are positions (the "
                f"first column is 0), and the columns of X are named by other whole numbers "
                f"({listed[0]!r} is at 0). To give names, give words: {str(listed[0])!r}.",
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
