"""The ballots of the training cases, written small enough for the page to hold them all."""

import json
import math
from typing import Any

from psephos.report.adapter import CaseBallot, CaseBallots, Opened
from psephos.report.folder import Cases, Folder, Heard
from psephos.report.words import count, difference, number, plural

__all__ = ["LIMIT", "ballots_of", "casebook"]

LIMIT = 400_000  # bytes of the page the ballots may take
_CANDIDATES = 2000  # cases looked at, at most
_SHOWN = 12  # voters shown before the reader asks for all
_DIGITS = 7


def casebook(folder: Folder, opened: Opened, key: str, limit: int = LIMIT) -> dict[str, Any] | None:
    """Return the ballots of as many training cases as fit: words, first case, embedded data.

    Parameters
    ----------
    folder : Folder
    opened : Opened
        The model of the card.
    key : str
        Its name in the results.
    limit : int
        Bytes the embedded data may take. If all cases do not fit, half of those kept are the
        cases nearest to the decision and half are evenly spaced.
    """
    cases = folder.cases
    if cases is None or not cases.ids:
        return None
    classes = [str(c) for c in folder.about["classes"]]
    answers, lead = opened.answers(cases)
    candidates = _spread(lead, min(len(lead), _CANDIDATES))
    ballots = opened.ballots(cases, candidates)
    heard = folder.held_out(key, classes)
    book = _book(ballots, cases, classes, answers, heard, opened.whole)
    _share(book)
    words = _cut(book, [lead[i] for i in candidates], cases, limit)
    return {
        "embedded": book,
        "outputs": book["outputs"],
        "words": _words(ballots, classes) + words,
        "training_note": (
            "These are the cases the model was fitted on: that it agrees with them is no evidence."
            " Where a case was held out in the comparison, its line says how it fared then."
        ),
        "bar_words": "against · for" if len(ballots.outputs) > 1 else " · ".join(classes),
        "near_words": (
            "Weights here depend on the case: voters are heard as loudly as they were right about"
            " these. A training case is its own nearest neighbour."
        ),
        "first": _first(book),
    }


def _book(
    ballots: CaseBallots,
    cases: Cases,
    classes: list[str],
    answers: list[str],
    heard: dict[int, Heard],
    whole: dict[str, str],
) -> dict[str, Any]:
    place = {name: j for j, name in enumerate(cases.names)}
    read = dict.fromkeys(c for columns in ballots.read for c in columns)
    position = {c: place[whole.get(c, c)] for c in read if whole.get(c, c) in place}
    short = {j: c for c, j in position.items()}
    used = sorted(short)
    return {
        "classes": classes,
        "outputs": ballots.outputs,
        "columns": [short[j] for j in used],
        "whole": [cases.names[j] for j in used],
        "voters": [
            {"rule": rule, "reads": [used.index(position[c]) for c in read if c in position]}
            for rule, read in zip(ballots.rules, ballots.read, strict=True)
        ],
        "shown": _SHOWN,
        "ids": dict(enumerate(cases.ids)),
        "y": dict(enumerate(cases.y)),
        "cases": [
            _case(one, cases, classes, answers[one.row], used, heard.get(one.row))
            for one in ballots.cases
        ],
    }


def _case(
    one: CaseBallot,
    cases: Cases,
    classes: list[str],
    answer: str,
    used: list[int],
    heard: Heard | None,
) -> dict[str, Any]:
    """Return a case under short keys: there may be a thousand of them."""
    return {
        "i": one.row,
        "p": classes.index(answer),
        "s": [_short(v) for v in one.score],
        "m": _short(one.mass) if math.isfinite(one.mass) else None,
        "x": [_value(cases.values[one.row, j]) for j in used],
        "v": [classes.index(v) for v in one.votes],
        "w": [_short(v) for v in one.weights],
        "c": [[_short(v) for v in term] for term in one.contributions],
        "n": [
            [near.row, _short(near.distance), round(near.share, 4), classes.index(near.answer)]
            for near in one.near
        ],
        "h": [heard.right, heard.total] if heard else [0, 0],
    }


def _share(book: dict[str, Any]) -> None:
    """Where voters say the same to many cases, keep what they say once, and its number per case.

    A voter with a constant weight says two things in all; one with a local weight says something
    else to each case, and stays as it is.
    """
    said: list[dict[str, int]] = [{} for _ in book["voters"]]
    numbers = [
        [
            said[t].setdefault(_dumps(ballot), len(said[t]))
            for t, ballot in enumerate(zip(case["v"], case["w"], case["c"], strict=True))
        ]
        for case in book["cases"]
    ]
    if sum(map(len, said)) > 4 * len(said):
        return
    for voter, ballots in zip(book["voters"], said, strict=True):
        voter["says"] = [json.loads(ballot) for ballot in ballots]
    for case, row in zip(book["cases"], numbers, strict=True):
        case["a"] = row
        del case["v"], case["w"], case["c"]


def ballots_of(book: dict[str, Any], case: dict[str, Any]) -> list[tuple[int, float, list[float]]]:
    """Return (vote, weight, contributions) of each voter for a case, however it is kept."""
    if "a" not in case:
        return list(zip(case["v"], case["w"], case["c"], strict=True))
    pairs = zip(book["voters"], case["a"], strict=True)
    return [tuple(voter["says"][number]) for voter, number in pairs]


