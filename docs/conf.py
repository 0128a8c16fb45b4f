"""Settings of the documentation site: ``python -m sphinx -W docs build/site`` builds it."""

import sys
from pathlib import Path

import psephos

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import site_pages  # noqa: E402  (beside this file)
import site_run  # noqa: E402

project = "psephos"
author = "The psephos developers"
copyright = "The psephos developers"
version = release = psephos.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/**/*.md5", "gallery/*.ipynb", "gallery/*.py", "made/models.md"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["templates"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 6
suppress_warnings = ["config.cache"]  # the gallery's settings hold a function

autosummary_generate = True
toc_object_entries_show_parents = "hide"  # "fit()", below its class
autodoc_typehints = "none"  # parameters say their types in words
numpydoc_show_class_members = True
numpydoc_show_inherited_class_members = True
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "min_reported_time": 1e9,
}

html_theme = "pydata_sphinx_theme"
html_title = "psephos"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "search.js")  # opened as it is written
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {page: [] for page in ("index", "which-model")}

site_pages.write(HERE / "made")


def setup(app):
    """Connect what changes links that lead out of the documentation, and what runs commands."""
    app.connect("source-read", site_pages.inner_links)
    app.connect("source-read", site_pages.model_links)
    for part in ("description", "usage", "options", "arguments"):
        app.connect(f"sphinx-click-process-{part}", site_pages.without_markup)
    app.connect("autodoc-process-docstring", site_pages.linked_pages)
    app.connect("autodoc-skip-member", site_pages.skipped)
    app.connect("build-finished", site_run.clean)
    app.add_directive("run", site_run.Run)
