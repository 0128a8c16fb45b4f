"""The dictionary of a report becomes one self-contained HTML file."""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from psephos.scoring import script as reader

STYLES = (  # in the order of the page
    "base.css", "panels.css", "parts.css", "values.css", "case.css", "print.css",
)  # fmt: skip
SCRIPTS = (
    "core.js", "words.js", "again.js", "tables.js", "axis.js", "lanes.js", "curves.js", "missed.js",
    "pareto.js", "curve.js", "values.js", "ballot.js", "near.js", "turn.js", "fields.js",
    "case.js", "number.js", "observed.js", "network.js", "stability.js", "bar.js",
)  # fmt: skip
_VALIDATION = (  # scripts of the page of a validation, which evaluates no model
    "core.js", "words.js", "again.js", "tables.js", "axis.js", "lanes.js", "curves.js", "missed.js",
    "bar.js",
)  # fmt: skip
_TABLES = ("core.js", "words.js", "tables.js", "bar.js")
_OF_NUMBERS = ("core.js", "words.js", "tables.js", "axis.js", "observed.js", "bar.js")
_LITERAL = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render(report: dict[str, Any]) -> str:
    """Return the page of a report.

    Parameters
    ----------
    report : dict
        As `summarise` returns it.

    Returns
    -------
    html : str
        It is self-contained. Its content policy allows only its own style and script, by their
        hashes, and the template engine escapes every string of the data.
    """
    idle = {
        "network.js": report["island"].get("network"),
        "curve.js": report["curve"],
        "number.js": "number" in report["island"],
        "observed.js": report["observed"],
    }
    return page_of(report, tuple(name for name in SCRIPTS if idle.get(name, True)))


def render_validation(report: dict[str, Any]) -> str:
    """Return the page of a validation: `report` is what `summarise_validation` returns."""
    scripts = _VALIDATION if report["missed"] else _OF_NUMBERS if report["observed"] else _TABLES
    return page_of(report, scripts, with_reader=False)


def page_of(report: dict[str, Any], scripts: Sequence[str], with_reader: bool = True) -> str:
    """Return a page with its style and script, preceded by the reader of plain models if needed."""
    style = _flush(_joined("style", STYLES))
    script = _joined("script", scripts)
    script = _flush(reader() + script if with_reader else script)
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            report=report,
            policy=policy,
            style=Markup(style),
            script=Markup(script),
            embedded=embed(report["island"]),
        )
    )


def embed(value: Any) -> Markup:
    """Return JSON that is safe inside a script element, since nothing in it can close it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_LITERAL))  # escapes all characters with a meaning in HTML


class _Flush(jinja2.PackageLoader):
    """Loader of templates without their indentation; data keep theirs."""

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        """Return a template's source, its path, and a function that says whether it is current."""
        source, *more = super().get_source(environment, template)
        return "\n".join(line.lstrip() for line in source.split("\n")), *more


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=_Flush("psephos.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _joined(folder: str, names: Sequence[str]) -> str:
    """Return joined files of the page, with the line ends for which their hash is computed."""
    home = resources.files("psephos.report").joinpath("templates", folder)
    text = "".join(home.joinpath(name).read_text("utf-8") for name in names)
    return text.replace("\r\n", "\n")


@cache
def _flush(text: str) -> str:
    """Remove indentation and comment lines; no string may span lines."""
    lines = [line.lstrip() for line in text.split("\n")]
    return "\n".join(line for line in lines if not line.startswith("//"))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
