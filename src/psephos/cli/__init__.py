"""The command `psephos`: one module per command, each a call to a public function.

Nothing heavy is imported here: a command imports what it needs when it runs, so that help comes
at once.
"""

from psephos.cli.app import main

__all__ = ["main"]
