"""The report: results and model files -> a dictionary -> one HTML file that works offline."""

from pathlib import Path

from psephos._errors import PsephosError
from psephos.files.atomic import write_whole
from psephos.report.page.render import render, render_validation
from psephos.report.page.summarise import summarise
from psephos.report.page.validated import is_validation, summarise_validation
from psephos.report.study.options import PageOptions

__all__ = ["PageOptions", "build_report", "render", "summarise", "summarise_validation"]


def build_report(
    folder: str | Path,
    path: str | Path | None = None,
    *,
    model: str | None = None,
    title: str | None = None,
    positive: str | None = None,
    ids: bool = False,
    cases: str = "rounded",
    notes: str | Path | None = None,
) -> Path:
    """Write the report of a comparison, or of a validation.

    Parameters
    ----------
    folder : str or Path
        What `psephos.protocol.compare` wrote, or ``psephos validate --out``: then it is the page
        of one model on another cohort.
    path : str or Path, default=None
        Where to write it; None writes ``report.html`` into the folder.
    model : str, optional
        The model that is shown first; see `summarise`. Of a validation there is one alone.
    title : str, optional
        The heading of the page.
    positive : str, optional
        The class that answers, thresholds and missed cases are about. By default, of two classes
        one of which bears a usual word for nothing found (healthy, control, benign, no, 0), the
        other one; else the class of fewest cases. Of several classes, that of which the model
        shown finds the least share. The page says which rule it was.
    ids : bool, default=False
        Whether the page calls cases by their ids. By default it numbers them, by their places in
        the table.
    cases : {'rounded', 'full', 'none'}, default='rounded'
        What the page carries of each case: values to three or four figures (more where a printed
        inequality needs them), to all figures, or counts alone. With 'none' no single case can be
        shown. The page says at its end what it carries.
    notes : str or Path, optional
        Of a comparison: a text file of what only its authors know, shown in a fold of the page.
        Lines that begin with # are headings: intended use, out of scope, source of data, ethics,
        funding, contact, or the number of an item of TRIPOD+AI (``# 5b Dates``), which is then
        no longer listed as left to the authors. It is not kept in the folder.

    Returns
    -------
    path : Path
        The file; it is written whole or not at all, and missing folders are made.

    Raises
    ------
    PsephosError
        If the folder is not a finished comparison, a file of it is damaged, the model has no file,
        an option names what the study has not, or the report cannot be written.

    Examples
    --------
    >>> from psephos.report import build_report
    >>> build_report("psephos-out", title="Who has it?", positive="cancer")  # doctest: +SKIP
    PosixPath('psephos-out/report.html')
    """
    target = Path(folder) / "report.html" if path is None else Path(path)
    if (
        target.exists()
        and target.suffix != ".html"
        and target.resolve().is_relative_to(Path(folder).resolve())
    ):
        raise PsephosError(
            f"{str(target)!r} is a file of the study, or not an .html file: name another."
        )
    judged = is_validation(folder)
    if judged and model is not None:
        raise PsephosError("a validation is of one model: leave out the model to show first.")
    if judged and notes is not None:
        raise PsephosError("notes stand on the page of a comparison: leave them out (--notes).")
    own = None if notes is None else Path(notes)
    options = PageOptions(title=title, positive=positive, ids=ids, cases=cases, notes=own)
    if judged:
        page = render_validation(summarise_validation(folder, options))
    else:
        page = render(summarise(folder, model, options))
    write_whole(target, page.encode("utf-8"))
    return target
