"""Whatever the terminal can write, no run is lost and no word runs in a spreadsheet."""

import csv
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

FAST = ["--protocol", "demo", "--folds", "2"]
CASES = ["=cmd|' /C calc'!A0", "Ω-1", "-2"]


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A table whose names, ids and labels are no ASCII, or a formula; its model, and its study."""
    folder = tmp_path_factory.mktemp("odd")
    rng = np.random.default_rng(0)
    rows = []
    for i in range(30):
        label = "=krank" if i % 2 else "gesünder"
        rows.append([CASES[i % 3] + "x" * (i // 3), repr(rng.normal() + 3 * (i % 2)), label])
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["who", "Größe µ ≥ 1", "Zustand"], *rows])
    return folder


_ALL = """
import json, sys
from psephos.cli import main
for job in json.loads(sys.argv[1]):
    try:
        main(job, prog_name="psephos")
    except SystemExit as end:
        print("CODE", job[0], end.code or 0, flush=True)
"""


def run(folder, environment, jobs):
    """Run several commands in one process, which imports once."""
    own = {"PYTHONIOENCODING", "PYTHONUTF8", "LC_ALL", "LANG", "LC_CTYPE"}
    env = {name: value for name, value in os.environ.items() if name not in own} | environment
    return subprocess.run(
        [sys.executable, "-c", _ALL, json.dumps(jobs)],
        capture_output=True, check=False, cwd=folder, env=env,
    )  # fmt: skip


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "cp1252"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
    ids=["ascii", "cp1252", "C"],
)
def test_no_encoding_of_a_terminal_loses_a_run(odd, environment):
    chosen = ["--target", "Zustand", "--id", "who"]
    jobs = [
        ["list"],
        ["fit", "t.csv", *chosen, "--model", "adaboost", "--out", "m.psephos"],
        ["predict", "m.psephos", "t.csv", "--id", "who"],
        ["explain", "m.psephos", "t.csv", "--id", "who"],
        ["describe", "m.psephos"],
        ["reduce", "m.psephos", "--out", "small.psephos"],
        ["compare", "t.csv", *chosen, *FAST, "--models", "majority,adaboost", "--out", "Studie"],
        ["report", "Studie"],
        ["predict", "nobody.psephos", "nobody.csv"],
    ]
    done = run(odd, environment, jobs)
    assert done.returncode == 0, done.stderr
    assert "gesünder,".encode() in done.stdout  # redirected answers are UTF-8 as files are
    told = done.stdout.decode(errors="replace").splitlines()
    codes = [line.split()[1:] for line in told if line.startswith("CODE ")]
    assert codes == [[job[0], "2" if "nobody" in job[-1] else "0"] for job in jobs], done.stderr
    assert (odd / "Studie" / "report.html").is_file()


def test_words_of_a_csv_stay_as_they_are_unless_a_spreadsheet_opens_it(call, odd):
    table, model = odd / "t.csv", odd / "plain.psephos"
    chosen = ["--target", "Zustand", "--id", "who"]
    call("fit", table, *chosen, "--model", "adaboost", "--out", model)
    for command in ("predict", "explain"):
        plain = call(command, model, table, "--id", "who").stdout
        safe = call(command, model, table, "--id", "who", "--spreadsheet-safe").stdout
        cells = [cell for row in csv.reader(plain.splitlines()) for cell in row]
        armed = [cell for row in csv.reader(safe.splitlines()) for cell in row]
        assert CASES[0] in cells
        assert "=krank" in cells
        assert "'" + CASES[0] in armed
        assert not [cell for cell in armed if cell.startswith("=")]
        numbers = [cell for cell in cells if cell.startswith("-") and cell[1:2].isdigit()]
        assert [c for c in numbers if c in armed] == [c for c in numbers if "x" not in c]


def test_a_study_for_a_spreadsheet_has_the_same_report(call, odd, tmp_path):
    chosen = ["--target", "Zustand", "--id", "who", "--models", "majority,adaboost", *FAST]
    for out, more in (("plain", []), ("safe", ["--spreadsheet-safe"])):
        assert (
            call("compare", odd / "t.csv", *chosen, "--out", tmp_path / out, *more).exit_code == 0
        )
    armed = (tmp_path / "safe" / "predictions.csv").read_text("utf-8")
    assert "'=krank" in armed
    assert ",=" not in armed
    plain = (tmp_path / "plain" / "predictions.csv").read_text("utf-8")
    assert "'=krank" not in plain
    from psephos.report.study.answers import held_out_answers
    from psephos.report.study.folder import read_folder

    found = [
        held_out_answers(read_folder(tmp_path / one), ["adaboost"]) for one in ("plain", "safe")
    ]
    np.testing.assert_array_equal(found[0].truth, found[1].truth)
    np.testing.assert_array_equal(found[0].chances["adaboost"], found[1].chances["adaboost"])
    assert found[0].known("adaboost").any()


def test_a_model_that_reads_no_column_is_said_to_be_that(call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i // 2 % 2},{'ab'[i % 2]}\n" for i in range(40)))
    done = call("fit", path, "--target", "y", "--model", "c45", "--out", tmp_path / "m.psephos")
    assert "reads no column" in done.stderr
    told = call(
        "compare", path, "--target", "y", "--models", "majority,c45", "--out", tmp_path / "s"
    )
    assert told.stdout.count("reads no column") == 2


def test_where_no_terminal_is_progress_is_a_line_now_and_then(capsys):
    from psephos.estimator.contender import Shape
    from psephos.protocol import Protocol, known_models
    from psephos.protocol.running.progress import Forecast, shown
    from psephos.protocol.running.tasks import FitTask

    model, plan = known_models()["majority"], Protocol(folds=2, repeats=250)
    rows, shape = np.arange(10), Shape(n_columns=3, n_classes=2)
    tasks = [
        FitTask(str(split), model, plan, split, rows, rows, (0, 0, 0)) for split in plan.splits
    ]
    forecast = Forecast(tasks, shape, 1)
    seconds = {f"{part}_seconds": 1.0 for part in ("search", "fit", "predict")}
    entries = [{"key": task.key, "model": "majority", "timing": seconds} for task in tasks]
    for entry in entries[:100]:  # of an earlier run
        forecast.learn(entry)
    forecast.order(tasks[100:])
    with shown(True, tasks, forecast) as advance:
        for entry in entries[100:]:
            advance(entry)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert lines[0] == "comparing 1 model in 500 folds and on all rows: 500 fits in all"
    assert lines[1] == "100 of 500 fits are reused from an earlier run"
    assert lines[2] == "comparing: 101 of 500 fits, majority done, about 20 min left"
    assert lines[3] == "comparing: 500 of 500 fits, majority done"


def test_a_warning_of_a_fit_is_a_sentence_without_a_path(call, odd, tmp_path, monkeypatch):
    import warnings

    from psephos import AdaBoostClassifier

    whole = AdaBoostClassifier.fit

    def warned(self, *given, **named):
        for _ in range(2):
            warnings.warn("did not settle\nmore", UserWarning, stacklevel=2)
        return whole(self, *given, **named)

    monkeypatch.setattr(AdaBoostClassifier, "fit", warned)
    out = tmp_path / "m.psephos"
    chosen = ["--target", "Zustand", "--id", "who", "--model", "adaboost", "--out", out]
    told = call("fit", odd / "t.csv", *chosen).stderr
    assert "warning: UserWarning: did not settle (2 times)" in told
    assert ".py" not in told


def test_a_file_that_cannot_be_written_is_named_as_the_user_named_it(
    call, odd, tmp_path, monkeypatch
):
    from psephos.files import atomic

    def refused(*given, **named):
        raise PermissionError(13, "Permission denied", str(tmp_path / "hidden"))

    monkeypatch.setattr(atomic.tempfile, "mkstemp", refused)
    out = tmp_path / "m.psephos"
    chosen = ["--target", "Zustand", "--id", "who", "--model", "adaboost", "--out", out]
    result = call("fit", odd / "t.csv", *chosen)
    assert result.exit_code == 2
    assert f"{str(out)!r} cannot be written: permission denied." in result.stderr


def summed(rows, **more):
    """Return what the command prints of rows of results."""
    from psephos.cli.words import show_summary
    from psephos.protocol.study.comparison import Comparison

    about = {"models": {}, "classes": ["a", "b"], "class_counts": [50, 50]}
    return show_summary(Comparison(rows, about | more, None))


def result(model, fold, score, columns=2):
    measures = {"balanced_accuracy": score, "roc_auc": score}
    status = "ok" if score is not None else "failed"
    keys = ("accuracy", "log_loss", "n_voters")
    found = {"model": model, "repeat": 0, "fold": fold, "n_columns": 9, "columns": "0..1"}
    found |= {"n_train": 80, "n_test": 20}
    found |= {"columns_used": columns, "status": status} | dict.fromkeys(keys) | measures
    return found


def test_one_fold_has_no_spread_and_no_place_among_means_of_more(capsys):
    rows = [result("lucky", k, 0.99 if k == 2 else None) for k in range(3)]
    rows += [result(m, k, s) for m, s in (("a", 0.8), ("b", 0.7)) for k in range(3)]
    summed(rows)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = {line[0]: line for line in lines if line[:1] and line[0] in ("a", "b", "lucky")}
    assert list(shown) == ["a", "b", "lucky"]
    assert shown["lucky"][1] == "0.990"
    assert shown["lucky"][-2:] == ["not", "ranked"]
    assert shown["a"][1] == "0.800±0.000"
    assert ["not", "ranked:"] in [line[:2] for line in lines]


def test_better_than_a_constant_answer_is_said_of_what_is_shown_to_be(capsys):
    none = "No model that reads columns is significantly better than a constant prediction"
    summed([result("a", k, 0.55) for k in range(3)])
    shown = capsys.readouterr().out
    assert f"{none} (balanced accuracy 0.500 at best; p = " in shown
    surest = re.search(r"p = (0\.\d+) for the surest, corrected", shown)
    assert 0.05 < float(surest[1]) < 1
    assert "*" not in shown
    summed([result("a", k, 0.9) for k in range(3)])
    shown = capsys.readouterr().out
    assert none not in shown
    assert "*: significantly better than a constant prediction" in " ".join(shown.split())


def test_of_one_model_none_is_the_smallest(capsys):
    summed([result("a", k, 0.8) for k in range(3)])
    assert "smallest" not in capsys.readouterr().out


def test_a_number_is_rounded_as_in_the_report(capsys):
    from psephos.report.words import number

    score = 0.13749999999999998
    summed([result("a", k, score) for k in range(2)] + [result("b", k, 0.1) for k in range(2)])
    assert f"{number(score)}±" in capsys.readouterr().out


_IN_SIZES = """
import fcntl, struct, sys, termios
def widened(columns):
    sys.stdout.flush()
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
for columns, code in {jobs!r}:
    widened(columns)
    exec(code, {{}})
    print(end="\\0", flush=True)
