"""psephos fit: one model on the whole table, kept in a file."""

import ast
import math
import warnings
from pathlib import Path
from typing import Any

import click

from psephos._errors import PsephosError, WeakLabelsWarning
from psephos.cli.cautions import accept_option, read_whole, settle
from psephos.cli.options import OUT_FILE, partial_options, table_options, threshold_options
from psephos.cli.words import say, show

_OBJECTS = {"estimator", "estimators", "levels"}  # parameters whose values are estimators
_LARGE = 50_000  # cells of a table whose fit may take a while
_DEFAULT = {"classes": "samba", "labels": "samba", "numbers": "random-forest-regressor"}
_NUMBERS = "-regressor"  # what the name of a model of numbers ends with


@click.command(short_help="Fit one model on a table and write it to a file.")
@table_options
@click.option(
    "--model",
    "model_name",
    help="See psephos list. Of a target of numbers random-forest is random-forest-regressor.  "
    f"[default: {_DEFAULT['classes']}; of numbers {_DEFAULT['numbers']}]",
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
    "--out",
    type=OUT_FILE,
    required=True,
    help="The model file to write, such as model.psephos.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@partial_options
@threshold_options
@accept_option
def fit(
    table: Path, model_name: str | None, settings: tuple[str, ...], out: Path, seed: int,
    threshold: float | None, positive: str | None, accept: tuple[str, ...], **roles: Any,
) -> None:  # fmt: skip
    """Fit one model on all rows of TABLE and write it to a file that holds data only.

    Its accuracy is not measured here: psephos compare does that, and its models, of other settings
    and seeds, are others even with the same --seed. Committees have their default members.
    """
    from psephos.calibrating import at_threshold
    from psephos.cli.answering import refuse_overwriting
    from psephos.models import save
    from psephos.protocol.running.progress import announced
    from psephos.protocol.running.tasks import told_warnings
    from psephos.vote.describing import kept_words

    if positive is not None and threshold is None:
        raise PsephosError(
            "--positive is the class of --threshold in fit: give both, or neither; the class whose "
            "records are right is --recorded-class."
        )
    refuse_overwriting(out, table)
    roles["task"] = roles["task"] or _task_of(model_name)
    data = read_whole(table, roles, "fit", accept)
    model_name = _fitting(model_name or _DEFAULT[data.kind], data)
    estimator = _estimator(model_name, settings, seed, data.views)
    for sentence in (data.contents(), *data.notes):
        say(sentence)
    in_spite = settle(data, "fit", accept)
    if data.multilabel and not estimator.multilabel:
        raise PsephosError(
            f"{model_name} gives a case one class, and {data.target_name} are labels of which a "
            f"case may have several: use {_multilabel()}, or name one --target."
        )
    place = None if threshold is None else _place(data, positive)
    if data.X.size > _LARGE:  # it may be long until the next line
        say(f"fitting {model_name} on {data.n_rows} cases and {data.n_columns} columns")
    with warnings.catch_warnings(record=True) as caught, announced(True):
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "y has |the classes ")  # refused before, or insisted on
        warnings.simplefilter("error", WeakLabelsWarning)
        try:
            model = fitted(estimator, data)
        except WeakLabelsWarning as error:
            raise PsephosError(f"{error}") from None
    if threshold is not None and place is not None:
        model = at_threshold(model, threshold, model.classes_.tolist()[place])
    model.accepted_ = in_spite
    save(model, out)
    for sentence in _told(model, data):
        say(sentence)
    if kept := kept_words(model.vote_):
        say(kept)
    if not model.n_features_used_:
        say("This model reads no column: it gives every case the same answer.")
    for text, count in told_warnings(caught).items():
        say(f"warning: {text}" + (f" ({count} times)" if count > 1 else ""))
    show(str(out))


def _place(data: Any, positive: str | None) -> int:
    """Return the index of the class of a threshold, before anything is fitted."""
    from psephos.cli.answering import place_of

    classes = [] if data.multilabel else [str(label) for label in data.classes.tolist()]
    if len(classes) != 2:
        has = {"numbers": "holds numbers", "labels": "has several labels a case"}
        raise PsephosError(
            f"--threshold is for two classes, and {data.target_name} "
            f"{has.get(data.kind, f'has {len(classes)}')}: leave it out."
        )
    return place_of(positive, classes)


