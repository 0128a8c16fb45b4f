"""Bundling of readers into one text: the program of a scorer and the script of a page."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

from psephos._errors import PsephosError
from psephos.vote.reading.core import CALIBRATIONS, VOTERS, WEIGHTS

_HERE = Path(__file__).parent
_PACKAGE = _HERE.parent
_WORDS = (
    "_errors.py", "files/cells.py", "files/levels.py", "files/near.py", "files/spelling.py",
    "files/columns.py", "files/text.py", "files/cases.py",
    "files/names.py", "vote/reasons/base.py", "vote/reasons/paths.py", "vote/reasons/read.py",
    "vote/reasons/scores.py", "vote/reasons/gates.py",
)  # fmt: skip
_READER = (
    "vote/reading/core.py", "vote/reading/answered.py", "vote/reading/scores.py",
    "vote/reading/trees.py", "vote/reading/near.py",
    *(f"scoring/reader/{name}.py" for name in (
        "weights", "target", "vote",
        "calibrated", "within", "model", "command",
    )),
)  # fmt: skip
_SCRIPT = (
    "core", "words", "trees", "scores", "weights", "near", "target", "calibrated",
    "draws", "answered", "vote", "within", "open",
)  # fmt: skip


@cache
def script() -> str:
    """Return the page's reader of plain models, a script whose only global is ``openModel``.

    ``openModel(plain)`` returns ``{columns, classes, answer(values)}``. `values` are in the order
    of `columns`: a number, the name of a level, or null where missing. An answer has ``scores``,
    ``probabilities`` (null for regression), ``label``, ``why`` there is no prediction ("" if there
    is one), the same as text (``unanswered``), and ``ballots``. ``openModel.through(map, chances)``
    returns calibrated probabilities; ``openModel.number(text)`` reads the text of a field as a
    number, or null if it is empty, and raises otherwise.
    """
    parts = [(_HERE / "script" / f"{name}.js").read_text("utf-8") for name in _SCRIPT]
    return "\n".join(
        ['globalThis.openModel = (() => {\n"use strict";', *parts, "return openModel;\n})();\n"]
    )


@cache
def program(kinds: frozenset[str] | None = None) -> str:
    """Return the reader and its command as one program, which needs only the standard library.

    Parameters
    ----------
    kinds : frozenset of str, default=None
        The kinds of parts to support; None: all. Files that read only other kinds are left out.
    """
    every = {**VOTERS, **WEIGHTS, **CALIBRATIONS}
    owner = {kind: _file(reader.__module__) for kind, reader in every.items()}
    needed = {owner[kind] for kind in every if kinds is None or kind in kinds}
    files = [*_WORDS, *(n for n in _READER if n in needed or n not in owner.values())]
    imports: set[str] = set()
    bodies: list[str] = []
    known: dict[str, str] = {}
    for name in files:
        own, body, defined = _stripped((_PACKAGE / name).read_text("utf-8"))
        imports |= own
        statements: Any = [ast.parse(one).body[0] for one in own]
        imported = [alias.asname or alias.name for one in statements for alias in one.names]
        owners = {**dict.fromkeys(imported, "an import"), **dict.fromkeys(defined, name)}
        for word, owner in owners.items():
            if known.setdefault(word, owner) != owner:
                raise PsephosError(f"{word} must be defined once; got {known[word]} and {owner}.")
        bodies.append(f"# ---------- {name}\n{body}")
    return "\n\n".join(["\n".join(sorted(imports)), *bodies]) + "\n"


def _file(module: str) -> str:
    return module.removeprefix("psephos.").replace(".", "/") + ".py"


def _stripped(text: str) -> tuple[set[str], str, list[str]]:
    """Return a module's imports from other packages, its text without imports, and its names."""
    lines = text.splitlines()
    tree = ast.parse(text)
    imports: set[str] = set()
    defined: list[str] = []
    gone: set[int] = set()
    for node in tree.body:
        first = node.lineno - 1
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            if not module.startswith("psephos"):
                imports.add(ast.unparse(node))
        elif not _is_listing(node):
            defined += _names(node)
            continue
        gone |= set(range(first, node.end_lineno or first + 1))
    kept = [line for i, line in enumerate(lines) if i not in gone]
    return imports, "\n".join(kept).strip(), defined


def _is_listing(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring or ``__all__``."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets)


def _names(node: ast.stmt) -> list[str]:
    """Return the names that a top-level statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets: list[ast.expr] = list(node.targets) if isinstance(node, ast.Assign) else []
    targets += [node.target] if isinstance(node, ast.AnnAssign) else []
    flat = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return [one.id for one in flat if isinstance(one, ast.Name)]
