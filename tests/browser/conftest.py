"""Chromium, offline, with every request and every word of the console recorded."""

import importlib.util
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def chromium():
    """A browser; without one the test is skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra 'test')")
    path = os.environ.get("PSEPHOS_CHROMIUM") or shutil.which("chromium")
    if not path:
        pytest.skip("needs Chromium: install it, or set PSEPHOS_CHROMIUM to its path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session", params=[2, 3], ids=["two classes", "three classes"])
def compared(request, tmp_path_factory):
    """Folder of a real comparison whose names are all hostile, with its report."""
    source = Path(__file__).parent.parent / "report" / "builders.py"
    spec = importlib.util.spec_from_file_location("report_builders", source)
    builders = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builders)
    from psephos.report import build_report

    folder = builders.shared_folder(tmp_path_factory, request.param)
    build_report(folder)
    return folder


@pytest.fixture(scope="session")
def summarised(compared):
    """What the report says; tests read it and change nothing."""
    from psephos.report import summarise

    return summarise(compared)


@pytest.fixture
def opened(request):
    """The model that `visit` shows in detail; None for the page's own choice."""
    return getattr(request, "param", None)


@pytest.fixture
def book(request):
    """Whether `visit` shows a page that asks no model, and has the ballots of training cases."""
    return getattr(request, "param", False)


@pytest.fixture
def visit(chromium, compared, opened, book, monkeypatch):
    """Return a function that opens the report; at the end nothing may have been said or asked."""
    from psephos.report import build_report

    contexts, heard = [], SimpleNamespace(requests=[], console=[], errors=[])
    report = compared / "report.html"
    if book:
        monkeypatch.setattr(
            "psephos.report.panels.case.calculator", lambda *_: "it has no plain form."
        )
    if opened is not None or book:
        name = f"{opened}{'-book' if book else ''}.html"
        report = compared / name
        if not report.exists():  # of the tests before
            build_report(compared, report, model=opened)
    address = report.as_uri()

    def open_page(width=1280, **settings):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **settings)
        context.set_offline(True)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: heard.requests.append(request.url))
        page.on("console", lambda message: heard.console.append(message.text))
        page.on("pageerror", lambda error: heard.errors.append(str(error)))
        page.on("dialog", lambda dialog: (heard.errors.append("a dialog"), dialog.dismiss()))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert heard.console == []
    assert heard.errors == []
    assert heard.requests == [address] * len(contexts)
