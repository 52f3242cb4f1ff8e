"""How Sphinx builds this site: `sphinx-build -W -b html docs docs/_build/html`, offline."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from typer.main import get_command
from typer.testing import CliRunner

import neartie
from neartie.cli.app import app as command_line

project = "neartie"
author = "The neartie authors"
copyright = "2026, The neartie authors"
version = release = neartie.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build", "tables"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_numpy_docstring = True
# Type lines hold shapes and units, text for people: as plain text, nothing in them is linked.
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
napoleon_preprocess_types = False

default_role = "code"

html_theme = "furo"
html_title = f"neartie {release}"


def write_help(_: Sphinx) -> None:
    """Write what `--help` prints, so that the page of commands cannot grow stale."""
    folder = Path(__file__).resolve().parent / "_build" / "help"
    folder.mkdir(parents=True, exist_ok=True)
    commands = get_command(command_line).commands
    pages = {"neartie": ["--help"]}
    for name, command in commands.items():
        pages[name] = [name, "--help"]
        for part in getattr(command, "commands", {}):
            pages[f"{name}-{part}"] = [name, part, "--help"]
    for name, arguments in pages.items():
        shown = CliRunner().invoke(command_line, arguments, prog_name="neartie")
        (folder / f"{name}.txt").write_text(shown.stdout, encoding="utf-8")


def setup(sphinx: Sphinx) -> None:
    """Prepare what the pages include."""
    sphinx.connect("builder-inited", write_help)
