"""What the columns of a training table were, and which column of a later table is which."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from narwhals.dependencies import is_pandas_like_dataframe
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.columns import as_frame, refuse_repeated_names, word_of_name
from psephos.files.cells import Cells
from psephos.vote.names import Names


@dataclass(frozen=True)
class Schema:
    """What the columns of the training table were."""

    n_features: int
    names: tuple[str, ...] | None = None  # column names, if the table had them
    # The categories of each categorical column; the code of a value is its place in the tuple. A
    # value that is not among them is read as missing.
    levels: Mapping[int, tuple[Any, ...]] = field(default_factory=dict[int, tuple[Any, ...]])
    # Columns whose type says what their categories are: those may be without rows. Of the others
    # the categories are what the table of training holds. Not known after a model was loaded.
    declared: frozenset[int] = field(default=frozenset(), compare=False)
    # how the cells of the file of training were written, for those who ask with another file
    cells: Cells = field(default_factory=Cells, compare=False)
    # whether columns of a frame are found by name, in any order and among others
    by_name: bool = field(default=False, compare=False)
    # whether the names are words for numbers or tuples: scikit-learn then knows of no names
    spelt: bool = field(default=False, compare=False)
    # Without names: where the columns were in the table that was fitted. None: at 0, 1, ...; none
    # at all where a file of an older version does not say so.
    places: tuple[int, ...] | None = field(default=None, compare=False)

    @property
    def known(self) -> tuple[str, ...]:
        """Return what a later table may call the columns: their names, or where they were."""
        if self.names is not None:
            return self.names
        return tuple(map(str, range(self.n_features) if self.places is None else self.places))

    def name_columns(self, model: Any) -> Self:
        """Set what scikit-learn keeps of columns: n_features_in_, and their names if strings."""
        model.n_features_in_ = self.n_features
        if self.names is not None and not self.spelt:
            model.feature_names_in_ = np.asarray(self.names, dtype=object)
        return self

    def columns_of(self, given: Any, parameter: str) -> list[int]:
        """Return the sorted columns that a parameter lists by name or position, or masks."""
        listed, p = np.asarray(given), self.n_features
        values: list[Any] = listed.tolist()
        if listed.dtype.kind == "b":
            if listed.shape != (p,):
                raise PsephosError(
                    f"{parameter} is a mask of {listed.size} values for {p} columns: give one "
                    "value per column."
                )
            return np.flatnonzero(listed).tolist()
        if listed.dtype.kind in "iu":
            outside = [j for j in values if not 0 <= j < p]
            if outside:
                raise PsephosError(
                    f"{parameter} names column {outside[0]}, but the table has {p} columns."
                )
            return sorted(set(values))
        where = {name: j for j, name in enumerate(self.names or ())}
        unknown = [str(name) for name in values if str(name) not in where]
        if unknown:
            raise PsephosError(
                f"{parameter} names {unknown[0]!r}, which is not a column of the table."
            )
        return sorted({where[str(name)] for name in values})

    def words(self) -> Names:
        """Return the words for ballots; unnamed columns are called 'column j'."""
        names = self.names or tuple(f"column {j}" for j in range(self.n_features))
        return Names(list(names), {j: [str(v) for v in vs] for j, vs in self.levels.items()})

    def select(self, columns: NDArray[np.intp]) -> "Schema":
        """Return the schema of the table reduced to `columns`, found by name if they have names."""
        kept = [int(j) for j in columns]
        names = tuple(self.names[j] for j in kept) if self.names else None
        levels = {i: self.levels[j] for i, j in enumerate(kept) if j in self.levels}
        places = kept if self.places is None else [self.places[j] for j in kept if self.places]
        return Schema(
            len(kept), names, levels, cells=self.cells, by_name=names is not None,
            spelt=self.spelt, places=None if names else tuple(places),
        )  # fmt: skip


# ---------------------------------------------------------------------- columns of a later table
_LISTED = 5  # names of a kind, as scikit-learn lists them


def in_words(X: Any) -> Any:
    """Return a frame with strings as column names, or unchanged if it counts its columns.

    Columns that are counted 0, 1, ..., as pandas does by default, have no names: they are found
    by position, as those of an array are.
    """
    if not is_pandas_like_dataframe(X):
        return X
    names = list(X.columns)
    if _is_counted(names) or all(isinstance(name, str) for name in names):
        return X
    refuse_repeated_names(X)
    X = X.copy(deep=False)
    X.columns = [word_of_name(name) for name in names]
    return X


def _is_counted(names: Sequence[Any]) -> bool:
    whole = not any(isinstance(name, str | bool | float | tuple) for name in names)
    return whole and list(names) == list(range(len(names)))


def names_in(frame: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns, None if they are counted."""
    names = list(frame.columns)
    return None if _is_counted(names) else tuple(map(str, names))


