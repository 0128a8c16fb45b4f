"""`compare`: every model on every split, then on all rows; runs can be resumed."""

# pyright: reportMissingTypeStubs=false

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import sklearn

from psephos import __version__
from psephos._errors import CollapseWarning, PsephosError
from psephos._types import ArrayLike, Estimator, Label, PerRow
from psephos.cautions.registry import known_codes
from psephos.estimator import params as allowed
from psephos.estimator.contender import Contender
from psephos.files.atomic import UnwritableError
from psephos.protocol.evaluation.splits import (
    SELECT,
    Protocol,
    Split,
    outer_splits,
    protocol_on,
    seed_of,
)
from psephos.protocol.running.contenders import built, partial_contenders
from psephos.protocol.running.curve import CurveTask, Row, curve_rows, curve_tasks
from psephos.protocol.running.notes import (
    about_cautions,
    about_copies,
    about_groups,
    about_labels,
    about_metric,
    constant_of,
    doubtful_priors,
    environment_of,
    held_out,
    partial_about,
    refuted_records,
    rows_left_out,
)
from psephos.protocol.running.permuted_folds import exchanged, permuted_rows
from psephos.protocol.running.progress import Forecast, shown
from psephos.protocol.running.proofs import proved
from psephos.protocol.running.spread import results_of
from psephos.protocol.running.tasks import FitTask, choice_words, shape_of, with_choices
from psephos.protocol.study import folder as studies
from psephos.protocol.study import outputs
from psephos.protocol.study.comparison import Comparison
from psephos.protocol.study.folds import folds_told, kept, kept_fold
from psephos.protocol.tables.checking import table_given
from psephos.protocol.tables.copies import COPIES, Copies, copies_of
from psephos.protocol.tables.roles import Classes
from psephos.protocol.tables.table import DataTable
from psephos.recalibrating import recalibration_of
from psephos.vote.recalibration import Recalibration

_OF_TABLE = (
    "groups", "column_names", "categorical", "unlabeled", "truth", "recorded_class", "prior",
    "positive", "task", "leave_out", "classes",
)  # fmt: skip
_WORD = allowed.OneOf((allowed.Text(),), none=True)
_ARGUMENTS: dict[str, allowed.Constraint] = {
    "random_state": allowed.Interval(0, whole=True),  # else no study could be resumed
    "n_jobs": allowed.Jobs(),
    "out": allowed.FolderPath(),
    "copies": allowed.Options(COPIES),
    "dataset": _WORD,
    "metric": allowed.Accepts(
        _WORD.allows, "None, the name of a measure, or your own function as 'module:name'"
    ),
    "select": allowed.Options((None, *SELECT)),
    "time_limit": allowed.OneOf((allowed.Interval(0, open_low=True),), none=True),
    **dict.fromkeys(
        ("replace", "progress", "spreadsheet_safe", "fold_models", "curve"), allowed.Flag()
    ),
}


def settings_words(estimator: Estimator) -> dict[str, str]:
    """Return all constructor parameters as words, so that a changed default changes the key."""
    kind = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    params = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    words = {name: repr(value) for name, value in params.items()}
    # a default repr contains an address, which differs in every run
    return {"class": kind, **{n: word for n, word in words.items() if " at 0x" not in word}}


