"""Small table files."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes text or bytes to a file and returns its path."""

    def write(content: str | bytes, name: str = "answers.csv") -> Path:
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return path

    return write
