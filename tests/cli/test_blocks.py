"""psephos fit --blocks: a parquet table that is not read as a whole."""

import numpy as np
import pytest
from click.testing import CliRunner

from psephos import load
from psephos.cli.app import main

pa = pytest.importorskip("pyarrow", reason="pyarrow reads parquet files")
pd = pytest.importorskip("pandas", reason="frames write parquet files")


def patients(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "dose": rng.normal(size=n), "age": rng.integers(20, 90, n).astype(float),
        "site": rng.choice(["north", "south", "NA", "west"], n), "smokes": rng.random(n) < 0.3,
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    score = frame["dose"] + 2 * (frame["site"] == "west") - 0.02 * (frame["age"].fillna(50) - 50)
    frame["ill"] = np.where(score + rng.normal(size=n) > 0.5, "yes", "no")
    return frame


def run(*words):
    return CliRunner().invoke(main, ["fit", *map(str, words)])


def test_the_model_is_that_of_the_whole_table(tmp_path):
    patients(3000).to_parquet(tmp_path / "cases.parquet")
    given = ["--target", "ill", "--model", "newton-boosting", "--set", "tree_method=hist",
             "--set", "n_estimators=5", "--set", "subsample=0.5"]  # fmt: skip
    whole = run(tmp_path / "cases.parquet", *given, "--out", tmp_path / "whole.psephos")
    assert whole.exit_code == 0, whole.output
    found = run(tmp_path / "cases.parquet", *given, "--blocks", "--out", tmp_path / "m.psephos")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "m.psephos").read_bytes() == (tmp_path / "whole.psephos").read_bytes()


def test_parts_of_a_large_table_and_words_that_the_sample_lacks(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = patients(30_000)
    frame.loc[1, "site"] = "rare"
    for i in range(3):
        frame[10_000 * i : 10_000 * (i + 1)].to_parquet(folder / f"part-{i}.parquet")
    done = run(folder, "--target", "ill", "--blocks", "--set", "n_estimators=3",
               "--out", tmp_path / "m.psephos")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "30,000 rows are read in blocks; 10,000 evenly spaced ones are checked" in done.output
    model = load(tmp_path / "m.psephos")
    assert model.schema_.levels[2] == ("north", "rare", "south", "west")  # NA is missing
    rows = frame.drop(columns="ill")[:500].replace({"site": {"NA": None}})
    assert (model.predict(rows) == frame["ill"][:500]).mean() > 0.6


@pytest.mark.parametrize("step", [1, 7])
def test_a_number_of_the_row_is_questioned(step, tmp_path):
    frame = patients(24_000 if step > 1 else 2000)
    frame["number"] = np.arange(len(frame)) + 100
    frame.to_parquet(tmp_path / "cases.parquet")
    done = run(tmp_path / "cases.parquet", "--target", "ill", "--blocks", "--out", tmp_path / "m")
    assert done.exit_code == 2
    assert "FD004" in done.output
    assert "'number'" in done.output
    assert "--drop number" in done.output or "--id number" in done.output


def test_what_blocks_do_not_take(tmp_path):
    frame = patients(60)
    frame["code"] = [str(k) for k in np.arange(60) % 5]
    frame.to_parquet(tmp_path / "cases.parquet")
    given = [tmp_path / "cases.parquet", "--blocks", "--out", tmp_path / "m.psephos"]
    for more, words in (
        (
            ["--target", "ill", "--model", "cart"],
            "--blocks needs --model newton-boosting; got CART",
        ),
        ([], "--blocks needs one --target; got 0"),
        (["--target", "ill", "--missing", "-9", "--id", "age"], "'--id', '--missing' cannot be"),
        (["--target", "ill"], "'code' must have one type in blocks"),
    ):
        done = run(*given, *more)
        assert done.exit_code != 0
        assert words in " ".join(done.output.split()), done.output
    done = run(tmp_path, "--target", "ill", "--out", tmp_path / "m.psephos")
    assert "is a folder" in done.output
