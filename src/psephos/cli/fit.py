"""psephos fit: one model on the whole table, kept in a file."""

import ast
import math
from pathlib import Path
from typing import Any

import click

from psephos._errors import PsephosError
from psephos.cli.options import table_options

__all__ = ["fit", "short_name"]

# in Python the word SWAG belongs to stochastic weight averaging; on the command line it is free
_SHORT = {"SparseWrapperClassifier": "swag"}


@click.command()
@table_options
@click.option("--model", "model_name", default="samba", show_default=True, help="See psephos list.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PARAMETER=VALUE",
    help="A parameter of the model, such as a=0.1 or learner=lda; may be repeated.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The model file to write, such as model.psephos.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
def fit(
    table: Path, model_name: str, settings: tuple[str, ...], out: Path, seed: int, **roles: Any
) -> None:
    """Fit one model on all rows of TABLE and write it to a file that holds data only.

    Its accuracy is not measured here: psephos compare does that.
    """
    from psephos.cli.words import say
    from psephos.models import save
    from psephos.protocol import read_table

    estimator = _estimator(model_name, settings, seed)
    data = read_table(table, **roles)
    model = fitted(estimator, data)
    save(model, out)
    sentences: list[str] = model.describe()
    say(sentences[0])
    click.echo(str(out))


def short_name(class_name: str) -> str:
    """Return the word of the command line for a class: SamBAClassifier is samba.

    Regressors have none ('-'): tables are read for classification.
    """
    if not class_name.endswith("Classifier"):
        return "-"
    return _SHORT.get(class_name, class_name.removesuffix("Classifier").lower())


def _estimator(name: str, settings: tuple[str, ...], seed: int) -> Any:
    """Return an estimator with the parameters that were set.

    Raises
    ------
    PsephosError
        If there is no such model or parameter.
    """
    from psephos.base import estimator_classes

    kinds = {one: kind for one, kind in estimator_classes().items() if short_name(one) != "-"}
    named = {short_name(one): kind for one, kind in kinds.items()} | dict(kinds)
    if name not in named:
        known = ", ".join(sorted(map(short_name, kinds)))
        raise PsephosError(f"there is no model {name!r}: choose one of {known}.")
    model: Any = named[name]()
    known_parameters: dict[str, Any] = model.get_params(deep=False)
    given = dict(_setting(one) for one in settings)
    for parameter in given:
        if parameter not in known_parameters or parameter == "estimator":
            usable = ", ".join(sorted(known_parameters.keys() - {"estimator"}))
            raise PsephosError(
                f"{type(model).__name__} has no parameter {parameter!r} to set: it has {usable}."
            )
    if "random_state" in known_parameters:
        given = {"random_state": seed} | given
    return model.set_params(**given)


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
    if "categorical_features" in estimator.get_params(deep=False):
        estimator.set_params(categorical_features=sorted(data.categories) or None)
    # groups matter to models that draw folds of their own
    return data.named(estimator.fit(data.X, data.y, groups=data.groups))
