"""psephos demo: compare on real data that needs no download."""

from pathlib import Path

import click

from psephos.cli.options import OUT_FOLDER


@click.command(short_help="Run compare on an included table.")
@click.option(
    "--out",
    type=OUT_FOLDER,
    default=Path("psephos-demo"),
    show_default=True,
    help="Folder for results, models and report.",
)
@click.option(
    "--n-jobs", type=int, default=-1, help="Number of parallel fits.  [default: one per core]"
)
@click.option("--replace", is_flag=True, help="Delete the results of another study in --out.")
def demo(out: Path, n_jobs: int, replace: bool) -> None:
    """Run compare on scikit-learn's breast cancer table with all its first-order interactions.

    569 cases, 465 columns: 30 measurements and their 435 products. Each model is tuned over its
    default setting and one other, so that it takes a minute; compare tries four settings.
    """
    from psephos.cli.compare import run
    from psephos.datasets import breast_cancer_interactions
    from psephos.protocol import table_from_arrays

    given = breast_cancer_interactions()
    table = table_from_arrays(
        given.X,
        given.y,
        column_names=given.columns,
        target_name=given.target,
        dataset="Breast cancer with interactions",
    )
    run(table, out, protocol="demo", n_jobs=n_jobs, replace=replace, report=True)
