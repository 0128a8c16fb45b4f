"""psephos list: the models with their anatomy, and which take part in a comparison."""

import inspect

import click

from psephos._errors import PsephosError
from psephos.cli.fit import class_of
from psephos.cli.words import show


@click.command("list", short_help="List the models, or the parameters of one.")
@click.argument("model", required=False)
def list_models(model: str | None) -> None:
    """List the models of psephos with their parts, and the other models of compare.

    Those marked + take part in psephos compare by default. The target is what a model predicts:
    classes, several labels per case, or numbers. With MODEL: its parameters for --set, with their
    defaults.
    """
    if model is not None:
        _list_parameters(model)
        return
    from psephos.cli.words import print_table
    from psephos.models.catalogue import catalogue
    from psephos.protocol import known_models

    known = known_models() | known_models("numbers")
    ours, theirs = list[list[str]](), list[list[str]]()
    for row in catalogue():
        made = "; ".join(row[key] for key in ("voters", "weights", "read-out", "found by"))
        name = row["name"]
        default = name in known and known[name].default
        ours.append([name, "+" if default else "", row["target"], row["model"], made])
    fixed: list[list[str]] = []
    for name, one in known.items():
        if one.variant_of:
            fixed.append([name, "+" if one.default else "", one.notes])
        if one.origin != "psephos":
            here = "yes" if one.available else f"no: pip install 'psephos[{one.needs}]'"
            theirs.append([name, "+" if one.default else "", one.family, here])
    show("Models of psephos, each a vote F(x) = sum of w_t(x) h_t(x)")
    heads = ("model", "", "target", "class", "voters; weights; read-out; found by")
    print_table(heads, ours, words=heads, spare=("class",), fold=heads[-1])
    show("\nVariants of these with fixed parameters")
    heads = ("model", "", "with")
    print_table(heads, fixed, words=heads, fold="with")
    show("\nOther models of psephos compare")
    heads = ("model", "", "family", "here")
    print_table(heads, theirs, words=heads, spare=("family",), fold="here")
    show("\n+ takes part in psephos compare if --models is not given")
    show("--models all: all models except variants that are not marked")


def _list_parameters(name: str) -> None:
    """Print the summary, the signature and the documented parameters of a model."""
    from psephos.protocol.running.contenders import PEERS
    from psephos.registry import variant

    if name in PEERS:
        raise PsephosError(
            f"{name} is not a model of psephos: its package documents its parameters, and psephos "
            "compare draws those that it tunes."
        )
    kind, fixed = class_of(name), variant(name)[1]
    written = inspect.getdoc(kind) or ""
    show(written.split("\n", 1)[0])
    signature = inspect.signature(kind.__init__)
    for one in signature.parameters.values():
        if one.name != "self":
            show(f"  {one.name}={fixed.get(one.name, one.default)!r}")
    body = written.partition("\nParameters\n----------\n")[2]
    lines = body.split("\n")
    end = next((i for i, line in enumerate(lines) if line.startswith("---")), len(lines) + 1)
    show("\n" + "\n".join(lines[: max(end - 1, 0)]).rstrip())
