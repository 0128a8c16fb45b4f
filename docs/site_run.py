"""A directive that runs a command, so that a page shows what the command prints today."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives


class Run(Directive):
    """Run a command in the page's own folder, and show it with what it prints."""

    has_content = True
    optional_arguments = 0
    option_spec = {"show": directives.unchanged, "lines": directives.positive_int}  # noqa: RUF012
    folders: dict[str, str] = {}  # noqa: RUF012

    def run(self):
        """Return the command and its output as code."""
        page = self.state.document.current_source
        folder = self.folders.setdefault(page, tempfile.mkdtemp())
        command = "\n".join(self.content)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            command, shell=True, cwd=folder, text=True, capture_output=True, check=False,
            env={**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1"},
        )  # fmt: skip
        if done.returncode:
            raise self.error(f"{command}: exit code {done.returncode}: {done.stderr[-2000:]}")
        if "show" in self.options:
            return []
        lines = done.stdout.rstrip().splitlines()
        most = self.options.get("lines", len(lines))
        lines = lines[:most] + ["..."] * (len(lines) > most)
        text = "\n".join([f"$ {command}", *lines])
        return [nodes.literal_block(text, text, language="text")]


def clean(_app, _error):
    """Delete the folders in which commands were run."""
    for folder in Run.folders.values():
        shutil.rmtree(folder, ignore_errors=True)
