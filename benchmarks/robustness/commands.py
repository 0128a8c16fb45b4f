"""Commands run in this process: what came of one, as the fuzzers count it."""

from typing import Any

from click.testing import CliRunner

from psephos.cli.app import main

__all__ = ["command"]

_ASKED_WRONGLY = 2  # exit code of a sentence for the user


def command(*told: Any) -> tuple[str, str]:
    """Run a command; return 'answered', 'refused' or a fault, and what was printed."""
    result = CliRunner().invoke(main, [str(word) for word in told])
    words = result.output
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        error = result.exception
        return f"{told[0]} raised {type(error).__name__}: {error}"[:150], words
    if result.exit_code == 0:
        return "answered", words
    if result.exit_code != _ASKED_WRONGLY:
        return f"{told[0]} ended with {result.exit_code}", words
    if "Error:" not in words or "Traceback" in words:
        return f"{told[0]} refused without a sentence", words
    return "refused", words
