"""The command `psephos`: one module per command, each a call to a public function.

Commands import heavy modules when they run, so that help is fast.
"""

from psephos.cli.app import main

__all__ = ["main"]
