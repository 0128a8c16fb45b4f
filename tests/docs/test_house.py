"""What the project says of itself is true, and stays small enough to read."""

import ast
import doctest
import re
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from psephos.models.catalogue import markdown

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "psephos").rglob("*.py"))


@cache
def trees():
    return {path: ast.parse(path.read_text()) for path in SOURCES}


def test_modules_are_small():
    sizes = {path.name: len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: size for name, size in sizes.items() if size > 500} == {}
    assert median(sizes.values()) <= 200


def code_lines(function):
    """Lines of a function without its docstring."""
    body = function.body
    first = body[1] if ast.get_docstring(function) is not None and len(body) > 1 else body[0]
    return function.end_lineno - first.lineno + 1


def test_functions_are_small():
    kernels = {path for path in SOURCES if "kernels" in path.parts}
    long = {
        f"{path.name}:{node.name}": code_lines(node)
        for path, tree in trees().items()
        if path not in kernels
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and code_lines(node) > 50
    }
    assert long == {}


def test_recipes_fit_a_few_screens():
    """Code and comments without docstrings: a recipe is read in one sitting."""
    for path in (ROOT / "src/psephos/models").rglob("*.py"):
        tree = trees()[path]
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef
        strings = [
            node.body[0]
            for node in ast.walk(tree)
            if isinstance(node, kinds) and ast.get_docstring(node) is not None
        ]
        prose = sum(s.end_lineno - s.lineno + 1 for s in strings)
        assert len(path.read_text().splitlines()) - prose <= 200, path.name


def test_public_names_have_docstrings():
    missing = [
        f"{path.name}:{node.name}"
        for path, tree in trees().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node) is None
    ]
    assert missing == []


def test_readme_table_is_the_generated_one():
    readme = (ROOT / "README.md").read_text()
    table = re.search(r"<!-- model table -->\n(.*?)\n<!-- end", readme, re.DOTALL)
    assert table is not None
    assert table.group(1) == markdown()


def test_readme_examples_run():
    pytest.importorskip("pandas")
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted > 3
    assert result.failed == 0


@pytest.mark.parametrize("text", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_links_lead_somewhere(text):
    place = (ROOT / text).parent
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / text).read_text()):
        assert "://" in target or (place / target).exists(), f"{text} links to {target}"


def test_the_readers_map_names_what_is_there():
    """Every function, class and method that the map names stands in the source."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    text = re.sub(r"\[[^]]*\]\([^)]*\)|```.*?```", "", text, flags=re.DOTALL)
    words = set(re.findall(r"`([A-Za-z_.]+)(?:\([^`]*\))?`", text))
    source = "\n".join(path.read_text() for path in SOURCES)
    made = r"\b(?:def|class) (\w+)|^[ \t]*(\w+) *[:=]|--([\w-]+)"
    found = {name for names in re.findall(made, source, re.M) for name in names}
    for word in words - {"lint-imports"}:
        if word.endswith(".py"):
            assert any(path.as_posix().endswith(f"/{word}") for path in SOURCES), word
            continue
        *owner, name = word.split("/")[-1].split(".")
        assert name in found, word
        if owner and owner[0][0].isupper():  # a method stands in its class
            bodies = re.findall(rf"^class {owner[0]}\b.*?(?=^class |\Z)", source, re.M | re.S)
            inside = [names for body in bodies for names in re.findall(made, body, re.M)]
            assert any(name in names for names in inside), word


def test_decisions_are_numbered_and_whole():
    names = sorted(p.name for p in (ROOT / "DECISIONS").glob("*.md"))
    assert [int(n[:4]) for n in names] == list(range(len(names)))
    for path in (ROOT / "DECISIONS").glob("*.md"):
        for part in ("**Context.**", "**Choice.**", "**Consequences.**"):
            assert part in path.read_text(), f"{path.name} has no {part}"
