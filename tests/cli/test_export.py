"""psephos export and check."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from psephos import AdaBoostClassifier, SamBAClassifier, save
from psephos.cli import main
from psephos.recalibrating import recalibration_of
from psephos.testing import small_table


@pytest.fixture
def files(tmp_path):
    X, y = small_table(2)
    paths = {}
    for name, model in {
        "samba": SamBAClassifier(n_estimators=4, random_state=0),
        "adaboost": AdaBoostClassifier(n_estimators=4, random_state=0),
    }.items():
        paths[name] = tmp_path / f"{name}.psephos"
        save(model.fit(X, y), paths[name])
    return paths


def run(*argv, code=0):
    answer = CliRunner().invoke(main, list(map(str, argv)))
    assert answer.exit_code == code, answer.output
    return answer


def test_every_form_is_written(files, tmp_path):
    out = {name: tmp_path / name for name in ("s.py", "m.json", "q.sql", "p.html")}
    flags = zip(("--scorer", "--plain", "--sql", "--sheet"), out.values(), strict=True)
    answer = run("export", files["adaboost"], *(word for pair in flags for word in pair))
    assert answer.stdout.split() == [str(path) for path in out.values()]
    assert answer.stderr == ""
    data = json.loads(out["m.json"].read_text("utf-8"))
    assert data["format"] == "psephos plain model"
    assert len(data["vectors"]["rows"]) == 16
    assert out["q.sql"].read_text().split("\n")[2].startswith("WITH ")


def test_training_rows_are_told(files, tmp_path):
    told = run("export", files["samba"], "--plain", tmp_path / "m.json").stderr
    assert "keeps values of 60 training rows" in told
    assert "60 training rows" in run("describe", files["samba"]).stdout
    assert "training row" not in run("describe", files["adaboost"]).stdout


def test_what_cannot_be_written_is_said(files, tmp_path):
    assert "nothing to write" in run("export", files["samba"], code=2).stderr
    told = run("export", files["samba"], "--sql", tmp_path / "q.sql", code=2).stderr
    assert "Export a scorer" in told
    assert not (tmp_path / "q.sql").exists()
    assert "itself" in run("export", files["samba"], "--sql", files["samba"], code=2).stderr


def test_a_model_with_a_map_says_so_or_is_written_through_it(tmp_path):
    X, y = small_table(2)
    model = AdaBoostClassifier(n_estimators=4, random_state=0).fit(X, y)
    rng = np.random.default_rng(0)
    p = rng.random(60)
    truth = (rng.random(60) < p**2).astype(int)
    model.recalibration_ = recalibration_of(np.column_stack([1 - p, p]), truth)
    path = tmp_path / "m.psephos"
    save(model, path)
    for form in ("--sql", "--plain"):
        plainly = run("export", path, form, tmp_path / "plain")
        assert "as psephos predict without --calibrated" in plainly.stderr
        mapped = run("export", path, form, tmp_path / "mapped", "--calibrated")
        assert "without" not in mapped.stderr
        assert ("LN(" if form == "--sql" else "sigmoid") in (tmp_path / "mapped").read_text()
        assert ("LN(" if form == "--sql" else "sigmoid") not in (tmp_path / "plain").read_text()
    assert run("export", path, "--scorer", tmp_path / "s.py").stderr == ""
    assert "no score sheet" in run("export", path, "--calibrated", "--sheet", tmp_path / "p",
                                   code=2).stderr  # fmt: skip


def test_ids_are_of_sql(files, tmp_path):
    run("export", files["adaboost"], "--sql", tmp_path / "q.sql", "--id", "case", "--id", "clinic")
    assert (tmp_path / "q.sql").read_text().split("\n")[2].startswith("WITH ")
    assert '\nSELECT k0 AS "case",\n  k1 AS "clinic"' in (tmp_path / "q.sql").read_text()
    told = run("export", files["adaboost"], "--scorer", tmp_path / "s.py", "--id", "case", code=2)
    assert "--id applies only to --sql" in told.stderr
    told = run("export", files["samba"], "--calibrated", "--plain", tmp_path / "p.json", code=2)
    assert "has no map of held-out answers" in told.stderr


def test_check_compares_the_scores_of_the_file(files):
    assert (
        "16 generated rows have the scores stored in the file"
        in run("check", files["samba"]).stdout
    )


def test_every_form_is_tried_and_the_refused_are_told_at_the_end(tmp_path):
    X, y = small_table(3)
    path = tmp_path / "m.psephos"
    save(SamBAClassifier(n_estimators=3, random_state=0).fit(X, y), path)
    flags = ("--scorer", "--sql", "--sheet", "--plain")
    answer = run("export", path, *(w for f in flags for w in (f, tmp_path / f[2:])), code=2)
    written = [tmp_path / name for name in ("scorer", "plain")]
    assert answer.stdout.split() == [str(one) for one in written]
    assert all(one.exists() for one in written)
    assert "--sheet: SamBAClassifier has no score sheet" in answer.stderr
    assert "--sql: " in answer.stderr
    assert not (tmp_path / "sheet").exists()


def test_two_forms_in_one_file_are_refused(files, tmp_path):
    both = tmp_path / "both"
    link = tmp_path / "link"
    link.symlink_to(both)
    for other in (both, tmp_path / "." / "both", link):
        answer = run("export", files["adaboost"], "--scorer", both, "--plain", other, code=2)
        assert "--scorer and --plain both name" in answer.stderr.replace("--plain and --scorer", "")
        assert not both.exists()
