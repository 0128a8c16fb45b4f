"""The shared part of `predict` and `explain`: a model file, with cases on the columns it reads."""

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, ColumnLists, NDArray
from psephos.cautions import Given, cautions_on
from psephos.cautions.registry import OF_CASES
from psephos.cli.words import say
from psephos.files.atomic import whole
from psephos.files.cases import Wanted
from psephos.files.columns import TOTAL
from psephos.files.escaping import disarmed_row, printable
from psephos.files.formats import Reading
from psephos.files.sheet import read_cases
from psephos.files.text import Header
from psephos.modelfile import read
from psephos.vote import Ballots
from psephos.vote.codec import decode
from psephos.vote.describing import returns_words
from psephos.vote.multiplicity import multiplicity_of
from psephos.vote.recalibration import no_map
from psephos.vote.threshold import at_threshold, with_calibration


def place_of(positive: str | None, classes: Sequence[str]) -> int:
    """Return the index of the class of a threshold; by default the second."""
    if not classes:
        raise PsephosError(
            "--threshold and --positive need a classifier: this model predicts numbers."
        )
    if positive is None:
        return 1
    if positive not in classes:
        raise PsephosError(f"--positive must be one of {', '.join(classes)}; got {positive!r}.")
    return list(classes).index(positive)


def _first(header: Header, read: set[str], *, named: bool) -> list[str]:
    """Return the name of the first column, which may name a total, unless the model reads it."""
    named = named and header.named and not header.of_arrays
    return [name for name in header.names[:1] if named and name not in read]


class Answering:
    """A model file, reduced to the columns it reads, with the cases to predict.

    Notes on how the table was read go to standard error.

    Parameters
    ----------
    model_path, table_path : Path
    id_column : str or None
        The column that names the cases; None: `row N`, with the line of a csv file, or the row of
        an npz file from 0.
    missing, decimal, thousands, limits : optional
        The notation of cells; by default that of the training table.
    keep_word : sequence of str, default=()
        Words that are values although they mean missing by default.
    calibrated : bool, default=False
        Whether to use the recalibration by held-out predictions; PsephosError if the file has none.
    threshold : float, optional
        The probability from which a class is predicted, in place of the file's own.
    positive : str, optional
        That class; by default the second.
    **how : optional
        How the table is stored in its file: the fields of `Reading`.
    """

    def __init__(
        self,
        model_path: Path,
        table_path: Path,
        id_column: str | None,
        *,
        missing: Sequence[str] | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        keep_word: Sequence[str] = (),
        limits: str | None = None,
        calibrated: bool = False,
        threshold: float | None = None,
        positive: str | None = None,
        **how: Any,
    ) -> None:
        stored = read(model_path)
        self.recalibration = stored.recalibration if calibrated else None
        if calibrated and self.recalibration is None:
            raise PsephosError(no_map(str(model_path), stored.vote.target.n_classes))
        # in a library, only models whose columns were measured vote
        partial_vote = stored.manifest["params"].get("absent") == "vote"
        library: Any = stored.model() if partial_vote else None
        self.absent = getattr(library, "absent", None) == "vote"
        schema, columns = stored.schema, stored.vote.columns
        reads: list[int] = columns.tolist()
        backup: list[int] = stored.vote.backup.tolist()
        levels = {j: values for j, values in schema.levels.items() if j in reads}
        wanted = Wanted(schema.n_features, reads, schema.names, levels, self.absent, backup)
        first = partial(_first, read={*map(wanted.word, reads)}, named=schema.names is not None)
        cases = read_cases(
            table_path,
            wanted,
            id_column,
            cells=schema.cells.but(missing, decimal, thousands, keep_word, limits),
            missing=missing or (),
            how=Reading(**how),
            also=first,
        )
        for note in cases.notes:
            say(f"Note: {note}")
        self.ids = cases.ids
        self.X = cases.X
        if not reads:  # a table needs a column
            columns, self.X = np.array([0]), np.full((len(cases.ids), 1), np.nan)
        self.vote, self.schema = stored.vote.select(columns), schema.select(columns)
        if self.recalibration is not None:
            self.vote = with_calibration(self.vote, self.recalibration.calibration)
        if threshold is not None:
            place = place_of(positive, self.classes)
            self.vote = at_threshold(self.vote, threshold, place)
        elif positive is not None:
            place_of(positive, self.classes)
            raise PsephosError("--positive is the class of --threshold: give both, or neither.")
        for rule in filter(None, [getattr(self.vote.target, "rule", str)()]):
            say(f"Note: the prediction is {rule}.")
        self._stored = stored
        self._names = schema.words().select(columns.tolist())  # those of the training table
        self._library: Any = library.reduce() if self.absent else None
        last = [str(w) for _ in first(cases.sheet.header) for w in cases.sheet.words[0][-1:]]
        self._show_cautions([*self.ids[:-1], *([*filter(TOTAL.fullmatch, last)] or self.ids[-1:])])
        # the columns were matched here, so the model gets a plain array
        if self.absent:
            vars(self._library).pop("feature_names_in_", None)

    def _show_cautions(self, rows: list[str]) -> None:
        """Print the cautions on the cases; `rows` are names that may be those of totals."""
        baseline = self._baseline() if self._stored.vote.columns.size else None
        if baseline is not None and baseline.profile is not None:
            names, quantiles = self._names.columns, baseline.profile.quantiles
            given = Given(self.X, names, quantiles=quantiles, rows=rows)
            for one in cautions_on(given, OF_CASES):
                say(f"{one}")

    @property
    def classes(self) -> list[str]:
        """Return the class labels as words; [] of a regressor."""
        target: Any = self.vote.target
        return [str(one) for one in target.classes] if target.n_classes else []

    @property
    def neighbours(self) -> bool:
        """Return whether training cases vote."""
        return self.vote.voters.are_cases()

    @property
    def voters_differ(self) -> bool:
        """Return whether each case has voters of its own: those that have a weight on it."""
        return self.vote.weighting.weighs_few

    @property
    def returns(self) -> list[str]:
        """Return a sentence on how often other samples choose the columns, if estimated."""
        if "selection_" not in self._stored.manifest["extras"]:
            return []
        return returns_words(self._stored.model().returns_words())

    @property
    def multilabel(self) -> bool:
        """Return whether a case may have several of the labels."""
        return self.vote.target.kind == "multilabel"

    def answers(self, X: NDArray[np.float64]) -> tuple[Array, list[list[float]], list[str]]:
        """Return each row's class or number, probabilities ([] for numbers) and 'answered'."""
        vote = self.vote
        score, mass = vote.score_and_mass(X)
        answers = vote.decided(score, mass)
        answered = ["false" if why else "true" for why in vote.unanswered(X, score, mass)]
        if not vote.target.n_classes:
            return answers, [[]] * len(X), answered
        return answers, vote.readout.probabilities(score, vote.target, mass).tolist(), answered

    def spread(self, X: NDArray[np.float64], quantiles: Sequence[float]) -> list[tuple[str, ...]]:
        """Return each row's standard deviation and quantiles; the vote must have densities."""
        from psephos.models.prototypes.mixture import mixture_of

        found = mixture_of(self.vote, X)
        table = np.column_stack([np.sqrt(found.moments()[1]), found.quantile(quantiles)])
        return [tuple(map(repr, row)) for row in table.tolist()]

    def ballots(self) -> Iterator[Ballots]:
        """Yield the ballots of some cases at a time, of one if the cases' voters differ."""
        for ids, X in self.blocks(1) if self.voters_differ else self.blocks():
            yield Ballots.of(self.vote, self._names, X, ids)

    def multiplicity(self, X: NDArray[np.float64]) -> list[tuple[int, int, str]]:
        """Return for each row how many models voted and disagree, and the class of these."""
        found, classes = multiplicity_of(self.vote, X), self.classes
        rival = [classes[k] if k >= 0 else "" for k in found.rival.tolist()]
        return list(zip(found.n_models.tolist(), found.against.tolist(), rival, strict=True))

    def next_columns(self, X: NDArray[np.float64]) -> list[tuple[Any, ...]]:
        """Return for each row the missing column with the largest mean change, and this change.

        Cells are empty if nothing is missing; the column is '' and the change 0.0 if no value
        changes the prediction.
        """
        from psephos.explain.missing_columns import next_of

        baseline = self._baseline()
        if baseline is None or baseline.profile is None:
            raise PsephosError(
                "the model file has no summary of its training columns (it was written by an "
                "older version): fit the model again."
            )
        found = next_of(self.vote, baseline.profile, self._names.columns, X, range(len(X)))
        first: dict[int, tuple[str, str]] = dict.fromkeys(found.unmoved, ("", "0.0"))
        for case, name, change in zip(found.case, found.column, found.change.tolist(), strict=True):
            first.setdefault(case, (name, repr(change)))
        return [first.get(case, ("", "")) for case in range(len(X))]

    def _baseline(self) -> Any:
        stored = self._stored
        return decode(stored.manifest.get("baseline"), stored.arrays)

    def usable(self, X: NDArray[np.float64]) -> ColumnLists:
        """Return for each row which models of a library had all columns they need."""
        levels = [self.schema.levels.get(j) for j in range(self.schema.n_features)]
        return self._library.usable(_with_levels(X, levels))

    def blocks(self, size: int = 512) -> Iterator[tuple[list[str], NDArray[Any]]]:
        """Yield (ids, X) of some rows at a time."""
        for start in range(0, len(self.ids), size):
            yield self.ids[start : start + size], self.X[start : start + size]