def _spread(lead: list[float], room: int) -> list[int]:
    """Return `room` positions: half where the decision is nearest, half evenly spaced."""
    n = len(lead)
    if room >= n:
        return list(range(n))
    unsure = sorted(range(n), key=lambda i: lead[i])[: room // 2]
    taken = set(unsure)
    others = [i for i in range(n) if i not in taken]
    wanted = room - len(unsure)
    return sorted([*unsure, *(others[k * len(others) // wanted] for k in range(wanted))])


def _cut(book: dict[str, Any], lead: list[float], cases: Cases, limit: int) -> str:
    """Keep what fits into `limit` bytes; return a sentence if that is not every case."""
    told = book["cases"]
    sizes = [len(_dumps(c)) + sum(len(cases.ids[r]) + 16 for r in _rows(c)) for c in told]
    fixed = len(_dumps({k: v for k, v in book.items() if k not in ("cases", "ids", "y")}))
    room = len(told)
    if fixed + sum(sizes) > limit:
        room = max(int((limit - fixed) / (sum(sizes) / len(told))), 2)
    book["cases"] = [told[i] for i in _spread(lead, min(room, len(told)))]
    needed = sorted({r for case in book["cases"] for r in _rows(case)})
    book["ids"] = {r: cases.ids[r] for r in needed}
    book["y"] = {r: cases.y[r] for r in needed}
    if len(book["cases"]) == len(cases.ids):
        return ""
    return (
        f" The page holds {len(book['cases'])} of the {count(len(cases.ids))} cases, half of"
        " them those nearest to the decision and half evenly spaced; 'psephos explain' writes the"
        " others."
    )


def _rows(case: dict[str, Any]) -> set[int]:
    """Return the rows a case speaks of: its own and its neighbours'."""
    return {case["i"], *(near[0] for near in case["n"] if near[0] >= 0)}


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _words(ballots: CaseBallots, classes: list[str]) -> str:
    if len(ballots.outputs) == 1:
        return (
            f"Each voter's contribution is its weight times its vote; they sum to the score, and a"
            f" score above 0 means {classes[1]}, otherwise {classes[0]}."
        )
    return (
        "Each voter's contribution is its weight times its vote; they sum, class by class, to a"
        " score, and the class with the highest score is the answer."
    )


def _first(book: dict[str, Any]) -> dict[str, Any]:
    """Return the first case as the script would show it, for readers without scripts."""
    case = book["cases"][0]
    name, said = book["ids"][case["i"]], book["classes"][case["p"]]
    output = 0 if len(book["outputs"]) == 1 else case["p"]
    ballots = ballots_of(book, case)
    terms = [term[output] for _, _, term in ballots]
    order = sorted(range(len(terms)), key=lambda t: -abs(terms[t]))
    reach = max([abs(v) for v in terms], default=0.0) or 1.0
    rows: list[dict[str, Any]] = []
    running = 0.0
    for t in order[:_SHOWN]:
        running += terms[t]
        rows.append(_row(book, case, t, ballots[t], output, running, reach))
    if len(order) > _SHOWN:
        rest = math.fsum(terms[t] for t in order[_SHOWN:])
        rows.append(_rest_row(len(order) - _SHOWN, rest, running + rest, reach))
    return {
        "title": f"Case {name}",
        "words": case_words(book, case),
        "caption": f"Ballots of case {name}, the loudest voters first",
        "rows": rows,
        "exact": case["s"][output],
        "score": difference(case["s"][output]),
        "score_words": f"the answer: {said}",
        "near": [_near_row(book, one, case["i"]) for one in case["n"]],
    }


def case_words(book: dict[str, Any], case: dict[str, Any]) -> str:
    """Return what is known of a case in a sentence or two."""
    truth, said = book["classes"][book["y"][case["i"]]], book["classes"][case["p"]]
    words = f"It is {truth}; the model, fitted on it, says {said}."
    right, total = case["h"]
    if total:
        words += f" Held out, it was answered rightly {right} of {plural(total, 'time')}."
    return words


def _row(
    book: dict[str, Any],
    case: dict[str, Any],
    t: int,
    ballot: tuple[int, float, list[float]],
    output: int,
    running: float,
    reach: float,
) -> dict[str, Any]:
    voter, (vote, weight, terms) = book["voters"][t], ballot
    term = terms[output]
    return {
        "rule": voter["rule"],
        "value": ", ".join(value_words(case["x"][j]) for j in voter["reads"]) or "–",
        "vote": book["classes"][vote],
        "weight": number(weight),
        "contribution": difference(term),
        "exact": term,
        "sum": difference(running),
        "bar": _bar(term, reach),
    }


def _rest_row(n: int, term: float, running: float, reach: float) -> dict[str, Any]:
    return {
        "rule": f"{plural(n, 'other voter')}, together",
        "value": "",
        "vote": "",
        "weight": "",
        "contribution": difference(term),
        "exact": term,
        "sum": difference(running),
        "bar": _bar(term, reach),
    }


def _bar(term: float, reach: float) -> dict[str, Any]:
    width = round(min(abs(term) / reach, 1.0) * 58, 1)
    return {
        "sign": "for" if term > 0 else "against",
        "x": 60 if term > 0 else round(60 - width, 1),
        "width": width,
    }


def _near_row(book: dict[str, Any], near: list[Any], me: int) -> dict[str, str]:
    row, distance, share, cls = near
    name = book["ids"][row] if row >= 0 else "–"
    return {
        "id": f"{name} (this case)" if row == me else name,
        "cls": book["classes"][cls],
        "distance": number(distance),
        "share": f"{100 * share:.1f} %",
    }


def value_words(value: Any) -> str:
    """Return a value of a case in words."""
    if value is None:
        return "missing"
    return f"{value:.5g}".replace("-", "−") if isinstance(value, float | int) else str(value)


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _value(value: Any) -> Any:
    """Return a cell for JSON: a number, a word, or None where it is missing."""
    if value is None or isinstance(value, str):
        return value
    told = float(value)
    return _short(told) if math.isfinite(told) else None
