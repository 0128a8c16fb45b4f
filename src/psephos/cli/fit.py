"""psephos fit: one model on the whole table, saved to a file."""

import ast
import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from psephos._errors import PsephosError, WeakLabelsWarning
from psephos.cli.cautions import accept_option, read_whole, settle
from psephos.cli.options import OUT_FILE, partial_options, table_options, threshold_options
from psephos.cli.words import say, show

if TYPE_CHECKING:
    from psephos.protocol import DataTable

_OBJECTS = {"estimator", "estimators", "levels"}  # parameters whose values are estimators
_LARGE = 50_000  # cells of a table whose fit may take a while
_DEFAULT = {"classes": "samba", "labels": "samba", "numbers": "random-forest-regressor"}
_NUMBERS = "-regressor"  # suffix of the names of regressors


@click.command(short_help="Fit one model on a table and write it to a file.")
@table_options
@click.option(
    "--model",
    "model_name",
    help="See psephos list. For a target of numbers random-forest is random-forest-regressor.  "
    f"[default: {_DEFAULT['classes']}; for numbers {_DEFAULT['numbers']}]",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PARAMETER=VALUE",
    help="A parameter of the model, such as a=0.1 or learner=lda; may be repeated. Columns, as in "
    "views=[('blood',['g1','g2'])] or prices={'g1':5}, are names, or positions from 0 among those "
    "left without target, id, group and dropped ones.",
)
@click.option(
    "--out", type=OUT_FILE, required=True, help="The model file to write, such as model.psephos."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Its `random_state`."
)
@click.option(
    "--blocks",
    is_flag=True,
    help="Read a parquet file, or a folder of them, in blocks of rows: for tables larger than "
    "memory. Only --model newton-boosting (tree_method='hist'); with --target, --task and --drop.",
)
@partial_options
@threshold_options
@accept_option
def fit(
    table: Path, model_name: str | None, settings: tuple[str, ...], out: Path, seed: int,
    blocks: bool, threshold: float | None, positive: str | None, accept: tuple[str, ...],
    **roles: Any,
) -> None:  # fmt: skip
    """Fit one model on all rows of TABLE and write it to a file that holds data only.

    Its accuracy is not measured: psephos compare does that, but its models have other settings and
    seeds, even with the same --seed. Committees have their default members.
    """
    from psephos.calibrating import at_threshold
    from psephos.cli.answering import refuse_overwriting
    from psephos.cli.blocks import MODEL, fitted_in_blocks, sampled
    from psephos.models import save
    from psephos.protocol.running.progress import announced
    from psephos.protocol.running.tasks import told_warnings
    from psephos.vote.describing import kept_words

    if positive is not None and threshold is None:
        raise PsephosError(
            "in fit --positive is the class of --threshold: give both, or neither; the class whose "
            "records are certain is --recorded-class."
        )
    refuse_overwriting(out, table)
    roles["task"] = roles["task"] or _task_of(model_name)
    read = sampled if blocks else read_whole
    data = read(table, roles, "fit", accept)
    model_name = _fitting(model_name or (MODEL if blocks else _DEFAULT[data.kind]), data)
    estimator = _estimator(model_name, settings, seed, data.views)
    for sentence in (data.contents(), *data.notes):
        say(sentence)
    in_spite = settle(data, "fit", accept)
    _check_labels(model_name, estimator, data)
    place = None if threshold is None else _place(data, positive)
    if data.X.size > _LARGE and not blocks:  # the fit may take long
        say(f"fitting {model_name} on {data.n_rows} cases and {data.n_columns} columns")
    with warnings.catch_warnings(record=True) as caught, announced(True):
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "y has |the classes ")  # cautions cover these
        warnings.simplefilter("error", WeakLabelsWarning)
        try:
            model = fitted_in_blocks(estimator, data, table) if blocks else fitted(estimator, data)
        except WeakLabelsWarning as error:
            raise PsephosError(f"{error}") from None
    if threshold is not None and place is not None:
        model = at_threshold(model, threshold, model.classes_.tolist()[place])
    model.accepted_ = in_spite
    save(model, out)
    for sentence in _summary(model, data):
        say(sentence)
    if kept := kept_words(model.vote_):
        say(kept)
    if not model.n_features_used_:
        say("This model reads no column: it predicts the same for every case.")
    for text, count in told_warnings(caught).items():
        say(f"warning: {text}" + (f" ({count} times)" if count > 1 else ""))
    show(str(out))