def compare(
    X: Any,
    y: Any = None,
    models: Sequence[str | Contender | Estimator | type[Estimator]] | None = None,
    protocol: str | Protocol = "quick",
    *,
    groups: PerRow = None,
    random_state: int = 0,
    n_jobs: int | None = -1,
    out: str | Path | None = None,
    replace: bool = False,
    copies: str = "together",
    progress: bool = False,
    spreadsheet_safe: bool = False,
    fold_models: bool = True,
    dataset: str | None = None,
    column_names: Sequence[str] | None = None,
    categorical: Sequence[str | int] = (),
    unlabeled: Any = None,
    truth: ArrayLike | None = None,
    recorded_class: Any = None,
    prior: float | None = None,
    positive: Label | None = None,
    accept: str | Sequence[str] = (),
    task: str | None = None,
    budget: str | None = None,
    leave_out: PerRow | str = None,
    metric: str | None = None,
    select: str | None = None,
    cost: float | Mapping[str, float] | None = None,
    curve: bool = False,
    time_limit: float | None = None,
    classes: Classes = (),
    **reading: Any,
) -> Comparison:
    """Compare models on a table by nested cross-validation.

    Parameters
    ----------
    X : DataTable, path of a file, or array, frame or sparse table of shape (n, p)
        A file is read as by the command (`read_table`).
    y : array-like of shape (n,), or table of shape (n, K), optional
        Class labels, or numbers to predict (`task`); or 0 and 1, one column per label, if rows may
        have several labels. A DataTable has its own. For a file the name of the column, or names of
        several.
    models : sequence of str, Contender, or estimator or its class, optional
        Names from `known_models`, or 'all'; or any classifier or regressor compatible with
        scikit-learn, also as 'module:Class', which is imported: a pipeline prepares the table for
        it, it is not tuned, and its name is that of its class. By default those with `default`
        whose packages are installed. For several labels per row the default are those that support
        them (`multilabel`); any other is fitted as one model per label, which is not saved to a
        file. For partly recorded labels the default also has those that take rows without a label.
    protocol : {'quick', 'demo', 'samba'} or Protocol, default="quick"
    groups : array-like of shape (n,), optional
        Rows of one group stay together in every split, outer and inner. For a file the name of the
        column; so is `truth`.
    random_state : int, default=0
        The seeds of splits, draws and models are derived from it and the words of each task.
    n_jobs : int or None, default=-1
        Number of parallel fits: -1 is one per core, None is 1 unless in a joblib context. Results
        do not depend on it.
    out : str or Path, optional
        A folder for results, models and journal; see docs/study-folder.md. It holds one study: a
        table with its target, groups, settings and versions. A run of the same study resumes where
        the last one stopped, and may name more models.
    replace : bool, default=False
        Whether another study in `out` is deleted; the same study is resumed anyway.
    copies : {'together', 'apart'}, default="together"
        Whether rows that are copies of each other (see `copies_of`) stay together in every split,
        as the rows of one group do, or are treated as independent repeats. A warning names them in
        both cases.
    progress : bool, default=False
        Whether to show a bar with the time left on standard error; a line now and then if that is
        not a terminal.
    spreadsheet_safe : bool, default=False
        Whether text in the csv files of `out` that a spreadsheet would run as a formula is prefixed
        with an apostrophe (`psephos.files.escaping`).
    fold_models : bool, default=True
        Whether the models of the folds are also kept in `out` (see `read_folds`), and columns
        permuted among the held-out cases of each (`PermutedDisplay`). Folds of an earlier run
        without their models are fitted again.
    dataset : str, optional
        The name of the table in results.
    column_names : sequence of str, optional
    categorical : sequence of str or int, default=()
        Columns whose numbers are categories. The name of the target (of the series y, else
        'target') accepts its values as classes: whole numbers of many values, or words that differ
        only in case, blanks, hyphens or the form of a number.
    unlabeled : label, optional
        The value of y in rows without a label, besides None and NaN. Then, or with `truth` or
        `recorded_class`, y are recorded labels of two classes: models are fitted, and settings
        chosen, by these alone.
    truth : array-like of shape (n,), optional
        The true classes, for the measures on test parts. Without it the measures are those that
        need no truth (PU-F and bounds on the accuracy, see `psephos.supervision.pu_scores`).
    recorded_class : label, optional
        The class whose records are certain. By default the only recorded class, else the second.
    prior : float, optional
        The share of that class among the rows without a label, above 0 and below 1. Models with a
        class prior use it, and the interval of the accuracy assumes it. By default each model
        estimates it, with a warning if the estimate is doubtful.
    positive : label, optional
        The positive class of measures and page, as in `psephos.validate`. By default the page
        chooses a usual one, and says why. (It was the name of `recorded_class` before.)
    accept : str or sequence of str, default=()
        A code, or codes, of cautions (docs/cautions.md) without warnings; the study keeps them.
    task : {'classes', 'numbers'}, optional
        The type of the target. By default numbers if they clearly are a measurement (`read_table`);
        in doubt it is an error.
    budget : str, optional
        The same search for every model, its default setting first: ``draws=8`` settings, or as many
        as begin within ``seconds=60`` (`Protocol.within`; results then depend on the machine).
    leave_out : array-like of shape (n,), or str, optional
        The cohort (clinic, batch) of each row: each is the test part once, in place of random
        folds. Booleans: the rows that are True are the only test part. For a file the name of a
        column, which models do not read, or COLUMN=VALUE for a single test part.
    metric : str, optional
        The measure by which settings are chosen inside the folds, and models ranked, selected and
        compared with a constant prediction: for classes 'balanced_accuracy' (the default),
        'accuracy', 'log_loss', 'roc_auc', 'average_precision', 'mcc', 'f1', 'brier_score',
        'hand_till_auc' or 'sensitivity@0.95' (at a specificity of at least that; two classes); for
        several labels or numbers one of the usual columns (Notes). For two classes, measures of one
        class are those of `positive`, by default that of the page; for several they are means over
        classes. 'module:name' is a function of your own like those of `sklearn.metrics`: it is
        called with (y_true, y_pred), labels as in the target (and `pos_label` if it has this
        parameter, for two classes); if its second parameter is y_score, y_proba or y_prob, with
        probabilities: for two classes that of `positive`, with y_true 1 for this class, else 0. It
        returns a number; smaller is better if its name ends in _loss, _error or _deviance.
    select : {'best', 'one-se'}, optional
        Which settings are chosen: those of the best mean (the default), or those within one
        standard error of it whose models read the fewest columns.
    cost : float or {'missed': float}, optional
        For two classes: the cost of a missed case of `positive`, if a false alarm costs 1. Models
        are ranked by the `cost` per case, and predict `positive` from the probability of least cost
        in the inner folds. Saved models keep it, as by `at_threshold`; the usual measures and the
        probabilities do not change.
    curve : bool, default=False
        Whether each model is also fitted, with its tuned settings, to the 1, 2, 4, ... 64 columns
        that it ranks first inside each fold (`CurveDisplay`): up to eight more fits per fold. Not
        for several labels per row, or partly recorded labels.
    time_limit : float, optional
        Seconds after which a fit, or its predictions, is stopped and counts as failed, within a
        search its draw; other fits go on. They run in processes of their own, which end in
        compiled code, too. Kernels that are compiled first count (`psephos warm-up`).
    classes : dict, or sequence of str 'OLD=NEW', default=()
        Classes that are joined, renamed or left out before anything is learnt (`read_table`).
    **reading
        Of a file, how it is read: the other parameters of `read_table` (id, drop, missing,
        keep_word, decimal, separator, encoding, sheet, transpose, labels_from, duplicates,
        skip_last, ...).

    Returns
    -------
    comparison : Comparison

    Raises
    ------
    PsephosError
        Before anything is fitted: if the table cannot be used, a class is smaller than the folds,
        a model, protocol or parameter is unknown, the folder holds another study, or another
        process writes in it. Later: if the folder cannot be written any more, as when the disk is
        full; the same call resumes. A fit that fails is a row of its own.

    Notes
    -----
    For each outer split and model: random search inside the training part (`Protocol`), a fit on
    all of it with the winning draw, and the measures on the test part. Afterwards the same search
    runs on all rows; that refit is saved for models of psephos, and its parameters for all. Of
    several labels a row the measures are `hamming_loss`, `one_error`, `coverage`, `ranking_loss`
    and `average_precision`, by which settings and models are chosen. Of numbers they are `r2`, by
    which these are chosen, `mae`, `rmse`, and of a model that states a distribution `pinball`,
    `crps` and `coverage_90`; folds hold alike by fifths of the target.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import compare
    >>> from psephos.protocol import Protocol
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> small = Protocol(folds=2, inner_folds=2, draws=1)  # the default is 5 folds, 10 draws
    >>> found = compare(X, y, ["cart", "rank-ridge"], small, n_jobs=1)
    >>> [one.model for one in found.pareto()]
    ['cart', 'rank-ridge']
    """
    allowed.check_values("compare", own := locals(), _ARGUMENTS)
    table = table_given(X, y, dataset, {name: own[name] for name in _OF_TABLE}, reading)
    plan = with_choices(protocol_on(table, protocol, budget), table, metric, select, cost)
    named = partial_contenders(models, table, shape_of(table).n_told)
    seed, found = int(random_state), copies_of(table)
    doubts = [*table.notes, *([found.words(copies)] if found else []), *refuted_records(table)]
    for sentence in doubts:
        warnings.warn(sentence, UserWarning, stacklevel=2)
    divided, splits = _divided(table, plan, seed, found if copies == "together" else None)
    cautions, accepted = divided.cautions(plan.folds), known_codes(accept)
    for one in cautions.refused("compare", accepted):
        warnings.warn(one.warning(), stacklevel=2)
    tasks, ranked = _tasks(divided, plan, named, splits, seed), constant_of(table, plan, splits)
    folder = None if out is None else Path(out)
    with studies.Study(folder, studies.identity_of(table, plan, seed, copies), replace) as study:
        keep = fold_models and folder is not None and not table.multilabel
        curves = curve_tasks(divided, tasks) if curve else []
        fitted = _run([*tasks, *curves], divided, study, n_jobs, progress, keep, time_limit)
        finished, points = _finished(study.journal, divided, tasks, curves)
        about = outputs.describe(table, plan, named, seed) | {"copies": about_copies(found, copies)}
        about |= about_cautions(cautions, accepted)
        about |= about_groups(table, divided, found if copies == "together" else None, finished)
        about |= about_labels(table, splits, named=models is not None)
        about |= about_metric(ranked, table, finished) | partial_about(table, about, finished)
        bounds = _bounds(table, finished, copies=found is not None)
        ours = _models(finished, folder, fitted, cautions.accepted(accepted))
        _recalibrate(ours, finished, divided, seed)
        about |= {"folds": folds_told(finished)} if keep else {}
        permuted = permuted_rows(table, finished, ours, study, n_jobs) if keep else []
        about |= {"permuted": "groups"} if exchanged(table) else {}
        if folder is not None:
            known = (about, environment_of(named, study.journal, finished, doubts), bounds, ours)
            more = {studies.CURVE: points, studies.PERMUTED: permuted}
            outputs.publish(study, table, finished, *known, more, spreadsheet_safe=spreadsheet_safe)
        _warn(finished)
        return Comparison(
            results=[outputs.result_row(table, t, e) for t, e in finished if t.split is not None],
            about=about,
            out=folder,
            models=ours,
            bounds=bounds,
            labels=outputs.label_rows(table, finished),
            pooled=outputs.pooled_rows(table, finished),
            contents=table.contents(),
            refits=[outputs.refit_row(table, t, e) for t, e in finished if t.split is None],
            used=outputs.used_rows(finished),
            curve=points,
            permuted=permuted,
        )


