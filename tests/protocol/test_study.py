"""One folder holds one study: nothing of another is mixed in, and nothing is lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from psephos._errors import ModelFileError, PsephosError
from psephos.files.atomic import UnwritableError, remove_drafts, write_whole
from psephos.protocol import DataTable, Protocol, read_table
from psephos.protocol import compare as compare_on_all_cores
from psephos.protocol.study.folder import SCHEMA, Journal, key_of
from psephos.report.study.folder import read_folder

compare = partial(compare_on_all_cores, n_jobs=1)
SMALL = Protocol(folds=2, inner_folds=2, draws=2)
MODELS = ("majority", "samba")


def a_table(seed=0, n=40, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] > np.median(X[:, 0]), "ill", "well")
    return DataTable(X, y, tuple(f"m{j}" for j in range(p)), dataset=f"t{seed}")


A, B = a_table(0), a_table(1)


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("finished") / "study"
    compare(A, models=MODELS, protocol=SMALL, out=out)
    return out


@pytest.fixture
def folder(finished, tmp_path):
    """A finished study of one's own."""
    return Path(shutil.copytree(finished, tmp_path / "study"))


# ------------------------------------------------------------------- whose a folder is
@pytest.mark.parametrize(
    ("table", "settings", "words"),
    [
        (B, {}, "values, labels, column names or groups of the table differ"),
        (a_table(0, n=50), {}, "40 rows and 4 columns there, 50 and 4 here"),
        (DataTable(A.X, A.y, A.names, target_name="fate"), {}, "'target' there and 'fate' here"),
        (
            DataTable(A.X, A.y, A.names, groups=np.arange(40) // 2, group_name="who"),
            {},
            "the groups are None there and 'who' here",
        ),
        (
            DataTable(A.X, A.y, A.names, ids=np.arange(40)),
            {},
            "the names of the cases, or their lines in the file, differ",
        ),
        (A, {"random_state": 1}, "the seed is 0 there and 1 here"),
        (A, {"protocol": Protocol(folds=3, inner_folds=2, draws=2)}, "folds is 2 there and 3 here"),
        (A, {"copies": "apart"}, "'together' there and 'apart' here"),
    ],
)
def test_another_study_is_refused_and_nothing_is_touched(folder, table, settings, words):
    before = content(folder)
    with pytest.raises(PsephosError, match=words) as caught:
        compare(table, models=MODELS, out=folder, **{"protocol": SMALL, **settings})
    assert "--replace" in str(caught.value)
    assert "another folder" in str(caught.value)
    assert content(folder) == before


@pytest.mark.filterwarnings("ignore:empty lines are left out:UserWarning")
@pytest.mark.filterwarnings("ignore:cells that --missing makes missing:UserWarning")
def test_other_words_for_missing_values_are_another_study(tmp_path):
    """A saved model remembers them: that of another file would read new cases wrongly."""
    rows = [f"{'NA' if i % 7 == 0 else i % 5},{i % 3},{'ab'[i % 2]}" for i in range(30)]
    first, second, third = (tmp_path / f"{i}.csv" for i in range(3))
    first.write_text("x,z,y\n" + "\n".join(rows))
    second.write_text(first.read_text().replace("NA", "-9"))
    third.write_text(first.read_text().replace("x,z,y\n", "x,z,y\n\n"))
    out, told = tmp_path / "study", {"models": MODELS, "protocol": SMALL}
    compare(read_table(first, target="y"), out=out, **told)
    with pytest.raises(PsephosError, match=r"words for missing values .* differ"):
        compare(read_table(second, target="y", missing=["-9"]), out=out, **told)
    with pytest.raises(PsephosError, match="their lines in the file, differ"):
        compare(read_table(third, target="y"), out=out, **told)


def test_another_version_is_another_study(folder, monkeypatch):
    monkeypatch.setattr("psephos.protocol.study.folder.__version__", "99.0")
    with pytest.raises(PsephosError, match=r"psephos was .* there and is 99\.0 here"):
        compare(A, models=MODELS, protocol=SMALL, out=folder)


def test_replace_leaves_what_a_fresh_folder_would_hold(folder, tmp_path):
    compare(B, models=["majority"], protocol=SMALL, out=folder, replace=True)
    compare(B, models=["majority"], protocol=SMALL, out=tmp_path / "fresh")
    timed = ("timings.csv", "used.csv", "journal.jsonl")
    kept, fresh = content(folder), content(tmp_path / "fresh")
    assert set(kept) == set(fresh)
    assert {n: d for n, d in kept.items() if n not in timed} == {
        n: d for n, d in fresh.items() if n not in timed
    }


def test_replace_of_the_same_study_goes_on(folder, monkeypatch):
    before = content(folder)
    monkeypatch.setattr("psephos.protocol.running.spread.run_task", None)  # any fit would fail
    compare(A, models=MODELS, protocol=SMALL, out=folder, replace=True)
    assert content(folder) == before


def test_only_models_of_this_run_are_listed_and_the_others_come_back(folder, monkeypatch):
    first = {n: d for n, d in content(folder).items() if n != "journal.jsonl"}
    (folder / "report.html").write_text("a report of both models")
    compare(A, models=["majority"], protocol=SMALL, out=folder)
    assert not list((folder / "models").iterdir())
    assert not (folder / "report.html").exists()
    assert set(read_folder(folder).models) == set()
    monkeypatch.setattr("psephos.protocol.running.spread.run_task", None)
    compare(A, models=MODELS, protocol=SMALL, out=folder)
    assert {n: d for n, d in content(folder).items() if n != "journal.jsonl"} == first


def test_files_of_the_user_beside_the_models_stay(folder):
    mine, notes = folder / "models" / "small.psephos", folder / "models" / "notes.txt"
    mine.write_bytes((folder / "models" / "samba.psephos").read_bytes())
    notes.write_text("mine")
    (folder / "models" / "mine").mkdir()
    compare(A, models=("majority",), protocol=SMALL, out=folder)
    names = {path.name for path in (folder / "models").iterdir()}
    assert names == {"small.psephos", "notes.txt", "mine"}


def test_a_folder_in_the_way_of_a_model_is_told_and_the_results_stay(folder):
    compare(A, models=("majority",), protocol=SMALL, out=folder)
    before = content(folder)
    (folder / "models" / "samba.psephos").mkdir()
    with pytest.raises(UnwritableError, match="is a directory"):
        compare(A, models=MODELS, protocol=SMALL, out=folder)
    assert content(folder).keys() >= before.keys()
    assert (folder / "comparison.json").read_bytes() == before["comparison.json"]


def test_a_file_of_the_user_is_not_overwritten(tmp_path):
    (tmp_path / "results.csv").write_text("mine")
    for replace in (False, True):
        with pytest.raises(PsephosError, match=r"'results\.csv', which is not of a comparison"):
            compare(A, models=["majority"], protocol=SMALL, out=tmp_path, replace=replace)
    assert content(tmp_path) == {"results.csv": b"mine"}


def test_the_folder_tells_what_each_file_is(folder):
    told = (folder / "README.txt").read_text("utf-8")
    for path in folder.iterdir():
        assert path.name in told


def test_a_damaged_identity_is_refused(folder):
    (folder / "study.json").write_text('{"study": {}, "digest": "0"}')
    with pytest.raises(PsephosError, match=r"study\.json is damaged"):
        compare(A, models=MODELS, protocol=SMALL, out=folder)


def test_a_study_of_another_form_is_refused_or_replaced(folder):
    """As one that was written before the keys of its fits changed: none of them would be found."""
    told = json.loads((folder / "study.json").read_text())["study"]
    assert told["versions"].pop("the form of its files") == SCHEMA
    written = json.dumps({"study": told, "digest": key_of(told)})
    (folder / "study.json").write_text(written)
    words = "another version of psephos wrote its files, which this one cannot resume"
    with pytest.raises(
        PsephosError, match=f"{words}. Give another folder with --out, or --replace"
    ):
        compare(A, models=MODELS, protocol=SMALL, out=folder)
    compare(A, models=("majority",), protocol=SMALL, out=folder, replace=True)
    assert not (folder / "models" / "samba.psephos").exists()


# ------------------------------------------------------------------- reports of what belongs
@pytest.mark.parametrize("n_written", range(8))
def test_a_run_stopped_while_files_are_placed_is_never_reported_as_finished(
    folder, monkeypatch, n_written
):
    """The models are there and the results are not, or any other part."""
    written = []

    def stop(path, data):
        if len(written) == n_written:
            raise KeyboardInterrupt
        written.append(path)
        write_whole(path, data)

    names = (*MODELS, "adaboost")
    with monkeypatch.context() as patched:
        patched.setattr("psephos.protocol.study.folder.write_whole", stop)
        try:
            compare(A, models=names, protocol=SMALL, out=folder)
        except KeyboardInterrupt:
            if n_written:  # the first is README.txt, before anything changes
                with pytest.raises(PsephosError, match="not finished: run the same command again"):
                    read_folder(folder)
    compare(A, models=names, protocol=SMALL, out=folder)
    assert set(read_folder(folder).about["models"]) == set(names)


def test_a_model_of_another_comparison_is_refused(folder, tmp_path):
    compare(B, models=MODELS, protocol=SMALL, out=tmp_path / "other")
    theirs = tmp_path / "other" / "models" / "samba.psephos"
    (folder / "models" / "samba.psephos").write_bytes(theirs.read_bytes())
    with pytest.raises(
        ModelFileError, match=r"was changed or deleted .* or is of another comparison"
    ):
        read_folder(folder)
    compare(A, models=MODELS, protocol=SMALL, out=folder)  # places its own again
    assert set(read_folder(folder).models) == {"samba"}


def test_a_model_that_does_not_belong_is_not_listed(folder):
    own = folder / "models" / "samba.psephos"
    (folder / "models" / "swag.psephos").write_bytes(own.read_bytes())
    assert set(read_folder(folder).models) == {"samba"}


def test_what_changes_while_it_is_read_is_no_report(folder, monkeypatch):
    from psephos.report.study import folder as module

    cases = module._cases

    def slow(*args):
        (folder / "comparison.json").unlink()  # another process begins to write
        return cases(*args)

    monkeypatch.setattr(module, "_cases", slow)
    with pytest.raises(PsephosError, match="another process is writing"):
        read_folder(folder)


# ------------------------------------------------------------------- two processes
HOLD = """
import sys, time
from pathlib import Path
from psephos.protocol.study.folder import Journal
held = Journal(Path(sys.argv[1]) / "journal.jsonl")
print("held", flush=True)
time.sleep(600)
"""


def test_a_second_process_is_refused_and_a_killed_one_leaves_no_lock(folder):
    before = content(folder)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, env=os.environ.copy()
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(PsephosError, match="another process is writing"):
            compare(A, models=MODELS, protocol=SMALL, out=folder)
        assert content(folder) == before
    finally:
        holder.kill()
        holder.communicate()
    compare(A, models=MODELS, protocol=SMALL, out=folder)
    assert content(folder) == before


def test_two_runs_in_one_process_do_not_share_a_folder(folder):
    held = Journal(folder / "journal.jsonl")
    with pytest.raises(PsephosError, match="another process is writing"):
        compare(A, models=MODELS, protocol=SMALL, out=folder)
    held.close()
    compare(A, models=MODELS, protocol=SMALL, out=folder)


# ------------------------------------------------------------------- full disks
LIMITED = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
from test_study import A, MODELS, SMALL, UnwritableError, compare
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit in sys.argv[3:]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        compare(A, models=MODELS, protocol=SMALL, out=f"{sys.argv[2]}/{limit}")
    except UnwritableError as error:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        print(error, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are of POSIX systems")
def test_a_file_that_the_system_refuses_is_a_sentence_and_the_run_resumes(finished, tmp_path):
    limits = ["100", "1500", "4000"]
    command = [sys.executable, "-c", LIMITED, str(Path(__file__).parent), str(tmp_path), *limits]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ.copy())
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == len(limits)
    same = ("results.csv", "predictions.csv", "refits.csv", "comparison.json", "cases.npz")
    for limit, sentence in zip(limits, told, strict=True):
        assert "cannot be written: file too large." in sentence
        assert str(tmp_path / limit) in sentence
        assert ".psephos-part" not in sentence
        assert not list(tmp_path.rglob("*.psephos-part"))
        out = tmp_path / limit
        with pytest.raises(PsephosError):
            read_folder(out)
        compare(A, models=MODELS, protocol=SMALL, out=out)
        assert [(out / n).read_bytes() for n in same] == [(finished / n).read_bytes() for n in same]


def test_a_full_disk_is_named_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "missing" / "file.csv"
    write_whole(path, b"old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UnwritableError, match=r"file\.csv' .*: no space left on device\."):
        write_whole(path, b"new")
    assert content(tmp_path) == {"missing/file.csv": b"old"}


def test_a_full_disk_tears_no_line_of_the_journal(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.add({"key": "a", "model": "m"})
    before = (tmp_path / "journal.jsonl").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(UnwritableError, match="no space left on device"):
            journal.add({"key": "b", "model": "m"})
    assert (tmp_path / "journal.jsonl").read_bytes() == before
    journal.close()


def full(handle):
    raise OSError(28, "No space left on device")


def test_a_line_that_was_changed_is_not_believed(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.add({"key": "a", "model": "m", "measures": {"accuracy": 0.5}})
    journal.close()
    content = (tmp_path / "journal.jsonl").read_bytes()
    (tmp_path / "journal.jsonl").write_bytes(content.replace(b"0.5", b"0.9"))
    again = Journal(tmp_path / "journal.jsonl")
    assert again.get("a") is None
    assert again.n_damaged == 1
    again.close()


# ------------------------------------------------------------------- kills and interruptions


@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX systems")
def test_ctrl_c_says_that_the_same_command_resumes(tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "study"
    rng = np.random.default_rng(0)
    lines = ["a,b,y"] + [f"{u},{v},{'xz'[u > v]}" for u, v in rng.normal(size=(40, 2)).tolist()]
    table.write_text("\n".join(lines))
    command = [sys.executable, "-m", "psephos.cli", "compare", str(table), "--target", "y"]
    command += ["--models", "majority,swag,samba", "--n-jobs", "1", "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    journal = out / "journal.jsonl"
    while not (journal.exists() and journal.stat().st_size) and process.poll() is None:
        time.sleep(0.01)  # until the first fit is written
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert process.returncode == 130, told
    assert "the same command resumes" in told
    assert str(out) in told
    assert "Traceback" not in told
    assert json.loads((out / "study.json").read_text())


def test_young_drafts_of_a_report_that_is_being_written_stay(tmp_path):
    young, old, other = (
        tmp_path / f".{name}.psephos-part" for name in ("report.html.a", "report.html.b", "x.c")
    )
    for draft in (young, old, other):
        draft.write_text("")
    os.utime(old, (0, 0))
    remove_drafts(tmp_path, but="report.html")
    assert [draft.exists() for draft in (young, old, other)] == [True, False, False]
