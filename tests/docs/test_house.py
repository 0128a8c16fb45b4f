"""What the project says of itself is true, and stays small enough to read."""

import ast
import doctest
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from psephos.models.catalogue import markdown

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "psephos").rglob("*.py"))


#: Words of older text that nobody outside it would look for (the glossary of CONTRIBUTING.md says
#: what to write), and how often they stand in the source at most. `python tests/docs/test_house.py`
#: prints today's counts. Lower a number when its count has fallen; none is ever raised.
WORDS = {
    "told": 39,
    "asked": 2,
    "said": 11,
    "heard": 0,
    "silent": 11,
    "listens?|listening": 0,
    "speaks?|speaking|spoken": 11,
    "judged?|judging": 5,
    "guarded": 0,
    "taught": 0,
    "mend(?:ed|s)?": 0,
    "hark(?:s|en)?": 0,
    "by lot": 0,
    "on the road": 0,
    "to be known of": 0,
    "come about": 0,
    "comes? to": 0,
    "lets? in": 0,
    "came back|comes? back": 0,
    "goes on": 0,
    "dealt out|given out": 0,
    "hardly": 1,
    "whom": 0,
}
#: Lines with one of these, which are read as Python's None or as "is not": "the name is none".
NONE = r"\b(?:is no|are no|is none|are none)\b"
NONE_LINES = 55

#: Lines of code (without blank lines, comments and docstrings) of each folder at most; of all files
#: together fewer.
FOLDERS = {
    ".": 1199,
    "files": 3452,
    "estimator": 2061,
    "runtime": 430,
    "bounds": 1111,
    "cautions": 1483,
    "cli": 2309,
    "datasets": 131,
    "explain": 3070,
    "figures": 614,
    "kernels": 6590,
    "models": 13155,
    "optimise": 92,
    "protocol": 6977,
    "report": 5297,
    "scoring": 2776,
    "supervision": 593,
    "testing": 477,
    "trees": 4322,
    "validation": 1359,
    "vote": 8338,
}
ALL_CODE = 65_815
#: How often `Any` stands in the source at most: say what a value is (`psephos._types` names what
#: many signatures share). Like the counts above it only falls.
ANYS = 3167


@cache
def trees():
    return {path: ast.parse(path.read_text()) for path in SOURCES}


@cache
def texts():
    """The source as people read it: Python, templates and scripts."""
    kinds = (".py", ".j2", ".js")
    files = sorted(p for p in (ROOT / "src" / "psephos").rglob("*") if p.suffix in kinds)
    return {path: path.read_text("utf-8") for path in files}


def words_counted():
    """How often each of WORDS stands in the source, as a whole word."""
    found = Counter()
    for text in texts().values():
        found.update(re.findall(rf"\b(?:{'|'.join(WORDS)})\b", text))
    return {w: sum(n for one, n in found.items() if re.fullmatch(w, one)) for w in WORDS}


def anys():
    return sum(len(re.findall(r"\bAny\b", path.read_text("utf-8"))) for path in SOURCES)


def lines_with_none():
    return sum(
        bool(re.search(NONE, line)) for text in texts().values() for line in text.splitlines()
    )


def code_of_folders():
    """Lines of code of each folder of the package, and of the files beside them ('.')."""
    counts = Counter()
    for path, tree in trees().items():
        prose = {
            i
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node, clean=False) is not None
            for i in range(node.body[0].lineno, node.body[0].end_lineno + 1)
        }
        lines = enumerate(path.read_text("utf-8").split("\n"), 1)
        code = [i for i, line in lines if line.strip() and not line.strip().startswith("#")]
        folder, *inside = path.relative_to(ROOT / "src" / "psephos").parts
        counts[folder if inside else "."] += len(set(code) - prose)
    return dict(counts)


def test_no_pattern_is_possessive():
    """Python 3.11.2 matches such patterns wrongly, where a group follows; 3.11.7 does not."""
    found = [
        f"{path.name}: {line.strip()}"
        for path in SOURCES
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"[\])][*+?]\+|\(\?>", line) and re.search(r"\br?b?r?[\"']", line)
    ]
    assert found == [], "write the pattern so that one reading is possible, without *+, ++ or (?>"


