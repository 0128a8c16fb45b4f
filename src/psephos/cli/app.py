"""The command group, and what its exit codes mean: 0 done, 1 a bug, 2 bad input."""

from typing import Any

import click

from psephos import __version__
from psephos._errors import PsephosError
from psephos.cli.compare import compare
from psephos.cli.demo import demo
from psephos.cli.explain import explain
from psephos.cli.fit import fit
from psephos.cli.models import list_models
from psephos.cli.predict import predict
from psephos.cli.report import report

__all__ = ["main"]


class _BadInput(click.ClickException):
    exit_code = 2


class _Commands(click.Group):
    """A group that says what was wrong with its input in one sentence, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PsephosError as error:
            raise _BadInput(str(error)) from error
        except BrokenPipeError:
            raise  # whoever read our output has gone: click knows what to do
        except OSError as error:
            if error.filename is None:
                raise
            raise _BadInput(f"{str(error.filename)!r}: {error.strerror}.") from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of work."""
        return list(self.commands)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="psephos", message="%(prog)s %(version)s")
def main() -> None:
    r"""Few voters, named and counted: classifiers for tables with more columns than rows.

    \b
    psephos demo                                 the main job on a table that is at hand
    psephos compare cases.csv --target outcome   the main job on yours
    """


for command in (compare, report, fit, predict, explain, list_models, demo):
    main.add_command(command)