# ------------------------------------------------------------------- table and tasks
def _divided(
    table: DataTable, protocol: Protocol, seed: int, copies: Copies | None
) -> tuple[DataTable, list[Split]]:
    """Return the table with copies in groups, and its outer splits."""
    if copies is None:
        return table, outer_splits(table, protocol, seed)
    together = copies.together(table)
    try:
        return together, outer_splits(together, protocol, seed)
    except PsephosError as error:
        raise PsephosError(f"{copies.words('together')} Then {error}") from error


def _bounds(
    table: DataTable, finished: Sequence[tuple[FitTask, Any]], *, copies: bool
) -> list[dict[str, Any]]:
    """Return error bounds; none for several labels, or if the truth is not known."""
    if table.cohorts is not None:  # test parts are not drawn at random
        return []
    if table.kind != "classes" or (table.partial is not None and not table.partial.truth):
        return []
    counts: list[int] = np.bincount(table.codes).tolist()
    return proved(finished, counts, grouped=table.groups is not None, copies=copies)


def _tasks(
    table: DataTable,
    protocol: Protocol,
    models: Sequence[Contender],
    splits: Sequence[Split],
    seed: int,
) -> list[FitTask]:
    """Return the tasks in canonical order: models as given, each on all splits and on all rows."""
    every = np.arange(table.n_rows, dtype=np.intp)
    cuts: list[tuple[tuple[int, int] | None, Split]] = [*zip(protocol.splits, splits, strict=True)]
    cuts.append((None, (every, every[:0])))
    shared: dict[str, Any] = {
        "schema": studies.SCHEMA,
        "psephos": __version__,
        "scikit-learn": sklearn.__version__,
        "table": table.fingerprint(),
        "inner_folds": protocol.inner_folds,
        "defaults_first": protocol.defaults_first,
        **choice_words(table, protocol),
    }
    shape = shape_of(table)
    tasks: list[FitTask] = []
    for one in models:
        drawn = one.drawn(protocol.distributions, shape.n_told)
        own = {
            "model": one.name,
            "first": repr(sorted(one.first.get(protocol.distributions, {}).items())),
            "settings": settings_words(built(one, {}, shape, 0)),
            "draws": protocol.n_draws(one.name),
            "grouped": one.grouped,
            "distributions": repr(sorted(drawn.items())),
            "package": outputs.versions([one.needs])[one.needs] if one.needs else "",
        }
        if one.in_search and not protocol.metric:  # not with a metric, which may use probabilities
            own["in_search"] = repr(sorted(one.in_search.items()))
        for split, (train, test) in cuts:
            words = ("all",) if split is None else split
            drawn_by = seed_of(seed, "draws", one.name, *words)
            fitted_by = seed_of(seed, "model", one.shares or one.name, *words)
            seeds = (seed_of(seed, "inner", *words), drawn_by, fitted_by)
            rows = {"split": split, "train": train.tolist(), "test": test.tolist()}
            key = studies.key_of(shared | own | rows | {"seeds": seeds})
            tasks.append(FitTask(key, one, protocol, split, train, test, seeds))
    return tasks


