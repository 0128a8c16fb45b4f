"""The ballots of the training cases, written small enough for the page to hold them all."""

import json
import math
import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, cast

from psephos.report.study.folder import Folder, HeldOut, KeptCases
from psephos.report.study.opened import CaseBallot, CaseBallots, Opened
from psephos.report.words import count, difference, number, plural

LIMIT = 500_000  # bytes of the page the ballots may take
_CANDIDATES = 2000  # cases looked at, at most
_SHOWN = 12  # voters shown before the reader asks for all
_KEPT = 40  # lines of a case that are kept; the others are summed up
_REASONS = 60_000  # looked at, at most
_DIGITS = 7
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")


def casebook(folder: Folder, opened: Opened, key: str, limit: int = LIMIT) -> dict[str, Any] | None:
    """Return the ballots of as many training cases as fit: words, first case, embedded data.

    Parameters
    ----------
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
    truths = [_truth(code, classes) for code in cases.y]
    most = min(len(lead), _CANDIDATES, max(_REASONS // max(opened.n_voters, 1), 2))
    candidates = _spread(lead, most)
    ballots = opened.ballots(cases, candidates)
    held_out = folder.held_out(key, classes)
    said = _said(folder, classes, [*truths, *answers], ballots)
    written = [_case(one, said, answers[one.row], held_out.get(one.row)) for one in ballots.cases]
    if folder.multilabel:  # the answer is no output: the page shows this one first
        written = [w | {"f": one.leading} for w, one in zip(written, ballots.cases, strict=True)]
    lead = [lead[i] for i in candidates]
    while True:  # the sentences are shared among cases: how much a case takes depends on the others
        kept = _spread(lead, most)
        parts = kept, [written[i] for i in kept], opened.whole
        book = _book(ballots, cases, [said.index(one) for one in truths], said, *parts)
        book["verb"] = "has" if folder.multilabel else "is"
        size = len(json.dumps(book, separators=(",", ":")))
        if size <= limit or most <= 2:
            break
        most = max(min(int(0.95 * most * limit / size), most - 1), 2)
    return {
        "embedded": book,
        "outputs": book["outputs"],
        "answer_word": "labels" if folder.multilabel else "class",
        "words": _words(ballots, classes, folder.multilabel) + _left_out(book, cases),
        "training_note": (
            "These are the cases the model was fitted on: that it agrees with them is no evidence."
            " Where a case was held out in the comparison, its line says how it fared then."
        ),
        "bar_words": "against · for" if len(ballots.outputs) > 1 else " · ".join(classes),
        "near_words": f"{ballots.near_words} A case that is among them is its own nearest.",
        "first": _first(book),
    }


def _book(
    ballots: CaseBallots,
    cases: KeptCases,
    y: list[int],
    classes: list[str],
    kept: list[int],
    written: list[dict[str, Any]],
    whole: dict[str, str],
) -> dict[str, Any]:
    lines = [ballots.cases[i].lines[:_KEPT] for i in kept]
    sentences, placed = shared_sentences(
        [[(one.voters, one.words) for one in row] for row in lines]
    )
    columns: dict[str, int] = {}
    for one, (place, _) in zip(chain(*lines), chain(*placed), strict=True):
        sentences[place]["r"] = [columns.setdefault(c, len(columns)) for c in one.read]
    book: dict[str, Any] = {
        "classes": classes,
        "outputs": ballots.outputs,
        "whole": [whole.get(c, c) for c in columns],
        "sentences": sentences,
        "shown": _SHOWN,
        "cases": [
            case
            | {
                "l": [
                    [*words, _short(one.weight), *map(_short, one.contribution)]
                    for one, words in zip(row, own, strict=True)
                ]
            }
            for case, row, own in zip(written, lines, placed, strict=True)
        ],
    }
    rows = sorted({r for case in book["cases"] for r in _rows(case)})
    return book | {
        "ids": {r: cases.called(r) if cases.named else str(r + 1) for r in rows},
        "y": {r: y[r] for r in rows},
    }


def _truth(code: Any, classes: list[str]) -> str:
    """Return what a case is in words: its class, or the labels it has."""
    if not isinstance(code, tuple):
        return classes[int(code)]
    return ", ".join(classes[k] for k in cast("tuple[int, ...]", code)) or "no label"


def _said(folder: Folder, classes: list[str], words: list[str], ballots: CaseBallots) -> list[str]:
    """Return the answers that the page refers to by number: classes, or the sets of labels."""
    if not folder.multilabel:
        return classes
    near = [one.answer for case in ballots.cases for one in case.near]
    return list(dict.fromkeys([*words, *near]))


def _case(
    one: CaseBallot, classes: list[str], answer: str, held_out: HeldOut | None
) -> dict[str, Any]:
    """Return a case, without its voters' votes, under short keys: there may be a thousand."""
    rest = one.lines[_KEPT:]
    chances = {"q": [_short(p) for p in one.chances]} if one.chances else {}
    chances |= {"t": one.found} if one.found else {}
    return chances | {
        "i": one.row,
        "p": classes.index(answer),
        "s": [_short(v) for v in one.score],
        "o": [
            sum(line.n_voters for line in rest),
            *(
                _short(math.fsum(line.contribution[k] for line in rest))
                for k in range(len(one.score))
            ),
        ],
        "n": [
            [near.row, _short(near.distance), round(near.share, 4), classes.index(near.answer)]
            for near in one.near
        ],
        "h": [held_out.right, held_out.total] if held_out else [0, 0],
    }


