"""What is installed, and what is not: only `neartie` becomes importable."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("models", "inference", "audits")


def test_only_neartie_is_importable(tmp_path):
    code = (
        "import importlib.util as u\n"
        f"for name in {FLOORS}:\n"
        "    assert u.find_spec(name) is None, name\n"
        "    assert u.find_spec('neartie.' + name) is not None, name\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


@pytest.mark.parametrize("floor", FLOORS)
def test_links_point_to_their_folders(floor):
    assert (ROOT / "neartie" / floor).resolve() == ROOT / floor


def test_importing_neartie_is_light(tmp_path):
    code = (
        "import sys, neartie\n"
        "heavy = {'matplotlib', 'numba', 'sklearn', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_every_public_name_exists():
    import neartie

    for name in neartie.__all__:
        assert getattr(neartie, name) is not None


def test_no_floor_imports_from_above_when_a_kernel_is_loaded(tmp_path):
    code = (
        "import sys\n"
        "import neartie.inference.spectral\n"
        "above = [m for m in sys.modules if m.startswith(('neartie.audits', 'neartie.report', 'neartie.cli'))]\n"
        "assert not above, above\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