def _told(model: Any, data: Any) -> list[str]:
    """Return what is said of a model: its first sentence, and the labels it was fitted on."""
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
                f"{parameter!r} of {name} holds estimators, which no text can give: the command "
                "fits its default members; give others in Python."
            )
        if parameter not in usable:
            raise PsephosError(
                f"{name} has no parameter {parameter!r} to set: it has {', '.join(usable)}. "
                f"What they mean: psephos list {name}."
            )
    if "random_state" in known:
        given = {"random_state": seed} | given
    if views and "views" not in known:
        raise PsephosError(f"{name} does not read views (--views): use --model multi-view.")
    if views:
        given = {"views": [(one, list(own)) for one, own in views]} | given
    return model.set_params(**given)


def _multilabel() -> str:
    """Return the models that take several labels a case."""
    from psephos.registry import estimator_classes, model_names

    classes, every = model_names(), estimator_classes()
    taking = [n for n, kind in classes.items() if getattr(every[kind], "multilabel", False)]
    return " or ".join(taking)


def _task_of(name: str | None) -> str | None:
    """Return 'numbers' of a model that predicts them; raise an error for an unknown name."""
    from sklearn.base import is_regressor

    return "numbers" if name is not None and is_regressor(class_of(name)()) else None


def _fitting(name: str, data: Any) -> str:
    """Return the model of a name that fits the target: of numbers its regressor."""
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
        more = ", or say --task numbers" if whole else ""
        raise PsephosError(
            f"{name} predicts numbers, and {data.target_name} holds {data.kind}: {other}{more}."
        )
    if own + _NUMBERS in classes:
        return own + _NUMBERS
    raise PsephosError(
        f"{name} tells classes apart, and {data.target_name!r} holds numbers: use one of "
        f"{', '.join(one for one in classes if one.endswith(_NUMBERS))}; or say --task classes if "
        "its numbers are classes."
    )


def class_of(name: str) -> Any:
    """Return the class that a name, or the name of the class, stands for."""
    from psephos.files.near import suggest
    from psephos.protocol.running.contenders import PEERS
    from psephos.registry import estimator_class, model_names, variant

    classes, base = model_names(), variant(name)[0]
    found = estimator_class(classes.get(base, base))
    if found is not None:
        return found
    if name in PEERS:
        raise PsephosError(
            f"{name} is no model of psephos, and a model file holds only those: psephos compare "
            f"measures it beside them. psephos fit knows {', '.join(classes)}."
        )
    raise PsephosError(f"there is no model {name!r}: {suggest(name, classes)} All: psephos list.")


def _setting(text: str) -> tuple[str, Any]:
    """Return the name and value of 'a=0.1'; what is no Python value is a word."""
    name, equals, value = text.partition("=")
    if not equals:
        raise PsephosError(f"--set {text!r} has no value: write it as PARAMETER=VALUE.")
    if value.strip() == "inf":  # a number that is no literal
        return name.strip(), math.inf
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def fitted(estimator: Any, data: Any) -> Any:
    """Fit an estimator on a table that was read from a file; columns and levels keep their names.

    The table holds codes where the file has words; a model that is used later meets the words.
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
    schema = Schema(data.n_columns, data.names, cells=data.cells)  # the table has no names yet
    placed: dict[str, Any] = estimator._params_placed(schema)
    given = {name: estimator.get_params(deep=False)[name] for name in placed}
    estimator.set_params(**placed)
    rows, y = _labelled(estimator, data)
    names, groups = data.row_names(), None if data.groups is None else data.groups[rows]
    # groups matter to models that draw folds of their own
    with naming_rows([names[i] for i in rows]), naming_columns(data.names):
        model = data.named(estimator.fit(data.X[rows], y, groups=groups))
    return model.set_params(**given)


def _labelled(estimator: Any, data: Any) -> tuple[Any, Any]:
    """Return the rows to fit on and their labels, None where there is none; as `compare` does."""
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
            f"--prior is of models that take a class prior, and {type(estimator).__name__} takes "
            "none: leave it out, or fit pu, one-sided-noise or liois."
        )
    return rows, named_labels(codes, data.classes)
