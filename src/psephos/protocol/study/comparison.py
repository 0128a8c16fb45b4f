"""The result of a comparison: its figures as rows and frames, and displays of them."""

import math
import textwrap
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, JsonObject, NDArray
from psephos.explain.drawing import Display, plain
from psephos.files.escaping import printable
from psephos.files.names import decimals
from psephos.files.near import suggest
from psephos.protocol.evaluation import statistics
from psephos.protocol.evaluation.scores import (
    display_name,
    kept_metric,
    kind_of,
    measures_for,
    ranked_by,
    with_chosen,
)
from psephos.protocol.evaluation.stability import Stability, positions_of
from psephos.protocol.study.outputs import result_columns
from psephos.vote.ballot_views import table_html
from psephos.vote.frames import frame_of


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of a comparison.

    Parameters
    ----------
    results : list of dict
        One row per model, repeat and fold, in this order; keys are the columns of results.csv;
        figures that are not defined are None.
    about : dict
        The description of the comparison: the content of comparison.json.
    out : Path or None
        The folder, if one was written.
    models : dict of str to estimator
        The models of psephos, fitted on all rows.
    refits : list of dict
        For each model the parameters that the search on all rows chose, and its figures.
    labels : list of dict
        For several labels per row: for each model and label how many test rows have it, are
        predicted to have it, and both (`rows`, `given`, `found`), with sensitivity, precision and
        F1; else empty.
    pooled : list of dict
        For a target of numbers the rows of pooled.csv, one per model; else empty.
    bounds : list of dict
        Error bounds: the rows of bounds.csv.
    contents : str
        Cases, classes and columns of the table, in sentences.
    used : list of dict
        The draws and seconds of each model: the rows of used.csv.
    curve : list of dict
        With ``curve=True`` the rows of curve.csv, for `CurveDisplay`; else empty.
    permuted : list of dict
        If models of folds are kept the rows of permuted.csv, for `PermutedDisplay`.
    """

    results: list[dict[str, Any]]
    about: dict[str, Any]
    out: Path | None
    models: Mapping[str, Any] = field(default_factory=dict[str, Any])
    refits: Sequence[Mapping[str, Any]] = ()
    labels: Sequence[Mapping[str, Any]] = ()
    pooled: Sequence[Mapping[str, object]] = ()
    bounds: Sequence[Mapping[str, Any]] = ()
    contents: str = ""
    used: Sequence[Mapping[str, object]] = ()
    curve: Sequence[Mapping[str, object]] = ()
    permuted: Sequence[Mapping[str, object]] = ()

    @property
    def failures(self) -> list[JsonObject]:
        """Return the rows of fits that failed, each with its message in 'error'."""
        return [row for row in self.results if row["status"] != "ok"]

    def words(self) -> str:
        """Return in a sentence how many fits failed, including those on all rows."""
        failed = [{**r, "place": f"repeat {r['repeat']}, fold {r['fold']}"} for r in self.failures]
        refits = [row for row in self.refits if row["status"] != "ok"]
        failed += [{**row, "place": "all rows"} for row in refits]
        n = len(self.results) + len(self.refits)
        where = f"; written to {self.out}" if self.out else ""
        if not failed:
            return f"all {n} fits succeeded{where}."
        first, alive = failed[0], {row["model"] for row in self.results if row["status"] == "ok"}
        lost = [str(one) for one in self.about["models"] if one not in alive]
        all_ = f"{len(lost)} of {len(alive) + len(lost)} models in every fold: {', '.join(lost)}; "
        return (
            f"{len(failed)} of {n} fits failed ({all_ if lost else ''}the first: {first['model']}, "
            f"{first['place']}: {first['error']}){where}."
        )

    def frame(self, backend: str | None = None) -> Any:
        """Return `results` as a data frame of pandas or polars.

        Raises
        ------
        MissingExtraError
            If no data frame library is installed.
        """
        each = with_chosen(measures_for(kind_of(self.about)), kept_metric(self.about))
        usual = [one.name for one in each]
        which = {"partial": bool(self.about.get("partial")), "cohorts": "cohorts" in self.about}
        names = result_columns(self.about.get("metrics", usual), **which)
        columns = {c: [row.get(c) for row in self.results] for c in names}
        return frame_of(columns, backend)

    def __repr__(self) -> str:
        """Return a summary of the run, and a table of the models, the most accurate first."""
        return comparison_text(self)

    def _repr_html_(self) -> str:
        """Return the same as a table of a notebook."""
        return comparison_html(self)

    def summary(self) -> list[statistics.Summary]:
        """Return the mean, spread and columns of each model (see `summary`)."""
        return statistics.summary(self.results, self.about)

    def pareto(self) -> list[statistics.Summary]:
        """Return the models that are Pareto-optimal in number of columns and the first measure.

        That is the `metric` of `compare`; else balanced accuracy, average precision for several
        labels per row, R² for numbers, and PU-F if the truth is not known.
        """
        return statistics.pareto(self.summary())

    def selected(self) -> statistics.Summary | None:
        """Return the model with the fewest columns within one standard error of the best.

        It may be any model, even a constant prediction. Since it is selected on these folds, its
        estimate is slightly optimistic.
        """
        return statistics.one_standard_error(self.summary())

    def better(self, chance: float = 0.05) -> dict[str, float]:
        """Return the models significantly better than a constant prediction, with p-values.

        `chance` is the significance level over all models (see `better_than_constant`).
        """
        return statistics.better_than_constant(self.results, self.about, chance=chance)

    def difference(
        self, model: str, other: str, metric: str | None = None
    ) -> statistics.Difference:
        """Return the mean difference model - other, with its corrected interval.

        The default metric is that by which models are ranked (see `pareto`).

        Raises
        ------
        PsephosError
            If one of them did not take part.
        """
        models = self.about["models"]
        for name in (model, other):
            if name not in models:
                raise PsephosError(f"{name!r} did not take part: {suggest(name, models)}")
        measure = ranked_by(self.results[0], self.about).name if metric is None else metric
        return statistics.paired_difference(self.results, model, other, measure)


# ---------------------------------------------------------------------- pictures
def frontier(summaries: Sequence[statistics.Summary], better: Container[str]) -> tuple[str, ...]:
    """Return the models of `pareto` that are among the `better_than_constant`."""
    return tuple(one.model for one in statistics.pareto(summaries) if one.model in better)


_DRAWN = 30  # columns that are drawn


def refuse_others(comparison: object) -> None:
    """Raise PsephosError unless it is what `compare` returned."""
    if not isinstance(comparison, Comparison):
        raise PsephosError(
            f"from_comparison needs the result of compare; got {comparison!r}. To open the folder "
            "of a study, call compare with the same table, target, models and out=folder: finished "
            "fits are not repeated."
        )


@dataclass(frozen=True)
class AccuracyDisplay(Display):
    """The accuracy of each model of a comparison by the number of columns it reads.

    `plot` draws each model at its number of columns and accuracy, with a dashed Pareto frontier.

    Parameters
    ----------
    models : tuple of str
    scores, columns : tuple of ndarray
        For each model the measure, and the number of columns read, of every successful fit.
    frontier : tuple of str
        Pareto-optimal models (`Comparison.pareto`) that are significantly better than a constant
        prediction (`Comparison.better`).
    measure : str
    reference : str
        The model with the best mean among those that have all folds.
    difference, low, high : ndarray of shape (n_models,)
        The paired difference from it and its corrected 95 % interval; NaN for itself.

    Examples
    --------
    >>> from psephos.protocol import AccuracyDisplay, compare
    >>> study = compare("table.csv", target="diagnosis")  # doctest: +SKIP
    >>> AccuracyDisplay.from_comparison(study).plot()  # doctest: +SKIP
    """

    models: tuple[str, ...]
    scores: tuple[Floats, ...]
    columns: tuple[Floats, ...]
    frontier: tuple[str, ...]
    measure: str
    reference: str
    difference: Floats
    low: Floats
    high: Floats
    _size = (8, 5)

    @classmethod
    def from_comparison(cls, comparison: Comparison) -> Self:
        """Return the display of what `compare` returned.

        Raises
        ------
        PsephosError
            If it is not a comparison, or every fit failed.
        """
        refuse_others(comparison)
        done = [row for row in comparison.results if row["status"] == "ok"]
        if not done:
            raise PsephosError("every fit of the comparison failed: there is nothing to draw.")
        measure = ranked_by(done[0], comparison.about).name
        every = [one for one in comparison.summary() if one.columns_used.n]
        models = [one.model for one in every]
        rows = {m: [row for row in done if row["model"] == m] for m in models}
        best = max(statistics.comparable(every), key=lambda one: one.merit, default=every[0]).model
        pairs = [None if m == best else comparison.difference(m, best) for m in models]
        ends = [[np.nan if d is None else getattr(d, k) for d in pairs] for k in _ENDS]
        return cls(
            tuple(models),
            tuple(_values(rows[m], measure) for m in models),
            tuple(_values(rows[m], "columns_used") for m in models),
            frontier(every, comparison.better()),
            measure,
            best,
            *(np.array(one) for one in ends),
        )

    def table(self) -> dict[str, list[Any]]:
        """Return a table with one row per model, in the order of the comparison.

        ``model``, ``columns`` (the mean over folds, with ``columns_low`` and ``columns_high``),
        ``score`` and ``sd`` (over the folds), ``n`` (folds), ``frontier``, and ``difference``,
        ``low``, ``high`` of the paired difference from the best.
        """
        return {
            "model": list(self.models),
            "columns": [float(one.mean()) for one in self.columns],
            "columns_low": [float(one.min()) for one in self.columns],
            "columns_high": [float(one.max()) for one in self.columns],
            "score": [float(np.mean(one)) if len(one) else np.nan for one in self.scores],
            "sd": [float(one.std(ddof=1)) if len(one) > 1 else np.nan for one in self.scores],
            "n": [len(one) for one in self.scores],
            "frontier": [name in self.frontier for name in self.models],
            "difference": self.difference.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
        }

    def _draw(self, axes: Any) -> None:
        table = self.table()
        x, y = np.array(table["columns"]), np.array(table["score"])
        on = np.array(table["frontier"])
        axes.scatter(x[on], y[on], color="black", zorder=2)
        axes.scatter(x[~on], y[~on], edgecolors="black", facecolors="white", zorder=2)
        for name, a, b in zip(self.models, x, y, strict=True):
            axes.annotate(plain(name), (a, b), xytext=(5, 4),
                          textcoords="offset points")  # fmt: skip
        order = np.argsort(x[on], kind="stable")
        axes.plot(x[on][order], y[on][order], linestyle="--", color="0.6", zorder=1)
        axes.set_xscale("symlog", linthresh=1)
        folds = max(table["n"])
        axes.set(xlabel="columns read (mean over folds)",
                 ylabel=f"{self.measure.replace('_', ' ')}, mean of {folds} folds")  # fmt: skip


_ENDS = ("mean", "low", "high")


def _values(rows: list[dict[str, Any]], key: str) -> Floats:
    return np.array([row[key] for row in rows if row[key] is not None], dtype=np.float64)


@dataclass(frozen=True)
class StabilityDisplay(Display):
    """The columns that a model of a comparison read in each fold, and in the fit to all rows.

    `plot` draws columns by folds, the fit to all rows last; at most the first 30 columns.

    Parameters
    ----------
    model : str
    names : tuple of str
        Columns that any fit read, the most frequent first.
    read : ndarray of shape (n_columns, n_folds), bool
    final : ndarray of shape (n_columns,), bool, or None
        Which the fit to all rows reads; None if it was not kept.
    stability : Stability
        1: the same columns every time; 0: agreement as by chance.
    """

    model: str
    names: tuple[str, ...]
    read: NDArray[np.bool_]
    final: NDArray[np.bool_] | None
    stability: Stability

    @classmethod
    def from_comparison(cls, comparison: Comparison, model: str) -> Self:
        """Return the display of one model of what `compare` returned.

        Raises
        ------
        PsephosError
            If it is not a comparison, the model did not take part, or the columns that it read were
            not kept.
        """
        refuse_others(comparison)
        found = {one.model: one for one in comparison.summary()}
        if model not in found:
            raise PsephosError(f"{model!r} did not take part: {suggest(model, list(found))}")
        done = [r for r in comparison.results if r["model"] == model and r["status"] == "ok"]
        folds = [positions_of(str(r["columns"])) for r in done if r.get("columns") is not None]
        names = [str(one) for one in comparison.about["columns"]]
        if not folds:
            raise PsephosError(f"the columns that {model!r} reads were not kept.")
        fitted: Any = comparison.models.get(model)
        last: set[int] = set()
        if fitted is not None:
            where = {name: j for j, name in enumerate(names)}
            called = fitted.schema_.words().columns
            last = {where[called[j]] for j in fitted.vote_.used.tolist() if called[j] in where}
        read = np.zeros((len(names), len(folds)), dtype=bool)
        for f, own in enumerate(folds):
            read[own, f] = True
        times = read.sum(axis=1)
        every = [j for j in range(len(names)) if times[j] or j in last]
        order = sorted(every, key=lambda j: (-int(times[j]), j not in last, j))
        last_of = None if fitted is None else np.array([j in last for j in order], dtype=bool)
        ordered = tuple(names[j] for j in order)
        return cls(model, ordered, read[order], last_of, found[model].stability)

    def table(self) -> dict[str, list[Any]]:
        """Return one row per column: ``column``, ``folds`` that read it, ``share``, ``final``."""
        n = self.read.shape[1]
        times = self.read.sum(axis=1)
        final = [None] * len(self.names) if self.final is None else self.final.tolist()
        shares = (times / n).tolist()
        return {"column": [*self.names], "folds": times.tolist(), "share": shares, "final": final}

    @property
    def _size(self) -> Any:
        return 7, 1.5 + 0.28 * len(self.read[:_DRAWN])

    def _draw(self, axes: Any) -> None:
        drawn = self.read[:_DRAWN]
        last = [] if self.final is None else [self.final[:_DRAWN, None]]
        axes.imshow(np.hstack([drawn, *last]), cmap="Greys", vmin=0, vmax=1.4, aspect="auto")
        n = drawn.shape[1]
        if last:
            axes.axvline(n - 0.5, color="black")
        axes.set_yticks(range(len(drawn)), [plain(one) for one in self.names[:_DRAWN]])
        axes.set_xticks(range(n + len(last)), [*range(1, n + 1), *(["all"] if last else [])])
        more = len(self.names) - len(drawn)
        rest = f"; {more} columns more" if more else ""
        axes.set(xlabel="fold", title=plain(f"{self.model}: columns read{rest}"))


# ------------------------------------------------------------------- in a notebook
_CELL = "padding:2px 10px 2px 0;text-align:left"
_WIDTH, _NAME, _HEAD = 100, 26, 11  # characters of a line, of a name and a head where it is full


def comparison_text(comparison: Comparison) -> str:
    """Return how the run ended, a row a model, and the verdict, in lines of at most 100 letters."""
    cells, words = _shown(comparison)
    columns = list(zip(*cells, strict=True))
    widths = [max(map(len, own)) for own in columns]
    if sum(widths) + 2 * len(widths) > _WIDTH + 2:  # heads and names on several lines
        widths = [max(_HEAD, *map(len, own)) for _, *own in columns]
        widths[0] = min(widths[0], _NAME)
    lines: list[str] = []
    for row in cells:
        own = [textwrap.wrap(one, n) or [""] for one, n in zip(row, widths, strict=True)]
        for name, *more in zip_longest(*own, fillvalue=""):
            figures = (f"{w:>{n}}" for w, n in zip(more, widths[1:], strict=True))
            lines.append("  ".join([f"{name:{widths[0]}}", *figures]).rstrip())
    first, *rest = [textwrap.fill(one, _WIDTH, break_on_hyphens=False) for one in words]
    return printable("\n".join([first, *lines, *rest]))


def comparison_html(comparison: Comparison) -> str:
    """Return the same as a table of a notebook."""
    cells, (first, *rest) = _shown(comparison)
    parts = [f"<p><b>{escape(first)}</b></p>", table_html(cells, _CELL) if cells else ""]
    return f"<div>{''.join([*parts, *(f'<p>{escape(one)}</p>' for one in rest)])}</div>"


def _shown(comparison: Comparison) -> tuple[list[list[str]], list[str]]:
    """Return the table of models, none where every fit failed, and the sentences around it."""
    words = comparison.words()
    around = [words[0].upper() + words[1:]]
    if all(row["status"] != "ok" for row in comparison.results):
        return [], around
    # the page, which is above this layer, has the sentences: they are written once
    page: Any = import_module("psephos.report.page.summarise")
    return _cells(comparison), [*around, _note(comparison), *page.first_words(comparison)]


def _cells(comparison: Comparison) -> list[list[str]]:
    """Return the names of the columns, and a row a model: accuracy, difference from the best."""
    display = AccuracyDisplay.from_comparison(comparison)
    table = display.table()
    stable = {one.model: one.stability.value for one in comparison.summary()}
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    sign = ranked_by(comparison.results[0], comparison.about).sign
    merits = {row["model"]: sign * row["score"] for row in rows if row["score"] == row["score"]}
    rows.sort(key=lambda row: (-row["n"], -merits.get(row["model"], 0.0)))
    some = len({row["n"] for row in rows}) > 1
    heads = ["model", "columns", display_name(display.measure), *["folds"] * some,
             "less the best (95 %)", "stability"]  # fmt: skip
    body = [
        [
            row["model"] + (" *" if row["frontier"] else ""),
            _span(row["columns_low"], row["columns_high"], 0),
            decimals(row["score"]) + ("" if math.isnan(row["sd"]) else f" ± {decimals(row['sd'])}"),
            *[str(row["n"])] * some,
            " ".join([decimals(row["difference"]), *_interval(row["low"], row["high"])]),
            decimals(stable[row["model"]], 2),
        ]
        for row in rows
    ]
    return [heads, *body]


def _interval(low: float, high: float) -> list[str]:
    return [] if math.isnan(low) or math.isnan(high) else [f"({_span(low, high, 3)})"]


def _note(comparison: Comparison) -> str:
    best = AccuracyDisplay.from_comparison(comparison).reference
    return (
        "* better than a constant answer, and none is better in both accuracy and columns. Mean ±"
        f" standard deviation over folds; differences from {best}, with corrected intervals."
    )


def _span(low: float, high: float, digits: int) -> str:
    if math.isnan(low) or math.isnan(high):
        return "–"
    one, two = decimals(low, digits), decimals(high, digits)
    return one if digits == 0 and one == two else f"{one} to {two}"
