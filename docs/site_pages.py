"""Pages of the site that are made from the package and from files beside it."""

import importlib
import os
import re
from pathlib import Path, PurePosixPath

import capabilities

ROOT = Path(__file__).parent.parent

#: Public modules, and what each is for.
MODULES = {
    "psephos": "Models, reading tables, comparing, saving and loading.",
    "psephos.base": "The classes that all models derive from: what every model can do.",
    "psephos.protocol": "Comparisons of models, their statistics and their pictures.",
    "psephos.explain": "What a fitted model reads and says, in tables and pictures.",
    "psephos.bounds": "What can be proved of a model's error.",
    "psephos.figures": "Measures of predictions, with intervals.",
    "psephos.validation": "A fitted model on another cohort.",
    "psephos.supervision": "Labels that are missing or wrong: class priors and risks.",
    "psephos.cautions": "What may be wrong with a table.",
    "psephos.datasets": "Generated tables.",
    "psephos.scoring": "A fitted model where psephos is not installed.",
    "psephos.report": "The page of a comparison or a validation.",
    "psephos.vote": "The parts that every fitted model is made of.",
    "psephos.testing": "The contract that every estimator passes, for those of other packages.",
}


def public_names(module):
    """Return the public names of a module, constants and the version left out."""
    held = importlib.import_module(module)
    return [name for name in sorted(held.__all__, key=str.lower) if callable(getattr(held, name))]


def own_names(module):
    """Return the names that are documented with a module: those that `psephos` lacks."""
    first, held = importlib.import_module("psephos"), importlib.import_module(module)
    names = public_names(module)
    return [n for n in names if held is first or getattr(first, n, None) is not getattr(held, n)]


def write(folder):
    """Write the pages into a folder, and change none that is as it should be."""
    pages = {f"reference/{name}.md": _module(name, about) for name, about in MODULES.items()}
    pages["reference.md"] = _reference()
    pages |= _decisions()
    pages["changes.md"] = _changes()
    pages["models.md"] = capabilities.markdown() + "\n"
    pages["benchmarks.md"] = (ROOT / "benchmarks/README.md").read_text()
    for name, text in pages.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    stubs = {folder / f"reference/{m}/{m}.{name}.rst" for m in MODULES for name in own_names(m)}
    for old in (
        {*folder.rglob("*.md"), *folder.rglob("*.rst")} - {folder / n for n in pages} - stubs
    ):
        old.unlink()


def _module(module, about):
    own = own_names(module)
    there = [name for name in public_names(module) if name not in own]
    listed = "\n".join(f"    {name}" for name in own)
    also = ", ".join(f"{{py:obj}}`psephos.{name}`" for name in there)
    return (
        f"# {module}\n\n{about}\n\n```{{eval-rst}}\n.. currentmodule:: {module}\n\n"
        f".. autosummary::\n    :toctree: {module}\n    :nosignatures:\n\n{listed}\n```\n"
        + (f"\nThe module has besides: {also}.\n" if also else "")
    )


def _reference():
    rows = [f"| [{name}](reference/{name}.md) | {about} |" for name, about in MODULES.items()]
    listed = "\n".join(f"reference/{name}" for name in MODULES)
    return "\n".join([
        "# Python reference", "", "Every public name, by module.", "",
        "| module | what it is for |", "| --- | --- |", *rows, "",
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```", "",
    ])  # fmt: skip


def _decisions():
    files = sorted((ROOT / "DECISIONS").glob("[0-9]*.md"))[1:]  # the first is the template
    pages = {f"decisions/{file.name}": file.read_text() for file in files}
    listed = "\n".join(f"decisions/{file.stem}" for file in files)
    pages["decisions.md"] = (
        "# Decisions\n\nChoices that were not obvious, each with its reason and what follows from "
        f"it.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    return pages


def _changes():
    """Return the releases; its links lead from the folder of the page."""
    return (ROOT / "CHANGELOG.md").read_text().replace("](docs/", "](../docs/")


_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)#]*)(#[^)]*)?\)")
_PLACES = (
    ("DECISIONS/", "/made/decisions/"),
    ("docs/", "/"),
    ("benchmarks/README.md", "/made/benchmarks.md"),
)


_MODEL = re.compile(r"(?<![\[`])`([a-z0-9]+(?:-[a-z0-9]+)*)`(?!`)")


def model_links(_app, page, source):
    """Link the names of models to their classes on the page that helps to choose one."""
    if page != "which-model":
        return
    kinds = importlib.import_module("psephos.registry").model_names()

    def linked(match):
        kind = kinds.get(match[1])
        return f"{{py:obj}}`{match[1]} <psephos.{kind}>`" if kind else match[0]

    source[0] = _MODEL.sub(linked, source[0])


def inner_links(_app, page, source):
    """Lead links to files of the repository to their page; of other files keep the words.

    Links between pages of `docs` are left as they are. Pages in `made` come from folders beside it.
    """
    folder = PurePosixPath("made" if page.startswith("made/") else f"docs/{page}").parent

    def changed(match):
        words, above, target, anchor = match.groups()
        file = os.path.normpath(folder / above / target)
        if file.startswith("docs/") and not page.startswith("made/"):
            return match[0]
        target = file.removeprefix("../")
        for start, place in _PLACES:
            if target.startswith(start) and target != "DECISIONS/":
                return f"[{words}]({place}{target.removeprefix(start)}{anchor or ''})"
        return words

    source[0] = _LINK.sub(changed, source[0])


def skipped(_app, _kind, name, _held, skip, _options):
    """Return True for the members of scikit-learn that route metadata; None: no opinion."""
    return bool(skip or re.fullmatch(r"set_\w+_request|get_metadata_routing", name)) or None


def linked_pages(_app, _kind, _name, _held, _options, lines):
    """Link the pages that docstrings name by their file."""
    lines[:] = map(_linked, lines)


def _linked(line):
    return re.sub(r"(?<![\w/])docs/([\w-]+)\.md", r":doc:`/\1`", line)


def without_markup(_app, _command, lines):
    """Escape what reStructuredText would read as markup in the command's help."""
    lines[:] = [_linked(re.sub(r"(?<!\\)([*|]|_(?!\w))", r"\\\1", line)) for line in lines]
