"""`neartie audit` with further checks, and on several benchmarks: files, resuming, refusals."""

import json
import re

import pandas as pd
import pytest

from neartie.cli.app import main
from neartie.cli.benchmarks import find_benchmarks
from neartie.data.errors import DataError
from neartie.data.files import write_csv_atomic
from neartie.data.simulate import simulate_leaderboard

QUICK = ["--controls", "20", "--bootstraps", "0", "--min-family-size", "3", "--k", "2"]
QUICK += ["--alpha", "0.5"]


def write_board(folder, *, n_items, seed, models_from=None):
    board = simulate_leaderboard(
        n_items=n_items, n_models=60, n_owners=30, families=3, n_sources=2, rng=seed
    ).responses
    table = pd.DataFrame(board.values, columns=board.model_ids)
    table.insert(0, "item", board.item_ids)
    write_csv_atomic(table, folder / "responses.csv")
    write_csv_atomic(board.items, folder / "items.csv")
    write_csv_atomic(board.models, folder / "models.csv")


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """Two small benchmarks of other models."""
    place = tmp_path_factory.mktemp("boards")
    for name, seed in (("alpha", 3), ("beta", 4)):
        write_board(place / name, n_items=120, seed=seed)
    return place


@pytest.fixture(scope="module")
def full(boards, tmp_path_factory):
    out = tmp_path_factory.mktemp("full")
    arguments = [str(boards / "alpha"), *QUICK, "--full", "--permuted", "3", "--out", str(out)]
    assert main(["audit", *arguments]) == 0
    return out


@pytest.fixture(scope="module")
def collection(boards, tmp_path_factory):
    out = tmp_path_factory.mktemp("collection")
    flags = ["--attribution", "--replication", "--permuted", "2"]
    assert main(["audit", str(boards), *QUICK, *flags, "--out", str(out)]) == 0
    return out


def test_files_of_the_checks_keep_the_contract(full):
    contract = {
        "robustness": "variant n_models n_eligible reversal_rate random_median excess_pp p_value",
        "replication": "statistic value chance p_value",
        "permuted_replication": "statistic value chance p_value",
        "controls": "control rate median excess_pp p_value n",
        "source_effects": "source family effect_0 effect_1 selected replicated",
        "source_shifts": "source family shift_01_pp shift_10_pp selected retained",
        "family_shifts": "family shift_pp low_pp high_pp rank_shift",
    }
    for name, columns in contract.items():
        table = pd.read_csv(full / f"{name}.csv")
        assert set(columns.split()) <= set(table.columns), name
    assert pd.read_csv(full / "robustness.csv")["variant"].iloc[0] == "primary"
    summary = json.loads((full / "summary.json").read_text())
    controls = pd.read_csv(full / "controls.csv").set_index("control")
    assert summary["permuted_excess_pp"] == controls.loc["permuted families", "excess_pp"]
    assert list(summary)[-1] == "warnings"
    assert summary["permuted_replication"]["settings"]["permutations"] == 3
    assert not (full / "unfinished").exists()


def test_tables_and_figures_are_numbered_in_the_order_in_which_they_stand(full):
    page = (full / "report.html").read_text()
    for what in ("Table", "Figure"):
        numbers = [int(n) for n in re.findall(rf"<b>{what} (\d+)", page)]
        assert numbers == list(range(1, len(numbers) + 1))


def test_shifts_of_sources_add_up_to_those_of_families(full):
    sources = pd.read_csv(full / "source_shifts.csv")
    scores = pd.read_csv(full / "scores.csv")
    scores["shift"] = 100 * (scores["anchor"] - scores["full"])
    observed = scores[scores["half"] == 1].groupby("family")["shift"].mean()
    added = sources.groupby("family")["shift_01_pp"].sum()
    pd.testing.assert_series_equal(added, observed, check_names=False)


def test_the_checks_leave_the_audit_as_it_is(boards, full, tmp_path):
    assert main(["audit", str(boards / "alpha"), *QUICK, "--out", str(tmp_path)]) == 0
    assert not (tmp_path / "robustness.csv").exists()
    assert 'id="robustness"' not in (tmp_path / "report.html").read_text()
    for path in tmp_path.glob("*.csv"):
        assert path.read_bytes() == (full / path.name).read_bytes(), path.name


def test_a_killed_battery_goes_on_where_it_was(boards, tmp_path, monkeypatch, full):
    from neartie.audits import robustness

    refitted = []
    original = robustness.refit_variant

    def refit(task):
        if len(refitted) == 2:
            raise KeyboardInterrupt
        refitted.append(task.variant)
        return original(task)

    arguments = ["audit", str(boards / "alpha"), *QUICK, "--robustness", "--out", str(tmp_path)]
    monkeypatch.setattr(robustness, "refit_variant", refit)
    assert main(arguments) == 130
    assert not (tmp_path / "summary.json").exists()
    assert (tmp_path / "unfinished" / "population_selection.csv").exists()
    later = []

    def count(task):
        later.append(task.variant)
        return original(task)

    monkeypatch.setattr(robustness, "refit_variant", count)
    assert main(arguments) == 0
    assert later
    assert not set(refitted) & set(later)
    assert (tmp_path / "robustness.csv").read_bytes() == (full / "robustness.csv").read_bytes()


