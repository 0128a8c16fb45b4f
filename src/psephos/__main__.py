"""``python -m psephos``: the command."""

from psephos.cli.app import main

if __name__ == "__main__":
    main(prog_name="psephos")