def test_private_words_only_become_fewer():
    risen = {word: n for word, n in words_counted().items() if n > WORDS[word]}
    assert risen == {}, "more than there were: say it in the words of CONTRIBUTING.md's glossary"


def test_lines_that_call_something_none_only_become_fewer():
    assert lines_with_none() <= NONE_LINES, "write 'is not', 'must be' or 'is invalid'"


def test_any_only_becomes_rarer():
    assert anys() <= ANYS, "say what the value is: psephos/_types.py has names for the commonest"


def test_the_glossary_has_both_columns():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = re.search(r"\| found in older text \| write \|\n\| --- \| --- \|\n((?:\|.*\n)+)", text)
    rows = [line.strip("|").split("|") for line in table.group(1).splitlines()]
    assert len(rows) >= 20
    assert all(len(row) == 2 and all(cell.strip() for cell in row) for row in rows)


def test_code_stays_within_its_ceilings():
    found = code_of_folders()
    assert sum(found.values()) <= ALL_CODE
    assert {f: n for f, n in found.items() if n > FOLDERS.get(f, 0)} == {}


def test_a_class_name_has_one_owner():
    owners = Counter(
        node.name
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert {name: n for name, n in owners.items() if n > 1} == {}


def test_modules_are_small():
    sizes = {str(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: size for name, size in sizes.items() if size > 600} == {}


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
    """Each class of a recipe, in code and comments without docstrings: read in one sitting."""
    kinds = ast.ClassDef | ast.FunctionDef
    for path in (ROOT / "src/psephos/models").rglob("*.py"):
        for recipe in [n for n in ast.walk(trees()[path]) if isinstance(n, ast.ClassDef)]:
            strings = [
                node.body[0]
                for node in ast.walk(recipe)
                if isinstance(node, kinds) and ast.get_docstring(node) is not None
            ]
            prose = sum(s.end_lineno - s.lineno + 1 for s in strings)
            assert recipe.end_lineno - recipe.lineno + 1 - prose <= 200, recipe.name


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


def test_table_of_models_is_the_generated_one():
    page = (ROOT / "docs/models.md").read_text()
    table = re.search(r"<!-- model table -->\n(.*?)\n<!-- end", page, re.DOTALL)
    assert table is not None
    assert table.group(1) == markdown()


def test_readme_examples_run():
    pytest.importorskip("pandas")
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted > 3
    assert result.failed == 0


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100


@pytest.mark.parametrize("text", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_links_lead_somewhere(text):
    place = (ROOT / text).parent
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / text).read_text()):
        assert "://" in target or (place / target).exists(), f"{text} links to {target}"


def test_scripts_that_texts_name_exist():
    folders = (".", "benchmarks", "docs", "DECISIONS")
    named = {
        (path.name, script)
        for folder in folders
        for path in ROOT.glob(f"{folder}/*.md")
        for script in re.findall(r"\b(?:benchmarks|tests|docs)/[\w/]+\.py\b", path.read_text())
    }
    assert len(named) > 50
    assert [one for one in sorted(named) if not (ROOT / one[1]).exists()] == []


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
        heading, status, _ = path.read_text().split("\n\n", 2)
        assert re.match(r"# (NNNN|\d{4})\. \w", heading.replace("`", "")), path.name
        assert re.match(r"Status: (accepted|superseded by|withdrawn)[^\n]*$", status), path.name


if __name__ == "__main__":  # what the ceilings above are set by
    for name, counted in [*words_counted().items(), (NONE, lines_with_none())]:
        sys.stdout.write(f"{counted:6}  {name}\n")
    code = code_of_folders()
    for name, counted in sorted(code.items()):
        sys.stdout.write(f"{counted:6}  lines of code in {name}\n")
    sys.stdout.write(f"{sum(code.values()):6}  lines of code in all\n{anys():6}  Any\n")
