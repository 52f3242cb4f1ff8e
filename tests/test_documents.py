"""What the pages promise: every file and column, one version number, small figures."""

import csv
import json
import re
import tomllib
from pathlib import Path

import pytest

import neartie

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    settings = neartie.AuditSettings(dimension=(1, 2), controls=20, bootstraps=20)
    audit = neartie.audit_near_ties(neartie.load_example(), settings, rng=1)
    folder = tmp_path_factory.mktemp("written")
    neartie.write_audit(audit, folder)
    return folder


def section(name: str) -> str:
    """The part of the page from a file's bold name to that of the next."""
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    parts = re.split(r"^(?:\*\*|## )([a-z_]+\.(?:csv|json))(?:\*\*)?", page, flags=re.MULTILINE)
    # the first of a name is what an audit writes; simulations write a summary of their own
    named = dict(reversed(list(zip(parts[1::2], parts[2::2], strict=True))))
    assert name in named, f"docs/files.md does not describe {name}"
    return named[name]


def test_every_column_of_every_table_is_described(written):
    tables = sorted(written.glob("*.csv"))
    assert len(tables) == 12
    for path in tables:
        with path.open(encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file))
        text = section(path.name)
        assert [name for name in columns if f"`{name}`" not in text] == [], path.name


def test_every_key_of_the_summary_is_described(written):
    keys = json.loads((written / "summary.json").read_text(encoding="utf-8"))
    text = section("summary.json")
    assert [key for key in keys if f"`{key}`" not in text] == []


def test_every_latex_table_is_described(written):
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    assert [p.name for p in sorted(written.glob("tables/*")) if p.name not in page] == []


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert project["version"] == neartie.__version__
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == neartie.__version__
    assert neartie.__version__ in changes


def test_links_between_the_pages_lead_somewhere():
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += sorted((ROOT / "docs").glob("*.md"))
    lost = []
    for page in pages:
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            if not (page.parent / target).exists():
                lost.append((page.name, target))
    assert lost == []


def test_no_line_of_prose_is_taken_for_a_comment():
    # MyST drops lines that begin with a percent sign
    pages = sorted((ROOT / "docs").rglob("*.md"))
    lost = [
        (page.name, line)
        for page in pages
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith("%")
    ]
    assert lost == []


def test_figures_are_small():
    images = sorted((ROOT / "docs" / "images").glob("*.png"))
    assert {path.stem for path in images} == {"near_ties", "scores", "dimension", "dif"}
    assert max(path.stat().st_size for path in images) < 200_000
    assert (ROOT / "docs" / "images" / "near_ties.png").stat().st_size < 120_000
