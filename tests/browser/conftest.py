"""Chromium, offline, with every request and every word of the console recorded."""

import importlib.util
import os
import shutil
from functools import partial
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
FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"


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


class Tabs:
    """One tab for each kind of settings: to open one takes far longer than to load a page in it."""

    def __init__(self, browser):
        self.browser, self.tabs = browser, {}

    def of(self, settings):
        """Return the tab of these settings, with what it hears, as on its first day."""
        key = tuple(sorted(settings.items()))
        if key not in self.tabs:
            self.tabs[key] = self._new(settings)
        tab = self.tabs[key]
        tab.page.mouse.move(0, 0)
        tab.page.emulate_media(media="null")
        for heard in (tab.requests, tab.console, tab.errors):
            heard.clear()
        return tab

    def drop(self, tab):
        """Close a tab, whatever its page is at."""
        self.tabs = {key: one for key, one in self.tabs.items() if one is not tab}
        tab.page.context.close()

    def _new(self, settings):
        context = self.browser.new_context(viewport=_size(1280), **settings)
        context.set_offline(True)
        page = context.new_page()
        scripts = settings.get("java_script_enabled", True)
        tab = SimpleNamespace(page=page, scripts=scripts, requests=[], console=[], errors=[])
        page.on("request", lambda request: tab.requests.append(request.url))
        page.on("console", lambda message: tab.console.append(message.text))
        page.on("pageerror", lambda error: tab.errors.append(str(error)))
        page.on("dialog", lambda dialog: (tab.errors.append("a dialog"), dialog.dismiss()))
        return tab


def _size(width):
    return {"width": width, "height": 900}


@pytest.fixture(scope="session")
def tabs(chromium):
    return Tabs(chromium)


@pytest.fixture
def load(tabs, request):
    """Return a function that loads a file anew; at the end nothing may have been said or asked.

    Of each kind of settings there is one page a test.
    """
    loaded, failed = [], request.session.testsfailed

    def load_page(path, width=1280, **settings):
        tab = tabs.of(settings)
        assert all(tab is not one for one, _ in loaded), "a page of the same settings is open"
        loaded.append((tab, path.as_uri()))
        if tab.page.viewport_size != _size(width):
            tab.page.set_viewport_size(_size(width))
        tab.page.goto(path.as_uri())
        return tab.page

    yield load_page
    for tab, _ in loaded:
        if request.session.testsfailed > failed:  # its page may answer no more
            tabs.drop(tab)
        else:  # what is late is heard, too
            tab.page.evaluate(FRAME if tab.scripts else "0")
    for tab, address in loaded:
        assert tab.console == []
        assert tab.errors == []
        assert tab.requests == [address]


@pytest.fixture(scope="session")
def builders():
    """The builders of the tests of the report."""
    source = Path(__file__).parent.parent / "report" / "builders.py"
    spec = importlib.util.spec_from_file_location("report_builders", source)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="session", params=[2, 3], ids=["two classes", "three classes"])
def compared(request, builders, tmp_path_factory):
    """Folder of a real comparison whose names are all hostile, with its report."""
    from psephos.report import build_report

    folder = builders.shared_folder(tmp_path_factory, request.param)
    build_report(folder)
    return folder


@pytest.fixture(scope="session")
def summarised(compared):
    """What the report says; tests read it and change nothing."""
    from psephos.report import summarise

    return summarise(compared)


@pytest.fixture(scope="session")
def caseless(compared):
    """What the report says where it may tell of no case."""
    from psephos.report import summarise
    from psephos.report.study.options import PageOptions

    return summarise(compared, options=PageOptions(cases="none"))


@pytest.fixture
def opened(request):
    """The model that `visit` shows in detail; None for the page's own choice."""
    return getattr(request, "param", None)


@pytest.fixture
def report(compared, opened):
    """The page that `visit` opens."""
    from psephos.report import build_report

    if opened is None:
        return compared / "report.html"
    path = compared / f"{opened}.html"
    if not path.exists():  # of the tests before
        with pytest.MonkeyPatch.context() as patch:  # these studies have few voters: draw them all
            patch.setattr("psephos.report.panels.network.FEWEST_VOTERS", 0)
            build_report(compared, path, model=opened)
    return path


@pytest.fixture
def visit(load, report):
    """Return a function that opens the report, as `load` does."""
    return partial(load, report)
