"""What the system refuses is a sentence, whatever it says of the reason."""

import errno

import pytest
from click.testing import CliRunner

from psephos.cli.app import main


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(), "gave no reason."),
        (OSError(errno.ENOSPC), "no space left on device."),
        (OSError(errno.ENOSPC, None), "no space left on device."),
        (OSError(errno.EMFILE, "Too many open files", "a.csv"), "'a.csv': too many open files."),
        (OSError(errno.EMFILE, None), "too many open files."),
    ],
)
def test_an_error_of_the_system_is_a_sentence(error, sentence, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(main.commands["list"], "callback", fail)
    result = CliRunner().invoke(main, ["list"])
    assert result.exit_code == 2
    assert result.output.strip().endswith(sentence)


def test_ctrl_c_is_neither_a_bug_nor_bad_input(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(main.commands["list"], "callback", stop)
    result = CliRunner().invoke(main, ["list"])
    assert result.exit_code == 130
    assert result.output == "\nstopped.\n"
