"""The report: results and model files -> a dictionary -> one HTML file that works offline."""

import os
import tempfile
from pathlib import Path

from psephos.report.render import render
from psephos.report.summarise import summarise

__all__ = ["build_report", "render", "summarise"]


def build_report(
    folder: str | Path, path: str | Path | None = None, *, model: str | None = None
) -> Path:
    """Write the report of a comparison.

    Parameters
    ----------
    folder : str or Path
        What `psephos.protocol.compare` wrote.
    path : str or Path, default=None
        Where to write it; None writes ``report.html`` into the folder.
    model : str, optional
        The model whose card, network and ballots are shown; see `summarise`.

    Returns
    -------
    path : Path
        The file; it is written whole or not at all.

    Raises
    ------
    PsephosError
        If the folder is not a comparison, a file of it is damaged, or the model has no file.
    """
    target = Path(folder) / "report.html" if path is None else Path(path)
    page = render(summarise(folder, model))
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=".report-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(page)
        os.chmod(draft, 0o644)  # mkstemp keeps a file to its owner; a report is to be shared
        os.replace(draft, target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return target
