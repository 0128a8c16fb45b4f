"""psephos list: the models, each with its anatomy, and the contenders of a comparison."""

import click

__all__ = ["list_models"]


@click.command("list")
def list_models() -> None:
    """List the models of psephos and what they are made of, and the contenders of a comparison."""
    from rich.console import Console
    from rich.table import Table

    from psephos.base import estimator_classes
    from psephos.cli.fit import short_name
    from psephos.protocol import CONTENDERS

    ours = Table(title="Models: F(x) = sum of w_t(x) h_t(x)", title_justify="left", box=None)
    ours.add_column("model", no_wrap=True)
    ours.add_column("class", no_wrap=True)
    ours.add_column("voters; weights; read-out; found by")
    for name, kind in sorted(estimator_classes().items()):
        voters, *rest = kind.anatomy
        ours.add_row(short_name(name), name, "; ".join([", ".join(voters), *rest]))
    others = Table(title="Contenders of a comparison", title_justify="left", box=None)
    for head in ("--models", "label", "family", "of", "here"):
        others.add_column(head, overflow="fold")
    for name, one in CONTENDERS.items():
        here = "yes" if one.available else f"no: pip install 'psephos[{one.needs}]'"
        others.add_row(name, one.label, one.family, one.origin, here)
    console = Console()
    console.print(ours)
    console.print()
    console.print(others)
