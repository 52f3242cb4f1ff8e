"""The cases from public reports, as whoever types the commands meets them."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from neartie.cli.app import main


def run(out, *arguments):
    """Run a command that must end well, and return the table of models or ranks that it wrote."""
    assert main([*map(str, arguments), "--out", str(out)]) == 0
    name = "ranks.csv" if arguments[0] == "rank" else "models.csv"
    return pd.read_csv(out / name).set_index("model")


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def warnings_of(folder):
    return json.loads((folder / "summary.json").read_text())["warnings"]


def test_case_c01_more_correct_is_higher(case_dir, tmp_path):
    place = case_dir / "C01" / "responses.csv"
    ability = run(tmp_path / "out", "fit", "two-pl", place, "--engine", "map")["ability"]
    raw = pd.read_csv(place).set_index("model").mean(axis=1)
    assert (ability.idxmax(), ability.idxmin()) == ("top", "low")
    assert spearmanr(ability, raw[ability.index]).statistic > 0.95
    items = pd.read_csv(tmp_path / "out" / "items.csv")
    assert (items["discrimination"] > 0).all()


@pytest.mark.parametrize("items", ["C02", "C02/items.csv"])
def test_case_c02_new_models_on_known_items(case_dir, items, tmp_path):
    """Items from a table: a standard normal prior; no finite maximum is said to be none."""
    place = case_dir / "C02" / "patterns.csv"
    known = case_dir / items
    fit = ["fit", "two-pl", place, "--engine", "map", "--items-from", known]
    table = run(tmp_path / "out", *fit)
    assert table["ability"].round(4).to_dict() == {
        "all_right": 1.4495,
        "all_wrong": -1.1940,
        "mixed": 0.4054,
    }
    assert table["eap"].round(4).tolist() == [1.5135, -1.2623, 0.3853]
    assert table["eap_sd"].round(4).tolist() == [0.6640, 0.7273, 0.6292]
    assert table["ml"].round(4).tolist() == [np.inf, -np.inf, 0.6528]
    assert table.loc["all_right", "ml_note"] == "not estimable: every answer right"
    used = pd.read_csv(tmp_path / "out" / "items.csv").set_index("item")
    assert used.loc["i4", ["discrimination", "difficulty"]].tolist() == [1.2, 0.7]


def test_case_c07_a_sparse_item_is_named_and_changes_nothing(case_dir, tmp_path):
    place = case_dir / "C07" / "responses.csv"
    table = run(tmp_path / "all", "fit", "two-pl", place, "--engine", "map")
    assert table["n"].drop("m04").tolist() == [8] * 9
    assert table.loc["m04", "n"] == 9
    items = pd.read_csv(tmp_path / "all" / "items.csv").set_index("item")
    assert items.loc["q09", ["n", "flag"]].tolist() == [1, "left out: one answer"]
    assert any("'q09'" in text for text in warnings_of(tmp_path / "all"))
    pd.read_csv(place).drop(columns="q09").to_csv(tmp_path / "rest.csv", index=False)
    rest = run(tmp_path / "rest", "fit", "two-pl", tmp_path / "rest.csv", "--engine", "map")
    np.testing.assert_allclose(table["ability"], rest["ability"], atol=1e-9)


def test_case_c11_repeated_fits_are_the_same_files(case_dir, tmp_path):
    place = case_dir / "C11" / "responses.csv"
    fit = ["fit", "two-pl", place, "--engine", "map", "--seed"]
    for seed in (1, 2):
        run(tmp_path / f"{seed}", *fit, seed)
    one = run(tmp_path / "again", *fit, 1)
    assert files(tmp_path / "1") == files(tmp_path / "again")
    # the mode does not depend on a seed
    np.testing.assert_array_equal(one["ability"], pd.read_csv(tmp_path / "2/models.csv")["ability"])
    raw = pd.read_csv(place).set_index("model").mean(axis=1)
    assert spearmanr(one["ability"], raw[one.index]).statistic > 0.9


def battles(case_dir, name, *options):
    return ["fit", "bradley-terry", case_dir / name, "--engine", "newton", *options]


ML = ("--phantom-wins", "0")


def test_case_c22_winners_listed_first_give_the_same_files(case_dir, tmp_path):
    tables = [
        run(tmp_path / name, *battles(case_dir, f"C22/battles_{name}.json", *ML, "--name", "C22"))
        for name in ("first", "mixed")
    ]
    assert tables[0]["strength"].round(4).to_dict() == {
        "ant": 0.8681,
        "bee": 0.0303,
        "cat": -0.8983,
    }
    assert files(tmp_path / "first") == files(tmp_path / "mixed")


def test_case_c25_no_rank_across_sets_that_never_met(case_dir, tmp_path, capsys):
    fits = {name: tmp_path / name for name in ("pair", "with_island")}
    for name, out in fits.items():
        run(out, *battles(case_dir, f"C25/{name}.json", *ML))
        run(tmp_path / f"{name}-ranks", "rank", out)
    pairs = {
        name: pd.read_csv(tmp_path / f"{name}-ranks" / "pairs.csv").set_index(
            ["model_a", "model_b"]
        )
        for name in fits
    }
    for table in pairs.values():
        gap = table.loc[("ash", "birch")]
        assert gap["difference"] == pytest.approx(np.log(8 / 5))
        assert gap["se"] == pytest.approx(np.sqrt(1 / 8 + 1 / 5))
    island = pairs["with_island"]
    assert island.loc[("cedar", "dogwood"), "difference"] == pytest.approx(0, abs=1e-9)
    across = island[island["identified"] == 0]
    assert len(across) == 4
    assert across["p_above"].isna().all()
    (said,) = [text for text in warnings_of(fits["with_island"]) if "no battle connects" in text]
    assert "ash" in said
    assert "cedar" in said


def test_case_c26_half_a_win_for_a_tie(case_dir, tmp_path):
    table = run(tmp_path / "out", *battles(case_dir, "C26/battles.csv", *ML))
    assert table["win_rate"].round(2).loc[["kea", "lory"]].tolist() == [0.40, 0.50]
    gaps = (table["strength"] - table.loc["base", "strength"]).round(4)
    assert gaps.loc[["kea", "lory"]].tolist() == [-0.4055, 0.0]
    ranks = run(tmp_path / "ranks", "rank", tmp_path / "out")["rank"]
    assert ranks["lory"] < ranks["kea"]


def test_case_c28_nothing_but_ties(case_dir, tmp_path, capsys):
    table = run(tmp_path / "out", *battles(case_dir, "C28/battles.json", *ML))
    assert table["strength"].abs().max() < 1e-6
    assert np.isfinite(table[["low", "high"]]).all(axis=None)
    assert (run(tmp_path / "ranks", "rank", tmp_path / "out")["rank"] == 1).all()
    for ties in ("davidson", "rao-kupper"):
        refused = [*battles(case_dir, "C28/battles.json", "--ties", ties), "--out", tmp_path / "no"]
        assert main(list(map(str, refused))) == 2
        assert "no finite estimate: every battle is a tie" in capsys.readouterr().err


def test_case_c29_self_battles_are_counted_and_left_out(case_dir, tmp_path, capsys):
    table = run(tmp_path / "out", *battles(case_dir, "C29/battles.json", *ML))
    assert table["strength"].round(4).to_dict() == {"jay": -0.1277, "owl": 0.5101, "wren": -0.3824}
    assert "left out 5 battles of a model with itself" in warnings_of(tmp_path / "out")
    assert "left out 5 battles of a model with itself" in capsys.readouterr().out


def test_case_c31_equal_records_share_a_rank_and_seeds_move_no_point(case_dir, tmp_path):
    table = run(tmp_path / "out", *battles(case_dir, "C31/battles.json", *ML))
    gap = table["strength"] - table.loc["base", "strength"]
    assert gap.loc[["xeno", "yarrow"]].round(4).tolist() == [0.4055, 0.4055]
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        run(tmp_path / name, "rank", tmp_path / "out", "--seed", seed)
    assert files(tmp_path / "one") == files(tmp_path / "again")
    one, other = (pd.read_csv(tmp_path / name / "ranks.csv") for name in ("one", "other"))
    assert one.set_index("model")["rank"].to_dict() == {"xeno": 1, "yarrow": 1, "base": 3}
    pd.testing.assert_series_equal(one["estimate"], other["estimate"])
    pairs = pd.read_csv(tmp_path / "one" / "pairs.csv").set_index(["model_a", "model_b"])
    assert pairs.loc[("xeno", "yarrow"), "se"] == pytest.approx(0.4564, abs=5e-5)


def test_case_c34_the_ranks_of_two_models_overlap(case_dir, tmp_path):
    run(tmp_path / "out", *battles(case_dir, "C34/battles.json", *ML))
    ranks = run(tmp_path / "ranks", "rank", tmp_path / "out")
    assert ranks[["rank_set_low", "rank_set_high"]].to_numpy().tolist() == [[1, 2], [1, 2]]
    (pair,) = pd.read_csv(tmp_path / "ranks" / "pairs.csv").to_dict("records")
    assert (pair["model_a"], pair["resolved"]) == ("moss", 0)
    found = [pair[name] for name in ("difference", "se", "low", "high")]
    assert np.round(found, 4).tolist() == [0.8109, 0.6009, -0.3669, 1.9887]


@pytest.mark.filterwarnings("ignore:the leave-one-out estimate of")
def test_case_c77_two_fits_are_compared_by_left_out_answers(case_dir, tmp_path, capsys):
    from neartie import read_posterior

    place = case_dir / "C77" / "responses.csv"
    fit = ["fit", "two-pl", place, "--engine", "laplace", "--draws", "500"]
    run(tmp_path / "free", *fit, "--log-likelihood")
    values = read_posterior(tmp_path / "free")["log_likelihood"]["score"]
    assert values.sizes["cell"] == 92
    assert (values < 0).all()
    run(tmp_path / "one", *fit, "--discrimination", "one", "--log-likelihood")
    check = ["check", tmp_path / "free", "--against", tmp_path / "one", "--draws", "100"]
    assert main([*map(str, check), "--out", str(tmp_path / "check")]) == 0
    table = pd.read_csv(tmp_path / "check" / "comparison.csv")
    assert len(table) == 2
    assert np.isfinite(table[["elpd", "elpd_diff"]]).all(axis=None)


def test_case_c79_one_chain_never_passes(case_dir, tmp_path, capsys):
    place = case_dir / "C34" / "battles.json"
    options = ["--chains", "1", "--draws", "200", "--tune", "200"]
    table = run(tmp_path / "out", "fit", "bradley-terry", place, *options)
    assert np.isfinite(table["strength"]).all()
    shown = capsys.readouterr()
    assert shown.out.count("Convergence is not assessed") == 1
    assert shown.err == ""
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["converged"] == "not assessed"
    diagnostics = pd.read_csv(tmp_path / "out" / "diagnostics.csv")
    assert (diagnostics["verdict"] == "not assessed").all()
    assert diagnostics["r_hat"].isna().all()
    run(tmp_path / "ranks", "rank", tmp_path / "out")
    said = " ".join(capsys.readouterr().out.split())
    assert "convergence of these draws was not assessed: R-hat needs at least two chains" in said
    # draws from elsewhere, with a column that does not vary
    draws = run(tmp_path / "drawn", "rank", case_dir / "C79" / "draws_1chain.csv")
    assert set(draws.index) == {"a", "c"}
    assert "convergence of these draws was not assessed" in warnings_of(tmp_path / "drawn")


def test_case_c82_estimates_need_no_compiler(case_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for engine in ("newton", "mm"):
        fit = ["fit", "bradley-terry", case_dir / "C82" / "battles.csv", "--engine", engine, *ML]
        strength = run(tmp_path / engine, *fit)["strength"]
        assert strength["a"] - strength["b"] == pytest.approx(np.log(7 / 3), abs=1e-8)
