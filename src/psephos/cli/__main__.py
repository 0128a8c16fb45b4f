"""``python -m psephos.cli``: the command without its script."""

from psephos.cli.app import main

main(prog_name="psephos")
