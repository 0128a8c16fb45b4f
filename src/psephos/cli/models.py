"""psephos list: the models, each with its anatomy, and who takes part in a comparison."""

import click

__all__ = ["list_models"]


@click.command("list", short_help="List the models and what they are made of.")
def list_models() -> None:
    """List the models: those of psephos with what they are made of, and the others of compare.

    Those marked + take part in psephos compare if --models does not name others. Regressors are
    used in Python only.
    """
    from rich.table import Table

    from psephos.cli.words import print_table, say_plain
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
    say_plain("Models of psephos, each a vote F(x) = sum of w_t(x) h_t(x)")
    print_table(ours)
    say_plain("\nOther models that psephos compare sets beside them")
    print_table(others)
    say_plain("\n+ takes part in psephos compare if --models is not given; --models all: every one")
