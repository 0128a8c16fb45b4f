import csv

import numpy as np
import pytest
from click.testing import CliRunner


def write_csv(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


HEADER = ["name", "state", "batch", 'k__Bacteria;p__<b>"x"', "colour", "noise", "age, years"]


def rows_of(n, seed):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        ill = i % 2
        rows.append(
            [
                f"case {i}",
                "ill" if ill else "well",
                f"batch {i % 12}",
                "" if i % 11 == 5 else repr(float(rng.normal() + 2 * ill)),
                rng.choice(["red", "green"] if rng.random() < 0.2 else ["red" if ill else "green"]),
                repr(float(rng.normal())),
                repr(float(rng.normal() + ill)),
            ]
        )
    return rows


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """A csv file of 48 cases: an id, a target, a group, a category and three measurements."""
    return write_csv(tmp_path_factory.mktemp("table") / "cases.csv", HEADER, rows_of(48, 0))


@pytest.fixture(scope="session")
def columns():
    return ["--target", "state", "--id", "name", "--group", "batch"]


@pytest.fixture
def call():
    """Run the command in this process; an error that is not for the user is raised."""
    from psephos.cli import main

    def run(*arguments, bug=False):
        result = CliRunner().invoke(main, [str(a) for a in arguments])
        if (
            result.exception is not None
            and not isinstance(result.exception, SystemExit)
            and not bug
        ):
            raise result.exception
        return result

    return run


@pytest.fixture(scope="session")
def model(table, tmp_path_factory):
    """A model file: SamBA fitted on the table by the command."""
    from psephos.cli import main

    path = tmp_path_factory.mktemp("model") / "model.psephos"
    arguments = [
        "fit",
        table,
        "--target",
        "state",
        "--id",
        "name",
        "--drop",
        "batch",
        "--out",
        path,
    ]
    settings = ["--set", "a=0.1", "--set", "n_estimators=5"]
    result = CliRunner().invoke(main, [str(a) for a in [*arguments, *settings]])
    assert result.exit_code == 0, result.output
    return path
