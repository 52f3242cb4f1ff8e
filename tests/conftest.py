"""Where the shared data lie; a missing folder fails under CI and skips elsewhere."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NEARTIE_DATA", ROOT.parent / "shared" / "data"))


def _folder(path: Path) -> Path:
    if not path.is_dir():
        message = f"{path} is missing: set NEARTIE_DATA to the folder of real data"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return _folder(DATA)


@pytest.fixture(scope="session")
def case_dir() -> Path:
    return _folder(DATA.parent / "cases")


@pytest.fixture(scope="session")
def reference_dir() -> Path:
    return _folder(DATA.parent / "reference")
