"""psephos list: the models, each with its anatomy, and who takes part in a comparison."""

import inspect

import click

from psephos._errors import PsephosError
from psephos.cli.fit import class_of
from psephos.cli.words import show


@click.command("list", short_help="List the models, or the parameters of one.")
@click.argument("model", required=False)
def list_models(model: str | None) -> None:
    """List the models: those of psephos with what they are made of, and the others of compare.

    Those marked + take part in psephos compare if --models does not name others. The target is what
    a model predicts: classes, several labels a case, or numbers. With MODEL: its parameters, with
    their defaults, as --set takes them.
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
    show("\nThe same under other names, with parameters that are fixed")
    heads = ("model", "", "with")
    print_table(heads, fixed, words=heads, fold="with")
    show("\nOther models that psephos compare sets beside them")
    heads = ("model", "", "family", "here")
    print_table(heads, theirs, words=heads, spare=("family",), fold="here")
    show("\n+ takes part in psephos compare if --models is not given")
    show("--models all: every one but those under other names that are not marked")


def _list_parameters(name: str) -> None:
    """Print how a model is called, and what its documentation says of its parameters."""
    from psephos.protocol.running.contenders import PEERS
    from psephos.registry import variant

    if name in PEERS:
        raise PsephosError(
            f"{name} is no model of psephos: its parameters are those that its own package "
            "documents, and psephos compare draws the ones it tunes."
        )
    kind, fixed = class_of(name), variant(name)[1]
    written = inspect.getdoc(kind) or ""
    show(written.split("\n", 1)[0])
    signature = inspect.signature(kind.__init__)
    told = [p for p in signature.parameters.values() if p.name != "self"]
    for one in told:
        show(f"  {one.name}={fixed.get(one.name, one.default)!r}")
    body = written.partition("\nParameters\n----------\n")[2]
    lines = body.split("\n")
    end = next((i for i, line in enumerate(lines) if line.startswith("---")), len(lines) + 1)
    show("\n" + "\n".join(lines[: max(end - 1, 0)]).rstrip())