"""


def shown_in(*jobs):
    """Return what codes print in a terminal of so many columns each, without its colours.

    One process runs them all, which changes the size of its terminal.
    """
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    program = [sys.executable, "-c", _IN_SIZES.format(jobs=jobs)]
    done = subprocess.Popen(program, env=env | {"TERM": "xterm"}, **ends)
    os.close(theirs)
    found = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # its other end is closed
            more = b""
        if not more:
            break
        found += more
    os.close(ours)
    assert done.wait() == 0, found
    texts = re.sub(r"\x1b\[\d*m", "", found.decode()).replace("\r\n", "\n").split("\0")
    assert len(texts) == len(jobs) + 1
    return texts[:-1]


def command(*words):
    """Return code that runs a command."""
    return f"from psephos.cli import main; main({list(words)!r}, 'psephos', standalone_mode=False)"


_SUMMARY = """
from psephos.cli.words import show_bounds, show_summary
from psephos.protocol.study.comparison import Comparison
names = ("samba", "sklearn-gradient-boosting", "sklearn-l1-logistic", "majority")
measured = {"balanced_accuracy": 0.812, "roc_auc": 0.855}
row = {"repeat": 0, "n_columns": 2000, "n_train": 80, "n_test": 20, "status": "ok", "accuracy": 0.8,
       "log_loss": 0.5, **measured}
