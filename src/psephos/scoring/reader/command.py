"""The command of a scorer: predictions and ballots of a csv file."""

# pyright: standard

import argparse
import csv
import io
import json
import os
import sys
from itertools import zip_longest
from typing import Any

from psephos._errors import PsephosError
from psephos.files.cases import CaseFile, Wanted
from psephos.files.cells import Cells
from psephos.scoring.reader.model import PlainModel, conformance_words
from psephos.scoring.reader.vote import ScoredCase
from psephos.vote.reading.answered import unanswered_cases, unanswered_notes
from psephos.vote.reading.core import CALIBRATIONS, are_neighbours, part_of


def _predicted(model: PlainModel, name: str, row: list[float], case: ScoredCase) -> list[list[Any]]:
    label, chances = model.vote.answer(case), model.vote.chances(case)
    labels = label if isinstance(label, list) else [label]
    answered = "false" if model.vote.unanswered(row, case) else "true"
    return [[name, *labels, *map(repr, (*chances, *model.vote.around(case))), answered]]


def _ballots(model: PlainModel, row: list[float], case: ScoredCase) -> list[dict[str, Any]]:
    """Return the ballots of a case; of neighbours, only those with weight."""
    some = are_neighbours(model.plain["weights"])
    return [one for one in model.ballots(row, case) if one["weight"] or not some]


def _explained(model: PlainModel, name: str, row: list[float], case: ScoredCase) -> list[list[Any]]:
    lines = []
    for ballot in _ballots(model, row, case):
        named = [model.names.columns[j] for j, _ in ballot["reason"].cells()]
        lines.append([
            name, ballot["voter"], model.words(ballot), ballot["vote"], repr(ballot["weight"]),
            *map(repr, ballot["contribution"]), json.dumps(named, ensure_ascii=False),
            model.details(ballot),
        ])  # fmt: skip
    return lines


def _heads(model: PlainModel, explain: bool) -> list[str]:
    target, outputs = model.vote.target, model.vote.target.outputs
    if not explain:
        classes = [str(c) for c in model.classes]
        many = target.kind == "multilabel"
        labels = [f"given_{c}" for c in classes] if many else ["predicted"]
        if not classes and len(outputs) > 1:
            labels = [f"predicted_{name}" for name in outputs]
        around = [f"quantile_{q}" for q in model.vote.quantiles]
        around = ["standard_deviation", *around] if around else []
        return ["id", *labels, *(f"probability_{c}" for c in classes), *around, "answered"]
    added = ["contribution"] if len(outputs) == 1 else [f"contribution_{o}" for o in outputs]
    return ["case", "voter", "reason", "vote", "weight", *added, "columns", "details"]


def _checked(model: PlainModel, vectors: Any) -> str:
    """Return a sentence that the predictions of the embedded rows are right; raise if not."""
    rows = [model.case(values) for values in vectors["rows"]]
    cases = [model.scored(row) for row in rows]
    worst = _farthest([case.score for case in cases], vectors["scores"])
    apart = [model.vote.chances(case) for case in cases]
    off = 0.0 if vectors["probabilities"] is None else _farthest(apart, vectors["probabilities"])
    for what, size in (("score", worst), ("probability", off)):
        if not size <= 1e-12:
            raise PsephosError(
                f"a {what} is off by {size:.3g}: this file, or its Python, is damaged."
            )
    answers = [model.vote.answer(case) for case in cases]
    if model.classes and answers != vectors["answers"]:
        raise PsephosError("a row has the right score but a wrong label: this file is damaged.")
    first = _ballots(model, rows[0], cases[0]) if rows else []
    ballots = [(one["voter"], model.words(one)) for one in first]
    classes = [str(c) for c in model.classes or model.vote.target.outputs]
    words = conformance_words(model.names, classes, ballots)
    kept = {one.partition(":")[0] for one in vectors["words"] if one.startswith("voter ")}
    here = [w for w in words if not w.startswith("voter ") or w.partition(":")[0] in kept]
    for one, other in zip_longest(here, vectors["words"], fillvalue="nothing"):
        if one != other:
            raise PsephosError(f"it has {one!r} in place of {other!r}: this file is damaged.")
    return (
        f"{len(rows)} generated rows have the right scores; the greatest difference is "
        f"{worst:.1e}; names and ballots are the same."
    )


def _farthest(found: Any, wanted: Any) -> float:
    """Return the greatest relative difference of rows of numbers; NaN if one is NaN."""
    worst = 0.0
    for one, other in zip(found, wanted, strict=True):
        size = max(1.0, *map(abs, other))
        apart = max(abs(a - b) / size for a, b in zip(one, other, strict=True))
        worst = apart if apart > worst or apart != apart else worst
    return worst


