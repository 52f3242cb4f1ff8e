"""Options that nothing heeds are refused by name before anything is read or run."""

import pytest

from neartie.cli.app import main
from neartie.cli.idle_options import SAMPLING

MAP = "does nothing with the engine map: it is for"
NO_FULL = "does nothing here: it is for the rung full, left out of --rungs"


def refused(arguments, capsys):
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return " ".join(said.replace("│", " ").split())


@pytest.mark.parametrize("option", ["--draws", "--tune", "--chains", "--cores", "--target-accept"])
@pytest.mark.parametrize(
    ("command", "engine"),
    [
        (["fit", "two-pl", "none.csv"], "map"),
        (["fit", "mirt-dif", "none.csv"], "map"),
        (["fit", "bradley-terry", "none.csv"], "newton"),
        (["fit", "bradley-terry", "none.csv"], "mm"),
        (["validate", "two-pl"], "map"),
        (["validate", "mirt-dif"], "map"),
        (["validate", "bradley-terry"], "newton"),
    ],
)
def test_estimates_are_not_sampled(command, engine, option, tmp_path, capsys):
    """Also with the value of the default: it is typed, and does nothing."""
    value = "0.9" if option == "--target-accept" else "1000"
    arguments = [*command, "--engine", engine, option, value, "--out", str(tmp_path / "out")]
    said = refused(arguments, capsys)
    assert f"{option} does nothing with the engine {engine}: it is for" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "two-pl", "x.csv", "--engine", "laplace", "--chains", "2"], "--chains does nothing"),
        (["fit", "residual-dif", "x.csv", "--engine", "advi", "--tune", "9"], "--tune does nothing"),
        (
            ["fit", "two-pl", "x.csv", "--engine", "gibbs", "--target-accept", ".8"],
            "--target-accept does nothing with the engine gibbs: it is for nuts",
        ),
        (["validate", "residual-dif", "--engine", "advi", "--tune", "9"], "--tune does nothing"),
        (["validate", "two-pl", "--engine", "nuts", "--cores", "2"], "--cores does nothing"),
        (["validate", "two-pl", "--scores", "graded"], "--scores is for data that are read"),
        (["validate", "mirt-dif", "--repeats", "last"], "--repeats is for data that are read"),
        (["compare", "x.csv", "--rungs", "residual", "--min-ess", "20"], f"--min-ess {NO_FULL}"),
        (["compare", "x.csv", "--rungs", "laplace", "--tune", "500"], f"--tune {NO_FULL}"),
        (["compare", "x.csv", "--rungs", "advi", "--engine", "nuts"], f"--engine {NO_FULL}"),
        (
            ["compare", "x.csv", "--rungs", "full", "--offsets", "10"],
            "--offsets does nothing here: it is for the rung residual-bootstrap, left out",
        ),
        (
            ["compare", "x.csv", "--rungs", "laplace", "--sparse"],
            "--sparse does nothing here: it is for the rungs pathfinder, advi, full, left out",
        ),
        (
            ["compare", "--simulate", "2", "--rungs", "residual", "--dimension", "2"],
            "--dimension does nothing here: it is for the rungs laplace, pathfinder, advi, full",
        ),
        (
            ["compare-estimates", "two-pl", "x.csv", "--posterior", "fit", "--draws", "50"],
            "--draws does nothing with --posterior",
        ),
        (
            ["compare-estimates", "bradley-terry", "x.csv", "--posterior", "fit", "--cores", "2"],
            "--cores does nothing with --posterior: nothing is sampled then",
        ),
    ],
)  # fmt: skip
def test_options_that_nothing_heeds_are_named(arguments, message, tmp_path, capsys):
    said = refused([*arguments, "--out", str(tmp_path / "out")], capsys)
    assert message in said
    assert not (tmp_path / "out").exists()


def test_defaults_are_never_refused(tmp_path, capsys):
    """Without any of these options the data are what is missing."""
    for command in (
        ["fit", "two-pl", "none.csv", "--engine", "map"],
        ["fit", "bradley-terry", "none.csv", "--engine", "mm"],
        ["compare", "none.csv", "--rungs", "residual"],
        ["compare", "none.csv", "--rungs", "residual", "--simulate", "2", "--dimension", "2"],
    ):
        assert "none.csv cannot be read" in refused(
            [*command, "--out", str(tmp_path / "o")], capsys
        )


def test_every_option_of_sampling_is_known_to_the_engines():
    for engines in SAMPLING.values():
        assert set(engines) <= {"nuts", "gibbs", "laplace", "pathfinder", "advi"}