def _place(data: "DataTable", positive: str | None) -> int:
    """Return the index of the class of a threshold."""
    from psephos.cli.answering import place_of

    classes = [] if data.multilabel else [str(label) for label in data.classes.tolist()]
    if len(classes) != 2:
        has = {"numbers": "holds numbers", "labels": "has several labels a case"}
        raise PsephosError(
            f"--threshold is for two classes, and {data.target_name} "
            f"{has.get(data.kind, f'has {len(classes)}')}: leave it out."
        )
    return place_of(positive, classes)


def _summary(model: Any, data: "DataTable") -> list[str]:
    """Return the summary of a model: its first sentence, and the labels it was fitted on."""
    from psephos.protocol.tables.labels import given_rows

    words = [model.describe()[0]]
    labels = getattr(model, "labels_", None)
    if labels is not None:
        return words + labels.summary(None, None)
    return (
        words
        if data.partial is None
        else [*words, f"It was fitted on {given_rows(one_class=data.partial.one_class)}."]
    )


def _estimator(name: str, settings: tuple[str, ...], seed: int, views: Any) -> Any:
    """Return an estimator with the parameters that were set."""
    from psephos.registry import variant

    model: Any = class_of(name)(**variant(name)[1])
    known: dict[str, Any] = model.get_params(deep=False)
    given = dict(_setting(one) for one in settings)
    usable = sorted(known.keys() - _OBJECTS - {"categorical_features"})
    for parameter in given:
        if parameter in known.keys() & _OBJECTS:
            raise PsephosError(
                f"{parameter!r} of {name} holds estimators, which --set cannot give: the command "
                "fits the default members; give others in Python."
            )
        if parameter not in usable:
            raise PsephosError(
                f"{name} has no parameter {parameter!r} to set: it has {', '.join(usable)}. "
                f"psephos list {name} describes them."
            )
    if "random_state" in known:
        given = {"random_state": seed} | given
    if views and "views" not in known:
        raise PsephosError(f"{name} does not read views (--views): use --model multi-view.")
    if views:
        given = {"views": [(one, list(own)) for one, own in views]} | given
    return model.set_params(**given)


def _check_labels(name: str, estimator: Any, data: "DataTable") -> None:
    if data.multilabel and not estimator.multilabel:
        raise PsephosError(
            f"{name} predicts one class per case, and cases may have several of the labels "
            f"{data.target_name}: use {_multilabel()}, or give one --target."
        )


def _multilabel() -> str:
    """Return the models that predict several labels per case."""
    from psephos.registry import estimator_classes, model_names

    classes, every = model_names(), estimator_classes()
    taking = [n for n, kind in classes.items() if getattr(every[kind], "multilabel", False)]
    return " or ".join(taking)


def _task_of(name: str | None) -> str | None:
    """Return 'numbers' if the model is a regressor; raise an error for an unknown name."""
    from sklearn.base import is_regressor

    return "numbers" if name is not None and is_regressor(class_of(name)()) else None


