"""Saved models as the report reads them: sentences, columns, importance and ballots."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, NDArray, Usage
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain import ColumnNetwork, ErrorDisplay
from psephos.explain.effects import Threshold, background, rises, voter_thresholds
from psephos.explain.errors import searched_by
from psephos.files.names import Names, backup_words, percent, signs
from psephos.report.study.folder import Folder, KeptCases, Permuted
from psephos.report.study.options import with_outer_ends
from psephos.report.study.standings import standings
from psephos.report.words import LEAF_SHARE, STATED, VOTE_SHARE, WEIGHTED_SHARE, ShortName, plural
from psephos.vote import Vote
from psephos.vote.ballots import Ballots
from psephos.vote.describing import answer_rule
from psephos.vote.profile import Profile
from psephos.vote.recalibration import Recalibration

_WITHOUT_CASES = "Its votes depend on values of training cases, which this page does not have."
_AGAIN = " “Returns”: an estimate of how often it would be chosen if a quarter of cases were new."
_DIRECTED = 60  # columns of which the direction is found, by importance
_KEPT = ("rows", "left_out")  # fields of parts with names of training rows


@dataclass(frozen=True)
class Reduced:
    """A model restricted to the columns it reads, with its training cases."""

    model: Any
    vote: Any
    X: Floats  # (n, q), categories as the model's codes
    names: list[str]  # (q,) on the page
    whole: list[str]  # (q,) in the table
    levels: dict[int, list[str]]  # the categories of a column, by code

    @property
    def keeps_rows(self) -> bool:
        """Return whether the model holds values of training cases, as anchors or prototypes."""
        return bool(self.vote.training_rows())

    @property
    def profile(self) -> Profile | None:
        """Return the summary of the training columns; None if the file does not have it."""
        found = self.model._known_baseline()
        return None if found is None else found.profile

    def ballot(self, row: Floats) -> tuple[str, list[tuple[str, float]]]:
        """Return the answer to a case as text, and the text and weight of each vote."""
        names = Names(list(self.names), dict(self.levels))
        ballots = Ballots.of(self.vote, names, row[None], ["the case"])
        votes = [(signs(line.words), line.weight) for line in ballots.lines(0)]
        return signs(ballots.answer(0)), votes


@dataclass(frozen=True)
class Opened:
    """A model that was read from its file."""

    model: Any
    classes: list[str]
    head: str
    sentences: list[str]
    columns: dict[str, int]  # column read -> number of voters that read it
    importance: dict[str, float]  # column read -> its importance; empty if the file has none
    whole: dict[str, str]  # short name -> name in the table
    permuted: Permuted | None = None
    returns: dict[str, str] = field(default_factory=dict[str, str])  # column -> folds that read it

    def rank(self, name: str) -> tuple[float, float]:
        """Return the sort key of a column: its importance, then its permutation importance."""
        worse = self.permuted.worse if self.permuted else {}
        return -self.importance.get(name, 0.0), -worse.get(self.whole.get(name, name), 0.0)

    def weight_words(self, name: str) -> str:
        """Return the importances of a column, and how many folds read it, as text."""
        share = self.importance.get(name)
        words = [] if share is None else [f"{percent(share)} of the importance"]
        words += [self.permuted.change(self.whole.get(name, name))] if self.permuted else []
        words += [self.returns.get(name, "")]
        return ", ".join(filter(None, words))

    @property
    def importance_words(self) -> str:
        """Return the explanation of importance and permutation importance."""
        none = "The effect of permuting a column was not measured: folds' models are not kept."
        return (
            "Importance, by which columns and fields are sorted, is how much this model uses a"
            " column: how far it moves answers to training cases, as a share of all."
            f" {self.permuted.words if self.permuted else none}{_AGAIN if self.returns else ''}"
        )

    def reduced(self, cases: KeptCases) -> Reduced:
        """Return the model on its columns, with the training cases."""
        reduced, X = self._table(cases)
        words = reduced.schema_.words()
        values: Any = reduced._table(X).values
        return Reduced(
            model=reduced,
            vote=reduced.vote_,
            X=np.asarray(values, dtype=np.float64),
            names=words.columns,
            whole=[str(self.whole.get(name, name)) for name in words.columns],
            levels=words.levels,
        )

    def network(self) -> ColumnNetwork | None:
        """Return the network of its columns; None unless several voters read several columns."""
        # of the voters only: weights that depend on the case read columns of their own
        usage: Usage = self.model.vote_.voters.usage()
        if (np.diff(usage.indptr) > 1).sum() < 2:
            return None
        return ColumnNetwork.from_usage(usage, self.model.schema_.words().columns)

    def errors(self) -> tuple[ErrorDisplay, dict[str, list[Any]]] | None:
        """Return the errors of a search's candidates, and its figures by number of columns."""
        library = searched_by(self.model)
        if library is None:
            return None
        return ErrorDisplay.from_estimator(self.model), library.dimensions.columns()

    def _table(self, cases: KeptCases) -> tuple[Any, Any]:
        """Return the model reduced to its columns, and those columns of the cases."""
        reduced = self.model.reduce()
        # columns are matched by name here, so that the model accepts an array without names
        if hasattr(reduced, "feature_names_in_"):
            del reduced.feature_names_in_
        if not len(self.model.vote_.columns):
            return reduced, np.full((len(cases.ids), 1), np.nan)
        named: list[str] = reduced.schema_.words().columns
        wanted = [self.whole.get(name, name) for name in named]
        where = {name: j for j, name in enumerate(cases.names)}
        absent = [name for name in wanted if name not in where]
        if absent:
            raise PsephosError(
                f"cases.npz lacks the column {absent[0]!r} that the saved model reads:"
                " run the comparison again."
            )
        return reduced, cases.values[:, [where[name] for name in wanted]]


