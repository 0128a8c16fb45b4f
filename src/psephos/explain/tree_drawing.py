"""Pictures of a tree: where its nodes stand, and the same picture as SVG, DOT and plot."""

import re
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

import numpy as np

from psephos.explain.drawing import axes_of
from psephos.trees.tree import Tree
from psephos.trees.tree_leaves import Condition, condition_words, split_conditions
from psephos.trees.tree_text import Answers, leaf_words, leaves_below
from psephos.vote import Names

__all__ = ["Box", "boxes_of", "draw_tree", "graphviz_of", "svg_of"]

_LETTERS = 26  # of a line that is drawn
_LETTER, _LINE = 7.0, 17.0  # about the size of a letter and of a line
_GAP, _RISE = 22.0, 96.0  # between boxes, and between levels
_PALETTE = ("#dbe9f6", "#fde3c8", "#dcefdc", "#f6d9dc", "#e8def2", "#ece2d8", "#f4dcee", "#e6e6e6")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Shown(Protocol):
    """What is drawn: a `psephos.explain.TreeDisplay`."""

    @property
    def tree(self) -> Tree:
        """Return the tree."""
        ...

    @property
    def names(self) -> Names:
        """Return the words of the table."""
        ...

    @property
    def answers(self) -> Answers:
        """Return what the nodes answer."""
        ...


@dataclass(frozen=True)
class Box:
    """One node of the picture.

    Parameters
    ----------
    node : int
    parent : int
        Its node; -1 at the root.
    edge : str
        What the parent asks of the rows that come here.
    lines : tuple of str
        What stands in the box.
    leaf : bool
    tone : int
        The place of its class; -1 if it answers with a number.
    x, level : float, int
        Where it stands: leaves at 0, 1, ..., parents over the middle of their children.
    """

    node: int
    parent: int
    edge: str
    lines: tuple[str, ...]
    leaf: bool
    tone: int
    x: float
    level: int


def boxes_of(shown: Shown, max_depth: int | None = None) -> list[Box]:
    """Return the nodes of the picture, parents first; none below `max_depth`."""
    tree, level = shown.tree, {0: 0}
    order, across = [], dict[int, float]()
    origin: dict[int, tuple[int, Condition | None]] = {0: (-1, None)}
    todo, ends = [0], 0
    while todo:
        node = todo.pop()
        order.append(node)
        children = tree.children(node).tolist()
        if not children or level[node] == max_depth:
            across[node], ends = float(ends), ends + 1
            continue
        for child, way in zip(children, split_conditions(tree, node), strict=True):
            level[child], origin[child] = level[node] + 1, (node, way)
        todo += children[::-1]
    for node in reversed(order):
        if node not in across:
            children = tree.children(node)
            across[node] = (across[int(children[0])] + across[int(children[-1])]) / 2
    return [
        Box(
            node, origin[node][0], _edge(origin[node][1], shown.names),
            _lines(shown, node, level[node] == max_depth), not tree.n_children[node],
            _tone(shown.answers, node), across[node], level[node],
        )
        for node in order
    ]  # fmt: skip


def _lines(shown: Shown, node: int, cut: bool) -> tuple[str, ...]:
    tree, words = shown.tree, leaf_words(shown.tree, node, shown.answers)
    if not tree.n_children[node]:
        return (words,)
    if cut:
        return (words, f"{leaves_below(tree, node)} leaves below")
    return (shown.names.columns[int(tree.column[node])], words)


def _tone(answers: Answers, node: int) -> int:
    word = answers.words[node]
    return answers.classes.index(word) if word in answers.classes else -1


def _edge(way: Condition | None, names: Names) -> str:
    """Return what is asked of the rows of a branch, without the name of the column."""
    if way is None:
        return ""
    return condition_words(way, [""] * (way.column + 1), names.levels, spread=False).strip()


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"


# ---------------------------------------------------------------------- SVG
def svg_of(shown: Shown, max_depth: int | None = None) -> str:
    """Return the picture as SVG; see `psephos.explain.TreeDisplay.svg`."""
    boxes = boxes_of(shown, max_depth)
    longest = max(len(_short(line)) for box in boxes for line in (*box.lines, box.edge))
    width = max(60.0, longest * _LETTER + 14)
    step, height = width + _GAP, _LINE * max(len(box.lines) for box in boxes) + 10
    whole = step * (max(box.x for box in boxes) + 1)
    tall = _RISE * max(box.level for box in boxes) + height + _GAP
    at = {box.node: (step * (box.x + 0.5), _GAP / 2 + _RISE * box.level) for box in boxes}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole:.0f} {tall:.0f}" '
        f'width="{whole:.0f}" height="{tall:.0f}" role="img" '
        'font-family="sans-serif" font-size="12">',
        f"<title>A tree of {shown.tree.n_leaves} leaves</title>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    parts += [_svg_edge(box, at, height) for box in boxes if box.parent >= 0]
    parts += [_svg_box(box, *at[box.node], width) for box in boxes]
    return "\n".join([*parts, "</svg>", ""])