# ------------------------------------------------------------------- running
def _run(
    tasks: Sequence[FitTask],
    table: DataTable,
    study: studies.Study,
    n_jobs: int | None,
    progress: bool,
    keep: bool,
    limit: float | None,
) -> dict[str, Any]:
    """Run the tasks that the journal lacks; return the refitted models of this run by key."""
    journal, folder = study.journal, study.folder
    pool: Any = joblib  # it has no types
    forecast = Forecast(tasks, shape_of(table), pool.effective_n_jobs(n_jobs))
    todo = [t for t in tasks if not _done(journal.get(t.key), t, folder, keep, limit)]
    for known in filter(None, (journal.get(task.key) for task in tasks)):
        forecast.learn(known)
    todo = forecast.order(todo)
    fitted: dict[str, Any] = {}
    with shown(progress, tasks, forecast) as advance:
        for entry, model in _staged(todo, table, journal, n_jobs, progress, keep, limit):
            if isinstance(model, bytes | str) and folder is not None:
                entry |= kept(model, entry["key"], folder)
            elif model is not None:
                fitted[entry["key"]] = model
                entry |= _saved(model, entry["key"], folder)
            if entry["timing"].get("draws_stopped"):
                entry["time_limit"] = limit
            journal.add(entry)
            advance(entry)
    return fitted


