"""The command of a scorer: predictions and ballots of a csv file."""

import argparse
import csv
import json
import sys
from typing import Any

from psephos._errors import PsephosError
from psephos.scoring.reader.model import PlainModel
from psephos.scoring.reader.table import CaseFile

__all__ = ["run_scorer"]


def _predicted(model: PlainModel, name: str, row: list[float]) -> list[list[Any]]:
    case = model.asked(row)
    label, chances = model.vote.answer(case), model.vote.chances(case)
    said = label if isinstance(label, list) else [label]
    return [[name, *said, *map(repr, chances)]]


def _explained(model: PlainModel, name: str, row: list[float]) -> list[list[Any]]:
    case, lines = model.asked(row), []
    some = model.plain["weights"]["kind"] == "neighbours"
    for ballot in model.ballots(row, case):
        if some and not ballot["weight"]:
            continue
        named = [model.names.columns[j] for j, _ in ballot["reason"].cells()]
        lines.append(
            [
                name,
                ballot["voter"],
                model.words(ballot),
                ballot["vote"],
                repr(ballot["weight"]),
                *map(repr, ballot["contribution"]),
                json.dumps(named, ensure_ascii=False),
                model.details(ballot),
            ]
        )
    return lines


def _heads(model: PlainModel, explain: bool) -> list[str]:
    target, outputs = model.vote.target, model.vote.target.outputs
    if not explain:
        classes = [str(c) for c in model.classes]
        many = target.kind == "multilabel"
        said = [f"given_{c}" for c in classes] if many else ["predicted"]
        if not classes and len(outputs) > 1:
            said = [f"predicted_{name}" for name in outputs]
        return ["id", *said, *(f"probability_{c}" for c in classes)]
    added = ["contribution"] if len(outputs) == 1 else [f"contribution_{o}" for o in outputs]
    return ["case", "voter", "reason", "vote", "weight", *added, "columns", "details"]


def _checked(model: PlainModel, vectors: Any) -> str:
    """Return that the scores of the embedded rows are as they should be; raise if not."""
    worst = 0.0
    for values, wanted in zip(vectors["rows"], vectors["scores"], strict=True):
        found = model.asked(model.case(values)).score
        size = max(1.0, *map(abs, wanted))
        apart = max(abs(a - b) / size for a, b in zip(found, wanted, strict=True))
        worst = apart if apart > worst or apart != apart else worst
    if not worst <= 1e-12:
        raise PsephosError(f"a score is off by {worst:.3g}: this file, or its Python, is damaged.")
    return f"{len(vectors['rows'])} generated rows have the scores they should; the greatest " + (
        f"difference is {worst:.1e}."
    )


def _options(about: str) -> Any:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("table", nargs="?", help="a csv file whose first line names its columns")
    parser.add_argument("--explain", action="store_true", help="who voted for each answer, and why")
    parser.add_argument("--id", metavar="COLUMN", help="names the cases (else row N, its line)")
    parser.add_argument("--out", metavar="FILE", help="(else the screen)")
    parser.add_argument("--separator", metavar="MARK", help="between cells (else it is found)")
    parser.add_argument("--check", action="store_true", help="compare the answers to known ones")
    return parser


def run_scorer(text: str, about: str, argv: Any = None) -> int:
    """Answer the cases of a table; return 0, or 2 where they cannot be answered.

    Parameters
    ----------
    text : str
        JSON: ``model``, ``cells`` and ``vectors``.
    about : str
    argv : list of str, default=None
        Of the command line.
    """
    parser = _options(about)
    asked = parser.parse_args(argv)
    if not asked.table and not asked.check:
        parser.error("give a table, or --check")
    data = json.loads(text)
    try:
        model = PlainModel(data["model"])
        if asked.check:
            sys.stdout.write(_checked(model, data["vectors"]) + "\n")
        if asked.table:
            _answer(model, data["cells"], asked)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"Error: {error}\n")
        return 2
    return 0


def _answer(model: PlainModel, cells: Any, asked: Any) -> None:
    places = model.columns, model.plain["table"]
    cases = CaseFile(asked.table, *places, cells, asked.id, asked.separator)
    lines = [_heads(model, asked.explain)]
    ask = _explained if asked.explain else _predicted
    for name, row in cases:
        lines += ask(model, name, row)
    for note in dict.fromkeys(cases.notes):
        sys.stderr.write(f"Note: {note}\n")
    if asked.out:
        with open(asked.out, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
    else:
        csv.writer(sys.stdout, lineterminator="\n").writerows(lines)
