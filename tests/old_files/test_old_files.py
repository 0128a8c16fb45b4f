"""Files that commit 3e7bf8fc wrote open, and answer as they did; see README.md in this folder."""

import csv
import functools
import gzip
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import psephos
from psephos.cli import main
from psephos.registry import MODELS
from psephos.report import build_report
from psephos.scoring import renewed, vote_of
from psephos.scoring.reader import PlainModel

HERE = Path(__file__).parent
WRITTEN = json.loads(gzip.decompress((HERE / "answers.json.gz").read_bytes()))
KEPT = WRITTEN["kept"]
PROGRAMS = 3  # scorers that are run as a user runs them; the others in this process


@functools.cache
def archive(name):
    """Return the files of an archive by name."""
    with tarfile.open(HERE / f"{name}.tar.xz") as packed:
        return {one.name: packed.extractfile(one).read() for one in packed.getmembers()}


@functools.cache
def rows_of(table):
    """Return the rows that models were asked about: an array, or a frame of names and words."""
    if table == "frame":
        rows = pd.read_csv(HERE / "tables" / "frame.csv")
        return rows.astype({"site": "category", "grade": "category"})
    if table == "cases":
        rows = pd.read_csv(HERE / "tables" / "cohort.csv").astype({"colour": "category"})
        return rows.drop(columns=["name", "state", "batch"])[:10]
    with np.load(HERE / "rows.npz") as file:
        return file[table]


def plain_name(name):
    return KEPT[name]["file"].replace(".psephos", ".json")


