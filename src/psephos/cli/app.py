"""The command group, with the exit codes 0: done, 1: a bug, 2: bad input, 130: stopped."""

import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from psephos import __version__
from psephos._errors import PsephosError
from psephos.cli.compare import compare
from psephos.cli.demo import demo
from psephos.cli.describe import describe
from psephos.cli.explain import explain
from psephos.cli.export import check, export
from psephos.cli.fit import fit
from psephos.cli.models import list_models
from psephos.cli.predict import predict
from psephos.cli.reduce import reduce
from psephos.cli.report import report
from psephos.cli.table import table
from psephos.cli.validate import validate
from psephos.cli.warm import warm_up
from psephos.cli.words import forgive_encodings, plain_warnings, repeated, say
from psephos.files.atomic import reason
from psephos.files.escaping import printable

# names of these commands in other programs
_OTHER_WORDS = {
    "train": "fit", "learn": "fit", "classify": "predict", "score": "predict", "test": "predict",
    "models": "list", "ls": "list", "benchmark": "compare", "run": "compare", "html": "report",
    "example": "demo", "compile": "warm-up", "warmup": "warm-up",
}  # fmt: skip


class _BadInput(click.ClickException):
    exit_code = 2


class _Stopped(click.ClickException):
    """By Ctrl-C."""

    exit_code = 130

    def show(self, file: Any = None) -> None:
        """Print the message on a new line, without 'Error:'."""
        say(f"\n{self.format_message()}")


class _Commands(click.Group):
    """A group that reports bad input in a sentence, without a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the command line, since a message may end with the command to repeat."""
        ctx.meta["words"] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        forgive_encodings()
        try:
            with plain_warnings():
                return super().invoke(ctx)
        except PsephosError as error:
            words: list[str] = ctx.meta["words"]
            again = repeated(words, error.options)
            last = f"\nRepeat with:  psephos {shlex.join(again)}" if again != words else ""
            raise _BadInput(printable(str(error)) + last) from error
        except KeyboardInterrupt as error:
            raise _Stopped("stopped.") from error
        except BrokenPipeError:
            raise  # the reader of our output has ended: click handles it
        except OSError as error:
            from psephos.scoring.reader.command import drop_unwritten

            drop_unwritten()
            place = "" if error.filename is None else f"{str(error.filename)!r}: "
            raise _BadInput(printable(f"{place}{reason(error)}.")) from error
        except Exception as error:
            jit = sys.modules.get("psephos.runtime.jit")  # without it no kernel was called
            damaged = jit.damaged_cache(error) if jit else None
            if damaged is None:
                raise
            raise _BadInput(printable(damaged)) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; the error for an unknown one suggests similar commands."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(self._meant(ctx, args[0]), ctx) from error

    def _meant(self, ctx: click.Context, wanted: str) -> str:
        from difflib import get_close_matches

        known = self.list_commands(ctx)
        word = _OTHER_WORDS.get(wanted.lower(), wanted.lower())
        near = [word] if word in known else get_close_matches(word, known, n=2, cutoff=0.7)
        if near:
            return f"unknown command {wanted!r}: did you mean {' or '.join(near)}?"
        if Path(wanted).is_file():
            return (
                f"{wanted!r} is a file, not a command: psephos compare {wanted} --target COLUMN "
                "compares models on a table."
            )
        return f"unknown command {wanted!r}: the commands are {', '.join(known)}."

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of work."""
        return list(self.commands)


# "\b" keeps click from rewrapping a paragraph
_HELP = """Few voters, named and counted: classifiers for tables with more columns than rows.

\b
psephos demo                                 compare models on an included table
psephos compare cases.csv --target outcome   compare models on your table

\b
Completion by the tab key, in bash (zsh_source, fish_source: in these shells):
eval "$(_PSEPHOS_COMPLETE=bash_source psephos)"
"""


@click.group(cls=_Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="psephos", message="%(prog)s %(version)s")
@click.option(
    "--import",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="A module that registers models of your own; may be repeated.",
)
def main(modules: tuple[str, ...]) -> None:
    """Run the command line."""
    if modules:
        from psephos.registry import import_models

        sys.path.insert(0, str(Path.cwd()))  # the current folder, as with python -m
        with redirect_stdout(sys.stderr):
            for module in modules:
                import_models(module)


_FILES = (predict, validate, explain, describe, reduce, export, check)
_ALL = (compare, report, fit, *_FILES, table, list_models, demo, warm_up)
for command in _ALL:
    main.add_command(command)
