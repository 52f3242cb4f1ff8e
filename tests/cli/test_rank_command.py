"""`neartie rank` from files to files."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from neartie.cli.app import main


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    draws = pd.DataFrame(
        0.3 * rng.normal(size=(1000, 4)) + 0.4 * np.arange(4), columns=["ant", "bee", "cat", "dog"]
    )
    draws.to_csv(tmp_path / "draws.csv", index=False)
    data = xr.Dataset(
        {"ability": (("chain", "draw", "model"), draws.to_numpy().reshape(2, 500, 4))},
        coords={"model": draws.columns.to_list(), "item": ["q1", "q2"]},
    )
    tree = xr.DataTree.from_dict({"posterior": data})
    tree.attrs.update(kind="two-pl", converged="no", verdict="R-hat is 1.7.")
    (tmp_path / "fit").mkdir()
    tree.to_netcdf(tmp_path / "fit" / "posterior.nc")
    (tmp_path / "point").mkdir()
    names = draws.columns.to_list()
    estimate = pd.DataFrame({"model": names, "strength": [0.1, 0.2, 0.3, 0.9]})
    estimate.to_csv(tmp_path / "point" / "models.csv", index=False)
    square = pd.DataFrame(0.02 * np.eye(4), columns=names)
    square.insert(0, "model", names)
    square.to_csv(tmp_path / "point" / "covariance.csv", index=False)
    return tmp_path


def run(folder, source, *options):
    return main(["rank", str(folder / source), "--out", str(folder / "out"), *options])


def test_a_table_of_draws(folder, capsys):
    assert run(folder, "draws.csv", "--top", "2") == 0
    shown = capsys.readouterr().out
    assert "dog is ahead" in shown
    assert "convergence of these draws was not assessed" in shown
    assert "p_top_2" in (folder / "out" / "ranks.csv").read_text()
    assert (folder / "out" / "report.html").stat().st_size > 10_000
    assert not (folder / "out" / "needs.csv").exists()
    assert run(folder, "draws.csv", "--items", "200") == 0
    assert len(pd.read_csv(folder / "out" / "needs.csv")) == 9


@pytest.mark.parametrize("source", ["fit", "fit/posterior.nc"])
def test_a_posterior_that_did_not_converge(folder, capsys, source):
    assert run(folder, source) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "did not converge, so that nothing below can be relied on: R-hat is 1.7." in shown
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["converged"] == "no"
    # two items: what more of them would do is known
    assert (folder / "out" / "needs.csv").exists()


def test_estimates_with_their_covariance_are_the_same_twice(folder, capsys):
    assert run(folder, "point", "--seed", "5", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == json.loads((folder / "out" / "summary.json").read_text())
    assert (shown["seed"], shown["label"]) == (5, "strength")
    first = {p.name: p.read_bytes() for p in (folder / "out").iterdir() if p.is_file()}
    assert run(folder, "point", "--seed", "5", "--json") == 0
    assert first == {p.name: p.read_bytes() for p in (folder / "out").iterdir() if p.is_file()}
    assert len(pd.read_csv(folder / "out" / "needs.csv")) == 9


def test_some_models_only(folder, capsys):
    (folder / "some.txt").write_text("ant\n\ndog\n")
    for chosen in ("ant, dog", str(folder / "some.txt")):
        assert run(folder, "draws.csv", "--models", chosen) == 0
        table = pd.read_csv(folder / "out" / "ranks.csv")
        assert table["model"].tolist() == ["dog", "ant"]
        assert table["rank_set_high"].max() == 2


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ("nothing", (), "no such file"),
        (".", (), "holds neither posterior.nc nor models.csv"),
        ("draws.csv", ("--models", "eel"), "there is no model 'eel' to rank"),
        ("draws.csv", ("--level", "95"), "--level must lie between 0 and 1, got 95"),
        ("draws.csv", ("--variable", "x"), "has no variable 'x'"),
        ("fit", ("--variable", "x"), "the posterior has no variable 'x'; it has 'ability'"),
        ("point", ("--variable", "x"), "have no variable 'x'"),
        ("broken.nc", (), "cannot be read as a NetCDF file"),
    ],
)
def test_errors_are_sentences_and_two(folder, capsys, source, options, words):
    (folder / "broken.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert run(folder, source, *options) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert "Traceback" not in shown.err
    assert not (folder / "out").exists()


def test_infinite_estimates_and_the_caveats_of_a_fit(tmp_path, case_dir, capsys):
    fit = ["fit", "bradley-terry", str(case_dir / "C23" / "battles.json"), "--engine", "newton"]
    assert main([*fit, "--phantom-wins", "0", "--out", str(tmp_path / "ml")]) == 0
    assert run(tmp_path, "ml") == 2
    said = capsys.readouterr().err
    assert "the strength of 'blue' is infinite, so that its rank has no interval" in said
    assert "leave it out (--without" in said
    # without it, red - green is ln(9/3) by maximum likelihood, as if blue had never been there
    for options in (("--without", "blue"), ("--models", "red,green")):
        assert run(tmp_path, "ml", *options) == 0
        pairs = pd.read_csv(tmp_path / "out" / "pairs.csv")
        assert pairs[["model_a", "model_b"]].to_numpy().tolist() == [["red", "green"]]
        assert pairs["difference"].tolist() == pytest.approx([np.log(3)])
        assert pairs["se"].tolist() == pytest.approx([np.sqrt(1 / 9 + 1 / 3)])
        capsys.readouterr()
    assert run(tmp_path, "ml", "--models", "red,blue") == 2
    assert "the strength of 'blue' is infinite" in capsys.readouterr().err
    assert run(tmp_path, "ml", "--without", "bleu") == 2
    assert "there is no model 'bleu' to leave out" in capsys.readouterr().err
    assert main([*fit, "--out", str(tmp_path / "kept")]) == 0
    assert run(tmp_path, "kept", "--json") == 0
    shown = capsys.readouterr().out
    assert "of the fit: 1 model never wins: 'blue'" in shown


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.csv", "item,owl,ant\nq1,1,0\nq2,0,1\n", "a table of answers, .*neartie fit two-pl"),
        ("r.csv", "item,model,score\nq1,owl,1\n", "a table of answers"),
        ("r.csv", ",owl,ant\n1,1,0\n2,0,1\n", "nothing but 0 and 1"),
        ("my b.csv", "model_a,model_b,winner\nx,y,a\n", "neartie fit bradley-terry '.*my b.csv'"),
        ("b.json", '[{"model_a": "x", "model_b": "y", "winner": "a"}]', "JSON, as battles are"),
    ],
)
def test_data_that_are_not_fitted_yet_are_named_as_such(tmp_path, capsys, name, content, words):
    (tmp_path / name).write_text(content)
    assert run(tmp_path, name) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(words, said)
    assert "fit it first" in said
    assert "then rank the fit (neartie rank fitted)" in said


def test_who_decides_is_shown_for_a_pair(tmp_path, capsys):
    answers = tmp_path / "answers.csv"
    answers.write_text("item,owl,ant\nq1,1,0\nq2,1,0\nq3,1,0\nq4,0,1\nq5,1,1\n")
    draws = tmp_path / "draws.csv"
    rows = "\n".join(f"{i % 7},{i % 5}" for i in range(200))
    draws.write_text(f"owl,ant\n{rows}\n")
    out = tmp_path / "out"
    arguments = [
        "rank", str(draws), "--pair", "owl,ant", "--responses", str(answers), "--out", str(out),
    ]  # fmt: skip
    assert main(arguments) == 0
    table = pd.read_csv(out / "deciders.csv")
    assert table["item"].head(3).tolist() == ["q1", "q2", "q3"]
    assert table["gap"].sum() == pytest.approx(0.4)
    page = (out / "report.html").read_text()
    assert "It rests on 3 of 5 items" in page
    assert main(["rank", str(draws), "--out", str(out)]) == 0
    assert not (out / "deciders.csv").exists()


@pytest.mark.parametrize(
    ("pair", "message"),
    [("owl", "--pair takes two ids"), ("owl,ant", "name these by --responses")],
)
def test_a_pair_without_items_is_refused(pair, message, tmp_path, capsys):
    draws = tmp_path / "draws.csv"
    draws.write_text("owl,ant\n" + "1,2\n2,1\n3,0\n1,1\n" * 30)
    assert main(["rank", str(draws), "--pair", pair, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