rows = [{**row, "model": name, "fold": k, "columns": f"0..{900 + 99 * k + i}",
         "columns_used": 901 + 99 * k + i, "n_voters": 1000 + k}
        for i, name in enumerate(names) for k in range(3)]
show_summary(Comparison(rows, {"models": {}, "classes": ["a", "b"], "class_counts": [9, 9]}, None))
kinds = ("hold-out, folds", "out of bag", "published")
show_bounds([{"model": name, "bound": kind, "value": 0.345, "vacuous": True,
              "constant_error": 0.3}
             for name in names for kind in kinds])
"""


def test_a_narrow_terminal_shows_less_and_cuts_nothing():
    whole, narrow, small = shown_in((120, _SUMMARY), (80, _SUMMARY), (60, _SUMMARY))
    for text, columns in ((whole, 120), (narrow, 80), (small, 60)):
        lines = text.splitlines()
        assert "…" not in text
        tables = [line for line in lines if re.match(r"(samba|majority|model|sk\S+) ", line)]
        assert len(tables) == 9
        assert max(map(len, tables)) <= columns
        figures = [line for line in lines if "±" in line]
        assert len(figures) == 4
        assert all(re.search(r" 0\.812±0\.000 .*\d+\.0±99\.0", line) for line in figures)
    assert "stability  voters" in whole
    assert "sklearn-gradient-boosting" in whole
    short = "(sk- stands for sklearn-; without voters, stability"
    assert f"{short}: the terminal is narrow)" in narrow
    assert "stands for" not in whole
    for text, heads in ((whole, "columns, voters"), (narrow, "columns"), (small, "columns")):
        assert f"\n{heads}: means over the folds" in text
        assert ("stability: 1 if" in text) == (text == whole)
    assert "ROC-AUC" in narrow
    assert "balanced accuracy" in narrow
    assert re.search(r"^ +balanced *\nmodel +accuracy +columns", small, re.MULTILINE)
    assert f"{short}, ROC-AUC: the terminal is narrow)" in " ".join(small.split())
    assert whole.count("0.345 vacuous") == 12


def test_the_list_of_models_cuts_no_name():
    texts = shown_in((80, command("list")), (60, command("list")))
    for columns, text in zip((80, 60), texts, strict=True):
        assert "…" not in text
        assert "newton-boosting-regressor " in text
        assert max(map(len, text.splitlines())) <= max(columns, 82)  # the heading is 55


_CONTROLS = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e"


@pytest.fixture(scope="module")
def controlled(tmp_path_factory):
    """A table whose names, ids, labels and categories would control a terminal, and its model."""
    from click.testing import CliRunner

    from psephos.cli import main

    folder = tmp_path_factory.mktemp("controls")
    rng = np.random.default_rng(0)
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["who" + _CONTROLS, "g" + _CONTROLS, "kind", "y" + _CONTROLS])
        for i in range(40):
            kind = ("a" if rng.random() < 0.5 else "b") + _CONTROLS
            label = ("no", "yes")[i % 2] + _CONTROLS
            table.writerow([f"{i}{_CONTROLS}", repr(rng.normal() + 2 * (i % 2)), kind, label])
    chosen = ["--target", "y" + _CONTROLS, "--id", "who" + _CONTROLS]
    out = str(folder / "m.psephos")
    told = CliRunner().invoke(
        main, ["fit", str(folder / "t.csv"), *chosen, "--model", "adaboost", "--out", out]
    )
    assert told.exit_code == 0, told.output
    assert_harmless(told.output)
    return folder, chosen


def assert_harmless(text):
    """Check that no character is one that a terminal obeys, but that it is there as an escape."""
    assert not set(text) & set("\x1b\x07\x9b\u202e")
    assert "\\x1b]0;owned\\x07\\x1b[31m" in text


def test_control_characters_of_names_are_escapes_on_a_terminal(controlled, call):
    import psephos

    folder, chosen = controlled
    model, table = folder / "m.psephos", folder / "t.csv"
    assert_harmless(call("describe", model).output)
    assert_harmless(call("validate", model, table, *chosen).output)
    assert_harmless(call("predict", model, table, "--id", "g" + "\x1b]0;owned\x07\x1b[31m").output)
    fitted = psephos.load(model)
    assert_harmless(str(fitted))
    commands = [
        ["predict", str(model), str(table), "--id", chosen[-1]],
        ["explain", str(model), str(table), "--id", chosen[-1]],
    ]
    texts = shown_in(*((400, command(*words)) for words in commands))
    for words, text in zip(commands, texts, strict=True):
        assert_harmless(text)
        piped = call(*words).stdout  # as it is in a file
        assert _CONTROLS in piped


def test_commands_print_by_the_functions_that_escape():
    from pathlib import Path

    import psephos.cli

    folder = Path(psephos.cli.__file__).parent
    for path in folder.glob("*.py"):
        if path.name != "words.py":
            assert not re.search(r"click\.s?echo\(|\bprint\(", path.read_text("utf-8")), path.name