def shared_sentences(
    rows: Sequence[Sequence[tuple[str, str]]],
) -> tuple[list[dict[str, Any]], list[list[tuple[int, list[str]]]]]:
    """Write sentences that differ in numbers only once, with places for these numbers.

    Returns
    -------
    sentences : list of dict
        ``v`` (voters) and ``t``: the pieces between the numbers that differ.
    placed : list of list of (int, list of str)
        For each sentence its number among `sentences`, and its own numbers.
    """
    groups: dict[tuple[str, str], int] = {}
    numbers: list[list[list[str]]] = []
    indices: list[list[tuple[int, int]]] = []
    for row in rows:
        own: list[tuple[int, int]] = []
        for voters, words in row:
            group = groups.setdefault((voters, _NUMBER.sub("\0", words)), len(groups))
            if group == len(numbers):
                numbers.append([])
            own.append((group, len(numbers[group])))
            numbers[group].append(_NUMBER.findall(words))
        indices.append(own)
    sentences: list[dict[str, Any]] = []
    differ = [[len(set(slot)) > 1 for slot in zip(*lists, strict=True)] for lists in numbers]
    for (voters, text), lists, own_slots in zip(groups, numbers, differ, strict=True):
        head, *pieces = text.split("\0")
        parts = [head]
        for piece, once, differs in zip(pieces, lists[0], own_slots, strict=True):
            if differs:
                parts.append(piece)
            else:
                parts[-1] += once + piece
        sentences.append({"v": voters, "t": parts})
    placed = [
        [(g, [x for x, d in zip(numbers[g][i], differ[g], strict=True) if d]) for g, i in row]
        for row in indices
    ]
    return sentences, placed


def sentence_of(book: dict[str, Any], line: list[Any]) -> str:
    """Return the sentence of a line of a case."""
    head, *pieces = book["sentences"][line[0]]["t"]
    return head + "".join(x + piece for x, piece in zip(line[1], pieces, strict=True))


