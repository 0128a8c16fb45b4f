"""Display of ballots and models: as text in a terminal, as HTML in a notebook."""

from collections.abc import Sequence
from html import escape
from typing import Any

from psephos.files.escaping import printable
from psephos.files.names import listed, number, percent, plural, sentence_name
from psephos.vote.ballots import Ballots, Line
from psephos.vote.describing import looked_up_words, returns_words

_CASES = 5  # shown, of many
_LINES = 12  # of a case
_STYLE = "border-collapse:collapse;font-size:13px;text-align:left"
_CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top"


def ballots_text(ballots: Ballots) -> str:
    """Return the first cases as text: the prediction of each, and the main contributions."""
    lines: list[str] = []
    shown = ballots.first(_CASES)
    for case in range(len(shown)):
        lines.append(_title(shown, case))
        lines += [f"  {sentence}" for sentence in _carried(shown, case)]
        lines += [f"  {' '.join(cells)}" for cells in _aligned(_rows(shown, case))]
    return sentences_text([*lines, *_more(ballots)])


def _title(ballots: Ballots, case: int) -> str:
    note = ballots.note(case)
    words = f"{ballots.case_name(case)}: {ballots.answer(case)}"
    return f"{words}, {note}" if note else words


def ballots_html(ballots: Ballots) -> str:
    """Return the first cases as HTML tables."""
    parts: list[str] = []
    shown = ballots.first(_CASES)
    for case in range(len(shown)):
        parts.append(f"<p><b>{escape(_title(shown, case))}</b></p>")
        parts += [f"<p>{escape(sentence)}</p>" for sentence in _carried(shown, case)]
        parts.append(table_html(_rows(shown, case), _CELL, f' style="{_STYLE}"'))
    parts += [f"<p>{escape(sentence)}</p>" for sentence in _more(ballots)]
    return "<div>" + "".join(parts) + "</div>"


def table_html(rows: Sequence[Sequence[str]], cell: str, style: str = "") -> str:
    """Return rows of words, of which the first are the headings, as an HTML table."""
    heads, *body = [[escape(one) for one in row] for row in rows]
    head = "".join(f'<th style="{cell}">{one}</th>' for one in heads)
    cells = ("".join(f'<td style="{cell}">{one}</td>' for one in row) for row in body)
    lines = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table{style}><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def sentences_text(sentences: Sequence[str]) -> str:
    """Return sentences for a terminal, a line each."""
    return printable("\n".join(sentences))


def sentences_html(sentences: Sequence[str]) -> str:
    """Return the sentences of a model: the first as a heading, twelve as lines, the rest folded."""
    head, *rest = sentences
    parts = [f"<b>{escape(head)}</b>", _lines(rest[:_LINES])]
    if more := rest[_LINES:]:
        folded = f"<summary>{plural(len(more), 'line')} more</summary>{_lines(more)}"
        parts.append(f"<details>{folded}</details>")
    return f"<div>{''.join(parts)}</div>"


def _lines(sentences: Sequence[str]) -> str:
    return f'<pre style="white-space:pre-wrap">{escape(chr(10).join(sentences))}</pre>'


def _more(ballots: Ballots) -> list[str]:
    more = len(ballots) - _CASES
    alone: list[int] = ballots.vote.near_only.tolist()
    near = [sentence_name(ballots.names.columns[j]) for j in alone]
    words = [f"Only through the distance between cases: {listed(near)}."] if near else []
    words += returns_words(ballots.returns)
    return [*words, *([f"and {plural(more, 'case')} more: frame() has all."] if more > 0 else [])]


def _carried(ballots: Ballots, case: int) -> list[str]:
    """Return sentences on what was looked up, and on the voters for each predicted label."""
    target: Any = ballots.vote.target
    looked = looked_up_words(ballots, case)
    words = looked[:_LINES]
    more = len(looked) - _LINES
    words += [f"{more} labels or classes more: frame() has all."] if more > 0 else []
    if target.kind != "multilabel":
        return words
    for k in ballots.given(case):
        who = ballots.carried_by(case, k)
        rest = f" and {len(who) - _LINES} more" if len(who) > _LINES else ""
        words.append(f"{target.outputs[k]}: {', '.join(who[:_LINES]) or 'no voter'}{rest}")
    about = target.about(ballots.leading(case))
    return [*words, f"Below is what adds to {about}, of greatest score; frame() has every label."]


def _rows(ballots: Ballots, case: int) -> list[list[str]]:
    """Return a heading and a row per line: contribution, weight, voters, reason and vote."""
    lines, k = ballots.lines(case), ballots.leading(case)
    target: Any = ballots.vote.target
    about = target.about(k)
    rows = [[f"adds to {about}" if about else "adds", "weight", "voter", "because → it says"]]
    # raw weights of a sum, shares of a normalised vote
    weigh = percent if ballots.vote.readout.score == "normalised" else number
    scale = max((abs(float(line.contribution[k])) for line in lines), default=0.0)
    for line in lines[:_LINES]:
        added = float(line.contribution[k])
        rows.append([_signed(added, scale), weigh(line.weight), _voters(line), line.words])
    rest = lines[_LINES:]
    if rest:
        added = sum(float(line.contribution[k]) for line in rest)
        n = sum(len(line.voters) for line in rest)
        weight = weigh(sum(line.weight for line in rest))
        rows.append([_signed(added, scale), weight, "", f"{plural(n, 'other voter')}, together"])
    return rows


def _signed(added: float, scale: float) -> str:
    size = number(added, scale)
    return f"+{size}" if added > 0 and size != "0" else size


def _voters(line: Line) -> str:
    """Return the numbers of voters that voted alike: '3', or '1, 4, 5 and 2 more (× 5)'."""
    if len(line.voters) == 1:
        return str(line.voters[0])
    named = ", ".join(map(str, line.voters[:3]))
    more = len(line.voters) - 3
    return f"{named}{f' and {more} more' if more > 0 else ''} (× {len(line.voters)})"


def _aligned(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows with all cells but the last padded to one width."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]) - 1)]
    return [
        [*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)), row[-1]]
        for row in rows
    ]