def test_several_benchmarks_have_folders_and_a_summary(collection):
    summary = json.loads((collection / "summary.json").read_text())
    assert [row["benchmark"] for row in summary["benchmarks"]] == ["alpha", "beta"]
    for row in summary["benchmarks"]:
        own = json.loads((collection / row["benchmark"] / "summary.json").read_text())
        assert own["excess_pp"] == row["excess_pp"]
        assert own["permuted_excess_pp"] == row["permuted_excess_pp"]
    checks = [
        json.loads((collection / name / "summary.json").read_text())["attribution"]
        for name in ("alpha", "beta")
    ]
    pooled = summary["source_checks"]["effects"]
    assert pooled["hits"] == sum(found["source_effects"]["hits"] for found in checks)
    page = (collection / "report.html").read_text()
    assert "alpha/report.html" in page
    assert "The same beside permuted families" in page
    beside = pd.read_csv(collection / "permuted_replication.csv")
    assert beside["benchmark"].tolist() == ["alpha"] * 3 + ["beta"] * 3
    assert "p<sub>perm</sub>" in page.replace("<i>p</i>", "p")


def test_common_models_are_the_same_everywhere(boards, tmp_path):
    for name, seed in (("one", 3), ("two", 3)):
        write_board(tmp_path / "in" / name, n_items=120, seed=seed)
    items = tmp_path / "in" / "two" / "responses.csv"
    table = pd.read_csv(items, dtype=str)
    write_csv_atomic(table.drop(columns=table.columns[1:4]), items)
    out = tmp_path / "out"
    arguments = ["audit", str(tmp_path / "in"), *QUICK, "--common-models", "--out", str(out)]
    assert main(arguments) == 0
    one, two = (pd.read_csv(out / name / "population.csv") for name in ("one", "two"))
    shared = ["model", "half", "representative"]
    pd.testing.assert_frame_equal(one[shared], two[shared])


def test_paths_are_files_folders_and_folders_of_folders(boards, tmp_path):
    found = find_benchmarks([boards])
    assert [one.name for one in found] == ["alpha", "beta"]
    assert found[0].items == boards / "alpha" / "items.csv"
    file = find_benchmarks([boards / "beta" / "responses.csv"])[0]
    assert (file.name, file.items) == ("beta", None)
    with pytest.raises(DataError, match="would both be called 'alpha'"):
        find_benchmarks([boards / "alpha", boards / "alpha"])
    with pytest.raises(DataError, match="holds no benchmark"):
        find_benchmarks([tmp_path])
    for suffix in ("csv", "tsv"):
        (tmp_path / f"responses.{suffix}").write_text("item,a\n")
    with pytest.raises(DataError, match="which one is meant"):
        find_benchmarks([tmp_path])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--items", "items.csv"], "--items describes one benchmark"),
        (["--min-family-size", "500"], "alpha: "),
    ],
)
def test_refusals_name_what_to_do(boards, tmp_path, capsys, options, message):
    arguments = ["audit", str(boards), *QUICK, *options, "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_common_models_need_two_benchmarks(boards, tmp_path, capsys):
    arguments = ["audit", str(boards / "alpha"), "--common-models", "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "at least two benchmarks" in capsys.readouterr().err


def described(page, name):
    """The text from a file's bold name to that of the next."""
    rest = page.split(f"**{name}.csv**", 1)
    assert len(rest) == 2, f"docs/files.md does not describe {name}.csv"
    return rest[1].split("\n**")[0]


def test_every_new_column_is_described(full, collection, request):
    page = (request.config.rootpath / "docs" / "files.md").read_text(encoding="utf-8")
    own = ["controls", "control_rates", "robustness", "population_selection", "replication"]
    own += ["replication_families", "permuted_replication", "signatures"]
    own += ["source_effects", "source_shifts"]
    own += ["family_shifts"]
    places = [full / f"{name}.csv" for name in own]
    places += [collection / f"{name}.csv" for name in ("benchmarks", "common_models")]
    for path in places:
        columns = pd.read_csv(path, nrows=1).columns
        text = described(page, path.stem)
        missing = [c for c in columns if f"`{c}`" not in text and c != "benchmark"]
        assert missing == [], path.name
    names = [p.name for folder in (full, collection) for p in (folder / "tables").glob("*")]
    assert [name for name in names if name not in page] == []