def _spread(lead: list[float], most: int) -> list[int]:
    """Return `most` positions: half where the decision is nearest, half evenly spaced."""
    n = len(lead)
    if most >= n:
        return list(range(n))
    unsure = sorted(range(n), key=lambda i: lead[i])[: most // 2]
    taken = set(unsure)
    others = [i for i in range(n) if i not in taken]
    wanted = most - len(unsure)
    return sorted([*unsure, *(others[k * len(others) // wanted] for k in range(wanted))])


def _left_out(book: dict[str, Any], cases: KeptCases) -> str:
    """Return a sentence if the page does not hold every case."""
    if len(book["cases"]) == len(cases.ids):
        return ""
    return (
        f" The page holds {len(book['cases'])} of the {count(len(cases.ids))} cases, half of"
        " them those nearest to the decision and half evenly spaced; 'psephos explain' writes the"
        " others."
    )


def _rows(case: dict[str, Any]) -> set[int]:
    """Return the rows a case shows: its own and its neighbours'."""
    return {case["i"], *(near[0] for near in case["n"] if near[0] >= 0)}


def _words(ballots: CaseBallots, classes: list[str], multilabel: bool) -> str:
    if multilabel or ballots.calibrated:
        summed = "label by label, to its score" if multilabel else "to the score"
        words = f"Each voter's contribution is its weight times its vote; they sum, {summed}."
        if ballots.calibrated:
            words += (
                f" The answer follows the probability that is made of the score, and not its sign:"
                f" it is {ballots.calibrated}."
            )
        if multilabel:
            words += " An answer counts as right if it is exactly the labels of the case."
        return words
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
    name, answered = book["ids"][case["i"]], book["classes"][case["p"]]
    output = 0 if len(book["outputs"]) == 1 else case.get("f", case["p"])
    of = f"of {book['outputs'][output]}; " if "f" in case else ""
    lines = sorted(case["l"], key=lambda line: -abs(line[3 + output]))
    rows: list[dict[str, Any]] = []
    running = 0.0
    for line in lines[:_SHOWN]:
        running += line[3 + output]
        rows.append(_row(book, line, output, running))
    n, *others = case["o"]
    left = lines[_SHOWN:]
    if left or n:
        rest = math.fsum([*(line[3 + output] for line in left), others[output]])
        words = plural(len(left) + n, "other voter" if n else "other line")
        rows.append(_rest_row(words, rest, running + rest))
    return {
        "title": f"Case {in_row(name)}",
        "words": case_words(book, case),
        "caption": f"Ballots of case {in_row(name)}, those that moved the answer most first",
        "rows": rows,
        "exact": case["s"][output],
        "score": difference(case["s"][output]),
        "score_words": f"{of}the answer: {answered}{chance_words(case, output)}",
        "near": [_near_row(book, one, case["i"]) for one in case["n"]],
    }


def chance_words(case: dict[str, Any], output: int) -> str:
    """Return the probability of an output and what it was looked up by; '' if none is asked."""
    if "q" not in case:
        return ""
    found = f"{case['t'][output]}: " if "t" in case else ""
    return f"; {found}probability {number(case['q'][output])}"


def in_row(name: str) -> str:
    """Return the name of a case as it stands behind the word 'case': ``in row 101``, ``P0``."""
    return f"in {name}" if re.fullmatch(r"row \d+", name) else name


def case_words(book: dict[str, Any], case: dict[str, Any]) -> str:
    """Return what is known of a case in a sentence or two."""
    truth, answered = book["classes"][book["y"][case["i"]]], book["classes"][case["p"]]
    words = f"It {book['verb']} {truth}; the model, fitted on it, says {answered}."
    right, total = case["h"]
    if total:
        words += f" Held out, it was answered rightly {right} of {plural(total, 'time')}."
    return words


def _row(book: dict[str, Any], line: list[Any], output: int, running: float) -> dict[str, Any]:
    sentence, term = book["sentences"][line[0]], line[3 + output]
    return {
        "voters": sentence["v"],
        "words": sentence_of(book, line),
        "whole": "\n".join(book["whole"][j] for j in sentence["r"]),
        "weight": number(line[2]),
        "contribution": difference(term),
        "exact": term,
        "sum": difference(running),
    }


def _rest_row(words: str, term: float, running: float) -> dict[str, Any]:
    return {
        "voters": "",
        "words": f"{words}, together",
        "whole": "",
        "weight": "",
        "contribution": difference(term),
        "exact": term,
        "sum": difference(running),
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


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
