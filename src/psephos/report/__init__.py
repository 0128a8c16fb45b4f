"""The report: results and model files -> a dictionary -> one HTML file that works offline."""

from pathlib import Path

from psephos._whole import write_whole
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
        The file; it is written whole or not at all, and missing folders are made.

    Raises
    ------
    PsephosError
        If the folder is not a finished comparison, a file of it is damaged, the model has no file,
        or the report cannot be written.
    """
    target = Path(folder) / "report.html" if path is None else Path(path)
    write_whole(target, render(summarise(folder, model)).encode("utf-8"))
    return target