def _done(
    entry: dict[str, Any] | None, task: FitTask, folder: Path | None, keep: bool,
    limit: float | None,
) -> bool:  # fmt: skip
    """Return whether a task need not be repeated.

    Repeated are failures, tasks whose model file is lost, and searches that another time limit cut
    short. Large models of folds are deleted once their columns have been permuted: that is not a
    loss.
    """
    if entry is None or entry["status"] != "ok" or entry.get("time_limit", limit) != limit:
        return False
    digest = entry.get("file_sha256")
    if folder is None or isinstance(task, CurveTask):
        return all(point["status"] == "ok" for point in entry.get("points", ()))
    if task.split is None:
        return not digest or studies.sha256_of(outputs.kept_model(folder, task.key)) == digest
    if not keep or task.contender.origin != "psephos":
        return True
    found = studies.sha256_of(kept_fold(folder, task.key))
    return found == digest if found else "not_kept" in entry


def _staged(
    todo: Sequence[FitTask],
    table: DataTable,
    journal: studies.Journal,
    n_jobs: int | None,
    *how: Any,
) -> Iterator[tuple[Row, Any]]:
    """Yield the results of tasks; those of curves last, since they use the parameters of fits."""
    yield from results_of([t for t in todo if not isinstance(t, CurveTask)], table, n_jobs, *how)
    late = [t for t in todo if isinstance(t, CurveTask)]
    late = [replaced(one, tuned=journal.get(one.fit) or {}) for one in late]
    yield from results_of(late, table, n_jobs, *how)


