"""The JavaScript of the page: no function of more than 50 lines."""

import re
from pathlib import Path

import pytest

import psephos

PACKAGE = Path(psephos.__file__).parent
SCRIPTS = sorted(
    (*PACKAGE.glob("report/templates/script/*.js"), *PACKAGE.glob("scoring/script/*.js"))
)
MOST = 50
# what prettier writes in front of a body: `function f(x) {`, `f(x) {`, `(x) => {`
OPENS = re.compile(r"^(?P<indent> *)(?!if|for|while|switch|else|\}|class ).*(?:\)|=>) \{$")
WHOLE = re.compile(r"^(?:const |page\.)?[\w. =]*\(\(\) => \{$")  # the one function around a file


def lengths(source: str) -> dict[str, int]:
    """Return the lines of each function, by its first line."""
    lines = source.splitlines()
    found: dict[str, int] = {}
    for start, line in enumerate(lines):
        opened = OPENS.match(line)
        if opened is None or WHOLE.match(line):
            continue
        closing = re.compile(rf"^{opened['indent']}\}}")
        end = next((i for i in range(start + 1, len(lines)) if closing.match(lines[i])), None)
        if end is not None:
            found[f"{start + 1}: {line.strip()}"] = end - start + 1
    return found


def test_that_lengths_are_counted() -> None:
    body = "\n".join(["    one();"] * 51)
    assert lengths(f"(() => {{\n  const f = (x) => {{\n{body}\n  }};\n}})();") == {
        "2: const f = (x) => {": 53
    }
    assert lengths(f"function f(x) {{\n{body}\n}}") == {"1: function f(x) {": 53}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_functions_of_a_script_are_short(path: Path) -> None:
    found = lengths(path.read_text(encoding="utf-8"))
    assert {name: n for name, n in found.items() if n > MOST} == {}
    assert found