def _options(about: str) -> Any:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("table", nargs="?", help="a csv file whose first line names its columns")
    parser.add_argument(
        "--explain", action="store_true",
        help="write each voter's vote, weight and reason, without the nearest training cases",
    )  # fmt: skip
    parser.add_argument(
        "--calibrated", action="store_true",
        help="recalibrate probabilities by the map from held-out predictions, if there is one",
    )  # fmt: skip
    parser.add_argument(
        "--quantile", action="append", metavar="Q", type=float, default=[],
        help="quantile of a predicted distribution; repeatable (default: 0.05 and 0.95)",
    )  # fmt: skip
    parser.add_argument("--id", metavar="COLUMN", help="names of the cases (default: row N)")
    parser.add_argument("--out", metavar="FILE", help="file to write (default: the screen)")
    parser.add_argument(
        "--missing", action="append", metavar="WORD", default=[],
        help="marker of a missing value, in addition to those of the fit; repeatable",
    )  # fmt: skip
    parser.add_argument("--decimal", metavar="MARK", help="the decimal mark: . or a comma")
    parser.add_argument("--thousands", metavar="MARK", help="between thousands: , . ' or a space")
    parser.add_argument(
        "--limits", choices=["half", "limit"],
        help="read a limit of detection (<0.5) as half of it or as it is (default: as in the fit)",
    )  # fmt: skip
    parser.add_argument("--separator", metavar="MARK", help="between cells (default: detected)")
    parser.add_argument("--check", action="store_true", help="compare predictions to known ones")
    return parser


def run_scorer(text: str, about: str, argv: Any = None) -> int:
    """Predict the cases of a table; return the exit status, 2 after an error.

    Parameters
    ----------
    text : str
        JSON: ``model``, ``cells``, ``levels`` (see `Wanted.of_plain`), ``vectors`` and
        ``recalibration``: the map (null if there is none) and its description.
    about : str
        Text of ``--help``.
    argv : list of str, default=None
        Arguments; None: those of the command line.
    """
    parser = _options(about)
    options = parser.parse_args(argv)
    if not options.table and not options.check:
        parser.error("give a table, or --check")
    data = json.loads(text)
    try:
        model = PlainModel(data["model"])
        if options.check:
            sys.stdout.write(_checked(model, data["vectors"]) + "\n")
        if options.table:
            _predict(model, data, options)
        sys.stdout.flush()  # errors of writing must be raised here
    except BrokenPipeError:  # the reader of the pipe has closed it
        drop_unwritten()
    except (ValueError, OSError) as error:
        sys.stderr.write(f"Error: {error}\n")
        drop_unwritten()
        return 2
    return 0


def drop_unwritten() -> None:
    """Discard output that cannot be written; else Python fails again at its end (status 120)."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_whole(out: str, lines: list[Any]) -> None:
    """Write a file atomically; a device or pipe directly."""
    path = os.path.realpath(out)
    apart = os.path.exists(path) and not os.path.isfile(path)
    beside = path if apart else f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
        if not apart:
            os.replace(beside, path)
    except OSError as error:
        if not apart and os.path.exists(beside):
            os.remove(beside)
        raise PsephosError(f"{out!r} cannot be written: {error.strerror}.") from error


def _predict(model: PlainModel, data: Any, options: Any) -> None:
    for path in (options.table, sys.argv[0]) if options.out else ():
        there = os.path.exists(options.out) and os.path.exists(path)
        if there and os.path.samefile(options.out, path):
            raise PsephosError(f"--out {options.out!r} is an input file: give another.")
    wanted, spread = dict.fromkeys(options.quantile), model.vote.spread
    if wanted and not spread:
        raise PsephosError("--quantile needs a model that predicts a distribution.")
    if any(not 0 < q < 1 for q in wanted):
        raise PsephosError("--quantile must be above 0 and below 1.")
    model.vote.quantiles = list(wanted or (0.05, 0.95)) if spread else []
    rule = getattr(model.vote.target, "rule", "")
    notes = [f"the prediction is {rule}."] if rule else []
    if options.calibrated:
        mapping, words = data["recalibration"]
        if mapping is None:
            raise PsephosError(words)
        notes.append(f"probabilities and predictions are mapped by {words}.")
        model.vote.calibration = part_of(CALIBRATIONS, mapping)
    cases = CaseFile(
        options.table,
        Wanted.of_plain(model.plain, data["levels"]),
        Cells.of(data["cells"]).but(
            options.missing or None, options.decimal, options.thousands, limits=options.limits
        ),
        options.id,
        options.separator,
        options.missing,
    )
    lines_of = _explained if options.explain else _predicted
    lines = [_heads(model, options.explain)]
    whys: list[tuple[str, str]] = []
    for name, row in zip(cases.ids, cases.rows, strict=True):
        case = model.scored(row)
        lines += lines_of(model, name, row, case)
        whys += [(name, model.unanswered(row, case))] if options.explain else []
    ends = [line[-1] for line in lines[1:]] if not options.explain else []
    whole = unanswered_cases(cases.ids, ends) if ends else unanswered_notes(whys)
    for note in [*notes, *cases.notes, *whole]:
        sys.stderr.write(f"Note: {note}\n")
    if options.out:
        _write_whole(options.out, lines)
    else:
        if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
            sys.stdout.reconfigure(encoding="utf-8")  # redirected to a file
        csv.writer(sys.stdout, lineterminator="\n").writerows(lines)
