"""What the files of a study must hold, checked in one place before anything is made of them."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from psephos._errors import PsephosError
from psephos.protocol.study.folder import check_seal

_MOST = 2**53  # of counts, which are shown and divided
_NAME_LETTERS = 100

# A shape is a kind of plain value, a tuple of shapes that will do, [the shape of all entries], or
# {"*": the shape of all values}. None stands for a value that may be absent.
_WORD_OR_NONE, _COUNT_OR_NONE = (str, None), (int, None)
_ABOUT: dict[str, Any] = {
    "schema": int,
    "dataset": _WORD_OR_NONE,
    "target": _WORD_OR_NONE,
    "classes": [(str, int)],
    "class_counts": ([int], None),
    "positive": _WORD_OR_NONE,
    "joined": {"*": [(str, int, None)]},
    "multilabel": (bool, None),
    "task": _WORD_OR_NONE,
    "one_a_label": ([str], None),
    "metrics": ([str], None),
    "partial": (dict, None),
    "not_asked": ([str], None),
    "constant": (float, None),
    "constant_rmse": [float],
    "metric": (dict, None),
    "deviation": float,
    "n_rows": _COUNT_OR_NONE,
    "n_columns": _COUNT_OR_NONE,
    "columns": [str],
    "categories": {"*": [str]},
    "groups": _WORD_OR_NONE,
    "n_groups": _COUNT_OR_NONE,
    "cohort_column": str,
    "cohorts": {"*": [int]},
    "independent_rows": (float, None),
    "design_effects": {"*": float},
    "protocol": _WORD_OR_NONE,
    "protocol_settings": dict,
    "models": {"*": dict},
    "fingerprint": _WORD_OR_NONE,
    "files": {"*": str},
    "folds": {"*": [dict]},
    "random_state": _COUNT_OR_NONE,
}
_DIGESTED = (
    "results.csv", "predictions.csv", "refits.csv", "bounds.csv", "curve.csv", "labels.csv",
    "pooled.csv", "cases.npz",
)  # fmt: skip
_PARTIAL: dict[str, Any] = {
    "positive": str, "truth": bool, "unlabelled": int, "recorded": [int], "one_class": bool,
}  # fmt: skip
_METRIC: dict[str, Any] = {
    "name": str, "lower_is_better": bool, "constant": (float, None), "chance": {"*": [float]},
}  # fmt: skip
_SETTINGS: dict[str, Any] = {
    "name": str, "outer": str, "folds": int, "repeats": int, "inner_folds": int,
    "defaults_first": bool, "seconds": (float, int),
}  # fmt: skip
_MODEL: dict[str, Any] = {
    "origin": str, "draws": _COUNT_OR_NONE, "distributions": {"*": str}, "notes": _WORD_OR_NONE,
}  # fmt: skip
_AGAIN = "Run the comparison again, which keeps its fits and writes the file anew."
_ENVIRONMENT: dict[str, Any] = {"versions": {"*": str}, "warnings": ([str], None)}


def damaged(path: Path, why: object) -> PsephosError:
    """Return the error of a file of a study that is not as it was written."""
    return PsephosError(f"{str(path)!r} is damaged ({why}): run the comparison again.")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds.

    Raises
    ------
    PsephosError
        If the file cannot be read, or holds something else.
    """
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(content, ensure_ascii=False).encode()  # half a character is no text
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, str(error)[:200]) from error
    if not isinstance(content, dict):
        raise damaged(path, "it holds no object")
    return cast("dict[str, Any]", content)


def checked_about(about: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the content of comparison.json, every entry being what a comparison writes.

    Raises
    ------
    PsephosError
        It names the entry that is not.
    """
    check_seal(about, path, _AGAIN)
    _check(about, _ABOUT, path, required=("classes",))
    classes: list[Any] = about["classes"]
    counts: list[int] | None = about.get("class_counts")
    numbers = about.get("task") == "numbers"
    if bool(classes) == numbers or len({str(one) for one in classes}) < len(classes):
        raise damaged(path, "'classes' are none, or not all different")
    if about.get("positive") is not None and about["positive"] not in map(str, classes):
        raise damaged(path, "'positive' is not among 'classes'")
    if counts and len(counts) != len(classes):
        raise damaged(path, "'class_counts' are not as many as 'classes'")
    if about.get("partial") is not None:
        _check(about["partial"], _PARTIAL, path, required=tuple(_PARTIAL))
    if about.get("metric") is not None:
        _check(about["metric"], _METRIC, path, required=tuple(_METRIC))
    settings: dict[str, Any] = about.get("protocol_settings", {})
    needed = ("folds", "repeats", "inner_folds") if settings else ()
    _check(settings, _SETTINGS, path, required=needed)
    if any(settings[name] < 1 for name in needed):
        raise damaged(path, "'protocol_settings' have no folds")
    if about.get("groups") and about.get("n_groups") is None:
        raise damaged(path, "'n_groups' is absent")
    models: dict[str, dict[str, Any]] = about.get("models", {})
    for name, model in models.items():
        if not _is_file_name(name):
            raise damaged(path, "a model has a name that no file can have")
        _check(model, _MODEL, path)
    known = {*_DIGESTED, *(f"models/{name}.psephos" for name in models)}
    if not set(about.get("files", {})) <= known:
        raise damaged(path, "'files' names one that no comparison writes")
    return about


def checked_environment(environment: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the content of environment.json, as `checked_about` does that of comparison.json."""
    check_seal(environment, path, _AGAIN)
    _check(environment, _ENVIRONMENT, path)
    return environment


def _is_file_name(name: str) -> bool:
    return 0 < len(name) <= _NAME_LETTERS and name.isprintable() and not set(name) & set("/\\")


def _check(
    content: Mapping[str, Any],
    shapes: Mapping[str, Any],
    path: Path,
    required: Collection[str] = (),
) -> None:
    for name in required:
        if name not in content:
            raise damaged(path, f"{name!r} is absent")
    for name, shape in shapes.items():
        if name in content and not _is(content[name], shape):
            raise damaged(path, f"{name!r} is not what a comparison writes there")


def _is(value: Any, shape: Any) -> bool:
    if isinstance(shape, tuple):
        return any(_is(value, one) for one in cast("tuple[Any, ...]", shape))
    if isinstance(shape, list):
        kind = cast("list[Any]", shape)[0]
        return isinstance(value, list) and all(_is(v, kind) for v in cast("list[Any]", value))
    if isinstance(shape, dict):
        kind = cast("dict[str, Any]", shape)["*"]
        there = isinstance(value, dict)
        return there and all(_is(v, kind) for v in cast("dict[str, Any]", value).values())
    if shape is None:
        return value is None
    if shape is int:
        return type(value) is int and 0 <= value <= _MOST
    return type(value) is shape
