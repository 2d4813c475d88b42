# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the site, which scripts/site.sh makes.

Sphinx reads a copy of the repository's pages, in which docs/site/index.md is the first page, so that links between
pages are those of the repository. Links to other files lead to a page that shows the file.
"""
import pathlib
import re

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.ext.autodoc.mock import _MockObject

project = "carom"
author = "The carom authors"
copyright = author
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinxcontrib.katex", "sphinx_copybutton"]
include_patterns = [
    "*.md", "docs/**.md", "include/carom/*/README.md", "benchmarks/**README.md", "examples/data/README.md", "python/README.md"]

html_theme = "furo"
html_title = "carom"
html_favicon = "static/icon.svg"
# Style and letters of KaTeX are those of the package libjs-katex: the site fetches nothing from elsewhere.
html_static_path = ["static", "/usr/share/javascript/katex"]
html_css_files = ["site.css"]
html_extra_path = ["../../build/site/extra"]
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}
katex_css_path = "katex.min.css"
# A formula that KaTeX cannot set stays as it is, in red, and tests/docs/site_test.py finds it.
katex_options = "strict: false"

myst_heading_anchors = 6
myst_fence_as_directive = ["math"]
copybutton_exclude = ".linenos, .gp, .go"

breathe_projects = {"carom": "../../build/site/doxygen/xml"}
breathe_default_project = "carom"
# Namespaces stand with every header that opens them; initial values that Sphinx cannot read are shown as they are.
suppress_warnings = ["duplicate_declaration.cpp", "source_code_parser.cpp"]

autodoc_mock_imports = ["torch", "jax", "mujoco", "newton", "warp", "pinocchio", "carom._jax"]
# What stands for torch and jax takes part in unions of types.
_MockObject.__or__ = _MockObject.__ror__ = lambda self, other: self
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
add_module_names = False

# Where a link to a folder leads.
FOLDERS = {
    "docs/derivations": "docs/site/derivations",
    "docs/guides/python": "docs/site/python_guides",
    "examples/data": "examples/data/README",
    "include/carom": "docs/site/cpp",
}
SHIPPED = re.compile(r"docs/(demo|board)/")  # as they are, by html_extra_path


def without_badges(app, docname, source):
    """The host of the repository makes badges and has issues; the site has neither."""
    if docname == "README":
        source[0] = re.sub(r"^\[?!\[[^\]]*\]\((https://img|\.\./\.\.).*\n", "", source[0], flags=re.M)
        source[0] = re.sub(r"\[([^\]]*)\]\(\.\./\.\./[^)]*\)", r"\1", source[0])


def address(app, docname, path):
    """Where the page `docname` finds a file or a folder of the repository; what is shown is remembered."""
    if path in FOLDERS:
        return app.builder.get_relative_uri(docname, FOLDERS[path])
    up = "../" * docname.count("/")
    if SHIPPED.match(path):
        return up + path
    app.env.carom_shown = {*getattr(app.env, "carom_shown", ()), path}
    return f"{up}source/{path}.html"


def lead_to_files(app, tree):
    """Links to files of the repository, which would be downloads, and to its folders, which MyST does not know."""
    root = pathlib.Path(app.srcdir)
    docname = app.env.docname
    for node in list(tree.findall(lambda node: isinstance(node, (addnodes.download_reference, addnodes.pending_xref)))):
        if isinstance(node, addnodes.pending_xref) and (node["reftype"], node.get("refdomain")) != ("myst", None):
            continue
        target = pathlib.Path(app.env.relfn2path(node["reftarget"], docname)[1])
        if target.is_dir() or isinstance(node, addnodes.download_reference):
            where = address(app, docname, target.relative_to(root).as_posix())
            node.replace_self(nodes.reference("", "", *node.children, refuri=where))


def highlighted(path):
    text = path.read_text(encoding="utf-8")
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(text, lexer, HtmlFormatter())


def shown_files(app):
    """A page for each file that is linked to, and for each folder with the files in it."""
    root = pathlib.Path(app.srcdir)
    shown = set(getattr(app.env, "carom_shown", ()))
    folders = {path for path in shown if (root / path).is_dir()}
    listed = {path: sorted(file for file in (root / path).iterdir() if file.is_file()) for path in folders}
    shown |= {file.relative_to(root).as_posix() for files in listed.values() for file in files}
    for path in sorted(shown):
        if path in folders:
            name = path.rpartition("/")[2]
            items = "".join(f'<li><a href="{name}/{file.name}.html">{file.name}</a></li>' for file in listed[path])
            body = f"<h1>{path}</h1><ul>{items}</ul>"
        else:
            body = f"<h1>{path}</h1>{highlighted(root / path)}"
        yield f"source/{path}", {"title": path, "body": body}, "page.html"


def as_markup(app, what, name, obj, options, lines):
    """Docstrings are plain text: signs mean nothing in them but backquotes, and what is indented is code."""
    changed, code = [], False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not code:
            changed += [".. code-block:: python", ""]
        code = indented or (code and not line)
        if not indented and not re.match(r"(\d+\. )?``", line):
            parts = re.split(r"`([^`]+)`", line)  # every second one stood in backquotes
            parts = [f"``{part}``" if i % 2 else re.sub(r"([*|_\\])", r"\\\1", part) for i, part in enumerate(parts)]
            line = "".join(parts)
        changed.append(line)
    lines[:] = changed


def setup(app):
    app.connect("source-read", without_badges)
    app.connect("doctree-read", lead_to_files)
    app.connect("html-collect-pages", shown_files)
    app.connect("autodoc-process-docstring", as_markup)
