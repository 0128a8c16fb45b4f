"""The files of a comparison, made from its journal in one canonical order."""

import io
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from psephos import __version__
from psephos.estimator.columns import dense_columns
from psephos.estimator.contender import Contender
from psephos.files.cells import Cells
from psephos.files.escaping import csv_bytes
from psephos.modelfile import packed
from psephos.protocol.evaluation.answers import LEVELS, label_figures
from psephos.protocol.evaluation.splits import Protocol, Rows
from psephos.protocol.evaluation.statistics import pooled_numbers
from psephos.protocol.running.proofs import BOUND_COLUMNS
from psephos.protocol.running.tasks import FitTask, inner_metric, metrics_of, shape_of
from psephos.protocol.study.folder import CURVE, MARK, SCHEMA, Study, sealed, sha256_of
from psephos.protocol.tables.table import DataTable

_WHICH = (
    "dataset", "protocol", "model", "repeat", "fold", "n_train", "n_test", "n_columns", "draws",
)  # fmt: skip
_READ = ("training", "columns_used", "columns", "n_voters", "params", "status", "error")
LABEL_COLUMNS = (
    "model", "label", "rows", "given", "found", "sensitivity", "precision", "f1",
)  # fmt: skip
POOLED_COLUMNS = (
    "model", "cases", "r2", "r2_low", "r2_high", "mae", "mae_low", "mae_high", "rmse", "rmse_low",
    "rmse_high",
)  # fmt: skip
_REFIT_COLUMNS = ("columns_used", "n_voters", "file", "status", "error")
_TIMING_COLUMNS = (
    "model", "repeat", "fold", "search_seconds", "fit_seconds", "predict_seconds",
    "kernels_compiled", "draws_failed", "warnings", "finished",
)  # fmt: skip
_USED_COLUMNS = (
    "model", "fits", "fits_failed", "draws", "draws_failed", "draws_stopped",
    "search_seconds", "fit_seconds",
)  # fmt: skip
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "narwhals")

Finished = Sequence[tuple[FitTask, Mapping[str, Any]]]


