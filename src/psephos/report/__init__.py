"""The report: results and model files become a dictionary, and this one offline HTML file."""

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
        The folder written by `psephos.protocol.compare` or ``psephos validate --out``; the page of
        the latter shows one model on another cohort.
    path : str or Path, default=None
        The file to write; None writes ``report.html`` into the folder.
    model : str, optional
        The model that is shown first; see `summarise`. A validation has only one.
    title : str, optional
        The heading of the page.
    positive : str, optional
        The class that answers, thresholds and missed cases are about. By default, if one of two
        classes has a usual name of a negative finding (healthy, control, benign, no, 0), the other
        one; else the class with the fewest cases. Of several classes, the one of which the model
        shown finds the smallest share. The page names the rule.
    ids : bool, default=False
        Whether cases are named by their ids. By default they are numbered; rows without ids have
        the numbers of their rows in the file, as in predictions.csv.
    cases : {'rounded', 'full', 'none'}, default='rounded'
        What the page contains of each case: values rounded to three or four digits (more where a
        printed inequality needs them), exact values, or only counts. With 'none' no single case can
        be shown. The end of the page says what it contains.
    notes : str or Path, optional
        For a comparison: a text file of the authors' notes, shown in a fold of the page. Lines that
        begin with # are headings: intended use, out of scope, source of data, ethics, funding,
        contact, or the number of an item of TRIPOD+AI (``# 5b Dates``), which is then not listed
        as left to the authors. The file is not copied into the folder.

    Returns
    -------
    path : Path
        The file. It is written atomically, and missing folders are made.

    Raises
    ------
    PsephosError
        If the folder is not a finished comparison or validation, one of its files is damaged, the
        model has no file, an option does not fit the study, or the report cannot be written.

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
            f"path must be an .html file if it is in the study's folder; got {str(target)!r}."
        )
    validation = is_validation(folder)
    if validation and model is not None:
        raise PsephosError("model must not be given for a validation, which has only one.")
    if validation and notes is not None:
        raise PsephosError("notes (--notes) must not be given for a validation.")
    own = None if notes is None else Path(notes)
    options = PageOptions(title=title, positive=positive, ids=ids, cases=cases, notes=own)
    if validation:
        page = render_validation(summarise_validation(folder, options))
    else:
        page = render(summarise(folder, model, options))
    write_whole(target, page.encode("utf-8"))
    return target
