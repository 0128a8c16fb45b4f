"""What a comparison returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psephos._errors import PsephosError
from psephos.files.near import suggest
from psephos.protocol.evaluation.label_scores import LABEL_METRICS
from psephos.protocol.evaluation.scores import METRICS, main_metric
from psephos.protocol.evaluation.statistics import (
    Difference,
    Summary,
    better_than_constant,
    one_standard_error,
    paired_difference,
    pareto,
    summary,
)
from psephos.protocol.study.outputs import result_columns
from psephos.vote.frames import frame_of


@dataclass(frozen=True)
class Comparison:
    """The results of a comparison.

    Parameters
    ----------
    results : list of dict
        One row per model, repeat and fold, in this order; keys are the columns of results.csv;
        None where a figure is not defined.
    about : dict
        What was compared: the content of comparison.json.
    out : Path or None
        The folder, if one was written.
    models : dict of str to estimator
        The refits on all rows of the models of psephos.
    refits : list of dict
        Per model the parameters that the search on all rows chose, and its figures.
    labels : list of dict
        Of several labels a row: per model and label how many test rows have it, were given it, and
        both (`rows`, `given`, `found`), with sensitivity, precision and F1; else empty.
    bounds : list of dict
        What can be proved: the rows of bounds.csv.
    left_out : dict of str to bool
        Models that were fitted in this study before and not named now; whether wholly.
    contents : str
        Cases, classes and columns of the table, in sentences.
    """

    results: list[dict[str, Any]]
    about: dict[str, Any]
    out: Path | None
    models: Mapping[str, Any] = field(default_factory=dict[str, Any])
    refits: Sequence[Mapping[str, Any]] = ()
    labels: Sequence[Mapping[str, Any]] = ()
    left_out: Mapping[str, bool] = field(default_factory=dict[str, bool])
    bounds: Sequence[Mapping[str, Any]] = ()
    contents: str = ""

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Return the rows of fits that failed, each with its sentence in 'error'."""
        return [row for row in self.results if row["status"] != "ok"]

    def words(self) -> str:
        """Return how the run ended, the refits on all rows included, as a sentence."""
        failed = [
            {**row, "place": f"repeat {row['repeat']}, fold {row['fold']}"} for row in self.failures
        ]
        refits = [row for row in self.refits if row["status"] != "ok"]
        failed += [{**row, "place": "all rows"} for row in refits]
        n = len(self.results) + len(self.refits)
        where = f"; written to {self.out}" if self.out else ""
        if not failed:
            return f"all {n} fits succeeded{where}."
        first = failed[0]
        return (
            f"{len(failed)} of {n} fits failed (the first: {first['model']}, {first['place']}: "
            f"{first['error']}){where}."
        )

    def frame(self, backend: str | None = None) -> Any:
        """Return `results` as a data frame of pandas or polars.

        Raises
        ------
        MissingExtraError
            If no data frame library is installed.
        """
        several = LABEL_METRICS if self.about.get("multilabel", False) else METRICS
        names = result_columns(
            self.about.get("metrics", several), partial=bool(self.about.get("partial"))
        )
        columns = {c: [row.get(c) for row in self.results] for c in names}
        return frame_of(columns, backend)

    def _repr_html_(self) -> str:
        """Return the models as a table of a notebook, the most accurate first."""
        from psephos.protocol.study.displays import comparison_html

        return comparison_html(self)

    def summary(self) -> list[Summary]:
        """Return the mean, spread and columns of each model (see `summary`)."""
        return summary(self.results)

    def pareto(self) -> list[Summary]:
        """Return the models that no other beats in both columns and the first measure.

        That is balanced accuracy, of several labels a row average precision, and PU-F where the
        truth is not known.
        """
        return pareto(self.summary())

    def selected(self) -> Summary | None:
        """Return the model with the fewest columns within one standard error of the best.

        Whoever made it: a constant answer, too, where it comes so near. It is selected on these
        folds: its estimate is a little too good.
        """
        return one_standard_error(self.summary())

    def better(self, chance: float = 0.05) -> dict[str, float]:
        """Return the models that are better than a constant answer, with probabilities.

        On labels given out by lot there are any in at most `chance` of all tables (see
        `better_than_constant`).
        """
        return better_than_constant(self.results, self.about, chance=chance)

    def difference(self, model: str, other: str, metric: str | None = None) -> Difference:
        """Return the mean difference model - other and its corrected interval.

        By default of balanced accuracy, or of several labels a row of average precision.

        Raises
        ------
        PsephosError
            If one of them did not take part.
        """
        for name in (model, other):
            if name not in self.about["models"]:
                raise PsephosError(
                    f"{name!r} did not take part: {suggest(name, self.about['models'])}"
                )
        measure = main_metric(self.results[0]) if metric is None else metric
        return paired_difference(self.results, model, other, measure)
