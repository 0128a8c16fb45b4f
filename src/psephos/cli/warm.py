"""psephos warm-up: compile kernels in advance, rather than at the first fit."""

import click

from psephos.cli.words import show


@click.command("warm-up", short_help="Compile the kernels of models, once per machine.")
@click.option("--model", default="", help="One model of psephos list.  [default: all]")
def warm_up(model: str) -> None:
    """Compile the kernels of the models, once per machine and version; it takes minutes.

    Otherwise each model compiles its kernels when it is first fitted. Compiled kernels are cached
    beside the package, or in the folder that the variable NUMBA_CACHE_DIR names. Every model is
    fitted on small tables; a second run takes seconds.
    """
    from psephos.models.warming import warm_up as run

    total = 0.0
    for name, seconds in run(model):
        total += seconds
        show(f"{name:<28}{seconds:7.1f} s")
    show(f"{'ready':<28}{total:7.1f} s")