def _fitting(name: str, data: "DataTable") -> str:
    """Return the name of the model, or of its regressor if the target is numeric."""
    from sklearn.base import is_regressor

    from psephos.registry import estimator_classes, model_names, variant

    found, every = class_of(name), estimator_classes()
    if is_regressor(found()) == (data.kind == "numbers"):
        return name
    if data.kind == "numbers" and variant(name + _NUMBERS)[1]:
        return name + _NUMBERS
    classes = model_names()
    own = next((one for one, kind in classes.items() if every.get(kind) is found), name)
    if data.kind != "numbers":
        near = own.removesuffix(_NUMBERS)
        other = f"use --model {near}" if near in classes else "see psephos list"
        whole = data.kind == "classes" and data.y.dtype.kind in "iu"
        more = ", or give --task numbers" if whole else ""
        raise PsephosError(
            f"{name} predicts numbers, and {data.target_name} holds {data.kind}: {other}{more}."
        )
    if own + _NUMBERS in classes:
        return own + _NUMBERS
    raise PsephosError(
        f"{name} predicts classes, and {data.target_name!r} holds numbers: use one of "
        f"{', '.join(one for one in classes if one.endswith(_NUMBERS))}; or give --task classes if "
        "its numbers are classes."
    )


def class_of(name: str) -> Any:
    """Return the class with this model name or class name."""
    from psephos.files.near import suggest
    from psephos.protocol.running.contenders import PEERS
    from psephos.registry import estimator_class, model_names, variant

    classes, base = model_names(), variant(name)[0]
    found = estimator_class(classes.get(base, base))
    if found is not None:
        return found
    if name in PEERS:
        raise PsephosError(
            f"{name} is not a model of psephos, and model files hold only those (psephos compare "
            f"evaluates it as well): use one of {', '.join(classes)}."
        )
    raise PsephosError(
        f"there is no model {name!r}: {suggest(name, classes)} psephos list shows all models."
    )


def _setting(text: str) -> tuple[str, Any]:
    """Return the name and value of 'a=0.1'; a value that is not a Python literal is a word."""
    name, equals, value = text.partition("=")
    if not equals:
        raise PsephosError(f"--set {text!r} has no value: write it as PARAMETER=VALUE.")
    if value.strip() == "inf":  # not a literal
        return name.strip(), math.inf
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def fitted(estimator: Any, data: "DataTable") -> Any:
    """Fit an estimator on a table that was read from a file; columns and levels keep their names.

    The table has codes for the words of the file; the fitted model takes the words.
    """
    from psephos.estimator.labels import naming_rows
    from psephos.estimator.schema import Schema, naming_columns
    from psephos.files.near import quoted

    if "categorical_features" in estimator.get_params(deep=False):
        estimator.set_params(categorical_features=sorted(data.categories) or None)
    elif data.categories:
        names = quoted([data.names[j] for j in sorted(data.categories)])
        raise PsephosError(
            f"{type(estimator).__name__} reads numbers only, and {names} hold categories: leave "
            "them out with --drop, or choose another model."
        )
    schema = Schema(
        data.n_columns, data.names, cells=data.cells
    )  # for parameters that name columns
    placed: dict[str, Any] = estimator._params_placed(schema)
    given = {name: estimator.get_params(deep=False)[name] for name in placed}
    estimator.set_params(**placed)
    rows, y = _labelled(estimator, data)
    names, groups = data.row_names(), None if data.groups is None else data.groups[rows]
    # groups matter to models that draw folds of their own
    with naming_rows([names[i] for i in rows]), naming_columns(data.names):
        model = data.named(estimator.fit(data.X[rows], y, groups=groups))
    return model.set_params(**given)


def _labelled(estimator: Any, data: "DataTable") -> tuple[Any, Any]:
    """Return the rows to fit on and their labels, None if missing, as `compare` does."""
    import numpy as np

    from psephos.protocol.running.tasks import named_labels

    partial, every = data.partial, np.arange(data.n_rows)
    if partial is None:
        return every, data.y
    takes = estimator.partial_labels
    rows, codes = partial.training(every, partial_labels=takes)
    if takes:
        labels = data.classes.tolist()
        estimator.set_params(classes=labels, pos_label=labels[partial.positive])
        if partial.prior is not None:
            estimator.set_params(prior=partial.prior)
    elif partial.prior is not None:
        raise PsephosError(
            f"--prior needs a model that takes a class prior, and {type(estimator).__name__} does "
            "not: leave it out, or fit pu, one-sided-noise or liois."
        )
    return rows, named_labels(codes, data.classes)