def _saved(model: Any, key: str, folder: Path | None) -> dict[str, Any]:
    """Write a refit to its file; return its entry in the journal, which is added afterwards."""
    if folder is None:
        return {}
    from psephos.models import save

    path = outputs.kept_model(folder, key)
    try:
        save(model, path)
    except UnwritableError:
        raise
    except PsephosError as error:  # voters that a file cannot hold: the fit itself is valid
        return {"error": f"the refit was not saved: {error}"}
    return {"file_sha256": studies.sha256_of(path)}


# ------------------------------------------------------------------- results
def _finished(
    journal: studies.Journal, table: DataTable, tasks: Sequence[FitTask], curves: Sequence[FitTask]
) -> tuple[list[tuple[FitTask, Row]], list[Row]]:
    """Return the fits with their entries in the journal, and the rows of curve.csv."""
    finished = [(task, _entry(journal, task)) for task in tasks]
    return finished, curve_rows(table, finished, [(task, _entry(journal, task)) for task in curves])


def _entry(journal: studies.Journal, task: FitTask) -> dict[str, Any]:
    entry = journal.get(task.key)
    assert entry is not None, "every task has an entry"
    return entry


def _warn(finished: Sequence[tuple[FitTask, Any]]) -> None:
    """Issue the warnings about the fits to the caller of `compare`."""
    for sentence in rows_left_out(finished):
        warnings.warn(sentence, CollapseWarning, stacklevel=3)
    for sentence in doubtful_priors(finished):
        warnings.warn(sentence, UserWarning, stacklevel=3)


def _models(
    finished: Sequence[tuple[FitTask, Any]], folder: Path | None, fitted: dict[str, Any],
    accepted: tuple[str, ...],
) -> dict[str, Any]:  # fmt: skip
    from psephos.models import load

    found: dict[str, Any] = {}
    for task, entry in finished:
        if task.split is None and task.key in fitted:
            found[task.contender.name] = fitted[task.key]
        elif task.split is None and folder is not None and entry.get("file_sha256"):
            found[task.contender.name] = load(outputs.kept_model(folder, task.key))
    for model in found.values():
        model.accepted_ = accepted
    return found


def _recalibrate(
    models: Mapping[str, Any],
    finished: Sequence[tuple[FitTask, Any]],
    table: DataTable,
    random_state: int,
) -> None:
    """Set `recalibration_` of each model by the held-out predictions of its recipe.

    None for several labels, partly recorded labels, models that are calibrated already, and if too
    few cases of a class were predicted.
    """
    for name, model in models.items():
        model.recalibration_ = None
        plain = model.vote_.readout.calibration is None
        if plain and table.kind == "classes" and table.partial is None:
            model.recalibration_ = _map_of(name, finished, table, random_state)


def _map_of(
    name: str, finished: Sequence[tuple[FitTask, Any]], table: DataTable, random_state: int
) -> Recalibration | None:
    answered = held_out(name, finished)
    if answered is None:
        return None
    rows, _, chances = answered
    groups = None if table.groups is None else table.groups[rows]
    seed = seed_of(random_state, "recalibration", name)
    try:
        return recalibration_of(chances, table.codes[rows], rows, groups=groups, seed=seed)
    except PsephosError:  # too few cases of a class
        return None
