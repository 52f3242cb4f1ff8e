"""What `import neartie` offers."""

from __future__ import annotations

import ast
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import neartie


def test_every_public_name_is_there() -> None:
    assert all(hasattr(neartie, name) for name in neartie.__all__)
    assert dir(neartie) == sorted(neartie.__all__)
    assert set(neartie.__all__) == {*neartie._HOMES, "__version__"}
    assert list(neartie.__all__) == sorted(neartie.__all__)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(neartie.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == neartie._HOMES


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="module 'neartie' has no attribute 'answers'"):
        neartie.answers  # noqa: B018


def test_the_version_is_the_one_that_is_installed() -> None:
    assert neartie.__version__ == importlib.metadata.version("neartie")


def test_importing_is_quick() -> None:
    script = "import sys, neartie; print(sorted({'numpy', 'pandas', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