def open_model(
    path: Path,
    short: Mapping[str, str] = MappingProxyType({}),
    cases: KeptCases | None = None,
    kept: bool = True,
    permuted: Permuted | None = None,
) -> Opened:
    """Read a model file.

    Parameters
    ----------
    short : dict of str to str
        Short names of columns; others keep their own.
    cases : KeptCases, optional
        The training cases, whose names on the page replace those in the file.
    kept : bool, default=True
        Whether the page may show values of training cases.
    permuted : Permuted, optional
        The permutation importance of its columns, if it was measured.

    Raises
    ------
    ModelFileError
        If it is damaged.
    """
    from psephos.models import load

    model: Any = load(path)
    if model.schema_.names is not None:
        names = tuple(short.get(name, name) for name in model.schema_.names)
        model.schema_ = replace(model.schema_, names=names)
    if found := getattr(model, "selection_", None):  # its synonyms have names of the table
        model.selection_ = replace(found, words=tuple(short.get(w, w) for w in found.words))
    if cases is not None and not cases.named:
        called = [cases.called(i) for i in range(len(cases.ids))]
        model.vote_ = renamed_rows(model.vote_, dict(zip(cases.ids, called, strict=True)))
    shown = kept or not model.vote_.training_rows()
    return Opened(
        model=model,
        classes=[str(c) for c in getattr(model, "classes_", ())],
        head=_head(model),
        sentences=[signs(str(s)) for s in model.describe()][1:] if shown else [_WITHOUT_CASES],
        columns=_columns(model),
        importance=_importance(model),
        whole={word: name for name, word in short.items()},
        permuted=permuted,
        returns=model.returns_words(),
    )


@dataclass(frozen=True)
class Facts:
    """Facts about a saved model that the page needs for all models."""

    says: str  # the kind of its answers
    columns: list[str]  # names in the table of the columns that a complete case needs
    recalibration: Recalibration | None  # the map fitted to held-out answers, if it has one


def model_facts(models: Mapping[str, Path]) -> dict[str, Facts]:
    """Return the facts of each model file.

    Raises
    ------
    ModelFileError
        If one is damaged.
    """
    from psephos.models import load

    found: dict[str, Facts] = {}
    for key, path in models.items():
        model: Any = load(path)
        names = model.schema_.words().columns
        used: list[int] = model.vote_.used.tolist()
        found[key] = Facts(
            _says(model.vote_, model.get_params().get("class_weight") is not None),
            [names[j] for j in used],
            getattr(model, "recalibration_", None),
        )
    return found


def _says(vote: Vote, weighed: bool) -> str:
    """Return the kind of a vote's answers, which is their name on the page."""
    if vote.readout.link != "share" or vote.readout.calibration is not None:
        return STATED
    leaf = WEIGHTED_SHARE if weighed else LEAF_SHARE
    return leaf if vote.n_voters == 1 and vote.voters.n_trees(0) == 1 else VOTE_SHARE


def _head(model: VoteEstimator) -> str:
    """Return a sentence on the model; the card lists its columns separately."""
    vote = model.vote_
    read = plural(len(vote.used), "column")
    more = backup_words(len(vote.backup))
    voters = plural(vote.n_voters, "voter")
    rule = answer_rule(vote)
    answer = f" Answer: {rule}." if rule else ""
    return f"{voters} ({vote.weighting_words()}), {read} of {vote.n_features} read{more}.{answer}"


def _columns(model: Any) -> dict[str, int]:
    """Return the number of voters that read each column of a complete case, the most read first."""
    names: list[str] = model.schema_.words().columns
    usage: Any = model.vote_.voters.usage().tocoo()
    read: Counter[int] = Counter(usage.coords[1].tolist())
    used: list[int] = model.vote_.used.tolist()
    return {names[j]: read[j] for j in sorted(used, key=lambda j: (-read[j], j))}