def close(found, wanted):
    assert_allclose(np.asarray(found, dtype=float), wanted, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Return where the model file of a name is."""
    place = tmp_path_factory.mktemp("old")

    def find(name):
        file = KEPT[name]["file"]
        if (HERE / "models" / file).exists():
            return HERE / "models" / file
        (place / file).write_bytes(archive("more-models")[file])
        return place / file

    return find


def test_every_family_is_there():
    # models that the version which wrote the files did not have
    later = {"adaboost-regressor", "linear-tree", "linear-tree-regressor", "multi-view-regressor"}
    assert set(MODELS) - set(KEPT) == later
    assert len(KEPT) > 200
    assert len(archive("plain")) > 200
    assert len(archive("scorers")) > 40
    assert set(WRITTEN["unsaved"]) == {"prototypes of samba"}  # that version could not save it


@pytest.mark.parametrize("name", KEPT)
def test_an_old_model_opens_and_answers_as_it_did(name, model_file):
    kept = KEPT[name]
    model, rows = psephos.load(model_file(name)), rows_of(kept["table"])
    answers = model.predict(rows)
    if "scores" in kept:
        assert np.asarray(answers).tolist() == kept["labels"]
        close(model.decision_function(rows), kept["scores"])
    else:
        close(answers, kept["labels"])
    if "chances" in kept:
        close(model.predict_proba(rows), kept["chances"])


def cases_of(plain, rows):
    """Return the rows as the plain form's reader takes them: values of its columns in order."""
    whole = rows.to_numpy(dtype=object) if isinstance(rows, pd.DataFrame) else rows.tolist()
    columns = [(one["place"], "levels" in one) for one in plain["columns"]]
    return [[value(row[j], word) for j, word in columns] for row in whole]


def value(cell, word):
    if cell is None or cell != cell:
        return None
    return str(cell) if word else float(cell)


def scores_alike(found, wanted):
    """Compare the scores of a reader, a column an output, with those of a classifier or numbers."""
    wanted = np.asarray(wanted, dtype=float)
    close(np.asarray(found)[:, 0] if wanted.ndim == 1 else found, wanted)


@pytest.mark.parametrize("name", [n for n in KEPT if plain_name(n) in archive("plain")])
def test_an_old_plain_form_answers_as_its_model_did(name):
    kept, text = KEPT[name], archive("plain")[plain_name(name)].decode()
    data = json.loads(text)
    reader = PlainModel(renewed(data))
    rows = [reader.case(values) for values in cases_of(data, rows_of(kept["table"]))]
    cases = [reader.scored(row) for row in rows]
    wanted = kept.get("scores", kept["labels"])
    answers = [reader.vote.answer(case) for case in cases]
    if "scores" in kept:
        assert answers == kept["labels"]
        if "posteriors" not in str(data["readout"]):  # there scores are counts of neighbours
            scores_alike([case.score for case in cases], wanted)
            scores_alike(vote_of(data).score(np.array(rows)), wanted)
    else:
        close(np.reshape(answers, np.shape(wanted)), wanted)
    if "chances" in kept:
        close([reader.vote.chances(case) for case in cases], kept["chances"])


def answers_of_program(output):
    """Return labels and probabilities of a scorer's output."""
    head, *lines = list(csv.reader(output.splitlines()))
    apart = next((i for i, one in enumerate(head) if one.startswith("probability_")), len(head))
    labels = [line[1:apart] for line in lines]
    return labels, [[float(cell) for cell in line[apart:]] for line in lines]


@pytest.mark.parametrize("file", sorted(archive("scorers")))
def test_an_old_scorer_answers_as_its_model_did(file, tmp_path, capsys):
    name = next(n for n in KEPT if KEPT[n]["file"] == file.replace(".py", ".psephos"))
    kept = KEPT[name]
    program, table = tmp_path / file, tmp_path / "cases.csv"
    program.write_bytes(archive("scorers")[file])
    rows = rows_of(kept["table"])
    if not isinstance(rows, pd.DataFrame):
        rows = pd.DataFrame(rows, columns=[f"column {j}" for j in range(rows.shape[1])])
    rows.to_csv(table, index=False)
    if file in sorted(archive("scorers"))[:: len(archive("scorers")) // PROGRAMS][:PROGRAMS]:
        run = subprocess.run(
            [sys.executable, str(program), str(table), "--check"],
            capture_output=True, text=True, check=True, encoding="utf-8",
        )  # fmt: skip
        output = run.stdout
    else:
        inside = {"__name__": "scorer"}
        exec(compile(program.read_text("utf-8"), file, "exec"), inside)
        assert inside["main"]([str(table), "--check"]) == 0
        output = capsys.readouterr().out
    check, _, output = output.partition("\n")
    assert "have the scores they should" in check
    labels, chances = answers_of_program(output)
    if "scores" not in kept:
        close(labels, np.reshape(kept["labels"], (len(labels), -1)))
        return
    wanted = [one if isinstance(one, list) else [one] for one in kept["labels"]]
    assert labels == [[str(cell) for cell in row] for row in wanted]
    if "chances" in kept:
        close(chances, kept["chances"])


# ---------------------------------------------------------------------- folders
@pytest.fixture
def copied(tmp_path):
    def copy(name):
        shutil.copytree(HERE / name, tmp_path / name)
        return tmp_path / name

    return copy


def run(*arguments):
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("name", ["study", "study-of-labels", "validation"])
def test_an_old_folder_becomes_a_page(name, copied, tmp_path):
    folder = copied(name)
    run("report", folder, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "</html>" in page
    with (folder / ("figures.csv" if name == "validation" else "results.csv")).open() as file:
        first = next(csv.DictReader(file))
    assert (first["figure"] if name == "validation" else first["model"]) in page


@pytest.mark.parametrize("name", ["samba", "adaboost", "cart"])
def test_an_old_model_of_a_study_predicts_as_it_did(name):
    file, cohort = HERE / "study" / "models" / f"{name}.psephos", HERE / "tables" / "cohort.csv"
    found, wanted = (
        list(csv.reader(text.splitlines()))
        for text in (run("predict", file, cohort, "--id", "name").stdout, WRITTEN["predict"][name])
    )
    assert [line[:2] for line in found] == [line[:2] for line in wanted]
    assert found[0] == [*wanted[0], "answered"]  # a column that older versions did not have
    close([line[2:-1] for line in found[1:]], np.array([line[2:] for line in wanted[1:]], float))


SETTINGS = ("--protocol", "demo", "--folds", 3, "--n-jobs", 1, "--no-report")
STUDIES = {
    "study": ("cases.csv", "--target", "state", "--id", "name", "--group", "batch", "--models",
              "samba,adaboost,cart,majority"),
    "study-of-labels": ("labels.csv", "--labels", 3, "--models", "ml-knn,cart"),
}  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_an_old_study_is_reported_and_not_gone_on_with(name, copied):
    """The keys of its fits are another version's, so that none would be found."""
    folder, (table, *columns) = copied(name), STUDIES[name]
    build_report(folder)
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    command = ["compare", HERE / "tables" / table, *columns, *SETTINGS, "--out", folder]
    result = CliRunner().invoke(main, [str(word) for word in command])
    assert result.exit_code == 2
    assert "holds another study" in result.output
    assert "or --replace" in result.output
    assert {path: path.read_bytes() for path in before} == before


def test_the_corpus_is_small():
    sizes = [one.stat().st_size for one in HERE.rglob("*") if "__pycache__" not in one.parts]
    assert sum(sizes) <= 2_000_000