def versions(extra: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of Python, psephos and its dependencies."""
    found = {"python": platform.python_version(), "psephos": __version__}
    for package in (*_PACKAGES, *extra):
        found[package] = _version(package)
    return found


def _version(package: str) -> str:
    """Return a package's version, whichever build of it is installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # perhaps a build of another name; this look-up is slow
        owners = metadata.packages_distributions().get(package.replace("-", "_"))
    return metadata.version(owners[0]) if owners else "unknown"


def result_columns(
    metrics: Iterable[str], *, partial: bool = False, cohorts: bool = False
) -> tuple[str, ...]:
    """Return the columns of results.csv; the class prior only for partly recorded labels."""
    named = ("cohort",) if cohorts else ()
    return (*_WHICH, *named, *_measured(tuple(metrics), partial=partial), *_READ)


def _measured(metrics: tuple[str, ...], *, partial: bool) -> tuple[str, ...]:
    """Return measures, followed by the threshold of a cost and the class prior, if any."""
    threshold = ("threshold",) if {"cost", "inner_cost"} & {*metrics} else ()
    return (*metrics, *threshold, *(("prior",) if partial else ()))


def label_rows(table: DataTable, finished: Finished) -> list[dict[str, Any]]:
    """Return the rows of labels.csv: the figures of each model and label over all test rows.

    Empty for a table with one class per row.
    """
    if not table.multilabel:
        return []
    rows: list[dict[str, Any]] = []
    for model, done in _answered(finished, "given"):
        if done:
            tested = np.concatenate([test for test, _ in done])
            figures = label_figures(table.y[tested], np.concatenate([np.array(g) for _, g in done]))
            pairs = zip(table.labels, figures, strict=True)
            rows += [{"model": model, "label": label, **one} for label, one in pairs]
    return rows


def _answered(finished: Finished, field: str) -> Iterator[tuple[str, list[tuple[Rows, Any]]]]:
    """Yield each model with the test rows and a field of the entries of its successful folds."""
    for model in dict.fromkeys(task.contender.name for task, _ in finished):
        own = [(t, e) for t, e in finished if t.contender.name == model and t.split is not None]
        yield model, [(task.test, entry[field]) for task, entry in own if entry["status"] == "ok"]


def pooled_rows(table: DataTable, finished: Finished) -> list[dict[str, object]]:
    """Return the rows of pooled.csv: for numbers, each model's figures over all predictions.

    For the intervals, the predictions of a case in several repeats, or of a group, are resampled
    together.
    """
    if table.kind != "numbers":
        return []
    units = np.arange(table.n_rows) if table.groups is None else table.groups
    rows: list[dict[str, object]] = []
    for model, done in _answered(finished, "predicted"):
        if done:
            tested = np.concatenate([test for test, _ in done])
            predicted = np.concatenate([one for _, one in done])
            figures = pooled_numbers(table.y[tested], predicted, units[tested], 0)
            rows.append({"model": model, "cases": len(np.unique(tested)), **figures})
    return rows


def result_row(table: DataTable, task: FitTask, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tidy row of a fit; None for figures that are not defined."""
    repeat, fold = task.split or (0, 0)
    known: Mapping[str, Any] = {"params": "{}", **entry, **entry.get("measures", {})}
    measured = _measured(metrics_of(table, task.protocol), partial=table.partial is not None)
    return {
        "dataset": table.dataset,
        "protocol": task.protocol.name,
        "model": task.contender.name,
        "repeat": repeat,
        "fold": fold,
        "n_train": len(task.train),
        "n_test": len(task.test),
        "n_columns": table.n_columns,
        **({"cohort": table.cohorts.tested[fold]} if table.cohorts is not None else {}),
        **{c: known.get(c) for c in ("draws", *measured, *_READ)},
    }


def publish(
    study: Study,
    table: DataTable,
    finished: Finished,
    about: Mapping[str, Any],
    environment: Mapping[str, Any],
    bounds: Sequence[Mapping[str, Any]],
    models: Mapping[str, Any],
    more: Mapping[str, Sequence[Mapping[str, object]]] = MappingProxyType({}),
    *,
    spreadsheet_safe: bool = False,
) -> None:
    """Write all files of a finished run except the report.

    `finished` are outer fits and refits in canonical order: models as given, then repeat and fold;
    `models` the refits of psephos, which are written if a file can hold them; `more` the rows of
    files that not every study has: curve.csv and permuted.csv.
    """
    safe = spreadsheet_safe
    fits = [(task, entry) for task, entry in finished if task.split is not None]
    refits = [(task, entry) for task, entry in finished if task.split is None]
    saved = {task.contender.name for task, entry in refits if entry.get("file_sha256")}
    models = {name: model for name, model in models.items() if name in saved}
    contents = {f"{name}.psephos": packed(model) for name, model in models.items()}
    rows = [result_row(table, task, entry) for task, entry in fits]
    which = {"partial": table.partial is not None, "cohorts": table.cohorts is not None}
    plan = finished[0][0].protocol
    columns = result_columns(metrics_of(table, plan), **which)
    files = {
        "results.csv": _csv(columns, rows, safe),
        "predictions.csv": _predictions(table, fits, safe),
        "refits.csv": _csv(
            _refit_columns(table, plan), [refit_row(table, *one) for one in refits], safe
        ),
        "bounds.csv": _csv(BOUND_COLUMNS, bounds, safe),
        "cases.npz": _cases(table, models),
    }
    if table.kind == "numbers":
        files["pooled.csv"] = _csv(POOLED_COLUMNS, pooled_rows(table, fits), safe)
    for name, own in more.items():
        if own:
            files[name] = _csv([column for column in own[0] if column != "seconds"], own, safe)
    if table.multilabel:
        files["labels.csv"] = _csv(LABEL_COLUMNS, label_rows(table, fits), safe)
    known = {f"models/{name}": data for name, data in contents.items()} | files
    digests = {name: sha256_of(data) for name, data in sorted(known.items())}
    timed, curve = [_timing(*one) for one in finished], more.get(CURVE, ())
    timed += [{**row, "fit_seconds": row["seconds"]} for row in curve if row["seconds"]]
    files |= {
        "used.csv": _csv(_USED_COLUMNS, used_rows(finished), safe),
        "timings.csv": _csv((*_TIMING_COLUMNS, *(["k"] if curve else [])), timed, safe),
        "environment.json": _json(environment),
        MARK: _json({**about, "files": digests}),
    }
    study.publish(files, contents)


def describe(
    table: DataTable, protocol: Protocol, models: Sequence[Contender], random_state: int
) -> dict[str, Any]:
    """Return the content of comparison.json: what was compared, in words and settings."""
    n_classes, which = shape_of(table).n_told, protocol.distributions

    def planned(model: str) -> int | None:
        return protocol.n_draws(model) if protocol.seconds is None else None

    about_models = {
        one.name: {
            "family": one.family,
            "origin": one.origin,
            "ensemble": one.ensemble,
            "order": order,
            "draws": planned(one.name) if one.drawn(which, n_classes) else 1,
            "distributions": {
                name: str(d) for name, d in sorted(one.drawn(which, n_classes).items())
            },
            "notes": one.notes,
        }
        for order, one in enumerate(models)
    }
    return {
        "schema": SCHEMA,
        "dataset": table.dataset,
        "target": table.target_name,
        "classes": [str(one) for one in table.classes],
        "class_counts": table.class_counts.tolist(),
        "positive": table.positive,
        **_labels(table, protocol, models),
        "n_rows": table.n_rows,
        "n_columns": table.n_columns,
        "columns": list(table.names),
        "categories": {table.names[j]: list(levels) for j, levels in table.categories.items()},
        "groups": table.group_name if table.groups is not None else None,
        **_reading(table),
        **_cohorts(table),
        "n_groups": None if table.groups is None else len(np.unique(table.groups)),
        "protocol": protocol.words(
            table.kind, inner_metric(table, protocol), grouped=table.groups is not None
        ),
        "protocol_settings": protocol.as_dict(),
        "random_state": random_state,
        "models": about_models,
        "fingerprint": table.fingerprint(),
    }


def _labels(table: DataTable, protocol: Protocol, models: Sequence[Contender]) -> dict[str, object]:
    """Return the entries on labels: joined classes, several labels, partly recorded labels."""
    labelled: dict[str, object] = {"joined": dict(table.joined)} if table.joined else {}
    if table.multilabel:
        alone = [one.name for one in models if not one.multilabel]
        labelled = {"multilabel": True, "one_a_label": alone}
    if table.partial is not None:
        names = [str(one) for one in table.classes]
        labelled["partial"] = table.partial.words(names, table.codes)
        labelled["metrics"] = list(metrics_of(table, protocol))
    return labelled


def _reading(table: DataTable) -> dict[str, object]:
    """Return the columns left out of the file, and further words for missing values."""
    words = [word for word in table.cells.missing if word not in Cells().missing]
    return {"left_out": list(table.left_out), "missing_words": words}


def _cohorts(table: DataTable) -> dict[str, object]:
    """Return for each tested cohort the number of cases of each class (for numbers: of cases)."""
    if table.cohorts is None:
        return {}
    parts = {one: table.codes[table.cohorts.of_row == one] for one in table.cohorts.tested}
    k = len(table.classes) if table.kind == "classes" else 0
    each = [np.bincount(c, minlength=k).tolist() if k else [len(c)] for c in parts.values()]
    return {"cohort_column": table.cohorts.name, "cohorts": dict(zip(parts, each, strict=True))}


# ------------------------------------------------------------------- rows
def used_rows(finished: Finished) -> list[dict[str, object]]:
    """Return the rows of used.csv: the draws, failures and seconds of each model in total."""
    rows: list[dict[str, object]] = []
    for model in dict.fromkeys(task.contender.name for task, _ in finished):
        own = [entry for task, entry in finished if task.contender.name == model]
        timings = [entry["timing"] for entry in own]
        names = ("draws_failed", "draws_stopped", "search_seconds", "fit_seconds")
        sums = {n: round(sum(one.get(n, 0) for one in timings), 3) for n in names}
        counts = {"fits": len(own), "fits_failed": sum(entry["status"] != "ok" for entry in own)}
        draws = sum(entry.get("draws", 0) for entry in own)
        rows.append({"model": model, **counts, "draws": draws, **sums})
    return rows


def _refit_columns(table: DataTable, protocol: Protocol) -> tuple[str, ...]:
    inner = (f"inner_{inner_metric(table, protocol)}",)
    measured = _measured(inner, partial=table.partial is not None)
    return ("model", "draws", "params", *measured, *_REFIT_COLUMNS)


def refit_row(table: DataTable, task: FitTask, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a refit on all rows."""
    name = task.contender.name
    row = {column: entry.get(column) for column in _refit_columns(table, task.protocol)}
    row["file"] = f"models/{name}.psephos" if entry.get("file_sha256") else ""
    row["params"] = entry.get("params", "{}")
    return row | {"model": name}


def _timing(task: FitTask, entry: Mapping[str, Any]) -> dict[str, Any]:
    repeat, fold = task.split or ("all", "all")
    timing = dict(entry["timing"])
    timing["warnings"] = json.dumps(timing["warnings"]) if timing["warnings"] else ""
    return {**timing, "model": task.contender.name, "repeat": repeat, "fold": fold}


def _predictions(table: DataTable, fits: Finished, safe: bool) -> bytes:
    classes = [str(one) for one in table.classes]
    ids = table.row_names()
    first = ("model", "repeat", "fold", "row", "id")
    partial = table.partial
    header = (*first, "truth", *(f"p_{one}" for one in classes))
    if partial is not None:
        known = ("truth", "recorded") if partial.truth else ("recorded",)
        header = (*first, *known, *(f"p_{one}" for one in classes))
    if table.kind == "numbers":
        return _numbers(table, fits, (*first, "truth", "predicted"), safe)
    if table.multilabel:
        header = (*first, *(f"{part}_{one}" for part in ("truth", "given", "p") for one in classes))
    codes: list[Any] = table.codes.tolist()
    rows: list[Sequence[Any]] = []
    for task, entry in fits:
        if task.split is None or entry["status"] != "ok":
            continue
        tested: list[int] = task.test.tolist()
        given: list[list[int]] = entry.get("given", [[]] * len(tested))
        for row, predicted, proba in zip(tested, given, entry["proba"], strict=True):
            truth: list[Any] = codes[row] if table.multilabel else [classes[codes[row]]]
            if partial is not None:
                record = int(partial.recorded[row])
                known = truth if partial.truth else []
                truth = [*known, classes[record] if record >= 0 else ""]
            key = (task.contender.name, *task.split, row, ids[row])
            rows.append((*key, *truth, *predicted, *proba))
    return csv_bytes([header, *rows], safe=safe)


def _numbers(table: DataTable, fits: Finished, header: Sequence[str], safe: bool) -> bytes:
    """Return predictions.csv where the target is a number, with the quantiles that are stated."""
    done = [(task, entry) for task, entry in fits if task.split and entry["status"] == "ok"]
    any_stated = any("quantiles" in entry for _, entry in done)
    names = [f"q_{100 * level:02.0f}" for level in LEVELS] if any_stated else []
    ids = table.row_names()
    rows: list[Sequence[Any]] = [[*header, *names]]
    for task, entry in done:
        stated = entry.get("quantiles") or [[None] * len(names)] * len(task.test)
        where = [task.contender.name, *(task.split or ())]
        for row, number, own in zip(task.test.tolist(), entry["predicted"], stated, strict=True):
            rows.append([*where, row, ids[row], table.y[row].item(), number, *own])
    return csv_bytes(rows, safe=safe)


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], safe: bool) -> bytes:
    cells = ([row.get(column) for column in columns] for row in rows)
    return csv_bytes([columns, *cells], safe=safe)


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(sealed(content), indent=1, ensure_ascii=False) + "\n").encode()


# ------------------------------------------------------------------- models and cases
def kept_model(folder: Path, key: str) -> Path:
    """Return where the refit of a key is kept, apart from those of other configurations."""
    return folder / "fits" / f"{key[:32]}.psephos"


def _cases(table: DataTable, models: Mapping[str, Any]) -> bytes:
    """Return an npz of the rows' names, classes and groups, and the columns saved models read."""
    read: set[int] = set()
    for model in models.values():
        read |= set(np.asarray(model.vote_.columns).tolist())
    columns = np.array(sorted(read), dtype=np.intp)
    buffer = io.BytesIO()
    groups: dict[str, Any] = {}
    if table.groups is not None:
        groups["groups"] = np.asarray(table.groups).astype(str)
    np.savez_compressed(
        buffer,
        **groups,
        ids=np.asarray(table.row_names()),
        y=table.codes,
        names=np.asarray([table.names[j] for j in columns.tolist()], dtype=str),
        columns=columns,
        values=dense_columns(table.X, columns),
    )
    return buffer.getvalue()