def _importance(model: Any) -> dict[str, float]:
    """Return the importance of each column read; {} if the model file does not have it."""
    if model._known_baseline() is None:
        return {}
    names: list[str] = model.schema_.words().columns
    found = model.feature_importances_
    return {names[j]: float(found[j]) for j in model.vote_.columns.tolist()}


def renamed_rows(part: Any, names: Mapping[str, str]) -> Any:
    """Return a copy of a vote, or of a part of one, with other names of training rows.

    Parameters
    ----------
    names : dict of str to str
        Old name -> new name; rows that are not in it keep their names.
    """
    if isinstance(part, tuple):
        parts = cast("tuple[Any, ...]", part)
        made = tuple(renamed_rows(one, names) for one in parts)
        return made if any(a is not b for a, b in zip(made, parts, strict=True)) else parts
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changed: dict[str, Any] = {}
    for one in fields(part):
        value: Any = getattr(part, one.name)
        if not one.init:
            continue
        if one.name in _KEPT and isinstance(value, np.ndarray):
            rows = cast("NDArray[Any]", value)
            if rows.dtype.kind == "U":
                changed[one.name] = np.array([names.get(v, v) for v in rows.tolist()], dtype=str)
        else:
            made = renamed_rows(value, names)
            if made is not value:
                changed[one.name] = made
    return replace(part, **changed) if changed else part


# ---------------------------------------------------------------------- of a study
@dataclass(frozen=True)
class Saved:
    """The saved models of a study, in the order of the verdict: the most accurate first.

    Parameters
    ----------
    names : dict of str to ShortName
        Name in the table -> name on the page.
    kept : bool
        Whether the page may show values of training cases.
    """

    folder: Folder
    names: Mapping[str, ShortName]
    kept: bool = True
    _opened: dict[str, Opened] = field(default_factory=dict[str, Opened])
    _reduced: dict[str, Reduced] = field(default_factory=dict[str, Reduced])
    _directions: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    _values: dict[str, tuple[dict[int, list[Threshold]], set[int]]] = field(
        default_factory=dict[str, tuple[dict[int, list[Threshold]], set[int]]]
    )

    @property
    def keys(self) -> list[str]:
        """Return the names of the models; [] unless the target is one class per case."""
        return self.readable if self.folder.kind == "classes" else []

    @property
    def readable(self) -> list[str]:
        """Return the names of the models that have a file; [] if no cases were kept."""
        if self.folder.cases is None or not self.folder.cases.ids:
            return []
        return [one.key for one in standings(self.folder) if one.key in self.folder.models]

    def opened(self, key: str) -> Opened:
        """Return a model, read from its file once."""
        if key not in self._opened:
            short = {name: one.text for name, one in self.names.items()}
            given = short, self.folder.cases, self.kept, self.folder.permuted(key)
            self._opened[key] = open_model(self.folder.models[key], *given)
        return self._opened[key]

    def reduced(self, key: str) -> Reduced:
        """Return a model on the columns it reads, with the training cases."""
        if key not in self._reduced:
            cases = self.folder.cases
            assert cases is not None, "models need cases"
            self._reduced[key] = self.opened(key).reduced(cases)
        return self._reduced[key]

    def voter_thresholds(self, key: str) -> tuple[dict[int, list[Threshold]], set[int]]:
        """Return `psephos.explain.effects.voter_thresholds` of a model."""
        if key not in self._values:
            self._values[key] = voter_thresholds(self.reduced(key))
        return self._values[key]

    def directions(self, key: str) -> dict[str, str]:
        """Return how the prediction of a number moves with each of the first 60 columns."""
        if self.folder.kind == "numbers" and key in self.readable and key not in self._directions:
            model, opened = self.reduced(key), self.opened(key)
            rows, names, levels = background(model), model.names, model.levels
            used: list[int] = model.vote.used.tolist()
            ends = [with_outer_ends(x, "rounded" if self.kept else "none") for x in model.X.T]
            self._directions[key] = {
                names[j]: rises(model.vote, rows, j, ends[j], levels.get(j, ()))
                for j in sorted(used, key=lambda j: opened.rank(names[j]))[:_DIRECTED]
            }
        return self._directions.get(key, {})

    @cached_property
    def cuts(self) -> defaultdict[str, Floats]:
        """Return the sorted thresholds of all models, by the name of the column in the table."""
        found = defaultdict[str, set[float]](set)
        for key in self.keys:
            reduced, (thresholds, gradual) = self.reduced(key), self.voter_thresholds(key)
            own = [(j, one.at) for j, each in thresholds.items() for one in each]
            marks = zip(*(one.tolist() for one in reduced.vote.voters.marks()), strict=True)
            for j, at in [*own, *((j, v) for j, v in marks if j not in gradual)]:
                found[reduced.whole[j]].add(at)
        cuts = {name: np.array(sorted(own)) for name, own in found.items()}
        return defaultdict(lambda: np.empty(0), cuts)