def _svg_edge(box: Box, at: dict[int, tuple[float, float]], height: float) -> str:
    (x, y), (px, py) = at[box.node], at[box.parent]
    return (
        f'<g><title>{_xml(box.edge)}</title><path d="M{px:.1f} {py + height:.1f}L{x:.1f} {y:.1f}" '
        f'stroke="#888" fill="none"/><text x="{x:.1f}" y="{y - 6:.1f}" text-anchor="middle" '
        f'fill="#444" stroke="white" stroke-width="3" paint-order="stroke">'
        f"{_xml(_short(box.edge))}</text></g>"
    )


def _svg_box(box: Box, x: float, y: float, width: float) -> str:
    fill = _PALETTE[box.tone % len(_PALETTE)] if box.tone >= 0 else "#f4f4f4"
    tall = _LINE * len(box.lines) + 10
    texts = "".join(
        f'<text x="{x:.1f}" y="{y + 17 + _LINE * i:.1f}" text-anchor="middle"'
        f' font-weight="{weight}">{_xml(_short(line))}</text>'
        for i, (line, weight) in enumerate(zip(box.lines, ("bold", "normal"), strict=False))
    )
    return (
        f"<g><title>{_xml(chr(10).join(box.lines))}</title>"
        f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}" '
        f'rx="{8 if box.leaf else 2}" fill="{fill}" stroke="#555"/>{texts}</g>'
    )


def _xml(text: str) -> str:
    """Return text that is only text in XML; characters that it cannot hold are replaced."""
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)


# ---------------------------------------------------------------------- Graphviz
def graphviz_of(shown: Shown, max_depth: int | None = None) -> str:
    """Return the picture in DOT; see `psephos.explain.TreeDisplay.graphviz`."""
    lines = ["digraph tree {", '  node [shape=box, style="filled", fontname="sans-serif"];']
    for box in boxes_of(shown, max_depth):
        fill = _PALETTE[box.tone % len(_PALETTE)] if box.tone >= 0 else "#f4f4f4"
        style = ', style="filled,rounded"' if box.leaf else ""
        label = r"\n".join(_dot(line) for line in box.lines)
        lines.append(f'  n{box.node} [label="{label}", fillcolor="{fill}"{style}];')
        if box.parent >= 0:
            lines.append(f'  n{box.parent} -> n{box.node} [label="{_dot(box.edge)}"];')
    return "\n".join([*lines, "}", ""])


def _dot(text: str) -> str:
    """Return text as the inside of a quoted string of DOT, which reads entities and escapes."""
    plain = _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text).replace("&", "&amp;")
    return re.sub(r"[\r\n]+", " ", plain.replace("\\", "\\\\").replace('"', '\\"'))


# ---------------------------------------------------------------------- matplotlib
def draw_tree(shown: Shown, ax: Any, max_depth: int | None) -> Any:
    """Draw the picture; see `psephos.explain.TreeDisplay.plot`."""
    boxes = boxes_of(shown, max_depth)
    size = (1.5 + 1.9 * max(b.x for b in boxes), 1.2 + 1.1 * max(b.level for b in boxes))
    axes: Any = axes_of(ax, figsize=tuple(np.clip(size, 3.0, 40.0)))
    at = {box.node: (box.x, -float(box.level)) for box in boxes}
    for box in boxes:
        x, y = at[box.node]
        if box.parent >= 0:
            px, py = at[box.parent]
            axes.plot([px, x], [py, y], color="0.6", lw=1, zorder=1)
            place = (0.6 * x + 0.4 * px, 0.6 * y + 0.4 * py)
            axes.annotate(
                _plain(box.edge), place, ha="center", va="center", fontsize=7, zorder=2,
                bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"},
            )  # fmt: skip
        fill = _PALETTE[box.tone % len(_PALETTE)] if box.tone >= 0 else "#f4f4f4"
        kind = "round,pad=0.4" if box.leaf else "square,pad=0.4"
        axes.annotate(
            "\n".join(map(_plain, box.lines)), (x, y), ha="center", va="center", fontsize=8,
            zorder=3, bbox={"boxstyle": kind, "fc": fill, "ec": "0.4"},
        )  # fmt: skip
    axes.set_xlim(-0.6, max(b.x for b in boxes) + 0.6)
    axes.set_ylim(-max(b.level for b in boxes) - 0.4, 0.4)
    axes.set_axis_off()
    return axes


def _plain(text: str) -> str:
    return _short(text).replace("$", r"\$")  # names are no formulas
