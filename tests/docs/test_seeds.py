"""docs/seeds.md, held against the package: its names, parameters, commands, paths and counts."""

import ast
import importlib
import inspect
import py_compile
import re
import shlex
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import psephos
from psephos.cli.app import main
from psephos.protocol import PROTOCOLS, known_models
from psephos.protocol.evaluation.scores import metric_named

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "seeds.md").read_text("utf-8")
TICKED = re.compile(r"`([^`]+)`")
PLACE = re.compile(r"(benchmarks|examples|tests|docs|DECISIONS)/\S+")
CALL = re.compile(r"([\w.]+)\((.*)\)")
ABSENT = "–"


def tables():
    """Return the rows of each seed, four cells a row, by its heading."""
    found = {}
    for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        lines = [line for line in body.splitlines() if line.startswith("| ")]
        if lines:
            cells = [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
            assert cells[0] == ["in the seed", "in psephos", "verified by", "what differs"]
            found[heading] = cells[2:]
    return found


ROWS = [(seed, i, row) for seed, rows in tables().items() for i, row in enumerate(rows, 1)]
EACH = pytest.mark.parametrize("row", [r for *_, r in ROWS], ids=[f"{s}-{i}" for s, i, _ in ROWS])


# ------------------------------------------------------------------- what a word in backticks is
def resolved(name):
    """Return what `name` is in psephos: a module's, or an attribute of what stands before it."""
    here, *rest = "psephos", *name.split(".")
    found = psephos
    for word in rest:
        try:
            found = getattr(found, word)
        except AttributeError:
            if inspect.isclass(found):
                assert documented(found, word), f"{found.__name__} has no {word}"
                return None
            found = importlib.import_module(f"{here}.{word}")
        here = f"{here}.{word}"
    return found


def documented(cls, attribute):
    """Whether a fitted attribute stands in the class's docstring, or in its annotations."""
    entry = rf"^ *(?:\w+, )*{attribute}\b.* : "
    return bool(re.search(entry, cls.__doc__, re.MULTILINE)) or any(
        attribute in vars(one).get("__annotations__", {}) for one in cls.__mro__
    )


def check_call(name, inside):
    """Parameters exist, and a value that is stated is allowed."""
    found = resolved(name)
    given = dict(re.findall(r"(\w+)=(\"[^\"]*\"|[^,]*)", inside))
    assert re.sub(r"(\w+)=(\"[^\"]*\"|[^,]*)", "", inside).strip(", ") == ""
    known = inspect.signature(found).parameters
    assert set(given) <= set(known), f"{name} has no {set(given) - set(known)}"
    values = {key: ast.literal_eval(value) for key, value in given.items() if value}
    for key, constraint in getattr(found, "constraints", {}).items():
        assert key not in values or constraint.allows(values[key]), f"{key} is not {values[key]!r}"


def check_command(words):
    command = main.commands[words[1]] if words[1:] else main
    options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    for word, value in pairwise([*words[2:], ""]):
        if word.startswith("--"):
            assert word in options, f"psephos {words[1]} has no {word}"
        if word == "--protocol" and value:
            assert value in PROTOCOLS
        if word == "--metric" and value:
            metric_named(value)


def check_place(words):
    place, _, function = words[0].partition("::")
    path = ROOT / place
    assert path.exists(), place
    if function:
        assert re.search(rf"^def {function}\(", path.read_text("utf-8"), re.MULTILINE), words[0]
    for option in [word for word in words[1:] if word.startswith("--")]:
        text = path.read_text("utf-8")
        # an option may be made from a word of a tuple, as f"--{name}"
        assert f'"{option}"' in text or f'"{option[2:]}"' in text, f"{place} has no {option}"


@cache
def model_names():
    return {name for kind in ("classes", "numbers") for name in known_models(kind)}


def check_word(word):
    if PLACE.match(word):
        check_place(shlex.split(word))
    elif word.split()[0] == "psephos":
        check_command(shlex.split(word))
    elif call := CALL.fullmatch(word):
        check_call(*call.groups())
    elif "-" in word:
        assert word in model_names()
    else:
        resolved(word)


# ------------------------------------------------------------------- the tests
@EACH
def test_what_a_row_names_exists(row):
    for cell in row[1:]:
        for word in TICKED.findall(cell):
            check_word(word)


@EACH
def test_a_row_says_where_or_why_not(row):
    item, where, by, differs = row
    assert item
    assert "`" not in item
    if where == ABSENT:
        assert differs, "why is it not there?"
    else:
        assert TICKED.search(where)
        assert TICKED.search(by) or "](" in by or differs


def test_links_lead_to_headings():
    for target, anchor in re.findall(r"\]\(([^)#]+)#?([^)]*)\)", TEXT):
        path = ROOT / "docs" / target
        assert path.exists(), target
        heads = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
        assert not anchor or anchor in anchors, f"{target} has no heading for #{anchor}"


def test_the_counts_are_those_of_the_tables():
    counts = []
    for seed, rows in tables().items():
        absent = sum(row[1] == ABSENT for row in rows)
        exact = sum(row[1] != ABSENT and not row[3] for row in rows)
        counts.append([seed, len(rows), exact, len(rows) - absent - exact, absent])
    counts.append(["all", *(sum(column) for column in list(zip(*counts, strict=True))[1:])])
    for line in counts:
        assert "| " + " | ".join(map(str, line)) + " |" in TEXT


def test_scripts_run_or_compile_as_is_said(tmp_path):
    """A script runs in a test that names its file, or is only compiled, as the text says."""
    rows, _, last = TEXT.partition("## Scripts")
    run, _, compiled = last.partition("Compiled")
    script = re.compile(r"(?:benchmarks|examples)/[\w/]+\.py")
    assert set(script.findall(rows)) == {*script.findall(run), *script.findall(compiled)}
    here = Path(__file__)
    tests = [p.read_text("utf-8") for p in ROOT.glob("tests/**/*.py") if p != here]
    for place in script.findall(run):
        stem = Path(place).stem
        assert any(f'"{stem}"' in text or f'"{stem}.py"' in text for text in tests), place
    for place in script.findall(compiled):
        py_compile.compile(str(ROOT / place), cfile=str(tmp_path / "compiled"), doraise=True)


@pytest.mark.parametrize(
    "word",
    [
        "NoClassifier", "SamBAClassifier.nothing_", "SamBAClassifier(nothing=)",
        'SamBAClassifier(update="nothing")', "psephos nothing", "psephos fit --nothing",
        "psephos compare --protocol nothing", "no-model", "tests/nothing.py",
        "tests/docs/test_seeds.py::nothing", "benchmarks/quality/samba_paper.py --nothing",
    ],
)  # fmt: skip
def test_a_wrong_word_is_found(word):
    with pytest.raises((AssertionError, ImportError, KeyError, psephos.PsephosError)):
        check_word(word)
