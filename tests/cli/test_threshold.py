"""--threshold of fit, predict and explain: from which probability on a class is the answer."""

import csv
import io
import subprocess
import sys

import pytest


def answers(text):
    """Return the columns of csv that a command wrote, by name."""
    head, *rows = csv.reader(io.StringIO(text))
    return dict(zip(head, zip(*rows, strict=True), strict=True))


def fit(call, table, columns, out, *more):
    return call("fit", table, *columns, "--model", "adaboost", "--out", out, *more)


def assert_decided(found, threshold, positive, other):
    chances = [float(p) for p in found[f"probability_{positive}"]]
    assert list(found["predicted"]) == [positive if p >= threshold else other for p in chances]
    assert set(found["predicted"]) == {positive, other}


def test_a_file_with_a_threshold_is_honoured_by_every_command(call, table, columns, tmp_path):
    plain, cautious = tmp_path / "plain.psephos", tmp_path / "cautious.psephos"
    assert fit(call, table, columns, plain).exit_code == 0
    given = ("--threshold", "0.38", "--positive", "ill")
    done = fit(call, table, columns, cautious, *given)
    assert done.exit_code == 0, done.output
    assert "Answer: ill where its probability is at least 38.0 %." in done.stderr
    kept = call("predict", cautious, table, "--id", "name")
    assert "the prediction is ill where its probability is at least 38.0 %" in kept.stderr
    assert_decided(answers(kept.stdout), 0.38, "ill", "well")
    assert call("predict", plain, table, "--id", "name", *given).stdout == kept.stdout
    assert call("predict", plain, table, "--id", "name").stdout != kept.stdout
    again = call("predict", cautious, table, "--id", "name", "--threshold", "0.6")
    assert_decided(answers(again.stdout), 0.6, "well", "ill")  # the second class by default
    for model, more in ((cautious, ()), (plain, given)):
        told = call("explain", model, table, "--id", "name", *more)
        assert told.stderr.count("ill where its probability is at least 38.0 %") == 1
    scorer = tmp_path / "scorer.py"
    assert call("export", cautious, "--scorer", scorer).exit_code == 0
    run = [sys.executable, str(scorer), str(table), "--id", "name"]
    told = subprocess.run(run, capture_output=True, text=True, check=True)
    assert answers(told.stdout)["predicted"] == answers(kept.stdout)["predicted"]
    assert (
        told.stderr.count("Note: the prediction is ill where its probability is at least 38") == 1
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--threshold", "1.5"), "1.5 is not in the range"),
        (
            ("--threshold", "0.3", "--positive", "Ill"),
            "--positive must be one of ill, well; got 'Ill'",
        ),
        (("--positive", "ill"), "--positive is the class of --threshold"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_bad_thresholds_are_refused(call, table, columns, tmp_path, given, words, command):
    out = tmp_path / "m.psephos"
    assert fit(call, table, columns, out).exit_code == 0
    if command == "fit":
        done = fit(call, table, columns, tmp_path / "other.psephos", *given)
        assert not (tmp_path / "other.psephos").exists()
    else:
        done = call("predict", out, table, "--id", "name", *given)
    assert done.exit_code == 2
    assert words in done.output
