"""`neartie audit --dask`: workers change no file; what cannot be reached is said before the work."""

import sys

import pandas as pd
import pytest

from neartie.cli import dask_client
from neartie.cli.app import main
from neartie.data.files import write_csv_atomic
from neartie.data.simulate import simulate_leaderboard

QUICK = ["--controls", "20", "--bootstraps", "0", "--min-family-size", "3", "--k", "2"]
QUICK += ["--alpha", "0.5", "--permuted", "5"]


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    place = tmp_path_factory.mktemp("board")
    made = simulate_leaderboard(
        n_items=100, n_models=60, n_owners=30, families=3, n_sources=2, rng=3
    ).responses
    table = pd.DataFrame(made.values, columns=made.model_ids)
    table.insert(0, "item", made.item_ids)
    write_csv_atomic(table, place / "responses.csv")
    write_csv_atomic(made.items, place / "items.csv")
    write_csv_atomic(made.models, place / "models.csv")
    return place


@pytest.mark.parametrize(
    ("where", "options", "message"),
    [
        ("tcp://127.0.0.1:1", QUICK, "no Dask scheduler answers there"),
        ("nowhere", QUICK, "no Dask scheduler answers there"),
        ("local", QUICK[:-2], "--dask spreads --robustness and --permuted"),
    ],
)
def test_what_cannot_be_is_refused(board, tmp_path, capsys, monkeypatch, where, options, message):
    pytest.importorskip("distributed")
    monkeypatch.setattr(dask_client, "PATIENCE", 0.5)
    out = tmp_path / "out"
    assert main(["audit", str(board), *options, "--dask", where, "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_without_dask_the_extra_is_named(board, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    out = str(tmp_path / "out")
    assert main(["audit", str(board), *QUICK, "--dask", "local", "--out", out]) == 2
    assert 'pip install "neartie[dask]"' in capsys.readouterr().err


@pytest.mark.slow
def test_workers_of_this_machine_and_of_a_scheduler_change_no_file(board, tmp_path):
    distributed = pytest.importorskip("distributed")
    common = ["audit", str(board), *QUICK, "--robustness", "--replication"]
    assert main([*common, "--out", str(tmp_path / "here")]) == 0
    assert main([*common, "--dask", "local", "--out", str(tmp_path / "local")]) == 0
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        where = cluster.scheduler_address
        assert main([*common, "--dask", where, "--out", str(tmp_path / "far")]) == 0
    for path in (tmp_path / "here").rglob("*.*"):
        for other in ("local", "far"):
            again = tmp_path / other / path.relative_to(tmp_path / "here")
            assert again.read_bytes() == path.read_bytes(), path.name
