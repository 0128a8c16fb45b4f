"""psephos compare: from a table to a comparison of models and a report."""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from psephos._errors import PsephosError
from psephos.cli.cautions import accept_option, read_whole, settle
from psephos.cli.options import OUT_FOLDER, partial_options, safe_option, table_options
from psephos.cli.words import say, show
from psephos.files.atomic import UnwritableError

if TYPE_CHECKING:
    from psephos.protocol import Comparison


_SETTINGS = (  # options that are parameters of `psephos.compare`
    "replace", "copies", "accept", "budget", "metric", "select", "cost", "time_limit",
    "spreadsheet_safe", "fold_models", "curve",
)  # fmt: skip


@click.command(short_help="Compare models on a table, and write one report.")
@table_options
@click.option(
    "--models",
    metavar="A,B,...",
    help="Models to compare, from psephos list, or 'all'; also any classifier or regressor "
    "compatible with scikit-learn as module:Class, with its default parameters (the module is "
    "imported, which runs its code).  [default: those marked + there: samba, swag, proset, "
    "random-forest, newton-boosting, rank-ridge, column-budget-4, column-budget-8, "
    "column-budget-16, majority, sklearn-l1-logistic and sklearn-svm-rbf; for several labels a "
    "case the multilabel models; with --unlabeled also pu, and if both classes are recorded "
    "one-sided-noise and liois; for numbers the regressors marked +, ridge and lasso of sklearn, "
    "and the mean]",
)
@click.option(
    "--protocol",
    default="quick",
    show_default=True,
    help="quick (four settings a model, minutes), demo (two) or samba (the paper's, hours).",
)
@click.option(
    "--budget",
    metavar="draws=N|seconds=S",
    help="The same search for every model, its default setting first: N settings, or as many as "
    "begin within S seconds (results then depend on the machine).",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop a fit, or its predictions, that takes longer: it counts as failed.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Outer folds, at most the rows of the smallest class.  [default: the protocol's, 5]",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    help="How often the outer folds are drawn.  [default: the protocol's: 1, for samba 10]",
)
@click.option(
    "--leave-out",
    metavar="COLUMN[=VALUE]",
    help="Test by a column (a clinic, a batch) in place of folds: each of its values is left out "
    "of training once and tested; with =VALUE those rows are the only test part. Models do not "
    "read the column. (After a column name that contains =, write = again.)",
)
@click.option(
    "--out",
    type=OUT_FOLDER,
    default=Path("psephos-out"),
    show_default=True,
    help="Folder for results, models and report of one table and its settings; an interrupted run "
    "resumes where it stopped.",
)
@click.option(
    "--replace", is_flag=True, help="Delete the results of another table or settings in --out."
)
@click.option(
    "--copies",
    type=click.Choice(["together", "apart"]),
    default="together",
    show_default=True,
    help="Rows that are copies of each other: kept in one fold, or (apart) independent repeats.",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="The measure that selects settings and models (case, hyphens and blanks are ignored): "
    "log-loss, average precision, Matthews correlation (mcc), F1, Brier score, Hand-Till AUC, "
    "ROC-AUC, accuracy, sensitivity@0.95 (at 0.95 specificity), for numbers MAE, RMSE, pinball "
    "loss or CRPS (a prediction without a distribution counts as a point mass), or "
    "module:name of your own function of y_true and y_pred or y_score.  "
    "[default: balanced accuracy, for numbers R²]",
)
@click.option(
    "--cost",
    metavar="missed=N",
    help="For two classes: the cost of a missed case of --positive, if a false alarm costs 1. "
    "Models are ranked by cost, and saved with the threshold of least cost in the folds.",
)
@click.option(
    "--select",
    type=click.Choice(["best", "one-se"]),
    default="best",
    show_default=True,
    help="Selection inside the folds: the best settings, or those with the fewest columns within "
    "one standard error of the best.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of splits and draws."
)
@click.option(
    "--n-jobs",
    type=int,
    default=-1,
    help="Number of parallel fits; the results do not depend on it.  [default: one per core]",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option(
    "--fold-models/--no-fold-models",
    default=True,
    help="Keep the models of the folds for use in Python, and measure the effect of permuting each "
    "column among their held-out rows (permuted.csv).  [default: kept, if at most 512 KiB each]",
)
@click.option(
    "--curve",
    is_flag=True,
    help="Fit each model again, with its tuned settings, on the 1, 2, 4, ... 64 columns that it "
    "ranks first inside each fold: up to eight more fits per fold; in curve.csv and the report.",
)
@partial_options
@click.option(
    "--truth",
    metavar="COLUMN",
    help="The true classes for the measures; models are fitted and tuned by --target alone. "
    "Without it the measures are PU-F and an interval of the accuracy, and no report is written.",
)
@click.option(
    "--positive",
    metavar="CLASS",
    help="The positive class of measures and report.  [default: the class that is not named "
    "healthy, control, no or similar; otherwise the rarest; a report on several classes opens at "
    "the one with the lowest sensitivity]",
)
@accept_option
@safe_option
def compare(
    table: Path,
    models: str | None,
    protocol: str,
    folds: int | None,
    repeats: int | None,
    out: Path,
    seed: int,
    n_jobs: int,
    no_report: bool,
    **roles: Any,
) -> None:
    """Compare models on TABLE by nested cross-validation, and write one report.

    Writes results.csv, model files and report.html. The exit code is 0 if any fit in the folds
    succeeded (the last lines say how many failed), 2 if none did or the input has errors, and 130
    if Ctrl-C stopped it; the same command then resumes.
    """
    from psephos.protocol.evaluation.splits import protocol_named
    from psephos.protocol.tables.copies import copies_of

    plan, settings = protocol_named(protocol), {name: roles.pop(name) for name in _SETTINGS}
    accept, metric = settings["accept"], settings["metric"]
    if roles["leave_out"] and (folds or repeats):
        raise PsephosError("--leave-out names the test parts: leave out --folds and --repeats.")
    plan = replaced(plan, folds=folds or plan.folds, repeats=repeats or plan.repeats)
    data = read_whole(table, roles, "compare", accept)
    found = copies_of(data) if settings["copies"] == "together" else None
    divided = data if found is None else found.together(data)
    settle(divided, "compare", accept, plan)
    named = None if models is None else [name.strip() for name in models.split(",")]
    for place in filter(lambda name: ":" in name, named or ()):
        say(f"importing {place}: the code of its module is run")
        sys.path.insert(0, str(Path.cwd()))  # as with --import
    if metric and ":" in metric:
        sys.path.insert(0, str(Path.cwd()))  # the current folder, as with python -m
    settings |= {"protocol": plan, "random_state": seed}
    run(data, out, models=named, n_jobs=n_jobs, report=not no_report, **settings)


_LIMITS = ("budget", "time_limit")


def run(data: Any, out: Path, *, report: bool, **settings: Any) -> None:
    """Compare into a folder, and print the result; warnings and interruptions are sentences."""
    from psephos.cli.words import truth_known
    from psephos.protocol import compare as compare_models
    from psephos.runtime.workers import rerouted

    try:
        for sentence in (data.contents(), *data.notes):
            say(sentence)
        with warnings.catch_warnings(), rerouted(2, 1):  # standard output is for results
            warnings.showwarning = partial(_show_warning, data.notes)
            warnings.simplefilter("default", UserWarning)
            found = compare_models(data, out=out, progress=True, **settings)
        reported = report and truth_known(found.about)
        conclude(found, out, report=reported, budget=any(map(settings.get, _LIMITS)))
    except KeyboardInterrupt:
        say("")
        say(f"stopped. Finished fits are kept in {out}: the same command resumes.")
        sys.exit(130)
    except UnwritableError as error:
        raise PsephosError(
            f"{error} Finished fits are kept: the same command resumes when this is fixed."
        ) from error


def _show_warning(printed: Sequence[str], message: Warning | str, *_: Any, **__: Any) -> None:
    if str(message) not in printed:
        say(f"warning: {message}")


def _show_cohorts(found: "Comparison") -> None:
    """Print the first measure of each model by cohort, and the meaning of the intervals."""
    from psephos.cli.words import print_table
    from psephos.protocol.evaluation.scores import ranked_by
    from psephos.protocol.evaluation.statistics import ONE_PART

    cohorts, models = list(found.about["cohorts"]), list(found.about["models"])
    metric = ranked_by(found.results[0], found.about)
    value = {(row["model"], row["cohort"]): row[metric.name] for row in found.results}
    known = {k: "-" if v is None else f"{v:.3f}" for k, v in value.items()}
    heads = (f"{metric.words} where {found.about['cohort_column']} is", *cohorts)
    print_table(heads, [[m, *(known[m, c] for c in cohorts)] for m in models], words=heads[:1])
    say(
        f"spread and intervals: {ONE_PART}"
        if len(cohorts) == 1
        else "spread and intervals are over cohorts, as if these were drawn at random from all"
    )


def conclude(found: Any, out: Path, *, report: bool, budget: bool = False) -> None:
    """Print the table of a comparison and the paths of its files; write the report."""
    from psephos.cli.words import label_words, partial_words, show_bounds, show_knees, show_summary
    from psephos.report import build_report

    show_summary(found, budget=budget)
    if "cohorts" in found.about:
        _show_cohorts(found)
    show_bounds(found.bounds)
    show_knees(found)
    for one in found.about.get("cautions", ()):
        say(f"{one['code']} {one['name']}{' (accepted)' if one['accepted'] else ''}")
    show(f"results  {out / 'results.csv'}")
    for row in found.refits:
        if row["file"]:
            show(f"model    {out / row['file']}")
    for sentence in [*label_words(found.about), *partial_words(found.about)]:
        say(sentence)
    if report:
        page = build_report(out)
        show(f"report   {page}")
        say(f"Open {page} in a browser.")
    if any(row["status"] != "ok" for row in (*found.results, *found.refits)):
        say(found.words())
    if len(found.failures) == len(found.results):
        raise PsephosError(
            "every fit of every model failed in the folds, so nothing was compared (the first "
            f"error: {found.failures[0]['error']})."
        )