def _with_levels(codes: NDArray[np.float64], levels: Sequence[Any]) -> Array:
    """Return the cases with the model's own levels in place of their codes."""
    if not any(known is not None for known in levels):
        return codes
    table = codes.astype(object)
    for k, known in enumerate(levels):
        if known is not None:
            table[:, k] = [None if code != code else known[int(code)] for code in codes[:, k]]
    return table


class _Sheet:
    """Writes rows of a csv file, `disarmed` if `safe`, with escapes of controls on a terminal."""

    def __init__(self, file: Any, safe: bool):
        self._csv, self._safe = csv.writer(file, lineterminator="\n"), safe
        self._terminal = file.isatty()

    def writerow(self, cells: Iterable[Any]) -> None:
        if self._terminal:
            cells = [printable(cell) if isinstance(cell, str) else cell for cell in cells]
        self._csv.writerow(disarmed_row(cells) if self._safe else cells)


def refuse_overwriting(out: Path | None, *read: Path) -> None:
    """Raise PsephosError if the output would overwrite an input."""
    for path in read:
        if out is not None and out.exists() and path.exists() and out.samefile(path):
            raise PsephosError(f"--out {str(out)!r} is an input file: give another.")


@contextmanager
def writer(out: Path | None, safe: bool = False) -> Iterator[Any]:
    """Yield a csv writer on a file (written atomically) or on standard output.

    `safe` disarms the cells that a spreadsheet would run as formulas.
    """
    if out is None:
        # if redirected, UTF-8 as with --out, or labels would be written as escapes
        if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
            sys.stdout.reconfigure(encoding="utf-8")
        yield _Sheet(sys.stdout, safe)
        return
    with whole(out) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        try:
            yield _Sheet(text, safe)
        finally:
            text.detach()