def arranged(model: Any, X: Any, schema: Schema) -> Any:
    """Return a later frame, its columns as those of the fit, or raise PsephosError.

    Names are compared in words. Where neither table names its columns, or only one does (a warning
    says so), columns are found by position. The model of a reduced table finds them by name.
    """
    frame = as_frame(X)
    names, known = names_in(frame), schema.known
    given = tuple(str(name) for name in frame.columns)
    kind = type(model).__name__
    by_place = names is None and schema.names is None and len(given) == schema.n_features
    if by_place or (set(given).isdisjoint(known) and None in (names, schema.names)):
        _warn_of_one_side(kind, names, schema.names, hasattr(model, "feature_names_in_"))
    elif schema.by_name or (schema.names is None and schema.places):
        return _selected(frame, given, known)
    elif names is not None or schema.names is not None:
        _refuse_other_names(given, known)
    if len(given) != schema.n_features:
        raise PsephosError(
            f"X has {len(given)} features, but {kind} is expecting {schema.n_features} features as "
            "input: give the columns of the table that it was fitted on."
        )
    return X


def _warn_of_one_side(kind: str, names: Any, fitted: Any, known: bool) -> None:
    if names is not None and fitted is None:
        words = f"X has feature names, but {kind} was fitted without feature names"
    elif names is None and fitted is not None and known:
        words = f"X does not have valid feature names, but {kind} was fitted with feature names"
    else:
        return
    warnings.warn(words, UserWarning, stacklevel=4)


def _selected(frame: Any, given: Sequence[str], wanted: Sequence[str]) -> Any:
    """Return the wanted columns, by name and in their order."""
    lacking = [name for name in wanted if name not in given]
    if lacking:
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        raise PsephosError(
            f"the table has no column {lacking[0]!r}{more}, which the model reads: add it, with "
            "missing values where it was not measured."
        )
    where = {name: j for j, name in enumerate(given)}
    return frame[:, [where[name] for name in wanted]].to_native()


def _listed(names: Sequence[str]) -> list[str]:
    return [f"- {name}" for name in names[:_LISTED]] + ["- ..."] * (len(names) > _LISTED)


def _refuse_other_names(given: Sequence[str], known: Sequence[str]) -> None:
    """Raise PsephosError, in the words that scikit-learn's users know, if names differ."""
    if tuple(given) == tuple(known):
        return
    lines = ["The feature names should match those that were passed during fit."]
    strange, lacking = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    if strange:
        lines += ["Feature names unseen at fit time:", *_listed(strange)]
    if lacking:
        lines += ["Feature names seen at fit time, yet now missing:", *_listed(lacking)]
        lines.append("Add what is missing, with missing values where it was not measured.")
    if strange:
        lines.append("Drop or rename columns unseen in fit.")
    elif not lacking:
        j = next(j for j, name in enumerate(known) if given[j] != name)
        lines += [
            "Feature names must be in the same order as they were in fit.",
            f"Column {given[j]!r} is at the position of {known[j]!r}: give the columns in the "
            "order of the fit; model.reduce() finds those that it reads by name.",
        ]
    raise PsephosError("\n".join(lines))
