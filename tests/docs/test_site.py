"""The pages of the site: every public name has its place, and what they show runs."""

import doctest
import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

import psephos
from psephos import registry
from psephos.cli.app import main

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if not {"made", "gallery", "_build"} & {*p.parts})
WITH_EXAMPLES = [page for page in PAGES if ">>> " in page.read_text()]


@pytest.fixture(scope="module")
def site_pages():
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("site_pages")
    sys.path.remove(str(DOCS))


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_examples_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))  # an example adds one
    flags = doctest.NORMALIZE_WHITESPACE
    found = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert found.attempted > 0
    assert found.failed == 0


def test_every_public_name_is_in_the_reference_once(site_pages):
    named = [(m, n) for m in site_pages.MODULES for n in site_pages.own_names(m)]
    objects = [id(getattr(importlib.import_module(m), n)) for m, n in named]
    assert len(set(objects)) == len(objects)
    at_home = {n for m, n in named if m == "psephos"}
    assert {n for n in psephos.__all__ if callable(getattr(psephos, n))} == at_home
    for module in site_pages.MODULES:
        found = importlib.import_module(module)
        assert all(hasattr(found, name) for name in found.__all__)


_COMMAND = re.compile(r"psephos ([a-z-]+) ([^`\n|]*)")


def _commands():
    for page in [*PAGES, DOCS.parent / "README.md"]:
        for name, rest in _COMMAND.findall(page.read_text()):
            if name in main.commands:
                yield page.name, name, re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest)


def test_options_in_commands_that_pages_show_exist():
    seen = 0
    for page, name, options in _commands():
        known = {o for p in main.commands[name].params for o in [*p.opts, *p.secondary_opts]}
        assert set(options) <= known | {"--help"}, (page, name)
        seen += len(options)
    assert seen > 30
    assert isinstance(main, click.Group)


def _shown_commands(page):
    """The commands that a page shows, each as its words."""
    blocks = re.findall(r"<!-- commands -->\n```bash\n(.*?)```", page.read_text(), re.DOTALL)
    return [shlex.split(line, comments=True) for one in blocks for line in one.splitlines()]


def _write_tables(folder):
    """Write `cases.csv` and `new.csv`, the tables of the commands that pages show."""
    pytest.importorskip("pandas", reason="the tables are written by pandas")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    table = X.iloc[20:60, 20:24].assign(diagnosis=y.map({0: "malignant", 1: "benign"}))
    table.insert(0, "case", [f"C{i}" for i in range(len(table))])
    table.to_csv(folder / "cases.csv", index=False)
    table.head(3).drop(columns="diagnosis").to_csv(folder / "new.csv", index=False)


def test_commands_of_the_readme_run(tmp_path, monkeypatch):
    """Those for a table of the reader's, with two models; .ci/run runs its test command."""
    _write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    ran = []
    for program, *words in _shown_commands(DOCS.parent / "README.md"):
        fewer = ["--models", "samba,majority"] if words[0] == "compare" else []
        result = CliRunner().invoke(main, words + fewer, prog_name=program)
        assert result.exit_code == 0, result.output
        ran.append(words[0])
    assert ran == ["compare", "explain", "table"]
    assert (tmp_path / "study/report.html").exists()


def test_commands_for_a_model_of_ones_own_run(tmp_path):
    """With the first example of the guide as the module that they name."""
    guide = DOCS / "guides/own-voter.md"
    _write_tables(tmp_path)
    example = doctest.DocTestParser().get_examples(guide.read_text().split("```")[1])
    (tmp_path / "midway.py").write_text("".join(one.source for one in example))
    commands = _shown_commands(guide)
    for _, *words in commands:
        line = [sys.executable, "-m", "psephos", *words]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "fits failed" not in done.stderr
    assert len(commands) == 3
    assert (tmp_path / "untuned/models/MidwayClassifier.psephos").exists()


@pytest.mark.parametrize("page", sorted((DOCS / "cases").glob("[!i]*.md")), ids=lambda p: p.stem)
def test_figures_of_a_case_study_are_those_of_its_tables(page):
    text = page.read_text()
    tables = re.findall(r":file: (\S+)", text)
    assert tables
    listed = " ".join((page.parent / table).read_text() for table in tables)
    known = set(re.findall(r"-?\d\.\d{3}", listed))
    figures = set(re.findall(r"(?<![\d.])-?\d\.\d{3}(?!\d)", text))
    assert len(figures) > 5
    assert figures <= known


def test_links_between_pages_lead_somewhere():
    made = re.compile(r"(^|/)made/|gallery/")
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if not made.search(target) and "://" not in target:
                assert (page.parent / target).exists(), (page.name, target)


def test_links_between_pages_stay_and_others_lead_to_their_page_or_are_words(site_pages):
    def shown(page, text):
        source = [text]
        site_pages.inner_links(None, page, source)
        return source[0]

    assert shown("start/command", "[a](../guides/page.md)") == "[a](../guides/page.md)"
    assert shown("architecture", "[a](../src/psephos/base.py)") == "a"
    assert shown("faq", "[a](../benchmarks/README.md#x)") == "[a](/made/benchmarks.md#x)"
    assert shown("made/decisions/0001-x", "[a](../docs/seeds.md)") == "[a](/seeds.md)"
    assert (
        shown("guides/page", "[a](../../DECISIONS/0001-x.md)") == "[a](/made/decisions/0001-x.md)"
    )


def test_names_of_models_in_the_chooser_lead_to_their_classes(site_pages):
    source = ["`samba` and `psephos compare`"]
    site_pages.model_links(None, "which-model", source)
    assert source == ["{py:obj}`samba <psephos.SamBAClassifier>` and `psephos compare`"]
