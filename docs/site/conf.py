"""Sphinx settings of `make site`. The documents are prepared by tools/figures/site; nothing is loaded from any network."""
import os

from sphinx.domains.c import CDomain

project = "lapedge"
version = release = os.environ["LAPEDGE_VERSION"]
copyright = author = "the makers of lapedge"
extensions = ["myst_parser"]
root_doc = "index"
# Anchors as GitHub makes them, so that links to headings work in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
smartquotes = False
# Tables that tools write begin with small headings.
suppress_warnings = ["myst.header"]
highlight_language = "none"
c_maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"lapedge {release}"
html_static_path = ["../../build/site-static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = True  # what a search shows beside a page's name
html_show_sourcelink = False
html_show_copyright = False
html_last_updated_fmt = None


def setup(app):
    """A search finds functions and types, not each parameter of every function."""
    every = CDomain.get_objects
    CDomain.get_objects = lambda domain: (item for item in every(domain) if item[2] != "functionParam")
