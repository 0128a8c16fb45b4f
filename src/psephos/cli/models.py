"""psephos list: the models, each with its anatomy, and who takes part in a comparison."""

import inspect
from typing import Any

import click

from psephos._errors import PsephosError


@click.command("list", short_help="List the models, or the parameters of one.")
@click.argument("model", required=False)
def list_models(model: str | None) -> None:
    """List the models: those of psephos with what they are made of, and the others of compare.

    Those marked + take part in psephos compare if --models does not name others. Regressors are
    used in Python only. With MODEL: its parameters, with their defaults, as --set takes them.
    """
    if model is not None:
        _list_parameters(model)
        return
    from rich.table import Table

    from psephos.cli.words import print_table
    from psephos.models.catalogue import catalogue
    from psephos.protocol import known_models

    known = known_models()
    ours = Table(box=None, pad_edge=False)
    ours.add_column("model", no_wrap=True)
    ours.add_column("", no_wrap=True)
    ours.add_column("class", no_wrap=True)
    ours.add_column("voters; weights; read-out; found by", overflow="fold")
    for row in catalogue():
        made = "; ".join(row[key] for key in ("voters", "weights", "read-out", "found by"))
        name = row["name"]
        default = name in known and known[name].default
        ours.add_row(name, "+" if default else "", row["model"], made)
    others = Table(box=None, pad_edge=False)
    for head in ("model", "", "family"):
        others.add_column(head, no_wrap=True)
    others.add_column("here", overflow="fold")
    for name, one in known.items():
        if one.origin != "psephos":
            here = "yes" if one.available else f"no: pip install 'psephos[{one.needs}]'"
            others.add_row(name, "+" if one.default else "", one.family, here)
    click.echo("Models of psephos, each a vote F(x) = sum of w_t(x) h_t(x)")
    print_table(ours)
    click.echo("\nOther models that psephos compare sets beside them")
    print_table(others)
    click.echo(
        "\n+ takes part in psephos compare if --models is not given; --models all: every one"
    )


def _list_parameters(name: str) -> None:
    """Print how a model is called, and what its documentation says of its parameters."""
    from psephos._files.near import suggest
    from psephos.protocol.running.contenders import PEERS
    from psephos.registry import estimator_class, model_names

    known = model_names()
    kind: Any = estimator_class(known.get(name, name))
    if kind is None and name in PEERS:
        raise PsephosError(
            f"{name} is no model of psephos: its parameters are those that its own package "
            "documents, and psephos compare draws the ones it tunes."
        )
    if kind is None:
        raise PsephosError(f"there is no model {name!r}: {suggest(name, known)} All: psephos list.")
    written = inspect.getdoc(kind) or ""
    click.echo(written.split("\n", 1)[0])
    signature = inspect.signature(kind.__init__)
    told = [p for p in signature.parameters.values() if p.name != "self"]
    for one in told:
        click.echo(f"  {one.name}={one.default!r}")
    body = written.partition("\nParameters\n----------\n")[2]
    lines = body.split("\n")
    end = next((i for i, line in enumerate(lines) if line.startswith("---")), len(lines) + 1)
    click.echo("\n" + "\n".join(lines[: max(end - 1, 0)]).rstrip())
